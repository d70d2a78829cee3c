"""Products of two primes."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from passk_py.demo.dice import below, dice


@dataclass(frozen=True)
class Semiprime:
    """An odd product of two different primes, to split."""

    number: int


def is_prime(number: int) -> bool:
    """Say whether a number is prime, by trial division."""
    if number < 4 or number % 2 == 0:
        return number in (2, 3)
    return all(number % divisor for divisor in range(3, isqrt(number) + 1, 2))


def plant_semiprime(smaller: int, larger: int, *, seed: int) -> tuple[Semiprime, tuple[int, int]]:
    """Draw a product of two primes, each the first from a number up to 9/8 of its size."""
    draw = dice(seed)
    p = _next_prime(smaller + below(draw, smaller // 8))
    q = _next_prime(larger + below(draw, larger // 8))
    if q == p:
        q = _next_prime(p + 1)
    return Semiprime(p * q), (min(p, q), max(p, q))


def _next_prime(number: int) -> int:
    number |= 1
    while not is_prime(number):
        number += 2
    return number
