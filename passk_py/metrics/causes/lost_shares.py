"""Losses of pass^k of suites, by cause, slice and family: ``passk_lost_reliability``."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.causes.cause_of_reason import AGENT, UNKNOWN, cause_finder
from passk_py.metrics.frames.counting import TASK, unordered_tasks
from passk_py.metrics.logs import read_log
from passk_py.metrics.states import all_pass, padded, score, short_reason, short_tasks
from passk_py.stats.estimators.arguments import (
    ArgumentError,
    checked_confidence,
    checked_ks,
    checked_share,
    checked_slices,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PART: Final = ("dimension", "slice_name", "part")
"""The key of the parts of a run."""
LOST_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(PART, pl.String),
    "k": pl.Int64,
    **dict.fromkeys(
        ("eligible_tasks", "total_tasks", "failing_tasks", "failed_attempts", "excluded_attempts"),
        pl.Int64,
    ),
    **dict.fromkeys(
        (
            *("pass_hat_k", "lost", "lost_share", "lost_share_lower", "lost_share_upper"),
            *("effective_draws", "pass_hat_k_if_passed"),
        ),
        pl.Float64,
    ),
    **dict.fromkeys(("null_reason", "caveat"), pl.String),
}
_RUN: Final = ("run_id", "suite")
_NO_FAMILY: Final = "(no family)"
_NOTHING_LOST: Final = "nothing is lost: no counted attempt of these tasks failed"


class _Tasks(NamedTuple):
    """Tasks that are alike: n attempts, c passed, and so many failures of a part."""

    family: str | None
    n: int
    c: int
    failures: int
    tasks: int
    excluded: int


@any_frame
def lost_reliability(
    attempts: pl.DataFrame | pl.LazyFrame,
    ks: Iterable[int],
    *,
    causes: Mapping[str, str] | None = None,
    slices: Sequence[str] = (),
    cluster: str | None = None,
    min_eligible_share: float = 0.95,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Share out what suites lack of pass^k among causes, slices and families.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`. Causes follow from its
        column ``outcome_reason``, if there is one.
    ks
        Values of k, whole numbers from 1.
    causes
        Patterns of reasons and their causes, which come before those of the package: ``*`` stands
        for anything, ``_`` for any one character, and case does not matter.
    slices, cluster, min_eligible_share, confidence, threshold
        As in :func:`passk_py.suite_metrics`.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite, ``dimension`` (``cause``, ``slice``, ``family``), ``slice_name``
        (``all`` but for slices), ``part`` and k: ``eligible_tasks`` (n >= k), ``total_tasks``,
        ``failing_tasks`` and ``failed_attempts`` of the part, ``excluded_attempts``, ``pass_hat_k``
        of the suite, what is ``lost`` of it, its ``lost_share`` with limits for tasks like these
        (null for families), ``effective_draws``, the number of equal tasks or families that would
        say as much, ``pass_hat_k_if_passed``, ``null_reason``, why there is no share, and
        ``caveat``.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Notes
    -----
    Of the n - c failures of a task, f are of a part. It loses

    .. math:: \left(1 - \binom{c}{k} / \binom{n}{k}\right) \frac{f}{n - c}

    the Shapley value of its failed attempts, which are alike: the expected share of the part in
    the failures among k attempts, where any failed. A failure without a reason is the agent's.

    Examples
    --------
    >>> import polars as pl
    >>> reasons = [None, None, "max_steps", None]
    >>> log = pl.DataFrame(
    ...     {"run_id": "r", "task_id": "t", "attempt": [1, 2, 3, 4], "outcome_reason": reasons}
    ... ).with_columns(passed=pl.col("attempt") <= 2)
    >>> lost_reliability(log, [2]).select("part", "lost", "pass_hat_k_if_passed").rows()
    [('agent', 0.4166666666666667, 0.5), ('limit', 0.4166666666666667, 0.5)]
    """
    name = "lost_reliability"
    patterns = _checked_causes(causes)
    known_ks = checked_ks(name, ks)
    share = checked_share(name, min_eligible_share)
    level = checked_confidence(name, confidence)
    named = {one: one for one in checked_slices(name, slices)}
    counts = counted_parts(attempts, named, cluster, patterns, threshold=threshold)
    rows = lost_rows(
        counts,
        known_ks,
        min_eligible_share=share,
        confidence=level,
    )
    types: dict[str, type[pl.DataType]] = {**dict.fromkeys(_RUN, pl.String), **LOST_TYPES}
    return pl.DataFrame(rows, schema=types, orient="row")


def _checked_causes(causes: Mapping[str, str] | None) -> Mapping[str, str]:
    told = {} if causes is None else causes
    texts = isinstance(told, Mapping) and all(
        isinstance(one, str) and one for pair in told.items() for one in pair
    )
    if not texts:
        raise ArgumentError(
            f"lost_reliability: causes must map patterns of reasons to causes; got {causes!r}"
        )
    return told


def counted_parts(
    attempts: pl.DataFrame | pl.LazyFrame,
    slices: Mapping[str, str],
    cluster: str | None,
    causes: Mapping[str, str],
    *,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Count the tasks of runs that have the same counts and as many failures of a part.

    ``slices`` has the columns or tags of the slices by their names. All failures of a task are of
    the part ``all``; tasks that can't be counted are left out.
    """
    cause = _cause(attempts.lazy(), causes)
    log = read_log(attempts, threshold, more={"part": cause}, cluster=cluster)
    passed, known = pl.col("passed"), ("family",) if cluster is not None else ()
    tasks = (
        unordered_tasks(log, TASK)
        .filter(pl.col("n").is_not_null())
        .select(*TASK, "n", "c", "excluded", *known)
    )
    every = tasks.select(*TASK, pl.col("excluded"), failures=pl.col("n") - pl.col("c"))
    parts = [
        _placed(every.with_columns(part=pl.lit("all")), "all", "all"),
        _placed(_failures(log.filter(passed.is_null() | ~passed)), "cause", "all"),
    ]
    for name, column in slices.items():
        sliced = read_log(attempts, threshold, column).rename({"slice_value": "part"})
        parts.append(_placed(_failures(sliced), "slice", name))
    if cluster is not None:
        family = tasks.select(*TASK, part=pl.col("family").fill_null(_NO_FAMILY))
        parts.append(_placed(every.join(family, on=list(TASK)), "family", "all"))
    return _tasks_of_parts(parts, tasks)


def counted_parts_of_counts(
    tasks: pl.DataFrame, failures: pl.DataFrame, causes: Mapping[str, str]
) -> pl.DataFrame:
    """Give :func:`counted_parts`, without slices and families, of tasks that are counted already.

    ``failures`` has a row for each task and ``outcome_reason``, with the attempts that are
    ``failures`` or ``excluded``; one that is excluded for no reason is a row without failures.
    """
    untold = pl.when(pl.col("excluded") > 0).then(pl.lit(UNKNOWN)).otherwise(pl.lit(AGENT))
    by_cause = (
        failures.lazy()
        .with_columns(part=_cause(failures.lazy(), causes).fill_null(untold))
        .group_by(*TASK, "part")
        .agg(pl.col("excluded", "failures").sum())
    )
    every = tasks.lazy().with_columns(failures=pl.col("n") - pl.col("c"), part=pl.lit("all"))
    parts = [_placed(every, "all", "all"), _placed(by_cause, "cause", "all")]
    return _tasks_of_parts(parts, tasks.lazy().select(*TASK, "n", "c", "excluded"))


def _tasks_of_parts(parts: Sequence[pl.LazyFrame], tasks: pl.LazyFrame) -> pl.DataFrame:
    """Count the tasks that have the same counts and as many failures of a part."""
    known = "family" in tasks.collect_schema()
    return (
        pl.concat(parts)
        .join(tasks.drop("excluded"), on=list(TASK))
        .with_columns(family=pl.col("family") if known else pl.lit(None, pl.String))
        .group_by(*_RUN, *PART, "family", "n", "c", "failures")
        .agg(tasks=pl.len().cast(pl.Int64), excluded=pl.col("excluded").sum())
        .collect(engine="streaming")
    )


def _cause(log: pl.LazyFrame, causes: Mapping[str, str]) -> pl.Expr:
    """Give the cause of each attempt as if it had not passed."""
    passed = pl.lit(None, pl.String)
    if "outcome_reason" in log.collect_schema():
        reason = pl.col("outcome_reason").cast(pl.String)
        told = log.select(reason.drop_nulls().unique()).collect(engine="streaming").to_series()
        cause_of = cause_finder(causes)
        passed = reason.replace_strict(
            {one: cause_of(one) for one in told}, default=None, return_dtype=pl.String
        )
    return passed


def _failures(log: pl.LazyFrame) -> pl.LazyFrame:
    """Count the failures and the excluded attempts of each part of a task."""
    passed = pl.col("passed")
    untold = pl.when(passed.is_null()).then(pl.lit(UNKNOWN)).otherwise(pl.lit(AGENT))
    return (
        log.with_columns(pl.col("part").fill_null(untold))
        .group_by(*TASK, "part")
        .agg(excluded=passed.null_count().cast(pl.Int64), failures=(~passed).sum().cast(pl.Int64))
    )


def _placed(parts: pl.LazyFrame, dimension: str, name: str) -> pl.LazyFrame:
    return parts.select(
        *TASK, "part", "failures", "excluded", dimension=pl.lit(dimension), slice_name=pl.lit(name)
    )


def lost_rows(
    counts: pl.DataFrame,
    ks: Sequence[int],
    *,
    min_eligible_share: float,
    confidence: float,
) -> Iterator[dict[str, Any]]:
    """Share out what each run loses, from :func:`counted_parts`."""
    columns = ("family", "n", "c", "failures", "tasks", "excluded")
    for (run, suite), of_run in sorted(counts.partition_by(*_RUN, as_dict=True).items()):
        parts: dict[tuple[str, ...], list[_Tasks]] = {
            tuple(map(str, place)): [_Tasks(*row) for row in rows.select(columns).iter_rows()]
            for place, rows in of_run.partition_by(*PART, as_dict=True).items()
        }
        wholes = parts.pop(("all", "all", "all"))
        for k in ks:
            lost = _Lost(wholes, k)
            reason = short_reason(
                k, lost.eligible, lost.total, min_eligible_share=min_eligible_share
            )
            for place, tasks in sorted(parts.items()):
                yield {
                    "run_id": run,
                    "suite": suite,
                    **dict.fromkeys(LOST_TYPES),
                    **dict(zip(PART, place, strict=True)),
                    **lost.counts(tasks),
                    "null_reason": reason,
                    **(lost.shares(place, tasks, confidence) if reason is None else {}),
                }


class _Lost:
    """The loss of pass^k of a suite, and how much each draw, a task or a family, loses."""

    def __init__(self, wholes: Sequence[_Tasks], k: int) -> None:
        self.k = k
        self.wholes = [one for one in wholes if one.n >= k]
        self.total = sum(one.tasks for one in wholes)
        self.eligible = sum(one.tasks for one in self.wholes)
        # A task of no family is a draw of its own.
        self.alone: dict[tuple[int, int], int] = defaultdict(int)
        families: dict[str, list[float]] = defaultdict(list)
        for one in self.wholes:
            if one.family is None:
                self.alone[one.n, one.c] += one.tasks
            else:
                families[one.family].append(one.tasks * self.loss(one.n, one.c))
        self.families = {name: math.fsum(losses) for name, losses in families.items()}
        self.all = math.fsum(
            (
                *(tasks * self.loss(*state) for state, tasks in self.alone.items()),
                *self.families.values(),
            )
        )
        self.squared = math.fsum(
            (
                *(tasks * self.loss(*state) ** 2 for state, tasks in self.alone.items()),
                *(loss**2 for loss in self.families.values()),
            )
        )

    def loss(self, n: int, c: int) -> float:
        """Give 1 - pass^k of a task, without a difference from 1."""
        return score("pass_at_k", n, n - c, self.k)

    def counts(self, tasks: Sequence[_Tasks]) -> dict[str, Any]:
        """Count what the table says of a part, whether or not there is a share."""
        eligible = [one for one in tasks if one.n >= self.k]
        return {
            "k": self.k,
            "eligible_tasks": self.eligible,
            "total_tasks": self.total,
            "failing_tasks": sum(one.tasks for one in eligible if one.failures),
            "failed_attempts": sum(one.tasks * one.failures for one in eligible),
            "excluded_attempts": sum(one.excluded for one in tasks),
        }

    def shares(
        self, place: tuple[str, ...], tasks: Sequence[_Tasks], confidence: float
    ) -> dict[str, Any]:
        """Give what a part loses, and its share with limits."""
        k, eligible = self.k, [one for one in tasks if one.n >= self.k]
        mean = math.fsum(one.tasks * all_pass(one.n, one.c, k) for one in self.wholes)
        lost = math.fsum(one.tasks * self._loss_of_part(one) for one in eligible)
        won = math.fsum(
            one.tasks * (all_pass(one.n, one.c + one.failures, k) - all_pass(one.n, one.c, k))
            for one in eligible
        )
        found: dict[str, Any] = {
            "pass_hat_k": mean / self.eligible,
            "lost": lost / self.eligible,
            "pass_hat_k_if_passed": (mean + won) / self.eligible,
        }
        if self.eligible < self.total:
            short = short_tasks(k, self.eligible, self.total)
            found["caveat"] = f"{short}, which are left out"
        if self.all == 0:
            return found | {"null_reason": _NOTHING_LOST}
        share = min(lost / self.all, 1.0)
        units = self.all**2 / self.squared
        found |= {"lost_share": share, "effective_draws": units}
        if place[0] != "family":
            squares = self._squares(eligible, share) * (self.all / self.squared) ** 2
            middle, reach = padded(share, squares, units, confidence)
            found["lost_share_lower"] = max(middle - reach, 0.0)
            found["lost_share_upper"] = min(middle + reach, 1.0)
        return found

    def _loss_of_part(self, one: _Tasks) -> float:
        return self.loss(one.n, one.c) * (one.failures / (one.n - one.c)) if one.failures else 0.0

    def _squares(self, tasks: Sequence[_Tasks], share: float) -> float:
        """Sum over draws the squares of the part's loss less the share of the draw's loss."""
        without = dict(self.alone)
        families: dict[str, list[float]] = defaultdict(list)
        squares = []
        for one in tasks:
            loss = self._loss_of_part(one)
            if one.family is None:
                without[one.n, one.c] -= one.tasks
                squares.append(one.tasks * (loss - share * self.loss(one.n, one.c)) ** 2)
            else:
                families[one.family].append(one.tasks * loss)
        squares += [tasks * (share * self.loss(*state)) ** 2 for state, tasks in without.items()]
        squares += [
            (math.fsum(families.get(name, ())) - share * loss) ** 2
            for name, loss in self.families.items()
        ]
        return math.fsum(squares)
