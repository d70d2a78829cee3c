"""The table of bad input: each row is rejected with file, line and reason, and the others land."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

if TYPE_CHECKING:
    from conftest import Landing

# A field that is added to a good row, as JSON; the code; the reason, in full.
FAULTS = [
    (
        '"attempt": null',
        "missing_field",
        "attempt is missing; it numbers the tries of a task, from 1.",
    ),
    ('"task_id": ""', "missing_field", "task_id is missing."),
    (
        '"run_id": null',
        "missing_field",
        "run_id is missing; give one for the whole file with --run-id.",
    ),
    ('"attempt": 3.5', "wrong_type", "attempt is '3.5', which is not a whole number."),
    ('"attempt": true', "wrong_type", "attempt is 'true', which is not a whole number."),
    ('"attempt": "three"', "wrong_type", "attempt is 'three', which is not a whole number."),
    ('"attempt": 0', "out_of_range", "attempt is 0, but attempts are numbered from 1."),
    ('"attempt": -1', "out_of_range", "attempt is -1, but attempts are numbered from 1."),
    (
        '"seed": 18446744073709551615',
        "out_of_range",
        "seed is '18446744073709551615', which does not fit into 64 bits.",
    ),
    ('"seed": "1_0"', "wrong_type", "seed is '1_0', which is not a whole number."),
    (
        '"task_id": {"a": 1}',
        "wrong_type",
        "task_id is an object, which is neither text nor a number.",
    ),
    ('"run_id": [1]', "wrong_type", "run_id is a list, which is neither text nor a number."),
    ('"agent": true', "wrong_type", "agent is a boolean, which is neither text nor a number."),
    ('"score": "high"', "wrong_type", "score is 'high', which is not a number."),
    ('"score": NaN', "not_finite", "score is 'NaN', which is not a finite number."),
    ('"score": -Infinity', "not_finite", "score is '-Infinity', which is not a finite number."),
    ('"cost_usd": 1e999', "not_finite", "cost_usd is '1e999', which is not a finite number."),
    ('"duration_s": -0.5', "out_of_range", "duration_s is -0.5, but it can not be negative."),
    ('"cost_usd": -1', "out_of_range", "cost_usd is -1.0, but it can not be negative."),
    ('"input_tokens": -7', "out_of_range", "input_tokens is -7, but it can not be negative."),
    ('"output_tokens": 2.5', "wrong_type", "output_tokens is '2.5', which is not a whole number."),
    (
        '"outcome": "maybe"',
        "unknown_outcome",
        "outcome is 'maybe', which is not one of passed, failed, excluded.",
    ),
    (
        '"passed": false',
        "contradictory_verdict",
        "outcome is 'passed' but passed is 'false'; they must agree.",
    ),
    ('"passed": "yes"', "wrong_type", "passed is 'yes', which is not true, false, 1 or 0."),
    (
        '"started_at": "yesterday"',
        "wrong_type",
        "started_at is 'yesterday', which is not a time as ISO 8601 writes it, such as "
        "2026-01-31T12:00:00Z.",
    ),
    (
        '"tags": {"a": 1, "a": 2}',
        "wrong_type",
        'tags is \'{"a":1,"a":2}\', which is not an object of names and texts, each name once.',
    ),
    (
        '"tags": ["a"]',
        "wrong_type",
        "tags is '[\"a\"]', which is not an object of names and texts, each name once.",
    ),
    (
        f'"task_id": "{"x" * 70}", "attempt": "{"y" * 70}"',
        "wrong_type",
        f"attempt is '{'y' * 60}...', which is not a whole number.",
    ),
]


def with_field(field: str) -> str:
    """Give a good row with one field replaced, keys once each."""
    name = field.split('"')[1]
    row = {"run_id": "r", "task_id": "t", "attempt": 2, "outcome": "passed"}
    kept = json.dumps({k: v for k, v in row.items() if f'"{k}":' not in field and k != name})
    return kept[:-1] + ", " * (kept != "{}") + field + "}"


@pytest.mark.parametrize("container", ["jsonl", "json"])
def test_every_fault_is_named(landing: Landing, row: dict[str, Any], container: str) -> None:
    texts = [json.dumps(row), *(with_field(field) for field, _, _ in FAULTS), json.dumps(row)]
    file = landing.write(
        f"log.{container}",
        "\n".join(texts) if container == "jsonl" else "[" + ",\n".join(texts) + "]",
    )

    report = landing.load_one(file)

    assert report.status == "landed"
    assert (report.rows_read, report.rows_landed) == (len(texts), 2)
    assert report.rows_rejected == len(FAULTS) == sum(report.reasons.values())
    expected = [(n, code, reason) for n, (_, code, reason) in enumerate(FAULTS, 2)]
    assert landing.rejected() == expected
    assert landing.rejected("raw") == texts[1:-1]
    assert set(landing.rejected("source_file, source_format")) == {(str(file), container)}
    assert landing.attempts("source_line") == [1, len(texts)]
    unit = "line" if container == "jsonl" else "element"
    assert report.message == f"The first rejected row is {unit} 2: {FAULTS[0][2]}"


# The values of a CSV line's fields, which are text only.
CSV_FAULTS = [
    ("r,,1,passed,,", "missing_field", "task_id is missing."),
    (
        ",t,1,passed,,",
        "missing_field",
        "run_id is missing; give one for the whole file with --run-id.",
    ),
    (
        "r,t,,passed,,",
        "missing_field",
        "attempt is missing; it numbers the tries of a task, from 1.",
    ),
    ("r,t,1.5,passed,,", "wrong_type", "attempt is '1.5', which is not a whole number."),
    (
        "r,t,1,Passed,,",
        "unknown_outcome",
        "outcome is 'Passed', which is not one of passed, failed, excluded.",
    ),
    ("r,t,1,passed,nan,", "not_finite", "score is 'nan', which is not a finite number."),
    ("r,t,1,passed,inf,", "not_finite", "score is 'inf', which is not a finite number."),
    (
        "r,t,1,passed,,{x",
        "wrong_type",
        "tags is '{x', which is not an object of names and texts, each name once.",
    ),
    ("r,t,1,passed", "malformed_line", "The line has 4 fields where the header has 6."),
    ("r", "malformed_line", "The line has 1 field where the header has 6."),
    ("r,t,1,passed,,,,", "malformed_line", "The line has 8 fields where the header has 6."),
    ('r,"t"x,1,passed,,', "malformed_line", "The line is not CSV: ',' expected after '\"'."),
]


def test_every_fault_of_a_csv_line_is_named(landing: Landing) -> None:
    header = "run_id,task_id,attempt,outcome,score,tags"
    good = "r,t,9,passed,,"
    texts = [header, good, *(line for line, _, _ in CSV_FAULTS), good]

    report = landing.load_one(landing.write("log.csv", "\n".join(texts) + "\n"))

    assert (report.rows_read, report.rows_landed) == (len(texts) - 1, 2)
    assert landing.rejected() == [(n, c, r) for n, (_, c, r) in enumerate(CSV_FAULTS, 3)]
    assert landing.rejected("raw") == texts[2:-1]
    assert landing.attempts("source_line") == [2, len(texts)]


def test_rows_of_parquet_are_rejected_one_by_one(landing: Landing) -> None:
    file = landing.folder / "log.parquet"
    pl.DataFrame(
        {
            "run_id": ["r", None, "r", "r", "r"],
            "task_id": ["t", "t", "t", "t", "t"],
            "attempt": [1.0, 2.0, 2.5, float("nan"), 3.0],
            "score": [1.0, 1.0, 1.0, 1.0, float("inf")],
        }
    ).write_parquet(file)

    report = landing.load_one(file)

    assert (report.rows_read, report.rows_landed, report.rows_rejected) == (5, 1, 4)
    assert landing.rejected() == [
        (2, "missing_field", "run_id is missing; give one for the whole file with --run-id."),
        (3, "wrong_type", "attempt is '2.5', which is not a whole number."),
        (4, "wrong_type", "attempt is 'nan', which is not a whole number."),
        (5, "not_finite", "score is 'inf', which is not a finite number."),
    ]
    assert landing.rejected("raw")[1] == '{"run_id":"r","task_id":"t","attempt":2.5,"score":1.0}'


BROKEN_LINES = [
    (b'{"run_id": "r", "task_id"', "malformed_line", "The line is not valid JSON."),
    (b"not json", "malformed_line", "The line is not valid JSON."),
    (b'["r", "t", 1]', "malformed_line", "The line is not a JSON object but array."),
    (b"null", "malformed_line", "The line is not a JSON object but null."),
    (
        b'{"run_id": "r", "task_id": "t", "attempt": 1, "attempt": 2, "passed": true}',
        "malformed_line",
        "The line has the key attempt twice.",
    ),
    (
        b'{"run_id": "r", "task_id": "\xff", "attempt": 1, "passed": true}',
        "invalid_utf8",
        "The row is not valid UTF-8: byte 0xff at position 29.",
    ),
]


def test_broken_lines(landing: Landing, row: dict[str, Any]) -> None:
    good = json.dumps(row).encode()
    lines = [good, b"", *(line for line, _, _ in BROKEN_LINES), b"  ", good]

    report = landing.load_one(landing.write("log.jsonl", b"\n".join(lines) + b"\n"))

    assert (report.rows_read, report.rows_landed) == (len(BROKEN_LINES) + 2, 2)
    assert landing.rejected() == [(n, c, r) for n, (_, c, r) in enumerate(BROKEN_LINES, 3)]
    assert (
        landing.rejected("raw")[-1]
        == r'{"run_id": "r", "task_id": "\xff", "attempt": 1, "passed": true}'
    )
    assert landing.attempts("source_line") == [1, len(lines)]


def test_an_invalid_byte_in_a_csv_line(landing: Landing) -> None:
    text = b"run_id,task_id,attempt,passed\nr,\xff,1,true\nr,t,2,true\n"
    landing.load_one(landing.write("log.csv", text))
    assert landing.rejected() == [
        (2, "invalid_utf8", "The row is not valid UTF-8: byte 0xff at position 3.")
    ]
    assert landing.attempts("source_line") == [3]


def test_a_quote_that_does_not_close_costs_one_line(landing: Landing) -> None:
    text = 'run_id,task_id,attempt,passed\nr,"t,1,true\nr,t,2,true\nr,t,3,true\n'
    landing.load_one(landing.write("log.csv", text))
    assert landing.rejected() == [
        (2, "malformed_line", "The line is not CSV: unexpected end of data.")
    ]
    assert landing.attempts("source_line") == [3, 4]


@pytest.mark.parametrize(
    ("name", "whole", "reason"),
    [
        (
            "log.jsonl",
            '{"run_id": "r", "task_id": "t", "attempt": 1, "passed": true}\n' * 2,
            "The last line ends within its JSON; the file is probably cut off.",
        ),
        (
            "log.csv",
            "run_id,task_id,attempt,passed\nr,t,1,true\nr,t,2,true\n",
            "The last line has 3 fields where the header has 4; the file is probably cut off.",
        ),
        (
            "log.json",
            '[{"run_id": "r", "task_id": "t", "attempt": 1, "passed": true}, '
            '{"run_id": "r", "task_id": "t", "attempt": 2, "passed": true}]',
            "The last element ends within its JSON; the file is probably cut off.",
        ),
    ],
)
def test_a_truncated_file_keeps_its_whole_rows(
    landing: Landing, name: str, whole: str, reason: str
) -> None:
    landing.load_one(landing.write(name, whole[:-7]))
    assert landing.rejected("reason_code, reason") == [("truncated", reason)]
    assert landing.attempts("attempt") == [1]


def test_a_list_that_is_cut_off_between_elements(landing: Landing) -> None:
    text = '[{"run_id": "r", "task_id": "t", "attempt": 1, "passed": true},\n'
    landing.load_one(landing.write("log.json", text))
    assert landing.rejected() == [
        (2, "truncated", "The file ends before its JSON does; it is cut off.")
    ]
    assert landing.attempts("attempt") == [1]


def test_text_after_a_list(landing: Landing) -> None:
    text = '[{"run_id": "r", "task_id": "t", "attempt": 1, "passed": true}] {"more": 1}'
    landing.load_one(landing.write("log.json", text))
    assert landing.rejected() == [
        (2, "malformed_line", "There is something after the end of the document.")
    ]
    assert landing.rejected("raw") == ['{"more": 1}']


def test_a_compressed_file_that_is_cut_off(landing: Landing) -> None:
    lines = "".join(
        json.dumps({"run_id": "r", "task_id": f"{n * 7919 % 10007}", "attempt": n, "passed": True})
        + "\n"
        for n in range(1, 2000)
    )
    packed = gzip.compress(lines.encode())
    report = landing.load_one(landing.write("log.jsonl.gz", packed[: len(packed) // 2]))
    assert report.reasons == {"truncated": 1}
    assert landing.rejected("reason") == ["The compressed file ends too early; it is cut off."]
    assert 0 < report.rows_landed < 1999
    assert landing.attempts("source_line") == list(range(1, report.rows_landed + 1))


def test_long_texts(landing: Landing, row: dict[str, Any]) -> None:
    long, huge = "x" * 10_000, "y" * ((1 << 20) + 1)
    landing.load_one(landing.lines(row | {"task_id": long}, row | {"task_id": huge}))
    assert landing.attempts("task_id") == [long]
    assert landing.rejected() == [
        (2, "field_too_large", "task_id has 1048577 bytes; at most 1048576 are allowed.")
    ]
    (raw,) = landing.rejected("raw")
    whole = json.dumps(row | {"task_id": huge})
    assert raw == whole[:10_000] + f" [cut: {len(whole)} characters in all]"


def test_a_line_too_long_to_look_into(
    landing: Landing, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passk_py.ingest.containers.lines.BATCH_BYTES", 1 << 10)
    monkeypatch.setattr("passk_py.ingest.containers.lines.MAX_RECORD_BYTES", 1 << 14)
    long = row | {"transcript": "x" * (1 << 17)}
    landing.load_one(landing.lines(row, long, row | {"attempt": 2}, "broken"))
    assert landing.attempts("source_line, attempt") == [(1, 1), (3, 2)]
    assert landing.rejected()[:-1] == [
        (2, "field_too_large", "The line has more than 16384 bytes; at most 16384 are allowed.")
    ]


def test_an_element_too_long_to_look_into(
    landing: Landing, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passk_py.ingest.containers.elements.BATCH_BYTES", 1 << 10)
    for module in ("json_buffer", "json_walk"):
        monkeypatch.setattr(f"passk_py.ingest.containers.{module}.MAX_RECORD_BYTES", 1 << 14)
    rows = [
        row,
        row | {"transcript": 'x"]}\\' * (1 << 15)},
        row | {"attempt": 2},
        row | {"messages": [{"content": ["}", n]} for n in range(4000)]},
        row | {"attempt": 3},
        "broken",
    ]
    landing.load_one(landing.write("log.json", json.dumps(rows)))
    assert landing.attempts("source_line, attempt") == [(1, 1), (3, 2), (5, 3)]
    assert landing.rejected("source_line, reason_code") == [
        (2, "field_too_large"),
        (4, "field_too_large"),
        (6, "malformed_line"),
    ]


STRANGE = [
    "it's",
    'a "quoted" word',
    "two\nlines",
    "tab\tand\rreturn",
    "🚀 Ünïcödé ‮",
    "'; drop table landing.attempts; --",
    "{x} [y] %s $1 ${HOME}",
    "back\\slash",
    " spaces ",
    "true",
    "null",
    "NaN",
    "[easy] task",
]


@pytest.mark.parametrize("container", ["jsonl", "json", "csv", "parquet"])
def test_strange_names_are_stored_as_they_are(landing: Landing, container: str) -> None:
    frame = pl.DataFrame(
        {
            "run_id": STRANGE,
            "task_id": STRANGE[::-1],
            "attempt": list(range(1, len(STRANGE) + 1)),
            "passed": [True] * len(STRANGE),
        }
    )
    file = landing.folder / f"log.{container}"
    if container == "jsonl":
        file.write_text("".join(json.dumps(r) + "\n" for r in frame.to_dicts()))
    elif container == "json":
        file.write_text(json.dumps(frame.to_dicts(), ensure_ascii=False))
    elif container == "csv":
        frame.write_csv(file, quote_style="always")
    else:
        frame.write_parquet(file)

    report = landing.load_one(file, agent=STRANGE[5], tags={STRANGE[0]: STRANGE[6]})

    assert report.rows_rejected == 0
    assert landing.attempts("run_id") == STRANGE
    assert landing.attempts("task_id") == STRANGE[::-1]
    assert set(landing.attempts("agent")) == {STRANGE[5]}
    assert landing.attempts("tags")[0] == {STRANGE[0]: STRANGE[6]}


def test_no_run_anywhere(landing: Landing) -> None:
    rows = [{"task_id": "t", "attempt": n, "passed": True} for n in (1, 2)]
    report = landing.load_one(landing.lines(*rows))
    assert (report.rows_landed, report.reasons) == (0, {"missing_field": 2})
    assert report.message == (
        "The first rejected row is line 1: run_id is missing; give one for the whole file with "
        "--run-id."
    )
    again = landing.load_one(landing.folder / "log.jsonl", run_id="given")
    assert (again.status, again.rows_landed, again.rows_rejected) == ("replaced", 2, 0)
    assert set(landing.attempts("run_id")) == {"given"}


def test_strict_lands_whole_files_only(landing: Landing, row: dict[str, Any]) -> None:
    good = landing.lines(row, name="good.jsonl")
    bad = landing.lines(row, row | {"attempt": 0}, name="bad.jsonl")
    report = landing.load(bad, good, strict=True)
    refused, landed = report.files
    assert (refused.status, refused.refused) == ("failed", True)
    assert (refused.rows_read, refused.rows_landed, refused.rows_rejected) == (2, 0, 1)
    assert refused.reasons == {"out_of_range": 1}
    assert refused.message == (
        f"{bad} did not land: 1 of its 2 rows are rejected, the first in line 2: attempt is 0, but "
        "attempts are numbered from 1."
    )
    assert refused.hint == "Correct the rows, or load without --strict to land the others."
    assert landed.status == "landed"
    assert report.exit_code == 1
    assert landing.attempts("source_file") == [str(good)]
    assert landing.rejected() == []
    assert landing.query("select source_file from landing.files") == [(str(good),)]
