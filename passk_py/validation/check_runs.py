"""Comparing the tables of runs with what polars makes of their attempts, batch by batch."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.common.sql_text import quote, slice_sql
from passk_py.metrics.diagnostics.read_runs import TAGS_SQL
from passk_py.validation import check_decisions
from passk_py.validation.check_costs import COSTS, COSTS_OF_RUNS, Costs
from passk_py.validation.check_graders import LABELLED, compare_graders
from passk_py.validation.check_pairs import PAIRED, compare_pairs, compare_rankings, stored_pairs
from passk_py.validation.check_tables import Compared
from passk_py.validation.check_trends import compare_trends
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute import (
    diagnostics,
    horizons_of_runs,
    losses_by_part,
    metrics,
    scores_at_thresholds,
    tasks,
)
from passk_py.validation.recompute.pairs import RUN_COLUMNS
from passk_py.validation.recompute.run_ranks import VALUES
from passk_py.validation.recompute.runs import IDENTITY, RUN, described, identities, run_times
from passk_py.validation.recompute.runs import runs as table_of_runs
from passk_py.validation.set_aside import Counts, in_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

_BATCH: Final = 1_000_000
"""Attempts that are counted at a time, to bound what memory holds."""

_ROWS: Final = 500_000
"""Rows of a table that are compared at a time: of several batches, as each query has its cost."""

_MOST_DIAGNOSED: Final = 5_000_000
"""Attempts of a run that are diagnosed at a time: those of a run can't be taken apart."""

_COMPARED: Final = (
    "passk_task_metrics",
    "passk_tasks",
    "passk_suite_metrics",
    "passk_runs",
    "passk_lost_reliability",
    "passk_difficulty_curve",
    "passk_horizons",
    "passk_threshold_metrics",
    "passk_diagnostics",
)
_WHOLE: Final = (
    "passk_rankings",
    "passk_trends",
    *COSTS,
    "passk_contamination",
    *LABELLED,
    "passk_gates",
)
"""Tables of which a row may be about any of the runs."""
_LOG: Final = (
    "run_id, suite, task_id, attempt, outcome, outcome_reason, score, agent, agent_version, model, "
    "seed, output_hash, started_at, duration_s, cost_usd, input_tokens, output_tokens, loaded_at"
)


@dataclass(frozen=True, slots=True)
class Run:
    """A run, and how large it is."""

    run_id: str
    suite: str
    attempts: int
    rows: int
    """How many rows it has in the largest table."""

    @property
    def weight(self) -> int:
        """How much of a batch it takes up, in attempts."""
        return max(self.attempts, self.rows * _BATCH // _ROWS)


@dataclass
class _Pending:
    """Runs whose tasks are counted, and the files of the counts."""

    runs: list[Run] = field(default_factory=list)
    who: list[pl.DataFrame] = field(default_factory=list)
    tasks: list[Path] = field(default_factory=list)
    slices: dict[int, list[Path]] = field(default_factory=dict)
    parts: list[pl.DataFrame] = field(default_factory=list)
    lengths: list[pl.DataFrame] = field(default_factory=list)
    scores: list[pl.DataFrame] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows the runs have in the largest table."""
        return sum(run.rows for run in self.runs)


class Validation:
    """Compares the tables of a database, batch by batch of runs."""

    def __init__(self, tables: Tables, settings: Settings, folder: Path, keep: int) -> None:
        self._tables = tables
        self._settings = settings
        self._folder = folder
        self._of_runs = (*_COMPARED, *COSTS_OF_RUNS, *check_decisions.decided(settings))
        self.compared = Compared(tables, settings, (*self._of_runs, *PAIRED, *_WHOLE), keep=keep)
        self._ks = settings.ks
        self._counts = Counts(folder, by_family=settings.cluster is not None)
        self._costs = Costs(self.compared, folder)
        self._known: list[pl.DataFrame] = []
        self._pending = _Pending()
        self._numbers = itertools.count()
        self._diagnosed: list[dict[str, Any]] = []
        self._values: list[pl.DataFrame] = []
        self.runs = self._all_runs()
        self.stored_pairs = stored_pairs(tables)

    def _all_runs(self) -> list[Run]:
        """List the runs that any of the tables knows, and how large each is."""
        keys = " union ".join(
            f"select run_id, suite from {self._tables.require(name)}" for name in self._of_runs
        )
        return [
            Run(run_id, suite, attempts, tasks * len(self._ks))
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

    def batches(self) -> Iterator[list[Run]]:
        """Put runs together until they are heavy enough."""
        return in_batches(self.runs, lambda run: run.weight, _BATCH)

    def batch(self, runs: Sequence[Run]) -> None:
        """Count the tasks of some runs, and compare the tables once they have rows enough."""
        buckets = max(1, -(-sum(run.weight for run in runs) // _BATCH))
        if self._pending.rows + sum(run.rows for run in runs) > _ROWS:
            self._compare()
        path = self._log(_are_of(runs), buckets)
        log, rejected = pl.scan_parquet(path), self._rejected(runs)
        for bucket in range(buckets):
            part = log.filter(pl.col("bucket") == bucket)
            counts = tasks.counts(part, self._settings).collect(engine="streaming")
            self._counts.keep(counts)
            self._pending.tasks.append(self._put_aside(counts))
        for number in range(1, len(self._settings.slices) + 1):
            sliced = tasks.sliced(log, number, self._settings).collect(engine="streaming")
            self._pending.slices.setdefault(number, []).append(self._put_aside(sliced))
        self._costs.keep(log)
        self._pending.parts.append(losses_by_part.parts(log, self._settings))
        self._pending.lengths.append(horizons_of_runs.lengths(log, self._settings))
        self._pending.scores.append(scores_at_thresholds.counts(log, self._settings))
        self._diagnose(log, runs)
        who = identities(log, rejected, self._stated(_are_of(runs)))
        self._known.append(run_times(log, rejected).join(who, on=list(RUN)))
        path.unlink()
        self._pending.runs += runs
        self._pending.who.append(who)
        if buckets > 1:
            self._compare()

    def _put_aside(self, frame: pl.DataFrame) -> Path:
        path = self._folder / f"counted-{next(self._numbers)}.parquet"
        frame.write_parquet(path)
        return path

    def _compare(self) -> None:
        """Compare the tables of the runs that are counted and not compared yet."""
        pending, self._pending = self._pending, _Pending()
        if not pending.runs:
            return
        runs, who, chosen = pending.runs, pl.concat(pending.who), _are_of(pending.runs)
        every = pl.scan_parquet(pending.tasks)
        slices = [pl.scan_parquet(places) for places in pending.slices.values()]
        parts = [(every, chosen)]
        if pending.rows > _ROWS:
            # One large run, in buckets.
            buckets = len(pending.tasks)
            parts = [
                (pl.scan_parquet(place), f"{chosen} and hash(task_id) % {buckets} = {bucket}")
                for bucket, place in enumerate(pending.tasks)
            ]
        ranked: list[pl.DataFrame] = []
        for counts, where in parts:
            of_tasks = metrics.task_metrics(counts, self._settings)
            self.compared.compare("passk_task_metrics", described(of_tasks, who), where)
            classed = tasks.tasks(counts, self._settings)
            ranked.append(classed.frame.select(*classed.key, "n", "c", "lost_reliability"))
            self.compared.compare("passk_tasks", described(classed, who), where)
        self.compared.compare(
            "passk_tasks",
            tasks.ranks(pl.concat(ranked), self._settings),
            chosen,
            more_columns=True,
        )
        for ks in self._ks_at_a_time(runs):
            suites = metrics.suite_metrics(every, slices, self._settings, ks)
            where = f"{chosen} and k in ({', '.join(map(str, ks))})"
            self.compared.compare("passk_suite_metrics", described(suites, who), where)
            whole = suites.frame.filter(pl.col("slice_name") == "all")
            self._values.append(whole.select(*RUN, "k", *VALUES))
        self.compared.compare(
            "passk_suite_metrics", self._readings(chosen), chosen, more_columns=True
        )
        listed = described(table_of_runs(every, self._rejected(runs)), who)
        self.compared.compare("passk_runs", listed, chosen)
        ids = [(run.run_id, run.suite) for run in runs]
        check_decisions.compare_runs(self.compared, self._counts, ids, slices, who, chosen)
        self._costs.compare_runs(who, chosen)
        lost = losses_by_part.lost_reliability(pl.concat(pending.parts), self._settings)
        self.compared.compare("passk_lost_reliability", described(lost, who), chosen)
        for name, table in horizons_of_runs.tables(
            pl.concat(pending.lengths), self._settings
        ).items():
            self.compared.compare(name, described(table, who), chosen)
        graded = scores_at_thresholds.threshold_metrics(pl.concat(pending.scores), self._settings)
        self.compared.compare("passk_threshold_metrics", described(graded, who), chosen)
        for path in (*pending.tasks, *itertools.chain(*pending.slices.values())):
            path.unlink()

    def _rejected(self, runs: Sequence[Run]) -> pl.LazyFrame:
        """Read the rejected rows: their suite may be null, and their run without an attempt."""
        return self.compared.frame(
            "select run_id, suite, attempt, reason_code, loaded_at "
            f"from {self._tables.require('passk_rejected_attempts')} "
            f"where (run_id, coalesce(suite, 'default')) in (values {_values(runs)})"
        ).lazy()

    def _diagnose(self, log: pl.LazyFrame, runs: Sequence[Run]) -> None:
        small = [run for run in runs if run.attempts <= _MOST_DIAGNOSED]
        self.compared.left_out += [
            f"The diagnostics of {run.run_id}, {run.suite} were not recomputed: "
            f"it has more than {_MOST_DIAGNOSED:,} attempts."
            for run in runs
            if run.attempts > _MOST_DIAGNOSED
        ]
        if small:
            keys = [{"run_id": run.run_id, "suite": run.suite} for run in small]
            part = log.join(pl.LazyFrame(keys), on=list(RUN), how="semi")
            measured, rows = diagnostics.diagnostics(part, self._settings)
            self.compared.compare("passk_diagnostics", measured, _are_of(small))
            self._diagnosed += rows

    def whole(self) -> None:
        """Compare what may be about any two runs, after all runs."""
        self._compare()
        self._judge_diagnostics()
        types = {**RUN_COLUMNS, **dict.fromkeys(IDENTITY, pl.String())}
        who = pl.concat(
            [pl.DataFrame(schema=types), *(runs.select(*types) for runs in self._known)]
        )
        pairs = compare_pairs(self.compared, self._counts, who, self.stored_pairs, batch=_BATCH)
        if self._values:
            values = pl.concat(self._values)
            ranks = compare_rankings(self.compared, self._counts, who, values)
            self._costs.compare_whole(who, ranks)
        compare_trends(self.compared, self._counts, who)
        check_decisions.compare_suites(self.compared, self._counts, who)
        ids = [(run.run_id, run.suite) for run in self.runs]
        compare_graders(self.compared, self._counts, ids, who)
        attempts = sum(run.attempts for run in self.runs)
        check_decisions.compare_gates(self.compared, who, pairs, attempts=attempts)

    def _judge_diagnostics(self) -> None:
        """Compare the verdicts of diagnostics, for which the p of all runs are corrected."""
        if not self._diagnosed:
            return
        told = ("p", "p_adjusted", "verdict", "loaded_at")
        stored = self.compared.once("passk_diagnostics", [*RUN, "diagnostic"], told)
        ids = {(row["run_id"], row["suite"]) for row in self._diagnosed}
        measured = [run for run in self.runs if (run.run_id, run.suite) in ids]
        self.compared.compare(
            "passk_diagnostics",
            diagnostics.judged_diagnostics(self._diagnosed, stored, self._settings),
            _are_of(measured),
            more_columns=True,
        )

    def _ks_at_a_time(self, runs: Sequence[Run]) -> Iterator[list[int]]:
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
        more = slices + self._settings.family_sql + self._settings.length_sql
        path = self._folder / "attempts.parquet"
        self._tables.connection.execute(
            f"copy (select {_LOG}, {TAGS_SQL}, hash(task_id) % {buckets} as bucket{more} "
            f"from {self._tables.require('passk_attempts')} where {chosen}) "
            f"to {quote(str(path))} (format parquet)"
        )
        return path

    def _stated(self, chosen: str) -> pl.LazyFrame:
        """Read what the table of runs says of who made their attempts."""
        return self.compared.once("passk_runs", RUN, IDENTITY, chosen).lazy()

    def _readings(self, chosen: str) -> Recomputed:
        """Read the suites' numbers as SQL has them, so that rounding can't tip a threshold."""
        key = ("run_id", "suite", "slice_name", "slice_value", "k")
        estimates = ("pass_at_k", "pass_hat_k")
        frame = self.compared.once("passk_suite_metrics", key, estimates, chosen)
        frame = frame.with_columns(reading=metrics.reading(self._settings))
        return Recomputed(frame, key, ("reading",), {})


def _are_of(runs: Sequence[Run]) -> str:
    """Write the condition that rows are of these runs."""
    # The first part is one that DuckDB pushes down into a view.
    names = ", ".join(quote(run_id) for run_id in dict.fromkeys(run.run_id for run in runs))
    return f"run_id in ({names}) and (run_id, suite) in (values {_values(runs)})"


def _values(runs: Sequence[Run]) -> str:
    return ", ".join(f"({quote(run.run_id)}, {quote(run.suite)})" for run in runs)
