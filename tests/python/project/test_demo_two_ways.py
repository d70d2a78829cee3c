"""`passk demo` and `dbt build` alone give the same tables, and the README and the quickstart show what the demo prints."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from ..docs.blocks import blocks

if TYPE_CHECKING:
    from conftest import Project

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
    """The words beside the picture have the numbers of its rows, in their order."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (said,) = re.findall(r'<img src="docs/figures/report-light.png" alt="(.*?)"', readme)
    with duckdb.connect(str(demo[1]), read_only=True) as connection:
        rows = connection.execute(
            "select agent || ' ' || agent_version, list(100 * pass_at_k order by k), "
            "list(100 * pass_hat_k order by k)[2], last(reading order by k) "
            "from passk_suite_metrics where slice_name = 'all' and k in (1, 4) group by all "
            "order by 3 desc"
        ).fetchall()
    assert len(rows) == 4
    found = [said.index(f"{name}: ") for name, *_ in rows]
    assert found == sorted(found)
    for place, (_, (first, at_k), hat_k, reading) in zip(found, rows, strict=True):
        row = said[place:].split(": ", 1)[1].split(". ")[0].removesuffix(".")
        values = [f"{value:.1f}%" for value in (first, at_k, hat_k)]
        assert re.findall(r"[\d.]+%", row) == values
        assert row.endswith(f", {reading}")


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


@pytest.mark.long
def test_every_data_test_holds(project: Project, dbt_demo: Path) -> None:
    shutil.copyfile(dbt_demo / "demo.duckdb", project.database)
    done = project.run(command="test", select=["test_type:data"], target="demo")
    assert len(done.results) > 100
