"""The tasks of two runs, each for itself: the table ``passk_task_comparisons``, from attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.comparisons.run_pairs import pairs_of
from passk_py.stats.distributions import p_value
from passk_py.stats.estimators.arguments import checked_confidence
from passk_py.stats.permutations import PairCounts, fisher, least_p

if TYPE_CHECKING:
    from passk_py.metrics.comparisons.run_pairs import Pair


@any_frame
def compare_tasks(
    attempts: pl.DataFrame | pl.LazyFrame,
    baseline: str,
    candidate: str,
    *,
    suite: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Find the tasks that moved between two runs.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    baseline, candidate
        The two runs by their ``run_id``. A difference is candidate less baseline.
    suite
        One suite; by default every suite that both runs have.
    confidence
        A task moved if its adjusted p is at most 1 less this.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per suite and task that both runs have, with the columns of the table
        ``passk_task_comparisons``: counts and pass rates of both, ``difference``, the two-sided
        ``p`` of Fisher's exact test, ``p_adjusted`` for the number of tasks (Benjamini and
        Hochberg), the ``least_p`` that so many attempts can give, the ``least_p_of_fall`` that they
        can with as many passes in the baseline, ``moved``, ``direction`` and ``null_reason``.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a run has no attempt, or the two have no suite in common.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": run, "task_id": "t", "attempt": number, "passed": number <= passes}
    ...         for run, passes in (("old", 8), ("new", 2))
    ...         for number in range(1, 9)
    ...     ]
    ... )
    >>> compare_tasks(log, "old", "new").select("direction", "moved", pl.col("p").round(4)).row(0)
    ('fell', True, 0.007)
    """
    level = checked_confidence("compare_tasks", confidence)
    pairs = pairs_of("compare_tasks", attempts, baseline, candidate, suite, threshold)
    return pl.concat([task_comparisons(pair, confidence=level) for pair in pairs])


def task_comparisons(pair: Pair, *, confidence: float) -> pl.DataFrame:
    """Compare the tasks of a pair, each for itself."""
    counted = pair.histogram().filter(pl.min_horizontal("baseline_n", "candidate_n") > 0)
    # Those with the same ways to deal their passes one after the other.
    passes = pl.col("baseline_c") + pl.col("candidate_c")
    in_order = counted.sort("baseline_n", "candidate_n", passes).select(PairCounts._fields)
    states = [PairCounts(*counts) for counts in in_order.iter_rows()]
    tested = pl.DataFrame(
        [
            (
                *one,
                p_value(fisher(one)),
                p_value(least_p(one.baseline_n, one.candidate_n)),
                p_value(fisher(one._replace(candidate_c=0))),
            )
            for one in states
        ],
        schema={
            **dict.fromkeys(PairCounts._fields, pl.Int64),
            **dict.fromkeys(("p", "least_p", "least_p_of_fall"), pl.Float64),
        },
        orient="row",
    )
    rates = [pl.col(f"{side}_c") / pl.col(f"{side}_n") for side in ("baseline", "candidate")]
    balance = pl.col("candidate_c") * pl.col("baseline_n") - pl.col("baseline_c") * pl.col(
        "candidate_n"
    )
    p = pl.col("p")
    return (
        pair.common.join(tested, on=PairCounts._fields, how="left", maintain_order="left")
        .with_columns(
            suite=pl.lit(pair.suite),
            baseline_run_id=pl.lit(pair.baseline_run_id),
            candidate_run_id=pl.lit(pair.candidate_run_id),
            # 0 / 0 is NaN here, and null in SQL.
            baseline_pass_rate=rates[0].fill_nan(None),
            candidate_pass_rate=rates[1].fill_nan(None),
            direction=pl.when(p.is_not_null()).then(
                balance.sign().replace_strict([-1, 0, 1], ["fell", "same", "rose"])
            ),
            null_reason=pl.when((pl.col("baseline_n") == 0) & (pl.col("candidate_n") == 0))
            .then(pl.lit("no counted attempt in either run"))
            .when(pl.col("baseline_n") == 0)
            .then(pl.lit("no counted attempt in the baseline"))
            .when(pl.col("candidate_n") == 0)
            .then(pl.lit("no counted attempt in the candidate")),
            # The quotient first: it is at least 1, so that no rounding takes it below p.
            scaled=p * (p.count() / p.rank("max")),
        )
        .with_columns(
            difference=pl.col("candidate_pass_rate") - pl.col("baseline_pass_rate"),
            p_adjusted=pl.col("scaled")
            .sort_by("p", descending=True, nulls_last=True)
            .cum_min()
            .gather(p.rank("ordinal", descending=True).cast(pl.Int64) - 1)
            .clip(upper_bound=1.0),
        )
        .with_columns(moved=has_moved("p_adjusted", confidence))
        .select(
            *("suite", "baseline_run_id", "candidate_run_id", "task_id"),
            *PairCounts._fields,
            *("baseline_pass_rate", "candidate_pass_rate", "difference"),
            *("p", "p_adjusted", "least_p", "least_p_of_fall"),
            *("moved", "direction", "null_reason"),
        )
    )


def has_moved(p_adjusted: str, confidence: float) -> pl.Expr:
    """Say whether a task moved, by the name of the column of its adjusted p."""
    return (pl.col(p_adjusted) <= round(1 - confidence, 10)).fill_null(value=False)
