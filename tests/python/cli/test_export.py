"""``passk export``: files that hold what the tables hold, or are not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from passk_py.export import FORMATS, export_tables
from passk_py.public_tables import PUBLIC_TABLES
from passk_py.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Said

    Passk = Callable[..., Said]

NAMES = [table.name for table in PUBLIC_TABLES]


@pytest.mark.parametrize("kind", FORMATS)
def test_all_tables_in_every_format(kind: str, passk: Passk, letters: Path) -> None:
    said = passk("export", "--all", "-o", "out", "--format", kind)
    assert (said.code, said.err) == (0, "")
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(
        f"{name}{FORMATS[kind]}" for name in NAMES
    )
    assert "out/passk_attempts" in said.out.splitlines()[0]
    assert said.out.splitlines()[0].endswith(": 24 rows")


@pytest.mark.parametrize("table", NAMES)
def test_parquet_and_arrow_hold_the_same_types_and_values(
    table: str, passk: Passk, letters: Path
) -> None:
    expected = read_table(table)
    assert passk("export", table, "-o", "t.parquet").code == 0
    assert passk("export", table, "-o", "t.arrow").code == 0
    parquet = pl.read_parquet("t.parquet")
    arrow = pl.read_ipc("t.arrow")
    for frame in (parquet, arrow):
        assert frame.schema == expected.schema
        assert frame.rows() == expected.rows()


def test_csv_and_json_hold_the_same_values(passk: Passk, letters: Path) -> None:
    assert passk("export", "passk_attempts", "-o", "a.csv").code == 0
    assert passk("export", "passk_attempts", "-o", "a.json").code == 0
    expected = read_table("passk_attempts")
    table = pl.read_csv("a.csv", infer_schema=False)
    rows = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert table.columns == expected.columns == list(rows[0])
    assert table["outcome"].to_list() == expected["outcome"].to_list()
    assert json.loads(table["tags"][0]) == rows[0]["tags"] == {"kind": "n"}
    assert [int(text) for text in table["attempt"]] == [row["attempt"] for row in rows]


def test_numbers_survive_csv_and_json_to_the_bit(passk: Passk, letters: Path) -> None:
    expected = read_table("passk_suite_metrics")["pass_hat_k_pooled"].to_list()
    assert passk("export", "passk_suite_metrics", "-o", "m.csv").code == 0
    assert passk("export", "passk_suite_metrics", "-o", "m.json").code == 0
    assert pl.read_csv("m.csv")["pass_hat_k_pooled"].to_list() == expected
    rows = json.loads(Path("m.json").read_text(encoding="utf-8"))
    assert [row["pass_hat_k_pooled"] for row in rows] == expected


def test_filters_apply_to_the_tables_that_have_the_column(passk: Passk, letters: Path) -> None:
    said = passk("export", "--all", "-o", "out", "--run", "old", "--k", 1, "--k", 4, "--json")
    assert {file["table"]: file["rows"] for file in said.json["files"]} == {
        "passk_attempts": 12,
        "passk_rejected_attempts": 0,
        "passk_runs": 1,
        "passk_tasks": 3,
        "passk_task_metrics": 6,
        "passk_suite_metrics": 2,
    }


@pytest.mark.parametrize("kind", FORMATS)
def test_empty_result_is_a_file_with_the_columns(kind: str, passk: Passk, letters: Path) -> None:
    said = passk("export", "passk_tasks", "--run", "nobody", "-o", "out", "--format", kind)
    assert said.code == 0
    path = Path("out") / f"passk_tasks{FORMATS[kind]}"
    columns = read_table("passk_tasks").columns
    if kind == "json":
        assert json.loads(path.read_text(encoding="utf-8")) == []
    else:
        read = {"parquet": pl.read_parquet, "csv": pl.read_csv, "arrow": pl.read_ipc}[kind]
        empty = read(path)
        assert (empty.columns, empty.height) == (columns, 0)


def test_one_file_for_several_tables_is_refused(passk: Passk, letters: Path) -> None:
    said = passk("export", "passk_runs", "passk_tasks", "-o", "x.csv")
    assert (said.code, said.out) == (2, "")
    assert said.err == "Error: x.csv is one file, for 2 tables.\nGive a folder with -o.\n"


def test_folder_that_can_not_be_made(passk: Passk, letters: Path) -> None:
    Path("taken").write_text("", encoding="utf-8")
    said = passk("export", "passk_runs", "-o", "taken/out")
    assert said.code == 2
    assert said.err == (
        "Error: taken/out can't be written: Not a directory.\n"
        "Give a folder or file where you may write with -o.\n"
    )


def test_failed_export_leaves_what_was_there(
    letters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import passk_py.export as module

    folder = Path("out")
    export_tables(NAMES, folder, run_id="old")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    real = module._write

    def fail_late(tables: object, table: object, *rest: object) -> int:
        if getattr(table, "name", "") == "passk_suite_metrics":
            raise OSError(28, "No space left on device", "out/disk")
        return real(tables, table, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_write", fail_late)
    with pytest.raises(module.PasskError, match="out/disk can't be written: No space left"):
        export_tables(NAMES, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_file_is_replaced_as_a_whole(letters: Path) -> None:
    Path("runs.csv").write_text("old " * 10_000, encoding="utf-8")
    (written,) = export_tables("passk_runs", "runs.csv", run_id=["old", "new"])
    assert (written.table, written.path, written.rows) == ("passk_runs", Path("runs.csv"), 2)
    assert pl.read_csv("runs.csv").height == 2


def test_given_format_goes_before_the_name(letters: Path) -> None:
    export_tables("passk_runs", "runs.csv", format="json")
    assert len(json.loads(Path("runs.csv").read_text(encoding="utf-8"))) == 2


def test_unknown_format_in_python(letters: Path) -> None:
    from passk_py.errors import PasskError

    with pytest.raises(PasskError, match="There is no format 'xls'"):
        export_tables("passk_runs", "x", format="xls")
