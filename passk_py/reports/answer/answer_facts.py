"""What the public tables say of each run, as the answer needs it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from passk_py.common.words import TASK_CLASSES, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from passk_py.warehouse.catalog import Filters
    from passk_py.warehouse.tables import Tables

__all__ = ["Change", "Run", "Suite", "read_suites"]


@dataclass(frozen=True, slots=True)
class Run:
    """One run and its numbers.

    Parameters
    ----------
    run_id, suite, agent, agent_version, model
        Who was measured on what.
    tasks, attempts, excluded, rejected
        How much was measured.
    classes
        How many tasks are consistent, flaky, incapable and unknown.
    pass_at_k, pass_hat_k
        The suite's values by k; None where they can't be known.
    pass_at_k_limits, pass_hat_k_limits
        The intervals of those values, for tasks like these, by k; only where there is a value.
    null_reasons
        Why there is no value, by k.
    reading
        What the two values at the deployment k mean.
    task_set
        Equal for runs that have tried the same tasks.
    since
        When the run started or, if the log does not say it, when it landed.
    warnings
        What is odd about the run.
    left_out
        How many tasks with n < k the values leave out, by k; only where they leave any out.
    """

    run_id: str
    suite: str
    agent: str | None
    agent_version: str | None
    model: str | None
    tasks: int
    attempts: int
    excluded: int
    rejected: int
    classes: dict[str, int]
    pass_at_k: dict[int, float | None]
    pass_hat_k: dict[int, float | None]
    pass_at_k_limits: dict[int, tuple[float, float]]
    pass_hat_k_limits: dict[int, tuple[float, float]]
    null_reasons: dict[int, str]
    reading: str | None
    task_set: tuple[int, int]
    since: datetime | None
    warnings: str | None
    left_out: dict[int, int] = field(default_factory=dict)

    @property
    def agent_label(self) -> str | None:
        """Agent and version, if the log says them."""
        return " ".join(part for part in (self.agent, self.agent_version) if part) or None

    @property
    def newness(self) -> tuple[bool, str]:
        """Sorts after that of an older run; a run of unknown time is the oldest."""
        return (self.since is not None, self.since.isoformat() if self.since else "")

    @property
    def label(self) -> str:
        """What to call the run in a sentence: the agent, and the run where that says more."""
        agent = self.agent_label
        if agent is None:
            return self.run_id
        if _letters(agent) == _letters(self.run_id):
            return agent
        return f"{agent} (run {self.run_id})"

    def called(self, width: int) -> str:
        """Give the label in so many cells: of agent and run, each is cut in its middle.

        Parameters
        ----------
        width
            Cells of the terminal.
        """
        whole, agent = self.label, self.agent_label
        if agent is None or whole == agent or len(whole) <= width:
            return shortened(whole, width)
        room = width - len(" (run )")
        of_agent = min(len(agent), max(room - len(self.run_id), room // 2))
        return f"{shortened(agent, of_agent)} (run {shortened(self.run_id, room - of_agent)})"


@dataclass(frozen=True, slots=True)
class Change:
    """A fall of pass^k beyond chance, as ``passk_comparisons`` has it.

    Parameters
    ----------
    baseline, candidate
        The two runs.
    k
        At which k.
    at_1
        pass@1 of both on the same tasks; None where k = 1 is not in the grid.
    hat_k
        pass^k of both.
    limits
        The interval of the difference for these tasks.
    is_hidden
        Whether pass@1 did not fall.
    """

    baseline: str
    candidate: str
    k: int
    at_1: tuple[float, float] | None
    hat_k: tuple[float, float]
    limits: tuple[float, float]
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite and its runs.

    Parameters
    ----------
    name
        The suite.
    runs
        Its runs: those of one agent together, in the order of time.
    ks
        The grid of k.
    changes
        The falls of pass^k that ``passk_comparisons`` has.
    """

    name: str
    runs: tuple[Run, ...]
    ks: tuple[int, ...]
    changes: tuple[Change, ...] = ()
    groups: tuple[tuple[Run, ...], ...] = field(init=False)
    """The runs that can be compared: those of the same tasks, the largest group first."""

    def __post_init__(self) -> None:
        groups: dict[tuple[int, int], list[Run]] = {}
        for run in self.runs:
            groups.setdefault(run.task_set, []).append(run)
        ordered = sorted(groups.values(), key=len, reverse=True)
        object.__setattr__(self, "groups", tuple(tuple(group) for group in ordered))


def read_suites(tables: Tables, filters: Filters | None, deployment_k: int) -> tuple[Suite, ...]:
    """Read the runs of every suite.

    Parameters
    ----------
    tables
        The open database.
    filters
        Which runs and suites; by default all.
    deployment_k
        The k whose reading is asked for.

    Returns
    -------
    tuple of Suite
        In the order of their names.
    """
    from passk_py.warehouse.catalog import Filters, public_table

    chosen = filters or Filters()
    where = Filters(chosen.runs, chosen.suites).where(public_table("passk_runs"))
    metrics = _metrics(tables, where)
    classes = _classes(tables, where)
    changes = _changes(tables)
    found: dict[str, list[Run]] = {}
    for row in tables.records(
        "select run_id, suite, agent, agent_version, model, tasks, attempts, excluded, rejected, "
        "coalesce(started_at, loaded_at) as since, warnings "
        f"from {tables.require('passk_runs')} where {where}"
    ):
        key = (row["run_id"], row["suite"])
        values = metrics.get(key, {})
        counted, task_set = classes.get(key, ({}, (0, 0)))
        run = Run(
            **row,
            classes=counted,
            task_set=task_set,
            pass_at_k={k: value["pass_at_k"] for k, value in values.items()},
            pass_hat_k={k: value["pass_hat_k"] for k, value in values.items()},
            pass_at_k_limits=_limits(values, "pass_at_k"),
            pass_hat_k_limits=_limits(values, "pass_hat_k"),
            null_reasons={
                k: value["null_reason"] for k, value in values.items() if value["null_reason"]
            },
            reading=values.get(deployment_k, {}).get("reading"),
            left_out={
                k: left
                for k, value in values.items()
                if value["pass_at_k"] is not None
                and (left := value["total_tasks"] - value["eligible_tasks"])
            },
        )
        found.setdefault(run.suite, []).append(run)
    return tuple(
        Suite(
            name,
            tuple(sorted(runs, key=_place)),
            tuple(sorted({k for run in runs for k in run.pass_at_k})),
            tuple(changes.get(name, ())),
        )
        for name, runs in sorted(found.items())
    )


_Key = tuple[str, str]


def _changes(tables: Tables) -> dict[str, list[Change]]:
    """Read the falls of pass^k beyond chance, by suite."""
    found: dict[str, list[Change]] = {}
    table = tables.find("passk_comparisons")
    if table is None:
        # A published copy may be without it.
        return found
    for row in tables.records(
        "select fell.suite, fell.baseline_run_id, fell.candidate_run_id, fell.k, "
        "fell.baseline, fell.candidate, fell.difference_suite_lower, fell.difference_suite_upper, "
        "fell.hidden_regression, single.baseline as before, single.candidate as after "
        f"from {table} as fell left join {table} as single "
        "on fell.suite = single.suite and fell.baseline_run_id = single.baseline_run_id "
        "and fell.candidate_run_id = single.candidate_run_id "
        "and single.metric = 'pass_hat_k' and single.k = 1 "
        "where fell.metric = 'pass_hat_k' and fell.verdict = 'regression'"
    ):
        found.setdefault(row["suite"], []).append(
            Change(
                row["baseline_run_id"],
                row["candidate_run_id"],
                row["k"],
                None if row["before"] is None else (row["before"], row["after"]),
                (row["baseline"], row["candidate"]),
                (row["difference_suite_lower"], row["difference_suite_upper"]),
                row["hidden_regression"],
            )
        )
    return found


def _limits(values: dict[int, dict[str, Any]], metric: str) -> dict[int, tuple[float, float]]:
    return {
        k: (value[f"{metric}_lower"], value[f"{metric}_upper"])
        for k, value in values.items()
        if value[metric] is not None
    }


def _metrics(tables: Tables, where: str) -> dict[_Key, dict[int, dict[str, Any]]]:
    found: dict[_Key, dict[int, dict[str, Any]]] = {}
    for row in tables.records(
        "select run_id, suite, k, eligible_tasks, total_tasks, "
        "pass_at_k, pass_at_k_lower, pass_at_k_upper, "
        "pass_hat_k, pass_hat_k_lower, pass_hat_k_upper, null_reason, reading "
        f"from {tables.require('passk_suite_metrics')} "
        f"where slice_name = 'all' and slice_value = 'all' and {where} order by k"
    ):
        found.setdefault((row["run_id"], row["suite"]), {})[row["k"]] = row
    return found


def _classes(tables: Tables, where: str) -> dict[_Key, tuple[dict[str, int], tuple[int, int]]]:
    """Count the classes, and tell runs of the same tasks by the sum of what is hashed of them."""
    counted = ", ".join(f"count(*) filter (task_class = '{kind}')" for kind in TASK_CLASSES)
    return {
        (run_id, suite): (dict(zip(TASK_CLASSES, counts, strict=True)), (tasks, digest))
        for run_id, suite, tasks, digest, *counts in tables.rows(
            f"select run_id, suite, count(*), bit_xor(hash(task_id)), {counted} "
            f"from {tables.require('passk_tasks')} where {where} group by run_id, suite"
        )
    }


def _letters(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())


def _place(run: Run) -> tuple[Any, ...]:
    """Sort by agent, then time; runs without an agent come last."""
    return (run.agent is None, run.agent or "", *_time(run), run.run_id)


def _time(run: Run) -> Iterable[Any]:
    return (run.since is None, run.since.isoformat() if run.since else "", run.agent_version or "")
