"""Rules about an estimate with limits: a threshold to reach, and a drop to stay within."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import decimals, symbol
from passk_py.metrics.gates import gate_sentences as say
from passk_py.metrics.gates.findings import UNKNOWN, Finding
from passk_py.metrics.gates.least import least_tasks, least_tasks_of_drop, least_tasks_of_floor
from passk_py.metrics.nearly_all import NEARLY_ALL_PERCENT, are_nearly_all
from passk_py.metrics.uncertainty import (
    FLOOR_OF_DIFFERENCE,
    FLOOR_OF_SUITE,
    floor_of_difference,
    floor_of_suite,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.metrics.gates.evidence import Evidence
    from passk_py.metrics.gates.rules import Rule
    from passk_py.metrics.run_order import Run

_LACKS: Final = "the suite has no attempt of the baseline"


@dataclass(frozen=True, slots=True)
class Measured:
    """An estimate with its limits, what a rule asks of it, and how far they could move.

    If the excluded attempts were counted, the limits would move about as the mean over all tasks
    does, whose sum changes by so much. Excluded attempts may raise a limit that they are to lower;
    then the limit without them counts.
    """

    estimate: float
    lower: float
    upper: float
    bar: float
    against: float
    """How far the excluded attempts could lower the sum over tasks."""
    in_favour: float
    """How far they could lift it."""
    units: say.Units
    tasks: int
    all_tasks: int
    worst: float
    """The least that a task with n < k may have; the most is 1."""

    def _result(self, lower: float, upper: float) -> str:
        if lower >= self.bar:
            return "pass"
        return "fail" if upper < self.bar else "inconclusive"

    @property
    def result(self) -> str:
        """The result, whatever the excluded attempts would have done."""
        loss = max(-self.against, 0.0) / self.all_tasks
        gain = max(self.in_favour, 0.0) / self.all_tasks
        return self._result(self.lower - loss, self.upper + gain)

    @property
    def counted(self) -> str:
        """The result of the counted attempts alone."""
        return self._result(self.lower, self.upper)

    @property
    def _is_settled_without_short_tasks(self) -> bool:
        """Whether the limits over the eligible tasks alone would settle the rule."""
        short = self.all_tasks - self.tasks
        lower = (self.lower * self.all_tasks - self.worst * short) / self.tasks
        upper = (self.upper * self.all_tasks - short) / self.tasks
        return short > 0 and self._result(lower, upper) != "inconclusive"

    @property
    def said(self) -> str:
        """The estimate in words, with its limits."""
        interval = f"({decimals(self.lower)} to {decimals(self.upper)})"
        return f"{decimals(self.estimate)} {interval}{say.over_tasks(self.tasks, self.all_tasks)}"

    def to_settle(
        self, least: int | None, z: float, floor: float | None, more_attempts: str
    ) -> str | None:
        """Say how an inconclusive result could be settled; None where it is none."""
        if self.result != "inconclusive":
            return None
        if self.counted != "inconclusive":
            return say.EXCLUDED_AGAIN
        if self._is_settled_without_short_tasks:
            return more_attempts
        if least is not None and self.units.number < least and self.estimate >= self.bar:
            return self.units.at_least(least)
        limit = self.upper if self.estimate < self.bar else self.lower
        reach, distance = limit - self.estimate, self.bar - self.estimate
        return say.more_to_measure(self.units, reach, distance, z, floor)


def thresholds(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    """Judge whether a metric reaches a threshold, of the suite or of the values of a slice."""
    rows = log.chances(run, rule) if rule.m else log.metrics(run, rule.k, rule.slice_name)
    wanted = list(rows) if rule.slice_value is None else [rule.slice_value]
    if not set(wanted) & set(rows):
        where = " ".join([rule.slice_name, *([rule.slice_value] if rule.slice_value else [])])
        yield Finding(
            "inconclusive",
            f"The run has no task in {where}.",
            "A run that has such tasks, or another slice in the gate.",
            slice_name=rule.slice_name,
            slice_value=rule.slice_value or UNKNOWN,
        )
        return
    for value in wanted:
        yield _threshold(rule, run, log, rows[value], value)


def _threshold(rule: Rule, run: Run, log: Evidence, row: dict[str, Any], value: str) -> Finding:
    k, suite = rule.k, rule.scope == "suite"
    infix = "_suite" if suite else ""
    lower, upper = (row[f"{rule.metric}{infix}_{end}"] for end in ("lower", "upper"))
    tasks, estimate = int(row["eligible_tasks"]), row[rule.metric]
    units = say.units_of(row, suite=suite)
    known: dict[str, Any] = {
        "slice_name": rule.slice_name, "slice_value": value, "tasks": tasks,
        "estimate": estimate, "estimate_lower": lower, "estimate_upper": upper,
    }  # fmt: skip
    name, more_attempts = symbol(rule.metric, k), say.at_least_attempts(k)
    if estimate is None:
        reason = f"There is no {name}: {row['null_reason']}."
        return Finding("inconclusive", reason, more_attempts, **known)
    if suite:
        floor = floor_of_suite(k, row["least_n"], log.confidence)
        least = least_tasks_of_floor(1 - rule.threshold, floor, log.confidence)
    else:
        least = least_tasks(rule.threshold, confidence=log.confidence)
    if lower is None or upper is None:
        why, settle = "of too few tasks for an interval", units.at_least(least)
        if suite:
            # Twice as many attempts see the variance within a task.
            why = f"but an interval for these tasks takes {2 * k} attempts of each"
            settle = say.at_least_attempts(2 * k)
        return Finding("inconclusive", f"{name} is {decimals(estimate)}, {why}.", settle, **known)
    moves = log.moves(run.run_id, run.suite, rule.metric, k, rule.slice_name, value)
    seen = Measured(
        estimate,
        lower,
        upper,
        rule.threshold,
        moves.if_failed,
        moves.if_passed,
        units,
        tasks,
        row["total_tasks"],
        worst=0.0,
    )
    why = say.OF_A_THRESHOLD.why(
        seen.result, seen.counted, str(rule.threshold), moves.excluded, units, least
    )
    to_settle = seen.to_settle(least, log.z, FLOOR_OF_SUITE if suite else None, more_attempts)
    return Finding(seen.result, f"{name} is {seen.said}{why}", to_settle, **known)


def drop(rule: Rule, run: Run, log: Evidence, baseline: str) -> Finding:
    """Judge whether a metric is not too far below that of the baseline."""
    k, threshold = rule.k, rule.threshold
    row = log.comparison(run, baseline, rule.metric, k)
    suite = rule.scope == "suite"
    infix = "_suite" if suite else ""
    estimate, common = row.get("difference"), row["common_tasks"]
    lower, upper = (row.get(f"difference{infix}_{end}") for end in ("lower", "upper"))
    tasks = int(row.get("eligible_tasks") or 0)
    units = say.units_of(row, suite=suite)
    of_baseline = int(common) + int(row.get("baseline_only_tasks") or 0)
    known: dict[str, Any] = {
        "baseline_run_id": baseline, "tasks": tasks, "estimate": estimate,
        "estimate_lower": lower, "estimate_upper": upper,
    }  # fmt: skip
    name, more_attempts = symbol(rule.metric, k), say.at_least_attempts(k, " in both runs")
    if estimate is None:
        lacking = row["null_reason"]
        settle = say.ANOTHER_BASELINE if lacking == _LACKS else more_attempts
        reason = f"There is no difference of {name}: {lacking}."
        return Finding("inconclusive", reason, settle, **known)
    if not are_nearly_all(common, of_baseline):
        reason = f"Only {common} of {of_baseline} tasks of the baseline are in both runs,"
        reason += f" fewer than {NEARLY_ALL_PERCENT} %."
        return Finding("inconclusive", reason, say.OVER_BASELINE_TASKS, **known)
    least = None
    if threshold > 0 and suite:
        floor = floor_of_difference(k, row["least_n"], log.confidence)
        least = least_tasks_of_floor(threshold, floor, log.confidence)
    elif threshold > 0:
        least = least_tasks_of_drop(threshold, log.confidence)
    if lower is None or upper is None:
        settle = "A run over more tasks." if least is None else units.at_least(least)
        reason = "Too few tasks are in both runs for an interval."
        return Finding("inconclusive", reason, settle, **known)
    own, other = (
        log.moves(of, run.suite, rule.metric, k, "all", "all", other=than)
        for of, than in ((run.run_id, baseline), (baseline, run.run_id))
    )
    seen = Measured(
        estimate,
        lower,
        upper,
        -threshold,
        own.if_failed - other.if_passed,
        own.if_passed - other.if_failed,
        units,
        tasks,
        common,
        worst=-1.0,
    )
    bar = "0" if threshold == 0 else f"-{threshold}"
    excluded = own.excluded + other.excluded
    why = say.OF_A_DROP.why(seen.result, seen.counted, bar, excluded, units, least)
    floor_there = FLOOR_OF_DIFFERENCE if suite else None
    return Finding(
        seen.result,
        f"{name} is {decimals(row['candidate'])}, in the baseline {decimals(row['baseline'])}: "
        f"a difference of {seen.said}{why}",
        seen.to_settle(least, log.z, floor_there, more_attempts),
        **known,
    )
