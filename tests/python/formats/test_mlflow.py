"""MLflow: its own means and verdicts, tasks, errors of agents and scorers, thresholds, bad files."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "mlflow"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
SAID: dict[str, Any] = EXPECTED["files"]
CHECKS = "checks/eval_results_table.json"


def mean(rows: list[dict[str, Any]], scorer: str) -> float:
    """Give the mean of a scorer over the rows that have a value, as MLflow does."""
    words = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
    said = [row["tags"].get(f"score.{scorer}") for row in rows]
    values = [words[one] if one in words else float(one) for one in said if one is not None]
    return sum(values) / len(values)


@pytest.mark.parametrize("file", ["nightly.json", "graded.jsonl"])
def test_gives_the_means_that_mlflow_logs(file: str, harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / file).attempts
    metrics = SAID[file]["metrics"]
    assert len(metrics) >= 2
    for metric, value in metrics.items():
        assert mean(rows, metric.removesuffix("/mean")) == pytest.approx(value, rel=1e-12)
    assert {row["run_id"] for row in rows} == {SAID[file]["run_id"]}


def test_gives_the_mean_of_each_evaluation_of_a_table(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / CHECKS).attempts
    # Each evaluation asked each question once; the second was appended to the table.
    for number, metrics in enumerate(SAID[CHECKS]["metrics"], 1):
        some = [row for row in rows if row["attempt"] == number]
        assert mean(some, "correct") == pytest.approx(metrics["correct/mean"], rel=1e-12)
    assert {row["run_id"] for row in rows} == {"checks"}


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "nightly.json"
    written = json.loads(path.read_text("utf-8"))
    place, said = max(
        ((n, row) for n, row in enumerate(written) if row["request"] == {"question": "6*7"}),
        key=lambda found: found[1]["request_time"],
    )
    rows = [row for row in harness_log(path).attempts if row["task_id"] == '{"question": "6*7"}']
    row = rows[-1]
    assert (row["attempt"], row["outcome"], row["outcome_reason"]) == (3, "failed", None)
    assert row["score"] == pytest.approx(1 / 6, rel=1e-12)
    began = row["started_at"].replace(tzinfo=UTC)
    assert round(began.timestamp() * 1000) == said["request_time"]
    assert row["duration_s"] == said["execution_duration"] / 1000
    assert row["transcript"] == f"{path}#/{place}"
    assert row["tags"]["difficulty"] == "hard"
    assert row["tags"]["score.exact"] == "false"


def test_errors_of_agents_and_scorers_are_no_verdicts(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "nightly.json")
    assert loaded.reasons()['{"question": "crash"}', 2] == (
        "ConnectionError: the sandbox is unavailable"
    )
    judged = [row for row in loaded.attempts if row["outcome_reason"] == "scorer_error"]
    assert {row["task_id"] for row in judged} == {'{"question": "judge"}'}
    assert {row["outcome"] for row in judged} == {"excluded"}
    assert {row["tags"]["scorer_error"] for row in judged} == {"the judge gave no answer"}
    assert loaded.counts()['{"question": "crash"}'] == (2, 2)
    asked = harness_log(FIXTURES / "nightly.json", policy={"scorer_error": "failed"})
    assert asked.counts()['{"question": "judge"}'] == (3, 0)


def test_judges_of_one_to_five_need_a_threshold(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "judged" / "eval_results_table.json"
    loaded = harness_log(path)
    assert loaded.attempts == []
    assert {row["reason_code"] for row in loaded.rejected} == {"no_verdict"}
    assert "--score-threshold" in loaded.rejected[0]["reason"]
    attempts = harness_log(path, score_threshold=4.0).verdicts()
    wanted = {
        (one["task_id"], one["attempt"]): "passed" if one["passed"] else "failed"
        for one in EXPECTED["judged"]["attempts"]
    }
    assert attempts == wanted


def test_the_lowest_score_decides_where_no_scorer_does(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / "graded.jsonl", score_threshold=0.3).attempts
    assert {row["outcome"] for row in rows if row["score"] >= 0.3} == {"passed"}
    assert {row["outcome"] for row in rows if row["score"] < 0.3} == {"failed"}


@pytest.fixture
def table(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a table of these columns and rows."""

    def loaded(columns: list[Any], *data: Any, **options: Any) -> Any:
        path = tmp_path / "nightly" / "eval_results_table.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"columns": columns, "data": data}), "utf-8")
        return harness_log(path, **options)

    return loaded


@pytest.fixture
def traces(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a list of these rows."""

    def loaded(*rows: Any, **options: Any) -> Any:
        path = tmp_path / "nightly.json"
        path.write_text(json.dumps(rows), "utf-8")
        return harness_log(path, **options)

    return loaded


def trace(**changes: Any) -> dict[str, Any]:
    """Make a row of result_df."""
    made = {
        "trace_id": "tr-1",
        "exact/value": True,
        "state": "OK",
        "request_time": 1795821334402,
        "execution_duration": 250,
        "request": {"q": "a"},
        "response": "4",
        "trace_metadata": {"mlflow.sourceRun": "run-1"},
    }
    return made | changes


def test_every_verdict_has_to_pass(table: Callable[..., Any]) -> None:
    columns = ["inputs", "outputs", "a/score", "b/v1/score"]
    rows = [["q", "x", 1, "yes"], ["q", "x", 1.0, "No"], ["q", "x", 0, "yes"], ["q", "x", 0, None]]
    loaded = table(columns, *rows)
    assert [row["outcome"] for row in loaded.attempts] == ["passed", "failed", "failed", "failed"]


def test_a_row_without_the_only_verdict_is_said_to_have_none(table: Callable[..., Any]) -> None:
    columns = ["inputs", "outputs", "exact/score", "likeness/score"]
    loaded = table(columns, ["q", "x", 1, 0.5], ["q", "x", None, 1], ["q", "x", 0, 0.5])
    assert [row["outcome"] for row in loaded.attempts] == ["passed", "excluded", "failed"]
    said = "exact/score is missing in 1 of 3 rows with scores; they have no verdict."
    assert said in loaded.report.files[0].message


def test_words_for_verdicts_are_those_of_all_platforms(table: Callable[..., Any]) -> None:
    columns = ["inputs", "outputs", "judge/score", "likeness/score"]
    loaded = table(columns, ["q", "x", "correct", 0.5], ["q", "x", "Incorrect", 0.9])
    assert [row["outcome"] for row in loaded.attempts] == ["passed", "failed"]
    assert [row["score"] for row in loaded.attempts] == [0.5, 0.9]
    # A judge that is unsure of one row is none that decides.
    unsure = table(columns, ["q", "x", "yes", 0.5], ["q", "x", "unknown", 1])
    assert [row["outcome"] for row in unsure.attempts] == ["failed", "passed"]


def test_an_error_counts_only_of_a_scorer_that_decides(traces: Callable[..., Any]) -> None:
    raised = {"likeness/value": None, "likeness/error_message": "RuntimeError: died"}
    loaded = traces(trace(**{"likeness/value": 0.5}), trace(**raised))
    assert [row["outcome"] for row in loaded.attempts] == ["passed", "passed"]
    # Without a scorer of verdicts, all of the others decide.
    numbers = traces(
        trace(**{"exact/value": 0.5, "likeness/value": 1.5}),
        trace(**{"exact/value": 0.5} | raised),
        score_threshold=0.4,
    )
    assert [(row["outcome"], row["outcome_reason"]) for row in numbers.attempts] == [
        ("passed", None),
        ("excluded", "scorer_error"),
    ]


def test_the_inputs_name_the_task_and_the_prediction_does_not(table: Callable[..., Any]) -> None:
    columns = ["question", "context", "target", "outputs", "latency", "ok/score"]
    rows = [["q", "c", "t", "1", 0.5, 1], ["q", "c", "t", "2", 1.5, 0]]
    loaded = table(columns, *rows)
    assert loaded.verdicts() == {("q", 1): "passed", ("q", 2): "failed"}
    assert [row["duration_s"] for row in loaded.attempts] == [0.5, 1.5]
    # If the first column stands for several tasks, all of the inputs name one.
    other = table(columns, *rows, ["q", "d", "t", "3", 2.5, 1])
    assert set(other.counts()) == {'["q", "c", "t"]', '["q", "d", "t"]'}


def test_a_row_of_another_length_is_rejected(table: Callable[..., Any]) -> None:
    loaded = table(["inputs", "outputs", "a/score"], ["q", "x", 1], ["q", "x"], 7)
    assert loaded.counts() == {"q": (1, 1)}
    assert [row["reason_code"] for row in loaded.rejected] == ["malformed_line"] * 2


def test_a_table_of_measures_only_is_refused(table: Callable[..., Any]) -> None:
    columns = ["inputs", "outputs", "token_count", "toxicity/v1/score", "ari_grade_level/v1/score"]
    (report,) = table(columns, ["q", "x", 3, 0, 1]).report.files
    assert report.status == "failed"
    assert "no metric that tells whether a row passed" in report.message
    assert "extra_metrics" in report.hint


def test_tables_that_hold_no_metrics_are_of_another_kind(table: Callable[..., Any]) -> None:
    (report,) = table(["inputs", "outputs"], ["q", "x"]).report.files
    assert (report.status, report.format) == ("failed", None)


def test_what_mlflow_2_called_its_columns(traces: Callable[..., Any]) -> None:
    row = {
        "request_id": "tr-1",
        "ok/value": "yes",
        "status": "TraceStatus.OK",
        "timestamp_ms": 1795821334402,
        "execution_time_ms": 1500,
        "request": '{"q": "a"}',
        "request_metadata": {"mlflow.sourceRun": "run-2"},
    }
    (one,) = traces(row).attempts
    assert (one["run_id"], one["task_id"], one["duration_s"]) == ("run-2", '{"q": "a"}', 1.5)
    assert one["started_at"].isoformat() == "2026-11-27T23:15:34.402000"


def test_tokens_costs_and_the_version_of_a_trace(traces: Callable[..., Any]) -> None:
    meta = {
        "mlflow.sourceRun": "run-1",
        "mlflow.modelId": "m-7",
        "mlflow.trace.tokenUsage": '{"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}',
        "mlflow.trace.cost": '{"input_cost": 0.25, "output_cost": 0.5, "total_cost": 0.75}',
    }
    (row,) = traces(trace(trace_metadata=meta)).attempts
    assert (row["agent_version"], row["input_tokens"], row["output_tokens"]) == ("m-7", 12, 3)
    assert row["cost_usd"] == 0.75


def test_a_trace_without_a_verdict_is_excluded(traces: Callable[..., Any]) -> None:
    loaded = traces(
        trace(),
        trace(**{"exact/value": None}),
        trace(state="IN_PROGRESS"),
        trace(state="ERROR"),
        trace(state="ERROR", spans=[{"status": {"message": "TimeoutError: agent"}}]),
    )
    assert [(row["outcome"], row["outcome_reason"]) for row in loaded.attempts] == [
        ("passed", None),
        ("excluded", "no_verdict"),
        ("excluded", "in_progress"),
        ("excluded", "error"),
        ("failed", "TimeoutError: agent"),
    ]


def test_wrong_types_are_refused_with_a_reason(traces: Callable[..., Any]) -> None:
    loaded = traces(
        trace(),
        trace(request=None),
        trace(latency="soon", execution_duration=None),
        trace(trace_metadata=[1], tags=7, spans="x", assessments={"a": 1}),
        [],
    )
    assert loaded.report.rows_landed == 2
    assert [row["reason_code"] for row in loaded.rejected] == [
        "missing_field",
        "wrong_type",
        "malformed_line",
    ]


def test_of_a_file_that_is_cut_off_the_rows_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / "nightly.json").read_bytes()
    third = [place for place in range(len(whole)) if whole.startswith(b'"trace_id":"tr', place)]
    path = tmp_path / "nightly.json"
    path.write_bytes(whole[: third[-1]])
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 14
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]
    path.write_bytes(b"")
    (report,) = harness_log(path).report.files
    assert "empty" in report.message
    (tmp_path / "none.json").write_text('{"columns": ["inputs", "a/score"], "data": []}')
    (report,) = harness_log(tmp_path / "none.json").report.files
    assert "no rows" in report.message
