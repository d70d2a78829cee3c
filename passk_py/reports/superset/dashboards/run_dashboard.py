"""One run."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.dashboard_parts import (
    ESTIMATES,
    Dashboard,
    filter_of_first,
    filter_of_k,
)
from passk_py.reports.superset.superset_charts import (
    HAT_COLOR,
    HAT_LIMIT_COLOR,
    TENS,
    bands,
    bars,
    condition,
    limits,
    table,
)

RUN: Final = Dashboard(
    "run",
    "One run: how far pass@k and pass^k part over k, which tasks and causes cost the most "
    "reliability, and whether its log can be trusted. Limits are those for tasks like these, in "
    "lighter colours.",
    (
        (
            table(
                "At this k",
                "points",
                {"run_id": "run", "k": "k", **ESTIMATES, "judgement": "reading"},
                order=(("k", True),),
                formats={".1%": tuple(ESTIMATES)},
            ),
        ),
        (
            bands(
                "pass@k and pass^k over k",
                text="pass@k with dots, pass^k without; the bands are their limits. "
                "Not filtered by k.",
            ),
        ),
        (
            limits(
                "delta_k over k",
                "points",
                {
                    "delta_k": HAT_COLOR,
                    "delta_k from": HAT_LIMIT_COLOR,
                    "delta_k to": HAT_LIMIT_COLOR,
                },
                known="delta_k",
                bounds=(0, None),
                step=TENS,
                text="How unequal the tasks are; 0 where each is as flaky as the next. "
                "Not filtered by k.",
            ),
        ),
        (
            bars(
                "Tasks by class",
                "tasks",
                "tasks",
                by="task_class",
                text="Consistent, flaky or incapable at the deployment k. Not filtered by k.",
            ),
        ),
        (
            table(
                "How much was counted",
                "points",
                {
                    "total_tasks": "tasks",
                    "eligible_tasks": "tasks with k attempts",
                    "n": "counted attempts",
                    "excluded": "excluded",
                },
                order=(("k", True),),
            ),
        ),
        (
            table(
                "What to mend first",
                "tasks",
                {
                    "task_id": "task",
                    "task_class": "class",
                    "c": "passed",
                    "n": "of",
                    "k": "k",
                    "pass_at_k": "pass@k",
                    "pass_hat_k": "pass^k",
                    "expected_gain": "expected gain",
                },
                order=(("mend_rank", True),),
                where=(condition("pass_rate", "<", 1),),
                formats={".1%": ("pass_at_k", "pass_hat_k", "expected_gain")},
                text="Expected gain: how much pass^k of the suite can be expected to rise if the "
                "task passed always. At the deployment k. Not filtered by k.",
            ),
        ),
        (
            table(
                "Where reliability is lost",
                "lost reliability",
                {
                    "called": "cause",
                    "k": "k",
                    "failed_attempts": "failed attempts",
                    "lost_share": "share",
                    "lost_share_lower": "from",
                    "lost_share_upper": "to",
                    "lost": "pass^k lost",
                    "pass_hat_k_if_passed": "pass^k if these had passed",
                },
                order=(("lost", False), ("part", True)),
                where=(condition("dimension", "==", "cause"), condition("lost_share", ">", 0)),
                formats={
                    ".1%": (
                        "lost_share",
                        "lost_share_lower",
                        "lost_share_upper",
                        "lost",
                        "pass_hat_k_if_passed",
                    )
                },
                text="Causes of failed attempts, and their shares of what pass^k lacks, which add "
                "up to one.",
            ),
        ),
        (
            table(
                "Can the log be trusted?",
                "diagnostics",
                {
                    "diagnostic": "diagnostic",
                    "verdict": "verdict",
                    "finding": "finding",
                    "advice": "what to do",
                },
                # Warnings come last in the alphabet, and first on the page.
                order=(("verdict", False), ("diagnostic", True)),
            ),
        ),
    ),
    (20, 60, 44, 40, 20, 50, 28, 60),
    (
        filter_of_first("Suite", "points", "suite"),
        filter_of_first("Run", "points", "run_id", within=("Suite",)),
        filter_of_k(
            but_not=(
                "pass@k and pass^k over k",
                "delta_k over k",
                "Tasks by class",
                "What to mend first",
            )
        ),
    ),
)
