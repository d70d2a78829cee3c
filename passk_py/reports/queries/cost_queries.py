"""Queries about what runs cost; a project may leave the tables out, and an older one lacks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.reports.queries.chosen import any_of

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Chosen, Row


def costs(chosen: Chosen) -> list[Row]:
    """Read what attempts and successes of runs cost."""
    if chosen.tables.find("passk_costs") is None:
        return []
    return chosen.rows("passk_costs")


def costs_at(chosen: Chosen, k: int) -> list[Row]:
    """Read what retries and series of tries cost at one k."""
    if chosen.tables.find("passk_cost_curves") is None:
        return []
    return chosen.rows("passk_cost_curves", also=f"k = {k}")


def cost_changes(chosen: Chosen, k: int) -> list[Row]:
    """Read how costs changed between the pairs of chosen runs, and what pass^k did meanwhile."""
    tables = chosen.tables
    if tables.find("passk_cost_comparisons") is None:
        return []
    both = any_of("costs.baseline_run_id", chosen.runs) if chosen.runs else "true"
    where = chosen.where(run="costs.candidate_run_id", suite="costs.suite")
    return tables.records(
        "select costs.* exclude (loaded_at), reliability.verdict as reliability "
        f"from {tables.require('passk_cost_comparisons')} as costs "
        f"left join {tables.require('passk_comparisons')} as reliability "
        "on costs.suite = reliability.suite "
        "and costs.baseline_run_id = reliability.baseline_run_id "
        "and costs.candidate_run_id = reliability.candidate_run_id "
        f"and reliability.metric = 'pass_hat_k' and reliability.k = {k} "
        f"where {where} and {both} "
        "order by costs.suite, costs.baseline_run_id, costs.candidate_run_id, costs.measure"
    )


def frontier(chosen: Chosen, k: int) -> list[Row]:
    """Read which runs no other beats on both pass^k and cost, at one k."""
    if chosen.tables.find("passk_frontier") is None:
        return []
    return chosen.rows("passk_frontier", also=f"k = {k}")
