"""Queries about pairs of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.reports.queries.chosen import any_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.reports.queries.chosen import Chosen, Row
    from passk_py.warehouse.tables import Tables


def headline_metrics(k: int) -> list[tuple[str, int]]:
    """Name what is shown wherever one number is asked for: pass@1, and pass@k and pass^k."""
    first = [("pass_at_k", 1)]
    return first if k == 1 else [*first, ("pass_at_k", k), ("pass_hat_k", k)]


def compared(
    chosen: Chosen, k: int, columns: Iterable[str] = ("*",), *, baselines: Iterable[str] = ()
) -> list[Row]:
    """Read the pairs of which the candidate is chosen, at the headline metrics."""
    shown = " or ".join(
        f"(metric = '{metric}' and k = {one})" for metric, one in headline_metrics(k)
    )
    among = tuple(baselines)
    also = f"{any_of('baseline_run_id', among)} and ({shown})" if among else shown
    return chosen.rows("passk_comparisons", columns, also=also, run="candidate_run_id")


def falls(tables: Tables) -> list[Row]:
    """Read the falls of pass^k beyond chance; pass@1 of both where k = 1 is compared."""
    table = tables.find("passk_comparisons")
    if table is None:
        # A published copy may be without them.
        return []
    return tables.records(
        "select fell.suite, fell.baseline_run_id, fell.candidate_run_id, fell.k, "
        "fell.baseline, fell.candidate, fell.difference_suite_lower, fell.difference_suite_upper, "
        "fell.hidden_regression, single.baseline as baseline_at_1, "
        "single.candidate as candidate_at_1 "
        f"from {table} as fell left join {table} as single "
        "on fell.suite = single.suite and fell.baseline_run_id = single.baseline_run_id "
        "and fell.candidate_run_id = single.candidate_run_id "
        "and single.metric = 'pass_hat_k' and single.k = 1 "
        "where fell.metric = 'pass_hat_k' and fell.verdict = 'regression'"
    )


def moved_tasks(chosen: Chosen) -> dict[str, Row]:
    """Count the tasks that moved beyond chance between a run and each of its baselines."""
    return {
        row.pop("baseline_run_id"): row
        for row in chosen.tables.records(
            "select baseline_run_id, count(p) as tested_tasks, "
            "count(*) filter (where moved and direction = 'fell') as fell_tasks, "
            "count(*) filter (where moved and direction = 'rose') as rose_tasks "
            f"from {chosen.source('passk_task_comparisons', run='candidate_run_id')} group by all"
        )
    }
