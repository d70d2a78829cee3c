"""Tasks as how many have n attempts of which c passed: what is computed once for all of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from passk_py.metrics.frames.counting import TASK, ordered_tasks
from passk_py.metrics.logs import read_log
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

States = Counter[tuple[int, int]]
"""How many tasks have n counted attempts of which c passed, by (n, c)."""

Family = tuple[tuple[tuple[int, int], int], ...]
"""The states of the tasks of a family, in order, and how many tasks have each."""
Families = Counter[Family]
"""How many families have the same states."""


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
    least: int,
    eligible: int,
    total: int,
    *,
    min_eligible_share: float,
    of: str = "",
    or_lacking: str = "",
) -> str | None:
    """Say why the tasks of a suite have no value."""
    # A share of exactly that must not fall below it by rounding.
    if eligible > 0 and eligible >= total * min_eligible_share * (1 - 1e-12):
        return None
    return short_tasks(least, eligible, total, of, or_lacking)


def short_tasks(least: int, eligible: int, total: int, of: str = "", or_lacking: str = "") -> str:
    """Say how many tasks have too few attempts, or lack something else."""
    return f"n < {least}{or_lacking} in {total - eligible} of {total} tasks{of}"


def with_short_tasks(limit: float, eligible: int, total: int, extreme: float) -> float:
    """Give a limit of the mean over all tasks from that over the eligible ones."""
    return (limit * eligible + extreme * (total - eligible)) / total


class Padded(NamedTuple):
    """The middle of an interval for tasks like these, and how far it reaches to either side."""

    middle: float
    reach: float


def padded(mean: float, squares: float, units: float, confidence: float) -> Padded:
    """Give the interval of a mean over units by Student's t, with two more units, 0 and 1.

    It is mean +- t_{m + 1} sqrt(variance / (m + 2)), with the mean and variance of those m + 2
    scores (Agresti and Coull 1998, for proportions), and may go beyond 0 and 1. The units are
    tasks, or as many families of one size as say as much.
    """
    middle = (units * mean + 1) / (units + 2)
    every = squares + units * (mean - middle) ** 2 + middle**2 + (1 - middle) ** 2
    error = math.sqrt(every / ((units + 1) * (units + 2)))
    return Padded(middle, student_quantile(math.floor(units + 1.5), confidence) * error)


class Related(NamedTuple):
    """How much scores vary when the tasks of a family are taken together."""

    families: int
    units: float
    """How many families of equal size would say as much."""
    variance: float | None
    """The variance of the mean of one such family; None with one family."""


def related(families: Iterable[tuple[int, float]], number_of: Iterable[int]) -> Related:
    """Sum up families, each a number of tasks and the sum of their scores less the mean score."""
    found = list(zip(families, number_of, strict=True))
    number = sum(times for _, times in found)
    tasks = sum(times * size for (size, _), times in found)
    units = tasks**2 / sum(times * size**2 for (size, _), times in found)
    squares = math.fsum(times * apart**2 for (_, apart), times in found)
    variance = squares / tasks**2 * number / (number - 1) * units if number > 1 else None
    return Related(number, units, variance)


def related_states(
    families: Families, least: int, value: Callable[[int, int], float], mean: float
) -> Related:
    """Sum up families over their tasks with so many attempts; ``value`` gives their scores."""
    sums: list[tuple[int, float]] = []
    number_of: list[int] = []
    for family, times in families.items():
        known = [(tasks, value(n, c) - mean) for (n, c), tasks in family if n >= least]
        if known:
            apart = math.fsum(tasks * one for tasks, one in known)
            sums.append((sum(tasks for tasks, _ in known), apart))
            number_of.append(times)
    return related(sums, number_of)


def families_of(tasks: pl.DataFrame) -> Families:
    """Count the families of tasks, given as ``n``, ``c`` and ``family``."""
    states: dict[str | None, States] = defaultdict(Counter)
    for family, n, c in tasks.select("family", "n", "c").iter_rows():
        states[family][n, c] += 1
    return families_of_states(states)


def families_of_states(states: Mapping[str | None, States]) -> Families:
    """Count families by their states; a task whose family is not known is one of its own."""
    lone = lone_tasks(states.get(None, Counter()))
    named = (one for name, one in states.items() if name is not None)
    return lone + Counter(tuple(sorted(one.items())) for one in named)


def lone_tasks(states: States) -> Families:
    """Give tasks of which no two are related: each is a family of its own."""
    return Counter({((state, 1),): tasks for state, tasks in states.items()})


def states_of_runs(
    attempts: pl.DataFrame | pl.LazyFrame, threshold: float, cluster: str | None = None
) -> Iterator[tuple[str, str, States, Families | None]]:
    """Count the tasks of each run by (n, c), in order; tasks that can't be counted are left out.

    The families are those that ``cluster`` names, None without it.
    """
    for run, suite, _, states, families in states_of_slice(attempts, threshold, None, cluster):
        yield run, suite, states, families


def states_of_slice(
    attempts: pl.DataFrame | pl.LazyFrame,
    threshold: float,
    slice_name: str | None,
    cluster: str | None,
) -> Iterator[tuple[str, str, str, States, Families | None]]:
    """Count the same for each value of a slice; ``all`` without one."""
    log = read_log(attempts, threshold, slice_name, cluster=cluster)
    if slice_name is None:
        log = log.with_columns(slice_value=pl.lit("all"))
    counts = ordered_tasks(log, (*TASK, "slice_value"), ()).collect()
    place = ("run_id", "suite", "slice_value")
    for key, tasks in sorted(
        counts.filter(pl.col("n").is_not_null()).partition_by(*place, as_dict=True).items()
    ):
        families = None if cluster is None else families_of(tasks)
        yield *key, Counter(tasks.select("n", "c").iter_rows()), families
