"""Distributions: quantiles that intervals are made of, and tails that are the p of tests.

Few are asked for, one for each distinct state of a table, so they are computed to the last digits
rather than fast, and by other means than in SQL, which integrates: two ways to the same number.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

_TINY: Final = 1e-300
_TERMS: Final = 5_000
_STEPS: Final = 200


def normal_quantile(confidence: float) -> float:
    """Compute how many standard deviations a two-sided normal interval reaches to either side."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def median_of_highest(count: int) -> float:
    """Compute the median of the highest of so many standard normal variables, as SQL does.

    It is the quantile of 0.5 ** (1 / count), by Abramowitz and Stegun 1964, 26.2.23, which is off
    by less than 4.5e-4; one of them has 0.
    """
    if count == 1:
        return 0.0
    t = math.sqrt(-2 * math.log(1 - 0.5 ** (1 / count)))
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    return t - above / below


def two_sided_p(z: float) -> float:
    """Compute the chance that a standard normal variable is as far from 0, to either side."""
    return math.erfc(abs(z) / math.sqrt(2))


def p_value(p: float) -> float:
    """Give a p-value as a table holds it: 1e-300 stands for all below, because no test finds 0."""
    return max(p, _TINY)


def chi_square_tail(x: float, degrees: int) -> float:
    """Compute the chance of a chi-square variable as large, or larger, by an approximation.

    The cube root of x / degrees is nearly normal, with the mean 1 - 2 / (9 degrees) and the
    variance 2 / (9 degrees) (Wilson and Hilferty 1931). The SQL macro of the same name says how far
    off it is.
    """
    spread = 2 / (9 * degrees)
    z = ((x / degrees) ** (1 / 3) - 1 + spread) / math.sqrt(spread)
    return math.erfc(z / math.sqrt(2)) / 2


@lru_cache(maxsize=65536)
def student_quantile(degrees: int, confidence: float) -> float:
    """Compute how many standard errors an interval of Student's t reaches to either side."""
    if degrees < 1:
        return math.inf
    # t^2 / (degrees + t^2) is Beta(1/2, degrees / 2).
    inside = beta_quantile(confidence, 0.5, degrees / 2)
    return math.sqrt(degrees * inside / (1 - inside))


@lru_cache(maxsize=65536)
def beta_quantile(share: float, a: float, b: float) -> float:
    """Compute the number that a Beta variable is below with a given chance.

    Newton's steps, held within a bracket, on the regularized incomplete beta function by its
    continued fraction (Press et al., Numerical Recipes, 6.4): to about 1e-13 relative where a + b
    is below 1000.
    """
    low, high = 0.0, 1.0
    x = a / (a + b)
    log_norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    for _ in range(_STEPS):
        below = _incomplete_beta(x, a, b, log_norm)
        low, high = (x, high) if below < share else (low, x)
        density = math.exp(log_norm + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x))
        step = (share - below) / density if density > 0 else math.inf
        moved = x + step
        if not low < moved < high:
            moved = (low + high) / 2
        if abs(moved - x) <= 1e-16 * x:
            return moved
        x = moved
    return x


def log_moment_by_correlation(rate: float, index: float, m: int) -> float:
    """Compute ln E[p^m] of a Beta variable p of mean ``rate``, from its intraclass correlation.

    E[p^m] is the chance that m attempts at one task pass, the product over i < m of
    (rate (1 - index) + i index) / (1 - index + i index) (Skellam 1948).
    """
    rest = (
        math.log((rate * (1 - index) + i * index) / (1 - index + i * index)) for i in range(1, m)
    )
    return math.fsum((math.log(rate), *rest))


def _incomplete_beta(x: float, a: float, b: float, log_norm: float) -> float:
    front = math.exp(log_norm + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction by Lentz's method."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = 1 + term / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value
