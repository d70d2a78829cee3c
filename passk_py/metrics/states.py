"""Tasks as how many have n attempts of which c passed: what is computed once for all of them."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from passk_py.metrics.frames import task_counts
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator

States = Counter[tuple[int, int]]
"""How many tasks have n counted attempts of which c passed, by (n, c)."""


@lru_cache(maxsize=65536)
def all_pass(n: int, c: int, k: int) -> float:
    """Give the unbiased pass^k of a task with n >= k, rounded once."""
    return math.comb(c, k) / math.comb(n, k)


@lru_cache(maxsize=65536)
def score(metric: str, n: int, c: int, k: int) -> float:
    """Give the unbiased estimate of ``pass_at_k`` or ``pass_hat_k``, rounded once."""
    if metric == "pass_hat_k":
        return all_pass(n, c, k)
    ways = math.comb(n, k)
    return (ways - math.comb(n - c, k)) / ways


@lru_cache(maxsize=65536)
def variance_within(metric: str, n: int, c: int, k: int) -> float:
    """Give the unbiased variance within a task of its estimate; 0 with n < 2k, which knows none."""
    if n < 2 * k:
        return 0.0
    lucky = c if metric == "pass_hat_k" else n - c
    return max(all_pass(n, lucky, k) ** 2 - all_pass(n, lucky, 2 * k), 0.0)


def short_reason(
    least: int, eligible: int, total: int, *, min_eligible_share: float, of: str = ""
) -> str | None:
    """Say why the tasks of a suite have no value."""
    # A share of exactly that must not fall below it by rounding.
    if eligible > 0 and eligible >= total * min_eligible_share * (1 - 1e-12):
        return None
    return f"n < {least} in {total - eligible} of {total} tasks{of}"


def with_short_tasks(limit: float, eligible: int, total: int, extreme: float) -> float:
    """Give a limit of the mean over all tasks from that over the eligible ones."""
    return (limit * eligible + extreme * (total - eligible)) / total


class Padded(NamedTuple):
    """The middle of an interval for tasks like these, and how far it reaches to either side."""

    middle: float
    reach: float


def padded(mean: float, squares: float, tasks: int, confidence: float) -> Padded:
    """Give the interval of a mean over tasks by Student's t, with two more tasks, 0 and 1.

    It is mean +- t_{m + 1} sqrt(variance / (m + 2)), with the mean and variance of those m + 2
    scores (Agresti and Coull 1998, for proportions), and may go beyond 0 and 1.
    """
    middle = (tasks * mean + 1) / (tasks + 2)
    every = squares + tasks * (mean - middle) ** 2 + middle**2 + (1 - middle) ** 2
    error = math.sqrt(every / ((tasks + 1) * (tasks + 2)))
    return Padded(middle, student_quantile(tasks + 1, confidence) * error)


def states_of_runs(
    attempts: pl.DataFrame | pl.LazyFrame, threshold: float
) -> Iterator[tuple[str, str, States]]:
    """Count the tasks of each run by (n, c), in order; tasks that can't be counted are left out."""
    counts = task_counts(attempts.lazy(), threshold=threshold).collect()
    by_run = counts.filter(pl.col("n").is_not_null()).partition_by("run_id", "suite", as_dict=True)
    for (run, suite), tasks in sorted(by_run.items()):
        yield run, suite, Counter(tasks.select("n", "c").iter_rows())
