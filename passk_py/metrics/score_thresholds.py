"""pass@k and pass^k of graded scores at several thresholds: ``passk_threshold_metrics``."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.common.contract import score_limit
from passk_py.metrics import states
from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames import DEFAULT_KS
from passk_py.metrics.frames.counting import TASK, unordered_tasks
from passk_py.metrics.logs import read_log
from passk_py.metrics.score_means import MEAN_TYPES, mean_score
from passk_py.metrics.states import families_of_states, short_reason
from passk_py.stats.estimators.arguments import (
    ArgumentError,
    checked_confidence,
    checked_ks,
    checked_share,
    checked_slices,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from passk_py.metrics.states import States

SCORED_PLACE: Final = ("run_id", "suite", "slice_name", "slice_value", "threshold")
SCORED_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(SCORED_PLACE[:-1], pl.String),
    "threshold": pl.Float64,
    "family": pl.String,
    **dict.fromkeys(("n", "c", "tasks", "counted"), pl.Int64),
}
"""The columns of :func:`scored_tasks`."""
THRESHOLD_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(SCORED_PLACE[:-1], pl.String),
    "threshold": pl.Float64,
    "metric": pl.String,
    **dict.fromkeys(("k", "counted_attempts", "scored_attempts", "passes"), pl.Int64),
    "coverage": pl.Float64,
    **MEAN_TYPES,
}
_METRICS: Final = ("pass_at_k", "pass_hat_k")


class _Score(NamedTuple):
    """pass@k or pass^k of a task."""

    metric: str
    k: int

    def value(self, n: int, c: int) -> float:
        """Give the unbiased estimate of a task with n >= k, rounded once."""
        return states.score(self.metric, n, c, self.k)

    def variance_within(self, n: int, c: int) -> float:
        """Give its variance within a task with n >= 2k."""
        return states.variance_within(self.metric, n, c, self.k)


@any_frame
def threshold_metrics(
    attempts: pl.DataFrame | pl.LazyFrame,
    thresholds: Iterable[float],
    *,
    ks: Iterable[int] = DEFAULT_KS,
    min_eligible_share: float = 0.95,
    slices: Sequence[str] = (),
    cluster: str | None = None,
    confidence: float = 0.95,
) -> pl.DataFrame:
    r"""Estimate pass@k and pass^k at several thresholds of a graded score.

    Parameters
    ----------
    attempts
        A log of attempts with a column ``score``, eager or lazy; see
        :mod:`passk_py.metrics.frames`. Of its verdicts only those that exclude an attempt count.
    thresholds
        Finite numbers, each once. An attempt passes from a threshold on; 1 accepts scores from
        0.999999 on.
    ks
        Values of k, whole numbers from 1.
    min_eligible_share
        The share of the tasks that must have k attempts with a score, and the share of the
        attempts that must have one, for there to be an estimate.
    slices, cluster, confidence
        As in :func:`passk_py.suite_metrics`.

    Returns
    -------
    polars.DataFrame
        The table ``passk_threshold_metrics``. One row per run_id, suite, slice_name, slice_value,
        ``threshold``, ``metric`` (``pass_at_k``, ``pass_hat_k``) and k: ``counted_attempts``,
        ``scored_attempts`` of them, ``passes`` of those, ``coverage``, the share that has a score,
        ``eligible_tasks`` (with k scores), ``total_tasks``, ``least_n``, ``families`` and
        ``effective_families`` (null without ``cluster``), the ``estimate``, its limits for tasks
        like these (``lower``, ``upper``) and for these tasks only (``suite_lower``,
        ``suite_upper``, null where a task has n < 2k), ``null_reason``, why there is no estimate,
        and ``caveat``.

    Raises
    ------
    ArgumentError
        If a threshold or an option can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Notes
    -----
    Of the n attempts of a task that have a score, :math:`c_t` reach the threshold t:

    .. math:: pass^k_t = \binom{c_t}{k} / \binom{n}{k}

    averaged over tasks, as :func:`passk_py.pass_hat_k` and :func:`passk_py.pass_at_k` estimate it.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     {
    ...         "run_id": ["r"] * 4,
    ...         "task_id": ["a", "a", "b", "b"],
    ...         "attempt": [1, 2, 1, 2],
    ...         "score": [0.5, 1.0, 1.0, 1.0],
    ...     }
    ... )
    >>> found = threshold_metrics(log, [0.5, 1], ks=[2])
    >>> found.select("threshold", "metric", "passes", "estimate").rows()
    ... # doctest: +NORMALIZE_WHITESPACE
    [(0.5, 'pass_at_k', 4, 1.0), (0.5, 'pass_hat_k', 4, 1.0),
     (1.0, 'pass_at_k', 3, 1.0), (1.0, 'pass_hat_k', 3, 0.5)]
    """
    name = "threshold_metrics"
    asked = _checked_thresholds(thresholds)
    grid = checked_ks(name, ks)
    share = checked_share(name, min_eligible_share)
    level = checked_confidence(name, confidence)
    named = {one: one for one in checked_slices(name, slices)}
    counts = scored_tasks(attempts, asked, named, cluster)
    rows = threshold_rows(
        counts,
        grid,
        by_family=cluster is not None,
        min_eligible_share=share,
        confidence=level,
    )
    return pl.DataFrame(list(rows), schema=THRESHOLD_TYPES, orient="row")


def _checked_thresholds(thresholds: Iterable[float]) -> list[float]:
    """Give thresholds in order, or raise an error."""
    found = [] if isinstance(thresholds, str) else list(thresholds)
    numbers = all(
        isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one)
        for one in found
    )
    if isinstance(thresholds, str) or not numbers or len(set(found)) < len(found):
        raise ArgumentError(
            "threshold_metrics: thresholds must be finite numbers, each once; "
            f"got {thresholds if isinstance(thresholds, str) else found!r}"
        )
    return sorted(map(float, found))


def scored_tasks(
    attempts: pl.DataFrame | pl.LazyFrame,
    thresholds: Sequence[float],
    slices: Mapping[str, str],
    cluster: str | None,
) -> pl.DataFrame:
    """Count the tasks of runs that have n attempts with a score, c of which reach a threshold.

    ``slices`` has the columns or tags of the slices by their names; ``counted`` has the attempts
    without a score too. Tasks that can't be counted are left out.
    """
    schema = attempts.lazy().collect_schema()
    score = pl.col("score").cast(pl.Float64) if "score" in schema else pl.lit(None, pl.Float64)
    more = {"score": score.fill_nan(None)}
    family = pl.col("family") if cluster is not None else pl.lit(None, pl.String)
    parts = []
    for name, column in [("all", None), *slices.items()] if thresholds else []:
        log = read_log(attempts, 1.0, column, more, cluster=cluster)
        if column is None:
            log = log.with_columns(slice_value=pl.lit("all"))
        keys = (*TASK, "slice_value")
        known = pl.col("score").filter(pl.col("passed").is_not_null()).drop_nulls()
        passes = {
            f"c_{place}": (known >= score_limit(threshold)).sum().cast(pl.Int64)
            for place, threshold in enumerate(thresholds)
        }
        scores = log.group_by(keys).agg(scored=known.len().cast(pl.Int64), **passes)
        tasks = (
            unordered_tasks(log, keys)
            .filter(pl.col("n").is_not_null())
            .select(*keys, counted="n", family=family)
            .join(scores, on=list(keys))
        )
        parts += [
            tasks.group_by(
                "run_id",
                "suite",
                "slice_value",
                "family",
                slice_name=pl.lit(name),
                threshold=pl.lit(threshold),
                n="scored",
                c=f"c_{place}",
            ).agg(tasks=pl.len().cast(pl.Int64), counted=pl.col("counted").sum())
            for place, threshold in enumerate(thresholds)
        ]
    frames = [part.select(*SCORED_TYPES) for part in pl.collect_all(parts, engine="streaming")]
    return pl.concat([pl.DataFrame(schema=SCORED_TYPES), *frames])


def threshold_rows(
    counts: pl.DataFrame,
    ks: Sequence[int],
    *,
    by_family: bool,
    min_eligible_share: float,
    confidence: float,
) -> Iterator[dict[str, Any]]:
    """Average the scores of each run, slice and threshold, from :func:`scored_tasks`."""
    order = {
        name: place for place, name in enumerate(counts["slice_name"].unique(maintain_order=True))
    }
    places = counts.partition_by(SCORED_PLACE, as_dict=True)
    for place, tasks in sorted(places.items(), key=lambda one: (order[one[0][2]], one[0])):
        of_families: dict[str | None, States] = defaultdict(Counter)
        for family, n, c, number in tasks.select("family", "n", "c", "tasks").iter_rows():
            of_families[family][n, c] += number
        every: States = sum(of_families.values(), Counter())
        families = families_of_states(of_families) if by_family else None
        coverage = _coverage(every, int(tasks["counted"].sum()), min_eligible_share)
        for metric in _METRICS:
            for k in ks:
                score = _Score(metric, k)
                row = mean_score(
                    score,
                    every,
                    families,
                    min_eligible_share=min_eligible_share,
                    confidence=confidence,
                )
                yield {
                    **dict(zip(SCORED_PLACE, place, strict=True)),
                    **score._asdict(),
                    **coverage.columns,
                    **coverage.said_of(row),
                }


class _Coverage(NamedTuple):
    """How many attempts have a score."""

    columns: dict[str, Any]
    is_enough: bool

    def said_of(self, row: dict[str, Any]) -> dict[str, Any]:
        """Give a mean with what it lacks, or without a value where too few have a score."""
        counted, scored = self.columns["counted_attempts"], self.columns["scored_attempts"]
        said = f"{scored} of {counted} counted attempts have a score"
        if not self.is_enough:
            kept = {name: row[name] for name in ("eligible_tasks", "total_tasks", "least_n")}
            return {**dict.fromkeys(MEAN_TYPES), **kept, "null_reason": f"only {said}"}
        if row["null_reason"] is None and scored < counted:
            caveats = [f"{said}, and the others are left out", row["caveat"]]
            return row | {"caveat": "; ".join(filter(None, caveats))}
        return row


def _coverage(every: States, counted: int, min_eligible_share: float) -> _Coverage:
    scored = sum(tasks * n for (n, _), tasks in every.items())
    short = short_reason(1, scored, counted, min_eligible_share=min_eligible_share)
    columns = {
        "counted_attempts": counted,
        "scored_attempts": scored,
        "passes": sum(tasks * c for (_, c), tasks in every.items()),
        "coverage": scored / counted if counted else None,
    }
    return _Coverage(columns, is_enough=not counted or short is None)
