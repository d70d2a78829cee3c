"""`passk demo` and `dbt build` alone give the same tables, and the README and the quickstart show what the demo prints."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from ..docs.blocks import blocks

ROOT = Path(__file__).resolve().parents[3]
TABLES = (
    "passk_attempts",
    "passk_runs",
    "passk_tasks",
    "passk_task_metrics",
    "passk_suite_metrics",
)
# Where a row came from and when differs between a file that was loaded and a seed.
PROVENANCE = (
    "columns(lambda c: c not in ('source_file', 'source_line', 'source_format', 'loaded_at'))"
)


@pytest.fixture(scope="module")
def demo(published_demo: Path, dbt_demo: Path) -> tuple[Path, Path, str]:
    """Both databases, and what the command printed."""
    printed = (published_demo / "answer.txt").read_text(encoding="utf-8")
    return published_demo / "passk.duckdb", dbt_demo / "demo.duckdb", printed


@pytest.mark.parametrize("table", TABLES)
def test_same_tables(demo: tuple[Path, Path, str], table: str) -> None:
    with duckdb.connect() as connection:
        # The views of dbt v2 name their database.
        connection.execute(f"attach '{demo[0]}' as passk (read_only)")
        connection.execute(f"attach '{demo[1]}' as alone (read_only)")
        rows = {}
        for database in ("passk", "alone"):
            select = f"select {PROVENANCE} from {database}.{table}"
            rows[database] = connection.execute(select).fetchall()
        key = repr
        loaded, alone = sorted(rows["passk"], key=key), sorted(rows["alone"], key=key)
    assert len(loaded) == len(alone) > 0
    for one, other in zip(loaded, alone, strict=True):
        for left, right in zip(one, other, strict=True):
            if isinstance(left, float):
                assert left == pytest.approx(right, rel=1e-12, abs=1e-15)
            else:
                assert left == right


def words_of(text: str) -> str:
    """Lines break by the width of the terminal; the words and numbers do not."""
    return " ".join(text.split())


def test_the_quickstart_shows_the_answer_and_the_readme_its_end(
    demo: tuple[Path, Path, str],
) -> None:
    printed = demo[2]
    answer = printed[printed.index("puzzles ·") : printed.index("\nDatabase")].rstrip()
    (whole,) = blocks("text", "docs/quickstart.md")
    (end,) = blocks("text", "README.md")
    assert words_of(whole.text) == words_of(answer)
    assert end.text.startswith("Use ")
    assert words_of(end.text) in words_of(answer)


def test_the_picture_of_the_readme_shows_the_answer(demo: tuple[Path, Path, str]) -> None:
    drawn = (ROOT / "docs" / "figures" / "demo.svg").read_text(encoding="utf-8")
    marks = dict(re.findall(r'aria-label="(\S+: pass[@^]\d+) (>?[0-9.]+)% ', html.unescape(drawn)))
    run = ""
    shown = 0
    for line in demo[2].splitlines():
        cells = re.search(r"pass([@^])k ((?: *>?[\d.]+)+)", line)
        if cells is None:
            continue
        if cells[1] == "@":
            run = line.split()[0]
        for k, value in zip((1, 2, 3, 4, 6, 8, 10), cells[2].split(), strict=True):
            assert marks[f"{run}: pass{cells[1]}{k}"] == value
            shown += 1
    assert shown == 4 * 2 * 7


def test_demo_refuses_to_mix_with_other_runs(tmp_path: Path) -> None:
    log = tmp_path / "mine.jsonl"
    log.write_text('{"run_id": "mine", "task_id": "a", "attempt": 1, "passed": true}\n')
    passk = [sys.executable, "-m", "passk_py"]
    subprocess.run([*passk, "load", str(log)], cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(
        [*passk, "demo", "--database", "passk.duckdb"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    with duckdb.connect(str(tmp_path / "passk.duckdb"), read_only=True) as connection:
        assert connection.execute("select run_id from landing.attempts").fetchall() == [("mine",)]
