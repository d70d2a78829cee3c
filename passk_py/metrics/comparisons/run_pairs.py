"""Two runs of a suite side by side: the tasks of both, and their counts."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import polars as pl

from passk_py.common.errors import PasskError
from passk_py.metrics.frames import task_counts
from passk_py.stats.estimators import ArgumentError
from passk_py.stats.permutations import PairCounts

__all__ = ["Pair", "pair_of", "pairs_of"]


class Pair(NamedTuple):
    """The tasks of two runs of a suite."""

    suite: str
    baseline_run_id: str
    candidate_run_id: str
    common: pl.DataFrame
    """``task_id``, and n and c of each side."""
    baseline_only: int
    candidate_only: int

    @property
    def missing(self) -> str | None:
        """Which run has no task, in words; None if both have some."""
        has_baseline = self.common.height + self.baseline_only > 0
        has_candidate = self.common.height + self.candidate_only > 0
        if has_baseline and has_candidate:
            return None
        which = "the candidate" if has_baseline else "the baseline"
        return which if has_baseline or has_candidate else "either run"

    def histogram(self) -> Counter[PairCounts]:
        """Count the tasks of both runs that have the same counts."""
        columns = ("baseline_n", "baseline_c", "candidate_n", "candidate_c")
        return Counter(PairCounts(*row) for row in self.common.select(columns).iter_rows())


def pair_of(suite: str, baseline: str, candidate: str, counts: pl.DataFrame) -> Pair:
    """Put two runs side by side; one of which there is no task leaves its side empty."""
    sides = [
        counts.filter(pl.col("suite") == suite, pl.col("run_id") == run).select(
            "task_id", pl.col("n").alias(f"{side}_n"), pl.col("c").alias(f"{side}_c")
        )
        for side, run in (("baseline", baseline), ("candidate", candidate))
    ]
    common = sides[0].join(sides[1], on="task_id").sort("task_id")
    only = [side.height - common.height for side in sides]
    return Pair(suite, baseline, candidate, common, only[0], only[1])


def pairs_of(
    function: str,
    attempts: pl.DataFrame | pl.LazyFrame,
    baseline: str,
    candidate: str,
    suite: str | None,
    threshold: float,
) -> list[Pair]:
    """Put two runs of a log side by side: in one suite, or in each that both have."""
    if baseline == candidate:
        raise ArgumentError(f"{function}: the baseline and the candidate are both {baseline!r}")
    every = task_counts(attempts.lazy(), threshold=threshold).collect()
    counts = every.filter(pl.col("n").is_not_null())
    runs = (baseline, candidate)
    suites = [set(counts.filter(pl.col("run_id") == run)["suite"]) for run in runs]
    for run, of_run in zip(runs, suites, strict=True):
        if not of_run or (suite is not None and suite not in of_run):
            where = "" if suite is None else f" in the suite {suite!r}"
            known = every["run_id"].unique().sort().to_list()
            raise PasskError(
                f"{function}: there is no attempt of the run {run!r}{where}",
                hint=f"The runs are {', '.join(known)}.",
            )
    chosen = {suite} if suite is not None else suites[0] & suites[1]
    if not chosen:
        raise PasskError(
            f"{function}: {baseline!r} and {candidate!r} have no suite in common",
            hint="Two runs are compared on the tasks that both have.",
        )
    return [pair_of(name, baseline, candidate, counts) for name in sorted(chosen)]
