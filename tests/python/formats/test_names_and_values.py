"""Names of runs and tasks, values out of JSON, and what else formats share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from passk_py.ingest.formats import format_named
from passk_py.ingest.formats import json_values as values
from passk_py.ingest.formats.canonical import is_canonical
from passk_py.ingest.formats.digests import digest_of, packed
from passk_py.ingest.formats.kinds import listed
from passk_py.ingest.formats.parquet_schema import glob_literal, kind_of
from passk_py.ingest.formats.policy import general_policy
from passk_py.ingest.formats.run_names import (
    are_repeats,
    natural,
    pytest_repeat,
    run_named_after,
    without_endings,
)
from passk_py.ingest.formats.task_names import Names, shortened, without_ids


def test_a_value_is_found_under_names_or_is_not_there() -> None:
    assert values.at({"a": [{"b": 1}]}, "a", 0, "b") == 1
    assert values.at({"a": None}, "a", 0, "b") is None


@pytest.mark.parametrize(
    ("take", "given", "taken"),
    [
        (values.text, ["a", 7, "", {"a": 1}, True], ["a", "7", None, None, None]),
        (values.first_line, [" Timeout: 10 s\nat step 3", None], ["Timeout: 10 s", ""]),
        (values.number, [1, "0.5", True, "x"], [1.0, 0.5, None, None]),
        (values.flag, [True, 1, "true"], [True, None, None]),
    ],
)
def test_a_value_is_taken_if_it_is_of_its_type(take: Any, given: Any, taken: Any) -> None:
    assert [take(value) for value in given] == taken


def test_tags_are_short() -> None:
    metadata = {"level": 3, "easy": True, "kind": "sql", "notes": "x" * 1000, "steps": []}
    assert values.small_tags(metadata) == {"level": 3, "easy": True, "kind": "sql"}


def test_times_are_apart_by_seconds() -> None:
    times = "2026-01-31T12:00:00Z", "2026-01-31T12:01:00.500000+00:00"
    assert values.seconds_between(*times) == 60.5


def test_equal_values_have_equal_digests() -> None:
    assert packed({"b": 1, "a": [None]}) == b'{"a":[null],"b":1}'
    assert str(digest_of("4")).startswith("4b227777")
    assert digest_of(None) is None


def test_a_name_has_no_endings() -> None:
    assert without_endings("run-1.jsonl.gz", (".jsonl",)) == "run-1"
    assert without_endings(".json", (".json",)) is None


@pytest.mark.parametrize(
    ("path", "endings", "run"),
    [
        ("logs/gpt-5/samples_eval_results.json", (".json", "eval_results"), "gpt-5"),
        ("logs/gpt-5.json", (".json",), "gpt-5"),
        ("gpt-5/results/output.json.gz", (".json",), "gpt-5"),
    ],
)
def test_a_run_is_named_after_what_is_its_own(path: str, endings: Any, run: str) -> None:
    assert run_named_after(Path(path), endings) == run


def test_repeats_are_told_by_their_names() -> None:
    pairs = (["run-1", "run-3"], ["a1", "a2"], ["gpt-4", "gpt-5"])
    assert [are_repeats(pair) for pair in pairs] == [True, True, False]
    assert pytest_repeat("test_agent[add-1-4]") == ("test_agent[add]", 1, 4)
    assert pytest_repeat("test_agent[2-4]") == ("test_agent", 2, 4)


def test_numbers_in_names_are_compared_as_numbers() -> None:
    assert sorted(["run-10", "run-2"], key=natural) == ["run-2", "run-10"]


def test_a_name_of_two_things_is_not_clear() -> None:
    names = Names()
    for name, thing in [("a", 1), ("b", 2), ("a", 1), ("b", 3)]:
        names.note(name, thing)
    assert (names.are_clear("a"), names.are_clear("b")) == (True, False)


def test_a_long_name_is_cut_and_has_a_digest() -> None:
    assert (shortened("a name", 60), shortened("sum up", 3)) == ("a name", "sum~91a27aaf")


def test_what_is_new_in_each_eval_is_not_in_a_name() -> None:
    value = {"at": "2026-01-31T12:00:00Z", "n": 7, "started": 1769860800}
    assert without_ids(value) == {"at": "<time>", "n": 7, "started": "<time>"}
    assert without_ids(["job 3f2504e0-4f89-41d3-9a0c-0305e82c3301"]) == ["job <uuid>"]


def test_not_all_names_are_listed() -> None:
    assert listed(["a", "b", "c"], most=2) == "a, b, ..."


def test_types_of_parquet_are_handed_over_as_text_where_that_is_exact() -> None:
    types = ("INTEGER", "DECIMAL(9,2)", "MAP(VARCHAR, INTEGER)")
    assert [kind_of(one) for one in types] == ["integer", "text", "map"]


def test_a_path_is_no_glob() -> None:
    assert glob_literal(Path("run[1]*.jsonl")) == "run[[]1][*].jsonl"


def test_formats_and_policy_are_found_by_name() -> None:
    assert format_named("csv").title == "canonical attempts, a CSV table with a header"
    assert dict(general_policy())["*timeout*"] == "failed"
    assert is_canonical(("run_id", "task_id", "passed"))
