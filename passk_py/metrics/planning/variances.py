"""How much a metric of the next run would scatter: between tasks, and within them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from passk_py.metrics.states import all_pass, related_states
from passk_py.stats.distributions import log_moment_by_correlation

if TYPE_CHECKING:
    from passk_py.metrics.states import Families, States

Moment = Callable[[int], float]
"""E[p^m] of the chances p of the tasks, by m."""

NOTHING: Final = 1e-12
"""A variance below this is what rounding leaves of none."""


class Relation(NamedTuple):
    """How related the tasks of a pilot are."""

    families: int | None
    size: float
    """Tasks of a family, where families of one size that say as much stand for the pilot's."""
    excess: float
    """The variance that they add to a mean over tasks, as a share of that between tasks."""


ALONE: Final = Relation(None, 1.0, 0.0)


def relation_of(families: Families, used: States) -> Relation:
    """Say how related the tasks with two attempts are, by their passes per attempt."""
    rate = _mean(used, lambda n, c: c / n)
    number, units, variance = related_states(families, 2, lambda n, c: c / n, rate)
    scatter = _sample_variance(used, lambda n, c: c / n)
    second = _mean(used, lambda n, c: all_pass(n, c, 2))
    between = second - rate**2 + scatter / used.total()
    size = used.total() / units
    excess = 0.0 if variance is None else variance * size - scatter
    if excess <= 0 or between <= NOTHING:
        return Relation(number, size, 0.0)
    return Relation(number, size, excess / between)


class Pilot:
    """The tasks of a run, for one metric; each moment is computed once, not for each plan."""

    def __init__(self, states: States, metric: str) -> None:
        self._states = states
        self._metric = metric
        self._least_n = min(n for n, _ in states)
        self.variances = cache(self._variances_at)
        self._counted = cache(lambda m: _mean(states, lambda n, c: all_pass(n, c, m)))
        self._spread = cache(self._spread_at)
        self._beta = cache(self._fitted)

    def _variances_at(self, k: int, attempts: int) -> dict[str, Any]:
        """Give the mean and the variances of the metric, or why they can't be known."""
        basis, moment, between = self._spread(k)
        if moment is None:
            return {
                "null_reason": f"n < {2 * k} in some task, and no beta distribution fits: {basis}"
            }
        return {"basis": basis, **variances(self._metric, k, attempts, moment, between)}

    def _spread_at(self, k: int) -> tuple[str, Moment | None, float]:
        """Give the basis, the moments and the variance between tasks; or a reason, and none."""
        states = self._states
        if self._least_n >= 2 * k:
            # The variance of the scores, less the part of chance within tasks.
            chance = _mean(states, lambda n, c: all_pass(n, c, k) ** 2 - all_pass(n, c, 2 * k))
            between = _sample_variance(states, lambda n, c: all_pass(n, c, k)) - chance
            return "moments", self._counted, between
        fitted = self._beta()
        if isinstance(fitted, str):
            return fitted, None, 0.0
        return "beta_binomial", fitted, fitted(2 * k) - fitted(k) ** 2

    def _fitted(self) -> Moment | str:
        """Give the moments of the beta distribution that fits, or why none does."""
        states = self._states
        rate = _mean(states, lambda n, c: c / n)
        second = self._counted(2)
        scatter = _sample_variance(states, lambda n, c: c / n) / states.total()
        spread = second - rate**2 + scatter
        if rate - second <= NOTHING:
            return "every task is perfect or hopeless"
        if spread <= NOTHING:
            return "tasks differ no more than by chance"
        index = spread / (rate - second + spread)
        return cache(lambda m: math.exp(log_moment_by_correlation(rate, index, m)))


def _mean(states: States, value: Callable[[int, int], float]) -> float:
    return math.fsum(tasks * value(n, c) for (n, c), tasks in states.items()) / states.total()


def _sample_variance(states: States, value: Callable[[int, int], float]) -> float:
    mean = _mean(states, value)
    spread = _mean(states, lambda n, c: (value(n, c) - mean) ** 2)
    return spread * states.total() / (states.total() - 1)


def variances(
    metric: str, k: int, attempts: int, moment: Callable[[int], float], between: float
) -> dict[str, Any]:
    """Give the mean of a metric and its variances between and within tasks."""
    ways = math.comb(attempts, k)
    within = math.fsum(
        math.comb(k, j)
        * math.comb(attempts - k, k - j)
        / ways
        * (moment(2 * k - j) - moment(2 * k))
        for j in range(max(1, 2 * k - attempts), k + 1)
    )
    between, within = max(between, 0.0), max(within, 0.0)
    both = between + within
    return {
        "estimate": moment(k) if metric == "pass_hat_k" else 1 - moment(k),
        "variance_between": between,
        "variance_within": within,
        "within_share": within / both if both > NOTHING else None,
    }


def beta_binomial(rate: float, index: float, n: int, c: int) -> float:
    """Give the chance of c passes among n attempts, for a task of that beta distribution."""
    if index == 1.0:
        return {0: 1 - rate, n: rate}.get(c, 0.0)
    found = float(math.comb(n, c))
    sides = [
        side * (1 - index) + i * index
        for side, end in ((rate, c), (1 - rate, n - c))
        for i in range(end)
    ]
    for i, factor in enumerate(sides):
        found *= factor / (1 - index + i * index)
    return found
