"""The runs of one agent in the order in which they were made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from passk_py.reports.report.charts.chart_parts import (
    SHARES,
    finished,
    metric_lines,
    of_rows,
    points,
    run_names,
    share_axis,
)
from passk_py.reports.report.theme import PALE, colour

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.reports.report.charts.chart_parts import Chart, Row


def trend(
    runs: Sequence[Row], k: int, *, alone: bool = False, width: int = 460, height: int = 200
) -> Chart:
    """Draw pass@k and pass^k of one agent's runs, in the order in which they were made."""
    names = run_names(runs)
    rows = [
        {**row, "run": names[run["run_id"]], "strength": 1 if run["is_latest"] else PALE}
        for run in runs
        for row in points(run)
        if row["k"] == k
    ]
    base = of_rows(rows).encode(
        x=alt.X(
            "run:N",
            sort=list(names.values()),
            scale=alt.Scale(domain=list(names.values())),
            axis=alt.Axis(labelAngle=-30, labelLimit=190, grid=False),
            title=None,
        )
    )
    shade = runs[-1]["colour"]
    rules = base.mark_rule(strokeWidth=2, opacity=0.45, aria=False, color=colour(shade)).encode(
        y=alt.Y("lower:Q", scale=SHARES, axis=share_axis(), title=None), y2="upper:Q"
    )
    line, dots = metric_lines(base, shade, named=alone, size=40)
    dots = dots.encode(opacity=alt.Opacity("strength:Q", scale=None, legend=None))
    return finished(rules + line + dots, width, height)


def releases(runs: Iterable[Row], k: int) -> list[tuple[str, list[Row]]]:
    """Find the agents of which several runs have a value at the deployment k."""
    lines: dict[str, list[Row]] = {}
    for run in runs:
        if run["agent"] is not None:
            lines.setdefault(run["agent"], []).append(run)
    return [
        (agent, line)
        for agent, line in lines.items()
        if sum(
            any(row["k"] == k and row["pass_at_k"] is not None for row in run["curve"])
            for run in line
        )
        > 1
    ]
