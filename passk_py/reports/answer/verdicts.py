"""The rules for choosing an agent, and for saying what an average hides.

Runs are compared only with runs of the same suite that have tried the same tasks: an average over
other tasks is another number. The k is the deployment k or, where no run has a value at it, the
largest smaller one of the grid at which one has.

* Where a person picks the right try, one right try of k is enough: the highest pass@k.
* Where nobody does, every try has to be right: the highest pass^k.
* Only runs that ``passk_rankings`` ranks are chosen from: the latest of the suite.
* A run that this table does not tell apart from any better one is named with the best.
* A run may run unattended where even its lower limit reaches what counts as consistent, at a level
  that knows how many runs it was chosen from.
* A run regressed where ``passk_comparisons`` says so of pass^k. A pair that is not compared there
  is never told.

Equal means equal up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from passk_py.reports.answer.ranks import lower_limit_among

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from passk_py.reports.answer.answer_facts import Change, Run, Suite
    from passk_py.reports.answer.ranks import Ranks

Metric = Literal["pass_at_k", "pass_hat_k"]

_EQUAL: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Pick:
    """The best of the runs that can be compared at some k."""

    metric: Metric
    k: int
    runs: tuple[Run, ...]
    """The best run; more than one if they are equal."""
    rivals: tuple[Run, ...]
    """Other runs that may be the best."""
    value: float | None
    """The value of the best; None if no run has one."""
    without_luck: float | None
    """Its value without the luck of having come out highest; None if that is not known."""
    runner_up: Run | None
    """The best of the others; None if there is none."""
    runner_up_value: float | None
    unknown: tuple[Run, ...]
    """Runs that have no value at this k."""
    looked_at: int
    """How many runs have a value, of which the best is one."""
    reaches: bool
    """Whether the value is at least what counts as capable or consistent."""
    sure: tuple[Run, ...]
    """The runs of which even the lower limit is, at a level that knows how many were looked at."""
    lower: float | None
    """The least of the lower limits of the best runs, at that level; None if no run has a value."""

    @property
    def named(self) -> tuple[Run, ...]:
        """The runs that may be the best."""
        return (*self.runs, *self.rivals)

    @property
    def is_sure(self) -> bool:
        """Whether all of the best runs surely reach the threshold."""
        return bool(self.runs) and all(run in self.sure for run in self.runs)

    @property
    def is_walkover(self) -> bool:
        """Whether the best has nothing to be better than, although there are other runs."""
        return self.looked_at == 1 and bool(self.unknown)

    @property
    def gap(self) -> float | None:
        """How far the best is ahead, as a difference of shares; None without a runner-up."""
        if self.value is None or self.runner_up_value is None:
            return None
        return self.value - self.runner_up_value


@dataclass(frozen=True, slots=True)
class Regression:
    """A run that is less dependable than the one that it is compared with, beyond chance."""

    before: str
    """The name of the baseline in a sentence."""
    after: Run
    change: Change


@dataclass(frozen=True, slots=True)
class Verdict:
    """The conclusion from runs that can be compared."""

    runs: tuple[Run, ...]
    older: int
    """How many other runs have tried the same tasks, but are too old to be ranked."""
    is_ranked: bool
    """Whether it is known which of the runs are told apart."""
    tasks: int
    reviewed: Pick
    unattended: Pick
    regressions: tuple[Regression, ...]


def judge(
    suite: Suite,
    deployment_k: int,
    capable_threshold: float,
    consistent_threshold: float,
    *,
    confidence: float = 0.95,
    ranks: Ranks | None = None,
) -> tuple[Verdict, ...]:
    """Judge the runs of each set of tasks, that of the most runs first; without ranks by value."""
    verdicts = []
    for tried in suite.groups:
        group = tried if ranks is None else tuple(run for run in tried if ranks.has(run))
        # If all runs are too old, or the tables have no ranks, only the values are known.
        of_group = ranks if group else None
        is_ranked = ranks is None or bool(group)
        group = group or tried
        how = (confidence, of_group)
        reviewed = _pick(group, "pass_at_k", deployment_k, capable_threshold, *how)
        unattended = _pick(group, "pass_hat_k", deployment_k, consistent_threshold, *how)
        regressions = _regressions(suite, tried, unattended.k)
        older = len(tried) - len(group)
        verdicts.append(
            Verdict(group, older, is_ranked, group[0].tasks, reviewed, unattended, regressions)
        )
    return tuple(verdicts)


def _values(run: Run, metric: Metric) -> Mapping[int, float | None]:
    return run.pass_at_k if metric == "pass_at_k" else run.pass_hat_k


def limits(run: Run, metric: Metric) -> Mapping[int, tuple[float, float]]:
    """Give the intervals of a metric of a run, by k."""
    return run.pass_at_k_limits if metric == "pass_at_k" else run.pass_hat_k_limits


def _pick(
    runs: Sequence[Run],
    metric: Metric,
    deployment_k: int,
    threshold: float,
    confidence: float,
    ranks: Ranks | None,
) -> Pick:
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
        return Pick(
            metric,
            k,
            (),
            (),
            None,
            None,
            None,
            None,
            unknown,
            0,
            reaches=False,
            sure=(),
            lower=None,
        )
    best = max(value for value, _ in known)
    winners = tuple(run for value, run in known if best - value <= _EQUAL)
    others = sorted(
        ((value, run) for value, run in known if best - value > _EQUAL),
        key=lambda pair: pair[0],
        reverse=True,
    )
    second_value, second = others[0] if others else (None, None)
    behind = [run for _, run in others]
    lowest = {
        run.run_id: lower_limit_among(
            run, value, limits(run, metric)[k][0], k, confidence=confidence, looked_at=len(known)
        )
        for value, run in known
    }
    return Pick(
        metric,
        k,
        winners,
        () if ranks is None else _rivals(ranks, winners, behind, metric, k),
        best,
        None if ranks is None else ranks.without_luck(winners[0], metric, k),
        second,
        second_value,
        unknown,
        len(known),
        reaches=best >= threshold,
        sure=tuple(run for _, run in known if lowest[run.run_id] >= threshold),
        lower=min(lowest[run.run_id] for run in winners),
    )


def _rivals(
    ranks: Ranks, winners: Sequence[Run], behind: Sequence[Run], metric: Metric, k: int
) -> tuple[Run, ...]:
    found = ranks.may_be_best([*winners, *behind], metric, k)
    return tuple(run for run in found if run not in winners)


def _regressions(suite: Suite, runs: Sequence[Run], k: int) -> tuple[Regression, ...]:
    by_id = {run.run_id: run for run in suite.runs}
    here = {run.run_id for run in runs}
    found = [
        Regression(
            by_id[change.baseline].label if change.baseline in by_id else change.baseline,
            by_id[change.candidate],
            change,
        )
        for change in suite.changes
        if change.k == k and change.candidate in here
    ]
    # If times are equal, a larger fall comes first.
    found.sort(key=lambda one: one.change.hat_k[1] - one.change.hat_k[0])
    found.sort(key=lambda one: one.after.newness, reverse=True)
    return tuple(found)
