"""What a report shows of each suite: rows of the public tables, with what is called how."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NoReturn

import duckdb

from passk_py.common.errors import PasskError
from passk_py.common.names import require_known
from passk_py.common.sql_text import quote
from passk_py.metrics.diagnostic_words import VERDICTS
from passk_py.metrics.run_order import in_order
from passk_py.reports.answer.verdict_sentences import paragraphs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from passk_py.reports.answer import Answer, Suite
    from passk_py.warehouse.catalog import Filters
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

__all__ = ["MOST_RUNS", "MOST_TASKS", "SCHEMA_VERSION", "gather"]

Row = dict[str, Any]

SCHEMA_VERSION: Final = 1
"""Rises when a key of the facts goes, or comes to mean something else."""

MOST_RUNS: Final = 40
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

_CURVE: Final = (
    "k",
    "pass_at_k",
    "pass_at_k_lower",
    "pass_at_k_upper",
    "pass_hat_k",
    "pass_hat_k_lower",
    "pass_hat_k_upper",
    "delta_k",
    "delta_k_lower",
    "delta_k_upper",
    "eligible_tasks",
    "total_tasks",
    "reading",
    "null_reason",
)
_COMPARISON: Final = (
    "baseline_run_id",
    "candidate_run_id",
    "pair_source",
    "metric",
    "k",
    "common_tasks",
    "baseline",
    "candidate",
    "difference",
    "difference_lower",
    "difference_upper",
    "difference_suite_lower",
    "difference_suite_upper",
    "p",
    "verdict",
    "hidden_regression",
    "null_reason",
    "meaning",
)
_GATE: Final = (
    "gate",
    "run_id",
    "baseline_run_id",
    "slice_name",
    "slice_value",
    "rule",
    "metric",
    "k",
    "scope",
    "threshold",
    "estimate",
    "estimate_lower",
    "estimate_upper",
    "result",
    "reason",
    "to_settle",
    "is_advisory",
)
_DIAGNOSTIC: Final = (
    "run_id",
    "diagnostic",
    "verdict",
    "p_adjusted",
    "finding",
    "meaning",
    "advice",
)


def gather(
    tables: Tables,
    filters: Filters | None = None,
    *,
    most_runs: int = MOST_RUNS,
    most_tasks: int = MOST_TASKS,
) -> Row:
    """Collect what the public tables say of the suites.

    Parameters
    ----------
    tables
        The open database.
    filters
        Which runs and suites; by default all.
    most_runs, most_tasks
        How many runs of a suite, the latest, and how many tasks, the first to mend, are shown.

    Returns
    -------
    dict
        What JSON can hold: ``suites``, each with ``runs``, ``tasks``, ``heat``, ``comparisons``,
        ``gates`` and ``diagnostics``, and with which settings the tables were built.

    Raises
    ------
    PasskError
        If nothing has been built, or there is no run that is asked for.
    """
    with _little_memory(tables):
        return _gather(tables, filters, most_runs, most_tasks)


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
            connection.execute("drop table if exists temp.report_tasks")
            for name, value in zip(("memory_limit", "temp_directory"), before, strict=True):
                with suppress(duckdb.Error):
                    connection.execute(f"set {name} = {quote(value)}")


def _gather(tables: Tables, filters: Filters | None, most_runs: int, most_tasks: int) -> Row:
    from passk_py.reports.answer import find_answer
    from passk_py.warehouse.freshness import stale
    from passk_py.warehouse.project import version
    from passk_py.warehouse.settings import read_settings

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
        "suites": [
            _suite(tables, settings, suite, answer, most_runs, most_tasks)
            for suite in answer.suites
        ],
    }


def _refuse(tables: Tables, filters: Filters | None) -> NoReturn:
    """Raise an error that says which of the runs and suites that are asked for is not there."""
    runs = tables.require("passk_runs")
    for kind, column, given in (
        ("run", "run_id", filters.runs if filters else ()),
        ("suite", "suite", filters.suites if filters else ()),
    ):
        known = [
            name for (name,) in tables.rows(f"select distinct {column} from {runs} order by 1")
        ]
        require_known(kind, given, known)
    raise PasskError(
        "There is no run to report.", hint="`passk load FILE` and `passk build` make one."
    )


def _suite(
    tables: Tables,
    settings: Settings,
    suite: Suite,
    answer: Answer,
    most_runs: int,
    most_tasks: int,
) -> Row:
    rows = _runs(tables, suite, most_runs)
    chosen = _Chosen(tables, suite.name, [row["run_id"] for row in rows])
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
            for said in paragraphs(answer, suite.name)
        ],
        **_tasks(chosen, most_tasks),
        "comparisons": _comparisons(chosen, settings.deployment_k),
        "gates": chosen.records(
            "passk_gates", _GATE, order="gate, run_id, baseline_run_id, slice_name, slice_value"
        ),
        "diagnostics": _diagnostics(chosen, latest),
    }


class _Chosen:
    """The rows of a suite's chosen runs.

    Parameters
    ----------
    tables
        The open database.
    suite
        The suite.
    runs
        The ids of its runs.
    """

    def __init__(self, tables: Tables, suite: str, runs: Sequence[str]) -> None:
        self.tables = tables
        self.suite = suite
        self.runs = tuple(runs)

    def where(self, run_column: str = "run_id") -> str:
        """Write the condition."""
        among = ", ".join(map(quote, self.runs))
        return f"suite = {quote(self.suite)} and {run_column} in ({among})"

    def records(
        self,
        table: str,
        columns: Sequence[str],
        *,
        where: str = "true",
        order: str,
        run_column: str = "run_id",
    ) -> list[Row]:
        """Read rows of a public table."""
        return self.tables.records(
            f"select {', '.join(columns)} from {self.tables.require(table)} "
            f"where {self.where(run_column)} and {where} order by {order}"
        )


# ---------------------------------------------------------------------------------------------
# the runs


def _runs(tables: Tables, suite: Suite, most: int) -> list[Row]:
    """Read the latest runs: those of one agent together, in the order in which they were made."""
    read = _Chosen(tables, suite.name, [run.run_id for run in suite.runs])
    told = {
        row["run_id"]: row
        for row in read.records(
            "passk_runs",
            (
                "run_id", "agent", "agent_version", "model", "tasks", "attempts", "n", "c",
                "excluded", "rejected", "expected_attempts", "missing_attempts", "min_n", "max_n",
                "warnings", "started_at", "loaded_at",
            ),
            order="run_id",
        )
    }  # fmt: skip
    latest = [row["run_id"] for row in in_order(told.values())[-most:]]
    known = {run.run_id: run for run in suite.runs}
    chosen = _Chosen(tables, suite.name, latest)
    curves: dict[str, list[Row]] = {}
    for row in chosen.records(
        "passk_suite_metrics",
        ("run_id", *_CURVE),
        where="slice_name = 'all' and slice_value = 'all'",
        order="run_id, k",
    ):
        curves.setdefault(row.pop("run_id"), []).append(row)
    reasons: dict[str, list[Row]] = {}
    for row in tables.records(
        f"select run_id, outcome_reason as reason, count(*) as attempts "
        f"from {tables.require('passk_attempts')} "
        f"where {chosen.where()} and outcome = 'excluded' "
        "group by run_id, outcome_reason order by attempts desc, reason nulls last"
    ):
        reasons.setdefault(row.pop("run_id"), []).append(row)
    found = []
    for line in _lines([told[run_id] for run_id in latest]):
        for one in line:
            run = known[one["run_id"]]
            found.append(
                {
                    **{name: _plain(value) for name, value in one.items()},
                    "label": run.called(_LONGEST_LABEL),
                    "classes": dict(run.classes),
                    "curve": curves.get(run.run_id, []),
                    "excluded_reasons": reasons.get(run.run_id, []),
                    "is_latest": one is line[-1] or run.agent is None,
                }
            )
    return found


def _lines(runs: Iterable[Row]) -> list[list[Mapping[str, Any]]]:
    """Put the runs of each agent in order; those without an agent come last."""
    lines: dict[str | None, list[Row]] = {}
    for run in runs:
        lines.setdefault(run["agent"], []).append(run)
    agents = sorted(lines, key=lambda agent: (agent is None, agent or ""))
    return [in_order(lines[agent]) for agent in agents]


# ---------------------------------------------------------------------------------------------
# the tasks


def _tasks(chosen: _Chosen, most: int) -> Row:
    """Read the tasks in the order in which to mend them, the first one by one and all in bins.

    That is the order of the mean ``expected_gain`` over the runs that have the task. It is kept in
    a table of the session, because a million tasks of many runs are ranked once.
    """
    tables = chosen.tables
    tables.connection.execute(
        "create or replace temp table report_tasks as "
        "select *, row_number() over "
        "(order by expected_gain desc nulls last, pass_rate, task_id) - 1 as place from ("
        "select task_id, avg(expected_gain) as expected_gain, avg(pass_rate) as pass_rate, "
        "sum(attempts) as attempts "
        f"from {tables.require('passk_tasks')} where {chosen.where()} group by task_id)"
    )
    total = tables.rows("select count(*) from report_tasks")[0][0]
    shown = tables.records(
        "select task_id, expected_gain, pass_rate, attempts from report_tasks "
        f"where place < {most} order by place"
    )
    _add_runs(chosen, shown)
    return {
        "total_tasks": total,
        "tasks": shown,
        "heat": _heat(chosen, total),
    }


def _add_runs(chosen: _Chosen, shown: list[Row]) -> None:
    """Give each task its counts by run and, as far as there is room, its attempts."""
    tables = chosen.tables
    if not shown:
        return
    # By their names, which engines look for without a join.
    among = f"task_id in ({', '.join(quote(task['task_id']) for task in shown)})"
    by_task: dict[str, Row] = {task["task_id"]: task for task in shown}
    for task in shown:
        task["runs"] = {}
    for row in chosen.records(
        "passk_tasks",
        ("task_id", "run_id", "n", "c", "excluded", "pass_rate", "pass_hat_k", "task_class"),
        where=among,
        order="task_id, run_id",
    ):
        by_task[row.pop("task_id")]["runs"][row.pop("run_id")] = row
    room, detailed = _MOST_OUTCOMES, []
    for task in shown:
        room -= min(task["attempts"], _MOST_OUTCOMES_OF_A_TASK * len(chosen.runs))
        if room < 0:
            break
        detailed.append(task["task_id"])
    if not detailed:
        return
    # Letters in the order of the attempts: passed, failed, excluded.
    letters = "case outcome when 'passed' then 'P' when 'failed' then 'F' else 'x' end"
    for row in tables.records(
        f"select task_id, run_id, "
        f"left(string_agg({letters}, '' order by attempt), {_MOST_OUTCOMES_OF_A_TASK}) as outcomes "
        f"from {tables.require('passk_attempts')} where {chosen.where()} "
        f"and task_id in ({', '.join(map(quote, detailed))}) group by task_id, run_id"
    ):
        by_task[row["task_id"]]["runs"][row["run_id"]]["outcomes"] = row["outcomes"]


def _heat(chosen: _Chosen, total: int) -> list[Row]:
    """Give the mean pass rate of each run in each bin of the tasks, the first to mend in front."""
    bins = min(total, _BINS)
    if not bins:
        return []
    return chosen.tables.records(
        "select run_id, bin, count(*) as tasks, min(place) + 1 as first_task, "
        "max(place) + 1 as last_task, avg(pass_rate) as pass_rate from ("
        f"select tasks.run_id, ranked.place, ranked.place * {bins} // {total} as bin, "
        f"tasks.pass_rate from {chosen.tables.require('passk_tasks')} as tasks "
        f"join report_tasks as ranked using (task_id) where {chosen.where('tasks.run_id')}"
        ") group by run_id, bin order by run_id, bin"
    )


# ---------------------------------------------------------------------------------------------
# what stands beside the numbers


def _comparisons(chosen: _Chosen, k: int) -> list[Row]:
    """Read the pairs of which both runs are shown: pass@1, and both metrics at the deployment k."""
    metrics = "(metric = 'pass_at_k' and k = 1)"
    if k > 1:
        metrics += f" or k = {k}"
    among = ", ".join(map(quote, chosen.runs))
    rows = chosen.records(
        "passk_comparisons",
        _COMPARISON,
        where=f"baseline_run_id in ({among}) and ({metrics})",
        order="baseline_run_id, metric, k",
        run_column="candidate_run_id",
    )
    return sorted(rows, key=lambda row: chosen.runs.index(row["candidate_run_id"]))


def _diagnostics(chosen: _Chosen, latest: set[str]) -> list[Row]:
    """Read the diagnostics: warnings of every run, and all of the latest."""
    rows = chosen.records("passk_diagnostics", _DIAGNOSTIC, order="run_id, diagnostic")
    for row in rows:
        row["is_of_latest"] = row["run_id"] in latest
    return sorted(rows, key=lambda row: VERDICTS.index(row["verdict"]))


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """Write times as ISO 8601 in UTC, which JSON has no type for."""
    return f"{value.isoformat()}Z" if isinstance(value, datetime) else value
