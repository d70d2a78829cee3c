"""Copies of files that are being written to: whole rows only, and each change once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from passk_py.ingest.landing.live_files import LiveFiles

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def live(tmp_path: Path) -> tuple[Path, LiveFiles]:
    """A log that does not exist yet, and what looks at it."""
    (tmp_path / "copies").mkdir()
    log = tmp_path / "log.jsonl"
    return log, LiveFiles([str(log)], tmp_path / "copies")


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def test_a_line_waits_for_its_newline(live: tuple[Path, LiveFiles]) -> None:
    log, files = live
    assert not files.look()
    assert files.problems[0].message == f"{log} does not exist."
    append(log, '{"a"')
    assert not files.look()
    assert files.paths == []
    append(log, ': 1}\n{"a": 2')
    assert files.look()
    (copy,) = files.paths
    assert copy.read_text() == '{"a": 1}\n'
    assert not files.look()
    append(log, "}\n")
    assert files.look()
    assert copy.read_text() == '{"a": 1}\n{"a": 2}\n'
    (start,) = files.known_as
    assert str(copy).replace(start, files.known_as[start]) == str(log)


def test_the_last_look_takes_the_last_line_as_it_is(live: tuple[Path, LiveFiles]) -> None:
    log, files = live
    log.write_text('{"a": 1}\n{"a": 2}')
    assert files.look()
    assert files.look(is_last=True)
    assert files.paths[0].read_bytes() == log.read_bytes()
    assert not files.look(is_last=True)


def test_a_file_that_is_cut_or_rotated_is_copied_whole(live: tuple[Path, LiveFiles]) -> None:
    log, files = live
    log.write_text('{"a": 1}\n{"a": 2}\n')
    assert files.look()
    log.write_text("")
    # Its rows stay until there are others.
    assert not files.look()
    assert files.paths[0].read_text() == '{"a": 1}\n{"a": 2}\n'
    append(log, '{"a": 3}\n')
    assert files.look()
    assert files.paths[0].read_text() == '{"a": 3}\n'
    log.rename(log.with_suffix(".old"))
    assert not files.look()
    assert files.paths[0].read_text() == '{"a": 3}\n'
    log.write_text('{"a": 4}\n')
    assert files.look()
    assert files.paths[0].read_text() == '{"a": 4}\n'


def test_a_newline_within_quotes_ends_no_row(tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    log = tmp_path / "log.csv"
    log.write_text('task_id,note\n1,"two\nlines"\n2,"half\n')
    files = LiveFiles([str(log)], tmp_path / "copies")
    assert files.look()
    assert files.paths[0].read_text() == 'task_id,note\n1,"two\nlines"\n'
    append(log, 'done"\n')
    assert files.look()
    assert files.paths[0].read_bytes() == log.read_bytes()


def test_a_document_is_copied_when_it_rests(tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    folder = tmp_path / "logs"
    folder.mkdir()
    log = folder / "results.json"
    files = LiveFiles([str(folder)], tmp_path / "copies")
    log.write_text('{"results": [')
    assert not files.look()
    append(log, "]}")
    assert not files.look()
    assert files.look()
    assert not files.look()
    # The folder is loaded, as it was given.
    (copy,) = files.paths
    assert copy.is_dir()
    assert (copy / "results.json").read_text() == '{"results": []}'


def test_other_files_of_a_folder_are_copied_but_no_reason_to_load(tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"a": 1}\n')
    (folder / "patch.diff").write_text("+1\n")
    (folder / "passk.duckdb").write_bytes(b"0" * (2 << 20))
    files = LiveFiles([str(folder)], tmp_path / "copies")
    assert files.look()
    assert not files.look()
    (copy,) = files.paths
    assert sorted(path.name for path in copy.iterdir()) == ["a.jsonl", "patch.diff"]
