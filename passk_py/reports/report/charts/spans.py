"""An estimate and its interval as one line, for the cell of a table."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import altair as alt

from passk_py.reports.report.charts.chart_parts import beside, filled, finished, of_rows
from passk_py.reports.report.theme import colour

if TYPE_CHECKING:
    from passk_py.reports.report.charts.chart_parts import Chart, Row


def span(
    estimate: float,
    lower: float | None,
    upper: float | None,
    *,
    domain: tuple[float, float],
    mark: float,
    tone: str,
    said: str,
    width: int = 150,
) -> Chart:
    """Draw an estimate and its interval as one line, beside what it is held against."""
    row: Row = {"value": estimate, "lower": lower, "upper": upper, "said": said}
    has_limits = lower is not None and upper is not None
    return filled(_span(domain, mark, tone, has_limits, width), [row])


@cache
def _span(
    domain: tuple[float, float], mark: float, tone: str, has_limits: bool, width: int
) -> Chart:
    scale = alt.Scale(domain=list(domain), nice=False, clamp=True)
    axis = alt.X("value:Q", scale=scale, axis=None)
    base = of_rows([])
    layers = [
        beside([{"value": mark}])
        .mark_rule(strokeWidth=1.5, color=colour("quiet"), strokeDash=[2, 2], aria=False)
        .encode(x=axis)
    ]
    if has_limits:
        ends = alt.X("lower:Q", scale=scale, axis=None)
        layers.append(
            base.mark_rule(strokeWidth=3, opacity=0.5, color=colour(tone), aria=False).encode(
                x=ends, x2="upper:Q"
            )
        )
    layers.append(
        base.mark_point(filled=True, opacity=1, size=50, color=colour(tone)).encode(
            x=axis, description="said:N"
        )
    )
    return finished(alt.layer(*layers), width, 14)
