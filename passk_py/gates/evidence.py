"""What gates are judged by: the numbers of a log, each computed once when a rule asks for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from passk_py import estimators as est
from passk_py.comparisons import compare, compare_tasks
from passk_py.diagnostics import diagnose
from passk_py.frames import read_log, suite_metrics, task_counts
from passk_py.gates.rules import SHARES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

__all__ = ["Evidence", "Moves", "Run", "TaskTails"]

_RUN_COLUMNS = ("agent", "agent_version", "model", "started_at", "loaded_at")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one suite, and its place among the runs of its agent.

    Parameters
    ----------
    run_id, suite
        Which run.
    told
        What is known of it: a row of ``passk_runs``, or as much of it as the log says.
    previous
        The run before, of the same suite and agent.
    is_latest
        Whether none came after it.
    """

    run_id: str
    suite: str
    told: Mapping[str, Any]
    previous: str | None
    is_latest: bool

    @property
    def agent(self) -> str | None:
        """Who made its attempts."""
        agent = self.told.get("agent")
        return None if agent is None else str(agent)


class Moves(NamedTuple):
    """By how much a metric would move, had the excluded attempts counted."""

    excluded: int
    loss: float
    gain: float


class TaskTails(NamedTuple):
    """How sure a task is to reach a chance, and how sure it is not to."""

    task_id: str
    n: int
    c: int
    at_least: float
    at_most: float


def _tails(n: int, c: int, p: float) -> tuple[float, float]:
    """Give the chances of at least and of at most c passes among n attempts, each with chance p."""
    chances = [
        math.comb(n, passes) * p**passes * (1 - p) ** (n - passes) for passes in range(n + 1)
    ]
    return math.fsum(chances[c:]), math.fsum(chances[: c + 1])


@dataclass
class Evidence:
    """A log of attempts, and how it is to be read.

    Parameters
    ----------
    attempts
        The log.
    told
        Rows of ``passk_runs``; None to make do with what the attempts say.
    pairs
        (baseline, candidate, suite) that are compared, suite None for all; None for each run
        with the one before it.
    confidence, on_short, threshold, deployment_k
        As in :func:`passk_py.suite_metrics`, :func:`passk_py.diagnose`.
    """

    attempts: pl.DataFrame
    told: pl.DataFrame | None
    pairs: Sequence[tuple[str, str, str | None]] | None
    confidence: float
    on_short: Literal["null_suite", "eligible_only"]
    threshold: float
    deployment_k: int
    _cache: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """The chance of a mistake that is allowed."""
        return round(1 - self.confidence, 10)

    @cached_property
    def runs(self) -> list[Run]:
        """Every run, in order within its suite and agent."""
        counted = self.counts.group_by("run_id", "suite").agg(
            attempts=(pl.col("n") + pl.col("excluded")).sum(), excluded=pl.col("excluded").sum()
        )
        told = self.told if self.told is not None else self._said_by_attempts(counted)
        rows = told.join(counted.select("run_id", "suite"), on=["run_id", "suite"]).to_dicts()
        by_agent: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
        for row in rows:
            by_agent.setdefault((row["suite"], row.get("agent")), []).append(row)
        found = []
        for (suite, _), group in by_agent.items():
            # Times of the log are an order only if every run has one.
            dated = all(row.get("started_at") is not None for row in group)
            name = "started_at" if dated else "loaded_at"
            group.sort(key=lambda row: (str(row.get(name) or ""), row["run_id"]))
            for place, row in enumerate(group):
                before = group[place - 1]["run_id"] if place else None
                last = place == len(group) - 1
                found.append(Run(row["run_id"], suite, row, before, last))
        return sorted(found, key=lambda run: (run.suite, run.run_id))

    def _said_by_attempts(self, counted: pl.DataFrame) -> pl.DataFrame:
        log = self.attempts
        if "suite" not in log.columns:
            log = log.with_columns(suite=pl.lit("default"))
        said = [name for name in _RUN_COLUMNS if name in log.columns]
        first = {
            name: pl.col(name).max() if name == "loaded_at" else pl.col(name).drop_nulls().min()
            for name in said
        }
        named = (
            log.with_columns(pl.col("suite").fill_null("default"))
            .group_by("run_id", "suite")
            .agg(**first)
        )
        return counted.join(named, on=["run_id", "suite"])

    @cached_property
    def counts(self) -> pl.DataFrame:
        """Tasks with their n, c and excluded."""
        return task_counts(self.attempts, threshold=self.threshold)

    def _of(self, run_id: str, suite: str) -> pl.DataFrame:
        """Give the attempts of one run."""
        mine = pl.col("run_id") == run_id
        if "suite" in self.attempts.columns:
            mine &= pl.col("suite").fill_null("default") == suite
        return self.attempts.filter(mine)

    def metrics(self, run: Run, k: int, slice_name: str) -> dict[str, dict[str, Any]]:
        """Give the rows of ``passk_suite_metrics`` of a run at one k, by value of the slice."""
        key = ("metrics", run.run_id, run.suite, k, slice_name)
        if key not in self._cache:
            slices = () if slice_name == "all" else (slice_name,)
            table = suite_metrics(
                self._of(run.run_id, run.suite),
                ks=[k],
                on_short=self.on_short,
                ordered=False,
                slices=slices,
                confidence=self.confidence,
                threshold=self.threshold,
            ).filter(pl.col("slice_name") == slice_name)
            self._cache[key] = {row["slice_value"]: row for row in table.to_dicts()}
        found: dict[str, dict[str, Any]] = self._cache[key]
        return found

    def moves(
        self, run_id: str, suite: str, metric: str, k: int, slice_name: str, slice_value: str
    ) -> Moves:
        """Sum what the excluded attempts of a run could change, over its tasks with n >= k."""
        log = read_log(
            self._of(run_id, suite), self.threshold, None if slice_name == "all" else slice_name
        )
        if slice_name != "all":
            log = log.filter(pl.col("slice_value") == slice_value)
        passed = pl.col("passed")
        states = (
            log.group_by("task_id")
            .agg(n=passed.count(), c=passed.sum(), x=passed.null_count())
            .filter(pl.col("x") > 0, pl.col("n") >= k)
            .select(pl.all().cast(pl.Int64, strict=False))
            .collect()
        )
        estimate = est.pass_hat_k if metric == "pass_hat_k" else est.pass_at_k
        more = states.with_columns(m=pl.col("n") + pl.col("x"), d=pl.col("c") + pl.col("x"))
        sums = more.select(
            pl.col("x").sum(),
            loss=(estimate("n", "c", k) - estimate("m", "c", k)).sum(),
            gain=(estimate("m", "d", k) - estimate("n", "c", k)).sum(),
        ).row(0)
        return Moves(*sums)

    def baselines(self, run: Run, named: str | None) -> list[str]:
        """Name the runs that a run is compared with."""
        if named is not None:
            return [] if named == run.run_id else [named]
        if self.pairs is None:
            return [] if run.previous is None else [run.previous]
        return [
            baseline
            for baseline, candidate, suite in self.pairs
            if candidate == run.run_id and suite in (None, run.suite)
        ]

    def has(self, run_id: str, suite: str) -> bool:
        """Say whether there is such a run."""
        return any((run.run_id, run.suite) == (run_id, suite) for run in self.runs)

    def comparison(self, run: Run, baseline: str, metric: str, k: int) -> dict[str, Any]:
        """Give the row of ``passk_comparisons`` of a pair."""
        if not self.has(baseline, run.suite):
            return {"null_reason": "the suite has no attempt of the baseline", "common_tasks": 0}
        table = compare(
            self.attempts,
            baseline,
            run.run_id,
            ks=[k],
            suite=run.suite,
            confidence=self.confidence,
            on_short=self.on_short,
            threshold=self.threshold,
        )
        return table.filter(pl.col("metric") == metric).row(0, named=True)

    def moved_tasks(self, run: Run, baseline: str) -> pl.DataFrame | None:
        """Give the rows of ``passk_task_comparisons`` of a pair; None without a baseline."""
        if not self.has(baseline, run.suite):
            return None
        return compare_tasks(
            self.attempts,
            baseline,
            run.run_id,
            suite=run.suite,
            confidence=self.confidence,
            threshold=self.threshold,
        )

    def tails(self, run: Run, p: float) -> list[TaskTails]:
        """Say of each task how sure it is to pass an attempt with chance p, and how sure not to."""
        mine = (pl.col("run_id") == run.run_id) & (pl.col("suite") == run.suite)
        rows = self.counts.filter(mine).select("task_id", "n", "c").rows()
        known = {state: _tails(*state, p) for state in {(n, c) for _, n, c in rows}}
        return [TaskTails(task, n, c, *known[n, c]) for task, n, c in rows]

    def share(self, run: Run, metric: str) -> tuple[int | None, int | None]:
        """Give the part and the whole of a share of a run's attempts; None if it is not known."""
        share = SHARES[metric]
        whole = [run.told.get(name) for name in share.whole]
        part = run.told.get(share.part)
        if part is None or None in whole:
            return None, None
        return int(part), sum(int(one) for one in whole if one is not None)

    def diagnostics(self, run: Run) -> dict[str, dict[str, Any]]:
        """Give the rows of ``passk_diagnostics`` of a run, by diagnostic."""
        key = ("diagnostics", run.run_id, run.suite)
        if key not in self._cache:
            table = diagnose(
                self._of(run.run_id, run.suite),
                k=self.deployment_k,
                confidence=self.confidence,
                threshold=self.threshold,
            )
            self._cache[key] = {row["diagnostic"]: row for row in table.to_dicts()}
        found: dict[str, dict[str, Any]] = self._cache[key]
        return found
