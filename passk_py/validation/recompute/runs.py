"""The public tables, computed from attempts in polars with the column names of SQL.

What is written for people (``warnings``) is left out, or compared by its words, and of the
``null_reason`` of metrics only whether there is one is worth comparing. ``loaded_at`` is left out
because it counts refused copies too, which are no attempts: a batch of nothing else makes a table
younger than its attempts.

Two runs are compared in :mod:`passk_py.validation.recompute.pairs`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics import frames
from passk_py.metrics.diagnostics.diagnostics_table import judge, measure
from passk_py.metrics.mend_rank import with_mend_rank
from passk_py.metrics.uncertainty import SUITE_ENDS
from passk_py.stats import estimators as est
from passk_py.validation.parity import TOLERANCE, Recomputed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.warehouse.settings import Settings

__all__ = [
    "APPROXIMATED_P",
    "IDENTITY",
    "RUN",
    "TASK",
    "described",
    "diagnostics",
    "identities",
    "judged_diagnostics",
    "ranks",
    "run_times",
    "runs",
    "suite_metrics",
    "task_metrics",
    "tasks",
]

RUN: Final = ("run_id", "suite")
TASK: Final = (*RUN, "task_id")
IDENTITY: Final = ("agent", "agent_version", "model")
"""What the tables say of a run beside its numbers."""

_SIGNIFICANCE: Final = 0.05
_ENDS: Final = ("started_at", "last_started_at")
_PER_TERM: Final = 2.0**-53 / TOLERANCE
"""What one addition may round off a total, in units of what is tolerated."""

_QUANTILE: Final = pl.lit(1000.0)
"""What quantiles are off by, in units of what is tolerated: they are found in two ways."""

APPROXIMATED_P: Final = 1000 * pl.col("p") + 1e-280
"""What p is off by, in units of what is tolerated: the tail of SQL is an approximation, the error
of a deviate counts as often as it is large, and beyond 37 deviations SQL says 0."""

_SHARES: Final = (
    "duplicate_seeds",
    "duplicate_outputs",
    "noisy_grader",
    "temperature_zero",
    "retry_until_pass",
    "dominant_tasks",
)
"""Diagnostics whose statistic is a share."""

_SUMS: Final = ("duration_s", "cost_usd", "input_tokens", "output_tokens")


def task_metrics(log: pl.LazyFrame, settings: Settings, ks: Sequence[int]) -> Recomputed:
    """Compute ``passk_task_metrics``.

    Parameters
    ----------
    log
        Attempts.
    settings
        The vars of the build.
    ks
        The grid of k.
    """
    frame = frames.task_metrics(
        log, ks=ks, ordered=settings.ordered, confidence=settings.confidence
    )
    plugins = ("pass_at_k_plugin", "pass_hat_k_plugin")
    # A plug-in needs no more than one attempt, but the table shows none beside a null.
    frame = frame.with_columns(
        pl.when(pl.col("n") >= pl.col("k")).then(pl.col(name)).alias(name) for name in plugins
    )
    metrics = ("pass_at_k", "pass_hat_k", "pass_at_k_window", "pass_hat_k_window", *plugins)
    return Recomputed(
        frame.collect(engine="streaming"),
        (*TASK, "k"),
        ("n", "c", "excluded", "windows"),
        {
            **dict.fromkeys((*metrics, "pass_at_k_first_k", "pass_hat_k_first_k")),
            **dict.fromkeys(("pass_at_k_lower", "pass_at_k_upper"), _QUANTILE),
            **dict.fromkeys(("pass_hat_k_lower", "pass_hat_k_upper"), _QUANTILE),
        },
        ("null_reason",),
    )


def tasks(log: pl.LazyFrame, settings: Settings) -> Recomputed:
    """Compute ``passk_tasks``, but for what needs all tasks of a run, see :func:`ranks`.

    Parameters
    ----------
    log
        Attempts.
    settings
        The vars of the build.
    """
    k = settings.deployment_k
    n, c = pl.col("n"), pl.col("c")
    frame = frames.tasks(
        log,
        consistent_rate=settings.consistent_rate,
        incapable_rate=settings.incapable_rate,
    )
    if not settings.ordered:
        by_order = ("first_pass_rank", "first_fail_rank", "longest_pass_streak")
        frame = frame.with_columns(
            pl.lit(None, pl.Int64).alias(name) for name in (*by_order, "longest_fail_streak")
        )
    kind = pl.col("task_class")
    settled = ((kind == "consistent") & (c == n)) | ((kind == "incapable") & (c == 0))
    chance = settings.consistent_threshold ** (n.cast(pl.Float64) / k)
    frame = frame.join(_sums(log, TASK), on=list(TASK), how="left", nulls_equal=True).with_columns(
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
        cost_per_success_usd=pl.when(c > 0).then(pl.col("cost_usd") / c),
    )
    counted = ("attempts", "n", "c", "excluded", "task_class", "confirmed", "k")
    totals = ("duration_s", "cost_usd", "cost_per_success_usd")
    ordered = (
        "first_pass_rank",
        "first_fail_rank",
        "longest_pass_streak",
        "longest_fail_streak",
    )
    return Recomputed(
        frame.collect(engine="streaming"),
        TASK,
        (*counted, *ordered, *_ENDS, "input_tokens", "output_tokens"),
        {
            **dict.fromkeys(("pass_rate", "pass_at_k", "pass_hat_k", "lost_reliability")),
            **{name: _size_of_total(pl.col(name), pl.col("attempts")) for name in totals},
        },
    )


def ranks(tasks: pl.DataFrame, settings: Settings) -> Recomputed:
    """Compute what of ``passk_tasks`` needs all tasks of a run: their shares and ranks.

    Parameters
    ----------
    tasks
        Rows with the key of a task, ``n``, ``c`` and ``lost_reliability``.
    settings
        The vars of the build.
    """
    total = pl.col("lost_reliability").sum().over(RUN)
    frame = with_mend_rank(tasks, settings.deployment_k, RUN).with_columns(
        lost_reliability_share=pl.when(total > 0).then(pl.col("lost_reliability") / total),
        total=total,
    )
    size = _size_of_total(1 / pl.col("total"), pl.len().over(RUN))
    # The failures that SQL believes in are the difference of two numbers as large as n.
    gain = pl.col("expected_gain") * (1 + pl.col("n") / 100)
    return Recomputed(
        frame,
        TASK,
        ("mend_rank",),
        {"lost_reliability_share": size, "expected_gain": gain},
    )


def suite_metrics(log: pl.LazyFrame, settings: Settings, ks: Sequence[int]) -> Recomputed:
    """Compute ``passk_suite_metrics``, but for ``reading``.

    Parameters
    ----------
    log
        Attempts; the slices are the columns ``slice_1``, ``slice_2``, ... in order.
    settings
        The vars of the build.
    ks
        The grid of k.
    """
    names = list(settings.slices)
    columns = [f"slice_{number}" for number in range(1, len(names) + 1)]
    frame = frames.suite_metrics(
        log,
        ks=ks,
        min_eligible_share=settings.min_eligible_share,
        ordered=settings.ordered,
        slices=columns,
        confidence=settings.confidence,
    ).with_columns(pl.col("slice_name").replace(dict(zip(columns, names, strict=True))))
    metrics = ("pass_at_k", "pass_hat_k", "pass_at_k_plugin", "pass_hat_k_plugin")
    ordered = ("pass_at_k_window", "pass_hat_k_window", "pass_at_k_first_k", "pass_hat_k_first_k")
    tasks = ("eligible_tasks", "total_tasks", "least_n", "informative_tasks")
    limits = [
        *(f"{metric}{end}" for metric in metrics[:2] for end in SUITE_ENDS if end != "_bayes"),
        *(f"{name}_{side}" for name in ("delta_k", "heterogeneity") for side in ("lower", "upper")),
    ]
    pooled = pl.col("pass_hat_k_pooled")
    rate = pooled ** (1 / pl.col("k"))
    spread = pl.col("delta_k_max")
    size = pl.max_horizontal("pass_hat_k", pooled)
    return Recomputed(
        frame.collect(engine="streaming"),
        (*RUN, "slice_name", "slice_value", "k"),
        (*tasks, "attempts", "n", "c", "excluded", "curve_shape"),
        {
            **dict.fromkeys((*metrics, *ordered, "pass_at_k_pooled", "pass_hat_k_pooled")),
            **dict.fromkeys(("pass_at_k_bayes", "pass_hat_k_bayes", "pass_hat_k_per_attempt")),
            **dict.fromkeys(limits, _QUANTILE),
            "delta_k": size,
            "delta_k_plugin": pl.max_horizontal("pass_hat_k_plugin", pooled),
            "delta_k_max": pl.max_horizontal(rate, pooled),
            "heterogeneity": pl.max_horizontal(
                size / spread, pl.col("heterogeneity").abs() * rate / spread
            ),
        },
        ("null_reason", "caveat"),
    )


def runs(log: pl.LazyFrame, rejected: pl.LazyFrame) -> Recomputed:
    """Compute ``passk_runs``.

    Parameters
    ----------
    log
        Attempts.
    rejected
        Refused rows, with ``run_id`` and ``suite``.
    """
    per_task = frames.task_counts(log)
    n = pl.col("n")
    refused = (
        rejected.filter(pl.col("run_id").is_not_null())
        .with_columns(pl.col("suite").fill_null("default"))
        .group_by(RUN)
        .agg(rejected=pl.len().cast(pl.Int64))
    )
    frame = (
        per_task.group_by(RUN)
        .agg(
            tasks=pl.len().cast(pl.Int64),
            attempts=pl.col("attempts").sum(),
            n=n.sum(),
            c=pl.col("c").sum(),
            excluded=pl.col("excluded").sum(),
            min_n=n.min(),
            max_n=n.max(),
        )
        .join(_sums(log, RUN), on=list(RUN), how="left")
        .join(refused, on=list(RUN), how="left")
        .with_columns(
            pl.col("rejected").fill_null(0),
            pass_rate=pl.when(n > 0).then(pl.col("c") / n),
        )
    )
    counted = ("tasks", "attempts", "n", "c", "excluded", "rejected", "min_n", "max_n")
    return Recomputed(
        frame.collect(engine="streaming"),
        RUN,
        (*counted, *_ENDS, "input_tokens", "output_tokens"),
        {
            "pass_rate": None,
            "duration_s": _size_of_total(pl.col("duration_s"), pl.col("attempts")),
            "cost_usd": _size_of_total(pl.col("cost_usd"), pl.col("attempts")),
        },
    )


def diagnostics(log: pl.LazyFrame, settings: Settings) -> tuple[Recomputed, list[dict[str, Any]]]:
    """Compute what of ``passk_diagnostics`` a run says by itself.

    Parameters
    ----------
    log
        Attempts, with ``seed``, ``output_hash`` and ``started_at``.
    settings
        The vars of the build.

    Returns
    -------
    tuple
        The statistics and p, which have no rows where the var ``passk_diagnostics`` is false; and
        the rows for :func:`judged_diagnostics`.
    """
    if not settings.diagnostics:
        log = log.filter(pl.lit(value=False))
    rows = measure(log, k=settings.deployment_k, ordered=settings.ordered)
    types = {
        **dict.fromkeys((*RUN, "diagnostic"), pl.String()),
        **dict.fromkeys(("statistic", "p"), pl.Float64()),
        "tasks": pl.Int64(),
    }
    # Shares of tasks and attempts are quotients; the others are sums over tasks that cancel.
    share = pl.col("diagnostic").is_in(_SHARES)
    measured = Recomputed(
        pl.DataFrame(rows, schema=types),
        (*RUN, "diagnostic"),
        ("tasks",),
        {"statistic": pl.when(share).then(1.0).otherwise(_QUANTILE), "p": APPROXIMATED_P},
    )
    return measured, rows


def judged_diagnostics(
    rows: Sequence[dict[str, Any]], stored: pl.DataFrame, settings: Settings
) -> Recomputed:
    """Compute what of ``passk_diagnostics`` follows from the p of all runs.

    Parameters
    ----------
    rows
        Those of :func:`diagnostics`.
    stored
        ``p``, ``p_adjusted``, ``verdict`` and ``loaded_at`` of all runs as SQL has them, so that
        rounding can't tip a verdict. Runs too large to be measured anew are taken from it.
    settings
        The vars of the build.

    Returns
    -------
    Recomputed
        The rows of the runs that were measured.
    """
    known = {(row["suite"], row["run_id"], row["diagnostic"]): row for row in rows}
    every = []
    for told in stored.to_dicts():
        row = known.get((told["suite"], told["run_id"], told["diagnostic"]))
        decided = told["verdict"] if told["p_adjusted"] is None else None
        verdict = decided if row is None else row["verdict"]
        finding = "" if row is None else row["finding"]
        every.append({**told, "verdict": verdict, "finding": finding})
    judge([row for row in every if row["verdict"] or row["p"] is not None], settings.confidence)
    types = dict.fromkeys(
        (*RUN, "diagnostic", "verdict", "finding", "meaning", "advice"), pl.String()
    )
    return Recomputed(
        pl.DataFrame(
            [row for row in every if (row["suite"], row["run_id"], row["diagnostic"]) in known],
            schema={**types, "p_adjusted": pl.Float64()},
        ),
        (*RUN, "diagnostic"),
        ("verdict", "meaning", "advice"),
        {"p_adjusted": None},
        words=("finding",),
    )


def run_times(log: pl.LazyFrame, rejected: pl.LazyFrame) -> pl.DataFrame:
    """Tell when each run that has attempts started, and when the last of it was loaded.

    Parameters
    ----------
    log
        Attempts.
    rejected
        Refused rows, with ``reason_code`` and ``loaded_at``. Copies of attempts were loaded with
        their run, though they are refused.

    Returns
    -------
    polars.DataFrame
        One row a run: ``started_at`` and ``loaded_at``.
    """
    copies = (
        rejected.filter(pl.col("reason_code").is_in(["duplicate", "conflicting_duplicate"]))
        .with_columns(pl.col("suite").fill_null("default"))
        .group_by(RUN)
        .agg(copied_at=pl.col("loaded_at").max())
    )
    return (
        log.group_by(RUN)
        .agg(pl.col("started_at").min(), pl.col("loaded_at").max())
        .join(copies, on=list(RUN), how="left")
        .select(*RUN, "started_at", loaded_at=pl.max_horizontal("loaded_at", "copied_at"))
        .collect(engine="streaming")
    )


def identities(log: pl.LazyFrame, rejected: pl.LazyFrame, stated: pl.LazyFrame) -> pl.DataFrame:
    """Tell who made the attempts of each run: the least text of its first attempts.

    Parameters
    ----------
    log
        Attempts.
    rejected
        Refused rows, with ``attempt`` and ``reason_code``.
    stated
        What ``passk_runs`` says, one row a run. It is taken where polars can't know better:
        conflicting copies tell SQL who made them, but none of them is among the attempts.

    Returns
    -------
    polars.DataFrame
        One row a run.
    """
    first = pl.col("attempt") == 1
    told = log.group_by(RUN).agg(
        has_first=first.any(),
        **{
            # A run may hold no attempt with the number 1.
            name: pl.when(first.any())
            .then(pl.col(name).filter(first).min())
            .otherwise(pl.col(name).min())
            for name in IDENTITY
        },
    )
    conflicts = (
        rejected.filter(pl.col("reason_code") == "conflicting_duplicate")
        .group_by(RUN)
        .agg(of_first=first.any())
    )
    # Null without a conflict, which is as good as false.
    unknown = pl.col("of_first") | (pl.col("of_first").is_not_null() & ~pl.col("has_first"))
    return (
        told.join(conflicts, on=list(RUN), how="left")
        .join(stated, on=list(RUN), how="left", suffix="_stated")
        .select(
            *RUN,
            *(
                pl.when(unknown).then(pl.col(f"{name}_stated")).otherwise(name).alias(name)
                for name in IDENTITY
            ),
        )
        .collect(engine="streaming")
    )


def described(expected: Recomputed, who: pl.DataFrame) -> Recomputed:
    """Add to a table who made the attempts.

    Parameters
    ----------
    expected
        The table.
    who
        The runs' :func:`identities`.
    """
    frame = expected.frame.join(who, on=list(RUN), how="left")
    return replace(expected, frame=frame, exact=(*expected.exact, *IDENTITY))


def _sums(log: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Sum up what attempts took; null where no attempt says it."""
    started = pl.col("started_at")
    return log.group_by(keys).agg(
        started_at=started.min(),
        last_started_at=started.max(),
        **{name: _total(name) for name in _SUMS},
    )


def _total(name: str) -> pl.Expr:
    return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum())


def _size_of_total(total: pl.Expr, terms: pl.Expr) -> pl.Expr:
    """Give the size of the rounding of a total, whose terms are added one after the other."""
    return total.abs() * pl.max_horizontal(pl.lit(1.0), terms * _PER_TERM)
