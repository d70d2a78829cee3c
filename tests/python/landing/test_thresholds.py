"""The threshold of scores: obeyed, or refused in words; and what is said where nothing reaches it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.formats import FORMATS
from passk_py.ingest.formats.mappings.mapping import mapping_from

if TYPE_CHECKING:
    from conftest import Landing

FIXTURES = Path(__file__).parents[1] / "formats" / "fixtures"
REFUSED = "--score-threshold decides nothing here: "


def scored(*scores: float, **more: Any) -> list[dict[str, Any]]:
    return [
        {"run_id": "r", "task_id": "t", "attempt": n, "score": score, **more}
        for n, score in enumerate(scores, 1)
    ]


@pytest.mark.parametrize(
    ("scores", "threshold", "said"),
    [
        (
            [0.7, 0.2],
            1.0,
            "No score reaches the threshold, 1: the highest is 0.7, so nothing passed. Say from "
            "where on a score passes with --score-threshold.",
        ),
        ([70, 20], 80.0, "No score reaches the threshold, 80: the highest is 70, so nothing"),
        ([0.7, 0.2], 0.5, ""),
        ([1.0, 0.2], 1.0, ""),
        # An agent that fails everything.
        ([0.0, 0.0], 1.0, ""),
    ],
)
def test_scores_that_none_reaches_the_threshold_of(
    scores: list[float], threshold: float, said: str, landing: Landing
) -> None:
    report = landing.load_one(landing.lines(*scored(*scores)), score_threshold=threshold)
    assert report.message.startswith(said)
    assert bool(report.message) == report.is_doubtful == bool(said)


def test_scores_beside_verdicts_are_held_against_nothing(landing: Landing) -> None:
    assert landing.load_one(landing.lines(*scored(0.7, outcome="failed"))).message == ""


def test_a_log_without_scores_has_nothing_to_hold_against_it(landing: Landing) -> None:
    row = {"run_id": "r", "task_id": "t", "attempt": 1, "outcome": "passed"}
    said = landing.load_one(landing.lines(row), score_threshold=0.5).message
    assert said == (
        REFUSED + "there is no field score among the fields (run_id, task_id, attempt, outcome)."
    )


def test_a_mapping_may_name_a_score_or_none(landing: Landing) -> None:
    path = landing.write("rows.json", json.dumps([{"task": "a", "grade": 0.7, "ok": False}]))
    lines = ["task_id=$.task", "attempt=in_order"]
    by_score = mapping_from([*lines, "score=$.grade"], None)
    assert landing.load_one(path, mapping=by_score, score_threshold=0.5).message == ""
    assert landing.attempts("outcome") == ["passed"]
    assert "the highest is 0.7" in landing.load_one(path, mapping=by_score).message
    assert landing.attempts("outcome") == ["failed"]
    by_flag = mapping_from([*lines, "passed=$.ok"], None)
    said = landing.load_one(path, mapping=by_flag, score_threshold=0.5).message
    assert said == REFUSED + "the mapping does not say where a score is."


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("promptfoo", "promptfoo/single.json"),
        ("deepeval", "deepeval/.deepeval/.latest_test_run.json"),
        ("tracelens", "tracelens/trials.json"),
        ("human-eval", "human_eval/samples.jsonl_results.jsonl"),
    ],
)
def test_formats_with_verdicts_of_their_own_say_so(name: str, file: str, landing: Landing) -> None:
    (known,) = (one for one in FORMATS if one.name == name)
    report = landing.load_one(FIXTURES / file, score_threshold=0.5)
    assert report.status == "landed"
    said = f"{REFUSED}{name} has verdicts of its own ({known.verdict_rule})."
    assert report.message.startswith(said)
