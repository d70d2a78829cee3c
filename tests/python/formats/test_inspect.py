"""Inspect: its own figures from the landed rows, and what becomes of every odd thing in a log."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import zipfile
from collections import defaultdict
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import zstandard

from passk_py.ingest.containers.zip_members import ZipMembers
from passk_py.ingest.formats import recognise
from passk_py.ingest.formats.first_look import take_sample
from passk_py.ingest.formats.inspect import Inspect

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent / "fixtures/inspect"
LOGS = HERE / "logs"
SAID = json.loads((HERE / "expected.json").read_text("utf-8"))["files"]


def fixture(start: str) -> Path:
    (found,) = LOGS.glob(f"*_{start}*")
    return found


MIXED, JSON, TWO = fixture("capitals_jqN"), fixture("capitals_kWj"), fixture("two-scorers")
ERROR, CANCELLED, KILLED = fixture("capitals_bi6"), fixture("stopped_Fu"), fixture("stopped_8f")
SINGLE = fixture("capitals_oQu")
PARTIAL = fixture("partial")


def header(**changes: Any) -> dict[str, Any]:
    spec = {
        "eval_id": "E1",
        "run_id": "R1",
        "task_id": "T1",
        "task": "towns",
        "model": "acme/small",
        "model_generate_config": {"seed": 7},
        "config": {"epochs": 2},
        "dataset": {"sample_ids": ["a", "b"]},
    }
    return {"version": 2, "status": "success", "eval": {**spec, **changes}}


def row(task: Any = "a", epoch: Any = 1, value: Any = "C", **more: Any) -> dict[str, Any]:
    scores = {} if value is None else {"match": {"value": value}}
    return {"id": task, "epoch": epoch, "scores": scores, **more}


def eval_log(folder: Path, members: dict[str, Any], name: str = "log.eval") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for member, value in members.items():
            made.writestr(member, value if isinstance(value, str) else json.dumps(value))
    return path


def json_log(folder: Path, rows: list[Any], head: dict[str, Any] | None = None) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps({**(head or header()), "samples": rows}, indent=2), "utf-8")
    return path


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


def test_a_folder_of_logs_is_a_run_each_and_lands_every_attempt_once(
    harness_log: Callable[..., Any],
) -> None:
    log = harness_log(LOGS)
    assert {one.status for one in log.report.files} == {"landed"}
    assert len({one["run_id"] for one in log.attempts}) == len(SAID) == 8
    assert len(log.attempts) == sum(len(said["attempts"]) for said in SAID.values())


def test_the_list_of_a_folders_logs_repeats_them(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    json_log(tmp_path, [row()])
    listing = tmp_path / "logs.json"
    listing.write_text(json.dumps({"log.json": header()}, indent=2))
    log = harness_log(tmp_path)
    assert len(log.attempts) == 1
    assert [Path(one.path).name for one in log.report.skipped] == ["logs.json"]
    named = harness_log(listing)
    assert "without their samples" in named.report.files[0].message


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


def test_of_an_epoch_that_was_run_again_the_later_row_of_the_journal_counts(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    members = {
        "_journal/start.json": header(),
        # Numbers, not texts: 10 comes after 2.
        "_journal/summaries/10.json": [row("a", 1, "C")],
        "_journal/summaries/2.json": [row("a", 1, "I"), row("b", 1, "I")],
        "_journal/summaries/1.json": [row("a", 1, None, error="RuntimeError('x')")],
    }
    log = harness_log(eval_log(tmp_path, members))
    assert log.verdicts() == {("a", 1): "passed", ("b", 1): "failed"}
    assert [one["reason_code"] for one in log.rejected] == ["superseded"] * 2
    assert "run again in epoch 1" in log.rejected[0]["reason"]


@pytest.mark.parametrize(
    ("value", "outcome", "score"),
    [
        ("C", "passed", 1.0), ("I", "failed", 0.0), ("P", "failed", 0.5), ("N", "failed", 0.0),
        (1, "passed", 1.0), (0.99, "failed", 0.99), (2, "passed", 2.0), (True, "passed", 1.0),
        (False, "failed", 0.0), ("Yes", "passed", 1.0), ("FALSE", "failed", 0.0),
        ("0.5", "failed", 0.5), ("1e0", "passed", 1.0), ("größer", "failed", 0.0),
        ("nan", "failed", 0.0), (-1, "failed", -1.0), ({"x": "C"}, "passed", 1.0),
    ],
)  # fmt: skip
def test_values_become_numbers_as_inspect_makes_them(
    value: Any, outcome: str, score: float, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    (one,) = harness_log(json_log(tmp_path, [row(value=value)])).attempts
    assert (one["outcome"], one["score"]) == (outcome, score)


@pytest.mark.parametrize(
    ("more", "outcome", "reason"),
    [
        ({"error": "ValueError('x: ä')"}, "excluded", "error: ValueError"),
        ({"error": {"message": "httpx.ReadTimeout('t')"}}, "excluded", "error: httpx.ReadTimeout"),
        ({"error": "Error code: 429 - {'error': 1}"}, "excluded", "error: Error code: 429"),
        (
            {"error": {"message": "slow down", "traceback": "Traceback\nopenai.Slow: slow down\n"}},
            "excluded",
            "error: Slow",
        ),
        ({"error": {"message": " ", "traceback": 7}}, "excluded", "error"),
        ({"error": {"no": "message"}}, "excluded", "error"),
        ({"error": "CancelledError()"}, "excluded", "cancelled"),
        ({"error": "Cancelled()"}, "excluded", "cancelled"),
        ({"limit": "token"}, "failed", "token_limit"),
        ({"limit": {"type": "working", "limit": 3}}, "failed", "working_limit"),
        ({"limit": "operator"}, "excluded", "operator_limit"),
        ({"error": "E('x')", "limit": "time"}, "excluded", "error: E"),
        ({"completed": False}, "excluded", "incomplete"),
        ({"completed": True}, "excluded", "unscored"),
        ({"scores": None}, "excluded", "unscored"),
    ],
)
def test_what_befell_an_attempt_without_a_score(
    more: dict[str, Any],
    outcome: str,
    reason: str,
    tmp_path: Path,
    harness_log: Callable[..., Any],
) -> None:
    (one,) = harness_log(json_log(tmp_path, [row(value=None) | more])).attempts
    assert (one["outcome"], one["outcome_reason"], one["score"]) == (outcome, reason, None)


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


def test_a_log_from_before_there_was_an_eval_id_is_called_after_run_and_task(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    head = header(eval_id=None, solver="pkg/agent", model_generate_config={})
    head["plan"] = {"steps": [{"solver": "other"}], "config": {"seed": 3}}
    (one,) = harness_log(
        json_log(tmp_path, [row() | {"scores": None, "score": {"value": "C"}}], head)
    ).attempts
    assert (one["run_id"], one["agent"], one["seed"]) == ("R1_T1", "agent", 3)
    assert one["outcome"] == "passed"
    head = header(eval_id=None, run_id=None)
    (one,) = harness_log(json_log(tmp_path, [row()], head)).attempts
    # The file is called log, which says nothing.
    assert one["run_id"] == tmp_path.name


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


def test_what_has_the_wrong_type_is_refused_with_a_reason(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows: list[Any] = [
        row("good"), row(None), row({"a": 1}), row(epoch="x"), row(epoch=0), row(epoch=None),
        row(total_time="soon"), row(model_usage={"m": {"input_tokens": "many"}}), "text", [], None, {},
    ]  # fmt: skip
    log = harness_log(json_log(tmp_path, rows))
    assert [one["task_id"] for one in log.attempts] == ["good"]
    assert log.report.rows_read == len(rows)
    assert [one["reason_code"] for one in log.rejected] == [
        "missing_field", "wrong_type", "wrong_type", "out_of_range", "missing_field", "wrong_type",
        "wrong_type", "malformed_line", "malformed_line", "malformed_line", "missing_field",
    ]  # fmt: skip
    assert "epoch" in log.rejected[2]["reason"]


def test_of_a_key_that_is_there_twice_the_last_counts(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    summaries = '[{"id": "a", "id": "b", "epoch": 1, "scores": {"m": {"value": "C"}}}]'
    path = eval_log(tmp_path, {"header.json": header(), "summaries.json": summaries})
    assert harness_log(path).verdicts() == {("b", 1): "passed"}


def test_a_log_that_is_cut_off_keeps_the_rows_before(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = json_log(tmp_path, [row("a", n, explanation="é" * 50) for n in (1, 2, 3)])
    text = path.read_bytes()
    path.write_bytes(text[: text.rindex(b"explanation")])
    log = harness_log(path)
    assert log.verdicts() == {("a", 1): "passed", ("a", 2): "passed"}
    assert [one["reason_code"] for one in log.rejected] == ["truncated"]
    assert {one["run_id"] for one in log.attempts} == {"E1"}


@pytest.mark.parametrize("packer", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_compressed_json_log_is_read_too(
    packer: Callable[[bytes], bytes], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.json.packed"
    path.write_bytes(packer(JSON.read_bytes()))
    assert harness_log(path).verdicts() == {("10", 1): "passed", ("10", 2): "failed"}


def test_a_log_without_a_row_says_so(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    for path in (
        json_log(tmp_path, []),
        eval_log(tmp_path, {"header.json": header(), "summaries.json": []}),
    ):
        (one,) = harness_log(path).report.files
        assert (one.status, "holds no rows" in one.message) == ("failed", True)
    (one,) = harness_log(eval_log(tmp_path, {"_journal/start.json": header()})).report.files
    assert "has no samples" in one.message
    assert "--no-log-samples" in one.hint


def test_a_damaged_member_keeps_nothing_of_the_log(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    with zipfile.ZipFile(MIXED) as log:
        at = log.getinfo("summaries.json").header_offset + 200
    data = bytearray(MIXED.read_bytes())
    data[at : at + 8] = b"\xff" * 8
    path = tmp_path / "log.eval"
    path.write_bytes(data)
    (one,) = harness_log(path).report.files
    assert (one.status, one.rows_landed) == ("failed", 0)


@pytest.mark.parametrize("path", sorted(LOGS.iterdir()), ids=lambda path: path.name)
def test_its_logs_are_recognised_by_what_is_in_them(path: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "x.bin"
    renamed.write_bytes(path.read_bytes())
    found = recognise(take_sample(renamed, duckdb.connect()))
    assert isinstance(found, Inspect)


def test_a_header_longer_than_the_sample_is_still_recognised(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    head = header(zzz="x" * (2 << 20))
    assert harness_log(json_log(tmp_path, [row()], head)).verdicts() == {("a", 1): "passed"}


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 2, "status": "success", "eval": {"other": 1}, "samples": []}',
        '{"version": 2, "status": "success", "eval": "towns"}',
        '{"eval": {"task": "t", "model": "m"}}',
        '{"run_id": "r", "task_id": "a", "attempt": 1, "passed": true}',
        '[{"id": "a", "epoch": 1, "scores": {}}]',
    ],
)
def test_files_of_others_are_left_to_others(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    assert not isinstance(recognise(take_sample(path, duckdb.connect())), Inspect)


def test_a_zip_of_something_else_is_left_alone(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    eval_log(tmp_path, {"header.json": {}, "other.json": []}, "other.eval")
    log = harness_log(tmp_path)
    assert log.attempts == []
    assert [Path(one.path).name for one in log.report.skipped] == ["other.eval"]


TASK = "oX48jnHozRF2GtW7ReDApF"


def named_log(folder: Path, start: str, rows: list[Any], name: str = "", **changes: Any) -> Path:
    spec = {"task_id": TASK, "created": f"{start}+00:00", **changes}
    members = {"header.json": header(**spec), "summaries.json": rows}
    folder.mkdir(parents=True, exist_ok=True)
    return eval_log(folder, members, name or f"{start.replace(':', '-')}-00-00_t_{TASK}.eval")


def test_a_retry_holds_what_it_copied(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    logs = tmp_path / "logs"
    first = [row("a"), row("b", value=None, error="ValueError()")]
    before = named_log(logs, "2026-01-31T10:00:00", first, eval_id="E1")
    after = named_log(logs, "2026-01-31T11:00:00", [row("a"), row("b", value="I")], eval_id="E2")
    for paths in ([logs], [logs, logs]):
        log = harness_log(*paths)
        assert [(one["run_id"], one["task_id"], one["outcome"]) for one in log.attempts] == [
            ("E2", "a", "passed"), ("E2", "b", "failed"),
        ]  # fmt: skip
        assert {one.path for one in log.report.skipped} == {str(before)}
        assert after.name in log.report.skipped[0].reason
    # What is named itself is read.
    assert len(harness_log(before, after).attempts) == 4


@pytest.mark.parametrize(
    ("rows", "changes"),
    [
        # It died before all was copied.
        ([row("b", value="I")], {}),
        ([row("a"), row("b")], {"task_id": "another"}),
        ([row("a"), row("b")], {"model": "another"}),
        ([row("a"), row("b")], {"created": "2026-01-31T10:00:00+00:00"}),
    ],
)
def test_what_is_no_retry_with_all_of_it_lands_beside_it(
    rows: list[Any], changes: dict[str, Any], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    logs = tmp_path / "logs"
    named_log(logs, "2026-01-31T10:00:00", [row("a")], eval_id="E1")
    named_log(logs, "2026-01-31T11:00:00", rows, eval_id="E2", **changes)
    assert {one["run_id"] for one in harness_log(logs).attempts} == {"E1", "E2"}


def test_copies_of_a_log_land_once(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    logs = tmp_path / "logs"
    start = "2026-01-31T10:00:00"
    path = named_log(logs, start, [row("a")])
    json_log(logs, [row("a")], header(task_id=TASK)).rename(path.with_suffix(".json"))
    assert [Path(one.path) for one in harness_log(logs).report.files] == [path]
    scored = named_log(logs, start, [row("a", value="I")], f"{path.stem}-scored.eval")
    log = harness_log(logs)
    assert [Path(one.path) for one in log.report.files] == [scored]
    assert log.verdicts() == {("a", 1): "failed"}


def test_the_shards_of_a_merged_log_are_in_it(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    logs = tmp_path / "logs"
    start = "2026-01-31T10:00:00"
    merged = named_log(logs, start, [row("a"), row("b")], eval_id="M")
    for place, task in enumerate("abc"):
        shard = logs / f"{merged.stem}.shards" / str(place)
        named_log(shard, start, [row(task)], eval_id=f"S{place}")
    # The last one came after the merge.
    assert [(one["run_id"], one["task_id"]) for one in harness_log(logs).attempts] == [
        ("M", "a"), ("M", "b"), ("S2", "c"),
    ]  # fmt: skip


def test_a_damaged_log_beside_it_doubles_nothing(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    logs = tmp_path / "logs"
    path = named_log(logs, "2026-01-31T10:00:00", [row("a")])
    damaged = logs / f"2026-01-31T11-00-00-00-00_t_{TASK}.eval"
    damaged.write_bytes(path.read_bytes()[:300])
    assert harness_log(logs).verdicts() == {("a", 1): "passed"}


def test_summaries_may_hold_an_epoch_that_was_run_again(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [row("a", value="I"), row("a", 2), row("a", value="C")]
    log = harness_log(eval_log(tmp_path, {"header.json": header(), "summaries.json": rows}))
    assert log.verdicts() == {("a", 1): "passed", ("a", 2): "passed"}
    assert [one["reason_code"] for one in log.rejected] == ["superseded"]


def test_without_epochs_each_sample_is_expected_once(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    log = harness_log(json_log(tmp_path, [row("a")], header(config={"limit": 2})))
    assert [(one["task_id"], one["expected_attempts"]) for one in log.expected] == [
        ("a", 1), ("b", 1),
    ]  # fmt: skip


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
