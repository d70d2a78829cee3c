"""Graders that err: the tables against polars and by hand, labels of every kind, and a log without any."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.ingest.landing import load_labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

KS: Final = [1, 2, 4, 8, 16]
VARS: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 4,
    "passk_create_sql_functions": False,
    "passk_ordered_metrics": False,
    "passk_min_eligible_share": 0.9,
}
MODELS: Final = ("passk_graders", "passk_corrected_metrics", "passk_rejected_labels")
SELECTED: Final = [f"+{name}" for name in MODELS]
RATES: Final = {
    "errs": (0.95, 0.08),
    "exact": (1.0, 0.0),
    "chance": (0.4, 0.6),
    "poor": (0.75, 0.3),
}
"""Suites, and how their graders err: P(passed | true pass), P(passed | true failure)."""


def suites() -> tuple[Rows, Rows]:
    """Give attempts of two runs in each suite, with short tasks and excluded attempts, and labels."""
    dice = random.Random(12)
    rows, labels = [], []
    for suite, (s, f) in {**RATES, "few": (0.9, 0.1), "none": (0.9, 0.1)}.items():
        for run, ease in (("early", 2), ("late", 9)):
            for task in range(40):
                rate = dice.betavariate(ease, 1)
                for attempt in range(1, (16 if task else 3) + 1):
                    truly = dice.random() < rate
                    passed = dice.random() < (s if truly else f)
                    outcome = (
                        "excluded" if dice.random() < 0.02 else "passed" if passed else "failed"
                    )
                    key = {"run_id": run, "suite": suite, "task_id": f"t{task}", "attempt": attempt}
                    family = {"repo": f"f{task % 7}"} if task % 5 else {}
                    rows.append({**key, "outcome": outcome, "tags": family})
                    wanted = 0.003 if suite == "few" else 0.4 if outcome == "failed" else 0.15
                    if suite != "none" and dice.random() < wanted * (1 if run == "early" else 0.5):
                        labels.append({**key, "verdict": "pass" if truly else "fail"})
    return rows, labels


@pytest.fixture(scope="module")
def log() -> tuple[Rows, Rows]:
    return suites()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], log: tuple[Rows, Rows]) -> Project:
    made = make_project()
    attempts, labels = log
    made.land(attempts)
    path = made.folder / "labels.parquet"
    pl.DataFrame(labels).write_parquet(path)
    load_labels(path, database=made.database)
    made.run(VARS, select=SELECTED)
    made.run(VARS, command="test", select=[*MODELS, "int_passk__labels"])
    return made


def assert_table(project: Project, name: str, expected: pl.DataFrame, key: list[str]) -> None:
    """Hold a table against polars: numbers up to 1e-12, limits up to the series of Student's t."""
    rows = project.records(f"select {', '.join(expected.columns)} from {name}")
    actual = pl.DataFrame(rows, schema=expected.schema, orient="row").sort(key)
    expected = expected.sort(key)
    assert actual.height == expected.height > 0
    for column in expected.columns:
        one, other = actual[column], expected[column]
        if one.dtype == pl.Float64:
            assert one.is_null().equals(other.is_null()), column
            apart = (one - other).abs() / pl.select(pl.max_horizontal(other.abs(), 1.0)).to_series()
            if column.startswith("share_lost"):
                # A difference over what is missing to 1, which may be little.
                apart = (one - other).abs() * (1 - expected["raw"])
            largest = apart.max()
            limit = 3e-9 if column in ("corrected_lower", "corrected_upper") else 1e-12
            assert largest is None or largest <= limit, (column, largest)
        else:
            assert one.equals(other), column


def frames(log: tuple[Rows, Rows]) -> tuple[pl.DataFrame, pl.DataFrame]:
    attempts, labels = log
    return pl.DataFrame([{**row, "repo": row["tags"].get("repo")} for row in attempts]).drop(
        "tags"
    ), pl.DataFrame(labels)


def test_the_tables_are_those_of_polars(built: Project, log: tuple[Rows, Rows]) -> None:
    attempts, labels = frames(log)
    assert_table(built, "passk_graders", pk.grader_rates(attempts, labels), ["suite"])
    corrected = pk.corrected_metrics(attempts, labels, ks=KS, min_eligible_share=0.9)
    key = ["suite", "run_id", "metric", "k"]
    assert_table(built, "passk_corrected_metrics", corrected, key)
    # Every way to a value, or to none, is there.
    reasons = set(corrected["null_reason"])
    assert None in reasons
    for said in ("no better than chance", "errs too often for this k", "fewer than 5", "n < 16"):
        assert any(reason and said in reason for reason in reasons), said


def test_a_suite_without_labels_has_no_rows(built: Project) -> None:
    found = {suite for (suite,) in built.query("select suite from passk_graders")}
    assert found == {*RATES, "few"}
    assert built.query("select count(*) from passk_corrected_metrics where suite = 'none'") == [
        (0,)
    ]


def test_errors_are_found_where_they_were_planted(built: Project) -> None:
    for row in built.records("select * from passk_graders where suite <> 'few'"):
        s, f = RATES[row["suite"]]
        assert row["sensitivity_lower"] <= s <= row["sensitivity_upper"], row["suite"]
        assert row["false_pass_rate_lower"] <= f <= row["false_pass_rate_upper"], row["suite"]
        assert (row["null_reason"] is None) == (row["suite"] != "chance")


@pytest.mark.long
def test_families_widen_the_limits(
    built: Project, log: tuple[Rows, Rows], tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = built.copy(tmp_path_factory.mktemp("families"))
    variables = {**VARS, "passk_cluster": "repo", "passk_confidence": 0.9}
    project.run(variables, select=SELECTED)
    attempts, labels = frames(log)
    expected = pk.corrected_metrics(
        attempts, labels, ks=KS, min_eligible_share=0.9, cluster="repo", confidence=0.9
    )
    assert_table(project, "passk_corrected_metrics", expected, ["suite", "run_id", "metric", "k"])
    # One of the eight lone tasks is short.
    assert set(expected["families"].drop_nulls()) == {7 + 8, 7 + 7}


def test_without_labels_the_tables_are_empty_and_the_log_is_not_read(project: Project) -> None:
    project.land([{"run_id": "r", "task_id": "t", "attempt": 1, "outcome": "passed"}])
    project.run(VARS, select=SELECTED)
    for name in MODELS:
        assert project.query(f"select count(*) from {name}") == [(0,)]
    node = project.dbt.manifest(VARS).nodes["model.passk.int_passk__labels"]
    compiled = str(node.compiled_code)
    assert "int_passk__attempts" not in compiled


ODD: Final = [
    ("none", 1, "passed", "no_such_attempt: the log has no such attempt."),
    (
        "t",
        2,
        "passed",
        "not_graded: the attempt is excluded, so that there is no grade to check.",
    ),
    ("t", 1, "passed", "contradictory: the attempt has 2 labels, and they differ; none is used."),
    ("t", 1, "failed", "contradictory: the attempt has 2 labels, and they differ; none is used."),
    ("t", 3, "failed", None),
    (
        "t",
        3,
        "failed",
        "duplicate: the attempt has 2 labels of the same verdict; the first is used.",
    ),
    ("t", 4, "unsure", "unknown_verdict: verdict is unsure, but must be passed or failed."),
    ("", 1, "passed", "missing_field: task_id is missing. Every label needs one."),
]


def test_labels_that_are_not_used_have_their_reasons(project: Project) -> None:
    outcomes = ["passed", "excluded", "failed", "passed"]
    project.land(
        {"run_id": "r", "task_id": "t", "attempt": number, "outcome": outcome}
        for number, outcome in enumerate(outcomes, 1)
    )
    path = project.folder / "labels.csv"
    pl.DataFrame(
        [("r", "suite", task, attempt, verdict) for task, attempt, verdict, _ in ODD],
        schema=["run_id", "suite", "task_id", "attempt", "verdict"],
        orient="row",
    ).write_csv(path)
    load_labels(path, database=project.database)
    project.run(VARS, select=SELECTED)
    found = project.query("select source_line, reason from passk_rejected_labels order by all")
    wanted = [(line, reason) for line, (*_, reason) in enumerate(ODD, 1) if reason]
    assert found == wanted
    (row,) = project.records("select * from passk_graders")
    assert (row["labels"], row["rejected_labels"], row["sensitivity"]) == (8, 7, None)
    assert row["null_reason"] == ("only 0 labels of attempts that the grader passed, fewer than 5")
