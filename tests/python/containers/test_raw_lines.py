"""Lines as bytes: those of the file, wherever it is cut into pieces, without the ones that are too long."""

from __future__ import annotations

import io

import pytest

from passk_py.ingest.containers import lines


@pytest.mark.parametrize("size", range(1, 12))
def test_gives_the_lines_of_a_file(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BATCH_BYTES", size)
    text = "a\n\nbü\n{}\nlast".encode()
    assert list(lines.raw_lines(io.BytesIO(text))) == text.split(b"\n")
    assert list(lines.raw_lines(io.BytesIO(text + b"\n"))) == [*text.split(b"\n"), b""]


@pytest.mark.parametrize("size", range(1, 12))
def test_leaves_out_a_line_that_is_too_long(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BATCH_BYTES", size)
    # A line may be as long as a piece more than the limit before it is given up.
    monkeypatch.setattr(lines, "MAX_RECORD_BYTES", 20)
    text = b"first\n" + b"x" * 60 + b"\nsecond\n\nthird"
    assert list(lines.raw_lines(io.BytesIO(text))) == [b"first", b"second", b"", b"third"]
