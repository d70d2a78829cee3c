"""The moments of what diagnostics look at, over all orders of the verdicts of a task."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache


@lru_cache(maxsize=4096)
def alike_variance(n: int, p: float, k: int) -> float:
    """Give the variance of pass^k of a task that passes with chance p, but for what is linear.

    These are the parts of Hoeffding's decomposition from the second on: the first goes with that of
    m^k where delta_k is taken.
    """
    return math.fsum(
        math.comb(k, j) ** 2 / math.comb(n, j) * p ** (2 * k - j) * (1 - p) ** j
        for j in range(2, k + 1)
    )


@lru_cache(maxsize=4096)
def window_variance(n: int, c: int, k: int) -> float:
    """Give the variance, over all orders, of the share of windows of k that all pass."""
    windows = n - k + 1
    pairs = sum(
        (windows - abs(distance)) * Fraction(math.comb(c, together), math.comb(n, together))
        for distance in range(-windows + 1, windows)
        if (together := min(k + abs(distance), 2 * k)) <= n
    )
    return float(pairs / windows**2 - Fraction(math.comb(c, k), math.comb(n, k)) ** 2)


@lru_cache(maxsize=4096)
def session_moments(first: int, n: int, c: int) -> tuple[float, float]:
    """Give mean and variance of the squared distance of a hypergeometric variable to its mean."""
    mean = first * c / n
    ways = math.comb(n, first)
    second = fourth = 0.0
    for hits in range(max(0, first + c - n), min(first, c) + 1):
        chance = math.comb(c, hits) * math.comb(n - c, first - hits) / ways
        second += chance * (hits - mean) ** 2
        fourth += chance * (hits - mean) ** 4
    variance = fourth - second**2
    return second, variance if variance > 1e-12 * fourth else 0.0
