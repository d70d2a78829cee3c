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


@lru_cache(maxsize=2**18)
def variance_of_difference(baseline_n: int, candidate_n: int, passes: int, k: int) -> float:
    """Give the variance of the difference of pass^k over all ways to deal the attempts.

    In whole numbers: with A and B the estimates of the runs, which have the same mean, it is
    E[A^2] + E[B^2] - 2 E[AB]. A B counts pairs of k attempts of either run that all pass, which
    are 2k of all attempts; A^2 counts pairs of k attempts of one run, which together are from k to
    2k attempts.
    """
    weights, of_both, whole = _weights(baseline_n, candidate_n, k)
    squares = sum(weight * math.comb(passes, used) for used, weight in enumerate(weights, k))
    return (squares - of_both * math.comb(passes, 2 * k)) / whole


@lru_cache(maxsize=4096)
def _weights(baseline_n: int, candidate_n: int, k: int) -> tuple[tuple[int, ...], int, int]:
    """Give the weights of j passes of all attempts, j from k to 2k, of 2k passes, and the whole.

    E[A^2] = sum_j C(j,k) C(k,j-k) C(P,j) C(m,j) / (C(N,j) C(m,k)^2), for P passes of N attempts, m
    of them of the run, is taken over C(2k,k) C(N,2k) C(m,k)^2: then C(j,k)^2 C(N-j,2k-j) is left of
    the factors without P and m.
    """
    attempts = baseline_n + candidate_n
    of_baseline, of_candidate = math.comb(baseline_n, k) ** 2, math.comb(candidate_n, k) ** 2
    weights = tuple(
        math.comb(used, k) ** 2
        * math.comb(attempts - used, 2 * k - used)
        * (math.comb(baseline_n, used) * of_candidate + math.comb(candidate_n, used) * of_baseline)
        for used in range(k, 2 * k + 1)
    )
    one = math.comb(2 * k, k) * of_baseline * of_candidate
    return weights, 2 * one, one * math.comb(attempts, 2 * k)


@lru_cache(maxsize=2**17)
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
