"""``passk_horizons`` and ``passk_difficulty_curve``, computed from attempts in polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.difficulty.horizons import (
    CURVE_TYPES,
    HORIZON_TYPES,
    curve_rows,
    horizon_rows,
    task_lengths,
)
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.approximations import STUDENT
from passk_py.validation.recompute.metrics import QUANTILE
from passk_py.validation.recompute.runs import RUN

if TYPE_CHECKING:
    from passk_py.warehouse.settings import Settings

_COUNTED: Final = {
    **dict.fromkeys((*RUN, "family"), pl.String),
    "length": pl.Float64,
    **dict.fromkeys(("n", "c", "tasks"), pl.Int64),
}
_SCORING: Final = pl.lit(100.0)
"""The error of a curve after many steps of scoring."""


def lengths(log: pl.LazyFrame, settings: Settings) -> pl.DataFrame:
    """Count the tasks of each length: all that both tables are made from."""
    if settings.difficulty is None:
        return pl.DataFrame(schema=_COUNTED)
    return task_lengths(log, settings.difficulty, settings.cluster)


def tables(tasks: pl.DataFrame, settings: Settings) -> dict[str, Recomputed]:
    """Compute both tables from the counts of some runs; none where no length is declared."""
    options: dict[str, Any] = {
        "ks": settings.ks,
        "min_eligible_share": settings.min_eligible_share,
        "confidence": settings.confidence,
    }
    place = dict.fromkeys(RUN, pl.String)
    name = pl.lit(settings.difficulty_name, pl.String)
    horizons = pl.DataFrame(
        list(horizon_rows(tasks, **options)), schema={**place, **HORIZON_TYPES}, orient="row"
    )
    curve = pl.DataFrame(
        list(curve_rows(tasks, **options)), schema={**place, **CURVE_TYPES}, orient="row"
    )
    ends = ("shortest", "longest")
    return {
        "passk_horizons": Recomputed(
            horizons.with_columns(difficulty=name),
            (*RUN, "k"),
            ("difficulty", "fitted_tasks", "total_tasks", "null_reason", "caveat"),
            {
                **dict.fromkeys((*ends, "curve_power", "effective_draws")),
                **dict.fromkeys(("horizon", "curve_level", "curve_slope"), _SCORING),
                **{
                    name: 10 * STUDENT * pl.col(name) for name in ("horizon_lower", "horizon_upper")
                },
            },
        ),
        "passk_difficulty_curve": Recomputed(
            curve.with_columns(difficulty=name),
            (*RUN, "k", "bin"),
            ("difficulty", "tasks"),
            {
                **dict.fromkeys((*ends, "typical_length", "effective_draws", "pass_hat_k")),
                **dict.fromkeys(("pass_hat_k_lower", "pass_hat_k_upper"), QUANTILE),
            },
        ),
    }
