"""Factoring without luck: trial division, and Fermat's difference of squares (1643)."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

from passk_py.demo.solvers.effort import Effort

if TYPE_CHECKING:
    from passk_py.demo.instances.semiprime import Semiprime


def trial_and_squares(semiprime: Semiprime, budget: int) -> Effort:
    """Try small factors and factors close to the square root, in turn.

    Odd steps try the next odd divisor from 3 on. Even steps try whether the next a*a above the
    number exceeds it by a square b*b, which gives the factors a - b and a + b. It finds small
    factors and close ones, always after the same number of steps, and no others. A step is one
    divisor or one square.
    """
    number = semiprime.number
    divisor = 1
    root = isqrt(number)
    for step in range(1, budget + 1):
        if step % 2:
            divisor += 2
            if number % divisor == 0:
                return Effort(f"{divisor} {number // divisor}", step, finished=True)
        else:
            root += 1
            rest = root * root - number
            side = isqrt(rest)
            if side * side == rest:
                return Effort(f"{root - side} {root + side}", step, finished=True)
    return Effort(None, budget, finished=False)
