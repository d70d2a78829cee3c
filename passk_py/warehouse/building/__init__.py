"""Building the public tables from what has landed, with dbt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import is_disk_full
from passk_py.common.words import plural
from passk_py.warehouse.building.build_report import BuildReport, NodeReport
from passk_py.warehouse.building.find_dbt import find_dbt
from passk_py.warehouse.building.parsed_project import place_of_parsed
from passk_py.warehouse.building.variables import as_yaml
from passk_py.warehouse.project import digest_of_code, project_dir, state_dir, targets
from passk_py.warehouse.settings import INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["BuildReport", "NodeReport", "as_yaml", "build"]

_ALL_BUT_VIEWS: Final = (
    "config.materialized:table",
    "config.materialized:incremental",
    "path:models/staging",
    "resource_type:test",
)
"""The part of a build where only the log has changed: the views would be the same."""


def build(
    database: str | Path = "passk.duckdb",
    *,
    full_refresh: bool = False,
    select: Sequence[str] = (),
    tests: bool = True,
    variables: Mapping[str, Any] | None = None,
    target: str = "duckdb",
    debug: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> BuildReport:
    """Build the public tables from what has landed, with the dbt that is installed.

    dbt 1 runs in this process. dbt v2 is a program: the one that the variable ``PASSK_DBT`` of the
    environment names, or ``dbt`` where no dbt 1 is installed. Where nothing has changed since the
    last whole build that went well (the log, the vars, passk, dbt, DuckDB), dbt is not started.

    Parameters
    ----------
    database
        Path of the DuckDB file.
    full_refresh
        Rebuild everything instead of what has changed, and test it.
    select
        dbt selectors: only these models and tests.
    tests
        Whether the data are tested. Without tests, gates don't stop a build either.
    variables
        Vars of the project by name. Vars that are not given have their defaults.
    target
        The target of the packaged profile.
    debug
        Whether dbt's log holds each statement with its time.
    progress
        Is told the name of the node that starts, its number and how many there are; dbt v2 does not
        say how many, which is 0 then.

    Returns
    -------
    BuildReport
        The nodes that were built, and those that failed.

    Raises
    ------
    PasskError
        If dbt could not run: no dbt, no database, a lock, wrong vars, no such target or selector.
    """
    path = Path(database).resolve()
    given = dict(variables or {})
    reads_landing = target == "duckdb" and not any(given.get(name) for name in INPUTS)
    if reads_landing and not path.exists():
        raise PasskError(
            f"There is no database {database}.",
            hint="Load a log first with `passk load FILE`, or name another one with --database.",
        )
    if target not in targets():
        raise PasskError(
            f"There is no target {target!r} in the profile of passk.",
            hint=f"Give one of these with --target: {', '.join(targets())}.",
        )
    from passk_py.ingest.landing.database import open_database
    from passk_py.warehouse.building import last_build
    from passk_py.warehouse.tables import Tables

    # A place that can't be written to is an error at once, instead of after dbt's start.
    with open_database(database) as connection:
        dbt, code = find_dbt(), digest_of_code()
        recipe = last_build.Recipe(code, given, dbt)
        last = None
        if reads_landing:
            tables = Tables(path, connection)
            last = None if full_refresh or select else last_build.find(tables, recipe)
            if last and (same := last_build.unchanged(tables, recipe, last, tests=tests)):
                return same
            last_build.forget(tables)
    folder = _prepared(path)
    project = project_dir()
    arguments = [
        "build",
        *("--project-dir", str(project)),
        *("--profiles-dir", str(project)),
        *("--target", target),
        *("--target-path", str(folder / "target")),
        *("--log-path", str(folder / "logs")),
        *("--log-level-file", "debug" if debug else "info"),
        *("--vars", as_yaml(given)),
        *("--no-version-check", "--no-write-json", "--no-send-anonymous-usage-stats"),
    ]
    if target != "demo":
        # Facts for the project's own tests, the tests of its macros, and those of the models behind
        # the public tables, whose own tests hold the results.
        left_out = ("resource_type:seed+", "resource_type:unit_test", "tag:passk_internal")
        arguments += ["--exclude", *left_out]
    if not tests:
        arguments += ["--exclude-resource-type", "test"]
    if full_refresh:
        arguments.append("--full-refresh")
    if last:
        arguments += ["--select", *_ALL_BUT_VIEWS]
    if select:
        arguments += ["--select", *select]
        if "DBT_INDIRECT_SELECTION" not in os.environ:
            # Tests that read tables beside the selected ones might not find them.
            arguments += ["--indirect-selection", "cautious"]
    # dbt v2 parses too fast to keep what it has parsed; other targets have schemas of their own.
    is_kept = target == "duckdb" and not dbt.program
    parsed = place_of_parsed(given, code) if is_kept else None
    report = dbt.run(arguments, progress, database=path, folder=folder, parsed=parsed)
    if any(is_disk_full(node.message) for node in report.failed):
        raise PasskError(
            f"There is no space left on the disk of {database}: {plural(report.models, 'model')} "
            f"built, {len(report.failed):,} failed.",
            hint="Free some room, then build again: each table is as before or new.",
        )
    if not (report.models or report.tests or report.failed or report.skipped):
        raise PasskError(
            "Nothing was built: no model or test is selected.",
            hint="Name models as `passk show --help` lists them, e.g. --select +passk_runs.",
        )
    if reads_landing and not select and not report.failed:
        with open_database(path) as connection:
            last_build.note(Tables(path, connection), recipe, report, tests=tests)
    return report


def _prepared(database: Path) -> Path:
    """Make the folder for dbt's files."""
    folder = state_dir(database)
    try:
        folder.parent.mkdir(exist_ok=True)
        # Not for everyone: dbt's log holds the vars.
        folder.mkdir(mode=0o770, exist_ok=True)
        ignore = folder.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise PasskError(
            f"The folder {folder} can't be made: {error.strerror}.",
            hint="dbt needs it for its files; put the database where you may write.",
        ) from error
    return folder
