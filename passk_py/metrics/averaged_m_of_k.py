"""Means over tasks of the chance that at least m of k attempts pass: ``passk_m_of_k``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.score_means import MEAN_TYPES, mean_score
from passk_py.metrics.states import states_of_slice
from passk_py.stats.estimators.arguments import (
    ArgumentError,
    checked_confidence,
    checked_share,
    checked_slices,
)
from passk_py.stats.estimators.m_of_k import checked_m_of_k

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.metrics.states import Families, States

M_OF_K_TYPES: Final[dict[str, type[pl.DataType]]] = {
    "metric": pl.String,
    **dict.fromkeys(("k", "m"), pl.Int64),
    **MEAN_TYPES,
}


class Score(NamedTuple):
    """The score of a task by how many of k attempts pass."""

    metric: str
    k: int
    m: int

    @property
    def weights(self) -> list[Fraction]:
        """The score of each number of passes, from 0 to k."""
        reached = [max(passed - self.m + 1, 0) for passed in range(self.k + 1)]
        if self.metric == "pass_m_of_k":
            return [Fraction(min(times, 1)) for times in reached]
        return [Fraction(2 * times, self.k) for times in reached]

    def value(self, n: int, c: int) -> float:
        """Give the unbiased estimate of a task with n >= k, rounded once."""
        return float(_exact(self, n, c))

    def variance_within(self, n: int, c: int) -> float:
        """Give its variance within a task with n >= 2k, from two separate groups of k."""
        return _variance_within(self, n, c)


@any_frame
def m_of_k_metrics(
    attempts: pl.DataFrame | pl.LazyFrame,
    pairs: Iterable[tuple[int, int]],
    *,
    min_eligible_share: float = 0.95,
    slices: Sequence[str] = (),
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Average over tasks how often at least m of k attempts pass: the table ``passk_m_of_k``.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    pairs
        Pairs (m, k) of whole numbers, m from 1 to k and k up to 32.
    min_eligible_share, slices, cluster, confidence, threshold
        As in :func:`passk_py.suite_metrics`.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite, slice_name, slice_value, metric, k and m: ``pass_m_of_k`` for
        every pair, and ``mg_pass_at_k`` for every k from 2, with the least m that it sums over;
        ``eligible_tasks`` (n >= k), ``total_tasks``, ``families`` and ``effective_families`` (null
        without ``cluster``), the ``estimate``, its limits for tasks like these (``lower``,
        ``upper``) and for these tasks only (``suite_lower``, ``suite_upper``, null where a task has
        n < 2k), ``null_reason``, why there is no estimate, and ``caveat``, what to know of it where
        tasks are short.

    Raises
    ------
    ArgumentError
        If a pair or an option can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Notes
    -----
    .. math:: mG = \frac{2}{k} \sum_{m=\lceil k/2 \rceil + 1}^{k} G_m

    with the chance :math:`G_m` that at least m of k attempts pass (Liu et al. 2024,
    arXiv:2412.13147). For an odd k the most is 1 - 1/k, as the paper defines it.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "r", "task_id": task, "attempt": number, "passed": number <= passes}
    ...         for task, passes in enumerate([1, 2, 3, 4])
    ...         for number in range(1, 5)
    ...     ]
    ... )
    >>> m_of_k_metrics(log, [(2, 3)]).select("metric", "m", "estimate").rows()
    [('pass_m_of_k', 2, 0.625), ('mg_pass_at_k', 3, 0.20833333333333331)]
    """
    scores = scores_of(pairs)
    share = checked_share("m_of_k_metrics", min_eligible_share)
    level = checked_confidence("m_of_k_metrics", confidence)
    rows = [
        {"run_id": run, "suite": suite, "slice_name": name or "all", "slice_value": value, **row}
        for name in [None, *checked_slices("m_of_k_metrics", slices)]
        for run, suite, value, states, families in states_of_slice(
            attempts, threshold, name, cluster
        )
        for row in averaged_scores(
            states, families, scores, min_eligible_share=share, confidence=level
        )
    ]
    place = dict.fromkeys(("run_id", "suite", "slice_name", "slice_value"), pl.String)
    return pl.DataFrame(rows, schema={**place, **M_OF_K_TYPES}, orient="row")


def task_score(m: int, k: int, n: int, c: int) -> float:
    """Give the chance of a task with n >= k that at least m of k attempts pass, rounded once."""
    return Score("pass_m_of_k", k, m).value(n, c)


def scores_of(pairs: Iterable[tuple[int, int]]) -> list[Score]:
    """Give the scores of pairs (m, k), each once, or raise an error."""
    if not isinstance(pairs, Iterable) or isinstance(pairs, str):
        raise ArgumentError(f"m_of_k_metrics: pairs must be a list of pairs (m, k); got {pairs!r}")
    found: dict[Score, None] = {}
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ArgumentError(f"m_of_k_metrics: pairs must hold pairs (m, k); got {pair!r}")
        m, k = checked_m_of_k("m_of_k_metrics", *pair)
        found[Score("pass_m_of_k", k, m)] = None
    means = (
        Score("mg_pass_at_k", k, math.ceil(k / 2) + 1)
        for k in sorted({score.k for score in found})
        if k > 1
    )
    return [*found, *means]


@lru_cache(maxsize=65536)
def _exact(score: Score, n: int, c: int) -> Fraction:
    """Give the unbiased estimate of a task with n >= k."""
    k = score.k
    ways = sum(
        weight * math.comb(c, passed) * math.comb(n - c, k - passed)
        for passed, weight in enumerate(score.weights)
        if weight
    )
    return Fraction(ways) / math.comb(n, k)


@lru_cache(maxsize=65536)
def _variance_within(score: Score, n: int, c: int) -> float:
    """Give the unbiased variance of that estimate within a task with n >= 2k."""
    k, weights = score.k, score.weights
    both = sum(
        one * other * math.comb(c, i) * math.comb(n - c, k - i)
        * math.comb(c - i, j) * math.comb(n - c - (k - i), k - j)
        for i, one in enumerate(weights)
        for j, other in enumerate(weights)
        if one and other and i + j <= c and 2 * k - i - j <= n - c
    )  # fmt: skip
    squared = Fraction(both) / (math.comb(n, k) * math.comb(n - k, k))
    return float(max(_exact(score, n, c) ** 2 - squared, Fraction(0)))


def averaged_scores(
    states: States,
    families: Families | None,
    scores: Sequence[Score],
    *,
    min_eligible_share: float,
    confidence: float,
) -> list[dict[str, Any]]:
    """Average the scores of one suite or slice, with limits; no families where none are named."""
    return [
        score._asdict()
        | mean_score(
            score,
            states,
            families,
            min_eligible_share=min_eligible_share,
            confidence=confidence,
        )
        for score in scores
    ]
