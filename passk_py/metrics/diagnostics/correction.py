"""Corrects the p of tests over the diagnostics of a run, and over the runs of a suite."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


def correct(rows: Iterable[dict[str, Any]]) -> None:
    """Add ``p_adjusted`` to rows of diagnostics: of Holm (1979) within a run.

    Over runs it is multiplied by how many runs of the suite were there when the run came, and
    divided by how many of those are as sure as it is (Benjamini and Bogomolov 2014), so that a
    later run leaves the verdicts of the others alone. A run of which it is not known when it came
    counts for all.
    """
    runs: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        row["p_adjusted"] = None
        if row["verdict"] is None:
            runs[row["suite"], row["run_id"]].append(row)
    suites: dict[str, list[tuple[datetime | None, list[dict[str, Any]]]]] = defaultdict(list)
    for (suite, _), tests in runs.items():
        tests.sort(key=lambda row: (row["p"], row["diagnostic"]))
        so_far = 0.0
        for place, row in enumerate(tests):
            so_far = max(so_far, (len(tests) - place) * row["p"])
            row["p_adjusted"] = so_far
        suites[suite].append((tests[0]["loaded_at"], tests))
    for found in suites.values():
        _over_runs(found)


def _over_runs(runs: list[tuple[datetime | None, list[dict[str, Any]]]]) -> None:
    there: list[float] = []

    def settle(tests: list[dict[str, Any]]) -> None:
        # Values that differ only by rounding are equal.
        times = len(there) / bisect_right(there, least[id(tests)] * (1 + 1e-9))
        for row in tests:
            row["p_adjusted"] = min(row["p_adjusted"] * times, 1.0)

    least = {id(tests): tests[0]["p_adjusted"] for _, tests in runs}
    undated = [tests for time, tests in runs if time is None]
    for tests in undated:
        insort(there, least[id(tests)])
    dated = sorted(
        ((time, tests) for time, tests in runs if time is not None), key=lambda run: run[0]
    )
    for _, group in groupby(dated, key=lambda run: run[0]):
        together = [tests for _, tests in group]
        for tests in together:
            insort(there, least[id(tests)])
        for tests in together:
            settle(tests)
    for tests in undated:
        settle(tests)
