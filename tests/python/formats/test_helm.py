"""HELM: its own means, trials, perturbations, which metric is the verdict, bad files."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "helm"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
PERTURBED, PLAIN = sorted(SAID)


@pytest.mark.parametrize("file", SAID)
def test_gives_the_means_of_the_stats(file: str, harness_log: Callable[..., Any]) -> None:
    means, rows = SAID[file]["means"], harness_log(FIXTURES / file).attempts
    suites = {row["suite"] for row in rows}
    plain = min(suites, key=len)
    for suite in suites:
        those, more = [row for row in rows if row["suite"] == suite], suite.removeprefix(plain)
        passes = mean(row["outcome"] == "passed" for row in those)
        assert passes == pytest.approx(means[f"exact_match{more}"], rel=1e-12)
        quasi = mean(float(row["tags"]["quasi_exact_match"]) for row in those)
        assert quasi == pytest.approx(means[f"quasi_exact_match{more}"], rel=1e-12)
        assert mean(row["input_tokens"] for row in those) == means[f"num_prompt_tokens{more}"]
        assert mean(row["output_tokens"] for row in those) == means[f"num_output_tokens{more}"]
        assert mean(row["duration_s"] for row in those) == means[f"inference_runtime{more}"]


def test_perturbed_instances_are_a_suite_of_their_own(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / PERTURBED
    loaded = harness_log(path)
    rows = [row for row in loaded.attempts if row["suite"].endswith("/typos-5")]
    expected = {
        "run_id": "sums:subject=größe,model=acme_mock-7b",
        "suite": "sums:subject=größe/typos-5",
        "task_id": "id1",
        "attempt": 1,
        "outcome": "passed",
        "score": 1.0,
        "model": "acme/mock-7b",
        "duration_s": 0.5,
        "tags": {
            "exact_match": "1.0",
            "metric": "exact_match",
            "perturbation": "typos-5",
            "quasi_exact_match": "1.0",
            "split": "test",
        },
        "transcript": f"{path}#/3",
    }
    assert {name: rows[0][name] for name in expected} == expected
    assert [row["outcome"] for row in rows] == ["passed", "failed", "failed"]
    assert {row["expected_attempts"] for row in loaded.expected} == {3}
    assert "quasi_exact_match would have decided otherwise" in loaded.report.files[0].message


@pytest.fixture
def stats_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a run of these rows."""

    def loaded(*rows: Any, spec: Any = None) -> Any:
        folder = tmp_path / "boolq:model=m"
        folder.mkdir(exist_ok=True)
        if spec is not None:
            (folder / "run_spec.json").write_text(json.dumps(spec), "utf-8")
        path = folder / "per_instance_stats.json"
        path.write_text(json.dumps(rows), "utf-8")
        return harness_log(path)

    return loaded


def row(name: Any, trial: Any = 0, /, perturbation: Any = None, **means: Any) -> dict[str, Any]:
    """Make a row as HELM writes it."""
    stats = [
        {"name": {"name": metric, "split": "test"}, "count": 1, "sum": value, "mean": value}
        for metric, value in means.items()
    ]
    made = {"instance_id": name, "train_trial_index": trial, "stats": stats}
    return made if perturbation is None else {**made, "perturbation": perturbation}


def test_the_main_metrics_of_the_schemas_come_first(stats_of: Callable[..., Any]) -> None:
    facts = {"num_references": 1, "finish_reason_stop": 0, "prompt_truncated": 0}
    loaded = stats_of(
        row("a", **facts, exact_match=0, f1_score=0.5),
        row("a", math_equiv=1, **{"exact_match@5": 1}),
        row("b", exact_match=0, math_equiv=0),
        spec={"name": [], "adapter_spec": {"num_train_trials": "x"}},
    )
    assert loaded.verdicts() == {("a", 1): "passed", ("b", 1): "failed"}
    assert {one["tags"]["metric"] for one in loaded.attempts} == {"math_equiv"}
    assert loaded.attempts[0]["tags"]["f1_score"] == "0.5"
    assert {(one["run_id"], one["suite"]) for one in loaded.attempts} == {("boolq:model=m", "helm")}


@pytest.mark.parametrize(
    ("name", "suite"),
    [
        ("boolq:model=acme_m", "boolq"),
        ("mmlu:model=m,subject=law,model_deployment=d", "mmlu:subject=law"),
        ("mmlu:subject=law,method=joint,model=m", "mmlu:subject=law,method=joint"),
        ("sums", "sums"),
    ],
)
def test_the_suite_is_the_run_without_its_model(
    name: str, suite: str, stats_of: Callable[..., Any]
) -> None:
    (found,) = stats_of(row("a", exact_match=1), spec={"name": name}).attempts
    assert (found["run_id"], found["suite"]) == (name, suite)


def test_metrics_that_are_no_verdicts(stats_of: Callable[..., Any]) -> None:
    loaded = stats_of(row("a", f1_score=0.5, num_bytes=1), row("b", f1_score=1.0, num_bytes=1))
    assert loaded.attempts == []
    assert [one["reason_code"] for one in loaded.rejected] == ["no_verdict"] * 2
    assert "f1_score" in loaded.rejected[0]["reason"]
    loaded = stats_of(row("a", my_check=1), row("b", my_check=0), row("c", other=3))
    assert loaded.verdicts() == {("a", 1): "passed", ("b", 1): "failed"}
    assert [one["reason_code"] for one in loaded.rejected] == ["missing_field"]


def test_the_other_files_of_a_run_are_no_logs(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    (report,) = harness_log((FIXTURES / PLAIN).with_name("stats.json")).report.files
    assert report.status == "failed"
    assert "means of a run" in report.message
    path = tmp_path / "scenario_state.json"
    path.write_text('{"adapter_spec": {}, "request_states": []}', "utf-8")
    (report,) = harness_log(path).report.files
    assert "requests of a run" in report.message
    assert "per_instance_stats.json" in report.hint


def test_a_stat_without_a_mean_has_its_sum(stats_of: Callable[..., Any]) -> None:
    stats = [{"name": {"name": "exact_match"}, "count": 1, "sum": 1}]
    loaded = stats_of({"instance_id": "a", "train_trial_index": 0, "stats": stats})
    assert loaded.verdicts() == {("a", 1): "passed"}


def test_rows_of_wrong_types(stats_of: Callable[..., Any]) -> None:
    loaded = stats_of(
        row("a", exact_match=1),
        row(None, exact_match=1),
        row("b", "x", exact_match=1),
        row("c", 0, "typos", exact_match=0),
        {"instance_id": "d", "train_trial_index": 0, "stats": [7, {"name": 7}, {"name": {}}]},
        [],
    )
    found = {(one["suite"], one["task_id"]): one["outcome"] for one in loaded.attempts}
    assert found == {("helm", "a"): "passed", ("helm/perturbed", "c"): "failed"}
    assert sorted(one["reason_code"] for one in loaded.rejected) == [
        "malformed_line", "missing_field", "missing_field", "wrong_type",
    ]  # fmt: skip


def test_of_a_file_that_is_cut_off_the_rows_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / PLAIN).read_bytes()
    path = tmp_path / "per_instance_stats.json"
    path.write_bytes(whole[: len(whole) // 3])
    loaded = harness_log(path)
    assert loaded.report.rows_landed > 0
    assert [one["reason_code"] for one in loaded.rejected] == ["truncated"]
