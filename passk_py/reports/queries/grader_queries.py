"""Queries about graders that err, metrics without their errors, and judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.reports.queries.chosen import Chosen

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Row


def graders(chosen: Chosen) -> dict[str, Row]:
    """Read how often the graders of suites err, by suite; none where nobody made labels."""
    # A project may leave the table out, and an older one lacks it.
    if chosen.tables.find("passk_graders") is None:
        return {}
    of_suites = Chosen(chosen.tables, (), chosen.suites)
    return {row["suite"]: row for row in of_suites.rows("passk_graders")}


def corrected_at(chosen: Chosen, k: int) -> dict[str, list[Row]]:
    """Read pass^k at one k with and without the errors of the graders, by suite."""
    if chosen.tables.find("passk_corrected_metrics") is None:
        return {}
    columns = (
        "suite", "run_id", "metric", "k", "raw", "corrected", "corrected_lower", "corrected_upper",
        "share_lost_to_grader", "null_reason",
    )  # fmt: skip
    found: dict[str, list[Row]] = {}
    also = f"metric = 'pass_hat_k' and k = {k}"
    for row in chosen.rows("passk_corrected_metrics", columns, also=also):
        found.setdefault(row["suite"], []).append(row)
    return found


def judges(chosen: Chosen) -> dict[str, list[Row]]:
    """Read how far judges agree, by suite; none where no verdicts of judges landed."""
    if chosen.tables.find("passk_judges") is None:
        return {}
    found: dict[str, list[Row]] = {}
    for row in Chosen(chosen.tables, (), chosen.suites).rows("passk_judges"):
        found.setdefault(row["suite"], []).append(row)
    return found
