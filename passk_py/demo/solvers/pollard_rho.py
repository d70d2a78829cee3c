"""Factoring by luck: Pollard's rho (1975)."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from passk_py.demo.solvers.effort import Effort

if TYPE_CHECKING:
    from passk_py.demo.dice import Draw
    from passk_py.demo.instances.semiprime import Semiprime


def pollard_rho(semiprime: Semiprime, budget: int, draw: Draw) -> Effort:
    """Walk x -> x*x + c at two speeds until the walkers meet modulo a factor.

    How soon they meet is luck: for a factor p it takes about the square root of p steps. A walk
    that closes without a factor starts again with another c. A step is one of the slow walker.
    """
    number = semiprime.number
    c = 1 + int(draw() * (number - 3))
    slow = fast = int(draw() * number)
    for step in range(1, budget + 1):
        slow = (slow * slow + c) % number
        fast = (fast * fast + c) % number
        fast = (fast * fast + c) % number
        factor = gcd(slow - fast, number)
        if factor == number:
            c = 1 + int(draw() * (number - 3))
            slow = fast = int(draw() * number)
        elif factor > 1:
            other = number // factor
            return Effort(f"{min(factor, other)} {max(factor, other)}", step, finished=True)
    return Effort(None, budget, finished=False)
