"""Hostile files and mappings: rows land or have a reason, and nothing is blamed on passk."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

from passk_py.common.errors import PasskError
from passk_py.ingest.formats.first_look import take_sample
from passk_py.ingest.formats.mappings.mapping import mapping_from
from passk_py.ingest.formats.mappings.mapping_expression import parsed
from passk_py.ingest.formats.mappings.unknown import mapping_to_try
from passk_py.ingest.landing import load

from .test_mutated import STRANGE, mutated
from .test_strange_files import FILES

if TYPE_CHECKING:
    from pathlib import Path

    from passk_py.ingest.landing import LoadReport

LINES = (
    "rows=$.tasks[*].samples",
    "task_id=^.id",
    "passed=$.ok",
    "model=^^.model",
    "attempt=$key + 1",
)
DEEP = 20_000


def checked(folder: Path, database: Path, lines: tuple[str, ...]) -> LoadReport:
    """Load a folder by a mapping; each file lands with all its rows, or says why not."""
    report = load(folder, database=database, mapping=mapping_from(lines, None))
    for file in report.files:
        assert "bug in passk" not in file.hint, file
        assert "Traceback" not in file.message, file
        assert file.rows_read == file.rows_landed + file.rows_rejected
        assert file.status != "failed" or file.message.strip(), file
    return report


def with_one(place: tuple[Any, ...], value: Any) -> Any:
    """Make a document in which something else stands at a place."""
    document: Any = {"model": "m", "tasks": [{"id": "a", "samples": [{"ok": True}, {"ok": False}]}]}
    if not place:
        return value
    node = document
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    return document


PLACES: tuple[tuple[Any, ...], ...] = (
    (), ("model",), ("tasks",), ("tasks", 0), ("tasks", 0, "id"), ("tasks", 0, "samples"), ("tasks", 0, "samples", 0),
    ("tasks", 0, "samples", 0, "ok"),
)  # fmt: skip


def test_anything_may_stand_anywhere(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for place in PLACES:
        for number, value in enumerate(STRANGE):
            text = json.dumps(with_one(place, value))
            (folder / f"at_{len(place)}_{place and place[-1]}_{number}.json").write_text(text)
    report = checked(folder, tmp_path / "passk.duckdb", LINES)
    landed = {file.path.rsplit("/", 1)[1]: file.rows_landed for file in report.files}
    # A wrong sample leaves the other one as it is, and a wrong model, or none, both of them. An
    # object without a verdict is an attempt without one.
    for number, value in enumerate(STRANGE):
        assert landed[f"at_4_0_{number}.json"] == (2 if isinstance(value, dict) else 1), value
        if value is None or (isinstance(value, str) and value.isascii() and "\x00" not in value):
            assert landed[f"at_1_model_{number}.json"] == 2, value


@pytest.mark.parametrize("what", FILES)
def test_damaged_files_land_or_say_why_not(what: str, tmp_path: Path) -> None:
    made, dice = FILES[what], random.Random(what)
    folder = tmp_path / "logs"
    for number in range(12):
        target = folder / str(number)
        target.mkdir(parents=True)
        path = made.written(target)
        path.write_bytes(mutated(path.read_bytes(), dice))
    checked(folder, tmp_path / "passk.duckdb", made.mapping)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"tasks": [{"id": "a", "samples": ' + "[" * DEEP + "]" * DEEP + "}]}", "nested"),
        ('{"tasks": ' + '{"a":' * DEEP + "1" + "}" * DEEP + "}", ""),
        ('{"tasks": [{"id": "a", "samples": [', "cut off"),
        ('{"tasks": [{"id": "a", "samples": {"' + "k" * 100_000 + '": {"ok": true}}}]}', "whole number"),
        ('{"' + "k" * (5 << 20) + '": 1, "tasks": [{"id": "a", "samples": [{"ok": true}]}]}', "^^.model found nothing in 1 row"),
        ('{"tasks": [{"id": "a", "samples": [{"ok": true}]}], "tasks": [{"id": "b", "samples": 1}]}', "no rows"),
        ('{"tasks": []}', "holds no rows at $.tasks[*].samples"),
        ("{}", "holds no rows"),
    ],
)  # fmt: skip
def test_hostile_documents_say_what_is_wrong(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(content)
    report = checked(path, tmp_path / "passk.duckdb", LINES)
    reasons: list[str] = []
    if report.files[0].status != "failed":
        with duckdb.connect(str(tmp_path / "passk.duckdb"), read_only=True) as connection:
            found = connection.execute("select reason from landing.rejected").fetchall()
        reasons = [reason for (reason,) in found]
    assert said in " ".join([report.files[0].message, *reasons])


@pytest.mark.parametrize(
    "content",
    [
        "[" * 5000 + "]" * 5000,
        '{"a":' * 5000,
        "[1, 2, 3]",
        '[{"a": [{"b": [{"c": [{"d": [{"e": [{"f": [{"ok": true}]}]}]}]}]}]}]',
        json.dumps({f"k{n}": {f"j{m}": m for m in range(50)} for n in range(300)}),
        json.dumps({"ok": {"ok": {"ok": [None]}}, "\ud800": [True]}),
        json.dumps([{f"run_{n}": n % 2 for n in range(3000)}]),
        ";;;\n;;;\n",
        "a,a,a\n1,1,1\n",
    ],
)
def test_a_mapping_is_proposed_for_anything(content: str, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(content)
    with duckdb.connect() as connection:
        sample = take_sample(path, connection)
    assert "task_id=" in mapping_to_try(sample)
    assert "task_id=" in mapping_to_try(replace(sample, start=sample.start[:-2]))


@pytest.mark.parametrize("seed", range(4))
def test_a_broken_mapping_is_told_and_nothing_else_happens(seed: int) -> None:
    dice = random.Random(seed)
    pieces = ["$", "^", "key", ".a", "[0]", '["a b"]', "[*]", "[n == 'x']", " == ", "null", "'", " + 1", "[", "]", "|", ".*", " in (", ")", "\ud800", "$.run_*"]  # fmt: skip
    for _ in range(3000):
        text = "".join(dice.choices(pieces, k=dice.randrange(1, 7)))
        for said in (f"task_id={text}", f"rows={text}", f"no_verdict={text}"):
            with suppress(PasskError):
                mapping_from(["task_id=$.t", "passed=$.ok", "attempt=1", said], None)
        try:
            one = parsed(text)
        except PasskError:
            continue
        for value in STRANGE:
            one.value_of({"a": value, "b": [{"n": "x", "a": value}]})
            one.value_in(((0, {"a": value}), (None, value), ("k", [value])))


def test_a_wide_parquet_of_strange_types_lands(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame(
        {
            "task": ["a", "b"],
            "run_1": [b"\xff", None],
            "run_2": [float("nan"), float("inf")],
            "run_3": [pl.Series([1]), pl.Series([], dtype=pl.Int64)],
            "run_4": [True, False],
        }
    ).write_parquet(path)
    report = checked(path, tmp_path / "passk.duckdb", ("rows=$.run_*", "task_id=^.task", "passed=$", "attempt=in_order"))  # fmt: skip
    # No bytes, no NaN, no lists; null and flags land.
    assert (report.files[0].rows_landed, report.files[0].rows_rejected) == (3, 5)
