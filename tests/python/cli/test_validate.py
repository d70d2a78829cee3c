"""``passk validate``: agrees where SQL is right, and catches every kind of wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

from passk_py.metrics.comparisons.run_pairs import pair_of
from passk_py.metrics.frames import task_counts
from passk_py.validation.check_all import validate_tables
from passk_py.validation.parity import Recomputed, compare
from passk_py.validation.recompute.pairs import compared_runs
from passk_py.warehouse.project import default_variables
from passk_py.warehouse.settings import Settings
from passk_py.warehouse.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Demo, Said

    from passk_py.metrics.comparisons.run_pairs import Pair

    Passk = Callable[..., Said]


@pytest.mark.long
def test_demo_agrees(passk: Passk, demo: Demo) -> None:
    said = passk("validate", "--database", demo.database)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[-1] == "SQL and polars agree on 4 runs of 3,248 attempts."
    report = validate_tables(demo.database)
    assert report.largest <= 1e-12
    assert {table.table: table.rows for table in report.tables} == {
        "passk_task_metrics": 4 * 48 * 12,
        "passk_tasks": 4 * 48,
        "passk_suite_metrics": 4 * 12,
        "passk_runs": 4,
        "passk_diagnostics": 4 * 14,
        "passk_comparisons": 2 * 12,
        "passk_task_comparisons": 48,
        "passk_rankings": 4 * 2 * 12,
        # Two runs of one agent.
        "passk_trends": 2 * 12,
        # k of 1 to 32 where there are as many of the attempts that are planned.
        "passk_plans": 4 * 2 * 33,
        "passk_m_of_k": 0,
        "passk_threshold_metrics": 0,
        "passk_costs": 0,
        "passk_cost_curves": 0,
        "passk_task_costs": 0,
        "passk_cost_comparisons": 0,
        "passk_frontier": 0,
        "passk_difficulty_curve": 0,
        "passk_horizons": 0,
        # Each run exhausts its budget, and some attempts lose their worker.
        "passk_lost_reliability": 4 * 2 * 12,
        "passk_extrapolations": 0,
        "passk_contamination": 0,
        "passk_graders": 0,
        "passk_judges": 0,
        "passk_corrected_metrics": 0,
        "passk_gates": 3,
    }
    assert report.left_out == ()


VARS = [
    (
        "{passk_min_eligible_share: 0, passk_ks: [1, 2, 3, 8], passk_deployment_k: 2, passk_slices: "
        "[kind, {name: run_id, expression: attempt % 2}, {name: o'x, expression: agent}], "
        "passk_consistent_rate: 0.7, passk_incapable_rate: 0.3}"
    ),
    "{passk_ordered_metrics: false, passk_capable_threshold: 0.3, passk_consistent_threshold: 0.1}",
]


@pytest.mark.long
@pytest.mark.parametrize("variables", VARS)
def test_agrees_under_other_vars(
    variables: str, passk: Passk, letters: Path, models_only: tuple[str, str]
) -> None:
    said = passk("build", *models_only, "--vars", variables)
    assert said.code == 0, said.err
    said = passk("validate", "--vars", variables)
    assert said.code == 0, said.out


def as_table(name: str, *updates: str) -> list[str]:
    """Statements that put a table in the place of a view, and change it."""
    return [
        f"create table tampered as select * from {name}",
        f"drop view {name}",
        f"alter table tampered rename to {name}",
        *updates,
    ]


WHO = {"agent": "'nobody'", "agent_version": "null", "model": "'large'"}
WRONG = {
    "passk_task_metrics": (
        "run_id = 'old' and task_id = 'steady' and k = 2",
        {
            "pass_at_k": "pass_at_k * (1 + 1e-11)",
            "pass_hat_k": "null",
            "n": "n + 1",
            "windows": "windows - 1",
            "pass_hat_k_window": "pass_hat_k_window / 2",
            "null_reason": "'because'",
            **WHO,
        },
    ),
    "passk_tasks": (
        "run_id = 'old' and task_id = 'steady'",
        {
            "task_class": "'flaky'",
            "confirmed": "not confirmed",
            "longest_pass_streak": "longest_pass_streak + 1",
            "lost_reliability_share": "lost_reliability_share + 1e-9",
            "expected_gain": "expected_gain * (1 + 1e-10)",
            "mend_rank": "mend_rank + 1",
            "started_at": "started_at + interval 1 second",
            **WHO,
        },
    ),
    "passk_suite_metrics": (
        "run_id = 'new' and k = 2",
        {
            "pass_hat_k": "pass_hat_k + 1e-11",
            "delta_k": "delta_k + 1e-9",
            "heterogeneity": "0",
            "reading": "'capable and consistent'",
            "eligible_tasks": "eligible_tasks - 1",
            **WHO,
        },
    ),
    "passk_runs": (
        "run_id = 'new'",
        {
            "excluded": "excluded + 1",
            "rejected": "rejected + 1",
            "pass_rate": "pass_rate + 1e-10",
            **WHO,
        },
    ),
    "passk_diagnostics": (
        "run_id = 'new' and diagnostic = 'retry_until_pass'",
        {
            "statistic": "0.5",
            "p": "0.01",
            "p_adjusted": "0.5",
            "tasks": "tasks + 1",
            "verdict": "'warning'",
            "finding": "replace(finding, '1 tasks', '7 tasks')",
            "meaning": "null",
            "advice": "advice || '.'",
        },
    ),
    "passk_comparisons": (
        "metric = 'pass_hat_k' and k = 1",
        {
            "pair_source": "'declared'",
            "baseline_agent": "'nobody'",
            "candidate_agent_version": "null",
            "common_tasks": "common_tasks + 1",
            "informative_tasks": "0",
            "baseline": "baseline * (1 + 1e-11)",
            "difference": "difference + 1e-11",
            "z": "0.5",
            "p": "0.5",
            "difference_lower": "difference_lower - 1e-8",
            "difference_suite_upper": "difference_suite_upper + 1e-11",
            "verdict": "'regression'",
            "hidden_regression": "true",
            "null_reason": "null",
            "meaning": "'pass^1 fell.'",
        },
    ),
    "passk_task_comparisons": (
        "task_id = 'steady'",
        {
            "baseline_c": "baseline_c - 1",
            "candidate_pass_rate": "candidate_pass_rate + 1e-11",
            "p": "p * (1 + 1e-8)",
            "p_adjusted": "null",
            "least_p": "2 * least_p",
            "least_p_of_fall": "2 * least_p_of_fall",
            "moved": "true",
            "direction": "'rose'",
            "null_reason": "'because'",
        },
    ),
    "passk_rankings": (
        "run_id = 'old' and metric = 'pass_hat_k' and k = 1",
        {
            "ranked_runs": "ranked_runs + 1",
            "estimate": "estimate * (1 + 1e-11)",
            "lower": "lower - 1e-8",
            "upper": "null",
            "estimated_rank": "estimated_rank + 1",
            "rank_lower": "rank_lower + 1",
            "rank_upper": "rank_upper + 1",
            "better_runs": "better_runs + 1",
            "worse_runs": "worse_runs + 1",
            "may_be_best": "not may_be_best",
            "not_told_apart_from": "'nobody'",
            "null_reason": "'because'",
            "meaning": "'The best.'",
        },
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("table", WRONG)
def test_wrong_values_are_named(table: str, passk: Passk, change: Callable[..., None]) -> None:
    where, values = WRONG[table]
    wrong = ", ".join(f"{column} = {value}" for column, value in values.items())
    change(*as_table(table, f"update {table} set {wrong} where {where}"))
    said = passk("validate")
    assert said.code == 1
    named = [line for line in said.out.splitlines() if line.startswith(f"  {table} [")]
    for column in values:
        assert any(f"] {column}: SQL " in line and ", polars " in line for line in named), said.out
    assert len(named) == len(values)
    assert said.out.splitlines()[-1] == f"SQL and polars differ in {len(values)} values."


def test_difference_is_exact_to_the_value(passk: Passk, change: Callable[..., None]) -> None:
    where = "run_id = 'old' and task_id = 'steady' and k = 2"
    change(*as_table("passk_task_metrics", f"update passk_task_metrics set c = 3 where {where}"))
    said = passk("validate", "--json")
    assert said.code == 1
    values = said.json
    assert (values["agree"], values["different"]) == (False, 1)
    assert values["examples"] == [
        {
            "table": "passk_task_metrics",
            "key": {"run_id": "old", "suite": "letters", "task_id": "steady", "k": 2},
            "column": "c",
            "sql": 3,
            "polars": 4,
            "relative_difference": None,
        }
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    "table", ["passk_task_metrics", "passk_tasks", "passk_suite_metrics", "passk_diagnostics"]
)
def test_missing_and_surplus_rows_are_named(
    table: str, passk: Passk, change: Callable[..., None]
) -> None:
    change(
        *as_table(
            table,
            f"delete from {table} where run_id = 'old'",
            f"insert into {table} by name select * replace ('ghost' as run_id) from {table}",
        )
    )
    said = passk("validate")
    assert said.code == 1
    assert f"  {table} [run_id=ghost, suite=letters" in said.out
    assert "only SQL has this row" in said.out
    assert "only polars has this row" in said.out


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "rows"), [("passk_comparisons", 24), ("passk_task_comparisons", 3)]
)
def test_missing_and_surplus_pairs_are_named(
    table: str, rows: int, passk: Passk, change: Callable[..., None]
) -> None:
    ghost = (
        f"insert into {table} by name select * replace ('ghost' as baseline_run_id) from {table}"
    )
    change(*as_table(table, ghost, f"delete from {table} where baseline_run_id = 'old'"))
    said = passk("validate")
    assert said.code == 1
    for run, side in (("ghost", "SQL"), ("old", "polars")):
        row = f"  {table} [suite=letters, baseline_run_id={run}, candidate_run_id=new, "
        assert row in said.out
        assert f"]: only {side} has this row" in said.out
    assert said.out.splitlines()[-1] == f"SQL and polars differ in {2 * rows} values."


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "rows", "key"),
    [
        ("passk_task_metrics", 72, "run_id=new, suite=letters, task_id=never, k=1"),
        ("passk_tasks", 6, "run_id=new, suite=letters, task_id=never"),
        (
            "passk_suite_metrics",
            24,
            "run_id=new, suite=letters, slice_name=all, slice_value=all, k=1",
        ),
        ("passk_runs", 2, "run_id=new, suite=letters"),
        ("passk_diagnostics", 28, "run_id=new, suite=letters, diagnostic=batch_effect"),
        (
            "passk_comparisons",
            24,
            "suite=letters, baseline_run_id=old, candidate_run_id=new, metric=pass_at_k, k=1",
        ),
        (
            "passk_task_comparisons",
            3,
            "suite=letters, baseline_run_id=old, candidate_run_id=new, task_id=never",
        ),
    ],
)
def test_copies_are_named(
    table: str, rows: int, key: str, passk: Passk, change: Callable[..., None]
) -> None:
    change(*as_table(table, f"insert into {table} from {table}"))
    said = passk("validate")
    assert said.code == 1
    assert f"  {table} [{key}] rows: SQL 2, polars 1" in said.out.splitlines()
    assert said.out.splitlines()[-1] == f"SQL and polars differ in {rows} values."


def test_copies_missing_and_surplus_rows_are_all_shown(
    passk: Passk, change: Callable[..., None]
) -> None:
    table = "passk_task_metrics"
    change(
        *as_table(
            table,
            f"delete from {table} where task_id = 'never'",
            f"insert into {table} from {table}",
            f"insert into {table} from {table} where task_id = 'shaky' and k = 1",
            f"insert into {table} by name select * replace ('ghost' as run_id) from {table}",
        )
    )
    report = validate_tables("passk.duckdb")
    # 48 keys are left, each twice, two of them (one a run) four times; then all as ghosts.
    assert report.different == (48 + 2 * 2) + 24 + (2 * 48 + 2 * 2)
    assert {(one.column, one.sql, one.polars) for one in report.examples} >= {
        ("rows", 2, 1),
        (None, True, False),
        (None, False, True),
    }
    assert len(report.examples) == 20


MIXED: list[tuple[str, str, int, str, str | None]] = [
    # The least name is not that of the first attempts.
    ("first", "a", 1, "passed", "zoe"),
    ("first", "a", 2, "passed", "amy"),
    ("first", "b", 1, "failed", "bob"),
    # No attempt has the number 1.
    ("later", "a", 2, "passed", "zoe"),
    ("later", "a", 3, "passed", "amy"),
    # The first attempts do not say who made them.
    ("silent", "a", 1, "passed", None),
    ("silent", "a", 2, "passed", "amy"),
    # Both copies are refused, but SQL has seen the name of one.
    ("torn", "a", 1, "passed", "amy"),
    ("torn", "a", 1, "failed", "amy"),
    ("torn", "b", 1, "passed", "zoe"),
    # Copies that do not matter, because there is a first attempt.
    ("worn", "a", 1, "passed", "zoe"),
    ("worn", "a", 2, "passed", "amy"),
    ("worn", "a", 2, "failed", "amy"),
    # Copies that do, because there is none.
    ("gone", "a", 2, "passed", "amy"),
    ("gone", "a", 2, "failed", "amy"),
    ("gone", "a", 3, "failed", "zoe"),
]


@pytest.mark.long
def test_who_made_the_attempts(passk: Passk, models_only: tuple[str, str], tmp_path: Path) -> None:
    names = ("run_id", "task_id", "attempt", "outcome", "agent")
    log = tmp_path / "mixed.jsonl"
    log.write_text(
        "".join(f"{json.dumps(dict(zip(names, row, strict=True)))}\n" for row in MIXED),
        encoding="utf-8",
    )
    assert passk("load", log).code == 0
    said = passk("build", *models_only)
    assert said.code == 0, said.err
    said = passk("validate")
    assert said.code == 0, said.out
    expected = {"first": "bob", "later": "amy", "silent": None, "worn": "zoe"}
    expected |= {"torn": "amy", "gone": "amy"}
    agents = dict(read_table("passk_runs").select("run_id", "agent").rows())
    assert agents == expected
    # Of a frame of attempts too, except where duplicates, which it lacks, name the agent.
    counts = task_counts(read_table("passk_attempts"))
    of_frame = dict(counts.select("run_id", "agent").rows())
    assert {run: of_frame[run] for run in ("first", "later", "silent")} == {
        run: expected[run] for run in ("first", "later", "silent")
    }
    with duckdb.connect("passk.duckdb") as connection:
        for statement in as_table("passk_runs", "update passk_runs set agent = 'eve'"):
            connection.execute(statement)
    report = validate_tables("passk.duckdb")
    named = {(one.table, one.key.get("run_id")) for one in report.examples if one.column == "agent"}
    # Where polars can't know the name, the tables must at least agree with each other.
    assert {run for table, run in named if table == "passk_runs"} == {
        "first",
        "later",
        "silent",
        "worn",
    }
    assert {run for table, run in named if table == "passk_tasks"} == {"torn", "gone"}


def test_rounding_tips_no_verdict(letters: Path) -> None:
    settings = Settings({**default_variables(), "passk_ks": [1]}, recorded=True)
    counts = task_counts(read_table("passk_attempts", database=letters))
    # Six copies of each task: enough for a verdict.
    many = pl.concat([counts.with_columns(pl.col("task_id") + str(copy)) for copy in range(6)])
    pair = pair_of("letters", "old", "new", many)
    (mine,) = compare_counts(pair, settings, [])
    assert mine["verdict"] == "improvement"
    least = Settings({**settings.values, "passk_minimum_change": mine["difference"]}, recorded=True)
    for off, verdict in ((0, "improvement"), (-1e-13, "below_threshold"), (-0.1, "improvement")):
        # A number that is far off is an error of its own, and not one of the verdict too.
        (row,) = compare_counts(pair, least, [{**mine, "difference": mine["difference"] + off}])
        assert (row["verdict"], row["difference"]) == (verdict, mine["difference"])


def compare_counts(
    pair: Pair, settings: Settings, stored: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    who = pl.DataFrame(
        schema=dict.fromkeys(("run_id", "suite", "agent", "agent_version"), pl.String)
    )
    found = compared_runs([(pair, "declared")], who, settings, stored)
    return [row for row in found.frame.to_dicts() if row["metric"] == "pass_at_k"]


def test_sentences_are_compared_by_their_words() -> None:
    def said(*sentences: str) -> pl.DataFrame:
        return pl.DataFrame({"row": range(len(sentences)), "said": sentences})

    sql = said("rose by 0.013 in 3 of 4", "rose by 0.013", "rose by 1", "fell by -0.5", "x")
    polars = said("rose by 0.012 in 3 of 4", "fell by 0.013", "rose by 2", "fell by 0.5", "x")
    expected = Recomputed(polars, ("row",), (), {}, words=("said",))
    found = compare("table", sql, expected, keep=9)
    assert [example.key["row"] for example in found.examples] == [1, 2]
    assert (found.different, found.values) == (2, 5)


@pytest.mark.long
def test_what_is_too_large_is_left_out_and_said(
    passk: Passk, change: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for table in ("passk_comparisons", "passk_diagnostics"):
        change(*as_table(table, f"delete from {table}"))
    assert passk("validate").code == 1
    monkeypatch.setattr("passk_py.validation.check_pairs._MOST_PERMUTED", 7)
    monkeypatch.setattr("passk_py.validation.check_runs._MOST_DIAGNOSED", 11)
    said = passk("validate")
    assert said.code == 0, said.out
    assert said.err.splitlines() == [
        "The diagnostics of new, letters were not recomputed: it has more than 11 attempts.",
        "The diagnostics of old, letters were not recomputed: it has more than 11 attempts.",
        "old and new in letters were not compared: a task has more than 7 attempts in both runs.",
        "The ranks were not recomputed: a task of letters has more than 7 attempts in two runs.",
    ]
    assert passk("validate", "--json").json["left_out"] == said.err.splitlines()


@pytest.mark.long
def test_nothing_to_validate(passk: Passk, change: Callable[..., None]) -> None:
    attempts = as_table("passk_attempts", "delete from passk_attempts")
    change(*attempts)
    # Without attempts, every row of the others is one too many.
    assert passk("validate").code == 1
    for table in (*WRONG, "passk_plans", "passk_trends", "passk_lost_reliability"):
        change(*as_table(table, f"delete from {table}"))
    said = passk("validate")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: There is nothing to validate in passk.duckdb: "
        "passk_attempts and the tables that are made from it are empty.\n"
        "Load a log with `passk load FILE`, then run `passk build`.\n"
    )


@pytest.mark.long
def test_examples_are_twenty_and_the_rest_is_counted(
    passk: Passk, change: Callable[..., None]
) -> None:
    change(*as_table("passk_task_metrics", "update passk_task_metrics set excluded = 9"))
    said = passk("validate")
    assert said.code == 1
    lines = said.out.splitlines()
    assert sum(line.startswith("  passk_task_metrics [") for line in lines) == 20
    assert lines[-2] == "... and 52 more."
    assert lines[-1] == "SQL and polars differ in 72 values."


@pytest.mark.long
def test_stale_tables_are_said_to_be(
    passk: Passk, letters: Path, make_log: Callable[..., Path]
) -> None:
    assert passk("load", make_log("late.jsonl", [("old", "late", "PP")])).code == 0
    said = passk("validate")
    assert said.code == 1
    assert said.err == (
        "2 attempts have landed since the last build. `passk build` brings them up to date.\n"
    )
    assert passk("validate", "--json").json["landed_since_build"] == 2


def test_table_of_another_version_says_so(passk: Passk, change: Callable[..., None]) -> None:
    change(*as_table("passk_runs", "alter table passk_runs drop column max_n"))
    said = passk("validate")
    assert said.code == 2
    assert said.err == (
        "Error: The table passk_runs has no column max_n.\n"
        "Another version of passk built it: run `passk build`.\n"
    )


@pytest.mark.long
@pytest.mark.parametrize("batch", [1, 40, 10_000])
def test_batches_do_not_matter(batch: int, demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    if batch == 1:
        monkeypatch.setattr("passk_py.validation.check_runs._BATCH", 700)
    else:
        monkeypatch.setattr("passk_py.validation.check_runs._BATCH", batch * 100)
    # A run has 48 tasks at 12 k.
    monkeypatch.setattr("passk_py.validation.check_runs._ROWS", batch * 300)
    seen: list[tuple[int, int]] = []
    report = validate_tables(demo.database, progress=lambda *step: seen.append(step))
    assert report.different == 0
    assert sum(table.rows for table in report.tables) == (
        4 * (48 * 12 + 48 + 12 + 1 + 14 + 66 + 24 + 24) + 24 + 24 + 48 + 3
    )
    assert seen[-1] == (3248, 3248)
