"""The runs of a log, as diagnostics look at them: tasks with their counted attempts in order."""

from __future__ import annotations

import hashlib
from collections import defaultdict
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
_BITS: Final = 63
"""Attempt numbers that a mask of the engine holds; two of them tell passes over the suite."""
_KEY: Final = ("run_id", "suite", "task_id")
_ORDER: Final = (
    *("n", "c", "switches", "places", "first_passes", "ends_in_pass", "windows"),
    *("first_number", "last_number"),
)
_MASKS: Final = ("low", "high", "low_passes", "high_passes")
_EXTRA: Final[dict[str, pl.DataType]] = {
    "seed": pl.Int64(),
    "output_hash": pl.String(),
    "started_at": pl.Datetime("us"),
    "loaded_at": pl.Datetime("us"),
}


@dataclass(frozen=True, slots=True)
class Details:
    """Verdicts, seeds, outputs and times of the counted attempts of a task, in order."""

    passed: tuple[bool, ...]
    seeds: tuple[int | None, ...]
    outputs: tuple[str | None, ...]
    times: tuple[datetime | None, ...]
    tried_again: bool
    """Whether an attempt has the tag ``reruns``."""


@dataclass(frozen=True, slots=True)
class Task:
    """The counted attempts of a task, and what their order says."""

    name: str
    family: str | None
    """As it is declared."""
    n: int
    c: int
    switches: int
    """How often the verdict is not that of the attempt before."""
    places: int
    """The sum of the places of the passes, from 1."""
    first_passes: int
    """How many attempts pass before the first that fails."""
    ends_in_pass: bool
    windows: int
    """How many of k attempts in a row all pass, whatever number is left out between them."""
    first_number: int
    last_number: int
    mask: int
    """The numbers of the attempts, as bits, as far as they tell passes over the suite."""
    passes: int
    """The numbers of those that passed."""
    details: Details | None
    """Known of the tasks that are read."""

    @property
    def informative(self) -> bool:
        """Whether it both passes and fails."""
        return 0 < self.c < self.n

    @property
    def solid(self) -> bool:
        """Whether no number is left out."""
        return self.last_number - self.first_number == self.n - 1


_NO_DETAILS: Final = Details((), (), (), (), tried_again=False)


class Run:
    """One run, with what several diagnostics need of it."""

    def __init__(self, tasks: Sequence[Task], k: int) -> None:
        self.tasks = tasks
        self.k = k
        self.informative = [task for task in tasks if task.informative]
        self.eligible = [task for task in tasks if task.n >= k]
        self.read = [task.details for task in tasks if task.details is not None]

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
    attempts: pl.DataFrame | pl.LazyFrame, k: int, threshold: float, cluster: str | None = None
) -> Iterator[tuple[str, str, list[Task], Any]]:
    """Give run after run its tasks, in the order of their names, and its latest loaded_at."""
    log = _with_details(attempts, threshold, cluster)
    attempt = pl.col("attempt")
    tasks = (
        log.group_by(_KEY)
        .agg(
            latest=pl.col("loaded_at").max(),
            family=pl.col("family").min(),
            broken=(attempt.n_unique() < pl.len()) | attempt.is_null().any(),
        )
        .filter(~pl.col("broken") & pl.all_horizontal(pl.col(name).is_not_null() for name in _KEY))
        .drop("broken")
        .join(_in_order(log, k), on=_KEY, how="left")
        # A task without a counted attempt has no order.
        .with_columns(pl.col(*_ORDER, *_MASKS).fill_null(0))
        .sort(_KEY)
        .collect()
    )
    by_run = tasks.partition_by("run_id", "suite", maintain_order=True)
    read = [run.filter(pl.col("task_id").is_in(read_tasks(run))) for run in by_run]
    details = _details_of(log, pl.concat([run.select(_KEY) for run in (tasks.clear(), *read)]))
    for run, seen in zip(by_run, read, strict=True):
        run_id, suite = run["run_id"][0], run["suite"][0]
        known = dict.fromkeys(seen["task_id"], _NO_DETAILS) | dict(details.get((run_id, suite), ()))
        made = [
            Task(
                **row,
                mask=low | high << _BITS,
                passes=low_passes | high_passes << _BITS,
                details=known.get(row["name"]),
            )
            for row, (low, high, low_passes, high_passes) in zip(
                run.select(pl.col("task_id").alias("name"), "family", *_ORDER).iter_rows(
                    named=True
                ),
                run.select(_MASKS).iter_rows(),
                strict=True,
            )
        ]
        yield run_id, suite, made, run["latest"].max()


def _with_details(
    attempts: pl.DataFrame | pl.LazyFrame, threshold: float, cluster: str | None
) -> pl.LazyFrame:
    """Reduce a log to keys and verdicts, and what it says of seeds, outputs, times and retries."""
    schema = attempts.lazy().collect_schema()
    extra: dict[str, pl.Expr] = {}
    for name, kind in _EXTRA.items():
        given = schema.get(name, pl.Null())
        if given == pl.Null:
            extra[name] = pl.lit(None, kind)
        elif name.endswith("_at") and not given.is_temporal():
            raise PasskError(f"the column {name} is of type {given}", hint="It must be a time.")
        else:
            extra[name] = pl.col(name).cast(kind)
    reruns = tag_of("reruns", schema)
    tried = pl.lit(value=False) if reruns is None else (reruns != "0").fill_null(value=False)
    more = {**extra, "tried_again": tried}
    if cluster is None:
        more["family"] = pl.lit(None, pl.String)
    return read_log(attempts, threshold, more=more, cluster=cluster)


def _in_order(log: pl.LazyFrame, k: int) -> pl.LazyFrame:
    """Count what the order of the counted attempts of each task says."""
    passed, number, row = pl.col("passed"), pl.col("attempt"), pl.int_range(pl.len())
    first = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in _KEY)

    def place_since(start: pl.Expr) -> pl.Expr:
        return row - pl.when(start).then(row).otherwise(0).cum_max() + 1

    def bits(start: int) -> pl.Expr:
        place = number - start
        return pl.when(place.is_between(1, _BITS)).then(pl.lit(2, pl.Int64).pow(place - 1))

    low, high = pl.col("low_bit"), pl.col("high_bit")
    return (
        log.select(*_KEY, "attempt", "passed")
        .filter(passed.is_not_null())
        .sort(*_KEY, "attempt")
        .with_columns(
            first=first,
            task=first.cum_sum(),
            switch=~first & (passed != passed.shift()),
            place=place_since(first),
            in_streak=place_since(first | (passed != passed.shift())),
            low_bit=bits(0),
            high_bit=bits(_BITS),
        )
        .group_by("task")
        .agg(
            *(pl.col(key).first() for key in _KEY),
            n=pl.len(),
            c=passed.sum(),
            switches=pl.col("switch").sum(),
            places=pl.col("place").filter(passed).sum(),
            first_passes=pl.col("place").filter(~passed).min().fill_null(pl.len() + 1) - 1,
            ends_in_pass=passed.last(),
            windows=(passed & (pl.col("in_streak") >= k)).sum(),
            first_number=number.first(),
            last_number=number.last(),
            low=low.sum(),
            high=high.sum(),
            low_passes=low.filter(passed).sum(),
            high_passes=high.filter(passed).sum(),
        )
        .drop("task")
    )


def _details_of(
    log: pl.LazyFrame, read: pl.DataFrame
) -> dict[tuple[str, str], list[tuple[str, Details]]]:
    """Give, run by run, what the counted attempts of the tasks that are read say of themselves."""
    rows = (
        log.join(read.lazy(), on=_KEY, how="semi")
        .filter(pl.col("passed").is_not_null())
        .sort("attempt")
        .group_by(_KEY, maintain_order=True)
        .agg("passed", "seed", "output_hash", "started_at", pl.col("tried_again").any())
        .collect()
    )
    found: dict[tuple[str, str], list[tuple[str, Details]]] = defaultdict(list)
    for run_id, suite, task, passed, seeds, outputs, times, tried in rows.iter_rows():
        details = Details(tuple(passed), tuple(seeds), tuple(outputs), tuple(times), tried)
        found[run_id, suite].append((task, details))
    return found


def read_tasks(run: pl.DataFrame) -> list[str]:
    """Choose the tasks that are looked at: those whose digests come first."""
    tasks, attempts = run["task_id"].to_list(), run["n"].to_list()
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
