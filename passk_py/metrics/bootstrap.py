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
from passk_py.metrics.states import (
    lone_tasks,
    score,
    short_reason,
    states_of_runs,
    with_short_tasks,
)
from passk_py.stats.estimators.arguments import (
    ArgumentError,
    checked_confidence,
    checked_ks,
    checked_share,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.metrics.states import Families, Family

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
    cluster: str | None = None,
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
    cluster
        Name of a column, or of a tag, that names the family of a task: whole families are drawn.
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
    As many tasks as the suite has are drawn from it with replacement, again and again, or as many
    families with all of their tasks; the limits are the percentiles of the means over the drawn
    tasks (Efron 1979), between neighbours by their distance.

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
    for run, suite, states, families in states_of_runs(attempts, threshold, cluster):
        found = limits_of_families(
            lone_tasks(states) if families is None else families,
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


def limits_of_families(
    families: Families,
    ks: Sequence[int],
    *,
    resamples: int,
    seed: int,
    place: tuple[str, ...],
    confidence: float,
    min_eligible_share: float,
) -> list[dict[str, Any]]:
    """Give the limits of one suite or slice; each ``place`` draws numbers of its own."""
    total = _tasks_of(families.items())
    drawn: dict[int, pl.DataFrame] = {}
    rows = []
    for k in ks:
        eligible = _eligible(families, k)
        tasks = _tasks_of(eligible)
        reason = short_reason(k, tasks, total, min_eligible_share=min_eligible_share)
        is_one_family = tasks > 1 and sum(times for _, times in eligible) == 1
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
                found = _limits(drawn[tasks], eligible, metric, k, confidence)
                ends = {
                    side: with_short_tasks(found[side], tasks, total, extreme)
                    for side, extreme in (("lower", 0.0), ("upper", 1.0))
                }
                row["estimate"] = found["estimate"]
                row |= {"null_reason": "all tasks are of one family"} if is_one_family else ends
            rows.append(row)
    return rows


def _eligible(families: Families, k: int) -> list[tuple[Family, int]]:
    """Give the families with their tasks of n >= k, in the order of their counts."""
    found: Families = Counter()
    for family, times in families.items():
        if known := tuple((state, tasks) for state, tasks in family if state[0] >= k):
            found[known] += times
    return sorted(found.items())


def _tasks_of(families: Iterable[tuple[Family, int]]) -> int:
    return sum(times * tasks for family, times in families for _, tasks in family)


def _drawn(eligible: list[tuple[Family, int]], resamples: int, seed: str) -> pl.DataFrame:
    """Draw suites: how often each family is among theirs, one row a suite."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    weights = list(accumulate(times for _, times in eligible))
    places = range(len(eligible))
    suites = [
        Counter(dice.choices(places, cum_weights=weights, k=weights[-1])) for _ in range(resamples)
    ]
    return pl.DataFrame({str(place): [suite[place] for suite in suites] for place in places})


def _limits(
    drawn: pl.DataFrame, eligible: list[tuple[Family, int]], metric: str, k: int, confidence: float
) -> dict[str, float]:
    sizes = [sum(tasks for _, tasks in family) for family, _ in eligible]
    scores = [
        sum(tasks * score(metric, n, c, k) for (n, c), tasks in family) for family, _ in eligible
    ]

    def over_families(values: Sequence[float]) -> pl.Expr:
        # Added up in the order of the columns, so that the last digit is the same every time.
        return pl.sum_horizontal(pl.col(str(place)) * value for place, value in enumerate(values))

    means = drawn.select(mean=over_families(scores) / over_families(sizes)).to_series().sort()
    ends = []
    for share in ((1 - confidence) / 2, (1 + confidence) / 2):
        at = share * (len(means) - 1)
        low, high = means[math.floor(at)], means[math.ceil(at)]
        ends.append(low + (at - math.floor(at)) * (high - low))
    estimate = sum(times * one for (_, times), one in zip(eligible, scores, strict=True))
    return {"estimate": estimate / _tasks_of(eligible), "lower": ends[0], "upper": ends[1]}
