"""METR: its own averages, the order of runs, errors, minutes of people, bad files."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "metr"
RUNS = FIXTURES / "runs.jsonl"
FIGURES: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"][
    "runs.jsonl"
]["figures"]


@pytest.mark.parametrize("alias", FIGURES)
def test_gives_the_averages_of_the_analysis(alias: str, harness_log: Callable[..., Any]) -> None:
    passes, families = defaultdict(list), {}
    for row in harness_log(RUNS).attempts:
        if row["run_id"] == alias:
            passes[row["task_id"]].append(row["outcome"] == "passed")
            families[row["task_id"]] = row["tags"]["task_family"]
    means = {task: mean(said) for task, said in passes.items()}
    said = FIGURES[alias]
    assert {task: round(one, 3) for task, one in means.items()} == said["tasks"]
    assert mean(means.values()) == pytest.approx(said["average"]["equal"], rel=1e-12)
    sizes = list(families.values())
    weights = {task: 1 / math.sqrt(sizes.count(families[task])) for task in means}
    weighted = sum(means[task] * weights[task] for task in means) / sum(weights.values())
    assert weighted == pytest.approx(said["average"]["invsqrt"], rel=1e-12)


def test_a_run_spelled_out(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(RUNS).attempts
    (row,) = [
        row
        for row in rows
        if (row["run_id"], row["task_id"], row["attempt"]) == ("Mock-1", "größe/large", 2)
    ]
    expected = {
        "suite": "metr",
        "outcome": "failed",
        "score": 0.25,
        "agent": "Mock-1",
        "model": "mock-1-0601",
        "duration_s": 1.5,
        "cost_usd": 0.5,
        "tags": {
            "human_minutes": "45.0",
            "human_source": "baseline",
            "task_family": "größe",
            "task_source": "HCAST",
            "task_version": "1.0.2",
        },
    }
    assert {name: row[name] for name in expected} == expected
    assert str(row["started_at"]) == "2026-11-18 11:08:40"
    # A time of 0 is none.
    (person,) = [row for row in rows if row["run_id"] == "human"]
    assert (person["started_at"], person["duration_s"]) == (None, None)


def test_a_graded_error_stays_as_it_was_graded(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(RUNS)
    found = {
        (row["run_id"], row["task_id"], row["attempt"]): (row["outcome"], row["outcome_reason"])
        for row in loaded.attempts
        if row["outcome_reason"]
    }
    assert found == {
        ("Mock-2", "größe/small", 1): ("passed", "usageLimits"),
        ("Mock-2", "größe/large", 1): ("failed", "agent"),
    }


def test_every_run_has_the_minutes_of_people(harness_log: Callable[..., Any]) -> None:
    minutes = {
        row["task_id"]: float(row["tags"]["human_minutes"]) for row in harness_log(RUNS).attempts
    }
    said = {"größe/small": 2.5, "größe/large": 45.0, "größe/huge": 480.0, "words/one": 0.1}
    assert minutes == said


@pytest.fixture
def lines_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a file of these lines."""

    def loaded(*rows: Any) -> Any:
        path = tmp_path / "all_runs.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("\n".join(lines), "utf-8")
        return harness_log(path)

    return loaded


def run(task: Any, verdict: Any, **more: Any) -> dict[str, Any]:
    """Make a line as METR writes it."""
    made = {"task_id": task, "alias": "A", "score_binarized": verdict, "human_minutes": 1.0}
    return {**made, "started_at": None, "completed_at": None, **more}


def test_without_a_score_the_error_decides(lines_of: Callable[..., Any]) -> None:
    sources = ("agent", "usageLimits", "server", "serverOrTask", "user", None)
    lines = [run(str(one), None, fatal_error_from=one) for one in sources]
    loaded = lines_of(*lines, run("graded", 0, fatal_error_from="server"))
    assert {task: outcome for (task, _), outcome in loaded.verdicts().items()} == {
        "agent": "failed",
        "usageLimits": "failed",
        "server": "excluded",
        "serverOrTask": "excluded",
        "user": "excluded",
        "None": "excluded",
        "graded": "failed",
    }
    assert loaded.reasons()["None", 1] == "no_verdict"


def test_runs_without_times_are_numbered_by_their_lines(lines_of: Callable[..., Any]) -> None:
    loaded = lines_of(run("a", 1.0), run("a", 0.0), run("a", True), run("a", 1, started_at=0.0))
    assert list(loaded.verdicts().values()) == ["passed", "failed", "passed", "passed"]


def test_lines_of_wrong_types(lines_of: Callable[..., Any]) -> None:
    loaded = lines_of(
        run("a", 1),
        run("b", 0.5),
        run(None, 1),
        run("c", 1, generation_cost=-1),
        run("d", 1, human_minutes={"a": 1}),
        run("e", 1, started_at="2026", completed_at="x", score_cont="high"),
        run("f", 1, started_at=1e300, completed_at=1),
        '{"task_id": "g", ',
    )
    assert {task for task, _ in loaded.verdicts()} == {"a", "f"}
    assert loaded.report.rows_rejected == 6
    assert {row["reason_code"] for row in loaded.rejected} == {
        "wrong_type", "missing_field", "out_of_range", "truncated",
    }  # fmt: skip


def test_tags_are_the_slices_that_a_line_has(lines_of: Callable[..., Any]) -> None:
    tags = {
        "scaffold": "s",
        "task_family": "f",
        "task_source": "o",
        "task_version": "1",
        "human_source": "baseline",
    }
    missing: tuple[tuple[str, ...], ...] = (
        *((), ("scaffold",), ("human_source",), ("human_source", "scaffold"), tuple(tags)),
    )
    lines = [
        # Values that differ by attempt are no slices.
        run(
            *(str(place), 1),
            **{name: tag for name, tag in tags.items() if name not in names},
            run_id="r",
            tokens_count=5,
        )
        for place, names in enumerate(missing)
    ]
    found = {row["task_id"]: list(row["tags"].items()) for row in lines_of(*lines).attempts}
    every = {"human_minutes": "1.0", **tags}
    assert found == {
        str(place): sorted((name, tag) for name, tag in every.items() if name not in names)
        for place, names in enumerate(missing)
    }
