"""``passk_rankings``, computed in polars from the values of runs and the counts of their tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.metrics.rankings import RANKING_COLUMNS, ranking
from passk_py.metrics.run_order import latest_first
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.metrics import QUANTILE

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from passk_py.metrics.rankings import Shared
    from passk_py.warehouse.settings import Settings

VALUES: Final = (
    "null_reason",
    *(
        f"{metric}{end}"
        for metric in ("pass_at_k", "pass_hat_k")
        for end in ("", "_lower", "_upper")
    ),
)
"""The columns of suites that ranks are made of, beside run, suite and k."""

_KEY: Final = ("suite", "run_id", "metric", "k")
_NUMBERS: Final = ("estimate", "lower", "upper", "estimate_of_top")


def ranked_runs(runs: pl.DataFrame, settings: Settings) -> dict[str, list[str]]:
    """Name the runs that there must be ranks of, by suite, the newest first."""
    return latest_first(runs.to_dicts(), settings.ranked_runs)


def rankings(
    values: pl.DataFrame,
    ranked: Mapping[str, list[str]],
    shared: Mapping[tuple[str, str, str], Shared],
    settings: Settings,
) -> Recomputed:
    """Compute the ranks from the values of the runs."""
    frame = ranking(
        values,
        ranked,
        shared,
        confidence=settings.confidence,
        min_eligible_share=settings.min_eligible_share,
    )
    others = [name for name in RANKING_COLUMNS if name not in (*_KEY, *_NUMBERS)]
    limits = dict.fromkeys(("lower", "upper"), QUANTILE)
    return Recomputed(
        frame, _KEY, tuple(others), {"estimate": None, "estimate_of_top": None, **limits}
    )
