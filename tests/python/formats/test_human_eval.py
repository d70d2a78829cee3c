"""HumanEval: its own pass@k, the numbering by lines, and keys of the samples."""

from __future__ import annotations

import gzip
import json
import shutil
from fractions import Fraction
from hashlib import sha256
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "human_eval"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
MANY, SINGLE = SAID


def line(task: str = "HumanEval/0", **changes: Any) -> dict[str, Any]:
    """Make a line as HumanEval writes it."""
    made = {"task_id": task, "completion": "pass", "result": "passed", "passed": True}
    return {**made, **changes}


@pytest.fixture
def lines_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load these lines."""

    def loaded(*lines: Any, **options: Any) -> Any:
        path = tmp_path / "s.jsonl_results.jsonl"
        texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
        path.write_text("\n".join(texts), encoding="utf-8")
        return harness_log(path, **options)

    return loaded


@pytest.mark.parametrize("file", SAID)
def test_gives_humanevals_pass_at_k(file: str, harness_log: Callable[..., Any]) -> None:
    counts = harness_log(FIXTURES / file).counts().values()
    rates = {}
    for k in (1, 2, 3, 10):
        # A figure is there only for k that every task has samples for.
        if all(n >= k for n, _ in counts):
            each = [1 - Fraction(comb(n - c, k), comb(n, k)) for n, c in counts]
            rates[f"pass@{k}"] = float(sum(each, Fraction(0)) / len(each))
    assert rates == pytest.approx(SAID[file]["pass_rates"], rel=1e-12)
    assert rates.keys() == SAID[file]["pass_rates"].keys()


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / MANY)
    (one,) = (x for x in loaded.attempts if (x["task_id"], x["attempt"]) == ("HumanEval/2", 1))
    expected = {
        "run_id": "human_eval",
        "suite": "human-eval",
        "outcome": "failed",
        "outcome_reason": "timeout",
        "score": None,
        "agent": None,
        "model": "acme/größe-7b",
        "seed": 42,
        "started_at": None,
        "duration_s": None,
        "cost_usd": None,
        "input_tokens": None,
        "output_hash": sha256(b"    while True:\n        pass\n").hexdigest(),
        "tags": None,
        "source_line": 5,
    }
    assert {name: one[name] for name in expected} == expected
    assert loaded.report.files[0].ignored == ("temperature",)
    assert loaded.expected == []


def test_a_failure_has_no_reason_but_a_timeout(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / MANY, policy={"*": "excluded"})
    # Everything was graded, so no policy changes it.
    assert "excluded" not in loaded.verdicts().values()
    assert {key for key, reason in loaded.reasons().items() if reason} == {("HumanEval/2", 1)}


def test_lines_are_numbered_as_they_stand(lines_of: Callable[..., Any]) -> None:
    loaded = lines_of(line("b"), line("a"), "", line("b", passed=False), line("b"))
    assert loaded.verdicts() == {
        ("a", 1): "passed",
        ("b", 1): "passed",
        ("b", 2): "failed",
        ("b", 3): "passed",
    }


def test_numbers_are_the_same_in_the_careful_way(lines_of: Callable[..., Any]) -> None:
    # A line that is refused is a sample all the same, so the numbers of the others stay.
    loaded = lines_of(line("a"), line("a", passed="maybe"), line("a", result="timed out"))
    assert loaded.reasons() == {("a", 1): None, ("a", 3): "timeout"}
    assert [one["reason_code"] for one in loaded.rejected] == ["wrong_type"]


def test_the_command_line_names_the_run_and_the_suite(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / SINGLE, run_id="r", suite="s", model="m")
    assert {(x["run_id"], x["suite"], x["model"]) for x in loaded.attempts} == {("r", "s", "m")}


def test_keys_of_the_samples_that_are_of_no_use_are_left_out(lines_of: Callable[..., Any]) -> None:
    loaded = lines_of(line(seed="first", model={"name": "m"}), line(seed=7, model="m"))
    assert [(one["seed"], one["model"]) for one in loaded.attempts] == [(None, None), (7, "m")]


def test_a_line_without_a_verdict_is_excluded(lines_of: Callable[..., Any]) -> None:
    loaded = lines_of(line(), line(passed=None))
    assert loaded.verdicts() == {("HumanEval/0", 1): "passed", ("HumanEval/0", 2): "excluded"}
    assert loaded.reasons()["HumanEval/0", 2] == "no_verdict"


def test_wrong_lines_are_refused_with_a_reason(lines_of: Callable[..., Any]) -> None:
    without = line()
    del without["task_id"]
    loaded = lines_of(
        line("größe"),
        line(task_id=["a"]),
        without,
        line(passed=[True]),
        '{"task_id": "größe", "completion": NaN, "result": "passed", "passed": true}',
        "[1]",
        '{"task_id": "größe", "comple',
    )
    assert loaded.verdicts()["größe", 1] == "passed"
    assert loaded.report.rows_read == 7
    codes = [one["reason_code"] for one in loaded.rejected]
    assert codes[:3] == ["wrong_type", "missing_field", "wrong_type"]
    assert codes[-2:] == ["malformed_line", "truncated"]


def test_a_key_that_comes_twice_counts_as_it_does_in_json(lines_of: Callable[..., Any]) -> None:
    twice = '{"task_id": "a", "completion": "", "result": "", "passed": false, "passed": true}'
    loaded = lines_of(twice)
    assert loaded.report.rows_read == 1
    assert loaded.report.rows_landed + loaded.report.rows_rejected == 1


def test_a_completion_longer_than_the_sample_is_known(lines_of: Callable[..., Any]) -> None:
    long = "x" * (2 << 20)
    loaded = lines_of(line(completion=long), line())
    assert [one.format for one in loaded.report.files] == ["human-eval"]
    assert loaded.attempts[0]["output_hash"] == sha256(long.encode()).hexdigest()


def test_compressed_files_have_the_same_run(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "acme-7b" / f"{MANY}.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress((FIXTURES / MANY).read_bytes()))
    assert {one["run_id"] for one in harness_log(path).attempts} == {"acme-7b"}


def test_a_folder_lands_each_attempt_once(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    for path in FIXTURES.glob("*.json*"):
        shutil.copy(path, tmp_path)
    loaded = harness_log(tmp_path)
    assert [(one.format, one.status) for one in loaded.report.files] == [
        ("human-eval", "landed"),
        ("human-eval", "landed"),
    ]
    assert len(loaded.attempts) == sum(len(said["attempts"]) for said in SAID.values())


def test_canonical_lines_are_not_taken_for_humaneval(lines_of: Callable[..., Any]) -> None:
    loaded = lines_of(line(run_id="r", attempt=3))
    assert [one.format for one in loaded.report.files] == ["jsonl"]
    assert [one["attempt"] for one in loaded.attempts] == [3]
