"""A file of the same bytes as another counts once, alone or in a log of many files."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures"
# The logs of the harnesses themselves, of formats that put several files together and of others.
LOGS = {
    "terminal-bench": "terminal_bench/single",
    "harbor": "harbor/jobs/2026-03-02__09-00-00",
    "tau2-bench": "tau2/20260505_100000_telecom",
    "swe-bench": "swe_bench/runs",
    "junit": "junit/runs",
    "promptfoo": "promptfoo/single.json",
    "deepeval": "deepeval/results/test_run_20261121_162807.json",
    "human-eval": "human_eval/samples.jsonl_results.jsonl",
}


def keys(loaded: Any) -> list[tuple[Any, ...]]:
    return [(row["task_id"], row["attempt"], row["outcome"]) for row in loaded.attempts]


@pytest.mark.parametrize("name", LOGS)
def test_a_copy_in_a_subfolder_counts_once_and_it_is_said(
    name: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    source, folder = FIXTURES / LOGS[name], tmp_path / "log"
    if source.is_dir():
        shutil.copytree(source, folder)
    else:
        folder.mkdir()
        shutil.copy(source, folder)
    alone = harness_log(folder)
    inside = folder / "copy"
    shutil.copytree(folder, tmp_path / "kept")
    shutil.move(tmp_path / "kept", inside)
    both = harness_log(folder)
    assert keys(both) == keys(alone)
    assert any("Copies of its files count once: " in file.message for file in both.report.files)
    assert any(f"{inside}/" in file.message for file in both.report.files)
    assert any(file.reason.startswith("a copy of ") for file in both.report.skipped)
    assert all(file.is_doubtful for file in both.report.files)


def test_a_copy_of_a_run_beside_the_others_is_no_attempt(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(FIXTURES / "terminal_bench" / "single", folder)
    alone = harness_log(folder)
    shutil.copytree(folder / "2026-02-01__10-00-00", folder / "2026-02-01__10-00-00 (copy)")
    for named in ([folder], sorted(folder.iterdir()), [folder / "*" / "results.json"]):
        assert keys(harness_log(*named)) == keys(alone)


def test_runs_of_swe_bench_that_came_out_the_same_are_two_runs(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    """A report has no time in it: only the log beside it tells a copy."""
    runs = tmp_path / "logs" / "run_evaluation"
    report = next((FIXTURES / "swe_bench" / "runs").rglob("report.json"))
    for run in ("run-1", "run-2"):
        instance = runs / run / "m" / report.parent.name
        instance.mkdir(parents=True)
        shutil.copy(report, instance)
        (instance / "run_instance.log").write_text(
            f"2026-11-20 10:00:0{run[-1]} Creating container"
        )
    assert [row["attempt"] for row in harness_log(tmp_path).attempts] == [1, 2]
    shutil.copytree(runs / "run-2", runs / "run-2-backup")
    assert [row["attempt"] for row in harness_log(tmp_path).attempts] == [1, 2]


def test_what_may_be_two_runs_counts_and_is_said(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    text = '<testsuite name="s"><testcase classname="c" name="a" time="1"/></testsuite>'
    for name in ("run-1.xml", "run-2.xml"):
        (tmp_path / name).write_text(text)
    loaded = harness_log(tmp_path / "run-*.xml")
    assert [row["attempt"] for row in loaded.attempts] == [1, 2]
    (file,) = loaded.report.files
    assert file.message == (
        f"Of the same bytes as one of its files, but under another name: {tmp_path}/run-2.xml. Two "
        "runs may come out the same, so each counts: leave out what is a copy."
    )


def test_a_folder_of_nothing_but_copies_is_no_mistake(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for folder in ("a", "b"):
        shutil.copytree(FIXTURES / "terminal_bench" / "attempts", tmp_path / folder)
    report = harness_log(tmp_path / "a", tmp_path / "b").report
    assert report.exit_code == 0
    assert [file.status for file in report.files] == ["landed"]


@pytest.mark.parametrize(
    ("names", "said"), [(("run-1", "run-2"), False), (("with-tools", "without"), True)]
)
def test_treatments_of_swe_bench_that_become_attempts_are_said(
    names: tuple[str, str], said: bool, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    source = FIXTURES / "swe_bench" / "runs"
    for number, name in enumerate(names, 1):
        shutil.copy(
            source / f"example__model-s.run-{number}.json",
            tmp_path / f"example__model-s.{name}.json",
        )
    loaded = harness_log(tmp_path / "*.json")
    (file,) = loaded.report.files
    assert {row["run_id"] for row in loaded.attempts} == {"example__model-s"}
    assert (
        "The evaluation runs with-tools, without of example__model-s are attempts 1 to 2 of one run."
        in file.message
    ) == said
    # As it says, each by itself is a run of its own.
    first = harness_log(tmp_path / f"example__model-s.{names[0]}.json", run_id="tools")
    assert {(row["run_id"], row["attempt"]) for row in first.attempts} == {("tools", 1)}


def test_runs_of_terminal_bench_with_names_of_their_own_are_said(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(FIXTURES / "terminal_bench" / "single", folder)
    assert "If they are not repeats" not in harness_log(folder).report.files[0].message
    for old, new in zip(sorted(folder.iterdir()), ("hints", "no-hints", "plain"), strict=True):
        old.rename(folder / new)
    (file,) = harness_log(folder).report.files
    assert file.message.startswith(
        "The runs hints, no-hints, plain of one attempt each are attempts"
    )
