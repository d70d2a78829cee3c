"""A model card as Markdown, which reads as plain text too."""

from __future__ import annotations

from typing import Any

from passk_py.common.markdown import name
from passk_py.reports.model_card.card_decisions import comparisons_section, gates_section
from passk_py.reports.model_card.measured import left_out_section, measured_section
from passk_py.reports.model_card.reliability import (
    curve_section,
    headline_section,
    slices_section,
    tasks_section,
)
from passk_py.reports.model_card.trust import (
    contamination_section,
    diagnostics_section,
    grader_section,
    not_known_section,
    provenance_section,
)
from passk_py.reports.model_card.where_lost import (
    causes_section,
    costs_section,
    lengths_section,
)

Row = dict[str, Any]


def as_markdown(card: Row) -> str:
    """Write a card for people: pass@1 is in the table or line of every pass^k."""
    run = card["run"]
    lines = [f"# Model card: {name(run['run_id'])} on {name(run['suite'])}", ""]
    parts = (
        headline_section,
        measured_section,
        left_out_section,
        curve_section,
        slices_section,
        tasks_section,
        causes_section,
        lengths_section,
        costs_section,
        comparisons_section,
        gates_section,
        diagnostics_section,
        grader_section,
        contamination_section,
        not_known_section,
        provenance_section,
    )
    for part in parts:
        written = part(card)
        if written:
            lines += [*written, ""]
    return "\n".join(lines).rstrip("\n") + "\n"
