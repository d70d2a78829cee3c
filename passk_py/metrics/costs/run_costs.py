"""Costs of runs, from attempts: ``passk_py.run_costs``, ``cost_curves`` and ``task_costs``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.costs.cost_tables import table_of_costs, table_of_curves, table_of_tasks
from passk_py.metrics.costs.spending import checked_measures, measured_log, task_spending
from passk_py.metrics.costs.tails import cost_tails
from passk_py.metrics.frames import DEFAULT_KS
from passk_py.stats.estimators.arguments import checked_confidence, checked_ks, checked_share

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_MEASURES: Final = ("cost_usd",)


@any_frame
def run_costs(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    measures: Iterable[str] = DEFAULT_MEASURES,
    min_eligible_share: float = 0.95,
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Sum up what runs cost, and what an attempt and a success cost: the table ``passk_costs``.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    measures
        Measures of cost: ``cost_usd``, ``duration_s``, ``input_tokens``, ``output_tokens`` or
        ``tokens``, the sum of both. A cost is in the unit of its measure.
    min_eligible_share
        The share of the counted attempts that must have the measure for there to be figures, and of
        the tasks of which each outcome must have it.
    cluster, confidence, threshold
        As in :func:`passk_py.suite_metrics`.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite and measure that an attempt has: counts of attempts, ``measured``
        of the counted ones and their share ``coverage``, ``mean`` of an attempt (over tasks of the
        mean of each), ``p95`` of an attempt, ``per_success`` (all that was spent, over the passes;
        null where nothing passed, or too few of all attempts have the measure, excluded ones
        too), each with limits for tasks like these, ``spent``,
        ``spent_on_failures``, ``spent_on_excluded``, ``share_on_failures``, ``null_reason`` and
        ``caveat``. Limits are null with one task or where they would say nothing.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Notes
    -----
    Limits are :math:`R e^{\pm t s}`, with the standard error s of the logarithm of a ratio of two
    sums over tasks (Cochran 1977, 6.4), made safe where a few tasks hold much of the cost: see
    ``docs/costs.md``.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     {
    ...         "run_id": ["r"] * 4,
    ...         "task_id": ["a", "a", "b", "b"],
    ...         "attempt": [1, 2, 1, 2],
    ...         "passed": [True, False, True, True],
    ...         "cost_usd": [1.0, 2.0, 3.0, 3.0],
    ...     }
    ... )
    >>> run_costs(log).select("mean", "per_success", "spent", "spent_on_failures").rows()
    [(2.25, 3.0, 9.0, 2.0)]
    """
    names = checked_measures("run_costs", measures)
    share = checked_share("run_costs", min_eligible_share)
    level = checked_confidence("run_costs", confidence)
    log = measured_log(attempts, names, threshold, cluster)
    spending = task_spending(log, names)
    tails = cost_tails(log, spending, names, level)
    return table_of_costs(
        spending,
        tails,
        min_eligible_share=share,
        confidence=level,
        by_family=cluster is not None,
    ).sort("run_id", "suite", "measure")


@any_frame
def cost_curves(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    measures: Iterable[str] = DEFAULT_MEASURES,
    min_eligible_share: float = 0.95,
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Give what retries, and series of k tries, cost over k: the table ``passk_cost_curves``.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    ks
        Whole numbers from 1: how often a task is tried at most, or in all.
    measures, min_eligible_share, cluster, confidence, threshold
        As in :func:`run_costs`; the share is that of the tasks with n >= k too.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite, measure and k: ``tries``, how often a task is tried that is
        retried until it passes, at most k times; ``retry_cost``, what that costs;
        ``cost_per_solved``, over the chance that it passes; ``series_cost``, what k tries cost, and
        ``cost_per_reliable``, over the chance that all of them pass; with limits for tasks like
        these, ``null_reason`` and ``caveat``.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Notes
    -----
    Over all orders of the n attempts of a task, with the mean costs a of its passes and b of its
    failures,

    .. math:: E = a \, pass@k + b \sum_{j=1}^{k} \binom{n - c}{j} / \binom{n}{j}

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     {
    ...         "run_id": ["r"] * 4,
    ...         "task_id": ["a", "a", "b", "b"],
    ...         "attempt": [1, 2, 1, 2],
    ...         "passed": [True, False, True, True],
    ...         "cost_usd": [1.0, 2.0, 3.0, 3.0],
    ...     }
    ... )
    >>> cost_curves(log, ks=[2]).select("tries", "retry_cost", "cost_per_reliable").rows()
    [(1.25, 2.5, 9.0)]
    """
    names, chosen = checked_measures("cost_curves", measures), checked_ks("cost_curves", ks)
    share = checked_share("cost_curves", min_eligible_share)
    level = checked_confidence("cost_curves", confidence)
    spending = task_spending(measured_log(attempts, names, threshold, cluster), names)
    by_family = cluster is not None
    costs = table_of_costs(
        spending,
        pl.DataFrame(
            schema={name: spending.schema[name] for name in ("run_id", "suite", "measure")}
        ),
        min_eligible_share=share,
        confidence=level,
        by_family=by_family,
    )
    return table_of_curves(
        spending, costs, chosen, min_eligible_share=share, confidence=level, by_family=by_family
    ).sort("run_id", "suite", "measure", "k")


@any_frame
def task_costs(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    measures: Iterable[str] = DEFAULT_MEASURES,
    cluster: str | None = None,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Give what retries, and series of k tries, of each task cost: the table ``passk_task_costs``.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    ks, measures, cluster, threshold
        As in :func:`cost_curves`.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite, task_id, measure and k, with ``cost_of_attempt`` and the figures
        of :func:`cost_curves`, without limits; null with a ``null_reason`` where n < k, or no
        attempt of an outcome that the task has says its cost.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     {
    ...         "run_id": ["r"] * 2,
    ...         "task_id": ["a"] * 2,
    ...         "attempt": [1, 2],
    ...         "passed": [True, False],
    ...         "cost_usd": [1.0, 2.0],
    ...     }
    ... )
    >>> task_costs(log, ks=[1, 2]).select("k", "tries", "retry_cost", "cost_per_solved").rows()
    [(1, 1.0, 1.5, 3.0), (2, 1.5, 2.0, 2.0)]
    """
    names, chosen = checked_measures("task_costs", measures), checked_ks("task_costs", ks)
    spending = task_spending(measured_log(attempts, names, threshold, cluster), names)
    return table_of_tasks(spending, chosen).sort("run_id", "suite", "task_id", "measure", "k")
