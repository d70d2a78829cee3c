"""``passk report``: every number on every picture is a table's, and no name breaks the page."""

from __future__ import annotations

import json
import random
import re
import tomllib
from datetime import datetime, timedelta
from html import escape
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final

import pytest
from click.testing import CliRunner
from defusedxml.ElementTree import fromstring
from markdown_it import MarkdownIt

import passk_py as pk
from passk_py.cli import cli
from passk_py.common.errors import PasskError
from passk_py.common.words import plain
from passk_py.reports import report as reporting
from passk_py.reports.report import charts
from passk_py.reports.report.charts.chart_parts import run_names, short_name
from passk_py.reports.report.drawing import as_png, as_svg, inline
from passk_py.reports.report.theme import PAPER, heat_step, stylesheet
from passk_py.warehouse import project as pk_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from xml.etree.ElementTree import Element

    from conftest import Project

STRANGE: Final = "<script>alert(1)</script> & \"a\" 'b' {{ 7*7 }} \u202e 🙂 \x1b[2J"
LONG: Final = "a-name-that-goes-on-" * 10
SVG: Final = "{http://www.w3.org/2000/svg}"
VARS: Final = {
    "passk_ks": [1, 2, 3, 4, 8],
    "passk_deployment_k": 3,
    "passk_gates": [
        {
            "name": "finds",
            "type": "threshold",
            "metric": "pass_at_k",
            "k": 3,
            "min": 0.5,
            "run": "new",
        },
        {
            "name": "no worse",
            "type": "drop",
            "metric": "pass_hat_k",
            "k": 3,
            "max_drop": 0.1,
            "baseline": "old",
        },
        {"name": "whole", "type": "coverage", "metric": "missing_attempts", "max": 0, "run": "new"},
    ],
}
RUNS: Final = {"old": ("bot", 0.0), "new": ("bot", -0.15), STRANGE: (LONG, 0.1)}


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Callable[..., list[Any]]) -> Project:
    """Three runs of two agents over 14 tasks: exclusions, a short task, one that a run lacks."""
    dice = random.Random(7)
    rows: list[Any] = []
    for place, (run, (agent, shift)) in enumerate(RUNS.items()):
        for task in range(14):
            if run == STRANGE and task == 13:
                continue
            letters = "".join(
                "X" if dice.random() < 0.05 else "P" if dice.random() < task / 13 + shift else "F"
                for _ in range(2 if task == 5 and run == "old" else 6)
            )
            name = {0: STRANGE, 1: LONG}.get(task, f"t{task}")
            rows += attempts(
                run, name, letters, suite="desk", agent=agent, agent_version=f"v{place}",
                started_at=datetime(2026, 1, 1 + place) + timedelta(minutes=task),
            )  # fmt: skip
    for row in rows:
        if row["outcome"] == "excluded":
            row["outcome_reason"] = "rate_limited"
    # A suite that has little to show: one run, one task, one attempt.
    rows += attempts("lone", "t", "P", suite=STRANGE)
    made = make_project()
    made.land(rows)
    made.run({**VARS, "passk_min_eligible_share": 0})
    return made


@pytest.fixture(scope="module")
def facts(built: Project) -> dict[str, Any]:
    """The report as a program reads it."""
    found = json.loads(pk.report(built.database).json())
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def desk(facts: dict[str, Any]) -> dict[str, Any]:
    (found,) = [suite for suite in facts["suites"] if suite["suite"] == "desk"]
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def page(built: Project) -> str:
    return pk.report(built.database).html()


def said(share: float) -> str:
    """Write a share as the pictures do, by the rule and not by their code."""
    if share in (0, 1):
        return f"{share * 100:.0f}"
    text = f"{share * 100:.1f}"
    return {"100.0": ">99.9", "0.0": "<0.1"}.get(text, text)


def marks(svg: str) -> dict[str, Element]:
    """Find the marks of a drawing by what they say."""
    return {
        element.attrib["aria-label"]: element
        for element in fromstring(svg).iter()
        if element.attrib.get("aria-roledescription") not in (None, "axis", "legend")
        and "aria-label" in element.attrib
        and element.attrib.get("role") == "graphics-symbol"
    }


def place(element: Element) -> tuple[float, float]:
    x, y = re.findall(r"-?[0-9.]+", element.attrib["transform"])[:2]
    return float(x), float(y)


# ---------------------------------------------------------------------------------------------
# the numbers


@pytest.mark.long
def test_tables_without_the_types_of_rules_are_reported(built: Project, tmp_path: Path) -> None:
    older = built.copy(tmp_path)
    older.execute(
        "create table kept as select * exclude (rule_type) from passk_gates",
        "drop view passk_gates",
        "alter table kept rename to passk_gates",
        "drop view passk_trends",
    )
    new, old = pk.report(built.database), pk.report(older.database)
    gates = [row for suite in old.facts["suites"] for row in suite["gates"]]
    assert {row["gate"] for row in gates} == {"finds", "no worse", "whole"}
    assert {row["rule_type"] for row in gates} == {None}
    # The mark of a drop is below 0 in both.
    assert "held against -0.1" in old.html()
    assert "held against -0.1" in new.html()


def test_the_curves_are_those_of_the_table(built: Project, desk: dict[str, Any]) -> None:
    for run in desk["runs"]:
        rows = built.records(
            "select k, pass_at_k, pass_at_k_lower, pass_at_k_upper, pass_hat_k, pass_hat_k_lower,"
            " pass_hat_k_upper, delta_k, delta_k_lower, delta_k_upper, eligible_tasks, total_tasks,"
            " families, effective_families, reading, null_reason from passk_suite_metrics where suite = 'desk' and run_id = ?"
            " and slice_name = 'all' order by k",
            run["run_id"],
        )
        assert run["curve"] == rows
        assert [row["k"] for row in rows] == [1, 2, 3, 4, 8]
    assert [run["run_id"] for run in desk["runs"]] == [STRANGE, "old", "new"]


@pytest.mark.parametrize("metric", ["pass_at_k", "pass_hat_k"])
def test_the_drawn_curves_stand_where_the_numbers_are(
    built: Project, desk: dict[str, Any], metric: str
) -> None:
    ks = charts.known_ks(desk["runs"])
    assert ks == [1, 2, 3, 4]
    sign = {"pass_at_k": "@", "pass_hat_k": "^"}[metric]
    for run in desk["runs"]:
        found = marks(as_svg(charts.curve(run, ks, 3, width=300, height=200)))
        rows = built.query(
            f"select k, {metric}, {metric}_lower, {metric}_upper from passk_suite_metrics"
            f" where suite = 'desk' and run_id = ? and slice_name = 'all' and {metric} is not null",
            run["run_id"],
        )
        assert len(rows) == 4
        for k, value, lower, upper in rows:
            name = short_name(run["run_id"])
            label = f"{name}: pass{sign}{k} {said(value)}% ({said(lower)} to {said(upper)})"
            x, y = place(found[label])
            assert x == pytest.approx(300 * (k - 1) / 3, abs=0.01)
            assert y == pytest.approx(200 * (1 - value), abs=0.01)
        assert len(found) == 8


def test_pass_at_k_is_dashed_and_pass_hat_k_solid_in_the_colour_of_the_agent(
    desk: dict[str, Any],
) -> None:
    for run in desk["runs"]:
        svg = as_svg(charts.curve(run, [1, 2, 3, 4], 3))
        lines = [
            element.attrib
            for element in fromstring(svg).iter(f"{SVG}path")
            if element.attrib.get("stroke-width") == "2" and "stroke" in element.attrib
        ]
        assert {line["stroke"] for line in lines} == {PAPER[run["colour"]]}
        # Of two lines that begin together, pass@k ends higher up.
        ends = {float(line["d"].rpartition(",")[2]): line["stroke-dasharray"] for line in lines}
        assert [dash for _, dash in sorted(ends.items())] == ["5,3", "1,0"]
    of_bot = {run["colour"] for run in desk["runs"] if run["agent"] == "bot"}
    assert len(of_bot) == 1
    assert len({run["colour"] for run in desk["runs"]}) == 2


def test_the_drawn_deltas_are_those_of_the_table(built: Project, desk: dict[str, Any]) -> None:
    for run in desk["runs"]:
        chart = charts.delta(run, [1, 2, 3, 4], (-0.5, 0.5), width=300, height=100)
        assert chart is not None
        found = marks(as_svg(chart))
        rows = built.query(
            "select k, delta_k from passk_suite_metrics where suite = 'desk' and run_id = ?"
            " and slice_name = 'all' and delta_k is not null",
            run["run_id"],
        )
        assert len(rows) == len(found) == 4
        for k, value in rows:
            (mark,) = [
                one for label, one in found.items() if f": delta_{k} {said(value)} points" in label
            ]
            # An estimate below 0 is drawn below it.
            assert place(mark)[1] == pytest.approx(100 * (0.5 - value), abs=0.01)


def test_overlays_say_the_same(built: Project, desk: dict[str, Any]) -> None:
    found = marks(as_svg(charts.overlay(desk["runs"], [1, 2, 3, 4], 3)))
    latest = {short_name(run["run_id"]): run["is_latest"] for run in desk["runs"]}
    assert set(latest.values()) == {True, False}
    for label, mark in found.items():
        strength = float(mark.attrib.get("opacity", "1"))
        assert strength == (1 if latest[label.rpartition(": pass")[0]] else 0.6)
    rows = built.query(
        "select count(pass_at_k) + count(pass_hat_k) from passk_suite_metrics"
        " where suite = 'desk' and slice_name = 'all'"
    )
    assert len(found) == rows[0][0] == 24
    delta = charts.overlay_delta(desk["runs"], [1, 2, 3, 4])
    assert delta is not None
    assert len(marks(as_svg(delta))) == 12


def test_the_classes_are_counted_as_in_the_table(built: Project, desk: dict[str, Any]) -> None:
    names = run_names(desk["runs"])
    expected = {
        f"{names[run]}: {count} {kind}"
        for run, kind, count in built.query(
            "select run_id, task_class, count(*) from passk_tasks where suite = 'desk' group by all"
        )
    }
    assert set(marks(as_svg(charts.classes(desk)))) == expected


def test_tasks_stand_in_the_order_of_what_mending_gains(
    built: Project, desk: dict[str, Any]
) -> None:
    rows = built.query(
        "select task_id, avg(expected_gain) from passk_tasks where suite = 'desk' group by 1"
    )
    assert desk["total_tasks"] == len(rows) == len(desk["tasks"]) == 14
    gains = dict(rows)
    for task in desk["tasks"]:
        assert task["expected_gain"] == pytest.approx(gains[task["task_id"]], rel=1e-14)
    ordered = [task["expected_gain"] for task in desk["tasks"]]
    assert ordered == sorted(ordered, reverse=True)


def test_the_heat_map_has_each_task_of_each_run(built: Project, desk: dict[str, Any]) -> None:
    chart = charts.heat(desk, width=1400)
    assert chart is not None
    found = marks(as_svg(chart))
    names = run_names(desk["runs"])
    order = [task["task_id"] for task in desk["tasks"]]
    rows = built.query(
        "select run_id, task_id, pass_rate from passk_tasks where suite = 'desk'"
        " and pass_rate is not null"
    )
    assert len(found) == len(rows)
    for run, task, rate in rows:
        column = order.index(task)
        label = f"{names[run]}, task {column + 1}: {said(rate)}% passed"
        mark = found[label]
        assert mark.attrib["fill"] == PAPER[f"heat{heat_step(rate)}"]
        left = float(re.match(r"M(-?[0-9.]+)", mark.attrib["d"])[1])  # type: ignore[index]
        assert left == pytest.approx(100 * column, abs=0.51)


@pytest.mark.long
@pytest.mark.parametrize("most", [3, 14])
def test_bins_are_means_over_their_tasks(built: Project, most: int, monkeypatch: Any) -> None:
    from passk_py.reports.report import task_facts as room

    monkeypatch.setattr(room, "_BINS", 4)
    monkeypatch.setattr(room, "MOST_TASKS", most)
    (desk,) = [
        suite
        for suite in pk.report(built.database, suite="desk").facts["suites"]
        if suite["suite"] == "desk"
    ]
    gains = built.query(
        "select task_id, avg(expected_gain), avg(pass_rate) from passk_tasks"
        " where suite = 'desk' group by 1"
    )
    order = [task for task, *_ in sorted(gains, key=lambda row: (-row[1], row[2], row[0]))]
    for cell in desk["heat"]:
        tasks = [task for place, task in enumerate(order) if place * 4 // 14 == cell["bin"]]
        rates = [
            rate
            for (rate,) in built.query(
                "select pass_rate from passk_tasks where suite = 'desk' and run_id = ?"
                " and list_contains(?, task_id)",
                cell["run_id"], tasks,
            )
            if rate is not None
        ]  # fmt: skip
        assert cell["pass_rate"] == pytest.approx(sum(rates) / len(rates), rel=1e-13)
    assert {cell["bin"] for cell in desk["heat"]} == {0, 1, 2, 3}


def test_each_attempt_is_there_in_order(built: Project, desk: dict[str, Any]) -> None:
    letters = {"passed": "P", "failed": "F", "excluded": "x"}
    expected: dict[tuple[str, str], str] = {}
    for run, task, outcome in built.query(
        "select run_id, task_id, outcome from passk_attempts where suite = 'desk'"
        " order by run_id, task_id, attempt"
    ):
        expected[run, task] = expected.get((run, task), "") + letters[outcome]
    found = {
        (run, task["task_id"]): cell["outcomes"]
        for task in desk["tasks"]
        for run, cell in task["runs"].items()
    }
    assert found == expected


def test_comparisons_and_gates_are_rows_of_the_tables(
    built: Project, desk: dict[str, Any], page: str
) -> None:
    rows = built.query(
        "select metric, k, difference, difference_suite_lower, difference_suite_upper, verdict"
        " from passk_comparisons where suite = 'desk' and baseline_run_id = 'old'"
        " and candidate_run_id = 'new' and (k = 3 or (k = 1 and metric = 'pass_at_k')) order by 1, 2"
    )
    shown = [tuple(row[name] for name in (
        "metric", "k", "difference", "difference_suite_lower", "difference_suite_upper", "verdict"
    )) for row in desk["comparisons"] if row["candidate_run_id"] == "new"]  # fmt: skip
    assert shown == rows
    assert len(rows) == 3
    for _, _, difference, lower, upper, _ in rows:
        # A limit beside 0 is not written as 0.
        ends = " to ".join(
            f"{100 * end:+.1f}"
            if end == 0 or abs(end) >= 0.0005
            else ("below 0" if end < 0 else "above 0")
            for end in (lower, upper)
        )
        assert f"{100 * difference:+.1f} ({ends})" in page
    gates = built.query(
        "select gate, result, reason from passk_gates where suite = 'desk' order by gate, run_id"
    )
    assert [(g["gate"], g["result"], g["reason"]) for g in desk["gates"]] == gates
    assert {result for _, result, _ in gates} <= {"pass", "fail", "inconclusive"}
    assert all(result in page for _, result, _ in gates)


def test_a_span_reaches_from_limit_to_limit() -> None:
    svg = as_svg(
        charts.span(
            -0.1, -0.25, 0.05, domain=(-0.5, 0.5), mark=0.0, tone="bad", said="it", width=200
        )
    )
    dot = place(marks(svg)["it"])
    assert dot[0] == pytest.approx(80, abs=0.01)
    line = next(
        e for e in fromstring(svg).iter(f"{SVG}line") if e.attrib.get("stroke-width") == "3"
    )
    start = place(line)[0]
    assert sorted((start, start + float(line.attrib["x2"]))) == pytest.approx([50, 110], abs=0.01)


def test_a_trend_goes_in_the_order_of_the_runs(built: Project, desk: dict[str, Any]) -> None:
    ((agent, runs),) = charts.releases(desk["runs"], 3)
    assert (agent, [run["run_id"] for run in runs]) == ("bot", ["old", "new"])
    found = marks(as_svg(charts.trend(runs, 3, height=200)))
    values = dict(
        built.query(
            "select run_id, pass_hat_k from passk_suite_metrics where suite = 'desk' and k = 3"
            " and slice_name = 'all'"
        )
    )
    points = [
        next(m for label, m in found.items() if label.startswith(f"{run}: pass^3"))
        for run in ("old", "new")
    ]
    assert place(points[0])[0] < place(points[1])[0]
    for run, point in zip(("old", "new"), points, strict=True):
        assert place(point)[1] == pytest.approx(200 * (1 - values[run]), abs=0.01)


# ---------------------------------------------------------------------------------------------
# the page


class _Page(HTMLParser):
    """Collects what a browser would fetch or run, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[tuple[str, str]] = []
        self.scripts = 0
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.scripts += tag == "script"
        if "id" in told:
            self.ids.append(told["id"] or "")
        for name in ("src", "href", "xlink:href", "data", "action", "srcset"):
            value = told.get(name)
            if value and value.startswith("#"):
                self.targets.append(value[1:])
            elif value:
                self.fetched.append((tag, value))
        assert not any(name.startswith("on") for name in told), told

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_asks_for_nothing_and_runs_nothing_of_the_log(page: str) -> None:
    seen = _Page()
    seen.feed(page)
    assert seen.fetched == []
    # The library of tables, two of passk's own, and the data that they read.
    assert seen.scripts == 4
    assert "<script>alert" not in page
    assert "@import" not in page
    assert "url(" not in page[: page.index("</style>")]
    assert "49" not in re.findall(r"\{\{.*?\}\}", page)
    assert len(seen.ids) == len(set(seen.ids))
    assert {target.partition("?")[0] for target in seen.targets} <= set(seen.ids)
    assert "{{ 7*7 }}" in "".join(seen.text)
    assert "\x1b" not in page


def test_every_agent_has_a_sentence(page: str) -> None:
    verdicts = re.findall(r'<li class="(good|bad|unsure|plain)">(.*?)</li>', page)
    assert len(verdicts) == 3
    assert sum("can&#39;t be judged at k = 3" in said for _, said in verdicts) == 1
    assert any(said.startswith("bot v1 (run new) is ") for _, said in verdicts)


def test_a_number_that_is_not_known_has_its_reason(page: str, facts: dict[str, Any]) -> None:
    reasons = {
        row["null_reason"]
        for suite in facts["suites"]
        for run in suite["runs"]
        for row in run["curve"]
        if row["null_reason"]
    }
    assert reasons
    assert all(reason.replace("<", "&lt;") in page for reason in reasons)


def test_both_modes_have_every_colour_and_enough_contrast() -> None:
    light, dark = (
        dict(re.findall(r"--([a-z0-9]+):(#[0-9a-f]{6})", part))
        for part in stylesheet().split("@media")
    )
    assert light.keys() == dark.keys()

    def luminance(code: str) -> float:
        parts = [int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colours in (light, dark):
        for name in ("ink", "quiet", "good", "bad", "unsure"):
            for ground in ("paper", "wash"):
                one, two = sorted((luminance(colours[name]), luminance(colours[ground])))
                assert (two + 0.05) / (one + 0.05) >= 4.5, (name, ground)
        for name in ("mark", *(f"agent{number}" for number in range(1, 9))):
            one, two = sorted((luminance(colours[name]), luminance(colours["paper"])))
            assert (two + 0.05) / (one + 0.05) >= 3, name
        steps = [luminance(colours[f"heat{step}"]) for step in range(6)]
        assert steps == sorted(steps) or steps == sorted(steps, reverse=True)


def test_forty_runs_and_names_that_are_alike(desk: dict[str, Any]) -> None:
    runs = [{**desk["runs"][1], "run_id": f"{LONG}{number}{LONG}"} for number in range(40)]
    names = run_names(runs)
    assert len(set(names.values())) == 40
    assert all(len(name) <= 32 for name in names.values())


# ---------------------------------------------------------------------------------------------
# Markdown, figures, the command


def test_markdown_says_the_same(built: Project, facts: dict[str, Any]) -> None:
    text = pk.report(built.database).markdown()
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    assert "<script>" not in rendered
    assert rendered.count("<table>") >= 8
    # Its thresholds are in percent, like the sentences that hold figures against them.
    assert "capable from pass@3 = 80%, consistent from pass^3 = 95%." in text
    for suite in facts["suites"]:
        for run in suite["runs"]:
            for row in run["curve"]:
                if row["pass_hat_k"] not in (None, 0.0, 1.0):
                    assert f"{row['pass_hat_k']:.3f}" in text


def test_a_notebook_shows_runs_comparisons_and_gates(built: Project, facts: dict[str, Any]) -> None:
    report = pk.report(built.database)
    shown = report._repr_html_()
    for suite in facts["suites"]:
        for run in suite["runs"]:
            (row,) = (one for one in run["curve"] if one["k"] == facts["deployment_k"])
            at_k = "–" if row["pass_at_k"] is None else f"{said(row['pass_at_k'])}%"  # noqa: RUF001
            cells = (run["run_id"], str(row["k"]), at_k)
            assert "".join(f"<td>{escape(plain(cell))}</td>" for cell in cells) in shown
        for gate in suite["gates"]:
            assert escape(plain(gate["reason"])) in shown
        for pair in suite["comparisons"]:
            assert f"<td>{escape(pair['verdict'])}" in shown
    assert "<script" not in shown
    assert len(repr(report)) < 200


def test_figures_are_files_on_white_paper(built: Project, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli,
        [
            "report",
            "--database",
            str(built.database),
            "--suite",
            "desk",
            "--figures",
            str(tmp_path / "f"),
        ],
    )
    assert done.exit_code == 0, done.output
    names = sorted(path.name for path in (tmp_path / "f").iterdir())
    stems = ["classes", "delta-k", "over-k", "releases-bot", "tasks"]
    assert names == sorted(f"{stem}.{kind}" for stem in stems for kind in ("png", "svg"))
    for path in (tmp_path / "f").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "var(" not in text
        assert PAPER["paper"] in text
        fromstring(text)
    for path in (tmp_path / "f").glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


def test_a_drawing_in_a_page_follows_its_colours_and_has_a_name(desk: dict[str, Any]) -> None:
    svg = inline(charts.curve(desk["runs"][0], [1, 2, 3, 4], 3), 'a "b" <c>')
    assert 'aria-label="a &quot;b&quot; &lt;c&gt;"' in svg
    assert "var(--agent" in svg
    assert "width=" not in svg.split(">", 1)[0]
    assert as_png(charts.curve(desk["runs"][0], [1, 2, 3, 4], 3)).startswith(b"\x89PNG")


@pytest.mark.long
def test_the_command_writes_what_it_is_asked_for(built: Project, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("r.html", "r.md", "r.json")]
    words = ["report", "--database", str(built.database)]
    for path in paths:
        words += ["-o", str(path)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert [line.split(": ")[1].split(",")[0] for line in done.stdout.splitlines()] == [
        "one page", "Markdown", "JSON",
    ]  # fmt: skip
    sizes = [line.rpartition(", ")[2] for line in done.stdout.splitlines()]
    assert sizes[1].endswith(" kB")
    assert not any(size.startswith("0.0") for size in sizes)
    assert paths[0].read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert json.loads(paths[2].read_text(encoding="utf-8"))["passk_report"] == 2
    asked = CliRunner().invoke(cli, [*words[:3], "--json"])
    assert json.loads(asked.stdout) == json.loads(paths[2].read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--run", "nope"], "There is no run nope; the runs are"),
        (["--suite", "nope"], "There is no suite nope; the suites are"),
        (["-o", "report.pdf"], "report.pdf must end in .html or .md or .json."),
    ],
)
def test_what_can_not_be_reported(built: Project, words: list[str], said: str) -> None:
    done = CliRunner().invoke(cli, ["report", "--database", str(built.database), *words])
    assert done.exit_code == 2
    assert said in done.stderr


def test_without_what_draws_it_says_how_to_install_it(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "find_spec", lambda _name: None)
    done = CliRunner().invoke(cli, ["report", "--database", str(built.database)])
    assert done.exit_code == 2
    # The requirements of the extra `report`, which need no index that has the package.
    project = tomllib.loads((pk_project.project_dir() / "pyproject.toml").read_text("utf-8"))
    extra = project["project"]["optional-dependencies"]["report"]
    packages = [one.partition(">")[0] for one in extra]
    assert f"pip install {' '.join(packages)}\n" in done.stderr


def test_runs_that_are_named_are_shown_alone(built: Project) -> None:
    (suite,) = pk.report(built.database, run_id=["old", "new"]).facts["suites"]
    assert [run["run_id"] for run in suite["runs"]] == ["old", "new"]
    with pytest.raises(PasskError, match="There is no run"):
        pk.report(built.database, run_id="none")


# ---------------------------------------------------------------------------------------------
# the figures of the second article

SHAPES: Final = {
    "homogeneous": [0.5] * 6,
    "no skew": [0.2, 0.8] * 3,
    "negative skew": [0.07, 0.715, 0.715] * 2,
    "positive skew": [0.93, 0.285, 0.285] * 2,
}


@pytest.mark.long
def test_the_article_s_figures_come_out_of_a_log(make_project: Callable[[], Project]) -> None:
    """Its k-sweep and its delta_k over k = 1 to 8, for four shapes of the same mean.

    Ours are estimates for tasks like these. With n attempts, pass^k falls short of p^k by about
    k (k - 1) / 2 (1 / c - 1 / n) of itself, and with T tasks delta_k is about 1 / T of itself larger.
    """
    made = make_project()
    made.execute(
        *(
            "insert into landing.attempts by name"
            f" select '{shape}' as run_id, 'shapes' as suite, 't' || task as task_id, attempt,"
            " if(attempt <= round(1000 * p), 'passed', 'failed') as outcome,"
            f" 'log' as source_file, row_number() over () as source_line, '{shape}' as source_format,"
            " timestamp '2026-01-01' as loaded_at"
            f" from (select task, ({chances})[task % 6 + 1] as p from range(120) x(task)),"
            " range(1, 1001) y(attempt)"
            for shape, chances in SHAPES.items()
        )
    )
    made.run({"passk_ks": list(range(1, 9)), "passk_ordered_metrics": False})
    (suite,) = pk.report(made.database).facts["suites"]
    ks = charts.known_ks(suite["runs"])
    assert ks == list(range(1, 9))
    sweep = charts.overlay(suite["runs"], ks, 4)
    drawn = {
        (row["run"], row["metric"], row["k"]): row["value"]
        for layer in sweep["layer"]
        for row in layer["data"].get("values", ())
    }
    delta = charts.overlay_delta(suite["runs"], ks)
    assert delta is not None
    deltas = {(row["run"], row["k"]): row["value"] for row in _values(delta)}
    for shape, chances in SHAPES.items():
        for k in ks:
            hat = sum(p**k for p in chances) / 6
            at = sum(1 - (1 - p) ** k for p in chances) / 6
            mean = sum(chances) / 6
            assert drawn[shape, "pass_hat_k", k] == pytest.approx(hat, abs=0.002)
            assert drawn[shape, "pass_at_k", k] == pytest.approx(at, abs=0.002)
            assert deltas[shape, k] == pytest.approx(hat - mean**k, abs=0.002)
    # The article's figures for them, each "about".
    assert drawn["homogeneous", "pass_at_k", 3] == pytest.approx(0.88, abs=0.006)
    assert drawn["homogeneous", "pass_hat_k", 3] == pytest.approx(0.13, abs=0.006)
    assert drawn["positive skew", "pass_hat_k", 3] == pytest.approx(0.28, abs=0.006)
    peak = max(ks, key=lambda k: deltas["positive skew", k])
    assert peak == 5
    assert deltas["positive skew", peak] == pytest.approx(0.20, abs=0.005)
    assert max(deltas["negative skew", k] for k in ks) == pytest.approx(0.12, abs=0.005)
    assert max(abs(deltas["homogeneous", k]) for k in ks) < 0.002


def _values(chart: dict[str, Any]) -> list[dict[str, Any]]:
    shared = chart.get("data", {}).get("values")
    return shared or [row for layer in chart["layer"] for row in layer["data"]["values"]]


@pytest.mark.long
def test_suites_without_a_figure_at_any_k(
    make_project: Callable[[], Project], attempts: Callable[..., list[Any]]
) -> None:
    """A task of which every attempt is excluded leaves a suite without a mean over its tasks."""
    made = make_project()
    rows = [
        attempts(run, task, letters, suite=suite)
        for run in ("one", "two")
        for suite, task, letters in (
            ("skipped", "a", "PPF"),
            ("skipped", "b", "XXX"),
            ("lost", "a", "XX"),
        )
    ]
    made.land([row for task in rows for row in task])
    made.run({"passk_ks": [1, 2, 4]})
    made_report = pk.report(made.database)
    page = made_report.html()
    assert made_report.markdown()
    assert page.count("There is no figure at any k: the numbers say why.") == 2
    assert "NaN" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
