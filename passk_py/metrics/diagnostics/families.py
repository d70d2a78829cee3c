"""Whether tasks of one family resemble each other, by names that look like families."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from passk_py.metrics.diagnostics.results import LEAST, Result, rounded, too_few
from passk_py.metrics.states import related

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.metrics.diagnostics.read_runs import Run

_ENDS: Final = "0123456789-_./:# "
"""The characters that a task's name may have behind that of its family."""
_SURE: Final = 2.3263478740408408
"""The deviate whose tail is 0.01."""


class Likeness(NamedTuple):
    """How alike the tasks of families are."""

    correlation: float
    widening: float
    """By how much the standard error of a mean is larger than over unrelated tasks."""
    deviate: float


class Counted(NamedTuple):
    """A task and its counted attempts."""

    name: str
    family: str | None
    n: int
    c: int


def related_tasks(run: Run) -> Result:
    """Ask whether tasks of a family have a like c / n: of declared families, or those of names."""
    tasks = [
        Counted(task.name, task.family, task.n, task.c)
        for task in run.tasks
        if task.details is not None
    ]
    return judged_families(tasks, run.some_read)


def judged_families(tasks: Iterable[Counted], some_read: str) -> Result:
    """Say whether tasks of a family are alike; ``some_read`` says that some were not looked at."""
    counted = [task for task in tasks if task.n]
    count, declared = len(counted), any(task.family is not None for task in counted)
    if count < LEAST:
        return Result(None, None, count, "insufficient", too_few(count))
    families: dict[tuple[str | None, str | None], list[float]] = defaultdict(list)
    for task in counted:
        name = task.family if declared else task.name.rstrip(_ENDS) or None
        families[name, task.name if name is None else None].append(task.c / task.n)
    number = len(families)
    start = "passk_cluster names" if declared else "The names of the tasks show"
    if number < 2 or number > (count - 1 if declared else count // 2):
        none = f"{start} {'a single family' if number == 1 else 'no families'}."
        return Result(None, None, count, "not_applicable", none + some_read)
    found = likeness(list(families.values()))
    if found is None:
        few = f"{start} {number} families, and too few tasks differ from the others to tell."
        return Result(None, None, count, "insufficient", few + some_read)
    finding = (
        f"{start} {number} families, whose tasks have an intraclass correlation of "
        f"{rounded(found.correlation)} in c / n. The standard error of pass@1 that knows of them "
        f"is {rounded(found.widening, 2)} times that of unrelated tasks."
    )
    p = math.erfc(found.deviate / math.sqrt(2)) / 2
    verdict = "warning" if found.deviate > _SURE and not declared else "ok"
    return Result(found.correlation, p, count, verdict, finding + some_read)


def likeness(families: Sequence[Sequence[float]]) -> Likeness | None:
    """Compare the scores of families, at least two; None where few are apart from the others."""
    sizes = [len(scores) for scores in families]
    tasks, number = sum(sizes), len(families)
    mean = math.fsum(score for scores in families for score in scores) / tasks
    squares = math.fsum((score - mean) ** 2 for scores in families for score in scores)
    fourths = math.fsum((score - mean) ** 4 for scores in families for score in scores)
    # With fewer, the chance distribution is no chi-square.
    if squares <= 1e-12 or squares**2 < 5 * fourths * (1 - 1e-9):
        return None
    sums = [math.fsum(score - mean for score in scores) for scores in families]
    between = math.fsum(one**2 / size for one, size in zip(sums, sizes, strict=True))
    by_family, by_task = between / (number - 1), (squares - between) / (tasks - number)
    size = (tasks - sum(one**2 for one in sizes) / tasks) / (number - 1)
    spread = by_family + (size - 1) * by_task
    _, units, variance = related(zip(sizes, sums, strict=True), [1] * number)
    together = (variance or 0.0) * tasks / units
    inverse = math.fsum(1 / one for one in sizes)
    deviate = permuted_deviate(between, tasks, number, inverse, squares / tasks, fourths / tasks)
    if deviate is None:
        return None
    return Likeness(
        (by_family - by_task) / spread if spread > 0 else 0.0,
        math.sqrt(together / (squares / (tasks - 1))),
        deviate,
    )


def permuted_deviate(
    between: float, tasks: int, families: int, inverse: float, square: float, fourth: float
) -> float | None:
    """Give the deviate of squares between families, were scores dealt to tasks by chance.

    The squares between families are a quadratic form of the scores; its first two moments over all
    orders of the scores are exact, and a chi-square distribution with the same moments gives the
    tail (Wilson and Hilferty).
    """
    t, f, a = float(tasks), float(families), inverse
    expected = square * t * (f - 1) / (t - 1)
    pairs = (t * square**2 - fourth) / (t - 1)
    threes = (2 * fourth - t * square**2) / ((t - 1) * (t - 2))
    fours = (3 * t * square**2 - 6 * fourth) / ((t - 1) * (t - 2) * (t - 3))
    chained = t - 3 * f + 2 * a
    apart = (t - f) ** 2 - 4 * chained - 2 * (f - a)
    second = (
        a * fourth
        + (f**2 - a) * pairs
        + 2 * (f - a) * pairs
        - 4 * (f - a) * fourth / (t - 1)
        + 4 * chained * threes
        + 2 * (f * (t - f) - 2 * (f - a)) * threes
        + apart * fours
    )
    variance = second - expected**2
    if variance <= 1e-12 * expected**2:
        return None
    degrees = 2 * expected**2 / variance
    spread = 2 / (9 * degrees)
    return float(((between / expected) ** (1 / 3) - 1 + spread) / math.sqrt(spread))
