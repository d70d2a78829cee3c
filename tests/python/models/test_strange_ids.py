"""Names are text: whatever a log calls its runs, suites, tasks, agents and tags comes out as it is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

STRANGE: Final = {
    "single quotes": "it's 'quoted' ''twice''",
    "double quotes": 'say "hello"',
    "backticks and backslashes": "`a` \\ \\n \\'",
    "newlines and tabs": "first\nsecond\r\nthird\tfourth",
    "spaces around": "  padded  ",
    "one space": " ",
    "emoji": "🙂👩‍👩‍👧‍👦 task 🇪🇺",
    "right to left": "مهمة \u202eabc",
    "combining": "e\u0301 and \u00e9",
    "sql": "'); drop table passk_runs; --",
    "sql comment": "/* x */ -- y",
    "jinja": "{{ 1 / 0 }} {% raw %} {# x #}",
    "percent and braces": "100% {} %s %(a)s {0}",
    "like patterns": "%_%",
    "slashes": "HumanEval/0/../../etc/passwd",
    "zero": "0",
    "number": "1e5",
    "the word null": "null",
    "the word all": "all",
    "separators": "a|=b|",
    "a null byte": "before\x00after",
    "very long": "x" * 10_000,
    "long and strange": "🙂'" * 2_500,
}
LATER: Final = datetime(2026, 2, 2)
ALIKE: Final = ("Task", "task", "task ", "TASK", "ta\u0301sk", "t\u00e1sk", "t\u00e1sk\u200b")
"""Names that some comparison might take for one."""


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Callable[..., list[Any]]) -> Project:
    """Each strange text as run, suite, task, agent, model, reason and tag, on both roads."""
    made = make_project()
    rows: list[Any] = []
    for text in [*STRANGE.values(), *ALIKE]:
        names = {"agent": text, "agent_version": text, "model": text, "output_hash": text}
        more = {**names, "outcome_reason": text, "tags": {"kind": text, text: text}}
        rows += attempts(text, text, "PFP", suite=text, source_file=text, **more)
        rows += attempts(text, f"{text} late", "PFP", suite=text, first=200, **more)
        rows += attempts(text, f"{text} copied", "PPF", suite=text, source_file="a", **more)
        rows += attempts(text, f"{text} copied", "PF", suite=text, source_file="b", **more)
    made.land(rows)
    variables = {"passk_ks": [1, 2], "passk_deployment_k": 2, "passk_slices": ["kind"]}
    made.run(variables)
    # By increments too: the same texts are keys of what is replaced.
    name = STRANGE["sql"]
    more = {"agent": name, "agent_version": name, "model": name}
    made.land(attempts(name, "new", "P", suite=name, loaded_at=LATER, **more))
    made.run(variables)
    return made


@pytest.mark.long
@pytest.mark.parametrize("kind", [*STRANGE, *ALIKE])
def test_a_strange_name_comes_out_as_it_went_in(built: Project, kind: str) -> None:
    text = STRANGE.get(kind, kind)
    new = kind == "sql"
    run = built.query(
        "select suite, agent, agent_version, model, tasks, n, c, rejected from passk_runs"
        " where run_id = ?",
        text,
    )
    n = 3 + 3 + 2
    # Of the copied task, attempt 1 is kept once, attempt 2 refused twice, attempt 3 alone.
    assert run == [(text, text, text, text, 3 + new, n + new, 5 + new, 3)]
    tasks = built.query(
        "select task_id, n, c from passk_tasks where run_id = ? order by n, c, 1", text
    )
    expected = [(text, 3, 2), (f"{text} late", 3, 2), (f"{text} copied", 2, 1)]
    assert sorted(tasks) == sorted([*expected, ("new", 1, 1)] if new else expected)
    kept = built.query(
        "select distinct run_id, suite, task_id, agent, outcome_reason, output_hash, tags,"
        " source_file from passk_attempts where run_id = ? and task_id = ?",
        text, text,
    )  # fmt: skip
    assert kept == [(text, text, text, text, text, text, {"kind": text, text: text}, text)]
    metrics = built.query(
        "select k, pass_hat_k_window from passk_task_metrics where run_id = ? and task_id = ?"
        " order by k",
        text, f"{text} late",
    )  # fmt: skip
    assert metrics == [(1, 2 / 3), (2, 0.0)]


@pytest.mark.parametrize("kind", [*STRANGE, *ALIKE])
def test_a_strange_tag_is_a_slice(built: Project, kind: str) -> None:
    text = STRANGE.get(kind, kind)
    rows = built.query(
        "select distinct slice_name, slice_value, total_tasks from passk_suite_metrics"
        " where run_id = ? and slice_name = 'kind' and slice_value <> '(untagged)'",
        text,
    )
    assert rows == [("kind", text, 3)]


@pytest.mark.parametrize("kind", [*STRANGE, *ALIKE])
def test_refused_copies_keep_their_strange_names(built: Project, kind: str) -> None:
    text = STRANGE.get(kind, kind)
    rows = built.query(
        "select suite, task_id, attempt, outcome, reason_code from passk_rejected_attempts"
        " where run_id = ? order by attempt, outcome",
        text,
    )
    task = f"{text} copied"
    assert rows == [
        (text, task, 1, "passed", "duplicate"),
        (text, task, 2, "failed", "conflicting_duplicate"),
        (text, task, 2, "passed", "conflicting_duplicate"),
    ]


def test_every_run_is_there_once(built: Project) -> None:
    texts = [*STRANGE.values(), *ALIKE]
    assert sorted(run for (run,) in built.query("select run_id from passk_runs")) == sorted(texts)


@pytest.mark.long
def test_copies_that_differ_only_in_where_a_text_ends_are_different(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    """However rows are compared, `a|=b` and nothing is not `a` and `b|`."""
    project.land([
        *attempts("run", "task", "P", agent="a|=b", agent_version=None),
        *attempts("run", "task", "P", agent="a", agent_version="b|"),
    ])  # fmt: skip
    project.run()
    rows = project.query("select distinct reason_code from passk_rejected_attempts")
    assert rows == [("conflicting_duplicate",)]


def test_the_order_of_tags_is_no_difference(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land([
        *attempts("run", "task", "P", tags={"a": "1", "b": "2"}),
        *attempts("run", "task", "P", tags={"b": "2", "a": "1"}),
    ])  # fmt: skip
    project.run(select=["+passk_rejected_attempts"])
    assert project.query("select reason_code from passk_rejected_attempts") == [("duplicate",)]


@pytest.mark.long
def test_a_slice_of_the_name_all_of_a_strange_case(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land(attempts("run", "task", "PF", tags={"a'b": "x", "": "empty", "ü": "y"}))
    project.run({"passk_ks": [1], "passk_deployment_k": 1, "passk_slices": ["a'b", "ü"]})
    rows = project.query("select slice_name, slice_value from passk_suite_metrics order by 1")
    assert rows == [("a'b", "x"), ("all", "all"), ("ü", "y")]
