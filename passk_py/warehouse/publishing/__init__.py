"""A copy of the public tables that dashboards read, beside the database that builds write."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from passk_py.common.errors import InUseError, PasskError
from passk_py.common.sql_text import io_reason
from passk_py.warehouse.catalog import PUBLIC_TABLES, PublicTable, public_table
from passk_py.warehouse.freshness import why_unfinished
from passk_py.warehouse.publishing.copied_tables import PublishedCopy, write_copy, write_parquet
from passk_py.warehouse.publishing.copy_folder import (
    DATABASE,
    DRAFTS,
    PARQUET,
    alone,
    check_targets,
    draft_in,
    made,
    remove_drafts,
    replace_database,
    replace_parquet,
)
from passk_py.warehouse.settings import COPY as ABOUT
from passk_py.warehouse.tables import open_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from passk_py.warehouse.tables import Tables

__all__ = ["FORMATS", "PublishedCopy", "publish"]

FORMATS: Final = {"duckdb": ("duckdb",), "parquet": ("parquet",), "both": ("duckdb", "parquet")}
"""The formats that can be asked for, and the file that is written for each."""

_PAUSE_S: Final = 0.2
_HINT: Final = "Give a folder where you may write with -o."

T = TypeVar("T")


def publish(
    output: str | Path,
    *,
    database: str | Path = "passk.duckdb",
    without: str | Iterable[str] = (),
    with_raw: bool = False,
    format: str = "both",  # noqa: A002 - as the command line calls it
    wait: float = 0,
    on_wait: Callable[[str], None] | None = None,
) -> PublishedCopy:
    """Write a read-only copy of the public tables for dashboards.

    A DuckDB file that is open anywhere can't be built, so dashboards read a copy. Its tables are of
    one state of the database. They are written beside the copy that is there, and take its place
    when all are complete; who reads the old ones goes on reading them.

    Parameters
    ----------
    output
        A folder, which is made if it is missing. It gets ``passk.duckdb``, in a format that every
        DuckDB from 1.0 on reads, and ``parquet/<table>.parquet``.
    database
        Path of the DuckDB file.
    without
        Public tables to leave out.
    with_raw
        Copy rejected rows as they were read (``raw`` of ``passk_rejected_attempts``) and the paths
        of log files. Without it ``raw`` is null, and ``source_file`` a name without its folder.
    format
        ``duckdb``, ``parquet`` or ``both``. The other format stays as it is in the folder.
    wait
        For how many seconds to try again while another process has the database, or publishes to
        the folder.
    on_wait
        Is told once what is waited for.

    Returns
    -------
    PublishedCopy
        The files and tables that were published.

    Raises
    ------
    PasskError
        If the database is missing, in use, not built or half built, or the folder can't be
        written, or holds something else under one of the names.
    """
    kinds = FORMATS.get(format)
    if kinds is None:
        raise PasskError(
            f"There is no format '{format}'.", hint=f"The formats are {', '.join(FORMATS)}."
        )
    left_out = {
        public_table(name).name for name in ([without] if isinstance(without, str) else without)
    }
    folder, source = Path(output), Path(database)
    waiting = _Waiting(wait, on_wait)
    with _said_of(folder, source), ExitStack() as stack:
        stack.enter_context(made(folder))
        is_alone = waiting.enter(stack, lambda: alone(folder))
        remove_drafts(folder, all_of_them=is_alone)
        draft = stack.enter_context(draft_in(folder))
        check_targets(folder, source, kinds, draft)
        with ExitStack() as reading:
            # Builds can't run while it is open, so it is open for reading the tables only.
            tables = waiting.enter(reading, lambda: open_tables(source))
            chosen = _chosen(tables, left_out)
            copy = write_copy(tables, chosen, draft / DATABASE, with_raw=with_raw)
        if "parquet" in kinds:
            write_parquet(draft, [ABOUT, *(table.name for table in chosen)], copy.copy_id)
            replace_parquet(draft, folder, copy.copy_id)
        if "duckdb" in kinds:
            replace_database(draft, folder)
    return replace(
        copy,
        database=folder / DATABASE if "duckdb" in kinds else None,
        parquet=folder / PARQUET if "parquet" in kinds else None,
    )


class _Waiting:
    """Tries again while what is wanted is in use."""

    def __init__(self, seconds: float, tell: Callable[[str], None] | None) -> None:
        self._until = time.monotonic() + seconds
        self._tell = tell

    def enter(self, stack: ExitStack, make: Callable[[], AbstractContextManager[T]]) -> T:
        while True:
            try:
                return stack.enter_context(make())
            except InUseError as error:
                left = self._until - time.monotonic()
                if left <= 0:
                    raise
                if self._tell is not None:
                    self._tell(f"{error.message} Trying again for {left:.0f} s.")
                    self._tell = None
                time.sleep(min(_PAUSE_S, left))


@contextmanager
def _said_of(folder: Path, source: Path) -> Iterator[None]:
    """Say of the folder what the system says of something in it."""
    import duckdb

    try:
        yield
    except OSError as error:
        if error.filename is not None and str(error.filename) == str(source):
            raise
        reason = error.strerror or str(error)
        raise PasskError(f"{folder} can't be written: {reason}.", hint=_HINT) from error
    except duckdb.IOException as error:
        text = io_reason(error)
        if DRAFTS not in text:
            raise
        text = re.sub(rf"{re.escape(DRAFTS)}[0-9a-f]+[/\\]", "", text)
        raise PasskError(f"{folder} can't be written: {text}.", hint=_HINT) from error


def _chosen(tables: Tables, left_out: set[str]) -> list[PublicTable]:
    """Give the tables to copy, of a database whose tables are of one build."""
    for table in PUBLIC_TABLES:
        tables.require(table.name)
    if reason := why_unfinished(tables):
        raise PasskError(
            f"{tables.database} can't be published. {reason}",
            hint="Run `passk build`, then publish.",
        )
    return [table for table in tables.public() if table.name not in left_out]
