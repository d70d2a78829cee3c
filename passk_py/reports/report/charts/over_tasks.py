"""The tasks of a suite by run: how often each passes, and of which class they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt

from passk_py.common.words import TASK_CLASSES, percent
from passk_py.reports.report.charts.chart_parts import (
    by_run,
    finished,
    of_rows,
    run_names,
)
from passk_py.reports.report.theme import HEAT_EDGES, colour

if TYPE_CHECKING:
    from passk_py.reports.report.charts.chart_parts import Chart, Row

_CLASS_COLOURS: Final = ("heat5", "heat3", "heat0", "none")


def heat(suite: Row, *, alone: bool = False, width: int = 860) -> Chart | None:
    """Draw the pass rate of every task by run: the first to mend are on the left."""
    if not suite["heat"]:
        return None
    names = run_names(suite["runs"])
    of_a_bin = suite["total_tasks"] / (max(row["bin"] for row in suite["heat"]) + 1)
    rows = [
        {
            "run": names[row["run_id"]],
            "from": row["bin"] * of_a_bin,
            "to": (row["bin"] + 1) * of_a_bin,
            "value": row["pass_rate"],
            "said": _said_of_bin(row, names[row["run_id"]]),
        }
        for row in suite["heat"]
    ]
    shades = alt.Scale(
        type="threshold",
        domain=list(HEAT_EDGES),
        range=[colour(f"heat{place}") for place in range(len(HEAT_EDGES) + 1)],
    )
    known = [row for row in rows if row["value"] is not None]
    chart = (
        of_rows(known)
        .mark_rect()
        .encode(
            x=alt.X(
                "from:Q",
                scale=alt.Scale(domain=[0, suite["total_tasks"]], nice=False),
                axis=alt.Axis(format=",d", tickMinStep=1, grid=False, tickCount=6),
                title="tasks, the first to mend in front",
            ),
            x2="to:Q",
            y=by_run(names),
            color=alt.Color(
                "value:Q",
                scale=shades,
                legend=alt.Legend(title="share of attempts that passed", orient="bottom")
                if alone
                else None,
            ),
            description="said:N",
        )
    )
    return finished(chart, width, alt.Step(16))


def classes(suite: Row, *, alone: bool = False) -> Chart:
    """Draw how many tasks of each run are consistent, flaky, incapable and unknown."""
    names = run_names(suite["runs"])
    most = max(1, *(sum(run["classes"].values()) for run in suite["runs"]))
    rows = [
        {
            "run": names[run["run_id"]],
            "class": name,
            "place": place,
            "tasks": run["classes"].get(name, 0),
            "said": f"{names[run['run_id']]}: {run['classes'].get(name, 0):,} {name}",
        }
        for run in suite["runs"]
        for place, name in enumerate(TASK_CLASSES)
        if run["classes"].get(name, 0)
    ]
    chart = (
        of_rows(rows)
        .mark_bar(height={"band": 0.8})
        .encode(
            x=alt.X(
                "tasks:Q",
                axis=alt.Axis(format=",d", tickMinStep=1, tickCount=6),
                title="tasks",
                scale=alt.Scale(domain=[0, most], nice=False),
            ),
            y=by_run(names),
            color=alt.Color(
                "class:N",
                legend=alt.Legend(title=None, orient="bottom") if alone else None,
                scale=alt.Scale(
                    domain=list(TASK_CLASSES), range=[colour(c) for c in _CLASS_COLOURS]
                ),
            ),
            order="place:Q",
            description="said:N",
        )
    )
    return finished(chart, 860, alt.Step(20))


def _said_of_bin(row: Row, name: str) -> str:
    rate = percent(row["pass_rate"])
    if row["first_task"] == row["last_task"]:
        return f"{name}, task {row['first_task']:,}: {rate}% passed"
    return f"{name}, tasks {row['first_task']:,} to {row['last_task']:,}: {rate}% passed on average"
