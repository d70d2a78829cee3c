"""Runs that can't be distinguished from the best of them, by ``passk_rankings``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from passk_py.metrics.rankings import in_list
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.reports.answer.answer_facts import Run
    from passk_py.reports.queries.chosen import Row


class Ranks:
    """The ranked runs, and the runs from which each of them is not told apart."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._apart: dict[tuple[str, str], dict[tuple[str, int], frozenset[str]]] = {}
        self._without_luck: dict[tuple[str, str, str, int], float | None] = {}
        for row in rows:
            of_run = self._apart.setdefault((row["suite"], row["run_id"]), {})
            # Tables of an earlier version lack it.
            of_top = row.get("estimate_of_top")
            self._without_luck[row["suite"], row["run_id"], row["metric"], row["k"]] = of_top
            names = (row["not_told_apart_from"] or "").split(", ")
            of_run[row["metric"], row["k"]] = frozenset(names)

    def has(self, run: Run) -> bool:
        """Whether a run is among the latest of its suite, which are ranked."""
        return (run.suite, run.run_id) in self._apart

    def without_luck(self, run: Run, metric: str, k: int) -> float | None:
        """Give the value of the run on top without the luck of having come out highest."""
        return self._without_luck.get((run.suite, run.run_id, metric, k))

    def may_be_best(self, runs: Sequence[Run], metric: str, k: int) -> list[Run]:
        """Give the runs that no other one surely beats; the highest value comes first."""
        ahead: list[Run] = []
        found = []
        for run in runs:
            names = self._apart[run.suite, run.run_id].get((metric, k), frozenset())
            if all(in_list(other.run_id) in names for other in ahead):
                found.append(run)
            ahead.append(run)
        return found


def lower_limit_among(
    run: Run, value: float, lower: float, k: int, *, confidence: float, looked_at: int
) -> float:
    """Give the lower limit for tasks like these that holds for all of so many runs together.

    Each is taken at the level 1 - alpha / A: the highest of many limits is too high more often than
    that of one run.
    """
    eligible = run.tasks - run.left_out.get(k, 0)
    if looked_at <= 1 or lower <= 0 or eligible < 1:
        return lower
    # Back from the limit in the table to the middle and the error of Student's t.
    share, units = eligible / run.tasks, run.effective_families.get(k, float(eligible))
    middle = (units * value + 1) / (units + 2)
    degrees = math.floor(units + 1.5)
    quantiles = [
        student_quantile(degrees, 1 - (1 - confidence) / among) for among in (1, looked_at)
    ]
    reach = (middle - lower / share) * quantiles[1] / quantiles[0]
    return max(middle - reach, 0.0) * share
