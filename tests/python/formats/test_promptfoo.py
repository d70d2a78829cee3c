"""promptfoo: its own figures, the runs of its columns, errors, caches and repeats."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.formats.mappings.mapping import mapping_from

from .promptfoo_rows import FIXTURES, SAID, case, row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("file", SAID)
def test_gives_the_rates_that_promptfoo_prints(file: str, harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / file)
    columns: Counter[tuple[str, str]] = Counter()
    for one in loaded.attempts:
        provider, prompt = one["agent"], one["tags"]["prompt"]
        columns[f"{provider} / {prompt}", one["outcome"]] += 1
        columns["all", one["outcome"]] += 1
    rates = {}
    for name in {name for name, _ in columns}:
        total = sum(columns[name, outcome] for outcome in ("passed", "failed", "excluded"))
        rates[name] = float(round(Fraction(columns[name, "passed"], total), 4))
    said = SAID[file]["pass_rates"]
    by_column = {name: rate for name, rate in said.items() if " / " in name}
    assert {name: rate for name, rate in rates.items() if name != "all"} == by_column
    # Errors are in the denominator of what promptfoo prints for the eval as a whole.
    if "passed" in said:
        assert rates["all"] == said["passed"]
    assert SAID[file]["stats"]["successes"] == columns["all", "passed"]


@pytest.mark.parametrize("file", SAID)
def test_each_column_has_the_attempts_that_promptfoo_lists(
    file: str, harness_log: Callable[..., Any]
) -> None:
    landed = {
        (one["task_id"], one["attempt"], one["agent"], one["tags"]["prompt"]): one
        for one in harness_log(FIXTURES / file).attempts
    }
    said = {
        (one["task_id"], one["attempt"], one["provider"], one["prompt"]): one
        for one in SAID[file]["attempts"]
    }
    assert landed.keys() == said.keys()
    for key, one in said.items():
        graded = {True: "passed", False: "failed"}.get(one["passed"])
        assert graded in (None, landed[key]["outcome"])
        assert landed[key]["score"] == one["score"]
        assert (landed[key]["tags"].get("cached") == "true") is one["cached"]


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "repeats.json")
    found = [
        one
        for one in loaded.attempts
        if (one["task_id"], one["attempt"], one["agent"]) == ("addition", 3, "agent-a")
    ]
    eval_id = json.loads((FIXTURES / "repeats.json").read_text("utf-8"))["evalId"]
    assert len(found) == 1
    one = found[0]
    expected = {
        "run_id": f"{eval_id}.agent-a.plain",
        "suite": "promptfoo",
        "outcome": "passed",
        "outcome_reason": None,
        "score": 1.0,
        "agent_version": None,
        "model": None,
        "seed": None,
        "started_at": None,
        "duration_s": 0.003,
        "cost_usd": 0.001,
        "input_tokens": 10,
        "output_tokens": 4,
        "output_hash": sha256(b"4").hexdigest(),
        "tags": {
            "description": "Antworten prüfen \N{EN DASH} repeats of five tasks",
            "difficulty": "easy",
            "prompt": "plain",
        },
        "transcript": f"{FIXTURES / 'repeats.json'}#/results/results/4",
    }
    assert {name: one[name] for name in expected} == expected


def test_each_provider_and_prompt_is_a_run(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "repeats.json")
    runs = {(one["run_id"].split(".", 1)[1], one["agent"]) for one in loaded.attempts}
    assert runs == {
        ("agent-a.plain", "agent-a"),
        ("agent-a.careful", "agent-a"),
        ("oracle.plain", "oracle"),
    }


def test_one_column_is_called_after_its_eval(harness_log: Callable[..., Any]) -> None:
    eval_id = json.loads((FIXTURES / "single.json").read_text("utf-8"))["evalId"]
    assert {one["run_id"] for one in harness_log(FIXTURES / "single.json").attempts} == {eval_id}
    assert {one["run_id"] for one in harness_log(FIXTURES / "single.jsonl").attempts} == {"single"}


def test_columns_of_the_same_names_are_told_apart_by_number(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of(row(promptIdx=0), row(promptIdx=1))
    assert [one["run_id"] for one in loaded.attempts] == ["eval-1.1", "eval-1.2"]
    assert [one["attempt"] for one in loaded.attempts] == [1, 1]


def test_only_what_differs_names_the_runs(eval_of: Callable[..., Any]) -> None:
    providers = [{"id": f"openai:gpt-{n}", "label": ""} for n in (4, 5)]
    loaded = eval_of(*(row(promptIdx=n, provider=one) for n, one in enumerate(providers)))
    assert [one["run_id"] for one in loaded.attempts] == [
        "eval-1.openai:gpt-4",
        "eval-1.openai:gpt-5",
    ]
    assert [one["model"] for one in loaded.attempts] == ["openai:gpt-4", "openai:gpt-5"]
    assert [one["agent"] for one in loaded.attempts] == [None, None]


def test_a_prompt_without_a_label_is_cut(eval_of: Callable[..., Any]) -> None:
    long = "Solve this:\n" + "x" * 5000
    prompts = [{"label": long + end} for end in "ab"]
    loaded = eval_of(*(row(promptIdx=n, prompt=one) for n, one in enumerate(prompts)))
    runs = {one["run_id"] for one in loaded.attempts}
    assert len(runs) == 2
    assert all(len(run) < 90 and "\n" not in run for run in runs)


def test_errors_have_their_words_and_the_policy_decides(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "repeats.json")
    found = {
        one["outcome_reason"][:30]: (one["outcome"], one["score"], one["duration_s"])
        for one in loaded.attempts
        if one["outcome_reason"]
    }
    assert found == {
        "the context window of 8192 tok": ("failed", None, 0.003),
        # Where a provider throws, promptfoo writes 0 milliseconds, which it has not measured.
        "Error: sandbox container was l": ("excluded", None, None),
        "Error: Command failed: node or": ("excluded", None, None),
        "timeout": ("failed", None, 2.5),
    }


def test_the_users_policy_changes_errors_only(harness_log: Callable[..., Any]) -> None:
    plain = harness_log(FIXTURES / "repeats.json")
    asked = harness_log(FIXTURES / "repeats.json", policy={"*": "failed"})
    count = Counter(one["outcome"] for one in plain.attempts)
    assert count == {"passed": 14, "failed": 7, "excluded": 2}
    assert Counter(one["outcome"] for one in asked.attempts) == {"passed": 14, "failed": 9}
    other = harness_log(FIXTURES / "repeats.json", policy={"timeout": "excluded", "*": "excluded"})
    assert Counter(one["outcome"] for one in other.attempts) == {
        "passed": 14,
        "failed": 5,
        "excluded": 4,
    }


def test_repeats_are_expected_as_they_were_configured(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "repeats.json")
    expected = {
        (one["run_id"].split(".", 1)[1], one["task_id"]): one["expected_attempts"]
        for one in loaded.expected
    }
    assert expected == {
        ("agent-a.plain", "addition"): 3,
        ("agent-a.plain", "Größe übersetzen"): 3,
        ("agent-a.plain", "never solved"): 3,
        ("agent-a.plain", "slow tool"): 2,
        ("agent-a.plain", "partial credit"): 3,
        ("agent-a.careful", "Größe übersetzen"): 3,
        ("oracle.plain", "addition"): 3,
        ("oracle.plain", "Größe übersetzen"): 3,
    }


def test_nothing_is_expected_where_the_log_has_no_options(harness_log: Callable[..., Any]) -> None:
    assert harness_log(FIXTURES / "single.jsonl").expected == []


def test_attempts_follow_testidx_and_not_the_order_of_the_rows(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of(row(testIdx=9, score=3), row(testIdx=2, score=1), row(testIdx=5, score=2))
    assert [(one["attempt"], one["score"]) for one in loaded.attempts] == [(1, 1), (2, 2), (3, 3)]


def test_rows_without_testidx_are_numbered_as_they_stand(eval_of: Callable[..., Any]) -> None:
    rows = [row(score=n) for n in (1, 2)]
    for one in rows:
        del one["testIdx"]
    loaded = eval_of(*rows)
    assert [(one["attempt"], one["score"]) for one in loaded.attempts] == [(1, 1), (2, 2)]


def test_tests_of_one_description_are_told_apart_by_variables(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of(
        row(testIdx=0, testCase=case("same", vars={"b": 2, "a": "ä"})),
        row(testIdx=1, testCase=case("same", vars={"b": 3, "a": "ä"})),
        row(testIdx=2, testCase=case("other", vars={"b": 3, "a": "ä"})),
    )
    assert loaded.verdicts() == {
        ('same {"a": "ä", "b": 2}', 1): "passed",
        ('same {"a": "ä", "b": 3}', 1): "passed",
        ("other", 1): "passed",
    }


def test_tests_of_the_same_variables_are_told_apart_by_assertions(
    eval_of: Callable[..., Any],
) -> None:
    checks = [[{"type": "equals", "value": value}] for value in "xyx"]
    loaded = eval_of(
        *(
            row(testIdx=n, testCase=case(None, vars={"a": 1}, **{"assert": check}))
            for n, check in enumerate(checks)
        )
    )
    tasks = Counter(one["task_id"] for one in loaded.attempts)
    assert sorted(tasks.values()) == [1, 2]
    assert all(task.startswith('{"a": 1} #') for task in tasks)


def test_long_variables_are_cut_but_stay_apart(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of(
        *(
            row(testIdx=n, testCase=case(None, vars={"text": "x" * 3000 + end}))
            for n, end in enumerate("ab")
        )
    )
    tasks = {one["task_id"] for one in loaded.attempts}
    assert len(tasks) == 2
    assert all(len(task) < 250 for task in tasks)


def test_a_timeout_that_was_graded_stays_a_pass(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of(row(error="Evaluation timed out", failureReason=2, success=True))
    assert loaded.verdicts() == {("a test", 1): "passed"}


def test_old_rows_without_failurereason_are_errors_if_nothing_was_graded(
    eval_of: Callable[..., Any],
) -> None:
    rows = [
        row(testIdx=0, success=False, error="API error: 500", gradingResult=None),
        row(testIdx=1, success=False, error="Expected yes", gradingResult={"pass": False}),
    ]
    for one in rows:
        del one["failureReason"]
    loaded = eval_of(*rows)
    assert list(loaded.verdicts().values()) == ["excluded", "failed"]
    assert list(loaded.reasons().values()) == ["API error: 500", None]


def test_rows_of_the_first_versions_are_known_and_their_prompts_told_apart(
    harness_log: Callable[..., Any], tmp_path: Path
) -> None:
    rows = [
        {
            "provider": {"id": "openai:gpt-4"},
            "prompt": {"raw": f"{prompt} 1", "display": f"{prompt} {{{{a}}}}"},
            "vars": {"a": "1"},
            "response": {"output": "o", "tokenUsage": {"total": 3, "prompt": 2, "completion": 1}},
            "success": passed,
            "score": int(passed),
            "latencyMs": 10,
            "gradingResult": {"pass": passed, "score": int(passed), "reason": "r"},
        }
        for passed in (True, False)
        for prompt in ("Add", "Sum")
    ]
    path = tmp_path / "old.json"
    results = {"version": 1, "results": rows, "stats": {}, "table": {}}
    path.write_text(json.dumps({"results": results, "config": {}, "shareableUrl": None}))
    loaded = harness_log(path)
    assert [(r["run_id"], r["attempt"], r["outcome"]) for r in loaded.attempts] == [
        ("old.Add {{a}}", 1, "passed"),
        ("old.Add {{a}}", 2, "failed"),
        ("old.Sum {{a}}", 1, "passed"),
        ("old.Sum {{a}}", 2, "failed"),
    ]
    assert {row["task_id"] for row in loaded.attempts} == {'{"a": "1"}'}


UUIDS = [f"3f2504e0-4f89-41d3-9a0c-0305e82c330{n}" for n in range(4)]


def test_tests_that_only_an_id_tells_apart_keep_it(
    eval_of: Callable[..., Any], harness_log: Callable[..., Any]
) -> None:
    cases = [case(None, vars={"document": one, "mode": "fast"}) for one in UUIDS[:2]]
    loaded = eval_of(*(row(testCase=one, testIdx=n) for n, one in enumerate(cases)))
    assert loaded.counts() == {
        f'{{"document": "{one}", "mode": "fast"}}': (1, 1) for one in UUIDS[:2]
    }
    # Of descriptions too.
    described = [case(f"read {one}", vars={"n": n}) for n, one in enumerate(UUIDS[:2])]
    loaded = eval_of(*(row(testCase=one, testIdx=n) for n, one in enumerate(described)))
    assert loaded.counts() == {f"read {one}": (1, 1) for one in UUIDS[:2]}
    loaded = eval_of(row(testCase=described[0]))
    assert loaded.counts() == {"read <uuid>": (1, 1)}


def test_two_evals_without_a_task_in_common_get_a_mapping(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    """An eval of which each repeat has a new id, so that nothing tells which tests are the same."""
    paths = []
    for place in range(2):
        rows = [
            row(testIdx=n, testCase=case(None, vars={"id": one, "the question": "2+2"}))
            for n, one in enumerate(UUIDS[2 * place : 2 * place + 2])
        ]
        rows.append(row(testIdx=2, testCase=rows[0]["testCase"], success=False, failureReason=2))
        rows[-1] |= {"gradingResult": None, "error": "HTTP 503: service unavailable"}
        paths.append(tmp_path / f"eval-{place}.json")
        document = {"evalId": f"e{place}", "results": {"results": rows}}
        paths[-1].write_text(json.dumps(document), "utf-8")
    loaded = harness_log(*paths)
    first, second = (one.message for one in loaded.report.files)
    options = (
        "--map rows=$.results.results --map 'task_id=$.testCase.vars[\"the question\"]' "
        "--map passed=$.gradingResult.pass --map outcome_reason=$.error --map attempt=in_order"
    )
    assert first == ""
    assert f"no task of the suite promptfoo in common with {paths[0]}" in second
    assert options in second
    # Those of one run wait for each other, and then say the same.
    _, waited = (one.message for one in harness_log(*paths, run_id="r").report.files)
    assert options in waited
    # Its advice works.
    lines = shlex.split(options)[1::2]
    mapped = harness_log(*paths, mapping=mapping_from(lines, None))
    assert [(one["run_id"], one["task_id"], one["attempt"]) for one in mapped.attempts] == [
        (f"eval-{place}", "2+2", attempt) for place in range(2) for attempt in (1, 2, 3)
    ]
    assert [one["outcome"] for one in mapped.attempts] == ["passed", "passed", "excluded"] * 2


@pytest.mark.parametrize(
    "table",
    [
        "q,[openai:gpt-9] Q,Status,Score,Named Scores,Grader Reason,Comment\n2+2,4,PASS,1.00,,ok,\n",
        'q,[openai:gpt-9] Q\n2+2,"[PASS] 4"\n',
    ],
)
def test_a_table_is_no_log(table: str, tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = tmp_path / "results.csv"
    path.write_text(table, "utf-8")
    (file,) = harness_log(path).report.files
    assert file.status == "failed"
    assert "is promptfoo's table" in file.message
    assert "promptfoo export eval ID -o results.json" in file.hint


def test_another_table_with_a_status_is_read_by_a_mapping(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "results.csv"
    path.write_text("task,Status,Score\na,PASS,1\n", "utf-8")
    (file,) = harness_log(path).report.files
    assert "no format that passk knows" in file.message
