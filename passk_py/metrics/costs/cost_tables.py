"""``passk_costs``, ``passk_cost_curves`` and ``passk_task_costs``, from what was spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.costs.ratios import ratio_limits
from passk_py.metrics.costs.retries import retry_costs
from passk_py.metrics.costs.spending import MEASURED, SPENT
from passk_py.metrics.states import short_reason, short_tasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PLACE: Final = ("run_id", "suite", "measure")
TASK_COSTS: Final = (
    "cost_of_attempt", "tries", "retry_cost", "cost_per_solved", "series_cost", "cost_per_reliable",
)  # fmt: skip
FIGURES: Final = ("mean", "p95", "per_success")
CURVES: Final = ("tries", "retry_cost", "cost_per_solved", "cost_per_reliable")
_ENDS: Final = ("", "_lower", "_upper")
COST_TYPES: Final[dict[str, Any]] = {
    **dict.fromkeys(PLACE, pl.String),
    **dict.fromkeys(("n", "c", "excluded", "measured", "measured_excluded"), pl.Int64),
    "coverage": pl.Float64,
    **dict.fromkeys(("measured_tasks", "total_tasks", "families"), pl.Int64),
    "effective_families": pl.Float64,
    **dict.fromkeys((f"{figure}{end}" for figure in FIGURES for end in _ENDS), pl.Float64),
    **dict.fromkeys(("spent", "spent_on_failures", "spent_on_excluded"), pl.Float64),
    "share_on_failures": pl.Float64,
    **dict.fromkeys(("null_reason", "caveat"), pl.String),
}
CURVE_TYPES: Final[dict[str, Any]] = {
    **dict.fromkeys(PLACE, pl.String),
    **dict.fromkeys(("k", "eligible_tasks", "total_tasks", "families"), pl.Int64),
    "effective_families": pl.Float64,
    **dict.fromkeys((f"{figure}{end}" for figure in CURVES for end in _ENDS), pl.Float64),
    "series_cost": pl.Float64,
    **dict.fromkeys(("null_reason", "caveat"), pl.String),
}


def table_of_costs(
    spending: pl.DataFrame,
    tails: pl.DataFrame,
    *,
    min_eligible_share: float,
    confidence: float,
    by_family: bool,
) -> pl.DataFrame:
    """Sum up the costs of runs, with what an attempt and a success cost."""
    one = pl.lit(1.0)
    attempts = _terms(spending.filter("is_measured"), pl.col("cost_of_attempt"), one, pl.lit(0.0))
    # Without counted attempts a task has still been paid for.
    paid = pl.col("cost_of_attempt").fill_null(0) * pl.col("n") + pl.col("spent_on_excluded")
    successes = _terms(
        spending.filter(pl.col("is_measured") | (pl.col("n") == 0)), paid, pl.col("c"), one
    )
    ratios = [
        {tuple(row[name] for name in PLACE): row for row in limits.iter_rows(named=True)}
        for limits in (
            ratio_limits(terms, PLACE, confidence, by_family=by_family)
            for terms in (attempts, successes)
        )
    ]
    p95 = {tuple(row[name] for name in PLACE): row for row in tails.iter_rows(named=True)}
    totals = spending.group_by(PLACE, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("total_tasks"),
        pl.col("n", "c", "excluded", *MEASURED, *SPENT).sum(),
        counted_tasks=(pl.col("n") > 0).sum(),
    )
    rows = []
    for total in totals.iter_rows(named=True):
        place = tuple(total[name] for name in PLACE)
        rows.append(
            _row(total, [found.get(place, {}) for found in (*ratios, p95)], min_eligible_share)
        )
    return pl.DataFrame(rows, schema=COST_TYPES, orient="row")


def _terms(spending: pl.DataFrame, x: pl.Expr, y: pl.Expr, reach: pl.Expr) -> pl.DataFrame:
    return spending.select(*PLACE, "draw", x=x, y=y.cast(pl.Float64), reach=reach.cast(pl.Float64))


def _row(
    total: Mapping[str, Any], found: Sequence[Mapping[str, Any]], share: float
) -> dict[str, Any]:
    attempt, success, tail = found
    n, measured = total["n"], total["measured_passes"] + total["measured_failures"]
    excluded, measured_excluded = total["excluded"], total["measured_excluded"]
    spent = total["spent_on_passes"] + total["spent_on_failures"] + total["spent_on_excluded"]
    tasks, counted = attempt.get("tasks", 0), total["counted_tasks"]
    said = f"{measured} of {n} counted attempts have {total['measure']}"
    untold = f"no passed, or no failed, attempt has {total['measure']}"
    untold += f" in {counted - tasks} of {counted} tasks"
    reason = None
    if not _is_covered(measured, n, share):
        reason = f"only {said}"
    elif not _is_covered(tasks, counted, share):
        reason = untold
    row: dict[str, Any] = {
        **dict.fromkeys(COST_TYPES),
        **{name: value for name, value in total.items() if name in COST_TYPES},
        "measured": measured,
        "coverage": measured / n if n else None,
        "measured_tasks": tasks,
        "families": attempt.get("families"),
        "effective_families": attempt.get("effective_families"),
        "spent": spent,
        "share_on_failures": total["spent_on_failures"] / spent if spent else None,
        "null_reason": reason,
    }
    if reason is None:
        has_excluded = _is_covered(measured + measured_excluded, n + excluded, share)
        known = {"mean": attempt, "per_success": success if has_excluded else {}}
        for figure, of_figure in known.items():
            row |= {f"{figure}{end}": of_figure.get(end[1:] or "estimate") for end in _ENDS}
        row |= {f"p95{end}": tail.get(f"p95{end}") for end in _ENDS}
        if measured < n or measured_excluded < excluded:
            of_excluded = f", and {measured_excluded} of {excluded} excluded ones"
            if not has_excluded:
                of_excluded = f", and only {measured_excluded} of {excluded} excluded ones"
                of_excluded += ", too few to know what a success costs"
            left_out = f"; {untold}, which are left out" if tasks < counted else ""
            row["caveat"] = said + (of_excluded if excluded else "") + left_out
    return row


def _is_covered(measured: int, counted: int, share: float) -> bool:
    return measured > 0 and measured >= counted * share * (1 - 1e-12)


def table_of_curves(
    spending: pl.DataFrame,
    costs: pl.DataFrame,
    ks: Sequence[int],
    *,
    min_eligible_share: float,
    confidence: float,
    by_family: bool,
) -> pl.DataFrame:
    """Give what retries and series of k cost; ``costs`` is the table of the same runs."""
    covered = {tuple(row[name] for name in PLACE): row for row in costs.iter_rows(named=True)}
    one, k = pl.lit(1.0), pl.col("k")
    rows = []
    for at_k in ks:
        retries = retry_costs(spending, [at_k])
        eligible = retries.filter("is_eligible")
        limits = {
            figure: {
                tuple(row[name] for name in PLACE): row
                for row in ratio_limits(
                    _terms(eligible, x, y, reach), PLACE, confidence, by_family=by_family
                ).iter_rows(named=True)
            }
            for figure, x, y, reach in (
                ("tries", pl.col("tries"), one, k - 1),
                ("retry_cost", pl.col("retry_cost"), one, k - 1),
                ("cost_per_solved", pl.col("retry_cost"), pl.col("pass_at_k"), k),
                ("cost_per_reliable", pl.col("series_cost"), pl.col("pass_hat_k"), one),
            )
        }
        counted = retries.group_by(PLACE, maintain_order=True).agg(
            total_tasks=pl.len(),
            eligible_tasks=pl.col("is_eligible").sum(),
            enough_tasks=(pl.col("n") >= at_k).sum(),
        )
        for counts in counted.iter_rows(named=True):
            place = tuple(counts[name] for name in PLACE)
            found = {figure: of_figure.get(place, {}) for figure, of_figure in limits.items()}
            rows.append(_at_k(counts, at_k, covered[place], found, min_eligible_share))
    return pl.DataFrame(rows, schema=CURVE_TYPES, orient="row")


def _at_k(
    counts: Mapping[str, Any],
    k: int,
    costs: Mapping[str, Any],
    found: Mapping[str, Mapping[str, Any]],
    share: float,
) -> dict[str, Any]:
    eligible, total = counts["eligible_tasks"], counts["total_tasks"]
    lacking = f" or no {counts['measure']} of an outcome"
    lacking = lacking if eligible < counts["enough_tasks"] else ""
    reason = costs["null_reason"] or short_reason(
        k, eligible, total, min_eligible_share=share, or_lacking=lacking
    )
    row: dict[str, Any] = {
        **dict.fromkeys(CURVE_TYPES),
        **{name: value for name, value in counts.items() if name in CURVE_TYPES},
        "k": k,
        "null_reason": reason,
    }
    if reason is not None:
        return row
    short = None
    if eligible < total:
        short = f"{short_tasks(k, eligible, total, or_lacking=lacking)}, which are left out"
    row |= {
        "families": found["tries"]["families"],
        "effective_families": found["tries"]["effective_families"],
        "series_cost": found["cost_per_reliable"]["mean_x"],
        "caveat": short or costs["caveat"],
    }
    for figure, of_figure in found.items():
        row |= {f"{figure}{end}": of_figure[end[1:] or "estimate"] for end in _ENDS}
    return row


def table_of_tasks(spending: pl.DataFrame, ks: Sequence[int]) -> pl.DataFrame:
    """Give what each task costs, a row for each k."""
    n, k = pl.col("n"), pl.col("k")
    frame = retry_costs(spending, ks).with_columns(
        cost_per_solved=_over(pl.col("retry_cost"), pl.col("pass_at_k")),
        cost_per_reliable=_over(pl.col("series_cost"), pl.col("pass_hat_k")),
        null_reason=pl.when(n < k)
        .then(pl.format("n is {}, fewer than k = {}", n, k))
        .when(~pl.col("is_eligible"))
        .then(pl.format("no attempt of an outcome that the task has says its {}", "measure")),
    )
    return frame.select(
        *("run_id", "suite", "task_id", "family", "measure", "k", "n", "c"),
        *(pl.when("is_eligible").then(pl.col(name)).alias(name) for name in TASK_COSTS),
        "null_reason",
    )


def _over(cost: pl.Expr, chance: pl.Expr) -> pl.Expr:
    return pl.when(chance > 0).then(cost / chance)
