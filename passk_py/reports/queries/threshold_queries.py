"""Queries about graded scores at several thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Chosen, Row


def at_thresholds(chosen: Chosen, k: int) -> dict[tuple[str, str], list[Row]]:
    """Read pass@k and pass^k at each threshold, by run and suite, where an attempt has a score.

    Each row has both metrics with their limits, as those of ``passk_suite_metrics`` have them.
    """
    # A project may leave the table out, and an older one lacks it.
    if chosen.tables.find("passk_threshold_metrics") is None:
        return {}
    columns = (
        *("run_id", "suite", "threshold", "metric", "k", "counted_attempts", "scored_attempts"),
        *("passes", "estimate", "lower", "upper", "null_reason", "caveat"),
    )
    found: dict[tuple[str, str], dict[float, Row]] = {}
    also = f"slice_name = 'all' and k = {k} and scored_attempts > 0"
    for row in chosen.rows("passk_threshold_metrics", columns, also=also):
        metric = row.pop("metric")
        values = {metric: row.pop("estimate")}
        values |= {f"{metric}_{side}": row.pop(side) for side in ("lower", "upper")}
        of_run = found.setdefault((row["run_id"], row["suite"]), {})
        of_run.setdefault(row["threshold"], row).update(values)
    return {run: list(rows.values()) for run, rows in found.items()}
