"""pass@k and pass^k of repeated agent attempts.

>>> import passk_py as pk
>>> import polars as pl
>>> tasks = pl.DataFrame({"n": [16, 16], "c": [14, 3]})
>>> tasks.select(pk.pass_hat_k("n", "c", 2).round(4)).to_series().to_list()
[0.7583, 0.025]

* **Estimators** are polars expressions: :func:`pass_at_k`, :func:`pass_hat_k`, their plug-in,
  window and first-k forms, :func:`delta_k`, ...
* **Frames** of attempts become frames of metrics: :func:`task_counts`, :func:`task_metrics`,
  :func:`tasks`, :func:`suite_metrics`, and of two runs: :func:`compare`, :func:`compare_tasks`;
  :func:`diagnose` says whether a log can be trusted, :func:`judge_gates` whether rules hold,
  :func:`plan` how much to measure next.
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
    from passk_py.bootstrap import bootstrap_limits
    from passk_py.building import build
    from passk_py.comparisons import compare, compare_tasks
    from passk_py.diagnostics import diagnose
    from passk_py.errors import PasskError
    from passk_py.estimators import (
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
        suite_reading,
        task_class,
    )
    from passk_py.export import export_tables
    from passk_py.extrapolation import extrapolate
    from passk_py.frames import k_sweep, suite_metrics, task_counts, task_metrics, tasks
    from passk_py.gates import judge_gates, least_attempts, least_tasks
    from passk_py.landing import forget, load
    from passk_py.model_card import card
    from passk_py.planning import plan, plan_guess
    from passk_py.private_suites import contamination
    from passk_py.publishing import publish
    from passk_py.reporting import report
    from passk_py.superset import superset_bundle
    from passk_py.tables import read_table
    from passk_py.validate import validate_tables

__all__ = [
    "ArgumentError",
    "PasskError",
    "bootstrap_limits",
    "build",
    "card",
    "compare",
    "compare_tasks",
    "contamination",
    "delta_k",
    "delta_k_max",
    "delta_k_unbiased",
    "diagnose",
    "export_tables",
    "extrapolate",
    "forget",
    "heterogeneity",
    "judge_gates",
    "k_sweep",
    "least_attempts",
    "least_tasks",
    "load",
    "log_choose",
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
    "plan",
    "plan_guess",
    "publish",
    "read_table",
    "report",
    "suite_metrics",
    "suite_reading",
    "superset_bundle",
    "task_class",
    "task_counts",
    "task_metrics",
    "tasks",
    "validate_tables",
]

_ELSEWHERE: Final = {
    "PasskError": "errors",
    "bootstrap_limits": "bootstrap",
    "build": "building",
    "card": "model_card",
    "compare": "comparisons",
    "compare_tasks": "comparisons",
    "contamination": "private_suites",
    "diagnose": "diagnostics",
    "export_tables": "export",
    "extrapolate": "extrapolation",
    "forget": "landing",
    "judge_gates": "gates",
    "k_sweep": "frames",
    "least_attempts": "gates",
    "least_tasks": "gates",
    "load": "landing",
    "plan": "planning",
    "publish": "publishing",
    "report": "reporting",
    "plan_guess": "planning",
    "read_table": "tables",
    "suite_metrics": "frames",
    "superset_bundle": "superset",
    "task_counts": "frames",
    "task_metrics": "frames",
    "tasks": "frames",
    "validate_tables": "validate",
}
"""Where a name lives; all others are estimators."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public object
    if name == "__version__":
        from passk_py.project import version

        return version()
    if name not in __all__:
        raise AttributeError(f"module 'passk_py' has no attribute {name!r}")
    module = importlib.import_module(f"passk_py.{_ELSEWHERE.get(name, 'estimators')}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
