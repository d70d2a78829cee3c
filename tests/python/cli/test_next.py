"""``passk next``: the tasks that lack attempts, until the gate is decided."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

import passk_py as pk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

GATE: Final = {
    "name": "unattended", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.9,
    "sequential": True, "attempts": 3, "severity": "ignore", "inconclusive": "ignore",
}  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("next")
    rows: list[dict[str, Any]] = []
    # Ten finished tasks, one that lacks two attempts, one with an excluded one, which counts for none.
    for task, attempts in (
        *((f"t{number:02}", 3) for number in range(10)),
        ("late", 1),
        ("lost", 3),
    ):
        for attempt in range(1, attempts + 1):
            outcome = "excluded" if task == "lost" and attempt == 2 else "passed"
            rows.append(
                {
                    "run_id": "new",
                    "suite": "s",
                    "task_id": task,
                    "attempt": attempt,
                    "outcome": outcome,
                }
            )
    # A run that is decided.
    rows += [
        {
            "run_id": "sure",
            "suite": "s",
            "task_id": f"t{task}",
            "attempt": attempt,
            "outcome": "passed",
        }
        for task in range(60)
        for attempt in range(1, 4)
    ]
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    database = folder / "passk.duckdb"
    pk.load(str(log), database=database)
    gates = [
        {**GATE, "run": "all"},
        {
            "name": "whole",
            "type": "coverage",
            "metric": "excluded_attempts",
            "max": 0.5,
            "run": "all",
        },
        {
            "name": "rolling",
            "type": "drop",
            "metric": "pass_hat_k",
            "k": 2,
            "max_drop": 0.1,
            "baseline": {"last": 3},
            "run": "new",
            "severity": "ignore",
            "inconclusive": "ignore",
        },
    ]
    pk.build(
        database,
        variables={"passk_ks": [1, 2, 3], "passk_deployment_k": 2, "passk_gates": gates},
        tests=False,
    )
    return database


def test_tasks_that_lack_attempts_are_named(passk: Passk, built: Path) -> None:
    said = passk("next", "new", "--gate", "unattended", "--database", built)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "INCONCLUSIVE  unattended · new · s"
    assert "2 tasks lack 3 attempts:" in lines
    assert [line.split() for line in lines if line.startswith("  l")] == [
        ["lost", "1"],
        ["late", "2"],
    ]


def test_json_is_what_a_harness_reads(passk: Passk, built: Path) -> None:
    said = passk("next", "new", "--gate", "unattended", "--database", built, "--json").json
    assert said["tasks"] == [
        {"suite": "s", "task_id": "lost", "attempts": 1},
        {"suite": "s", "task_id": "late", "attempts": 2},
    ]
    assert [row["result"] for row in said["results"]] == ["inconclusive"]
    assert said["is_decided"] is False


def test_a_decided_gate_needs_none(passk: Passk, built: Path) -> None:
    said = passk("next", "sure", "--gate", "unattended", "--database", built)
    assert said.out.splitlines()[0] == "PASS  unattended · sure · s"
    assert said.out.splitlines()[-1] == "The gate is decided: no more attempts are needed."
    whole = passk("next", "new", "--gate", "whole", "--database", built, "--json").json
    assert (whole["is_decided"], whole["tasks"]) == (True, [])


def test_a_rolling_baseline_takes_k_attempts(passk: Passk, built: Path) -> None:
    said = passk("next", "new", "--gate", "rolling", "--database", built, "--json").json
    assert said["tasks"] == [{"suite": "s", "task_id": "late", "attempts": 1}]


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        (
            ("new", "--gate", "unatended"),
            "There is no gate unatended. Did you mean unattended?",
        ),
        (
            ("knew", "--gate", "unattended"),
            "There is no run knew; the runs are new, sure. Did you mean new?",
        ),
        (("new",), "Missing option '--gate'."),
    ],
)
def test_names_that_there_are_not(
    passk: Passk, built: Path, words: tuple[str, ...], mistake: str
) -> None:
    said = passk("next", *words, "--database", built)
    assert said.code == 2
    assert mistake in said.err
