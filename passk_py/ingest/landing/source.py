"""A file on its way into the database: what it is read as, what fills it, how far it is."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from passk_py.common.contract import EXPECTED_ATTEMPTS
from passk_py.ingest.formats.harness import Harness
from passk_py.ingest.formats.policy import rules_for
from passk_py.ingest.landing.contract_sql import ContractSql, columns_of
from passk_py.ingest.landing.options import can_be_stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import duckdb

    from passk_py.ingest.formats import Format, Kind
    from passk_py.ingest.formats.sample import Sample
    from passk_py.ingest.landing.load_report import Progress
    from passk_py.ingest.landing.options import Options

__all__ = ["Source", "ticking"]

_TICK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Source:
    """A file, what it is read as, and what fills it.

    Parameters
    ----------
    sample
        The file.
    reader
        Its format.
    options
        The user's fill-ins.
    progress
        Is told how far the reading is.
    careful
        Whether to read the careful way from the start; for tests.
    after
        The logs of the same run after which its attempts are numbered on.
    """

    sample: Sample
    reader: Format
    options: Options
    progress: Progress | None = None
    careful: bool = False
    after: tuple[str, ...] = ()

    @property
    def may_expect(self) -> bool:
        """Whether rows of the format may say how many attempts of their task there should be."""
        columns = columns_of(self.sample, self.reader, fast=True)
        return EXPECTED_ATTEMPTS.name in self.reader.contract(columns)

    def tell(self, bytes_done: int, rows: int) -> None:
        """Report progress."""
        if self.progress:
            total = self.sample.size
            self.progress(str(self.sample.path), min(bytes_done, total), total, rows)

    def contract(self, *, fast: bool, kinds: Mapping[str, Kind] | None = None) -> ContractSql:
        """Give the SQL that types what the reader hands over.

        Parameters
        ----------
        fast
            Whether it is read in the fast way.
        kinds
            What the columns are of rows that have no others; by default they have all of their
            format, as :func:`~passk_py.ingest.landing.contract_sql.columns_of` gives them. DuckDB
            takes longer to plan a query of columns without a value than to run it.
        """
        columns = columns_of(self.sample, self.reader, fast=fast)
        fields = self.reader.contract(columns)
        if kinds is not None:
            fields = {
                name: replace(field, kind=kinds[name])
                for name, field in fields.items()
                if name in kinds
            }
        run_id = self.reader.default_run_id(self.sample.path)
        if run_id is not None and not can_be_stored(run_id):
            # What a log calls its run need not be text that can be stored; its own name is.
            run_id = self.sample.path.name
        return ContractSql(
            fields,
            self.options,
            default_run_id=run_id,
            default_suite=self.reader.default_suite,
            uses_threshold=self.reader.uses_threshold,
            policy=rules_for(self.reader, self.options.policy.items()),
            heads_follow=isinstance(self.reader, Harness),
        )


@contextmanager
def ticking(
    connection: duckdb.DuckDBPyConnection, source: Source, start: float, end: float
) -> Iterator[None]:
    """Tell the progress of the query that runs in the context.

    Parameters
    ----------
    connection
        Runs the query.
    source
        The file that it reads or writes.
    start, end
        Which shares of the work on the file are behind before and after it.

    Yields
    ------
    None
    """
    if source.progress is None:
        yield
        return
    stop = Event()

    def tick() -> None:
        while not stop.wait(_TICK_SECONDS):
            share = start + (end - start) * max(connection.query_progress(), 0.0) / 100
            source.tell(int(source.sample.size * share), 0)

    thread = Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
