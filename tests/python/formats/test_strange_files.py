"""Files as people write them for themselves: each lands by a mapping, and most by the proposed one."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

from passk_py.ingest.formats.first_look import take_sample
from passk_py.ingest.formats.mappings.mapping import map_options, mapping_from
from passk_py.ingest.formats.mappings.unknown import mapping_to_try

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ("task_id", "attempt", "outcome", "score")


@dataclass
class Strange:
    """A file, the mapping that reads it, and the attempts that must land, worked out by hand."""

    name: str
    content: Any
    mapping: tuple[str, ...]
    attempts: list[tuple[Any, ...]]
    also: dict[str, list[Any]] = field(default_factory=dict)
    """Other columns, in the order of the attempts."""
    is_proposed: bool = True

    def written(self, folder: Path) -> Path:
        path = folder / self.name
        if isinstance(self.content, pl.DataFrame):
            self.content.write_parquet(path)
        elif isinstance(self.content, str):
            path.write_text(self.content, "utf-8")
        else:
            path.write_text(json.dumps(self.content), "utf-8")
        return path


FILES = {
    "a tree of tasks and samples": Strange(
        "nightly.json",
        {
            "model": "gpt-9",
            "tasks": [
                {"id": "add", "prompt": "1 + 1", "samples": [{"ok": True}, {"ok": False}]},
                {"id": "sub", "prompt": "1 - 1", "samples": [{"ok": True}]},
            ],
            "tasks_done": 2,
        },
        ("rows=$.tasks[*].samples", "task_id=^.id", "passed=$.ok", "model=^^.model", "attempt=$key + 1"),
        [("add", 1, "passed", None), ("add", 2, "failed", None), ("sub", 1, "passed", None)],
        {"model": ["gpt-9"] * 3, "run_id": ["nightly"] * 3},
    ),
    "an object by tasks, with lists of tries": Strange(
        "scores.json",
        {
            "date": "2026-11-01",
            "eval": {
                "HumanEval/0": [{"status": "pass"}, {"status": "fail"}],
                "HumanEval/1": [{"status": "fail"}],
            },
        },
        ("rows=$.eval[*][*]", "task_id=^key", "passed=$.status == 'pass'", "attempt=$key + 1"),
        [
            ("HumanEval/0", 1, "passed", None),
            ("HumanEval/0", 2, "failed", None),
            ("HumanEval/1", 1, "failed", None),
        ],
    ),
    "nothing but flags": Strange(
        "flags.json",
        {"t1": [True, False], "t2": [True, None]},
        ("rows=$[*][*]", "task_id=^key", "passed=$", "attempt=$key + 1"),
        [
            ("t1", 1, "passed", None),
            ("t1", 2, "failed", None),
            ("t2", 1, "passed", None),
            ("t2", 2, "excluded", None),
        ],
    ),
    "objects in objects, by task and number": Strange(
        "numbered.json",
        {
            "a": {"attempts": {"1": {"success": True, "cost": 0.5}, "2": {"success": False, "cost": 1}}},
            "b": {"attempts": {"1": {"success": True, "cost": 2}}},
        },
        ("rows=$[*].attempts", "task_id=^key", "passed=$.success", "attempt=$key", "cost_usd=$.cost"),
        [("a", 1, "passed", None), ("a", 2, "failed", None), ("b", 1, "passed", None)],
        {"cost_usd": [0.5, 1.0, 2.0]},
        is_proposed=False,
    ),
    "two lists of names": Strange(
        "summary.json",
        {"total": 3, "resolved_ids": ["x-1", "x-3"], "unresolved_ids": ["x-2"]},
        (
            "rows=$.resolved_ids|unresolved_ids[*]",
            "task_id=$",
            "passed=^key == 'resolved_ids'",
            "attempt=in_order",
        ),
        [("x-1", 1, "passed", None), ("x-2", 1, "failed", None), ("x-3", 1, "passed", None)],
    ),
    "two lists, one of failures": Strange(
        "report.json",
        {
            "cases": [{"name": "a", "scores": {"acc": 1}}, {"name": "a", "scores": {"acc": 0.25}}],
            "failures": [{"name": "b", "error": {"type": "timeout"}}, {"name": "c", "error": {"type": "rate_limit"}}],
        },
        (
            "rows=$.cases",
            "rows=$.failures",
            "task_id=$.name",
            "score=$.scores.acc",
            "outcome_reason=$.error.type",
            "no_verdict=$.error != null",
            "attempt=in_order",
        ),
        [
            ("a", 1, "passed", 1.0),
            ("a", 2, "failed", 0.25),
            ("b", 1, "failed", None),
            ("c", 1, "excluded", None),
        ],
        {"outcome_reason": [None, None, "timeout", "rate_limit"]},
        is_proposed=False,
    ),
    "CSV with semicolons": Strange(
        "excel.csv",
        'Task;Trial;Grade;Error;Note\r\n"a; b";0;correct;;"1,5"\r\n"a; b";1;wrong;;\r\nc;0;wrong;rate_limit;x\r\nc;1;wrong;timeout;x\r\n',
        (
            "task_id=$.Task",
            "passed=$.Grade == 'correct'",
            "no_verdict=$.Error != null",
            "outcome_reason=$.Error",
            "attempt=$.Trial + 1",
        ),
        [
            ("a; b", 1, "passed", None),
            ("a; b", 2, "failed", None),
            ("c", 1, "excluded", None),
            ("c", 2, "failed", None),
        ],
        {"outcome_reason": [None, None, "rate_limit", "timeout"]},
        is_proposed=False,
    ),
    "a wide table in words": Strange(
        "wide.csv",
        "task;run 1;run 2;run 3;note\na;pass;fail;pass;first\nb;pass;;fail;\n",
        ('rows=$["run *"]', "task_id=^.task", "passed=$ == 'pass'", "attempt=in_order"),
        [
            ("a", 1, "passed", None),
            ("a", 2, "failed", None),
            ("a", 3, "passed", None),
            ("b", 1, "passed", None),
            ("b", 2, "excluded", None),
            ("b", 3, "failed", None),
        ],
    ),
    "a wide table whose run has a name": Strange(
        "wide.tsv",
        "task\trun_1\trun_2\trun_id\na\t1\t0\tr1\na\t0\t1\tr2\n",
        ("rows=$.run_1|run_2", "task_id=^.task", "passed=$", "run_id=^.run_id", "attempt=in_order"),
        [
            ("a", 1, "passed", None),
            ("a", 2, "failed", None),
            ("a", 1, "failed", None),
            ("a", 2, "passed", None),
        ],
        {"run_id": ["r1", "r1", "r2", "r2"]},
    ),
    "a wide Parquet of scores": Strange(
        "wide.parquet",
        pl.DataFrame({"question": ["q1", "q2"], "score_0": [1.0, 0.5], "score_1": [0.25, None]}),
        ("rows=$.score_*", "task_id=^.question", "score=$", "attempt=in_order"),
        [
            ("q1", 1, "passed", 1.0),
            ("q1", 2, "failed", 0.25),
            ("q2", 1, "failed", 0.5),
            ("q2", 2, "excluded", None),
        ],
    ),
    "a Parquet with lists of structs": Strange(
        "nested.parquet",
        pl.DataFrame(
            {"task": ["a", "b"], "runs": [[{"ok": True, "s": 1.5}, {"ok": False, "s": 2.0}], [{"ok": True, "s": 3.0}]]}
        ),
        ("rows=$.runs", "task_id=^.task", "passed=$.ok", "attempt=$key + 1", "duration_s=$.s"),
        [("a", 1, "passed", None), ("a", 2, "failed", None), ("b", 1, "passed", None)],
        {"duration_s": [1.5, 2.0, 3.0]},
        is_proposed=False,
    ),
    "JSON lines with a list of scores": Strange(
        "lines.jsonl",
        '{"question": "a", "model": "m", "scores": [1, 0.5]}\n\n{"question": "b", "model": "m", "scores": [0]}\n',
        ("rows=$.scores", "task_id=^.question", "score=$", "model=^.model", "attempt=$key + 1"),
        [("a", 1, "passed", 1.0), ("a", 2, "failed", 0.5), ("b", 1, "failed", 0.0)],
        {"model": ["m"] * 3},
    ),
    "metrics in a list by name": Strange(
        "metrics.json",
        [
            {"doc": "d1", "stats": [{"name": "f1", "mean": 0.2}, {"name": "exact_match", "mean": 1}]},
            {"doc": "d2", "stats": [{"name": "exact_match", "mean": 0}, {"name": "exact_match", "mean": 1}]},
            {"doc": "d3", "stats": [{"name": "f1", "mean": 1}]},
        ],
        ("task_id=$.doc", 'passed=$.stats[name == "exact_match"].mean >= 0.5', "attempt=in_order"),
        [("d1", 1, "passed", None), ("d2", 1, "failed", None), ("d3", 1, "excluded", None)],
        is_proposed=False,
    ),
    "runs by name": Strange(
        "runs.json",
        {
            "runs": [
                {"name": "r1", "results": [{"task": "a", "ok": True}, {"task": "a", "ok": False}]},
                {"name": "r2", "results": [{"task": "a", "ok": False}]},
            ]
        },
        ("rows=$.runs[*].results", "task_id=$.task", "passed=$.ok", "run_id=^.name", "attempt=in_order"),
        [("a", 1, "passed", None), ("a", 2, "failed", None), ("a", 1, "failed", None)],
        {"run_id": ["r1", "r1", "r2"]},
    ),
    "agents, tasks and tries": Strange(
        "board.json",
        {"agents": {"gpt": {"t1": [1, 0], "t2": [0, 0]}, "o3": {"t1": [1, 1], "t2": [0, 1]}}},
        (
            "rows=$.agents[*][*][*]", "task_id=^key", "passed=$", "agent=^^key", "run_id=^^key", "attempt=$key + 1",
        ),
        [
            ("t1", 1, "passed", None), ("t1", 2, "failed", None), ("t2", 1, "failed", None), ("t2", 2, "failed", None),
            ("t1", 1, "passed", None), ("t1", 2, "passed", None), ("t2", 1, "failed", None), ("t2", 2, "passed", None),
        ],
        {"agent": ["gpt"] * 4 + ["o3"] * 4},
    ),
    "the same tasks under the names of models": Strange(
        "by_model.json",
        {"gpt-9": {"t1": {"correct": True}, "t2": {"correct": False}}, "o3": {"t1": {"correct": False}, "t2": {"correct": False}}},
        ("rows=$[*][*]", "task_id=$key", "passed=$.correct", "run_id=^key", "attempt=in_order"),
        [("t1", 1, "passed", None), ("t2", 1, "failed", None), ("t1", 1, "failed", None), ("t2", 1, "failed", None)],
        {"run_id": ["gpt-9", "gpt-9", "o3", "o3"]},
    ),
    "words that are no verdicts": Strange(
        "words.json",
        {"counts": {"passed": 1, "failed": 1, "total": 4}, "results": [
            {"test": "a", "status": "passed"}, {"test": "b", "status": "failed"},
            {"test": "c", "status": "skipped"}, {"test": "d", "status": "timeout"},
        ]},
        (
            "rows=$.results", "task_id=$.test", "passed=$.status == 'passed'", "outcome_reason=$.status",
            "no_verdict=$.status not in ('passed', 'failed')", "attempt=in_order",
        ),
        [("a", 1, "passed", None), ("b", 1, "failed", None), ("c", 1, "excluded", None), ("d", 1, "failed", None)],
        {"outcome_reason": ["passed", "failed", "skipped", "timeout"]},
    ),
    "lists of names in runs": Strange(
        "lists.json",
        {"runs": {"r1": {"passed": ["a"], "failed": ["b"]}, "r2": {"passed": ["b"], "failed": ["a"]}}},
        ("rows=$.runs[*][*][*]", "task_id=$", "passed=^key == 'passed'", "run_id=^^key", "attempt=in_order"),
        [("a", 1, "passed", None), ("b", 1, "failed", None), ("a", 1, "failed", None), ("b", 1, "passed", None)],
        {"run_id": ["r1", "r1", "r2", "r2"]},
    ),
    "rows with ids of their own": Strange(
        "uuids.csv",
        "id,question,output.exact.correct\n3fa85f64-5717-4562-b3fc-2c963f66afa6,q,true\n"
        "3fa85f64-5717-4562-b3fc-2c963f66afa7,q,false\n",
        ("task_id=$.question", 'passed=$["output.exact.correct"]', "attempt=in_order"),
        [("q", 1, "passed", None), ("q", 2, "failed", None)],
    ),
    "rows with numbers of their own": Strange(
        "numbers.csv",
        "id,question,correct\n1,q,true\n2,q,false\n3,r,true\n4,r,true\n",
        ("task_id=$.question", "passed=$.correct", "attempt=in_order"),
        [("q", 1, "passed", None), ("q", 2, "failed", None), ("r", 1, "passed", None), ("r", 2, "passed", None)],
    ),
    "numbered tasks of one model": Strange(
        "models.csv",
        "id,name,input,correct\n1,gpt-4,,true\n2,gpt-4,,false\n3,gpt-4,x,true\n",
        ("task_id=$.id", "passed=$.correct", "attempt=in_order"),
        [("1", 1, "passed", None), ("2", 1, "failed", None), ("3", 1, "passed", None)],
    ),
    "seeds that are keys": Strange(
        "seeds.json",
        {"seed_1": {"q1": True, "q2": True}, "seed_2": {"q1": False, "q2": True}},
        ("rows=$[*][*]", "task_id=$key", "passed=$", "attempt=in_order"),
        [("q1", 1, "passed", None), ("q1", 2, "failed", None), ("q2", 1, "passed", None), ("q2", 2, "passed", None)],
    ),
    "times and errors": Strange(
        "times.jsonl",
        '{"task": "a", "start_time": "2026-11-28T10:00:09Z", "success": null, "error": "RateLimitError"}\n'
        '{"task": "a", "start_time": "2026-11-28T10:00:01Z", "success": true, "error": null}\n',
        ("task_id=$.task", "passed=$.success", "attempt=in_order", "started_at=$.start_time", "outcome_reason=$.error"),
        [("a", 1, "passed", None), ("a", 2, "excluded", None)],
        {"outcome_reason": [None, "RateLimitError"]},
    ),
    "a list beside nothing": Strange(
        "beside.json",
        {"results": [{"name": "a", "passed": True}], "link": None},
        ("rows=$.results", "task_id=$.name", "passed=$.passed", "attempt=in_order"),
        [("a", 1, "passed", None)],
    ),
    "yes and no": Strange(
        "yes.csv",
        "task,solved?\na,Yes\nb,No\n",
        ("task_id=$.task", "passed=$[\"solved?\"] == 'Yes'", "attempt=in_order"),
        [("a", 1, "passed", None), ("b", 1, "failed", None)],
    ),
    "verdicts in letters, and tasks in letters": Strange(
        "letters.jsonl",
        '{"id": "c", "score": "I"}\n{"id": "i", "score": "C"}\n',
        ("task_id=$.id", "passed=$.score == 'C'", "attempt=in_order"),
        [("c", 1, "failed", None), ("i", 1, "passed", None)],
    ),
    "a table with an id of each row, and scores as JSON": Strange(
        "experiment.csv",
        'id,input,output,scores\n'
        'r1,"{""question"": ""1 + 1""}",2,"{""Correct"": 1, ""Brief"": 0.5}"\n'
        'r2,"{""question"": ""1 + 1""}",3,"{""Correct"": 0, ""Brief"": 0.1}"\n'
        'r3,"{""question"": ""2 + 2""}",4,"{""Correct"": 1, ""Brief"": 0.2}"\n'
        'r4,"{""question"": ""2 + 2""}",4,"{""Correct"": 1, ""Brief"": 0.4}"\n',
        ("task_id=$.input.question", "passed=$.scores.Correct", "attempt=in_order"),
        [
            ("1 + 1", 1, "passed", None),
            ("1 + 1", 2, "failed", None),
            ("2 + 2", 1, "passed", None),
            ("2 + 2", 2, "passed", None),
        ],
    ),
    "lists of cases in a list of runs": Strange(
        "runs.json",
        {
            "runs": [
                {"name": "mon", "cases": [{"name": "a", "status": "PASS"}, {"name": "b", "status": "FAIL"}]},
                {"name": "tue", "cases": [{"name": "a", "status": "FAIL"}, {"name": "b", "status": "PASS"}]},
            ]
        },
        (
            *("rows=$.runs[*].cases", "task_id=$.name", "passed=$.status == 'PASS'"),
            *("run_id=^.name", "attempt=in_order"),
        ),
        [("a", 1, "passed", None), ("b", 1, "failed", None), ("a", 1, "failed", None), ("b", 1, "passed", None)],
        {"run_id": ["mon", "mon", "tue", "tue"]},
    ),
    "a table with words of another tool under our name": Strange(
        "ours.csv",
        "task_id,outcome,cost_usd\na,pass,0.1\na,fail,0.2\n",
        (
            *("task_id=$.task_id", "cost_usd=$.cost_usd", "passed=$.outcome == 'pass'"),
            "attempt=in_order",
        ),
        [("a", 1, "passed", None), ("a", 2, "failed", None)],
        {"cost_usd": [0.1, 0.2]},
    ),
    "lines with a verdict of a grader": Strange(
        "graded.jsonl",
        '{"id": 0, "cached": true, "graded_correct": true}\n'
        '{"id": 1, "cached": true, "graded_correct": false}\n',
        ("task_id=$.id", "passed=$.graded_correct", "attempt=in_order"),
        [("0", 1, "passed", None), ("1", 1, "failed", None)],
    ),
    "a table of two models": Strange(
        "models.csv",
        "task,model,ok,correct\na,m1,1,1\na,m2,1,0\nb,m1,1,0\n",
        (
            *("task_id=$.task", "passed=$.correct", "model=$.model", "run_id=$.model"),
            "attempt=in_order",
        ),
        [("a", 1, "passed", None), ("b", 1, "failed", None), ("a", 1, "failed", None)],
        {"run_id": ["m1", "m1", "m2"]},
    ),
    "lists of tests in suites that have verdicts too": Strange(
        "suites.json",
        {
            "suites": [
                {"name": "s1", "passed": False, "tests": [{"name": "a", "passed": True}, {"name": "b", "passed": False}]},
                {"name": "s2", "passed": True, "tests": [{"name": "a", "passed": True}]},
            ]
        },
        (
            *("rows=$.suites[*].tests", "task_id=$.name", "passed=$.passed"),
            *("suite=^.name", "attempt=in_order"),
        ),
        [("a", 1, "passed", None), ("b", 1, "failed", None), ("a", 1, "passed", None)],
    ),
    "a wide table with words that are no verdicts": Strange(
        "wide.csv",
        "task;run 1;run 2;run 3\na;PASS;FAIL;SKIPPED\nb;Pass;PASS;timeout\n",
        (
            *('rows=$["run *"]', "task_id=^.task", "passed=$ in ('PASS', 'Pass')"),
            *("outcome_reason=$", "no_verdict=$ not in ('PASS', 'Pass', 'FAIL')"),
            "attempt=in_order",
        ),
        [
            ("a", 1, "passed", None),
            ("a", 2, "failed", None),
            ("a", 3, "excluded", None),
            ("b", 1, "passed", None),
            ("b", 2, "passed", None),
            ("b", 3, "failed", None),
        ],
    ),
    "lists that are called as their tests ended": Strange(
        "ended.json",
        {"results": {"passed": [{"id": "a"}], "failed": [{"id": "b"}], "skipped": [{"id": "c"}]}},
        (
            *("rows=$.results[*][*]", "task_id=$.id", "passed=^key == 'passed'"),
            *("outcome_reason=^key", "no_verdict=^key not in ('passed', 'failed')"),
            "attempt=in_order",
        ),
        [("a", 1, "passed", None), ("b", 1, "failed", None), ("c", 1, "excluded", None)],
    ),
    "calls that succeeded, with scores": Strange(
        "calls.jsonl",
        '{"task": "a", "status": "success", "score": 0.0}\n'
        '{"task": "a", "status": "error", "score": null}\n'
        '{"task": "a", "status": "success", "score": 1.0}\n',
        ("task_id=$.task", "score=$.score", "attempt=in_order"),
        [("a", 1, "failed", 0.0), ("a", 2, "excluded", None), ("a", 3, "passed", 1.0)],
    ),
    "a table with tabs whose runs are counted": Strange(
        "tries.tsv",
        "problem\trun\tsolved\np1\t1\tyes\np1\t2\tno\np2\t1\tyes\n",
        ("task_id=$.problem", "passed=$.solved == 'yes'", "attempt=$.run"),
        [("p1", 1, "passed", None), ("p1", 2, "failed", None), ("p2", 1, "passed", None)],
    ),
    "a table of seeds with final scores": Strange(
        "seeds.csv",
        "task_id,seed,final_score\nt1,1,0.0\nt1,2,1.0\n",
        ("task_id=$.task_id", "score=$.final_score", "attempt=in_order"),
        [("t1", 1, "failed", 0.0), ("t1", 2, "passed", 1.0)],
    ),
    "a Parquet table with scores as JSON": Strange(
        "experiment.parquet",
        pl.DataFrame(
            {"case": ["a", "a"], "scores": ['{"Correct": true}', '{"Correct": false}']}
        ),
        ("task_id=$.case", "passed=$.scores.Correct", "attempt=in_order"),
        [("a", 1, "passed", None), ("a", 2, "failed", None)],
    ),
    "a table with a state of each row beside its verdict": Strange(
        "experiment.csv",
        "id,inputs,outputs,correctness,status,start_time\n"
        "r1,one,x,0,success,2026-11-20T10:00:00Z\n"
        "r2,one,y,1,success,2026-11-20T10:00:09Z\n"
        "r3,two,z,1,success,2026-11-20T10:00:05Z\n"
        "r4,two,z,1,success,2026-11-20T10:00:07Z\n",
        (
            *("task_id=$.inputs", "passed=$.correctness", "attempt=in_order"),
            "started_at=$.start_time",
        ),
        [
            ("one", 1, "failed", None),
            ("one", 2, "passed", None),
            ("two", 1, "passed", None),
            ("two", 2, "passed", None),
        ],
    ),
    "a list of lists": Strange(
        "pairs.json",
        [["a", True], ["b", False], ["a", False]],
        ("task_id=$[0]", "passed=$[1]", "attempt=in_order"),
        [("a", 1, "passed", None), ("a", 2, "failed", None), ("b", 1, "failed", None)],
        is_proposed=False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FILES)
def test_a_strange_file_lands_by_a_mapping(
    what: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    strange = FILES[what]
    loaded = harness_log(strange.written(tmp_path), mapping=mapping_from(strange.mapping, None))
    assert [tuple(row[name] for name in NAMES) for row in loaded.attempts] == strange.attempts
    for name, values in strange.also.items():
        assert [row[name] for row in loaded.attempts] == values
    assert not loaded.rejected
    assert not loaded.report.files[0].message


@pytest.mark.parametrize("what", [what for what, strange in FILES.items() if strange.is_proposed])
def test_the_proposed_mapping_is_that_one(what: str, tmp_path: Path) -> None:
    strange = FILES[what]
    with duckdb.connect() as connection:
        sample = take_sample(strange.written(tmp_path), connection)
    lines = dict(line.split("=", 1) for line in strange.mapping)
    assert mapping_to_try(sample) == map_options(lines)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("counts.csv", "task,result\na,3/5\nb,5/5\n"),
        ("counts.json", {"passed": 3, "failed": 1, "total": 4}),
        # A text in several lists is not judged by the name of one.
        ("lists.json", {"generated": ["a", "b"], "applied": ["a", "b"], "resolved": ["a"]}),
        (
            "mocha.json",
            {
                "tests": [{"title": "a"}, {"title": "b"}],
                "failures": [{"title": "b"}],
                "passes": [{"title": "a"}],
            },
        ),
        # Sums and metrics over tries, and one of several metrics.
        ("sums.csv", "task,passed,failed\na,3,2\nb,0,5\n"),
        ("over.csv", "task,pass@1,pass@5\na,0.4,1\nb,0.2,1\n"),
        ("long.csv", "task,metric,value\na,accuracy,1\na,latency,0.5\n"),
        # The right answer, and the one that was given.
        ("gold.csv", "task,label,prediction\na,yes,yes\na,no,yes\n"),
        # Parts of a try.
        (
            "parts.json",
            [
                {
                    "task": "a",
                    "checks": [{"name": "x", "passed": True}, {"name": "y", "passed": False}],
                }
            ],
        ),
        ("bars.csv", "task,run|1,run|2\na,1,0\n"),
        # Each try came to its end, and another column tells what it was worth.
        ("ended.csv", "task,status,matches\na,success,0\na,success,1\n"),
        # Two parts of a row have a verdict.
        ("parts.jsonl", '{"task": "a", "lint": {"ok": true}, "unit": {"ok": false}}\n'),
    ],
)
def test_no_verdict_is_proposed_that_no_name_tells(name: str, content: Any, tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        sample = take_sample(Strange(name, content, (), []).written(tmp_path), connection)
    assert "passed=$.VERDICT" in mapping_to_try(sample)


DOCS = Path(__file__).parents[3] / "docs" / "formats.md"
# The attempts that the files of the docs must land, by their names.
IN_THE_DOCS = {
    "samples.json": [("add", 1, "passed", None), ("add", 2, "failed", None), ("sub", 1, "passed", None)],
    "flags.json": [
        ("t1", 1, "passed", None),
        ("t1", 2, "failed", None),
        ("t2", 1, "passed", None),
        ("t2", 2, "excluded", None),
    ],
    "summary.json": [("x-1", 1, "passed", None), ("x-2", 1, "failed", None), ("x-3", 1, "passed", None)],
    "report.json": [("a", 1, "passed", 1.0), ("b", 1, "failed", 0.5), ("b", 2, "excluded", None)],
    "wide.csv": [("a", 1, "passed", None), ("a", 2, "failed", None), ("b", 1, "passed", None), ("b", 2, "excluded", None)],
    "metrics.jsonl": [("d1", 1, "passed", None)],
}  # fmt: skip


def test_the_examples_of_the_docs_land(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    section = DOCS.read_text("utf-8").split("## Any other file")[1].split("\n## ")[0]
    found = re.findall(
        r"```(?:json|text)\n(.*?)```\s*```shell\npassk load (.*?)```", section, re.DOTALL
    )
    landed = {}
    for content, command in found:
        name, *options = shlex.split(command.replace("\\\n", " "))
        assert set(options[::2]) == {"--map"}
        path = tmp_path / name
        path.write_text(content, "utf-8")
        loaded = harness_log(path, mapping=mapping_from(options[1::2], None))
        assert not loaded.rejected
        landed[name] = [tuple(row[column] for column in NAMES) for row in loaded.attempts]
    assert landed == IN_THE_DOCS
