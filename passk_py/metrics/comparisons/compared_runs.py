"""Two runs on the same tasks: the table ``passk_comparisons``, from attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.comparisons.pair_figures import PairSums, figures_of, related_differences
from passk_py.metrics.comparisons.pair_verdicts import judged, with_limits
from passk_py.metrics.comparisons.run_pairs import pairs_of
from passk_py.metrics.frames import DEFAULT_KS
from passk_py.metrics.frames.columns import identities
from passk_py.metrics.states import short_reason
from passk_py.stats.estimators import ArgumentError
from passk_py.stats.estimators.arguments import checked_confidence, checked_ks, checked_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.metrics.comparisons.run_pairs import Pair

_PAIR: Final = ("suite", "baseline_run_id", "candidate_run_id")
METRICS: Final = ("pass_at_k", "pass_hat_k")
COMPARISON_COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys((*_PAIR, "metric"), pl.String),
    **dict.fromkeys(("k", "common_tasks", "baseline_only_tasks", "candidate_only_tasks"), pl.Int64),
    **dict.fromkeys(("eligible_tasks", "families", "informative_tasks", "least_n"), pl.Int64),
    **dict.fromkeys(("baseline", "candidate", "difference", "z", "p"), pl.Float64),
    **dict.fromkeys(("difference_lower", "difference_upper"), pl.Float64),
    **dict.fromkeys(("difference_suite_lower", "difference_suite_upper"), pl.Float64),
    "minimum_change": pl.Float64,
    "verdict": pl.String,
    "hidden_regression": pl.Boolean,
    **dict.fromkeys(("null_reason", "caveat", "meaning"), pl.String),
}


@any_frame
def compare(
    attempts: pl.DataFrame | pl.LazyFrame,
    baseline: str,
    candidate: str,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    suite: str | None = None,
    confidence: float = 0.95,
    minimum_change: float = 0.0,
    min_eligible_share: float = 0.95,
    cluster: str | None = None,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Compare pass@k and pass^k of two runs over the tasks that both have.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    baseline, candidate
        The two runs by their ``run_id``. A difference is candidate less baseline.
    ks
        Whole numbers from 1.
    suite
        One suite; by default every suite that both runs have.
    confidence
        Level of the intervals, and of what is beyond chance.
    minimum_change
        The least difference that matters.
    min_eligible_share
        The share of the common tasks that must have n >= k in each run for there to be figures at
        that k, from 0 to 1. The figures are over the tasks that have them in both; the limits allow
        the others any difference.
    cluster
        Name of a column, or of a tag, that names the family of related tasks that a task is one of.
        The limits for tasks like these then treat a family as one draw.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per suite, metric and k, with the columns of the table ``passk_comparisons`` except
        ``pair_source`` and ``loaded_at``: agents and their versions, null where the log does not
        name them, numbers of tasks, means over the eligible ones, ``difference``,
        ``z`` and ``p`` of the stratified permutation test, limits for tasks like these and for
        these tasks, ``verdict``, ``hidden_regression``, ``null_reason`` and ``meaning``.

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
    ...         {"run_id": run, "task_id": task, "attempt": number, "passed": number <= passes}
    ...         for run, passes in (("old", 4), ("new", 2))
    ...         for task in range(10)
    ...         for number in range(1, 5)
    ...     ]
    ... )
    >>> row = compare(log, "old", "new", ks=[1]).row(0, named=True)
    >>> row["verdict"], round(row["difference"], 3), round(row["z"], 3)
    ('regression', -0.5, -4.83)
    """
    chosen = checked_ks("compare", ks)
    level = checked_confidence("compare", confidence)
    if not 0 <= minimum_change < 1:
        raise ArgumentError(
            f"compare: minimum_change must be from 0 to less than 1; got {minimum_change!r}"
        )
    share = checked_share("compare", min_eligible_share)
    pairs = pairs_of("compare", attempts, baseline, candidate, suite, threshold, cluster)
    rows = [
        row
        for pair in pairs
        for row in comparison_rows(
            pair, chosen, confidence=level, minimum_change=minimum_change, min_eligible_share=share
        )
    ]
    frame = pl.DataFrame(rows, schema=COMPARISON_COLUMNS)
    return with_agents(frame, identities(attempts.lazy()).collect())


def with_agents(comparisons: pl.DataFrame, who: pl.DataFrame) -> pl.DataFrame:
    """Add agent and version of both runs, after the runs; ``who`` has them by run_id and suite."""
    added: list[str] = []
    for side in ("baseline", "candidate"):
        names = {name: f"{side}_{name}" for name in ("agent", "agent_version")}
        said = who.select("suite", pl.col("run_id").alias(f"{side}_run_id"), *names).rename(names)
        comparisons = comparisons.join(
            said, on=["suite", f"{side}_run_id"], how="left", maintain_order="left"
        )
        added += names.values()
    return comparisons.select(*_PAIR, *added, pl.exclude(*_PAIR, *added))


def comparison_rows(
    pair: Pair,
    ks: Sequence[int],
    *,
    confidence: float,
    minimum_change: float,
    min_eligible_share: float,
    metrics: Sequence[str] = METRICS,
) -> list[dict[str, Any]]:
    """Give a row for each metric and k: the columns of :func:`compare`, and what it hides."""
    over_tasks = PairSums(pair.histogram())
    families = pair.families()
    common = pair.common.height
    rows = []
    for metric in metrics:
        for k in ks:
            sums = over_tasks.sums(metric, k)
            row: dict[str, Any] = {
                "suite": pair.suite,
                "baseline_run_id": pair.baseline_run_id,
                "candidate_run_id": pair.candidate_run_id,
                "metric": metric,
                "k": k,
                "common_tasks": common,
                "baseline_only_tasks": pair.baseline_only,
                "candidate_only_tasks": pair.candidate_only,
                "eligible_tasks": sums.eligible,
                "informative_tasks": sums.informative,
                "deciding_tasks": sums.deciding,
                "minimum_change": minimum_change,
                "no_figures": pair.nothing_common
                or short_reason_of_pair(over_tasks, sums.eligible, k, min_eligible_share),
            }
            if row["no_figures"] is None:
                mean = sums.difference / sums.eligible
                by_family = related_differences(families, metric, k, mean) if families else None
                row |= figures_of(sums, k, confidence, by_family)
            row |= with_limits(row, confidence)
            rows.append(row | judged(row))
    return rows


def short_reason_of_pair(over_tasks: PairSums, eligible: int, k: int, share: float) -> str | None:
    """Say why a pair has no figures where a run lacks tasks with n >= k, as for its own value."""
    common = over_tasks.tasks
    both = " of both runs"
    reasons = []
    for side, ready in zip(("baseline", "candidate"), over_tasks.ready(k), strict=True):
        of = f"{both}, in the {side}"
        reasons.append(short_reason(k, ready, common, min_eligible_share=share, of=of))
    lacking = [reason for reason in reasons if reason is not None]
    if len(lacking) == 1:
        return lacking[0]
    # With a share this low, each run may have tasks that the other lacks.
    least = 1.0 if lacking else 0.0
    return short_reason(k, eligible, common, min_eligible_share=least, of=both)
