"""LiveCodeBench: its own pass@k, reasons, scenarios, names of files, bad files."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "livecodebench"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
CODE, EXECUTION = SAID


@pytest.mark.parametrize("file", SAID)
def test_gives_the_pass_at_k_of_the_tool(file: str, harness_log: Callable[..., Any]) -> None:
    counts = harness_log(FIXTURES / file).counts().values()
    for k in (1, 2):
        if said := SAID[file]["figures"].get(f"pass@{k}"):
            found = mean(1 - comb(n - c, k) / comb(n, k) for n, c in counts)
            assert found == pytest.approx(said, rel=1e-12)


def test_a_sample_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / CODE
    loaded = harness_log(path)
    (row,) = [row for row in loaded.attempts if (row["task_id"], row["attempt"]) == ("abc301_b", 3)]
    expected = {
        "run_id": "Größe-7B_Scenario.codegeneration_4_0.2",
        "suite": "livecodebench/codegeneration",
        "outcome": "failed",
        "outcome_reason": "timeout",
        "model": "Größe-7B",
        "tags": {
            "contest_date": "2023-05-13T00:00:00",
            "contest_id": "abc301",
            "difficulty": "medium",
            "platform": "atcoder",
            "temperature": "0.2",
        },
        "transcript": f"{path}#/1",
    }
    assert {name: row[name] for name in expected} == expected
    assert {one["expected_attempts"] for one in loaded.expected} == {4}


def test_failures_have_reasons_and_stay_failures(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / CODE)
    found = [(loaded.verdicts()["3206", n], loaded.reasons()["3206", n]) for n in (1, 2, 3, 4)]
    assert found == [
        ("failed", "compilation_error"),
        ("failed", "runtime_error"),
        ("failed", "test_runner_error"),
        ("passed", None),
    ]


def test_inputs_of_one_question_are_tasks_of_their_own(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / EXECUTION)
    assert loaded.counts() == {"sample_1": (2, 1), "sample_2": (2, 2)}
    assert {row["suite"] for row in loaded.attempts} == {"livecodebench/codeexecution"}
    assert {row["run_id"] for row in loaded.attempts} == {"Größe-7B_codeexecution_2_0.2"}


@pytest.fixture
def list_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a list of these problems."""

    def loaded(*rows: Any, name: str = "nightly_eval_all.json") -> Any:
        path = tmp_path / name
        path.write_text(json.dumps(rows), "utf-8")
        return harness_log(path)

    return loaded


def test_verdicts_without_the_problem_are_read(list_of: Callable[..., Any]) -> None:
    loaded = list_of({"question_id": "a", "graded_list": [True, False], "pass@1": 0.5})
    assert loaded.counts() == {"a": (2, 1)}


def problem(name: Any, graded: Any, **more: Any) -> dict[str, Any]:
    """Make a problem as the tool writes it."""
    return {"question_id": name, "contest_id": "c", "graded_list": graded, **more}


def test_the_other_scenarios(list_of: Callable[..., Any]) -> None:
    loaded = list_of(
        problem("q", [True], pred_list=["1"], test_id=0),
        problem("q", [False], pred_list=["1"], test_id=1),
        problem("q", [True], code_list=["1"], original_code_list=["2"]),
        problem(3206, [True], code_list=["1"], metadata=[{"error_code": -2}]),
    )
    assert {(row["suite"], row["task_id"]): row["outcome"] for row in loaded.attempts} == {
        ("livecodebench/testoutputprediction", "q/0"): "passed",
        ("livecodebench/testoutputprediction", "q/1"): "failed",
        ("livecodebench/selfrepair", "q"): "passed",
        ("livecodebench/codegeneration", "3206"): "passed",
    }
    assert {row["run_id"] for row in loaded.attempts} == {"nightly"}
    assert {row["model"] for row in loaded.attempts} == {None}


def test_problems_of_wrong_types(list_of: Callable[..., Any]) -> None:
    loaded = list_of(
        problem("a", [True, None, "x"], code_list=7, metadata=["{", "[]", 7]),
        problem("b", None),
        problem(None, [True]),
        problem("c", []),
        [],
    )
    assert loaded.reasons() == {("a", 1): None, ("a", 2): "no_verdict", ("a", 3): "no_verdict"}
    assert [row["reason_code"] for row in loaded.rejected] == [
        "no_verdict", "missing_field", "malformed_line",
    ]  # fmt: skip
    assert "--evaluate" in loaded.rejected[0]["reason"]


def test_generations_are_no_log(list_of: Callable[..., Any]) -> None:
    made = {"question_id": "a", "contest_id": "c", "output_list": [], "code_list": []}
    (report,) = list_of(made, name="Scenario.codegeneration_1_0.2.json").report.files
    assert report.status == "failed"
    assert "no verdicts" in report.message
    assert "--evaluate" in report.hint


def test_of_a_file_that_is_cut_off_the_problems_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / CODE).read_bytes()
    path = tmp_path / "x_eval_all.json"
    path.write_bytes(whole[: whole.index(b'"abc302_d"')])
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 12
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]


def test_samples_that_are_longer_than_the_first_look(list_of: Callable[..., Any]) -> None:
    first = {"question_id": "a", "contest_id": "c", "contest_date": "2023", "output_list": ["x" * (1 << 21)]}  # fmt: skip
    loaded = list_of({**first, "code_list": ["1"], "graded_list": [True]})
    assert loaded.verdicts() == {("a", 1): "passed"}
