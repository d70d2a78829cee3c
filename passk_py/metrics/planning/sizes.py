"""From variances to numbers: how many tasks and attempts are enough."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

from passk_py.metrics.comparisons.pair_figures import LEAST_DECIDING
from passk_py.metrics.planning.variances import ALONE, NOTHING
from passk_py.metrics.states import padded
from passk_py.stats.distributions import normal_quantile
from passk_py.stats.estimators.arguments import ArgumentError
from passk_py.stats.search import least

if TYPE_CHECKING:
    from passk_py.metrics.planning.variances import Relation
    from passk_py.metrics.planning.wish import Wish

_SLACK: Final = 1e-9
"""The most that rounding may add to a number of tasks before it is rounded up."""


def planned(
    row: dict[str, Any], wish: Wish, deciding: float, relation: Relation = ALONE
) -> dict[str, Any]:
    """Add to the variances of a row how many tasks they ask for."""
    mean, within = row["estimate"], row["variance_within"]
    # The variance of a family's mean: chance within tasks is not related.
    variance = (row["variance_between"] * (1 + relation.excess) + within) / relation.size
    if row["within_share"] is not None:
        row["within_share"] = within / (variance * relation.size)
    attempts, tasks = row["attempts"], row["tasks"]
    reach = normal_quantile(wish.confidence) + NormalDist().inv_cdf(wish.power)
    families = fewest_units(mean, variance, wish.width, wish.confidence)
    for_width = math.ceil(families * relation.size * (1 - _SLACK))
    row |= {
        "expected_width": None
        if tasks is None
        else width_of(mean, variance, tasks / relation.size, wish.confidence),
        "families_for_width": None if relation.families is None else families,
        "tasks_for_width": for_width,
        "attempts_for_width": for_width * attempts,
        "null_reason": None,
    }
    if within <= NOTHING:
        return row | {"null_reason": "no task could come out differently in another run"}
    # Twice: two runs are compared.
    by_variance = reach**2 * 2 * within / wish.difference**2
    by_number = _needed(wish.power) / deciding
    for_difference = math.ceil(max(by_variance, by_number) * (1 - _SLACK))
    return row | {
        "detectable_difference": None if tasks is None else reach * math.sqrt(2 * within / tasks),
        "deciding_share": deciding,
        "tasks_for_difference": for_difference,
        "attempts_for_difference": for_difference * attempts,
    }


def width_of(mean: float, variance: float, units: float, confidence: float) -> float:
    """Give the width of the interval for tasks, or families, like these, with two more."""
    return 2 * padded(mean, (units - 1) * variance, units, confidence).reach


def fewest_units(mean: float, variance: float, width: float, confidence: float) -> int:
    """Give the least number of tasks, or of families, whose interval is narrow enough."""

    def is_enough(units: int) -> bool:
        return width_of(mean, variance, units, confidence) <= width * (1 + _SLACK)

    return least(is_enough)


@lru_cache(maxsize=64)
def _needed(power: float) -> float:
    """Give how many tasks must be expected so that six are there with this chance: Poisson."""

    def chance(expected: float) -> float:
        fewer = sum(expected**i / math.factorial(i) for i in range(LEAST_DECIDING))
        return 1 - math.exp(-expected) * fewer

    low, high = 0.0, 1000.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) < power else (low, middle)
    return high


def with_spares(attempts: int, tasks: int, excluded_share: float) -> int:
    """Count the attempts to make of each task so that enough are left when some are excluded."""
    if not 0 <= excluded_share < 1:
        raise ArgumentError(
            f"with_spares: excluded_share must be from 0 to less than 1; got {excluded_share!r}"
        )
    made = attempts
    # Until on average less than one of the tasks is left with fewer attempts than asked.
    while True:
        lost = math.fsum(
            math.comb(made, counted)
            * (1 - excluded_share) ** counted
            * excluded_share ** (made - counted)
            for counted in range(attempts)
        )
        if tasks * lost < 1:
            return made
        made += 1
