"""How much to measure: tasks and attempts for an interval, or for telling a difference.

The definitions and the defaults are those of the SQL table ``passk_plans``, reached by another way:
whole numbers where SQL has logarithms, and a search for the least number of tasks where SQL solves
an equation.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.frames import DEFAULT_KS
from passk_py.metrics.states import all_pass, padded, short_reason, states_of_runs
from passk_py.stats.distributions import log_moment_by_correlation, normal_quantile
from passk_py.stats.estimators.arguments import (
    ArgumentError,
    checked_confidence,
    checked_counts,
    checked_share,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from passk_py.metrics.states import States

__all__ = [
    "DEFAULT_ATTEMPTS",
    "PLAN_TYPES",
    "Wish",
    "plan",
    "plan_counts",
    "plan_guess",
    "with_spares",
]

DEFAULT_ATTEMPTS: Final = (1, 2, 4, 8, 16, 32)
"""The attempts per task that are planned when none are given: the var ``passk_plan_attempts``."""

_METRICS: Final = ("pass_at_k", "pass_hat_k")
_DECIDING: Final = 6
"""So many tasks that could come out differently a comparison needs for a verdict."""
_SLACK: Final = 1e-9
"""What rounding may add to a number of tasks before it is rounded up."""
_NOTHING: Final = 1e-12
"""A variance below this is what rounding leaves of none."""

PLAN_TYPES: Final[dict[str, type[pl.DataType]]] = {
    "run_id": pl.String,
    "suite": pl.String,
    "metric": pl.String,
    **dict.fromkeys(("k", "attempts", "tasks"), pl.Int64),
    "basis": pl.String,
    **dict.fromkeys(
        ("estimate", "variance_between", "variance_within", "within_share", "expected_width"),
        pl.Float64,
    ),
    **dict.fromkeys(("tasks_for_width", "attempts_for_width"), pl.Int64),
    **dict.fromkeys(("detectable_difference", "deciding_share"), pl.Float64),
    **dict.fromkeys(("tasks_for_difference", "attempts_for_difference"), pl.Int64),
    "null_reason": pl.String,
}
"""What :func:`plan` gives."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the next run is to show, checked.

    Parameters
    ----------
    ks
        The k of pass@k and pass^k.
    attempts
        Attempts per task to plan for.
    width
        Width of the interval for tasks like these, as a share.
    difference
        A drop to be told from chance, as a share.
    power
        In which share of repetitions such a drop is to be told.
    confidence
        Level of the interval, and 1 less that of the test.

    Raises
    ------
    ArgumentError
        If one of them can't be right.
    """

    ks: tuple[int, ...] = DEFAULT_KS
    attempts: tuple[int, ...] = DEFAULT_ATTEMPTS
    width: float = 0.1
    difference: float = 0.05
    power: float = 0.8
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name in ("ks", "attempts"):
            chosen = checked_counts("plan", name, getattr(self, name))
            object.__setattr__(self, name, tuple(chosen))
        for name, low in (("width", 0.0), ("difference", 0.0), ("power", 0.5)):
            value = getattr(self, name)
            if isinstance(value, bool) or not low < value < 1.0:
                raise ArgumentError(
                    f"plan: {name} must be a number between {low:g} and 1; got {value!r}"
                )
        checked_confidence("plan", self.confidence)

    def grid(self) -> list[tuple[int, int]]:
        """Give every k with the attempts per task that are enough for it."""
        return [(k, n) for k in self.ks for n in self.attempts if n >= k]


def plan(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    attempts_per_task: Iterable[int] = DEFAULT_ATTEMPTS,
    width: float = 0.1,
    difference: float = 0.05,
    power: float = 0.8,
    confidence: float = 0.95,
    min_eligible_share: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Say how many tasks and attempts a next run needs, from a run that was measured.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`. Every run in it is a
        pilot.
    ks
        The k of pass@k and pass^k, whole numbers from 1.
    attempts_per_task
        How many attempts of each task to plan for; a k is planned where there are at least k.
    width
        Width that the interval for tasks like these should have, between 0 and 1.
    difference
        A drop of the metric, between two runs of the same tasks, that should be told from chance.
    power
        How often it should be told, above 0.5 and below 1.
    confidence
        Level of the interval, and 1 less that of the two-sided test.
    min_eligible_share
        The share of the pilot's tasks that must have two attempts, from 0 to 1; those with fewer
        are left out.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite, metric, k and attempts, with the columns of the table
        ``passk_plans``: the pilot's ``tasks`` and ``estimate``; ``basis``, where the variances come
        from: ``moments`` of the pilot or a ``beta_binomial`` fit to it; ``variance_between`` tasks
        and ``variance_within`` them; what the pilot's tasks would give with so many attempts
        (``expected_width``, ``detectable_difference``), and how many would do (``tasks_for_width``,
        ``tasks_for_difference``, and attempts in all).

    Raises
    ------
    ArgumentError
        If an option can't be right.

    Notes
    -----
    With :math:`\mu_m` the mean over tasks of :math:`p^m`, estimated without bias by the mean
    pass^m, the unbiased pass^k of n attempts has the variance

    .. math::

        \mu_{2k} - \mu_k^2 + \sum_j \frac{\binom kj \binom{n-k}{k-j}}{\binom nk}
        (\mu_{2k-j} - \mu_{2k})

    of which the sum is that within tasks. pass@k is the same with failures. docs/planning.md says
    how the numbers of tasks follow, and how near they come.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "pilot", "task_id": str(task), "attempt": n, "passed": n <= task % 5}
    ...         for task in range(40)
    ...         for n in range(1, 5)
    ...     ]
    ... )
    >>> found = plan(log, ks=[1], attempts_per_task=[2, 8], width=0.1)
    >>> found.filter(pl.col("metric") == "pass_hat_k").select(
    ...     "attempts", "basis", "tasks_for_width", "tasks_for_difference"
    ... ).rows()
    [(2, 'moments', 263, 524), (8, 'moments', 169, 131)]
    """
    wish = Wish(_tuple(ks), _tuple(attempts_per_task), width, difference, power, confidence)
    share = checked_share("plan", min_eligible_share)
    rows = []
    for run, suite, states in states_of_runs(attempts, threshold):
        found = plan_counts(states, wish, min_eligible_share=share)
        rows += [{"run_id": run, "suite": suite, **row} for row in found]
    return pl.DataFrame(rows, schema=PLAN_TYPES, orient="row")


def plan_guess(
    pass_rate: float,
    heterogeneity: float,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    attempts_per_task: Iterable[int] = DEFAULT_ATTEMPTS,
    width: float = 0.1,
    difference: float = 0.05,
    power: float = 0.8,
    confidence: float = 0.95,
) -> pl.DataFrame:
    """Say how many tasks and attempts a run needs, from a guess of how the tasks will be.

    Parameters
    ----------
    pass_rate
        The mean chance that an attempt passes, between 0 and 1.
    heterogeneity
        How much tasks differ, from 0, where all have the same chance, to 1, where each passes
        always or never: the intraclass correlation, ``heterogeneity`` of ``passk_suite_metrics``
        at k = 2.
    ks, attempts_per_task, width, difference, power, confidence
        As in :func:`plan`.

    Returns
    -------
    polars.DataFrame
        The columns of :func:`plan` without those that name a run. ``basis`` is ``guess``, and what
        depends on the tasks of a pilot is null.

    Raises
    ------
    ArgumentError
        If an option can't be right.

    Notes
    -----
    The chances of the tasks are taken to be a beta distribution with that mean and intraclass
    correlation.

    Examples
    --------
    >>> found = plan_guess(0.6, 0.4, ks=[4], attempts_per_task=[4, 16])
    >>> found["tasks_for_width"].to_list()[2:]
    [340, 214]
    """
    wish = Wish(_tuple(ks), _tuple(attempts_per_task), width, difference, power, confidence)
    for name, value, inside in (
        ("pass_rate", pass_rate, 0 < pass_rate < 1),
        ("heterogeneity", heterogeneity, 0 <= heterogeneity <= 1),
    ):
        if not inside:
            ends = "between 0 and 1" if name == "pass_rate" else "from 0 to 1"
            raise ArgumentError(f"plan_guess: {name} must be a number {ends}; got {value!r}")
    rows = []
    for metric in _METRICS:
        rate = pass_rate if metric == "pass_hat_k" else 1 - pass_rate

        def moment(m: int, rate: float = rate) -> float:
            return math.exp(log_moment_by_correlation(rate, heterogeneity, m))

        for k, n in wish.grid():
            deciding = 1 - sum(
                _beta_binomial(rate, heterogeneity, 2 * n, c) for c in (*range(k), 2 * n)
            )
            row = {
                **dict.fromkeys(list(PLAN_TYPES)[2:]),
                "metric": metric,
                "k": k,
                "attempts": n,
                "tasks": None,
                "basis": "guess",
                **_variances(metric, k, n, moment, moment(2 * k) - moment(k) ** 2),
            }
            rows.append(_planned(row, wish, deciding))
    types = {name: kind for name, kind in PLAN_TYPES.items() if name not in ("run_id", "suite")}
    return pl.DataFrame(rows, schema=types, orient="row")


def plan_counts(
    states: States, wish: Wish, *, min_eligible_share: float = 0.95
) -> list[dict[str, Any]]:
    """Plan from the counts of a run: the rows of :func:`plan` for it.

    Parameters
    ----------
    states
        How many tasks have n attempts of which c passed, by (n, c).
    wish
        What the next run is to show.
    min_eligible_share
        The share of the tasks that must have n >= 2.

    Returns
    -------
    list of dict
        The rows, by metric, k and attempts.
    """
    total = sum(states.values())
    used = Counter({state: tasks for state, tasks in states.items() if state[0] >= 2})
    tasks = used.total()
    reason = short_reason(2, tasks, total, min_eligible_share=min_eligible_share)
    if reason is None and tasks < 2:
        reason = "fewer than 2 tasks" + (" with n >= 2" if tasks < total else "")
    rows = []
    for metric in _METRICS:
        # Of failures, the formulas of pass^k are those of 1 - pass@k.
        of_metric = Counter(
            {(n, c if metric == "pass_hat_k" else n - c): number for (n, c), number in used.items()}
        )
        for k, n in wish.grid():
            row: dict[str, Any] = {
                **dict.fromkeys(list(PLAN_TYPES)[2:]),
                "metric": metric,
                "k": k,
                "attempts": n,
                "tasks": total if reason else tasks,
            }
            found: dict[str, Any] = {"null_reason": reason}
            if reason is None:
                found = _of_pilot(of_metric, metric, k, n)
            row |= found
            if row["null_reason"] is None:
                seen = sum(
                    number
                    for (size, passes), number in of_metric.items()
                    if k <= passes < size <= 2 * n
                )
                # With k attempts in each run, and so with more, as many tasks as differ then.
                first = _of_pilot(of_metric, metric, k, k)["variance_within"]
                row = _planned(row, wish, max(seen / tasks, 2 * first))
            rows.append(row)
    return rows


def with_spares(attempts: int, tasks: int, excluded_share: float) -> int:
    r"""Count the attempts to make of each task so that enough are left when some are excluded.

    Parameters
    ----------
    attempts
        How many of each task should count, from 1.
    tasks
        How many tasks there are.
    excluded_share
        The share of the attempts that is excluded, from 0 to less than 1; each by chance.

    Returns
    -------
    int
        The least n with :math:`T \cdot P(Bin(n, 1 - x) < k) < 1`: on average less than one of the
        T tasks is left with fewer than k attempts.

    Examples
    --------
    >>> with_spares(8, 40, 0.02), with_spares(8, 1000, 0.02), with_spares(8, 40, 0.0)
    (9, 10, 8)
    """
    if not 0 <= excluded_share < 1:
        raise ArgumentError(
            f"with_spares: excluded_share must be from 0 to less than 1; got {excluded_share!r}"
        )
    made = attempts
    while True:
        lost = math.fsum(
            math.comb(made, counted)
            * (1 - excluded_share) ** counted
            * excluded_share ** (made - counted)
            for counted in range(attempts)
        )
        if tasks * lost < 1:
            return made
        made += 1


def _tuple(values: Iterable[int]) -> tuple[int, ...]:
    """Leave it to Wish to refuse what is no list of whole numbers."""
    return values if isinstance(values, str) else tuple(values)


# ---------------------------------------------------------------------------------------------
# the variances


def _mean(states: States, value: Callable[[int, int], float]) -> float:
    return math.fsum(tasks * value(n, c) for (n, c), tasks in states.items()) / states.total()


def _sample_variance(states: States, value: Callable[[int, int], float]) -> float:
    mean = _mean(states, value)
    spread = _mean(states, lambda n, c: (value(n, c) - mean) ** 2)
    return spread * states.total() / (states.total() - 1)


def _of_pilot(states: States, metric: str, k: int, attempts: int) -> dict[str, Any]:
    """Give the mean and the variances of a metric, or why they can't be known."""
    if min(n for n, _ in states) >= 2 * k:

        def score(n: int, c: int) -> float:
            return all_pass(n, c, k)

        def moment(m: int) -> float:
            return _mean(states, lambda n, c: all_pass(n, c, m))

        # What the scores scatter, less what chance within tasks makes of it.
        chance = _mean(states, lambda n, c: score(n, c) ** 2 - all_pass(n, c, 2 * k))
        between = _sample_variance(states, score) - chance
        return {"basis": "moments", **_variances(metric, k, attempts, moment, between)}
    rate = _mean(states, lambda n, c: c / n)
    second = _mean(states, lambda n, c: all_pass(n, c, 2))
    scatter = _sample_variance(states, lambda n, c: c / n) / states.total()
    spread = second - rate**2 + scatter
    why = f"n < {2 * k} in some task, and no beta distribution fits: "
    if rate - second <= _NOTHING:
        return {"null_reason": f"{why}every task is perfect or hopeless"}
    if spread <= _NOTHING:
        return {"null_reason": f"{why}tasks differ no more than by chance"}
    index = spread / (rate - second + spread)

    def fitted(m: int) -> float:
        return math.exp(log_moment_by_correlation(rate, index, m))

    between = fitted(2 * k) - fitted(k) ** 2
    return {"basis": "beta_binomial", **_variances(metric, k, attempts, fitted, between)}


def _variances(
    metric: str, k: int, attempts: int, moment: Callable[[int], float], between: float
) -> dict[str, Any]:
    """Give the mean of a metric and its variances between and within tasks."""
    ways = math.comb(attempts, k)
    within = math.fsum(
        math.comb(k, j)
        * math.comb(attempts - k, k - j)
        / ways
        * (moment(2 * k - j) - moment(2 * k))
        for j in range(max(1, 2 * k - attempts), k + 1)
    )
    between, within = max(between, 0.0), max(within, 0.0)
    both = between + within
    return {
        "estimate": moment(k) if metric == "pass_hat_k" else 1 - moment(k),
        "variance_between": between,
        "variance_within": within,
        "within_share": within / both if both > _NOTHING else None,
    }


def _beta_binomial(rate: float, index: float, n: int, c: int) -> float:
    """Give the chance of c passes among n attempts, for a task of that beta distribution."""
    if index == 1.0:
        return {0: 1 - rate, n: rate}.get(c, 0.0)
    found = float(math.comb(n, c))
    sides = [
        side * (1 - index) + i * index
        for side, end in ((rate, c), (1 - rate, n - c))
        for i in range(end)
    ]
    for i, factor in enumerate(sides):
        found *= factor / (1 - index + i * index)
    return found


# ---------------------------------------------------------------------------------------------
# the tasks


def _planned(row: dict[str, Any], wish: Wish, deciding: float) -> dict[str, Any]:
    """Add to the variances of a row how many tasks they ask for."""
    mean, within = row["estimate"], row["variance_within"]
    variance = row["variance_between"] + within
    attempts, tasks = row["attempts"], row["tasks"]
    reach = normal_quantile(wish.confidence) + NormalDist().inv_cdf(wish.power)
    for_width = _least_tasks(mean, variance, wish.width, wish.confidence)
    row |= {
        "expected_width": None if tasks is None else _width(mean, variance, tasks, wish.confidence),
        "tasks_for_width": for_width,
        "attempts_for_width": for_width * attempts,
        "null_reason": None,
    }
    if within <= _NOTHING:
        return row | {"null_reason": "no task could come out differently in another run"}
    # Twice: two runs are compared.
    by_variance = reach**2 * 2 * within / wish.difference**2
    by_number = _needed(wish.power) / deciding
    for_difference = math.ceil(max(by_variance, by_number) * (1 - _SLACK))
    return row | {
        "detectable_difference": None if tasks is None else reach * math.sqrt(2 * within / tasks),
        "deciding_share": deciding,
        "tasks_for_difference": for_difference,
        "attempts_for_difference": for_difference * attempts,
    }


def _width(mean: float, variance: float, tasks: int, confidence: float) -> float:
    """Give the width of the interval for tasks like these, with the two pseudo-tasks."""
    return 2 * padded(mean, (tasks - 1) * variance, tasks, confidence).reach


def _least_tasks(mean: float, variance: float, width: float, confidence: float) -> int:
    """Give the least number of tasks whose interval is narrow enough: doubling, then halving."""

    def is_enough(tasks: int) -> bool:
        return _width(mean, variance, tasks, confidence) <= width * (1 + _SLACK)

    high = 1
    while not is_enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


@lru_cache(maxsize=64)
def _needed(power: float) -> float:
    """Give how many tasks must be expected so that six are there with this chance: Poisson."""

    def chance(expected: float) -> float:
        fewer = sum(expected**i / math.factorial(i) for i in range(_DECIDING))
        return 1 - math.exp(-expected) * fewer

    low, high = 0.0, 1000.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) < power else (low, middle)
    return high
