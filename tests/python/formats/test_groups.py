"""Files that are one log together, and what is named of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from passk_py.ingest.landing import forget, load

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures"
RUNS = sorted(path for path in (FIXTURES / "terminal_bench" / "single").iterdir() if path.is_dir())


def test_what_is_named_stands_for_itself(harness_log: Callable[..., Any]) -> None:
    (report,) = harness_log(RUNS[0]).report.files
    assert Path(report.path) == RUNS[0] / "results.json"
    (report,) = harness_log(RUNS[0] / "results.json").report.files
    assert Path(report.path) == RUNS[0] / "results.json"


def test_several_that_are_named_are_one_log_as_their_folder_is(
    harness_log: Callable[..., Any],
) -> None:
    whole = harness_log(RUNS[0].parent)
    folders = harness_log(*RUNS)
    files = harness_log(*(run / "results.json" for run in RUNS))
    assert len(whole.attempts) == 8
    for other in (folders, files):
        assert other.verdicts() == whole.verdicts()
        assert [one.path for one in other.report.files] == [one.path for one in whole.report.files]


def test_a_run_that_is_named_does_not_take_the_place_of_the_others(tmp_path: Path) -> None:
    swe = FIXTURES / "swe_bench" / "runs" / "logs" / "run_evaluation"
    database = tmp_path / "passk.duckdb"
    counts = []
    for run in ("run-1", "run-2"):
        report = load(swe / run, database=database)
        assert [Path(file.path) for file in report.files] == [swe / run]
        with duckdb.connect(str(database)) as connection:
            counts.append(connection.execute("select count(*) from landing.attempts").fetchall())
    assert counts[1] > counts[0]


def test_files_that_are_named_do_not_take_the_place_of_the_others_of_their_log(
    tmp_path: Path,
) -> None:
    folder, database = tmp_path / "reports", tmp_path / "passk.duckdb"
    folder.mkdir()
    files = [folder / f"run-{number}.xml" for number in (1, 2, 3, 4)]
    for number, file in enumerate(files):
        file.write_text(
            f'<testsuites name="pytest tests"><testsuite name="pytest" timestamp="2026-11-0{number + 1}T10:00:00">'
            f'<testcase classname="t" name="x" time="0.{number}"/></testsuite></testsuites>'
        )
    (folder / "coverage.xml").write_text("<coverage/>")

    def attempts() -> int:
        with duckdb.connect(str(database)) as connection:
            (row,) = connection.execute("select count(*) from landing.attempts").fetchall()
            return int(row[0])

    load(files[:2], database=database)
    assert attempts() == 2
    (refused,) = load(files[2:], database=database).files
    assert refused.status == "failed"
    assert refused.message == (
        f"{folder} landed before as one log with {files[0]}, which is missing from the command."
    )
    assert "Name the folder" in refused.hint
    assert attempts() == 2
    # A file that never landed need not be named, nor one that looks like a part of the log.
    (folder / "latest.xml").symlink_to(files[0])
    assert load(files[:2], database=database, model="m").statuses == {"replaced": 1}
    assert load(files[:3], database=database).statuses == {"replaced": 1}
    # All of them, by name or by their folder, and then some of a folder that landed.
    assert load(files, database=database).statuses == {"replaced": 1}
    assert load(folder, database=database).statuses == {"unchanged": 1}
    assert load(files[1:3], database=database).statuses == {"failed": 1}
    # Nor does it help that a file is gone, or that the others end otherwise.
    (folder / "latest.xml").unlink()
    last = files[3].rename(folder / "run-4.XML")
    (refused,) = load([files[0], files[2], last], database=database).files
    assert str(files[1]) in refused.message
    assert attempts() == 4
    # The advice makes room for them.
    forget(database, source_file=folder)
    assert load([files[0], last], database=database).statuses == {"landed": 1}
    assert attempts() == 2


def test_the_folder_of_simulations_is_the_run(harness_log: Callable[..., Any]) -> None:
    run = FIXTURES / "tau2" / "20260505_100000_telecom"
    whole, inside = harness_log(run), harness_log(run / "simulations")
    assert inside.verdicts() == whole.verdicts()
    assert {row["run_id"] for row in inside.attempts} == {run.name}
    assert {row["suite"] for row in inside.attempts} == {"tau2-bench/telecom"}


def test_a_log_whose_file_changed_lands_again_whole(tmp_path: Path) -> None:
    folder, database = tmp_path / "runs", tmp_path / "passk.duckdb"
    shutil.copytree(RUNS[0].parent, folder)
    first = load(folder, database=database)
    assert load(folder, database=database).statuses == {"unchanged": 1}
    shutil.rmtree(folder / RUNS[2].name)
    again = load(folder, database=database)
    assert again.statuses == {"replaced": 1}
    assert again.rows_landed < first.rows_landed
    # A file that says more of it counts too.
    metadata = folder / RUNS[0].name / "run_metadata.json"
    metadata.write_text(metadata.read_text("utf-8").replace("terminus", "another"), "utf-8")
    assert load(folder, database=database).statuses == {"replaced": 1}
    with duckdb.connect(str(database)) as connection:
        agents = connection.execute("select distinct agent from landing.attempts").fetchall()
    assert ("another",) in agents


def test_an_instance_that_only_a_folder_tells_of_is_not_overlooked(tmp_path: Path) -> None:
    folder, database = tmp_path / "runs", tmp_path / "passk.duckdb"
    shutil.copytree(FIXTURES / "swe_bench" / "runs", folder)
    for summary in folder.glob("*.json"):
        summary.unlink()
    first = load(folder, database=database)
    model = next(path for path in sorted(folder.glob("logs/run_evaluation/*/*")) if path.is_dir())
    failed = model / "new__instance-1"
    failed.mkdir()
    (failed / "patch.diff").write_text("--- a\n", "utf-8")
    again = load(folder, database=database)
    assert again.statuses == {"replaced": 1}
    assert again.rows_landed == first.rows_landed + 1


def test_a_run_is_added_to_those_that_were_named_before(tmp_path: Path) -> None:
    """SWE-bench's summaries lie beside the folders of the runs, and need not be named with them."""
    folder, database = tmp_path / "swe", tmp_path / "passk.duckdb"
    shutil.copytree(FIXTURES / "swe_bench" / "runs", folder)
    runs = [folder / "logs" / "run_evaluation" / f"run-{number}" for number in (1, 2, 3)]
    assert load(runs[:2], database=database).statuses == {"landed": 1}
    assert load(runs, database=database).statuses == {"replaced": 1}
    assert load(runs[1:], database=database).statuses == {"failed": 1}
