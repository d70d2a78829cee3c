"""The answer: what the runs of each suite say about which agent to use, and how.

>>> from passk_py.reports.answer import find_answer
>>> callable(find_answer)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.reports.answer.answer_facts import Change, Run, Suite, read_suites
from passk_py.reports.answer.rivals import Rivals
from passk_py.reports.answer.verdicts import Pick, Regression, Verdict, judge

if TYPE_CHECKING:
    from passk_py.warehouse.catalog import Filters
    from passk_py.warehouse.tables import Tables

__all__ = ["Answer", "Change", "Pick", "Regression", "Run", "Suite", "Verdict", "find_answer"]


class Answer:
    """What the public tables say, suite by suite.

    Parameters
    ----------
    suites
        Each suite with its runs.
    deployment_k
        How many times in a row the agent must succeed once deployed.
    capable_threshold, consistent_threshold
        From which pass@k and pass^k on a suite is capable, and consistent.
    confidence
        Level of the intervals.
    rejected
        Rows that are in no run's numbers, because they break the contract.
    is_chosen
        Whether some runs were asked for, so that others may have tried the same tasks.
    rivals
        Finds the runs that can't be told from the best, while the database is open.
    """

    def __init__(
        self,
        suites: tuple[Suite, ...],
        *,
        deployment_k: int,
        capable_threshold: float,
        consistent_threshold: float,
        confidence: float,
        rejected: int,
        is_chosen: bool = False,
        rivals: Rivals | None = None,
    ) -> None:
        self.suites = suites
        self.deployment_k = deployment_k
        self.capable_threshold = capable_threshold
        self.consistent_threshold = consistent_threshold
        self.confidence = confidence
        self.rejected = rejected
        self.is_chosen = is_chosen
        self.verdicts = {
            suite.name: judge(
                suite,
                deployment_k,
                capable_threshold,
                consistent_threshold,
                confidence=confidence,
                rivals=rivals,
            )
            for suite in suites
        }


def find_answer(tables: Tables, filters: Filters | None = None) -> Answer:
    """Read the public tables and judge them.

    Parameters
    ----------
    tables
        The open database.
    filters
        Which runs and suites; by default all.

    Returns
    -------
    Answer
        The runs and what follows from them.

    Raises
    ------
    PasskError
        If nothing has been built.
    """
    from passk_py.warehouse.settings import read_settings

    tables.require("passk_suite_metrics")
    settings = read_settings(tables)
    rejected = tables.rows(f"select count(*) from {tables.require('passk_rejected_attempts')}")
    return Answer(
        read_suites(tables, filters, settings.deployment_k),
        deployment_k=settings.deployment_k,
        capable_threshold=settings.capable_threshold,
        consistent_threshold=settings.consistent_threshold,
        confidence=settings.confidence,
        rejected=int(rejected[0][0]),
        is_chosen=bool(filters and filters.runs),
        rivals=Rivals(tables, settings.confidence, settings.min_eligible_share),
    )
