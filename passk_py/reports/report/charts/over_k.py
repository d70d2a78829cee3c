"""pass@k, pass^k and delta_k over k: of one run, or of a few runs in one plot."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import altair as alt

from passk_py.common.words import percent, percents
from passk_py.reports.report.charts.chart_parts import (
    POINTS,
    SHARES,
    agent_colours,
    beside,
    dashes,
    filled,
    finished,
    metric_lines,
    of_rows,
    points,
    run_names,
    shades,
    share_axis,
    short_name,
)
from passk_py.reports.report.theme import colour

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.reports.report.charts.chart_parts import Chart, Row

_WIDE: Final = 24
"""A grid with a larger k is drawn on a logarithmic axis."""


def known_ks(runs: Iterable[Row]) -> list[int]:
    """Give the k at which some run has a value, for axes that several charts share."""
    return sorted(
        {row["k"] for run in runs for row in run["curve"] if row["pass_at_k"] is not None}
    )


def curve(
    run: Row,
    ks: Sequence[int],
    deployment_k: int,
    *,
    alone: bool = False,
    width: int = 280,
    height: int = 180,
) -> Chart:
    """Draw pass@k dashed and pass^k solid over k, each with its band."""
    made = _curve(tuple(ks), deployment_k, run["colour"], alone, width, height)
    return filled(made, list(points(run)))


@cache
def _curve(
    ks: tuple[int, ...], deployment_k: int, shade: str, alone: bool, width: int, height: int
) -> Chart:
    """Make the chart without its rows: one for the forty runs of a page."""
    base = of_rows([]).encode(x=_over_k(ks))
    band = base.mark_area(aria=False, color=colour(shade)).encode(
        y=alt.Y("lower:Q", scale=SHARES, axis=share_axis(), title=None),
        y2="upper:Q",
        detail="metric:N",
        opacity=shades((0.1, 0.25)),
    )
    line, dots = metric_lines(base, shade, named=alone, size=26)
    return finished(alt.layer(*_marked(ks, deployment_k), band, line, dots), width, height)


def overlay(
    runs: Sequence[Row], ks: Sequence[int], deployment_k: int, *, alone: bool = False
) -> Chart:
    """Draw both curves of a few runs in one plot, in the colours of their agents."""
    names = run_names(runs)
    rows = [{**row, "run": names[row["run"]]} for run in runs for row in points(run)]
    colours, strengths = agent_colours(runs, named=alone)
    base = of_rows(rows).encode(
        x=_over_k(ks),
        y=alt.Y("value:Q", scale=SHARES, axis=share_axis(), title=None),
        color=colours,
        opacity=strengths,
        detail="metric:N",
    )
    line = base.mark_line(strokeWidth=2, aria=False).encode(strokeDash=dashes(named=alone))
    dots = base.mark_point(filled=True, size=26).encode(description="said:N")
    return finished(alt.layer(*_marked(ks, deployment_k), line, dots), 860, 340)


def spark(run: Row, ks: Sequence[int]) -> Chart:
    """Draw both curves of a run without axes, for the cell of a table."""
    return filled(_spark(tuple(ks), run["colour"]), list(points(run)))


@cache
def _spark(ks: tuple[int, ...], shade: str) -> Chart:
    base = of_rows([]).encode(
        x=_over_k(ks, drawn=False), y=alt.Y("value:Q", scale=SHARES, axis=None)
    )
    line = base.mark_line(strokeWidth=2, aria=False, color=colour(shade)).encode(
        strokeDash=dashes()
    )
    dots = base.mark_point(filled=True, opacity=1, size=12, color=colour(shade)).encode(
        detail="metric:N", description="said:N"
    )
    return finished(line + dots, 120, 44)


def delta(
    run: Row, ks: Sequence[int], ends: tuple[float, float], *, width: int = 280, height: int = 70
) -> Chart | None:
    """Draw what unequal tasks add to pass^k over k, with its band, on an axis with these ends."""
    rows = list(_deltas(run))
    if not rows:
        return None
    return filled(_delta(tuple(ks), ends, run["colour"], width, height), rows)


@cache
def _delta(
    ks: tuple[int, ...], ends: tuple[float, float], shade: str, width: int, height: int
) -> Chart:
    base = of_rows([]).encode(x=_over_k(ks))
    scale = alt.Scale(domain=list(ends), nice=False, clamp=True)
    axis = alt.Axis(labelExpr=POINTS, tickCount=2)
    band = base.mark_area(opacity=0.2, aria=False, color=colour(shade)).encode(
        y=alt.Y("lower:Q", scale=scale, axis=axis, title=None), y2="upper:Q"
    )
    line = base.mark_line(strokeWidth=2, aria=False, color=colour(shade)).encode(y="value:Q")
    dots = base.mark_point(filled=True, opacity=1, size=20, color=colour(shade)).encode(
        y="value:Q", description="said:N"
    )
    return finished(band + line + dots, width, height)


def overlay_delta(runs: Sequence[Row], ks: Sequence[int]) -> Chart | None:
    """Draw delta_k of a few runs in one plot, in the colours of their agents."""
    names = run_names(runs)
    rows = [{**row, "run": names[row["run"]]} for run in runs for row in _deltas(run)]
    if not rows:
        return None
    colours, strengths = agent_colours(runs, named=True)
    base = of_rows(rows).encode(
        x=_over_k(ks),
        y=alt.Y("value:Q", axis=alt.Axis(labelExpr=POINTS, tickCount=4), title=None),
        color=colours,
        opacity=strengths,
    )
    line = base.mark_line(strokeWidth=2, aria=False)
    dots = base.mark_point(filled=True, size=26).encode(description="said:N")
    return finished(line + dots, 720, 240)


def _deltas(run: Row) -> Iterable[Row]:
    for row in run["curve"]:
        if row["delta_k"] is not None:
            sign, limits = "-" if row["delta_k"] < 0 else "", ""
            if row["delta_k_lower"] is not None:
                ends = (max(0.0, row[f"delta_k_{side}"]) for side in ("lower", "upper"))
                limits = f" ({percents(*ends)})"
            yield {
                "k": row["k"],
                "run": run["run_id"],
                "value": row["delta_k"],
                "lower": row["delta_k_lower"],
                "upper": row["delta_k_upper"],
                "said": f"{short_name(run['run_id'])}: delta_{row['k']} {sign}"
                f"{percent(abs(row['delta_k']))} points{limits}",
            }


def _over_k(ks: Sequence[int], *, drawn: bool = True) -> alt.X:
    """Make the axis of k: each k of the grid has its mark, and large ones don't push the others."""
    domain: list[float] = [ks[0], ks[-1]] if len(ks) > 1 else [ks[0] - 0.5, ks[0] + 0.5]
    scale = (
        alt.Scale(type="log", base=2, nice=False, domain=domain)
        if domain[-1] > _WIDE
        else alt.Scale(nice=False, domain=domain)
    )
    axis = alt.Axis(values=list(ks), format="d", labelOverlap="greedy", grid=False)
    return alt.X("k:Q", scale=scale, axis=axis if drawn else None, title="k")


def _marked(ks: Sequence[int], deployment_k: int) -> list[alt.Chart]:
    """Draw a thin line at the deployment k, where the axis has it."""
    if deployment_k not in ks or len(ks) == 1:
        return []
    return [
        beside([{"k": deployment_k}])
        .mark_rule(color=colour("quiet"), strokeDash=[1, 3], strokeWidth=1.5, aria=False)
        .encode(x=_over_k(ks))
    ]
