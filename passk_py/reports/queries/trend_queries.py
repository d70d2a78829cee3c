"""Queries about the trends of agents from run to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Chosen, Row


def trends_at(chosen: Chosen, k: int) -> dict[str, list[Row]]:
    """Read how pass^k at one k rises or falls, by suite: of agents that have a trend.

    A trend belongs to the latest run of its agent, and is left out if that run is.
    """
    # A project may leave the table out, and an older one lacks it.
    if chosen.tables.find("passk_trends") is None:
        return {}
    columns = (
        *("suite", "agent", "last_run_id", "k", "runs", "left_out_runs"),
        *("slope", "slope_lower", "slope_upper"),
    )
    also = f"metric = 'pass_hat_k' and k = {k} and verdict in ('rising', 'falling')"
    found: dict[str, list[Row]] = {}
    for row in chosen.rows("passk_trends", columns, also=also, run="last_run_id"):
        found.setdefault(row["suite"], []).append(row)
    return found
