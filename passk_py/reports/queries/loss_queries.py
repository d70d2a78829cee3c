"""Queries about where reliability is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Chosen, Row


def lost_by_cause(chosen: Chosen, k: int) -> dict[tuple[str, str], list[Row]]:
    """Read the shares of the lost pass^k by run and suite, the largest first; none is left out."""
    # A project may leave the table out, and an older one lacks it.
    if chosen.tables.find("passk_lost_reliability") is None:
        return {}
    columns = (
        "run_id", "suite", "part", "k", "failed_attempts", "lost", "lost_share",
        "lost_share_lower", "lost_share_upper", "pass_hat_k", "pass_hat_k_if_passed",
    )  # fmt: skip
    found: dict[tuple[str, str], list[Row]] = {}
    also = f"dimension = 'cause' and k = {k} and lost_share > 0"
    for row in chosen.rows("passk_lost_reliability", columns, also=also):
        found.setdefault((row["run_id"], row["suite"]), []).append(row)
    return {run: sorted(rows, key=lambda row: -row["lost_share"]) for run, rows in found.items()}
