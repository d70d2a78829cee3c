"""The facts of the answer: rows of the public tables about each run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import shortened
from passk_py.reports.cost_words import cost_sentences
from passk_py.reports.grader_words import grader_sentences, judge_sentences
from passk_py.reports.length_words import horizon_sentences
from passk_py.reports.loss_words import loss_sentences
from passk_py.reports.queries.chosen import Chosen
from passk_py.reports.queries.comparison_queries import falls
from passk_py.reports.queries.cost_queries import cost_changes, costs, frontier
from passk_py.reports.queries.grader_queries import corrected_at, graders, judges
from passk_py.reports.queries.length_queries import horizons_at
from passk_py.reports.queries.loss_queries import lost_by_cause
from passk_py.reports.queries.run_queries import related_runs, values_over_k
from passk_py.reports.queries.task_queries import TaskCounts, task_counts
from passk_py.reports.queries.threshold_queries import at_thresholds
from passk_py.reports.queries.trend_queries import trends_at
from passk_py.reports.threshold_words import threshold_sentences
from passk_py.reports.trend_words import trend_sentences

if TYPE_CHECKING:
    from datetime import datetime

    from passk_py.reports.queries.chosen import Row
    from passk_py.warehouse.catalog import Filters
    from passk_py.warehouse.tables import Tables


@dataclass(frozen=True, slots=True)
class Run:
    """One run and its numbers."""

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
    """How many tasks are consistent, flaky, incapable and unknown."""
    pass_at_k: dict[int, float | None]
    """The suite's values by k; None where they can't be known."""
    pass_hat_k: dict[int, float | None]
    pass_at_k_limits: dict[int, tuple[float, float]]
    """The intervals of those values, for tasks like these, by k; only where there is a value."""
    pass_hat_k_limits: dict[int, tuple[float, float]]
    null_reasons: dict[int, str]
    reading: str | None
    """The two values at the deployment k in words."""
    task_set: tuple[int, int]
    """Equal for runs that have tried the same tasks."""
    since: datetime | None
    """When the run started or, if the log does not say it, when it landed."""
    warnings: str | None
    left_out: dict[int, int] = field(default_factory=dict)
    """How many tasks with n < k the values leave out, by k; only where they leave any out."""
    families: int | None = None
    """How many families its tasks form; None where no tasks are related."""
    effective_families: dict[int, float] = field(default_factory=dict)
    """How many families of equal size would say as much, by k; only where there are families."""
    is_related: bool = False
    """Whether its tasks seem to form families for which the limits do not allow."""

    @property
    def agent_label(self) -> str | None:
        """Agent and version, if the log says them."""
        return " ".join(part for part in (self.agent, self.agent_version) if part) or None

    @property
    def newness(self) -> tuple[bool, str]:
        """A key that sorts newer runs after older ones; a run of unknown time is the oldest."""
        return (self.since is not None, self.since.isoformat() if self.since else "")

    @property
    def label(self) -> str:
        """Name the run in a sentence: the agent, and the run where that says more."""
        agent = self.agent_label
        if agent is None:
            return self.run_id
        if _letters(agent) == _letters(self.run_id):
            return agent
        return f"{agent} (run {self.run_id})"

    def called(self, width: int) -> str:
        """Shorten the label to a width in cells: agent and run are each cut in the middle."""
        whole, agent = self.label, self.agent_label
        if agent is None or whole == agent or len(whole) <= width:
            return shortened(whole, width)
        room = width - len(" (run )")
        of_agent = min(len(agent), max(room - len(self.run_id), room // 2))
        return f"{shortened(agent, of_agent)} (run {shortened(self.run_id, room - of_agent)})"


@dataclass(frozen=True, slots=True)
class Change:
    """A fall of pass^k beyond chance, as ``passk_comparisons`` has it."""

    baseline: str
    candidate: str
    k: int
    at_1: tuple[float, float] | None
    """pass@1 of both on the same tasks; None where k = 1 is not in the grid."""
    hat_k: tuple[float, float]
    limits: tuple[float, float]
    """The interval of the difference for these tasks."""
    is_hidden: bool
    """Whether pass@1 did not fall."""


MOST_RUNS: Final = 40
"""How many runs of a suite the answer lists and the report shows: the latest."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite and its runs."""

    name: str
    runs: tuple[Run, ...]
    """Runs of one agent are together, in the order of time."""
    ks: tuple[int, ...]
    changes: tuple[Change, ...] = ()
    grader: tuple[str, ...] = ()
    """How often its grader errs, pass^k without it, and how far judges agree, in sentences."""
    trends: tuple[str, ...] = ()
    """How pass^k of its agents rises or falls from run to run, in sentences; none without one."""
    costs: tuple[str, ...] = ()
    """The costs of its runs, in sentences; none where no attempt says it."""
    losses: tuple[str, ...] = ()
    """The causes of its failures, in sentences; none where it is one's alone."""
    horizons: tuple[str, ...] = ()
    """How long tasks may be, in sentences; none where they have no length."""
    thresholds: tuple[str, ...] = ()
    """pass^k by the score that passes, in sentences; none where no thresholds are asked for."""
    groups: tuple[tuple[Run, ...], ...] = field(init=False)
    """The runs that can be compared: those of the same tasks, the largest group first."""

    def __post_init__(self) -> None:
        groups: dict[tuple[int, int], list[Run]] = {}
        for run in self.runs:
            groups.setdefault(run.task_set, []).append(run)
        ordered = sorted(groups.values(), key=len, reverse=True)
        object.__setattr__(self, "groups", tuple(tuple(group) for group in ordered))

    @property
    def families(self) -> int | None:
        """How many families its tasks form; None where none are declared, or runs differ."""
        counts = {run.families for run in self.runs}
        return next(iter(counts)) if len(counts) == 1 else None


_TOLD: Final = (
    "run_id", "suite", "agent", "agent_version", "model", "tasks", "attempts", "excluded",
    "rejected", "warnings",
)  # fmt: skip
"""The columns of ``passk_runs`` that :class:`Run` takes over unchanged."""


def read_suites(tables: Tables, filters: Filters | None, deployment_k: int) -> tuple[Suite, ...]:
    """Read the runs of every suite, in the order of the suites' names."""
    chosen = Chosen(tables, filters.runs, filters.suites) if filters else Chosen(tables)
    curves, related = values_over_k(chosen), related_runs(tables)
    tasks = task_counts(chosen)
    rates = graders(chosen)
    corrected = corrected_at(chosen, deployment_k) if rates else {}
    judged = judges(chosen)
    trends = trends_at(chosen, deployment_k)
    spent = {name: _of_suites(rows) for name, rows in _costs(chosen, deployment_k).items()}
    lost = lost_by_cause(chosen, deployment_k)
    lengths = horizons_at(chosen, [deployment_k])
    graded = at_thresholds(chosen, deployment_k)
    changes: dict[str, list[Change]] = {}
    for row in falls(tables):
        changes.setdefault(row["suite"], []).append(_change(row))
    found: dict[str, list[Run]] = {}
    for row in chosen.rows("passk_runs", (*_TOLD, "started_at", "loaded_at")):
        key = (row["run_id"], row["suite"])
        counts = tasks.get(key, TaskCounts({}))
        run = _run(row, curves.get(key, {}), counts, deployment_k, is_related=key in related)
        found.setdefault(run.suite, []).append(run)
    return tuple(
        Suite(
            name,
            tuple(sorted(runs, key=_place)),
            tuple(sorted({k for run in runs for k in run.pass_at_k})),
            tuple(changes.get(name, ())),
            (
                *_of_grader(rates.get(name), corrected.get(name, []), runs),
                *judge_sentences(judged.get(name, [])),
            ),
            tuple(trend_sentences(trends.get(name, []))),
            tuple(
                _of_costs(
                    {what: of.get(name, []) for what, of in spent.items()}, runs, deployment_k
                )
            ),
            tuple(_of_losses(lost, runs)),
            tuple(_of_lengths(lengths, runs)),
            tuple(
                threshold_sentences(
                    [graded.get((run.run_id, run.suite), []) for run in _by_newness(runs)]
                )
            ),
        )
        for name, runs in sorted(found.items())
    )


def _of_grader(grader: Row | None, corrected: list[Row], runs: list[Run]) -> list[str]:
    """Write the sentences about the grader, with the latest runs last."""
    newness = {run.run_id: (run.newness, run.run_id) for run in runs}
    return grader_sentences(grader, sorted(corrected, key=lambda row: newness[row["run_id"]]))


def _costs(chosen: Chosen, k: int) -> dict[str, list[Row]]:
    """Read what runs cost, as sentences about them need it."""
    found = costs(chosen)
    if not found:
        return {}
    return {
        "costs": found,
        "changes": cost_changes(chosen, k),
        "frontier": frontier(chosen, k),
    }


def _of_suites(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["suite"], []).append(row)
    return found


def _of_costs(spent: dict[str, list[Row]], runs: list[Run], k: int) -> list[str]:
    """Say what the runs of a suite cost."""
    if not spent:
        return []
    newness = {run.run_id: (run.newness, run.run_id) for run in runs}
    return cost_sentences(**spent, k=k, newness=newness.__getitem__)


def _of_losses(lost: dict[tuple[str, str], list[Row]], runs: list[Run]) -> list[str]:
    """Say of the latest runs whose doing their failures are."""
    found = [lost.get((run.run_id, run.suite), []) for run in _by_newness(runs)]
    return loss_sentences(found, of_several=len(runs) > 1)


def _of_lengths(lengths: dict[tuple[str, str], list[Row]], runs: list[Run]) -> list[str]:
    """Say of the latest runs how long tasks may be."""
    found = [row for run in _by_newness(runs) for row in lengths.get((run.run_id, run.suite), [])]
    return horizon_sentences(found)


def _by_newness(runs: list[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: (run.newness, run.run_id))


def _run(
    row: Row, curve: dict[int, Row], tasks: TaskCounts, deployment_k: int, *, is_related: bool
) -> Run:
    return Run(
        **{name: row[name] for name in _TOLD},
        since=row["loaded_at"] if row["started_at"] is None else row["started_at"],
        classes=tasks.classes,
        task_set=tasks.task_set,
        pass_at_k={k: point["pass_at_k"] for k, point in curve.items()},
        pass_hat_k={k: point["pass_hat_k"] for k, point in curve.items()},
        pass_at_k_limits=_limits(curve, "pass_at_k"),
        pass_hat_k_limits=_limits(curve, "pass_hat_k"),
        null_reasons={
            k: point["null_reason"] for k, point in curve.items() if point["null_reason"]
        },
        reading=curve.get(deployment_k, {}).get("reading"),
        left_out={
            k: left
            for k, point in curve.items()
            if point["pass_at_k"] is not None
            and (left := point["total_tasks"] - point["eligible_tasks"])
        },
        is_related=is_related,
        families=max((one["families"] for one in curve.values() if one["families"]), default=None),
        effective_families={
            k: point["effective_families"]
            for k, point in curve.items()
            if point["effective_families"] is not None
        },
    )


def _limits(curve: dict[int, Row], metric: str) -> dict[int, tuple[float, float]]:
    return {
        k: (point[f"{metric}_lower"], point[f"{metric}_upper"])
        for k, point in curve.items()
        if point[metric] is not None
    }


def _change(row: Row) -> Change:
    at_1 = (row["baseline_at_1"], row["candidate_at_1"])
    return Change(
        row["baseline_run_id"],
        row["candidate_run_id"],
        row["k"],
        None if at_1[0] is None else at_1,
        (row["baseline"], row["candidate"]),
        (row["difference_suite_lower"], row["difference_suite_upper"]),
        row["hidden_regression"],
    )


def _letters(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())


def _place(run: Run) -> tuple[Any, ...]:
    """Sort by agent, then time; runs without an agent come last."""
    is_timed, time = run.newness
    return (
        run.agent is None,
        run.agent or "",
        not is_timed,
        time,
        run.agent_version or "",
        run.run_id,
    )
