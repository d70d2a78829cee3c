"""The formula of a known p at the mean pass@1 of a suite: every task the same coin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passk_py.stats.estimators.arguments import POSITIVE, RATE, as_operand, null_unless
from passk_py.stats.numerics import let, one_minus_exp_steps

if TYPE_CHECKING:
    from passk_py.stats.estimators.arguments import IntoExpr


def pass_at_k_pooled(pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute pass@k as if every task were the same coin.

    Parameters
    ----------
    pass_1
        Mean pass@1 over tasks.
    k
        How many attempts the user makes.

    Returns
    -------
    polars.Expr
        Float64, a probability: an upper bound of the mean over tasks (Jensen's inequality). Null
        where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If pass_1 or k is a number that can't be right.

    Notes
    -----
    .. math:: 1 - (1 - m)^k

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k_pooled(0.5, 3)).item()
    0.875
    """
    m_ = as_operand("pass_at_k_pooled", "pass_1", pass_1, RATE)
    k_ = as_operand("pass_at_k_pooled", "k", k, POSITIVE)
    m, fk = pl.field("m"), pl.field("k")
    value = pl.when(fk == 1.0).then(m).otherwise(pl.field("value"))
    return let(
        {"m": m_.expr, "k": k_.expr},
        *one_minus_exp_steps(fk * (-m).log1p(), "value"),
        {"pass_at_k_pooled": null_unless(RATE.check(m) & POSITIVE.check(fk), value)},
    )


def pass_hat_k_pooled(pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute pass^k as if every task were the same coin.

    Parameters
    ----------
    pass_1
        Mean pass^1 over tasks.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a probability: a lower bound of the mean over tasks (Jensen's inequality). Null
        where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If pass_1 or k is a number that can't be right.

    Notes
    -----
    .. math:: m^k

    Examples
    --------
    >>> import polars as pl
    >>> round(pl.select(pass_hat_k_pooled(0.42, 2)).item(), 4)
    0.1764
    """
    m_ = as_operand("pass_hat_k_pooled", "pass_1", pass_1, RATE)
    k_ = as_operand("pass_hat_k_pooled", "k", k, POSITIVE)
    m, fk = pl.field("m"), pl.field("k")
    return let(
        {"m": m_.expr, "k": k_.expr},
        {"pass_hat_k_pooled": null_unless(RATE.check(m) & POSITIVE.check(fk), m.pow(fk))},
    )
