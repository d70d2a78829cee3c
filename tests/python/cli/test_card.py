"""``passk card``: every number is a table's, pass^k stands beside pass@1, and no name breaks it."""

from __future__ import annotations

import json
import re
from datetime import datetime
from fractions import Fraction
from functools import cache
from math import comb
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.cells import cell_len

import passk_py as pk
from passk_py.common import markdown
from passk_py.common.words import plain, shortened
from passk_py.reports.model_card.card_facts import UNRELATED_VARS
from passk_py.warehouse.project import default_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conftest import Demo, Project, Said

    from passk_py.reports.model_card import Card

    Passk = Callable[..., Said]

SHOWN_HAT = re.compile(r"pass\^\d")
STRANGE = "a|b `c` \\| *d*\n<e> [f](g) _h_ &amp; \u202e 🙂 \x1b[2J"
LONG = "long-name-" * 20
REASONS = ("rate_limited", "infra|error\n*x*", None)

NEW = {
    # Two slices, of which one has a task with a single counted attempt, which is short from k = 2 on.
    **{f"air-{i}": "PPPFPP" for i in range(7)},
    **{f"air-{i}": "PXPPPP" for i in range(7, 10)},
    "air-short": "PXXXXX",
    **{f"rail-{i}": "FPFPFP" for i in range(5)},
    **{f"rail-{i}": "FFXXFF" for i in range(5, 7)},
    "rail-perfect": "PPPPPP",
}
OLD = {task: "PPPPPP" if task.startswith("air") else "FPFPPF" for task in NEW}
VARS = {
    "passk_ks": [1, 2, 3, 6, 8],
    "passk_deployment_k": 2,
    "passk_slices": ["domain"],
    "passk_baseline": "old",
    "passk_difficulty": "minutes",
    "passk_gates": [
        {"name": "twice|in a row", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.6, "run": "new"},
        {"name": "no-worse", "type": "drop", "metric": "pass_hat_k", "k": 2, "max_drop": 0.1, "baseline": "old"},
        {"name": "domains", "type": "threshold", "metric": "pass_at_k", "k": 2, "min": 0.5, "each": "domain", "run": "new"},
        {"name": "whole", "type": "coverage", "metric": "missing_attempts", "max": 0, "run": "new"},
    ],
}  # fmt: skip


def rows_of_full(attempts: Callable[..., list[Any]]) -> list[Any]:
    rows: list[Any] = []
    for run, tasks in (("old", OLD), ("new", NEW)):
        for task, letters in tasks.items():
            tags = {"domain": task.split("-")[0]}
            if run == "new":
                tags |= {"Temperature": "0.7" if task.startswith("air") else "1.0"}
                tags |= {"suite_version": "v2"}
            rows += attempts(
                run, task, letters, suite="desk", agent="bot", agent_version=run, tags=tags,
                source_format="jsonl", started_at=datetime(2026, 1, 1 if run == "old" else 2),
            )  # fmt: skip
    for place, row in enumerate(rows):
        if row["outcome"] == "excluded":
            row["outcome_reason"] = REASONS[place % 3]
        if row["run_id"] == "new" and row["attempt"] <= 3:
            row["seed"] = row["attempt"]
        if row["run_id"] == "old":
            row["cost_usd"] = 0.25 + place % 7 / 8
            row["tags"] = {**row["tags"], "minutes": str(1 + place // 6)}
            if row["outcome"] == "failed" and place % 2:
                row["outcome_reason"] = "timeout"
    # Runs that a card has little to say of, and names that Markdown has its own ideas about.
    rows += attempts("nothing", "t", "XX", suite="desk") + attempts(
        "nothing", "u", "X", suite="desk"
    )
    rows += attempts("two", "t", "PF", suite="one") + attempts(
        "two", "t", "PP", suite="other", tags={"temperature": "0.0", "dataset_version": "3"}
    )
    for task in (STRANGE, LONG, f"{LONG}!", "任务" * 40):
        rows += attempts(
            STRANGE, task, "PFFXP", suite=STRANGE, agent=STRANGE, model=LONG,
            tags={"domain": STRANGE, "temperature": STRANGE}, source_file=STRANGE,
        )  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def make_full(
    make_project: Callable[[], Project], attempts: Callable[..., list[Any]]
) -> Callable[[int], Project]:
    """Builds, once for each share of tasks that must have n >= k, what ``full`` gives."""

    @cache
    def built(min_eligible_share: int) -> Project:
        made = make_project()
        made.land(rows_of_full(attempts))
        made.execute(
            "create table landing.expected_attempts (run_id varchar, suite varchar, "
            "task_id varchar, expected_attempts bigint, source_file varchar, loaded_at timestamp)",
            "insert into landing.expected_attempts values "
            "('new', 'desk', 'air-0', 8, 'log', '2026-01-01'), "
            "('new', 'desk', 'untried', 6, 'log', '2026-01-01')",
        )
        made.run({**VARS, "passk_min_eligible_share": min_eligible_share})
        return made

    return built


@pytest.fixture(params=[1, pytest.param(0, marks=pytest.mark.long)])
def full(request: pytest.FixtureRequest, make_full: Callable[[int], Project]) -> Project:
    """Exclusions, missing attempts, slices, short tasks, a baseline, gates and strange names."""
    return make_full(request.param)


@cache
def card_of(run: str, database: Path, suite: str | None = None) -> Card:
    """The card of a run of a database that no test changes, read once."""
    return pk.card(run, database=database, suite=suite)


def facts(database: Path, run: str, **more: Any) -> dict[str, Any]:
    """The card as a program reads it, after JSON."""
    found = json.loads(card_of(run, database, **more).json())
    assert isinstance(found, dict)
    return found


def records(database: Path, sql: str) -> list[dict[str, Any]]:
    """Rows of a query of the test's own, with times as the card writes them."""
    with duckdb.connect(str(database), read_only=True) as connection:
        result = connection.execute(sql)
        names = [column[0] for column in result.description]
        return [
            {
                name: f"{value.isoformat()}Z" if isinstance(value, datetime) else value
                for name, value in zip(names, row, strict=True)
            }
            for row in result.fetchall()
        ]


def tables_of(markdown: str) -> list[list[list[str]]]:
    """The tables of a document as a parser of Markdown sees them: rows of cells."""
    found: list[list[list[str]]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and found and token.level > 3:
            found[-1][-1].append("".join(child.content for child in token.children or []))
    return found


# ---------------------------------------------------------------------------------------------
# the numbers


def test_what_is_lost_and_spent_is_that_of_the_tables(full: Project) -> None:
    card, document = facts(full.database, "old"), card_of("old", full.database).markdown()
    of_run = "run_id = 'old' and suite = 'desk'"
    lost = records(
        full.database,
        f"from passk_lost_reliability where {of_run} and dimension = 'cause' and k = 2 "
        "and lost_share > 0 order by lost_share desc",
    )
    assert [row["part"] for row in lost] == ["agent", "limit"]
    for shown, row in zip(card["losses"], lost, strict=True):
        assert shown == {name: row[name] for name in shown}
    (spent,) = records(
        full.database, f"select * exclude (loaded_at) from passk_costs where {of_run}"
    )
    assert card["costs"] == [spent]
    horizons = records(
        full.database,
        f"select * exclude (loaded_at) from passk_horizons where {of_run} and k in (1, 2) order by k",
    )
    assert card["horizons"] == horizons
    heads = ("## Where reliability is lost", "## How long tasks may be", "## Costs")
    assert all(head in document for head in heads)
    tables = {table[0][0]: table for table in tables_of(document)}
    assert [row[0] for row in tables["cause"][1:]] == ["agent", "limit"]
    assert not any(head in card_of("new", full.database).markdown() for head in heads)


def check_numbers(database: Path, run: str, suite: str, k: int) -> None:
    """Hold each number of a card against a query."""
    card = facts(database, run)
    of_run = f"run_id = '{run}' and suite = '{suite}'"
    assert [card["run"]] == records(database, f"from passk_runs where {of_run}")
    metrics = records(
        database,
        "select m.*, first.pass_at_k as pass_at_1 from passk_suite_metrics m "
        "join passk_suite_metrics first using (run_id, suite, slice_name, slice_value) "
        f"where first.k = 1 and {of_run} order by m.slice_name, m.slice_value, m.k",
    )
    curve = [row for row in metrics if row["slice_name"] == "all"]
    sliced = [row for row in metrics if row["slice_name"] != "all" and row["k"] == k]
    for shown, rows in ((card["curve"], curve), (card["slices"], sliced)):
        assert len(shown) == len(rows)
        for one, row in zip(shown, rows, strict=True):
            numbers = {name: value for name, value in one.items() if name != "null_reasons"}
            assert numbers == {name: row[name] for name in numbers}
            # Of what is null the reason is known, and of nothing else.
            nulls = {name for name, value in numbers.items() if value is None}
            # Families are null where none are declared.
            assert set(one["null_reasons"]) == nulls - {
                "null_reason",
                "families",
                "effective_families",
            }
            assert all(one["null_reasons"].values())
    assert card["pass_at_1"] == card["curve"][0]
    assert card["at_deployment_k"] in card["curve"]
    assert card["at_deployment_k"]["k"] == card["deployment_k"]["k"] == k
    assert card["exclusions"]["excluded"] == card["run"]["excluded"]
    assert {row["outcome_reason"]: row["attempts"] for row in card["exclusions"]["reasons"]} == {
        row["outcome_reason"]: row["n"]
        for row in records(
            database,
            "select outcome_reason, count(*) as n from passk_attempts "
            f"where {of_run} and outcome = 'excluded' group by 1",
        )
    }
    costly = records(
        database,
        f"select * from passk_tasks where {of_run} and c < n order by mend_rank limit 10",
    )
    assert [
        {name: value for name, value in task.items() if name != "pass_at_1"}
        for task in card["tasks"]["mend_first"]
    ] == [
        {name: task[name] for name in card["tasks"]["mend_first"][0] if name != "pass_at_1"}
        for task in costly
    ]
    assert [task["pass_at_1"] for task in card["tasks"]["mend_first"]] == [
        task["pass_rate"] for task in costly
    ]
    (counts,) = records(
        database,
        "select count(*) filter (task_class = 'consistent') as consistent, "
        "count(*) filter (task_class = 'flaky') as flaky, "
        "count(*) filter (task_class = 'incapable') as incapable, "
        f"count(*) filter (task_class = 'unknown') as unknown from passk_tasks where {of_run}",
    )
    assert card["tasks"]["classes"] == counts
    compared = records(
        database,
        f"select * exclude (loaded_at) from passk_comparisons where candidate_run_id = '{run}' "
        f"and suite = '{suite}' and ((metric = 'pass_at_k' and k = 1) or (k = {k})) "
        "order by baseline_run_id, metric, k",
    )
    assert [row for pair in card["comparisons"] for row in pair["metrics"]] == compared
    gates = records(
        database,
        "select * exclude (loaded_at), (select pass_at_k from passk_suite_metrics m where m.k = 1 "
        "and m.run_id = g.run_id and m.suite = g.suite and m.slice_name = g.slice_name "
        "and m.slice_value = g.slice_value) as pass_at_1 "
        f"from passk_gates g where {of_run} order by gate, baseline_run_id, slice_name, slice_value",
    )
    # How many looks there were is no part of the tables: test_looks has it.
    assert [{name: row[name] for name in row if name != "looks"} for row in card["gates"]] == gates
    verdicts = ["warning", "ok", "insufficient", "not_applicable"]
    diagnostics = records(
        database, f"select * exclude (loaded_at) from passk_diagnostics where {of_run}"
    )
    assert sorted(card["diagnostics"], key=str) == sorted(diagnostics, key=str)
    places = [verdicts.index(row["verdict"]) for row in card["diagnostics"]]
    assert places == sorted(places)
    assert len(places) == 14
    sources = records(
        database,
        f"select source_file, count(*) as attempts from passk_attempts where {of_run} group by 1",
    )
    assert [(row["source_file"], row["attempts"]) for row in card["provenance"]["sources"]] == [
        (row["source_file"], row["attempts"]) for row in sources
    ]


@pytest.mark.long
def test_every_number_is_one_of_the_tables(full: Project) -> None:
    check_numbers(full.database, "new", "desk", 2)
    check_numbers(full.database, "old", "desk", 2)


@pytest.mark.long
def test_every_number_of_the_demo_is_one_of_the_tables(demo: Demo) -> None:
    for run in ("scout-2026-02", "scout-2026-03", "tracer-2026-03", "walker-2026-03"):
        check_numbers(demo.database, run, "puzzles", 4)
    # The vars are those of the build, and the recorded ones.
    told = facts(demo.database, "scout-2026-03")["provenance"]
    assert told["vars_are_recorded"]
    assert told["vars"].keys() == default_variables().keys() - UNRELATED_VARS
    assert default_variables().keys() > UNRELATED_VARS
    assert told["vars"]["passk_gates"] == "demo"


def exact(metric: str, tasks: Sequence[tuple[int, int]], k: int) -> Fraction:
    """The mean of the unbiased estimates over tasks of (n, c)."""
    each = [
        Fraction(comb(c, k), comb(n, k))
        if metric == "pass_hat_k"
        else 1 - Fraction(comb(n - c, k), comb(n, k))
        for n, c in tasks
    ]
    return sum(each, Fraction(0)) / len(each)


def test_bounds_are_the_metrics_had_the_excluded_attempts_counted(full: Project) -> None:
    card = facts(full.database, "new")
    bounds = {(row["metric"], row["k"]): row for row in card["exclusions"]["bounds"]}
    assert list(bounds) == [("pass_at_k", 1), ("pass_at_k", 2), ("pass_hat_k", 2)]
    for (metric, k), row in bounds.items():
        for name, letter in (("if_all_failed", "F"), ("if_all_passed", "P")):
            tasks = [(6, letters.replace("X", letter).count("P")) for letters in NEW.values()]
            assert row[name] == pytest.approx(float(exact(metric, tasks, k)), rel=1e-12)
        assert row["eligible_tasks"] == len(NEW)
        assert row["null_reason"] is None
        short = k == 2 and card["at_deployment_k"]["null_reason"] is not None
        assert (row["estimate"] is None) == short
        if not short:
            counted = [(len(one.replace("X", "")), one.count("P")) for one in NEW.values()]
            tasks = [(n, c) for n, c in counted if n >= k]
            assert row["estimate"] == pytest.approx(float(exact(metric, tasks, k)), rel=1e-12)
            if len(tasks) == len(NEW):
                assert row["if_all_failed"] <= row["estimate"] <= row["if_all_passed"]


def test_bounds_need_k_attempts_too(full: Project) -> None:
    bounds = facts(full.database, "nothing")["exclusions"]["bounds"]
    # Of two tasks one has two attempts, and the other one.
    all_must = (
        facts(full.database, "nothing")["provenance"]["vars"]["passk_min_eligible_share"] == 1
    )
    values = [(row["if_all_failed"], row["if_all_passed"], row["eligible_tasks"]) for row in bounds]
    at_2 = (None, None, 1) if all_must else (0.0, 1.0, 1)
    assert values == [(0.0, 1.0, 2), at_2, at_2]
    assert bounds[1]["null_reason"] == ("n < 2 in 1 of 2 tasks" if all_must else None)


def test_what_was_left_out_and_what_was_recorded(full: Project) -> None:
    card = facts(full.database, "new")
    letters = "".join(NEW.values())
    assert card["exclusions"]["excluded"] == letters.count("X") == 12
    assert card["missing"] == {
        "expected_attempts": 14,
        "missing_attempts": 8,
        "tasks_with_missing": 2,
        "tasks_without_attempt": 1,
        "null_reason": None,
    }
    recorded = card["recorded"]
    air = 6 * sum(task.startswith("air") for task in NEW)
    assert recorded["temperature"]["values"] == [
        {"tag": "Temperature", "value": "0.7", "attempts": air},
        {"tag": "Temperature", "value": "1.0", "attempts": len(letters) - air},
    ]
    assert recorded["suite_version"]["values"] == [
        {"tag": "suite_version", "value": "v2", "attempts": len(letters)}
    ]
    assert recorded["seed"] == {
        "attempts_with": 3 * len(NEW),
        "attempts_without": 3 * len(NEW),
        "distinct_values": 3,
    }
    unknown = {row["what"]: row["reason"] for row in card["not_known"]}
    assert unknown["seeds"] == f"{3 * len(NEW)} of {len(letters)} attempts do not record it"
    assert not {"temperature", "suite version", "missing attempts"} & set(unknown)


# ---------------------------------------------------------------------------------------------
# the three rules


def test_what_is_null_says_by_which_rule(full: Project) -> None:
    # 19 tasks of six attempts each, of which eight both pass and fail.
    by_k = {row["k"]: row["null_reasons"] for row in facts(full.database, "old")["curve"]}
    few = "it takes 10 tasks that both pass and fail, and there are 8"
    assert by_k[2] == dict.fromkeys(
        (
            *("delta_k_lower", "delta_k_upper", "heterogeneity_lower", "heterogeneity_upper"),
            "curve_shape",
        ),
        few,
    )
    assert by_k[1]["heterogeneity"] == "at k = 1 unequal tasks change nothing"
    short = "a task has n < 12, which is 2k"
    of_these_tasks = ("pass_hat_k_suite_lower", "pass_at_k_suite_upper", "pass_hat_k_within_share")
    assert {by_k[6][column] for column in of_these_tasks} == {short}
    assert by_k[8]["delta_k"] == by_k[8]["reading"] == by_k[8]["pass_at_k"]
    assert by_k[8]["pass_at_k"].startswith("n < 8 in ")
    one = facts(full.database, "two", suite="other")["at_deployment_k"]["null_reasons"]
    assert one["delta_k"] == one["heterogeneity"] == "it takes two eligible tasks"


@pytest.mark.long
def test_temperature_zero_is_warned_of(full: Project) -> None:
    zero = card_of("two", full.database, suite="other")
    assert zero.facts["recorded"]["suite_version"]["values"] == [
        {"tag": "dataset_version", "value": "3", "attempts": 2}
    ]
    assert "At temperature 0 the attempts of a task may be one attempt" in zero.markdown()
    for run in ("new", STRANGE):
        assert "At temperature 0" not in card_of(run, full.database).markdown()


@pytest.fixture
def documents(full: Project, demo: Demo) -> list[str]:
    """Cards of all kinds."""
    runs = ("new", "old", "nothing", STRANGE)
    return [
        *(card_of(run, full.database).markdown() for run in runs),
        card_of("two", full.database, suite="other").markdown(),
        *(card_of(run, demo.database).markdown() for run in ("scout-2026-03", "tracer-2026-03")),
    ]  # fmt: skip


def test_pass_hat_k_is_never_shown_without_pass_at_1(documents: list[str]) -> None:
    seen = 0
    for document in documents:
        blocks = re.findall(r"(?:^\|.*\n)+|^[^|\n].*$", document, re.MULTILINE)
        for block in blocks:
            if SHOWN_HAT.search(block) or (
                block.startswith("|") and "pass^" in block.split("\n")[0]
            ):
                seen += 1
                assert "pass@1" in block, block
    assert seen > 4 * len(documents)


def test_json_has_pass_at_1_beside_each_pass_hat_k(full: Project, demo: Demo) -> None:
    def check(value: Any) -> None:
        if isinstance(value, dict):
            if "pass_hat_k" in value and not isinstance(value["pass_hat_k"], str):
                assert "pass_at_1" in value
            for one in value.values():
                check(one)
        elif isinstance(value, list):
            for one in value:
                check(one)

    check(facts(full.database, "new"))
    check(facts(demo.database, "scout-2026-03"))


def test_k_is_said_with_its_reason(passk: Passk, demo: Demo) -> None:
    words = ("card", "scout-2026-03", "--database", demo.database)
    said = passk(*words).out
    assert "k = 4 is the var passk_deployment_k" in said
    assert "It is passk's default, and no reason for it was given" in said
    told = passk(*words, "--k-reason", "four *tickets*\nbetween reviews").out
    assert "Why 4: four \\*tickets\\* between reviews" in told
    assert "default" not in told.partition("## What")[0]


def test_metrics_over_other_tasks_than_pass_at_1_are_said_to_be(full: Project) -> None:
    card = card_of("new", full.database)
    said = "Not over the same tasks: pass^2 is a mean over 18 of them and pass@1 over 19"
    is_short = card.facts["at_deployment_k"]["pass_hat_k"] is None
    assert (said in card.markdown()) == (not is_short)
    assert "Not over the same tasks" not in card_of("old", full.database).markdown()


def test_what_is_not_recorded_is_said_so(documents: list[str], demo: Demo) -> None:
    for document in documents:
        measured = {row[0]: row[1] for row in tables_of(document)[1]}
        assert set(measured) >= {
            "temperature",
            "seeds",
            "suite version",
            "counted attempts per task (n)",
        }
    (rows,) = (tables_of(card_of("scout-2026-03", demo.database).markdown())[1],)
    measured = {row[0]: row[1] for row in rows}
    assert measured["temperature"] == measured["suite version"] == "not recorded"
    assert measured["counted attempts per task (n)"] == "14 to 24"
    assert measured["seeds"] == "812 different in 812 attempts"


@pytest.mark.long
def test_tables_without_k_1_have_no_card(
    make_project: Callable[[], Project], attempts: Callable[..., list[Any]]
) -> None:
    made = make_project()
    made.land(attempts("r", "t", "PFP"))
    made.run({"passk_ks": [2], "passk_deployment_k": 2, "passk_diagnostics": False})
    with pytest.raises(pk.PasskError, match="no k = 1, and a card shows") as caught:
        pk.card("r", database=made.database)
    assert caught.value.hint == "Build them with a var passk_ks that has 1."
    # Once they have, and without diagnostics; at k = 1 both metrics are one.
    made.run({"passk_ks": [1], "passk_deployment_k": 1, "passk_diagnostics": False})
    card = pk.card("r", database=made.database)
    assert [row["metric"] for row in card.facts["exclusions"]["bounds"]] == []
    first = tables_of(card.markdown())[0]
    assert [row[0] for row in first] == ["metric", "pass@1"]
    assert first[1][2] == "0.667"
    assert card._repr_markdown_() == card.markdown()
    assert repr(card) == "<Card of the run 'r'>"
    assert "Not known: the tables were built without diagnostics." in card.markdown()
    assert "it is read off at k = 2, which is not among passk\\_ks" not in card.markdown()
    assert "it is read off at k = 2, which is not among passk_ks" in card.markdown()


# ---------------------------------------------------------------------------------------------
# Markdown


def test_markdown_shows_the_numbers_of_the_json(demo: Demo) -> None:
    card = card_of("scout-2026-03", demo.database)
    tables = {table[0][0]: table for table in tables_of(card.markdown())}
    rows = tables["k"][1:]
    assert [row[0] for row in rows] == [str(row["k"]) for row in card.facts["curve"]]
    for cell, value in (
        (shown[place], row[name])
        for shown, row in zip(rows, card.facts["curve"], strict=True)
        for place, name in ((1, "pass_at_1"), (2, "pass_at_k"), (4, "pass_hat_k"))
    ):
        assert cell == ("not known" if value is None else f"{value:.3f}")
    # By hand, from the table of the README: 66.6, 92.3 and 40.4 percent.
    assert [row[2] for row in tables_of(card.markdown())[0]] == [
        "estimate",
        "0.666",
        "0.923",
        "0.404",
    ]


def test_tables_are_whole_and_aligned(documents: list[str]) -> None:
    for document in documents:
        for block in re.findall(r"(?:^\|.*\n)+", document, re.MULTILINE):
            lines = block.splitlines()
            assert len({line.count("|") for line in lines}) == 1
            assert len({cell_len(line) for line in lines}) == 1
        assert all(len({len(row) for row in table}) == 1 for table in tables_of(document))
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", document)
        # "None of ..." begins a sentence of the diagnostics.
        assert not re.search(r"\bNone\b(?! of )", document)


def test_strange_names_come_out_letter_for_letter(full: Project) -> None:
    document = card_of(STRANGE, full.database).markdown()
    tables = tables_of(document)
    measured = {row[0]: row[1] for row in tables[1]}
    assert measured["run"] == measured["suite"] == measured["agent"] == plain(STRANGE)
    assert measured["model"] == LONG
    assert measured["temperature"] == f"{plain(STRANGE)} (tag temperature)"
    (tasks,) = (table for table in tables if table[0][0] == "task")
    assert {row[0] for row in tasks[1:]} == {
        shortened(task, 80) for task in (STRANGE, LONG, f"{LONG}!", "任务" * 40)
    }
    assert document.count("\n# ") == 0
    assert not [
        token.type
        for token in MarkdownIt("commonmark").enable("table").parse(document)
        for child in token.children or []
        if child.type in ("link_open", "html_inline", "em_open", "image")
    ]


INLINE = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@given(st.text(max_size=60), st.text(alphabet="|`\\*_[]<>&~$:#-!()amp; x1\n", max_size=30))
def test_any_text_survives_in_a_table(first: str, second: str) -> None:
    for given_text in (first, second):
        written = [markdown.text(given_text), markdown.name(given_text, whole=True)]
        document = "\n".join(markdown.table(["a", "b"], [written]))
        (table,) = tables_of(document)
        shown = plain(given_text).strip()
        assert table[1][0] == shown
        assert table[1][1] == (shown or ("(blanks)" if given_text else "(empty)"))
        kinds = {child.type for token in INLINE.parse(document) for child in token.children or []}
        assert kinds <= {"text", "code_inline"}


# ---------------------------------------------------------------------------------------------
# the command


def test_a_run_of_which_everything_is_excluded(full: Project) -> None:
    card = card_of("nothing", full.database)
    found = card.facts
    assert found["pass_at_1"]["pass_at_k"] is None
    assert found["pass_at_1"]["null_reason"].startswith("n < 1 in ")
    assert found["tasks"]["null_reason"] == "no attempt counts"
    document = card.markdown()
    assert [row[2] for row in tables_of(document)[0][1:]] == ["not known"] * 3
    assert "- The log: no warning; 14 of 14 diagnostics can't be known from it." in document
    assert "no value: n < 1 in " in document


@pytest.mark.long
def test_stdout_files_and_json_say_the_same(passk: Passk, demo: Demo, tmp_path: Path) -> None:
    words = ("card", "walker-2026-03", "--database", demo.database)
    markdown = passk(*words).out
    values = passk(*words, "--json").json
    assert markdown.startswith("# Model card: `walker-2026-03` on `puzzles`\n")
    assert values["passk_card"] == 1
    said = passk(*words, "-o", tmp_path / "card.md", "-o", tmp_path / "card.json")
    assert (said.code, said.err) == (0, "")
    assert said.out == f"{tmp_path / 'card.md'}: Markdown\n{tmp_path / 'card.json'}: JSON\n"
    assert (tmp_path / "card.md").read_text("utf-8") == markdown
    assert json.loads((tmp_path / "card.json").read_text("utf-8")) == values
    both = passk(*words, "--json", "-o", tmp_path / "again.md")
    assert both.json == values
    assert (tmp_path / "again.md").read_text("utf-8") == markdown


@pytest.mark.long
def test_a_run_of_several_suites_needs_one(full: Project, passk: Passk) -> None:
    said = passk("card", "two", "--database", full.database)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: The run two has the suites one, other; a card is about one suite.\nChoose it with --suite.\n"
    )
    words = ("card", "two", "--suite", "other", "--database", full.database, "--json")
    assert passk(*words).json["run"]["suite"] == "other"
    said = passk("card", "two", "--suite", "desk", "--database", full.database)
    assert said.err.startswith("Error: The run two has no attempts in desk.\nIt has one, other.")


def test_what_is_not_there(passk: Passk, demo: Demo, tmp_path: Path) -> None:
    said = passk("card", "nope", "--database", demo.database)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(
        "Error: There is no run nope; the runs are scout-2026-02, scout-2026-03, "
    )
    said = passk("card", "scout-2026-03", "--database", demo.database, "-o", tmp_path / "card.txt")
    assert said.code == 2
    assert "card.txt must end in .md or .json." in said.err
    said = passk("card", "nope", "--database", tmp_path / "none.duckdb")
    assert said.err.startswith("Error: There is no database ")


def test_a_run_of_which_every_row_was_rejected(
    passk: Passk, letters: Path, change: Callable[..., None]
) -> None:
    change(
        "create or replace view passk_rejected_attempts as select 'lost' as run_id, 'letters' as suite,"
        " null::varchar as source_file"
    )
    said = passk("card", "lost")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: Every row of the run lost was rejected.\n")


def test_tables_older_than_the_log_are_said_to_be(
    passk: Passk, letters: Path, make_log: Callable[..., Path]
) -> None:
    assert passk("load", make_log("more.jsonl", [("new", "extra", "PP")])).code == 0
    said = passk("card", "new")
    assert said.code == 0
    assert said.err == (
        "2 attempts have landed since the last build. `passk build` brings them up to date.\n"
    )
    assert "The tables are not those of the log: 2 attempts have landed" in said.out
