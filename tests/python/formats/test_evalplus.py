"""EvalPlus: its own pass@k with and without the extra tests, and what the file's name says."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from fractions import Fraction
from hashlib import sha256
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FIXTURES = Path(__file__).parent / "fixtures" / "evalplus"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
FOUR, MANY, BASE = SAID


def sample(**changes: Any) -> dict[str, Any]:
    """Make a sample as EvalPlus writes it."""
    made = {"task_id": "HumanEval/0", "solution": "pass", "base_status": "pass"}
    return {**made, "plus_status": "pass", "base_fail_tests": [], "plus_fail_tests": [], **changes}


@pytest.fixture
def eval_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load the samples of these tasks."""

    def loaded(tasks: Any, name: str = "run_eval_results.json", **options: Any) -> Any:
        path = tmp_path / name
        document = {"date": "2026-01-31 12:00", "hash": "h", "eval": tasks}
        path.write_text(tasks if isinstance(tasks, str) else json.dumps(document), "utf-8")
        return harness_log(path, **options)

    return loaded


def pass_at(counts: Iterable[tuple[int, int]], k: int) -> float:
    each = [1 - Fraction(comb(n - c, k), comb(n, k)) for n, c in counts]
    return float(sum(each, Fraction(0)) / len(each))


@pytest.mark.parametrize("file", SAID)
def test_gives_evalplus_pass_at_k_of_both_sets_of_tests(
    file: str, harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(FIXTURES / file)
    base: dict[str, list[bool]] = defaultdict(list)
    for one in loaded.attempts:
        base[one["task_id"]].append(one["tags"]["base_status"] == "pass")
    counts = {
        "base": [(len(passed), sum(passed)) for passed in base.values()],
        "plus": list(loaded.counts().values()),
    }
    for figure, value in SAID[file]["pass_rates"].items():
        which, k = figure.split(" pass@")
        assert pass_at(counts[which], int(k)) == pytest.approx(value, rel=1e-12)
    if file == BASE:
        # Without the extra tests the verdict is that of the base tests.
        assert counts["base"] == counts["plus"]


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / FOUR)
    (one,) = (x for x in loaded.attempts if (x["task_id"], x["attempt"]) == ("HumanEval/1", 2))
    solution = 'def half(a):\n    """Half."""\n    return a // 2\n'
    expected = {
        "run_id": "acme--größe-7b_openai_temp_0.8",
        "suite": "humaneval+",
        "outcome": "failed",
        "outcome_reason": None,
        "score": None,
        "agent": None,
        "model": "acme/größe-7b",
        "seed": None,
        "started_at": None,
        "duration_s": None,
        "cost_usd": None,
        "input_tokens": None,
        "output_hash": sha256(solution.encode()).hexdigest(),
        "tags": {
            "backend": "openai",
            "base_status": "pass",
            "plus_status": "fail",
            "temperature": "0.8",
        },
    }
    assert {name: one[name] for name in expected} == expected
    assert loaded.expected == []


def test_base_only_is_a_suite_of_its_own(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / BASE)
    found = {(x["run_id"], x["suite"], x["model"], x["tags"]["backend"]) for x in loaded.attempts}
    # The file is eval_results.json, so its folder names the run.
    assert found == {("acme--small_hf_temp_0.0", "humaneval", "acme/small", "hf")}


def test_a_timeout_is_a_failure_with_a_reason(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / FOUR, policy={"*": "excluded"})
    reasons = {key: reason for key, reason in loaded.reasons().items() if reason}
    assert reasons == {("HumanEval/2", 1): "timeout"}
    # It was graded, so no policy changes it.
    assert loaded.verdicts()["HumanEval/2", 1] == "failed"


def test_the_attempt_is_the_place_in_the_list(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of(
        {
            "Mbpp/2": [sample(), sample(plus_status="timeout"), sample(base_status="fail")],
            "HumanEval/1": [],
            "other": [sample(plus_status=None)],
        }
    )
    assert loaded.verdicts() == {
        ("Mbpp/2", 1): "passed",
        ("Mbpp/2", 2): "failed",
        ("Mbpp/2", 3): "failed",
        ("other", 1): "passed",
    }
    assert loaded.reasons()["Mbpp/2", 2] == "timeout"
    assert {x["task_id"]: x["suite"] for x in loaded.attempts} == {
        "Mbpp/2": "mbpp+",
        "other": "evalplus",
    }


def test_names_of_another_form_say_nothing(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of({"HumanEval/0": [sample()]}, "nightly.json")
    (one,) = loaded.attempts
    assert (one["run_id"], one["model"]) == ("nightly", None)
    assert one["tags"] == {"base_status": "pass", "plus_status": "pass"}
    (named,) = eval_of({"HumanEval/0": [sample()]}, "n.json", run_id="r", model="m").attempts
    assert (named["run_id"], named["model"]) == ("r", "m")


def test_wrong_types_are_refused_with_a_reason(eval_of: Callable[..., Any]) -> None:
    nothing = {"task_id": "HumanEval/0", "solution": "", "base_status": None}
    loaded = eval_of(
        {
            "größe": [
                sample(),
                sample(base_status=1.5),
                sample(plus_status=[]),
                [],
                nothing,
                sample(solution={"a": 1}),
            ],
            "\ud800": [sample()],
            "not a list": 7,
        }
    )
    assert loaded.verdicts() == {
        ("größe", 1): "passed",
        ("größe", 5): "excluded",
        ("größe", 6): "passed",
    }
    assert [one["reason_code"] for one in loaded.rejected] == [
        "wrong_type",
        "wrong_type",
        "malformed_line",
        "invalid_utf8",
        "malformed_line",
    ]
    assert loaded.report.rows_read == 8


def test_a_list_of_samples_without_tasks_is_refused(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of([[sample()]])
    assert [one["reason_code"] for one in loaded.rejected] == ["missing_field"]
    assert loaded.attempts == []


def test_not_a_number_and_a_name_that_comes_twice_harm_nobody(eval_of: Callable[..., Any]) -> None:
    nan = json.dumps(sample()).replace("[]", "[NaN]", 1)
    twice = json.dumps(sample()).replace('"plus', '"base_status": "fail", "plus', 1)
    loaded = eval_of(f'{{"eval": {{"HumanEval/0": [{nan}], "HumanEval/1": [{twice}]}}}}')
    # The last of two counts, as everywhere in JSON.
    assert list(loaded.verdicts().values()) == ["passed", "failed"]


def test_of_a_file_that_is_cut_off_the_samples_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / FOUR).read_bytes()
    third = [place for place in range(len(whole)) if whole.startswith(b'"base_fail', place)][2]
    (tmp_path / "cut.json").write_bytes(whole[:third])
    loaded = harness_log(tmp_path / "cut.json")
    assert loaded.report.rows_landed == 2
    assert [one["reason_code"] for one in loaded.rejected] == ["truncated"]


def test_an_eval_without_samples_has_no_rows(eval_of: Callable[..., Any]) -> None:
    assert eval_of({}).report.files[0].status == "failed"


def test_a_sample_longer_than_the_look_at_the_file_is_known(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of({"HumanEval/0": [sample(base_fail_tests=["x" * (2 << 20)])]})
    assert [one.format for one in loaded.report.files] == ["evalplus"]
    assert loaded.report.rows_landed == 1


def test_a_folder_lands_each_attempt_once(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    shutil.copytree(FIXTURES, tmp_path / "all")
    loaded = harness_log(tmp_path / "all")
    assert {(one.format, one.status) for one in loaded.report.files} == {("evalplus", "landed")}
    assert len(loaded.attempts) == sum(len(said["attempts"]) for said in SAID.values())
    assert len({one["run_id"] for one in loaded.attempts}) == len(SAID)


def test_the_lists_of_statuses_of_the_first_versions(eval_of: Callable[..., Any]) -> None:
    tasks = {
        "HumanEval/0": {
            "nfiles": 3,
            "base": [["success", [True]], ["success", [True]], ["timed out", []]],
            "plus": [["success", [True]], ["failed", [False]], ["failed", []]],
        },
        "Mbpp/2": {"nfiles": 1, "base": [["success", [True]]], "plus": []},
    }
    loaded = eval_of(tasks)
    assert loaded.verdicts() == {
        ("HumanEval/0", 1): "passed",
        ("HumanEval/0", 2): "failed",
        ("HumanEval/0", 3): "failed",
        ("Mbpp/2", 1): "passed",
    }
    assert loaded.reasons()["HumanEval/0", 3] == "timeout"
    assert [(x["suite"], x["tags"]) for x in loaded.attempts if x["attempt"] == 1] == [
        ("humaneval+", {"base_status": "pass", "plus_status": "pass"}),
        ("mbpp", {"base_status": "pass"}),
    ]


@pytest.mark.parametrize(
    ("task", "code"),
    [
        ({"base": "success", "plus": []}, "wrong_type"),
        ({"base": [["success", []]], "plus": [["success", []]] * 2}, "out_of_range"),
        ({"base": [[7.5, []]], "plus": []}, "wrong_type"),
    ],
)
def test_lists_of_statuses_that_are_none_are_refused(
    task: dict[str, Any], code: str, eval_of: Callable[..., Any]
) -> None:
    good = {"nfiles": 1, "base": [["success", []]], "plus": []}
    loaded = eval_of({"HumanEval/0": good, "HumanEval/1": {"nfiles": 1, **task}})
    assert [one["reason_code"] for one in loaded.rejected] == [code]
    assert loaded.verdicts() == {("HumanEval/0", 1): "passed"}


def test_results_of_one_name_are_runs_called_after_their_folders(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    """EvalPlus puts ``_eval_results`` behind the name of the samples, which are often samples."""
    content = (FIXTURES / FOUR).read_bytes()
    models = ["acme-7b", "acme-70b", "größe"]
    folders = [tmp_path / "all" / model for model in models]
    folders += [tmp_path / "nested" / "other" / "evalplus_results" / "humaneval"]
    for place, folder in enumerate(folders):
        folder.mkdir(parents=True)
        # Files of one name and the same bytes would be copies.
        (folder / "samples_eval_results.json").write_bytes(content + b"\n" * place)
        (folder / "samples.jsonl").write_bytes(
            (FIXTURES / FOUR.replace("_eval_results.json", ".jsonl")).read_bytes()
        )
    loaded = harness_log(tmp_path)
    assert {one["run_id"] for one in loaded.attempts} == {*models, "other"}
    keys = [(one["run_id"], one["task_id"], one["attempt"]) for one in loaded.attempts]
    assert len(keys) == len(set(keys)) == 4 * len(harness_log(FIXTURES / FOUR).attempts)


def test_a_name_with_a_digit_is_one_of_several_in_a_folder(eval_of: Callable[..., Any]) -> None:
    tasks = {"HumanEval/0": [sample()]}
    assert eval_of(tasks, "samples_2_eval_results.json").attempts[0]["run_id"] == "samples_2"
