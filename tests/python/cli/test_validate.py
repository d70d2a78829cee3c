"""``passk validate``: agrees where SQL is right, and catches every kind of wrong."""

from __future__ import annotations

import ast
import json
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

from passk_py.comparisons import pair_of
from passk_py.frames import task_counts
from passk_py.gates.demo import DEMO_GATES
from passk_py.parity import compare
from passk_py.project import default_variables
from passk_py.recompute import Recomputed
from passk_py.recompute_pairs import compared_runs
from passk_py.settings import Settings
from passk_py.tables import read_table
from passk_py.validate import validate_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Demo, Said

    from passk_py.comparisons import Pair

    Passk = Callable[..., Said]


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
        "passk_diagnostics": 4 * 13,
        "passk_comparisons": 2 * 12,
        "passk_task_comparisons": 48,
        # k of 1 to 32 where there are as many of the attempts that are planned.
        "passk_plans": 4 * 2 * 33,
        "passk_extrapolations": 0,
        "passk_contamination": 0,
        "passk_gates": 3,
    }
    assert report.left_out == ()


ROOT = Path(__file__).resolve().parents[3]

VARS = [
    (
        "{passk_on_short: eligible_only, passk_ks: [1, 2, 3, 8], passk_deployment_k: 2, passk_slices: "
        "[kind, {name: run_id, expression: attempt % 2}, {name: o'x, expression: agent}], "
        "passk_consistent_rate: 0.7, passk_incapable_rate: 0.3}"
    ),
    "{passk_ordered_metrics: false, passk_capable_threshold: 0.3, passk_consistent_threshold: 0.1}",
]


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
            "z": "-z",
            "p": "p * (1 + 1e-8)",
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
            "moved": "true",
            "direction": "'rose'",
            "null_reason": "'because'",
        },
    ),
}


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
        ("passk_diagnostics", 26, "run_id=new, suite=letters, diagnostic=batch_effect"),
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
    with duckdb.connect("passk.duckdb") as connection:
        for statement in as_table("passk_runs", "update passk_runs set agent = 'eve'"):
            connection.execute(statement)
    report = validate_tables("passk.duckdb")
    named = {(one.table, one.key["run_id"]) for one in report.examples if one.column == "agent"}
    # Where polars can't know the name, the tables must at least agree with each other.
    assert {run for table, run in named if table == "passk_runs"} == {
        "first",
        "later",
        "silent",
        "worn",
    }
    assert {run for table, run in named if table == "passk_tasks"} == {"torn", "gone"}


def trial(chance: random.Random, run: str, suite: str, agent: str, **more: object) -> list[object]:
    """Give a run with seeds, outputs and two sessions, ragged, with an excluded attempt or two."""
    rows: list[object] = []
    for task in range(14):
        rate = chance.choice([0, 0.3, 0.6, 0.9, 1])
        for attempt in range(1, chance.choice([4, 6, 6, 6]) + 1):
            outcome = "passed" if chance.random() < rate else "failed"
            rows.append(
                {
                    "run_id": run,
                    "suite": suite,
                    "task_id": f"task-{task}.5",
                    "attempt": attempt,
                    "outcome": outcome if chance.random() < 0.95 else "excluded",
                    "agent": agent,
                    "agent_version": run,
                    "seed": chance.choice([1, 2, 3, attempt * 10]),
                    "output_hash": f"h{chance.randint(1, 4)}",
                    "started_at": f"2026-01-0{1 + (attempt > 3)}T0{attempt}:00:{10 + task}Z",
                    **more,
                }
            )
    return rows


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two agents over two suites, most of which have an order only by when they came."""
    chance = random.Random(11)
    folder = tmp_path_factory.mktemp("trials")
    undated = {"started_at": None}
    first = [
        *trial(chance, "a1", "s", "ann"),
        *trial(chance, "b2", "s", "bob", **undated),
        *trial(chance, "only", "t", "ann"),
    ]
    second = [
        *trial(chance, "a0", "s", "ann", started_at="2025-12-01T00:00:00Z"),
        *trial(chance, "b1", "s", "bob"),
        *trial(chance, "b2", "t", "bob"),
        *trial(chance, "a1", "t", "ann"),
        *trial(chance, "void", "s", "bob", outcome="excluded"),
    ]
    # Copies of b2 come last of all: refused, but they tell when the last of b2 was loaded.
    late = [row for row in first if isinstance(row, dict) and row["run_id"] == "b2"][:3]
    for name, rows in (("first", first), ("second", second), ("late", late)):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


PAIRS = [
    "{passk_ks: [1, 2, 4], passk_deployment_k: 2, passk_on_short: eligible_only}",
    "{passk_ks: [1, 4], passk_baseline: a1, passk_minimum_change: 0.05, passk_confidence: 0.8}",
    (
        "{passk_ks: [1, 2, 4], passk_baseline: nobody, passk_ordered_metrics: false, passk_pairs: ["
        "{baseline: a1, candidate: b2}, {baseline: b2, candidate: nobody}, "
        "{baseline: a0, candidate: only}, {baseline: x, candidate: y}, "
        "{baseline: a1, candidate: a0, suite: t}, {baseline: nobody, candidate: b1}]}"
    ),
    "{passk_ks: [2, 3], passk_deployment_k: 3, passk_diagnostics: false, passk_pairs: "
    "[{baseline: a0, candidate: a1, suite: s}]}",
]


@pytest.mark.parametrize("variables", PAIRS)
def test_pairs_and_diagnostics_agree_under_other_vars(
    variables: str, passk: Passk, models_only: tuple[str, str], trials: Path
) -> None:
    for name in ("first", "second", "late"):
        assert passk("load", trials / f"{name}.jsonl").code == 0
    said = passk("build", *models_only, "--vars", variables)
    assert said.code == 0, said.err
    said = passk("validate")
    assert said.code == 0, said.out
    diagnostics = read_table("passk_diagnostics")
    assert diagnostics.height == (0 if "diagnostics: false" in variables else 13 * 8)
    pairs = read_table("passk_comparisons").select("baseline_run_id", "candidate_run_id", "suite")
    found = {(one, other, suite) for one, other, suite in pairs.rows()}
    expected = {
        # b1 and b2 go by when they came, and b2 came last: its copies did.
        PAIRS[0]: {
            ("a0", "a1", "s"),
            ("b1", "void", "s"),
            ("void", "b2", "s"),
            ("a1", "only", "t"),
        },
        PAIRS[1]: {
            *(("a1", run, "s") for run in ("a0", "b1", "b2", "void")),
            *(("a1", run, "t") for run in ("b2", "only")),
        },
        PAIRS[2]: {
            *(("nobody", run, "s") for run in ("a0", "a1", "b1", "b2", "void")),
            *(("nobody", run, "t") for run in ("b2", "a1", "only")),
            *(("a1", "b2", suite) for suite in "st"),
            *(("b2", "nobody", suite) for suite in "st"),
            *(("a0", "only", suite) for suite in "st"),
            ("x", "y", "(unknown)"),
            ("a1", "a0", "t"),
        },
        PAIRS[3]: {("a0", "a1", "s")},
    }
    assert found == expected[variables]


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
        # What is far off is an error of its own, and not one of the verdict too.
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


def test_what_is_too_large_is_left_out_and_said(
    passk: Passk, change: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for table in ("passk_comparisons", "passk_diagnostics"):
        change(*as_table(table, f"delete from {table}"))
    assert passk("validate").code == 1
    monkeypatch.setattr("passk_py.validation.pairs._MOST_PERMUTED", 7)
    monkeypatch.setattr("passk_py.validate._MOST_DIAGNOSED", 11)
    said = passk("validate")
    assert said.code == 0, said.out
    assert said.err.splitlines() == [
        "The diagnostics of new, letters were not recomputed: it has more than 11 attempts.",
        "The diagnostics of old, letters were not recomputed: it has more than 11 attempts.",
        "old and new in letters were not compared: a task has more than 7 attempts in both runs.",
    ]
    assert passk("validate", "--json").json["left_out"] == said.err.splitlines()


def test_nothing_to_validate(passk: Passk, change: Callable[..., None]) -> None:
    attempts = as_table("passk_attempts", "delete from passk_attempts")
    change(*attempts)
    # Without attempts, every row of the others is one too many.
    assert passk("validate").code == 1
    for table in (*WRONG, "passk_plans"):
        change(*as_table(table, f"delete from {table}"))
    said = passk("validate")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: There is nothing to validate in passk.duckdb: "
        "passk_attempts and the tables that are made from it are empty.\n"
        "Load a log with `passk load FILE`, then run `passk build`.\n"
    )


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


def test_stale_tables_are_said_to_be(
    passk: Passk, letters: Path, make_log: Callable[..., Path]
) -> None:
    assert passk("load", make_log("late.jsonl", [("old", "late", "PP")])).code == 0
    said = passk("validate")
    assert said.code == 1
    assert said.err == (
        "2 attempts have landed since the last build. "
        "The tables do not hold that: run `passk build`, then validate.\n"
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


@pytest.mark.parametrize("batch", [1, 40, 10_000])
def test_batches_do_not_matter(batch: int, demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    if batch == 1:
        monkeypatch.setattr("passk_py.validate._BATCH", 700)
    else:
        monkeypatch.setattr("passk_py.validate._BATCH", batch * 100)
    seen: list[tuple[int, int]] = []
    report = validate_tables(demo.database, progress=lambda *step: seen.append(step))
    assert report.different == 0
    assert sum(table.rows for table in report.tables) == (
        4 * (48 * 12 + 48 + 12 + 1 + 13 + 66) + 24 + 48 + 3
    )
    assert seen[-1] == (3248, 3248)


# ---------------------------------------------------------------------------------------------
# what decisions are read from

GATES = """[
  {name: low, metric: pass_hat_k, k: 2, min: 0.1, run: all},
  {name: half, metric: pass_at_k, k: 1, min: 0.5, severity: warn},
  {name: here, metric: pass_hat_k, k: 2, min: 0.4, scope: suite, run: all},
  {name: each half, metric: pass_hat_k, k: 1, min: 0.3, each: half},
  {name: each task, metric: pass_at_k, k: 4, min: 0.2, each: task, inconclusive: error},
  {name: drop, metric: pass_hat_k, k: 1, max_drop: 0.05, run: all},
  {name: named, metric: pass_at_k, k: 2, max_drop: 0, baseline: a1, scope: unseen, run: all},
  {name: nobody, metric: pass_hat_k, k: 1, max_drop: 0.1, baseline: nobody},
  {name: excluded, metric: excluded_attempts, max: 0.03, run: all},
  {name: rejected, metric: rejected_attempts, max: 0},
  {name: worse, metric: regressed_tasks, max: 0, run: all},
  {name: clean, diagnostics: all, run: all},
  {name: unknown, metric: pass_hat_k, min: 0.5, agent: zoe},
]"""
DECIDED = (
    "passk_ks: [1, 2, 4], passk_deployment_k: 2, passk_on_short: eligible_only, "
    "passk_confidence: 0.9, passk_extrapolated_ks: [16, 2, 8], "
    "passk_slices: [{name: half, expression: attempt % 2}], passk_private_suites: "
    "[{public: s, private: t}, {public: t, private: s}, {public: t, private: gone}], "
    f"passk_bootstrap: 100, passk_bootstrap_seed: 5, passk_gates: {GATES}"
)


@pytest.fixture(scope="module")
def decided_once(passk: Passk, trials: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a run that has nothing to judge, and every table that can be asked for."""
    folder = tmp_path_factory.mktemp("decided")
    lost = folder / "lost.jsonl"
    lost.write_text(
        '{"run_id": "lost", "suite": "s", "task_id": "t", "attempt": 0, "passed": true}\n',
        encoding="utf-8",
    )
    database = folder / "passk.duckdb"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_INDIRECT_SELECTION", "empty")
        patch.chdir(folder)
        for file in (*(trials / f"{name}.jsonl" for name in ("first", "second", "late")), lost):
            passk("load", file, "--database", database)
        said = passk(
            "build", "--database", database, "--select", "resource_type:model", "--vars",
            f"{{{DECIDED}}}",
        )  # fmt: skip
    assert said.code == 0, said.err
    return database


@pytest.fixture
def decided(decided_once: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copyfile(decided_once, tmp_path / "passk.duckdb")
    return tmp_path / "passk.duckdb"


ROWS = {
    # Two metrics; k of 1, 2 and 4 with 1 to 32 attempts, of which at least k.
    "passk_plans": 8 * 2 * (6 + 5 + 4),
    # Nothing was measured of void.
    "passk_extrapolations": 7 * 3,
    # The whole suite and both halves; void has them too.
    "passk_suite_bootstrap": 8 * 3 * 2 * 3,
    # Five runs of s beside t, three of t beside s, and three beside a suite that is not there.
    "passk_contamination": (5 + 3 + 3) * 3,
}


def test_decisions_agree(decided: Path) -> None:
    report = validate_tables(decided)
    assert report.different == 0, report.examples
    found = {table.table: table.rows for table in report.tables}
    assert {name: found[name] for name in ROWS} == ROWS
    with duckdb.connect(str(decided)) as connection:
        results = connection.sql("select gate, result, baseline_run_id from passk_gates").fetchall()
    assert found["passk_gates"] == len(results)
    # Every rule has a row, every result is there, and so are rules without a baseline.
    assert len({gate for gate, _, _ in results}) == GATES.count("name:")
    assert {result for _, result, _ in results} == {"pass", "fail", "inconclusive"}
    assert {baseline is None for _, _, baseline in results} == {True, False}


ALTERED = {
    "passk_plans": (
        "run_id = 'a1' and suite = 's' and metric = 'pass_hat_k' and k = 1 and attempts = 4",
        {
            "agent": "'nobody'",
            "tasks": "tasks + 1",
            "basis": "'guess'",
            "estimate": "estimate + 1e-8",
            "variance_between": "variance_between + 1e-10",
            "variance_within": "variance_within + 1e-10",
            "within_share": "within_share + 1e-8",
            "expected_width": "expected_width + 1e-7",
            "tasks_for_width": "tasks_for_width - 1",
            "attempts_for_width": "null",
            "detectable_difference": "detectable_difference + 1e-8",
            "deciding_share": "deciding_share + 1e-8",
            "tasks_for_difference": "tasks_for_difference + 1",
            "attempts_for_difference": "attempts_for_difference + 1",
            "null_reason": "'because'",
        },
    ),
    "passk_extrapolations": (
        "run_id = 'a1' and suite = 's' and k = 16",
        {
            "agent_version": "null",
            "measured_k": "1",
            "basis": "'measured'",
            "pass_at_k": "pass_at_k - 1e-8",
            "pass_hat_k": "null",
            "pass_at_k_at_least": "0.5",
            "null_reason": "'because'",
        },
    ),
    "passk_suite_bootstrap": (
        "run_id = 'a1' and suite = 's' and slice_value = '1' and metric = 'pass_hat_k' and k = 1",
        {
            "eligible_tasks": "eligible_tasks - 1",
            "total_tasks": "total_tasks + 1",
            "estimate": "estimate + 1e-9",
            "lower": "lower - 1e-9",
            "upper": "null",
            "resamples": "200",
            "seed": "0",
            "null_reason": "'because'",
        },
    ),
    "passk_contamination": (
        "public_suite = 's' and public_run_id = 'a1' and k = 1",
        {
            "private_run_id": "'b2'",
            "private_source": "'same_agent'",
            "model": "'large'",
            "public_tasks": "public_tasks + 1",
            "private_pass_at_1": "private_pass_at_1 + 1e-9",
            "public_gap": "public_gap + 1e-9",
            "pass_at_1_difference": "pass_at_1_difference + 1e-9",
            "pass_hat_k_difference_lower": "pass_hat_k_difference_lower - 1e-7",
            "verdict": "'insufficient'",
            "null_reason": "'because'",
            "meaning": "meaning || '.'",
        },
    ),
    # A row without a baseline, so that its key holds a null.
    "passk_gates": (
        "gate = 'low' and suite = 's' and run_id = 'a1'",
        {
            "agent": "'nobody'",
            "agent_version": "null",
            "rule": "'all is well'",
            "metric": "'pass_at_k'",
            "k": "8",
            "scope": "'suite'",
            "threshold": "threshold + 1e-9",
            "tasks": "tasks - 1",
            "estimate": "estimate + 1e-9",
            "estimate_lower": "estimate_lower - 1e-7",
            "result": "'unsure'",
            "reason": "reason || '!'",
            "to_settle": "coalesce(to_settle, '') || '!'",
            "severity": "'ignore'",
            "is_advisory": "not is_advisory",
        },
    ),
}


def tamper(database: Path, updates: dict[str, list[str]]) -> None:
    """Put tables in the place of views, and change them."""
    with duckdb.connect(str(database)) as connection:
        for table, statements in updates.items():
            kind = "table" if table == "passk_suite_bootstrap" else "view"
            connection.execute(f"create table tampered as select * from {table}")
            connection.execute(f"drop {kind} {table}")
            connection.execute(f"alter table tampered rename to {table}")
            for statement in statements:
                connection.execute(statement)


def test_altered_decisions_are_named(decided: Path) -> None:
    updates = {}
    for table, (where, values) in ALTERED.items():
        wrong = ", ".join(f"{column} = {value}" for column, value in values.items())
        updates[table] = [f"update {table} set {wrong} where {where}"]
    tamper(decided, updates)
    report = validate_tables(decided)
    found = {
        table: {one.column for one in report.examples if one.table == table} for table in ALTERED
    }
    assert found == {table: set(values) for table, (_, values) in ALTERED.items()}
    assert report.different == sum(len(values) for _, values in ALTERED.values())
    (reason,) = (one for one in report.examples if one.column == "reason")
    assert (reason.table, reason.key["baseline_run_id"]) == ("passk_gates", None)


def test_decisions_that_are_missing_surplus_or_twice_are_named(decided: Path) -> None:
    updates = {}
    for table in ALTERED:
        run = "public_run_id" if table == "passk_contamination" else "run_id"
        ghosts = f"select * replace ('ghost' as {run}) from {table} where {run} = 'a1'"
        updates[table] = [
            f"delete from {table} where {run} = 'a0'",
            f"insert into {table} select * from {table} where {run} = 'b2'",
            f"insert into {table} by name {ghosts}",
        ]
    tamper(decided, updates)
    report = validate_tables(decided, examples=1000)
    for table in ALTERED:
        run = "public_run_id" if table == "passk_contamination" else "run_id"
        named = [one for one in report.examples if one.table == table]
        whose = {(one.key[run], one.column, one.sql, one.polars) for one in named}
        assert whose == {
            ("a0", None, False, True),
            ("b2", "rows", 2, 1),
            ("ghost", None, True, False),
        }


def test_too_many_attempts_for_gates_are_said(
    passk: Passk, demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passk_py.validation.decisions._MOST_JUDGED", 99)
    said = passk("validate", "--database", demo.database)
    assert (said.code, said.err) == (
        0,
        "The gates were not recomputed: the log has more than 99 attempts.\n",
    )


def test_gates_without_the_order_of_attempts(
    passk: Passk, models_only: tuple[str, str], trials: Path
) -> None:
    """What depends on the order is not known of the diagnostics that a gate looks at."""
    assert passk("load", trials / "first.jsonl").code == 0
    said = passk(
        "build", *models_only, "--vars",
        "{passk_ordered_metrics: false, passk_gates: [{name: clean, diagnostics: [drift, "
        "serial_dependence], run: all}]}",
    )  # fmt: skip
    assert said.code == 0, said.err
    said = passk("validate")
    assert said.code == 0, said.out


def test_demo_gates_are_those_of_the_project() -> None:
    """Python knows the rules of the demo log by heart: they must be those of the macro."""
    text = (ROOT / "macros" / "gates" / "demo_gates.sql").read_text(encoding="utf-8")
    rules = ast.literal_eval(
        text[text.index("return(") + len("return(") : text.index(") }}")].strip()
    )
    assert rules == list(DEMO_GATES)
