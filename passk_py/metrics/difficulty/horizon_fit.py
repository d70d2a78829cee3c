"""The curve of pass^k over length, and where it is one half."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import polars as pl

from passk_py.stats.distributions import student_quantile

STEPS: Final = 24
"""How often the fit is bettered: from then on it moves by rounding, or does not settle."""
SETTLED: Final = 1e-6
"""A last step that moves it by more than this shows that it does not settle."""

_FARTHEST: Final = 30.0
_PLACE, _SCORE, _WEIGHT = pl.col("place"), pl.col("score"), pl.col("weight")


@dataclass(frozen=True, slots=True)
class HorizonFit:
    """A curve (1 + exp(-(level + slope place)))^-power, and the place where it is one half."""

    power: float
    level: float
    slope: float
    moved: float
    """How far the last step moved it."""
    units: float
    """The number of tasks, or of families of one size that would say as much."""
    above: float
    """Its level less the level at which it is one half."""
    limits: tuple[float, float] | None
    """Fieller's limits of the place; None where the slope is not surely below 0."""


def fit_horizon(points: pl.DataFrame, k: int, confidence: float) -> HorizonFit:
    """Fit the curve to tasks: ``draw`` (family or null), ``place``, ``score``, ``weight``.

    It is the quasi-likelihood of a share (Papke and Wooldridge 1996) by Fisher's scoring, with four
    halves of tasks more, one that passes and one that fails at either side, so that every fit is
    finite. The variances are those of independent draws, whether or not the curve is right.
    """
    halves = pl.DataFrame(
        {"place": [-1.0, -1.0, 1.0, 1.0], "score": [0.0, 1.0, 0.0, 1.0], "weight": [0.5] * 4}
    )
    every = pl.concat([points.select("place", "score", "weight"), halves])
    power = math.sqrt(k)
    height = every.select(((_WEIGHT * _SCORE).sum() / _WEIGHT.sum()) ** (1 / power)).item()
    level, slope, moved = math.log(height / (1 - height)), 0.0, math.inf
    for _ in range(STEPS):
        sums = _leaning(every, level, slope, power).select(
            *_information(),
            g0=(_WEIGHT * pl.col("off")).sum(),
            g1=(_WEIGHT * pl.col("off") * _PLACE).sum(),
        )
        s0, s1, s2, g0, g1 = sums.row(0)
        size = s0 * s2 - s1 * s1
        if not size > 0:
            moved = math.nan
            break
        steps = (s2 * g0 - s1 * g1) / size, (s0 * g1 - s1 * g0) / size
        level, slope, moved = level + steps[0], slope + steps[1], max(map(abs, steps))
    units, inverse, squares = _spread(points, halves, level, slope, power)
    at_half = 0.5 ** (1 / power)
    above = level - math.log(at_half / (1 - at_half))
    quantile = student_quantile(math.floor(units + 0.5), confidence)
    limits = None
    if slope < 0:
        limits = _fieller(above, slope, quantile**2 * (1 + 2 / units), inverse, squares)
    return HorizonFit(power, level, slope, moved, units, above, limits)


def _leaning(points: pl.DataFrame, level: float, slope: float, power: float) -> pl.DataFrame:
    """Add the height of the curve, its information, and how far the score is ``off``."""
    odds = (-(level + slope * _PLACE).clip(-_FARTHEST, _FARTHEST)).exp()
    points = points.with_columns(odds=odds, log=-power * odds.log1p())
    log = pl.col("log")
    # 1 - exp(log), without a difference.
    above = -2 * (log / 2).sinh() * (log / 2).exp()
    lean = power * (pl.col("odds") / (1 + pl.col("odds"))) / above
    return points.with_columns(
        off=(_SCORE - log.exp()) * lean, told=_WEIGHT * lean * lean * log.exp() * above
    )


def _information() -> tuple[pl.Expr, ...]:
    told = pl.col("told")
    return (
        told.sum().alias("s0"),
        (told * _PLACE).sum().alias("s1"),
        (told * _PLACE * _PLACE).sum().alias("s2"),
    )


Matrix = tuple[float, float, float]
"""A symmetric matrix of two rows: the first of its diagonal, the other entry, the second."""


def _spread(
    points: pl.DataFrame, halves: pl.DataFrame, level: float, slope: float, power: float
) -> tuple[float, Matrix, Matrix]:
    """Give the effective draws, the inverse of the information, and the squares of the draws."""
    tasks, added = (_leaning(one, level, slope, power) for one in (points, halves))
    told = ["place", "told"]
    s0, s1, s2 = pl.concat([tasks.select(told), added.select(told)]).select(*_information()).row(0)
    size = s0 * s2 - s1 * s1
    # A task of no family is a draw of its own.
    lone = tasks.filter(pl.col("draw").is_null())
    named = (
        tasks.filter(pl.col("draw").is_not_null())
        .group_by("draw", maintain_order=True)
        .agg(
            tasks=_WEIGHT.sum(),
            level=(_WEIGHT * pl.col("off")).sum(),
            slope=(_WEIGHT * pl.col("off") * _PLACE).sum(),
        )
    )
    total = _sum(named["tasks"]) + _sum(lone["weight"])
    squared = _sum(named["tasks"] ** 2) + _sum(lone["weight"])
    units, typical = total**2 / squared, squared / total

    def squares(one: pl.Expr, other: pl.Expr) -> float:
        of_lone = (_WEIGHT * pl.col("off") ** 2 * one * other).sum()
        found: float = lone.select(of_lone).item() + typical**2 * added.select(of_lone).item()
        return found

    level_, slope_ = named["level"], named["slope"]
    one, place = pl.lit(1.0), _PLACE
    return (
        units,
        (s2 / size, -s1 / size, s0 / size),
        (
            squares(one, one) + _sum(level_ * level_),
            squares(one, place) + _sum(level_ * slope_),
            squares(place, place) + _sum(slope_ * slope_),
        ),
    )


def _sum(values: pl.Series) -> float:
    return float(values.sum())


def _fieller(
    above: float, slope: float, size: float, inverse: Matrix, squares: Matrix
) -> tuple[float, float] | None:
    """Give the places x where (above + slope x)^2 <= size times its variance."""
    i0, i1, i2 = inverse
    m0, m1, m2 = squares
    of_level = i0 * i0 * m0 + 2 * i0 * i1 * m1 + i1 * i1 * m2
    of_both = i0 * i1 * m0 + (i0 * i2 + i1 * i1) * m1 + i1 * i2 * m2
    of_slope = i1 * i1 * m0 + 2 * i1 * i2 * m1 + i2 * i2 * m2
    a2 = slope * slope - size * of_slope
    a1 = above * slope - size * of_both
    a0 = above * above - size * of_level
    if not a2 > 0:
        return None
    root = math.sqrt(max(a1 * a1 - a2 * a0, 0.0))
    far = ((-root if a1 > 0 else root) - a1) / a2
    near = a0 / (a2 * far) if far else 0.0
    return min(near, far), max(near, far)
