"""The public tables that every build makes, written down here so that one that is lost is missed."""

from __future__ import annotations

from typing import Final

PUBLIC_TABLES: Final = (
    "passk_attempts",
    "passk_comparisons",
    "passk_contamination",
    "passk_corrected_metrics",
    "passk_cost_comparisons",
    "passk_cost_curves",
    "passk_costs",
    "passk_diagnostics",
    "passk_difficulty_curve",
    "passk_extrapolations",
    "passk_frontier",
    "passk_gates",
    "passk_graders",
    "passk_horizons",
    "passk_judges",
    "passk_lost_reliability",
    "passk_m_of_k",
    "passk_missing_attempts",
    "passk_plans",
    "passk_rankings",
    "passk_rejected_attempts",
    "passk_rejected_labels",
    "passk_runs",
    "passk_suite_metrics",
    "passk_task_comparisons",
    "passk_task_costs",
    "passk_task_metrics",
    "passk_tasks",
    "passk_threshold_metrics",
    "passk_trends",
)
