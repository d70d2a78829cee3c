"""Percentile bootstrap over tasks: limits of a suite's means, because people ask for them.

The limits of :func:`~passk_py.metrics.frames.suite_metrics` hold more often: where all tasks score
the same, a bootstrap has no width. Tasks are drawn, never the attempts within a task: of attempts
drawn with replacement, the mean of the unbiased estimate is the biased plug-in.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames import DEFAULT_KS
from passk_py.metrics.states import score, short_reason, states_of_runs, with_short_tasks
from passk_py.stats.estimators.arguments import (
    ArgumentError,
    checked_confidence,
    checked_ks,
    checked_share,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.metrics.states import States

LIMIT_TYPES: Final[dict[str, type[pl.DataType]]] = {
    "metric": pl.String,
    **dict.fromkeys(("k", "eligible_tasks", "total_tasks"), pl.Int64),
    **dict.fromkeys(("estimate", "lower", "upper"), pl.Float64),
    **dict.fromkeys(("resamples", "seed"), pl.Int64),
    "null_reason": pl.String,
}


@any_frame
def bootstrap_limits(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    resamples: int = 2000,
    seed: int = 0,
    min_eligible_share: float = 0.95,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Give limits of pass@k and pass^k of every run by resampling its tasks.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    ks
        Whole numbers from 1.
    resamples
        How many suites are drawn, from 100.
    seed
        Whole number; the same seed and the same counts give the same limits, whatever the order of
        the rows and whichever runs are in the log beside.
    min_eligible_share
        As in :func:`~passk_py.metrics.frames.suite_metrics`.
    confidence
        Level of the intervals, between 0 and 1.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite, metric and k: ``eligible_tasks``, ``total_tasks``, the
        ``estimate``, its ``lower`` and ``upper`` limit, ``resamples``, ``seed`` and
        ``null_reason``.

    Raises
    ------
    ArgumentError
        If an option can't be right.

    Notes
    -----
    As many tasks as the suite has are drawn from it with replacement, again and again; the limits
    are the percentiles of the means (Efron 1979), between neighbours by their distance.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "r", "task_id": str(task), "attempt": n, "passed": task % 2 == 0}
    ...         for task in range(100)
    ...         for n in (1, 2)
    ...     ]
    ... )
    >>> found = bootstrap_limits(log, ks=[2], resamples=500)
    >>> 0.38 <= found["lower"][1] <= 0.42 <= 0.58 <= found["upper"][1] <= 0.62
    True
    """
    chosen = checked_ks("bootstrap_limits", ks)
    if type(resamples) is not int or resamples < 100:
        raise ArgumentError(
            f"bootstrap_limits: resamples must be a whole number from 100; got {resamples!r}"
        )
    if type(seed) is not int:
        raise ArgumentError(f"bootstrap_limits: seed must be a whole number; got {seed!r}")
    share = checked_share("bootstrap_limits", min_eligible_share)
    checked_confidence("bootstrap_limits", confidence)
    rows = []
    for run, suite, states in states_of_runs(attempts, threshold):
        found = limits_of_states(
            states,
            chosen,
            resamples=resamples,
            seed=seed,
            place=(run, suite, "all", "all"),
            confidence=confidence,
            min_eligible_share=share,
        )
        rows += [{"run_id": run, "suite": suite, **row} for row in found]
    schema: dict[str, type[pl.DataType]] = {"run_id": pl.String, "suite": pl.String, **LIMIT_TYPES}
    return pl.DataFrame(rows, schema=schema, orient="row")


def limits_of_states(
    states: States,
    ks: Sequence[int],
    *,
    resamples: int,
    seed: int,
    place: tuple[str, ...],
    confidence: float,
    min_eligible_share: float,
) -> list[dict[str, Any]]:
    """Give the limits of one suite or slice; each ``place`` draws numbers of its own."""
    total = states.total()
    drawn: dict[int, pl.DataFrame] = {}
    rows = []
    for k in ks:
        # In the order of their counts, whatever that of the log is.
        eligible = sorted((state, tasks) for state, tasks in states.items() if state[0] >= k)
        tasks = sum(number for _, number in eligible)
        reason = short_reason(k, tasks, total, min_eligible_share=min_eligible_share)
        for metric in ("pass_at_k", "pass_hat_k"):
            row = {
                **dict.fromkeys(LIMIT_TYPES),
                "metric": metric,
                "k": k,
                "eligible_tasks": tasks,
                "total_tasks": total,
                "resamples": resamples,
                "seed": seed,
                "null_reason": reason,
            }
            if reason is None:
                if tasks not in drawn:
                    # Fewer tasks are eligible at a larger k, so their number tells them apart.
                    drawn[tasks] = _drawn(eligible, resamples, f"{seed} {place!r}")
                scores = [score(metric, n, c, k) for (n, c), _ in eligible]
                found = _limits(drawn[tasks], eligible, scores, confidence)
                row |= found | {
                    side: with_short_tasks(found[side], tasks, total, extreme)
                    for side, extreme in (("lower", 0.0), ("upper", 1.0))
                }
            rows.append(row)
    return rows


def _drawn(eligible: list[tuple[tuple[int, int], int]], resamples: int, seed: str) -> pl.DataFrame:
    """Draw suites: how many of their tasks have each state, one row a suite."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    weights = list(accumulate(tasks for _, tasks in eligible))
    places = range(len(eligible))
    suites = [
        Counter(dice.choices(places, cum_weights=weights, k=weights[-1])) for _ in range(resamples)
    ]
    return pl.DataFrame({str(place): [suite[place] for suite in suites] for place in places})


def _limits(
    drawn: pl.DataFrame,
    eligible: list[tuple[tuple[int, int], int]],
    scores: list[float],
    confidence: float,
) -> dict[str, float]:
    tasks = sum(number for _, number in eligible)
    # Added up in the order of the columns, so that the last digit is the same every time.
    sums = pl.sum_horizontal(pl.col(str(place)) * score for place, score in enumerate(scores))
    means = drawn.select(mean=sums / tasks).to_series().sort()
    ends = []
    for share in ((1 - confidence) / 2, (1 + confidence) / 2):
        at = share * (len(means) - 1)
        low, high = means[math.floor(at)], means[math.ceil(at)]
        ends.append(low + (at - math.floor(at)) * (high - low))
    estimate = sum(number * score for (_, number), score in zip(eligible, scores, strict=True))
    return {"estimate": estimate / tasks, "lower": ends[0], "upper": ends[1]}
