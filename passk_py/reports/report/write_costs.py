"""Costs of runs, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from passk_py.common.markdown import name, share, table, text
from passk_py.reports.cost_words import MEASURE_NAMES, amounts

if TYPE_CHECKING:
    from collections.abc import Mapping

Row = dict[str, Any]


def costs_section(suite: Row, facts: Row) -> list[str]:
    """Write the sentences on costs, and a row for each run and measure."""
    costs, k = suite["costs"], facts["deployment_k"]
    at_k = {(row["run_id"], row["measure"]): row for row in costs["at_k"]}
    best = {(row["run_id"], row["measure"]): row for row in costs["frontier"]}
    rows = [
        (
            name(row["run_id"]),
            MEASURE_NAMES[row["measure"]],
            *(amounts(row, figure) for figure in ("mean", "p95", "per_success")),
            share(row["share_on_failures"]),
            *_at_k(at_k.get((row["run_id"], row["measure"]))),
            _place(best.get((row["run_id"], row["measure"]))),
            f"{row['measured']:,} of {row['n']:,}",
        )
        for row in costs["runs"]
    ]
    heads = (
        "run", "measure", "an attempt", "95 % of attempts within", "a success", "spent on failures",
        f"retried up to {k} times", "per task solved", f"per task that passes {k} in a row",
        "beaten on both by", "known of",
    )  # fmt: skip
    said = [f"- {text(sentence)}" for sentence in costs["said"]]
    return ["### Cost", "", *said, "", *table(heads, rows, numbers=range(2, 9))]


def _at_k(row: Mapping[str, Any] | None) -> tuple[str, ...]:
    names = ("retry_cost", "cost_per_solved", "cost_per_reliable")
    return tuple("" if row is None else amounts(dict(row), figure) for figure in names)


def _place(row: Mapping[str, Any] | None) -> str:
    """Name the runs that beat one; those that none beats are on the frontier."""
    if row is None:
        return ""
    return "none" if row["is_on_frontier"] else name(row["beaten_by"])
