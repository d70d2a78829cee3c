"""Frames of pandas, PyArrow and DuckDB at the door of the functions that take frames."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import passk_py as pk
from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Callable

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

LOG: Final = pl.DataFrame(
    [
        {
            "run_id": run, "suite": "s", "task_id": f"t{task:02}", "attempt": number,
            "outcome": {"P": "passed", "F": "failed", "X": "excluded"}[letter],
            "agent": None if run == "old" else "bot", "seed": None if number == 2 else number,
            "cost_usd": None if number == 3 else float(number),
        }
        for run, words in {"old": ["PPPP", "PPFP", "FXFF"] * 4, "new": ["PPPP", "PFFP", "PFFF"] * 4}.items()
        for task, word in enumerate(words)
        for number, letter in enumerate(word, 1)
    ]
)  # fmt: skip
COUNTS: Final = pl.DataFrame({"n": [8, 3], "c": [5, None]})
LABELS: Final = pl.DataFrame(
    [
        {"run_id": run, "suite": "s", "task_id": f"t{task:02}", "attempt": 1, "verdict": "passed" if task % 5 else "failed"}
        for run in ("old", "new")
        for task in range(12)
    ]
)  # fmt: skip
RULE: Final = {"name": "g", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.5, "run": "new"}  # fmt: skip
CALLS: Final[dict[str, Callable[[Any], Any]]] = {
    "task_counts": pk.task_counts,
    "tasks": pk.tasks,
    "task_metrics": lambda log: pk.task_metrics(log, ks=[1, 2]),
    "suite_metrics": lambda log: pk.suite_metrics(log, ks=[1, 2]),
    "m_of_k_metrics": lambda log: pk.m_of_k_metrics(log, [(1, 2)]),
    "threshold_metrics": lambda log: pk.threshold_metrics(log, [0.5], ks=[2]),
    "compare": lambda log: pk.compare(log, "old", "new", ks=[2]),
    "compare_tasks": lambda log: pk.compare_tasks(log, "old", "new"),
    "run_costs": lambda log: pk.run_costs(log, min_eligible_share=0.5),
    "cost_curves": lambda log: pk.cost_curves(log, ks=[2], min_eligible_share=0.5),
    "task_costs": lambda log: pk.task_costs(log, ks=[2]),
    "compare_costs": lambda log: pk.compare_costs(log, "old", "new", min_eligible_share=0.5),
    "cost_frontier": lambda log: pk.cost_frontier(log, ks=[2], min_eligible_share=0.5),
    "rank_runs": lambda log: pk.rank_runs(log, ks=[2]),
    "trends": lambda log: pk.trends(log, ks=[2]),
    "diagnose": pk.diagnose,
    "lost_reliability": lambda log: pk.lost_reliability(log, [2]),
    "difficulty_curve": lambda log: pk.difficulty_curve(log, "attempt", [2]),
    "horizons": lambda log: pk.horizons(log, "attempt", [2]),
    "plan": lambda log: pk.plan(log, ks=[2]),
    "extrapolate": lambda log: pk.extrapolate(log, ks=[8]),
    "bootstrap_limits": lambda log: pk.bootstrap_limits(log, ks=[2], resamples=100),
    "contamination": lambda log: pk.contamination(log, [{"public": "s", "private": "s2"}]),
    "grader_rates": lambda log: pk.grader_rates(log, LABELS),
    "corrected_metrics": lambda log: pk.corrected_metrics(log, LABELS, ks=[2]),
    "judge_agreement": lambda log: pk.judge_agreement(log, LABELS),
    "attempts_to_label": lambda log: pk.attempts_to_label(log, LABELS, passes=3, failures=3),
    "judge_gates": lambda log: pk.judge_gates(log, [RULE]),
    "k_sweep": lambda _log: None,
}


def as_polars(result: Any) -> pl.DataFrame:
    return pl.DataFrame(result) if isinstance(result, pl.DataFrame) else pl.from_arrow(
        result if isinstance(result, pyarrow.Table) else pyarrow.Table.from_pandas(result)
    )  # fmt: skip


def test_every_function_that_takes_a_frame_takes_any() -> None:
    taking = {
        name
        for name in pk.__all__
        if inspect.isfunction(function := getattr(pk, name))
        and next(iter(inspect.signature(function).parameters), "") in ("attempts", "frame")
    }
    assert taking == set(CALLS)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
@pytest.mark.parametrize("name", sorted(set(CALLS) - {"k_sweep"}))
def test_a_frame_comes_back_in_kind_with_the_same_values(name: str, kind: str) -> None:
    expected = CALLS[name](LOG)
    given = LOG.to_pandas() if kind == "pandas" else LOG.to_arrow()
    found = CALLS[name](given)
    assert isinstance(found, pandas.DataFrame if kind == "pandas" else pyarrow.Table)
    assert list(found.columns if kind == "pandas" else found.column_names) == expected.columns
    if kind == "pyarrow":
        assert_frame_equal(
            pl.from_arrow(found), expected, check_dtypes=False, categorical_as_str=True
        )
    else:
        assert found.to_dict("list").keys() == expected.to_dict(as_series=False).keys()
        numbers = [column for column, kind in expected.schema.items() if kind.is_float()]
        assert not numbers or found[numbers].isna().to_numpy().tolist() == [
            [value is None for value in row] for row in expected.select(numbers).rows()
        ]
        for column in numbers:
            values = [value for value in found[column].tolist() if value == value]  # noqa: PLR0124 - no NaN
            assert values == expected[column].drop_nulls().to_list()


def test_counts_are_swept_in_kind() -> None:
    found = pk.k_sweep(COUNTS.to_arrow(), ks=[1, 2])
    assert_frame_equal(pl.from_arrow(found), pk.k_sweep(COUNTS, ks=[1, 2]))


def test_an_index_of_pandas_does_not_matter() -> None:
    shuffled = LOG.to_pandas().sample(frac=1, random_state=1)
    expected = pk.suite_metrics(LOG, ks=[1, 2])
    found = pk.suite_metrics(attempts=shuffled, ks=[1, 2])
    assert found["pass_hat_k"].tolist() == expected["pass_hat_k"].to_list()


def test_a_relation_of_duckdb_is_collected() -> None:
    with duckdb.connect() as connection:
        log = LOG  # noqa: F841 - DuckDB finds it by its name
        found = pk.suite_metrics(connection.sql("select * from log"), ks=[1, 2])
    assert_frame_equal(found, pk.suite_metrics(LOG, ks=[1, 2]))


@pytest.mark.parametrize("given", [[{"run_id": "r"}], "log.csv", 7, {"run_id": ["r"]}])
def test_what_is_no_frame_is_refused(given: Any) -> None:
    with pytest.raises(PasskError, match="tasks: attempts must be a frame, not"):
        pk.tasks(given)
