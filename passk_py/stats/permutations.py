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

    E[A^2] + E[B^2] - 2 E[A B] of the two estimates, in whole numbers over one denominator, so that
    nothing cancels. C(d, k)^2 is the sum over j of C(j, k) C(k, j - k) C(d, j), because two subsets
    of k have j in all, and j attempts all pass with the chance P (P - 1) ... / (N (N - 1) ...).
    """
    attempts = baseline_n + candidate_n
    of_baseline, of_candidate = math.comb(baseline_n, k) ** 2, math.comb(candidate_n, k) ** 2
    squares = sum(
        math.comb(j, k)
        * math.comb(k, j - k)
        * (math.comb(baseline_n, j) * of_candidate + math.comb(candidate_n, j) * of_baseline)
        * math.perm(passes, j)
        * math.perm(attempts - j, 2 * k - j)
        for j in range(k, 2 * k + 1)
    )
    products = 2 * math.perm(passes, 2 * k) * of_baseline * of_candidate
    return (squares - products) / (math.perm(attempts, 2 * k) * of_baseline * of_candidate)


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
