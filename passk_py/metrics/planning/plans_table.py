"""The table ``passk_plans``, from attempts, or from a guess of how the tasks will be."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames import DEFAULT_KS
from passk_py.metrics.planning.sizes import planned
from passk_py.metrics.planning.variances import (
    ALONE,
    Pilot,
    beta_binomial,
    relation_of,
    variances,
)
from passk_py.metrics.planning.wish import DEFAULT_ATTEMPTS, Wish
from passk_py.metrics.states import short_reason, states_of_runs
from passk_py.stats.distributions import log_moment_by_correlation
from passk_py.stats.estimators.arguments import ArgumentError, checked_share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.metrics.states import Families, States

_METRICS: Final = ("pass_at_k", "pass_hat_k")
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
    **dict.fromkeys(("families_for_width", "tasks_for_width", "attempts_for_width"), pl.Int64),
    **dict.fromkeys(("detectable_difference", "deciding_share"), pl.Float64),
    **dict.fromkeys(("tasks_for_difference", "attempts_for_difference"), pl.Int64),
    "null_reason": pl.String,
}


@any_frame
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
    cluster: str | None = None,
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
        A drop of the metric, between two runs of the same tasks, that should be distinguished from
        chance.
    power
        How often it should be found, above 0.5 and below 1.
    confidence
        Level of the interval, and 1 less that of the two-sided test.
    min_eligible_share
        The share of the pilot's tasks that must have two attempts, from 0 to 1; those with fewer
        are left out.
    cluster
        Name of a column, or of a tag, that names the family of related tasks that a task is one of:
        how many families of the pilot's size are needed is then said too.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite, metric, k and attempts, with the columns of the table
        ``passk_plans``: the pilot's ``tasks`` and ``estimate``; ``basis``, where the variances come
        from: ``moments`` of the pilot or a ``beta_binomial`` fit to it; ``variance_between`` tasks
        and ``variance_within`` them; what the pilot's tasks would give with so many attempts
        (``expected_width``, ``detectable_difference``), and how many would do (``tasks_for_width``
        and, with ``cluster``, ``families_for_width``; ``tasks_for_difference``, and attempts in
        all).

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
    for run, suite, states, families in states_of_runs(attempts, threshold, cluster):
        found = plan_counts(states, wish, families, min_eligible_share=share)
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
                beta_binomial(rate, heterogeneity, 2 * n, c) for c in (*range(k), 2 * n)
            )
            row = {
                "metric": metric,
                "k": k,
                "attempts": n,
                "tasks": None,
                "basis": "guess",
                **variances(metric, k, n, moment, moment(2 * k) - moment(k) ** 2),
            }
            rows.append(planned(row, wish, deciding))
    types = {name: kind for name, kind in PLAN_TYPES.items() if name not in ("run_id", "suite")}
    return pl.DataFrame(rows, schema=types, orient="row")


def plan_counts(
    states: States,
    wish: Wish,
    families: Families | None = None,
    *,
    min_eligible_share: float = 0.95,
) -> list[dict[str, Any]]:
    """Plan from the counts of a run: the rows of :func:`plan` for it."""
    total = sum(states.values())
    used = Counter({state: tasks for state, tasks in states.items() if state[0] >= 2})
    tasks = used.total()
    reason = short_reason(2, tasks, total, min_eligible_share=min_eligible_share)
    if reason is None and tasks < 2:
        reason = "fewer than 2 tasks" + (" with n >= 2" if tasks < total else "")
    relation = ALONE
    if reason is None and families is not None:
        relation = relation_of(families, used)
        if relation.families == 1:
            reason = "all tasks are of one family"
        elif tasks < 1.5 * relation.size:
            reason = "its families say hardly more than one would"
    rows = []
    for metric in _METRICS:
        # With failures instead of passes, the formulas of pass^k are those of 1 - pass@k.
        of_metric = Counter(
            {(n, c if metric == "pass_hat_k" else n - c): number for (n, c), number in used.items()}
        )
        pilot = None if reason else Pilot(of_metric, metric)
        for k, n in wish.grid():
            row: dict[str, Any] = {
                **dict.fromkeys(list(PLAN_TYPES)[2:]),
                "metric": metric,
                "k": k,
                "attempts": n,
                "tasks": total if reason else tasks,
            }
            if pilot is None:
                rows.append(row | {"null_reason": reason})
                continue
            row |= pilot.variances(k, n)
            if row["null_reason"] is not None:
                row["tasks"] = total
            else:
                seen = sum(
                    number
                    for (size, passes), number in of_metric.items()
                    if k <= passes < size <= 2 * n
                )
                # With k attempts in each run, and so with more, as many tasks as differ then.
                first = pilot.variances(k, k)["variance_within"]
                row = planned(row, wish, max(seen / tasks, 2 * first), relation)
            rows.append(row)
    return rows


def _tuple(values: Iterable[int]) -> tuple[int, ...]:
    """Make a tuple of a list; Wish raises the error on anything but whole numbers."""
    return values if isinstance(values, str) else tuple(values)
