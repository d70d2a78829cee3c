"""`passk demo` and `dbt build` alone give the same tables, and the README shows what the demo prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
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
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """Both databases, and what the command printed."""
    folder = tmp_path_factory.mktemp("demo")
    printed = subprocess.run(
        [sys.executable, "-m", "passk_py", "demo"],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PASSK_DATABASE"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    subprocess.run(
        [
            str(BIN / "dbt"), "--quiet", "build", "--profiles-dir", str(ROOT), "--project-dir", str(ROOT),
            "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
            "--exclude", "resource_type:unit_test",
        ],
        cwd=folder,
        env=os.environ | {"PASSK_DATABASE": str(folder / "alone.duckdb")},
        check=True,
    )  # fmt: skip
    return folder / "passk_demo.duckdb", folder / "alone.duckdb", printed


@pytest.mark.parametrize("table", TABLES)
def test_same_tables(demo: tuple[Path, Path, str], table: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"attach '{demo[0]}' as loaded (read_only)")
        connection.execute(f"attach '{demo[1]}' as alone (read_only)")
        rows = {}
        for database in ("loaded", "alone"):
            select = f"select {PROVENANCE} from {database}.{table}"
            rows[database] = connection.execute(select).fetchall()
        key = repr
        loaded, alone = sorted(rows["loaded"], key=key), sorted(rows["alone"], key=key)
    assert len(loaded) == len(alone) > 0
    for one, other in zip(loaded, alone, strict=True):
        for left, right in zip(one, other, strict=True):
            if isinstance(left, float):
                assert left == pytest.approx(right, rel=1e-12, abs=1e-15)
            else:
                assert left == right


def test_readme_shows_the_answer(demo: tuple[Path, Path, str]) -> None:
    printed = demo[2]
    answer = printed[printed.index("puzzles ·") : printed.index("\nDatabase")].rstrip()
    # Lines break by the width of the terminal; the words and numbers do not.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert " ".join(answer.split()) in " ".join(readme.split())


def test_demo_refuses_to_mix_with_other_runs(demo: tuple[Path, Path, str], tmp_path: Path) -> None:
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
