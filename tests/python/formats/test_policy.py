"""The table of reasons: what names of real errors count as, and what a user may say of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.common.errors import PasskError
from passk_py.ingest.formats.policy import policy_from

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAILED = (
    "timeout", "AgentTimeoutError", "agent_timeout", "timed out", "TimeoutError", "time_limit", "max_steps",
    "MaxTurnsExceeded", "max_turns", "token_limit_exceeded", "context_window_exceeded", "ContextWindowExceededError",
    "context_length_exceeded", "refused", "refusal", "content_filter", "crash", "agent_error", "empty_patch",
    "too_many_errors", "output_length_exceeded",
)  # fmt: skip
EXCLUDED = (
    "rate_limit_exceeded", "RateLimitExceeded", "RateLimitError", "tokens_per_minute_limit_exceeded", "quota_exceeded",
    "ConnectionRefusedError", "ConnectionError", "APIConnectionError", "ConnectTimeout", "ReadTimeout", "APITimeoutError",
    "APIError", "InternalServerError", "ServerTimeout", "ServiceUnavailableError", "OverloadedError", "GatewayTimeout",
    "EnvironmentStartTimeoutError", "EnvironmentTimeout", "SandboxTimeoutError", "SandboxDiedError", "DockerTimeout",
    "ContainerTimeout", "AgentSetupTimeoutError", "VerifierTimeoutError", "grader_error", "GraderTimeout", "scoring timeout",
    "infra_error", "INFRA_ERROR", "CancelledError", "KeyboardInterrupt", "skipped", "user_error", "exception",
    "AuthenticationError", "network timeout", "database timeout", "provider timeout", "ValueError", "something else",
)  # fmt: skip


def row(task: str, reason: str, reward: Any = None) -> dict[str, Any]:
    graded = None if reward is None else {"reward": reward}
    return {"task_id": task, "trial": 0, "termination_reason": reason, "reward_info": graded}


def write(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "log.json"
    document = {"timestamp": "t", "info": {"num_trials": 1}, "tasks": [], "simulations": rows}
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_reasons_count_as_their_cause(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = write(tmp_path, [row(reason, reason) for reason in (*FAILED, *EXCLUDED)])
    # Of tau2-bench's own words, one says otherwise than the general table.
    told = {one["task_id"]: one["outcome"] for one in harness_log(path).attempts}
    assert [reason for reason in FAILED if told[reason] != "failed"] == ["MaxTurnsExceeded"]
    assert [reason for reason in EXCLUDED if told[reason] != "excluded"] == []


def test_the_users_rules_come_first_and_in_their_order(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = write(tmp_path, [row("a", "timeout"), row("b", "TimeoutOfMine"), row("c", "other")])
    policy = {"timeout": "excluded", "TIMEOUT*": "failed", "*": "failed"}
    told = {one["task_id"]: one["outcome"] for one in harness_log(path, policy=policy).attempts}
    assert told == {"a": "excluded", "b": "failed", "c": "failed"}


def test_only_a_star_has_a_meaning(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    reasons = ["HTTP [429]", "HTTP 4", "50%_off", "50 x off", "what?x", "whatax", "a^b", "a\\b"]
    path = write(tmp_path, [row(reason, reason) for reason in reasons])
    policy = {"HTTP [429]": "failed", "50%_o*": "failed", "what?x": "failed", "a^b": "failed", "a\\b": "failed"}  # fmt: skip
    told = {one["task_id"]: one["outcome"] for one in harness_log(path, policy=policy).attempts}
    assert [reason for reason in reasons if told[reason] == "failed"] == [
        "HTTP [429]",
        "50%_off",
        "what?x",
        "a^b",
        "a\\b",
    ]


def test_a_graded_verdict_is_never_changed(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    rows = [row("pass", "timeout", 1.0), row("fail", "rate_limit", 0.0), row("none", "rate_limit")]
    path = write(tmp_path, rows)
    for policy in ({"*": "failed"}, {"*": "excluded"}):
        told = {one["task_id"]: one["outcome"] for one in harness_log(path, policy=policy).attempts}
        assert (told["pass"], told["fail"]) == ("passed", "failed")
        assert told["none"] == policy["*"]


def test_another_policy_lands_the_log_again(tmp_path: Path) -> None:
    from passk_py.ingest.landing import load

    path, database = write(tmp_path, [row("a", "timeout")]), tmp_path / "passk.duckdb"
    policies: list[dict[str, str]] = [{}, {}, {"timeout": "excluded"}]
    statuses = [load(path, database=database, policy=one).files[0].status for one in policies]
    assert statuses == ["landed", "unchanged", "replaced"]


def test_a_canonical_log_is_asked_the_users_rules_only(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.jsonl"
    common = {"run_id": "r", "task_id": "t"}
    rows = [{**common, "attempt": 1, "outcome_reason": "timeout"}, {**common, "attempt": 2, "outcome": "excluded", "outcome_reason": "timeout"}]  # fmt: skip
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    assert [one["outcome"] for one in harness_log(path).attempts] == ["excluded", "excluded"]
    told = harness_log(path, policy={"timeout": "failed"})
    # Attempts that the log calls excluded are excluded.
    assert [one["outcome"] for one in told.attempts] == ["failed", "excluded"]


def test_rules_are_read_in_their_order() -> None:
    read = policy_from(["rate_limited=excluded", "*timeout*=failed"])
    assert list(read.items()) == [("rate_limited", "excluded"), ("*timeout*", "failed")]


def test_a_file_of_rules(tmp_path: Path) -> None:
    path = tmp_path / "policy.yml"
    path.write_text('timeout: excluded\n"rate*": failed\n', "utf-8")
    assert policy_from([str(path), "x=failed"]) == {
        "timeout": "excluded",
        "rate*": "failed",
        "x": "failed",
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- a", "holds no lines"),
        ("*timeout*: failed", "can't be read as YAML"),
        ("a: passed", "says that a counts as 'passed'"),
        ("a: 2026-99-99", "can't be read as YAML"),
        ("[" * 5000, "can't be read as YAML"),
        ("\x00", "can't be read as YAML"),
    ],
)
def test_a_file_that_is_none_says_so(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.yml"
    path.write_text(content, "utf-8")
    with pytest.raises(PasskError, match=message):
        policy_from([str(path)])


@pytest.mark.parametrize(
    "argument", ["x", "~nosuchuser/x", "timeout=passed", "y" * 5000, "=failed"]
)
def test_what_is_neither_a_rule_nor_a_file_says_so(
    argument: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    with pytest.raises(PasskError) as error:
        harness_log(write(tmp_path, [row("a", "b")]), policy=policy_from([argument]))
    assert len(str(error.value)) < 400
