"""One run, as far as the build was asked for more than pass@k and pass^k."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.dashboard_parts import (
    Dashboard,
    filter_of_first,
    filter_of_k,
)
from passk_py.reports.superset.datasets import LENGTH
from passk_py.reports.superset.superset_charts import condition, table

_FROM_TO: Final = ("pass_hat_k", "pass_hat_k_lower", "pass_hat_k_upper")

DETAILS: Final = Dashboard(
    "details",
    "One run, if the build was asked for more: at least m of k (var `passk_m_of_k`), thresholds of "
    "the score (var `passk_score_thresholds`), the length of tasks (var `passk_difficulty`), the "
    "errors of the grader (labels), the agreement of judges (verdicts). Without them, a table has "
    "no results.",
    (
        (
            table(
                "At least m of k",
                "at least m of k",
                {
                    "run_id": "run",
                    "called": "metric",
                    "m": "m",
                    "k": "k",
                    "estimate": "chance",
                    "lower": "from",
                    "upper": "to",
                    "null_reason": "why not known",
                },
                order=(("k", True), ("called", True), ("m", True)),
                where=(condition("slice_name", "==", "all"),),
                formats={".1%": ("estimate", "lower", "upper")},
                text="How likely it is that at least m of k tries succeed. Not filtered by k.",
            ),
        ),
        (
            table(
                "If a score passes from a threshold on",
                "score thresholds",
                {
                    "run_id": "run",
                    "called": "metric",
                    "k": "k",
                    "threshold": "score from",
                    "estimate": "chance",
                    "lower": "from",
                    "upper": "to",
                    "null_reason": "why not known",
                    "caveat": "caveat",
                },
                order=(("metric", True), ("threshold", True)),
                where=(condition("slice_name", "==", "all"),),
                formats={".1%": ("estimate", "lower", "upper"), ".3~g": ("threshold",)},
            ),
        ),
        (
            table(
                "How long tasks may be",
                "horizons",
                {
                    "run_id": "run",
                    "k": "k",
                    "difficulty": "length in",
                    "horizon": "length at pass^k of one half",
                    "horizon_lower": "from",
                    "horizon_upper": "to",
                    "null_reason": "why not known",
                    "caveat": "caveat",
                },
                order=(("k", True),),
                formats={LENGTH: ("horizon", "horizon_lower", "horizon_upper")},
                text="The length at which the fitted pass^k is one half. Not filtered by k.",
            ),
        ),
        (
            table(
                "Short and long tasks",
                "lengths of tasks",
                {
                    "k": "k",
                    "shortest": "shortest",
                    "longest": "longest",
                    "tasks": "tasks",
                    "pass_hat_k": "pass^k",
                    "pass_hat_k_lower": "from",
                    "pass_hat_k_upper": "to",
                },
                order=(("bin", True),),
                formats={LENGTH: ("shortest", "longest"), ".1%": _FROM_TO},
            ),
        ),
        (
            table(
                "Without the errors of the grader",
                "corrected metrics",
                {
                    "run_id": "run",
                    "called": "metric",
                    "k": "k",
                    "raw": "as graded",
                    "corrected": "corrected",
                    "corrected_lower": "from",
                    "corrected_upper": "to",
                    "share_lost_to_grader": "lost to the grader",
                    "null_reason": "why not known",
                },
                order=(("metric", True),),
                formats={
                    ".1%": (
                        "raw",
                        "corrected",
                        "corrected_lower",
                        "corrected_upper",
                        "share_lost_to_grader",
                    )
                },
                text="Lost to the grader: its part of what is missing to 100%; below 0 where it "
                "flatters.",
            ),
        ),
        (
            table(
                "How often the grader errs",
                "graders",
                {
                    "labels": "labels",
                    "sensitivity": "true passes that it passes",
                    "sensitivity_lower": "from",
                    "sensitivity_upper": "to",
                    "false_pass_rate": "true failures that it passes",
                    "false_pass_rate_lower": "from",
                    "false_pass_rate_upper": "to",
                    "null_reason": "why not known",
                },
                order=(("suite", True),),
                formats={
                    ".1%": (
                        "sensitivity",
                        "sensitivity_lower",
                        "sensitivity_upper",
                        "false_pass_rate",
                        "false_pass_rate_lower",
                        "false_pass_rate_upper",
                    )
                },
                text="The grader of the whole suite, by the labels of people.",
            ),
        ),
        (
            table(
                "Do judges agree?",
                "judges",
                {
                    "judge": "judge",
                    "other_judge": "other judge",
                    "attempts": "attempts",
                    "agreement": "agreement",
                    "agreement_lower": "from",
                    "agreement_upper": "to",
                    "judges_share": "share of the judges",
                    "judges_share_lower": "from",
                    "judges_share_upper": "to",
                    "null_reason": "why not known",
                },
                order=(("judge", True), ("other_judge", True)),
                formats={
                    ".1%": (
                        "agreement",
                        "agreement_lower",
                        "agreement_upper",
                        "judges_share",
                        "judges_share_lower",
                        "judges_share_upper",
                    )
                },
                text="Share of the judges: how much of the disagreement between tries of a task is "
                "theirs, and not the agent's.",
            ),
        ),
    ),
    (32, 34, 40, 34, 22, 20, 24),
    (
        filter_of_first("Suite", "points", "suite"),
        filter_of_first("Run", "points", "run_id", within=("Suite",)),
        filter_of_k(but_not=("At least m of k", "How long tasks may be")),
    ),
)
