"""The comparisons of runs, computed in polars with the column names of SQL.

The pairs that there must be follow from the runs and the vars alone, so that a pair that the tables
lack is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.comparisons.compared_runs import (
    COMPARISON_COLUMNS,
    METRICS,
    comparison_rows,
    with_agents,
)
from passk_py.metrics.comparisons.compared_tasks import has_moved, task_comparisons
from passk_py.metrics.comparisons.pair_verdicts import judged, with_limits
from passk_py.metrics.comparisons.run_pairs import pair_of
from passk_py.metrics.run_order import runs_in_order
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.approximations import CLOSE, SIZE, STUDENT, as_seen
from passk_py.validation.recompute.diagnostics import APPROXIMATED_P

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from passk_py.metrics.comparisons.run_pairs import Pair
    from passk_py.metrics.run_order import Run
    from passk_py.warehouse.settings import Settings

PAIR: Final = ("suite", "baseline_run_id", "candidate_run_id")
RUN_COLUMNS: Final = {
    **dict.fromkeys(("run_id", "suite", "agent", "agent_version"), pl.String()),
    **dict.fromkeys(("started_at", "loaded_at"), pl.Datetime("us")),
}
"""Columns of runs that are compared, beside their tasks."""

_NO_COUNTS: Final = pl.DataFrame(
    schema={
        **dict.fromkeys(("run_id", "suite", "task_id"), pl.String),
        **dict.fromkeys(("n", "c"), pl.Int64),
    }
)
_SIDES: Final = ("baseline", "candidate")
_SAID: Final = ("agent", "agent_version")
"""Columns of a comparison on its two runs."""

_TESTED: Final = ("z", "difference")
_LIMITED: Final = ("difference_suite_lower", "difference_suite_upper")
JUDGED: Final = (*_TESTED, *_LIMITED)
"""The figures that a verdict depends on."""


def expected_pairs(runs: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Tell which runs must be compared, and by ``pair_source`` why."""
    placed = runs_in_order(runs.to_dicts())
    suites: dict[str, set[str]] = {}
    for run_id, suite in runs.select("run_id", "suite").iter_rows():
        suites.setdefault(suite, set()).add(run_id)
    found: dict[tuple[str, str, str], str] = {}
    for pair in settings.pairs:
        two = (str(pair["baseline"]), str(pair["candidate"]))
        for suite in _suites_of(pair["suite"], two, suites):
            found[suite, *two] = "declared"
    baseline = settings.baseline
    if baseline is not None:
        # Where no suite has it, that is a mistake that must be seen.
        has = {suite for suite, there in suites.items() if baseline in there}
        for suite, there in suites.items():
            if suite in has or not has:
                for run_id in there - {baseline}:
                    found.setdefault((suite, baseline, run_id), "baseline")
    elif not settings.pairs:
        found = {
            (run.suite, run.previous, run.run_id): "previous"
            for run in placed
            if run.previous is not None
        }
    for judged_pair in _of_gates(placed, settings):
        found.setdefault(judged_pair, "gate")
    rows = [(*pair, source) for pair, source in sorted(found.items())]
    columns = dict.fromkeys((*PAIR, "pair_source"), pl.String())
    return pl.DataFrame(rows, schema=columns, orient="row")


def _suites_of(
    declared: str | None, two: tuple[str, str], suites: Mapping[str, set[str]]
) -> list[str]:
    """Give the suites that a declared pair stands for: those that have most of its runs."""
    if declared is not None:
        return [declared]
    has = {suite: len(there.intersection(two)) for suite, there in suites.items()}
    most = max(has.values(), default=0)
    return [suite for suite, count in has.items() if count == most] if most else ["(unknown)"]


def _of_gates(runs: Sequence[Run], settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Pair the runs that gates judge with the baselines that they name."""
    if not settings.gates:
        return
    from passk_py.metrics.gates import rules_of

    rules = rules_of(settings.gates, deployment_k=settings.deployment_k)
    for rule in rules:
        for run in runs:
            baseline = rule.baseline
            if baseline is not None and baseline != run.run_id and rule.judges(run):
                yield run.suite, baseline, run.run_id


def compared_runs(
    pairs: Iterable[tuple[Pair, str]],
    who: pl.DataFrame,
    settings: Settings,
    stored: Iterable[Mapping[str, Any]],
    metrics: Sequence[str] = METRICS,
) -> Recomputed:
    """Compute ``passk_comparisons``; verdicts follow SQL's figures where they are near enough."""
    keys = (*PAIR, "metric", "k")
    as_stored = {tuple(row[key] for key in keys): row for row in stored}
    rows = []
    for pair, source in pairs:
        for row in comparison_rows(
            pair,
            settings.ks,
            confidence=settings.confidence,
            minimum_change=settings.minimum_change,
            min_eligible_share=settings.min_eligible_share,
            metrics=metrics,
        ):
            sql = as_stored.get(tuple(row[key] for key in keys), {})
            figures = as_seen(row, sql, _TESTED)
            limits = with_limits(figures, settings.confidence)
            verdict = judged(as_seen(figures | limits, sql, _LIMITED))
            rows.append({**row, **limits, **verdict, "pair_source": source})
    types: dict[str, type[pl.DataType]] = {
        **COMPARISON_COLUMNS,
        "pair_source": pl.String,
        "standard_error": pl.Float64,
    }
    frame = with_agents(pl.DataFrame(rows, schema=types), who)
    tasks = ("common_tasks", "baseline_only_tasks", "candidate_only_tasks")
    size = pl.max_horizontal("baseline", "candidate")
    return Recomputed(
        frame,
        keys,
        (
            "pair_source",
            *(f"{side}_{name}" for side in _SIDES for name in _SAID),
            *tasks,
            *("eligible_tasks", "informative_tasks", "least_n", "minimum_change"),
            *("verdict", "hidden_regression", "null_reason", "caveat"),
        ),
        {
            "baseline": None,
            "candidate": None,
            # Differences of means, and limits of them: what is lost when they cancel is no error.
            "difference": size,
            "z": size / pl.col("standard_error"),
            "p": APPROXIMATED_P,
            **dict.fromkeys(("difference_suite_lower", "difference_suite_upper"), SIZE),
            **dict.fromkeys(("difference_lower", "difference_upper"), STUDENT),
        },
        words=("meaning",),
    )


def compared_tasks(pairs: Sequence[Pair], settings: Settings, stored: pl.DataFrame) -> Recomputed:
    """Compute ``passk_task_comparisons``; SQL's ``p_adjusted``, where near, decides what moved."""
    key = (*PAIR, "task_id")
    # One without tasks has the columns where there is no other.
    frame = pl.concat(
        [
            task_comparisons(pair, confidence=settings.confidence)
            for pair in [*pairs, pair_of("", "", "", _NO_COUNTS)]
        ]
    )
    mine, sql = pl.col("p_adjusted"), pl.col("p_adjusted_sql")
    frame = (
        frame.join(
            stored.select(*key, pl.col("p_adjusted").alias("p_adjusted_sql")).unique(
                key, keep="first", maintain_order=True
            ),
            on=key,
            how="left",
            maintain_order="left",
        )
        .with_columns(seen=pl.when((mine - sql).abs() <= CLOSE * mine).then(sql).otherwise(mine))
        .with_columns(moved=has_moved("seen", settings.confidence))
    )
    counts = ("baseline_n", "baseline_c", "candidate_n", "candidate_c")
    rates = ("baseline_pass_rate", "candidate_pass_rate")
    return Recomputed(
        frame,
        key,
        (*counts, "moved", "direction", "null_reason"),
        {
            **dict.fromkeys(rates),
            "difference": pl.max_horizontal(*rates),
            # Whole numbers here, sums of up to thousands of logarithms there.
            **{
                name: pl.col(name) * 1000
                for name in ("p", "p_adjusted", "least_p", "least_p_of_fall")
            },
        },
    )
