"""k attempts drawn from the n without replacement: pass@k and pass^k without bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.stats.estimators.arguments import (
    COUNT,
    F64,
    POSITIVE,
    Operand,
    as_operand,
    null_unless,
    task_operands,
)
from passk_py.stats.numerics import let, log_beta_moment_steps, one_minus_exp_steps

if TYPE_CHECKING:
    from passk_py.stats.estimators.arguments import IntoExpr
    from passk_py.stats.numerics import Steps

_PRODUCT_MAX_K: Final = 32
"""Up to this k, given as a number, a product of k factors is quicker than the log moment."""


def _task_valid(k: Operand) -> pl.Expr:
    """Whether n, c and k are counts with c <= n and k <= n."""
    n, c = pl.field("n"), pl.field("c")
    valid = COUNT.check(n) & (c >= 0.0) & (c <= n) & (c == c.floor())
    if k.literal is not None:
        return valid & (n >= k.literal)
    return valid & (pl.field("k") <= n) & POSITIVE.check(pl.field("k"))


def pass_at_k(n: IntoExpr, c: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Estimate pass@k without bias: at least one of k attempts passes.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    k
        How many attempts the user makes.

    Returns
    -------
    polars.Expr
        Float64, a probability. Null where n < k and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If n, c or k is a number that can't be right.

    Notes
    -----
    .. math:: 1 - \binom{n - c}{k} / \binom{n}{k}

    (Chen et al. 2021, arXiv:2107.03374, equation 1). Relative error at most 1e-15 against exact
    rationals for n up to 1e6; for ``1 - pass_at_k`` with the same accuracy take
    ``pass_hat_k(n, n - c, k)``.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k(4, 2, 2)).item()
    0.8333333333333333
    >>> tasks = pl.DataFrame({"n": [4, 4, 1], "c": [1, 0, 1]})
    >>> tasks.select(pass_at_k("n", "c", 2)).to_series().to_list()
    [0.5, 0.0, None]
    """
    n_, c_, k_ = task_operands("pass_at_k", n, c, k)
    fn, fc, fk = pl.field("n"), pl.field("c"), pl.field("k")
    if k_.literal is not None and k_.literal <= _PRODUCT_MAX_K:
        # 1 - (1 - c/n) (1 - c/(n-1)) ... by Horner's rule, from the inside: a sum of terms that
        # are all positive, so that nothing cancels, and c / n to the last bit at k = 1.
        drawn = int(k_.literal)
        value = fc / (fn - float(drawn - 1))
        for i in reversed(range(drawn - 1)):
            value = (fc + (fn - fc - float(i)) * value) / (fn - float(i))
        steps: Steps = ({"value": value},)
    else:
        # Failures instead of passes: 1 - pass@k is pass^k of the task with n - c passes.
        steps = log_beta_moment_steps(fn - fc - fk + 1.0, fc, fk)
        steps += one_minus_exp_steps(pl.field("log_moment"), "value")
    decided = (
        pl.when(fc == 0.0)
        .then(0.0)
        .when(fn - fc < fk)
        .then(1.0)
        .when(fk == 1.0)
        .then(fc / fn)
        .otherwise(pl.field("value"))
    )
    return let(
        {"n": n_.expr, "c": c_.expr, "k": k_.expr},
        *steps,
        {"pass_at_k": null_unless(_task_valid(k_), decided)},
    )


def pass_hat_k(n: IntoExpr, c: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Estimate pass^k without bias: all of k attempts pass.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a probability. Null where n < k and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If n, c or k is a number that can't be right.

    Notes
    -----
    .. math:: \binom{c}{k} / \binom{n}{k}

    (Yao et al. 2024, arXiv:2406.12045, section 3). Relative error at most 4e-13 against exact
    rationals for n up to 1e6, which is reached near 1e-300; below 5e-15 for values above 1e-3.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_hat_k(4, 3, 2)).item()
    0.5
    >>> tasks = pl.DataFrame({"n": [4, 4, 1], "c": [3, 1, 1]})
    >>> tasks.select(pass_hat_k("n", "c", 2)).to_series().to_list()
    [0.5, 0.0, None]
    """
    n_, c_, k_ = task_operands("pass_hat_k", n, c, k)
    fn, fc, fk = pl.field("n"), pl.field("c"), pl.field("k")
    if k_.literal is not None and k_.literal <= _PRODUCT_MAX_K:
        value = fc / fn
        for i in range(1, int(k_.literal)):
            value = value * ((fc - float(i)) / (fn - float(i)))
        steps: Steps = ({"value": value},)
    else:
        steps = log_beta_moment_steps(fc - fk + 1.0, fn - fc, fk)
        steps += ({"value": pl.field("log_moment").exp()},)
    decided = (
        pl.when(fc == fn)
        .then(1.0)
        .when(fk > fc)
        .then(0.0)
        .when(fk == 1.0)
        .then(fc / fn)
        .otherwise(pl.field("value"))
    )
    return let(
        {"n": n_.expr, "c": c_.expr, "k": k_.expr},
        *steps,
        {"pass_hat_k": null_unless(_task_valid(k_), decided)},
    )


def log_choose(n: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute the natural logarithm of the number of ways to choose k out of n.

    Parameters
    ----------
    n
        How many there are.
    k
        How many are chosen.

    Returns
    -------
    polars.Expr
        Float64 in nats. Null unless 0 <= k <= n.

    Raises
    ------
    ArgumentError
        If n or k is a negative or fractional number.

    Notes
    -----
    :math:`\ln \binom{n}{k} = -\ln E[X^k]` for :math:`X \sim` Beta(1, n - k). Relative error at
    most 1e-15.

    Examples
    --------
    >>> import polars as pl
    >>> round(pl.select(log_choose(200, 2).exp()).item(), 6)
    19900.0
    >>> pl.select(log_choose(2, 3)).item() is None
    True
    """
    n_ = as_operand("log_choose", "n", n, COUNT)
    k_ = as_operand("log_choose", "k", k, COUNT)
    fn, fk = pl.field("n"), pl.field("k")
    valid = COUNT.check(fn) & COUNT.check(fk) & (fk <= fn)
    decided = pl.when((fk == 0.0) | (fk == fn)).then(0.0).otherwise(-pl.field("log_moment"))
    return let(
        {"n": n_.expr, "k": k_.expr},
        *log_beta_moment_steps(pl.lit(1.0, F64), fn - fk, fk),
        {"log_choose": null_unless(valid, decided)},
    )
