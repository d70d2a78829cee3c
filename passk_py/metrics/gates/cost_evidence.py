"""Costs of attempts, computed once for each measure that a rule asks about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from passk_py.metrics.costs.cost_changes import table_of_changes
from passk_py.metrics.costs.cost_tables import table_of_costs
from passk_py.metrics.costs.spending import MEASURES, measured_log, task_spending
from passk_py.metrics.costs.tails import cost_tails

if TYPE_CHECKING:
    import polars as pl

    from passk_py.metrics.run_order import Run

COST_COLUMNS: Final = tuple(dict.fromkeys(name for names in MEASURES.values() for name in names))
"""The columns of attempts that costs are read from."""


@dataclass
class CostEvidence:
    """A log of attempts, and how its costs are to be read."""

    attempts: pl.DataFrame
    confidence: float
    min_eligible_share: float
    cluster: str | None
    threshold: float
    _read: dict[str, tuple[pl.DataFrame, pl.DataFrame]] = field(default_factory=dict)

    def _measured(self, measure: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        if measure not in self._read:
            log = measured_log(self.attempts, [measure], self.threshold, self.cluster)
            spending = task_spending(log, [measure])
            costs = table_of_costs(
                spending,
                cost_tails(log, spending, [measure], self.confidence),
                min_eligible_share=self.min_eligible_share,
                confidence=self.confidence,
                by_family=self.cluster is not None,
            )
            self._read[measure] = spending, costs
        return self._read[measure]

    def of_run(self, run: Run, measure: str) -> dict[str, Any] | None:
        """Give the row of ``passk_costs`` of a run; None where no attempt says it."""
        costs = self._measured(measure)[1].filter(run_id=run.run_id, suite=run.suite)
        return costs.row(0, named=True) if costs.height else None

    def change(self, run: Run, baseline: str, measure: str) -> dict[str, Any] | None:
        """Give the row of ``passk_cost_comparisons`` of a pair; None where neither run says it."""
        spending, costs = self._measured(measure)
        changes = table_of_changes(
            spending,
            costs,
            [(run.suite, baseline, run.run_id)],
            confidence=self.confidence,
            by_family=self.cluster is not None,
        ).filter(measure=measure)
        return changes.row(0, named=True) if changes.height else None
