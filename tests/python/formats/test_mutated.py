"""Damaged logs of every format: whatever is in a file, it lands whole, in part with reasons, or not.

Thousands of files, ``PASSK_MUTATED_FILES``, are made from the fixtures by a seeded generator: cut off, with flipped, missing
and doubled bytes, and, where they are JSON, with fields that are gone, of other types, or nested
deeper. No load may raise, blame passk, lose a row or land half of a file.
"""

from __future__ import annotations

import io
import json
import os
import random
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest
import zstandard

from passk_py.ingest.landing import load

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures"
FILES = int(os.environ.get("PASSK_MUTATED_FILES", "4000"))
BATCH = 250
SUFFIXES = (".json", ".jsonl", ".eval", ".xml", ".csv", ".parquet")
LARGEST = 100_000
NOT_LOGS = ("expected.json", "package.json", "problems.jsonl", "samples.jsonl", "single.jsonl")
STRANGE: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e308, float("nan"), float("inf"), 10**40, "", "x", "\x00", "é",
    "\ud800", "9" * 400, [], {}, [[]], [None], {"a": {"b": 1}}, "2026-01-01", "{", "1-of-1",
]  # fmt: skip
ROWS = [
    {"run_id": "r", "task_id": "t", "attempt": n, "score": n / 3, "tags": {"a": "b"}} for n in (1, 2, 3)
]  # fmt: skip


def canonical() -> dict[str, bytes]:
    """Give small logs of the formats that have no harness."""
    flat = [{name: value for name, value in row.items() if name != "tags"} for row in ROWS]
    parquet = io.BytesIO()
    pl.DataFrame(flat).write_parquet(parquet)
    tau = [{"task_id": 0, "reward": 1.0, "info": {}, "traj": [], "trial": n} for n in range(3)]
    return {
        "log.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
        "log.json": json.dumps(ROWS).encode(),
        "log.csv": pl.DataFrame(flat).write_csv().encode(),
        "log.parquet": parquet.getvalue(),
        "tau.json": json.dumps(tau).encode(),
        "log.jsonl.zst": zstandard.compress(json.dumps(ROWS[0]).encode()),
    }


def originals() -> list[tuple[str, bytes]]:
    """Give every log that there is, with its path, in an order that is the same everywhere."""
    found = {
        str(path.relative_to(FIXTURES)): path.read_bytes()
        for path in sorted(FIXTURES.rglob("*"))
        if path.suffix in SUFFIXES
        and path.name not in NOT_LOGS
        and "node_modules" not in path.parts
        and 0 < path.stat().st_size <= LARGEST
    }
    return [*canonical().items(), *found.items()]


def flipped(data: bytes, dice: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 5, 20])):
        found[dice.randrange(len(found))] = dice.choice([0, 10, 34, 44, 91, 92, 93, 123, 125, 255, dice.randrange(256)])  # fmt: skip
    return bytes(found)


def cut_off(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data))]


def without_a_piece(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + data[at + dice.choice([1, 2, 10, 100, 1000]) :]


def with_a_piece_twice(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + data[at : at + dice.choice([1, 10, 100, 1000])] + data[at:]


def with_something_in_between(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    inserted = dice.choice([b"\x00" * 9, b'"', b"{", b"]" * 5, b"[" * 5000, b"NaN", b"\xff\xfe", b"\\u12", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", dice.randbytes(50)])  # fmt: skip
    return data[:at] + inserted + data[at:]


def as_json(data: bytes, dice: random.Random) -> bytes:
    """Change the values of a JSON document, or of one line of several."""
    try:
        lines = data.split(b"\n") if b"\n{" in data.strip() and data[:1] == b"{" else [data]
        at = dice.randrange(len(lines))
        document = json.loads(lines[at])
    except (ValueError, UnicodeDecodeError):
        return flipped(data, dice)
    for _ in range(dice.choice([1, 1, 2, 4])):
        document = with_one_change(document, dice)
    lines[at] = json.dumps(document).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def with_one_change(document: Any, dice: random.Random) -> Any:
    """Walk down to some place and leave it out, replace it, or nest it deeper."""
    path: list[Any] = []
    node = document
    while isinstance(node, dict | list) and node and (not path or dice.random() < 0.85):
        step = dice.choice(list(node)) if isinstance(node, dict) else dice.randrange(len(node))
        path.append((node, step))
        node = node[step]
    if not path:
        return dice.choice(STRANGE)
    parent, step = path[-1]
    kind = dice.random()
    if kind < 0.35:
        del parent[step]
    elif kind < 0.8:
        parent[step] = dice.choice(STRANGE)
    else:
        deep: Any = parent[step]
        for _ in range(dice.choice([1, 3, 300])):
            deep = [deep] if dice.random() < 0.5 else {"deep": deep}
        parent[step] = deep
    return document


def in_a_zip(data: bytes, dice: random.Random) -> bytes:
    """Change a member of a zip, and pack it again as it was."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            infos = file.infolist()
            raw = {info.filename: member_of(data, info) for info in infos}
    except (zipfile.BadZipFile, ValueError, zstandard.ZstdError):
        return flipped(data, dice)
    name = dice.choice([info.filename for info in infos])
    raw[name] = as_json(raw[name], dice) if dice.random() < 0.7 else flipped(raw[name], dice)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for member, content in raw.items():
            file.writestr(member, content)
    return packed.getvalue()


def member_of(data: bytes, info: zipfile.ZipInfo) -> bytes:
    start = info.header_offset
    names = int.from_bytes(data[start + 26 : start + 28], "little")
    extra = int.from_bytes(data[start + 28 : start + 30], "little")
    body = data[start + 30 + names + extra :][: info.compress_size]
    if info.compress_type != 93:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return file.read(info)
    return zstandard.ZstdDecompressor().decompressobj().decompress(body) or b" "


BYTES: list[Callable[[bytes, random.Random], bytes]] = [
    flipped, cut_off, without_a_piece, with_a_piece_twice, with_something_in_between,
]  # fmt: skip


def mutated(data: bytes, dice: random.Random) -> bytes:
    if data[:2] == b"PK" and dice.random() < 0.6:
        return in_a_zip(data, dice)
    if data.lstrip()[:1] in (b"{", b"[") and dice.random() < 0.6:
        return as_json(data, dice)
    return dice.choice(BYTES)(data, dice) or b" "


@pytest.mark.long
@pytest.mark.parametrize("batch", range(FILES // BATCH))
def test_a_damaged_log_lands_or_says_why_not(batch: int, tmp_path: Path) -> None:
    dice = random.Random(batch)
    logs = originals()
    folder = tmp_path / "logs"
    for place in range(BATCH):
        # Each file in a folder of its own under its own name, because the name may say something.
        path, data = logs[(batch * BATCH + place) % len(logs)]
        target = folder / f"{place:03d}" / path
        target.parent.mkdir(parents=True)
        target.write_bytes(mutated(data, dice))
    database = tmp_path / "passk.duckdb"
    report = load(folder, database=database)
    with duckdb.connect(str(database)) as connection:
        landed, rejected = (
            dict(
                connection.execute(
                    f"select source_file, count(*) from landing.{table} group by 1"
                ).fetchall()
            )
            for table in ("attempts", "rejected")
        )
        known = {row[0] for row in connection.execute("select source_file from landing.files").fetchall()}  # fmt: skip
    for file in report.files:
        assert "bug in passk" not in file.hint, file
        assert "Traceback" not in file.message, file
        if file.status == "failed":
            assert file.path not in known
            assert file.message.strip(), file
            assert (landed.get(file.path), rejected.get(file.path)) == (None, None)
        else:
            assert file.path in known
            assert file.rows_read == file.rows_landed + file.rows_rejected
            assert landed.get(file.path, 0) == file.rows_landed
            assert rejected.get(file.path, 0) == file.rows_rejected
    assert {*landed, *rejected} <= known


def test_the_files_are_of_every_format() -> None:
    """Without a mutation, each format that there is lands from the files that are mutated."""
    names = {path.split("/", maxsplit=1)[0] for path, _ in originals()}
    assert names >= {folder.name for folder in FIXTURES.iterdir() if folder.is_dir()}
