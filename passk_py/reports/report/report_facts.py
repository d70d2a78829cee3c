"""What a report shows of each suite: rows of the public tables, with what is called how."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

import duckdb

from passk_py.common.errors import PasskError
from passk_py.common.names import require_known
from passk_py.common.sql_text import quote
from passk_py.metrics.diagnostic_words import VERDICTS
from passk_py.metrics.run_order import in_order
from passk_py.reports.answer import find_answer
from passk_py.reports.answer.verdict_sentences import paragraphs
from passk_py.reports.queries.attempt_queries import excluded_reasons, outcome_letters
from passk_py.reports.queries.chosen import Chosen, with_text_times
from passk_py.reports.queries.comparison_queries import compared
from passk_py.reports.queries.run_queries import known_runs, values_over_k
from passk_py.reports.queries.task_queries import task_rows
from passk_py.reports.queries.task_ranking import (
    drop_ranking,
    first_tasks,
    pass_rates_by_bin,
    rank_tasks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.reports.answer import Answer, Suite
    from passk_py.reports.queries.chosen import Row
    from passk_py.warehouse.catalog import Filters
    from passk_py.warehouse.tables import Tables

SCHEMA_VERSION: Final = 1
"""Rises when a key of the facts goes, or comes to mean something else."""

_MOST_RUNS: Final = 40
"""How many runs of a suite are shown: the latest."""

MOST_TASKS: Final = 100
"""How many tasks are shown one by one: the first to mend. The heat map bins the others."""

_BINS: Final = 100
"""How many columns the heat map has."""

_MOST_OUTCOMES: Final = 60_000
"""How many attempts are shown one by one, so that the file stays small."""

_MOST_OUTCOMES_OF_A_TASK: Final = 200
"""Of one run and task: a line of more can't be read."""

_MEMORY: Final = "1200MB"
"""Of DuckDB, for tables of any size."""

_LONGEST_LABEL: Final = 72
"""Letters of agent and run in a sentence."""

_RUN: Final = (
    "run_id", "agent", "agent_version", "model", "tasks", "attempts", "n", "c", "excluded",
    "rejected", "expected_attempts", "missing_attempts", "min_n", "max_n", "warnings",
    "started_at", "loaded_at",
)  # fmt: skip
_COMPARISON: Final = (
    "baseline_run_id", "candidate_run_id", "pair_source", "metric", "k", "common_tasks",
    "baseline", "candidate", "difference", "difference_lower", "difference_upper",
    "difference_suite_lower", "difference_suite_upper", "p", "verdict", "hidden_regression",
    "null_reason", "meaning",
)  # fmt: skip
_GATE: Final = (
    "gate", "run_id", "baseline_run_id", "slice_name", "slice_value", "rule", "metric", "k",
    "scope", "threshold", "estimate", "estimate_lower", "estimate_upper", "result", "reason",
    "to_settle", "is_advisory",
)  # fmt: skip
_DIAGNOSTIC: Final = (
    "run_id", "diagnostic", "verdict", "p_adjusted", "finding", "meaning", "advice",
)  # fmt: skip


def gather(tables: Tables, filters: Filters | None = None) -> Row:
    """Collect what the public tables say of the suites, as ``docs/report.md`` describes it."""
    from passk_py.warehouse.freshness import stale
    from passk_py.warehouse.project import version
    from passk_py.warehouse.settings import read_settings

    with _little_memory(tables):
        settings = read_settings(tables)
        answer = find_answer(tables, filters)
        if not answer.suites:
            _refuse(tables, filters)
        return {
            "passk_report": SCHEMA_VERSION,
            "passk_version": version(),
            "deployment_k": settings.deployment_k,
            "confidence": settings.confidence,
            "capable_threshold": settings.capable_threshold,
            "consistent_threshold": settings.consistent_threshold,
            "stale": stale(tables),
            "rejected": answer.rejected,
            "suites": [_suite(tables, suite, answer) for suite in answer.suites],
        }


@contextmanager
def _little_memory(tables: Tables) -> Iterator[None]:
    """Keep DuckDB from holding all that it reads, which it does as long as there is room."""
    connection = tables.connection
    before = tables.rows(
        "select current_setting('memory_limit'), current_setting('temp_directory')"
    )[0]
    # The folder of the database may be one where nothing can be written.
    with tempfile.TemporaryDirectory(prefix="passk-") as folder:
        connection.execute(f"set memory_limit = {quote(_MEMORY)}")
        connection.execute(f"set temp_directory = {quote(folder)}")
        try:
            yield
        finally:
            drop_ranking(tables)
            for name, value in zip(("memory_limit", "temp_directory"), before, strict=True):
                with suppress(duckdb.Error):
                    connection.execute(f"set {name} = {quote(value)}")


def _refuse(tables: Tables, filters: Filters | None) -> NoReturn:
    """Raise an error that says which of the runs and suites that are asked for is not there."""
    known = known_runs(tables)
    if filters:
        require_known("run", filters.runs, sorted({run for run, _ in known}))
        require_known("suite", filters.suites, sorted({suite for _, suite in known}))
    raise PasskError(
        "There is no run to report on.", hint="Add one with `passk load FILE` and `passk build`."
    )


def _suite(tables: Tables, suite: Suite, answer: Answer) -> Row:
    rows = _runs(tables, suite)
    chosen = Chosen(tables, tuple(row["run_id"] for row in rows), (suite.name,))
    latest = {row["run_id"] for row in rows if row["is_latest"]}
    sure = {
        run.run_id
        for verdict in answer.verdicts[suite.name]
        if verdict.unattended.k == answer.deployment_k
        for run in verdict.unattended.sure
    }
    for row in rows:
        row["is_sure"] = row["run_id"] in sure
    return {
        "suite": suite.name,
        "ks": list(suite.ks),
        "runs": rows,
        "runs_left_out": len(suite.runs) - len(rows),
        "advice": [
            {"headline": said.headline, "sentences": list(said.sentences)}
            for verdict in answer.verdicts[suite.name]
            for said in paragraphs(verdict, answer)
        ],
        **_tasks(chosen),
        "comparisons": _comparisons(chosen, answer.deployment_k),
        "gates": chosen.rows("passk_gates", _GATE),
        "diagnostics": _diagnostics(chosen, latest),
    }


def _runs(tables: Tables, suite: Suite) -> list[Row]:
    """Read the latest runs: those of one agent together, in the order in which they were made."""
    known = {run.run_id: run for run in suite.runs}
    told = Chosen(tables, tuple(known), (suite.name,)).rows("passk_runs", _RUN)
    latest = in_order(told)[-_MOST_RUNS:]
    chosen = Chosen(tables, tuple(row["run_id"] for row in latest), (suite.name,))
    curves = values_over_k(chosen)
    reasons = excluded_reasons(chosen)
    return [
        {
            **row,
            "label": known[row["run_id"]].called(_LONGEST_LABEL),
            "classes": dict(known[row["run_id"]].classes),
            "curve": list(curves.get((row["run_id"], suite.name), {}).values()),
            "excluded_reasons": [
                {"reason": one["outcome_reason"], "attempts": one["attempts"]}
                for one in reasons.get(row["run_id"], [])
            ],
            "is_latest": row["run_id"] == line[-1]["run_id"] or row["agent"] is None,
        }
        for line in _lines(latest)
        for row in with_text_times(line)
    ]


def _lines(runs: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Put the runs of each agent in order; those without an agent come last."""
    lines: dict[str | None, list[Mapping[str, Any]]] = {}
    for run in runs:
        lines.setdefault(run["agent"], []).append(run)
    agents = sorted(lines, key=lambda agent: (agent is None, agent or ""))
    return [in_order(lines[agent]) for agent in agents]


def _tasks(chosen: Chosen) -> Row:
    """Read the tasks in the order in which to mend them, the first one by one and all in bins."""
    total = rank_tasks(chosen)
    shown = first_tasks(chosen.tables, MOST_TASKS)
    _add_runs(chosen, shown)
    bins = min(total, _BINS)
    heat = pass_rates_by_bin(chosen, bins, total) if bins else []
    return {"total_tasks": total, "tasks": shown, "heat": heat}


def _add_runs(chosen: Chosen, shown: list[Row]) -> None:
    """Give each task its counts by run and, as far as there is room, its attempts."""
    runs: dict[str, dict[str, Row]] = {task["task_id"]: {} for task in shown}
    for task in shown:
        task["runs"] = runs[task["task_id"]]
    for row in task_rows(chosen, runs) if runs else []:
        runs[row.pop("task_id")][row.pop("run_id")] = row
    room, detailed = _MOST_OUTCOMES, []
    for task in shown:
        room -= min(task["attempts"], _MOST_OUTCOMES_OF_A_TASK * len(chosen.runs))
        if room < 0:
            break
        detailed.append(task["task_id"])
    if detailed:
        for row in outcome_letters(chosen, detailed, _MOST_OUTCOMES_OF_A_TASK):
            runs[row["task_id"]][row["run_id"]]["outcomes"] = row["outcomes"]


def _comparisons(chosen: Chosen, k: int) -> list[Row]:
    """Read the pairs of which both runs are shown: pass@1, and both metrics at the deployment k."""
    rows = compared(chosen, k, _COMPARISON, baselines=chosen.runs)
    return sorted(rows, key=lambda row: chosen.runs.index(row["candidate_run_id"]))


def _diagnostics(chosen: Chosen, latest: set[str]) -> list[Row]:
    """Read the diagnostics: warnings of every run, and all of the latest."""
    rows = chosen.rows("passk_diagnostics", _DIAGNOSTIC)
    for row in rows:
        row["is_of_latest"] = row["run_id"] in latest
    return sorted(rows, key=lambda row: VERDICTS.index(row["verdict"]))
