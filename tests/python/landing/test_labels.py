"""``load_labels`` and ``load_verdicts``: every kind of file, landing again, and rows that are neither."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import duckdb
import polars as pl
import pytest

import passk_py as pk
from passk_py.ingest.landing import load_labels, load_verdicts

if TYPE_CHECKING:
    from pathlib import Path

ROWS: Final[list[dict[str, Any]]] = [
    {"run_id": "r", "suite": "s", "task_id": "a", "attempt": 1, "verdict": "pass"},
    {"run_id": "r", "suite": "s", "task_id": "a", "attempt": 2, "verdict": "FAILED"},
]


def landed(database: Path, table: str = "labels") -> list[dict[str, Any]]:
    with duckdb.connect(str(database), read_only=True) as connection:
        found = connection.execute(f"select * exclude (loaded_at) from landing.{table}")
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def written(folder: Path, suffix: str, rows: list[dict[str, Any]]) -> Path:
    path = folder / f"labels{suffix}"
    frame = pl.DataFrame(rows)
    if suffix == ".parquet":
        frame.write_parquet(path)
    elif suffix in (".csv", ".tsv"):
        frame.write_csv(path, separator="," if suffix == ".csv" else "\t")
    elif suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
def test_every_kind_of_file_lands_alike(suffix: str, tmp_path: Path) -> None:
    path, database = written(tmp_path, suffix, ROWS), tmp_path / "passk.duckdb"
    (file,) = load_labels(path, database=database)
    assert (file.status, file.rows_landed, file.rows_rejected) == ("landed", 2, 0)
    assert [(row["task_id"], row["attempt"], row["verdict"]) for row in landed(database)] == [
        ("a", 1, "passed"),
        ("a", 2, "failed"),
    ]
    assert [row["source_line"] for row in landed(database)] == [1, 2]


def test_what_is_not_said_is_null_and_the_suite_default(tmp_path: Path) -> None:
    rows = [{"run_id": "r", "task_id": 7, "attempt": 1, "verdict": True, "odd": 3}]
    path, database = written(tmp_path, ".jsonl", rows), tmp_path / "passk.duckdb"
    load_labels(path, database=database)
    (row,) = landed(database)
    assert (row["suite"], row["task_id"], row["verdict"]) == ("default", "7", "passed")
    assert (row["labeller"], row["labelled_at"], row["note"]) == (None, None, None)


def test_landing_again_does_nothing_twice(tmp_path: Path) -> None:
    path, database = written(tmp_path, ".csv", ROWS), tmp_path / "passk.duckdb"
    load_labels(path, database=database)
    (file,) = load_labels(path, database=database)
    assert (file.status, file.rows, file.rows_landed) == ("unchanged", 2, 2)
    assert len(landed(database)) == 2
    written(tmp_path, ".csv", ROWS[:1])
    (file,) = load_labels(path, database=database)
    assert (file.status, len(landed(database))) == ("replaced", 1)
    assert [row["rows_landed"] for row in landed(database, "label_files")] == [1]


BAD: Final = [
    ({"run_id": ""}, "missing_field", "missing_field: run_id is missing. Every label needs one."),
    ({"task_id": None}, "missing_field", "missing_field: task_id is missing."),
    ({"attempt": None}, "missing_field", "missing_field: attempt is missing."),
    ({"verdict": " "}, "missing_field", "missing_field: verdict is missing."),
    ({"attempt": "1.5"}, "wrong_type", "wrong_type: attempt is 1.5, but must be an integer"),
    ({"attempt": "0"}, "wrong_type", "wrong_type: attempt is 0, but must be an integer"),
    ({"attempt": "x"}, "wrong_type", "wrong_type: attempt is x, but must be an integer"),
    ({"verdict": "unsure"}, "unknown_verdict", "unknown_verdict: verdict is unsure, but must be"),
    ({"labelled_at": "soon"}, "wrong_type", "wrong_type: labelled_at is soon, which is not a time"),
]


@pytest.mark.parametrize(("change", "code", "said"), BAD)
def test_rows_that_are_no_labels_have_a_reason(
    change: dict[str, Any], code: str, said: str, tmp_path: Path
) -> None:
    good = {name: str(value) for name, value in ROWS[0].items()} | {"labelled_at": "2026-01-02"}
    path = written(tmp_path, ".csv", [good, good | change])
    database = tmp_path / "passk.duckdb"
    (file,) = load_labels(path, database=database)
    assert (file.rows_landed, file.reasons) == (1, {code: 1})
    (row,) = landed(database, "rejected_labels")
    assert row["reason"].startswith(said)
    assert (row["reason_code"], row["source_line"]) == (code, 2)


def test_a_file_that_can_not_be_read_leaves_the_others_landed(tmp_path: Path) -> None:
    path, database = written(tmp_path, ".csv", ROWS), tmp_path / "passk.duckdb"
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"run_id": \n', encoding="utf-8")
    with pytest.raises(pk.PasskError, match=r"broken.jsonl can't be read as labels"):
        load_labels([path, broken], database=database)
    assert len(landed(database)) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [("none.csv", "There is no file"), ("labels.txt", "is not read as labels")],
)
def test_what_is_no_file_of_labels_is_refused(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("x", encoding="utf-8")
    with pytest.raises(pk.PasskError, match=said):
        load_labels(tmp_path / name, database=tmp_path / "passk.duckdb")
    assert not (tmp_path / "passk.duckdb").exists()


def test_the_file_of_labels_can_be_unloaded(tmp_path: Path) -> None:
    path, database = written(tmp_path, ".csv", ROWS), tmp_path / "passk.duckdb"
    load_labels(path, database=database)
    assert pk.forget(database, source_file=path).labels == 2
    assert landed(database) == landed(database, "label_files") == []
    assert load_labels(path, database=database)[0].status == "landed"


VERDICTS: Final[list[dict[str, Any]]] = [
    {**ROWS[0], "judge": "gpt", "judged_at": "2026-11-02 10:00", "note": "clear"},
    {**ROWS[0], "judge": "gpt"},
    {**ROWS[1]},
]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
def test_verdicts_of_judges_land_each_as_its_own(suffix: str, tmp_path: Path) -> None:
    rows = [{"judge": None, "judged_at": None, "note": None} | row for row in VERDICTS]
    path, database = written(tmp_path, suffix, rows), tmp_path / "passk.duckdb"
    (file,) = load_verdicts(path, database=database)
    assert (file.status, file.rows_landed, file.rows_rejected) == ("landed", 3, 0)
    found = landed(database, "verdicts")
    assert [(row["attempt"], row["judge"], row["verdict"]) for row in found] == [
        (1, "gpt", "passed"),
        (1, "gpt", "passed"),
        (2, "judge", "failed"),
    ]
    assert [str(row["judged_at"]) for row in found] == ["2026-11-02 10:00:00", "None", "None"]


def test_verdicts_land_once_also_from_a_copy_of_the_file(tmp_path: Path) -> None:
    path, database = written(tmp_path, ".csv", ROWS), tmp_path / "passk.duckdb"
    copy = tmp_path / "copy.csv"
    copy.write_bytes(path.read_bytes())
    said = load_verdicts([path, path, copy], database=database)
    assert [file.status for file in said] == ["landed", "unchanged", "copy"]
    assert [file.rows_landed for file in said] == [2, 2, 0]
    assert len(landed(database, "verdicts")) == 2
    assert pk.forget(database, source_file=copy).labels == 0
    # A file that was another's copy lands once that one is gone, and what it had before goes.
    assert pk.forget(database, source_file=path).labels == 2
    assert load_verdicts(copy, database=database)[0].status == "landed"
    path.write_text(copy.read_text(encoding="utf-8") + "r,s,b,1,pass\n", encoding="utf-8")
    assert load_verdicts(path, database=database)[0].rows_landed == 3
    path.write_bytes(copy.read_bytes())
    assert load_verdicts(path, database=database)[0].status == "copy"
    assert len(landed(database, "verdicts")) == 2
    assert len(landed(database, "verdict_files")) == 1


def test_labels_and_verdicts_of_one_file_are_two_things(tmp_path: Path) -> None:
    path, database = written(tmp_path, ".csv", ROWS), tmp_path / "passk.duckdb"
    load_labels(path, database=database)
    assert load_verdicts(path, database=database)[0].status == "landed"
    assert len(landed(database)) == len(landed(database, "verdicts")) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"judge": "LOG"}, "reserved_judge: judge is LOG, which names the outcomes of the log."),
        ({"judged_at": "soon"}, "wrong_type: judged_at is soon, which is not a time."),
        (
            {"verdict": "unsure"},
            "unknown_verdict: verdict is unsure, but must be passed or failed.",
        ),
        ({"task_id": ""}, "missing_field: task_id is missing. Every row needs one."),
    ],
)
def test_rows_that_are_no_verdicts_have_a_reason(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = written(tmp_path, ".csv", [VERDICTS[0], VERDICTS[0] | change])
    database = tmp_path / "passk.duckdb"
    (file,) = load_verdicts(path, database=database)
    assert (file.rows_landed, file.reasons) == (1, {said.split(":", maxsplit=1)[0]: 1})
    (row,) = landed(database, "rejected_verdicts")
    assert (row["reason"], row["source_line"]) == (said, 2)
    assert (row["judge"], row["verdict"]) == tuple(
        (VERDICTS[0] | change)[name] for name in ("judge", "verdict")
    )
