"""Whether limits of the length at which pass^k is one half hold, and what other curves would say.

Tasks have a chance of 1 / (1 + exp(b (log2(length) - m) + s z)), with z normal: tasks of one length differ by
s. The truth is the length at which the mean pass^k over z is one half.

    python benchmarks/horizons.py        # a minute
    python benchmarks/horizons.py 3000   # as many logs for each setting
"""

from __future__ import annotations

import math
import sys
from functools import lru_cache
from itertools import product
from typing import Final

import numpy as np

from passk_py.stats.distributions import student_quantile

LOGS: Final = int(sys.argv[1]) if len(sys.argv) > 1 else 600
SLOPES: Final = (0.4, 0.8, 1.5)
DIFFERENCES: Final = (0, 1, 2)
MIDDLES: Final = (4, 6, 8)
SIZES: Final = ((8, 1), (8, 2), (8, 4), (8, 8), (4, 4))
TASKS: Final = ((20, 1), (50, 1), (150, 1), (200, 10), (300, 5))
"""The number of tasks, and of those of a family, which are alike."""
POWERS: Final = {"1": 0.0, "sqrt(k)": 0.5, "k": 1.0}
DICE: Final = np.random.default_rng(5)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)

quantile = lru_cache(None)(lambda degrees: student_quantile(degrees, 0.95))


def chance(eta: np.ndarray) -> np.ndarray:
    """Give the logistic function."""
    return np.asarray(1 / (1 + np.exp(-np.clip(eta, -40, 40))))


def mean_curve(x: float, b: float, s: float, m: float, k: int) -> float:
    """Average pass^k over tasks of a length of x doublings."""
    return float((WEIGHTS * chance(-b * (x - m) + s * NODES) ** k).sum() / WEIGHTS.sum())


def horizon(b: float, s: float, m: float, k: int) -> float:
    """Find where it is one half."""
    low, high = -60.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_curve(middle, b, s, m, k) > 0.5 else (low, middle)
    return low


def curve(eta: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the height of a curve, its lean and its information."""
    eta = np.clip(eta, -30, 30)
    log = -power * np.log1p(np.exp(-eta))
    lean = power * (1 - chance(eta)) / -np.expm1(log)
    return np.exp(log), lean, lean**2 * np.exp(log) * -np.expm1(log)


class Fits:
    """Curves fitted to many logs, one a row."""

    def __init__(self, x: np.ndarray, score: np.ndarray, power: float) -> None:
        logs = len(x)
        self.mean, self.spread = x.mean(1), x.std(1)
        z = (x - self.mean[:, None]) / self.spread[:, None]
        self.z = np.hstack([z, np.tile([-1, -1, 1, 1], (logs, 1))])
        self.score = np.hstack([score, np.tile([0, 1, 0, 1], (logs, 1))])
        self.weight = np.hstack([np.ones_like(z), np.full((logs, 4), 0.5)])
        height = ((self.weight * self.score).sum(1) / self.weight.sum(1)) ** (1 / power)
        self.power, self.a, self.b = power, np.log(height / (1 - height)), np.zeros(logs)
        for _ in range(24):
            off, (s0, s1, s2) = self.off()
            g0, g1 = (self.weight * off).sum(1), (self.weight * off * self.z).sum(1)
            size = s0 * s2 - s1 * s1
            self.a = self.a + (s2 * g0 - s1 * g1) / size
            self.b = self.b + (s0 * g1 - s1 * g0) / size

    def off(self) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Give how far the scores are off, and the information."""
        height, lean, told = curve(self.a[:, None] + self.b[:, None] * self.z, self.power)
        told = told * self.weight
        sums = tuple((told * self.z**power).sum(1) for power in range(3))
        return (self.score - height) * lean, sums

    def at(self, share: float) -> np.ndarray:
        """Find the doublings at which the curve has a height."""
        height = share ** (1 / self.power)
        above = self.a - math.log(height / (1 - height))
        return np.asarray(self.mean - self.spread * above / self.b)

    def holds(self, truth: float, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Say whether Fieller's set holds the truth, and whether it is an interval."""
        off, (s0, s1, s2) = self.off()
        tasks = off.shape[1] - 4
        units = tasks // size
        draws = off[:, :-4].reshape(len(off), units, size)
        moved = (off * self.z)[:, :-4].reshape(len(off), units, size)
        one, other = draws.sum(2), moved.sum(2)
        half = self.weight[:, -4:] * off[:, -4:] ** 2 * size**2
        zs = self.z[:, -4:]
        m0, m1, m2 = (
            (one * one).sum(1) + half.sum(1),
            (one * other).sum(1) + (half * zs).sum(1),
            (other * other).sum(1) + (half * zs * zs).sum(1),
        )
        scale = quantile(units) ** 2 * (1 + 2 / units) / (s0 * s2 - s1 * s1) ** 2
        level = scale * (s2 * s2 * m0 - 2 * s1 * s2 * m1 + s1 * s1 * m2)
        both = scale * ((s0 * s2 + s1 * s1) * m1 - s1 * s2 * m0 - s0 * s1 * m2)
        slope = scale * (s1 * s1 * m0 - 2 * s0 * s1 * m1 + s0 * s0 * m2)
        height = 0.5 ** (1 / self.power)
        above = self.a - math.log(height / (1 - height))
        place = (truth - self.mean) / self.spread
        told = (above + self.b * place) ** 2 <= level + 2 * place * both + place**2 * slope
        return told, (self.b < 0) & (self.b**2 > slope)


def main() -> None:
    """Print what limits hold and how far curves are off."""
    for tasks, size in TASKS:
        held, sure, with_limits = [], [], []
        off: dict[str, list[float]] = {name: [] for name in (*POWERS, "attempts")}
        for b, s, m, (n, k) in product(SLOPES, DIFFERENCES, MIDDLES, SIZES):
            truth = horizon(b, s, m, k)
            if not 0.5 < truth < 8.5:
                continue
            x, z = (
                one.repeat(size, 1)
                for one in (
                    DICE.uniform(0, 9, (LOGS, tasks // size)),
                    DICE.normal(size=(LOGS, tasks // size)),
                )
            )
            c = DICE.binomial(n, chance(-b * (x - m) + s * z))
            score = np.array([math.comb(passed, k) / math.comb(n, k) for passed in range(n + 1)])[c]
            for name, exponent in POWERS.items():
                fits = Fits(x, score, k**exponent)
                off[name].append(abs(float(np.median(fits.at(0.5)) - truth)))
                if name == "sqrt(k)":
                    holds, is_sure = fits.holds(truth, size)
                    held.append(holds.mean())
                    with_limits.append(is_sure.mean())
                    if is_sure.mean() > 0.2:
                        sure.append(holds[is_sure].mean())
            single = Fits(x, c / n, 1.0)
            off["attempts"].append(abs(float(np.median(single.at(0.5 ** (1 / k))) - truth)))
        print(f"{tasks} tasks, {size} a family, {len(held)} settings: held {np.mean(held):.3f}, least {min(held):.3f}; "
              f"limits in {np.mean(with_limits):.2f}, held there {min(sure):.3f} at least")  # fmt: skip
        print(
            "  off by doublings, mean and most: "
            + "; ".join(f"{name} {np.mean(one):.2f}, {max(one):.2f}" for name, one in off.items())
        )


if __name__ == "__main__":
    main()
