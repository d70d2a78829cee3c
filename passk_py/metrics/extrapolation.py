"""pass@k and pass^k beyond the attempts that were made: a model's, and said to be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames import DEFAULT_KS, suite_metrics
from passk_py.stats.distributions import log_moment_by_correlation
from passk_py.stats.estimators.arguments import checked_ks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BASIS: Final = "beta_binomial"
_COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    "run_id": pl.String,
    "suite": pl.String,
    "k": pl.Int64,
    "measured_k": pl.Int64,
    "basis": pl.String,
    **dict.fromkeys(
        ("pass_at_k", "pass_hat_k", "pass_at_k_at_least", "pass_hat_k_at_most"), pl.Float64
    ),
    "null_reason": pl.String,
}


@any_frame
def extrapolate(
    attempts: pl.DataFrame | pl.LazyFrame,
    ks: Iterable[int],
    *,
    measured_ks: Iterable[int] = DEFAULT_KS,
    min_eligible_share: float = 0.95,
    confidence: float = 0.95,
    cluster: str | None = None,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Extrapolate a suite's pass@k and pass^k: the table ``passk_extrapolations``, from attempts.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    ks
        The k to extrapolate to.
    measured_ks
        The k that are measured first, which must hold 1 and 2; nothing is extrapolated up to the
        largest of them that a run has a value for.
    min_eligible_share, confidence, cluster, threshold
        As in :func:`passk_py.suite_metrics`.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite and k: ``pass_at_k`` and ``pass_hat_k`` by the model, the limits
        that hold without it (``pass_at_k_at_least``, ``pass_hat_k_at_most``: those at
        ``measured_k``), and ``null_reason``, why the model has no number.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Notes
    -----
    The chances of the tasks are taken for a Beta distribution whose mean m is the mean pass@1, and
    whose intraclass correlation r is ``heterogeneity`` at k = 2. Then pass^k is

    .. math:: \prod_{i=0}^{k-1} \frac{m (1 - r) + i r}{1 - r + i r},

    and 1 - pass@k the same with 1 - m for m (Skellam 1948).

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "r", "task_id": task, "attempt": number, "passed": number <= passes}
    ...         for task, passes in enumerate([0, 1, 2, 3, 4, 4])
    ...         for number in range(1, 5)
    ...     ]
    ... )
    >>> row = extrapolate(log, [8], measured_ks=[1, 2, 4]).row(0, named=True)
    >>> row["measured_k"], round(row["pass_hat_k"], 3), row["basis"]
    (4, 0.263, 'beta_binomial')
    """
    wanted = checked_ks("extrapolate", ks)
    measured = suite_metrics(
        attempts.lazy().collect(),
        ks=measured_ks,
        min_eligible_share=min_eligible_share,
        ordered=False,
        cluster=cluster,
        confidence=confidence,
        threshold=threshold,
    )
    return extrapolated(measured, wanted)


def extrapolated(measured: pl.DataFrame, ks: Sequence[int]) -> pl.DataFrame:
    """Extrapolate from what was measured: the rows of :func:`extrapolate`."""
    rows: list[dict[str, Any]] = []
    for (run_id, suite), part in measured.group_by("run_id", "suite", maintain_order=True):
        by_k = {row["k"]: row for row in part.to_dicts()}
        answered = [k for k, row in by_k.items() if row["pass_hat_k"] is not None]
        if not answered:
            continue
        last = by_k[max(answered)]
        rate = by_k.get(1, {}).get("pass_hat_k")
        index = by_k.get(2, {}).get("heterogeneity")
        for k in ks:
            row = {"run_id": run_id, "suite": suite, "k": k, "measured_k": last["k"]}
            reason = _no_number(k, last["k"], rate, index)
            if k > last["k"]:
                row["pass_at_k_at_least"] = last["pass_at_k_lower"]
                row["pass_hat_k_at_most"] = last["pass_hat_k_upper"]
            if reason is None and rate is not None and index is not None:
                row["pass_at_k"] = -math.expm1(log_moment_by_correlation(1 - rate, index, k))
                row["pass_hat_k"] = math.exp(log_moment_by_correlation(rate, index, k))
            rows.append({**row, "basis": _BASIS, "null_reason": reason})
    return pl.DataFrame(rows, schema=_COLUMNS)


def _no_number(k: int, measured: int, rate: float | None, index: float | None) -> str | None:
    """Say why the model has no number, if so."""
    if k <= measured:
        return "it was measured: see passk_suite_metrics"
    if rate is None or (index is None and 0 < rate < 1):
        return "k = 1 and k = 2 are not both measured"
    if rate <= 0:
        return "no attempt passed"
    if rate >= 1:
        return "every attempt passed"
    if index is None or index >= 1:
        return "every task passed always or never"
    return None if index > 0 else "tasks differ less than chance makes them"
