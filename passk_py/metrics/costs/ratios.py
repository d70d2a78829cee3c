"""Ratios of two sums over tasks, with limits on the scale of the logarithm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.uncertainty import floor_unit
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST: Final = 50.0
"""A limit that is e^50 times the estimate says nothing."""


def ratio_limits(
    terms: pl.DataFrame, keys: Sequence[str], confidence: float, *, by_family: bool
) -> pl.DataFrame:
    r"""Give the ratio of the sums of ``x`` and ``y`` over the tasks of each group, with limits.

    .. math:: \widehat{Var} \ln R = \frac{\sum_t z_t^2 + \max(2 \max_t z_t^2, (C r)^2)}{T (T - 1)},
        \quad z_t = \frac{x_t}{\bar x} - \frac{y_t}{\bar y}

    (Cochran 1977, 6.4, with two tasks more that are as far off as the farthest). The ``reach`` r is
    the z of a task that never succeeds and may be missing by luck, and :math:`C = -\ln(a/2) / z`,
    as in the floor of a suite's interval. Tasks of one ``draw`` are taken together.
    """
    draws = (
        terms.with_columns(
            apart=pl.col("x") / pl.col("x").mean().over(keys)
            - pl.col("y") / pl.col("y").mean().over(keys)
        )
        .group_by(*keys, "draw", maintain_order=True)
        .agg(pl.len().alias("size"), pl.col("apart", "x", "y").sum(), pl.col("reach").max())
    )
    square = pl.col("apart") ** 2
    groups = draws.group_by(keys, maintain_order=True).agg(
        pl.len().alias("number"),
        pl.col("size", "x", "y").sum(),
        pl.col("reach").max(),
        (pl.col("size").cast(pl.Float64) ** 2).sum().alias("square_sizes"),
        square.sum().alias("squares"),
        square.max().alias("farthest"),
    )
    rows = [
        {name: group[name] for name in keys} | _ratio(group, confidence, by_family=by_family)
        for group in groups.iter_rows(named=True)
    ]
    types: dict[str, Any] = {name: terms.schema[name] for name in keys} | {
        **dict.fromkeys(("tasks", "families"), pl.Int64),
        **dict.fromkeys(("effective_families", "mean_x", "mean_y"), pl.Float64),
        **dict.fromkeys(("estimate", "lower", "upper"), pl.Float64),
    }
    return pl.DataFrame(rows, schema=types, orient="row")


def _ratio(group: Mapping[str, Any], confidence: float, *, by_family: bool) -> dict[str, Any]:
    tasks, number, x, y = (group[name] for name in ("size", "number", "x", "y"))
    units = tasks**2 / group["square_sizes"]
    row: dict[str, Any] = {
        "tasks": tasks,
        "families": number if by_family else None,
        "effective_families": units if by_family else None,
        "mean_x": x / tasks,
        "mean_y": y / tasks,
        "estimate": x / y if y else None,
        "lower": None,
        "upper": None,
    }
    degrees = math.floor(units + 0.5) - 1
    if not x or not y or degrees < 1:
        return row
    unseen = floor_unit(confidence) * group["reach"] * tasks / units
    squares = group["squares"] + max(2 * group["farthest"], unseen**2)
    error = math.sqrt(squares * number / (number - 1)) / tasks
    reach = student_quantile(degrees, confidence) * error
    if reach <= _MOST:
        row["lower"], row["upper"] = (x / y * math.exp(sign * reach) for sign in (-1, 1))
    return row
