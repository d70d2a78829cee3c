"""Scores of tasks without the errors of their grader, and the limits of their means."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from passk_py.metrics.states import related_states, short_reason, with_short_tasks
from passk_py.stats.distributions import normal_quantile, student_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passk_py.metrics.graders.grader import Grader, Rates, Shares
    from passk_py.metrics.states import Families, States

MOST_LEVERAGE: Final = 30.0
"""How much a correction may multiply the score of a task: beyond it, it says nothing."""


class Weights(NamedTuple):
    """The value of a hit in place of 1, and by how much a miss is below 0."""

    hit: float
    miss: float

    @property
    def larger(self) -> float:
        """The one that moves scores more."""
        return max(self)


class Wish(NamedTuple):
    """The options of corrected metrics."""

    confidence: float
    min_eligible_share: float
    width: float
    """How wide an interval labels alone should leave."""


def weights_of(metric: str, rates: Rates) -> Weights | None:
    """Give the weights of passes for pass^k, of failures for 1 - pass@k; None by mere chance."""
    s, f, _ = rates
    if not rates.is_told_apart or s is None or f is None or s <= f:
        return None
    if metric == "pass_hat_k":
        return Weights((1 - f) / (s - f), f / (s - f))
    return Weights(s / (s - f), (1 - s) / (s - f))


@lru_cache(maxsize=65536)
def _shares(n: int, hits: int, k: int) -> tuple[tuple[int, float], ...]:
    """Give how likely each number of hits is among k of n attempts, each rounded once."""
    ways = math.comb(n, k)
    return tuple(
        (j, math.comb(hits, j) * math.comb(n - hits, k - j) / ways)
        for j in range(max(0, k - n + hits), min(k, hits) + 1)
    )


@lru_cache(maxsize=65536)
def corrected_score(metric: str, n: int, c: int, k: int, weights: Weights) -> float:
    """Give the estimate of a task with n >= k, which is unbiased where the rates are right.

    Among k of its attempts each hit counts ``hit`` and each other one ``-miss``: their product,
    averaged over all choices of k.
    """
    hits = c if metric == "pass_hat_k" else n - c
    score = math.fsum(
        share * weights.hit**j * (-weights.miss) ** (k - j) for j, share in _shares(n, hits, k)
    )
    return score if metric == "pass_hat_k" else 1 - score


def corrected_value(
    metric: str,
    k: int,
    states: States,
    families: Families | None,
    grader: Grader,
    raw: float | None,
    wish: Wish,
) -> dict[str, Any]:
    """Correct a metric of a run: the columns of ``passk_corrected_metrics``."""
    eligible = {state: tasks for state, tasks in states.items() if state[0] >= k}
    tasks, total = sum(eligible.values()), states.total()
    row: dict[str, Any] = {"metric": metric, "k": k, "eligible_tasks": tasks, "total_tasks": total}
    row["raw"] = raw
    reason = short_reason(k, tasks, total, min_eligible_share=wish.min_eligible_share)
    reason = reason or grader.reason
    if reason is not None or grader.shares is None:
        return row | {"null_reason": reason}
    at = {point: weights_of(metric, rates) for point, rates in grader.at.items()}
    known = at["estimate"]
    if known is None:
        return row | {"null_reason": "the grader is no better than chance"}
    if not _tells(known, k):
        reason = "the grader errs too often for this k: a correction would be larger than the score"
        return row | {"null_reason": reason}

    def mean(weights: Weights | None) -> float | None:
        if weights is None or not _tells(weights, k):
            return None
        return (
            math.fsum(
                number * corrected_score(metric, n, c, k, weights)
                for (n, c), number in eligible.items()
            )
            / tasks
        )

    def value(n: int, c: int) -> float:
        return corrected_score(metric, n, c, k, known)

    means = {point: mean(weights) for point, weights in at.items()}
    middle = math.fsum(number * value(*state) for state, number in eligible.items()) / tasks

    if families is None:
        units: float = tasks
        squares = math.fsum(
            number * (value(*state) - middle) ** 2 for state, number in eligible.items()
        )
    else:
        found = related_states(families, k, value, middle)
        units, row["families"] = found.units, found.families
        squares = (units - 1) * (found.variance or 0.0)
    top = max(known.hit**k, 1.0)
    ends = (0.0, top) if metric == "pass_hat_k" else (1 - top, 1.0)
    interval = _padded(middle, squares, units, ends, wish.confidence)
    return row | _limited(means, middle, interval, (tasks, total), grader.shares, wish, raw)


def _tells(weights: Weights, k: int) -> bool:
    return k * math.log(weights.larger) <= math.log(MOST_LEVERAGE)


class _Interval(NamedTuple):
    middle: float
    error: float
    reach: float


def _padded(
    mean: float, squares: float, units: float, ends: tuple[float, float], confidence: float
) -> _Interval:
    """Give the interval of a mean with two more units, the least and the most possible score."""
    middle = (units * mean + sum(ends)) / (units + 2)
    every = squares + units * (mean - middle) ** 2 + sum((end - middle) ** 2 for end in ends)
    error = math.sqrt(every / ((units + 1) * (units + 2)))
    return _Interval(middle, error, student_quantile(math.floor(units + 1.5), confidence) * error)


def _limited(
    means: Mapping[str, float | None],
    mean: float,
    tasks: _Interval,
    sizes: tuple[int, int],
    shares: Shares,
    wish: Wish,
    raw: float | None,
) -> dict[str, Any]:
    """Put the limits of tasks and of labels together (Zou and Donner 2008)."""
    z = normal_quantile(wish.confidence)
    # A mean beyond 0 or 1 proves nothing more than 0 or 1 does: the limits are around these.
    corrected = min(max(mean, 0.0), 1.0)
    row: dict[str, Any] = {"corrected": corrected}
    lost = {"": corrected}
    for side, sign, extreme in (("lower", -1, 0.0), ("upper", 1, 1.0)):
        ends = [means[f"{name}_{side}"] for name in ("passes", "failures")]
        limit = of_labels = extreme
        if None not in ends:
            labels = math.hypot(*(max(sign * (end - mean), 0.0) for end in ends if end is not None))
            reach = math.hypot(labels, sign * (tasks.middle - mean) + tasks.reach)
            clipped = min(max(corrected + sign * reach, 0.0), 1.0)
            limit = with_short_tasks(clipped, *sizes, extreme)
            of_labels = min(max(corrected + sign * labels, 0.0), 1.0)
        row[f"corrected_{side}"] = limit
        lost[f"_{side}"] = of_labels
    if raw is not None and raw < 1:
        for name, value in lost.items():
            row[f"share_lost_to_grader{name}"] = (value - raw) / (1 - raw)
    return row | _labels_to_make(means, tasks.error, shares, wish, z)


def _labels_to_make(
    means: Mapping[str, float | None], task_error: float, shares: Shares, wish: Wish, z: float
) -> dict[str, Any]:
    """Divide labels by what each kind adds to the error (Neyman 1934)."""
    errors: dict[str, float] = {}
    for name in ("passes", "failures"):
        lower, upper = means[f"{name}_lower"], means[f"{name}_upper"]
        if lower is None or upper is None:
            return {}
        errors[name] = (upper - lower) / (2 * z)
    effective = {"passes": shares.effective_passes, "failures": shares.effective_failures}
    spreads = {name: abs(error) * math.sqrt(effective[name]) for name, error in errors.items()}
    wanted = wish.width / (2 * z)
    row: dict[str, Any] = {"standard_error": math.hypot(task_error, *errors.values())}
    for name, spread in spreads.items():
        missing = spread * sum(spreads.values()) / wanted**2 - effective[name]
        row[f"{name}_to_label"] = math.ceil(missing - 1e-6) if missing > 0 else 0
    return row
