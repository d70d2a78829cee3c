"""From a log of attempts to metric tables, in one line each.

Every function takes an eager or a lazy frame whose rows are attempts (see
:mod:`passk_py.common.contract`) and returns the same kind. Only ``run_id``, ``task_id``,
``attempt`` and a verdict are needed; ``suite`` is ``'default'`` where the log has none. The verdict
of an attempt is the first of these that the log has and that is not null:

* ``outcome``: ``passed``, ``failed`` or ``excluded``;
* ``passed``: Boolean, or the integers 0 and 1;
* ``score``: passed from ``threshold`` on; NaN is null.

An attempt without a verdict is excluded.

``(run_id, suite, task_id, attempt)`` must be unique. A task that has an attempt number twice, or an
attempt without a number, can't be counted: its n, c and metrics are null with the reason beside
them, never a guess.

The definitions and the defaults are those of the SQL tables ``passk_task_metrics``,
``passk_suite_metrics`` and ``passk_tasks``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl

from passk_py.common.contract import KEY
from passk_py.common.errors import PasskError
from passk_py.metrics.logs import read_log
from passk_py.metrics.uncertainty import (
    SUITE_ENDS,
    TASK_UNCERTAINTY,
    covariance,
    curve_shape,
    scatter,
    task_uncertainty,
    with_suite_limits,
)
from passk_py.stats import estimators as est
from passk_py.stats.estimators import ArgumentError
from passk_py.stats.estimators.arguments import checked_confidence, checked_ks, checked_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "DEFAULT_KS",
    "k_sweep",
    "suite_metrics",
    "task_counts",
    "task_metrics",
    "tasks",
]

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)

DEFAULT_KS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 16, 32, 64, 100)
"""The k that are reported when none are given: the default of the var ``passk_ks``."""

_TASK: Final = KEY[:3]
_STATE_METRICS: Final = ("pass_at_k", "pass_hat_k", "pass_at_k_plugin", "pass_hat_k_plugin")
_WINDOW_COUNTS: Final = ("windows", "pass_windows", "fail_windows")
_SUITE_MEANS: Final = (
    *_STATE_METRICS,
    "pass_at_k_window",
    "pass_hat_k_window",
    "pass_at_k_first_k",
    "pass_hat_k_first_k",
)


def _like(frame: FrameT, result: pl.LazyFrame) -> FrameT:
    """Collect the result if the input was eager."""
    if isinstance(frame, pl.DataFrame):
        return result.collect(engine="streaming")
    return result


# ---------------------------------------------------------------------------------------------
# one row per task


def _counted() -> dict[str, pl.Expr]:
    """Count, in the group of a task, what does not depend on the order."""
    passed = pl.col("passed")
    return {
        "attempts": pl.len().cast(pl.Int64),
        "n": passed.count().cast(pl.Int64),
        "c": passed.sum().cast(pl.Int64),
        "excluded": passed.null_count().cast(pl.Int64),
    }


def _settle(table: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Blank the counts of the tasks whose attempts can't be told apart, and say why."""
    no_key = pl.any_horizontal(pl.col(key).is_null() for key in keys) | (pl.col("unnumbered") > 0)
    broken = (
        pl.when(no_key)
        .then(pl.lit("null in the key"))
        .when(pl.col("repeated") > 0)
        .then(pl.lit("attempt number twice"))
        .otherwise(None)
    )
    table = table.with_columns(broken=broken)
    kept = {*keys, "attempts", "broken", "unnumbered", "repeated"}
    blank = pl.all().exclude(*kept)
    return table.with_columns(pl.when(pl.col("broken").is_null()).then(blank)).drop(
        "unnumbered", "repeated"
    )


def _unordered_tasks(log: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    attempt = pl.col("attempt")
    table = log.group_by(keys).agg(
        **_counted(),
        unnumbered=attempt.null_count(),
        repeated=pl.len() - attempt.n_unique(),
    )
    return _settle(table, keys).sort(keys)


def _ordered_tasks(log: pl.LazyFrame, keys: Sequence[str], ks: Sequence[int]) -> pl.LazyFrame:
    """Count what depends on the order too, from one sort and one ``group_by``.

    Every attempt learns its place in its streak of equal verdicts, and in its stretch of counted
    attempts without a gap. A window of k ends at each place from k on.
    """
    attempt, passed = pl.col("attempt"), pl.col("passed")
    other_task = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)
    gap = attempt.diff().ne_missing(1)
    change = passed.ne_missing(passed.shift())
    stop = passed.is_null().ne_missing(passed.shift().is_null())
    row = pl.int_range(pl.len(), dtype=pl.Int64)

    def place_since(start: pl.Expr) -> pl.Expr:
        return row - pl.when(start).then(row).otherwise(0).cum_max() + 1

    rows = log.sort(*keys, "attempt").with_columns(
        task=other_task.cum_sum(),
        rank=passed.is_not_null().cum_sum().cast(pl.Int64),
        in_streak=place_since(other_task | gap | change),
        in_stretch=place_since(other_task | gap | stop),
        repeat=(attempt.diff() == 0) & ~other_task,
    )
    counted, failed = passed.is_not_null(), ~passed
    rank, in_streak, in_stretch = pl.col("rank"), pl.col("in_streak"), pl.col("in_stretch")
    first = rank.filter(counted).min()
    windows = {
        f"{name}_{k}": (verdict & (place >= k)).sum().cast(pl.Int64)
        for k in ks
        for name, verdict, place in (
            ("windows", counted, in_stretch),
            ("pass_windows", passed, in_streak),
            ("fail_windows", failed, in_streak),
        )
    }
    table = (
        rows.group_by("task")
        .agg(
            *(pl.col(key).first() for key in keys),
            **_counted(),
            first_pass_rank=rank.filter(passed).min() - first + 1,
            first_fail_rank=rank.filter(failed).min() - first + 1,
            longest_pass_streak=in_streak.filter(passed).max().fill_null(0),
            longest_fail_streak=in_streak.filter(failed).max().fill_null(0),
            unnumbered=attempt.null_count(),
            repeated=pl.col("repeat").sum(),
            **windows,
        )
        .sort("task")
        .drop("task")
    )
    return _settle(table, keys)


# ---------------------------------------------------------------------------------------------
# one row per task and k


def _states(
    table: pl.LazyFrame, ks: Sequence[int], confidence: float | None = None
) -> pl.LazyFrame:
    """Compute every estimator once for each distinct (n, c), as lists over ks.

    With a level of confidence, how sure each is too.
    """
    return (
        table.select("n", "c")
        .unique()
        .join(pl.LazyFrame({"k": ks}, schema={"k": pl.Int64}), how="cross")
        .sort("n", "c", "k")
        .with_columns(
            est.pass_at_k("n", "c", "k"),
            est.pass_hat_k("n", "c", "k"),
            est.pass_at_k_plugin("n", "c", "k"),
            est.pass_hat_k_plugin("n", "c", "k"),
            **({} if confidence is None else task_uncertainty(confidence)),
        )
        .group_by("n", "c", maintain_order=True)
        .agg(pl.all())
    )


def _task_metrics(
    log: pl.LazyFrame,
    keys: Sequence[str],
    ks: Sequence[int],
    *,
    ordered: bool,
    confidence: float,
) -> pl.LazyFrame:
    if ordered:
        table = _ordered_tasks(log, keys, ks)
        lists = {name: pl.concat_list(f"{name}_{k}" for k in ks) for name in _WINDOW_COUNTS}
    else:
        unknown = pl.lit(None, pl.Int64)
        table = _unordered_tasks(log, keys).with_columns(
            first_pass_rank=unknown, first_fail_rank=unknown
        )
        lists = {name: pl.concat_list(unknown for _ in ks) for name in _WINDOW_COUNTS}
    n, k = pl.col("n"), pl.col("k")
    reason = (
        pl.when(pl.col("broken").is_not_null())
        .then(pl.col("broken"))
        .when(n == 0)
        .then(pl.lit("no counted attempt"))
        .when(n < k)
        .then(pl.format("n = {} < k = {}", n, k))
        .otherwise(None)
    )
    long = (
        table.with_columns(**lists)
        .join(
            _states(table, ks, confidence),
            on=["n", "c"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        .explode("k", *_STATE_METRICS, *TASK_UNCERTAINTY, *_WINDOW_COUNTS, empty_as_null=False)
    )
    by_order = {
        "pass_at_k_window": est.pass_at_k_from_windows("fail_windows", "windows"),
        "pass_hat_k_window": est.pass_hat_k_from_windows("pass_windows", "windows"),
        "pass_at_k_first_k": est.pass_at_k_from_rank("first_pass_rank", "n", "k"),
        "pass_hat_k_first_k": est.pass_hat_k_from_rank("first_fail_rank", "n", "k"),
    }
    if not ordered:
        by_order = {name: pl.lit(None, pl.Float64) for name in by_order}
    plugins = {
        name: pl.when(n >= k).then(pl.col(name)) for name in _STATE_METRICS if "plugin" in name
    }
    return long.with_columns(**by_order, **plugins, null_reason=reason)


# ---------------------------------------------------------------------------------------------
# public


def task_counts(attempts: FrameT, *, threshold: float = 1.0) -> FrameT:
    """Count the attempts of every task of every run.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame or polars.LazyFrame
        One row per run_id, suite and task_id, sorted by them: ``attempts``, ``n`` (counted),
        ``c`` (passed), ``excluded``, ``first_pass_rank`` and ``first_fail_rank`` (place among the
        counted attempts, from 1; null if there is none). All but ``attempts`` are null where an
        attempt number occurs twice or a part of the key is null.

    Raises
    ------
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     {"run_id": "r", "task_id": "t", "attempt": [1, 2, 3], "passed": [None, False, True]}
    ... )
    >>> task_counts(log).select("n", "c", "excluded", "first_pass_rank").row(0)
    (2, 1, 1, 2)
    """
    table = _ordered_tasks(read_log(attempts, threshold), _TASK, ())
    columns = ("attempts", "n", "c", "excluded", "first_pass_rank", "first_fail_rank")
    return _like(attempts, table.select(*_TASK, *columns))


def task_metrics(
    attempts: FrameT,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    ordered: bool = True,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> FrameT:
    """Compute every estimator for every task of every run.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy.
    ks
        Whole numbers from 1.
    ordered
        Whether to compute what depends on the order of the attempts, which costs a sort. If not,
        ``windows`` and the columns that end in ``_window`` and ``_first_k`` are null.
    confidence
        Level of every interval, between 0 and 1.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame or polars.LazyFrame
        One row per run_id, suite, task_id and k, sorted by them: ``n``, ``c``, ``excluded``,
        ``pass_at_k``, ``pass_hat_k`` and their limits (``_lower``, ``_upper``),
        ``pass_at_k_plugin``, ``pass_hat_k_plugin``, ``windows``
        (complete windows of k consecutive attempts; an excluded attempt or a gap in the numbers
        breaks them), ``pass_at_k_window``, ``pass_hat_k_window``, ``pass_at_k_first_k``,
        ``pass_hat_k_first_k``, and ``null_reason``, why ``pass_at_k`` and ``pass_hat_k`` are null:
        ``n = 3 < k = 4``, ``no counted attempt``, ``attempt number twice``, ``null in the key``,
        or null if they are not.

    Raises
    ------
    ArgumentError
        If ks holds anything but whole numbers from 1, or confidence is not between 0 and 1.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     {"run_id": "r", "task_id": "t", "attempt": [1, 2, 3], "passed": [True, True, False]}
    ... )
    >>> columns = ["k", "pass_at_k", "pass_hat_k", "pass_hat_k_window", "null_reason"]
    >>> task_metrics(log, ks=(1, 3, 4)).select(columns).rows()[1:]
    [(3, 1.0, 0.0, 0.0, None), (4, None, None, None, 'n = 3 < k = 4')]
    """
    chosen = checked_ks("task_metrics", ks)
    level = checked_confidence("task_metrics", confidence)
    log = read_log(attempts, threshold)
    table = _task_metrics(log, _TASK, chosen, ordered=ordered, confidence=level)
    shown: tuple[str, ...] = (*_with_limits(_STATE_METRICS[:2]), *_STATE_METRICS[2:])
    columns = ("k", "n", "c", "excluded", *shown, "windows", *_SUITE_MEANS[4:])
    return _like(attempts, table.select(*_TASK, *columns, "null_reason"))


def _with_limits(metrics: Iterable[str]) -> list[str]:
    return [f"{metric}{end}" for metric in metrics for end in ("", "_lower", "_upper")]


def _suite(
    log: pl.LazyFrame,
    slice_name: str | None,
    ks: Sequence[int],
    *,
    min_eligible_share: float,
    ordered: bool,
    confidence: float,
) -> pl.LazyFrame:
    """Average over tasks, for the whole suite or for the values of a slice."""
    place = ("run_id", "suite") if slice_name is None else ("run_id", "suite", "slice_value")
    n, c, k = pl.col("n"), pl.col("c"), pl.col("k")
    eligible = (n >= k).fill_null(value=False)
    rate = pl.when(eligible).then(c / n)
    eligible_tasks, total_tasks = pl.col("eligible_tasks"), pl.col("total_tasks")
    table = (
        _task_metrics(log, (*place, "task_id"), ks, ordered=ordered, confidence=confidence)
        .group_by(*place, "k")
        .agg(
            eligible_tasks=eligible.sum().cast(pl.Int64),
            total_tasks=pl.len().cast(pl.Int64),
            least_n=n.filter(eligible).min(),
            attempts=pl.col("attempts").sum(),
            n=n.sum(),
            c=c.sum(),
            excluded=pl.col("excluded").sum(),
            windowed=(pl.col("windows") > 0).sum().cast(pl.Int64),
            broken=pl.col("broken").is_not_null().sum().cast(pl.Int64),
            why=pl.col("broken").drop_nulls().first(),
            pass_1=rate.mean(),
            var_pass_1=rate.var(),
            informative_tasks=(eligible & (c > 0) & (c < n)).sum().cast(pl.Int64),
            covariance=covariance(rate, pl.when(eligible).then(pl.col("pass_hat_k"))),
            **scatter(eligible),
            **{name: pl.when(eligible).then(pl.col(name)).mean() for name in _SUITE_MEANS},
        )
    )

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
            "n < {} in {} of {} tasks, which the limits allow any score", k, short, total_tasks
        )
    )
    table = table.with_columns(
        **{
            name: pl.when(known & known_windows if "window" in name else known).then(pl.col(name))
            for name in _SUITE_MEANS
        },
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
    table = with_suite_limits(table, known, confidence).with_columns(curve_shape=curve_shape(place))
    if slice_name is None:
        table = table.with_columns(slice_value=pl.lit("all"))
    return table.select(
        "run_id",
        "suite",
        pl.lit(slice_name or "all").alias("slice_name"),
        "slice_value",
        "k",
        "eligible_tasks",
        "total_tasks",
        "least_n",
        "informative_tasks",
        "attempts",
        "n",
        "c",
        "excluded",
        *(f"{metric}{end}" for metric in _SUITE_MEANS[:2] for end in ("", *SUITE_ENDS)),
        "pass_hat_k_per_attempt",
        *_SUITE_MEANS[2:],
        "pass_at_k_pooled",
        "pass_hat_k_pooled",
        *_with_limits(["delta_k"]),
        "delta_k_plugin",
        "delta_k_max",
        *_with_limits(["heterogeneity"]),
        "curve_shape",
        "null_reason",
        "caveat",
    )


def suite_metrics(
    attempts: FrameT,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    min_eligible_share: float = 0.95,
    ordered: bool = True,
    slices: Sequence[str] = (),
    confidence: float = 0.95,
    threshold: float = 1.0,
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
        0 to 1. The value is over those tasks; the limits allow the others any score, because tasks
        are seldom short by chance.
    ordered
        Whether to compute what depends on the order of the attempts, which costs a sort. If not,
        the columns that end in ``_window`` and ``_first_k`` are null.
    slices
        Names of columns, or of tags in the column ``tags``; a column goes before a tag of the
        same name. Attempts without a value are the slice ``(untagged)``. A slice is computed from
        its attempts alone: a task whose attempts differ in the tag counts in each with its share.
    confidence
        Level of every interval, between 0 and 1.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame or polars.LazyFrame
        One row per run_id, suite, slice_name, slice_value and k, the whole suite (``all``,
        ``all``) first: ``eligible_tasks`` (n >= k), ``total_tasks``, ``attempts``, ``n``, ``c``
        and ``excluded`` of all tasks; the means over the eligible tasks of the columns of
        :func:`task_metrics`, of the window columns over those with a complete window;
        ``pass_at_k_pooled`` and ``pass_hat_k_pooled`` from the mean of c / n over the eligible
        tasks; ``delta_k`` (:func:`~passk_py.stats.estimators.delta_k_unbiased`), ``delta_k_plugin``
        (mean plug-in pass^k less the pooled), ``delta_k_max``, ``heterogeneity``, and
        ``null_reason``, why ``pass_at_k`` and ``pass_hat_k`` are null, and ``caveat``, what to know
        of them where tasks are short. The window columns are also null where fewer than the share
        of the tasks have a complete window. Limits end in ``_lower``
        and ``_upper`` for tasks like these, in ``_suite_lower`` and ``_suite_upper`` for these
        tasks only; ``_within_share``, ``_bayes``, ``curve_shape`` and ``informative_tasks`` are
        those of the SQL table.

    Raises
    ------
    ArgumentError
        If ks, min_eligible_share, slices or confidence can't be right.
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
    names: list[str] = [] if isinstance(slices, str) else list(slices)
    if isinstance(slices, str) or "all" in names or len(set(names)) < len(names):
        raise ArgumentError(
            f"suite_metrics: slices must be different names other than 'all'; got {slices!r}",
            hint="Write one slice as a list of one: slices=['domain'].",
        )
    parts = [
        _suite(
            read_log(attempts, threshold, name),
            name,
            chosen,
            min_eligible_share=share,
            ordered=ordered,
            confidence=level,
        ).with_columns(part=pl.lit(part))
        for part, name in enumerate([None, *names])
    ]
    table = pl.concat(parts).sort("run_id", "suite", "part", "slice_value", "k").drop("part")
    return _like(attempts, table)


def tasks(
    attempts: FrameT,
    *,
    consistent_rate: float = 1.0,
    incapable_rate: float = 0.0,
    threshold: float = 1.0,
) -> FrameT:
    """Class every task of every run, and tell its longest streaks.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy.
    consistent_rate, incapable_rate
        See :func:`~passk_py.stats.estimators.task_class`.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame or polars.LazyFrame
        One row per run_id, suite and task_id, sorted by them: the columns of :func:`task_counts`,
        ``task_class``, ``longest_pass_streak`` and ``longest_fail_streak``, in attempts; an
        excluded attempt or a gap in the numbers ends a streak.

    Raises
    ------
    ArgumentError
        If a rate can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     {"run_id": "r", "task_id": "t", "attempt": [1, 2, 4], "passed": [True, True, True]}
    ... )
    >>> tasks(log).select("task_class", "longest_pass_streak").row(0)
    ('consistent', 2)
    """
    words = est.task_class("n", "c", consistent_rate=consistent_rate, incapable_rate=incapable_rate)
    table = _ordered_tasks(read_log(attempts, threshold), _TASK, ()).select(
        *_TASK,
        "attempts",
        "n",
        "c",
        "excluded",
        "first_pass_rank",
        "first_fail_rank",
        words,
        "longest_pass_streak",
        "longest_fail_streak",
    )
    return _like(attempts, table)


def k_sweep(frame: FrameT, ks: Iterable[int], *, n: str = "n", c: str = "c") -> FrameT:
    """Cross counts with several k.

    Parameters
    ----------
    frame
        Any frame with a column of counted attempts and one of passes.
    ks
        Whole numbers from 1.
    n, c
        The names of the two columns.

    Returns
    -------
    polars.DataFrame or polars.LazyFrame
        Each row of the frame once for each k, in order, with the columns ``k``, ``pass_at_k`` and
        ``pass_hat_k`` added. The estimators are computed once for each distinct (n, c).

    Raises
    ------
    ArgumentError
        If ks holds anything but whole numbers from 1.
    PasskError
        If a column is missing, or one of the new ones is there already.

    Examples
    --------
    >>> import polars as pl
    >>> k_sweep(pl.DataFrame({"n": [2], "c": [1]}), (1, 2, 3)).rows()
    [(2, 1, 1, 0.5, 0.5), (2, 1, 2, 1.0, 0.0), (2, 1, 3, None, None)]
    """
    chosen = checked_ks("k_sweep", ks)
    names = frame.lazy().collect_schema().names()
    new = ["k", "pass_at_k", "pass_hat_k"]
    missing = [name for name in (n, c) if name not in names]
    taken = [name for name in new if name in names]
    if missing or taken:
        raise PasskError(
            f"k_sweep: the frame has no column {' and no '.join(missing)}"
            if missing
            else f"k_sweep: the frame has a column {' and a '.join(taken)} already",
            hint=f"The columns are {', '.join(names)}.",
        )
    lazy = frame.lazy()
    states = _states(lazy.select(pl.col(n).alias("n"), pl.col(c).alias("c")), chosen)
    table = lazy.join(
        states.select(pl.col("n").alias(n), pl.col("c").alias(c), *new),
        on=[n, c],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    ).explode(new, empty_as_null=False)
    return _like(frame, table)
