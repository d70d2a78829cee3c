"""Queries about tasks: their classes, their counts, and which of a run to mend first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from passk_py.common.words import TASK_CLASSES
from passk_py.reports.queries.chosen import any_of
from passk_py.warehouse.tables import fetch_frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from passk_py.reports.queries.chosen import Chosen, Row


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """How many tasks of a run are of which class."""

    classes: dict[str, int]
    failed: int = 0
    """How many failed once or more."""
    task_set: tuple[int, int] = (0, 0)
    """Equal for runs that have tried the same tasks."""


def task_counts(chosen: Chosen) -> dict[tuple[str, str], TaskCounts]:
    """Count the tasks by class, and tell runs of the same tasks by what is hashed of them."""
    classes = ", ".join(f"count(*) filter (task_class = '{kind}')" for kind in TASK_CLASSES)
    return {
        (run_id, suite): TaskCounts(
            dict(zip(TASK_CLASSES, counts, strict=True)), failed, (tasks, digest)
        )
        for run_id, suite, tasks, digest, failed, *counts in chosen.tables.rows(
            "select run_id, suite, count(*), bit_xor(hash(task_id)), "
            f"count(*) filter (c < n), {classes} "
            f"from {chosen.source('passk_tasks')} group by run_id, suite"
        )
    }


def task_rows(chosen: Chosen, tasks: Iterable[str]) -> list[Row]:
    """Read the counts of tasks by run."""
    return chosen.rows(
        "passk_tasks",
        (
            "task_id",
            "run_id",
            "n",
            "c",
            "excluded",
            "pass_rate",
            "pass_hat_k",
            "task_class",
            "expected_gain",
        ),
        # By their names, which engines look for without a join.
        also=any_of("task_id", tasks),
    )


def mend_first(chosen: Chosen, most: int) -> list[Row]:
    """Read the tasks of a run that failed, the first to mend in front."""
    return chosen.tables.records(
        "select task_id, n, c, excluded, pass_rate as pass_at_1, k, pass_at_k, pass_hat_k, "
        "task_class, confirmed, lost_reliability, lost_reliability_share, expected_gain, mend_rank "
        f"from {chosen.source('passk_tasks')} and c < n order by mend_rank limit {most}"
    )


def any_counted(chosen: Chosen) -> bool:
    """Tell whether a task has an attempt that counts."""
    return bool(
        chosen.tables.rows(f"select 1 from {chosen.source('passk_tasks')} and n > 0 limit 1")
    )


def counts_with_excluded(chosen: Chosen) -> pl.DataFrame:
    """Count the tasks by n, with the excluded attempts in it, and by the least and most c."""
    return fetch_frame(
        chosen.tables.connection,
        "select n + excluded as n, c, c + excluded as c_most, count(*) as tasks "
        f"from {chosen.source('passk_tasks')} group by all order by all",
    )
