"""Rules about costs: the most that an attempt or a success may cost, and the most of a rise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from passk_py.metrics.gates.cost_sentences import figure_of, limit_said, rounded
from passk_py.metrics.gates.findings import Finding
from passk_py.metrics.gates.gate_sentences import about

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from passk_py.metrics.gates.evidence import Evidence
    from passk_py.metrics.gates.rules import Rule
    from passk_py.metrics.run_order import Run


def cost(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    """Judge whether a cost is within a threshold."""
    figure = figure_of(rule.metric)
    row = log.costs.of_run(run, figure.measure)
    if row is None:
        yield Finding("inconclusive", "No attempt of the run says it.", "Attempts that say it.")
        return
    estimate, lower, upper = (row[f"{figure.statistic}{end}"] for end in ("", "_lower", "_upper"))
    known: dict[str, Any] = {
        "tasks": row["measured_tasks"], "estimate": estimate,
        "estimate_lower": lower, "estimate_upper": upper,
    }  # fmt: skip
    lacking = row["null_reason"]
    if lacking is None and estimate is None and row["c"]:
        lacking = row["caveat"]
    if lacking is not None:
        reason = f"There is no such figure: {lacking}."
        yield Finding("inconclusive", reason, "Attempts that say it.", **known)
        return
    if estimate is None:
        yield Finding("inconclusive", "No attempt passed.", "A run that passes.", **known)
        return
    result = _result(lower, upper, rule.threshold)
    before, after = figure.words
    why = {
        "pass": f": even the upper limit is within {rule.threshold}.",
        "fail": f": even the lower limit is above {rule.threshold}.",
    }.get(result, f", and {rule.threshold} lies between these limits.")
    if lower is None and upper is None:
        why = f": too little is known to judge by {rule.threshold}."
    yield Finding(
        result,
        f"{before}{rounded(estimate)}{after} ({limit_said(lower)} to {limit_said(upper)}){why}",
        _to_settle(
            result, (estimate, lower, upper), rule.threshold, _units(row, "measured_tasks"),
            is_quantile=figure.statistic == "p95",
        ),
        **known,
    )  # fmt: skip


def cost_increase(rule: Rule, run: Run, log: Evidence, baseline: str) -> Finding:
    """Judge whether an attempt costs hardly more than in the baseline."""
    figure = figure_of(rule.metric)
    row = log.costs.change(run, baseline, figure.measure)
    settle = "Attempts of both runs that say it, over the same tasks."
    if row is None:
        return Finding("inconclusive", "Neither run says it.", settle, baseline)
    change, lower, upper = (row[f"relative_change{end}"] for end in ("", "_lower", "_upper"))
    known: dict[str, Any] = {
        "baseline_run_id": baseline, "tasks": row["common_tasks"], "estimate": change,
        "estimate_lower": lower, "estimate_upper": upper,
    }  # fmt: skip
    if row["null_reason"] is not None:
        reason = f"There is no change: {row['null_reason']}."
        return Finding("inconclusive", reason, settle, **known)
    units = _units(row, "common_tasks")
    if lower is None or upper is None:
        reason = "Too few tasks are in both runs for an interval."
        if change == -1:
            reason = "All are 0 in the run, for which there is no interval."
        return Finding("inconclusive", reason, f"More {units[1]} like these.", **known)
    result = _result(lower, upper, rule.threshold)
    before, after = figure.words
    why = {
        "pass": ": even the upper limit is within the allowed one.",
        "fail": ": even the lower limit is above the allowed one.",
    }.get(result, ", and the allowed one lies between these limits.")
    said, low, high = (rounded(100 * one, 1) for one in (change, lower, upper))
    return Finding(
        result,
        f"{before}{rounded(row['candidate'])}{after}, in the baseline {rounded(row['baseline'])}: "
        f"a change of {said} % ({low} to {high}){why}",
        _to_settle(result, (1 + change, 1 + lower, 1 + upper), 1 + rule.threshold, units),
        **known,
    )


def _result(lower: float | None, upper: float | None, bar: float) -> str:
    if upper is not None and upper <= bar:
        return "pass"
    return "fail" if lower is not None and lower > bar else "inconclusive"


def _units(row: Mapping[str, Any], tasks: str) -> tuple[int, str]:
    """Give the draws that the limits are over: tasks, or families of tasks."""
    families = row["families"]
    return (row[tasks], "tasks") if families is None else (families, "families of tasks")


def _to_settle(
    result: str,
    figures: tuple[float, float | None, float | None],
    bar: float,
    units: tuple[int, str],
    *,
    is_quantile: bool = False,
) -> str | None:
    """Say how many tasks would move the limit to the threshold, were the estimate to stay."""
    if result != "inconclusive":
        return None
    estimate, lower, upper = figures
    limit = lower if estimate > bar else upper
    if is_quantile or upper is None or limit is None or not estimate:
        return f"More {units[1]} like these."
    reach, distance = abs(math.log(limit / estimate)), abs(math.log(estimate / bar))
    if distance * 10 <= reach:
        return "Hardly anything: the estimate is too near the threshold."
    return about(units[0] * (reach / distance) ** 2, units[1], fails=estimate > bar)
