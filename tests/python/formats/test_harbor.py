"""Harbor: its own pass@k and mean follow from what lands, and every trial is one attempt."""

from __future__ import annotations

import datetime as dt
import json
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.formats.policy import general_policy, policy_from

from .harbor_trials import FIXTURES, GRID, MODELS, SEVERAL, trial

if TYPE_CHECKING:
    from collections.abc import Callable


JOBS = sorted(json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"])


# harbor/models/trial/error_policy.py of 0.25: causes and the exceptions that have them.
AGENTS_FAULT = (
    "AgentTimeoutError",
    "ContextWindowExceededError",
    "OutputTokenExceededError",
    "ContextLengthExceededError",
    "OutputLengthExceededError",
    "AgentSafetyRefusalError",
    "ContentPolicyViolationError",
)


OTHERS_FAULT = (
    "EnvironmentStartTimeoutError",
    "SandboxBuildFailedError",
    "AgentSetupTimeoutError",
    "HealthcheckError",
    "SandboxLikelyOutOfMemoryError",
    "MemoryLimitExceededError",
    "SSHAccessError",
    "GKEExecStreamClosedError",
    "GKEPodNotFoundError",
    "RuntimeRequestError",
    "AddTestsDirError",
    "DownloadVerifierDirError",
    "ApiError",
    "ApiRateLimitError",
    "ApiInternalServerError",
    "ApiOverloadedError",
    "ApiConnectionClosedError",
    "ApiResponseStalledError",
    "UnknownApiError",
    "NetworkConnectionError",
    "ApiConnectionError",
    "ApiUsageLimitError",
    "RateLimitError",
    "InternalServerError",
    "ServiceUnavailableError",
    "APIConnectionError",
    "APIError",
    "Timeout",
    "BadRequestError",
    "UnprocessableEntityError",
    "UnsupportedParamsError",
    "APIResponseValidationError",
    "BudgetExceededError",
    "AgentAuthenticationError",
    "ModelNotFoundError",
    "ApiProviderResourceNotFoundError",
    "AuthenticationError",
    "PermissionDeniedError",
    "NotFoundError",
    "ServiceOperationsUnsupportedError",
    "VercelScopeError",
    "DspyImportError",
    "MissingExtraError",
    "RegradeError",
    "VerifierTimeoutError",
    "RewardFileNotFoundError",
    "RewardFileEmptyError",
    "VerifierOutputParseError",
    "CancelledError",
)


def rates(name: str) -> dict[str, float]:
    said = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"][name]
    found: dict[str, float] = said["pass_rates"]
    return found


@pytest.mark.parametrize("name", JOBS)
def test_harbors_own_figures_follow_from_what_landed(
    name: str, harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(FIXTURES / name)
    compared = 0
    for figure, value in rates(name).items():
        key, _, measure = figure.rpartition("/")
        agent, model, suite = key.split("__")
        rows = [
            row
            for row in loaded.attempts
            if (row["agent"], row["model"], row["suite"]) == (agent, model, suite)
        ]
        if measure == "mean":
            # Harbor's mean takes a trial without a reward for one of 0.
            total = sum(Fraction(row["score"] or 0) for row in rows)
            assert float(total / len(rows)) == pytest.approx(value, rel=1e-12)
        elif measure.startswith("pass@"):
            k = int(measure.removeprefix("pass@"))
            tasks = {row["task_id"] for row in rows}
            points = Fraction(0)
            for task in tasks:
                verdicts = [row["outcome"] for row in rows if row["task_id"] == task]
                n, c = len(verdicts), verdicts.count("passed")
                points += 1 - Fraction(comb(n - c, k), comb(n, k))
            assert float(points / len(tasks)) == pytest.approx(value, rel=1e-12)
        else:
            # Means of several rewards, which are no verdict.
            assert all(row["outcome_reason"] == "several_rewards" for row in rows)
            continue
        compared += 1
    assert compared or name == SEVERAL


def test_a_trial_becomes_a_row_with_all_that_it_says(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / GRID)
    (row,) = (
        row for row in loaded.attempts if (row["task_id"], row["attempt"]) == ("fix-permissions", 3)
    )
    del row["loaded_at"], row["source_line"]
    assert row == {
        "run_id": "2026-03-02__09-00-00",
        "suite": "mini-bench",
        "task_id": "fix-permissions",
        "attempt": 3,
        "outcome": "passed",
        "outcome_reason": "AgentTimeoutError",
        "score": 1.0,
        "agent": "terminus-2",
        "agent_version": "2.0.0",
        "model": "model-s",
        "seed": None,
        "started_at": dt.datetime(2026, 3, 2, 9, 6, 11, 391418),
        "duration_s": 40.0,
        "cost_usd": 0.019542,
        "input_tokens": 6514,
        "output_tokens": 651,
        "output_hash": None,
        "tags": {"provider": "example"},
        "transcript": str(FIXTURES / GRID / "fix-permissions__ghL8Dqr"),
        "source_file": str(FIXTURES / GRID),
        "source_format": "harbor",
    }


def test_tokens_and_costs_of_steps_are_added_up(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / SEVERAL)
    (row,) = (row for row in loaded.attempts if row["task_id"] == "two-steps")
    assert (row["input_tokens"], row["output_tokens"]) == (7658 + 3648, 765 + 364)
    assert row["cost_usd"] == pytest.approx(0.022974 + 0.010944)


def test_trials_are_numbered_in_the_order_of_their_starts(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / GRID).attempts
    for task in {row["task_id"] for row in rows}:
        mine = [row for row in rows if row["task_id"] == task]
        assert [row["attempt"] for row in mine] == [1, 2, 3, 4]
        assert sorted(mine, key=lambda row: row["started_at"]) == mine
    # The names of the folders would have given another order.
    assert any(row["source_line"] != place for place, row in enumerate(rows, 1))


def test_the_models_of_a_job_are_runs_of_their_own(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / MODELS).attempts
    assert {(row["run_id"], row["model"]) for row in rows} == {
        ("2026-03-03__10-00-00.terminus-2.model-s", "model-s"),
        ("2026-03-03__10-00-00.terminus-2.model-l", "model-l"),
    }
    assert {row["suite"] for row in rows} == {"adhoc"}


def test_two_models_are_not_mixed_where_the_job_says_nothing(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    info = {"name": "a", "version": "1"}
    folder = job(
        trial(1, agent_info=info | {"model_info": {"name": "x"}}),
        trial(2, agent_info=info | {"model_info": {"name": "y"}}),
    )
    (folder / "config.json").unlink()
    rows = harness_log(folder).attempts
    assert [(row["run_id"], row["attempt"]) for row in rows] == [("job.a.x", 1), ("job.a.y", 1)]


def test_run_id_names_a_job_of_one_agent(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    folder = job(trial(1))
    assert [row["run_id"] for row in harness_log(folder).attempts] == ["job"]
    assert [row["run_id"] for row in harness_log(folder, run_id="mine").attempts] == ["mine"]


def test_jobs_in_folders_of_one_name_are_called_after_their_configuration(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for cell, reward in [("first", 1.0), ("second", 0.0)]:
        inner = tmp_path / cell / "job" / "copy__1"
        inner.mkdir(parents=True)
        graded = trial(verifier_result={"rewards": {"reward": reward}})
        (inner / "result.json").write_text(json.dumps(graded), "utf-8")
        said = {"job_name": f"nightly-{cell}", "agents": [{"name": "a"}]}
        (inner.parent / "config.json").write_text(json.dumps(said), "utf-8")
    for paths in ([tmp_path], [f"{tmp_path}/*/job"], [f"{tmp_path}/*/job/*/result.json"]):
        loaded = harness_log(*paths)
        assert [(row["run_id"], row["outcome"]) for row in loaded.attempts] == [
            ("nightly-first", "passed"),
            ("nightly-second", "failed"),
        ]
        assert {row["run_id"] for row in loaded.expected} == {"nightly-first", "nightly-second"}


def test_all_files_of_all_jobs_land_each_trial_once(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES)
    names = [name for name in JOBS if not name.startswith("jobs_legacy")]
    said = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
    assert len(loaded.attempts) == sum(len(said[name]["attempts"]) for name in JOBS)
    keys = {
        tuple(row[k] for k in ("run_id", "suite", "task_id", "attempt")) for row in loaded.attempts
    }
    assert len(keys) == len(loaded.attempts)
    harbor = [file for file in loaded.report.files if file.format == "harbor"]
    assert [file.status for file in harbor] == ["landed"] * (len(names) + 1)
    # The job's own files are read with its trials, so they are not named as left alone.
    left = {Path(file.path).relative_to(FIXTURES) for file in loaded.report.skipped}
    assert (
        not {Path(name) / file for name in JOBS for file in ("config.json", "result.json")} & left
    )


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [((*AGENTS_FAULT, "NonZeroAgentExitCodeError"), "failed"), (OTHERS_FAULT, "excluded")],
)
def test_an_error_counts_as_the_fault_of_whom_harbor_blames(
    errors: tuple[str, ...],
    outcome: str,
    job: Callable[..., Path],
    harness_log: Callable[..., Any],
) -> None:
    folder = job(
        *(
            trial(number % 60, verifier_result=None, exception_info={"exception_type": error})
            for number, error in enumerate(errors)
        )
    )
    outcomes = {row["outcome_reason"]: row["outcome"] for row in harness_log(folder).attempts}
    assert outcomes == dict.fromkeys(errors, outcome)


def test_the_general_policy_alone_would_misread_some_of_harbors_words() -> None:
    from fnmatch import fnmatchcase

    from passk_py.ingest.formats.harnesses.harbor import Harbor

    for error in ("Timeout", "MemoryLimitExceededError", "OutputTokenExceededError"):
        general = next(
            (outcome for rule, outcome in general_policy() if fnmatchcase(error.lower(), rule)),
            "excluded",
        )
        assert general != Harbor.reasons[error]


def test_policy_changes_what_was_not_graded_and_nothing_else(
    harness_log: Callable[..., Any],
) -> None:
    before = harness_log(FIXTURES / GRID)
    after = harness_log(FIXTURES / GRID, policy=policy_from(["*=excluded"]))
    changed = {
        key: (before.reasons()[key], after.verdicts()[key])
        for key, verdict in before.verdicts().items()
        if after.verdicts()[key] != verdict
    }
    assert changed == {("impossible-task", 2): ("AgentTimeoutError", "excluded")}
    assert after.verdicts()["fix-permissions", 2] == "failed"
    assert after.verdicts()["fix-permissions", 3] == "passed"


def test_the_threshold_decides_of_a_part_of_a_reward(harness_log: Callable[..., Any]) -> None:
    def of(**options: Any) -> dict[tuple[str, int], str]:
        rows = harness_log(FIXTURES / MODELS, **options).attempts
        return {(row["model"], row["attempt"]): row["outcome"] for row in rows}

    strict = {("model-s", 1): "failed", ("model-s", 2): "passed", ("model-l", 1): "failed"}
    assert of() == strict | {("model-l", 2): "excluded"}
    assert of(score_threshold=0.75) == strict | {
        ("model-s", 1): "passed",
        ("model-l", 2): "excluded",
    }


@pytest.mark.parametrize(
    ("rewards", "outcome", "score", "reason"),
    [
        ({"reward": 1}, "passed", 1.0, None),
        ({"pytest": 1.0}, "passed", 1.0, None),
        ({"pytest": 0.5}, "failed", 0.5, "partial_reward"),
        ({"style": 0.0, "reward": 1.0}, "passed", 1.0, None),
        ({"style": 1.0, "tests": 1.0}, "excluded", None, "several_rewards"),
        ({"reward": 2.0}, "passed", 2.0, None),
        ({"reward": -1.0}, "failed", -1.0, None),
        ({}, "excluded", None, "no_verdict"),
        (None, "excluded", None, "no_verdict"),
        ([], "excluded", None, "no_verdict"),
    ],
)
def test_a_reward_is_what_harbor_takes_for_it(
    rewards: Any,
    outcome: str,
    score: float | None,
    reason: str | None,
    job: Callable[..., Path],
    harness_log: Callable[..., Any],
) -> None:
    (row,) = harness_log(job(trial(verifier_result={"rewards": rewards}))).attempts
    assert (row["outcome"], row["score"], row["outcome_reason"]) == (outcome, score, reason)


def test_an_error_of_a_step_is_the_reason_where_the_trial_has_none(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    steps = [
        {"exception_info": None},
        {"exception_info": {"exception_type": "AgentTimeoutError"}},
        {"exception_info": {"exception_type": "CancelledError"}},
    ]
    folder = job(
        trial(1, verifier_result=None, step_results=steps),
        trial(
            2,
            verifier_result=None,
            step_results=steps,
            exception_info={"exception_type": "VerifierTimeoutError"},
        ),
    )
    rows = harness_log(folder).attempts
    assert [row["outcome_reason"] for row in rows] == ["AgentTimeoutError", "VerifierTimeoutError"]
    assert [row["outcome"] for row in rows] == ["failed", "excluded"]
