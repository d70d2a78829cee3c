"""Rules about a drop below the runs before: the mean of the last ones, and how they scatter.

A further run of the same kind is as far from their mean as Student's t says: with s the standard
deviation of N values, t s sqrt(1 + 1 / N). A candidate that is unlike them may scatter more, by how
much the differences of its tasks do; the larger of the two holds. The floor of a difference is
added, because perfect runs do not scatter at all.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from passk_py.common.words import decimals, symbol
from passk_py.metrics.gates import gate_sentences as say
from passk_py.metrics.gates.findings import Finding
from passk_py.metrics.gates.judged_limits import Measured
from passk_py.metrics.nearly_all import NEARLY_ALL_PERCENT, are_nearly_all
from passk_py.metrics.states import score, short_reason, with_short_tasks
from passk_py.metrics.uncertainty import floor_of_difference
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from passk_py.metrics.gates.evidence import Evidence
    from passk_py.metrics.gates.rules import Rule
    from passk_py.metrics.run_order import Run

    Counts = Mapping[str, tuple[int, int]]
    """The n and c of tasks, by their ids."""

LEAST_RUNS: Final = 3
"""Fewer do not say how they scatter."""


class Line(NamedTuple):
    """A run beside those before it, over the tasks that each of them has tried k times."""

    previous_tasks: int
    """Tasks of the run before."""
    common_tasks: int
    """Tasks of every run."""
    tasks: int
    """Tasks with n >= k in every run."""
    candidate: float = math.nan
    baseline: float = math.nan
    reach: float | None = None
    """Half the width of the interval; None with fewer than two tasks."""


def alike(candidate: Counts, earlier: Iterable[Counts], k: int, last: int) -> dict[int, Counts]:
    """Choose the last runs that have tried at least 90 % of the candidate's tasks k times.

    They are by how many runs ago they were made, of the latest twice as many.
    """
    own = [task for task, (n, _) in candidate.items() if n >= k]
    found = {}
    for runs_ago, run in enumerate(islice(earlier, 2 * last), 1):
        shared = sum(run.get(task, (0, 0))[0] >= k for task in own)
        if own and are_nearly_all(shared, len(own)):
            found[runs_ago] = run
    return dict(islice(found.items(), last))


def line_of(
    candidate: Counts, earlier: Sequence[Counts], metric: str, k: int, z: float, confidence: float
) -> Line:
    """Compare a run with those before it, of which there are at least two."""
    every = [candidate, *earlier]
    common = sorted(set(candidate).intersection(*earlier))
    eligible = [task for task in common if all(run[task][0] >= k for run in every)]
    sizes = (len(earlier[0]), len(common), len(eligible))
    if not eligible:
        return Line(*sizes)
    scores = [[score(metric, *run[task], k) for task in eligible] for run in every]
    mine, *others = (_mean(run) for run in scores)
    # Over all scores at once, so that a mean that is a round number comes out as one.
    baseline = _mean([one for run in scores[1:] for one in run])
    if len(eligible) == 1:
        return Line(*sizes, mine, baseline)
    of_tasks = _variance([one - _mean(rest) for one, *rest in zip(*scores, strict=True)])
    t = student_quantile(len(others) - 1, confidence)
    of_runs = t * t * _variance(others) * (1 + 1 / len(others))
    least_n = min(run[task][0] for run in every for task in eligible)
    floor = floor_of_difference(k, least_n, confidence) / len(eligible) ** 2
    reach = math.sqrt(max(of_runs, z * z * of_tasks / len(eligible)) + z * z * floor)
    return Line(*sizes, mine, baseline, reach)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def rolling_drop(rule: Rule, run: Run, log: Evidence) -> Iterator[Finding]:
    """Judge whether a metric is not too far below the mean of the runs before."""
    mine, k = log.counted(run.run_id, run.suite), rule.k
    runs = (log.counted(one, run.suite) for one in log.before(run))
    earlier = alike(mine, runs, k, rule.last_runs)
    eligible = sum(n >= k for n, _ in mine.values())
    share = log.min_eligible_share
    lacking = short_reason(k, eligible, len(mine), min_eligible_share=share)
    if lacking is not None:
        reason = f"There is no difference of {symbol(rule.metric, k)}: {lacking}."
        yield Finding("inconclusive", reason, say.at_least_attempts(k))
    elif len(earlier) < LEAST_RUNS:
        there = ("is no earlier run", "is 1 earlier run", "are 2 earlier runs")[len(earlier)]
        yield Finding(
            "inconclusive",
            f"There {there} of the agent over these tasks; a rolling baseline takes at least 3.",
            "At least 3 earlier runs of the agent over these tasks.",
        )
    else:
        line = line_of(mine, list(earlier.values()), rule.metric, k, log.z, log.confidence)
        yield _judged(rule, run, log, line, earlier)


def _judged(
    rule: Rule, run: Run, log: Evidence, line: Line, earlier: Mapping[int, Counts]
) -> Finding:
    name, k, of = symbol(rule.metric, rule.k), rule.k, " of every run"
    lacking = short_reason(
        k, line.tasks, line.common_tasks, min_eligible_share=log.min_eligible_share, of=of
    )
    known: dict[str, Any] = {"tasks": line.tasks}
    if lacking is None:
        known["estimate"] = line.candidate - line.baseline
    if lacking is None and line.reach is not None:
        known["estimate_lower"], known["estimate_upper"] = (
            max(
                -1.0,
                min(
                    1.0,
                    with_short_tasks(
                        known["estimate"] + side * line.reach, line.tasks, line.common_tasks, side
                    ),
                ),
            )
            for side in (-1.0, 1.0)
        )
    if not are_nearly_all(line.common_tasks, line.previous_tasks):
        reason = f"Only {line.common_tasks} of {line.previous_tasks} tasks of the run before are"
        reason += f" in every run, fewer than {NEARLY_ALL_PERCENT} %."
        settle = "A run over the tasks of the run before."
        return Finding("inconclusive", reason, settle, **known)
    if lacking is not None:
        reason = f"There is no difference of {name}: {lacking}."
        return Finding("inconclusive", reason, say.at_least_attempts(k, " in every run"), **known)
    if line.reach is None:
        reason = "Too few tasks are in every run for an interval."
        return Finding("inconclusive", reason, "Runs over more tasks.", **known)
    moves = log.moves(run.run_id, run.suite, rule.metric, k, "all", "all")
    seen = Measured(
        known["estimate"],
        known["estimate_lower"],
        known["estimate_upper"],
        -rule.threshold,
        moves.if_failed,
        moves.if_passed,
        say.Units(line.tasks, "tasks"),
        line.tasks,
        line.common_tasks,
        worst=-1.0,
    )
    bar = "0" if rule.threshold == 0 else f"-{rule.threshold}"
    why = say.OF_A_ROLLING_DROP.why(
        seen.result, seen.counted, bar, moves.excluded, seen.units, None
    )
    to_settle = None
    if seen.result == "inconclusive":
        to_settle = "More attempts of each task, more tasks, or more earlier runs."
        if seen.counted != "inconclusive":
            to_settle = say.EXCLUDED_AGAIN
    left_out = max(earlier) - len(earlier)
    others = f"({left_out} of other tasks left out) " if left_out else ""
    reason = (
        f"{name} is {decimals(line.candidate)}, in the {len(earlier)} runs before it {others}"
        f"{decimals(line.baseline)}: a difference of {seen.said}{why}"
    )
    return Finding(seen.result, reason, to_settle, **known)
