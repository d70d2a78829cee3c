"""Means over the tasks of a suite, or of a slice of it: one row per suite, slice and k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames.columns import finished
from passk_py.metrics.frames.counting import counted_tasks
from passk_py.metrics.frames.estimating import (
    DEFAULT_KS,
    METRICS,
    NO_ORDER,
    ORDER_METRICS,
    STATE_METRICS,
    estimated_counts,
    limited_columns,
    ordered_estimates,
)
from passk_py.metrics.logs import as_given, read_log
from passk_py.metrics.uncertainty import (
    SUITE_ENDS,
    covariance,
    curve_shape,
    family_scatter,
    mean,
    scatter,
    with_suite_limits,
    with_task_uncertainty,
)
from passk_py.stats import estimators as est
from passk_py.stats.estimators.arguments import (
    checked_confidence,
    checked_ks,
    checked_share,
    checked_slices,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.metrics.logs import FrameT

_ELIGIBLE: Final = (pl.col("n") >= pl.col("k")).fill_null(value=False)
"""A task whose counts are not known, because a number occurs twice, is not eligible."""
_FAMILIES: Final = ("families", "effective_families")
_VARIANCES: Final = ("var_pass_1", "var_pass_at_k", "var_pass_hat_k", "covariance")


@any_frame
def suite_metrics(
    attempts: FrameT,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    min_eligible_share: float = 0.95,
    ordered: bool = True,
    slices: Sequence[str] = (),
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
    capable_threshold: float = 0.8,
    consistent_threshold: float = 0.95,
) -> FrameT:
    """Average every estimator over the tasks of every suite of every run.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy.
    ks
        Whole numbers from 1.
    min_eligible_share
        The share of the tasks that must have n >= k for the suite to have a value at that k, from
        0 to 1. The value is over those tasks; the limits allow the others any value, because tasks
        are seldom short by chance.
    ordered
        Whether to compute what depends on the order of the attempts, which costs a sort. If not,
        the columns that end in ``_window`` and ``_first_k`` are null.
    slices
        Names of columns, or of tags in the column ``tags``; a column goes before a tag of the
        same name. Attempts without a value are the slice ``(untagged)``. A slice is computed from
        its attempts alone: a task whose attempts differ in the tag counts in each with its share.
    cluster
        Name of a column, or of a tag, that names the family of related tasks that a task is one of.
        The limits for tasks like these, and those of ``delta_k`` and ``heterogeneity``, then treat
        a family as one draw; a task without a family is one of its own. By default no two tasks are
        related.
    confidence
        Level of every interval, between 0 and 1.
    threshold
        An attempt that has only a ``score`` passes from here on.
    capable_threshold, consistent_threshold
        The least pass@k and the least pass^k of the readings.

    Returns
    -------
    polars.DataFrame or polars.LazyFrame
        One row per run_id, suite, slice_name, slice_value and k, the whole suite (``all``, ``all``)
        first: ``agent``, ``agent_version`` and ``model``, as the first attempts of the run name
        them, null where the log does not; ``reading``
        (:func:`~passk_py.stats.estimators.suite_reading`); ``eligible_tasks`` (n >= k),
        ``total_tasks``, ``families`` among the eligible and ``effective_families`` (T^2 / sum of
        m^2 over families of m of the T tasks), both null without ``cluster``, ``attempts``, ``n``,
        ``c`` and ``excluded`` of all tasks; the means over the eligible tasks of the columns of
        :func:`task_metrics`, of the window columns over those with a complete window;
        ``pass_at_k_pooled`` and ``pass_hat_k_pooled`` from the mean of c / n over the eligible
        tasks; ``delta_k``
        (:func:`~passk_py.stats.estimators.delta_k_unbiased`), ``delta_k_plugin`` (mean plug-in
        pass^k less the pooled), ``delta_k_max``, ``heterogeneity``, and ``null_reason``, why
        ``pass_at_k`` and ``pass_hat_k`` are null, and ``caveat``, what to know of them where tasks
        are short. The window columns are also null where fewer than the share of the tasks have a
        complete window. Limits end in ``_lower`` and ``_upper`` for tasks like these, in
        ``_suite_lower`` and ``_suite_upper`` for these tasks only; ``_within_share``, ``_bayes``,
        ``curve_shape`` and ``informative_tasks`` are those of the SQL table.

    Raises
    ------
    ArgumentError
        If ks, min_eligible_share, slices, confidence or a threshold of the reading can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     {
    ...         "run_id": "r",
    ...         "task_id": ["s", "s", "t", "t"],
    ...         "attempt": [1, 2, 1, 2],
    ...         "passed": [True, True, True, False],
    ...     }
    ... )
    >>> suite_metrics(log, ks=(1, 2)).select("k", "pass_at_k", "pass_hat_k").rows()
    [(1, 0.75, 0.75), (2, 1.0, 0.5)]
    """
    chosen = checked_ks("suite_metrics", ks)
    share = checked_share("suite_metrics", min_eligible_share)
    level = checked_confidence("suite_metrics", confidence)
    capable = checked_share("suite_metrics", capable_threshold, "capable_threshold")
    consistent = checked_share("suite_metrics", consistent_threshold, "consistent_threshold")
    names: list[str] = checked_slices("suite_metrics", slices)

    def averaged(name: str | None) -> pl.LazyFrame:
        log = read_log(attempts, threshold, name, cluster=cluster)
        return suite_metrics_of_counts(
            counted_tasks(log, (*_place(name), "task_id"), chosen, ordered=ordered),
            chosen,
            name,
            by_family=cluster is not None,
            min_eligible_share=share,
            confidence=level,
            ordered=ordered,
        )

    parts = [
        averaged(name).with_columns(part=pl.lit(part)) for part, name in enumerate([None, *names])
    ]
    table = pl.concat(parts).sort("run_id", "suite", "part", "slice_value", "k").drop("part")
    reading = est.suite_reading(
        "pass_at_k",
        "pass_hat_k",
        capable_threshold=capable,
        consistent_threshold=consistent,
    )
    return as_given(attempts, finished(table.with_columns(reading=reading), attempts))


def suite_metrics_of_counts(
    counts: pl.LazyFrame,
    ks: Sequence[int],
    slice_name: str | None = None,
    *,
    by_family: bool,
    min_eligible_share: float,
    confidence: float,
    ordered: bool,
) -> pl.LazyFrame:
    """Give :func:`suite_metrics` of tasks that are counted already, of the whole or of a slice."""
    place = _place(slice_name)
    states = _tasks_by_count(counts, place, by_family=by_family)
    estimated = estimated_counts(states, ks, with_task_uncertainty)
    return _suite(
        estimated,
        _means_by_order(counts, ks, place) if ordered else None,
        slice_name,
        by_family=by_family,
        min_eligible_share=min_eligible_share,
        confidence=confidence,
    )


def _place(slice_name: str | None) -> tuple[str, ...]:
    return ("run_id", "suite") if slice_name is None else ("run_id", "suite", "slice_value")


def _tasks_by_count(counts: pl.LazyFrame, place: Sequence[str], *, by_family: bool) -> pl.LazyFrame:
    """Put tasks of the same counts together, which decide all but what the order does."""
    related = ["family", "lone"] if by_family else []
    if by_family:
        # A task whose family is not known is a family of its own.
        lone = pl.when(pl.col("family").is_null()).then(pl.col("task_id"))
        counts = counts.with_columns(lone=lone)
    keys = (*place, "n", "c", "broken", *related)
    # Sorted, so that the sums over them round alike each time.
    return (
        counts.group_by(keys)
        .agg(pl.col("attempts").sum(), pl.col("excluded").sum(), tasks=pl.len().cast(pl.Int64))
        .sort(keys)
    )


def _means_by_order(counts: pl.LazyFrame, ks: Sequence[int], place: Sequence[str]) -> pl.LazyFrame:
    """Average over the eligible tasks what depends on the order of their attempts."""
    return (
        ordered_estimates(counts, ks)
        .group_by(*place, "k")
        .agg(
            windowed=(pl.col("windows") > 0).sum().cast(pl.Int64),
            **{name: pl.when(_ELIGIBLE).then(pl.col(name)).mean() for name in ORDER_METRICS},
        )
    )


def _with_families(
    table: pl.LazyFrame, families: pl.LazyFrame | None, place: Sequence[str]
) -> pl.LazyFrame:
    """Add how many draws the tasks are, and how much their families vary."""
    if families is None:
        return table.with_columns(
            **{f"most_{name}": pl.col(name) for name in _VARIANCES[1:3]},
            units=pl.col("eligible_tasks").cast(pl.Float64),
            families=pl.lit(None, pl.Int64),
            effective_families=pl.lit(None, pl.Float64),
        )
    joined = table.join(families, on=[*place, "k"], how="left", nulls_equal=True)
    return joined.with_columns(
        **{f"most_{name}": pl.max_horizontal(name, f"related_{name}") for name in _VARIANCES[1:3]},
        units=pl.col("effective_families"),
    )


def _suite(
    estimated: pl.LazyFrame,
    by_order: pl.LazyFrame | None,
    slice_name: str | None,
    *,
    by_family: bool,
    min_eligible_share: float,
    confidence: float,
) -> pl.LazyFrame:
    """Average over tasks, for the whole suite or for the values of a slice."""
    place = _place(slice_name)
    n, c, k, eligible = pl.col("n"), pl.col("c"), pl.col("k"), _ELIGIBLE
    rate = pl.when(eligible).then(c / n)
    eligible_tasks, total_tasks = pl.col("eligible_tasks"), pl.col("total_tasks")
    tasks = pl.col("tasks")
    table = estimated.group_by(*place, "k").agg(
        eligible_tasks=tasks.filter(eligible).sum(),
        total_tasks=tasks.sum(),
        least_n=n.filter(eligible).min(),
        attempts=pl.col("attempts").sum(),
        n=(n * tasks).sum(),
        c=(c * tasks).sum(),
        excluded=pl.col("excluded").sum(),
        broken=tasks.filter(pl.col("broken").is_not_null()).sum(),
        why=pl.col("broken").drop_nulls().first(),
        pass_1=mean(rate),
        var_pass_1=covariance(rate, rate),
        informative_tasks=tasks.filter(eligible & (c > 0) & (c < n)).sum(),
        covariance=covariance(rate, pl.when(eligible).then(pl.col("pass_hat_k"))),
        **scatter(eligible),
        **{name: mean(pl.when(eligible).then(pl.col(name))) for name in STATE_METRICS},
    )
    if by_order is None:
        table = table.with_columns(windowed=pl.lit(0, pl.Int64), **NO_ORDER)
    else:
        table = table.join(by_order, on=[*place, "k"], how="left", nulls_equal=True)
    table = _with_families(table, family_scatter(estimated, place) if by_family else None, place)

    def enough(tasks: pl.Expr) -> pl.Expr:
        # A share of exactly that must not fall below it by rounding.
        return (tasks > 0) & (tasks >= total_tasks * min_eligible_share * (1 - 1e-12))

    known, known_windows = enough(eligible_tasks), enough(pl.col("windowed"))
    pass_1 = pl.when(known).then(pl.col("pass_1"))
    short = total_tasks - eligible_tasks
    reason = (
        pl.when(known)
        .then(None)
        .when(pl.col("broken") > 0)
        .then(pl.format("{} in {} of {} tasks", "why", "broken", total_tasks))
        .otherwise(pl.format("n < {} in {} of {} tasks", k, short, total_tasks))
    )
    caveat = pl.when(known & (short > 0)).then(
        pl.format(
            "n < {} in {} of {} tasks, which the limits allow any value", k, short, total_tasks
        )
    )
    table = table.with_columns(
        **{
            name: pl.when(known & known_windows if "window" in name else known).then(pl.col(name))
            for name in METRICS
        },
        **{name: pl.when(known).then(pl.col(name)) for name in _FAMILIES},
        pass_at_k_pooled=est.pass_at_k_pooled(pass_1, "k"),
        pass_hat_k_pooled=est.pass_hat_k_pooled(pass_1, "k"),
        delta_k=est.delta_k_unbiased("pass_hat_k", pass_1, "var_pass_1", eligible_tasks, "k"),
        delta_k_max=est.delta_k_max(pass_1, "k"),
        null_reason=reason,
        caveat=caveat,
    ).with_columns(
        # At k = 1 both sides are the same mean, but not always summed in the same order.
        delta_k_plugin=pl.when(k == 1)
        .then(pl.col("pass_hat_k_pooled") * 0.0)
        .otherwise(pl.col("pass_hat_k_plugin") - pl.col("pass_hat_k_pooled")),
        # delta_k over its bound m - m^k, with the same unbiased estimate of m^k in both.
        heterogeneity=pl.when((k > 1) & (pass_1 - pl.col("pass_hat_k") + pl.col("delta_k") > 0.0))
        .then(pl.col("delta_k") / (pass_1 - pl.col("pass_hat_k") + pl.col("delta_k")))
        .otherwise(None),
    )
    if by_family:
        table = table.with_columns(**{name: pl.col(f"related_{name}") for name in _VARIANCES})
    table = with_suite_limits(table, known, confidence).with_columns(curve_shape=curve_shape(place))
    if slice_name is None:
        table = table.with_columns(slice_value=pl.lit("all"))
    return table.select(
        "run_id",
        "suite",
        pl.lit(slice_name or "all").alias("slice_name"),
        "slice_value",
        *("k", "eligible_tasks", "total_tasks", *_FAMILIES, "least_n", "informative_tasks"),
        *("attempts", "n", "c", "excluded"),
        *(f"{metric}{end}" for metric in METRICS[:2] for end in ("", *SUITE_ENDS)),
        "pass_hat_k_per_attempt",
        *METRICS[2:],
        "pass_at_k_pooled",
        "pass_hat_k_pooled",
        *limited_columns(["delta_k"]),
        "delta_k_plugin",
        "delta_k_max",
        *limited_columns(["heterogeneity"]),
        "curve_shape",
        "null_reason",
        "caveat",
    )
