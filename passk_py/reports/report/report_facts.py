"""The facts of a report, suite by suite: rows of the public tables, and the names in it."""

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
from passk_py.reports.answer.answer_facts import MOST_RUNS
from passk_py.reports.answer.verdict_sentences import paragraphs
from passk_py.reports.queries.attempt_queries import attempts_with_cost, excluded_reasons
from passk_py.reports.queries.chosen import Chosen, with_text_times
from passk_py.reports.queries.comparison_queries import compared
from passk_py.reports.queries.cost_queries import cost_changes, costs, costs_at, frontier
from passk_py.reports.queries.length_queries import horizons_at, length_bins
from passk_py.reports.queries.loss_queries import lost_by_cause
from passk_py.reports.queries.run_queries import known_runs, values_over_k
from passk_py.reports.queries.task_ranking import drop_ranking
from passk_py.reports.queries.threshold_queries import at_thresholds
from passk_py.reports.report.task_facts import gather_tasks
from passk_py.reports.report.theme import AGENTS
from passk_py.warehouse.looks import with_looks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.reports.answer import Answer, Suite
    from passk_py.reports.queries.chosen import Row
    from passk_py.warehouse.catalog import Filters
    from passk_py.warehouse.tables import Tables

SCHEMA_VERSION: Final = 2
"""Rises when a key of the facts goes, or comes to mean something else."""

_MEMORY: Final = "1200MB"
"""The memory limit of DuckDB, for tables of any size."""

_LONGEST_LABEL: Final = 72
"""Letters of agent and run in a sentence."""

_RUN: Final = (
    "run_id", "agent", "agent_version", "model", "tasks", "attempts", "n", "c", "excluded",
    "rejected", "expected_attempts", "missing_attempts", "min_n", "max_n", "warnings", "cost_usd",
    "started_at", "last_started_at", "loaded_at",
)  # fmt: skip
_COMPARISON: Final = (
    "baseline_run_id", "candidate_run_id", "pair_source", "metric", "k", "common_tasks",
    "baseline", "candidate", "difference", "difference_lower", "difference_upper",
    "difference_suite_lower", "difference_suite_upper", "p", "verdict", "hidden_regression",
    "null_reason", "meaning",
)  # fmt: skip
_GATE: Final = (
    "gate", "run_id", "baseline_run_id", "slice_name", "slice_value", "rule_type", "rule", "metric",
    "k", "scope", "threshold", "estimate", "estimate_lower", "estimate_upper", "result", "reason",
    "to_settle", "is_advisory",
)  # fmt: skip
_DIAGNOSTIC: Final = (
    "run_id", "diagnostic", "verdict", "p_adjusted", "finding", "meaning", "advice",
)  # fmt: skip


def gather(
    tables: Tables, filters: Filters | None = None, *, transcript_url: str | None = None
) -> Row:
    """Collect what the public tables say of the suites, as ``docs/report.md`` describes it."""
    from passk_py.warehouse.freshness import stale
    from passk_py.warehouse.project import version
    from passk_py.warehouse.settings import read_settings

    with _little_memory(tables):
        settings = read_settings(tables)
        answer = find_answer(tables, filters)
        if not answer.suites:
            _refuse(tables, filters)
        suites = [_suite(tables, suite, answer, transcript_url) for suite in answer.suites]
        add_colours(suites, answer.deployment_k)
        return {
            "passk_report": SCHEMA_VERSION,
            "passk_version": version(),
            "deployment_k": settings.deployment_k,
            "confidence": settings.confidence,
            "capable_threshold": settings.capable_threshold,
            "consistent_threshold": settings.consistent_threshold,
            "stale": stale(tables),
            "rejected": answer.rejected,
            "suites": suites,
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


def add_colours(suites: Iterable[Row], k: int) -> None:
    """Give the best agents a colour each, everywhere the same, and the others a grey."""
    best: dict[str, float] = {}
    runs = [run for suite in suites for run in suite["runs"]]
    for run in runs:
        at_k = next((row["pass_hat_k"] for row in run["curve"] if row["k"] == k), None)
        value = at_k if at_k is not None and run["is_latest"] else -1.0
        best[_agent(run)] = max(value, best.get(_agent(run), -1.0))
    ranked = sorted(best, key=lambda agent: (-best[agent], agent))
    colours = {agent: f"agent{place}" for place, agent in enumerate(ranked[:AGENTS], start=1)}
    for run in runs:
        run["colour"] = colours.get(_agent(run), "quiet")


def _agent(run: Row) -> str:
    """Name the agent of a run; without one, a run is an agent of its own."""
    return str(run["run_id"] if run["agent"] is None else run["agent"])


def _suite(tables: Tables, suite: Suite, answer: Answer, transcript_url: str | None) -> Row:
    rows = _runs(tables, suite, answer.deployment_k)
    chosen = Chosen(tables, tuple(row["run_id"] for row in rows), (suite.name,))
    latest = {row["run_id"] for row in rows if row["is_latest"]}
    sure = {
        run.run_id
        for verdict in answer.verdicts[suite.name]
        if verdict.unattended.k == answer.deployment_k
        for run in verdict.unattended.sure
    }
    best = {
        pick.metric: {run.run_id for run in pick.named}
        for verdict in answer.verdicts[suite.name]
        for pick in (verdict.reviewed, verdict.unattended)
        if pick.k == answer.deployment_k and pick.looked_at > 1
    }
    ranks = _ranks(chosen, answer.deployment_k)
    for row in rows:
        row["is_sure"] = row["run_id"] in sure
        row["rank"] = ranks.get(row["run_id"])
        row["may_be_best_at"] = [metric for metric, runs in best.items() if row["run_id"] in runs]
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
        **gather_tasks(chosen, transcript_url),
        "families": suite.families,
        "grader": list(suite.grader),
        "trends": list(suite.trends),
        "costs": _costs(chosen, suite, answer.deployment_k),
        "losses": list(suite.losses),
        "comparisons": _comparisons(chosen, answer.deployment_k),
        "gates": _gates(chosen),
        "diagnostics": _diagnostics(chosen, latest),
    }


def _runs(tables: Tables, suite: Suite, deployment_k: int) -> list[Row]:
    """Read the latest runs: those of one agent together, in the order in which they were made."""
    known = {run.run_id: run for run in suite.runs}
    told = Chosen(tables, tuple(known), (suite.name,)).rows("passk_runs", _RUN)
    latest = in_order(told)[-MOST_RUNS:]
    chosen = Chosen(tables, tuple(row["run_id"] for row in latest), (suite.name,))
    curves = values_over_k(chosen)
    reasons = excluded_reasons(chosen)
    measured = attempts_with_cost(chosen)
    lost = lost_by_cause(chosen, deployment_k)
    ks = sorted({1, deployment_k})
    horizons, bins = horizons_at(chosen, ks), length_bins(chosen, ks)
    graded = at_thresholds(chosen, deployment_k)
    return [
        {
            **row,
            "cost_per_success_usd": _cost(row, measured.get(row["run_id"], 0)),
            "attempts_with_cost": measured.get(row["run_id"], 0),
            "label": known[row["run_id"]].called(_LONGEST_LABEL),
            "classes": dict(known[row["run_id"]].classes),
            "curve": list(curves.get((row["run_id"], suite.name), {}).values()),
            "excluded_reasons": [
                {"reason": one["outcome_reason"], "attempts": one["attempts"]}
                for one in reasons.get(row["run_id"], [])
            ],
            "lost_by_cause": [
                {name: value for name, value in one.items() if name not in ("run_id", "suite")}
                for one in lost.get((row["run_id"], suite.name), [])
            ],
            "horizons": horizons.get((row["run_id"], suite.name), []),
            "length_bins": bins.get((row["run_id"], suite.name), []),
            "thresholds": graded.get((row["run_id"], suite.name), []),
            "is_latest": row["run_id"] == line[-1]["run_id"] or row["agent"] is None,
        }
        for line in _lines(latest)
        for row in with_text_times(line)
    ]


def _ranks(chosen: Chosen, k: int) -> dict[str, Row]:
    """Read the limits of the rank by pass^k of each run, where the tables have them."""
    # A project may leave the table out, and an older one lacks it.
    if chosen.tables.find("passk_rankings") is None:
        return {}
    rows = chosen.rows(
        "passk_rankings",
        ("run_id", "rank_lower", "rank_upper", "ranked_runs", "meaning"),
        also=f"metric = 'pass_hat_k' and k = {k} and estimate is not null",
    )
    return {row.pop("run_id"): row for row in rows}


def _cost(run: Mapping[str, Any], attempts_with_cost: int) -> float | None:
    """Give the cost of a success, if every attempt says what it cost."""
    if not run["c"] or attempts_with_cost < run["attempts"]:
        return None
    return float(run["cost_usd"] / run["c"])


def _lines(runs: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Put the runs of each agent in order; those without an agent come last."""
    lines: dict[str | None, list[Mapping[str, Any]]] = {}
    for run in runs:
        lines.setdefault(run["agent"], []).append(run)
    agents = sorted(lines, key=lambda agent: (agent is None, agent or ""))
    return [in_order(lines[agent]) for agent in agents]


def _comparisons(chosen: Chosen, k: int) -> list[Row]:
    """Read the pairs of which both runs are shown: pass@1, and both metrics at the deployment k."""
    rows = compared(chosen, k, _COMPARISON, baselines=chosen.runs)
    return sorted(rows, key=lambda row: chosen.runs.index(row["candidate_run_id"]))


def _gates(chosen: Chosen) -> list[Row]:
    """Read the results of the gates; older tables don't name the types of their rules."""
    known = chosen.tables.columns("passk_gates")
    rows = chosen.rows("passk_gates", ["suite", *(name for name in _GATE if name in known)])
    said = with_looks(chosen.tables, rows)
    return [{name: row.get(name) for name in _GATE} for row in said]


def _costs(chosen: Chosen, suite: Suite, k: int) -> Row | None:
    """Read what the runs cost; None where no attempt says it."""
    found = costs(chosen)
    if not found:
        return None
    return {
        "said": list(suite.costs),
        "runs": found,
        "at_k": costs_at(chosen, k),
        "comparisons": cost_changes(chosen, k),
        "frontier": frontier(chosen, k),
    }


def _diagnostics(chosen: Chosen, latest: set[str]) -> list[Row]:
    """Read the diagnostics: warnings of every run, and all of the latest."""
    rows = chosen.rows("passk_diagnostics", _DIAGNOSTIC)
    for row in rows:
        row["is_of_latest"] = row["run_id"] in latest
    return sorted(rows, key=lambda row: VERDICTS.index(row["verdict"]))
