"""How sure an estimate is: limits for a task, and for a mean over tasks."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import polars as pl

from passk_py.stats.distributions import beta_quantile, student_quantile
from passk_py.stats.estimators.arguments import (
    COUNT,
    F64,
    POSITIVE,
    RATE,
    as_operand,
    checked_confidence,
    null_unless,
    task_operands,
)
from passk_py.stats.estimators.pooled import pass_at_k_pooled, pass_hat_k_pooled
from passk_py.stats.estimators.unbiased import pass_at_k, pass_hat_k

if TYPE_CHECKING:
    from passk_py.stats.estimators.arguments import IntoExpr


def pass_at_k_lower(n: IntoExpr, c: IntoExpr, k: IntoExpr, *, confidence: float = 0.95) -> pl.Expr:
    r"""Compute the lower limit of a task's pass@k.

    Parameters
    ----------
    n
        Attempts that count.
    c
        Attempts that passed.
    k
        How many attempts the user makes.
    confidence
        Level of the interval, between 0 and 1.

    Returns
    -------
    polars.Expr
        Float64, a probability, at most the estimate. Null where the estimate is.

    Raises
    ------
    ArgumentError
        If n, c or k is a number that can't be right, or the level is not between 0 and 1.

    Notes
    -----
    The limits of p are the quantiles of the Jeffreys posterior, Beta(c + 1/2, n - c + 1/2). Where
    c = 0 they are 0 and the limit of Clopper and Pearson, 1 - a^(1 / n) with a share of a on each
    side, and where c = n the same of failures (Brown, Cai and DasGupta 2001). With them go those of
    every k:

    .. math:: 1 - (1 - p)^k

    The interval is made to reach as far as the estimate, which is 1 where n - c < k.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k_lower(8, 4, 1).round(4), zero=pass_at_k_lower(8, 0, 4)).row(0)
    (0.199, 0.0)
    """
    return _limit("pass_at_k_lower", n, c, k, confidence)


def pass_at_k_upper(n: IntoExpr, c: IntoExpr, k: IntoExpr, *, confidence: float = 0.95) -> pl.Expr:
    """Compute the upper limit of a task's pass@k.

    Parameters, nulls, errors and the formula are those of :func:`pass_at_k_lower`.

    Returns
    -------
    polars.Expr
        Float64, a probability, at least the estimate. Null where the estimate is.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k_upper(8, 4, 1).round(4), one=pass_at_k_upper(8, 8, 4)).row(0)
    (0.801, 1.0)
    """
    return _limit("pass_at_k_upper", n, c, k, confidence)


def pass_hat_k_lower(n: IntoExpr, c: IntoExpr, k: IntoExpr, *, confidence: float = 0.95) -> pl.Expr:
    """Compute the lower limit of a task's pass^k: that of p, to the power of k.

    Parameters, nulls, errors and the limits of p are those of :func:`pass_at_k_lower`.

    Returns
    -------
    polars.Expr
        Float64, a probability, at most the estimate. Null where the estimate is.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_hat_k_lower(8, 8, k).round(4).alias(f"k = {k}") for k in (1, 8)).row(0)
    (0.6306, 0.025)
    """
    return _limit("pass_hat_k_lower", n, c, k, confidence)


def pass_hat_k_upper(n: IntoExpr, c: IntoExpr, k: IntoExpr, *, confidence: float = 0.95) -> pl.Expr:
    """Compute the upper limit of a task's pass^k: that of p, to the power of k.

    Parameters, nulls, errors and the limits of p are those of :func:`pass_at_k_lower`.

    Returns
    -------
    polars.Expr
        Float64, a probability, at least the estimate. Null where the estimate is.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_hat_k_upper(8, 0, 1).round(4), one=pass_hat_k_upper(8, 8, 4)).row(0)
    (0.3694, 1.0)
    """
    return _limit("pass_hat_k_upper", n, c, k, confidence)


def mean_lower(
    mean: IntoExpr, variance: IntoExpr, tasks: IntoExpr, *, confidence: float = 0.95
) -> pl.Expr:
    r"""Compute the lower limit of the mean score of tasks like these.

    Parameters
    ----------
    mean
        Mean of the tasks' scores, each from 0 to 1.
    variance
        Sample variance of the scores; anything with one task.
    tasks
        How many tasks there are.
    confidence
        Level of the interval, between 0 and 1.

    Returns
    -------
    polars.Expr
        Float64, a probability, at most the mean. Null where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If mean, variance or tasks is a number that can't be right, or the level is not between 0
        and 1.

    Notes
    -----
    Student's t over the scores and two more, one 0 and one 1, so that suites near 0 or 1 have no
    interval of no width (Agresti and Coull 1998, for a mean):

    .. math:: \tilde m - t_{T + 1} \, \tilde s / \sqrt{T + 2}

    Examples
    --------
    >>> import polars as pl
    >>> round(pl.select(mean_lower(1, 0, 58)).item(), 12)
    0.949983410365
    """
    return _mean_limit("mean_lower", mean, variance, tasks, confidence, -1)


def mean_upper(
    mean: IntoExpr, variance: IntoExpr, tasks: IntoExpr, *, confidence: float = 0.95
) -> pl.Expr:
    """Compute the upper limit of the mean score of tasks like these.

    Parameters, nulls, errors and the formula are those of :func:`mean_lower`.

    Returns
    -------
    polars.Expr
        Float64, a probability, at least the mean.

    Examples
    --------
    >>> import polars as pl
    >>> round(pl.select(mean_upper(0, 0, 58)).item(), 12)
    0.050016589635
    """
    return _mean_limit("mean_upper", mean, variance, tasks, confidence, 1)


def _limit(function: str, n: IntoExpr, c: IntoExpr, k: IntoExpr, confidence: float) -> pl.Expr:
    level = checked_confidence(function, confidence)
    task_operands(function, n, c, k)
    n_, c_ = (as_operand(function, name, value, COUNT).expr for name, value in (("n", n), ("c", c)))
    is_upper = function.endswith("upper")

    def of_states(states: pl.Series) -> pl.Series:
        pairs = states.struct.unnest().rows()
        return pl.Series([_limit_of_p(*pair, level, is_upper) for pair in pairs], dtype=F64)

    p = pl.struct(n_.alias("n"), c_.alias("c")).map_batches(
        of_states, return_dtype=F64, is_elementwise=True
    )
    at = "pass_at_k" in function
    estimate = (pass_at_k if at else pass_hat_k)(n, c, k)
    limit = (pass_at_k_pooled if at else pass_hat_k_pooled)(p, k)
    farther = (pl.max_horizontal if is_upper else pl.min_horizontal)(limit, estimate)
    return null_unless(estimate.is_not_null(), farther).alias(function)


@lru_cache(maxsize=65536)
def _limit_of_p(n: float | None, c: float | None, level: float, is_upper: bool) -> float | None:
    """Give a quantile of the Jeffreys posterior; but a task may be hopeless or perfect."""
    if n is None or c is None or not (0 <= c <= n < math.inf and n >= 1):
        return None
    if is_upper:
        # The upper limit of the passes is one less the lower one of the failures.
        return -math.expm1(math.log((1 - level) / 2) / n) if c == 0 else 1 - _lower(n, n - c, level)
    return _lower(n, c, level)


def _lower(n: float, c: float, level: float) -> float:
    outside = (1 - level) / 2
    if c == 0:
        return 0.0
    # A task that never failed: the p at which that is just likely enough.
    return outside ** (1 / n) if c == n else beta_quantile(outside, c + 0.5, n - c + 0.5)


def _mean_limit(
    function: str, mean: IntoExpr, variance: IntoExpr, tasks: IntoExpr, confidence: float, side: int
) -> pl.Expr:
    level = checked_confidence(function, confidence)
    m = as_operand(function, "mean", mean, RATE).expr
    v = as_operand(function, "variance", variance, RATE).expr
    t = as_operand(function, "tasks", tasks, POSITIVE).expr
    valid = RATE.check(m) & POSITIVE.check(t) & ((t == 1) | RATE.check(v))
    return null_unless(valid, limit_of_mean(m, v, t, level, side)).alias(function)


def limit_of_mean(
    mean: pl.Expr, variance: pl.Expr, units: pl.Expr, level: float, side: int
) -> pl.Expr:
    """Give a limit of a mean over tasks, or over so many families as they say as much as."""
    padded = (units * mean + 1) / (units + 2)
    around = units * (mean - padded) ** 2 + padded**2 + (1 - padded) ** 2
    # One has no variance of its own.
    squares = pl.when(units == 1).then(0.0).otherwise((units - 1) * variance) + around
    error = (squares / ((units + 1) * (units + 2))).sqrt()
    reach = student_quantiles((units + 1.5).floor(), level) * error
    return (padded + side * reach).clip(0.0, 1.0)


def student_quantiles(degrees: pl.Expr, level: float) -> pl.Expr:
    """Give the quantile of Student's t of each row; null where the degrees can't be right."""

    def of_rows(values: pl.Series) -> pl.Series:
        return pl.Series([_quantile(value, level) for value in values], dtype=F64)

    return degrees.map_batches(of_rows, return_dtype=F64, is_elementwise=True)


def _quantile(degrees: Any, level: float) -> float | None:  # noqa: ANN401 - of any column
    if degrees is None or not 1 <= degrees < math.inf or degrees != int(degrees):
        return None
    return student_quantile(int(degrees), level)
