"""Verdicts of comparisons and results of gates, as the page and the card write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.metrics.gates.gate_reports import settling

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Row


def verdict_of(row: Row) -> str:
    """Give the verdict of a comparison, and whether pass@1 hides it."""
    return str(row["verdict"]) + (" (hidden by pass@1)" if row["hidden_regression"] else "")


def result_of(gate: Row) -> str:
    """Give the result of a gate, and whether it only advises."""
    return str(gate["result"]) + (" (advisory)" if gate["is_advisory"] else "")


def why_of(gate: Row) -> str:
    """Give the reason of a result, and what would settle it."""
    return " ".join(filter(None, (gate["reason"], settling(gate))))
