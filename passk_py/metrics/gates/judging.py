"""From a rule and a run to a result, in numbers and words, as in the table ``passk_gates``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import decimals, symbol
from passk_py.metrics.gates.least import (
    least_attempts,
    least_tasks,
    least_tasks_of_drop,
    least_tasks_of_floor,
)
from passk_py.metrics.gates.rules import SHARES
from passk_py.metrics.uncertainty import (
    FLOOR_OF_DIFFERENCE,
    FLOOR_OF_SUITE,
    floor_of_difference,
    floor_of_suite,
)
from passk_py.stats.permutations import PairCounts, variance_of_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from passk_py.metrics.gates.evidence import Evidence
    from passk_py.metrics.gates.rules import Rule
    from passk_py.metrics.run_order import Run

    Row: TypeAlias = dict[str, Any]

__all__ = ["Finding", "judge"]

_UNKNOWN: Final = "(unknown)"
_NO_BASELINE: Final = (
    "There is no baseline: no earlier run of the agent on this suite, and no declared pair."
)
_NAME_ONE: Final = "Another run of the agent, or a baseline that the gate names."
_ANOTHER: Final = "A run of it on this suite, or another baseline."
_OVER_ITS_TASKS: Final = "A run over the tasks of the baseline."
_LACKS: Final = "the suite has no attempt of the baseline"
_MEND: Final = "The reasons in passk_rejected_attempts, mended."
_AGAIN: Final = "The excluded attempts, made again."


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found in one run, slice or pair."""

    result: str
    reason: str
    to_settle: str | None = None
    baseline: str | None = None
    slice_name: str = "all"
    slice_value: str = "all"
    tasks: int | None = None
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None


def _at_least(tasks: int) -> str:
    return f"At least {tasks} tasks."


def _too_few(tasks: int, least: int | None) -> str:
    if least is None or tasks >= least:
        return ""
    there = "is 1" if tasks == 1 else f"are {tasks}"
    return f" It cannot pass with fewer than {least} tasks, and there {there}."


def _more(tasks: int, reach: float, distance: float, z: float, floor: float | None) -> str:
    """Say how much more must be measured, were the estimate to stay.

    Tasks take away all of the reach, with their root. Attempts take away what varies within tasks,
    but not the floor that stands for what no variance shows: z sqrt(variance + floor) / tasks.
    """
    if abs(distance) * 10 <= abs(reach):
        return "Hardly anything: the estimate is too near the threshold."
    if floor is not None:
        variance, allowed = ((one * tasks / z) ** 2 - floor for one in (reach, distance))
        if allowed > 0:
            times = round(variance / allowed, 1)
            return f"About {times} times as many attempts of each task, if the estimate stays."
    needed = tasks * reach * reach / (distance * distance)
    rounded = 10 * math.ceil(needed / 10) if needed > 100 else math.ceil(needed)
    return f"About {rounded} tasks like these, if the estimate stays."


@dataclass(frozen=True, slots=True)
class _Measured:
    """An estimate with its limits, what a rule asks of it, and how far they could move."""

    estimate: float
    lower: float
    upper: float
    bar: float
    loss: float
    gain: float
    tasks: int
    all_tasks: int
    worst: float
    """The least that a task with n < k may have; the most is 1."""

    @property
    def _is_settled_without_short_tasks(self) -> bool:
        """Whether the limits over the eligible tasks alone would settle the rule."""
        short = self.all_tasks - self.tasks
        lower = (self.lower * self.all_tasks - self.worst * short) / self.tasks
        upper = (self.upper * self.all_tasks - short) / self.tasks
        return short > 0 and (lower >= self.bar or upper < self.bar)

    @property
    def result(self) -> str:
        if self.lower - self.loss >= self.bar:
            return "pass"
        return "fail" if self.upper + self.gain < self.bar else "inconclusive"

    @property
    def interval(self) -> str:
        return f"({decimals(self.lower)} to {decimals(self.upper)})"

    def to_settle(
        self, least: int | None, z: float, floor: float | None, more_attempts: str
    ) -> str | None:
        tasks = self.tasks
        if self.result != "inconclusive":
            return None
        if self.lower >= self.bar or self.upper < self.bar:
            return _AGAIN
        if self._is_settled_without_short_tasks:
            return more_attempts
        if least is not None and tasks < least and self.estimate >= self.bar:
            return _at_least(least)
        limit = self.upper if self.estimate < self.bar else self.lower
        return _more(tasks, limit - self.estimate, self.bar - self.estimate, z, floor)


def _moves_of_limits(all_tasks: int, against: float, in_favour: float) -> tuple[float, float]:
    """Say how far the excluded attempts could lower and lift the limits.

    Were they counted, the limits would move about as the mean over all tasks does, whose sum
    changes by so much. Those may lift what they are to lower: no limit says more for them.
    """
    return max(-against, 0.0) / all_tasks, max(in_favour, 0.0) / all_tasks


def _thresholds(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    rows = log.metrics(run, rule.k, rule.slice_name)
    wanted = list(rows) if rule.slice_value is None else [rule.slice_value]
    if not set(wanted) & set(rows):
        where = " ".join([rule.slice_name, *([rule.slice_value] if rule.slice_value else [])])
        yield Finding(
            "inconclusive",
            f"The run has no task in {where}.",
            "A run that has such tasks, or another slice in the gate.",
            slice_name=rule.slice_name,
            slice_value=rule.slice_value or _UNKNOWN,
        )
        return
    for value in wanted:
        yield _threshold(rule, run, log, rows[value], value)


def _threshold(rule: Rule, run: Run, log: Evidence, row: dict[str, Any], value: str) -> Finding:
    suite = rule.scope == "suite"
    infix = "_suite" if suite else ""
    lower, upper = (row[f"{rule.metric}{infix}_{end}"] for end in ("lower", "upper"))
    tasks, estimate = int(row["eligible_tasks"]), row[rule.metric]
    known: dict[str, Any] = {
        "slice_name": rule.slice_name, "slice_value": value, "tasks": tasks,
        "estimate": estimate, "lower": lower, "upper": upper,
    }  # fmt: skip
    name = symbol(rule.metric, rule.k)
    if estimate is None:
        return Finding(
            "inconclusive",
            f"There is no {name}: {row['null_reason']}.",
            f"At least {rule.k} counted attempts of every task.",
            **known,
        )
    if suite:
        floor = floor_of_suite(rule.k, row["least_n"], log.confidence)
        least = least_tasks_of_floor(1 - rule.threshold, floor, log.confidence)
    else:
        least = least_tasks(rule.threshold, confidence=log.confidence)
    if lower is None or upper is None:
        why, settle = "of too few tasks for an interval", _at_least(least)
        if suite:
            # What varies within a task is seen by twice as many attempts.
            why = f"but an interval for these tasks takes {2 * rule.k} attempts of each"
            settle = f"At least {2 * rule.k} counted attempts of every task."
        return Finding("inconclusive", f"{name} is {decimals(estimate)}, {why}.", settle, **known)
    moves = log.moves(run.run_id, run.suite, rule.metric, rule.k, rule.slice_name, value)
    seen = _Measured(
        estimate,
        lower,
        upper,
        rule.threshold,
        *_moves_of_limits(row["total_tasks"], moves.if_failed, moves.if_passed),
        tasks,
        row["total_tasks"],
        0.0,
    )
    over = f" over {tasks} of {row['total_tasks']} tasks" if tasks < row["total_tasks"] else ""
    return Finding(
        seen.result,
        f"{name} is {decimals(estimate)} {seen.interval}{over}"
        + _why_threshold(seen, rule.threshold, moves.excluded, tasks, least),
        seen.to_settle(
            least,
            log.z,
            FLOOR_OF_SUITE if suite else None,
            f"At least {rule.k} counted attempts of every task.",
        ),
        **known,
    )


def _why_threshold(seen: _Measured, threshold: float, excluded: int, tasks: int, least: int) -> str:
    if seen.result == "pass":
        return f": even the lower limit reaches {threshold}."
    if seen.result == "fail":
        return f": even the upper limit is below {threshold}."
    if seen.lower >= seen.bar:
        return f", which would pass, but not if the {excluded} excluded attempts had failed."
    if seen.upper < seen.bar:
        return f", which would fail, but not if the {excluded} excluded attempts had passed."
    few = _too_few(tasks, least)
    return f", and {threshold} lies between these limits.{few}"


def _with_baselines(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    baselines = log.baselines(run, rule.baseline)
    if not baselines:
        own = rule.baseline == run.run_id
        yield Finding(
            "inconclusive",
            "The run is the baseline." if own else _NO_BASELINE,
            _NAME_ONE,
            rule.baseline,
        )
    for baseline in baselines:
        yield (_drop if rule.kind == "drop" else _regressed)(rule, run, log, baseline)


def _drop(rule: Rule, run: Run, log: Evidence, baseline: str) -> Finding:
    k, threshold = rule.k, rule.threshold
    row = log.comparison(run, baseline, rule.metric, k)
    suite = rule.scope == "suite"
    infix = "_suite" if suite else ""
    estimate = row.get("difference")
    ends = [row.get(f"difference{infix}_{end}") for end in ("lower", "upper")]
    tasks = int(row.get("eligible_tasks") or 0)
    of_baseline = int(row["common_tasks"]) + int(row.get("baseline_only_tasks") or 0)
    known: dict[str, Any] = {
        "baseline": baseline, "tasks": tasks, "estimate": estimate,
        "lower": ends[0], "upper": ends[1],
    }  # fmt: skip
    name = symbol(rule.metric, k)
    if estimate is None:
        return Finding(
            "inconclusive",
            f"There is no difference of {name}: {row['null_reason']}.",
            _ANOTHER
            if row["null_reason"] == _LACKS
            else f"At least {k} counted attempts of every task in both runs.",
            **known,
        )
    if row["common_tasks"] * 10 < of_baseline * 9:
        return Finding(
            "inconclusive",
            f"Only {row['common_tasks']} of {of_baseline} tasks of the baseline are in both runs,"
            " fewer than 90 %.",
            _OVER_ITS_TASKS,
            **known,
        )
    least = None
    if threshold > 0 and suite:
        floor = floor_of_difference(k, row["least_n"], log.confidence)
        least = least_tasks_of_floor(threshold, floor, log.confidence)
    elif threshold > 0:
        least = least_tasks_of_drop(threshold, log.confidence)
    lower, upper = ends
    if lower is None or upper is None:
        return Finding(
            "inconclusive",
            "Too few tasks are in both runs for an interval.",
            "A run over more tasks." if least is None
            else _at_least(least),
            **known,
        )  # fmt: skip
    own, other = (
        log.moves(of, run.suite, rule.metric, k, "all", "all", other=than)
        for of, than in ((run.run_id, baseline), (baseline, run.run_id))
    )
    bar = "0" if threshold == 0 else f"-{threshold}"
    against, in_favour = own.if_failed - other.if_passed, own.if_passed - other.if_failed
    seen = _Measured(
        estimate,
        lower,
        upper,
        -threshold,
        *_moves_of_limits(row["common_tasks"], against, in_favour),
        tasks,
        row["common_tasks"],
        -1.0,
    )
    common = row["common_tasks"]
    over = f" over {tasks} of {common} tasks" if tasks < common else ""
    excluded = own.excluded + other.excluded
    if seen.result == "pass":
        why = f", at worst not below {bar}."
    elif seen.result == "fail":
        why = f", at best below {bar}."
    elif lower >= -threshold:
        why = (
            f", which would pass, but not if the {excluded} excluded attempts of both runs had "
            "counted against it."
        )
    elif upper < -threshold:
        why = (
            f", which would fail, but not if the {excluded} excluded attempts of both runs had "
            "counted for it."
        )
    else:
        few = _too_few(tasks, least)
        why = f", and {bar} lies between these limits.{few}"
    return Finding(
        seen.result,
        f"{name} is {decimals(row['candidate'])}, in the baseline {decimals(row['baseline'])}: "
        f"a difference of {decimals(estimate)} {seen.interval}{over}{why}",
        seen.to_settle(
            least,
            log.z,
            FLOOR_OF_DIFFERENCE if suite else None,
            f"At least {k} counted attempts of every task in both runs.",
        ),
        **known,
    )


def _each_task(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    if rule.metric == "pass_hat_k":
        p = rule.threshold ** (1 / rule.k)
        least = least_attempts(rule.threshold, rule.k, confidence=log.confidence)
    else:
        p = 1 - (1 - rule.threshold) ** (1 / rule.k)
        least = least_attempts(p, 1, confidence=log.confidence)
    tasks = log.tails(run, p)
    # A chance that is the allowed one may come out above it by rounding.
    error = log.error * (1 + 1e-9)
    met = sum(task.at_least <= error for task in tasks)
    missed = sum(task.at_most * len(tasks) <= error for task in tasks)
    result = "fail" if missed else "pass" if met == len(tasks) else "inconclusive"
    worst = min(tasks, key=lambda task: (task.c / task.n if task.n else 2, -task.n, task.task_id))
    settle = "More attempts of the tasks that are neither."
    if max(task.n for task in tasks) < least:
        settle = f"At least {least} attempts of each task."
    yield Finding(
        result,
        f"{met} of {len(tasks)} tasks are sure to reach {rule.threshold}, {missed} are sure not "
        f"to; worst is {worst.task_id} ({worst.c} of {worst.n} passed).",
        settle if result == "inconclusive" else None,
        tasks=len(tasks),
        estimate=met / len(tasks),
    )


def _coverage(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    part, whole, unsure = log.share(run, rule.metric)
    tasks = run.told.get("tasks")
    if part is None or not whole:
        yield Finding(
            "inconclusive",
            "The log does not say how many attempts were to be made.",
            "A log that says how many attempts were to be made.",
            tasks=tasks,
        )
        return
    # A share at its limit must not fall over it by rounding.
    most, of_all = (rule.threshold * rows * (1 + 1e-12) for rows in (whole, whole + unsure))
    reason = f"{part} of {whole} {SHARES[rule.metric].said}, and {math.floor(most)} may be"
    settle = None
    if part > most:
        result = "fail"
    elif part + unsure <= of_all:
        result = "pass"
    else:
        result, settle = "inconclusive", _MEND
        they = "1 rejected row does not say whose it is"
        if unsure > 1:
            they = f"{unsure} rejected rows do not say whose they are"
        reason += f", but {they}"
    yield Finding(
        result,
        f"{reason}.",
        settle,
        tasks=tasks,
        estimate=part / whole,
    )


def _regressed(rule: Rule, run: Run, log: Evidence, baseline: str) -> Finding:
    table = log.moved_tasks(run, baseline)
    tested = [] if table is None else [row for row in table.to_dicts() if row["p"] is not None]
    if not tested:
        return Finding(
            "inconclusive",
            "The suite has no attempt of the baseline." if table is None
            else "No task has counted attempts in both runs.",
            _ANOTHER if table is None else _OVER_ITS_TASKS,
            baseline,
            tasks=None if table is None or not table.height else 0,
        )  # fmt: skip
    pair = log.comparison(run, baseline, "pass_hat_k", 1)
    of_baseline = pair["common_tasks"] + pair["baseline_only_tasks"]
    fell = [row for row in tested if row["moved"] and row["direction"] == "fell"]
    before = sum(row["baseline_c"] > 0 for row in tested)
    # Of which tasks a fall could be seen, if one more than the rule allows had fallen.
    bar = log.error * (rule.threshold + 1) * (1 + 1e-9)
    visible = sum(
        row["baseline_c"] > 0 and row["least_p_of_fall"] * len(tested) <= bar for row in tested
    )
    settle = None
    surest = min(fell, key=lambda row: (row["p"], row["task_id"])) if fell else None
    reason = f"{len(fell)} of {len(tested)} tasks fell beyond chance"
    reason += f", the surest of them {surest['task_id']}." if surest else "."
    if len(fell) > rule.threshold:
        result = "fail"
    elif len(tested) * 10 < of_baseline * 9:
        result, settle = "inconclusive", _OVER_ITS_TASKS
        reason += f" They are fewer than 90 % of the {of_baseline} of the baseline."
    elif not before:
        result, settle = "inconclusive", "A baseline that passes."
        reason += " No task passed in the baseline."
    elif _fell_together(tested, int(rule.threshold), log.z):
        result, settle = "inconclusive", "More attempts of each task."
        who = {0: "Together they fell", 1: "All but the worst fell together"}.get(
            int(rule.threshold), f"All but the {rule.threshold} worst fell together"
        )
        reason += f" {who} beyond chance, but which of them cannot be told."
    else:
        reason += (
            f" A fall to no pass could be seen in {visible} of the {before} that passed before."
        )
        result = "pass"
        if visible < min(rule.threshold + 1, before) or visible * 2 < before:
            result = "inconclusive"
            settle = "More attempts of each task: see least_p_of_fall in passk_task_comparisons."
    return Finding(result, reason, settle, baseline, tasks=len(tested), estimate=float(len(fell)))


def _fell_together(tested: Sequence[Row], allowed: int, z: float) -> bool:
    """Say whether all tasks but the worst fell beyond chance, though none of them may alone.

    Were the runs the same, each difference would have the variance of a hypergeometric draw. Half a
    step is taken off, as a sum of draws goes in steps.
    """

    def place(row: Row) -> tuple[bool, float, str]:
        # What was found to have fallen is what is allowed.
        found = row["moved"] and row["direction"] == "fell"
        return not found, row["difference"], row["task_id"]

    rest = sorted(tested, key=place)[allowed:]
    if not rest:
        return False
    counts = [PairCounts(*(row[name] for name in PairCounts._fields)) for row in rest]
    variance = math.fsum(
        variance_of_difference(one.baseline_n, one.candidate_n, one.passes, 1) for one in counts
    )
    step = math.fsum(1 / one.baseline_n + 1 / one.candidate_n for one in counts) / 2 / len(counts)
    fall = math.fsum(row["difference"] for row in rest) + step
    return fall < 0 and fall * fall >= z * z * variance * (1 - 1e-9)


def _diagnostics(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    known = log.diagnostics(run)
    # In the order of the table, whatever the rule's.
    rows = [row for name, row in known.items() if name in rule.diagnostics]
    found = [row["diagnostic"] for row in rows if row["verdict"] == "warning"]
    unknown = [row["diagnostic"] for row in rows if row["verdict"] not in ("warning", "ok")]
    looked_at = len(rows) - len(unknown)
    if found:
        result, reason = "fail", f"A warning of {', '.join(found)}."
    elif not looked_at:
        result, reason = "inconclusive", f"Nothing is known of {', '.join(unknown)}."
    elif unknown:
        result = "pass" if rule.all_diagnostics else "inconclusive"
        reason = f"Nothing is known of {', '.join(unknown)}; the others do not warn."
    else:
        noun = "diagnostic" if len(rows) == 1 else "diagnostics"
        result, reason = "pass", f"No warning of {len(rows)} {noun}."
    settle = "More in the log: see advice in passk_diagnostics."
    yield Finding(
        result,
        reason,
        settle if result == "inconclusive" else None,
        estimate=float(len(found)),
    )


_JUDGES: Final = {
    "threshold": _thresholds,
    "each_task": _each_task,
    "drop": _with_baselines,
    "coverage": _coverage,
    "regressed_tasks": _with_baselines,
    "diagnostics": _diagnostics,
}


def judge(rule: Rule, log: Evidence) -> Iterator[tuple[Run | None, Finding]]:
    """Judge a rule of every run that it is about.

    Parameters
    ----------
    rule
        The rule.
    log
        What is known.

    Yields
    ------
    tuple
        The run, and what was found; no run where the rule finds none.
    """
    chosen = [run for run in log.runs if rule.judges(run)]
    # Of one that names no agent it is not known whose it is.
    lost = [run for run in log.unusable_runs if rule.judges(run, of_anyone=run.agent is None)]
    if not chosen and not lost:
        yield None, _unmatched(rule)
    for run in lost:
        yield (
            run,
            Finding(
                "inconclusive",
                f"No attempt of {run.run_id} can be used: all were rejected.",
                _MEND,
                rule.baseline,
                rule.slice_name,
                rule.slice_value or _UNKNOWN,
            ),
        )
    for run in chosen:
        for finding in _JUDGES[rule.kind](rule, run, log):
            yield run, finding


def _unmatched(rule: Rule) -> Finding:
    named = "" if rule.run in ("latest", "all") else f" named {rule.run}"
    suite = "" if rule.suite is None else f" of the suite {rule.suite}"
    agent = "" if rule.agent is None else f" by {rule.agent}"
    return Finding(
        "inconclusive",
        f"No run is judged: the log has none{named}{suite}{agent}.",
        "Such a run, or other names in the gate.",
        rule.baseline,
        rule.slice_name,
        rule.slice_value or _UNKNOWN,
    )
