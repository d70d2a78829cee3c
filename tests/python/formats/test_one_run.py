"""An option of the user holds for all attempts, in every format.

Logs that are given together under one ``--run-id`` are one run, whose attempts are numbered on.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from passk_py.ingest.formats import FORMATS
from passk_py.ingest.landing import load

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures"
INSPECT = FIXTURES / "inspect" / "logs"
CAPITALS = INSPECT / "2026-11-21T16-16-31-00-00_capitals_kWjqrUKQAkss3KmpMvFCKQ.json"
OPTIONS = {"run_id": "R", "suite": "S", "agent": "A", "model": "M"}

# A log of one run and one suite for each format, made by the harness itself.
LOGS = {
    "tau2-bench": "tau2/20260504_100000_airline/results.json",
    "terminal-bench": "terminal_bench/attempts/2026-02-10__09-30-00",
    "harbor": "harbor/jobs/2026-03-02__09-00-00",
    "swe-bench": "swe_bench/runs",
    "junit": "junit/runs",
    "inspect": f"inspect/logs/{CAPITALS.name}",
    "promptfoo": "promptfoo/single.json",
    "promptfoo-jsonl": "promptfoo/single.jsonl",
    "deepeval": "deepeval/results/test_run_20261121_162807.json",
    "tracelens": "tracelens/trials.json",
    "evalplus": "evalplus/evalplus_results/humaneval/acme--größe-7b_openai_temp_0.8_eval_results.json",
    "bigcodebench": "bigcodebench/bcb_results/acme--größe-7b--main--bigcodebench-hard-complete--openai"
    "-0.8-4-sanitized_calibrated_eval_results.json",
    "human-eval": "human_eval/samples.jsonl_results.jsonl",
    "openai-evals": "openai_evals/events.jsonl",
    "mlflow": "mlflow/nightly.json",
    "ctrf": "ctrf/pytest.json",
    "playwright": "playwright/report.json",
    "pytest-json-report": "pytest_json_report/report.json",
    "pydantic-evals": "pydantic_evals/repeats.json",
    "verifiers": "verifiers/größe-env--acme--mock-1/3f2a91bc/results.jsonl",
    "verifiers-traces": "verifiers/größe-env--mock-1--bash--5f2c/traces.jsonl",
    "hal": "hal/taubench_airline/taubench_airline_1795000000/taubench_airline_1795000000_UPLOAD.json",
    "metr": "metr/single.jsonl",
    "helm": "helm/v1/words-model=acme_mock-7b/per_instance_stats.json",
    "livecodebench": "livecodebench/output/Größe-7B/Scenario.codegeneration_4_0.2_eval_all.json",
    "lighteval": "lighteval/details/acme/größe-7b/2026-11-28T03-51-02.204724/"
    "details_sums-0_2026-11-28T03-51-02.204724.parquet",
    "langsmith": "langsmith/runs.jsonl",
    "langfuse": "langfuse/items.json",
    "phoenix": "phoenix/nightly.json",
    "braintrust": "braintrust/result.json",
    "weave": "weave/calls.jsonl",
    "otel-evaluations": "otel_evaluations/spans.jsonl",
    "lm-eval": "lm_eval/out/acme__größe-7b/samples_sums_pass1_2026-11-21T16-21-33.719863.jsonl",
}
# Canonical logs, and tau-bench's, are written here: tau-bench as its `run.py` writes it.
TAU_BENCH = [
    {"task_id": task, "reward": reward, "info": {}, "traj": [], "trial": trial}
    for task, rewards in enumerate(((1.0, 0.0), (0.0, 0.0)))
    for trial, reward in enumerate(rewards)
]
ROWS = [
    {"run_id": "r", "suite": "s", "task_id": t, "attempt": n, "passed": n == 1}
    for t in "ab"
    for n in (1, 2)
]
STAY = [one.name for one in FORMATS if one.attempts_stay]
NUMBERED_ON = [one.name for one in FORMATS if not one.attempts_stay]


def log_of(name: str, folder: Path) -> Path:
    """Put a log of a format into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if name in LOGS:
        source = FIXTURES / LOGS[name]
        if source.is_dir():
            shutil.copytree(source, folder / source.name)
            return folder / source.name
        # lm-eval's results lie beside the samples, and say more of them.
        for file in source.parent.iterdir() if name == "lm-eval" else [source]:
            if file == source or file.name.startswith("results_"):
                shutil.copy(file, folder / file.name)
        return folder / source.name
    path = folder / f"log.{name if name in ('csv', 'parquet', 'jsonl') else 'json'}"
    if name == "tau-bench":
        path.write_text(json.dumps(TAU_BENCH))
    elif name == "json":
        path.write_text(json.dumps(ROWS))
    elif name == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif name == "csv":
        pl.DataFrame(ROWS).write_csv(path)
    else:
        pl.DataFrame(ROWS).write_parquet(path)
    return path


def changed(path: Path) -> Path:
    """Make other bytes of a log that say the same: a copy would count once."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    for file in files:
        if file.suffix in (".json", ".xml", ".jsonl"):
            file.write_bytes(file.read_bytes() + b"\n")
        elif file.suffix == ".parquet":
            pl.read_parquet(file).write_parquet(file)
    return path


def outcomes(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Give the outcomes of each task in the order of its attempts, which are numbered from 1."""
    by_task: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_task[row["task_id"]].append(row)
    found = {}
    for task, tries in by_task.items():
        tries.sort(key=lambda row: row["attempt"])
        found[task] = [row["outcome"] for row in tries]
    return found


def numbers(rows: list[dict[str, Any]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        found[row["task_id"]].append(row["attempt"])
    return {task: sorted(tries) for task, tries in found.items()}


@pytest.mark.parametrize("name", [one.name for one in FORMATS])
def test_every_option_is_so_of_every_attempt(
    name: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(log_of(name, tmp_path / "a"), **OPTIONS, tags={"split": "private"})
    assert [(one.status, one.format) for one in loaded.report.files] == [("landed", name)]
    assert loaded.attempts
    for row in loaded.attempts:
        assert {column: row[column] for column in OPTIONS} == OPTIONS
        assert row["tags"]["split"] == "private"
    assert {row["run_id"] for row in loaded.expected} <= {"R"}
    assert {row["suite"] for row in loaded.expected} <= {"S"}


@pytest.mark.long
@pytest.mark.parametrize("name", NUMBERED_ON)
def test_logs_under_one_run_id_are_numbered_on(
    name: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    first = log_of(name, tmp_path / "a")
    second = changed(log_of(name, tmp_path / "b"))
    alone = harness_log(first, run_id="R", suite="S")
    both = harness_log(second, first, run_id="R", suite="S")
    assert [one.status for one in both.report.files] == ["landed", "landed"]
    assert {row["run_id"] for row in both.attempts} == {"R"}
    for task, tries in numbers(alone.attempts).items():
        most = tries[-1]
        assert numbers(both.attempts)[task] == sorted([*tries, *(most + n for n in tries)])
        assert outcomes(both.attempts)[task] == outcomes(alone.attempts)[task] * 2
    # The one that was named first has the first numbers.
    key = ("task_id", "attempt")
    kept = {tuple(row[k] for k in key) for row in both.attempts if "/b/" in row["source_file"]}
    assert kept == {tuple(row[k] for k in key) for row in alone.attempts}
    wanted = {row["task_id"]: row["expected_attempts"] for row in alone.expected}
    found: dict[str, int] = {}
    for row in both.expected:
        found[row["task_id"]] = max(row["expected_attempts"], found.get(row["task_id"], 0))
    assert found == {task: 2 * times for task, times in wanted.items()}


@pytest.mark.parametrize("name", STAY)
def test_attempts_that_have_their_numbers_keep_them_and_it_is_said(
    name: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    first = log_of(name, tmp_path / "a")
    rows = [row | {"passed": not row["passed"]} for row in ROWS]
    second = tmp_path / "b.jsonl"
    second.write_text("".join(json.dumps(row) + "\n" for row in rows))
    loaded = harness_log(first, second, run_id="R")
    assert numbers(loaded.attempts) == {"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]}
    said = loaded.report.files[1]
    assert said.is_doubtful
    assert said.message.startswith(
        f"Its attempts of R have the same numbers as those of {first}, and other verdicts, so that "
        "neither counts."
    )
    # Copies that agree count once, so there is nothing to say of them.
    agree = harness_log(first, changed(log_of("jsonl", tmp_path / "c")), run_id="R")
    assert not any(one.is_doubtful for one in agree.report.files)


def epoch(folder: Path, number: int) -> Path:
    """Write a log of Inspect with one epoch of two samples, as a run of its own."""
    log = json.loads(CAPITALS.read_text("utf-8"))
    log["eval"]["eval_id"] = f"eval-{number}"
    log["eval"]["config"]["epochs"] = 1
    log["samples"] = [
        {"id": task, "epoch": 1, "scores": {"match": {"value": value}}}
        for task, value in (("a", "C"), ("b", "C" if number == 2 else "I"))
    ]
    path = folder / f"epoch-{number}.json"
    path.write_text(json.dumps(log))
    return path


@pytest.mark.parametrize("glob", [True, False])
def test_evals_of_one_epoch_are_attempts_in_the_order_of_their_names(
    glob: bool, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in (1, 2, 10):
        epoch(folder, number)
    loaded = harness_log(folder / "*.json" if glob else folder, run_id="three")
    assert outcomes(loaded.attempts) == {
        "a": ["passed", "passed", "passed"],
        "b": ["failed", "passed", "failed"],
    }
    tenth = [row["attempt"] for row in loaded.attempts if "epoch-10" in row["source_file"]]
    assert tenth == [3, 3]
    assert loaded.report.files[0].message.startswith(
        "--run-id three takes the place of its run eval-1."
    )


def test_one_more_log_is_numbered_on_and_some_of_them_are_refused(tmp_path: Path) -> None:
    folder, database = tmp_path / "logs", tmp_path / "passk.duckdb"
    folder.mkdir()
    logs = [epoch(folder, number) for number in (1, 2, 3)]
    assert load([logs[0], logs[2]], database=database, run_id="R").statuses == {"landed": 2}
    assert load([logs[0], logs[2]], database=database, run_id="R").statuses == {"unchanged": 2}
    # The one in between makes the last one the third.
    report = load(logs, database=database, run_id="R")
    assert [file.status for file in report.files] == ["unchanged", "landed", "replaced"]
    assert load(folder, database=database, run_id="R").statuses == {"unchanged": 3}
    (refused,) = load(logs[2], database=database, run_id="R").files
    assert refused.status == "failed"
    assert refused.message == (
        f"{logs[2]} landed before as one run with {logs[1]}, which is missing from the command."
    )
    # A log that changed has those after it numbered anew.
    logs[0].write_text(logs[0].read_text() + "\n")
    assert load(logs, database=database, run_id="R").statuses == {"replaced": 3}
    # As a run of another name it stands for itself.
    assert load(logs[2], database=database, run_id="other").statuses == {"replaced": 1}


def test_logs_that_are_loaded_one_after_the_other_are_told_how_to_be_one_run(
    tmp_path: Path,
) -> None:
    folder, database = tmp_path / "logs", tmp_path / "passk.duckdb"
    folder.mkdir()
    first, second = epoch(folder, 1), epoch(folder, 2)
    load(first, database=database, run_id="R")
    (said,) = load(second, database=database, run_id="R").files
    assert said.message.startswith(
        f"Its attempts of R have the same numbers as those of {first}, because each log was loaded "
        f"by itself. Load them together, and they are numbered on: passk load {first} {second} "
        "--run-id R."
    )
    again = load([first, second], database=database, run_id="R")
    assert [file.status for file in again.files] == ["unchanged", "replaced"]
    assert not again.files[1].is_doubtful


@pytest.mark.parametrize("name", ["promptfoo/repeats.json", "harbor/jobs/2026-03-03__10-00-00"])
def test_a_log_of_several_runs_is_refused_in_words(
    name: str, harness_log: Callable[..., Any]
) -> None:
    (file,) = harness_log(FIXTURES / name, run_id="R").report.files
    assert file.status == "failed"
    assert "runs apart (" in file.message
    assert "--run-id R would make one of them" in file.message


def test_a_run_of_one_name_in_parquet_is_numbered_on(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    logs = [log_of("tau-bench", tmp_path / "a"), changed(log_of("tau-bench", tmp_path / "b"))]
    loaded = harness_log(*logs, run_id="R", parquet=tmp_path / "kept", jobs=2)
    assert numbers(loaded.attempts) == {"0": [1, 2, 3, 4], "1": [1, 2, 3, 4]}
