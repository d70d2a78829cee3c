"""How long tasks may be, in sentences, and the chart of it."""

from __future__ import annotations

from typing import Any

import pytest

from passk_py.reports.length_words import horizon_sentences, length
from passk_py.reports.report.charts import over_length


def row(**told: Any) -> dict[str, Any]:
    return {
        "run_id": "r", "difficulty": "minutes", "k": 4, "horizon": 8.234, "horizon_lower": 2.4,
        "horizon_upper": 20.0, "null_reason": None, "shortest": 1.0, "longest": 64.0,
        "curve_level": 3.0, "curve_slope": -1.0, "curve_power": 2.0, **told,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "pass^4 of r is one half at minutes 8.23 (2.4 to 20)."),
        ({"horizon_upper": None}, "pass^4 of r is one half at minutes 8.23 (2.4 or more)."),
        ({"horizon_lower": None}, "pass^4 of r is one half at minutes 8.23 (20 or less)."),
        (
            {"horizon_lower": None, "horizon_upper": None},
            "pass^4 of r is one half at minutes 8.23 (limits not known).",
        ),
        (
            {"horizon": None, "null_reason": "pass^k does not fall with length"},
            "pass^4 of r does not fall with length.",
        ),
        (
            {"horizon": None, "null_reason": "fewer than 10 tasks"},
            "The length at which pass^4 of r is one half is not known: fewer than 10 tasks.",
        ),
    ],
)
def test_a_horizon_is_said_with_its_limits(told: dict[str, Any], said: str) -> None:
    assert horizon_sentences([row(**told)]) == [said]


def test_the_last_runs_are_said() -> None:
    found = horizon_sentences([row(run_id=f"r{number}") for number in range(6)])
    assert len(found) == 5
    assert found[0].startswith("pass^4 of r2 ")
    assert found[-1] == "2 other runs in passk_horizons."


def test_long_lengths_are_whole() -> None:
    assert [length(value) for value in (0.12345, 12.0, 1234.5)] == ["0.123", "12", "1,234"]


def test_the_chart_marks_horizon_and_limits() -> None:
    bins = [
        {
            "k": 4, "difficulty": "minutes", "shortest": 1.0, "longest": 64.0, "typical_length": 8.0, "tasks": 9,
            "pass_hat_k": 0.5, "pass_hat_k_lower": 0.25, "pass_hat_k_upper": 0.75,
        }
    ]  # fmt: skip
    run = {
        "run_id": "r",
        "colour": "quiet",
        "length_bins": bins,
        "horizons": [row(horizon_upper=None)],
    }
    drawn = str(over_length(run))
    assert "r: pass^4 of 9 tasks from 1 to 64 is 50.0% (25.0 to 75.0)" in drawn
    assert "r: pass^4 is one half at 8.23 (2.4 or more)" in drawn
    # An open limit reaches to the end of the axis.
    assert "'upper': 64.0" in drawn
    assert over_length({**run, "length_bins": []}) is None
