"""From a rule and a run to a result, in numbers and words, as in the table ``passk_gates``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from passk_py.metrics.gates import gate_sentences as say
from passk_py.metrics.gates.findings import UNKNOWN, Finding
from passk_py.metrics.gates.judged_costs import cost, cost_increase
from passk_py.metrics.gates.judged_limits import drop, thresholds
from passk_py.metrics.gates.least import least_attempts
from passk_py.metrics.gates.rolling_drop import rolling_drop
from passk_py.metrics.gates.rule_schema import SCHEMA, SHARES
from passk_py.metrics.gates.sequential import sequential
from passk_py.metrics.nearly_all import NEARLY_ALL_PERCENT, are_nearly_all
from passk_py.stats.permutations import PairCounts, variance_of_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from passk_py.metrics.gates.evidence import Evidence
    from passk_py.metrics.gates.quarantine import Quarantine
    from passk_py.metrics.gates.rules import Rule
    from passk_py.metrics.run_order import Run

    Row = dict[str, Any]


def judge(
    rule: Rule, log: Evidence, quarantine: Quarantine | None = None
) -> Iterator[tuple[Run | None, Finding]]:
    """Judge a rule of every run that it is about."""
    chosen = [run for run in log.runs if rule.judges(run)]
    # A run that names no agent may be of any.
    lost = [run for run in log.unusable_runs if rule.judges(run, of_anyone=run.agent is None)]
    if not chosen and not lost:
        yield None, _unmatched(rule)
    for run in lost:
        reason = f"No attempt of {run.run_id} can be used: all were rejected."
        yield run, _nothing_judged(rule, reason, say.MEND_REJECTED)
    for run in chosen:
        leaves_out = rule.type in SCHEMA["leave_out_quarantine"]
        said = quarantine.of(run) if quarantine and leaves_out else None
        if quarantine is None or said is None:
            for finding in _JUDGES[rule.type](rule, run, log):
                yield run, finding
            continue
        judged = _JUDGES[rule.type](rule, run, quarantine.log)
        if not said.judged_tasks:
            reason = f"Every task of {run.run_id} is in quarantine."
            judged = iter([_nothing_judged(rule, reason, "A task that is not in quarantine.")])
        for finding in judged:
            reason = finding.reason + said.words
            yield run, finding._replace(reason=reason, quarantined_tasks=said.quarantined_tasks)


def _unmatched(rule: Rule) -> Finding:
    named = "" if rule.run in ("latest", "all") else f" named {rule.run}"
    suite = "" if rule.suite is None else f" of the suite {rule.suite}"
    agent = "" if rule.agent is None else f" by {rule.agent}"
    reason = f"No run is judged: the log has none{named}{suite}{agent}."
    return _nothing_judged(rule, reason, "Such a run, or other names in the gate.")


def _nothing_judged(rule: Rule, reason: str, to_settle: str) -> Finding:
    slice_value = rule.slice_value or UNKNOWN
    return Finding("inconclusive", reason, to_settle, rule.baseline, rule.slice_name, slice_value)


def _with_baselines(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    baselines = log.baselines(run, rule.baseline)
    if not baselines:
        own = rule.baseline == run.run_id
        yield Finding(
            "inconclusive",
            "The run is the baseline." if own else say.NO_BASELINE,
            say.NAME_A_BASELINE,
            rule.baseline,
        )
    judged = {"drop": drop, "cost_increase": cost_increase}.get(rule.type, _regressed)
    for baseline in baselines:
        yield judged(rule, run, log, baseline)


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
        result, settle = "inconclusive", say.MEND_REJECTED
        they = "1 rejected row does not say whose it is"
        if unsure > 1:
            they = f"{unsure} rejected rows do not say whose they are"
        reason += f", but {they}"
    yield Finding(result, f"{reason}.", settle, tasks=tasks, estimate=part / whole)


def _regressed(rule: Rule, run: Run, log: Evidence, baseline: str) -> Finding:
    table = log.moved_tasks(run, baseline)
    tested = [] if table is None else [row for row in table.to_dicts() if row["p"] is not None]
    if not tested:
        return Finding(
            "inconclusive",
            "The suite has no attempt of the baseline." if table is None
            else "No task has counted attempts in both runs.",
            say.ANOTHER_BASELINE if table is None else say.OVER_BASELINE_TASKS,
            baseline,
            tasks=None if table is None or not table.height else 0,
        )  # fmt: skip
    pair = log.comparison(run, baseline, "pass_hat_k", 1)
    of_baseline = pair["common_tasks"] + pair["baseline_only_tasks"]
    fell = [row for row in tested if row["moved"] and row["direction"] == "fell"]
    before = sum(row["baseline_c"] > 0 for row in tested)
    # Count the tasks of which a fall could be seen, if one more than the rule allows had fallen.
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
    elif not are_nearly_all(len(tested), of_baseline):
        result, settle = "inconclusive", say.OVER_BASELINE_TASKS
        reason += (
            f" They are fewer than {NEARLY_ALL_PERCENT} % of the {of_baseline} of the baseline."
        )
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

    If the runs were the same, each difference would have the variance of a hypergeometric draw.
    Half a step is subtracted, because a sum of draws goes in steps.
    """

    def place(row: Row) -> tuple[bool, float, str]:
        # The number of fallen tasks that was found is the number to allow.
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
    settle = (
        "More in the log: see advice in passk_diagnostics." if result == "inconclusive" else None
    )
    yield Finding(result, reason, settle, estimate=float(len(found)))


_JUDGES: Final = {
    "threshold": thresholds,
    "sequential": sequential,
    "each_task": _each_task,
    "drop": _with_baselines,
    "rolling_drop": rolling_drop,
    "coverage": _coverage,
    "cost": cost,
    "cost_increase": _with_baselines,
    "regressed_tasks": _with_baselines,
    "diagnostics": _diagnostics,
}
