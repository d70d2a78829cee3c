"""The first k attempts in the order in which they were made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passk_py.stats.estimators.arguments import (
    COUNT,
    F64,
    POSITIVE,
    as_operand,
    as_outcomes,
    null_unless,
    one_k,
    refuse_above,
)
from passk_py.stats.numerics import let

if TYPE_CHECKING:
    from collections.abc import Callable

    from passk_py.stats.estimators.arguments import IntoExpr


def _first_k(
    function: str, passed: IntoExpr, k: IntoExpr, found: Callable[[pl.Expr, pl.Expr], pl.Expr]
) -> pl.Expr:
    outcomes = as_outcomes(passed, function)
    size, valid = one_k(function, k)
    among = outcomes.is_not_null().cum_sum() <= size
    enough = valid & (outcomes.count() >= size)
    return null_unless(enough, found(outcomes, among).cast(F64)).alias(function)


def pass_at_k_first_k(passed: IntoExpr, k: IntoExpr) -> pl.Expr:
    """Aggregate the ordered outcomes of a task: whether any of the first k attempts passes.

    Parameters
    ----------
    passed
        Boolean outcomes in the order of the attempts; null is an excluded attempt, which is
        skipped.
    k
        How many attempts the user makes. If it is a column, the first value in the group counts.

    Returns
    -------
    polars.Expr
        Float64, 1.0 or 0.0, one a group. Null with fewer than k counted attempts.

    Raises
    ------
    ArgumentError
        If k is a number below 1 or fractional.

    Notes
    -----
    Unbiased when attempts are exchangeable, with 2 to 5 times the variance of :func:`pass_at_k`.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"passed": [False, None, False, True]})
    >>> log.select(k2=pass_at_k_first_k("passed", 2), k3=pass_at_k_first_k("passed", 3)).row(0)
    (0.0, 1.0)
    """
    return _first_k("pass_at_k_first_k", passed, k, lambda won, among: (won & among).any())


def pass_hat_k_first_k(passed: IntoExpr, k: IntoExpr) -> pl.Expr:
    """Aggregate the ordered outcomes of a task: whether all of the first k attempts pass.

    Parameters
    ----------
    passed
        Boolean outcomes in the order of the attempts; null is an excluded attempt, which is
        skipped.
    k
        How many attempts must all pass. If it is a column, the first value in the group counts.

    Returns
    -------
    polars.Expr
        Float64, 1.0 or 0.0, one a group. Null with fewer than k counted attempts.

    Raises
    ------
    ArgumentError
        If k is a number below 1 or fractional.

    Notes
    -----
    Unbiased when attempts are exchangeable, with 2 to 5 times the variance of :func:`pass_hat_k`.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"passed": [True, None, True, False]})
    >>> log.select(k2=pass_hat_k_first_k("passed", 2), k3=pass_hat_k_first_k("passed", 3)).row(0)
    (1.0, 0.0)
    """
    return _first_k("pass_hat_k_first_k", passed, k, lambda won, among: (won | ~among).all())


def _from_rank(
    function: str, rank: tuple[str, IntoExpr], n: IntoExpr, k: IntoExpr, *, within: float
) -> pl.Expr:
    """Give ``within`` where the rank is among the first k, 1 - ``within`` where it is later."""
    rank_ = as_operand(function, rank[0], rank[1], POSITIVE)
    n_ = as_operand(function, "n", n, COUNT)
    k_ = as_operand(function, "k", k, POSITIVE)
    refuse_above(function, (rank[0], rank_), ("n", n_))
    place, fn, fk = pl.field("rank"), pl.field("n"), pl.field("k")
    valid = COUNT.check(fn) & POSITIVE.check(fk) & (fk <= fn)
    # No rank is an answer, not a missing value: there was no such attempt.
    possible = place.is_null() | (POSITIVE.check(place) & (place <= fn))
    value = pl.when(place <= fk).then(within).otherwise(1.0 - within)
    return let(
        {"rank": rank_.expr, "n": n_.expr, "k": k_.expr},
        {function: null_unless(valid & possible, value)},
    )


def pass_at_k_from_rank(first_pass_rank: IntoExpr, n: IntoExpr, k: IntoExpr) -> pl.Expr:
    """Tell from the place of the first pass whether any of the first k attempts passed.

    Parameters
    ----------
    first_pass_rank
        Place of the first pass among the counted attempts, from 1; null if none passed.
    n
        Counted attempts of the task.
    k
        How many attempts the user makes.

    Returns
    -------
    polars.Expr
        Float64, 1.0 or 0.0. Null where n < k and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> tasks = pl.DataFrame({"first_pass_rank": [2, 3, None], "n": [4, 4, 4]})
    >>> tasks.select(pass_at_k_from_rank("first_pass_rank", "n", 2)).to_series().to_list()
    [1.0, 0.0, 0.0]
    """
    rank = ("first_pass_rank", first_pass_rank)
    return _from_rank("pass_at_k_from_rank", rank, n, k, within=1.0)


def pass_hat_k_from_rank(first_fail_rank: IntoExpr, n: IntoExpr, k: IntoExpr) -> pl.Expr:
    """Tell from the place of the first failure whether all of the first k attempts passed.

    Parameters
    ----------
    first_fail_rank
        Place of the first failure among the counted attempts, from 1; null if none failed.
    n
        Counted attempts of the task.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, 1.0 or 0.0. Null where n < k and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> tasks = pl.DataFrame({"first_fail_rank": [2, 3, None], "n": [4, 4, 4]})
    >>> tasks.select(pass_hat_k_from_rank("first_fail_rank", "n", 2)).to_series().to_list()
    [0.0, 1.0, 1.0]
    """
    rank = ("first_fail_rank", first_fail_rank)
    return _from_rank("pass_hat_k_from_rank", rank, n, k, within=0.0)
