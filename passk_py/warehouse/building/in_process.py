"""Running dbt 1 in this process."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import threading
from contextlib import contextmanager
from multiprocessing.dummy import DummyProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.warehouse.building.build_report import NodeReport, could_not_run, report_of, sentence
from passk_py.warehouse.building.parsed_project import keep_parsed, read_parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from passk_py.warehouse.building.build_report import BuildReport

_SILENT: Final = ("--log-level", "none", "--quiet", "--no-print", "--no-use-colors")


def run(
    arguments: list[str],
    progress: Callable[[str, int, int], None] | None,
    *,
    database: Path,
    folder: Path,
    parsed: Path | None,
) -> BuildReport:
    """Run a command of dbt 1; ``parsed`` is the file that keeps the parsed project, if any does."""
    # dbt's imports take longer than all else that passk does before its first query.
    from dbt.adapters.duckdb.credentials import DuckDBCredentials
    from dbt.adapters.factory import reset_adapters
    from dbt.cli.main import dbtRunner

    # DuckDB names a database by its file's name up to the first dot.
    name = DuckDBCredentials.path_derived_database_name(str(database))
    manifest = read_parsed(parsed, name) if parsed else None
    written = folder / "target" / "partial_parse.msgpack"
    if parsed and manifest is None:
        # Otherwise the file of another build might be kept as that of this build.
        written.unlink(missing_ok=True)
    said: dict[str, list[str]] = {}

    def tell(event: Any) -> None:  # noqa: ANN401 - a message that dbt makes at run time
        if event.info.name == "JinjaLogInfo":
            said.setdefault(event.data.node_info.unique_id, []).append(event.data.msg)
        if progress is not None and event.info.name == "LogStartLine":
            name = event.data.description.split()[-1].rpartition(".")[2]
            progress(name, event.data.index, event.data.total)

    here = Path.cwd()
    try:
        with _environment(PASSK_DATABASE=str(database)), _stoppable(), _quiet_log():
            done = dbtRunner(manifest, callbacks=[tell]).invoke([*arguments, *_SILENT])
    finally:
        os.chdir(here)
        _release()
        reset_adapters()  # type: ignore[no-untyped-call]
    if isinstance(done.exception, KeyboardInterrupt):
        raise done.exception
    # A result that holds nodes says more than the exception beside it.
    if done.exception is not None and not getattr(done.result, "results", None):
        raise could_not_run(str(done.exception), database, folder / "logs" / "dbt.log")
    result: Any = done.result
    report = report_of([_node(one, said) for one in result.results], float(result.elapsed_time))
    # With a wrong var dbt parses as if it had its default, and builds no model.
    if parsed and manifest is None and report.models:
        keep_parsed(written, parsed)
    return report


def _release() -> None:
    """Close the database: dbt keeps it open for a next command in the same process."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    if DuckDBConnectionManager._ENV is not None:  # noqa: SLF001 - env() raises if there is none
        DuckDBConnectionManager.env().close()
    DuckDBConnectionManager.close_all_connections()  # type: ignore[no-untyped-call]


def _node(
    result: Any,  # noqa: ANN401 - dbt's types would cost its imports
    said: Mapping[str, list[str]],
) -> NodeReport:
    """Tell how a node ended."""
    status = str(result.status)
    message = sentence(str(result.message or ""))
    if status in ("fail", "warn"):
        # A test that says itself why it fails says more than how many rows it gave.
        message = "\n".join(said.get(result.node.unique_id, [message]))
    return NodeReport(
        result.node.name,
        str(result.node.resource_type),
        "error" if status == "runtime error" else status,
        message,
    )


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let Ctrl-C end a Python model too: dbt cancels queries, then waits for its threads."""
    # Its import takes Ctrl-C over in a way that does not wake the main thread, which only waits.
    import polars as pl  # noqa: F401

    of_the_caller = set(threading.enumerate())
    asked = False

    def stop(*_: object) -> None:
        nonlocal asked
        asked = True
        for thread in threading.enumerate():
            if isinstance(thread, DummyProcess) and thread not in of_the_caller:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
                )
        raise KeyboardInterrupt

    taken = []
    if threading.current_thread() is threading.main_thread():
        # Others than Python's own are what a caller has set, or what lets a program run on.
        numbers = (signal.SIGINT, signal.SIGTERM)
        taken = [n for n in numbers if signal.getsignal(n) is signal.default_int_handler]
    for number in taken:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.default_int_handler)
    # dbt may end by an error of what was stopped, such as a connection that it has closed.
    if asked:
        raise KeyboardInterrupt


@contextmanager
def _quiet_log() -> Iterator[None]:
    """Print no traceback for each line of dbt's log for which the disk has no room."""
    before = logging.raiseExceptions
    logging.raiseExceptions = False
    try:
        yield
    finally:
        logging.raiseExceptions = before


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
