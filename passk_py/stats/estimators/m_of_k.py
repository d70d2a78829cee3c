"""At least m of k attempts pass: between pass@k, which asks for one, and pass^k, for all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.stats.estimators.arguments import (
    COUNT,
    ArgumentError,
    as_operand,
    null_unless,
)
from passk_py.stats.estimators.unbiased import pass_hat_k

if TYPE_CHECKING:
    from passk_py.stats.estimators.arguments import IntoExpr

MOST_TRIES: Final = 32
"""The largest k: the estimate has a term for each number of passes."""


def checked_m_of_k(function: str, m: int, k: int) -> tuple[int, int]:
    """Give m and k as they are, or raise an error."""
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST_TRIES:
        raise ArgumentError(
            f"{function}: k must be a whole number from 1 to {MOST_TRIES}; got {k!r}"
        )
    if isinstance(m, bool) or not isinstance(m, int) or not 1 <= m <= k:
        raise ArgumentError(f"{function}: m must be a whole number from 1 to k = {k}; got {m!r}")
    return m, k


def pass_m_of_k(n: IntoExpr, c: IntoExpr, m: int, k: int) -> pl.Expr:
    r"""Estimate without bias the chance that at least m of k attempts pass.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    m
        How many attempts must pass, a number from 1 to k: 1 gives pass@k, k gives pass^k.
    k
        How many attempts the user makes, a number up to 32.

    Returns
    -------
    polars.Expr
        Float64, a probability. Null where n < k and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If m or k is no such number, or n or c is a number that can't be right.

    Notes
    -----
    .. math:: \sum_{j=m}^{k} \binom{c}{j} \binom{n - c}{k - j} / \binom{n}{k}

    (G-Pass@k of Liu et al. 2024, arXiv:2412.13147, with m successes.) All terms are positive, so
    that none cancels another: relative error at most 1e-14 against exact rationals.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_m_of_k(16, 14, 3, 4)).item()
    0.95
    >>> tasks = pl.DataFrame({"n": [4, 4, 1], "c": [2, 1, 1]})
    >>> tasks.select(pass_m_of_k("n", "c", 2, 3)).to_series().to_list()
    [0.5, 0.0, None]
    """
    least, tries = checked_m_of_k("pass_m_of_k", m, k)
    attempts = as_operand("pass_m_of_k", "n", n, COUNT).expr
    passes = as_operand("pass_m_of_k", "c", c, COUNT).expr
    failures = attempts - passes
    terms: list[pl.Expr] = []
    for passed in range(least, tries + 1):
        failed = tries - passed
        chance = pass_hat_k(attempts, passes, passed) * float(math.comb(tries, passed))
        if failed:
            chance = chance * pass_hat_k(attempts - passed, failures, failed)
        terms.append(pl.when((passes >= passed) & (failures >= failed)).then(chance).otherwise(0.0))
    valid = COUNT.check(attempts) & COUNT.check(passes) & (passes <= attempts) & (attempts >= tries)
    certain = pl.when(failures <= tries - least).then(1.0)
    # Rounding takes none above 1.
    value = certain.otherwise(pl.min_horizontal(pl.lit(1.0), pl.sum_horizontal(terms)))
    return null_unless(valid, value).alias("pass_m_of_k")
