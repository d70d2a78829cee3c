"""Diagnostics from the order of the attempts."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from passk_py.metrics.diagnostics.moments import window_variance
from passk_py.metrics.diagnostics.results import LEAST, Result, Sum, rounded, too_few
from passk_py.metrics.states import all_pass
from passk_py.stats.distributions import chi_square_tail

if TYPE_CHECKING:
    from passk_py.metrics.diagnostics.read_runs import Run, Task

_ROUNDING: Final = 1e-9
_NUMBERED: Final = 126
"""Attempt numbers up to here tell passes over the suite."""


def direction(gap: float | None, below: str, above: str) -> str:
    """Name the side of a gap: one within rounding is never below, whatever its sign."""
    return below if gap is not None and gap < -_ROUNDING else above


def serial_dependence(run: Run) -> Result:
    """Ask whether verdicts stick to that of the attempt before."""
    found, switches, expected = Sum(), 0, []
    for task in run.informative:
        n, u = task.n, 2 * task.c * (task.n - task.c)
        variance = u * (u - n) / (n * n * (n - 1))
        if variance > 0:
            switches += task.switches
            expected.append(u / n)
            found.add(task.switches - u / n, variance)
    return run.tested(
        found.z,
        found,
        lambda z: (
            f"The verdict changes {switches} times within {found.tasks} tasks, where chance gives "
            f"{rounded(math.fsum(expected), 1)} (z = {rounded(z, 2)})."
        ),
    )


def drift(run: Run) -> Result:
    """Ask whether passes come earlier or later than chance puts them."""
    found, passes = Sum(), 0
    for task in run.informative:
        n, c = task.n, task.c
        passes += c
        found.add(task.places - c * (n + 1) / 2, c * (n - c) * (n + 1) / 12)
    shift = found.excess / passes if passes else 0.0
    return run.tested(
        found.z,
        found,
        lambda z: (
            f"Passes come {rounded(abs(shift), 2)} places {direction(shift, 'earlier', 'later')} "
            f"than chance puts them, over {found.tasks} tasks (z = {rounded(z, 2)})."
        ),
    )


def shared_run_effect(run: Run) -> Result:
    """Ask whether passes over the suite differ more than chance lets them: Cochran's Q."""
    sets: dict[int, list[Task]] = defaultdict(list)
    for task in run.informative:
        if task.last_number <= _NUMBERED:
            sets[task.mask].append(task)
    tasks: list[Task] = min(
        sets.values(), key=lambda one: (-len(one), -one[0].n, one[0].mask), default=[]
    )
    q = p = phi = None
    n = tasks[0].n if tasks else 0
    if tasks:
        verdicts = (f"{task.passes:0{_NUMBERED}b}" for task in tasks)
        by_number = [of_number.count("1") for of_number in zip(*verdicts, strict=True)]
        passes = sum(by_number)
        q = (
            (n - 1)
            * (n * sum(count**2 for count in by_number) - passes**2)
            / (n * passes - sum(task.c**2 for task in tasks))
        )
        p, phi = chi_square_tail(q, n - 1), q / (n - 1)
    verdict = run.verdict(p, len(tasks))
    if len(tasks) >= LEAST and q is not None and phi is not None:
        finding = (
            f"From pass to pass over the suite, {n} of them, the passes of {len(tasks)} tasks vary "
            f"{rounded(phi, 2)} times as much as chance lets them (Q = {rounded(q, 1)})."
        )
    elif len(run.informative) >= LEAST:
        verdict = "not_applicable"
        finding = (
            "The counted attempts of the tasks have different numbers: the largest group of "
            f"informative tasks that share them has {len(tasks)}, and {LEAST} are needed."
        )
    else:
        finding = too_few(len(tasks))
    return Result(q, p, len(tasks), verdict, finding)


def tried_again(run: Run) -> Result | None:
    """Say which tasks were tried again because they failed; None if the log says so of none."""
    tried = sum(details.tried_again for details in run.read)
    if not tried:
        return None
    read = len(run.read)
    finding = (
        f"The log says that {tried} of {read} tasks were tried again because they failed: the tag "
        "reruns."
    )
    return run.described(tried / read, read, finding, warns=True)


def retry_until_pass(run: Run) -> Result:
    """Ask whether tasks with fewer attempts end in their only pass."""
    counted = [task for task in run.tasks if task.n]
    if not counted:
        return Result(None, None, 0, "not_applicable", "No attempt counts.")
    most = max(task.n for task in counted)
    ragged = [task for task in counted if task.n < most]
    if not ragged:
        finding = f"Every task has the same number of counted attempts, {most}."
        return Result(None, None, 0, "ok", finding)
    ended = sum(task.c == 1 and task.ends_in_pass for task in ragged)
    finding = (
        f"{ended} of {len(ragged)} tasks with fewer counted attempts than others end in their only "
        "pass."
    )
    # The most that chance gives: of one attempt the share that passes. A task of two attempts that
    # lost one to an error ends in its only pass as often as it passes.
    rate = sum(task.c for task in counted) / sum(task.n for task in counted)
    chances = [
        rate if task.n == 1 else (1 - 1 / task.n) ** (task.n - 1) / task.n for task in ragged
    ]
    by_chance = math.fsum(chances) + 3 * math.sqrt(math.fsum(one * (1 - one) for one in chances))
    verdict = "warning" if 2 * ended > len(ragged) and ended > by_chance + 1e-9 else "ok"
    if len(ragged) < LEAST:
        verdict = "insufficient"
    return Result(ended / len(ragged), None, len(ragged), verdict, finding)


def _gap(run: Run, found: Sum, what: str) -> Result:
    gap = found.excess / found.tasks if found.tasks else None
    return run.tested(
        gap,
        found,
        lambda z: (
            f"{what} all pass {rounded(abs(gap or 0.0))} "
            f"{direction(gap, 'less', 'more')} often than pass^k has it, at k = {run.k} "
            f"over {found.tasks} tasks (z = {rounded(z, 2)})."
        ),
    )


def window_gap(run: Run) -> Result:
    """Ask whether windows of k attempts all pass as often as pass^k has it."""
    k, found = run.k, Sum()
    if k == 1:
        return Result(None, None, 0, "not_applicable", "At k = 1 no attempts stand in a row.")
    for task in run.informative:
        if task.n > k and task.c >= k and task.solid:
            windows = task.n - k + 1
            found.add(
                task.windows / windows - all_pass(task.n, task.c, k),
                window_variance(task.n, task.c, k),
            )
    return _gap(run, found, "Sliding windows of k attempts")


def first_k_gap(run: Run) -> Result:
    """Ask whether the first k attempts all pass as often as pass^k has it."""
    k, found = run.k, Sum()
    for task in run.informative:
        if task.c >= k:
            mean = all_pass(task.n, task.c, k)
            found.add((task.first_passes >= k) - mean, mean * (1 - mean))
    return _gap(run, found, "The first k attempts")
