"""Inspect: its own figures from the landed rows, and what becomes of every odd thing in a log."""

from __future__ import annotations

import datetime as dt
import json
from collections import defaultdict
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.containers.zip_members import ZipMembers

from .inspect_logs import HERE, JSON, MIXED, SAID, TWO, eval_log, fixture, header, json_log, row

if TYPE_CHECKING:
    from collections.abc import Callable


ERROR, CANCELLED, KILLED = fixture("capitals_bi6"), fixture("stopped_Fu"), fixture("stopped_8f")


SINGLE = fixture("capitals_oQu")


PARTIAL = fixture("partial")


def members_of(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        members = ZipMembers(file)
        found = {}
        for name in members.names:
            with members.opened(name) as member:
                found[name] = member.read().decode("utf-8")
        return found


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


@pytest.mark.parametrize("file", SAID, ids=[Path(file).name for file in SAID])
def test_the_figures_that_inspect_prints_follow_from_the_rows(
    file: str, harness_log: Callable[..., Any]
) -> None:
    attempts = harness_log(HERE / file).attempts
    values: dict[str, dict[str, list[Fraction]]] = defaultdict(lambda: defaultdict(list))
    passed: dict[str, list[bool]] = defaultdict(list)
    for one in attempts:
        # Inspect leaves out what was not scored.
        if one["outcome"] != "excluded":
            passed[one["task_id"]].append(one["outcome"] == "passed")
            values["verdict"][one["task_id"]].append(Fraction(one["score"]))
        for tag, value in one["tags"].items():
            if tag.startswith("score."):
                values[tag.split(".")[-1]][one["task_id"]].append(Fraction(value))
    checked = 0
    for rate, said in SAID[file]["pass_rates"].items():
        scorer, reducer, metric = rate.split("/")
        if metric == "stderr":
            continue
        if reducer.startswith("pass"):
            k = int(reducer[-1])
            by_task = []
            for verdicts in passed.values():
                n, c = len(verdicts), sum(verdicts)
                at_least_one = 1 - Fraction(comb(n - c, k), comb(n, k))
                all_of_them = Fraction(comb(c, k), comb(n, k))
                by_task.append(at_least_one if reducer.startswith("pass_at") else all_of_them)
        else:
            of = scorer if scorer in values else "verdict"
            by_task = [mean(task) for task in values[of].values()]
        assert float(mean(by_task)) == pytest.approx(said, rel=1e-12)
        checked += 1
    assert checked == len([rate for rate in SAID[file]["pass_rates"] if "stderr" not in rate])


def test_a_row_has_all_that_the_log_says_of_it(harness_log: Callable[..., Any]) -> None:
    landed = harness_log(MIXED).attempts
    (one,) = [r for r in landed if (r["task_id"], r["attempt"]) == ("limit", 2)]
    for name in ("source_file", "source_line", "loaded_at"):
        del one[name]
    assert one == {
        "run_id": "GwkXMoi6f5j6MYNz5jwimz",
        "suite": "capitals",
        "task_id": "limit",
        "attempt": 2,
        "outcome": "failed",
        "outcome_reason": "message_limit",
        "score": 0.0,
        "agent": "scripted",
        "agent_version": None,
        "model": "mockllm/model",
        "seed": 42,
        "started_at": dt.datetime(2026, 11, 21, 16, 16, 24, 401242),
        "duration_s": 0.029,
        "cost_usd": 0.00375,
        "input_tokens": 120,
        "output_tokens": 15,
        "output_hash": None,
        "tags": {
            "agent": "scripted",
            "inspect_run_id": "ELwf6Qj9cvsPkQ4AYVZeRe",
            "topic": "geo",
        },
        "transcript": f"{MIXED}#samples/limit_epoch_2.json",
        "source_format": "inspect",
    }


def test_a_graded_verdict_stays_whatever_limit_stopped_it(harness_log: Callable[..., Any]) -> None:
    log = harness_log(MIXED, policy={"*": "failed"})
    assert {key: log.verdicts()[key] for key in log.verdicts() if key[0] == "limit"} == {
        ("limit", 1): "passed",
        ("limit", 2): "failed",
        ("limit", 3): "failed",
        ("limit", 4): "passed",
    }
    assert [log.reasons()["limit", n] for n in (1, 2, 3, 4)] == [
        "message_limit", "message_limit", "time_limit", "time_limit",
    ]  # fmt: skip


def test_errors_leave_n_unless_the_policy_says_otherwise(harness_log: Callable[..., Any]) -> None:
    log = harness_log(MIXED)
    errors = {("crash", 1), ("crash", 3), ("flaky", 4)}
    assert {key for key, outcome in log.verdicts().items() if outcome == "excluded"} == errors
    assert {log.reasons()[key] for key in errors} == {"error: SandboxDiedError"}
    assert log.counts()["crash"] == (2, 1)
    strict = harness_log(MIXED, policy={"error: SandboxDiedError": "failed"})
    assert strict.counts()["crash"] == (4, 1)


def test_an_error_that_was_scored_counts_by_its_score(harness_log: Callable[..., Any]) -> None:
    log = harness_log(JSON)
    assert log.verdicts() == {("10", 1): "passed", ("10", 2): "failed"}
    assert log.reasons() == {("10", 1): "time_limit", ("10", 2): "error: SandboxDiedError"}


def test_a_retry_within_an_epoch_is_no_attempt_of_its_own(harness_log: Callable[..., Any]) -> None:
    log = harness_log(MIXED)
    assert len(log.attempts) == 20
    retried = {(r["task_id"], r["attempt"]) for r in log.attempts if "retries" in r["tags"]}
    assert retried == {("crash", 1), ("crash", 3), ("flaky", 2), ("flaky", 4)}
    assert log.verdicts()["flaky", 2] == "passed"


def test_what_was_stopped_with_the_evaluation_is_cancelled(harness_log: Callable[..., Any]) -> None:
    for path in (ERROR, CANCELLED):
        log = harness_log(path)
        assert (log.verdicts()["two", 2], log.reasons()["two", 2]) == ("excluded", "cancelled")


@pytest.mark.parametrize(
    ("given", "outcomes"),
    [
        ({}, ["failed", "failed"]),
        ({"score_threshold": 0.5}, ["passed", "failed"]),
        ({"score_threshold": 0.2}, ["passed", "passed"]),
    ],
)
def test_scores_are_held_against_the_threshold(
    given: dict[str, float], outcomes: list[str], harness_log: Callable[..., Any]
) -> None:
    """The scores of the log are 0.7 and 0.2."""
    loaded = harness_log(PARTIAL, **given)
    assert [one["outcome"] for one in loaded.attempts] == outcomes
    (report,) = loaded.report.files
    warned = "No score reaches the threshold, 1: the highest is 0.7" in report.message
    assert warned is ("passed" not in outcomes)


def test_a_partial_grade_passes_from_its_number_on(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [row("a", n, value=value) for n, value in enumerate("CPIN", 1)]
    path = json_log(tmp_path, rows)
    for threshold, passed in ((1.0, 1), (0.5, 2), (0.0, 4)):
        landed = harness_log(path, score_threshold=threshold).attempts
        assert [one["outcome"] for one in landed].count("passed") == passed


def test_a_score_of_nan_is_unscored(harness_log: Callable[..., Any]) -> None:
    log = harness_log(TWO)
    assert (log.verdicts()["gamma", 2], log.reasons()["gamma", 2]) == ("excluded", "unscored")
    assert log.counts() == {"alpha": (2, 2), "beta": (2, 0), "gamma": (1, 0)}


def test_the_other_scores_are_tags(harness_log: Callable[..., Any]) -> None:
    (first, *_) = harness_log(TWO).attempts
    scores = {tag: value for tag, value in first["tags"].items() if tag.startswith("score.")}
    assert scores == {
        "score.keyed.near": "1.0", "score.keyed.right": "1", "score.similarity": "1.0",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "epochs", "tasks"),
    [
        (MIXED, 4, {"7", "café", "crash", "flaky", "limit"}),
        (KILLED, 3, {"one", "two"}),
        (CANCELLED, 3, {"one", "two"}),
        (SINGLE, 1, {"1", "2", "10"}),
        (JSON, 2, {"10"}),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_each_sample_is_expected_once_an_epoch(
    path: Path, epochs: int, tasks: set[str], harness_log: Callable[..., Any]
) -> None:
    expected = harness_log(path).expected
    assert {one["task_id"] for one in expected} == tasks
    assert {one["expected_attempts"] for one in expected} == {epochs}


def test_samples_that_were_never_tried_are_expected_all_the_same(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    log = harness_log(json_log(tmp_path, [row("a")]))
    assert [(one["task_id"], one["expected_attempts"]) for one in log.expected] == [
        ("a", 2), ("b", 2),
    ]  # fmt: skip
    early = header() | {"results": {"early_stopping": {"manager": "m"}}}
    assert harness_log(json_log(tmp_path, [row("a")], early)).expected == []


def test_the_same_log_in_either_format_gives_the_same_rows(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    members = members_of(MIXED)
    samples = [json.loads(text) for name, text in members.items() if name.startswith("samples/")]
    path = json_log(tmp_path, samples, json.loads(members["header.json"]))
    both = []
    for log in (harness_log(MIXED), harness_log(path)):
        for one in log.attempts:
            place = one.pop("transcript")
            for name in ("source_file", "source_line", "loaded_at"):
                del one[name]
            assert place.removesuffix(".json").endswith(
                f"#samples/{one['task_id']}_epoch_{one['attempt']}"
            )
        both.append(log.attempts)
    assert both[0] == both[1]
    assert len(both[0]) == 20


def test_the_transcript_is_a_member_that_the_log_has(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    members = members_of(MIXED)
    samples = {name for name in members if name.startswith("samples/")}
    places = {row["transcript"] for row in harness_log(MIXED).attempts}
    assert places == {f"{MIXED}#{name}" for name in samples}
    # Whole samples are left out of a log, or lie in a folder each.
    left = eval_log(tmp_path, {n: text for n, text in members.items() if n not in samples})
    assert {row["transcript"] for row in harness_log(left).attempts} == {None}
    moved = {
        f"{n.removesuffix('.json')}/sample.json" if n in samples else n: text
        for n, text in members.items()
    }
    inside = eval_log(tmp_path, moved)
    places = {row["transcript"] for row in harness_log(inside).attempts}
    assert places == {f"{inside}#{n.removesuffix('.json')}/sample.json" for n in samples}


@pytest.mark.parametrize("without", ["summaries.json", "summaries.json and journal"])
def test_a_log_without_summaries_is_read_from_what_else_it_has(
    without: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    members = members_of(MIXED)
    del members["summaries.json"]
    if "journal" in without:
        members = {n: text for n, text in members.items() if not n.startswith("_journal")}
    log = harness_log(eval_log(tmp_path, members))
    assert log.verdicts() == harness_log(MIXED).verdicts()
    assert log.reasons() == harness_log(MIXED).reasons()


def test_the_reason_of_a_score_is_kept(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    scores = [
        {"match": {"value": "I", "reason": "refusal"}},
        {"match": {"value": float("nan"), "reason": "refusal"}},
        {"match": {"value": float("nan"), "metadata": {"unscored_reason": "grader_failed"}}},
    ]
    rows = [row("a", n) | {"scores": score} for n, score in enumerate(scores, 1)]
    log = harness_log(json_log(tmp_path, rows))
    assert log.reasons() == {
        ("a", 1): "refusal",
        ("a", 2): "unscored: refusal",
        ("a", 3): "unscored: grader_failed",
    }
    # Inspect leaves both out of n, also the one that looks like the agent's fault.
    assert log.counts() == {"a": (1, 0)}
    user = harness_log(json_log(tmp_path, rows), policy={"unscored: refusal": "failed"})
    assert user.counts() == {"a": (2, 0)}


@pytest.mark.parametrize(
    ("results", "outcome", "tags"),
    [
        (None, "failed", {"score.second.x": "1", "score.second.y": "0"}),
        (
            {"headline": {"scorer": "second", "score": "x"}, "scores": [{"name": "first"}]},
            "passed",
            {"score.first": "I", "score.second.y": "0"},
        ),
        (
            {"scores": [{"name": "y", "scorer": "second"}, {"name": "first", "scorer": "first"}]},
            "failed",
            {"score.first": "I", "score.second.x": "1"},
        ),
        ({"scores": [{"name": "gone", "scorer": "gone"}]}, "excluded", None),
    ],
)
def test_the_verdict_is_that_of_the_scorer_that_inspect_shows_first(
    results: Any,
    outcome: str,
    tags: dict[str, str] | None,
    tmp_path: Path,
    harness_log: Callable[..., Any],
) -> None:
    scores = {"first": {"value": "I"}, "second": {"value": {"x": 1, "y": 0}}}
    head = header() | ({"results": results} if results else {})
    (one,) = harness_log(json_log(tmp_path, [row() | {"scores": scores}], head)).attempts
    assert one["outcome"] == outcome
    if tags is not None:
        assert one["tags"] == {**tags, "inspect_run_id": "R1"}


def test_the_first_of_several_values_decides_with_a_warning(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    values = [{"safe": 0, "useful": 1}, {"useful": 1, "safe": 0}, {"none": None, "safe": 1}]
    rows = [row(str(place), value=one) for place, one in enumerate(values)]
    log = harness_log(json_log(tmp_path, rows))
    assert [one["outcome"] for one in log.attempts] == ["failed", "passed", "excluded"]
    (file,) = log.report.files
    assert file.is_doubtful
    for first, other in (("safe", "useful"), ("useful", "safe")):
        assert (
            f"scores.match.{first} decided what passed, as the first of several values. The "
            f"others are {other}."
        ) in file.message
    assert "none" not in file.message
    alone = harness_log(json_log(tmp_path, [row(value={"useful": 1})]))
    assert not alone.report.files[0].is_doubtful


def test_a_score_of_many_values_without_names_is_refused(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    log = harness_log(json_log(tmp_path, [row(value=["C", "I"]), row("b")]))
    assert [one["task_id"] for one in log.attempts] == ["b"]
    assert log.rejected[0]["reason_code"] == "several_values"
    assert "scores.match.value is a list of 2 values" in log.rejected[0]["reason"]


def test_tokens_of_the_cache_count_as_read_and_costs_add_up(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    usage = {
        "a/x": {
            "input_tokens": 1,
            "output_tokens": 2,
            "input_tokens_cache_read": 4,
            "input_tokens_cache_write": 8,
            "total_cost": 0.25,
        },
        "b/y": {"input_tokens": 16, "output_tokens": 32, "total_cost": None},
    }
    rows = [row("a", model_usage=usage), row("b", model_usage={}), row("c", model_usage=None)]
    rows.append(row("d", model_usage={"a/x": {"output_tokens": 1}}))
    log = harness_log(json_log(tmp_path, rows))
    used = [(r["input_tokens"], r["output_tokens"], r["cost_usd"]) for r in log.attempts]
    assert used == [(29, 34, 0.25), (None, None, None), (None, None, None), (None, 1, None)]


def test_the_agent_is_the_last_step_but_for_the_one_that_finishes(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    steps = [{"solver": "a"}, {"solver": "lib/b"}, {"solver": "end"}]
    head = header() | {"plan": {"steps": steps, "finish": {"solver": "end"}}}
    (one,) = harness_log(json_log(tmp_path, [row()], head)).attempts
    assert one["agent"] == "b"


def test_metadata_of_short_values_become_tags(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    metadata = {
        "größe": "klein", "level": 3, "hard": True, "rate": 0.5, "long": "x" * 101, "two": "a\nb",
        "list": [1], "none": None, "nan": float("nan"), "bad": "\ud800", "empty": "",
    }  # fmt: skip
    head = header(metadata={"stage": "dev", "dry": False, "level": 9})
    (one,) = harness_log(json_log(tmp_path, [row(metadata=metadata)], head)).attempts
    assert one["tags"] == {
        "dry": "false", "größe": "klein", "hard": "true", "inspect_run_id": "R1", "level": "3",
        "rate": "0.5", "stage": "dev",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "outcome"),
    [
        ({"scorer": "second"}, "passed"),
        ({"score": "second"}, "passed"),
        ({"metric": "mean"}, "passed"),
        ({"scorer": "gone"}, "failed"),
        ({"metric": "gone"}, "failed"),
        (None, "failed"),
    ],
)
def test_the_task_may_declare_which_score_is_the_verdict(
    declared: Any, outcome: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    results = {
        "scores": [
            {"name": "first", "scorer": "first", "metrics": {"accuracy": {}}},
            {"name": "second", "scorer": "second", "metrics": {"mean": {}}},
        ]
    }
    one = {"id": "a", "epoch": 1, "scores": {"first": {"value": 0}, "second": {"value": 1}}}
    head = header(headline_metric=declared) | {"results": results}
    assert harness_log(json_log(tmp_path, [one], head)).verdicts() == {("a", 1): outcome}
