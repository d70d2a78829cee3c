"""Several logs at once: read side by side, written one after the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore, Lock, local
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from passk_py.ingest.landing.database import set_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    import duckdb

_T = TypeVar("_T")
# Each waiting job holds the start of its file in memory.
_WAITING: Final = 2


class Connections:
    """A connection for each thread, and the lock that lets one of them write."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._first = connection
        self._of_thread = local()
        self._of_thread.connection = connection
        self._others: list[duckdb.DuckDBPyConnection] = []
        self.writing = Lock()
        """Held from the begin of a transaction to its end, so that each batch has a time of its own
        and a later one is written later."""

    @property
    def mine(self) -> duckdb.DuckDBPyConnection:
        """The connection of this thread."""
        if not hasattr(self._of_thread, "connection"):
            connection = self._first.cursor()
            set_session(connection)
            self._of_thread.connection = connection
            self._others.append(connection)
        found: duckdb.DuckDBPyConnection = self._of_thread.connection
        return found

    def interrupt(self) -> None:
        """End what the other threads are doing."""
        for connection in self._others:
            connection.interrupt()

    def close(self) -> None:
        """Close the connections of the other threads."""
        for connection in self._others:
            connection.close()


class Jobs(Generic[_T]):
    """Runs work on some threads, or at once for one job; an exception ends what they do."""

    def __init__(self, count: int, connections: Connections) -> None:
        self._pool = ThreadPoolExecutor(count) if count > 1 else None
        self._room = BoundedSemaphore(_WAITING * count)
        self._connections = connections

    def __enter__(self) -> Jobs[_T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        if self._pool:
            if kind is not None:
                self._connections.interrupt()
            self._pool.shutdown(cancel_futures=kind is not None)
            self._connections.close()

    def run(self, work: Callable[[], _T], *, at_once: bool = False) -> Callable[[], _T]:
        """Run work, maybe on another thread; give what waits for its result."""
        if self._pool is None or at_once:
            result = work()
            return lambda: result
        self._room.acquire()
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: self._room.release())
        return future.result
