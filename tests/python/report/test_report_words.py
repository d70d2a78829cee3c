"""The small parts that the report, the card and Superset are written with."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from passk_py.reports.model_card import Card
from passk_py.reports.model_card.wording import time_of
from passk_py.reports.queries.chosen import any_of, with_text_times
from passk_py.reports.queries.comparison_queries import headline_metrics
from passk_py.reports.report.agent_sentences import interval, spoken, verdict
from passk_py.reports.report.charts import known_ks
from passk_py.reports.report.page_words import signed_points, unwarned
from passk_py.reports.report.suite_section import SuiteSection
from passk_py.reports.report.theme import colour, heat_step, on_paper
from passk_py.reports.superset.datasets import sole


def at_4(reading: str, at: tuple[float, float, float], hat: tuple[float, float, float]) -> Any:
    names = [
        f"{metric}{side}"
        for metric in ("pass_at_k", "pass_hat_k")
        for side in ("", "_lower", "_upper")
    ]
    values = dict(zip(names, (*at, *hat), strict=True))
    return {"k": 4, "reading": reading, "null_reason": None, **values}


def test_a_share_is_written_with_its_limits() -> None:
    row = {"pass_at_k": 0.97, "pass_at_k_lower": 0.909, "pass_at_k_upper": 1.0}
    assert interval(row, "pass_at_k") == "97.0% (90.9 to 100)"


@pytest.mark.parametrize(
    ("ok", "insufficient", "said"),
    [
        (1, 0, "No diagnostic warns: 1 check found nothing."),
        (2, 18, "No diagnostic warns: 2 checks found nothing, and 18 had too little data to tell."),
        (0, 18, "No diagnostic could warn: 18 checks had too little data."),
        (0, 0, "No diagnostic applies to these runs."),
    ],
)
def test_no_warning_is_not_said_of_checks_that_could_not_warn(
    ok: int, insufficient: int, said: str
) -> None:
    verdicts = ["ok"] * ok + ["insufficient"] * insufficient + ["not_applicable"]
    assert unwarned({"verdict": verdict} for verdict in verdicts) == said


def test_the_axes_of_delta_k_have_room_for_estimates_below_0() -> None:
    curve = [
        {"k": 2, "pass_at_k": 0.5, "delta_k": -0.03, "delta_k_lower": None, "delta_k_upper": None},
        {"k": 3, "pass_at_k": 0.5, "delta_k": 0.1, "delta_k_lower": 0.0, "delta_k_upper": 0.2},
    ]
    section = SuiteSection({"runs": [{"curve": curve}]}, {"deployment_k": 3})
    assert section.deltas == (-0.03, 0.2)


def test_a_point_without_a_value_says_why() -> None:
    row = {"k": 4, "pass_hat_k": None, "null_reason": "n < k in 3 of 9 tasks"}
    assert spoken(row, "pass_hat_k") == "pass^4 is not known: n < k in 3 of 9 tasks"


@pytest.mark.parametrize(
    ("label", "row", "said"),
    [
        (
            "walker",
            at_4("capable but flaky", (0.97, 0.909, 0.994), (0.385, 0.28, 0.5)),
            "walker is capable but flaky: pass@4 97.0% (90.9 to 99.4), pass^4 38.5% (28.0 to 50.0), short of 95%. "
            "Have its output reviewed.",
        ),
        (
            "tiny",
            at_4("capable and consistent", (1.0, 0.9, 1.0), (1.0, 0.9, 1.0)),
            "tiny is capable and consistent: pass@4 100% (90.0 to 100), pass^4 100% (90.0 to 100), which may be "
            "short of 95%. Perhaps it can run unattended.",
        ),
    ],
)
def test_a_reading_is_said_in_a_sentence(label: str, row: Any, said: str) -> None:
    facts = {"deployment_k": 4, "capable_threshold": 0.8, "consistent_threshold": 0.95}
    assert verdict({"label": label, "is_sure": False, "curve": [row]}, facts) == said


def test_a_difference_is_written_in_points_with_its_limits() -> None:
    assert (
        signed_points({"d": -0.107, "d_lower": -0.155, "d_upper": -1e-9}, "d")
        == "-10.7 (-15.5 to below 0)"
    )


def test_a_k_is_known_where_a_run_has_a_value() -> None:
    assert known_ks([{"curve": [{"k": 1, "pass_at_k": 0.5}, {"k": 2, "pass_at_k": None}]}]) == [1]


def test_colours_are_named_for_pages_and_written_out_on_paper() -> None:
    assert colour("ink") == "var(--ink)"
    assert on_paper('fill="var(--paper)"') == 'fill="#ffffff"'


def test_the_heat_map_has_a_step_for_each_share() -> None:
    assert [heat_step(share) for share in (0.0, 0.1, 0.25, 0.99, 1.0)] == [0, 1, 2, 4, 5]


def test_a_card_is_a_json_document() -> None:
    assert Card({"passk_card": 1}).json() == '{\n  "passk_card": 1\n}\n'


def test_times_are_written_to_the_second_and_as_iso_8601() -> None:
    assert time_of("2026-03-09T07:16:15.900000Z") == "2026-03-09 07:16:15 UTC"
    rows = with_text_times([{"k": 4, "started_at": datetime(2026, 1, 2)}])
    assert rows == [{"k": 4, "started_at": "2026-01-02T00:00:00Z"}]


def test_conditions_and_metrics_are_written_in_sql() -> None:
    assert any_of("run_id", ["old", "new"]) == "run_id in ('old', 'new')"
    assert sole("pass_hat_k") == "case when count(*) = 1 then max(pass_hat_k) end"


def test_pass_at_1_is_shown_beside_both_metrics() -> None:
    assert headline_metrics(4) == [("pass_at_k", 1), ("pass_at_k", 4), ("pass_hat_k", 4)]
