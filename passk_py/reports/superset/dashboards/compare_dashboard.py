"""A pair of runs."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.dashboard_parts import (
    Dashboard,
    Filter,
    filter_of_k,
    filter_of_suite,
)
from passk_py.reports.superset.superset_charts import (
    HAT_COLOR,
    HAT_LIMIT_COLOR,
    condition,
    limits,
    table,
)

__all__ = ["COMPARE"]

_DIFFERENCE: Final = {"difference": HAT_COLOR, "from": HAT_LIMIT_COLOR, "to": HAT_LIMIT_COLOR}
_WITHIN_TASKS: Final = "With the limits for these tasks, in lighter colours. Not filtered by k."

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
                    "verdict": "verdict",
                    "said": "what it means",
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
            limits(
                "Difference of pass@k over k",
                "comparisons",
                _DIFFERENCE,
                known="difference",
                bounds=(None, None),
                where=(condition("metric", "==", "pass_at_k"),),
                text=_WITHIN_TASKS,
            ),
            limits(
                "Difference of pass^k over k",
                "comparisons",
                _DIFFERENCE,
                known="difference",
                bounds=(None, None),
                where=(condition("metric", "==", "pass_hat_k"),),
                text=_WITHIN_TASKS,
            ),
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
    (30, 50, 40),
    (
        filter_of_suite("comparisons", "newest candidate"),
        Filter(
            "Candidate",
            "comparisons",
            "candidate_run_id",
            "newest candidate",
            ascending=False,
            must_choose=True,
            within=("Suite",),
        ),
        Filter(
            "Baseline",
            "comparisons",
            "baseline_run_id",
            "newest baseline",
            ascending=False,
            must_choose=True,
            within=("Suite", "Candidate"),
        ),
        filter_of_k(
            "comparisons", but_not=("Difference of pass@k over k", "Difference of pass^k over k")
        ),
    ),
)
