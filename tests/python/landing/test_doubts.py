"""The remarks on a log that may be in the database already, or be counted wrongly."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.landing import forget, load

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parents[1] / "formats" / "fixtures"


@pytest.fixture
def message(tmp_path: Path) -> Callable[..., str]:
    """Load paths into one database, and give what is said of the only log."""

    def loaded(*paths: Path, **options: Any) -> str:
        report = load(paths, database=tmp_path / "passk.duckdb", **options)
        (file,) = report.files
        assert file.status in ("landed", "replaced")
        return file.message

    return loaded


def summary(path: Path, passed: bool) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    names = ("completed", "incomplete", "empty_patch", "unresolved", "error")
    lists: dict[str, list[str]] = {f"{name}_ids": [] for name in names}
    counts = dict.fromkeys(
        ("total_instances", "submitted_instances", "completed_instances", "resolved_instances"), 1
    )
    listed = {"resolved_ids" if passed else "unresolved_ids": ["t"], "submitted_ids": ["t"]}
    path.write_text(json.dumps(counts | lists | listed))
    return path


@pytest.mark.parametrize("second", [True, False])
def test_runs_of_swe_bench_that_are_loaded_apart_have_the_same_number(
    second: bool, message: Callable[..., str], tmp_path: Path
) -> None:
    paths = [summary(tmp_path / "m.run-1.json", True), summary(tmp_path / "m.run-2.json", second)]
    assert message(paths[0]) == ""
    assert message(paths[1]) == (
        f"Its attempts of m have the same numbers as those of {paths[0]}, because each log was "
        "counted by itself. Load one folder that holds both, and remove what landed by itself: "
        f"passk unload --source-file {paths[0]}, passk unload --source-file {paths[1]}; or, if "
        "they are two runs, name each with --run-id."
    )
    # Its advice leads to a load without doubts.
    for path in paths:
        forget(tmp_path / "passk.duckdb", source_file=path)
    # Summaries that came out the same may be copies, which is another doubt.
    said = message(tmp_path)
    assert said.startswith("Of the same bytes as one of its files") if second else said == ""


def test_other_instances_of_a_run_are_no_doubt(message: Callable[..., str], tmp_path: Path) -> None:
    first, second = (summary(tmp_path / f"m.{name}.json", True) for name in "ab")
    second.write_text(second.read_text().replace('"t"', '"u"'))
    assert [message(first), message(second)] == ["", ""]


@pytest.mark.parametrize("parquet", [None, "kept"])
def test_reports_of_one_run_that_are_loaded_apart_have_the_same_numbers(
    parquet: str | None, message: Callable[..., str], tmp_path: Path
) -> None:
    options = {"run_id": "mine"} | ({"parquet": tmp_path / parquet} if parquet else {})
    for folder in "ab":
        shutil.copytree(FIXTURES / "junit" / "runs", tmp_path / folder)
    assert message(tmp_path / "a" / "run-1.xml", **options) == ""
    said = message(tmp_path / "b" / "run-2.xml", **options)
    assert said.startswith(
        f"Its attempts of mine have the same numbers as those of {tmp_path}/a/run-1.xml,"
    )


def test_a_log_of_which_a_part_landed_before(message: Callable[..., str], tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(FIXTURES / "terminal_bench" / "single", runs)
    parts = sorted(path for path in runs.iterdir() if path.is_dir())
    assert message(parts[0]) == ""
    part = parts[0] / "results.json"
    assert message(runs) == (
        f"{part}, which is a part of it, landed before by itself: the rows in both are in the database"
        f" twice. Remove one: passk unload --source-file {part}."
    )
    whole = message(parts[1])
    assert whole == (
        f"It is a part of {runs}, which landed before as one log: the rows in both are in the database"
        f" twice. Remove one: passk unload --source-file {parts[1] / 'results.json'}."
    )


def test_a_folder_of_a_log_that_landed_before_and_a_file_of_that(
    message: Callable[..., str], tmp_path: Path
) -> None:
    root = tmp_path / "work"
    shutil.copytree(FIXTURES / "swe_bench" / "runs", root)
    run = root / "logs" / "run_evaluation" / "run-1"
    assert message(run) == ""
    report = next(run.rglob("report.json"))
    assert message(report).startswith(f"It is a part of {run}, which landed before as one log")
    forget(tmp_path / "passk.duckdb", source_file=report)
    said = message(root)
    assert said.endswith(f"Remove one: passk unload --source-file {run}.")
    assert f" is a part of {run} too, which landed before" in said


def test_logs_that_lie_beside_each_other_are_no_doubt(
    message: Callable[..., str], tmp_path: Path
) -> None:
    for name in ("one-run-1", "one-run-2", "other-run-1"):
        shutil.copytree(FIXTURES / "junit" / "runs", tmp_path / "x" / name)
        for file in (tmp_path / "x" / name).iterdir():
            # Copies would count once.
            file.write_bytes(file.read_bytes() + f"<!-- {name} -->".encode())
    (tmp_path / "x" / "other-run-1" / "run-1.xml").write_text(
        '<testsuite name="s"><testcase classname="c" name="n"/></testsuite>'
    )
    assert message(tmp_path / "x" / "other-run-1") == ""
    report = load(tmp_path / "x", database=tmp_path / "passk.duckdb")
    said = {Path(file.path).name: file.message for file in report.files}
    assert said["one-run-*"] == ""
    assert said["other-run-*"].endswith(f"passk unload --source-file {tmp_path}/x/other-run-1.")
