"""The runs of a suite, ranked with the limits of their ranks: the table ``passk_rankings``."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.comparisons.compared_runs import METRICS, short_reason_of_pair
from passk_py.metrics.comparisons.pair_figures import PairSums, figures_of
from passk_py.metrics.comparisons.pair_verdicts import reason_without_verdict
from passk_py.metrics.comparisons.run_pairs import pair_of
from passk_py.metrics.frames import DEFAULT_KS, suite_metrics, task_counts
from passk_py.metrics.logs import said_of_runs
from passk_py.metrics.run_order import latest_first
from passk_py.stats.distributions import median_of_highest, two_sided_p
from passk_py.stats.estimators import ArgumentError
from passk_py.stats.estimators.arguments import checked_confidence, checked_ks, checked_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from passk_py.metrics.comparisons.run_pairs import Pair

MOST_RANKED: Final = 40
"""The default of the var ``passk_ranked_runs``, which a test holds it to."""

RANKING_COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("suite", "run_id", "metric"), pl.String),
    **dict.fromkeys(("k", "ranked_runs"), pl.Int64),
    **dict.fromkeys(("estimate", "lower", "upper", "estimate_of_top"), pl.Float64),
    **dict.fromkeys(("estimated_rank", "rank_lower", "rank_upper"), pl.Int64),
    **dict.fromkeys(("better_runs", "worse_runs"), pl.Int64),
    "may_be_best": pl.Boolean,
    **dict.fromkeys(("not_told_apart_from", "null_reason", "meaning"), pl.String),
}
_DIGITS: Final = 10


class Shared(NamedTuple):
    """The tasks of an older and a newer run."""

    histogram: pl.DataFrame
    """How many tasks of both have the same counts, as of :meth:`Pair.histogram`."""
    older_only: int
    newer_only: int


class PairTest(NamedTuple):
    """The test of two runs at one metric and k."""

    difference: float
    """The newer run less the older one, over the tasks with n >= k in both."""
    p: float
    """1 where nothing can be told."""
    error: float | None
    """The standard error of the difference; None where the common tasks are too few."""


@any_frame
def rank_runs(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    most_runs: int = MOST_RANKED,
    confidence: float = 0.95,
    min_eligible_share: float = 0.95,
    cluster: str | None = None,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Rank the runs of each suite by pass@k and by pass^k, with the limits of their ranks.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    ks
        Whole numbers from 1.
    most_runs
        How many of the latest runs of a suite are ranked, from 2: each is tested against each
        other. Runs are ordered by ``started_at`` where all runs of the suite have it, else by
        ``loaded_at``, then by ``run_id``. Attempts without a ``run_id`` are of no run.
    confidence
        How sure all claims about one suite, metric and k are together.
    min_eligible_share
        The share of the tasks that must have n >= k, from 0 to 1; see
        :func:`~passk_py.suite_metrics`.
    cluster
        Name of a column, or of a tag, that names the family of a task: the limits of the values
        then know of families; ranks are about these tasks, and don't change.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per suite, metric, k and ranked run, the highest value first, with the columns of
        the table ``passk_rankings`` except those that tell of the run. Without a value at that k
        the figures are null, and ``null_reason`` says why.

        Each two runs are tested by the permutation test of :func:`~passk_py.compare`. With the p
        values of all A (A - 1) / 2 pairs adjusted by Holm's method (1979), ``rank_lower`` is 1 plus
        the runs that are better beyond chance, and ``rank_upper`` A less those that are worse. So
        all ranks of one suite, metric and k hold together with the confidence asked for, for these
        tasks. ``may_be_best`` is true where no run is better beyond chance.

        The highest of several values is too high. ``estimate_of_top`` of the run on top is
        ``estimate - q s``, with q the median of the highest of m standard normal variables, m the
        run and those from which it is not told apart, and s^2 the mean of half of the variances of
        their differences. It is null for the other runs.

    Raises
    ------
    ArgumentError
        If an option can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": run, "task_id": task, "attempt": number, "passed": number <= passes}
    ...         for run, passes in (("steady", 4), ("shaky", 2), ("weak", 2))
    ...         for task in range(10)
    ...         for number in range(1, 5)
    ...     ]
    ... )
    >>> ranks = rank_runs(log, ks=[2]).filter(metric="pass_hat_k")
    >>> ranks.select("run_id", "rank_lower", "rank_upper", "may_be_best").rows()
    [('steady', 1, 1, True), ('shaky', 2, 3, False), ('weak', 2, 3, False)]
    """
    chosen = checked_ks("rank_runs", ks)
    level = checked_confidence("rank_runs", confidence)
    share = checked_share("rank_runs", min_eligible_share)
    if not isinstance(most_runs, int) or most_runs < 2:
        raise ArgumentError(f"rank_runs: most_runs must be an integer from 2; got {most_runs!r}")
    log = attempts.lazy()
    if "run_id" in log.collect_schema():
        log = log.filter(pl.col("run_id").is_not_null())
    counts = task_counts(log, threshold=threshold).collect()
    values = suite_metrics(
        log,
        ks=chosen,
        min_eligible_share=share,
        ordered=False,
        cluster=cluster,
        confidence=level,
        threshold=threshold,
    ).collect()
    times = said_of_runs(log, ("started_at", "loaded_at")).collect()
    ranked = latest_first(times.to_dicts(), most_runs)
    shared = {
        (suite, older, newer): shared_tasks(pair_of(suite, older, newer, counts))
        for suite, runs in ranked.items()
        for newer, older in combinations(runs, 2)
    }
    ranks = ranking(values, ranked, shared, confidence=level, min_eligible_share=share)
    return ranks.sort("suite", "metric", "k", "estimated_rank", "run_id", nulls_last=True)


def in_list(run_id: str) -> str:
    """Write the name of a run as a list of names has it, without a comma."""
    return run_id.replace(",", ";")


def shared_tasks(pair: Pair) -> Shared:
    """Count the tasks of a pair whose baseline is the older run."""
    return Shared(pair.histogram(), pair.baseline_only, pair.candidate_only)


def ranking(
    values: pl.DataFrame,
    ranked: Mapping[str, Sequence[str]],
    shared: Mapping[tuple[str, str, str], Shared],
    *,
    confidence: float,
    min_eligible_share: float,
) -> pl.DataFrame:
    """Rank runs by their rows of ``passk_suite_metrics``; ``shared`` is by suite, older, newer."""
    over_tasks = {pair: PairSums(tasks.histogram) for pair, tasks in shared.items()}
    alpha = round(1 - confidence, _DIGITS)
    rows = []
    by_run = values.partition_by("suite", "run_id", as_dict=True)
    for suite, runs in ranked.items():
        curves = {run: by_run[suite, run].sort("k").to_dicts() for run in runs}
        for place, k in enumerate(row["k"] for row in next(iter(curves.values()))):
            at_k = {run: curve[place] for run, curve in curves.items()}
            for metric in METRICS:
                known = [run for run in runs if at_k[run][metric] is not None]
                tests = {
                    (older, newer): _test(
                        shared[suite, older, newer],
                        over_tasks[suite, older, newer],
                        metric,
                        k,
                        confidence,
                        min_eligible_share,
                    )
                    for newer, older in combinations(known, 2)
                }
                told = _ranks({run: at_k[run][metric] for run in known}, tests, alpha)
                rows += [
                    {"suite": suite, "run_id": run, "metric": metric, "k": k}
                    | _row(at_k[run], metric, told.get(run), len(known))
                    for run in runs
                ]
    return pl.DataFrame(rows, schema=RANKING_COLUMNS)


def _test(
    tasks: Shared, over_tasks: PairSums, metric: str, k: int, confidence: float, share: float
) -> PairTest:
    """Test two runs by the rules of a comparison; p is 1 where that has no verdict."""
    sums = over_tasks.sums(metric, k)
    common = over_tasks.tasks
    row: dict[str, Any] = {
        "k": k,
        "common_tasks": common,
        "baseline_only_tasks": max(tasks.older_only, tasks.newer_only),
        "eligible_tasks": sums.eligible,
        "deciding_tasks": sums.deciding,
        "no_figures": short_reason_of_pair(over_tasks, sums.eligible, k, share),
    }
    if common == 0 or row["no_figures"] is not None:
        return PairTest(0.0, 1.0, None)
    figures = figures_of(sums, k, confidence)
    difference, p, error = figures["difference"], figures["p"], figures["difference_error"]
    if p is None or reason_without_verdict(row) is not None:
        return PairTest(difference, 1.0, error)
    short = common - sums.eligible
    # Every task with n < k may be against the difference.
    least = (abs(difference) * sums.eligible - short) / sums.eligible
    if short and least <= 0:
        return PairTest(difference, 1.0, error)
    return PairTest(difference, max(p, two_sided_p(least / error)) if short else p, error)


def _ranks(
    values: Mapping[str, float], tests: Mapping[tuple[str, str], PairTest], alpha: float
) -> dict[str, dict[str, Any]]:
    """Rank runs that have a value."""
    better: dict[str, set[str]] = defaultdict(set)
    worse: dict[str, set[str]] = defaultdict(set)
    adjusted = 0.0
    in_order = sorted(tests.items(), key=lambda item: (item[1].p, item[0]))
    for place, ((older, newer), test) in enumerate(in_order):
        # Holm 1979: the smallest p counts as often as there are pairs, the next once less.
        adjusted = max(adjusted, test.p * (len(tests) - place))
        above, below = (newer, older) if test.difference > 0 else (older, newer)
        if adjusted <= alpha:
            better[below].add(above)
            worse[above].add(below)
    # Sums of the same values in another order differ in their last digits.
    rounded = {run: math.floor(value * 1e12 + 0.5) for run, value in values.items()}
    ranks = {
        run: 1 + sum(other > mine for other in rounded.values()) for run, mine in rounded.items()
    }
    return {
        run: {
            "estimate_of_top": None
            if ranks[run] > 1
            else _without_luck(
                value,
                [
                    test.error
                    for pair, test in tests.items()
                    if run in pair and not better[run].union(worse[run]).intersection(pair)
                ],
            ),
            "estimated_rank": ranks[run],
            "rank_lower": 1 + len(better[run]),
            "rank_upper": len(values) - len(worse[run]),
            "better_runs": len(better[run]),
            "worse_runs": len(worse[run]),
            "may_be_best": not better[run],
            "not_told_apart_from": ", ".join(
                in_list(other)
                for other in sorted(
                    values.keys() - {run} - better[run] - worse[run],
                    key=lambda other: (ranks[other], other),
                )
            )
            or None,
        }
        for run, value in values.items()
    }


def _without_luck(value: float, errors: Sequence[float | None]) -> float | None:
    """Take off of the highest value how far the luckiest of equally good runs comes out above.

    ``errors`` are those of the differences to the runs from which it is not told apart. Of two
    runs, each has half of the variance of their difference.
    """
    known = [error for error in errors if error is not None]
    if not errors:
        return value
    if not known:
        return None
    variance = math.fsum(error * error / 2 for error in known) / len(known)
    return max(value - median_of_highest(len(errors) + 1) * math.sqrt(variance), 0.0)


def _row(
    at_k: Mapping[str, Any], metric: str, rank: dict[str, Any] | None, ranked: int
) -> dict[str, Any]:
    """Give the figures of a run at one metric and k, and say them."""
    row = {
        "ranked_runs": ranked,
        "estimate": at_k[metric],
        "lower": at_k[f"{metric}_lower"],
        "upper": at_k[f"{metric}_upper"],
        "null_reason": at_k["null_reason"] if rank is None else None,
    }
    if rank is None:
        return row | {"meaning": f"Not ranked: {at_k['null_reason']}."}
    return row | rank | {"meaning": _meaning(rank, ranked)}


def _meaning(rank: Mapping[str, Any], ranked: int) -> str:
    if ranked == 1:
        return "The only run with a value."
    if rank["rank_upper"] == 1:
        return f"The best of {ranked} runs."
    first, last = rank["rank_lower"], rank["rank_upper"]
    place = f"{first}" if first == last else f"{first} to {last}"
    may = "May be the best" if rank["may_be_best"] else "Not the best"
    return f"{may} of {ranked} runs: rank {place}."
