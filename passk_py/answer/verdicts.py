"""Which agent to use, and what an average hides: the rules.

Runs are compared only with runs of the same suite that have tried the same tasks: an average over
other tasks is another number. The k is the deployment k or, where no run has a value at it, the
largest smaller one of the grid at which one has.

* Where a person reviews the output, one right try of k is enough: the highest pass@k.
* Where nobody does, every try has to be right: the highest pass^k.
* A run hides a regression if, compared with the run before it of the same agent, its pass@1 is
  higher and its pass^k is lower. Where ``passk_comparisons`` has the pair and can't tell the fall
  of pass^k from chance, nothing is said of it.

Else estimates are compared as they are. Equal means equal up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from passk_py.answer.facts import Run, Suite

__all__ = ["Metric", "Pick", "Regression", "Verdict", "judge", "limits"]

Metric = Literal["pass_at_k", "pass_hat_k"]

_EQUAL: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Pick:
    """The best of the runs that can be compared.

    Parameters
    ----------
    metric
        What they are compared by.
    k
        At which k.
    runs
        The best run; more than one if they are equal.
    value
        Its value; None if no run has one.
    runner_up
        The best of the others; None if there is none.
    runner_up_value
        Its value.
    unknown
        Runs that have no value at this k.
    reaches
        Whether the value is at least what counts as capable or consistent.
    is_sure
        Whether even the lower limits of all the best runs are.
    """

    metric: Metric
    k: int
    runs: tuple[Run, ...]
    value: float | None
    runner_up: Run | None
    runner_up_value: float | None
    unknown: tuple[Run, ...]
    reaches: bool
    is_sure: bool

    @property
    def gap(self) -> float | None:
        """How far the best is ahead, as a difference of shares; None without a runner-up."""
        if self.value is None or self.runner_up_value is None:
            return None
        return self.value - self.runner_up_value


@dataclass(frozen=True, slots=True)
class Regression:
    """A run that is better on average and less dependable than the one before it.

    Parameters
    ----------
    before, after
        The two runs of one agent.
    k
        At which k pass^k is lower.
    verdict
        What ``passk_comparisons`` says of the change of pass^k; None if it does not have the pair.
    """

    before: Run
    after: Run
    k: int
    verdict: str | None = None

    @property
    def is_told(self) -> bool:
        """Whether it is more than chance, as far as anyone knows."""
        return self.verdict in (None, "regression")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What follows from runs that can be compared.

    Parameters
    ----------
    runs
        The runs.
    tasks
        How many tasks they have tried, the same in all.
    reviewed
        Which to use where a person reviews the output.
    unattended
        Which to use where nobody does.
    regressions
        What pass@1 hides.
    """

    runs: tuple[Run, ...]
    tasks: int
    reviewed: Pick
    unattended: Pick
    regressions: tuple[Regression, ...]


def judge(
    suite: Suite, deployment_k: int, capable_threshold: float, consistent_threshold: float
) -> tuple[Verdict, ...]:
    """Judge the runs of a suite.

    Parameters
    ----------
    suite
        The suite and its runs.
    deployment_k
        How many times in a row the agent must succeed once deployed.
    capable_threshold
        From which pass@k on a run is capable.
    consistent_threshold
        From which pass^k on a run is consistent.

    Returns
    -------
    tuple of Verdict
        One for each set of tasks, that of the most runs first.
    """
    verdicts = []
    for group in suite.groups:
        reviewed = _pick(group, "pass_at_k", deployment_k, capable_threshold)
        unattended = _pick(group, "pass_hat_k", deployment_k, consistent_threshold)
        regressions = tuple(_regressions(suite, group, unattended.k))
        verdicts.append(Verdict(group, group[0].tasks, reviewed, unattended, regressions))
    return tuple(verdicts)


def _values(run: Run, metric: Metric) -> Mapping[int, float | None]:
    return run.pass_at_k if metric == "pass_at_k" else run.pass_hat_k


def limits(run: Run, metric: Metric) -> Mapping[int, tuple[float, float]]:
    """Give the intervals of a metric of a run, by k."""
    return run.pass_at_k_limits if metric == "pass_at_k" else run.pass_hat_k_limits


def _pick(runs: Sequence[Run], metric: Metric, deployment_k: int, threshold: float) -> Pick:
    known_ks = {
        k
        for run in runs
        for k, value in _values(run, metric).items()
        if value is not None and k <= deployment_k
    }
    k = max(known_ks, default=deployment_k)
    known = [(value, run) for run in runs if (value := _values(run, metric).get(k)) is not None]
    unknown = tuple(run for run in runs if _values(run, metric).get(k) is None)
    if not known:
        return Pick(metric, k, (), None, None, None, unknown, reaches=False, is_sure=False)
    best = max(value for value, _ in known)
    winners = tuple(run for value, run in known if best - value <= _EQUAL)
    others = [(value, run) for value, run in known if best - value > _EQUAL]
    second_value, second = max(others, key=lambda pair: pair[0], default=(None, None))
    lower = min(limits(run, metric)[k][0] for run in winners)
    return Pick(
        metric,
        k,
        winners,
        best,
        second,
        second_value,
        unknown,
        reaches=best >= threshold,
        is_sure=lower >= threshold,
    )


def _regressions(suite: Suite, runs: Sequence[Run], k: int) -> list[Regression]:
    found = []
    # Runs of one agent stand together, in the order of time.
    for before, after in pairwise(runs):
        if before.agent is None or before.agent != after.agent:
            continue
        ones = (before.pass_at_k.get(1), after.pass_at_k.get(1))
        hats = (before.pass_hat_k.get(k), after.pass_hat_k.get(k))
        if None in ones or None in hats:
            continue
        gained = ones[1] - ones[0]  # type: ignore[operator]
        lost = hats[0] - hats[1]  # type: ignore[operator]
        if gained > _EQUAL and lost > _EQUAL:
            verdict = suite.changes.get((before.run_id, after.run_id, k))
            found.append(Regression(before, after, k, verdict))
    return found
