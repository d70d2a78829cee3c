"""Queries about pass^k over the length of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.reports.queries.chosen import Chosen, Row


def horizons_at(chosen: Chosen, ks: Sequence[int]) -> dict[tuple[str, str], list[Row]]:
    """Read the lengths at which pass^k is one half, by run and suite, where any task has one."""
    return _by_run(chosen, "passk_horizons", ks, "fitted_tasks > 0")


def length_bins(chosen: Chosen, ks: Sequence[int]) -> dict[tuple[str, str], list[Row]]:
    """Read pass^k of short and long tasks, by run and suite."""
    return _by_run(chosen, "passk_difficulty_curve", ks, "true")


def _by_run(
    chosen: Chosen, table: str, ks: Sequence[int], also: str
) -> dict[tuple[str, str], list[Row]]:
    # A project may leave the table out, and an older one lacks it.
    if chosen.tables.find(table) is None:
        return {}
    found: dict[tuple[str, str], list[Row]] = {}
    for row in chosen.rows(table, also=f"k in ({', '.join(map(str, ks))}) and {also}"):
        found.setdefault((row["run_id"], row["suite"]), []).append(row)
    return found
