"""lm-eval: its own figures from the landed rows, and what is refused because it says no verdict."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from passk_py.ingest.formats import recognise
from passk_py.ingest.formats.first_look import take_sample
from passk_py.ingest.formats.harnesses.lm_eval import LmEval

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent / "fixtures/lm_eval"
OUT = HERE / "out"
SAID = json.loads((HERE / "expected.json").read_text("utf-8"))["files"]
LARGE, SMALL = OUT / "acme__größe-7b", OUT / "acme__small"
DATE = "2026-11-21T16-21-33.719863"


def fixture(task: str, folder: Path = LARGE) -> Path:
    (found,) = folder.glob(f"samples_{task}_*.jsonl")
    return found


def said_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = SAID[path.relative_to(HERE).as_posix()]
    return found


def line(doc: Any = 0, responses: Any = ("x",), kept: Any = None, **more: Any) -> dict[str, Any]:
    responses = list(responses) if isinstance(responses, tuple) else responses
    metrics = {"exact_match": 1.0} if not more else {}
    row = {
        "doc_id": doc,
        "doc": {"q": "?"},
        "resps": [responses],
        "filtered_resps": [responses[0] if kept is None and responses else kept],
        "filter": more.pop("filter", "none"),
        **metrics,
        **more,
    }
    names = [key for key in (*metrics, *more) if key not in ("metrics", "resps", "filtered_resps")]
    return {"metrics": names, **row}


def log_of(
    folder: Path, rows: list[Any], results: dict[str, Any] | None = None, task: str = "sums"
) -> Path:
    path = folder / f"samples_{task}_{DATE}.jsonl"
    texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(text + "\n" for text in texts), "utf-8")
    if results is not None:
        (folder / f"results_{DATE}.json").write_text(json.dumps(results))
    return path


def shares(attempts: list[dict[str, Any]]) -> dict[str, dict[str, tuple[int, int]]]:
    """Give n and c of each task, by suite."""
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for one in attempts:
        if one["outcome"] != "excluded":
            found[one["suite"]][one["task_id"]].append(one["outcome"] == "passed")
    return {s: {t: (len(v), sum(v)) for t, v in tasks.items()} for s, tasks in found.items()}


@pytest.mark.parametrize(
    ("path", "rate"),
    [
        (fixture("sums_choice"), "acc,none"),
        (fixture("sums_exact"), "exact_match,strict-match"),
        (fixture("sums_exact"), "exact_match,flexible-extract"),
        (fixture("sums_pass1"), "pass@1,create_test"),
        (fixture("sums_votes"), "exact_match,score-first"),
        (fixture("sums_exact", SMALL), "exact_match,strict-match"),
        (fixture("sums_exact", SMALL), "exact_match,flexible-extract"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.parent.name}/{value.name}",
)
def test_the_figures_that_lm_eval_prints_follow_from_the_rows(
    path: Path, rate: str, harness_log: Callable[..., Any]
) -> None:
    task = path.name.removeprefix("samples_").rsplit("_2026", 1)[0]
    name = rate.split(",")[1]
    tasks = shares(harness_log(path).attempts)[task if name == "none" else f"{task}/{name}"]
    found = sum((Fraction(c, n) for n, c in tasks.values()), Fraction(0)) / len(tasks)
    assert float(found) == pytest.approx(said_of(path)["pass_rates"][rate], rel=1e-12)


@pytest.mark.parametrize("task", ["sums_choice", "sums_exact", "sums_votes"])
def test_the_first_filters_attempts_are_those_that_lm_eval_judges(
    task: str, harness_log: Callable[..., Any]
) -> None:
    path = fixture(task)
    suite = {"sums_exact": "sums_exact/strict-match", "sums_votes": "sums_votes/score-first"}
    landed = [
        (one["task_id"], one["attempt"], one["outcome"])
        for one in harness_log(path).attempts
        if one["suite"] == suite.get(task, task)
    ]
    words = {True: "passed", False: "failed", None: "excluded"}
    assert landed == [
        (str(one["task_id"]), one["attempt"], words[one["passed"]])
        for one in said_of(path)["attempts"]
    ]


def test_of_pass_at_1_the_number_of_passes_is_exact(harness_log: Callable[..., Any]) -> None:
    path = fixture("sums_pass1")
    landed = shares(harness_log(path).attempts)["sums_pass1/create_test"]
    assert landed == {str(one["task_id"]): (one["n"], one["c"]) for one in said_of(path)["tasks"]}


def test_counted_passes_are_no_first_ones(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    many = tuple("abcdefghij")
    rows = [line(doc, many, list(many), **{"pass@1": 0.3}) for doc in range(200)]
    log = harness_log(log_of(tmp_path, rows))
    assert set(log.counts().values()) == {(10, 3)}
    by_place = [0] * 10
    for one in log.attempts:
        by_place[one["attempt"] - 1] += one["outcome"] == "passed"
    # 60 each, and with a deviation of 6.5 if they were drawn.
    assert max(abs(passes - 60) for passes in by_place) < 26
    again = harness_log(log_of(tmp_path, rows))
    assert again.verdicts() == log.verdicts()
    assert {tuple(one["tags"].items()) for one in log.attempts} == {
        (("metric", "pass@1"), ("verdicts", "counted"))
    }
    assert {one["output_hash"] for one in log.attempts} == {None}


def test_a_row_has_all_that_the_log_says_of_it(harness_log: Callable[..., Any]) -> None:
    landed = harness_log(fixture("sums_votes")).attempts
    (one,) = [row for row in landed if (row["task_id"], row["attempt"]) == ("1", 1)]
    for name in ("source_file", "source_line", "loaded_at"):
        del one[name]
    assert one == {
        "run_id": f"acme__größe-7b_{DATE}",
        "suite": "sums_votes/score-first",
        "task_id": "1",
        "attempt": 1,
        "outcome": "failed",
        "outcome_reason": None,
        "score": 0.0,
        "agent": None,
        "agent_version": None,
        "model": "acme/größe-7b",
        "seed": 1234,
        "started_at": None,
        "duration_s": None,
        "cost_usd": None,
        "input_tokens": None,
        "output_tokens": None,
        "output_hash": hashlib.sha256(b"50").hexdigest(),
        "tags": {"metric": "exact_match"},
        "transcript": f"{fixture('sums_votes')}#L2",
        "source_format": "lm-eval",
    }


def test_responses_that_the_filter_passes_over_are_not_graded(
    harness_log: Callable[..., Any],
) -> None:
    log = harness_log(fixture("sums_votes"))
    assert {key: log.reasons()[key] for key in log.verdicts() if key[1] > 1} == {
        (str(task), attempt): "not_graded" for task in range(5) for attempt in (2, 3)
    }
    assert set(log.counts().values()) == {(1, 0), (1, 1)}
    strict = harness_log(fixture("sums_votes"), policy={"not_graded": "failed"})
    assert set(strict.counts().values()) == {(3, 0), (3, 1)}
    assert [row["outcome"] for row in strict.attempts if row["attempt"] == 1] == [
        row["outcome"] for row in log.attempts if row["attempt"] == 1
    ]


def test_a_vote_is_no_verdict_of_any_response(harness_log: Callable[..., Any]) -> None:
    rejected = harness_log(fixture("sums_votes")).rejected
    assert [row["reason_code"] for row in rejected] == ["no_single_verdict"] * 5
    assert all("The filter maj@3 makes one answer of 3 responses" in r["reason"] for r in rejected)


@pytest.mark.parametrize(
    ("task", "code", "words"),
    [
        ("sums_pass2", "no_single_verdict", "has pass@2 but not pass@1"),
        ("sums_float", "no_verdict", "(overlap)"),
        ("sums_rolling", "no_verdict", "(word_perplexity, bits_per_byte)"),
    ],
)
def test_what_says_no_verdict_is_refused_line_by_line(
    task: str, code: str, words: str, harness_log: Callable[..., Any]
) -> None:
    log = harness_log(fixture(task))
    assert log.attempts == []
    assert [row["reason_code"] for row in log.rejected] == [code] * 5
    assert all(words in row["reason"] for row in log.rejected)


def test_the_tasks_of_one_call_are_one_run_and_another_model_is_another(
    harness_log: Callable[..., Any],
) -> None:
    log = harness_log(OUT)
    assert {one.status for one in log.report.files} == {"landed"}
    assert [one.message for one in log.report.files if "Its run is called" in one.message] == []
    assert {(one["run_id"], one["model"], one["seed"]) for one in log.attempts} == {
        (f"acme__größe-7b_{DATE}", "acme/größe-7b", 1234),
        ("acme__small_2026-11-21T16-21-55.436238", "acme/small", 7),
    }
    keys = [(r["run_id"], r["suite"], r["task_id"], r["attempt"]) for r in log.attempts]
    # 5 of choice, 2 filters of 5 of exact, 4 of 5 of pass1, 3 of 5 of votes; 2 filters of 2.
    assert len(keys) == len(set(keys)) == 5 + 10 + 20 + 15 + 4
    assert log.report.skipped == ()


def test_as_many_attempts_are_expected_as_there_are_repeats(
    harness_log: Callable[..., Any],
) -> None:
    found = {
        task: {one["expected_attempts"] for one in harness_log(fixture(task)).expected}
        for task in ("sums_pass1", "sums_votes", "sums_exact")
    }
    assert found == {"sums_pass1": {4}, "sums_votes": {3}, "sums_exact": {1}}


def test_without_results_the_folder_names_the_run(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    log = harness_log(log_of(tmp_path, [line()]))
    (one,) = log.attempts
    assert (one["run_id"], one["suite"]) == (f"{tmp_path.name}_{DATE}", "sums")
    assert (one["model"], one["seed"], log.expected) == (None, None, [])
    renamed = tmp_path / "mine.jsonl"
    renamed.write_text(json.dumps(line()))
    (one,) = harness_log(renamed).attempts
    assert (one["run_id"], one["suite"]) == ("mine", "mine")


def test_results_without_samples_say_what_to_do(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    (found,) = SMALL.glob("results_*.json")
    (one,) = harness_log(found).report.files
    assert (one.status, "hold no attempts" in one.message) == ("failed", True)
    assert "--log_samples" in one.hint


def test_results_that_change_are_read_again(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    from passk_py.ingest.landing import load

    path = log_of(tmp_path, [line()], {"model_name": "a"})
    database = tmp_path / "again.duckdb"
    assert load(path, database=database).statuses == {"landed": 1}
    log_of(tmp_path, [line()], {"model_name": "b"})
    assert load(path, database=database).statuses == {"replaced": 1}


@pytest.mark.parametrize(
    ("rows", "metric"),
    [
        # The first that is 0 or 1 in every line, not the first that is in this one.
        ([{"f1": 1.0, "em": 1}, {"f1": 0.5, "em": 0}], "em"),
        ([{"acc": 0.0, "acc_norm": 1.0}, {"acc": 1.0, "acc_norm": 1.0}], "acc"),
        ([{"em": 0, "pass@1": 1.0}, {"em": 1, "pass@1": 0.0}], "pass@1"),
        ([{"em": 0, "pass_at_1": 1.0}, {"em": 1, "pass_at_1": 0.0}], "pass_at_1"),
        ([{"strict": True, "parts": [True, False]}, {"strict": False, "parts": []}], "strict"),
        ([{"nan": float("nan"), "em": 1}, {"nan": 0, "em": 1}], "em"),
        ([{"wer": 0, "em": 1}, {"wer": 1, "em": 1}], "em"),
        ([{"pass@2": 1.0, "em": 1}, {"pass@2": 1.0, "em": 0}], "em"),
    ],
)
def test_the_verdict_is_the_first_metric_that_can_be_one(
    rows: list[dict[str, Any]], metric: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    results = {"higher_is_better": {"sums": {"wer": False, "em": True}}}
    path = log_of(tmp_path, [line(doc, **row) for doc, row in enumerate(rows)], results)
    log = harness_log(path)
    assert [one["tags"] for one in log.attempts] == [{"metric": metric}] * 2
    wanted = ["passed" if row[metric] else "failed" for row in rows]
    assert [one["outcome"] for one in log.attempts] == wanted


def test_lines_of_old_versions_name_neither_filter_nor_metrics(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    row = line(doc_hash="x", acc=1.0)
    del row["metrics"], row["filter"]
    (one,) = harness_log(log_of(tmp_path, [row])).attempts
    assert (one["suite"], one["outcome"], one["tags"]) == ("sums", "passed", {"metric": "acc"})


@pytest.mark.parametrize(
    ("steps", "lands"),
    [
        (["regex", "take_first"], True),
        (["take_first"], True),
        (["majority_vote", "take_first"], False),
        (["custom", "take_first"], False),
        (["regex"], False),
        ([None], False),
    ],
)
def test_a_filter_that_takes_the_first_is_known_by_its_steps(
    steps: list[Any], lands: bool, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    filters = [{"name": "mine", "filter": [{"function": step} for step in steps]}]
    results = {"configs": {"sums": {"filter_list": filters}}}
    row = line(0, ("a", "b"), filter="mine", em=1)
    log = harness_log(log_of(tmp_path, [row], results))
    assert log.verdicts() == ({("0", 1): "passed", ("0", 2): "excluded"} if lands else {})
    assert [one["reason_code"] for one in log.rejected] == [] if lands else ["no_single_verdict"]


def test_the_default_filter_takes_the_first(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    log = harness_log(log_of(tmp_path, [line(0, ("a", "b"), em=0)]))
    assert log.verdicts() == {("0", 1): "failed", ("0", 2): "excluded"}


def test_the_first_k_of_the_responses_are_graded_and_the_others_are_not(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    row = line(0, ("a", "b", "c", "d"), ["a", "b"], filter="two", **{"pass@1": 0.5})
    log = harness_log(log_of(tmp_path, [row]))
    assert log.counts() == {"0": (2, 1)}
    assert [log.reasons()["0", place] for place in (3, 4)] == ["not_graded"] * 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("row", "code", "words"),
    [
        (line(0, ("a", "b"), ["a", "b"], **{"pass@1": 0.3}), "out_of_range", "no share of 2"),
        (line(0, ("a", "b"), ["a", "b"], **{"pass@1": 1.5}), "out_of_range", "no share of 2"),
        (line(0, ("a", "b"), ["a", "b"], **{"pass@1": float("nan")}), "out_of_range", "is nan"),
        (line(0, ("a",), **{"pass@1": 0.999999999999}), "out_of_range", "no share of 1 response"),
        (line(0, ("a", "b"), ["a", "b"], **{"pass@1": "half"}), "wrong_type", "is no number"),
        (line(0, ("a", "b"), ["a", "b"], **{"pass@1": None}), "missing_field", "is missing"),
        (line(0, ("a", "b"), ["a", "b", "c"], **{"pass@1": 1.0}), "out_of_range", "has 3"),
        (line(0, ("a", "b"), ["a", "b"], em=1), "no_single_verdict", "2 responses together"),
        (line(0, (), em=1), "missing_field", "no list of a list"),
        (line(0, {"a": 1}, ["x"], em=1), "missing_field", "no list of a list"),
        (line(0, ("a",), em=1) | {"resps": None}, "missing_field", "no list of a list"),
        (line({"a": 1}, em=1), "wrong_type", "doc_id"),
        (line(None, em=1), "missing_field", "task_id is missing"),
        (line(0, metrics=[], em="x"), "wrong_type", "em is no number"),
        (line(0, filter="float", em=0.5), "no_verdict", "(em)"),
        (line(0, ("a", "b"), filter="\ud800", em=1), "no_single_verdict", "The filter \\ud800 makes"),
        ("[1]", "malformed_line", "a list"),
        ("{", "malformed_line", "not valid JSON"),
    ],
)  # fmt: skip
def test_a_line_that_says_no_verdict_is_refused_with_a_reason(
    row: Any, code: str, words: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    # Another filter, so that the metrics of the line are judged by themselves.
    log = harness_log(log_of(tmp_path, [line(9, filter="other", em=1), row, line(8, em=1)]))
    assert {("9", 1), ("8", 1)} >= log.verdicts().keys() >= {("9", 1)}
    assert log.rejected[0]["reason_code"] == code
    assert words in log.rejected[0]["reason"]
    assert log.report.rows_read == 3


def test_a_file_that_is_cut_off_keeps_the_lines_before(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = log_of(tmp_path, [line(0), line(1, ("größer",), em=1)])
    path.write_bytes(path.read_bytes()[:-30])
    log = harness_log(path)
    assert log.verdicts() == {("0", 1): "passed"}
    assert [one["reason_code"] for one in log.rejected] == ["truncated"]


def test_of_a_key_that_is_there_twice_the_last_counts(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    twice = json.dumps(line(0, em=0))[:-1] + ', "em": 1}'
    assert harness_log(log_of(tmp_path, [twice])).verdicts() == {("0", 1): "passed"}


def test_a_compressed_file_is_known_by_the_same_name(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / f"samples_sums_{DATE}.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(line()).encode()))
    (one,) = harness_log(path).attempts
    assert (one["run_id"], one["suite"]) == (f"{tmp_path.name}_{DATE}", "sums")


def test_its_files_are_recognised_by_what_is_in_them(tmp_path: Path) -> None:
    for path in OUT.rglob("samples_*.jsonl"):
        renamed = tmp_path / "x.bin"
        renamed.write_bytes(path.read_bytes())
        assert isinstance(recognise(take_sample(renamed, duckdb.connect())), LmEval)


def test_a_line_longer_than_the_sample_is_recognised(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    row = json.loads(fixture("sums_pass1").read_text("utf-8").splitlines()[0])
    row["doc"] = {"context": "é" * (1 << 20)}
    assert harness_log(log_of(tmp_path, [row])).counts() == {"0": (4, 4)}


@pytest.mark.parametrize(
    "text",
    [
        '{"doc_id": 1, "doc": "x"}',
        '{"run_id": "r", "task_id": "a", "attempt": 1, "passed": true, "doc_id": 3}',
        '[{"doc_id": 1, "resps": []}]',
    ],
)
def test_files_of_others_are_left_to_others(text: str, tmp_path: Path) -> None:
    path = tmp_path / "samples_sums.jsonl"
    path.write_text(text + "\n")
    assert not isinstance(recognise(take_sample(path, duckdb.connect())), LmEval)


def unnamed(doc: int, figure: float) -> dict[str, Any]:
    """Make a line as the versions wrote it that name neither filter nor metrics."""
    row = line(doc, exact_match=figure)
    return {key: value for key, value in row.items() if key not in ("filter", "metrics")}


@pytest.mark.parametrize(
    ("filters", "suites"),
    [
        ([{"name": "strict"}, {"name": "flexible"}], ["sums/flexible", "sums/strict"]),
        (None, ["sums", "sums/filter-2"]),
    ],
)
def test_lines_without_a_filters_name_come_filter_by_filter(
    filters: Any, suites: list[str], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [unnamed(0, 1.0), unnamed(1, 0.0), unnamed(0, 0.0), unnamed(1, 0.0)]
    results = {"model_name": "m", "configs": {"sums": {"filter_list": filters}}}
    log = harness_log(log_of(tmp_path, rows, results if filters else None))
    assert shares(log.attempts) == {
        suites[bool(filters)]: {"0": (1, 1), "1": (1, 0)},
        suites[not filters]: {"0": (1, 0), "1": (1, 0)},
    }


def test_the_lists_of_the_first_versions(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / "pretrained__acme_hard_sums.jsonl"
    path.write_text(json.dumps([unnamed(0, 1.0), unnamed(1, 0.0), [7]], indent=2))
    configs = {"sums": {}, "hard_sums": {"repeats": 1}}
    (folder / "results.json").write_text(
        json.dumps({"configs": configs, "results": {}, "n-shot": {}})
    )
    for given in (path, folder):
        log = harness_log(given)
        assert shares(log.attempts) == {"hard_sums": {"0": (1, 1), "1": (1, 0)}}
        assert [one["reason_code"] for one in log.rejected] == ["malformed_line"]
        assert {one["expected_attempts"] for one in log.expected} == {1}
    (folder / "results.json").write_text(json.dumps({"configs": ["sums"]}))
    assert {one["suite"] for one in harness_log(path).attempts} == {path.stem}
