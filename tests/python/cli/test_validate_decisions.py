"""``passk validate`` of what is decided on: pairs, diagnostics, gates, plans, contamination."""

from __future__ import annotations

import ast
import json
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from passk_py.metrics.gates.rule_schema import DEMO_GATES, SCHEMA
from passk_py.validation.check_all import validate_tables
from passk_py.warehouse.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Demo, Said

    Passk = Callable[..., Said]

ROOT = Path(__file__).resolve().parents[3]


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
    "{passk_ks: [1, 2, 4], passk_deployment_k: 2, passk_min_eligible_share: 0}",
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


@pytest.mark.long
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
    assert diagnostics.height == (0 if "diagnostics: false" in variables else 14 * 8)
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


GATES = """[
  {name: low, type: threshold, metric: pass_hat_k, k: 2, min: 0.1, run: all},
  {name: half, type: threshold, metric: pass_at_k, k: 1, min: 0.5, severity: warn},
  {name: here, type: threshold, metric: pass_hat_k, k: 2, min: 0.4, scope: suite, run: all},
  {name: each half, type: threshold, metric: pass_hat_k, k: 1, min: 0.3, each: half},
  {name: each task, type: each_task, metric: pass_at_k, k: 4, min: 0.2, inconclusive: error},
  {name: drop, type: drop, metric: pass_hat_k, k: 1, max_drop: 0.05, run: all},
  {name: named, type: drop, metric: pass_at_k, k: 2, max_drop: 0, baseline: a1, scope: unseen, run: all},
  {name: nobody, type: drop, metric: pass_hat_k, k: 1, max_drop: 0.1, baseline: nobody},
  {name: excluded, type: coverage, metric: excluded_attempts, max: 0.03, run: all},
  {name: rejected, type: coverage, metric: rejected_attempts, max: 0},
  {name: worse, type: regressed_tasks, max: 0, run: all},
  {name: clean, type: diagnostics, diagnostics: all, run: all},
  {name: unknown, type: threshold, metric: pass_hat_k, min: 0.5, agent: zoe},
]"""
DECIDED = (
    "passk_ks: [1, 2, 4], passk_deployment_k: 2, passk_min_eligible_share: 0, "
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_too_many_attempts_for_gates_are_said(
    passk: Passk, demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passk_py.validation.check_decisions._MOST_JUDGED", 99)
    said = passk("validate", "--database", demo.database)
    assert (said.code, said.err) == (
        0,
        "The gates were not recomputed: the log has more than 99 attempts.\n",
    )


@pytest.mark.long
def test_gates_without_the_order_of_attempts(
    passk: Passk, models_only: tuple[str, str], trials: Path
) -> None:
    """Diagnostics that need the order are unknown to a gate that looks at them."""
    assert passk("load", trials / "first.jsonl").code == 0
    said = passk(
        "build", *models_only, "--vars",
        "{passk_ordered_metrics: false, passk_gates: [{name: clean, type: diagnostics, diagnostics: [drift, "
        "serial_dependence], run: all}]}",
    )  # fmt: skip
    assert said.code == 0, said.err
    said = passk("validate")
    assert said.code == 0, said.out


def test_demo_gates_are_those_of_the_project() -> None:
    """Python reads the rules of the demo log from a file: they must be those of the macro."""
    text = (ROOT / "macros" / "gates" / "rule_schema.sql").read_text(encoding="utf-8")
    schema = ast.literal_eval(
        text[text.index("return(") + len("return(") : text.index(") }}")].strip()
    )
    assert schema["demo"] == list(DEMO_GATES)
    assert schema == SCHEMA
