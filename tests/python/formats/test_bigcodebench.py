"""BigCodeBench: its own pass@k, what its figures and its names say, and tasks that can't pass."""

from __future__ import annotations

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

FIXTURES = Path(__file__).parent / "fixtures" / "bigcodebench"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
HARD, INSTRUCT = SAID


def sample(**changes: Any) -> dict[str, Any]:
    """Make a sample as BigCodeBench writes it."""
    made = {"task_id": "BigCodeBench/0", "solution": "pass", "status": "pass", "details": {}}
    return {**made, **changes}


@pytest.fixture
def eval_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load the samples of these tasks."""

    def loaded(
        tasks: Any, name: str = "run_eval_results.json", figures: Any = None, **options: Any
    ) -> Any:
        path = tmp_path / name
        document = {"date": "2026-01-31 12:00", "eval": tasks}
        path.write_text(tasks if isinstance(tasks, str) else json.dumps(document), "utf-8")
        beside = path.with_name(name.replace("eval_results", "pass_at_k"))
        if figures is not None:
            beside.write_text(json.dumps(figures), "utf-8")
        return harness_log(path, **options)

    return loaded


@pytest.mark.parametrize("file", SAID)
def test_gives_bigcodebenchs_pass_at_k(file: str, harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / file)
    counts = loaded.counts().values()
    for figure, value in SAID[file]["pass_rates"].items():
        if figure.startswith("pass@"):
            k = int(figure.removeprefix("pass@"))
            each = [1 - Fraction(comb(n - c, k), comb(n, k)) for n, c in counts]
            mean = float(sum(each, Fraction(0)) / len(each))
            assert mean == pytest.approx(value, rel=1e-12)
    assert {one["model"] for one in loaded.attempts} == {SAID[file]["model"]}


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / HARD)
    (one,) = (x for x in loaded.attempts if (x["task_id"], x["attempt"]) == ("BigCodeBench/2", 1))
    data = json.loads((FIXTURES / HARD).read_text("utf-8"))
    solution = data["eval"]["BigCodeBench/2"][0]["solution"]
    expected = {
        "run_id": Path(HARD).name.removesuffix("_eval_results.json"),
        "suite": "bigcodebench-hard-complete",
        "outcome": "failed",
        "outcome_reason": "timeout",
        "score": None,
        "agent": None,
        "model": "acme--größe-7b--main",
        "seed": None,
        "started_at": None,
        "duration_s": None,
        "cost_usd": None,
        "input_tokens": None,
        "output_hash": sha256(solution.encode()).hexdigest(),
        "tags": {"backend": "openai", "calibrated": "true", "temperature": "0.8"},
    }
    assert {name: one[name] for name in expected} == expected


def test_the_name_says_how_many_samples_there_should_be(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / HARD)
    assert {one["task_id"]: one["expected_attempts"] for one in loaded.expected} == dict.fromkeys(
        (f"BigCodeBench/{number}" for number in (0, 1, 2, 3, 10)), 4
    )
    # One of these is missing.
    assert loaded.counts()["BigCodeBench/3"] == (3, 2)


def test_tasks_whose_right_solution_failed_are_marked(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / HARD)
    marked = {one["task_id"] for one in loaded.attempts if "gt_failed" in one["tags"]}
    assert marked == {"BigCodeBench/10"}
    # Without a try of the right solutions, failed_tasks has all tasks and says nothing.
    other = harness_log(FIXTURES / INSTRUCT)
    assert {tuple(one["tags"].items()) for one in other.attempts} == {
        (("backend", "vllm"), ("calibrated", "false"), ("temperature", "0.0"))
    }
    assert {one["suite"] for one in other.attempts} == {"bigcodebench-instruct"}


def test_without_figures_the_name_says_what_it_can(eval_of: Callable[..., Any]) -> None:
    name = "me--x--bigcodebench-hard-instruct--hf-1.0-2-sanitized_eval_results.json"
    loaded = eval_of({"BigCodeBench/0": [sample()]}, name)
    (one,) = loaded.attempts
    assert (one["suite"], one["model"]) == ("bigcodebench-hard-instruct", "me--x")
    assert one["tags"] == {"backend": "hf", "temperature": "1.0"}
    assert [x["expected_attempts"] for x in loaded.expected] == [2]


def test_without_both_the_command_line_says_it(eval_of: Callable[..., Any]) -> None:
    (one,) = eval_of({"BigCodeBench/0": [sample()]}, "nightly.json").attempts
    assert (one["run_id"], one["suite"], one["model"]) == ("nightly", "bigcodebench", None)
    assert one["tags"] is None
    asked = eval_of({"BigCodeBench/0": [sample()]}, "n.json", run_id="r", suite="s", model="m")
    (one,) = asked.attempts
    assert (one["run_id"], one["suite"], one["model"]) == ("r", "s", "m")
    assert asked.expected == []


def test_figures_of_wrong_types_say_nothing(eval_of: Callable[..., Any]) -> None:
    wrong = {"model": [1], "split": {}, "subset": 7, "gt_pass_rate": "x", "failed_tasks": "all"}
    (one,) = eval_of({"BigCodeBench/0": [sample()]}, figures={**wrong, "calibrated": 1}).attempts
    assert (one["suite"], one["model"], one["tags"]) == ("bigcodebench", None, None)
    mixed = {"gt_pass_rate": 0.5, "failed_tasks": [[1], None, "BigCodeBench/0"], "split": "x"}
    (one,) = eval_of({"BigCodeBench/0": [sample()]}, figures=mixed).attempts
    assert (one["suite"], one["tags"]) == ("bigcodebench-x", {"gt_failed": "true"})
    (one,) = eval_of({"BigCodeBench/0": [sample()]}, figures=[1]).attempts
    assert one["suite"] == "bigcodebench"


def test_other_figures_load_the_file_again(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    from passk_py.ingest.landing import load

    shutil.copytree(FIXTURES / "bcb_results", tmp_path / "bcb")
    database = tmp_path / "passk.duckdb"
    load(tmp_path / "bcb", database=database)
    (figures,) = (tmp_path / "bcb").glob("*hard*pass_at_k.json")
    figures.write_text(figures.read_text("utf-8").replace("10", "11"), "utf-8")
    assert load(tmp_path / "bcb", database=database).statuses == {"replaced": 1, "unchanged": 1}


def test_nothing_but_pass_passes_whatever_the_policy(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / HARD, policy={"*": "excluded"})
    reasons = {key for key, reason in loaded.reasons().items() if reason == "timeout"}
    assert reasons == {("BigCodeBench/1", 4), ("BigCodeBench/2", 1)}
    assert {loaded.verdicts()[key] for key in reasons} == {"failed"}


def test_wrong_types_are_refused_with_a_reason(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of(
        {
            "größe": [
                sample(),
                sample(status=True),
                7,
                {"task_id": "a", "solution": None},
                sample(solution=[1], status="unheard of"),
            ],
            "\ud800": [sample()],
        }
    )
    assert loaded.verdicts() == {
        ("größe", 1): "passed",
        ("größe", 4): "excluded",
        ("größe", 5): "failed",
    }
    assert [one["reason_code"] for one in loaded.rejected] == [
        "wrong_type",
        "malformed_line",
        "invalid_utf8",
    ]


def test_a_list_of_samples_without_tasks_is_refused(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of([[sample()]])
    assert [one["reason_code"] for one in loaded.rejected] == ["missing_field"]


def test_not_a_number_and_a_name_that_comes_twice_harm_nobody(eval_of: Callable[..., Any]) -> None:
    nan = json.dumps(sample(details={"x": 1})).replace('"x": 1', '"x": NaN')
    twice = json.dumps(sample()).replace('"details"', '"status": "fail", "details"')
    loaded = eval_of(f'{{"eval": {{"BigCodeBench/0": [{nan}, {twice}]}}}}')
    assert list(loaded.verdicts().values()) == ["passed", "failed"]


def test_of_a_file_that_is_cut_off_the_samples_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / HARD).read_bytes()
    third = [place for place in range(len(whole)) if whole.startswith(b'"details"', place)][2]
    (tmp_path / "cut.json").write_bytes(whole[:third])
    loaded = harness_log(tmp_path / "cut.json")
    assert loaded.report.rows_landed == 2
    assert [one["reason_code"] for one in loaded.rejected] == ["truncated"]


def test_an_eval_without_samples_has_no_rows(eval_of: Callable[..., Any]) -> None:
    assert eval_of({}).report.files[0].status == "failed"


def test_a_sample_longer_than_the_look_at_the_file_is_known(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of({"BigCodeBench/0": [sample(details={"ALL": "x" * (2 << 20)})]})
    assert [one.format for one in loaded.report.files] == ["bigcodebench"]


def test_a_folder_lands_each_attempt_once(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    shutil.copytree(FIXTURES, tmp_path / "all")
    loaded = harness_log(tmp_path / "all")
    assert {(one.format, one.status) for one in loaded.report.files} == {("bigcodebench", "landed")}
    assert len(loaded.attempts) == sum(len(said["attempts"]) for said in SAID.values())
    skipped = {Path(one.path).name for one in loaded.report.skipped}
    # Figures belong to their log; samples have no verdict.
    assert not any("pass_at_k" in name for name in skipped)


def test_figures_alone_say_what_to_load(harness_log: Callable[..., Any], tmp_path: Path) -> None:
    (figures,) = (FIXTURES / "bcb_results").glob("*hard*pass_at_k.json")
    shutil.copy(figures, tmp_path / "figures.json")
    (report,) = harness_log(tmp_path / "figures.json").report.files
    assert report.status == "failed"
    assert "eval_results.json" in report.hint


def test_the_names_of_the_first_versions_end_in_the_subset(eval_of: Callable[..., Any]) -> None:
    name = "acme--bigcodebench-instruct--openai-0.8-2_hard_eval_results.json"
    loaded = eval_of({"BigCodeBench/0": [sample()]}, name)
    (one,) = loaded.attempts
    assert (one["suite"], one["model"]) == ("bigcodebench-hard-instruct", "acme")
    assert [one["expected_attempts"] for one in loaded.expected] == [2]
