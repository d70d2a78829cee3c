"""On a narrow terminal columns are left out or set below each other; no name and number is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from passk_py.cli.table_output import fitting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Demo, Said

    Passk = Callable[..., Said]

WIDTHS = (40, 60, 80, 120)
LONG = "a-task-whose-name-says-all-that-there-is-to-say-of-it"


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Cells of the terminal."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def table(out: str, start: str) -> list[str]:
    """Give the lines of a table, from that on that starts so to the next empty one."""
    lines = out.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(start))
    return lines[first : lines.index("", first)] if "" in lines[first:] else lines[first:]


def test_columns_that_matter_least_are_left_out_first() -> None:
    columns = [["k", "pass^4"], ["difference", "-0.2"], ["p", "0.0312"]]
    spared = [(2,), (1,)]
    assert [fitting(columns, room, spared) for room in (26, 25, 9)] == [[0, 1, 2], [0, 1], [0]]


def test_compare(passk: Passk, demo: Demo, width: int) -> None:
    said = passk("compare", "scout-2026-02", "scout-2026-03", "--database", demo.database)
    # Its header starts with blanks, because the metrics have no heading.
    lines = table(said.out, "     ")
    rows = {line.split()[0]: line for line in lines[2:] if line.startswith("pass")}
    assert {"pass@1", "pass^4"} <= rows.keys()
    assert all(len(line) <= width for line in lines[:2] + list(rows.values()))
    assert "…" not in said.out
    assert "regression (hidden)" in rows["pass^4"]
    headings = lines[0].split()
    # The values of both runs are there together, and the picture only where all is.
    assert ("baseline" in headings) == ("candidate" in headings) == (width >= 80)
    assert ("interval" in headings) == (width >= 60)
    assert ("p" in headings) == ("●" in said.out) == (width == 120)
    if width < 120:
        assert "No room for " in said.out


@pytest.mark.long
def test_compare_folds_the_names_of_tasks(
    passk: Passk,
    models_only: tuple[str, str],
    make_log: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = [(run, LONG, 9 * letter) for run, letter in (("old", "P"), ("new", "F"))]
    assert passk("load", make_log("log.jsonl", log)).code == 0
    assert passk("build", *models_only).code == 0
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        lines = table(passk("compare", "old", "new").out, "task ")
        assert all(len(line) <= width for line in lines)
        first = [line.split("  ")[0] for line in lines[2:] if not line.startswith("No room")]
        assert "".join(first) == LONG
        assert "9/9" in lines[2]
        assert lines[2].endswith("fell")
        assert ("p adjusted" in lines[0]) == (width > 40)


def test_plan(passk: Passk, letters: Path, width: int) -> None:
    said = passk("plan", "old", "--k", 2)
    assert "…" not in said.out
    assert all(len(line) <= width for line in said.out.splitlines()[1:])
    # One table, or one for each aim.
    tables = [line for line in said.out.splitlines() if line.startswith("per task")]
    assert len(tables) == (1 if width >= 80 else 2)
    assert "10 points wide:" in said.out
    assert "drop of 5 points:" in said.out


def test_load(passk: Passk, make_log: Callable[..., Path], width: int) -> None:
    files = [make_log(name, [(name, "t", "PF")]) for name in ("a.jsonl", "b.jsonl")]
    lines = table(passk("load", *files).out, "file")
    assert all(len(line) <= width for line in lines)
    headings = ["file", "format", "status", "read", "landed", "rejected"]
    shown = lines[0].split()
    assert shown == [name for name in headings if name in shown]
    assert {"file", "landed", "rejected"} <= set(shown)
    assert (shown == headings) == (width >= 60)
    assert lines[2].startswith("a.jsonl  ")
    assert "…" not in "".join(lines)
