"""Files are read up to the end that they had when they were opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import zstandard

from passk_py.ingest.containers.open_bytes import open_as_it_is, open_bytes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("size", [0, 1, 5, 300_000])
def test_a_file_that_grows_ends_where_it_ended(tmp_path: Path, size: int) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * size)
    with open_as_it_is(path) as file, path.open("ab", buffering=0) as writer:
        read = b""
        # Every piece is followed by more than was read.
        while piece := file.read(100_000):
            read += piece
            writer.write(b"y" * 200_000)
    assert read == b"x" * size


def test_reading_all_of_it_ends_there_too(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * 300_000)
    with open_as_it_is(path) as file, path.open("ab", buffering=0) as writer:
        writer.write(b"y" * 300_000)
        assert file.read(10) == b"x" * 10
        assert file.read() == b"x" * 299_990


def test_so_does_a_compressed_one(tmp_path: Path) -> None:
    path = tmp_path / "log.zst"
    frame = zstandard.ZstdCompressor().compress(b"x" * 1_000)
    path.write_bytes(frame)
    with open_bytes(path, "zstd") as file, path.open("ab", buffering=0) as writer:
        writer.write(frame)
        assert file.read() == b"x" * 1_000
