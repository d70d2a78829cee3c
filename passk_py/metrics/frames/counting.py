"""Attempts counted for each task: one row per task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.common.contract import KEY
from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames.columns import finished
from passk_py.metrics.logs import as_given, read_log
from passk_py.stats import estimators as est

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.metrics.logs import FrameT

TASK: Final = KEY[:3]
_COUNTS: Final = ("attempts", "n", "c", "excluded", "first_pass_rank", "first_fail_rank")
STREAKS: Final = ("longest_pass_streak", "longest_fail_streak")


def _counted(log: pl.LazyFrame) -> dict[str, pl.Expr]:
    """Count, in the group of a task, what does not depend on the order."""
    passed = pl.col("passed")
    # One family for all attempts of a task.
    family = {"family": pl.col("family").min()} if "family" in log.collect_schema() else {}
    return {
        **family,
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
    )
    table = table.with_columns(broken=broken)
    kept = {*keys, "attempts", "broken", "unnumbered", "repeated"}
    blank = pl.all().exclude(*kept)
    return table.with_columns(pl.when(pl.col("broken").is_null()).then(blank)).drop(
        "unnumbered", "repeated"
    )


def unordered_tasks(log: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Count what does not depend on the order."""
    attempt = pl.col("attempt")
    table = log.group_by(keys).agg(
        **_counted(log), unnumbered=attempt.null_count(), repeated=pl.len() - attempt.n_unique()
    )
    return _settle(table, keys).sort(keys)


def ordered_tasks(log: pl.LazyFrame, keys: Sequence[str], ks: Sequence[int]) -> pl.LazyFrame:
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
            **_counted(log),
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


def counted_tasks(
    log: pl.LazyFrame, keys: Sequence[str], ks: Sequence[int], *, ordered: bool
) -> pl.LazyFrame:
    """Count every group of attempts, with what depends on the order only if it is asked for."""
    return ordered_tasks(log, keys, ks) if ordered else unordered_tasks(log, keys)


@any_frame
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
        counted attempts, from 1; null if there is none). All of these but ``attempts`` are null
        where an attempt number occurs twice or a part of the key is null. ``agent``,
        ``agent_version`` and ``model`` are those that the first attempts of the run name, null
        where the log does not.

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
    table = ordered_tasks(read_log(attempts, threshold), TASK, ())
    return as_given(attempts, finished(table.select(*TASK, *_COUNTS), attempts))


@any_frame
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
    table = ordered_tasks(read_log(attempts, threshold), TASK, ())
    return as_given(attempts, finished(table.select(*TASK, *_COUNTS, words, *STREAKS), attempts))
