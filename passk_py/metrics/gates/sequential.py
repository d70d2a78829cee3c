"""Rules that may be looked at as often as one likes while tasks come in.

One bets on every finished task that its score is above the threshold, at odds that are fair if the
mean is the threshold. If an agent is not above it, the capital reaches 1 / alpha at any time with a
chance of at most alpha (Ville 1939), so that its logarithm is evidence at every look.
The bets are fixed shares of the capital, and the capital is the mean over them, so that it does
not depend on the order of the tasks (Waudby-Smith and Ramdas 2024, with a mixture for a strategy).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.common.words import decimals, symbol
from passk_py.metrics.gates import gate_sentences as say
from passk_py.metrics.gates.evidence import score_of
from passk_py.metrics.gates.findings import Finding
from passk_py.metrics.gates.first_attempts import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from passk_py.metrics.gates.evidence import Evidence
    from passk_py.metrics.gates.rules import Rule
    from passk_py.metrics.run_order import Run

_BETS: Final = tuple((2 * number + 1) / 40 for number in range(20))
"""Shares of the capital that are bet on each task."""
_STEPS: Final = 200

Scores = dict[float, int]
"""How many tasks have a score."""


def growths(scores: Mapping[float, int], bar: float, *, above: bool) -> list[float]:
    """Give the logarithm of the capital of each bet, that scores are above the bar, or below it."""
    return [
        math.fsum(
            tasks * math.log(1 + bet * ((score / bar if above else (1 - score) / (1 - bar)) - 1))
            for score, tasks in scores.items()
        )
        for bet in _BETS
    ]


def growth(scores: Mapping[float, int], bar: float, *, above: bool) -> float:
    """Give the logarithm of the capital, the mean over bets."""
    return _mean(growths(scores, bar, above=above))


def _mean(logs: Sequence[float]) -> float:
    """Give the logarithm of the mean of capitals from their logarithms."""
    highest = max(logs)
    return highest + math.log(math.fsum(math.exp(log - highest) for log in logs) / len(logs))


def limits(scores: Mapping[float, int], bar: float, needed: float) -> tuple[float, float]:
    """Give the last bar from below, and the first from above, that the evidence rules out.

    Bars are in steps of 0.005, and the one of the rule.
    """
    bars = sorted({*(step / _STEPS for step in range(1, _STEPS)), bar})

    def ruled_out(*, above: bool) -> int:
        # The evidence against a bar falls from one to the next on the way to the scores.
        on_the_way = bars if above else bars[::-1]
        low, high = 0, len(bars)
        while low < high:
            middle = (low + high) // 2
            if growth(scores, on_the_way[middle], above=above) >= needed:
                low = middle + 1
            else:
                high = middle
        return low

    below, beyond = ruled_out(above=True), ruled_out(above=False)
    return bars[below - 1] if below else 0.0, bars[-beyond] if beyond else 1.0


def sequential(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    """Judge whether a metric reaches a threshold, however often it is looked at."""
    bar = float(rule.threshold)
    counts = log.first_passes(rule.attempts).get((run.run_id, run.suite), NONE)
    every: dict[str, Scores] = {
        variant: _scores(rule, passes) for variant, passes in counts.items()
    }
    scores = every["counted"]
    if not scores:
        yield Finding(
            "inconclusive",
            f"No task has {rule.attempts} counted attempts yet.",
            f"At least {rule.attempts} counted attempts of a task.",
        )
        return
    needed = -math.log((1 - log.confidence) / 2)

    def is_enough(variant: str, *, above: bool) -> bool:
        return bool(every[variant]) and growth(every[variant], bar, above=above) >= needed

    counted = (
        "pass"
        if is_enough("counted", above=True)
        else "fail"
        if is_enough("counted", above=False)
        else None
    )
    holds = counted is not None and is_enough(
        "failed" if counted == "pass" else "passed", above=counted == "pass"
    )
    result = counted if counted and holds else "inconclusive"
    tasks = sum(scores.values())
    estimate = math.fsum(tasks_of * score for score, tasks_of in scores.items()) / tasks
    lower, upper = limits(scores, bar, needed)
    said = f"({decimals(lower)} to {decimals(upper)})"
    reason = (
        f"{symbol(rule.metric, rule.k)} is {decimals(estimate)} {said}"
        f" over the first {rule.attempts} attempts of {tasks} tasks"
    )
    to_settle = None
    begun = log.counts.filter(pl.col("run_id") == run.run_id, pl.col("suite") == run.suite)
    unfinished = begun.height - tasks
    if result == "pass":
        reason += say.OF_A_THRESHOLD.holds.format(rule.threshold) + _to_wait_for(unfinished, "fail")
    elif result == "fail":
        reason += say.OF_A_THRESHOLD.fails.format(rule.threshold)
        reason += _to_wait_for(unfinished, "succeed")
    elif counted is not None:
        had = "failed" if counted == "pass" else "passed"
        reason += f", which would {counted}, but not if the excluded attempts had {had}."
        to_settle = "The excluded attempts, loaded again under their own numbers, or more tasks."
    else:
        reason += f", and {rule.threshold} lies between these limits."
        fails = estimate < bar
        to_settle = _more_tasks(growths(scores, bar, above=not fails), needed, tasks, fails=fails)
    yield Finding(
        result,
        reason,
        to_settle,
        tasks=tasks,
        estimate=estimate,
        estimate_lower=lower,
        estimate_upper=upper,
    )


def _scores(rule: Rule, counts: Mapping[int, int]) -> Scores:
    """Give how many tasks have each score, by how many have so many passes."""
    found: Scores = {}
    for passes, tasks in sorted(counts.items()):
        score = score_of(rule.metric, rule.attempts, passes, rule.k)
        found[score] = found.get(score, 0) + tasks
    return found


def _to_wait_for(unfinished: int, late: str) -> str:
    """Say that the evidence needs an order of tasks that does not depend on their results."""
    if unfinished == 0:
        return ""
    tasks, them = ("task is", "it") if unfinished == 1 else ("tasks are", "them")
    return f" {unfinished} {tasks} not finished: if tasks that {late} take longer, wait for {them}."


def _more_tasks(logs: Sequence[float], needed: float, tasks: int, *, fails: bool) -> str:
    """Say how many tasks would do.

    The gain of the best bet grows with them; the distance of the mean from it hardly does.
    """
    most = max(logs)
    if most * 10 < needed:
        return "Many more tasks. The estimate is near the threshold, or the tasks are few."
    return say.about(tasks * (needed + most - _mean(logs)) / most, "tasks", fails=fails)
