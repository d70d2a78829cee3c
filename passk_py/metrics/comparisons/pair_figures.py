"""The figures of a pair of runs: sums over its tasks, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from operator import mul
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.metrics.states import related, score, variance_within
from passk_py.metrics.uncertainty import floor_of_difference
from passk_py.stats.distributions import normal_quantile, p_value, student_quantile, two_sided_p
from passk_py.stats.permutations import variance_of_difference

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from passk_py.metrics.states import Related
    from passk_py.stats.permutations import PairCounts

LEAST_DECIDING: Final = 6
"""A verdict needs so many tasks that could come out differently."""
_TINY: Final = 1e-60
"""A smaller difference counts as none in sums of powers."""
_NONE: Final = pl.Series([0.0])
_ATTEMPTS: Final = ("baseline_n", "candidate_n")


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
class _Side:
    """One run of the tasks with n >= k in both."""

    states: list[tuple[int, int]]
    """The different n and c."""
    tasks: list[int]
    """How many tasks have each."""
    places: pl.Series
    """Where among them the state of each row of the histogram is."""

    def total(self, values: Sequence[float]) -> float:
        """Add up a value of each state over the tasks."""
        return math.fsum(map(mul, self.tasks, values))


@dataclass(frozen=True, slots=True)
class _Eligible:
    """The tasks with n >= k in both runs, by how many have the same counts."""

    tasks: pl.Series
    """How many tasks each row of the histogram has."""
    sides: tuple[_Side, _Side]
    """The baseline and the candidate."""
    dealt: list[tuple[int, int, int, int]]
    """The n of both runs and all passes of tasks that could come out differently, and how many."""
    least_n: int | None
    rate_difference: float


class PairSums:
    """Sums over the tasks of a pair, from the number of tasks with the same counts."""

    def __init__(self, histogram: pl.DataFrame) -> None:
        self._histogram = histogram
        self._known: dict[int, _Eligible] = {}
        self._eligible = cache(self._eligible_at)
        self._by_n = [dict(_tasks_by(histogram, name).iter_rows()) for name in _ATTEMPTS]

    @property
    def tasks(self) -> int:
        """The number of tasks of both runs."""
        return sum(self._by_n[0].values())

    def ready(self, k: int) -> list[int]:
        """Count the tasks of both runs with n >= k in the baseline, and those in the candidate."""
        return [sum(tasks for n, tasks in one.items() if n >= k) for one in self._by_n]

    def _eligible_at(self, k: int) -> _Eligible:
        least_n = min((min(one) for one in self._by_n if one), default=0)
        found = self._histogram
        if k > least_n:
            found = found.filter(pl.min_horizontal(_ATTEMPTS) >= k)
        # A larger k only removes tasks, so as many counts are the same ones.
        if found.height not in self._known:
            self._known[found.height] = _eligible_of(found)
        return self._known[found.height]

    def sums(self, metric: str, k: int) -> Sums:
        """Add up over the tasks of both runs with n >= k."""
        eligible = self._eligible(k)

        def drawn(attempts: int, passes: int) -> int:
            return passes if metric == "pass_hat_k" else attempts - passes

        scores = [[score(metric, *state, k) for state in one.states] for one in eligible.sides]
        before, after = (
            pl.Series(values, dtype=pl.Float64)[one.places]
            for one, values in zip(eligible.sides, scores, strict=True)
        )
        differences = after - before
        squares = differences * differences
        # As in SQL, where a power that is too small for a number is an error on some engines.
        squares = squares.zip_with(squares >= _TINY**2, _NONE)
        variances = [
            (tasks, variance_of_difference(one, other, drawn(one + other, passes), k))
            for one, other, passes, tasks in eligible.dealt
        ]
        return Sums(
            eligible=sum(eligible.sides[0].tasks),
            informative=sum(tasks for *_, tasks in eligible.dealt),
            deciding=sum(tasks for tasks, variance in variances if variance > 0),
            least_n=eligible.least_n,
            baseline=eligible.sides[0].total(scores[0]),
            candidate=eligible.sides[1].total(scores[1]),
            # Differences may cancel each other out, so these are added up exactly.
            difference=math.fsum((eligible.tasks * differences).to_list()),
            squares=float((eligible.tasks * squares).sum()),
            fourths=float((eligible.tasks * squares * squares).sum()),
            rate_difference=eligible.rate_difference,
            variance=math.fsum(tasks * variance for tasks, variance in variances),
            within=math.fsum(
                one.total([variance_within(metric, *state, k) for state in one.states])
                for one in eligible.sides
            ),
        )


def _tasks_by(histogram: pl.DataFrame, *keys: str) -> pl.DataFrame:
    return histogram.group_by(keys, maintain_order=True).agg(pl.sum("tasks"))


def _eligible_of(histogram: pl.DataFrame) -> _Eligible:
    rates = histogram.select(
        pl.col("tasks")
        * (
            pl.col("candidate_c") / pl.col("candidate_n")
            - pl.col("baseline_c") / pl.col("baseline_n")
        )
    ).to_series()
    passes = pl.col("baseline_c") + pl.col("candidate_c")
    attempts = pl.col("baseline_n") + pl.col("candidate_n")
    informative = histogram.filter(passes > 0, passes < attempts).with_columns(passes=passes)
    return _Eligible(
        histogram["tasks"].cast(pl.Float64),
        (_side(histogram, "baseline"), _side(histogram, "candidate")),
        _tasks_by(informative, *_ATTEMPTS, "passes").rows(),
        histogram.select(pl.min_horizontal(_ATTEMPTS).min()).item(),
        math.fsum(rates.to_list()),
    )


def _side(histogram: pl.DataFrame, side: str) -> _Side:
    keys = [f"{side}_n", f"{side}_c"]
    states = _tasks_by(histogram, *keys).with_row_index("place")
    places = histogram.join(states, on=keys, how="left", maintain_order="left")["place"]
    return _Side(states.select(keys).rows(), states["tasks"].to_list(), places)


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
