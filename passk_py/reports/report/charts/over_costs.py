"""Reliability beside cost: which runs no other beats on both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt

from passk_py.common.words import percents, symbol
from passk_py.reports.cost_words import MEASURE_NAMES, amounts, axis_title
from passk_py.reports.report.charts.chart_parts import (
    SHARES,
    agent_colours,
    beside,
    finished,
    of_rows,
    run_names,
    share_axis,
    short_name,
)
from passk_py.reports.report.theme import colour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.reports.report.charts.chart_parts import Chart, Row

_FAR: Final = 8.0
"""Costs that are so many times apart are drawn on a logarithmic scale."""


def frontier(
    runs: Sequence[Row],
    rows: Sequence[Row],
    *,
    alone: bool = False,
    width: int = 460,
    height: int = 260,
) -> Chart:
    """Draw pass^k over the cost of an attempt, with limits, from rows of ``passk_frontier``.

    A line joins the runs that no other beats on both.
    """
    measure, k = rows[0]["measure"], rows[0]["k"]
    there = {row["run_id"] for row in rows}
    shown = [run for run in runs if run["run_id"] in there]
    names = run_names(shown)
    points = [_point(row, names[row["run_id"]]) for row in rows]
    color, opacity = agent_colours(shown, named=alone)
    x = alt.X(
        "cost:Q",
        scale=_scale(points),
        axis=alt.Axis(grid=False, tickCount=5),
        title=axis_title(measure),
    )
    y = alt.Y("value:Q", scale=SHARES, axis=share_axis(), title=symbol("pass_hat_k", k))
    base = of_rows(points).encode(color=color, opacity=opacity)
    line = (
        beside(sorted((row for row in points if row["best"]), key=lambda row: row["cost"]))
        .mark_line(strokeWidth=1.5, strokeDash=[2, 2], aria=False, color=colour("quiet"))
        .encode(x=x, y=y)
    )
    up = base.mark_rule(strokeWidth=2, strokeOpacity=0.45, aria=False).encode(
        x=x, y=alt.Y("lower:Q", scale=SHARES), y2="upper:Q"
    )
    across = (
        base.transform_filter("isValid(datum.cost_lower)")
        .mark_rule(strokeWidth=2, strokeOpacity=0.45, aria=False)
        .encode(x=alt.X("cost_lower:Q", scale=_scale(points)), x2="cost_upper:Q", y=y)
    )
    # Shapes tell them apart without colour.
    dots = base.mark_point(filled=True, size=70).encode(
        x=x,
        y=y,
        description="said:N",
        shape=alt.Shape(
            "best:N",
            legend=None,
            scale=alt.Scale(domain=[True, False], range=["circle", "triangle-down"]),
        ),
    )
    return finished(line + up + across + dots, width, height)


def by_measure(suite: Row) -> list[tuple[str, list[Row]]]:
    """Give the rows of the frontier of the shown runs, of measures that two runs or more have."""
    if suite["costs"] is None:
        return []
    shown = {run["run_id"] for run in suite["runs"]}
    found: dict[str, list[Row]] = {}
    for row in suite["costs"]["frontier"]:
        if row["run_id"] in shown:
            found.setdefault(row["measure"], []).append(row)
    return [(measure, rows) for measure, rows in found.items() if len(rows) > 1]


def _point(row: Row, name: str) -> Row:
    k = row["k"]
    limits = percents(row["pass_hat_k_lower"], row["pass_hat_k_upper"])
    said = f"{short_name(row['run_id'])}: {symbol('pass_hat_k', k)} "
    said += f"{100 * row['pass_hat_k']:.1f}% ({limits}), {MEASURE_NAMES[row['measure']]} "
    said += amounts(row, "mean_cost")
    return {
        "run": name,
        "value": row["pass_hat_k"],
        "lower": row["pass_hat_k_lower"],
        "upper": row["pass_hat_k_upper"],
        "cost": row["mean_cost"],
        "cost_lower": row["mean_cost_lower"],
        "cost_upper": row["mean_cost_upper"],
        "best": row["is_on_frontier"],
        "said": f"{said}: {'on the frontier' if row['is_on_frontier'] else 'beaten on both'}",
    }


def _scale(points: Sequence[Row]) -> alt.Scale:
    ends = [
        value
        for row in points
        for value in (row["cost_lower"], row["cost"], row["cost_upper"])
        if value is not None
    ]
    low, high = min(ends), max(ends)
    if low > 0 and high / low > _FAR:
        return alt.Scale(type="log", domain=[low, high], nice=True)
    return alt.Scale(domain=[0, high], nice=True)
