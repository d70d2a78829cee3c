"""``passk convert``: other tools read the same numbers, and no fact is invented."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import duckdb
import pytest
import yaml

from passk_py.cli.convert import command
from passk_py.reports.conversions import CONVERSIONS
from passk_py.reports.conversions.asked import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Said

    Passk = Callable[..., Said]

LAST = {
    run: int(datetime(2026, 1, day, 0, 0, 4, tzinfo=UTC).timestamp())
    for run, day in (("old", 1), ("new", 2))
}
"""The seconds at which the last attempt of a run began."""

ENTRY = ("eval-results", "-o", "e.yaml", "--run", "new", "--dataset", "org/bench", "--task", "all")
RECORD = ("every-eval-ever", "-o", "eee", "--organization", "Lab", "--relationship", "other")


def query(sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect("passk.duckdb", read_only=True) as connection:
        return connection.execute(sql).fetchall()


def values(metric: str, where: str = "true") -> dict[Any, tuple[float, float, float]]:
    """Give what the table has, by run and k."""
    rows = query(
        f"select run_id, k, {metric}, {metric}_lower, {metric}_upper from passk_suite_metrics "
        f"where slice_name = 'all' and {metric} is not null and {where}"
    )
    return {(run, k): (value, lower, upper) for run, k, value, lower, upper in rows}


@pytest.fixture
def set_model(change: Callable[..., None]) -> Callable[[str], None]:
    """Gives the runs of the log a model."""

    def set_of(model: str) -> None:
        change(
            f"create table with_model as select * replace ('{model}' as model) from passk_runs",
            "drop view passk_runs",
            "alter table with_model rename to passk_runs",
        )

    return set_of


def test_attempts_come_back_from_a_log_of_inspect(passk: Passk, letters: Path) -> None:
    said = passk("convert", "inspect", "-o", "logs")
    assert (said.code, said.err) == (0, "")
    files = sorted(Path("logs").iterdir())
    assert said.out.splitlines() == [str(path) for path in files]
    assert passk("load", "logs", "--database", "again.duckdb").code == 0
    kept = "run_id, suite, task_id, attempt, outcome, agent, started_at"
    query_of = f"select {kept} from {{}} order by all"
    with duckdb.connect("again.duckdb") as connection:
        found = connection.execute(query_of.format("landing.attempts")).fetchall()
    assert found == query(query_of.format("passk_attempts"))


def test_a_log_of_inspect_has_its_own_accuracy(passk: Passk, letters: Path) -> None:
    assert passk("convert", "inspect", "--run", "new", "-o", "logs").code == 0
    (log,) = (json.loads(path.read_text()) for path in Path("logs").iterdir())
    scored = [sample["scores"]["passk"]["value"] for sample in log["samples"] if sample["scores"]]
    accuracy = log["results"]["scores"][0]["metrics"]["accuracy"]["value"]
    # The log in letters is PPPF, FPFP, FPPX; X is an error, and has no score.
    assert (scored.count("C"), len(scored), len(log["samples"])) == (7, 11, 12)
    assert accuracy == 7 / 11
    assert [sample["error"]["message"] for sample in log["samples"] if "error" in sample] == [
        "excluded"
    ]


def test_gauges_are_the_values_of_the_table(passk: Passk, letters: Path) -> None:
    assert passk("convert", "otel-metrics", "-o", "m.json").code == 0
    (scope,) = json.loads(Path("m.json").read_text())["resourceMetrics"][0]["scopeMetrics"]
    found: dict[str, dict[Any, float]] = {}
    for metric in scope["metrics"]:
        for point in metric["gauge"]["dataPoints"]:
            of = {one["key"]: one["value"] for one in point["attributes"]}
            key = (of["passk.run.id"]["stringValue"], int(of["passk.k"]["intValue"]))
            found.setdefault(metric["name"], {})[key] = point["asDouble"]
            assert int(point["timeUnixNano"]) == 1_000_000_000 * LAST[key[0]]
    for metric in ("pass_at_k", "pass_hat_k"):
        for place, ending in enumerate(("", ".lower", ".upper")):
            expected = {key: numbers[place] for key, numbers in values(metric).items()}
            assert found[f"passk.{metric}{ending}"] == expected


def test_an_entry_is_pass_at_1_unless_asked_otherwise(passk: Passk, letters: Path) -> None:
    assert passk("convert", *ENTRY).code == 0
    (entry,) = yaml.safe_load(Path("e.yaml").read_text())
    value, lower, upper = values("pass_at_k")["new", 1]
    assert entry["dataset"] == {"id": "org/bench", "task_id": "all"}
    assert entry["value"] == value
    assert entry["date"] == "2026-01-02T00:00:04Z"
    assert entry["notes"] == (
        f"pass@1, 3 tasks, 11 attempts, 95% interval {lower:.4g} to {upper:.4g}"
    )
    more = ("--metric", "pass_hat_k", "--k", 2, "--percent", "--source-url", "https://a.example")
    assert passk("convert", *ENTRY, *more).code == 0
    (entry,) = yaml.safe_load(Path("e.yaml").read_text())
    assert entry["value"] == 100 * values("pass_hat_k")["new", 2][0]
    assert entry["source"] == {"url": "https://a.example"}
    assert entry["notes"].startswith("pass^2, 3 tasks, 11 attempts, 95% interval ")


def test_a_record_has_each_value_with_its_interval(
    passk: Passk, set_model: Callable[[str], None]
) -> None:
    set_model("maker/model:1")
    said = passk("convert", *RECORD, "--run", "new", "--dataset", "org/bench")
    assert (said.code, said.err) == (0, "")
    (path,) = map(Path, said.out.split())
    assert path.parent == Path("eee/data/letters/maker/model_1")
    record = json.loads(path.read_text())
    found: dict[str, dict[Any, tuple[float, float, float]]] = {}
    for result in record["evaluation_results"]:
        config, details = result["metric_config"], result["score_details"]
        interval = details["uncertainty"]["confidence_interval"]
        key = ("new", config["metric_parameters"]["k"])
        numbers = (details["score"], interval["lower"], interval["upper"])
        found.setdefault(config["metric_id"], {})[key] = numbers
        assert interval["confidence_level"] == 0.95
        assert result["source_data"]["hf_repo"] == "org/bench"
    for metric in ("pass_at_k", "pass_hat_k"):
        assert found[metric] == values(metric, "run_id = 'new'")
    # The next call replaces the file.
    assert passk("convert", *RECORD, "--run", "new").out.split() == [str(path)]


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (ENTRY[:3], "An entry names the dataset of the benchmark, which the log does not know.",
         "Give it with --dataset."),
        (("eval-results", "-o", "e.yaml", "--dataset", "a/b", "--task", "c"),
         "An entry is of one run, and these are 2.",
         "Choose it with --run, and with --suite if it has several."),
        ((*ENTRY, "--k", "1", "--k", "2"), "An entry has one number, for one k.", "Give --k once."),
        ((*ENTRY, "--k", "8"),
         "pass@8 of run new in suite letters is null: n < 8 in 3 of 3 tasks.", None),
        (("eval-results", "-o", "e.json"), "e.json does not end in .yaml.",
         "eval-results is one file: give its name with -o."),
        (("inspect", "-o", "logs", "--percent"), "inspect takes no --percent.", None),
        (("inspect", "-o", "logs", "--k", "2"), "inspect takes no --k.", None),
        (("otel-metrics", "-o", "m.json", "--run", "newer"), "There is no run newer", None),
        (RECORD[:3], "A record names the organization that evaluated, which the log does not know.",
         "Give it with --organization."),
        (RECORD, "A record names one model, and run new in suite letters has none, or several.",
         "Load the log with --model, or choose other runs with --run."),
    ],
)  # fmt: skip
def test_facts_that_are_missing_are_asked_for(
    words: tuple[str, ...], error: str, hint: str | None, passk: Passk, letters: Path
) -> None:
    said = passk("convert", *words)
    assert said.code == 2
    assert said.out == ""
    assert error in said.err
    assert hint is None or hint in said.err
    assert sorted(path.name for path in Path().iterdir()) == [".passk", "passk.duckdb"]


@pytest.mark.parametrize(
    ("model", "words", "error"),
    [
        ("model", (), "A record names the developer of model, which the log does not know."),
        ("maker/..", (), "run new in suite letters can't be filed: '..' is no name of a folder"),
        ("mo<del", ("--developer", "m"), "can't be filed: 'mo<del' is no name of a folder there."),
    ],
)
def test_a_name_that_is_no_folder_is_refused(
    model: str, words: tuple[str, ...], error: str, passk: Passk, set_model: Callable[[str], None]
) -> None:
    set_model(model)
    said = passk("convert", *RECORD, "--run", "new", *words)
    assert (said.code, said.out) == (2, "")
    assert error in said.err
    assert not Path("eee").exists()


READ_BY_OTHERS: Final = """
import glob, json
from google.protobuf import json_format
from huggingface_hub import parse_eval_result_entries
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import pass_at
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest as Request,
)
import yaml

(path,) = glob.glob("logs/*.json")
log = read_eval_log(path)
by_task = {}
for sample in log.samples:
    if sample.error is None:
        by_task.setdefault(sample.id, []).append(sample.scores["passk"])
(entry,) = parse_eval_result_entries(yaml.safe_load(open("e.yaml")))
request = json_format.Parse(open("m.json").read(), Request())
gauges = {
    metric.name: [point.as_double for point in metric.gauge.data_points]
    for metric in request.resource_metrics[0].scope_metrics[0].metrics
}
means = [pass_at(2)(scores).value for scores in by_task.values()]
print(json.dumps([sum(means) / len(means), entry.value, gauges["passk.pass_hat_k"]]))
"""


def test_the_command_offers_every_conversion_and_metric() -> None:
    offered = {one.name: one.type for one in command.params}
    for name, known in (("format", CONVERSIONS), ("metric", METRICS)):
        choice = offered[name]
        assert isinstance(choice, click.Choice)
        assert list(choice.choices) == list(known)


@pytest.mark.long
def test_the_tools_themselves_read_the_same_numbers(passk: Passk, letters: Path) -> None:
    python = os.environ.get("PASSK_OTHER_TOOLS")
    if not python:
        pytest.skip(
            "PASSK_OTHER_TOOLS names no Python with inspect_ai, huggingface_hub, opentelemetry-proto"
        )
    assert passk("convert", "inspect", "--run", "new", "-o", "logs").code == 0
    assert passk("convert", "otel-metrics", "--run", "new", "-o", "m.json").code == 0
    assert passk("convert", *ENTRY).code == 0
    done = subprocess.run(
        [python, "-c", READ_BY_OTHERS], capture_output=True, text=True, check=True
    )
    mean, value, gauges = json.loads(done.stdout)
    at_k, hat_k = values("pass_at_k", "run_id = 'new'"), values("pass_hat_k", "run_id = 'new'")
    assert mean == pytest.approx(at_k["new", 2][0], rel=1e-12)
    assert value == at_k["new", 1][0]
    assert gauges == [hat_k[key][0] for key in sorted(hat_k)]
