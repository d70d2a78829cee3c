"""The figures of a pair of runs: sums over its tasks, and what follows from them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from passk_py.metrics.states import score, variance_within
from passk_py.metrics.uncertainty import floor_of_difference
from passk_py.stats.distributions import normal_quantile, p_value, student_quantile, two_sided_p
from passk_py.stats.permutations import PairCounts, variance_of_difference

if TYPE_CHECKING:
    from collections import Counter

LEAST_DECIDING: Final = 6
"""Fewer tasks that could come out differently carry no verdict."""
_TINY: Final = 1e-60
"""A smaller difference adds nothing to sums of powers."""


class Sums(NamedTuple):
    """What a pair's tasks add up to, for one metric and k."""

    eligible: int
    informative: int
    deciding: int
    least_n: int | None
    baseline: float
    candidate: float
    difference: float
    squares: float
    fourths: float
    rate_difference: float
    variance: float
    within: float


class _Terms(NamedTuple):
    """What one task adds to the last fields of :class:`Sums`."""

    baseline: float
    candidate: float
    difference: float
    squares: float
    fourths: float
    rate_difference: float
    variance: float
    within: float


@lru_cache(maxsize=2**17)
def _terms_of(counts: PairCounts, metric: str, k: int) -> _Terms:
    """Give what a task with n >= k in both runs adds, once for all tasks with its counts."""
    before = score(metric, counts.baseline_n, counts.baseline_c, k)
    after = score(metric, counts.candidate_n, counts.candidate_c, k)
    rates = counts.candidate_c / counts.candidate_n - counts.baseline_c / counts.baseline_n
    variance = 0.0
    if counts.is_informative:
        drawn = counts.passes if metric == "pass_hat_k" else counts.attempts - counts.passes
        variance = variance_of_difference(counts.baseline_n, counts.candidate_n, drawn, k)
    difference = after - before
    within = variance_within(metric, counts.baseline_n, counts.baseline_c, k)
    within += variance_within(metric, counts.candidate_n, counts.candidate_c, k)
    # In SQL a power that is too small for a number stops some engines.
    size = abs(difference) if abs(difference) >= _TINY else 0.0
    return _Terms(before, after, difference, size**2, size**4, rates, variance, within)


def sums_of(histogram: Counter[PairCounts], metric: str, k: int) -> Sums:
    """Add up over the tasks of both runs with n >= k, by how many have the same counts."""
    eligible = informative = deciding = 0
    least_n = None
    parts: list[tuple[float, ...]] = []
    for counts, tasks in histogram.items():
        fewer = min(counts.baseline_n, counts.candidate_n)
        if fewer < k:
            continue
        least_n = fewer if least_n is None else min(least_n, fewer)
        terms = _terms_of(counts, metric, k)
        eligible += tasks
        informative += tasks if counts.is_informative else 0
        deciding += tasks if terms.variance > 0 else 0
        parts.append(tuple(tasks * term for term in terms))
    totals = [math.fsum(column) for column in zip(*parts, strict=True)] or [0.0] * 8
    return Sums(eligible, informative, deciding, least_n, *totals)


def figures_of(sums: Sums, k: int, confidence: float) -> dict[str, Any]:
    """Give the figures over the eligible tasks, and their limits there."""
    tasks = sums.eligible
    difference = sums.difference / tasks
    # Where few tasks could differ, or one outweighs the others, z is far from normal.
    outweighed = sums.squares**2 < 2 * sums.fourths * (1 - 1e-9)
    tested = sums.deciding >= LEAST_DECIDING and not outweighed
    z = sums.difference / math.sqrt(sums.variance) if tested else None
    # The variance if both runs were the same is too small where a few tasks changed far.
    spread_within = max(sums.variance, sums.within)
    floor = floor_of_difference(k, sums.least_n or k, confidence)
    reach = normal_quantile(confidence) * math.sqrt(spread_within + floor) / tasks
    figures: dict[str, Any] = {
        "least_n": sums.least_n,
        "baseline": sums.baseline / tasks,
        "candidate": sums.candidate / tasks,
        "difference": difference,
        "rate_difference": sums.rate_difference / tasks,
        "z": z,
        "p": None if z is None else p_value(two_sided_p(z)),
        "standard_error": math.sqrt(sums.variance) / tasks,
        "suite_limits": _limits(difference, reach),
    }
    if tasks > 1:
        # Two more tasks, one that gets better in every try and one that gets worse.
        middle = sums.difference / (tasks + 2)
        spread = (sums.squares + 2 - (tasks + 2) * middle**2) / (tasks + 1)
        wide = student_quantile(tasks + 1, confidence) * math.sqrt(spread / (tasks + 2))
        figures["limits"] = _limits(middle, wide)
    return figures


def _limits(middle: float, reach: float) -> tuple[float, float]:
    return max(middle - reach, -1.0), min(middle + reach, 1.0)
