"""Rows of a harness land the same, whether DuckDB gets them as what they are or as texts."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

from passk_py.ingest.landing import load
from passk_py.ingest.landing.harness_rows import HarnessBatch

if TYPE_CHECKING:
    from pathlib import Path

# Of each value, what is of one kind and what is not, so that some columns are texts and some not.
VALUES: Final[dict[str, list[list[Any]]]] = {
    "id": [
        ["a", "b", "ü", "x\0y"],
        [1, 2, -3],
        [1, "1"],
        [2**70, 5],
        [1.5, 1e22],
        [None, ""],
        [True],
    ],
    "epoch": [[1, 2, 3], [1, None], [0, 1], [1.0, 2.0], [1e16], ["1", " 2 "], [True], [2**64]],
    "total_time": [[0.1, 1e-7, 5e300], [1, 2**53 + 1], [1, 0.5], [-0.5, 1.0], ["3"], [None, 2.0]],
    "started_at": [
        ["2026-01-31T12:00:00+00:00", "2026-01-31T12:00:00.123456+00:00", "2026-01-31T12:00:00Z"],
        ["2026-01-31T12:00:00.5+02:00", "2026-01-31T12:00", "2026-01-31", None],
        ["2026-02-30T12:00:00+00:00", "0000-01-01T00:00:00+00:00", "x"],
        ["2026-01-31T25:00:00.000000+00:00", "2026-01-31T12:00:00+05:30 +00:00"],
        [7],
    ],
    "value": [["C", "I", "P"], [1, 0], [0.25, 1.0], [True, False], [{"a": 1, "b": "C"}], ["NaN"]],
    "tokens": [[50, 60], [1.0, 2.0], ["7"], [None], [-1], [2**65], [True]],
    "metadata": [
        [{"kind": "a"}, {"kind": "b", "level": 1}, {"level": 1, "kind": "b"}],
        [{"n": 1}, {"n": 1.0}, {"n": True}, {"n": "1"}, {"n": "true"}],
        [{}, None, {"run": "mine", "Z": "ü", "a": 'x"y\\'}],
        [{"half": "\ud800"}, {"none": None, "x": 0.1}],
        [{"eval_name": "other", "inspect_run_id": "of the row"}],
    ],
}


def a_log(dice: random.Random, *, odd: float) -> dict[str, Any]:
    def one(name: str) -> Any:
        return dice.choice(columns[name] if dice.random() >= odd else dice.choice(VALUES[name]))

    columns = {
        name: dice.choice(kinds) if odd else kinds[0] if dice.random() < 0.5 else dice.choice(kinds)
        for name, kinds in VALUES.items()
    }
    samples = [
        {
            "id": one("id"),
            "epoch": one("epoch"),
            "scores": {"match": {"value": one("value")}, "other": {"value": one("value")}},
            "model_usage": {"m": {"input_tokens": one("tokens"), "output_tokens": one("tokens")}},
            "total_time": one("total_time"),
            "started_at": one("started_at"),
            "metadata": one("metadata"),
        }
        for _ in range(dice.choice([1, 3, 12]))
    ]
    head = {"eval_id": "e", "run_id": "r", "task_id": "t", "task": "suite", "model": "m"}
    said: dict[str, Any] = {"config": {"epochs": 3}, "dataset": {"sample_ids": ["a", 1, "c"]}}
    tags = dice.choice([{}, {"metadata": {"run": "log's", "flag": True}}])
    return {"version": 2, "status": "success", "eval": {**head, **said, **tags}, "samples": samples}


def landed(path: Path, database: Path, **options: Any) -> list[Any]:
    report = load(path, database=database, format="inspect", **options)
    (file,) = report.files
    found: list[Any] = [file.status, file.message, file.excluded, file.missing, file.reasons]
    if database.exists():
        with duckdb.connect(str(database)) as connection:
            for table in ("attempts", "rejected", "expected_attempts"):
                sql = f"select * exclude (loaded_at) from landing.{table}"
                found.append(sorted(connection.execute(sql).fetchall(), key=repr))
        database.unlink()
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_rows_land_the_same_in_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    dice = random.Random(seed)
    path = tmp_path / "log.json"
    path.write_text(json.dumps(a_log(dice, odd=dice.choice([0.0, 0.0, 0.1]))), "utf-8")
    options = {"tags": dice.choice([{}, {"run": "option's", "b": "c"}])}
    batch = dice.choice([2, 20_000])
    monkeypatch.setattr("passk_py.ingest.landing.harness_rows._ROWS", batch)
    typed = landed(path, tmp_path / "typed.duckdb", **options)
    monkeypatch.setattr(HarnessBatch, "typed", lambda *_: None)
    assert typed == landed(path, tmp_path / "texts.duckdb", **options)


def test_rows_without_a_fault_are_not_made_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = a_log(random.Random(0), odd=0.0)
    log["samples"] = [
        {"id": n // 2, "epoch": n % 2 + 1, "metadata": {"n": n}, "total_time": 0.5,
         "started_at": "2026-01-31T12:00:00+00:00", "scores": {"m": {"value": n % 3 / 2}}}
        for n in range(10)
    ]  # fmt: skip
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log), "utf-8")
    # A value that is rejected or is no text of its own would have to be written as one.
    monkeypatch.delattr(HarnessBatch, "write_texts")
    report = load(path, database=tmp_path / "passk.duckdb")
    assert (report.rows_landed, report.exit_code) == (10, 0)
