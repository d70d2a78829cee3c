"""Sliding windows of k consecutive attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passk_py.stats.estimators.arguments import (
    COUNT,
    POSITIVE,
    Operand,
    as_operand,
    as_outcomes,
    null_unless,
    one_k,
    refuse_above,
)
from passk_py.stats.numerics import let

if TYPE_CHECKING:
    from passk_py.stats.estimators.arguments import IntoExpr


def _window(
    function: str, passed: IntoExpr, k: IntoExpr, attempt: IntoExpr, *, verdict: bool
) -> pl.Expr:
    """Share of the complete windows of k consecutive attempts that all have the verdict."""
    outcomes = as_outcomes(passed, function)
    size, valid = one_k(function, k)
    if attempt is None:
        place = pl.int_range(outcomes.len())
    else:
        place = as_operand(function, "attempt", attempt, COUNT).expr
        valid = valid & (place.null_count() == 0) & (place.diff() > 0.0).all()

    def windows(places: pl.Expr) -> pl.Expr:
        # k places in rising order span k - 1 exactly if they are consecutive.
        return (places.shift(1 - size) - places == size - 1).sum()

    counted = windows(place.filter(outcomes.is_not_null()))
    hits = windows(place.filter(outcomes if verdict else ~outcomes))
    return null_unless(valid & (counted > 0), hits / counted)


def pass_at_k_window(passed: IntoExpr, k: IntoExpr, *, attempt: IntoExpr = None) -> pl.Expr:
    """Aggregate the ordered outcomes of a task: the share of windows in which any attempt passes.

    Parameters
    ----------
    passed
        Boolean outcomes in the order of the attempts; null is an excluded attempt. A window that
        would contain it is not counted.
    k
        How many consecutive attempts make a window. If it is a column, the first value in the group
        counts.
    attempt
        The numbers of the attempts, strictly rising. Where one is missing, windows break too.

    Returns
    -------
    polars.Expr
        Float64, a share, one a group. Null without a complete window, and where the numbers of
        the attempts don't rise.

    Raises
    ------
    ArgumentError
        If k is a number below 1 or fractional.

    Notes
    -----
    Unbiased when attempts are exchangeable, with 1.2 to 1.3 times the variance of
    :func:`pass_at_k`; the gap between the two shows streaks.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"passed": [letter == "P" for letter in "PFFPP"]})
    >>> log.select(pass_at_k_window("passed", 2)).item()
    0.75
    """
    name = "pass_at_k_window"
    return (1.0 - _window(name, passed, k, attempt, verdict=False)).alias(name)


def pass_hat_k_window(passed: IntoExpr, k: IntoExpr, *, attempt: IntoExpr = None) -> pl.Expr:
    """Aggregate the ordered outcomes of a task: the share of windows in which all attempts pass.

    Parameters
    ----------
    passed
        Boolean outcomes in the order of the attempts; null is an excluded attempt. A window that
        would contain it is not counted.
    k
        How many consecutive attempts make a window. If it is a column, the first value in the group
        counts.
    attempt
        The numbers of the attempts, strictly rising. Where one is missing, windows break too.

    Returns
    -------
    polars.Expr
        Float64, a share, one a group. Null without a complete window, and where the numbers of
        the attempts don't rise.

    Raises
    ------
    ArgumentError
        If k is a number below 1 or fractional.

    Notes
    -----
    Unbiased when attempts are exchangeable, with 1.2 to 1.3 times the variance of
    :func:`pass_hat_k`; the gap between the two shows streaks.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"passed": [letter == "P" for letter in "PPFPPPFPPP"]})
    >>> log.select(pass_hat_k_window("passed", 3)).item()
    0.25
    """
    name = "pass_hat_k_window"
    return _window(name, passed, k, attempt, verdict=True).alias(name)


def _from_windows(
    function: str, part: tuple[str, IntoExpr], windows: IntoExpr
) -> tuple[Operand, Operand, pl.Expr]:
    part_ = as_operand(function, part[0], part[1], COUNT)
    windows_ = as_operand(function, "windows", windows, COUNT)
    refuse_above(function, (part[0], part_), ("windows", windows_))
    few, all_ = pl.field("few"), pl.field("all")
    return part_, windows_, COUNT.check(few) & POSITIVE.check(all_) & (few <= all_)


def pass_at_k_from_windows(fail_windows: IntoExpr, windows: IntoExpr) -> pl.Expr:
    """Compute the sliding-window pass@k from counts of windows.

    Parameters
    ----------
    fail_windows
        Windows of k consecutive attempts that all failed.
    windows
        Complete windows of k consecutive attempts.

    Returns
    -------
    polars.Expr
        Float64, a share. Null without a window, and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k_from_windows(1, 4)).item()
    0.75
    """
    name = "pass_at_k_from_windows"
    few, all_, valid = _from_windows(name, ("fail_windows", fail_windows), windows)
    share = pl.field("few") / pl.field("all")
    return let({"few": few.expr, "all": all_.expr}, {name: null_unless(valid, 1.0 - share)})


def pass_hat_k_from_windows(pass_windows: IntoExpr, windows: IntoExpr) -> pl.Expr:
    """Compute the sliding-window pass^k from counts of windows.

    Parameters
    ----------
    pass_windows
        Windows of k consecutive attempts that all passed.
    windows
        Complete windows of k consecutive attempts.

    Returns
    -------
    polars.Expr
        Float64, a share. Null without a window, and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_hat_k_from_windows(1, 4)).item()
    0.25
    """
    name = "pass_hat_k_from_windows"
    few, all_, valid = _from_windows(name, ("pass_windows", pass_windows), windows)
    share = pl.field("few") / pl.field("all")
    return let({"few": few.expr, "all": all_.expr}, {name: null_unless(valid, share)})
