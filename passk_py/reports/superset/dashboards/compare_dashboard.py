"""A pair of runs."""

from __future__ import annotations

from typing import Final

from passk_py.common.words import symbol
from passk_py.reports.superset.dashboards.dashboard_parts import (
    Dashboard,
    filter_of_first,
    filter_of_k,
)
from passk_py.reports.superset.superset_charts import (
    HAT_COLOR,
    HAT_LIMIT_COLOR,
    WHOLE,
    condition,
    limits,
    table,
)

_DIFFERENCE: Final = {"difference": HAT_COLOR, "from": HAT_LIMIT_COLOR, "to": HAT_LIMIT_COLOR}

COMPARE: Final = Dashboard(
    "compare",
    "A pair of runs. The limits for these tasks exclude 0 exactly where the test finds a change; "
    "those for tasks like these are wider.",
    (
        (
            table(
                "Differences",
                "comparisons",
                {
                    "called": "metric",
                    "k": "k",
                    "baseline": "baseline",
                    "candidate": "candidate",
                    "difference": "difference",
                    "difference_suite_lower": "from, these tasks",
                    "difference_suite_upper": "to, these tasks",
                    "difference_lower": "from, tasks like these",
                    "difference_upper": "to, tasks like these",
                },
                order=(("k", True), ("metric", True)),
                formats={
                    ".1%": ("baseline", "candidate"),
                    "+.1%": (
                        "difference",
                        "difference_suite_lower",
                        "difference_suite_upper",
                        "difference_lower",
                        "difference_upper",
                    ),
                },
            ),
        ),
        (
            table(
                "What they mean",
                "comparisons",
                {
                    "called": "metric",
                    "candidate_run_id": "candidate",
                    "baseline_run_id": "baseline",
                    "verdict": "verdict",
                    "said": "what it means",
                },
                order=(("k", True), ("metric", True)),
            ),
        ),
        *(
            (
                limits(
                    f"Difference of {symbol(metric)} over k",
                    "comparisons",
                    _DIFFERENCE,
                    known="difference",
                    bounds=(None, None),
                    step=WHOLE,
                    number_format="+.0%",
                    where=(condition("metric", "==", metric),),
                    text="With the limits for these tasks, in lighter colours. Not filtered by k.",
                ),
            )
            for metric in ("pass_at_k", "pass_hat_k")
        ),
        (
            table(
                "Tasks that moved by more than chance does",
                "task comparisons",
                {
                    "task_id": "task",
                    "baseline_c": "baseline passed",
                    "baseline_n": "baseline of",
                    "candidate_c": "candidate passed",
                    "candidate_n": "candidate of",
                    "direction": "direction",
                    "p_adjusted": "p, adjusted",
                },
                order=(("p_adjusted", True), ("task_id", True)),
                formats={".3~g": ("p_adjusted",)},
                where=(condition("moved", "IS TRUE"),),
            ),
        ),
    ),
    (28, 32, 44, 44, 40),
    (
        filter_of_first("Suite", "pairs", "suite"),
        filter_of_first("Candidate", "pairs", "candidate_run_id", within=("Suite",)),
        filter_of_first(
            "Baseline",
            "pairs",
            "baseline_run_id",
            within=("Suite", "Candidate"),
        ),
        filter_of_k(but_not=("Difference of pass@k over k", "Difference of pass^k over k")),
    ),
)
