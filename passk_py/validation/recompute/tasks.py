"""The counts of tasks, and ``passk_tasks``, computed from attempts in polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.metrics.frames.counting import STREAKS, counted_tasks, ordered_tasks
from passk_py.metrics.logs import read_log
from passk_py.metrics.mend_rank import with_mend_rank
from passk_py.stats import estimators as est
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.runs import ENDS, RUN, TASK, size_of_total, sums

if TYPE_CHECKING:
    from passk_py.warehouse.settings import Settings

_SIGNIFICANCE: Final = 0.05


def counts(log: pl.LazyFrame, settings: Settings) -> pl.LazyFrame:
    """Count the attempts of tasks, and sum up what they took: all that tables of runs are of."""
    rows = read_log(log, 1.0, cluster=settings.cluster)
    table = ordered_tasks(rows, TASK, settings.ks if settings.ordered else ())
    return table.join(sums(log, TASK), on=list(TASK), how="left", nulls_equal=True)


def sliced(log: pl.LazyFrame, number: int, settings: Settings) -> pl.LazyFrame:
    """Count the attempts of tasks in each value of a slice: ``slice_1``, ... of the log."""
    keys = (*RUN, "slice_value", "task_id")
    rows = read_log(log, 1.0, f"slice_{number}", cluster=settings.cluster)
    return counted_tasks(rows, keys, settings.ks, ordered=settings.ordered)


def tasks(counts: pl.LazyFrame, settings: Settings) -> Recomputed:
    """Compute ``passk_tasks``, but for what needs all tasks of a run, see :func:`ranks`."""
    k = settings.deployment_k
    n, c = pl.col("n"), pl.col("c")
    frame = counts.with_columns(
        est.task_class(
            "n",
            "c",
            consistent_rate=settings.consistent_rate,
            incapable_rate=settings.incapable_rate,
        )
    )
    if not settings.ordered:
        by_order = ("first_pass_rank", "first_fail_rank", *STREAKS)
        frame = frame.with_columns(pl.lit(None, pl.Int64).alias(name) for name in by_order)
    kind = pl.col("task_class")
    settled = ((kind == "consistent") & (c == n)) | ((kind == "incapable") & (c == 0))
    chance = settings.consistent_threshold ** (n.cast(pl.Float64) / k)
    frame = frame.with_columns(
        pass_rate=pl.when(n > 0).then(c / n),
        confirmed=pl.when(kind == "flaky")
        .then(statement=True)
        .when(settled)
        .then(chance <= _SIGNIFICANCE),
        k=pl.lit(k, pl.Int64),
        pass_at_k=est.pass_at_k("n", "c", k),
        pass_hat_k=est.pass_hat_k("n", "c", k),
        # A failure among k is to the failures what a pass among k is to the passes.
        lost_reliability=est.pass_at_k(n, n - c, k),
        cost_per_success_usd=pl.when(
            (c > 0) & (pl.col("attempts_with_cost") == pl.col("attempts"))
        ).then(pl.col("cost_usd") / c),
    )
    if settings.cluster is None:
        frame = frame.with_columns(family=pl.lit(None, pl.String))
    counted = ("attempts", "n", "c", "excluded", "family", "task_class", "confirmed", "k")
    totals = ("duration_s", "cost_usd", "cost_per_success_usd")
    ordered = ("first_pass_rank", "first_fail_rank", *STREAKS)
    return Recomputed(
        frame.collect(engine="streaming"),
        TASK,
        (*counted, *ordered, *ENDS, "input_tokens", "output_tokens"),
        {
            **dict.fromkeys(("pass_rate", "pass_at_k", "pass_hat_k", "lost_reliability")),
            **{name: size_of_total(pl.col(name), pl.col("attempts")) for name in totals},
        },
    )


def ranks(tasks: pl.DataFrame, settings: Settings) -> Recomputed:
    """Compute what of ``passk_tasks`` needs all tasks of a run: their shares and ranks."""
    total = pl.col("lost_reliability").sum().over(RUN)
    frame = with_mend_rank(tasks, settings.deployment_k, RUN).with_columns(
        lost_reliability_share=pl.when(total > 0).then(pl.col("lost_reliability") / total),
        total=total,
    )
    size = size_of_total(1 / pl.col("total"), pl.len().over(RUN))
    # The failures that SQL believes in are the difference of two numbers as large as n.
    gain = pl.col("expected_gain") * (1 + pl.col("n") / 100)
    return Recomputed(
        frame, TASK, ("mend_rank",), {"lost_reliability_share": size, "expected_gain": gain}
    )
