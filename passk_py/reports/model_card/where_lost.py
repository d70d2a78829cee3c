"""Where reliability is lost, what attempts cost, and what changes with the length of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from passk_py.common.markdown import share, share_interval, table, text
from passk_py.reports.cost_words import MEASURE_NAMES, amounts
from passk_py.reports.length_words import length, length_limits
from passk_py.reports.loss_words import cause_name
from passk_py.reports.queries.cost_queries import costs
from passk_py.reports.queries.length_queries import horizons_at
from passk_py.reports.queries.loss_queries import lost_by_cause

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Chosen

Row = dict[str, Any]


def lost_and_spent(chosen: Chosen, k: int) -> Row:
    """Read the causes of failures, the costs and the horizons of the run of a card."""
    ((run,), (suite,)) = (chosen.runs, chosen.suites)
    lost = lost_by_cause(chosen, k).get((run, suite), [])
    return {
        "losses": [
            {name: value for name, value in row.items() if not name.startswith("pass_hat_k")}
            for row in lost
        ],
        "costs": costs(chosen),
        "horizons": horizons_at(chosen, sorted({1, k})).get((run, suite), []),
    }


def causes_section(card: Row) -> list[str]:
    """Share out what is lost among the causes of failures, where there are several."""
    if len(card["losses"]) < 2:
        return []
    k = card["deployment_k"]["k"]
    rows = [
        (text(cause_name(row["part"])), f"{row['failed_attempts']:,}", _share(row))
        for row in card["losses"]
    ]
    heads = ("cause", "failed attempts", "share of what is lost")
    return [
        "## Where reliability is lost",
        "",
        f"What is missing to success in all of {k} tries, by the causes of the failed attempts.",
        "",
        *table(heads, rows, numbers=(1, 2)),
    ]


def _share(row: Row) -> str:
    if row["lost_share_lower"] is None:
        return share(row["lost_share"])
    return f"{share(row['lost_share'])} ({share_interval(row, 'lost_share')})"


def costs_section(card: Row) -> list[str]:
    """Say what attempts and successes cost, where the log has it."""
    if not card["costs"]:
        return []
    rows = [
        (
            MEASURE_NAMES[row["measure"]],
            amounts(row, "mean"),
            amounts(row, "p95"),
            amounts(row, "per_success"),
            share(row["share_on_failures"]),
            share(row["coverage"]),
        )
        for row in card["costs"]
    ]
    heads = (
        "",
        "an attempt",
        "95 % of attempts",
        "a success",
        "spent on failures",
        "known of attempts",
    )
    return ["## Costs", "", *table(heads, rows, numbers=(1, 2, 3, 4, 5))]


def lengths_section(card: Row) -> list[str]:
    """Say how long tasks may be, where their length is known."""
    if not card["horizons"]:
        return []
    rows = [
        (
            str(row["k"]),
            "not known" if row["horizon"] is None else length(row["horizon"]),
            text(row["null_reason"] or length_limits(row)),
        )
        for row in card["horizons"]
    ]
    measure = text(card["horizons"][0]["difficulty"])
    return [
        "## How long tasks may be",
        "",
        f"The length, by {measure}, at which success in all of k tries is as likely as not.",
        "",
        *table(("k", "length", "limits"), rows, numbers=(0, 1)),
    ]
