"""The runs of a log, as diagnostics look at them: tasks with their counted attempts in order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.common.errors import PasskError
from passk_py.metrics.diagnostics.results import LEAST, Result, Sum, too_few
from passk_py.metrics.logs import read_log, tag_of
from passk_py.stats.distributions import two_sided_p

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

TAGS_SQL: Final = "struct_pack(reruns := tags['reruns']) as tags"
"""SQL for the tags that are looked at, from the column of all tags in ``passk_attempts``."""

_MOST_READ: Final = 20_000
"""Counted attempts of a run whose seeds, outputs and times are looked at, all of a task or none."""
_LEAST_READ: Final = 50
"""Tasks of which they are, however many attempts they have."""
_EXTRA: Final[dict[str, pl.DataType]] = {
    "seed": pl.Int64(),
    "output_hash": pl.String(),
    "started_at": pl.Datetime("us"),
    "loaded_at": pl.Datetime("us"),
}


@dataclass(frozen=True, slots=True)
class Task:
    """The counted attempts of a task, in order."""

    name: str
    numbers: tuple[int, ...]
    passed: tuple[bool, ...]
    c: int
    read: bool
    """Whether seeds, outputs and times are known."""
    seeds: tuple[int | None, ...]
    outputs: tuple[str | None, ...]
    times: tuple[datetime | None, ...]
    tried_again: bool
    """Whether an attempt has the tag ``reruns``; known where the others are."""

    @property
    def n(self) -> int:
        """How many attempts count."""
        return len(self.passed)

    @property
    def informative(self) -> bool:
        """Whether it both passes and fails."""
        return 0 < self.c < self.n

    @property
    def solid(self) -> bool:
        """Whether no number is left out."""
        return self.numbers[-1] - self.numbers[0] == self.n - 1

    @property
    def mask(self) -> int:
        """The numbers of the counted attempts, as bits."""
        return sum(1 << (number - 1) for number in self.numbers)


class Run:
    """One run, with what several diagnostics need of it."""

    def __init__(self, tasks: Sequence[Task], k: int) -> None:
        self.tasks = tasks
        self.k = k
        self.informative = [task for task in tasks if task.informative]
        self.eligible = [task for task in tasks if task.n >= k]
        self.read = [task for task in tasks if task.read]

    @property
    def some_read(self) -> str:
        """Say that not all tasks were looked at, where they were not."""
        if len(self.read) == len(self.tasks):
            return ""
        return f" Read of {len(self.read)} of {len(self.tasks)} tasks."

    def described(self, statistic: float, tasks: int, finding: str, *, warns: bool) -> Result:
        """Give the result of a share, which needs no test."""
        verdict = "warning" if warns else "ok"
        return Result(statistic, None, tasks, verdict, finding + self.some_read)

    @staticmethod
    def verdict(p: float | None, tasks: int) -> str | None:
        """Say where tasks are too few for a test; None where it decides."""
        return "insufficient" if tasks < LEAST or p is None else None

    def tested(
        self, statistic: float | None, found: Sum, finding: Callable[[float], str]
    ) -> Result:
        """Give the result of a test whose z is that of a sum over tasks."""
        z = found.z
        p = None if z is None else two_sided_p(z)
        enough = found.tasks >= LEAST and z is not None
        return Result(
            statistic,
            p,
            found.tasks,
            self.verdict(p, found.tasks),
            finding(z) if enough and z is not None else too_few(found.tasks),
        )


def runs_of(
    attempts: pl.DataFrame | pl.LazyFrame, threshold: float
) -> Iterator[tuple[str, str, list[Task], Any]]:
    """Give run after run its tasks, their counted attempts in order, and its latest loaded_at."""
    frame = attempts.collect() if isinstance(attempts, pl.LazyFrame) else attempts
    log = read_log(frame, threshold).collect()
    extra: dict[str, pl.Expr] = {}
    for name, kind in _EXTRA.items():
        given = frame.schema.get(name, pl.Null())
        if given == pl.Null:
            extra[name] = pl.lit(None, kind)
        elif name.endswith("_at") and not given.is_temporal():
            raise PasskError(f"the column {name} is of type {given}", hint="It must be a time.")
        else:
            extra[name] = pl.col(name).cast(kind)
    reruns = tag_of("reruns", frame.schema)
    tried = pl.lit(value=False) if reruns is None else (reruns != "0").fill_null(value=False)
    log = log.with_columns(
        frame.with_columns(**extra, tried_again=tried).select(*extra, "tried_again").get_columns()
    )
    key = ["run_id", "suite", "task_id"]
    counted = pl.col("passed").is_not_null()
    order = pl.col("attempt").filter(counted)
    tasks = (
        log.sort(*key, "attempt")
        .group_by(key, maintain_order=True)
        .agg(
            numbers=order,
            latest=pl.col("loaded_at").max(),
            broken=pl.col("attempt").is_duplicated().any() | pl.col("attempt").is_null().any(),
            **{
                name: pl.col(name).filter(counted)
                for name in ("passed", "seed", "output_hash", "started_at", "tried_again")
            },
        )
        .filter(~pl.col("broken") & pl.all_horizontal(pl.col(name).is_not_null() for name in key))
    )
    for run in tasks.partition_by("run_id", "suite", maintain_order=True):
        read = _read_tasks(run["task_id"].to_list(), run["passed"].list.len().to_list())
        # Of the other tasks nothing more is made, which would be most of a large run's memory.
        seen = {
            task: (tuple(seeds), tuple(outputs), tuple(times), any(tried))
            for task, seeds, outputs, times, tried in run.filter(pl.col("task_id").is_in(read))
            .select("task_id", "seed", "output_hash", "started_at", "tried_again")
            .iter_rows()
        }
        made = [
            Task(
                task,
                tuple(numbers),
                tuple(passed),
                sum(passed),
                task in seen,
                *seen.get(task, ((), (), (), False)),
            )
            for task, numbers, passed in run.select("task_id", "numbers", "passed").iter_rows()
        ]
        yield run["run_id"][0], run["suite"][0], made, run["latest"].max()


def _read_tasks(tasks: list[str], attempts: list[int]) -> list[str]:
    """Choose the tasks that are looked at: those whose digests come first."""
    if sum(attempts) <= _MOST_READ:
        return tasks
    ranked = sorted(
        zip(tasks, attempts, strict=True),
        key=lambda task: (hashlib.md5(task[0].encode()).hexdigest(), task[0]),  # noqa: S324
    )
    so_far = accumulate(n for _, n in ranked)
    return [
        task
        for place, ((task, _), total) in enumerate(zip(ranked, so_far, strict=True))
        if total <= _MOST_READ or place < _LEAST_READ
    ]
