"""How costs changed between two runs, for ``passk compare``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from passk_py.common.sql_text import quote
from passk_py.reports.cost_words import change_of_pair

if TYPE_CHECKING:
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

Row = dict[str, Any]


def changed_costs(
    tables: Tables, baseline: str, candidate: str, suites: set[str], settings: Settings
) -> list[Row]:
    """Read how costs changed, or compute it from the attempts."""
    from passk_py.metrics.costs.cost_changes import compare_costs
    from passk_py.metrics.costs.spending import MEASURES
    from passk_py.warehouse.tables import fetch_frame

    where = f"baseline_run_id = {quote(baseline)} and candidate_run_id = {quote(candidate)}"
    if tables.find("passk_cost_comparisons") is not None:
        found = tables.records(
            f"select * exclude (loaded_at) from {tables.require('passk_cost_comparisons')} "
            f"where {where} order by suite, measure"
        )
        if found:
            return [row for row in found if row["suite"] in suites]
    there = tables.columns("passk_attempts")
    wanted = dict.fromkeys(name for measure in settings.costs for name in MEASURES[measure])
    columns = [name for name in wanted if name in there]
    if not columns:
        return []
    log = fetch_frame(
        tables.connection,
        f"select run_id, suite, task_id, attempt, outcome, {', '.join(columns)}"
        f"{settings.family_sql} from {tables.require('passk_attempts')} "
        f"where run_id in ({quote(baseline)}, {quote(candidate)})",
    )
    found = compare_costs(
        log,
        baseline,
        candidate,
        measures=settings.costs,
        confidence=settings.confidence,
        min_eligible_share=settings.min_eligible_share,
        cluster=settings.cluster,
    ).to_dicts()
    return [row for row in found if row["suite"] in suites]


def costs_said(rows: list[Row], costs: list[Row], k: int) -> str:
    """Say how costs changed while pass^k did what it did."""
    at_k = next((row for row in rows if row["metric"] == "pass_hat_k" and row["k"] == k), None)
    verdict = None if at_k is None else at_k["verdict"]
    return change_of_pair(({**cost, "reliability": verdict} for cost in costs), k)
