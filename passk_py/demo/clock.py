"""The demo's clock, which counts steps.

A clock on the wall would write other times into the log each time it is made. So time in the log
is work: a step of a solver takes :data:`STEP_MS` milliseconds, a run starts at the time that it is
given, and the next attempt starts when the one before has ended. The order of execution is the
true one, and an attempt that took twice the steps took twice the time; the seconds are not
measured.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

STEP_MS: Final = 25
"""Milliseconds that a step counts for."""


class StepClock:
    """A clock that runs only while a solver works, from a time in UTC without a time zone."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def spend(self, steps: int) -> float:
        """Let the time of some steps pass, and give it in seconds."""
        self.now += timedelta(milliseconds=steps * STEP_MS)
        return steps * STEP_MS / 1000
