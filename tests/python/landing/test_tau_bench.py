"""tau-bench's result file: its own rules, and the file that its authors publish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Landing

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/data/tau_bench/gpt-4o-airline.json"


def trial(task: Any, number: Any, reward: Any, **info: Any) -> dict[str, Any]:
    info = info or {"task": {"user_id": "x"}, "source": "user", "user_cost": 0.25}
    return {
        "task_id": task,
        "reward": reward,
        "info": info,
        "traj": [{"role": "user", "content": 'a "quoted" ] } word'}] * 3,
        "trial": number,
    }


TRIALS = [
    (trial(0, 0, 1.0), ("0", 1, "passed", None, 1.0)),
    (trial(0, 1, 0.0), ("0", 2, "failed", None, 0.0)),
    (trial("x", 2, 0.9999995), ("x", 3, "passed", None, 0.9999995)),
    (trial(1, 0, 1.0000005), ("1", 1, "passed", None, 1.0000005)),
    (trial(1, 1, 1.1), ("1", 2, "failed", None, 1.1)),
    (trial(1, 2, 0.5), ("1", 3, "failed", None, 0.5)),
    (
        trial(2, 0, 0.0, error="boom", traceback="Traceback ..."),
        ("2", 1, "excluded", "exception", 0.0),
    ),
    (trial(2, 1, 1.0, error="late"), ("2", 2, "passed", None, 1.0)),
    (trial(2, 2, None), ("2", 3, "excluded", "no_verdict", None)),
]


def test_each_trial_is_an_attempt(landing: Landing) -> None:
    file = landing.write("gpt-4o.json", json.dumps([given for given, _ in TRIALS], indent=2))
    report = landing.load_one(file)
    assert (report.format, report.rows_landed) == ("tau-bench", len(TRIALS))
    assert report.message == ""
    assert landing.attempts("task_id, attempt, outcome, outcome_reason, score") == [
        landed for _, landed in TRIALS
    ]
    assert set(landing.attempts("run_id, suite, cost_usd, output_hash, source_format")) == {
        ("gpt-4o", "tau-bench", None, None, "tau-bench")
    }
    assert landing.attempts("source_line") == list(range(1, len(TRIALS) + 1))
    places = [f"{file}#/{place}" for place in range(len(TRIALS))]
    assert sorted(landing.attempts("transcript")) == sorted(places)


def test_what_a_trial_may_not_be(landing: Landing) -> None:
    trials = [
        trial(0, 0, 1.0),
        trial(0, "first", 1.0),
        trial(0, 1.5, 1.0),
        trial(0, -1, 1.0),
        trial(0, None, 1.0),
        trial(None, 3, 1.0),
        trial([0], 3, 1.0),
        trial(0, 3, "good"),
        trial(0, 3, float("nan")),
        "a text",
    ]
    report = landing.load_one(landing.write("log.json", json.dumps(trials)))
    assert report.rows_landed == 1
    assert landing.rejected() == [
        (2, "wrong_type", "trial + 1 is 'first', which is not a whole number."),
        (3, "wrong_type", "trial + 1 is '1.5', which is not a whole number."),
        (4, "out_of_range", "trial + 1 is 0, but attempts are numbered from 1."),
        (5, "missing_field", "attempt is missing; it numbers the tries of a task, from 1."),
        (6, "missing_field", "task_id is missing."),
        (7, "wrong_type", "task_id is a list, which is neither text nor a number."),
        (8, "wrong_type", "reward is 'good', which is not a number."),
        (9, "not_finite", "reward is 'NaN', which is not a finite number."),
        (10, "malformed_line", "The element is not a JSON object but varchar."),
    ]


def test_a_broken_trial_does_not_take_the_others_along(landing: Landing) -> None:
    whole = [json.dumps(trial(0, n, 1.0)) for n in range(3)]
    whole[1] = whole[1].replace('"reward": 1.0', '"reward": one')
    report = landing.load_one(landing.write("log.json", "[" + ", ".join(whole) + "]"))
    assert report.reasons == {"malformed_line": 1}
    assert landing.attempts("attempt") == [1, 3]


def test_options(landing: Landing) -> None:
    file = landing.write("log.json", json.dumps([trial(0, 0, 0.6)]))
    report = landing.load_one(
        file, run_id="r", suite="airline", model="gpt-4o", score_threshold=0.5, format="tau-bench"
    )
    # The threshold is not asked: tau-bench's figures are defined by a reward of 1.
    assert report.message == (
        "--score-threshold decides nothing here: tau-bench has verdicts of its own "
        "(1 - 1e-6 <= reward <= 1 + 1e-6)."
    )
    assert landing.attempts("run_id, suite, model, outcome") == [
        ("r", "airline", "gpt-4o", "failed")
    ]


def test_recognised_by_a_trajectory_longer_than_the_sample(landing: Landing) -> None:
    long = trial(0, 0, 1.0)
    long["traj"] = [{"role": "user", "content": "x" * 3_000_000}]
    report = landing.load_one(landing.write("log.json", json.dumps([long, trial(0, 1, 0.0)])))
    assert (report.format, report.rows_landed) == ("tau-bench", 2)


@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"{PUBLISHED} is not there")
def test_the_published_file(landing: Landing) -> None:
    report = landing.load_one(PUBLISHED)
    assert (report.rows_read, report.rows_landed, report.rows_rejected) == (200, 200, 0)
    assert landing.query(
        "select count(*) filter (outcome = 'passed'), count(distinct task_id), min(attempt), "
        "max(attempt), any_value(run_id), any_value(suite) from landing.attempts"
    ) == [(84, 50, 1, 4, "gpt-4o-airline", "tau-bench")]
    # pass^1..4 as tau-bench's README prints them.
    assert landing.query(
        """
        with counts as (
            select task_id, count(*) as n, count(*) filter (outcome = 'passed') as c
            from landing.attempts group by task_id
        )
        select round(avg(case when c >= k then
            list_product([(c - i)::double / (n - i) for i in range(k)]) else 0 end), 4)
        from counts, range(1, 5) as ks(k) group by k order by k
        """
    ) == [(0.42,), (0.2733,), (0.22,), (0.2,)]


def test_two_results_of_one_name_may_be_two_runs(landing: Landing) -> None:
    """The run is named after the file, and files of two folders may have one name."""
    first = landing.write("a/gpt-4o.json", json.dumps([trial(0, 0, 1.0), trial(0, 1, 1.0)]))
    second = landing.write("b/gpt-4o.json", json.dumps([trial(0, 0, 0.0), trial(0, 1, 1.0)]))
    assert landing.load_one(first).message == ""
    assert landing.load_one(second).message == (
        f"Its run is called gpt-4o after its file or folder, and so is a run in {first}. If they "
        "are two runs, name each with --run-id: attempts that contradict each other are rejected."
    )
    assert landing.load_one(second, run_id="b").message == ""
