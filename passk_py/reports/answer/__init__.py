"""The answer: what the runs of each suite say about which agent to use, and how."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING

from passk_py.reports.answer.answer_facts import Change, Run, Suite, read_suites
from passk_py.reports.answer.ranks import Ranks
from passk_py.reports.answer.verdicts import Pick, Regression, Verdict, judge
from passk_py.reports.queries.attempt_queries import count_rejected
from passk_py.reports.queries.run_queries import ranked_runs

if TYPE_CHECKING:
    from passk_py.warehouse.catalog import Filters
    from passk_py.warehouse.tables import Tables

__all__ = ["Answer", "Change", "Pick", "Regression", "Run", "Suite", "Verdict", "find_answer"]


@dataclass(slots=True)
class Answer:
    """The answer that the public tables give, suite by suite."""

    suites: tuple[Suite, ...]
    deployment_k: int
    capable_threshold: float
    consistent_threshold: float
    confidence: float
    rejected: int
    """How many rows are in no run's numbers."""
    consistent_rate: float = 1.0
    """The least share of passes of a consistent task."""
    incapable_rate: float = 0.0
    """The largest share of passes of an incapable task."""
    is_chosen: bool = False
    """Whether some runs were asked for, so that others may have tried the same tasks."""
    ranks: InitVar[Ranks | None] = None
    verdicts: dict[str, tuple[Verdict, ...]] = field(init=False)

    def __post_init__(self, ranks: Ranks | None) -> None:
        self.verdicts = {
            suite.name: judge(
                suite,
                self.deployment_k,
                self.capable_threshold,
                self.consistent_threshold,
                confidence=self.confidence,
                ranks=ranks,
            )
            for suite in self.suites
        }


def find_answer(tables: Tables, filters: Filters | None = None) -> Answer:
    """Read the public tables and judge them."""
    from passk_py.warehouse.settings import read_settings

    tables.require("passk_suite_metrics")
    settings = read_settings(tables)
    # A project may leave the table out, and an older one lacks it.
    rows = ranked_runs(tables, settings.deployment_k) if tables.find("passk_rankings") else []
    return Answer(
        read_suites(tables, filters, settings.deployment_k),
        deployment_k=settings.deployment_k,
        capable_threshold=settings.capable_threshold,
        consistent_threshold=settings.consistent_threshold,
        confidence=settings.confidence,
        rejected=count_rejected(tables),
        consistent_rate=settings.consistent_rate,
        incapable_rate=settings.incapable_rate,
        is_chosen=bool(filters and filters.runs),
        ranks=Ranks(rows),
    )
