"""tracelens: its own pass@k and pass^k, trials that are no evidence, and retries."""

from __future__ import annotations

import datetime as dt
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
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "tracelens"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]


def outcome(**changes: Any) -> dict[str, Any]:
    """Make a grader's outcome."""
    return {"grader_id": "g", "passed": True, "score": 1.0, "grader_error": False, **changes}


def trial(task: str = "a", run: Any = 0, **changes: Any) -> dict[str, Any]:
    """Make a trial as tracelens writes it."""
    made = {
        "trial_id": f"{task}-{run}",
        "task_id": task,
        "run_index": run,
        "total_runs": 3,
        "attempts": 1,
        "status": "completed",
        "transcript": None,
        "outcomes": [outcome()],
        "started_at": "2026-01-31T12:00:00Z",
        "metadata": {},
    }
    return {**made, **changes}


@pytest.fixture
def batch_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a batch of these trials."""

    def loaded(*trials: Any, head: dict[str, Any] | None = None, **options: Any) -> Any:
        path = tmp_path / "trials.json"
        batch = {"batch_id": "nightly", "trials": trials, "provenance": None, **(head or {})}
        path.write_text(json.dumps(batch), encoding="utf-8")
        return harness_log(path, **options)

    return loaded


@pytest.mark.parametrize("file", SAID)
def test_gives_the_figures_of_tracelens(file: str, harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / file)
    said = SAID[file]["pass_rates"]
    counts = list(loaded.counts().values())
    rate = Fraction(sum(c for _, c in counts), sum(n for n, _ in counts))
    assert float(rate) == pytest.approx(said["pass_rate"], rel=1e-12)
    for k in (1, 3, 5):
        each = [1 - Fraction(comb(n - c, k), comb(n, k)) for n, c in counts if n >= k]
        assert _mean(each) == _close(said[f"pass@{k}"])
    for k in (2, 3, 5):
        assert _mean(_windows(loaded, k)) == _close(said[f"pass^{k}"])
    for reason in ("infra_error", "grader_error"):
        share = Fraction(list(loaded.reasons().values()).count(reason), len(loaded.attempts))
        assert float(share) == pytest.approx(said[f"{reason}_rate"], rel=1e-12)


def _close(figure: float | None) -> Any:
    return None if figure is None else pytest.approx(figure, rel=1e-12)


def _mean(each: list[Fraction]) -> float | None:
    return float(sum(each, Fraction(0)) / len(each)) if each else None


def _windows(loaded: Any, k: int) -> list[Fraction]:
    """Give the share of a task's k runs in a row that all pass, as tracelens counts them."""
    runs: dict[str, dict[int, bool]] = defaultdict(dict)
    for (task, attempt), verdict in loaded.verdicts().items():
        if verdict != "excluded":
            runs[task][attempt] = verdict == "passed"
    shares = []
    for verdicts in runs.values():
        windows = [
            all(verdicts[start + step] for step in range(k))
            for start in verdicts
            if all(start + step in verdicts for step in range(k))
        ]
        if windows:
            shares.append(Fraction(sum(windows), len(windows)))
    return shares


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "trials.json")
    (one,) = (x for x in loaded.attempts if (x["task_id"], x["attempt"]) == ("slow", 4))
    data = json.loads((FIXTURES / "trials.json").read_text("utf-8"))
    (said,) = (x for x in data["trials"] if (x["task_id"], x["run_index"]) == ("slow", 3))
    times = [
        dt.datetime.fromisoformat(said["transcript"][n]) for n in ("started_at", "completed_at")
    ]
    expected = {
        "run_id": data["provenance"]["run_id"],
        "suite": "tasks",
        "outcome": "passed",
        "outcome_reason": None,
        "score": 0.9375,
        "agent": "rule-agent",
        "agent_version": "1.2",
        "model": "mock-1",
        "seed": None,
        "started_at": times[0].replace(tzinfo=None),
        "duration_s": (times[1] - times[0]).total_seconds(),
        "cost_usd": None,
        "input_tokens": 20,
        "output_tokens": 3,
        "output_hash": sha256(said["transcript"]["final_output"].encode()).hexdigest(),
        "tags": {"retries": "1"},
        "transcript": f"{FIXTURES / 'trials.json'}#/trials/19",
    }
    assert {name: one[name] for name in expected} == expected
    # Of trials that were made by hand, nothing is written down.
    by_hand = harness_log(FIXTURES / "by_hand.json").attempts
    assert {one["transcript"] for one in by_hand} == {None}


def test_errors_are_excluded_or_fail_as_tracelens_counts_them(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "trials.json")
    found = {
        key: (loaded.verdicts()[key], reason) for key, reason in loaded.reasons().items() if reason
    }
    assert found == {
        ("übersetzen", 3): ("excluded", "infra_error"),
        ("never", 2): ("failed", "failed"),
        ("slow", 2): ("failed", "timeout"),
        ("graders", 3): ("excluded", "grader_error"),
        # Its teardown failed, but it was graded before.
        ("graders", 4): ("passed", "failed"),
    }
    scores = {(one["task_id"], one["attempt"]): one["score"] for one in loaded.attempts}
    assert scores["graders", 3] is None


def test_what_was_not_run_is_excluded(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "by_hand.json")
    assert loaded.reasons()["b", 3] == "skipped"
    assert loaded.reasons()["c", 1] == "pending"
    assert {loaded.verdicts()["b", 3], loaded.verdicts()["c", 1]} == {"excluded"}


def test_a_timeout_that_was_graded_keeps_its_verdict(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "by_hand.json", policy={"timeout": "excluded"})
    assert (loaded.verdicts()["b", 1], loaded.reasons()["b", 1]) == ("passed", "timeout")
    # This one was not graded, so the user's word counts.
    assert loaded.verdicts()["a", 3] == "excluded"


def test_attempts_are_the_runs_and_not_the_order_of_the_file(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "by_hand.json")
    assert {one["run_id"] for one in loaded.attempts} == {"nightly-7"}
    # The second run of c has no trial, so its third is still the third.
    assert sorted(attempt for task, attempt in loaded.verdicts() if task == "c") == [1, 3]


def test_two_trials_of_one_run_are_left_to_the_models(batch_of: Callable[..., Any]) -> None:
    loaded = batch_of(trial(run=1), trial(run=1, outcomes=[outcome(passed=False)]))
    assert [(one["attempt"], one["outcome"]) for one in loaded.attempts] == [
        (2, "passed"),
        (2, "failed"),
    ]


def test_each_task_is_expected_as_often_as_it_was_configured(
    harness_log: Callable[..., Any], batch_of: Callable[..., Any]
) -> None:
    loaded = harness_log(FIXTURES / "trials.json")
    assert {one["task_id"]: one["expected_attempts"] for one in loaded.expected} == dict.fromkeys(
        ("1", "graders", "never", "slow", "übersetzen"), 4
    )
    by_hand = harness_log(FIXTURES / "by_hand.json")
    assert [one["expected_attempts"] for one in by_hand.expected] == [3, 3, 3]
    measurement = {"task_hashes": {"a": "", "never tried": ""}, "runner": {"num_runs": 5}}
    missing = batch_of(trial(), head={"provenance": {"measurement": measurement}})
    assert {one["task_id"]: one["expected_attempts"] for one in missing.expected} == {
        "a": 5,
        "never tried": 5,
    }


def test_trials_without_a_transcript_take_the_agent_of_the_others(
    batch_of: Callable[..., Any],
) -> None:
    talk = {"agent_name": "ä", "agent_version": "2", "steps": [{"model": "m", "tokens_in": 7}]}
    adapter = {"candidate": {"adapter": {"class_path": "suite.Agent", "name": None}}}
    loaded = batch_of(trial(run=0), trial(run=1, transcript=talk), head={"provenance": adapter})
    assert {(x["agent"], x["agent_version"], x["model"]) for x in loaded.attempts} == {
        ("ä", "2", "m")
    }
    assert [(x["input_tokens"], x["output_tokens"]) for x in loaded.attempts] == [
        (None, None),
        (7, None),
    ]
    other = batch_of(
        trial(run=0),
        trial(run=1, transcript=talk),
        trial(run=2, transcript={**talk, "agent_name": "b"}),
        head={"provenance": adapter},
    )
    assert [one["agent"] for one in other.attempts] == [None, "ä", "b"]
    nobody = batch_of(trial(), head={"provenance": adapter})
    assert [one["agent"] for one in nobody.attempts] == ["suite.Agent"]


def test_a_trial_without_outcomes_fails_if_it_was_completed(batch_of: Callable[..., Any]) -> None:
    loaded = batch_of(
        trial(run=0, outcomes=[]),
        trial(run=1, outcomes=None, status=None),
        trial(run=2, outcomes=[], status="unheard_of"),
        trial(run=3, status="infra_error"),
    )
    assert list(loaded.verdicts().values()) == ["failed", "excluded", "excluded", "excluded"]
    assert list(loaded.reasons().values()) == [
        "no_outcomes",
        "no_verdict",
        "unheard_of",
        "infra_error",
    ]


def test_all_outcomes_have_to_pass(batch_of: Callable[..., Any]) -> None:
    loaded = batch_of(
        trial(run=0, outcomes=[outcome(), outcome(passed=False, score=0.5)]),
        trial(run=1, outcomes=[outcome(), outcome(score=None)]),
        trial(run=2, outcomes=[outcome(score=0.25)]),
    )
    assert [(one["outcome"], one["score"]) for one in loaded.attempts] == [
        ("failed", 0.75),
        ("passed", None),
        ("passed", 0.25),
    ]


def test_wrong_types_are_refused_with_a_reason(batch_of: Callable[..., Any]) -> None:
    loaded = batch_of(
        trial(),
        trial(run="one"),
        trial(run=None),
        trial(run=-1),
        trial(run=1, outcomes=[outcome(passed="yes")]),
        trial(run=1, outcomes=[7]),
        trial(run=1, outcomes="all"),
        trial(run=1, transcript={"agent_name": [1], "steps": [None, {"tokens_in": "x"}]}),
        trial(run=1, started_at="noon"),
        trial(run=1, task_id=None),
        None,
        head={"provenance": [1], "batch_id": 7},
    )
    assert loaded.report.rows_landed == 1
    assert [one["reason_code"] for one in loaded.rejected] == [
        "wrong_type",
        "missing_field",
        "out_of_range",
        "wrong_type",
        "wrong_type",
        "wrong_type",
        "wrong_type",
        "wrong_type",
        "missing_field",
        "malformed_line",
    ]
    assert {one["run_id"] for one in loaded.attempts} == {"7"}


def test_not_a_number_is_refused_and_the_others_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    nan = json.dumps(trial(run=0)).replace('"score": 1.0', '"score": NaN')
    half = json.dumps(trial("\ud800", run=1))
    twice = json.dumps(trial("größe", run=2)).replace(
        '"run_index": 2', '"run_index": 0, "run_index": 1'
    )
    path = tmp_path / "trials.json"
    path.write_text(f'{{"batch_id": "b", "trials": [{nan}, {half}, {twice}]}}', encoding="utf-8")
    loaded = harness_log(path)
    assert loaded.report.rows_read == 3
    assert loaded.verdicts()["größe", 2] == "passed"
    assert [one["source_line"] for one in loaded.rejected][-1] == 2


def test_of_a_file_that_is_cut_off_the_trials_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / "by_hand.json").read_bytes()
    third = [place for place in range(len(whole)) if whole.startswith(b'"total_runs"', place)][2]
    path = tmp_path / "trials.json"
    path.write_bytes(whole[:third])
    loaded = harness_log(path)
    assert loaded.verdicts() == {("a", 1): "failed", ("b", 2): "passed"}
    assert [one["reason_code"] for one in loaded.rejected] == ["truncated"]


def test_a_trial_longer_than_the_sample_is_known(batch_of: Callable[..., Any]) -> None:
    talk = {"steps": [{"content": "x" * (2 << 20), "tokens_in": 1}]}
    ordered = trial(transcript=talk)
    loaded = batch_of({**ordered, "outcomes": [outcome()]})
    assert [one.format for one in loaded.report.files] == ["tracelens"]


def test_a_batch_without_trials_has_no_rows(batch_of: Callable[..., Any]) -> None:
    assert batch_of().report.files[0].status == "failed"


def test_a_folder_lands_each_attempt_once(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    for file in (*SAID, "results.json", "expected.json"):
        shutil.copy(FIXTURES / file, tmp_path)
    whole = json.loads((FIXTURES / "checkpoint.json").read_text("utf-8"))
    (tmp_path / "saved.json").write_text(json.dumps(whole["batch"]), encoding="utf-8")
    loaded = harness_log(tmp_path)
    assert len(loaded.attempts) == sum(len(said["attempts"]) for said in SAID.values())
    skipped = {Path(one.path).name: one.reason for one in loaded.report.skipped}
    assert "saved.json beside it" in skipped["checkpoint.json"]
    assert "report of tracelens" in skipped["results.json"]


def test_a_report_that_is_named_says_what_to_load(harness_log: Callable[..., Any]) -> None:
    (report,) = harness_log(FIXTURES / "results.json").report.files
    assert report.status == "failed"
    assert "--save-trials" in report.hint


def test_other_json_is_not_taken_for_tracelens(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "trials.json"
    path.write_text(json.dumps({"trials": [{"task_id": "a", "attempt": 1}]}), encoding="utf-8")
    assert harness_log(path).report.files[0].format != "tracelens"
