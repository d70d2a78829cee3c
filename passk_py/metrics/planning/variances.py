"""How much a metric of the next run would scatter: between tasks, and within them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from passk_py.metrics.states import all_pass
from passk_py.stats.distributions import log_moment_by_correlation

if TYPE_CHECKING:
    from collections.abc import Callable

    from passk_py.metrics.states import States

NOTHING: Final = 1e-12
"""A variance below this is what rounding leaves of none."""


def variances_of_pilot(states: States, metric: str, k: int, attempts: int) -> dict[str, Any]:
    """Give the mean and the variances of a metric, or why they can't be known."""
    if min(n for n, _ in states) >= 2 * k:

        def score(n: int, c: int) -> float:
            return all_pass(n, c, k)

        def moment(m: int) -> float:
            return _mean(states, lambda n, c: all_pass(n, c, m))

        # What the scores scatter, less what chance within tasks makes of it.
        chance = _mean(states, lambda n, c: score(n, c) ** 2 - all_pass(n, c, 2 * k))
        between = _sample_variance(states, score) - chance
        return {"basis": "moments", **variances(metric, k, attempts, moment, between)}
    rate = _mean(states, lambda n, c: c / n)
    second = _mean(states, lambda n, c: all_pass(n, c, 2))
    scatter = _sample_variance(states, lambda n, c: c / n) / states.total()
    spread = second - rate**2 + scatter
    why = f"n < {2 * k} in some task, and no beta distribution fits: "
    if rate - second <= NOTHING:
        return {"null_reason": f"{why}every task is perfect or hopeless"}
    if spread <= NOTHING:
        return {"null_reason": f"{why}tasks differ no more than by chance"}
    index = spread / (rate - second + spread)

    def fitted(m: int) -> float:
        return math.exp(log_moment_by_correlation(rate, index, m))

    between = fitted(2 * k) - fitted(k) ** 2
    return {"basis": "beta_binomial", **variances(metric, k, attempts, fitted, between)}


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
