"""The dbt project that passk carries, and running dbt on it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "BuildReport",
    "NodeReport",
    "as_yaml",
    "build",
    "default_variables",
    "project_dir",
    "state_dir",
    "version",
]

_PACKAGE: Final = Path(__file__).resolve().parent
_INPUTS: Final = ("passk_attempts_model", "passk_attempts_source", "passk_attempts_files")
_FRAME: Final = re.compile(r"^[\w ]*Error( in .*)?$")


def project_dir() -> Path:
    """Find the dbt project.

    Returns
    -------
    Path
        The folder of its ``dbt_project.yml``: the checkout, or what the wheel carries.

    Raises
    ------
    PasskError
        If it is in neither place.
    """
    for folder in (_PACKAGE / "_dbt", _PACKAGE.parent):
        try:
            text = (folder / "dbt_project.yml").read_text(encoding="utf-8")
        except OSError:
            continue
        if re.search(r"^name: passk$", text, re.MULTILINE):
            return folder
    raise PasskError(
        f"The dbt project of passk is neither in {_PACKAGE / '_dbt'} nor in {_PACKAGE.parent}.",
        hint="The installation is damaged: install passk-py again.",
    )


def version() -> str:
    """Give the version of passk."""
    text = (project_dir() / "dbt_project.yml").read_text(encoding="utf-8")
    found = re.search(r"^version: (\S+)$", text, re.MULTILINE)
    return found[1] if found else "unknown"


def default_variables() -> dict[str, Any]:
    """Give the vars of the project by name, with their defaults."""
    return deepcopy(_variables_in((project_dir() / "dbt_project.yml").read_text(encoding="utf-8")))


@cache
def _variables_in(text: str) -> dict[str, Any]:
    """Read the vars of a project file, which a command asks for several times."""
    import yaml  # type: ignore[import-untyped]

    return dict(yaml.safe_load(text)["vars"]["passk"])


def state_dir(database: str | Path) -> Path:
    """Give the folder beside a database that takes what dbt writes.

    Parameters
    ----------
    database
        Path of the DuckDB file.

    Returns
    -------
    Path
        ``.passk/<name of the database>``, which need not exist. Each database has its own, so that
        two builds in one folder don't write into each other's files.
    """
    path = Path(database).resolve()
    return path.parent / ".passk" / path.stem


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A model or test that did not go well.

    Parameters
    ----------
    name
        Its name.
    kind
        ``model``, ``test``, ``seed``, ...
    status
        ``error``, ``fail`` or ``warn``.
    message
        What dbt said.
    """

    name: str
    kind: str
    status: str
    message: str


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did.

    Parameters
    ----------
    models, tests
        How many were built and passed.
    skipped
        How many nodes dbt skipped, because one before them failed.
    failed
        Nodes with an error, and tests that the data fail.
    warned
        Tests that the data fail, which only warn.
    seconds
        How long dbt ran, without its imports and parsing.
    is_unchanged
        Whether nothing was new, so that dbt was not started: tables and warnings are those of the
        last build.
    """

    models: int
    tests: int
    skipped: int
    failed: tuple[NodeReport, ...]
    warned: tuple[NodeReport, ...]
    seconds: float
    is_unchanged: bool = False

    @property
    def exit_code(self) -> int:
        """0 if all went well, 1 if the data fail a test, 2 if something could not be built."""
        if any(node.status == "error" for node in self.failed):
            return 2
        return 1 if self.failed else 0


def build(
    database: str | Path = "passk.duckdb",
    *,
    full_refresh: bool = False,
    select: Sequence[str] = (),
    variables: Mapping[str, Any] | None = None,
    target: str = "duckdb",
    progress: Callable[[str, int, int], None] | None = None,
) -> BuildReport:
    """Build the public tables from what has landed, with dbt, in this process.

    Where nothing has changed since the last whole build that went well (the log, the vars, passk,
    dbt, DuckDB), dbt is not started.

    Parameters
    ----------
    database
        Path of the DuckDB file.
    full_refresh
        Build everything anew instead of what has changed, and test it.
    select
        dbt selectors: only these models and tests.
    variables
        Vars of the project by name. What is not given has its default.
    target
        The target of the packaged profile.
    progress
        Is told the name of the node that starts, its number and how many there are.

    Returns
    -------
    BuildReport
        What was built, and what failed.

    Raises
    ------
    PasskError
        If dbt could not run: no database, a lock, wrong vars, no such target or selector.
    """
    path = Path(database).resolve()
    given = dict(variables or {})
    if target == "duckdb" and not path.exists() and not any(given.get(name) for name in _INPUTS):
        raise PasskError(
            f"There is no database {database}.",
            hint="Load a log first with `passk load FILE`, or name another one with --database.",
        )
    _try_open(database)
    is_noted = target == "duckdb" and not any(given.get(name) for name in _INPUTS)
    if is_noted:
        from passk_py.last_build import find_last_build, forget_last_build

        is_whole = not (full_refresh or select)
        if is_whole and (unchanged := find_last_build(path, given)):
            return unchanged
        forget_last_build(path)
    folder = _prepared(path)
    project = project_dir()
    arguments = [
        "build",
        *("--project-dir", str(project)),
        *("--profiles-dir", str(project)),
        *("--target", target),
        *("--target-path", str(folder / "target")),
        *("--log-path", str(folder / "logs")),
        *("--log-level", "none", "--log-level-file", "debug"),
        *("--vars", as_yaml(given)),
        *("--quiet", "--no-print", "--no-use-colors"),
        *("--no-version-check", "--no-write-json", "--no-send-anonymous-usage-stats"),
    ]
    if target != "demo":
        # Facts for the project's own tests, and the tests of its macros: nothing that the user's
        # attempts have a part in.
        arguments += ["--exclude", "resource_type:seed+", "resource_type:unit_test"]
    if full_refresh:
        arguments.append("--full-refresh")
    if select:
        arguments += ["--select", *select]
    with _environment(PASSK_DATABASE=str(path)):
        report = _run(arguments, progress, where=str(database), log=folder / "logs" / "dbt.log")
    if is_noted and not select and not report.failed:
        from passk_py.last_build import note_last_build

        note_last_build(path, given, report)
    return report


def as_yaml(variables: Mapping[str, Any]) -> str:
    """Write vars so that dbt reads them as they are.

    JSON would not do: dbt reads YAML 1.1, in which 1e-05 is a text, and JSON has no dates, which
    dbt's own check of the vars should name.

    Parameters
    ----------
    variables
        Vars of the project by name.

    Returns
    -------
    str
        One line of YAML.

    Raises
    ------
    PasskError
        If a value is of a type that vars can't hold.

    Examples
    --------
    >>> as_yaml({"passk_minimum_change": 0.00001, "passk_baseline": "1e-5"})
    '{passk_minimum_change: 1.0e-05, passk_baseline: 1e-5}'
    """
    import yaml

    values = {name: _plain(name, value) for name, value in variables.items()}
    return str(
        yaml.safe_dump(
            values,
            default_flow_style=True,
            sort_keys=False,
            allow_unicode=True,
            width=float("inf"),
        )
    ).strip()


def _plain(name: str, value: object) -> object:
    """Take values for what they are to YAML, such as an enumeration's members for texts."""
    if value is None or isinstance(value, bool | date):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {_plain(name, key): _plain(name, one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(name, one) for one in value]
    raise PasskError(
        f"{name} holds {value!r}, which is of the type {type(value).__name__}.",
        hint="Vars hold texts, numbers, true, false, null, lists and mappings; write what it "
        "stands for as a text, in quotes.",
    )


def _try_open(database: str | Path) -> None:
    """Say at once that the database can't be written, instead of after dbt's start."""
    from passk_py.landing.database import open_database

    with open_database(database):
        pass


def _prepared(database: Path) -> Path:
    folder = state_dir(database)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise PasskError(
            f"The folder {folder} can't be made: {error.strerror}.",
            hint="dbt needs it for its files; put the database where you may write.",
        ) from error
    return folder


def _run(
    arguments: list[str],
    progress: Callable[[str, int, int], None] | None,
    *,
    where: str,
    log: Path,
) -> BuildReport:
    # dbt's imports take longer than all else that passk does before its first query.
    from dbt.adapters.factory import reset_adapters
    from dbt.cli.main import dbtRunner

    def tell(event: Any) -> None:  # noqa: ANN401 - a message that dbt makes at run time
        if progress is not None and event.info.name == "LogStartLine":
            name = event.data.description.split()[-1].rpartition(".")[2]
            progress(name, event.data.index, event.data.total)

    here = Path.cwd()
    try:
        done = dbtRunner(callbacks=[tell]).invoke(arguments)
    finally:
        os.chdir(here)
        _release()
        reset_adapters()  # type: ignore[no-untyped-call]
    if isinstance(done.exception, KeyboardInterrupt):
        raise done.exception
    # A result that holds nodes says more than the exception beside it.
    if done.exception is not None and not getattr(done.result, "results", None):
        raise _could_not_run(done.exception, where, log)
    report = _report(done.result)
    if not (report.models or report.tests or report.failed or report.skipped):
        raise PasskError(
            "Nothing was built: no model or test is selected.",
            hint="Name models as `passk show --help` lists them, e.g. --select +passk_runs.",
        )
    return report


def _release() -> None:
    """Close the database: dbt keeps it open for a next command in the same process."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    if DuckDBConnectionManager._ENV is not None:  # noqa: SLF001 - env() raises if there is none
        DuckDBConnectionManager.env().close()
    DuckDBConnectionManager.close_all_connections()  # type: ignore[no-untyped-call]


def _report(result: Any) -> BuildReport:  # noqa: ANN401 - dbt's types would cost its imports
    counts = {"model": 0, "test": 0, "skipped": 0}
    failed: list[NodeReport] = []
    warned: list[NodeReport] = []
    for node in result.results:
        kind, status = str(node.node.resource_type), str(node.status)
        if status in ("success", "pass"):
            counts["test" if "test" in kind else "model"] += kind not in ("seed", "operation")
        elif status in ("error", "fail", "warn", "runtime error"):
            report = NodeReport(
                node.node.name,
                kind,
                "error" if status == "runtime error" else status,
                _sentence(str(node.message or "")),
            )
            (warned if status == "warn" else failed).append(report)
        else:
            counts["skipped"] += 1
    return BuildReport(
        counts["model"],
        counts["test"],
        counts["skipped"],
        tuple(failed),
        tuple(warned),
        float(result.elapsed_time),
    )


def _could_not_run(error: BaseException, where: str, log: Path) -> PasskError:
    text = str(error)
    if "lock on file" in text:
        return PasskError(
            f"The database {where} is in use by another process.",
            hint="Close it there, or wait until it is done.",
        )
    said = _sentence(text)
    if said.startswith(("passk: ", "passk.")):
        return PasskError(said.removeprefix("passk: "), hint="Correct --vars and build again.")
    if "does not have a target named" in said:
        return PasskError(" ".join(said.split()) + ".", hint="Give one of these with --target.")
    return PasskError(f"dbt could not run: {said}", hint=f"All that dbt said is in {log}.")


def _sentence(message: str) -> str:
    """Take away the frame that dbt puts around a message."""
    lines = [line.strip() for line in message.strip().splitlines()]
    while len(lines) > 1 and _FRAME.match(lines[0]):
        del lines[0]
    kept = [line for line in lines if line and not line.startswith(("> in macro", "> called by"))]
    return "\n".join(line for line in kept if not line.startswith("compiled code at "))


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
