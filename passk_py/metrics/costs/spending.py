"""Spending on the attempts of each task, by what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.metrics.frames.counting import TASK, unordered_tasks
from passk_py.metrics.logs import read_log
from passk_py.stats.estimators import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MEASURES: Final[dict[str, tuple[str, ...]]] = {
    "cost_usd": ("cost_usd",),
    "duration_s": ("duration_s",),
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "tokens": ("input_tokens", "output_tokens"),
}
"""The measures of cost, and the columns whose sum each is."""

_OUTCOMES: Final = ("passes", "failures", "excluded")
SPENT: Final = tuple(f"spent_on_{one}" for one in _OUTCOMES)
MEASURED: Final = tuple(f"measured_{one}" for one in _OUTCOMES)


def checked_measures(function: str, measures: Iterable[str]) -> list[str]:
    """Give the names of measures, each once, or raise an error."""
    names = [] if isinstance(measures, str) else list(measures)
    if isinstance(measures, str) or any(name not in MEASURES for name in names):
        raise ArgumentError(
            f"{function}: measures must be a list of {', '.join(MEASURES)}; got {measures!r}"
        )
    return list(dict.fromkeys(names))


def measured_log(
    attempts: pl.DataFrame | pl.LazyFrame,
    measures: Sequence[str],
    threshold: float,
    cluster: str | None,
) -> pl.LazyFrame:
    """Reduce a log to the attempts of tasks that can be counted, with a column for each measure."""
    schema = attempts.lazy().collect_schema()
    more = {
        measure: pl.sum_horizontal(MEASURES[measure], ignore_nulls=False).cast(pl.Float64)
        if all(column in schema for column in MEASURES[measure])
        else pl.lit(None, pl.Float64)
        for measure in measures
    }
    return read_log(attempts, threshold, more=more, cluster=cluster)


def task_spending(log: pl.LazyFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Sum up what was spent on each task, of runs of which an attempt says it.

    One row per run_id, suite, measure and task_id, with the counts of the task, a ``draw``, which
    is its family or else the task, ``cost_of_pass``, ``cost_of_failure`` and ``cost_of_attempt``.
    """
    passed = pl.col("passed")
    kinds = dict(zip(_OUTCOMES, (passed, ~passed, passed.is_null()), strict=True))
    sums = {
        f"{verb}_{kind}_{measure}": value
        for measure in measures
        for kind, is_kind in kinds.items()
        for verb, value in (
            ("measured", pl.col(measure).filter(is_kind).count().cast(pl.Int64)),
            ("spent_on", pl.col(measure).filter(is_kind).sum()),
        )
    }
    counts = unordered_tasks(log, TASK).filter(pl.col("broken").is_null())
    wide = counts.join(log.group_by(TASK).agg(**sums), on=list(TASK), how="left").collect(
        engine="streaming"
    )
    # Sums of the same costs in another order differ in their last digits.
    wide = wide.sort(TASK)
    if "family" not in wide.columns:
        wide = wide.with_columns(family=pl.lit(None, pl.String))
    parts = [
        wide.select(
            *TASK,
            *("family", "n", "c", "excluded"),
            *(pl.col(f"{name}_{measure}").alias(name) for name in (*MEASURED, *SPENT)),
            measure=pl.lit(measure),
        )
        for measure in measures
    ]
    if not parts:
        parts = [
            wide.head(0).select(
                *TASK,
                *("family", "n", "c", "excluded"),
                *(pl.lit(0, pl.Int64).alias(name) for name in MEASURED),
                *(pl.lit(0.0).alias(name) for name in SPENT),
                measure=pl.lit("cost_usd"),
            )
        ]
    return _with_costs(
        pl.concat(parts).filter(
            pl.sum_horizontal(MEASURED).sum().over("run_id", "suite", "measure") > 0
        )
    )


def _with_costs(spending: pl.DataFrame) -> pl.DataFrame:
    """Say what an attempt of each outcome costs, and one of either."""
    n, c = pl.col("n"), pl.col("c")
    passes, failures = pl.col("measured_passes"), pl.col("measured_failures")
    frame = spending.with_columns(
        draw=pl.when(pl.col("family").is_null())
        .then(pl.struct(kind=pl.lit("task"), name="task_id"))
        .otherwise(pl.struct(kind=pl.lit("family"), name="family")),
        cost_of_pass=pl.when(passes > 0).then(pl.col("spent_on_passes") / passes),
        cost_of_failure=pl.when(failures > 0).then(pl.col("spent_on_failures") / failures),
        # Each kind of attempt that the task has must be measured at least once.
        is_measured=(n > 0) & ((c == 0) | (passes > 0)) & ((c == n) | (failures > 0)),
    )
    both = c * pl.col("cost_of_pass").fill_null(0) + (n - c) * pl.col("cost_of_failure").fill_null(
        0
    )
    return frame.with_columns(cost_of_attempt=pl.when(n > 0).then(both / n))
