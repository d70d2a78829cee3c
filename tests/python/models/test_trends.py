"""Trends from run to run: lines by hand, SQL beside polars, and lines that can't be drawn."""

from __future__ import annotations

import json
import math
import random
import statistics
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from click.testing import CliRunner

import passk_py as pk
from passk_py.cli import cli
from passk_py.reports.trend_words import trend_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conftest import Project

Rows = list[dict[str, Any]]

KS: Final = [1, 2, 4, 5]
VARS: Final = {"passk_ks": KS, "passk_deployment_k": 2, "passk_ordered_metrics": False}
ORDER: Final = ["suite", "last_run_id", "metric", "k"]


def some_log() -> Rows:
    """Agents that fall, stay, are perfect, have few runs or changing tasks, and a nameless one."""
    dice = random.Random(20)
    rows: Rows = []
    rates = [dice.betavariate(4, 1) for _ in range(30)]
    for agent, nights in (
        ("falls", 14), ("stays", 7), ("perfect", 6), ("few", 4), ("once", 1), ("grows", 6), (None, 6), ("short", 5), ("outage", 8),
        ("alone", 2), ("cut", 7), ("cut last", 6),
    ):  # fmt: skip
        for night in range(nights):
            for task in range(30):
                if agent == "grows" and task >= 20 + 2 * night:
                    continue
                if agent == "outage" and night == 3 and task >= 5:
                    continue
                if agent == "alone" and night == 0 and task >= 5:
                    continue
                rate = 1.0 if agent == "perfect" else rates[task]
                if agent == "falls":
                    rate *= 1 - 0.06 * night
                attempts = 2 if agent == "short" and task == 3 and night == 2 else 4
                if (agent, night) in (("cut", 3), ("cut last", 5)):
                    attempts = 2
                rows += [
                    {
                        "run_id": f"{agent}-{night + 1:02}", "suite": "suite", "agent": agent,
                        "task_id": f"t{task:02}", "attempt": attempt,
                        "outcome": "excluded" if (agent, night) == ("outage", 5)
                        else "passed" if dice.random() < rate else "failed",
                        "started_at": datetime(2026, 1, 1) + timedelta(days=night),
                    }
                    for attempt in range(1, attempts + 1)
                ]  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def log() -> Rows:
    return some_log()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], log: Rows) -> Project:
    made = make_project()
    made.land(log)
    made.run(VARS)
    made.run(VARS, command="test", select=["passk_trends", "int_passk__trend_values"])
    return made


@pytest.fixture(scope="module")
def rows(built: Project) -> dict[tuple[str | None, str, int], dict[str, Any]]:
    found = built.records("select * from passk_trends")
    return {(row["agent"], row["metric"], row["k"]): row for row in found}


def test_verdicts_are_those_that_the_agents_deserve(
    rows: dict[tuple[str | None, str, int], dict[str, Any]],
) -> None:
    agents = {agent for agent, _, _ in rows}
    assert agents == {
        "falls",
        "stays",
        "perfect",
        "few",
        "grows",
        None,
        "short",
        "outage",
        "alone",
        "cut",
        "cut last",
    }
    falls = rows["falls", "pass_hat_k", 2]
    assert (falls["verdict"], falls["runs"], falls["first_run_id"]) == ("falling", 12, "falls-03")
    assert falls["meaning"].startswith("pass^2 falls over 12 runs: -0.0")
    perfect = rows["perfect", "pass_hat_k", 2]
    assert (perfect["slope"], perfect["verdict"]) == (0, "no_trend")
    assert perfect["slope_lower"] < -0.001
    assert rows["few", "pass_at_k", 1]["meaning"] == (
        "Not known: a trend takes at least 5 runs with n >= 1 in the same tasks, and there are 4."
    )
    # Of six runs, those of 28 and of 30 tasks have 90 % of the last one's.
    assert rows["grows", "pass_at_k", 1]["null_reason"] == (
        "a trend takes at least 5 runs with n >= 1 in the same tasks, and there are 2"
    )
    # All runs before the last one have tried other tasks.
    assert rows["alone", "pass_at_k", 1]["null_reason"].endswith("and there is 1")
    # The run in which nothing was graded is left out, and the one of few tasks.
    assert (rows["outage", "pass_at_k", 1]["runs"], rows["outage", "pass_at_k", 1]["tasks"]) == (
        6,
        30,
    )
    assert rows["outage", "pass_at_k", 1]["left_out_runs"] == 2
    assert (
        rows["stays", "pass_hat_k", 5]["null_reason"] == "n < 5 in 30 of 30 tasks of the last run"
    )
    short, whole = rows["short", "pass_hat_k", 4], rows["short", "pass_hat_k", 1]
    assert (short["tasks"], short["common_tasks"], whole["tasks"]) == (29, 30, 30)
    # (25 - 1) / 8 / 10 of a task of thirty, to either side of the other 29.
    middle = (short["slope_upper"] + short["slope_lower"]) / 2
    assert middle == pytest.approx(short["slope"] * 29 / 30, rel=1e-12)


def test_a_night_cut_short_is_left_out_at_the_k_that_it_lacks(
    rows: dict[tuple[str | None, str, int], dict[str, Any]],
) -> None:
    pair, four = rows["cut", "pass_hat_k", 2], rows["cut", "pass_hat_k", 4]
    assert (pair["runs"], pair["left_out_runs"], four["runs"], four["left_out_runs"]) == (
        7,
        0,
        6,
        1,
    )
    assert "over 7 runs: " in pair["meaning"]
    assert "over 6 runs (1 left out): " in four["meaning"]
    # Nothing is left out for a last run that is cut short.
    last = rows["cut last", "pass_hat_k", 4]
    assert last["null_reason"] == "n < 4 in 30 of 30 tasks of the last run"
    assert rows["cut last", "pass_hat_k", 2]["runs"] == 6


def test_a_line_that_leaves_out_a_run_says_so() -> None:
    row = {
        "agent": "a", "k": 4, "runs": 6, "left_out_runs": 1,
        "slope": -0.05, "slope_lower": -0.08, "slope_upper": -0.02,
    }  # fmt: skip
    assert trend_sentences([row]) == [
        "a: pass^4 falls by 5.0 points a run over 6 of the last 7 runs (2.0 to 8.0)."
    ]


@pytest.mark.parametrize(
    ("agent", "nights", "k"),
    [
        *(("falls", range(3, 15), k) for k in (1, 2, 4)),
        *(("stays", range(1, 8), k) for k in (1, 2, 4)),
        ("cut", (1, 2, 3, 5, 6, 7), 4),
    ],
)
def test_lines_are_those_of_least_squares(
    agent: str,
    nights: Sequence[int],
    k: int,
    log: Rows,
    rows: dict[tuple[str | None, str, int], dict[str, Any]],
) -> None:
    passes: dict[tuple[str, str], int] = {}
    for row in log:
        key = (row["run_id"], row["task_id"])
        passes[key] = passes.get(key, 0) + (row["outcome"] == "passed")
    values = [
        statistics.fmean(
            math.comb(c, k) / math.comb(4, k)
            for (run, _), c in passes.items()
            if run == f"{agent}-{night:02}"
        )
        for night in nights
    ]
    places = range(1, len(nights) + 1)
    slope, intercept = statistics.linear_regression(places, values)
    residuals = [
        value - intercept - slope * place for place, value in zip(places, values, strict=True)
    ]
    squares = sum((place - statistics.fmean(places)) ** 2 for place in places)
    # Quantiles of Student's t with 10, 5 and 4 degrees, of tables.
    t = {12: 2.2281388519862747, 7: 2.5705818356363155, 6: 2.7764451051977987}[len(nights)]
    z = 1.9599639845400542
    floor = max(0.25, (math.log(40) / z * k / 4) ** 2) / 30**2
    spread = t * t * sum(one * one for one in residuals) / (len(nights) - 2)
    reach = math.sqrt((spread + z * z * floor) / squares)
    row = rows[agent, "pass_hat_k", k]
    assert row["mean_value"] == pytest.approx(statistics.fmean(values), rel=1e-13)
    assert row["slope"] == pytest.approx(slope, rel=1e-11, abs=1e-14)
    assert row["slope_lower"] == pytest.approx(slope - reach, rel=1e-11, abs=1e-13)
    assert row["slope_upper"] == pytest.approx(slope + reach, rel=1e-11, abs=1e-13)


def test_sql_and_polars_say_the_same(built: Project, log: Rows) -> None:
    mine = pk.trends(pl.DataFrame(log, infer_schema_length=None), ks=KS).sort(ORDER)
    columns = ", ".join(mine.columns)
    theirs = pl.DataFrame(
        built.records(f"select {columns} from passk_trends"), schema=mine.schema
    ).sort(ORDER)
    figures = ("mean_value", "slope", "slope_lower", "slope_upper")
    assert mine.drop(*figures, "meaning").equals(theirs.drop(*figures, "meaning"))
    for name in figures:
        assert mine[name].is_null().to_list() == theirs[name].is_null().to_list()
        assert (mine[name] - theirs[name]).abs().max() <= 1e-12
    assert pk.validate_tables(built.database).examples == []


@pytest.mark.long
def test_the_answer_says_who_falls(built: Project, tmp_path: Path) -> None:
    row = built.records(
        "select * from passk_trends where agent = 'falls' and metric = 'pass_hat_k' and k = 2"
    )[0]
    least, most = (f"{-100 * row[f'slope_{end}']:.1f}" for end in ("upper", "lower"))
    sentence = (
        f"falls: pass^2 falls by {-100 * row['slope']:.1f} points a run over the last 12 runs "
        f"({least} to {most})."
    )
    call = CliRunner().invoke
    database = ("--database", str(built.database))
    said = call(cli, ["show", *database, "--json"])
    assert json.loads(said.stdout)["suites"][0]["trends"] == [sentence]
    for form in ("md", "html"):
        page = tmp_path / f"page.{form}"
        assert call(cli, ["report", *database, "-o", str(page)]).exit_code == 0
        assert sentence in page.read_text(encoding="utf-8")


@pytest.mark.long
def test_the_answer_names_no_agent_that_is_not_shown(built: Project, tmp_path: Path) -> None:
    call = CliRunner().invoke
    database = ("--database", str(built.database))

    def said(run: str) -> list[str]:
        shown = call(cli, ["show", *database, "--run", run, "--json"])
        return list(json.loads(shown.stdout)["suites"][0]["trends"])

    assert [said(run) for run in ("stays-07", "falls-13")] == [[], []]
    (sentence,) = said("falls-14")
    assert sentence.startswith("falls: pass^2 falls by ")
    # One run alone has no curve over releases, and still a trend.
    for form in ("md", "html"):
        page = tmp_path / f"page.{form}"
        done = call(cli, ["report", *database, "--run", "falls-14", "-o", str(page)])
        assert done.exit_code == 0
        assert sentence in page.read_text(encoding="utf-8")
    assert 'href="#trend-' in page.read_text(encoding="utf-8")


def test_fewer_runs_may_be_asked_for(log: Rows) -> None:
    told = pl.DataFrame([row for row in log if row["agent"] == "falls"])
    assert pk.trends(told, ks=[2], most_runs=5)["first_run_id"].unique().to_list() == ["falls-10"]
    for most in (4, 101, 5.0):
        with pytest.raises(pk.ArgumentError, match="most_runs must be an integer from 5 to 100"):
            pk.trends(told, most_runs=most)  # type: ignore[arg-type]
    nobody = told.with_columns(run_id=pl.lit(None, pl.String))
    assert pk.trends(nobody, ks=[2]).is_empty()
