"""The counts of tasks, put aside while the runs are compared one after the other."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from passk_py.metrics.comparisons.run_pairs import pair_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from passk_py.metrics.comparisons.run_pairs import Pair
    from passk_py.metrics.states import States

T = TypeVar("T")


def in_batches(items: Iterable[T], weight: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Put items together until they are too heavy to have one more."""
    batch: list[T] = []
    total = 0
    for item in items:
        size = weight(item)
        if batch and total + size > most:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch


class Counts:
    """The counts of the tasks of each run, in files, because memory would not hold all of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[tuple[str, str], list[Path]] = {}
        self._tasks: Counter[tuple[str, str]] = Counter()
        self._numbers = itertools.count()

    def keep(self, tasks: pl.DataFrame) -> None:
        """Put the counts of some tasks aside, run by run."""
        columns = tasks.select("run_id", "suite", "task_id", "n", "c")
        for part in columns.partition_by("run_id", "suite"):
            run = (part["run_id"][0], part["suite"][0])
            self._tasks[run] += part.height
            place = self._folder / f"counts-{next(self._numbers)}.parquet"
            part.write_parquet(place)
            self._places.setdefault(run, []).append(place)

    def tasks(self, run_id: str, suite: str) -> int:
        """Give how many tasks a run has."""
        return self._tasks[run_id, suite]

    def states(self, run_id: str, suite: str) -> States:
        """Count the tasks of a run that have the same counts."""
        found: States = Counter()
        for place in self._places.get((run_id, suite), []):
            found.update(pl.read_parquet(place, columns=["n", "c"]).iter_rows())
        return found

    def pair(self, suite: str, baseline: str, candidate: str) -> Pair:
        """Put two runs of a suite side by side."""
        text, number = pl.String(), pl.Int64()
        schema = dict.fromkeys(("run_id", "suite", "task_id"), text) | {"n": number, "c": number}
        counts = [
            pl.read_parquet(place)
            for run_id in dict.fromkeys((baseline, candidate))
            for place in self._places.get((run_id, suite), [])
        ]
        counts.append(pl.DataFrame(schema=schema))
        return pair_of(suite, baseline, candidate, pl.concat(counts))
