"""deepeval: its own pass rate, repeats by name and by input, and metrics that failed."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "deepeval"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
LATEST, RESULTS = SAID


def case(name: str | None = "test_a[1-3]", question: str = "2+2", **changes: Any) -> dict[str, Any]:
    """Make a case as deepeval writes it."""
    metric = {"name": "Exact", "threshold": 1.0, "success": True, "score": 1.0, "flaky": False}
    made = {"name": name, "input": question, "actualOutput": "4", "success": True}
    return {**made, "metricsData": [metric], "order": 0, **changes}


def metric(**changes: Any) -> dict[str, Any]:
    """Make the result of a metric."""
    return {"name": "m", "threshold": 0.5, "success": True, "score": 1.0, **changes}


@pytest.fixture
def run_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a run of these cases."""

    def loaded(*cases: Any, head: dict[str, Any] | None = None, **options: Any) -> Any:
        path = tmp_path / "run.json"
        run = {"testCases": cases, "conversationalTestCases": [], **(head or {})}
        path.write_text(json.dumps({"testRunData": run}), encoding="utf-8")
        return harness_log(path, **options)

    return loaded


@pytest.mark.parametrize("file", SAID)
def test_gives_deepevals_pass_rate(file: str, harness_log: Callable[..., Any]) -> None:
    counts = harness_log(FIXTURES / file).counts(excluded_fail=True).values()
    rate = Fraction(sum(c for _, c in counts), sum(n for n, _ in counts))
    assert float(round(rate, 4)) == SAID[file]["pass_rates"]["Pass Rate"]


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / LATEST)
    one = next(
        one
        for one in loaded.attempts
        if (one["task_id"], one["attempt"]) == ("test_agent[translate]", 3)
    )
    expected = {
        "run_id": "nightly",
        "suite": "test_agent.py",
        "outcome": "failed",
        "outcome_reason": None,
        "score": 0.5,
        "agent": None,
        "model": "mock-1",
        "seed": None,
        "started_at": None,
        "duration_s": 3.5,
        "cost_usd": 0.002,
        "input_tokens": None,
        "output_tokens": None,
        "output_hash": sha256("大きさ!".encode()).hexdigest(),
        "tags": {
            "prompt version": "v3",
            "tags": "nightly",
            "task": "translate",
            "temperature": "0.7",
        },
        "transcript": f"{FIXTURES / LATEST}#/testRunData/testCases/6",
    }
    assert {name: one[name] for name in expected} == expected


def test_a_run_without_identifier_is_called_after_its_file(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / RESULTS)
    assert {one["run_id"] for one in loaded.attempts} == {Path(RESULTS).stem}
    assert {(one["suite"], one["model"]) for one in loaded.attempts} == {("deepeval", "mock-2")}
    assert {(one["input_tokens"], one["output_tokens"]) for one in loaded.attempts} == {(120, 7)}
    assert [one["tags"] for one in loaded.attempts if one["task_id"] == "coin"] == [
        {"flaky": "true"}
    ] * 3
    named = harness_log(FIXTURES / RESULTS, run_id="mine", suite="sums")
    assert {(one["run_id"], one["suite"]) for one in named.attempts} == {("mine", "sums")}


@pytest.mark.parametrize(
    ("policy", "outcome"), [({}, "excluded"), ({"judge_error": "failed"}, "failed")]
)
def test_a_judge_that_failed_gives_no_verdict(
    policy: dict[str, str], outcome: str, harness_log: Callable[..., Any]
) -> None:
    """The third answer makes the metric raise, the fourth lets it run out of time."""
    loaded = harness_log(FIXTURES / LATEST, policy=policy)
    rows = {one["attempt"]: one for one in loaded.attempts if one["task_id"] == "test_agent[judge]"}
    assert {place: row["outcome"] for place, row in rows.items()} == {
        1: "passed",
        2: "passed",
        3: outcome,
        4: outcome,
    }
    assert {rows[place]["outcome_reason"] for place in (3, 4)} == {"judge_error"}
    assert [rows[place]["score"] for place in (3, 4)] == [None, None]
    assert rows[3]["tags"]["judge_error"] == "judge: rate limit"
    assert rows[4]["tags"]["judge_error"].startswith("Timed out")
    assert "judge_error" not in rows[1]["tags"]


@pytest.mark.parametrize(
    ("metrics", "outcome"),
    [
        ([metric(success=False, score=None, error="boom")], "excluded"),
        # Some versions leave out what is null.
        ([{"name": "m", "success": False, "error": "boom"}], "excluded"),
        ([metric(success=False, score=None)], "excluded"),
        ([metric(), metric(success=False, score=None, error="boom")], "excluded"),
        # One metric that has failed is enough for the case to fail.
        ([metric(success=False, score=0.1), metric(success=False, error="boom")], "failed"),
        ([metric(success=False, score=0.1)], "failed"),
        # A metric that is flaky or has no threshold decides nothing.
        ([metric(success=False, score=0), metric(error="boom", flaky=True)], "failed"),
    ],
)
def test_what_a_judges_error_means_beside_other_metrics(
    metrics: list[dict[str, Any]], outcome: str, run_of: Callable[..., Any]
) -> None:
    (one,) = run_of(case(success=False, metricsData=metrics)).attempts
    assert (one["outcome"], one["outcome_reason"]) == (
        outcome,
        "judge_error" if outcome == "excluded" else None,
    )


def test_a_case_that_passed_in_spite_of_an_error_has_passed(run_of: Callable[..., Any]) -> None:
    (one,) = run_of(case(metricsData=[metric(), metric(error="boom", flaky=True)])).attempts
    assert (one["outcome"], one["outcome_reason"]) == ("passed", None)


def test_the_repeats_of_the_names_are_expected(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / LATEST)
    # The second of crash raised and left no case, so one of four is missing.
    assert {one["task_id"]: one["expected_attempts"] for one in loaded.expected} == {
        f"test_agent[{task}]": 4 for task in ("add", "crash", "judge", "never", "translate")
    }
    assert loaded.counts()["test_agent[crash]"] == (3, 3)
    assert harness_log(FIXTURES / RESULTS).expected == []


def test_cases_are_numbered_by_order(run_of: Callable[..., Any]) -> None:
    loaded = run_of(
        case("test_a[2-3]", order=7, success=False),
        case("test_a[1-3]", order=4),
        case("test_a[3-3]", order=9),
    )
    assert loaded.verdicts() == {
        ("test_a", 1): "passed",
        ("test_a", 2): "failed",
        ("test_a", 3): "passed",
    }


def test_cases_without_order_are_numbered_as_they_stand(run_of: Callable[..., Any]) -> None:
    cases = [case(success=passed) for passed in (False, True)]
    for one in cases:
        del one["order"]
    assert list(run_of(*cases).verdicts().values()) == ["failed", "passed"]


def test_cases_of_one_name_and_several_inputs_are_tasks_of_their_own(
    run_of: Callable[..., Any],
) -> None:
    loaded = run_of(*(case(f"test_a[x-{n}-2]", asked) for n in (1, 2) for asked in ("ä", "b")))
    assert loaded.counts() == {"test_a[x] ä": (2, 2), "test_a[x] b": (2, 2)}
    # It may be a parameter that only looks like a repeat.
    assert loaded.expected == []


def test_numbers_that_are_no_repeat_stay_in_the_name(run_of: Callable[..., Any]) -> None:
    loaded = run_of(case("test_a[5-3]"), case("test_b[7]"), case("test_c[0-2]"))
    assert loaded.counts().keys() == {"test_a[5-3]", "test_b[7]", "test_c[0-2]"}


def test_names_that_deepeval_made_up_give_way_to_the_input(run_of: Callable[..., Any]) -> None:
    long = "x" * 1000
    loaded = run_of(case("test_case_0", long), case("test_case_1", long), case(None, long))
    ((task, counts),) = loaded.counts().items()
    assert task.startswith("x" * 200 + "~")
    assert counts == (3, 3)
    assert run_of(case("test_case_0", "")).counts() == {"test_case_0": (1, 1)}


def test_metrics_of_the_first_versions_have_another_name(
    harness_log: Callable[..., Any], tmp_path: Path
) -> None:
    graded = {"metric": "m", "threshold": 0.5, "success": True, "score": 0.75}
    broken = graded | {"success": False, "score": None, "error": "Timed out after 1s"}
    cases = []
    for repeat, metrics in enumerate(([graded], [graded, broken]), 1):
        made = case(f"test_a[{repeat}-2]", success=metrics[-1]["success"], order=None)
        del made["metricsData"]
        cases.append({**made, "metricsMetadata": metrics})
    path = tmp_path / "20240101_000000.json"
    path.write_text(json.dumps({"testFile": "t.py", "testCases": cases, "metricScores": []}))
    rows = harness_log(path).attempts
    assert [(r["attempt"], r["outcome"], r["outcome_reason"], r["score"]) for r in rows] == [
        (1, "passed", None, 0.75),
        (2, "excluded", "judge_error", None),
    ]


def test_inputs_of_several_parts_name_the_task(run_of: Callable[..., Any]) -> None:
    asked = ["What is it?", {"url": "a.png", "local": True}]
    cases = [
        case(f"test_case_{n}", input=None, multimodalInput=asked, order=n, success=n == 1)
        for n in range(2)
    ]
    loaded = run_of(*cases, case("test_case_2", input=None, multimodalInput=["And it?"], order=2))
    assert loaded.verdicts() == {
        ('["What is it?", {"local": true, "url": "a.png"}]', 1): "failed",
        ('["What is it?", {"local": true, "url": "a.png"}]', 2): "passed",
        ('["And it?"]', 1): "passed",
    }


def test_a_link_to_an_uploaded_run_says_where_the_cases_are(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / ".latest_test_run.json"
    path.write_text(json.dumps({"testRunLink": "https://example.com/run"}), encoding="utf-8")
    (file,) = harness_log(path).report.files
    assert file.status == "failed"
    assert "the link to a test run" in file.message
    assert "DEEPEVAL_RESULTS_FOLDER" in (file.hint or "")


def test_conversations_are_cases_too(run_of: Callable[..., Any]) -> None:
    talk = {"name": "chat", "success": False, "metricsData": [metric(score=0.25)], "order": 0}
    loaded = run_of(case(), head={"conversationalTestCases": [talk, 7]})
    assert loaded.verdicts() == {("test_a", 1): "passed", ("chat", 1): "failed"}
    assert [one["reason_code"] for one in loaded.rejected] == ["malformed_line"]
    only = run_of(head={"conversationalTestCases": [{**talk, "scenario": "haggling"}]})
    assert only.verdicts() == {("chat", 1): "failed"}


def test_the_score_is_the_lowest_of_the_metrics_that_decide(run_of: Callable[..., Any]) -> None:
    free = {"name": "free", "score": 0.1}
    scores = [
        one["score"]
        for one in run_of(
            case(order=0, metricsData=[metric(score=0.9), metric(score=0.7), free]),
            case(order=1, metricsData=[metric(score=0.9), metric(score=0.2, flaky=True)]),
            case(order=2, metricsData=[metric(score=0.9), metric(score=None, error="died")]),
            case(order=3, metricsData=[free]),
            case(order=4, metricsData=[]),
            case(order=5, metricsData=[7]),
        ).attempts
    ]
    assert scores == [0.7, 0.9, None, None, None, None]


def test_a_case_without_a_verdict_is_excluded(run_of: Callable[..., Any]) -> None:
    one = case()
    del one["success"]
    loaded = run_of(one)
    assert loaded.reasons() == {("test_a", 1): "no_verdict"}
    assert loaded.verdicts() == {("test_a", 1): "excluded"}


def test_wrong_types_are_refused_with_a_reason(run_of: Callable[..., Any]) -> None:
    loaded = run_of(
        case(),
        case(success="maybe"),
        case(order="first"),
        case(tokenCost=[1]),
        case(metricsData=[metric(score="high")]),
        case(inputTokenCount=-1),
        case(tags=[1, None, "a"], metadata=[1], metricsData="none"),
        [],
        head={"testFile": ["x"], "hyperparameters": "y", "identifier": 7},
    )
    assert loaded.report.rows_landed == 2
    assert [one["reason_code"] for one in loaded.rejected] == [
        "wrong_type",
        "wrong_type",
        "wrong_type",
        "wrong_type",
        "out_of_range",
        "malformed_line",
    ]
    assert {(one["run_id"], one["suite"]) for one in loaded.attempts} == {("7", "deepeval")}
    assert {(one["tags"] or {}).get("tags") for one in loaded.attempts} == {None, "1,a"}


def test_not_a_number_is_refused_and_the_others_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    nan = json.dumps(case(order=1)).replace('"score": 1.0', '"score": NaN')
    twice = json.dumps(case("ü\ud800", order=2)).replace('"order"', '"success": true, "order"')
    again = json.dumps(case(order=3)).replace('"order"', '"success": false, "order"')
    path = tmp_path / "run.json"
    path.write_text(f'{{"testRunData": {{"testCases": [{nan}, {twice}, {again}]}}}}', "utf-8")
    loaded = harness_log(path)
    assert loaded.report.rows_read == 3
    # Of a name that comes twice in an object the last counts.
    assert [one["outcome"] for one in loaded.attempts][-1] == "failed"
    assert "invalid_utf8" in {one["reason_code"] for one in loaded.rejected}


@pytest.mark.parametrize("file", SAID)
def test_of_a_file_that_is_cut_off_the_cases_before_land(
    file: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / file).read_bytes()
    third = [place for place in range(len(whole)) if whole.startswith(b'"actualOutput"', place)][2]
    path = tmp_path / "run.json"
    path.write_bytes(whole[:third])
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 2
    assert [one["reason_code"] for one in loaded.rejected] == ["truncated"]


def test_a_run_without_cases_is_known_and_has_none(run_of: Callable[..., Any]) -> None:
    (report,) = run_of().report.files
    assert report.status == "failed"
    assert "no rows" in report.message


def test_a_case_longer_than_the_sample_is_known(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "run.json"
    one = case(context=["x" * (2 << 20)])
    ordered = {name: one[name] for name in ("name", "input", "actualOutput", "context")}
    path.write_text(json.dumps({"testCases": [{**ordered, **one}]}), encoding="utf-8")
    assert [one.format for one in harness_log(path).report.files] == ["deepeval"]


def test_a_folder_lands_each_attempt_once(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    for file in (LATEST, RESULTS, "expected.json"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(FIXTURES / file, tmp_path / file)
    loaded = harness_log(tmp_path)
    # The file of the latest run is hidden; it is read if it is named.
    assert [one.format for one in loaded.report.files] == ["deepeval"]
    assert len(loaded.attempts) == len(SAID[RESULTS]["attempts"])


def test_other_json_is_not_taken_for_deepeval(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": [{"name": "a", "passed": True}]}), encoding="utf-8")
    (report,) = harness_log(path).report.files
    assert report.format != "deepeval"


def test_the_result_of_evaluate(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    def result(index: int | None, asked: str, *metrics: Any, **changes: Any) -> dict[str, Any]:
        made = {"name": f"test_case_{index}", "success": True, "metrics_data": metrics}
        more = {"conversational": False, "index": index, "input": asked, "actual_output": "4"}
        return {**made, **more, "metadata": {"domain": "sums"}, **changes}

    bad = metric(success=False, score=0.25)
    broken = metric(success=False, score=None, error="Judge died\nin x")
    results = [
        result(2, "2+2", bad, success=False),
        result(0, "2+2", metric()),
        result(1, "3+3", broken, success=False),
        result(None, "4+4", metric(), actual_output=None, name="test_case_4"),
        result(3, "5+5", metric(), success="perhaps"),
        # Versions before the index called the metadata so.
        result(
            None,
            "6+6",
            metric(),
            name="test_case_5",
            metadata=None,
            additional_metadata={"domain": "old"},
        ),
    ]
    path = tmp_path / "nightly.json"
    said = {"test_results": results, "confident_link": None, "test_run_id": None}
    path.write_text(json.dumps(said), "utf-8")
    loaded = harness_log(path)
    assert loaded.verdicts() == {
        ("2+2", 1): "passed",
        ("2+2", 2): "failed",
        ("3+3", 1): "excluded",
        ("4+4", 1): "passed",
        ("6+6", 1): "passed",
    }
    one = loaded.attempts[1]
    expected = {
        "run_id": "nightly",
        "score": 0.25,
        "output_hash": sha256(b"4").hexdigest(),
        "tags": {"domain": "sums"},
        "transcript": f"{path}#/test_results/0",
    }
    assert {name: one[name] for name in expected} == expected
    assert loaded.attempts[-1]["tags"] == {"domain": "old"}
    assert loaded.reasons()["3+3", 1] == "judge_error"
    assert [row["reason_code"] for row in loaded.rejected] == ["wrong_type"]
