"""Mappings: any JSON, CSV or Parquet becomes attempts, alike whatever it is written in."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from passk_py.common.errors import PasskError
from passk_py.ingest.containers.json_walk import fits
from passk_py.ingest.formats.mappings.mapping import (
    Mapping,
    map_options,
    mapping_from,
    save_mapping,
)
from passk_py.ingest.formats.mappings.mapping_expression import Expression, parsed
from passk_py.ingest.formats.mappings.mapping_rows import path_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS: list[dict[str, Any]] = [
    {"case": "a", "trial": 0, "score": 0.9, "status": "ok", "kind": "x", "why": None},
    {"case": "a", "trial": 1, "score": 0.8, "status": "bad", "kind": "x", "why": None},
    {"case": "a", "trial": 2, "score": 0.79, "status": "ok", "kind": None, "why": None},
    {"case": "b", "trial": 0, "score": None, "status": "died", "kind": "y", "why": "timeout"},
    {"case": "b", "trial": 1, "score": None, "status": "died", "kind": "y", "why": "rate_limit"},
]
LINES = [
    "task_id=$.case",
    "attempt=$.trial + 1",
    "passed=$.score >= 0.8",
    "score=$.score",
    "outcome_reason=$.why",
    "run_id=nightly",
    "tags.kind=$.kind",
]
LANDED = [
    ("nightly", "a", 1, "passed", None, 0.9, {"kind": "x"}),
    ("nightly", "a", 2, "passed", None, 0.8, {"kind": "x"}),
    ("nightly", "a", 3, "failed", None, 0.79, None),
    ("nightly", "b", 1, "failed", "timeout", None, {"kind": "y"}),
    ("nightly", "b", 2, "excluded", "rate_limit", None, {"kind": "y"}),
]
NAMES = ("run_id", "task_id", "attempt", "outcome", "outcome_reason", "score", "tags")
WRITERS = ("csv", "parquet", "jsonl", "json", "document.json")


def written(folder: Path, kind: str, rows: list[dict[str, Any]]) -> Path:
    path = folder / f"log.{kind}"
    if kind == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    elif kind == "parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    elif kind == "json":
        path.write_text(json.dumps(rows), "utf-8")
    else:
        path.write_text(json.dumps({"about": {"x": [1]}, "out": {"rows": rows}, "z": 1}), "utf-8")
    return path


def options_for(kind: str, lines: list[str]) -> dict[str, Any]:
    where = ["rows=$.out.rows"] if kind == "document.json" else []
    return {"mapping": mapping_from([*lines, *where], None)}


def told(loaded: Any) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in NAMES) for row in loaded.attempts]


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_file_gives_the_same_attempts(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(written(tmp_path, kind, ROWS), **options_for(kind, LINES))
    assert told(loaded) == LANDED
    assert (loaded.report.rows_read, loaded.report.rows_rejected) == (5, 0)
    assert {row["source_format"] for row in loaded.attempts} == {"mapping"}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_mapping_says_where_a_transcript_lies(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    urls = ["https://traces.example/1", "traces/2.json", None]
    rows = [{"case": "a", "ok": True, "url": url} for url in urls]
    path = written(tmp_path, kind, rows)
    lines = ["task_id=$.case", "attempt=in_order", "passed=$.ok", "transcript=$.url"]
    loaded = harness_log(path, **options_for(kind, lines))
    expected = [urls[0], f"{path.parent}/traces/2.json", None]
    assert [row["transcript"] for row in loaded.attempts] == expected


@pytest.mark.long
@pytest.mark.parametrize("kind", WRITERS)
def test_comparisons_agree_in_every_kind_of_file(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = written(tmp_path, kind, ROWS)
    wanted = {
        "$.status == 'ok'": ["passed", "failed", "passed", "failed", "failed"],
        "$.status != 'died'": ["passed", "passed", "passed", "failed", "failed"],
        "$.status in ('ok', 'bad')": ["passed", "passed", "passed", "failed", "failed"],
        "$.status not in ('ok', 'bad')": ["failed", "failed", "failed", "passed", "passed"],
        "$.trial == 1": ["failed", "passed", "failed", "failed", "passed"],
        "$.trial < 1": ["passed", "failed", "failed", "passed", "failed"],
        # No value is no verdict.
        "$.kind == 'x'": ["passed", "passed", "excluded", "failed", "failed"],
    }
    for expression, outcomes in wanted.items():
        lines = ["task_id=$.case", "attempt=$.trial + 1", f"passed={expression}"]
        loaded = harness_log(path, **options_for(kind, lines))
        assert [row["outcome"] for row in loaded.attempts] == outcomes, expression


@pytest.mark.parametrize("kind", WRITERS)
def test_tries_are_numbered_in_order_where_asked_for(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [{"case": case, "ok": ok} for case, ok in ["at", "bf", "af", "bt", "at"]]
    path = written(tmp_path, kind, rows)
    lines = ["task_id=$.case", "attempt=in_order", "passed=$.ok == t"]
    loaded = harness_log(path, **options_for(kind, lines))
    assert [(row["task_id"], row["attempt"], row["outcome"]) for row in loaded.attempts] == [
        ("a", 1, "passed"),
        ("a", 2, "failed"),
        ("a", 3, "passed"),
        ("b", 1, "failed"),
        ("b", 2, "passed"),
    ]
    # Not after a random name, and not after nothing: the file is called log, so its folder.
    name = "log.document" if kind == "document.json" else path.parent.name
    assert {row["run_id"] for row in loaded.attempts} == {name}


def test_the_time_of_the_start_comes_before_the_order_of_the_rows(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [
        {"t": "a", "ok": True, "at": "2026-01-01T00:00:02Z"},
        {"t": "a", "ok": False, "at": "2026-01-01T00:00:01Z"},
    ]
    lines = ["task_id=$.t", "attempt=in_order", "passed=$.ok", "started_at=$.at"]
    for kind in WRITERS:
        loaded = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines))
        assert [row["outcome"] for row in loaded.attempts] == ["failed", "passed"], kind


def test_paths_lead_into_objects_and_lists(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    rows = [{"case": {"id": 7, "long name": "n"}, "scores": [0, 1], "extra": {"deep": [1, 2]}}]
    lines = ["task_id=$.case.id", "attempt=1", "passed=$.scores[1]", 'tags.a=$.case["long name"]', "tags.b=$.extra"]  # fmt: skip
    for kind in ("jsonl", "json", "parquet"):
        (row,) = harness_log(
            written(tmp_path, kind, rows), mapping=mapping_from(lines, None)
        ).attempts
        assert (row["task_id"], row["outcome"]) == ("7", "passed"), kind
        assert row["tags"]["a"] == "n"


def test_rows_that_break_the_contract_say_so(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [{"id": "a", "ok": "maybe"}, {"id": None, "ok": True}, {"id": "b", "ok": True}]
    lines = ["task_id=$.id", "attempt=1", "passed=$.ok"]
    for kind in ("jsonl", "json", "document.json", "csv"):
        loaded = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines))
        assert [row["task_id"] for row in loaded.attempts] == ["b"], kind
        assert [row["reason_code"] for row in loaded.rejected] == ["wrong_type", "missing_field"]
        assert loaded.rejected[0]["reason"] == "$.ok is 'maybe', which is not true, false, 1 or 0."


def test_a_changed_mapping_lands_the_file_again(tmp_path: Path) -> None:
    from passk_py.ingest.landing import load

    path, database = written(tmp_path, "jsonl", ROWS), tmp_path / "passk.duckdb"
    lines = ["task_id=$.case", "attempt=$.trial + 1"]

    def status(passed: str) -> str:
        mapping = mapping_from([*lines, f"passed={passed}"], None)
        return load(path, database=database, mapping=mapping).files[0].status

    assert [status("$.score >= 0.8"), status("$.score >= 0.8"), status("$.score >= 0.9")] == [
        "landed",
        "unchanged",
        "replaced",
    ]


def test_a_mapping_is_kept_under_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harness_log: Callable[..., Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    mapping = mapping_from([*LINES, "rows=$.out.rows"], None)
    assert mapping is not None
    save_mapping(mapping, "mine")
    save_mapping(mapping, "mine")
    again = mapping_from([], "mine")
    assert again is not None
    assert (again.expressions, again.tags, again.rows) == (mapping.expressions, mapping.tags, mapping.rows)  # fmt: skip
    loaded = harness_log(written(tmp_path, "document.json", ROWS), mapping=again)
    assert told(loaded) == LANDED
    assert {row["source_format"] for row in loaded.attempts} == {"mine"}
    other = mapping_from(["task_id=$.x", "attempt=1", "passed=$.y"], None)
    assert other is not None
    with pytest.raises(PasskError, match="already holds a different mapping"):
        save_mapping(other, "mine")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"passed": "$.ok", "attempt": "1"}, "has no rule for task_id"),
        ({"task_id": "$.id", "attempt": "1"}, "has no rule for the verdict"),
        ({"task_id": "$.id", "passed": "$.ok"}, "has no rule for the number of the attempt"),
        ({"task_id": "$.id", "passed": "$.ok", "try": "1"}, "has try, which is not a column"),
        ({"task_id": "^", "passed": "$.ok", "attempt": "1"}, "it names nothing"),
        (
            {"task_id": "$.id ~ 3", "passed": "$.ok", "attempt": "1"},
            "from character 6 on: '~ 3' is not understood",
        ),
        (
            {"task_id": "^.id", "passed": "$.ok", "attempt": "1"},
            r"says \^\.id, which lies higher than where its rows are",
        ),
        (
            {"task_id": "^^key", "passed": "$.ok", "attempt": "1", "rows": "$.x"},
            "which lies higher",
        ),
        (
            {"task_id": "$key.id", "passed": "$.ok", "attempt": "1"},
            "from character 5 on: a name or a place has nothing in it",
        ),
        ({"task_id": "$.a[n == ]", "passed": "$.ok", "attempt": "1"}, "'=' is no value"),
        (
            {"task_id": "$.a", "passed": "$.ok", "attempt": "1", "no_verdict": "$.error"},
            "which is no condition",
        ),
        (
            {"task_id": "$.a", "passed": "$.ok", "attempt": "1", "rows": "$.a[0]"},
            "from character 4 on: rows can't be led to",
        ),
        (
            {"task_id": "$.a", "passed": "$.ok", "attempt": "1", "rows": ["$.a", "b"]},
            "rows is a path such as",
        ),
        ({"task_id": "$.a.*", "passed": "$.ok", "attempt": "1"}, r"\* can only stand in rows"),
        ({"task_id": "$.a", "passed": "$.ok", "attempt": "1", "tags": "x"}, "are not a table"),
        (["task_id"], "holds no lines"),
    ],
)
def test_a_mapping_that_can_not_be_says_why(said: Any, message: str) -> None:
    with pytest.raises(PasskError, match=message):
        Mapping.of(said, "mine")


def test_a_table_without_a_column_is_refused(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = written(tmp_path, "csv", ROWS)
    mapping = mapping_from(["task_id=$.id", "attempt=1", "passed=$.ok"], None)
    (report,) = harness_log(path, mapping=mapping).report.files
    assert report.status == "failed"
    assert "no column id among its columns (case, trial, score" in report.message


def test_numbers_and_texts_are_compared_as_people_do() -> None:
    assert parsed("$.a == 1").value_of({"a": "1.0"}) is True
    assert parsed("$.a == true").value_of({"a": "True"}) is True
    assert parsed("$.a == '1'").value_of({"a": "1.0"}) is False
    assert parsed("$.a > 1").value_of({"a": "x"}) is None
    assert parsed("$.a - 1").value_of({"a": 5}) == 4
    assert parsed("$.trial + 1").value_of({"trial": 0}) == 1
    assert parsed("$.ok == true").value_of({"ok": None}) is None


def test_expressions_are_read() -> None:
    assert parsed("$.case.id").path == ("case", "id")
    assert parsed('$["a b"][0]').path == ("a b", 0)
    assert path_of("case", "a b") == '$.case["a b"]'
    assert parsed("$.status in ('ok', 'good')").operands == ("ok", "good")
    assert parsed("helpdesk").value_of({}) == "helpdesk"
    mapping = mapping_from(["task_id=$.id", "passed=$.ok", "attempt=$.try", "tags.a=$.b"], None)
    assert mapping is not None
    assert mapping.tags == {"a": Expression(source="$.b", path=("b",))}


def test_options_are_written_as_a_shell_takes_them() -> None:
    options = map_options({"task_id": "$.task", "passed": "$.status == 'ok'"})
    assert options == "--map task_id=$.task --map \"passed=$.status == 'ok'\""


@pytest.mark.parametrize("kind", WRITERS)
def test_what_can_not_be_compared_is_no_verdict(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [{"t": "a", "s": value} for value in ("nan", "0.9", "x", "inf", "-inf")]
    lines = ["task_id=$.t", "attempt=in_order", "passed=$.s >= 0.8"]
    loaded = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines))
    assert [row["outcome"] for row in loaded.attempts] == [
        "excluded", "passed", "excluded", "passed", "failed",
    ]  # fmt: skip


def test_nan_of_a_table_is_no_verdict(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame({"t": ["a", "a"], "s": [float("nan"), 0.9]}).write_parquet(path)
    lines = ["task_id=$.t", "attempt=in_order", "passed=$.s >= 0.8"]
    loaded = harness_log(path, mapping=mapping_from(lines, None))
    assert [row["outcome"] for row in loaded.attempts] == ["excluded", "passed"]


@pytest.mark.parametrize("kind", WRITERS)
def test_flags_are_told_alike_everywhere(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [{"t": "a", "s": value} for value in ("true", "True", "1", "1.0", "false", "0", "yes")]
    lines = ["task_id=$.t", "attempt=in_order", "passed=$.s == true"]
    loaded = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines))
    assert [row["outcome"] for row in loaded.attempts] == [
        *["passed"] * 4,
        *["failed"] * 2,
        "excluded",
    ]


@pytest.mark.parametrize("kind", WRITERS)
def test_only_whole_numbers_are_counted_on_from(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [{"t": "a", "n": value} for value in ("0", "7", "3.7", "1_0", "x", "")]
    lines = ["task_id=$.t", "attempt=$.n + 1", "passed=true"]
    loaded = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines))
    assert [row["attempt"] for row in loaded.attempts] == [1, 8]
    assert len(loaded.rejected) == 4


@pytest.mark.parametrize(
    "expression",
    [
        "$.s >= 0.8 and $.k == ok",
        "$.k == ok or $.k == good",
        "$.k in ()",
        "$.k in (o'k, good)",
        "$.k in (1 2)",
        "$.a >= $.b",
        "$.a >= high",
        "$.a >= true",
        "$.a = = 1",
        "$.k == a b",
        "$.k >= inf",
        "not $.failed",
        "1 - $.score",
    ],
)
def test_what_is_not_understood_decides_nothing(expression: str) -> None:
    with pytest.raises(PasskError, match="can't be read"):
        parsed(expression)


def test_other_rows_of_a_document_land_again(tmp_path: Path) -> None:
    from passk_py.ingest.landing import load

    path, database = tmp_path / "log.json", tmp_path / "passk.duckdb"
    row = {"t": "a", "ok": True}
    path.write_text(json.dumps({"x": [row], "y": [row, row]}, indent=1), "utf-8")
    lines = ["task_id=$.t", "attempt=in_order", "passed=$.ok"]
    reports = [
        load(path, database=database, mapping=mapping_from([*lines, f"rows=$.{where}"], None))
        for where in ("x", "y", "y")
    ]
    assert [(one.files[0].status, one.rows_landed) for one in reports] == [
        ("landed", 1),
        ("replaced", 2),
        ("unchanged", 2),
    ]


def test_strange_names_are_kept_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harness_log: Callable[..., Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "log.json"
    path.write_text(json.dumps({'\u00f6 "k"': {"a b": [{"t": "x", "o k": True}]}}), "utf-8")
    lines = [r'rows=$["\u00f6 \"k\""]["a b"]', "task_id=$.t", "attempt=1", 'passed=$["o k"]']
    lines[0] = lines[0].replace(r"\u00f6", "\u00f6")
    mapping = mapping_from(lines, None)
    assert mapping is not None
    save_mapping(mapping, "strange")
    for one in (mapping, mapping_from([], "strange")):
        (row,) = harness_log(path, mapping=one).attempts
        assert (row["task_id"], row["outcome"]) == ("x", "passed")


def test_a_line_without_the_rows_says_so(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = written(tmp_path, "jsonl", [{"t": "a", "ok": [True]}, {"t": "b"}, {"t": "c", "ok": []}])
    lines = ["rows=$.ok", "task_id=^.t", "attempt=$key + 1", "passed=$"]
    loaded = harness_log(path, mapping=mapping_from(lines, None))
    assert [(row["task_id"], row["source_line"]) for row in loaded.attempts] == [("a", 1)]
    assert [(row["reason"], row["source_line"]) for row in loaded.rejected] == [
        ("There are no rows at $.ok.", 2)
    ]


@pytest.mark.parametrize(
    ("rows", "message", "hint"),
    [
        ("$.out.rosw", "holds no rows at $.out.rosw", "There are rows. Did you mean rows?"),
        ("$.uot.rows", "holds no rows at $.uot.rows", "There are about, out, z. Did you mean out?"),
        ("$.out.run_*", "holds no rows at $.out.run_*", "There are rows."),
    ],
)
def test_rows_that_are_nowhere_are_told_with_near_names(
    rows: str, message: str, hint: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = written(tmp_path, "document.json", ROWS)
    (report,) = harness_log(path, mapping=mapping_from([*LINES, f"rows={rows}"], None)).report.files
    assert report.status == "failed"
    assert (message in report.message, report.hint) == (True, hint)


@pytest.mark.parametrize("kind", ["jsonl", "json", "document.json"])
def test_a_path_that_finds_nothing_is_told(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [{"case": {"id": "a"}, "scores": {"accuracy": n}, "why": None} for n in (0, 1)]
    lines = ["task_id=$.case.id", "attempt=in_order", "passed=$.scores.acurracy >= 0.5"]
    lines.append("outcome_reason=$.why")
    loaded = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines))
    assert [row["outcome"] for row in loaded.attempts] == ["excluded", "excluded"]
    assert loaded.report.files[0].message == (
        "$.scores.acurracy >= 0.5 found nothing in 2 rows. There are case.id, scores.accuracy, why. "
        "Did you mean scores.accuracy?"
    )


@pytest.mark.parametrize("kind", ["jsonl", "json", "document.json"])
@pytest.mark.parametrize(
    ("line", "message", "is_doubtful"),
    [
        ("outcome_reason=$.note", "", False),
        (
            "outcome_reason=$.error",
            "$.error found nothing in 2 rows. There are case, ok, note.",
            False,
        ),
        (
            "no_verdict=$.error != null",
            "$.error != null found nothing in 2 rows. There are case, ok, note.",
            False,
        ),
        ("tags.why=$.error", "$.error found nothing in 2 rows. There are case, ok, note.", False),
        (
            "outcome_reason=$.notes",
            "$.notes found nothing in 2 rows. There are case, ok, note. Did you mean note?",
            True,
        ),
        ("score=$.reward", "$.reward found nothing in 2 rows. There are case, ok, note.", True),
        ("suite=$.board", "$.board found nothing in 2 rows. There are case, ok, note.", True),
    ],
)
def test_only_a_path_that_decides_or_is_near_a_name_makes_a_log_doubtful(
    kind: str,
    line: str,
    message: str,
    is_doubtful: bool,
    tmp_path: Path,
    harness_log: Callable[..., Any],
) -> None:
    rows = [{"case": "a", "ok": ok, "note": None} for ok in (True, False)]
    lines = ["task_id=$.case", "attempt=in_order", "passed=$.ok", line]
    (file,) = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines)).report.files
    assert (file.message, file.is_doubtful) == (message, is_doubtful)


def test_a_column_that_is_not_there_is_told_with_a_near_name(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = written(tmp_path, "csv", [{"case": "a", "run_1": "1"}])
    for lines, column in (
        (["task_id=$.csae", "attempt=1", "passed=$.run_1"], "csae"),
        (["rows=$.run_*", "task_id=^.csae", "attempt=1", "passed=$"], "csae"),
        (["rows=$.rnu_*", "task_id=^.case", "attempt=1", "passed=$"], "rnu_*"),
    ):
        (report,) = harness_log(path, mapping=mapping_from(lines, None)).report.files
        assert f"no column {column} among its columns (case, run_1)" in report.message
        assert (report.hint.endswith("Did you mean case?")) == (column == "csae")


@pytest.mark.parametrize("kind", WRITERS)
def test_what_has_no_verdict_is_judged_by_its_reason(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [
        {"t": "a", "ok": True, "s": 1.0, "e": None},
        {"t": "a", "ok": True, "s": 1.0, "e": "timeout"},
        {"t": "a", "ok": False, "s": 0.0, "e": "rate_limit"},
        {"t": "a", "ok": False, "s": 0.0, "e": ""},
    ]
    lines = ["task_id=$.t", "attempt=in_order", "passed=$.ok", "score=$.s", "outcome_reason=$.e"]
    lines.append("no_verdict=$.e != null")
    loaded = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines))
    assert [(row["outcome"], row["score"]) for row in loaded.attempts] == [
        ("passed", 1.0),
        ("failed", None),
        ("excluded", None),
        ("failed", 0.0),
    ]


@pytest.mark.parametrize("kind", WRITERS)
def test_null_is_compared_with(kind: str, tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    rows = [{"t": "a", "e": value} for value in (None, "x", "", "null")]
    lines = ["task_id=$.t", "attempt=in_order", "passed=$.e == null"]
    loaded = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines))
    assert [row["outcome"] for row in loaded.attempts] == ["passed", "failed", "passed", "failed"]


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "json", "document.json", "csv"])
def test_elements_of_lists_are_found_by_a_field(
    kind: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    lists = [
        [{"n": "f1", "v": {"x": 0}}, {"n": "em", "v": {"x": 1}}],
        [{"n": "em", "v": {"x": 0}}, {"n": "em", "v": {"x": 1}}],
        [{"n": "f1", "v": {"x": 1}}],
    ]
    rows = [{"t": "a", "s": json.dumps(one) if kind == "csv" else one} for one in lists]
    lines = [
        "task_id=$.t",
        "attempt=in_order",
        "passed=$.s[n == 'em'].v.x == 1",
        "tags.last=$.s[-1].n",
    ]
    loaded = harness_log(written(tmp_path, kind, rows), **options_for(kind, lines))
    assert [row["outcome"] for row in loaded.attempts] == ["passed", "failed", "excluded"]
    assert [row["tags"] for row in loaded.attempts] == [
        {"last": "em"},
        {"last": "em"},
        {"last": "f1"},
    ]


def test_a_mapping_of_many_levels_is_kept_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        "rows=$.eval[*][*]",
        'rows=$["run *"].a',
        "rows=$.ok|bad[*]",
        "task_id=^key",
        "attempt=$key + 1",
    ]
    lines += ["passed=$", "no_verdict=$.e != null"]
    mapping = mapping_from(lines, None)
    assert mapping is not None
    save_mapping(mapping, "levels")
    again = mapping_from([], "levels")
    assert again is not None
    assert (again.rows, again.description) == (mapping.rows, mapping.description)
    assert again.no_verdict == mapping.no_verdict
    assert [[str(step) for step in path] for path in again.rows] == [
        ["eval", "*", "*"],
        ["run *", "a", "*"],
        ["ok|bad", "*"],
    ]
    found = [fits(again.rows[1][0], name) for name in ("run 1", "run", "Run 1")]
    assert found == [True, False, False]


def test_a_mapping_of_an_earlier_version_reads_the_same(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    kept = tmp_path / "old.yml"
    kept.write_text(
        "rows: $.out.rows\ntask_id: $.case\nattempt: $.trial + 1\npassed: $.score >= 0.8\n"
        "score: $.score\noutcome_reason: $.why\nrun_id: nightly\ntags:\n  kind: $.kind\n",
        "utf-8",
    )
    loaded = harness_log(
        written(tmp_path, "document.json", ROWS), mapping=mapping_from([], str(kept))
    )
    assert told(loaded) == LANDED


def test_the_document_above_its_rows_is_one_pass(
    tmp_path: Path, harness_log: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a large document are still read one by one, when values of the document are asked for."""
    from passk_py.ingest.formats import json_harness

    monkeypatch.setattr(json_harness, "MAX_WHOLE_BYTES", 100)
    rows = [{"t": str(n), "ok": n % 2 == 0, "text": "x" * 50} for n in range(20)]
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"rows": rows, "about": {"model": "m"}}), "utf-8")
    lines = [
        "rows=$.rows",
        "task_id=$.t",
        "attempt=1",
        "passed=$.ok",
        "model=^.about.model",
        "tags.place=$key",
    ]
    loaded = harness_log(path, mapping=mapping_from(lines, None))
    assert {row["model"] for row in loaded.attempts} == {"m"}
    assert {row["task_id"]: row["tags"]["place"] for row in loaded.attempts} == {
        str(n): str(n) for n in range(20)
    }


def test_the_key_of_a_document_is_nothing(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = written(tmp_path, "document.json", ROWS)
    lines = ["rows=$.out.rows", "task_id=^key", "attempt=$key + 1", "passed=$.ok"]
    (report,) = harness_log(path, mapping=mapping_from(lines, None)).report.files
    assert "says ^key, but" in report.message
    assert "is one document, which stands under no name" in report.message
