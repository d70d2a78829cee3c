"""SWE-bench: the counts of its summaries follow from what lands, with or without its reports."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.formats.policy import policy_from

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "swe_bench"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
GRADED = {"patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True}


def counts(name: str) -> dict[str, dict[str, int]]:
    """Give the tool's own counts by run."""
    found: dict[str, dict[str, int]] = {}
    for figure, value in EXPECTED[name]["pass_rates"].items():
        run, _, count = figure.partition("/")
        found.setdefault(run, {})[count.removesuffix("_instances")] = value
    return found


def report(root: Path, run: str, model: str, task: str, content: Any) -> Path:
    """Write the report of an instance; None for an instance without one."""
    folder = root / "logs" / "run_evaluation" / run / model / task
    folder.mkdir(parents=True)
    (folder / "patch.diff").write_text("diff")
    if content is not None:
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / "report.json").write_text(text, "utf-8")
    return folder / "report.json"


def resolved(task: str, value: Any = True, **more: Any) -> dict[str, Any]:
    return {task: GRADED | {"resolved": value} | more}


def summary(path: Path, **lists: Any) -> Path:
    """Write a summary with these lists of ids."""
    names = ("completed", "incomplete", "empty_patch", "submitted", "resolved", "unresolved")
    whole: dict[str, Any] = {"total_instances": 1, "submitted_instances": 1}
    whole |= {"resolved_instances": 0}
    whole |= {f"{name}_ids": [] for name in (*names, "error")}
    path.write_text(json.dumps(whole | lists | {"schema_version": 2}))
    return path


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_counts_of_the_tool_follow_from_what_landed(
    name: str, harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(FIXTURES / name)
    said = counts(name)
    assert {row["tags"]["run"] for row in loaded.attempts} == set(said)
    for run, count in said.items():
        rows = [row for row in loaded.attempts if row["tags"]["run"] == run]
        outcomes = [row["outcome"] for row in rows]
        reasons = [row["outcome_reason"] for row in rows]
        assert outcomes.count("passed") == count["resolved"]
        assert reasons.count("empty_patch") == count["empty_patch"]
        # SWE-bench counts all else against the model, whatever was the matter.
        others = count["unresolved"] + count["empty_patch"] + count["error"]
        assert len(rows) - outcomes.count("passed") == others
        tasks = [row["expected_attempts"] for row in loaded.expected]
        assert len(tasks) == count["total"]
        # The leaderboard's rate: what is missing counts as not resolved.
        rate = Fraction(outcomes.count("passed"), len(tasks))
        assert rate == Fraction(count["resolved"], count["total"])


def test_an_instance_becomes_a_row_with_all_that_is_known(
    harness_log: Callable[..., Any],
) -> None:
    rows = harness_log(FIXTURES / "runs").attempts
    (row,) = (row for row in rows if (row["task_id"], row["attempt"]) == ("example__web-7", 3))
    del row["loaded_at"], row["source_line"]
    unknown = ("agent", "agent_version", "seed", "started_at", "duration_s", "cost_usd")
    unknown += ("input_tokens", "output_tokens", "output_hash", "score")
    assert row == dict.fromkeys(unknown) | {
        "run_id": "example__model-s",
        "suite": "SWE-bench/SWE-bench_Verified",
        "task_id": "example__web-7",
        "attempt": 3,
        "outcome": "failed",
        "outcome_reason": "network_unreachable",
        "model": "example__model-s",
        "tags": {"run": "run-3"},
        "transcript": str(
            FIXTURES / "runs/logs/run_evaluation/run-3/example__model-s/example__web-7"
        ),
        "source_file": str(FIXTURES / "runs"),
        "source_format": "swe-bench",
    }


def test_errors_and_empty_patches_fail_with_their_reason(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "runs")
    found = {key: (loaded.verdicts()[key], why) for key, why in loaded.reasons().items() if why}
    assert found == {
        ("example__flask-103", 2): ("failed", "error"),
        ("example__web-7", 1): ("failed", "tests_timed_out"),
        ("example__web-7", 3): ("failed", "network_unreachable"),
        ("example__web-8", 2): ("failed", "empty_patch"),
    }


def test_policy_changes_errors_and_nothing_that_was_graded(
    harness_log: Callable[..., Any],
) -> None:
    before = harness_log(FIXTURES / "runs").verdicts()
    after = harness_log(FIXTURES / "runs", policy=policy_from(["*=excluded"])).verdicts()
    changed = {key: verdict for key, verdict in after.items() if verdict != before[key]}
    assert changed == {
        ("example__flask-103", 2): "excluded",
        ("example__web-7", 1): "excluded",
    }


def test_an_error_of_the_environment_is_excluded(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = summary(
        tmp_path / "m.r.json",
        error_ids=["a", "b", "c"],
        failure_reasons={"a": "out_of_memory", "b": "no_tests_collected"},
    )
    loaded = harness_log(path)
    assert [(row["outcome"], row["outcome_reason"]) for row in loaded.attempts] == [
        ("excluded", "out_of_memory"),
        ("failed", "no_tests_collected"),
        ("failed", "error"),
    ]


def test_reports_alone_tell_of_what_has_none_by_its_folder(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    copied = shutil.copytree(FIXTURES / "runs", tmp_path / "runs")
    with_summaries = harness_log(copied)
    for path in copied.glob("*.json"):
        path.unlink()
    alone = harness_log(copied)
    # An empty patch has no folder, so only a summary knows of it.
    assert with_summaries.verdicts().keys() - alone.verdicts().keys() == {("example__web-8", 2)}
    assert alone.verdicts().items() <= with_summaries.verdicts().items()
    assert alone.reasons()["example__flask-103", 2] == "error"
    assert {row["expected_attempts"] for row in alone.expected} == {3}


def test_a_report_wins_over_the_summary_and_no_attempt_lands_twice(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    report(tmp_path, "r", "m", "a", resolved("a"))
    summary(tmp_path / "m.r.json", unresolved_ids=["a", "b"], error_ids=["b"])
    rows = harness_log(tmp_path).attempts
    assert [(row["task_id"], row["outcome"]) for row in rows] == [("a", "passed"), ("b", "failed")]


def test_summaries_in_a_folder_of_their_own_belong_to_the_reports_beside_it(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    report(tmp_path, "r", "m", "a", resolved("a"))
    (tmp_path / "reports" / "today").mkdir(parents=True)
    summary(tmp_path / "reports" / "today" / "m.r.json", resolved_ids=["a"], error_ids=["b"])
    loaded = harness_log(tmp_path)
    assert [file.path for file in loaded.report.files] == [str(tmp_path)]
    assert sorted(loaded.verdicts()) == [("a", 1), ("b", 1)]


def test_all_fixtures_together_land_each_attempt_once(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "runs", FIXTURES / "runs_v4")
    wanted = len(EXPECTED["runs"]["attempts"]) + len(EXPECTED["runs_v4"]["attempts"])
    keys = {
        tuple(row[name] for name in ("run_id", "suite", "task_id", "attempt"))
        for row in loaded.attempts
    }
    assert len(loaded.attempts) == len(keys) == wanted
    left = [Path(file.path).name for file in loaded.report.skipped]
    assert left == ["report.json"]


def test_an_empty_report_is_left_alone_in_a_folder_and_an_error_of_its_instance(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "runs_v4")
    assert loaded.reasons()["example__flask-103", 1] == "error"
    (empty,) = loaded.report.skipped
    assert empty.reason.startswith("the empty report of an instance of SWE-bench")


def test_runs_are_numbered_by_when_they_were_made(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for run, day in (("b", 1), ("c", 3), ("a", 2)):
        path = report(tmp_path, run, "m", "t", resolved("t"))
        made = {"dataset": "d", "created_at": f"2026-04-0{day}T08:00:00+00:00"}
        (path.parent.parent.parent / "run.json").write_text(json.dumps(made))
    rows = harness_log(tmp_path).attempts
    assert [(row["tags"]["run"], row["attempt"]) for row in rows] == [("b", 1), ("a", 2), ("c", 3)]


@pytest.mark.parametrize("metadata", [None, "cut off {", "[]", '{"created_at": 7}'])
def test_runs_without_a_time_are_numbered_as_people_count(
    metadata: str | None, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for run in ("run-10", "run-9", "run-²", "run-1"):
        path = report(tmp_path, run, "m", "t", resolved("t"))
        if metadata and run == "run-9":
            (path.parent.parent.parent / "run.json").write_text(metadata)
    rows = harness_log(tmp_path).attempts
    names = [row["tags"]["run"] for row in rows]
    assert names == ["run-1", "run-9", "run-10", "run-²"]
    assert [row["attempt"] for row in rows] == [1, 2, 3, 4]


def test_a_run_has_the_same_number_for_all_of_its_instances(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    report(tmp_path, "r1", "m", "a", resolved("a"))
    report(tmp_path, "r2", "m", "a", resolved("a"))
    report(tmp_path, "r2", "m", "b", resolved("b"))
    loaded = harness_log(tmp_path)
    assert sorted(loaded.verdicts()) == [("a", 1), ("a", 2), ("b", 2)]
    assert {row["task_id"]: row["expected_attempts"] for row in loaded.expected} == {"a": 2, "b": 2}


def test_models_and_datasets_are_numbered_apart(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for run, model, dataset in (("r1", "m", "x"), ("r2", "n", "x"), ("r3", "m", "y")):
        path = report(tmp_path, run, model, "t", resolved("t"))
        (path.parent.parent.parent / "run.json").write_text(json.dumps({"dataset": dataset}))
    rows = harness_log(tmp_path).attempts
    assert [(row["run_id"], row["suite"], row["attempt"]) for row in rows] == [
        ("m", "x", 1),
        ("m", "y", 1),
        ("n", "x", 1),
    ]


def test_instances_without_a_prediction_are_expected_but_no_attempts(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "runs" / "example__model-s.run-3.json")
    assert "example__web-8" not in {row["task_id"] for row in loaded.attempts}
    assert "example__web-8" in {row["task_id"] for row in loaded.expected}
    assert {row["expected_attempts"] for row in loaded.expected} == {1}


@pytest.mark.parametrize(
    ("name", "model", "run"),
    [
        ("gpt-4.1.nightly.json", "gpt-4.1", "nightly"),
        ("haiku-4.5.haiku-4.5-full.json", "haiku-4.5", "haiku-4.5-full"),
        ("gpt-4.1.2025.json", "gpt-4.1", "2025"),
        ("modell-größe.r.json", "modell-größe", "r"),
        ("alone.json", "alone", None),
    ],
)
def test_the_name_of_a_summary_tells_model_and_run(
    name: str, model: str, run: str | None, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    (row,) = harness_log(summary(tmp_path / name, resolved_ids=["t"])).attempts
    assert (row["run_id"], row["model"], row["attempt"]) == (model, model, 1)
    assert (row["tags"] or {}).get("run") == run


def test_folders_tell_where_the_dots_of_a_summarys_name_belong(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    (tmp_path / "logs" / "run_evaluation" / "v1.2" / "gpt-4.1").mkdir(parents=True)
    (row,) = harness_log(summary(tmp_path / "gpt-4.1.v1.2.json", resolved_ids=["t"])).attempts
    assert (row["run_id"], row["tags"]) == ("gpt-4.1", {"run": "v1.2"})


@pytest.mark.parametrize("name", ["report.json", "output.report.json"])
def test_a_summary_that_is_called_a_report_belongs_to_the_reports_beside_it(
    name: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for run, value in (("model_N_v1-run_1", True), ("model_N_v1-run_2", False)):
        folder = tmp_path / "outputs" / run
        inner = folder / "eval_outputs" / "t"
        inner.mkdir(parents=True)
        (inner / "report.json").write_text(json.dumps(resolved("t", value)))
        passed, failed = (["t"], []) if value else ([], ["t"])
        summary(folder / name, resolved_ids=passed, unresolved_ids=failed, error_ids=["u"])
    for paths in ([tmp_path], [f"{tmp_path}/outputs/*"], [f"{tmp_path}/outputs/*/{name}"]):
        loaded = harness_log(*paths)
        assert not loaded.rejected
        assert [(r["run_id"], r["task_id"], r["outcome"]) for r in loaded.attempts] == [
            ("model_N_v1-run_1", "t", "passed"),
            ("model_N_v1-run_1", "u", "failed"),
            ("model_N_v1-run_2", "t", "failed"),
            ("model_N_v1-run_2", "u", "failed"),
        ]


def test_the_leaderboards_folders_are_one_run_for_each_submission(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for submission in ("20250101_a", "20250102_b"):
        folder = tmp_path / submission / "logs" / "t"
        folder.mkdir(parents=True)
        (folder / "report.json").write_text(json.dumps(resolved("t")))
    rows = harness_log(tmp_path).attempts
    assert [(row["run_id"], row["attempt"]) for row in rows] == [
        ("20250101_a", 1),
        ("20250102_b", 1),
    ]


def test_a_report_that_is_named_alone_is_attempt_1(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "runs/logs/run_evaluation/run-3/example__model-s/example__flask-102"
    loaded = harness_log(path / "report.json")
    (row,) = loaded.attempts
    assert (row["run_id"], row["suite"], row["attempt"], row["outcome"]) == (
        "example__model-s",
        "SWE-bench/SWE-bench_Verified",
        1,
        "passed",
    )


def test_a_report_that_is_cut_off_is_rejected_and_the_others_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    report(tmp_path, "r", "m", "a", resolved("a"))
    report(tmp_path, "r", "m", "b", json.dumps(resolved("b", tests_status={}))[:-10])
    report(tmp_path, "r", "m", "c", resolved("c", False))
    loaded = harness_log(tmp_path)
    assert loaded.verdicts() == {("a", 1): "passed", ("c", 1): "failed"}
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]
    assert loaded.report.rows_read == 3


def test_a_summary_that_is_cut_off_is_rejected_and_the_reports_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    report(tmp_path, "r", "m", "a", resolved("a"))
    path = summary(tmp_path / "m.r.json", resolved_ids=["a"])
    path.write_text(path.read_text()[:-30])
    loaded = harness_log(tmp_path)
    assert loaded.verdicts() == {("a", 1): "passed"}
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]


def test_a_summary_of_more_instances_than_a_sample_holds_is_recognised(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    ids = [f"owner__repository-{number:040}" for number in range(30_000)]
    path = summary(tmp_path / "m.r.json", completed_ids=ids, resolved_ids=ids[:20_001])
    assert path.stat().st_size > 2 << 20
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 20_001


@pytest.mark.parametrize(
    ("content", "outcome", "reason"),
    [
        (resolved("t", None), "failed", "error"),
        (resolved("t", "true"), "failed", "error"),
        (resolved("t", False, infra_failure_reason=["x"]), "failed", None),
        (resolved("t", True, infra_failure_reason="out_of_memory"), "passed", None),
        (resolved("t", True, tests_status=float("nan")), "passed", None),
        (
            '{"t": {"patch_is_None": 0, "patch_exists": 1, "patch_successfully_applied": 1, '
            '"resolved": false, "resolved": true}}',
            "passed",
            None,
        ),
    ],
)
def test_a_report_of_another_shape_lands_as_the_tool_would_count_it(
    content: Any,
    outcome: str,
    reason: str | None,
    tmp_path: Path,
    harness_log: Callable[..., Any],
) -> None:
    (row,) = harness_log(report(tmp_path, "r", "m", "t", content)).attempts
    assert (row["outcome"], row["outcome_reason"]) == (outcome, reason)


def test_lists_of_another_shape_are_passed_over(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = summary(
        tmp_path / "m.r.json",
        resolved_ids=["größe 長い", 7, None, ["x"]],
        unresolved_ids="abc",
        error_ids={"a": 1},
        incomplete_ids=None,
        failure_reasons=[],
    )
    assert [row["task_id"] for row in harness_log(path).attempts] == ["größe 長い"]


def test_a_report_that_is_a_list_is_rejected(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.harnesses.swe_bench import SweBench

    path = report(tmp_path, "r", "m", "t", [GRADED | {"resolved": True}])
    # Not recognised, but --format may name it, or it changes between the look and the reading.
    assert harness_log(path).report.files[0].status == "failed"
    (record,) = SweBench().read(Log(path, (path,)))
    assert record.fault is not None
    assert "is a list" in record.fault[1]


def test_a_summary_of_nothing_is_refused(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(summary(tmp_path / "m.r.json"))
    assert [(file.status, file.rows_read) for file in loaded.report.files] == [("failed", 0)]


@pytest.mark.parametrize(
    "other",
    [
        {"t": {"resolved": True}},
        {"t": GRADED | {"resolved": True}, "u": GRADED | {"resolved": True}},
        {"resolved_ids": ["a"], "total_instances": 1},
        {"t": [GRADED | {"resolved": True}]},
    ],
)
def test_files_of_others_are_not_taken_for_reports(
    other: Any, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(other))
    assert {file.format for file in harness_log(path).report.files} != {"swe-bench"}
