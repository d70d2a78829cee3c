"""One task in two runs: what would be seen of it if the runs were the same.

Its attempts of both runs are then one heap, from which as many as the candidate has are drawn: the
hypergeometric distribution, in whole numbers, so that each quotient is rounded once.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, NamedTuple

_SLACK: Final = 10**7
"""Outcomes that are more likely than what was seen by less than one part in this are as likely."""


class PairCounts(NamedTuple):
    """The counts of a task in both runs."""

    baseline_n: int
    baseline_c: int
    candidate_n: int
    candidate_c: int

    @property
    def attempts(self) -> int:
        """Counted attempts of both runs."""
        return self.baseline_n + self.candidate_n

    @property
    def passes(self) -> int:
        """Passes of both runs."""
        return self.baseline_c + self.candidate_c

    @property
    def is_informative(self) -> bool:
        """Whether the task could come out differently."""
        return 0 < self.passes < self.attempts


@lru_cache(maxsize=512)
def _ways(baseline_n: int, candidate_n: int, passes: int) -> tuple[tuple[int, int], ...]:
    """Give how many passes the candidate can be dealt, and in how many ways."""
    failures = baseline_n + candidate_n - passes
    least, most = max(0, passes - baseline_n), min(passes, candidate_n)
    ways = math.comb(passes, least) * math.comb(failures, candidate_n - least)
    found = []
    for drawn in range(least, most + 1):
        found.append((drawn, ways))
        # From one number to the next, because binomial coefficients of thousands are slow.
        ways = ways * (passes - drawn) * (candidate_n - drawn)
        ways //= (drawn + 1) * (failures - candidate_n + drawn + 1)
    return tuple(found)


@lru_cache(maxsize=65536)
def variance_of_difference(baseline_n: int, candidate_n: int, passes: int, k: int) -> float:
    """Give the variance of the difference of pass^k over all ways to deal the attempts.

    The mean square of the difference, whose mean is 0, in whole numbers: each of the two estimates
    is taken over the product of both denominators.
    """
    of_baseline, of_candidate = math.comb(baseline_n, k), math.comb(candidate_n, k)
    squares = sum(
        ways
        * (math.comb(drawn, k) * of_baseline - math.comb(passes - drawn, k) * of_candidate) ** 2
        for drawn, ways in _ways(baseline_n, candidate_n, passes)
    )
    total = math.comb(baseline_n + candidate_n, candidate_n)
    return squares / (total * (of_baseline * of_candidate) ** 2)


def fisher(counts: PairCounts) -> float:
    """Give the two-sided p of Fisher's exact test."""
    dealt = dict(_ways(counts.baseline_n, counts.candidate_n, counts.passes))
    seen = dealt[counts.candidate_c]
    no_more = sum(ways for ways in dealt.values() if ways * _SLACK <= seen * (_SLACK + 1))
    return no_more / math.comb(counts.attempts, counts.candidate_n)


def least_p(baseline_n: int, candidate_n: int) -> float:
    """Give the smallest p that so many attempts can give."""
    sides = 2 if baseline_n == candidate_n else 1
    return sides / math.comb(baseline_n + candidate_n, candidate_n)
