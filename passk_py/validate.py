"""Recompute every public number from the attempts in polars, and compare it with SQL."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.errors import PasskError
from passk_py.freshness import Pending, pending_changes
from passk_py.settings import Settings, read_settings
from passk_py.sql_text import quote
from passk_py.tables import open_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from passk_py.parity import Difference, Parity
    from passk_py.recompute import Recomputed
    from passk_py.tables import Tables

__all__ = ["ValidationReport", "validate_tables"]

_BATCH: Final = 2_000_000
"""Attempts and rows of tables that are compared at a time, to bound what memory holds."""

_COMPARED: Final = ("passk_task_metrics", "passk_tasks", "passk_suite_metrics", "passk_runs")
_LOG: Final = (
    "run_id, suite, task_id, attempt, outcome, agent, agent_version, model, started_at, "
    "duration_s, cost_usd, input_tokens, output_tokens"
)


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """What a validation found.

    Parameters
    ----------
    tables
        Each compared table.
    runs, attempts
        How much was recomputed.
    pending
        What has landed or gone since the tables were built.
    settings
        The vars that were taken for those of the build.
    """

    tables: tuple[Parity, ...]
    runs: int
    attempts: int
    pending: Pending
    settings: Settings

    @property
    def largest(self) -> float:
        """The largest relative difference of all numbers."""
        return max((table.largest for table in self.tables), default=0.0)

    @property
    def different(self) -> int:
        """How many values and rows differ."""
        return sum(table.different for table in self.tables)

    @property
    def examples(self) -> list[Difference]:
        """The first differences of each table."""
        return [example for table in self.tables for example in table.examples]

    @property
    def exit_code(self) -> int:
        """0 if the tables agree, else 1."""
        return 1 if self.different else 0


def validate_tables(
    database: str | Path = "passk.duckdb",
    *,
    variables: Mapping[str, Any] | None = None,
    examples: int = 20,
    progress: Callable[[int, int], None] | None = None,
) -> ValidationReport:
    """Recompute the public tables of a database in polars, and compare.

    Parameters
    ----------
    database
        Path of the DuckDB file.
    variables
        Vars of the build, where the database does not record them.
    examples
        How many differences of each table to keep.
    progress
        Is told how many attempts are compared, and how many there are.

    Returns
    -------
    ValidationReport
        What agrees and what does not. Counts, times, classes and names must be equal, nulls in
        the same places, numbers equal to a relative difference of 1e-12, and no row there twice.

    Raises
    ------
    PasskError
        If there is no such database, nothing has been built in it, or its tables are empty.
    """
    with ExitStack() as stack:
        tables = stack.enter_context(open_tables(database))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="passk-validate-")))
        settings = read_settings(tables, variables)
        check = _Validation(tables, settings, folder, examples)
        if not check.runs:
            # Tables that lost all their rows must not pass for tables that agree.
            raise PasskError(
                f"There is nothing to validate in {tables.database}: "
                "passk_attempts and the tables that are made from it are empty.",
                hint="Load a log with `passk load FILE`, then run `passk build`.",
            )
        total = sum(run.attempts for run in check.runs)
        done = 0
        for batch in _batches(check.runs):
            check.batch(batch)
            done += sum(run.attempts for run in batch)
            if progress is not None:
                progress(done, total)
        return ValidationReport(
            tuple(check.found.values()), len(check.runs), total, pending_changes(tables), settings
        )


@dataclass(frozen=True, slots=True)
class _Run:
    run_id: str
    suite: str
    attempts: int
    rows: int
    """How many rows it has in the largest table."""

    @property
    def weight(self) -> int:
        return self.attempts + self.rows


def _batches(runs: Sequence[_Run]) -> Iterator[list[_Run]]:
    """Put runs together until they are heavy enough."""
    batch: list[_Run] = []
    weight = 0
    for run in runs:
        if batch and weight + run.weight > _BATCH:
            yield batch
            batch, weight = [], 0
        batch.append(run)
        weight += run.weight
    if batch:
        yield batch


class _Validation:
    """Compares batch by batch of runs."""

    def __init__(self, tables: Tables, settings: Settings, folder: Path, keep: int) -> None:
        from passk_py.parity import Parity

        self._tables = tables
        self._settings = settings
        self._folder = folder
        self._keep = keep
        self.found = {name: Parity(name, 0, 0, 0.0, 0, []) for name in _COMPARED}
        self._ks = settings.ks
        self.runs = self._all_runs()

    def _all_runs(self) -> list[_Run]:
        """List the runs that any of the tables knows, and how large each is."""
        keys = " union ".join(
            f"select run_id, suite from {self._tables.require(name)}" for name in _COMPARED
        )
        return [
            _Run(run_id, suite, attempts, tasks * len(self._ks))
            for run_id, suite, attempts, tasks in self._tables.rows(
                f"""
                with counted as (
                  select run_id, suite, count(*) as attempts
                  from {self._tables.require("passk_attempts")} group by all
                ),
                sized as (
                  select run_id, suite, max(tasks) as tasks
                  from {self._tables.require("passk_runs")} group by all
                ),
                known as ({keys} union select run_id, suite from counted)
                select run_id, suite, coalesce(attempts, 0), coalesce(tasks, 0)
                from known
                left join counted using (run_id, suite)
                left join sized using (run_id, suite)
                order by 1, 2
                """
            )
        ]

    def batch(self, runs: Sequence[_Run]) -> None:
        """Compare some runs in all tables."""
        import polars as pl

        from passk_py import recompute

        buckets = max(1, -(-sum(run.weight for run in runs) // _BATCH))
        values = ", ".join(f"({quote(run.run_id)}, {quote(run.suite)})" for run in runs)
        chosen = f"(run_id, suite) in (values {values})"
        path = self._log(chosen, buckets)
        log = pl.scan_parquet(path)
        # A refused row may not say its suite, and need not belong to a run that has attempts.
        rejected = self._frame(
            "select run_id, suite, attempt, reason_code "
            f"from {self._tables.require('passk_rejected_attempts')} "
            f"where (run_id, coalesce(suite, 'default')) in (values {values})"
        ).lazy()
        who = recompute.identities(log, rejected, self._stated(chosen))
        lost: list[pl.DataFrame] = []
        for bucket in range(buckets):
            part = log.filter(pl.col("bucket") == bucket)
            where = f"{chosen} and hash(task_id) % {buckets} = {bucket}"
            metrics = recompute.task_metrics(part, self._settings, self._ks)
            self._compare("passk_task_metrics", recompute.described(metrics, who), where)
            classed = recompute.tasks(part, self._settings)
            lost.append(classed.frame.select(*classed.key, "lost_reliability"))
            self._compare("passk_tasks", recompute.described(classed, who), where)
        self._compare("passk_tasks", recompute.shares(pl.concat(lost)), chosen, more_columns=True)
        for ks in self._ks_at_a_time(runs):
            suites = recompute.suite_metrics(log, self._settings, ks)
            where = f"{chosen} and k in ({', '.join(map(str, ks))})"
            self._compare("passk_suite_metrics", recompute.described(suites, who), where)
        self._compare("passk_suite_metrics", self._readings(chosen), chosen, more_columns=True)
        listed = recompute.described(recompute.runs(log, rejected), who)
        self._compare("passk_runs", listed, chosen)
        path.unlink()

    def _ks_at_a_time(self, runs: Sequence[_Run]) -> Iterator[list[int]]:
        """Split the grid where all of it would be too many rows: a suite needs all its tasks."""
        tasks = sum(run.rows for run in runs) // len(self._ks)
        size = max(1, _BATCH // max(1, tasks))
        for start in range(0, len(self._ks), size):
            yield self._ks[start : start + size]

    def _log(self, chosen: str, buckets: int) -> Path:
        slices = "".join(
            f", {slice_sql(name, expression)} as slice_{number}"
            for number, (name, expression) in enumerate(self._settings.slices.items(), 1)
        )
        path = self._folder / "attempts.parquet"
        self._tables.connection.execute(
            f"copy (select {_LOG}, hash(task_id) % {buckets} as bucket{slices} "
            f"from {self._tables.require('passk_attempts')} where {chosen}) "
            f"to {quote(str(path))} (format parquet)"
        )
        return path

    def _stated(self, chosen: str) -> pl.LazyFrame:
        """Read what the table of runs says of who made their attempts."""
        from passk_py.recompute import IDENTITY, RUN

        self._require_columns("passk_runs", [*RUN, *IDENTITY])
        frame = self._frame(
            f"select {', '.join((*RUN, *IDENTITY))} "
            f"from {self._tables.require('passk_runs')} where {chosen}"
        )
        return frame.unique(RUN, keep="first", maintain_order=True).lazy()

    def _readings(self, chosen: str) -> Recomputed:
        """Read the suites' numbers as SQL has them, so that rounding can't tip a threshold."""
        from passk_py import estimators as est
        from passk_py.recompute import Recomputed

        key = ("run_id", "suite", "slice_name", "slice_value", "k")
        frame = self._frame(
            f"select {', '.join(key)}, pass_at_k, pass_hat_k "
            f"from {self._tables.require('passk_suite_metrics')} where {chosen}"
        ).with_columns(
            reading=est.suite_reading(
                "pass_at_k",
                "pass_hat_k",
                capable_threshold=self._settings.capable_threshold,
                consistent_threshold=self._settings.consistent_threshold,
            )
        )
        # Copies are reported already, and would be compared each with each.
        frame = frame.unique(key, keep="first", maintain_order=True)
        return Recomputed(frame, key, ("reading",), {})

    def _compare(
        self, name: str, expected: Recomputed, where: str, *, more_columns: bool = False
    ) -> None:
        from passk_py.parity import compare

        columns = [*expected.key, *expected.exact, *expected.near, *expected.presence]
        self._require_columns(name, columns)
        rows = self._frame(
            f"select {', '.join(columns)} from {self._tables.require(name)} where {where}"
        )
        parity = compare(
            name,
            rows,
            expected,
            keep=self._keep,
            more_columns=more_columns,
        )
        self.found[name].add(parity, keep=self._keep)

    def _require_columns(self, name: str, columns: Sequence[str]) -> None:
        there = self._tables.columns(name)
        missing = [column for column in columns if column not in there]
        if missing:
            raise PasskError(
                f"The table {name} has no column {' and no '.join(missing)}.",
                hint="Another version of passk built it: run `passk build`.",
            )

    def _frame(self, sql: str) -> pl.DataFrame:
        from passk_py.tables import fetch_frame

        return fetch_frame(self._tables.connection, sql)


def slice_sql(name: str, expression: str | None) -> str:
    # By the engine, because an expression is SQL. What is compared are the numbers of the slices.
    value = f"tags[{quote(name)}]" if expression is None else f"({expression})"
    return f"cast({value} as varchar)"
