"""The answer for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from passk_py.reports.answer import Answer
    from passk_py.reports.answer.answer_facts import Run
    from passk_py.reports.answer.verdicts import Pick, Verdict


def answer_as_dict(answer: Answer) -> dict[str, Any]:
    """Turn the answer into what JSON can hold."""
    return {
        "deployment_k": answer.deployment_k,
        "capable_threshold": answer.capable_threshold,
        "consistent_threshold": answer.consistent_threshold,
        "confidence": answer.confidence,
        "rejected_rows": answer.rejected,
        "suites": [
            {
                "suite": suite.name,
                "grader": list(suite.grader),
                "trends": list(suite.trends),
                "costs": list(suite.costs),
                "losses": list(suite.losses),
                "horizons": list(suite.horizons),
                "thresholds": list(suite.thresholds),
                "runs": [_run(run) for run in suite.runs],
                "verdicts": [_verdict(verdict) for verdict in answer.verdicts[suite.name]],
            }
            for suite in answer.suites
        ],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "agent": run.agent,
        "agent_version": run.agent_version,
        "model": run.model,
        "tasks": run.tasks,
        "families": run.families,
        "is_related": run.is_related,
        "attempts": run.attempts,
        "excluded": run.excluded,
        "rejected": run.rejected,
        "classes": run.classes,
        "reading": run.reading,
        "warnings": run.warnings,
        "metrics": [
            {
                "k": k,
                "pass_at_k": run.pass_at_k[k],
                "pass_at_k_interval": run.pass_at_k_limits.get(k),
                "pass_hat_k": run.pass_hat_k[k],
                "pass_hat_k_interval": run.pass_hat_k_limits.get(k),
                "null_reason": run.null_reasons.get(k),
            }
            for k in sorted(run.pass_at_k)
        ],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "runs": [run.run_id for run in verdict.runs],
        "tasks": verdict.tasks,
        "reviewed": _pick(verdict.reviewed),
        "unattended": _pick(verdict.unattended),
        "regressions": [
            {
                "before": one.change.baseline,
                "after": one.after.run_id,
                "k": one.change.k,
                "is_hidden": one.change.is_hidden,
                "pass_at_1": one.change.at_1,
                "pass_hat_k": one.change.hat_k,
                "difference_interval": one.change.limits,
            }
            for one in verdict.regressions
        ],
    }


def _pick(pick: Pick) -> dict[str, Any]:
    return {
        "metric": pick.metric,
        "k": pick.k,
        "runs": [run.run_id for run in pick.runs],
        "not_told_apart": [run.run_id for run in pick.rivals],
        "value_without_luck": pick.without_luck,
        "value": pick.value,
        "runner_up": pick.runner_up.run_id if pick.runner_up else None,
        "gap": pick.gap,
        "reaches_threshold": pick.reaches,
        "is_sure": pick.is_sure,
        "sure": [run.run_id for run in pick.sure],
        "looked_at": pick.looked_at,
        "unknown": [run.run_id for run in pick.unknown],
    }
