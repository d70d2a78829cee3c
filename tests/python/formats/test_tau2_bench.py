"""tau2-bench: its own pass^k from the landed rows, and what each way of ending counts as."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "tau2"
FILES: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
AIRLINE, TELECOM = "20260504_100000_airline/results.json", "20260505_100000_telecom"
# As agent_metrics.py counts: infrastructure errors leave n, and k goes to the smallest n of a task.
CASES = [
    (name, k, rate)
    for name, said in FILES.items()
    for k in range(1, 5)
    if (rate := said["pass_rates"].get(f"pass^{k}")) is not None
]


def pass_hat(counts: dict[str, tuple[int, int]], k: int) -> Fraction:
    tasks = [Fraction(comb(c, k), comb(n, k)) for n, c in counts.values()]
    return sum(tasks, Fraction(0)) / len(tasks)


@pytest.mark.parametrize(("name", "k", "rate"), CASES)
def test_the_tools_own_pass_hat_k_follows_from_the_rows(
    name: str, k: int, rate: float, harness_log: Callable[..., Any]
) -> None:
    counts = harness_log(FIXTURES / name).counts()
    assert k <= min(n for n, _ in counts.values())
    assert float(pass_hat(counts, k)) == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2])
def test_the_other_convention_is_a_policy(k: int, harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / AIRLINE, policy={"context_window_exceeded": "excluded"})
    name = f"pass^{k} (context_window_exceeded excluded too)"
    said = FILES[AIRLINE]["pass_rates"][name]
    assert float(pass_hat(loaded.counts(), k)) == pytest.approx(said, rel=1e-12)


def test_a_simulation_is_an_attempt(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / AIRLINE)
    row = next(row for row in loaded.attempts if (row["task_id"], row["attempt"]) == ("0", 1))
    raw = json.loads((FIXTURES / AIRLINE).read_text("utf-8"))
    told = next(s for s in raw["simulations"] if (s["task_id"], s["trial"]) == ("0", 0))
    assert (row["run_id"], row["suite"]) == ("20260504_100000_airline", "tau2-bench/airline")
    assert (row["agent"], row["model"]) == ("llm_agent", "example/model-s")
    assert row["agent_version"] == "0123456789abcdef0123456789abcdef01234567"
    assert (row["seed"], row["score"]) == (told["seed"], told["reward_info"]["reward"])
    assert row["duration_s"] == told["duration"]
    assert row["cost_usd"] == told["agent_cost"]
    assert row["started_at"].isoformat() == told["start_time"]
    assert (row["input_tokens"], row["output_hash"], row["tags"]) == (None, None, None)
    place = raw["simulations"].index(told)
    assert row["transcript"] == f"{FIXTURES / AIRLINE}#/simulations/{place}"


def test_what_was_graded_keeps_its_verdict_and_its_reason(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / AIRLINE, policy={"*": "excluded"})
    raw = json.loads((FIXTURES / AIRLINE).read_text("utf-8"))
    for told in raw["simulations"]:
        key = (told["task_id"], told["trial"] + 1)
        graded = told["reward_info"] is not None
        if graded:
            passed = told["reward_info"]["reward"] == 1.0
            assert loaded.verdicts()[key] == ("passed" if passed else "failed")
        else:
            assert loaded.verdicts()[key] == "excluded"
        ended = told["termination_reason"] in ("user_stop", "agent_stop")
        crashed = ((told["reward_info"] or {}).get("info") or {}).get("error")
        assert loaded.reasons()[key] == (crashed if ended else told["termination_reason"])


def test_without_a_grade_the_reason_decides(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / AIRLINE)
    raw = json.loads((FIXTURES / AIRLINE).read_text("utf-8"))
    ungraded = {
        told["termination_reason"]: loaded.verdicts()[told["task_id"], told["trial"] + 1]
        for told in raw["simulations"]
        if told["reward_info"] is None
    }
    assert ungraded == {
        "infrastructure_error": "excluded",
        "context_window_exceeded": "failed",
    }


def test_a_grade_of_an_infrastructure_error_is_none(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    """Grading a run once more gives a reward of 0 to whatever did not end by user or agent."""
    crashed = {"error": "KeyError: 'x'\nat line 1", "note": "graded as reward=0.0"}
    simulations = [
        {"task_id": "0", "trial": trial, "termination_reason": reason, "reward_info": graded}
        for trial, (reason, graded) in enumerate(
            [
                ("user_stop", {"reward": 1.0}),
                ("infrastructure_error", {"reward": 0.0, "info": {"note": "terminated"}}),
                ("user_stop", {"reward": 0.0, "info": crashed}),
                ("max_steps", {"reward": 0.0, "info": None}),
            ]
        )
    ]
    log = tmp_path / "results.json"
    log.write_text(json.dumps({"info": {}, "tasks": [], "simulations": simulations}))
    loaded = harness_log(log)
    assert [(row["outcome"], row["outcome_reason"], row["score"]) for row in loaded.attempts] == [
        ("passed", None, 1.0),
        ("excluded", "infrastructure_error", None),
        ("failed", "KeyError: 'x'", 0.0),
        ("failed", "max_steps", 0.0),
    ]


def test_missing_trials_are_expected(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / AIRLINE)
    expected = {row["task_id"]: row["expected_attempts"] for row in loaded.expected}
    raw = json.loads((FIXTURES / AIRLINE).read_text("utf-8"))
    assert expected == {task["id"]: raw["info"]["num_trials"] for task in raw["tasks"]}
    assert sum(expected.values()) - len(loaded.attempts) == 1


def test_a_folder_of_simulations_is_one_log(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / TELECOM)
    (report,) = loaded.report.files
    assert (Path(report.path), loaded.report.skipped) == (FIXTURES / TELECOM, ())
    assert {row["run_id"] for row in loaded.attempts} == {TELECOM}
    assert {row["suite"] for row in loaded.attempts} == {"tau2-bench/telecom"}
    assert {row["source_file"] for row in loaded.attempts} == {str(FIXTURES / TELECOM)}
    files = (FIXTURES / TELECOM / "simulations").glob("*.json")
    assert {row["transcript"] for row in loaded.attempts} == set(map(str, files))


def test_one_simulation_alone_is_an_attempt(harness_log: Callable[..., Any]) -> None:
    file = min((FIXTURES / TELECOM / "simulations").glob("*.json"))
    (row,) = harness_log(file).attempts
    told = json.loads(file.read_text("utf-8"))
    assert (row["task_id"], row["attempt"]) == (told["task_id"], told["trial"] + 1)


def simulations(*rows: dict[str, Any]) -> str:
    return json.dumps(
        {"timestamp": "t", "info": {"num_trials": 2}, "tasks": [], "simulations": rows}
    )


ROW = {
    "task_id": "é",
    "trial": 0,
    "termination_reason": "user_stop",
    "reward_info": {"reward": 1.0},
}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"task_id": None}, "missing_field"),
        ({"task_id": {"a": 1}}, "wrong_type"),
        ({"trial": None}, "missing_field"),
        ({"trial": "x"}, "wrong_type"),
        ({"trial": -1}, "out_of_range"),
        ({"seed": 1.5}, "wrong_type"),
        ({"duration": float("nan")}, "not_finite"),
        ({"duration": -1}, "out_of_range"),
        ({"start_time": "yesterday"}, "wrong_type"),
    ],
)
def test_a_row_that_breaks_the_contract_is_rejected(
    change: dict[str, Any], code: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.json"
    path.write_text(simulations(ROW, ROW | change, ROW | {"trial": 1}), "utf-8")
    loaded = harness_log(path)
    assert [row["reason_code"] for row in loaded.rejected] == [code]
    assert [(row["task_id"], row["attempt"]) for row in loaded.attempts] == [("é", 1), ("é", 2)]
    assert loaded.rejected[0]["source_line"] == 2


def test_rewards_that_are_nearly_one_pass(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = tmp_path / "log.json"
    rewards = [1 - 1e-7, 1 + 1e-7, 1 - 2e-6, 2.0, None]
    rows = [ROW | {"trial": n, "reward_info": {"reward": r}} for n, r in enumerate(rewards)]
    path.write_text(simulations(*rows), "utf-8")
    outcomes = [row["outcome"] for row in harness_log(path).attempts]
    assert outcomes == ["passed", "passed", "failed", "failed", "excluded"]


def test_a_file_that_is_cut_off_lands_what_it_holds(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.json"
    text = simulations(ROW, ROW | {"trial": 1})
    path.write_text(text[: text.rindex('"reward"')], "utf-8")
    loaded = harness_log(path)
    assert [row["attempt"] for row in loaded.attempts] == [1]
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]


def test_results_that_lie_in_a_folder_called_simulations_are_no_simulations(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    # Where tau2-bench puts the results of runs that are one file each.
    folder = tmp_path / "data" / "simulations"
    folder.mkdir(parents=True)
    (folder / "first.json").write_text(simulations(ROW, ROW | {"trial": 1}), "utf-8")
    (folder / "second.json").write_text(simulations(ROW), "utf-8")
    for paths in ([folder], [folder, folder], [f"{folder}/*.json"], sorted(folder.iterdir())):
        loaded = harness_log(*paths)
        assert [row["run_id"] for row in loaded.attempts] == ["first", "first", "second"]
        assert not loaded.rejected


def test_a_simulation_alone_may_lie_anywhere(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"id": "x", **ROW}, indent=2), "utf-8")
    assert [row["attempt"] for row in harness_log(path).attempts] == [1]


@pytest.mark.parametrize("indent", [None, 2])
def test_messages_longer_than_a_sample_hide_nothing(
    indent: int | None, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    # As tau2-bench writes it: the trial comes after the messages.
    long = {
        "id": "x",
        "task_id": "é",
        "start_time": "2026-01-01T00:00:00",
        "termination_reason": "user_stop",
        "reward_info": {"reward": 1.0},
        "messages": ["x" * (1 << 20)],
        "trial": 0,
    }
    path = tmp_path / "log.json"
    whole = json.loads(simulations(long, ROW | {"trial": 1}))
    path.write_text(json.dumps(whole, indent=indent), "utf-8")
    assert [row["attempt"] for row in harness_log(path).attempts] == [1, 2]
    folder = tmp_path / "run" / "simulations"
    folder.mkdir(parents=True)
    for trial in (0, 1):
        text = json.dumps(long | {"trial": trial}, indent=indent)
        (folder / f"{trial}.json").write_text(text, "utf-8")
    loaded = harness_log(tmp_path / "run")
    assert [(row["run_id"], row["attempt"]) for row in loaded.attempts] == [("run", 1), ("run", 2)]


def test_simulations_that_were_thrown_away_are_no_attempts_of_the_run(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    folder = tmp_path / "run"
    discarded = folder / "hallucination_discarded" / "results.json"
    discarded.parent.mkdir(parents=True)
    (folder / "results.json").write_text(simulations(ROW), "utf-8")
    failed = ROW | {"reward_info": {"reward": 0.0}}
    discarded.write_text(simulations(failed), "utf-8")
    loaded = harness_log(folder)
    assert [(row["run_id"], row["outcome"]) for row in loaded.attempts] == [("run", "passed")]
    (skipped,) = loaded.report.skipped
    assert (skipped.path, "threw away" in skipped.reason) == (str(discarded), True)
    assert [row["outcome"] for row in harness_log(discarded).attempts] == ["failed"]
