"""Python's collector of cycles, paused while rows are made."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


class Collector:
    """The collector of this process, which several threads may pause at a time."""

    # The rows of a log are many small objects without cycles. Each few hundred of them set off a
    # search for cycles through all that the process holds: a fifth of a load, and it finds nothing.

    def __init__(self) -> None:
        self._lock = Lock()
        self._pauses = 0
        self._was_on = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause it for a while; it goes on with the end of the last pause, if it was on before."""
        with self._lock:
            if not self._pauses:
                self._was_on = gc.isenabled()
                gc.disable()
            self._pauses += 1
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                if not self._pauses and self._was_on:
                    gc.enable()

    @staticmethod
    def collect_young() -> None:
        """Look for cycles among what is new, within a long pause: it is to hold no more of them."""
        gc.collect(0)


COLLECTOR: Final = Collector()
