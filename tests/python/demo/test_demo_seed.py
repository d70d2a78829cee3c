"""The demo's dbt seed is what the generator writes, byte for byte, in any process."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from passk_py.common.contract import CONTRACT_COLUMNS, TRANSCRIPT
from passk_py.demo import write_csv
from passk_py.demo.write_demo_log import main

if TYPE_CHECKING:
    from passk_py.demo import AttemptRow

ROOT = Path(__file__).resolve().parents[3]
SEED = ROOT / "seeds" / "demo" / "passk_demo_attempts.csv"


@pytest.mark.long
def test_regenerating_the_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "again.csv"
    write_csv(path)
    assert path.read_bytes() == SEED.read_bytes(), (
        f"run: python -m passk_py.demo.write_demo_log --csv {SEED.relative_to(ROOT)}"
    )


def test_another_process_with_other_hashes_gives_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "again.csv"
    subprocess.run(
        [sys.executable, "-m", "passk_py.demo.write_demo_log", "--csv", str(path)],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    assert path.read_bytes() == SEED.read_bytes()


def test_the_seed_is_small_enough_for_dbt_to_notice_changes() -> None:
    assert SEED.stat().st_size < 1_000_000


def test_the_seed_says_what_the_log_says(rows: tuple[AttemptRow, ...]) -> None:
    with SEED.open(encoding="utf-8", newline="") as file:
        seeded = list(csv.DictReader(file))
    assert len(seeded) == len(rows)
    names = [column.name for column in CONTRACT_COLUMNS if column != TRANSCRIPT]
    assert list(seeded[0]) == names
    for fields, row in zip(seeded, rows, strict=True):
        assert json.loads(fields.pop("tags")) == row["tags"]
        assert fields.pop("started_at").replace(" ", "T") + "Z" == row["started_at"]
        values = dict(row)
        for name, text in fields.items():
            assert text == ("" if values[name] is None else str(values[name]))


def test_the_command_writes_the_log_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.jsonl"
    assert main([str(path), "--seed", "5"]) == 0
    assert capsys.readouterr().out == f"3248 attempts in {path}\n"
    assert json.loads(path.read_text().splitlines()[0])["run_id"] == "scout-2026-02"


def test_the_command_says_what_it_cannot_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nowhere" / "log.jsonl"
    assert main([str(path)]) == 2
    assert capsys.readouterr().err == f"cannot write {path}: No such file or directory\n"
