"""``passk doctor``: show versions, the state of the database and the next step."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples
from passk_py.common.files import size_in_words
from passk_py.common.words import plural

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGES = ("dbt-core", "dbt-duckdb", "duckdb", "polars")


@click.command(
    "doctor",
    short_help="Show versions, the state of the database and the next step.",
    epilog=examples("passk doctor", "passk doctor --database nightly.duckdb"),
)
@database_option
@common_options
@pass_session
def command(session: Session, *, database: Path) -> int:
    """Show the installed versions, the state of the database and the next step."""
    from passk_py.cli.next_steps import command_line, say_next
    from passk_py.common.errors import PasskError
    from passk_py.warehouse.building.find_dbt import find_dbt
    from passk_py.warehouse.project import project_dir, version

    versions = {"passk": version(), "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "missing"
    problem, hint, dbt, state = None, None, None, {}
    try:
        dbt = find_dbt()
        state = _state(database)
    except PasskError as error:
        problem, hint = error.message, error.hint
    step = _next_step(state)
    session.result(
        {
            "versions": versions,
            "builds_with": dbt
            and {"dbt": dbt.version, "program": dbt.program and str(dbt.program)},
            "project": str(project_dir()),
            "database": str(database),
            "problem": problem,
            "hint": hint,
            **state,
            "next": step,
        }
    )
    for name, found in versions.items():
        session.say(f"{name:<12}{found}")
    if dbt is not None:
        where = f", {dbt.program}" if dbt.program else ", in this process"
        session.say(f"{'builds with':<12}dbt {dbt.version}{where}")
    session.say(f"{'dbt project':<12}{project_dir()}")
    session.say(f"{'database':<12}{database}")
    if problem is not None:
        session.note(problem, lead="Error", hint=hint)
        return 2
    for label, text in _lines(state):
        session.say(f"{label:<12}{text}")
    if step is not None:
        say_next(session, ("next", command_line(*step.split(), database=database)))
    return 0


def _state(database: Path) -> dict[str, Any]:
    from passk_py.warehouse.freshness import stale
    from passk_py.warehouse.tables import open_tables

    with open_tables(database) as tables:
        files, runs = tables.find("files", schema="landing"), tables.find("passk_runs")
        landed = (
            files
            and tables.records(
                "select count(*) as files, coalesce(sum(rows_landed), 0)::bigint as attempts, "
                "coalesce(sum(rows_rejected), 0)::bigint as rejected, max(loaded_at) as last "
                f"from {files}"
            )[0]
        )
        built = (
            runs
            and tables.records(
                "select count(*) as runs, count(distinct suite) as suites, "
                f"coalesce(sum(attempts), 0)::bigint as attempts from {runs}"
            )[0]
        )
        return {
            "size_bytes": database.stat().st_size,
            "landed": landed,
            "built": built,
            "stale": stale(tables),
        }


def _next_step(state: dict[str, Any]) -> str | None:
    if not state:
        return None
    landed, built = state["landed"], state["built"]
    if built is None and (landed is None or not landed["files"]):
        return "load FILE"
    if built is None or state["stale"]:
        return "build"
    return "show"


def _lines(state: dict[str, Any]) -> list[tuple[str, str]]:
    landed, built = state["landed"], state["built"]
    lines = [("size", size_in_words(state["size_bytes"]))]
    if landed is None or not landed["files"]:
        lines.append(("landed", "nothing"))
    else:
        what = f"{plural(landed['attempts'], 'attempt')} of {plural(landed['files'], 'file')}"
        refused = plural(landed["rejected"], "rejected row")
        last = landed["last"].isoformat(" ", "seconds")
        lines.append(("landed", f"{what}, {refused}; the last at {last} UTC"))
    if built is None:
        lines.append(("built", "nothing"))
    else:
        runs = f"{plural(built['runs'], 'run')} of {plural(built['suites'], 'suite')}"
        lines.append(("built", f"{runs}, {plural(built['attempts'], 'attempt')}"))
    if state["stale"]:
        lines.append(("to build", state["stale"]))
    return lines
