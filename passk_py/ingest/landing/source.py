"""A log on its way into the database: its files, its format, what is asked for, how far it is."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from passk_py.ingest.formats.harness import Harness

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

    from passk_py.ingest.formats import Format
    from passk_py.ingest.formats.sample import Sample
    from passk_py.ingest.landing.options import Options

_TICK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Source:
    """A log, as each step hands it to the next."""

    sample: Sample
    format: Format
    options: Options
    after: tuple[str, ...] | None = None
    """The earlier logs of the same ``--run-id``, after which this one is numbered on."""

    @property
    def path(self) -> str:
        """The path that the log is known by: its ``source_file``."""
        return self.options.named(str(self.sample.path))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that hold its rows."""
        return self.sample.files or (self.sample.path,)

    @property
    def parts(self) -> list[str]:
        """The names of these files, as the database keeps them."""
        return [self.options.named(str(file)) for file in self.files]

    @property
    def harness(self) -> Harness | None:
        """The format, if it is that of a harness, so that the rows are made in Python."""
        return self.format if isinstance(self.format, Harness) else None

    @property
    def keeps_numbers(self) -> bool:
        """Whether its attempts keep their numbers, whichever logs are loaded with it."""
        return self.options.run_id is None or self.format.attempts_stay

    def without_start(self) -> Source:
        """Drop the start of its text: thousands of logs may wait."""
        return replace(self, sample=replace(self.sample, start=b""))

    def tell(self, bytes_done: int, rows: int) -> None:
        """Report progress."""
        if self.options.progress:
            total = self.sample.size
            self.options.progress(self.path, min(bytes_done, total), total, rows)


@contextmanager
def ticking(
    connection: duckdb.DuckDBPyConnection, source: Source, start: float, end: float
) -> Iterator[None]:
    """Tell the progress of the query that runs in the context, from one share to another."""
    if source.options.progress is None:
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
