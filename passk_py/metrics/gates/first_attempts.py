"""Passes in the first attempts of each task, for rules that are judged while tasks come in."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Final

import polars as pl

from passk_py.metrics.logs import read_log

FirstPasses = dict[str, Counter[int]]
"""How many tasks have so many passes, by what excluded attempts count for."""

NONE: Final[FirstPasses] = {"counted": Counter(), "failed": Counter(), "passed": Counter()}
"""The passes of a run without a finished task."""


def first_passes(
    log: pl.DataFrame, threshold: float, attempts: int
) -> dict[tuple[str, str], FirstPasses]:
    """Count the tasks of each run by the passes in their first attempts.

    ``counted`` are the counted attempts; ``failed`` and ``passed`` are all attempts, with the
    excluded ones as the one or the other. A task without so many attempts, or with a gap among
    them, is not finished.
    """
    task = ["run_id", "suite", "task_id"]
    excluded = pl.col("passed").is_null()
    read = read_log(log, threshold).sort([*task, "attempt"])
    numbered = read.with_columns(
        place=pl.int_range(1, pl.len() + 1).over(task),
        counted=(~excluded).cum_sum().over(task),
    )
    found: dict[tuple[str, str], FirstPasses] = defaultdict(
        lambda: {variant: Counter() for variant in NONE}
    )
    for variant, rows, place, passed in (
        ("counted", numbered.filter(~excluded), "counted", pl.col("passed")),
        ("failed", numbered, "place", pl.col("passed").fill_null(value=False)),
        ("passed", numbered, "place", pl.col("passed").fill_null(value=True)),
    ):
        tasks = (
            rows.filter(pl.col(place) <= attempts)
            .group_by(task)
            .agg(
                attempts=pl.len(),
                passes=passed.sum(),
                # The attempt that a gap lacks may land, and then another is among the first.
                has_gap=pl.col("attempt").max() > pl.col("place").max(),
            )
            .filter(pl.col("attempts") == attempts, ~pl.col("has_gap"))
        )
        for run, suite, passes in tasks.select("run_id", "suite", "passes").collect().iter_rows():
            found[run, suite][variant][passes] += 1
    return found
