"""Pairs of runs: those that there must be, and those that the tables hold."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.common.sql_text import quote
from passk_py.metrics.rankings import shared_tasks
from passk_py.validation.recompute import pairs as recompute_pairs
from passk_py.validation.recompute import run_ranks as recompute_ranks
from passk_py.validation.set_aside import in_batches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from passk_py.metrics.comparisons.run_pairs import Pair
    from passk_py.metrics.rankings import Shared
    from passk_py.validation.check_tables import Compared
    from passk_py.validation.set_aside import Counts
    from passk_py.warehouse.tables import Tables

PAIRED: Final = ("passk_comparisons", "passk_task_comparisons")

_MOST_PERMUTED: Final = 2_000
"""Attempts of a task in both runs whose permutations are counted in whole numbers."""

Key = tuple[str, str, str]
"""A suite, a baseline and a candidate."""


def stored_pairs(tables: Tables) -> set[Key]:
    """List the pairs of runs that any of the tables holds."""
    sql = " union ".join(
        f"select suite, baseline_run_id, candidate_run_id from {tables.require(name)}"
        for name in PAIRED
    )
    return {(suite, one, other) for suite, one, other in tables.rows(sql)}


def compare_pairs(
    compared: Compared, counts: Counts, runs: pl.DataFrame, stored: set[Key], *, batch: int
) -> list[Key]:
    """Compare the pairs of runs, some at a time; give those that rules without a baseline judge."""
    expected = recompute_pairs.expected_pairs(runs, compared.settings)
    sources = {
        (suite, baseline, candidate): source
        for suite, baseline, candidate, source in expected.iter_rows()
    }
    rows = 2 * len(compared.settings.ks)

    def weight(pair: Key) -> int:
        suite, *two = pair
        return rows + sum(counts.tasks(run, suite) for run in two)

    for some in in_batches(sorted(sources.keys() | stored), weight, batch):
        _compare(compared, counts, some, sources, runs)
    return [pair for pair, source in sources.items() if source != "gate"]


def _compare(
    compared: Compared,
    counts: Counts,
    pairs: Sequence[Key],
    sources: Mapping[Key, str],
    runs: pl.DataFrame,
) -> None:
    expected: list[tuple[Pair, str]] = []
    chosen: list[Key] = []
    for pair in pairs:
        found = counts.pair(*pair)
        if _attempts(found.histogram()) > _MOST_PERMUTED:
            compared.left_out.append(
                f"{pair[1]} and {pair[2]} in {pair[0]} were not compared: a task has more than "
                f"{_MOST_PERMUTED:,} attempts in both runs."
            )
            continue
        chosen.append(pair)
        if pair in sources:
            expected.append((found, sources[pair]))
    if not chosen:
        return
    values = ", ".join(f"({', '.join(map(quote, pair))})" for pair in chosen)
    where = f"({', '.join(recompute_pairs.PAIR)}) in (values {values})"
    of_runs, of_tasks = PAIRED
    key = recompute_pairs.PAIR
    stored = compared.rows(of_runs, [*key, "metric", "k", *recompute_pairs.JUDGED], where)
    rows = stored.iter_rows(named=True)
    compared.compare(
        of_runs, recompute_pairs.compared_runs(expected, runs, compared.settings, rows), where
    )
    stored = compared.rows(of_tasks, [*key, "task_id", "p_adjusted"], where)
    only = [pair for pair, _ in expected]
    compared.compare(
        of_tasks, recompute_pairs.compared_tasks(only, compared.settings, stored), where
    )


def _attempts(histogram: pl.DataFrame) -> int:
    """Give the most attempts that a task has in both runs."""
    both = pl.col("baseline_n") + pl.col("candidate_n")
    return histogram.select(both.max()).item() or 0


def compare_rankings(
    compared: Compared, counts: Counts, runs: pl.DataFrame, values: pl.DataFrame
) -> pl.DataFrame | None:
    """Compare and give the ranks, for which each two of the latest runs of a suite are tested."""
    ranked = recompute_ranks.ranked_runs(runs, compared.settings)
    shared: dict[Key, Shared] = {}
    for suite, names in ranked.items():
        for newer, older in combinations(names, 2):
            found = shared_tasks(counts.pair(suite, older, newer))
            if _attempts(found.histogram) > _MOST_PERMUTED:
                compared.left_out.append(
                    f"The ranks were not recomputed: a task of {suite} has more than "
                    f"{_MOST_PERMUTED:,} attempts in two runs."
                )
                return None
            shared[suite, older, newer] = found
    expected = recompute_ranks.rankings(values, ranked, shared, compared.settings)
    compared.compare("passk_rankings", expected)
    return expected.frame
