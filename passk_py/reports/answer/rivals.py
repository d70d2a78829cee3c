"""Which runs can't be told from the best: the same test as in ``passk_comparisons``, many times."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from passk_py.reports.queries.task_queries import pair_counts
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.reports.answer.answer_facts import Run
    from passk_py.stats.permutations import PairCounts
    from passk_py.warehouse.tables import Tables

_DIGITS: Final = 12


class Rivals:
    """Find the runs that can't be told from the best of them.

    The best is chosen by its value, so that one of many equal runs looks better than it is. Each
    of the A - 1 others is compared with it at the level 1 - alpha / (A - 1): of equal runs, one is
    then named alone in at most alpha of the suites (multiple comparisons with the best, Hsu 1996).
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
            ids = [run.run_id for run in others]
            self._known[key] = pair_counts(self._tables, best.suite, best.run_id, ids)
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
    share = eligible / run.tasks
    middle = (eligible * value + 1) / (eligible + 2)
    quantiles = [
        student_quantile(eligible + 1, 1 - (1 - confidence) / among) for among in (1, looked_at)
    ]
    reach = (middle - lower / share) * quantiles[1] / quantiles[0]
    return max(middle - reach, 0.0) * share
