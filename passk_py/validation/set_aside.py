"""The counts of tasks, put aside while the runs are compared one after the other."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl

from passk_py.metrics.comparisons.run_pairs import side_by_side
from passk_py.metrics.states import families_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from passk_py.metrics.comparisons.run_pairs import Pair
    from passk_py.metrics.states import Families, States

T = TypeVar("T")

_TYPES: Final = {"task_id": pl.String, "n": pl.Int64, "c": pl.Int64}
_FAMILY: Final = {"family": pl.String}


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

    def __init__(self, folder: Path, *, by_family: bool) -> None:
        self._types = _TYPES | (_FAMILY if by_family else {})
        self._folder = folder
        self._places: dict[tuple[str, str], list[Path]] = {}
        self._tasks: Counter[tuple[str, str]] = Counter()
        self._numbers = itertools.count()
        # The candidate of a pair is mostly the baseline of the next.
        self._read = lru_cache(maxsize=2)(self._read_run)

    def keep(self, tasks: pl.DataFrame) -> None:
        """Put the counts of some tasks aside, run by run."""
        self._read.cache_clear()
        columns = tasks.select("run_id", "suite", *self._types)
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

    def families(self, run_id: str, suite: str) -> Families | None:
        """Count the families of a run; None where no tasks are related."""
        if "family" not in self._types:
            return None
        return families_of(self._read_run(run_id, suite))

    def of_run(self, run_id: str, suite: str) -> pl.DataFrame:
        """Read the counts of the tasks of a run."""
        return self._read(run_id, suite)

    def pair(self, suite: str, baseline: str, candidate: str) -> Pair:
        """Put two runs of a suite side by side."""
        before, after = ((run, self._read(run, suite)) for run in (baseline, candidate))
        return side_by_side(suite, before, after)

    def _read_run(self, run_id: str, suite: str) -> pl.DataFrame:
        """Read the counts of a run; none if it is not there."""
        places = self._places.get((run_id, suite), [])
        if not places:
            return pl.DataFrame(schema=self._types)
        return pl.concat([pl.read_parquet(place, columns=list(self._types)) for place in places])
