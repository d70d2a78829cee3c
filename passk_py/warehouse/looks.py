"""How often gates have looked at a run while it grew, which only the builds of a database know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.warehouse.tables import Tables

_KEY = ("gate", "rule", "run_id", "suite")


def with_looks(tables: Tables, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to rows of ``passk_gates`` how many looks there were, and say so after the first.

    ``looks`` is None where nothing is known: for rules that may be looked at often or are not about
    chance, rules that no build has judged, and copies, which have no memory of builds.
    """
    place = tables.find("int_passk__looks")
    counted = {}
    if place is not None:
        found = tables.records(
            f"select {', '.join(_KEY)}, count(*) as looks, "
            "max_by(attempts, attempts, 2)[2] as attempts_before "
            f"from {place} group by all"
        )
        counted = {tuple(row[name] for name in _KEY): row for row in found}
    said = []
    for row in rows:
        known = counted.get(tuple(row[name] for name in _KEY))
        looks = known["looks"] if known else None
        reason = row["reason"]
        if known and known["looks"] > 1:
            reason += (
                f" This is look {looks} at the run, which had {known['attempts_before']} attempts "
                "at the last one. Each look is a further chance to be wrong; only a threshold with "
                "sequential: true holds at every look."
            )
        said.append({**row, "reason": reason, "looks": looks})
    return said
