"""The fast and the careful way give the same rows, whatever a file holds."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from passk_py.ingest.landing import ensure_landing
from passk_py.ingest.landing.jobs import Connections
from passk_py.ingest.landing.loading import land as load_into
from passk_py.ingest.landing.options import Options
from passk_py.ingest.landing.storage import InDatabase
from passk_py.ingest.landing.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Ways = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], str]


@pytest.fixture(scope="module")
def both_ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., bool]]:
    path: Path = tmp_path_factory.mktemp("parity") / "log.txt"
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'UTC'")
    ensure_landing(connection)

    def land(*, careful: bool, **options: Any) -> Ways:
        for table in ("attempts", "rejected", "files", "removed_tasks"):
            connection.execute(f"delete from landing.{table}")
        target = Target(Connections(connection), InDatabase())
        (report,) = load_into([path], target, Options(careful=careful, **options)).files
        attempts, rejected = (
            connection.execute(
                f"select * exclude (loaded_at) from landing.{table} order by source_line"
            ).fetchall()
            for table in ("attempts", "rejected")
        )
        return attempts, rejected, report.message

    def same(content: str | bytes, **options: Any) -> bool:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        fast, slow = land(careful=False, **options), land(careful=True, **options)
        # NaN never lands, so plain equality is equality of values.
        assert fast == slow
        return bool(fast[0])

    yield same
    connection.close()


def _some(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


odd_texts = _some(
    "",
    " ",
    "a",
    "Ünïcode 🚀",
    "it's",
    'quo"te',
    "new\nline",
    "tab\t",
    "back\\slash",
    "\u0000",
    "[1]",
    "{}",
    "[easy] task",
    "{x",
    "true",
    "false",
    "null",
    "NaN",
    "1",
    "1.0",
    "1e2",
    "-0",
    "x" * 300,
    "\r",
    "a,b",
    "\u2028",
    "'; drop table landing.attempts; --",
)
numbers = st.one_of(
    st.integers(-3, 5),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=True, allow_infinity=True),
    _some(0.1, 1.10, 1e300, 2.0**53, 2**53 + 1, 3.0, 2.5, -0.0),
    _some("3", "3.0", "3.5", " 4 ", "+5", "1_0", "nan", "inf", "x", "", "1e2", "0x1"),
)
anything = st.one_of(
    st.none(), st.booleans(), numbers, odd_texts, _some([], {}, [1], {"a": 1}, {"a": {"b": None}})
)
times = _some(
    "2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00+02:00",
    "2026-01-31 12:00:00",
    "2026-01-31",
    "2026-01-31T12:00:00.123456",
    "2026-01-31T12:00:00.123456-05:30",
    "2026-01-31T12:00+02",
    "yesterday",
    "infinity",
    "epoch",
    "2026-13-01",
    5,
    None,
    "",
)
tags = st.one_of(
    st.none(),
    st.dictionaries(odd_texts, st.one_of(odd_texts, numbers, st.none(), st.booleans()), max_size=3),
    _some("{}", '{"a": "b"}', '{"a": 1, "a": 2}', "x", [], 3, True),
)
verdicts = st.one_of(_some("passed", "failed", "excluded", "Passed", "", None, True, 1), odd_texts)
flags = _some(True, False, 0, 1, 2, 0.5, 1.0, "true", "False", "yes", "", None, "1", [])


def _mostly(usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(usual, usual, usual, usual, usual, usual, odd)


rows = st.fixed_dictionaries(
    {
        "run_id": _mostly(_some("r", "q"), anything),
        "task_id": _mostly(_some("t", 7, 1.10, 12345678901234567.0, 2**64), anything),
        "attempt": _mostly(_some(1, 2, "3", "4.0", 5.0), anything),
    },
    optional={
        "suite": _mostly(_some("s", None), anything),
        "outcome": _mostly(_some("passed", "failed", "excluded"), verdicts),
        "passed": _mostly(_some(True, False, None), flags),
        "score": _mostly(st.floats(0, 1), st.one_of(numbers, anything)),
        "outcome_reason": _mostly(odd_texts, anything),
        "agent": _mostly(odd_texts, anything),
        "seed": _mostly(st.integers(0, 2**63 - 1), st.one_of(numbers, anything)),
        "started_at": _mostly(times, anything),
        "duration_s": _mostly(st.floats(0, 1e9), st.one_of(numbers, anything)),
        "cost_usd": _mostly(_some(0, 0.25, 1), st.one_of(numbers, anything)),
        "input_tokens": _mostly(st.integers(0, 2**54), st.one_of(numbers, anything)),
        "tags": tags,
        "more": anything,
    },
)
quick = settings(
    # More by hand: PASSK_EXAMPLES=1000.
    max_examples=int(os.environ.get("PASSK_EXAMPLES", "25")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.mark.long
@given(st.lists(rows, min_size=1, max_size=6), st.booleans(), st.booleans())
@example([{"run_id": "r", "task_id": "t", "attempt": 1, "score": True}], True, True)
@example([{"run_id": "r", "task_id": "{x", "attempt": "1", "passed": 1}], True, False)
@quick
def test_lines_of_json(
    both_ways: Callable[..., bool], log: list[dict[str, Any]], ascii_only: bool, end: bool
) -> None:
    text = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in log)
    both_ways(text + "\n" * end, suite="given", tags={"a": "b"})


line_parts = _some(
    '{"run_id": "r", "task_id": "t", "attempt": 1, "passed": true}',
    '{"run_id": "r", "task_id": "t", "attempt": 2, "score": 0.5, "tags": {"k": "v"}}',
    '{"run_id": "r", "task_id": "t", "attempt": 3, "outcome": "failed",}',
    '{"run_id": "r", "run_id": "q", "task_id": "t", "attempt": 3}',
    '{"run_id": "r", "task_id": "t", "attempt"',
    '{"run_id": "\\ud800", "task_id": "t", "attempt": 1}',
    '{"run_id": "r", "task_id": "\\u0000", "attempt": 1E0, "score": NaN}',
    "",
    "  ",
    "\t",
    "null",
    "3",
    "[]",
    '"x"',
    "{}",
    "{",
    "}",
    "not json",
    "\ufeff",
    "\r",
    "{} {}",
    '{"run_id": "r", "task_id": "t", "attempt": 1} x',
    "/* c */",
    '{"a": ' + "[" * 500 + "]" * 500 + "}",
)


@pytest.mark.long
@given(st.lists(line_parts, min_size=1, max_size=6), _some("\n", "\r\n", "\r"), st.booleans())
@quick
def test_broken_lines(
    both_ways: Callable[..., bool], lines: list[str], newline: str, end: bool
) -> None:
    good = '{"run_id": "r", "task_id": "t", "attempt": 9, "passed": false}'
    both_ways(newline.join([good, *lines]) + newline * end)


@pytest.mark.long
@given(
    st.lists(line_parts, min_size=0, max_size=4),
    _some(",", "\n,\n", " ", ",,"),
    _some("]", "", "]\n", "] x", "]]"),
)
@quick
def test_lists_of_json(
    both_ways: Callable[..., bool], elements: list[str], comma: str, end: str
) -> None:
    good = '{"run_id": "r", "task_id": "t", "attempt": 9, "passed": false}'
    both_ways("[" + comma.join([good, *elements]) + end)


csv_rows = st.lists(
    st.tuples(
        _mostly(_some("r", "q"), odd_texts),
        _mostly(_some("t", "7"), odd_texts),
        _mostly(_some("1", "2", "3.0"), odd_texts),
        _mostly(_some("passed", "failed", ""), odd_texts),
        _mostly(_some("0.5", "1", "", "nan"), odd_texts),
        _mostly(_some("", '{"k": "v"}', '{"a": 1, "b": 2}'), odd_texts),
        odd_texts,
    ),
    min_size=1,
    max_size=5,
)


@given(csv_rows, _some(",", ";", "\t", "|"), _some("\n", "\r\n"), _some(0, 1, 2))
@quick
def test_csv(
    both_ways: Callable[..., bool],
    table: list[tuple[str, ...]],
    delimiter: str,
    newline: str,
    quoting: Any,
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    writer.writerow(["run_id", "task_id", "attempt", "outcome", "score", "tags", "more"])
    writer.writerows(table)
    both_ways(text.getvalue())


csv_lines = st.lists(
    _some(
        "r,t,1,passed",
        "r,t,2,",
        'r,"t",3,failed',
        'r,"t,u",4,failed',
        'r,"t""u",5,passed',
        "r,t",
        "r,t,1,passed,x",
        'r,"t',
        'r,"t"x,1,passed',
        'r, "t",1,passed',
        'r,"t" ,1,passed',
        'r,t"u,1,passed',
        '"r,t,1,passed',
        "",
        " ",
        ",,,",
        'r,"a\nb",6,passed',
        "r,t,7,passed\r",
        'r,"", 8,passed',
        '"r","t","9","passed"',
        "r,\x00,1,passed",
        "r,t,1,\ufeff",
    ),
    min_size=1,
    max_size=6,
)


@given(csv_lines, _some("\n", "\r\n", "\r"), st.booleans())
@quick
def test_broken_csv(
    both_ways: Callable[..., bool], lines: list[str], newline: str, end: bool
) -> None:
    both_ways(newline.join(["run_id,task_id,attempt,outcome", *lines]) + newline * end)


@pytest.mark.long
@given(st.binary(max_size=40), st.integers(0, 400))
@quick
def test_bytes_flipped_in(both_ways: Callable[..., bool], noise: bytes, place: int) -> None:
    lines = [
        json.dumps({"run_id": "r", "task_id": str(n), "attempt": n, "passed": True, "score": 0.5})
        for n in range(1, 5)
    ]
    content = bytearray(("\n".join(lines) + "\n").encode())
    content[place : place + len(noise)] = noise
    both_ways(bytes(content))
