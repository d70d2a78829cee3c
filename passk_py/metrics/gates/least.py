"""How few tasks or attempts a gate can be passed with, were all of them perfect."""

from __future__ import annotations

import math

from passk_py.stats.distributions import normal_quantile, student_quantile
from passk_py.stats.estimators.arguments import ArgumentError
from passk_py.stats.search import least


def _checked(function: str, threshold: float) -> None:
    if isinstance(threshold, bool) or not 0 < threshold < 1:
        raise ArgumentError(
            f"{function}: threshold must be a number between 0 and 1; got {threshold!r}",
            hint="No number of attempts shows that a chance is 1.",
        )


def least_tasks(threshold: float, *, confidence: float = 0.95) -> int:
    """Count the tasks that a gate on tasks like these needs at least.

    Parameters
    ----------
    threshold
        The value that the metric must reach, between 0 and 1.
    confidence
        Level of the interval, between 0 and 1.

    Returns
    -------
    int
        The least T with (T + 1 - t) / (T + 2) >= threshold, t being the quantile of Student's t
        with T + 1 degrees of freedom: the lower limit of T tasks that all score 1.

    Raises
    ------
    ArgumentError
        If the threshold is not between 0 and 1.

    Examples
    --------
    >>> [least_tasks(threshold) for threshold in (0.8, 0.9, 0.95, 0.99)]
    [14, 29, 59, 295]
    """
    _checked("least_tasks", threshold)
    return least(
        lambda tasks: (
            tasks > 1
            and (tasks + 1 - student_quantile(tasks + 1, confidence)) / (tasks + 2) >= threshold
        )
    )


def least_tasks_of_floor(distance: float, floor: float, confidence: float) -> int:
    """Count the same for a gate on these tasks only: z sqrt(floor) / T <= distance."""
    # A T that meets it exactly must not be passed over by rounding.
    return math.ceil(normal_quantile(confidence) * math.sqrt(floor) / distance * (1 - 1e-12))


def least_tasks_of_drop(drop: float, confidence: float) -> int:
    """Count the tasks with which two runs that agree in all can pass a gate on a drop."""

    def holds(tasks: int) -> bool:
        error = math.sqrt(2 / (tasks + 1) / (tasks + 2))
        return tasks > 1 and student_quantile(tasks + 1, confidence) * error <= drop

    return least(holds)


def least_attempts(threshold: float, k: int, *, confidence: float = 0.95) -> int:
    """Count the attempts that a single task needs at least to be sure of its pass^k.

    Parameters
    ----------
    threshold
        The value that pass^k of the task must reach, between 0 and 1.
    k
        How many attempts in a row, from 1.
    confidence
        How sure to be, on one side, between 0 and 1.

    Returns
    -------
    int
        The least n with threshold^(n / k) <= 1 - confidence, all of them passed.

    Raises
    ------
    ArgumentError
        If the threshold is not between 0 and 1, or k is below 1.

    Examples
    --------
    >>> least_attempts(0.95, 1), least_attempts(0.95, 8)
    (59, 468)
    """
    _checked("least_attempts", threshold)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ArgumentError(f"least_attempts: k must be a whole number from 1; got {k!r}")
    # A chance that is the allowed one may come out above it by rounding.
    error = round(1 - confidence, 10) * (1 + 1e-9)
    return least(lambda n: threshold ** (n / k) <= error)
