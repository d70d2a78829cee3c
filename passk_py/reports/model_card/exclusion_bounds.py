"""The most that the excluded attempts of a run could change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.reports.queries.comparison_queries import headline_metrics
from passk_py.reports.queries.task_queries import counts_with_excluded

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Chosen, Row
    from passk_py.warehouse.settings import Settings


def exclusion_bounds(chosen: Chosen, curve: dict[int, Row], settings: Settings) -> list[Row]:
    """Give the metrics had every excluded attempt failed, and had every one passed.

    The same estimates over counts of which n has the excluded attempts too, and c none or all of
    them. A metric rises with c and a share of passes lies between the two, so they are bounds.
    """
    import polars as pl

    from passk_py.metrics.states import short_reason
    from passk_py.stats import estimators as est

    tasks = counts_with_excluded(chosen)
    total = int(tasks["tasks"].sum())
    estimators = {"pass_at_k": est.pass_at_k, "pass_hat_k": est.pass_hat_k}
    bounds = []
    for metric, k in headline_metrics(settings.deployment_k):
        whole = tasks.filter(pl.col("n") >= k)
        eligible = int(whole["tasks"].sum())
        reason = short_reason(k, eligible, total, min_eligible_share=settings.min_eligible_share)
        weight = pl.col("tasks") / pl.col("tasks").sum()
        estimate = estimators[metric]
        failed, passed = (
            (None, None)
            if reason
            else whole.select(
                failed=(weight * estimate("n", "c", k)).sum() * eligible / total,
                # A task that is short even so may have any value.
                passed=((weight * estimate("n", "c_most", k)).sum() * eligible + total - eligible)
                / total,
            ).row(0)
        )
        bounds.append(
            {
                "metric": metric,
                "k": k,
                "estimate": curve[k][metric],
                "if_all_failed": failed,
                "if_all_passed": passed,
                "eligible_tasks": eligible,
                "null_reason": reason,
            }
        )
    return bounds
