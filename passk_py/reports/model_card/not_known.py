"""The section of a card on what the log can't tell, with the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.common.words import as_part
from passk_py.metrics.diagnostic_words import UNKNOWN

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Row

_SHARED: Final = (
    "it looks like another chance of passing, and only attempts spread over sessions or days "
    "reveal it"
)
_DEPLOYED: Final = (
    "the log holds attempts, not what the agent will be asked; limits for tasks like these take "
    "the tasks for a sample of it"
)


def not_known(card: Row) -> list[Row]:
    """List what the log can't tell, with the reason."""
    run, recorded = card["run"], card["recorded"]
    said = [
        (column.replace("_", " "), "the log does not record it")
        for column in ("agent", "agent_version", "model")
        if run[column] is None
    ]
    for column, what in (
        ("temperature", "temperature"),
        ("suite_version", "suite version"),
        ("seed", "seeds"),
    ):
        without = recorded[column]["attempts_without"]
        if without == run["attempts"]:
            said.append((what, "the log does not record it"))
        elif without:
            said.append((what, f"{without} of {run['attempts']} attempts do not record it"))
    if card["missing"]["null_reason"]:
        said.append(("missing attempts", card["missing"]["null_reason"]))
    if not card["contamination"]:
        said.append(
            (
                "whether the suite has leaked into the model",
                "no private suite of the same skill stands beside it: the var passk_private_suites",
            )
        )
    if not card["diagnostics"]:
        said.append(
            (
                "whether the log can be trusted",
                "the tables were built without diagnostics: the var passk_diagnostics",
            )
        )
    said += [
        (row["diagnostic"], _why_no_verdict(row))
        for row in card["diagnostics"]
        if row["verdict"] in UNKNOWN
    ]
    said += [
        ("what all attempts of a task share", _SHARED),
        ("whether the tasks are like those of the deployment", _DEPLOYED),
    ]
    return [{"what": what, "reason": reason} for what, reason in said]


def _why_no_verdict(row: Row) -> str:
    finding = as_part(row["finding"])
    return finding if row["verdict"] == "not_applicable" else f"too few tasks: {finding}"
