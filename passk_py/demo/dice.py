"""Randomness that gives the same numbers on every machine and Python version.

Two sources only. Seeds come from SHA-256 over the names of what they seed, so adding a task or a
run changes no other. Draws come from ``random.Random(seed).random()`` alone: of all methods of
that class it is the one whose sequence Python promises to keep, and its values are multiples of
2**-53, so ``int(draw() * n)`` and ``draw() < p`` decide the same everywhere.
"""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, MutableSequence
    from typing import TypeAlias

Draw: TypeAlias = "Callable[[], float]"
"""A call that gives the next draw, uniform in [0, 1)."""


def fold(*names: object) -> int:
    """Fold names into a seed: the first 32 bits of the SHA-256 of the names, one a line."""
    text = "\n".join(map(str, names))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def dice(seed: int) -> Draw:
    """Return the stream of draws of a seed, uniform in [0, 1)."""
    return random.Random(seed).random


def below(draw: Draw, n: int) -> int:
    """Draw an integer of ``range(n)``, each with the same chance up to a bias of n / 2**53."""
    return int(draw() * n)


def shuffle(draw: Draw, items: MutableSequence[int]) -> None:
    """Bring items into random order, in place (Fisher and Yates, from the end)."""
    for i in range(len(items) - 1, 0, -1):
        j = int(draw() * (i + 1))
        items[i], items[j] = items[j], items[i]
