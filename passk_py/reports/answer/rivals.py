"""Which runs can't be told from the best: the same test as in ``passk_comparisons``, many times."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from passk_py.stats.distributions import student_quantile
from passk_py.stats.permutations import PairCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.reports.answer.answer_facts import Run
    from passk_py.warehouse.tables import Tables

__all__ = ["Rivals", "lower_limit_among"]

_DIGITS: Final = 12


class Rivals:
    """Find the runs that can't be told from the best of them.

    The best is chosen by its value, so that one of many equal runs looks better than it is. Each
    of the A - 1 others is compared with it at the level 1 - alpha / (A - 1): of equal runs, one is
    then named alone in at most alpha of the suites (multiple comparisons with the best, Hsu 1996).

    Parameters
    ----------
    tables
        The open database.
    confidence
        1 - alpha.
    min_eligible_share
        The var ``passk_min_eligible_share``.
    """

    def __init__(self, tables: Tables, confidence: float, min_eligible_share: float) -> None:
        self._tables = tables
        self._alpha = round(1 - confidence, _DIGITS)
        self._share = min_eligible_share
        self._known: dict[tuple[str, str, frozenset[str]], dict[str, Counter[PairCounts]]] = {}

    def of(self, best: Run, others: Sequence[Run], metric: str, k: int) -> tuple[Run, ...]:
        """Give those of the others that can't be told from the best, in their order."""
        # Comparisons are said in the words of this package, so that it can't ask for them first.
        from passk_py.metrics.comparisons.compared_runs import is_told_apart

        if not others:
            return ()
        level = 1 - self._alpha / len(others)
        # The pairs of tasks are the same for both metrics and any k.
        key = (best.suite, best.run_id, frozenset(run.run_id for run in others))
        if key not in self._known:
            self._known[key] = self._histograms(best, others)
        histograms = self._known[key]
        return tuple(
            run
            for run in others
            if not is_told_apart(
                histograms.get(run.run_id, Counter()),
                metric,
                k,
                confidence=level,
                min_eligible_share=self._share,
            )
        )

    def _histograms(self, best: Run, others: Sequence[Run]) -> dict[str, Counter[PairCounts]]:
        """Count the tasks of the best and of each other run that have the same counts."""
        from passk_py.common.sql_text import quote

        names = ", ".join(quote(run.run_id) for run in others)
        tasks = self._tables.require("passk_tasks")
        found: dict[str, Counter[PairCounts]] = {}
        for run_id, number, *counts in self._tables.rows(
            "select others.run_id, count(*), best.n, best.c, others.n, others.c "
            f"from {tasks} as best inner join {tasks} as others using (suite, task_id) "
            f"where best.suite = {quote(best.suite)} and best.run_id = {quote(best.run_id)} "
            f"and others.run_id in ({names}) "
            "group by others.run_id, best.n, best.c, others.n, others.c"
        ):
            found.setdefault(run_id, Counter())[PairCounts(*counts)] = number
        return found


def lower_limit_among(
    run: Run, value: float, lower: float, k: int, *, confidence: float, looked_at: int
) -> float:
    """Give the lower limit for tasks like these that holds for all of so many runs together.

    Each is taken at the level 1 - alpha / A: the highest of many limits is too high more often than
    that of one run.

    Parameters
    ----------
    run
        The run.
    value, lower
        Its value at k and the lower limit of it.
    k
        At which k.
    confidence
        1 - alpha, the level of the limits in the tables.
    looked_at
        How many runs A the run was chosen from.
    """
    eligible = run.tasks - run.left_out.get(k, 0)
    if looked_at <= 1 or lower <= 0 or eligible < 1:
        return lower
    # Back from the limit in the table to the middle and the error of Student's t.
    share = eligible / run.tasks
    middle = (eligible * value + 1) / (eligible + 2)
    quantiles = [
        student_quantile(eligible + 1, 1 - (1 - confidence) / among) for among in (1, looked_at)
    ]
    reach = (middle - lower / share) * quantiles[1] / quantiles[0]
    return max(middle - reach, 0.0) * share
