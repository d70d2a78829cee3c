"""Costs of runs: summed up batch by batch, compared with the tables, then beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.metrics.costs.cost_tables import COST_TYPES
from passk_py.metrics.costs.spending import measured_log, task_spending
from passk_py.metrics.costs.tails import cost_tails
from passk_py.validation.recompute import costs as recompute
from passk_py.validation.recompute.pairs import expected_pairs
from passk_py.validation.recompute.runs import IDENTITY, RUN, described

if TYPE_CHECKING:
    from pathlib import Path

    from passk_py.validation.check_tables import Compared

COSTS_OF_RUNS: Final = ("passk_costs", "passk_cost_curves", "passk_task_costs")
COSTS: Final = ("passk_cost_comparisons", "passk_frontier")


class Costs:
    """Spending on the tasks of each run, in files, because memory would not hold all."""

    def __init__(self, compared: Compared, folder: Path) -> None:
        self._compared = compared
        self._folder = folder
        self._pending: list[tuple[pl.DataFrame, pl.DataFrame]] = []
        self._places: list[Path] = []
        self._costs = [pl.DataFrame(schema=COST_TYPES)]

    def keep(self, log: pl.LazyFrame) -> None:
        """Sum up what was spent on the tasks of some runs."""
        settings = self._compared.settings
        measured = measured_log(log, settings.costs, 1.0, settings.cluster)
        spending = task_spending(measured, settings.costs)
        tails = cost_tails(measured, spending, settings.costs, settings.confidence)
        self._pending.append((spending, tails))
        place = self._folder / f"spending-{len(self._places)}.parquet"
        spending.drop("draw").write_parquet(place)
        self._places.append(place)

    def compare_runs(self, who: pl.DataFrame, where: str) -> None:
        """Compare the tables of the runs that are summed up and not compared yet."""
        spending, tails = (pl.concat(parts) for parts in zip(*self._pending, strict=True))
        self._pending = []
        tables = recompute.of_runs(spending, tails, self._compared.settings)
        self._costs.append(tables[0].frame)
        for name, table in zip(COSTS_OF_RUNS, tables, strict=True):
            self._compared.compare(name, described(table, who), where)

    def compare_whole(self, runs: pl.DataFrame, ranks: pl.DataFrame | None) -> None:
        """Compare what is about two runs or more; without ranks no frontier."""
        settings = self._compared.settings
        costs = pl.concat(self._costs)
        spending = pl.scan_parquet(self._places)
        pairs = expected_pairs(runs, settings)
        changes = recompute.changes(spending, costs, pairs, settings)
        self._compared.compare("passk_cost_comparisons", changes)
        if ranks is not None:
            table = recompute.frontier(ranks, costs)
            who = runs.select(*RUN, *IDENTITY)
            self._compared.compare("passk_frontier", described(table, who))
