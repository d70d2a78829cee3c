"""Verifiers: its own averages and pass@k, errors, thresholds, older versions, episodes, bad files."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "verifiers"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
RESULTS, TRACES = sorted(SAID, key=lambda name: name.endswith("traces.jsonl"))


def test_gives_the_figures_of_the_metadata(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / RESULTS)
    said, rows = SAID[RESULTS]["metadata"], loaded.attempts
    # An error has a reward of 0 in the file, and counts as a failure.
    assert mean(row["score"] or 0 for row in rows) == said["avg_reward"]
    assert mean(row["score"] is None for row in rows) == said["avg_error"]
    assert mean(row["input_tokens"] for row in rows) == said["usage"]["input_tokens"]
    counts = loaded.counts(excluded_fail=True).values()
    for k in (1, 2, 4):
        pass_at = mean(1 - comb(n - c, k) / comb(n, k) for n, c in counts)
        pass_hat = mean(comb(c, k) / comb(n, k) for n, c in counts)
        assert pass_at == pytest.approx(said["pass_at_k"][str(k)], rel=1e-12)
        assert pass_hat == pytest.approx(said["pass_all_k"][str(k)], rel=1e-12)
    exact = [float(row["tags"]["exact"]) for row in rows if "exact" in row["tags"]]
    assert mean(exact) == pytest.approx(said["avg_metrics"]["exact"], rel=1e-12)


def test_gives_the_mean_reward_of_the_traces(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / TRACES)
    said, rows = SAID[TRACES]["figures"], loaded.attempts
    assert mean(row["score"] for row in rows if row["score"] is not None) == said["reward"]
    assert sum(row["cost_usd"] or 0 for row in rows) == said["cost"]
    assert sum(row["input_tokens"] or 0 for row in rows) == said["input_tokens"]
    (warned,) = loaded.report.files
    assert "1 rewards are between 0 and 1" in warned.message


def test_rollouts_are_numbered_by_their_start(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / RESULTS
    rows = [row for row in harness_log(path).attempts if row["task_id"] == "2"]
    # The later rollouts were written first.
    assert [row["source_line"] for row in rows] == [15, 11, 7, 3]
    assert [row["score"] for row in rows] == [0.5, 1.0, 0.25, 0.5]
    expected = {
        "run_id": "3f2a91bc",
        "suite": "größe-env",
        "attempt": 1,
        "outcome": "passed",
        "model": "acme/mock-1",
        "seed": 7,
        "duration_s": 2.5,
        "output_tokens": 7,
        "tags": {"exact": "0.0", "num_turns": "2.0", "stop_condition": "max_turns_reached"},
        "transcript": f"{path}#L15",
    }
    assert {name: rows[0][name] for name in expected} == expected
    assert str(rows[0]["started_at"]) == "2026-11-18 11:06:42"


def test_errors_count_by_their_class(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / RESULTS)
    found = {key: (loaded.verdicts()[key], why) for key, why in loaded.reasons().items() if why}
    assert found == {
        ("3", 2): ("excluded", "SandboxError"),
        ("3", 3): ("failed", "ToolParseError"),
    }
    assert {row["expected_attempts"] for row in loaded.expected} == {4}
    loaded = harness_log(FIXTURES / TRACES)
    assert {key: why for key, why in loaded.reasons().items() if why} == {
        ("2", 1): "SandboxError",
        ("3", 1): "EnvError",
    }


def test_the_users_threshold_comes_first(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / RESULTS, score_threshold=0.25)
    assert loaded.counts()["2"] == (4, 4)
    loaded = harness_log(FIXTURES / RESULTS, score_threshold=0.75)
    assert loaded.counts()["2"] == (4, 1)
    assert harness_log(FIXTURES / TRACES, score_threshold=0.25).counts()["1"] == (1, 1)


@pytest.fixture
def lines_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a file of these lines."""

    def loaded(*rows: Any, metadata: Any = None, name: str = "nightly.jsonl") -> Any:
        path = tmp_path / name
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("".join(line + "\n" for line in lines), "utf-8")
        if metadata is not None:
            (tmp_path / "metadata.json").write_text(json.dumps(metadata), "utf-8")
        return harness_log(path)

    return loaded


def rollout(example: Any, reward: Any, **more: Any) -> dict[str, Any]:
    """Make a rollout as the tool writes it."""
    made = {"example_id": example, "prompt": "?", "completion": "!", "reward": reward}
    return {**made, "metrics": {}, "is_completed": True, **more}


def test_results_of_the_first_versions(lines_of: Callable[..., Any]) -> None:
    # Up to 0.1.5 the example is id, up to 0.1.9 the times are milliseconds beside it.
    old = {"prompt": "?", "completion": "!", "task": "default", "generation_ms": 900.0}
    loaded = lines_of(
        {"id": 0, **old, "scoring_ms": 100.0, "total_ms": 1000.0, "reward": 1.0, "exact": 1.0},
        {"id": 0, **old, "scoring_ms": 100.0, "total_ms": 2000.0, "reward": 0.5, "exact": 0.0},
        metadata={"env": "gsm8k", "model": "m", "rollouts_per_example": 2},
    )
    assert loaded.verdicts() == {("0", 1): "passed", ("0", 2): "failed"}
    assert [row["duration_s"] for row in loaded.attempts] == [1.0, 2.0]
    assert {(row["suite"], row["model"]) for row in loaded.attempts} == {("gsm8k", "m")}
    assert "between 0 and 1" in loaded.report.files[0].message


def test_timing_in_milliseconds_and_errors_as_texts(lines_of: Callable[..., Any]) -> None:
    timing = {"start_time": 1_795_000_000.0, "generation_ms": 900, "total_ms": 1000.0}
    loaded = lines_of(
        rollout(0, 1.0, timing=timing),
        rollout(1, 0.0, error="InfraError('the sandbox is gone')"),
        rollout(2, 0.0, error={"error": "ModelError"}),
        rollout(3, 0.0, error=["?"]),
        rollout(4, 0.0, error=None),
    )
    assert loaded.attempts[0]["duration_s"] == 1.0
    assert list(loaded.reasons().values()) == [None, "InfraError", "ModelError", "error", None]
    assert loaded.attempts[4]["outcome"] == "failed"
    assert {row["suite"] for row in loaded.attempts} == {"verifiers"}


def test_rewards_that_are_none(lines_of: Callable[..., Any]) -> None:
    loaded = lines_of(
        rollout(0, None),
        json.dumps(rollout(1, float("nan"))),
        rollout(2, "high"),
        rollout(3, 1.5, token_usage={"input_tokens": 12.5}),
        rollout(None, 1.0),
        metadata={"pass_threshold": "x", "sampling_args": {"seed": 1.5}},
    )
    assert loaded.reasons() == {("0", 1): "no_verdict", ("1", 1): "reward_not_finite"}
    assert [row["reason_code"] for row in loaded.rejected] == [
        "wrong_type", "wrong_type", "missing_field",
    ]  # fmt: skip


def test_a_transcript_that_is_longer_than_the_sample(lines_of: Callable[..., Any]) -> None:
    long = "x" * (1 << 21)
    lines = [{**rollout(0, 1.0), "completion": long}, rollout(1, 0.0)]
    loaded = lines_of(*lines, name="results.jsonl")
    assert [one.format for one in loaded.report.files] == ["verifiers"]
    assert loaded.verdicts() == {("0", 1): "passed", ("1", 1): "failed"}
    episode = {"id": "e", "env": {"id": "x"}, "task": {"data": {"id": "t", "prompt": long}}}
    line = {**episode, "ok": True, "traces": [trace("t", 1.0)]}
    loaded = lines_of(line, name="traces.jsonl")
    assert [one.format for one in loaded.report.files] == ["verifiers-traces"]
    assert loaded.verdicts() == {("t", 1): "passed"}
    # By a few names alone, a file of any name is not one of these.
    assert {one.format for one in lines_of(*lines).report.files} == {None}


def trace(task: str, *rewards: Any, name: str = "agent", **more: Any) -> dict[str, Any]:
    """Make a trace as the tool writes it."""
    made = {"task": {"type": "T", "data": {"id": task}}, "nodes": [], "agent": {"name": name}}
    given = {f"r{place}": reward for place, reward in enumerate(rewards)}
    return {"id": "x", **made, "rewards": given, "metrics": {}, "errors": [], **more}


def test_lines_that_are_single_traces(lines_of: Callable[..., Any]) -> None:
    # Before episodes: weighted rewards are numbers, and usage is in the nodes.
    usage = {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    loaded = lines_of(
        trace("a", 0.5, 0.5, is_completed=True, nodes=[usage, {"usage": None}, usage]),
        trace("a", 0.0, errors=[{"type": "ProviderError", "message": "503"}]),
        trace("a", is_completed=True, stop_condition="agent_timeout"),
        trace("a", None, is_completed=True, stop_condition="scoring_timeout"),
        name="traces.jsonl",
    )
    assert loaded.verdicts() == {
        ("a", 1): "passed", ("a", 2): "excluded", ("a", 3): "failed", ("a", 4): "excluded",
    }  # fmt: skip
    assert (loaded.attempts[0]["input_tokens"], loaded.attempts[0]["output_tokens"]) == (10, 4)


def test_agents_of_several_names_have_suites_of_their_own(lines_of: Callable[..., Any]) -> None:
    task = {"type": "T", "data": {"idx": 3}}
    traces = [trace("", 1.0, name="white", ok=True), trace("", 0.0, name="black", ok=True)]
    for one in traces:
        del one["task"]
    loaded = lines_of({"id": "e", "env": {"id": "chess"}, "task": task, "ok": True, "traces": traces})  # fmt: skip
    assert {(row["suite"], row["task_id"], row["outcome"]) for row in loaded.attempts} == {
        ("chess/white", "3", "passed"),
        ("chess/black", "3", "failed"),
    }


def test_episodes_of_wrong_types(lines_of: Callable[..., Any]) -> None:
    episode = {"id": "e", "env": {"id": "x"}, "task": {"data": {"id": "t"}}, "ok": True}
    loaded = lines_of(
        {**episode, "traces": [trace("t", {"score": "x"}, {"score": None, "weight": 1.0})]},
        {**episode, "traces": 7},
        {**episode, "task": None, "traces": []},
        {**episode, "traces": [trace("t", 1.0, timing=[], calls=7, metrics="x")]},
    )
    assert sorted(row["outcome"] for row in loaded.attempts) == ["excluded", "excluded", "passed"]
    assert [row["reason_code"] for row in loaded.rejected] == ["missing_field"]


def test_of_a_file_that_is_cut_off_the_lines_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / RESULTS).read_bytes()
    path = tmp_path / "results.jsonl"
    path.write_bytes(whole[:-200])
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 15
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]
