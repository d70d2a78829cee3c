"""How far a suite is from tasks that are all the same coin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passk_py.stats.estimators.arguments import (
    COUNT,
    FINITE,
    POSITIVE,
    RATE,
    as_operand,
    null_unless,
)
from passk_py.stats.numerics import let, one_minus_exp_steps

if TYPE_CHECKING:
    from passk_py.stats.estimators.arguments import IntoExpr


def delta_k(pass_hat_k: IntoExpr, pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute the reliability gain over the model in which every task is the same coin.

    With estimates in place of the true values it is too low; :func:`delta_k_unbiased` corrects it.

    Parameters
    ----------
    pass_hat_k
        Mean pass^k over tasks.
    pass_1
        Mean pass^1 over tasks.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a difference of probabilities; from 0 to :func:`delta_k_max` for true values, but
        an estimate may be negative. Null where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If an argument is a number that can't be right.

    Notes
    -----
    .. math:: \mathrm{pass}^k - (\mathrm{pass}^1)^k

    At k = 2 it is the variance of p between tasks.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(delta_k(0.5, 0.5, 10)).item()
    0.4990234375
    """
    r_ = as_operand("delta_k", "pass_hat_k", pass_hat_k, RATE)
    m_ = as_operand("delta_k", "pass_1", pass_1, RATE)
    k_ = as_operand("delta_k", "k", k, POSITIVE)
    r, m, fk = pl.field("r"), pl.field("m"), pl.field("k")
    valid = RATE.check(r) & RATE.check(m) & POSITIVE.check(fk)
    return let(
        {"r": r_.expr, "m": m_.expr, "k": k_.expr}, {"delta_k": null_unless(valid, r - m.pow(fk))}
    )


def delta_k_max(pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute the largest delta_k that a mean pass^1 allows: every task always or never passes.

    Parameters
    ----------
    pass_1
        Mean pass^1 over tasks.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a difference of probabilities. Null where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If pass_1 or k is a number that can't be right.

    Notes
    -----
    .. math:: m - m^k = m (1 - e^{(k - 1) \ln m})

    where the right side does not cancel near m = 1. The smallest is 0 (Jensen's inequality).

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(delta_k_max(0.5, 2)).item()
    0.25
    """
    m_ = as_operand("delta_k_max", "pass_1", pass_1, RATE)
    k_ = as_operand("delta_k_max", "k", k, POSITIVE)
    m, fk = pl.field("m"), pl.field("k")
    value = pl.when(fk == 1.0).then(0.0).otherwise(m * pl.field("share"))
    return let(
        {"m": m_.expr, "k": k_.expr},
        *one_minus_exp_steps((fk - 1.0) * m.log(), "share"),
        {"delta_k_max": null_unless(RATE.check(m) & POSITIVE.check(fk), value)},
    )


def delta_k_unbiased(
    pass_hat_k: IntoExpr, pass_1: IntoExpr, var_pass_1: IntoExpr, tasks: IntoExpr, k: IntoExpr
) -> pl.Expr:
    r"""Estimate delta_k from estimates, corrected for the noise of the mean.

    Parameters
    ----------
    pass_hat_k
        Mean over tasks of the unbiased pass^k.
    pass_1
        Mean over tasks of c / n.
    var_pass_1
        Sample variance (divided by tasks - 1) over tasks of c / n.
    tasks
        Over how many tasks the means run.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a difference of probabilities; may be negative, and is not clipped. Exactly 0 at
        k = 1. Null for fewer than 2 tasks at k > 1, and where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If an argument is a number that can't be right.

    Notes
    -----
    .. math:: \overline{r_k} - m^k + \frac{k (k - 1)}{2} m^{k - 2} \frac{s^2}{T}

    The last term is the second-order bias of :math:`m^k`; at k = 2 the estimate is exactly
    unbiased.

    Examples
    --------
    Two tasks with 4 of 4 and 0 of 4 passes at k = 2: pass^2 is 1/2, pass^1 is 1/2 and its sample
    variance 1/2.

    >>> import polars as pl
    >>> pl.select(delta_k_unbiased(0.5, 0.5, 0.5, 2, 2)).item()
    0.5
    """
    function = "delta_k_unbiased"
    r_ = as_operand(function, "pass_hat_k", pass_hat_k, RATE)
    m_ = as_operand(function, "pass_1", pass_1, RATE)
    variance_ = as_operand(function, "var_pass_1", var_pass_1, RATE)
    tasks_ = as_operand(function, "tasks", tasks, COUNT)
    k_ = as_operand(function, "k", k, POSITIVE)
    r, m, variance, size, fk = (pl.field(name) for name in ("r", "m", "variance", "size", "k"))
    noise = variance / size
    correction = fk * (fk - 1.0) / 2.0 * m.pow(fk - 2.0) * noise
    estimable = RATE.check(variance) & COUNT.check(size) & (size > 1.0)
    value = (
        pl.when(fk == 1.0)
        .then(0.0)
        .when(estimable)
        .then(r - m.pow(fk) + correction)
        .otherwise(None)
    )
    valid = RATE.check(r) & RATE.check(m) & POSITIVE.check(fk)
    return let(
        {"r": r_.expr, "m": m_.expr, "variance": variance_.expr, "size": tasks_.expr, "k": k_.expr},
        {function: null_unless(valid, value)},
    )


def heterogeneity(delta_k: IntoExpr, pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Place delta_k between its bounds: 0 all tasks equally flaky, 1 all tasks all-or-nothing.

    Parameters
    ----------
    delta_k
        From :func:`delta_k_unbiased` or :func:`delta_k`.
    pass_1
        Mean pass^1 over tasks.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a share of :func:`delta_k_max`; an estimate may be negative or above 1. Null where
        the bounds meet (k = 1, or a mean of 0 or 1), and where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If an argument is a number that can't be right.

    Notes
    -----
    .. math:: \Delta_k / (m - m^k)

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(heterogeneity(0.125, 0.5, 2)).item()
    0.5
    """
    d_ = as_operand("heterogeneity", "delta_k", delta_k, FINITE)
    m_ = as_operand("heterogeneity", "pass_1", pass_1, RATE)
    k_ = as_operand("heterogeneity", "k", k, POSITIVE)
    d, most = pl.field("d"), pl.field("most")
    return let(
        {"d": d_.expr, "most": delta_k_max(m_.expr, k_.expr)},
        {"heterogeneity": null_unless(FINITE.check(d) & (most > 0.0), d / most)},
    )
