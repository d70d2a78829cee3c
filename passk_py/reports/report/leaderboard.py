"""The runs of a suite side by side, the highest pass^k first, and what was measured of them."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any

from passk_py.common.words import in_families, money, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = dict[str, Any]


def leaderboard(runs: Iterable[Row], k: int) -> list[Row]:
    """Give each run with its values at k = 1 and at k, the highest pass^k first."""
    rows = []
    for run in runs:
        curve = {row["k"]: row for row in run["curve"]}
        at_k = curve.get(k)
        reading = None if at_k is None else at_k["reading"]
        rows.append({"run": run, "first": curve.get(1), "at_k": at_k, "reading": reading})

    def rank(row: Row) -> tuple[bool, float]:
        value = value_to_sort_by(row["at_k"], "pass_hat_k")
        return math.isinf(value), -value

    return sorted(rows, key=rank)


def value_to_sort_by(row: Row | None, metric: str) -> float:
    """Give the value by which a column is sorted; infinite if it is not known, to come last."""
    return math.inf if row is None or row[metric] is None else float(row[metric])


def any_cost(runs: Iterable[Row]) -> bool:
    """Tell whether an attempt says what it cost."""
    return any(run["cost_usd"] is not None for run in runs)


def measured(suite: Row) -> str:
    """Say how much was measured, when, and what it cost."""
    runs: Sequence[Row] = suite["runs"]
    agents = {run["agent"] for run in runs if run["agent"] is not None}
    by = f" of {plural(len(agents), 'agent')}" if agents else ""
    attempts = sum(run["attempts"] for run in runs)
    parts = [
        plural(len(runs), "run") + by,
        plural(suite["total_tasks"], "task") + in_families(suite["families"]),
        plural(attempts, "attempt"),
    ]
    said = f"{', '.join(parts)}{_when(runs)}."
    if not any_cost(runs):
        return f"{said} The log does not say what they cost."
    cost = sum(run["cost_usd"] for run in runs if run["cost_usd"] is not None)
    known = sum(run["attempts_with_cost"] for run in runs)
    share = "" if known == attempts else f" for the {known:,} attempts that say so"
    return f"{said} They cost ${money(cost)}{share}."


def _when(runs: Iterable[Row]) -> str:
    """Say on which days attempts started."""
    days = sorted(
        date.fromisoformat(run[column][:10])
        for run in runs
        for column in ("started_at", "last_started_at")
        if run[column] is not None
    )
    if not days:
        return ""
    first, last = (f"{day.day} {day:%B %Y}" for day in (days[0], days[-1]))
    return f", made on {first}" if first == last else f", made from {first} to {last}"
