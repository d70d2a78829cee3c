"""Diagnostics from the times, seeds and outputs of the attempts."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from passk_py.metrics.diagnostics.moments import session_moments
from passk_py.metrics.diagnostics.results import LEAST, Result, Sum, rounded, too_few

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.metrics.diagnostics.read_runs import Details, Run


def batch_effect(run: Run) -> Result:
    """Ask whether verdicts differ between the two sessions around the longest pause."""
    moments = sorted(time for task in run.read for time in task.times if time is not None)
    if not moments:
        return _unknown(run, "The log does not say when attempts started.")
    clock = (moments[-1] - moments[0]).total_seconds()
    # A pause is what lies between two of a hundred bins of the run's time.
    pauses = [
        ((later - earlier).total_seconds(), later)
        for earlier, later in itertools.pairwise(moments)
        if later > earlier and 100 * (later - earlier) >= moments[-1] - moments[0]
    ]
    if not pauses:
        return _unknown(
            run, "The run was made in one go: no pause is as long as a hundredth of its time."
        )
    pause = max(length for length, _ in pauses)
    second = min(start for length, start in pauses if length == pause)
    found, squares, variances = Sum(), [], []
    for task in run.read:
        known = [
            (time < second, passed)
            for time, passed in zip(task.times, task.passed, strict=True)
            if time is not None
        ]
        n, c = len(known), sum(passed for _, passed in known)
        first = sum(early for early, _ in known)
        if not (0 < first < n and 0 < c < n):
            continue
        variance, of_square = session_moments(first, n, c)
        if of_square > 0:
            squared = (sum(early and passed for early, passed in known) - first * c / n) ** 2
            squares.append(squared)
            variances.append(variance)
            found.add(squared - variance, of_square)
    if not found.tasks:
        return _unknown(
            run,
            f"The longest pause, of {rounded(pause / 3600)} hours, splits no task that both "
            "passes and fails.",
        )
    ratio = math.fsum(squares) / math.fsum(variances)
    said = run.tested(
        found.z,
        found,
        lambda z: (
            f"The longest pause, {rounded(pause / 3600)} of {rounded(clock / 3600)} hours, "
            f"splits {found.tasks} tasks, whose two sessions differ {rounded(ratio, 2)} times as "
            f"much as chance lets them (z = {rounded(z, 2)})."
        ),
    )
    return said._replace(finding=said.finding + run.some_read)


def _unknown(run: Run, finding: str) -> Result:
    return Result(None, None, 0, "not_applicable", finding + run.some_read)


def _values(tasks: Iterable[Details], name: str) -> list[list[tuple[Any, bool]]]:
    """Give the known values of tasks that have at least two, with the verdicts."""
    found = []
    for task in tasks:
        values = zip(getattr(task, name), task.passed, strict=True)
        known = [(value, passed) for value, passed in values if value is not None]
        if len(known) > 1:
            found.append(known)
    return found


def duplicate_seeds(run: Run) -> Result:
    """Ask whether attempts of a task share a seed."""
    tasks = _values(run.read, "seeds")
    if not tasks:
        return _unknown(run, "No task has two attempts with a seed.")
    repeats = [len(task) - len({seed for seed, _ in task}) for task in tasks]
    attempts = sum(map(len, tasks))
    finding = (
        f"{sum(repeats)} of {attempts} attempts repeat a seed of their task, in "
        f"{sum(map(bool, repeats))} of {len(tasks)} tasks."
    )
    return run.described(sum(repeats) / attempts, len(tasks), finding, warns=any(repeats))


def duplicate_outputs(run: Run) -> Result:
    """Ask whether attempts of a task came out the same."""
    tasks = _values(run.read, "outputs")
    if not tasks:
        return _unknown(run, "No task has two attempts with a digest of their output.")
    distinct = [len({output for output, _ in task}) for task in tasks]
    copied = sum(2 * few <= len(task) for few, task in zip(distinct, tasks, strict=True))
    finding = (
        f"{sum(map(len, tasks))} attempts have {sum(distinct)} different outputs within their "
        f"tasks; in {copied} of {len(tasks)} tasks at most half of them differ."
    )
    warns = 10 * copied >= len(tasks)
    return run.described(copied / len(tasks), len(tasks), finding, warns=warns)


def noisy_grader(run: Run) -> Result:
    """Ask whether equal outputs of a task got different verdicts."""
    tasks = _values(run.read, "outputs")
    if not tasks:
        return _unknown(run, "No task has two attempts with a digest of their output.")
    graded, pairs, different = 0, 0, 0
    for task in tasks:
        groups = Counter(output for output, _ in task)
        passes = Counter(output for output, passed in task if passed)
        graded += any(copies > 1 for copies in groups.values())
        pairs += sum(copies * (copies - 1) // 2 for copies in groups.values())
        different += sum(passes[one] * (copies - passes[one]) for one, copies in groups.items())
    if not pairs:
        finding = "No output came twice within a task, so that no two verdicts can be compared."
        return _unknown(run, finding)
    rate = (1 - math.sqrt(max(1 - 2 * different / pairs, 0))) / 2
    best = (1 - rate) ** run.k
    finding = (
        f"{different} of {pairs} pairs of equal outputs have two verdicts. If the grader errs at "
        f"random, a verdict is wrong with a chance of about {rounded(rate)}. At k = {run.k} pass^k "
        f"is then at most {rounded(best)}, and pass@k of an impossible task {rounded(1 - best)}."
        if different
        else f"None of {pairs} pairs of equal outputs has two verdicts."
    )
    return run.described(rate, graded, finding, warns=different > 0)


def temperature_zero(run: Run) -> Result:
    """Ask whether tasks come out the same every time."""
    outputs = _values(run.read, "outputs")
    if len(outputs) >= LEAST:
        same = sum(len({output for output, _ in task}) == 1 for task in outputs)
        finding = f"In {same} of {len(outputs)} tasks every attempt has the same output."
        warns = 2 * same >= len(outputs)
        return run.described(same / len(outputs), len(outputs), finding, warns=warns)
    repeated = [task for task in run.tasks if task.n > 2]
    passed = sum(task.c == task.n for task in repeated)
    failed = sum(task.c == 0 for task in repeated)
    statistic = (passed + failed) / len(repeated) if repeated else None
    if len(repeated) < LEAST:
        return Result(statistic, None, len(repeated), "insufficient", too_few(len(repeated)))
    mixed = len(repeated) - passed - failed
    alike = 100 * mixed <= len(repeated) and passed > 0 and failed > 0
    return Result(
        statistic,
        None,
        len(repeated),
        "warning" if alike else "ok",
        f"In {passed + failed} of {len(repeated)} tasks every attempt has the same verdict (all "
        f"passed in {passed}, all failed in {failed}); what they produced is not known.",
    )
