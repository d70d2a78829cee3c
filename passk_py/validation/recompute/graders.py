"""The tables of graders and judges, computed in polars from counts, labels and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.metrics.graders.corrected_metrics import corrected_runs, graders_of
from passk_py.metrics.graders.corrected_scores import Wish
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.approximations import SIZE, STUDENT
from passk_py.validation.recompute.runs import RUN, described

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.metrics.states import Families, States
    from passk_py.warehouse.settings import Settings

_RATES: Final = (
    "false_share_of_passes",
    "false_share_of_failures",
    "sensitivity",
    "false_pass_rate",
)
_LEVERAGES: Final = pl.lit(100.0)
"""The error of sums of scores that may be 30 times as large as their mean."""


def graders(
    matched: pl.DataFrame,
    runs: dict[tuple[str, str], tuple[States, Families | None]],
    who: pl.DataFrame,
    settings: Settings,
) -> tuple[Recomputed, Recomputed]:
    """Compute both tables, from labels beside their grades and the counts of their suites."""
    found, rates = graders_of(matched, runs, settings.confidence)
    wish = Wish(settings.confidence, settings.min_eligible_share, settings.plan_width)
    corrected = corrected_runs(runs, found, settings.ks, wish)
    return (
        Recomputed(
            rates,
            ("suite",),
            (
                *("labels", "rejected_labels", "runs", "labelled_passes", "labelled_failures"),
                *("attempts", "false_passes", "false_failures", "null_reason"),
            ),
            {
                **dict.fromkeys(("effective_passes", "effective_failures", "graded_pass_rate")),
                **_sized(f"{name}{end}" for name in _RATES for end in ("", "_lower", "_upper")),
            },
        ),
        described(
            Recomputed(
                corrected,
                (*RUN, "metric", "k"),
                (
                    *("eligible_tasks", "total_tasks", "families", "null_reason"),
                    *("passes_to_label", "failures_to_label"),
                ),
                {
                    "raw": SIZE,
                    "corrected": _LEVERAGES,
                    "standard_error": _LEVERAGES,
                    **dict.fromkeys(("corrected_lower", "corrected_upper"), STUDENT),
                    **dict.fromkeys(
                        (f"share_lost_to_grader{end}" for end in ("", "_lower", "_upper")),
                        100 / (1 - pl.col("raw")),
                    ),
                },
            ),
            who,
        ),
    )


def judges(expected: pl.DataFrame) -> Recomputed:
    """Say how close ``passk_judges`` must be."""
    limits = (
        f"{name}_{side}" for name in ("agreement", "judges_share") for side in ("lower", "upper")
    )
    return Recomputed(
        expected,
        ("suite", "judge", "other_judge"),
        ("attempts", "tasks", "retried_tasks", "families", "null_reason"),
        {
            **dict.fromkeys(("pass_rate", "other_pass_rate", "agreement_by_chance")),
            **_sized(("agreement", "disagreement_same_try", "disagreement_other_try")),
            # The agreement by chance may be nearly all of it.
            "kappa": 1 / (1 - pl.col("agreement_by_chance")),
            "judges_share": 1 / pl.col("disagreement_other_try"),
            **dict.fromkeys(limits, STUDENT),
        },
    )


def _sized(names: Iterable[str]) -> dict[str, pl.Expr]:
    return dict.fromkeys(names, SIZE)
