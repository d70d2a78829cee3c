"""The figures of a pair of runs: sums over its tasks, and what follows from them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from passk_py.metrics.states import related, score, variance_within
from passk_py.metrics.uncertainty import floor_of_difference
from passk_py.stats.distributions import normal_quantile, p_value, student_quantile, two_sided_p
from passk_py.stats.permutations import variance_of_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from passk_py.metrics.states import Related
    from passk_py.stats.permutations import PairCounts

LEAST_DECIDING: Final = 6
"""A verdict needs so many tasks that could come out differently."""
_TINY: Final = 1e-60
"""A smaller difference counts as none in sums of powers."""


class Sums(NamedTuple):
    """The sums over a pair's tasks, for one metric and k."""

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


Side = tuple[int, int]
"""The n and c of a task in one of the runs."""


def related_differences(
    families: Iterable[Counter[PairCounts]], metric: str, k: int, mean: float
) -> Related | None:
    """Sum up the families of a pair's eligible tasks, around the mean difference."""
    found = []
    for counts in families:
        known = [(pair, tasks) for pair, tasks in counts.items() if min(pair[0], pair[2]) >= k]
        if known:
            apart = math.fsum(
                tasks * (score(metric, *pair[2:], k) - score(metric, *pair[:2], k) - mean)
                for pair, tasks in known
            )
            found.append((sum(tasks for _, tasks in known), apart))
    return related(found, [1] * len(found)) if found else None


@dataclass(frozen=True, slots=True)
class _Eligible:
    """The tasks with n >= k in both runs, by how many have the same counts."""

    states: list[tuple[int, Side, Side]]
    """The number of tasks with the same counts, those in the baseline, those in the candidate."""
    sides: list[Counter[Side]]
    """The number of tasks by their counts, once in the baseline and once in the candidate."""
    dealt: Counter[tuple[int, int, int]]
    """The number of tasks that could come out differently, by n of both runs and all passes."""
    tasks: int
    least_n: int | None
    rate_difference: float


class PairSums:
    """Sums over the tasks of a pair, from the number of tasks with the same counts."""

    def __init__(self, histogram: Counter[PairCounts]) -> None:
        self._histogram = histogram
        self._known: dict[int, _Eligible] = {}
        self._eligible = cache(self._eligible_at)
        self._by_n: list[Counter[int]] = [Counter(), Counter()]
        for counts, tasks in histogram.items():
            self._by_n[0][counts.baseline_n] += tasks
            self._by_n[1][counts.candidate_n] += tasks

    @property
    def tasks(self) -> int:
        """The number of tasks of both runs."""
        return self._by_n[0].total()

    def ready(self, k: int) -> list[int]:
        """Count the tasks of both runs with n >= k in the baseline, and those in the candidate."""
        return [sum(tasks for n, tasks in one.items() if n >= k) for one in self._by_n]

    def _eligible_at(self, k: int) -> _Eligible:
        found = {
            counts: tasks
            for counts, tasks in self._histogram.items()
            if counts.baseline_n >= k and counts.candidate_n >= k
        }
        # A larger k only removes tasks, so as many counts are the same ones.
        if len(found) not in self._known:
            self._known[len(found)] = _eligible_of(found)
        return self._known[len(found)]

    def sums(self, metric: str, k: int) -> Sums:
        """Add up over the tasks of both runs with n >= k."""
        eligible = self._eligible(k)

        def drawn(attempts: int, passes: int) -> int:
            return passes if metric == "pass_hat_k" else attempts - passes

        scores = {side: score(metric, *side, k) for one in eligible.sides for side in one}
        before, after = (
            math.fsum(tasks * scores[side] for side, tasks in one.items()) for one in eligible.sides
        )
        differences = [(tasks, scores[new] - scores[old]) for tasks, old, new in eligible.states]
        # As in SQL, where a power that is too small for a number is an error on some engines.
        sizes = [(tasks, one * one) for tasks, one in differences if abs(one) >= _TINY]
        variances = [
            (tasks, variance_of_difference(one, other, drawn(one + other, passes), k))
            for (one, other, passes), tasks in eligible.dealt.items()
        ]
        return Sums(
            eligible.tasks,
            eligible.dealt.total(),
            sum(tasks for tasks, variance in variances if variance > 0),
            eligible.least_n,
            before,
            after,
            math.fsum(tasks * one for tasks, one in differences),
            math.fsum(tasks * square for tasks, square in sizes),
            math.fsum(tasks * square * square for tasks, square in sizes),
            eligible.rate_difference,
            math.fsum(tasks * variance for tasks, variance in variances),
            math.fsum(
                tasks * variance_within(metric, *side, k)
                for one in eligible.sides
                for side, tasks in one.items()
            ),
        )


def _eligible_of(histogram: Mapping[PairCounts, int]) -> _Eligible:
    sides: list[Counter[Side]] = [Counter(), Counter()]
    dealt: Counter[tuple[int, int, int]] = Counter()
    states, rates = [], []
    for counts, tasks in histogram.items():
        before, after = counts[:2], counts[2:]
        states.append((tasks, before, after))
        sides[0][before] += tasks
        sides[1][after] += tasks
        rates.append(tasks * (after[1] / after[0] - before[1] / before[0]))
        if counts.is_informative:
            dealt[before[0], after[0], counts.passes] += tasks
    least = min((n for one in sides for n, _ in one), default=None)
    return _Eligible(states, sides, dealt, sum(histogram.values()), least, math.fsum(rates))


def figures_of(
    sums: Sums, k: int, confidence: float, families: Related | None = None
) -> dict[str, Any]:
    """Give the figures over the eligible tasks, and their limits there."""
    tasks = sums.eligible
    difference = sums.difference / tasks
    # Where few tasks could differ, or one outweighs the others, z is far from normal.
    outweighed = sums.squares**2 < 2 * sums.fourths * (1 - 1e-9)
    tested = sums.deciding >= LEAST_DECIDING and not outweighed
    z = sums.difference / math.sqrt(sums.variance) if tested else None
    # The variance if both runs were the same is too small where a few tasks changed much.
    spread_within = max(sums.variance, sums.within)
    floor = floor_of_difference(k, sums.least_n or k, confidence)
    error = math.sqrt(spread_within + floor) / tasks
    reach = normal_quantile(confidence) * error
    figures: dict[str, Any] = {
        "least_n": sums.least_n,
        "baseline": sums.baseline / tasks,
        "candidate": sums.candidate / tasks,
        "difference": difference,
        "rate_difference": sums.rate_difference / tasks,
        "z": z,
        "p": None if z is None else p_value(two_sided_p(z)),
        "standard_error": math.sqrt(sums.variance) / tasks,
        "difference_error": error,
        "suite_limits": _limits(difference, reach),
    }
    if families is not None:
        figures["families"] = families.families
    if tasks > 1:
        units, total, squares = float(tasks), sums.difference, sums.squares
        if families is not None:
            units, total = families.units, families.units * difference
            squares = (units - 1) * (families.variance or 0.0) + units * difference**2
        # Two tasks, or families, are added: one gets better in every try and one gets worse.
        middle = total / (units + 2)
        spread = (squares + 2 - (units + 2) * middle**2) / (units + 1)
        degrees = math.floor(units + 1.5)
        wide = student_quantile(degrees, confidence) * math.sqrt(spread / (units + 2))
        figures["limits"] = _limits(middle, wide)
    return figures


def _limits(middle: float, reach: float) -> tuple[float, float]:
    return max(middle - reach, -1.0), min(middle + reach, 1.0)
