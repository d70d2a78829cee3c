"""How files are read before their rows are judged: compression, containers, headers, batches."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest
import zstandard

from passk_py.ingest.containers.lines import BATCH_BYTES
from passk_py.ingest.containers.open_bytes import open_bytes, read_chunk
from passk_py.ingest.formats import format_named, recognise
from passk_py.ingest.formats.first_look import SAMPLE_BYTES, take_sample
from passk_py.ingest.landing.options import Options
from passk_py.ingest.landing.raw_rows import careful_batches, frame_of
from passk_py.ingest.landing.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Landing

HEADER = "run_id,task_id,attempt,passed\n"
CUT_OFF = "The compressed file ends too early; it is cut off."
MIB = 1 << 20


def noisy_lines(count: int) -> list[str]:
    """Rows that don't compress away, so that a cut of the file cuts off rows."""
    draw = random.Random(7)
    return [
        json.dumps(
            {"run_id": "r", "task_id": draw.randbytes(40).hex(), "attempt": 1, "passed": True}
        )
        for _ in range(count)
    ]


def as_list(lines: list[str]) -> str:
    return "[" + ",\n".join(lines) + "]"


def as_table(lines: list[str]) -> str:
    rows = [json.loads(line) for line in lines]
    return HEADER + "".join(f"r,{row['task_id']},1,true\n" for row in rows)


def as_lines(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


def checked(text: bytes) -> bytes:
    """Compress as the program zstd does, with a checksum at the end."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(text)


def frames(text: bytes) -> bytes:
    """Compress into a frame for each part of the text."""
    return b"".join(
        zstandard.compress(text[at : at + 100_000]) for at in range(0, len(text), 100_000)
    )


@pytest.mark.long
@pytest.mark.parametrize("write", [as_lines, as_list, as_table])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, frames])
def test_a_compressed_file_that_is_cut_off(
    landing: Landing, write: Callable[[list[str]], str], pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(write(noisy_lines(8000)).encode())
    report = landing.load_one(landing.write("log", packed[: len(packed) * 3 // 4]))
    assert report.status == "landed"
    assert 0 < report.rows_landed < 8000
    if write is not as_list:
        assert report.reasons == {"truncated": 1}
        assert landing.rejected("reason") == [CUT_OFF]
    else:
        (reason,) = landing.rejected("reason")
        assert reason.endswith("cut off.")


@pytest.mark.parametrize("write", [as_lines, as_table])
@pytest.mark.parametrize("pack", [gzip.compress, checked])
def test_a_compressed_file_without_its_last_bytes(
    landing: Landing, write: Callable[[list[str]], str], pack: Callable[[bytes], bytes]
) -> None:
    # All of the text may be there, but nothing says that it is all.
    packed = pack(write(noisy_lines(3)).encode())
    landing.load_one(landing.write("log", packed[:-1]))
    assert landing.rejected("reason_code, reason")[-1] == ("truncated", CUT_OFF)


@pytest.mark.parametrize("careful", [False, True])
@pytest.mark.parametrize("write", [as_lines, as_list, as_table])
def test_zstd_in_many_frames(
    landing: Landing, write: Callable[[list[str]], str], careful: bool
) -> None:
    lines = noisy_lines(8000)
    if careful:
        # A row that only the careful way can reject.
        lines[4] = lines[4].replace('"attempt": 1', '"attempt": 0')
    text = write(lines)
    if careful and write is as_table:
        text += "r,t,0,true\n"
    report = landing.load_one(landing.write("log", frames(text.encode())))
    assert report.rows_rejected == careful
    assert report.rows_landed == 8000 - (careful and write is not as_table)


def test_a_zstd_file_reads_as_its_text(landing: Landing) -> None:
    text = as_lines(noisy_lines(5000)).encode()
    path = landing.write("log", frames(text))
    with open_bytes(path, "zstd") as file:
        assert read_chunk(file, 1000) == text[:1000]
        assert read_chunk(file, 2 * len(text)) == text[1000:]
        assert read_chunk(file, 1) == b""
    with open_bytes(path, "zstd") as file:
        assert file.read() == text


def test_a_zstd_file_is_cut_off_wherever_it_ends(landing: Landing) -> None:
    text = as_lines(noisy_lines(3)).encode()
    frame = zstandard.compress(text)
    for end in range(4, 2 * len(frame) + 1):
        path = landing.write("log", (frame + frame)[:end])
        with open_bytes(path, "zstd") as file:
            found: list[bytes | None] = [read_chunk(file, MIB)]
            while found[-1]:
                found.append(read_chunk(file, MIB))
        whole = end % len(frame) == 0
        assert found[-1] == (b"" if whole else None)


def test_damaged_zstd(landing: Landing, row: dict[str, Any]) -> None:
    text = as_lines(noisy_lines(20_000)).encode()
    # Longer than the sample, so that the fault of the second file comes after it.
    assert len(text) > SAMPLE_BYTES
    packed = checked(text)
    bad = landing.write("head.jsonl.zst", packed[:4] + b"\xff" * 40 + packed[44:])
    worse = landing.write("far.jsonl.zst", packed[:-1] + bytes([packed[-1] ^ 1]))
    good = landing.lines(row)

    report = landing.load(bad, worse, good)

    assert [file.status for file in report.files] == ["failed", "failed", "landed"]
    assert report.files[0].message.startswith(f"{bad} is damaged (")
    assert report.files[0].hint == "Write or copy the file again."
    assert report.files[1].message.startswith(f"{worse} can't be read: ")
    assert landing.attempts("source_file") == [str(good)]


def test_gzip_that_is_damaged_inside(landing: Landing) -> None:
    packed = bytearray(gzip.compress(as_lines(noisy_lines(3)).encode()))
    packed[10] |= 6  # a kind of block that there is not
    file = landing.write("log.jsonl.gz", bytes(packed))
    assert landing.load_one(file).message.startswith(f"{file} is damaged (")


@pytest.mark.parametrize("limit", [131_072, 128 * MIB])
@pytest.mark.parametrize("text", ["x" * 200_000, '"' + "x " * 100_000, "x" * 300_000 + "\ny\n"])
def test_a_long_text_without_lines(
    landing: Landing, row: dict[str, Any], text: str, limit: int
) -> None:
    import csv

    before = csv.field_size_limit(limit)
    try:
        bad, good = landing.write("text.csv", text), landing.lines(row)
        report = landing.load(bad, good)
    finally:
        csv.field_size_limit(before)
    assert [file.status for file in report.files] == ["failed", "landed"]
    shown = " ".join(text[:200].split())[:57]
    assert report.files[0].message == f"{bad} is text that starts with '{shown}...'."


def test_batches_of_a_wide_table_are_bounded_in_bytes(landing: Landing) -> None:
    table = landing.write(
        "log.csv",
        HEADER.replace("attempt", "conversation,attempt")
        + f"r,t,{'x' * MIB},1,true\n" * (2 * BATCH_BYTES // MIB + 2),
    )
    with duckdb.connect() as connection:
        source = Source(take_sample(table, connection), format_named("csv"), Options())
    sizes = []
    with open_bytes(table, "none") as file:
        for batch in careful_batches(source, file):
            sizes.append(sum(map(len, batch.texts)))
            # The conversation, c2, is in the text of the row alone.
            columns = pl.DataFrame(frame_of(batch)).columns
            assert [name for name in columns if name[1:].isdigit()] == ["c0", "c1", "c3", "c4"]
    assert len(sizes) == 3
    assert max(sizes) < BATCH_BYTES + 2 * MIB
    assert sum(sizes) > 2 * BATCH_BYTES


LONG = {"run_id": "r", "task_id": "t", "transcript": "x" * (MIB + 100), "attempt": 1}


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_a_first_row_longer_than_the_sample(landing: Landing, name: str, rows: int) -> None:
    lines = [json.dumps(LONG | {"attempt": n, "passed": n < 3}) for n in range(1, rows + 1)]
    text = as_list(lines) if name == "json" else as_lines(lines)
    report = landing.load_one(landing.write("log", text))
    assert (report.status, report.format, report.rows_rejected) == ("landed", name, 0)
    outcomes = [(1, "passed"), (2, "passed"), (3, "failed")]
    assert landing.attempts("attempt, outcome") == outcomes[:rows]


def test_a_long_first_row_without_an_attempt(landing: Landing) -> None:
    row = {"run_id": "r", "task_id": "t", "transcript": "x" * (MIB + 100), "passed": True}
    file = landing.lines(row, row)
    report = landing.load_one(file)
    assert report.status == "failed"
    assert report.message.startswith(f"{file} has no field attempt among its fields (")


def test_a_long_row_of_something_else(landing: Landing) -> None:
    file = landing.lines({"id": 1, "text": "x" * (MIB + 100), "task_id": "t"})
    assert landing.load_one(file).message == (
        f"{file} is a log of no format that passk knows: one JSON object with the keys id, text."
    )


def test_a_sample_of_one_whole_row_is_complete(landing: Landing) -> None:
    row = {"run_id": "r", "task_id": "t", "transcript": "x" * (MIB * 2 // 3)}
    with duckdb.connect() as connection:
        sample = take_sample(landing.lines(row, row), connection)
    assert sample.complete
    assert recognise(sample) is None


def test_an_index_without_a_name(landing: Landing) -> None:
    # As DataFrame.to_csv(sep="\t") of pandas writes it.
    text = "\trun_id\ttask_id\tattempt\tpassed\n0\tr\tt\t1\tTrue\n1\tr\tt\t2\tFalse\n"
    report = landing.load_one(landing.write("log.tsv", text))
    assert (report.rows_landed, report.rows_rejected) == (2, 0)
    landed = [("t", 1, "passed"), ("t", 2, "failed")]
    assert landing.attempts("task_id, attempt, outcome") == landed
    landing.load_one(landing.write("log.tsv", "\ufeff \n\t\n" + text + "broken\n"))
    assert landing.attempts("task_id, attempt, outcome") == landed
    assert landing.rejected("source_line, reason_code") == [(6, "malformed_line")]


@pytest.mark.parametrize("separator", ["\t", ","])
@pytest.mark.parametrize("fields", [3, 4])
def test_a_row_of_nothing_but_separators(landing: Landing, separator: str, fields: int) -> None:
    empty = separator * (fields - 1)
    text = HEADER + f"r,t,1,true\n{empty}\n\n  \nr,t,2,true\n".replace(empty, "@")
    text = text.replace(",", separator).replace("@", empty)
    report = landing.load_one(landing.write("log", text))
    assert landing.attempts("source_line, attempt") == [(2, 1), (6, 2)]
    assert report.rows_rejected == 1
    (rejected,) = landing.rejected("source_line, reason_code")
    assert rejected == (3, "missing_field" if fields == 4 else "malformed_line")


def test_identifiers_in_braces(landing: Landing) -> None:
    text = "task_id,run_id,attempt,passed\n{a},r,1,true\n{b},r,1,true\n"
    report = landing.load_one(landing.write("log.csv", text))
    assert (report.format, report.message) == ("csv", "")
    assert landing.attempts("task_id") == ["{a}", "{b}"]


def test_a_line_before_the_objects(landing: Landing, row: dict[str, Any]) -> None:
    report = landing.load_one(landing.lines("Starting,", row, row | {"attempt": 2}))
    assert (report.format, report.rows_landed, report.rows_rejected) == ("jsonl", 2, 1)


def test_a_header_of_two_lines(landing: Landing) -> None:
    text = 'run_id,"a\nnote",task_id,attempt,passed\nr,"x\ny",t,1,true\nr,,t,2,false\n'
    report = landing.load_one(landing.write("log.csv", text))
    assert (report.status, report.ignored) == ("landed", ("a\nnote",))
    assert landing.attempts("source_line, attempt, outcome") == [
        (3, 1, "passed"),
        (5, 2, "failed"),
    ]
