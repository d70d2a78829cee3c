"""Means of scores over tasks, with limits: what several tables of suites have in common."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Protocol

import polars as pl

from passk_py.metrics.states import (
    padded,
    related_states,
    short_reason,
    short_tasks,
    with_short_tasks,
)
from passk_py.metrics.uncertainty import floor_of_suite
from passk_py.stats.distributions import normal_quantile

if TYPE_CHECKING:
    from passk_py.metrics.states import Families, States

MEAN_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("eligible_tasks", "total_tasks", "least_n", "families"), pl.Int64),
    **dict.fromkeys(
        ("effective_families", "estimate", "lower", "upper", "suite_lower", "suite_upper"),
        pl.Float64,
    ),
    **dict.fromkeys(("null_reason", "caveat"), pl.String),
}


class TaskScore(Protocol):
    """The score of a task by its counts, from k of its attempts."""

    @property
    def k(self) -> int:
        """How many attempts the score is about."""

    def value(self, n: int, c: int) -> float:
        """Give the unbiased estimate of a task with n >= k, rounded once."""

    def variance_within(self, n: int, c: int) -> float:
        """Give its unbiased variance within a task with n >= 2k."""


def mean_score(
    score: TaskScore,
    states: States,
    families: Families | None,
    *,
    min_eligible_share: float,
    confidence: float,
) -> dict[str, Any]:
    """Average a score over the tasks of one suite or slice; no families where none are named."""
    k, total = score.k, states.total()
    known = sorted((state, tasks) for state, tasks in states.items() if state[0] >= k)
    eligible = sum(tasks for _, tasks in known)
    reason = short_reason(k, eligible, total, min_eligible_share=min_eligible_share)
    row: dict[str, Any] = {
        **dict.fromkeys(MEAN_TYPES),
        "eligible_tasks": eligible,
        "total_tasks": total,
        "least_n": min((n for (n, _), _ in known), default=None),
        "null_reason": reason,
    }
    if reason is not None:
        return row
    if eligible < total:
        row["caveat"] = f"{short_tasks(k, eligible, total)}, which the limits allow any value"
    values = {state: score.value(*state) for state, _ in known}
    mean = math.fsum(tasks * values[state] for state, tasks in known) / eligible
    squares = math.fsum(tasks * (values[state] - mean) ** 2 for state, tasks in known)
    units = float(eligible)
    if families is not None:
        found = related_states(families, k, lambda n, c: values[n, c], mean)
        units = found.units
        row |= {"families": found.families, "effective_families": units}
        squares = 0.0 if found.variance is None else found.variance * (units - 1)
    middle, reach = padded(mean, squares, units, confidence)
    row |= {"estimate": mean, **_ends(middle, reach, eligible, total, "")}
    if all(n >= 2 * k for (n, _), _ in known):
        within = math.fsum(tasks * score.variance_within(*state) for state, tasks in known)
        error = math.sqrt(within + floor_of_suite(k, row["least_n"], confidence)) / eligible
        row |= _ends(mean, normal_quantile(confidence) * error, eligible, total, "suite_")
    return row


def _ends(middle: float, reach: float, eligible: int, total: int, of: str) -> dict[str, float]:
    """Give the limits over all tasks; the short ones may have any value."""
    low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
    return {
        f"{of}lower": with_short_tasks(low, eligible, total, 0.0),
        f"{of}upper": with_short_tasks(high, eligible, total, 1.0),
    }
