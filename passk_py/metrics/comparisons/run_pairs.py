"""Two runs of a suite side by side: the tasks of both, and their counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import polars as pl

from passk_py.common.errors import PasskError
from passk_py.metrics.frames.counting import TASK, ordered_tasks
from passk_py.metrics.logs import read_log
from passk_py.stats.estimators import ArgumentError
from passk_py.stats.permutations import PairCounts


class Pair(NamedTuple):
    """The tasks of two runs of a suite."""

    suite: str
    baseline_run_id: str
    candidate_run_id: str
    common: pl.DataFrame
    """``task_id``, n and c of each side, and ``family`` where families are known."""
    baseline_only: int
    candidate_only: int

    @property
    def nothing_common(self) -> str | None:
        """Why there is nothing to compare; None where there is."""
        if self.common.height:
            return None
        if self.baseline_only and self.candidate_only:
            return "no task is in both runs"
        missing = "either run"
        if self.baseline_only or self.candidate_only:
            missing = "the candidate" if self.baseline_only else "the baseline"
        return f"the suite has no attempt of {missing}"

    def histogram(self) -> pl.DataFrame:
        """Count the tasks of both runs that have the same counts, in a column ``tasks``."""
        counts = self.common.group_by(PairCounts._fields, maintain_order=True)
        return counts.agg(tasks=pl.len().cast(pl.Int64))

    def families(self) -> list[Counter[PairCounts]] | None:
        """Give the same of each family of tasks; None where no families are known."""
        if "family" not in self.common.columns:
            return None
        found: dict[tuple[str | None, str | None], Counter[PairCounts]] = defaultdict(Counter)
        rows = self.common.select("family", "task_id", *PairCounts._fields).iter_rows()
        for family, task_id, *counts in rows:
            # A task whose family is not known is a family of its own.
            found[family, None if family is not None else task_id][PairCounts(*counts)] += 1
        return list(found.values())


def pair_of(suite: str, baseline: str, candidate: str, counts: pl.DataFrame) -> Pair:
    """Put two runs side by side; one of which there is no task leaves its side empty."""
    before, after = (
        counts.filter(pl.col("suite") == suite, pl.col("run_id") == run)
        for run in (baseline, candidate)
    )
    return side_by_side(suite, (baseline, before), (candidate, after))


def side_by_side(
    suite: str, baseline: tuple[str, pl.DataFrame], candidate: tuple[str, pl.DataFrame]
) -> Pair:
    """Put two runs side by side, each given as its name and the counts of its tasks."""
    sides = [
        counts.select("task_id", pl.col("^(n|c|family)$").name.prefix(f"{side}_"))
        for side, (_, counts) in (("baseline", baseline), ("candidate", candidate))
    ]
    common = sides[0].join(sides[1], on="task_id").sort("task_id")
    if "baseline_family" in common.columns:
        family = pl.coalesce("baseline_family", "candidate_family")
        common = common.with_columns(family=family).drop("baseline_family", "candidate_family")
    only = [side.height - common.height for side in sides]
    return Pair(suite, baseline[0], candidate[0], common, only[0], only[1])


def pairs_of(
    function: str,
    attempts: pl.DataFrame | pl.LazyFrame,
    baseline: str,
    candidate: str,
    suite: str | None,
    threshold: float,
    cluster: str | None = None,
) -> list[Pair]:
    """Put two runs of a log side by side: in one suite, or in each that both have."""
    if baseline == candidate:
        raise ArgumentError(f"{function}: the baseline and the candidate are both {baseline!r}")
    every = ordered_tasks(read_log(attempts, threshold, cluster=cluster), TASK, ()).collect()
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
