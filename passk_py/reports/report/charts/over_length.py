"""pass^k over the length of tasks: bins, the fitted curve, and where it is one half."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import altair as alt

from passk_py.common.words import percent, percents, symbol
from passk_py.reports.length_words import length, length_limits
from passk_py.reports.report.charts.chart_parts import (
    SHARES,
    beside,
    finished,
    of_rows,
    share_axis,
    short_name,
)
from passk_py.reports.report.theme import colour

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.reports.report.charts.chart_parts import Chart, Row

_POINTS: Final = 60


def over_length(run: Row, *, width: int = 420, height: int = 200) -> Chart | None:
    """Draw pass^1 dashed and pass^k solid over length, with the horizon; none without lengths."""
    bins = run["length_bins"]
    if not bins:
        return None
    shade = colour(run["colour"])
    ks = sorted({row["k"] for row in bins})
    dash = alt.StrokeDash(
        "k:N", legend=None, scale=alt.Scale(domain=ks, range=[[5, 3], [1, 0]][-len(ks) :])
    )
    shape = alt.Shape(
        "k:N", legend=None, scale=alt.Scale(domain=ks, range=["circle", "square"][-len(ks) :])
    )
    ends = [row[end] for row in bins for end in ("shortest", "longest")]
    scale = alt.Scale(type="log", base=2, domain=[min(ends), max(ends)], nice=False)
    axis = alt.X(
        "length:Q",
        scale=scale,
        axis=alt.Axis(grid=False, format="~s", tickCount=7),
        title=bins[0]["difficulty"],
    )
    share = alt.Y("value:Q", scale=SHARES, axis=share_axis(), title=None)
    line = (
        beside([point for row in run["horizons"] for point in _curve(row)])
        .mark_line(strokeWidth=2, aria=False, color=shade)
        .encode(x=axis, y=share, strokeDash=dash)
    )
    base = of_rows([_bin(row, run) for row in bins]).encode(x=axis)
    rules = base.mark_rule(opacity=0.45, aria=False, color=shade).encode(
        y=alt.Y("lower:Q", scale=SHARES, axis=share_axis(), title=None), y2="upper:Q"
    )
    dots = base.mark_point(filled=True, opacity=1, size=36, color=shade).encode(
        y=share, description="said:N", shape=shape
    )
    marks = [_mark(row, run) for row in run["horizons"] if row["horizon"] is not None]
    half = beside([{"value": 0.5}]).mark_rule(strokeDash=[2, 3], aria=False, color=colour("quiet"))
    layers = [half.encode(y=share), line, rules, dots]
    if marks:
        reach = beside(marks).mark_rule(strokeWidth=5, opacity=0.35, aria=False, color=shade)
        cross = beside(marks).mark_point(size=130, strokeWidth=2.5, opacity=1, color=colour("ink"))
        layers += [
            reach.encode(
                x=alt.X("lower:Q", scale=scale, title=bins[0]["difficulty"]), x2="upper:Q", y=share
            ),
            cross.encode(x=axis, y=share, shape=alt.value("diamond"), description="said:N"),
        ]
    return finished(alt.layer(*layers), width, height)


def _curve(row: Row) -> Iterable[Row]:
    """Give points of the fitted curve, from the shortest to the longest task."""
    if row["curve_level"] is None:
        return
    first, last = math.log2(row["shortest"]), math.log2(row["longest"])
    for step in range(_POINTS + 1):
        at = first + (last - first) * step / _POINTS
        eta = row["curve_level"] + row["curve_slope"] * at
        height = (1 + math.exp(min(-eta, 700.0))) ** -row["curve_power"]
        yield {"k": row["k"], "length": 2**at, "value": height}


def _bin(row: Row, run: Row) -> Row:
    limits = percents(row["pass_hat_k_lower"], row["pass_hat_k_upper"])
    return {
        "k": row["k"],
        "length": row["typical_length"],
        "value": row["pass_hat_k"],
        "lower": row["pass_hat_k_lower"],
        "upper": row["pass_hat_k_upper"],
        "said": f"{short_name(run['run_id'])}: {symbol('pass_hat_k', row['k'])} of {row['tasks']} "
        f"tasks from {length(row['shortest'])} to {length(row['longest'])} is "
        f"{percent(row['pass_hat_k'])}% ({limits})",
    }


def _mark(row: Row, run: Row) -> Row:
    """Give the horizon; limits beyond all lengths reach to the end of the axis."""
    lower, upper = row["horizon_lower"], row["horizon_upper"]
    is_known = (lower, upper) != (None, None)
    return {
        "k": row["k"],
        "length": row["horizon"],
        "value": 0.5,
        "lower": (row["shortest"] if is_known else row["horizon"]) if lower is None else lower,
        "upper": (row["longest"] if is_known else row["horizon"]) if upper is None else upper,
        "said": f"{short_name(run['run_id'])}: {symbol('pass_hat_k', row['k'])} is one half at "
        f"{length(row['horizon'])} ({length_limits(row)})",
    }
