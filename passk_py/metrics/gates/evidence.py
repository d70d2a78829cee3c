"""The evidence of gates: the numbers of a log, each computed once when a rule asks for it."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.metrics.averaged_m_of_k import m_of_k_metrics, task_score
from passk_py.metrics.comparisons.compared_runs import comparison_rows
from passk_py.metrics.comparisons.compared_tasks import task_comparisons
from passk_py.metrics.comparisons.run_pairs import Pair, pair_of
from passk_py.metrics.diagnostics import diagnose
from passk_py.metrics.frames import suite_metrics
from passk_py.metrics.frames.counting import TASK, ordered_tasks
from passk_py.metrics.gates.cost_evidence import CostEvidence
from passk_py.metrics.gates.first_attempts import first_passes
from passk_py.metrics.gates.rule_schema import SHARES
from passk_py.metrics.logs import read_log, said_of_runs, suite_of
from passk_py.metrics.run_order import Run, runs_in_order
from passk_py.metrics.states import score
from passk_py.stats.distributions import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from passk_py.metrics.gates.first_attempts import FirstPasses
    from passk_py.metrics.gates.rules import Rule

_RUN_COLUMNS = ("agent", "agent_version", "model", "started_at", "loaded_at")

Rows = dict[str, dict[str, Any]]
"""Rows of one run, by what tells them apart."""
Counted = dict[str, tuple[int, int, int]]
"""The n, c and excluded attempts of tasks, by their ids."""


def score_of(metric: str, n: int, c: int, k: int) -> float:
    """Give what a task scores, by the metric of a rule."""
    if metric in ("pass_at_k", "pass_hat_k"):
        return score(metric, n, c, k)
    return task_score(int(metric.split("_")[1]), k, n, c)


class Moves(NamedTuple):
    """How a sum of a metric over tasks would change, had the excluded attempts counted."""

    excluded: int
    if_failed: float
    if_passed: float


class TaskTails(NamedTuple):
    """How sure a task is to reach a chance, and how sure it is not to."""

    task_id: str
    n: int
    c: int
    at_least: float
    at_most: float


def _is_after(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether one was loaded after the other; not if either time is unknown."""
    later, earlier = one.get("loaded_at"), other.get("loaded_at")
    return later is not None and earlier is not None and later > earlier


def _by_run(table: pl.DataFrame, column: str) -> dict[tuple[str, str], Rows]:
    """Give the rows of each run, by the value of a column."""
    found: dict[tuple[str, str], Rows] = defaultdict(dict)
    for row in table.to_dicts():
        found[row["run_id"], row["suite"]][row[column]] = row
    return found


_MOST_SUMMED: Final = 99_999
"""The most attempts of a task whose tails are summed, as in SQL."""


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _tail(n: int, counts: range, p: float) -> float:
    """Give the chance that as many of n attempts pass as one of the counts, each with chance p."""
    if n > _MOST_SUMMED:
        return 1.0
    return math.fsum(
        math.exp(_log_choose(n, c) + c * math.log(p) + (n - c) * math.log1p(-p)) for c in counts
    )


@dataclass
class Evidence:
    """A log of attempts, and how it is to be read."""

    attempts: pl.DataFrame
    told: pl.DataFrame | None
    """Rows of ``passk_runs``; None to make do with what the attempts say."""
    unusable: pl.DataFrame | None
    """Runs of which every row was rejected."""
    pairs: Sequence[tuple[str, str, str | None]] | None
    """(baseline, candidate, suite or None for all); None for each run with the one before it."""
    confidence: float
    min_eligible_share: float
    cluster: str | None
    """The column or tag with the family of a task; None where no tasks are related."""
    threshold: float
    deployment_k: int
    ordered: bool
    _metrics: dict[tuple[int, str], dict[tuple[str, str], Rows]] = field(default_factory=dict)
    _chances: dict[tuple[int, int, str], dict[tuple[str, str], Rows]] = field(default_factory=dict)
    _counted: dict[str, dict[tuple[str, str, str], Counted]] = field(default_factory=dict)
    _first_passes: dict[int, dict[tuple[str, str], FirstPasses]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.attempts = self.attempts.with_columns(suite_of(self.attempts.columns))

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
        told = self.told
        if told is None:
            said = said_of_runs(self.attempts.lazy(), _RUN_COLUMNS).collect()
            told = counted.join(said, on=["run_id", "suite"])
        rows = told.join(counted.select("run_id", "suite"), on=["run_id", "suite"]).to_dicts()
        found = [
            # One that came later and has nothing to judge must not let an older one pass.
            replace(run, is_latest=run.is_latest and not self._lost_after(run))
            for run in runs_in_order(rows)
        ]
        return sorted(found, key=lambda run: (run.suite, run.run_id))

    def _lost_after(self, run: Run) -> bool:
        return any(
            lost["suite"] == run.suite and lost["agent"] == run.agent and _is_after(lost, run.told)
            for lost in self._lost
        )

    @cached_property
    def _lost(self) -> list[dict[str, Any]]:
        return [] if self.unusable is None else self.unusable.to_dicts()

    @cached_property
    def unusable_runs(self) -> list[Run]:
        """Runs that have nothing to judge; of one without an agent it is not known whose it is."""
        return [
            Run(
                lost["run_id"],
                lost["suite"],
                lost,
                None,
                not any(
                    run.suite == lost["suite"]
                    and lost["agent"] in (None, run.agent)
                    and _is_after(run.told, lost)
                    for run in self.runs
                ),
            )
            for lost in self._lost
        ]

    @cached_property
    def counts(self) -> pl.DataFrame:
        """Tasks with their n, c and excluded."""
        log = read_log(self.attempts, self.threshold, cluster=self.cluster)
        return ordered_tasks(log, TASK, ()).collect()

    @cached_property
    def _tasks(self) -> dict[tuple[Any, ...], pl.DataFrame]:
        """The counts run by run, of the tasks that can be counted."""
        counts = self.counts.filter(pl.col("n").is_not_null())
        return counts.partition_by("run_id", "suite", as_dict=True)

    def _tasks_of(self, run_id: str, suite: str) -> pl.DataFrame:
        return self._tasks.get((run_id, suite), self.counts.clear())

    def _pair(self, run: Run, baseline: str) -> Pair:
        """Put a run and its baseline side by side."""
        two = [self._tasks_of(run_id, run.suite) for run_id in (run.run_id, baseline)]
        return pair_of(run.suite, baseline, run.run_id, pl.concat(two))

    def counted(self, run_id: str, suite: str) -> dict[str, tuple[int, int]]:
        """Give the n and c of the tasks of a run."""
        tasks = self._tasks_of(run_id, suite).select("task_id", "n", "c")
        return {task: (n, c) for task, n, c in tasks.iter_rows()}

    def before(self, run: Run) -> Iterator[str]:
        """Name the runs of a run's suite and agent that came before it, the latest first."""
        previous = {
            one.run_id: one.previous
            for one in self.runs
            if (one.suite, one.agent) == (run.suite, run.agent)
        }
        while (earlier := previous[run.run_id]) is not None:
            yield earlier
            run = replace(run, run_id=earlier)

    @property
    def z(self) -> float:
        """How many standard deviations an interval reaches."""
        return normal_quantile(self.confidence)

    def metrics(self, run: Run, k: int, slice_name: str) -> Rows:
        """Give the rows of ``passk_suite_metrics`` of a run at one k, by value of the slice."""
        if (k, slice_name) not in self._metrics:
            # All runs at once: one run costs as much, as long as runs are small.
            table = suite_metrics(
                self.attempts,
                ks=[k],
                min_eligible_share=self.min_eligible_share,
                ordered=False,
                slices=() if slice_name == "all" else (slice_name,),
                cluster=self.cluster,
                confidence=self.confidence,
                threshold=self.threshold,
            ).filter(pl.col("slice_name") == slice_name)
            self._metrics[k, slice_name] = _by_run(table, "slice_value")
        return self._metrics[k, slice_name].get((run.run_id, run.suite), {})

    def chances(self, run: Run, rule: Rule) -> Rows:
        """Give the rows of ``passk_m_of_k`` of a run, by value of the slice, with those columns."""
        m, k, of = rule.m, rule.k, rule.slice_name
        if (m, k, of) not in self._chances:
            table = m_of_k_metrics(
                self.attempts,
                [(m, k)],
                min_eligible_share=self.min_eligible_share,
                slices=() if of == "all" else (of,),
                cluster=self.cluster,
                confidence=self.confidence,
                threshold=self.threshold,
            ).filter(pl.col("metric") == "pass_m_of_k", pl.col("slice_name") == of)
            names = {"estimate": rule.metric} | {
                end: f"{rule.metric}_{end}"
                for end in ("lower", "upper", "suite_lower", "suite_upper")
            }
            self._chances[m, k, of] = _by_run(table.rename(names), "slice_value")
        return self._chances[m, k, of].get((run.run_id, run.suite), {})

    def _with_excluded(self, run_id: str, suite: str, slice_name: str, value: str) -> Counted:
        """Count the attempts of tasks, with those that are excluded, in a value of a slice."""
        if slice_name not in self._counted:
            # All runs at once, as above.
            found: dict[tuple[str, str, str], Counted] = defaultdict(dict)
            name = None if slice_name == "all" else slice_name
            log = read_log(self.attempts, self.threshold, name)
            if name is None:
                log = log.with_columns(slice_value=pl.lit("all"))
            passed = pl.col("passed")
            counted = log.group_by("run_id", "suite", "slice_value", "task_id").agg(
                n=passed.count().cast(pl.Int64),
                c=passed.sum().cast(pl.Int64),
                x=passed.null_count().cast(pl.Int64),
            )
            for run, of, there, task, *counts in counted.sort("task_id").collect().iter_rows():
                found[run, of, there][task] = tuple(counts)
            self._counted[slice_name] = found
        return self._counted[slice_name].get((run_id, suite, value), {})

    def first_passes(self, attempts: int) -> Mapping[tuple[str, str], FirstPasses]:
        """Count the tasks of each run by the passes in their first attempts."""
        if attempts not in self._first_passes:
            self._first_passes[attempts] = first_passes(self.attempts, self.threshold, attempts)
        return self._first_passes[attempts]

    def moves(
        self,
        run_id: str,
        suite: str,
        metric: str,
        k: int,
        slice_name: str,
        slice_value: str,
        *,
        other: str | None = None,
    ) -> Moves:
        """Sum what the excluded attempts of a run could change; for a pair, on its common tasks."""
        tasks = self._with_excluded(run_id, suite, slice_name, slice_value)
        # The limits allow any value for tasks with n < k already.
        unsure = {task: counts for task, counts in tasks.items() if counts[0] >= k and counts[2]}
        if other is not None:
            there = self._with_excluded(other, suite, "all", "all")
            unsure = {
                task: counts
                for task, counts in unsure.items()
                if task in there and there[task][0] >= k
            }
        found = list(unsure.values())
        return Moves(
            sum(x for _, _, x in found),
            *(
                math.fsum(
                    score_of(metric, n + x, c + passed * x, k) - score_of(metric, n, c, k)
                    for n, c, x in found
                )
                for passed in (0, 1)
            ),
        )

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

    @cached_property
    def costs(self) -> CostEvidence:
        """The costs of attempts, for the rules on them."""
        return CostEvidence(
            self.attempts, self.confidence, self.min_eligible_share, self.cluster, self.threshold
        )

    @cached_property
    def _known(self) -> set[tuple[str, str]]:
        return {(run.run_id, run.suite) for run in self.runs}

    def comparison(self, run: Run, baseline: str, metric: str, k: int) -> dict[str, Any]:
        """Give the row of ``passk_comparisons`` of a pair."""
        if (baseline, run.suite) not in self._known:
            return {"null_reason": "the suite has no attempt of the baseline", "common_tasks": 0}
        return comparison_rows(
            self._pair(run, baseline),
            [k],
            confidence=self.confidence,
            minimum_change=0.0,
            min_eligible_share=self.min_eligible_share,
            metrics=[metric],
        )[0]

    def moved_tasks(self, run: Run, baseline: str) -> pl.DataFrame | None:
        """Give the rows of ``passk_task_comparisons`` of a pair; None without a baseline."""
        if (baseline, run.suite) not in self._known:
            return None
        return task_comparisons(self._pair(run, baseline), confidence=self.confidence)

    def tails(self, run: Run, p: float) -> list[TaskTails]:
        """Say of each task how sure it is to pass with chance p, and how sure not to.

        Excluded attempts count as failures in the first, and as passes in the second.
        """
        tasks = self._tasks_of(run.run_id, run.suite)
        rows = tasks.select("task_id", "n", "c", "excluded").rows()
        known = {
            (n, c, x): (_tail(n + x, range(c, n + x + 1), p), _tail(n + x, range(c + x + 1), p))
            for n, c, x in {(n, c, x) for _, n, c, x in rows}
        }
        return [TaskTails(task, n, c, *known[n, c, x]) for task, n, c, x in rows]

    def share(self, run: Run, metric: str) -> tuple[int | None, int | None, int]:
        """Give part and whole of a share, None if unknown, and how many may be of both or none."""
        share = SHARES[metric]
        whole = [run.told.get(name) for name in share.whole]
        part = run.told.get(share.part)
        if part is None or None in whole:
            return None, None, 0
        unsure = run.told.get(share.unsure) if share.unsure else None
        return int(part), sum(int(one) for one in whole if one is not None), int(unsure or 0)

    @cached_property
    def _diagnosed(self) -> dict[tuple[str, str], Rows]:
        attempts = self.attempts
        if self.told is not None and "loaded_at" in self.told.columns:
            # When a run came says which others its tests are corrected for.
            came = self.told.select("run_id", "suite", "loaded_at")
            attempts = attempts.drop("loaded_at", strict=False).join(
                came, on=["run_id", "suite"], how="left", maintain_order="left"
            )
        table = diagnose(
            attempts,
            k=self.deployment_k,
            ordered=self.ordered,
            cluster=self.cluster,
            confidence=self.confidence,
            threshold=self.threshold,
        )
        return _by_run(table, "diagnostic")

    def diagnostics(self, run: Run) -> Rows:
        """Give the rows of ``passk_diagnostics`` of a run, by diagnostic."""
        return self._diagnosed.get((run.run_id, run.suite), {})
