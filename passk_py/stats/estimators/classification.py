"""Words for numbers: what a task is called, and how a suite reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passk_py.stats.estimators.arguments import (
    COUNT,
    RATE,
    as_number,
    as_operand,
    null_unless,
    refuse,
    refuse_above,
)
from passk_py.stats.numerics import let

if TYPE_CHECKING:
    from passk_py.stats.estimators.arguments import IntoExpr


def task_class(
    n: IntoExpr, c: IntoExpr, *, consistent_rate: float = 1.0, incapable_rate: float = 0.0
) -> pl.Expr:
    """Name what was observed of a task: consistent, flaky or incapable.

    It says nothing of what was not observed: 5 of 5 happens 59 % of the time at p = .9.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    consistent_rate
        Consistent if c / n is at least this.
    incapable_rate
        Incapable if c / n is at most this.

    Returns
    -------
    polars.Expr
        String: ``consistent``, ``incapable``, else ``flaky``; ``unknown`` where n = 0. Null where
        the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right, or incapable_rate is not below consistent_rate.

    Examples
    --------
    >>> import polars as pl
    >>> tasks = pl.DataFrame({"n": [4, 4, 4, 0], "c": [4, 2, 0, 0]})
    >>> tasks.select(task_class("n", "c")).to_series().to_list()
    ['consistent', 'flaky', 'incapable', 'unknown']
    """
    name = "task_class"
    n_ = as_operand(name, "n", n, COUNT)
    c_ = as_operand(name, "c", c, COUNT)
    refuse_above(name, ("c", c_), ("n", n_))
    high = as_number(name, "consistent_rate", consistent_rate, RATE)
    low = as_number(name, "incapable_rate", incapable_rate, RATE)
    if low >= high:
        refuse(name, "incapable_rate", incapable_rate, f"below consistent_rate = {high}")
    fn, fc = pl.field("n"), pl.field("c")
    words = (
        pl.when(fn == 0.0)
        .then(pl.lit("unknown"))
        .when(fc / fn >= high)
        .then(pl.lit("consistent"))
        .when(fc / fn <= low)
        .then(pl.lit("incapable"))
        .otherwise(pl.lit("flaky"))
    )
    valid = COUNT.check(fn) & COUNT.check(fc) & (fc <= fn)
    return let({"n": n_.expr, "c": c_.expr}, {name: null_unless(valid, words)})


def suite_reading(
    pass_at_k: IntoExpr,
    pass_hat_k: IntoExpr,
    *,
    capable_threshold: float = 0.8,
    consistent_threshold: float = 0.95,
) -> pl.Expr:
    """Read pass@k and pass^k of a suite together.

    Parameters
    ----------
    pass_at_k
        Mean pass@k over tasks.
    pass_hat_k
        Mean pass^k over tasks.
    capable_threshold
        Capable if pass@k is at least this.
    consistent_threshold
        Consistent if pass^k is at least this.

    Returns
    -------
    polars.Expr
        String: ``capable and consistent``, ``capable but flaky`` or ``not capable``. Null where an
        input is null or not a probability.

    Raises
    ------
    ArgumentError
        If a number is not from 0 to 1.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(suite_reading(0.8, 0.4)).item()
    'capable but flaky'
    """
    name = "suite_reading"
    at_ = as_operand(name, "pass_at_k", pass_at_k, RATE)
    hat_ = as_operand(name, "pass_hat_k", pass_hat_k, RATE)
    capable = as_number(name, "capable_threshold", capable_threshold, RATE)
    consistent = as_number(name, "consistent_threshold", consistent_threshold, RATE)
    at, hat = pl.field("at"), pl.field("hat")
    words = (
        pl.when(at < capable)
        .then(pl.lit("not capable"))
        .when(hat >= consistent)
        .then(pl.lit("capable and consistent"))
        .otherwise(pl.lit("capable but flaky"))
    )
    valid = RATE.check(at) & RATE.check(hat)
    return let({"at": at_.expr, "hat": hat_.expr}, {name: null_unless(valid, words)})
