"""``passk validate``: agrees where SQL is right, and catches every kind of wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from passk_py.validate import validate_tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Demo, Said

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
    }


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
        },
    ),
    "passk_runs": (
        "run_id = 'new'",
        {
            "excluded": "excluded + 1",
            "rejected": "rejected + 1",
            "pass_rate": "pass_rate + 1e-10",
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


@pytest.mark.parametrize("table", ["passk_task_metrics", "passk_tasks", "passk_suite_metrics"])
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
    assert sum(table.rows for table in report.tables) == 4 * (48 * 12 + 48 + 12 + 1)
    assert seen[-1] == (3248, 3248)
