"""The findings of a rule in a run."""

from __future__ import annotations

from typing import Final, NamedTuple

UNKNOWN: Final = "(unknown)"
"""The suite, the run or the slice of a finding where the rule and the log name none."""


class Finding(NamedTuple):
    """The findings of a rule in one run, slice or pair, as the columns of ``passk_gates``."""

    result: str
    reason: str
    to_settle: str | None = None
    baseline_run_id: str | None = None
    slice_name: str = "all"
    slice_value: str = "all"
    tasks: int | None = None
    estimate: float | None = None
    estimate_lower: float | None = None
    estimate_upper: float | None = None
    quarantined_tasks: int | None = None
