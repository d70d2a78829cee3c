"""pass@k and pass^k of repeated agent attempts.

>>> import passk_py as pk
>>> import polars as pl
>>> tasks = pl.DataFrame({"n": [16, 16], "c": [14, 3]})
>>> tasks.select(pk.pass_hat_k("n", "c", 2).round(4)).to_series().to_list()
[0.7583, 0.025]

* **Estimators** are polars expressions: :func:`pass_at_k`, :func:`pass_hat_k`, their plug-in,
  window and first-k forms, :func:`delta_k`, ...
* **Frames** of attempts become frames of metrics: :func:`task_counts`, :func:`task_metrics`,
  :func:`tasks`, :func:`suite_metrics`, :func:`m_of_k_metrics`, :func:`threshold_metrics`, of two
  runs :func:`compare` and :func:`compare_tasks`, of many :func:`rank_runs` and :func:`trends`;
  :func:`run_costs`, :func:`cost_curves` and :func:`compare_costs` say what attempts cost;
  :func:`diagnose` says whether a log can be trusted, :func:`judge_gates` whether rules hold,
  :func:`plan` how much to measure next. :func:`view` shows them as sentences in a notebook.
* **Databases** are filled by :func:`load` and :func:`build`, and read by :func:`read_table`,
  :func:`export_tables` and :func:`validate_tables`; :func:`publish` makes a copy for dashboards,
  :func:`superset_bundle` dashboards for Superset, :func:`report` a page with pictures, and
  :func:`card` the model card of a run.

Nothing is imported before it is used, so that the command line starts at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from passk_py.common.errors import PasskError
    from passk_py.ingest.landing import forget, load, load_labels, load_verdicts
    from passk_py.metrics.averaged_m_of_k import m_of_k_metrics
    from passk_py.metrics.bootstrap import bootstrap_limits
    from passk_py.metrics.causes.lost_shares import lost_reliability
    from passk_py.metrics.comparisons import compare, compare_tasks
    from passk_py.metrics.contamination import contamination
    from passk_py.metrics.costs.cost_changes import compare_costs
    from passk_py.metrics.costs.frontier import cost_frontier
    from passk_py.metrics.costs.run_costs import cost_curves, run_costs, task_costs
    from passk_py.metrics.diagnostics import diagnose
    from passk_py.metrics.difficulty.horizons import difficulty_curve, horizons
    from passk_py.metrics.extrapolation import extrapolate
    from passk_py.metrics.frames import k_sweep, suite_metrics, task_counts, task_metrics, tasks
    from passk_py.metrics.gates import judge_gates, least_attempts, least_tasks
    from passk_py.metrics.graders.corrected_metrics import corrected_metrics, grader_rates
    from passk_py.metrics.graders.judges import judge_agreement
    from passk_py.metrics.graders.sampling import attempts_to_label
    from passk_py.metrics.planning import plan, plan_guess
    from passk_py.metrics.rankings import rank_runs
    from passk_py.metrics.score_thresholds import threshold_metrics
    from passk_py.metrics.trends import trends
    from passk_py.reports.model_card import card
    from passk_py.reports.report import report
    from passk_py.reports.report.views import view
    from passk_py.reports.superset import superset_bundle
    from passk_py.stats.estimators import (
        ArgumentError,
        delta_k,
        delta_k_max,
        delta_k_unbiased,
        heterogeneity,
        log_choose,
        mean_lower,
        mean_upper,
        pass_at_k,
        pass_at_k_first_k,
        pass_at_k_from_rank,
        pass_at_k_from_windows,
        pass_at_k_lower,
        pass_at_k_plugin,
        pass_at_k_pooled,
        pass_at_k_upper,
        pass_at_k_window,
        pass_hat_k,
        pass_hat_k_first_k,
        pass_hat_k_from_rank,
        pass_hat_k_from_windows,
        pass_hat_k_lower,
        pass_hat_k_plugin,
        pass_hat_k_pooled,
        pass_hat_k_upper,
        pass_hat_k_window,
        pass_m_of_k,
        suite_reading,
        task_class,
    )
    from passk_py.validation.check_all import validate_tables
    from passk_py.warehouse.building import build
    from passk_py.warehouse.exporting import export_tables
    from passk_py.warehouse.publishing import publish
    from passk_py.warehouse.tables import read_table

__all__ = [
    "ArgumentError",
    "PasskError",
    "attempts_to_label",
    "bootstrap_limits",
    "build",
    "card",
    "compare",
    "compare_costs",
    "compare_tasks",
    "contamination",
    "corrected_metrics",
    "cost_curves",
    "cost_frontier",
    "delta_k",
    "delta_k_max",
    "delta_k_unbiased",
    "diagnose",
    "difficulty_curve",
    "export_tables",
    "extrapolate",
    "forget",
    "grader_rates",
    "heterogeneity",
    "horizons",
    "judge_agreement",
    "judge_gates",
    "k_sweep",
    "least_attempts",
    "least_tasks",
    "load",
    "load_labels",
    "load_verdicts",
    "log_choose",
    "lost_reliability",
    "m_of_k_metrics",
    "mean_lower",
    "mean_upper",
    "pass_at_k",
    "pass_at_k_first_k",
    "pass_at_k_from_rank",
    "pass_at_k_from_windows",
    "pass_at_k_lower",
    "pass_at_k_plugin",
    "pass_at_k_pooled",
    "pass_at_k_upper",
    "pass_at_k_window",
    "pass_hat_k",
    "pass_hat_k_first_k",
    "pass_hat_k_from_rank",
    "pass_hat_k_from_windows",
    "pass_hat_k_lower",
    "pass_hat_k_plugin",
    "pass_hat_k_pooled",
    "pass_hat_k_upper",
    "pass_hat_k_window",
    "pass_m_of_k",
    "plan",
    "plan_guess",
    "publish",
    "rank_runs",
    "read_table",
    "report",
    "run_costs",
    "suite_metrics",
    "suite_reading",
    "superset_bundle",
    "task_class",
    "task_costs",
    "task_counts",
    "task_metrics",
    "tasks",
    "threshold_metrics",
    "trends",
    "validate_tables",
    "view",
]

_ELSEWHERE: Final = {
    "PasskError": "common.errors",
    "attempts_to_label": "metrics.graders.sampling",
    "bootstrap_limits": "metrics.bootstrap",
    "build": "warehouse.building",
    "card": "reports.model_card",
    "compare": "metrics.comparisons",
    "compare_tasks": "metrics.comparisons",
    "compare_costs": "metrics.costs.cost_changes",
    "contamination": "metrics.contamination",
    "corrected_metrics": "metrics.graders.corrected_metrics",
    "cost_curves": "metrics.costs.run_costs",
    "cost_frontier": "metrics.costs.frontier",
    "diagnose": "metrics.diagnostics",
    "difficulty_curve": "metrics.difficulty.horizons",
    "horizons": "metrics.difficulty.horizons",
    "export_tables": "warehouse.exporting",
    "extrapolate": "metrics.extrapolation",
    "forget": "ingest.landing",
    "grader_rates": "metrics.graders.corrected_metrics",
    "judge_agreement": "metrics.graders.judges",
    "judge_gates": "metrics.gates",
    "k_sweep": "metrics.frames",
    "least_attempts": "metrics.gates",
    "least_tasks": "metrics.gates",
    "load": "ingest.landing",
    "lost_reliability": "metrics.causes.lost_shares",
    "m_of_k_metrics": "metrics.averaged_m_of_k",
    "load_labels": "ingest.landing",
    "load_verdicts": "ingest.landing",
    "plan": "metrics.planning",
    "publish": "warehouse.publishing",
    "report": "reports.report",
    "plan_guess": "metrics.planning",
    "rank_runs": "metrics.rankings",
    "read_table": "warehouse.tables",
    "run_costs": "metrics.costs.run_costs",
    "suite_metrics": "metrics.frames",
    "superset_bundle": "reports.superset",
    "task_counts": "metrics.frames",
    "task_costs": "metrics.costs.run_costs",
    "task_metrics": "metrics.frames",
    "tasks": "metrics.frames",
    "threshold_metrics": "metrics.score_thresholds",
    "trends": "metrics.trends",
    "validate_tables": "validation.check_all",
    "view": "reports.report.views",
}
"""Where a name lives; all others are estimators."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public object
    if name == "__version__":
        from passk_py.warehouse.project import version

        return version()
    if name not in __all__:
        raise AttributeError(f"module 'passk_py' has no attribute {name!r}")
    module = importlib.import_module(f"passk_py.{_ELSEWHERE.get(name, 'stats.estimators')}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
