"""Where reliability is lost, and whether less of it is lost than can be."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

from passk_py.metrics.diagnostics.moments import alike_variance
from passk_py.metrics.diagnostics.results import LEAST, Result, rounded, too_few
from passk_py.metrics.states import all_pass

if TYPE_CHECKING:
    from passk_py.metrics.diagnostics.read_runs import Run


def dominant_tasks(run: Run) -> Result:
    """Ask how few tasks make more than half of the lost reliability."""
    tasks = len(run.eligible)
    losses = {task.name: 1 - all_pass(task.n, task.c, run.k) for task in run.eligible}
    total = math.fsum(losses.values())
    if not total:
        finding = f"Nothing is lost at k = {run.k}: every attempt that counts passed."
        return _described(None, tasks, finding)
    largest = sorted(losses.values(), reverse=True)
    sums = accumulate(largest)
    dominant = next(n for n, lost in enumerate(sums, 1) if lost > total / 2 * (1 + 1e-9))
    most = largest[0]
    # Losses that differ by less than anybody reads are equal.
    worst = [name for name, lost in losses.items() if lost >= most * (1 - 1e-9)]
    # No share of equal tasks, 1 / n, is so near to this that rounding decides.
    share = "less than 0.001" if most / total < 9.5e-4 else rounded(most / total)
    finding = (
        f"{dominant} of {tasks} tasks make more than half of the lost reliability at k = {run.k}; "
        f"none loses more than {min(worst)}, {share} of it"
        + (f", and {len(worst) - 1} more lose as much." if len(worst) > 1 else ".")
    )
    return _described(dominant / tasks, tasks, finding)


def _described(statistic: float | None, tasks: int, finding: str) -> Result:
    # No test: a suite may have few tasks that fail, and nothing is wrong with the log.
    if tasks < LEAST:
        return Result(statistic, None, tasks, "insufficient", too_few(tasks))
    return Result(statistic, None, tasks, "ok", finding)


def jensen_bounds(run: Run) -> Result:
    """Ask whether pass^k is below what the mean pass rate allows."""
    k, tasks = run.k, run.eligible
    informative = sum(task.informative for task in tasks)
    if k == 1:
        finding = "At k = 1 both bounds are the estimate."
        return Result(None, None, informative, "not_applicable", finding)
    delta = z = p = None
    if len(tasks) > 1:
        rates = [task.c / task.n for task in tasks]
        hats = [all_pass(task.n, task.c, k) for task in tasks]
        count = len(tasks)
        mean, hat = math.fsum(rates) / count, math.fsum(hats) / count
        variance = math.fsum((rate - mean) ** 2 for rate in rates) / (count - 1)
        delta = hat - mean**k + k * (k - 1) / 2 * mean ** (k - 2) * variance / count
        if mean > 10 ** (-30 / k):
            alike = math.fsum(alike_variance(task.n, mean, k) for task in tasks)
            z = delta / (math.sqrt(alike) / count) if alike > 0 else None
    if z is not None:
        p = math.erfc(-z / math.sqrt(2)) / 2
    if informative < LEAST:
        finding = too_few(informative)
    elif z is None or delta is None:
        finding = (
            f"The mean pass rate allows hardly any pass^k at k = {k}, so that it can not be too "
            "low."
        )
    else:
        finding = (
            f"pass^k at k = {k} is {rounded(abs(delta))} {'below' if delta < 0 else 'above'} the "
            f"least that the mean pass rate allows (z = {rounded(z, 2)})."
        )
    return Result(z, p, informative, run.verdict(p, informative), finding)
