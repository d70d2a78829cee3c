"""c / n put into the formula of a known p."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.stats.estimators.arguments import POSITIVE, null_unless, task_operands
from passk_py.stats.numerics import let, log1p_nonnegative, one_minus_exp_steps

if TYPE_CHECKING:
    from passk_py.stats.estimators.arguments import IntoExpr

_POWER_MAX_K: Final = 16
"""Up to this k the rounding of c / n costs a power less than a logarithm does."""


def _plugin_valid() -> pl.Expr:
    n, c = pl.field("n"), pl.field("c")
    valid = POSITIVE.check(n) & (c >= 0.0) & (c <= n) & (c == c.floor())
    return valid & POSITIVE.check(pl.field("k"))


def pass_at_k_plugin(n: IntoExpr, c: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Put c / n into the formula of a known p: at least one of k attempts passes.

    Biased: too low for every k > 1. Take :func:`pass_at_k` unless k exceeds n.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    k
        How many attempts the user makes; may exceed n.

    Returns
    -------
    polars.Expr
        Float64, a probability. Null where n = 0 and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If n, c or k is a number that can't be right.

    Notes
    -----
    .. math:: 1 - (1 - c/n)^k

    computed as :math:`1 - e^{-k \ln(1 + c / (n - c))}`, which does not cancel.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k_plugin(2, 1, 3)).item()
    0.875
    """
    n_, c_, k_ = task_operands("pass_at_k_plugin", n, c, k)
    fn, fc, fk = pl.field("n"), pl.field("c"), pl.field("k")
    odds, one_plus_odds = pl.field("odds"), pl.field("one_plus_odds")
    decided = (
        pl.when(fc == 0.0)
        .then(0.0)
        .when(fc == fn)
        .then(1.0)
        .when(fk == 1.0)
        .then(fc / fn)
        .otherwise(pl.field("value"))
    )
    return let(
        {"n": n_.expr, "c": c_.expr, "k": k_.expr},
        {"odds": fc / (fn - fc)},
        {"one_plus_odds": 1.0 + odds},
        *one_minus_exp_steps(-fk * log1p_nonnegative(odds, one_plus_odds), "value"),
        {"pass_at_k_plugin": null_unless(_plugin_valid(), decided)},
    )


def pass_hat_k_plugin(n: IntoExpr, c: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Put c / n into the formula of a known p: all of k attempts pass.

    Biased: too high for every k > 1, by .04 to .08 at n = 5 to 10. Take :func:`pass_hat_k` unless
    k exceeds n.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    k
        How many attempts must all pass; may exceed n.

    Returns
    -------
    polars.Expr
        Float64, a probability. Null where n = 0 and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If n, c or k is a number that can't be right.

    Notes
    -----
    .. math:: (c/n)^k

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_hat_k_plugin(2, 1, 3)).item()
    0.125
    """
    n_, c_, k_ = task_operands("pass_hat_k_plugin", n, c, k)
    fn, fc, fk = pl.field("n"), pl.field("c"), pl.field("k")
    odds, one_plus_odds = pl.field("odds"), pl.field("one_plus_odds")
    decided = (
        pl.when(fc == 0.0)
        .then(0.0)
        .when(fc == fn)
        .then(1.0)
        # The rounding of c / n is raised to the power too: k / 2 units in the last place, 1e-10
        # at k = 1e6. The logarithm of the odds of failure has a small relative error instead.
        .when((fk > float(_POWER_MAX_K)) & (fn - fc <= fc))
        .then((-fk * log1p_nonnegative(odds, one_plus_odds)).exp())
        .otherwise((fc / fn).pow(fk))
    )
    return let(
        {"n": n_.expr, "c": c_.expr, "k": k_.expr},
        {"odds": (fn - fc) / fc},
        {"one_plus_odds": 1.0 + odds},
        {"pass_hat_k_plugin": null_unless(_plugin_valid(), decided)},
    )
