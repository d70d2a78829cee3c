"""Every estimator of each task at each k: one row per task and k."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import polars as pl
import polars.selectors as cs

from passk_py.common.errors import PasskError
from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames.columns import finished
from passk_py.metrics.frames.counting import TASK, counted_tasks
from passk_py.metrics.logs import as_given, read_log
from passk_py.metrics.uncertainty import with_task_limits
from passk_py.stats import estimators as est
from passk_py.stats.estimators.arguments import checked_confidence, checked_ks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from passk_py.metrics.logs import FrameT

    More = Callable[[pl.LazyFrame], pl.LazyFrame]
    """Adds columns to rows of n, c and k."""

DEFAULT_KS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 16, 32, 64, 100)
"""The k that are reported when none are given: the default of the var ``passk_ks``."""
STATE_METRICS: Final = ("pass_at_k", "pass_hat_k", "pass_at_k_plugin", "pass_hat_k_plugin")
ORDER_METRICS: Final = (
    "pass_at_k_window",
    "pass_hat_k_window",
    "pass_at_k_first_k",
    "pass_hat_k_first_k",
)
METRICS: Final = (*STATE_METRICS, *ORDER_METRICS)
NO_ORDER: Final = dict.fromkeys(ORDER_METRICS, pl.lit(None, pl.Float64))
"""The columns of :data:`ORDER_METRICS` where the order is not asked for."""
_WINDOW_COUNTS: Final = ("windows", "pass_windows", "fail_windows")


def _states(table: pl.LazyFrame, ks: Sequence[int], more: More) -> pl.LazyFrame:
    """Compute every estimator, and more, once for each distinct (n, c), as lists over ks."""
    return (
        table.select("n", "c")
        .unique()
        .join(pl.LazyFrame({"k": ks}, schema={"k": pl.Int64}), how="cross")
        .sort("n", "c", "k")
        .pipe(more)
        .with_columns(
            est.pass_at_k("n", "c", "k"),
            est.pass_hat_k("n", "c", "k"),
            est.pass_at_k_plugin("n", "c", "k"),
            est.pass_hat_k_plugin("n", "c", "k"),
        )
        .group_by("n", "c", maintain_order=True)
        .agg(pl.all())
    )


def estimated_counts(table: pl.LazyFrame, ks: Sequence[int], more: More) -> pl.LazyFrame:
    """Compute the estimators of n and c, and more, of every row of counts at every k.

    Lists of the table, with a value for each k, are taken apart with them.
    """
    plugins = (name for name in STATE_METRICS if "plugin" in name)
    return (
        table.join(
            _states(table, ks, more),
            on=["n", "c"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        .explode(cs.list(), empty_as_null=False)
        .with_columns(pl.when(pl.col("n") >= pl.col("k")).then(pl.col(name)) for name in plugins)
    )


def ordered_estimates(table: pl.LazyFrame, ks: Sequence[int]) -> pl.LazyFrame:
    """Compute the estimators that depend on the order, of every row of counts at every k."""
    of_each_k = pl.concat_list(pl.lit(k, pl.Int64) for k in ks)
    long = table.with_columns(k=of_each_k, **_window_lists(ks)).explode("k", *_WINDOW_COUNTS)
    return long.with_columns(**_by_order())


def _window_lists(ks: Sequence[int]) -> dict[str, pl.Expr]:
    return {name: pl.concat_list(f"{name}_{k}" for k in ks) for name in _WINDOW_COUNTS}


def _by_order() -> dict[str, pl.Expr]:
    return {
        "pass_at_k_window": est.pass_at_k_from_windows("fail_windows", "windows"),
        "pass_hat_k_window": est.pass_hat_k_from_windows("pass_windows", "windows"),
        "pass_at_k_first_k": est.pass_at_k_from_rank("first_pass_rank", "n", "k"),
        "pass_hat_k_first_k": est.pass_hat_k_from_rank("first_fail_rank", "n", "k"),
    }


@any_frame
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
        or null if they are not. ``agent``, ``agent_version`` and ``model`` are those that the first
        attempts of the run name, null where the log does not.

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
    counts = counted_tasks(read_log(attempts, threshold), TASK, chosen, ordered=ordered)
    table = task_metrics_of_counts(counts, chosen, ordered=ordered, confidence=level)
    return as_given(attempts, finished(table, attempts))


def task_metrics_of_counts(
    counts: pl.LazyFrame, ks: Sequence[int], *, ordered: bool, confidence: float
) -> pl.LazyFrame:
    """Give :func:`task_metrics` of tasks that are counted already."""
    n, k = pl.col("n"), pl.col("k")
    reason = (
        pl.when(pl.col("broken").is_not_null())
        .then(pl.col("broken"))
        .when(n == 0)
        .then(pl.lit("no counted attempt"))
        .when(n < k)
        .then(pl.format("n = {} < k = {}", n, k))
    )
    by_order = _by_order() if ordered else NO_ORDER
    windows = _window_lists(ks) if ordered else {"windows": pl.lit(None, pl.Int64)}
    counts = counts.with_columns(**windows)
    limits = partial(with_task_limits, confidence=confidence)
    table = estimated_counts(counts, ks, limits).with_columns(**by_order, null_reason=reason)
    shown: tuple[str, ...] = (*limited_columns(STATE_METRICS[:2]), *STATE_METRICS[2:])
    columns = ("k", "n", "c", "excluded", *shown, "windows", *ORDER_METRICS)
    return table.select(*TASK, *columns, "null_reason")


def limited_columns(metrics: Iterable[str]) -> list[str]:
    """Name the columns of metrics and of their limits."""
    return [f"{metric}{end}" for metric in metrics for end in ("", "_lower", "_upper")]


@any_frame
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
    states = _states(
        lazy.select(pl.col(n).alias("n"), pl.col(c).alias("c")), chosen, lambda states: states
    )
    table = lazy.join(
        states.select(pl.col("n").alias(n), pl.col("c").alias(c), *new),
        on=[n, c],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    ).explode(new, empty_as_null=False)
    return as_given(frame, table)
