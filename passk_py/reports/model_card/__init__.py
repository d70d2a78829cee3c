"""Model cards: what was measured of one run, how sure it is, and what is not known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Card", "card"]


@dataclass(frozen=True, slots=True, repr=False)
class Card:
    """The card of one run; a notebook shows it as Markdown.

    Parameters
    ----------
    facts
        Values that JSON can hold. ``docs/model-card.md`` describes the keys; ``passk_card`` is the
        version of that schema.
    """

    facts: dict[str, Any]

    def json(self) -> str:
        """Write the facts as a JSON document."""
        return json.dumps(self.facts, ensure_ascii=False, allow_nan=False, indent=2) + "\n"

    def markdown(self) -> str:
        """Write the card for people."""
        from passk_py.reports.model_card.write_card import as_markdown

        return as_markdown(self.facts)

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        return f"<Card of the run {self.facts['run']['run_id']!r}>"


def card(
    run_id: str,
    *,
    suite: str | None = None,
    database: str | Path = "passk.duckdb",
    k_reason: str | None = None,
) -> Card:
    """Make the model card of a run from the public tables.

    Every pass^k has pass@1 beside it, and every k the reason for it. The card says of facts that
    the log does not record that they are not recorded.

    Parameters
    ----------
    run_id
        The run.
    suite
        Its suite, where it has several.
    database
        Path of the DuckDB file.
    k_reason
        Why the var ``passk_deployment_k`` is what it is: how many times in a row the agent must
        work before someone looks. The tables can't know it.

    Returns
    -------
    Card
        Its facts, and the same as Markdown and as JSON.

    Raises
    ------
    PasskError
        If there is no such database or run, nothing has been built, the run has several suites, or
        the tables have no k = 1.
    """
    from passk_py.reports.model_card.card_facts import gather
    from passk_py.warehouse.tables import open_tables

    with open_tables(database) as tables:
        return Card(gather(tables, run_id, suite, k_reason))
