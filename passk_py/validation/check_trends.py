"""Trends of agents, from the counts of their latest runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.metrics.trends import TREND_COLUMNS, lines_of_runs
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.approximations import SIZE, STUDENT

if TYPE_CHECKING:
    import polars as pl

    from passk_py.validation.check_tables import Compared
    from passk_py.validation.set_aside import Counts

_KEY: Final = ("suite", "last_run_id", "metric", "k")
_NUMBERS: Final = ("mean_value", "slope", "slope_lower", "slope_upper")


def compare_trends(compared: Compared, counts: Counts, runs: pl.DataFrame) -> None:
    """Compare the lines through the latest runs of each agent."""
    settings = compared.settings
    frame = lines_of_runs(
        runs.to_dicts(),
        counts.of_run,
        settings.ks,
        most_runs=settings.trend_runs,
        confidence=settings.confidence,
        min_eligible_share=settings.min_eligible_share,
    )
    exact = tuple(name for name in TREND_COLUMNS if name not in (*_KEY, *_NUMBERS))
    limits = dict.fromkeys(("slope_lower", "slope_upper"), STUDENT)
    expected = Recomputed(frame, _KEY, exact, {"mean_value": None, "slope": SIZE, **limits})
    compared.compare("passk_trends", expected)
