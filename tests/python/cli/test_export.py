"""``passk export``: files that hold what the tables hold, or are not there."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import polars as pl
import pytest

from passk_py.common.errors import PasskError
from passk_py.warehouse.catalog import PUBLIC_TABLES
from passk_py.warehouse.exporting import FORMATS, export_tables
from passk_py.warehouse.tables import read_table

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


@pytest.mark.long
@pytest.mark.parametrize("table", NAMES)
def test_parquet_and_arrow_hold_the_same_types_and_values(
    table: str, passk: Passk, letters: Path
) -> None:
    expected = read_table(table)
    assert passk("export", table, "-o", "t.parquet", "--with-raw").code == 0
    assert passk("export", table, "-o", "t.arrow", "--with-raw").code == 0
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
        "passk_missing_attempts": 0,
        "passk_tasks": 3,
        "passk_task_metrics": 6,
        "passk_suite_metrics": 2,
        "passk_rankings": 4,
        "passk_trends": 4,
        "passk_extrapolations": 0,
        "passk_comparisons": 4,
        "passk_task_comparisons": 3,
        "passk_plans": 20,
        "passk_contamination": 0,
        "passk_diagnostics": 14,
        "passk_graders": 0,
        "passk_judges": 0,
        "passk_m_of_k": 0,
        "passk_threshold_metrics": 0,
        "passk_costs": 0,
        "passk_cost_curves": 0,
        "passk_task_costs": 0,
        "passk_cost_comparisons": 0,
        "passk_frontier": 0,
        "passk_lost_reliability": 2,
        "passk_difficulty_curve": 0,
        "passk_horizons": 0,
        "passk_corrected_metrics": 0,
        "passk_rejected_labels": 0,
        "passk_gates": 0,
    }


@pytest.mark.parametrize("kind", FORMATS)
def test_empty_result_is_a_file_with_the_columns(kind: str, passk: Passk, letters: Path) -> None:
    said = passk("export", "passk_rejected_attempts", "--run", "old", "-o", "out", "--format", kind)
    assert said.code == 0
    path = Path("out") / f"passk_rejected_attempts{FORMATS[kind]}"
    columns = read_table("passk_rejected_attempts").columns
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
    import passk_py.warehouse.exporting as module

    folder = Path("out")
    export_tables(NAMES, folder, run_id="old")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    real = module._write

    def fail_late(tables: object, sql: str, *rest: object) -> int:
        if "passk_suite_metrics" in sql:
            raise OSError(28, "No space left on device", "out/disk")
        return real(tables, sql, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_write", fail_late)
    with pytest.raises(PasskError, match="out/disk can't be written: No space left"):
        export_tables(NAMES, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_file_is_replaced_as_a_whole(letters: Path) -> None:
    Path("runs.csv").write_text("old " * 10_000, encoding="utf-8")
    (written,) = export_tables("passk_runs", "runs.csv", run_id=["old", "new"])
    assert (written.table, written.path, written.rows) == ("passk_runs", Path("runs.csv"), 2)
    assert pl.read_csv("runs.csv").height == 2


@pytest.mark.parametrize("kind", FORMATS)
def test_target_that_is_a_folder_leaves_the_others_alone(
    kind: str, passk: Passk, letters: Path
) -> None:
    blocked = Path("out") / f"passk_tasks{FORMATS[kind]}"
    blocked.mkdir(parents=True)
    said = passk("export", "passk_runs", "passk_tasks", "-o", "out", "--format", kind)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        f"Error: {blocked} can't be written: Is a directory.\n"
        "Give a folder or file where you may write with -o.\n"
    )
    assert list(Path("out").iterdir()) == [blocked]


def test_target_that_can_not_be_replaced_is_named(
    letters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(self), None, str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(PasskError, match=r"^runs\.csv can't be written: Operation not permitted"):
        export_tables("passk_runs", "runs.csv")
    assert not list(Path().glob(".passk-*"))


@pytest.mark.parametrize("length", [240, 255])
@pytest.mark.parametrize("kind", FORMATS)
def test_name_may_be_as_long_as_the_system_takes(kind: str, length: int, letters: Path) -> None:
    path = Path("x" * (length - len(FORMATS[kind])) + FORMATS[kind])
    (written,) = export_tables("passk_runs", path)
    assert (written.path, path.is_file()) == (path, True)


@pytest.mark.parametrize("output", ["x" * 300 + ".csv", "x" * 300, "y/" + "x" * 300 + "/a.csv"])
def test_name_that_is_too_long(output: str, passk: Passk, letters: Path) -> None:
    said = passk("export", "passk_runs", "-o", output)
    assert (said.code, said.out) == (2, "")
    first, second = said.err.splitlines()
    assert first.startswith(f"Error: {output[:100]}")
    assert first.endswith(" can't be written: File name too long.")
    assert second == "Give a folder or file where you may write with -o."


def test_what_duckdb_can_not_write_is_named(letters: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import passk_py.warehouse.exporting as module

    def fail(*given: object, **more: object) -> int:
        draft = given[-1]
        raise duckdb.IOException(f'IO Error: Could not write file "{draft}": No space left.')

    monkeypatch.setattr(module, "_write", fail)
    expected = r"^runs\.csv can't be written: Could not write file \"runs\.csv\": No space left\.\n"
    with pytest.raises(PasskError, match=expected):
        export_tables("passk_runs", "runs.csv")


@pytest.mark.parametrize("more", [(), ("--format", "csv")])
def test_unknown_ending_is_refused(more: tuple[str, ...], passk: Passk, letters: Path) -> None:
    said = passk("export", "passk_runs", "-o", "m.xlsx", *more)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: m.xlsx ends in .xlsx, which is not a format that passk writes.\n"
        "End the file in .parquet, .csv, .json or .arrow; make a folder of that name before, "
        "if it is one.\n"
    )
    assert not Path("m.xlsx").exists()


def test_folder_that_is_there_may_have_any_name(passk: Passk, letters: Path) -> None:
    for name in ("v1.2", "old.csv"):
        Path(name).mkdir()
        assert passk("export", "passk_runs", "-o", name, "--format", "json").code == 0
        assert Path(name, "passk_runs.json").is_file()


def test_stdout_is_no_place_for_tables(passk: Passk, letters: Path) -> None:
    for tables in (["passk_runs"], ["--all"]):
        said = passk("export", *tables, "-o", "-")
        assert (said.code, said.out) == (2, "")
        assert said.err == (
            "Error: Tables are exported to files, not to stdout.\n"
            "Give a file or a folder with -o; `passk show TABLE --csv` prints a table.\n"
        )
    assert not Path("-").exists()


def test_format_against_the_name_is_refused(passk: Passk, letters: Path) -> None:
    said = passk("export", "passk_runs", "-o", "a.csv", "--format", "json")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: a.csv and the format json contradict each other.\n"
        "Leave out the format, or end the file in .json.\n"
    )
    assert not Path("a.csv").exists()
    assert passk("export", "passk_runs", "-o", "a.CSV", "--format", "csv").code == 0


REFUSING: Final = ("passk_attempts", "passk_rejected_attempts", "passk_comparisons")
"""Tables that name a run in each of the three ways: as kept, as refused, as one of a pair."""


@pytest.mark.parametrize(
    "table",
    [name if name in REFUSING else pytest.param(name, marks=pytest.mark.long) for name in NAMES],
)
def test_unknown_run_is_refused(table: str, passk: Passk, letters: Path) -> None:
    said = passk("export", table, "--run", "old", "--run", "nope", "-o", "out")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: There is no run nope; the runs are new, old.\n"
        "Name runs with --run as `passk show passk_runs` lists them.\n"
    )
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (("--suite", "nope"), "There is no suite nope; the suites are letters."),
        (("--k", "7"), "There is no k 7; the ks are "),
    ],
)
def test_unknown_suite_or_k_is_refused(
    filters: tuple[str, ...], message: str, passk: Passk, letters: Path
) -> None:
    said = passk("export", "--all", *filters, "-o", "out")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"Error: {message}")
    assert "passk show passk_" in said.err
    assert not Path("out").exists()


def test_run_that_was_refused_as_a_whole_is_known(
    passk: Passk, letters: Path, change: Callable[..., None]
) -> None:
    change(
        "create table refused as select * from passk_rejected_attempts",
        "insert into refused (run_id, suite, reason_code) values ('broken', 'letters', 'x')",
        "drop view passk_rejected_attempts",
        "alter table refused rename to passk_rejected_attempts",
    )
    said = passk("export", "--all", "--run", "broken", "-o", "out", "--json")
    assert said.code == 0, said.err
    rows = {file["table"]: file["rows"] for file in said.json["files"]}
    assert rows == {name: int(name == "passk_rejected_attempts") for name in NAMES}


def test_unknown_format_in_python(letters: Path) -> None:
    with pytest.raises(PasskError, match="There is no format 'xls'"):
        export_tables("passk_runs", "x", format="xls")


HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "'", "a=1", " =1", "ü"]


def test_no_text_of_a_csv_file_is_a_formula(passk: Passk, make_log: Callable[..., Path]) -> None:
    tasks = [("worse", name, "FF") for name in HOSTILE] + [
        ("better", name, "PP") for name in HOSTILE
    ]
    passk("load", make_log("log.jsonl", tasks, outcome_reason="=HYPERLINK(1)"))
    pairs = "{passk_pairs: [{baseline: better, candidate: worse}]}"
    tables = ("--select", "+passk_tasks +passk_comparisons")
    assert passk("build", "--no-tests", "--vars", pairs, *tables).code == 0
    names = {}
    for options in ((), ("--keep-formulas",)):
        assert passk("export", "passk_tasks", "-o", "t.csv", *options).code == 0
        # Python's reader keeps a carriage return within quotes, as the writer wrote it.
        with Path("t.csv").open(encoding="utf-8", newline="") as file:
            names[options] = {row["task_id"] for row in csv.DictReader(file)}
    dangerous = tuple("=+-@\t\r")
    assert not [name for name in names[()] if name.startswith(dangerous)]
    assert {name.removeprefix("'") for name in names[()]} == set(HOSTILE)
    assert names["--keep-formulas",] == set(HOSTILE)
    assert passk("export", "passk_comparisons", "-o", "c.csv").code == 0
    differences = pl.read_csv("c.csv", null_values="")["difference"]
    assert differences.dtype == pl.Float64
    assert differences.min() == -1
