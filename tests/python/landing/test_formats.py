"""The reading of canonical formats: fields, types, fill-ins, encodings, recognition by content."""

from __future__ import annotations

import csv
import gzip
import io
import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

from passk_py.common.contract import CONTRACT_COLUMNS, LANDING_COLUMNS
from passk_py.ingest.formats import FORMATS

if TYPE_CHECKING:
    from conftest import Landing

FULL = {
    "run_id": "r",
    "suite": "s",
    "task_id": "t",
    "attempt": 3,
    "outcome": "excluded",
    "outcome_reason": "timeout",
    "score": 0.25,
    "agent": "a",
    "agent_version": "1.2",
    "model": "m",
    "seed": 9223372036854775807,
    "started_at": "2026-01-31T12:00:00.123456Z",
    "duration_s": 1.5,
    "cost_usd": 0.125,
    "input_tokens": 100,
    "output_tokens": 7,
    "output_hash": "abc",
    "tags": {"domain": "air", "difficulty": "hard"},
    "transcript": "https://traces.example/7",
}
LANDED = tuple(
    {
        "started_at": datetime(2026, 1, 31, 12, 0, 0, 123456),
        "tags": {"difficulty": "hard", "domain": "air"},
    }.get(column.name, FULL[column.name])
    for column in CONTRACT_COLUMNS
)
CONTRACT = ", ".join(column.name for column in CONTRACT_COLUMNS)


def as_csv(row: dict[str, Any], delimiter: str = ",") -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(row)
    writer.writerow(json.dumps(v) if isinstance(v, dict) else v for v in row.values())
    return text.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("jsonl", json.dumps(FULL) + "\n"),
        ("jsonl", "\ufeff" + json.dumps(FULL, ensure_ascii=False)),
        ("jsonl", json.dumps(FULL) + "\r\n"),
        ("json", json.dumps([FULL], indent=2)),
        ("json", "\ufeff \n" + json.dumps([FULL])),
        ("csv", as_csv(FULL)),
        ("csv", "\ufeff" + as_csv(FULL)),
        ("csv", as_csv(FULL, ";")),
        ("csv", as_csv(FULL, "\t")),
        ("csv", as_csv(FULL, "|").replace("\r\n", "\r")),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_every_field(landing: Landing, name: str, content: str, packed: bool) -> None:
    raw = gzip.compress(content.encode()) if packed else content.encode()
    # The name says nothing: the content is what counts.
    report = landing.load_one(landing.write("log", raw))
    assert (report.status, report.format, report.message) == ("landed", name, "")
    assert landing.attempts(CONTRACT) == [LANDED]


PLACES = [
    ("traces/7.json", "{folder}/traces/7.json"),
    ("a b/é.eval#samples/7_epoch_1", "{folder}/a b/é.eval#samples/7_epoch_1"),
    ("/logs/x.eval#samples/7_epoch_1", "/logs/x.eval#samples/7_epoch_1"),
    ("#L7", "{file}#L7"),
    ("s3://bucket/7", "s3://bucket/7"),
    ("C:\\logs\\7", "C:\\logs\\7"),
    ("\\\\server\\logs\\7", "\\\\server\\logs\\7"),
    ("x" * 4096, "{folder}/" + "x" * 4096),
    # The transcript itself, and what is none.
    ("x" * 4097, None),
    ("user: hello\nagent: hello", None),
    ('[{"role": "user"}]', None),
    ("", None),
    (None, None),
]


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "parquet"])
def test_where_a_transcript_lies(landing: Landing, row: dict[str, Any], ending: str) -> None:
    rows = [row | {"attempt": n, "transcript": told} for n, (told, _) in enumerate(PLACES, 1)]
    file = landing.folder / f"it's a log.{ending}"
    if ending == "parquet":
        pl.DataFrame(rows).write_parquet(file)
    elif ending == "csv":
        pl.DataFrame(rows).write_csv(file)
    elif ending == "json":
        file.write_text(json.dumps(rows), "utf-8")
    else:
        file.write_text("".join(f"{json.dumps(one)}\n" for one in rows), "utf-8")
    report = landing.load_one(file)
    assert (report.rows_rejected, report.ignored) == (0, ())
    places = [p and p.format(folder=landing.folder, file=file) for _, p in PLACES]
    assert landing.attempts("transcript") == places


@pytest.mark.parametrize("broken", ["", "broken"], ids=["fast", "careful"])
def test_a_transcript_in_the_row_is_passed_over(
    landing: Landing, row: dict[str, Any], broken: str
) -> None:
    told = [[{"role": "user", "content": "hello"}], {"steps": []}, True, False, "7.json"]
    rows = [row | {"attempt": n, "transcript": one} for n, one in enumerate(told, 1)]
    report = landing.load_one(landing.lines(*rows, *filter(None, [broken])))
    assert report.rows_landed == len(told)
    assert landing.attempts("transcript") == [None] * 4 + [f"{landing.folder}/7.json"]


def test_a_struct_is_no_place(landing: Landing, row: dict[str, Any]) -> None:
    file = landing.folder / "log.parquet"
    pl.DataFrame([row | {"transcript": [{"role": "user"}]}]).write_parquet(file)
    assert landing.load_one(file).rows_landed == 1
    assert landing.attempts("transcript") == [None]


def test_zstd(landing: Landing) -> None:
    packed = landing.folder / "log.jsonl.zst"
    # Without a header and quotes, a table of one text column is a file of lines.
    lines = "format csv, header false, quote '', delimiter '\x01', compression zstd"
    with duckdb.connect() as connection:
        connection.execute("create table told as select $line as line", {"line": json.dumps(FULL)})
        connection.execute(f"copy told to '{packed}' ({lines})")
    assert packed.read_bytes()[:4] == bytes.fromhex("28b52ffd")
    landing.load_one(packed)
    assert landing.attempts(CONTRACT) == [LANDED]


PARQUET = [
    {},
    {"attempt": 3.0, "seed": Decimal(5), "score": Decimal("0.25")},
    {"attempt": "3", "score": "0.25", "duration_s": 2, "input_tokens": 100.0},
    {"tags": [{"key": "domain", "value": "air"}]},
    {"started_at": datetime(2026, 1, 31, 13, 0, 0, 123456, timezone(timedelta(hours=1)))},
    {"started_at": date(2026, 1, 31)},
    {"task_id": 17, "agent_version": 1.5},
]


@pytest.mark.parametrize("change", PARQUET)
def test_types_of_parquet(landing: Landing, change: dict[str, Any]) -> None:
    file = landing.folder / "log.parquet"
    row = FULL | {"started_at": datetime(2026, 1, 31, 12, 0, 0, 123456)} | change
    pl.DataFrame([row]).write_parquet(file)
    report = landing.load_one(file)
    if "tags" in change:
        assert landing.rejected("reason_code") == ["wrong_type"]
        return
    assert (report.rows_landed, report.rows_rejected) == (1, 0), landing.rejected()
    expected = dict(zip([c.name for c in CONTRACT_COLUMNS], LANDED, strict=True))
    expected |= {
        "seed": int(row["seed"]),
        "task_id": str(row["task_id"]),
        "agent_version": str(row["agent_version"]),
        "duration_s": float(row["duration_s"]),
    }
    if "started_at" in change:
        moment = change["started_at"]
        expected["started_at"] = (
            moment.astimezone(UTC).replace(tzinfo=None)
            if isinstance(moment, datetime)
            else datetime(2026, 1, 31)
        )
    assert landing.attempts(CONTRACT) == [tuple(expected.values())]


def test_columns_of_any_type_beside_a_rejected_row(landing: Landing) -> None:
    file = landing.folder / "log.parquet"
    row = {
        "run_id": "r",
        "task_id": "t",
        "passed": True,
        "blob": b"\xff",
        "list": [1, None],
        "struct": {"a": Decimal("1.5")},
        "day": date(2026, 1, 31),
        "span": timedelta(seconds=5),
        "nothing": None,
        "": 1,
    }
    pl.DataFrame([row | {"attempt": 0}, row | {"attempt": 1}]).write_parquet(file)
    report = landing.load_one(file)
    assert (report.rows_landed, report.rows_rejected) == (1, 1)
    (raw,) = landing.rejected("raw")
    assert json.loads(raw)["list"] == [1, None]


def test_a_column_of_its_own_called_like_ours(landing: Landing) -> None:
    file = landing.folder / "log.parquet"
    names = ["source_line", "raw", "read_code", "odd", "f_attempt", "v_attempt", "file_row_number"]
    row = {"run_id": "r", "task_id": "t", "attempt": 1, "passed": True}
    pl.DataFrame([row | dict.fromkeys(names[:-1], 5)]).write_parquet(file)
    report = landing.load_one(file)
    assert (report.status, report.ignored) == ("landed", tuple(names[:-1]))
    assert landing.attempts("attempt, source_line") == [(1, 1)]
    pl.DataFrame([row | {names[-1]: 7}]).write_parquet(file)
    assert landing.load_one(file).rows_landed == 1
    landing.load_one(landing.write("log.csv", ",".join([*row, *names]) + "\nr,t,2,true" + ",5" * 7))
    assert landing.attempts("attempt, source_line") == [(2, 2), (1, 1)]


VERDICTS = [
    ({"outcome": "passed"}, ("passed", None)),
    ({"outcome": "excluded", "passed": False, "outcome_reason": "infra"}, ("excluded", "infra")),
    ({"outcome": "failed", "score": 1.0}, ("failed", None)),
    ({"passed": True}, ("passed", None)),
    ({"passed": "False"}, ("failed", None)),
    ({"passed": 0}, ("failed", None)),
    ({"passed": 1.0, "score": 0.0}, ("passed", None)),
    ({"passed": None, "score": 1.0}, ("passed", None)),
    ({"score": 0.9999995}, ("passed", None)),
    ({"score": 0.999998}, ("failed", None)),
    ({"score": True}, ("passed", None)),
    ({"score": None}, ("excluded", "no_verdict")),
    ({"passed": None}, ("excluded", "no_verdict")),
    ({"outcome": "", "outcome_reason": "crash"}, ("excluded", "crash")),
]


def test_the_verdict(landing: Landing) -> None:
    rows = [
        {"run_id": "r", "task_id": "t", "attempt": n, **verdict}
        for n, (verdict, _) in enumerate(VERDICTS, 1)
    ]
    landing.load_one(landing.lines(*rows))
    assert landing.attempts("outcome, outcome_reason") == [said for _, said in VERDICTS]


def test_the_threshold(landing: Landing) -> None:
    rows = [
        {"run_id": "r", "task_id": "t", "attempt": n, "score": score}
        for n, score in enumerate((0.5, 0.4999999, 1.0, -1), 1)
    ]
    landing.load_one(landing.lines(*rows), score_threshold=0.5)
    assert landing.attempts("outcome") == ["passed", "failed", "passed", "failed"]


def test_times_are_utc(landing: Landing, row: dict[str, Any]) -> None:
    times = {
        "2026-01-31T12:00:00Z": datetime(2026, 1, 31, 12),
        "2026-01-31T12:00:00+02:00": datetime(2026, 1, 31, 10),
        "2026-01-31 12:00:00.5-0530": datetime(2026, 1, 31, 17, 30, 0, 500000),
        "2026-01-31 12:00:00": datetime(2026, 1, 31, 12),
        "2026-01-31T12:00+02": datetime(2026, 1, 31, 10),
        "2026-01-31 12:00": datetime(2026, 1, 31, 12),
        "2026-01-31T12:00Z": datetime(2026, 1, 31, 12),
        "2026-01-31": datetime(2026, 1, 31),
    }
    landing.load_one(landing.lines(*({**row, "started_at": time} for time in times)))
    assert landing.attempts("started_at") == list(times.values())


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T12",
        "2026-1-31",
        "12:00",
        "infinity",
        "epoch",
        "2026-01-31 (BC) 12:00:00Z",
        "2026-02-30",
        "2026-01-31T25:00:00Z",
        "2026-01-31T12:00:00 or so",
        "1769860800",
    ],
)
def test_what_is_no_time(landing: Landing, row: dict[str, Any], text: str) -> None:
    landing.load_one(landing.lines(row | {"started_at": text}))
    assert landing.rejected("reason_code") == ["wrong_type"]


def test_options_take_the_place_of_what_a_log_says(landing: Landing) -> None:
    said = {"run_id": "r", "suite": "s", "agent": "a", "model": "m", "tags": {"x": "own", "z": "1"}}
    row = {"task_id": "t", "passed": True, "run_id": "r", "suite": "s"}
    report = landing.load_one(
        landing.lines(row | {"attempt": 1} | said, row | {"attempt": 2, "agent": "", "tags": None}),
        run_id="R",
        suite="S",
        agent="A",
        model="M",
        tags={"x": "given", "y": "given"},
    )
    assert landing.attempts("run_id, suite, agent, model, tags") == [
        ("R", "S", "A", "M", {"x": "given", "y": "given", "z": "1"}),
        ("R", "S", "A", "M", {"x": "given", "y": "given"}),
    ]
    assert report.message == (
        "--run-id R takes the place of its run r. --suite S takes the place of its suite s. "
        "--agent A takes the place of its agent a. --model M takes the place of its model m."
    )


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("run_id", ["a", "b"], "2 runs apart (a, b)"),
        ("run_id", [None, "b"], "2 runs apart ((none), b)"),
        ("suite", ["a", "b"], "2 suites apart (a, b)"),
        ("agent", ["a", "b"], "2 agents apart (a, b)"),
        ("model", [*"abcdefg"], "7 models apart (a, b, c, d, e, ...)"),
    ],
)
def test_an_option_that_would_make_one_of_several_is_refused(
    landing: Landing, row: dict[str, Any], name: str, values: list[str | None], said: str
) -> None:
    rows = [row | {"attempt": n, name: value} for n, value in enumerate(values, 1)]
    log, flag = landing.lines(*rows), "--" + name.replace("_", "-")
    report = landing.load_one(log, **{name: "X"})
    assert (report.status, report.rows_landed) == ("failed", 0)
    assert report.message == f"{log} tells {said}, and {flag} X would make one of them."
    assert report.hint.startswith(f"Leave out {flag}, or load the logs of each ")


@pytest.mark.parametrize("name", ["agent", "model"])
def test_an_attempt_without_an_agent_or_model_is_no_other(
    landing: Landing, row: dict[str, Any], name: str
) -> None:
    landing.load_one(landing.lines(row | {name: "a"}, row | {"attempt": 2}), **{name: "X"})
    assert landing.attempts(name) == ["X", "X"]


def test_a_suite_is_default(landing: Landing) -> None:
    landing.load_one(landing.lines({"run_id": "r", "task_id": "t", "attempt": 1, "passed": True}))
    assert landing.attempts("suite") == ["default"]


def test_tags_in_any_order_are_the_same(landing: Landing, row: dict[str, Any]) -> None:
    landing.load_one(
        landing.lines(row | {"tags": {"b": 1, "a": None}}, row | {"tags": {"a": None, "b": "1"}})
    )
    assert landing.query("select distinct tags from landing.attempts") == [({"a": None, "b": "1"},)]


def test_unknown_fields_are_named(landing: Landing, row: dict[str, Any]) -> None:
    report = landing.load_one(landing.lines(row | {"note": 1}, row | {"extra": 2, "note": 3}))
    assert report.ignored == ("note", "extra")
    assert report.message == "2 fields are not in the contract and not read: note, extra."
    assert report.rows_landed == 2


def test_a_field_that_comes_late_is_read(landing: Landing, row: dict[str, Any]) -> None:
    rows = [row | {"attempt": n} for n in range(1, 9000)]
    rows[-1]["cost_usd"] = 0.5
    landing.load_one(landing.lines(*rows))
    assert landing.query("select sum(cost_usd) from landing.attempts") == [(0.5,)]


def test_provenance(landing: Landing, row: dict[str, Any]) -> None:
    file = landing.lines(row)
    landing.load_one(file)
    ((path, line, form, at),) = landing.attempts(
        "source_file, source_line, source_format, loaded_at"
    )
    assert (path, line, form) == (str(file), 1, "jsonl")
    assert abs(at - datetime.now(UTC).replace(tzinfo=None)) < timedelta(minutes=1)


def test_the_tables_have_the_columns_of_the_contract(landing: Landing, row: dict[str, Any]) -> None:
    landing.load_one(landing.lines(row))
    found = landing.query(
        "select column_name, data_type from duckdb_columns() where schema_name = 'landing' "
        "and table_name = 'attempts' order by column_index"
    )
    assert found == [(column.name, column.duckdb_type) for column in LANDING_COLUMNS]


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_each_format_describes_itself(known: Any) -> None:
    texts = (
        "name",
        "title",
        "recognised_by",
        "verdict_rule",
        "attempt_rule",
        "error_rule",
        "documentation",
        "example",
    )
    assert all(getattr(known, text).strip() for text in texts)
    assert known.reader_version >= 1
    assert known.suffixes
    assert {column for column, _ in known.fields} <= {c.name for c in CONTRACT_COLUMNS}
    assert (__import__(type(known).__module__, fromlist=["x"]).__doc__ or "").strip()


def test_lines_are_numbered_on_all_threads(landing: Landing) -> None:
    # More rows than a row group of DuckDB holds, so that several threads read and write them.
    count = 300_000
    lines = (
        f'{{"run_id":"r","task_id":"{n}","attempt":1,"passed":true,"more":"{"x" * (n % 97)}"}}\n'
        for n in range(1, count + 1)
    )
    report = landing.load_one(landing.write("log.jsonl", "".join(lines)))
    assert report.rows_landed == count
    assert landing.query(
        "select count(*), count(distinct source_line) from landing.attempts "
        "where source_line = cast(task_id as bigint)"
    ) == [(count, count)]
