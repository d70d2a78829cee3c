"""The parts that charts share: names of runs, scales, axes, colours, and the finish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt

from passk_py.common.words import plain, shortened, symbol
from passk_py.reports.report.agent_sentences import spoken
from passk_py.reports.report.theme import PALE, colour

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = dict[str, Any]
Chart = dict[str, Any]
"""A Vega-Lite specification."""
_Drawn = alt.Chart | alt.LayerChart | alt.FacetChart

SHARES: Final = alt.Scale(domain=[0, 1], nice=False)
PERCENT: Final = "format(datum.value, '.3~%')"
POINTS: Final = "replace(format(100 * datum.value, '.3~r'), '\u2212', '-')"
_METRICS: Final = ("pass_at_k", "pass_hat_k")
_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_NAME: Final = 26
"""Letters of a name on an axis; the page has it whole."""
_ROWS: Final = "rows"


def points(run: Row) -> Iterable[Row]:
    """Give a row per metric and k that has a value."""
    for metric in _METRICS:
        for row in run["curve"]:
            if row[metric] is not None:
                yield {
                    "k": row["k"],
                    "metric": metric,
                    "run": run["run_id"],
                    "value": row[metric],
                    "lower": row[f"{metric}_lower"],
                    "upper": row[f"{metric}_upper"],
                    "said": f"{short_name(run['run_id'])}: {spoken(row, metric)}",
                }


def short_name(name: str) -> str:
    """Shorten a name for a sentence."""
    return shortened(name, 60)


def run_names(runs: Sequence[Row]) -> dict[str, str]:
    """Shorten the names of runs for an axis, so that they stay different."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for run in runs:
        name = shortened(plain(run["run_id"]), _NAME)
        place = 2
        while name in taken:
            name = f"{shortened(plain(run['run_id']), _NAME - 4)} ({place})"
            place += 1
        taken.add(name)
        found[run["run_id"]] = name
    return found


def of_rows(rows: Sequence[Row]) -> alt.Chart:
    """Begin a chart of some rows, which others may take the place of."""
    return alt.Chart({"name": _ROWS, "values": list(rows)})


def beside(rows: Sequence[Row]) -> alt.Chart:
    """Begin a layer whose rows stay."""
    return alt.Chart({"values": list(rows)})


def filled(chart: Chart, rows: Sequence[Row]) -> Chart:
    """Give a chart its rows. To make it takes longer than to draw it, so it is made once."""

    def with_rows(part: Row) -> Row:
        if part.get("data", {}).get("name") != _ROWS:
            return part
        return {**part, "data": {"name": _ROWS, "values": list(rows)}}

    filled = with_rows(chart)
    return {**filled, "layer": [with_rows(layer) for layer in filled["layer"]]}


def share_axis() -> alt.Axis:
    """Make the axis of shares, in percent."""
    return alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labelExpr=PERCENT)


def shades(ends: tuple[float, float]) -> alt.Opacity:
    """Shade what is drawn of pass@k and of pass^k, which have the colour of their agent."""
    scale = alt.Scale(domain=list(_METRICS), range=list(ends))
    return alt.Opacity("metric:N", legend=None, scale=scale)


def dashes(*, named: bool = False) -> alt.StrokeDash:
    """Dash the lines of pass@k; the legend names the metrics."""
    legend = None
    if named:
        said = " ".join(f"datum.label == '{metric}' ? '{symbol(metric)}' :" for metric in _METRICS)
        legend = alt.Legend(title=None, labelExpr=f"{said} ''", orient="bottom", symbolSize=500)
    return alt.StrokeDash(
        "metric:N", legend=legend, scale=alt.Scale(domain=list(_METRICS), range=[[5, 3], [1, 0]])
    )


def metric_lines(
    base: alt.Chart, shade: str, *, named: bool, size: int
) -> tuple[alt.Chart, alt.Chart]:
    """Draw a line for each metric, and the dots that say its values."""
    # Shapes tell the metrics apart without colour, where a line has one point only too.
    shapes = alt.Scale(domain=list(_METRICS), range=["circle", "square"])
    line = base.mark_line(strokeWidth=2, aria=False, color=colour(shade)).encode(
        y="value:Q", strokeDash=dashes(named=named)
    )
    dots = base.mark_point(filled=True, opacity=1, size=size, color=colour(shade)).encode(
        y="value:Q",
        description="said:N",
        shape=alt.Shape("metric:N", legend=None, scale=shapes),
    )
    return line, dots


def agent_colours(runs: Sequence[Row], *, named: bool) -> tuple[alt.Color, alt.Opacity]:
    """Give runs the colours of their agents, the earlier runs of an agent paler; name them."""
    names = list(run_names(runs).values())
    legend = (
        alt.Legend(title=None, orient="bottom", columns=3, labelLimit=240, symbolType="square")
        if named
        else None
    )
    colours = alt.Scale(domain=names, range=[colour(run["colour"]) for run in runs])
    # A scale of points, the usual one, would spread the ends of its range evenly.
    strengths = alt.Scale(
        type="ordinal", domain=names, range=[1 if run["is_latest"] else PALE for run in runs]
    )
    return (
        alt.Color("run:N", scale=colours, legend=legend),
        alt.Opacity("run:N", scale=strengths, legend=legend),
    )


def by_run(names: dict[str, str]) -> alt.Y:
    """Make the axis that has a line for each run."""
    order = list(names.values())
    return alt.Y(
        "run:N",
        sort=order,
        scale=alt.Scale(domain=order, paddingInner=0.1),
        axis=alt.Axis(labelLimit=210, ticks=False, domain=False, labelPadding=6),
        title=None,
    )


def finished(chart: _Drawn, width: int, height: int | alt.Step) -> Chart:
    """Give a chart its size, font and quiet colours, and write it as Vega-Lite."""
    quiet, rule = colour("quiet"), colour("rule")
    configured = chart.properties(width=width, height=height).configure(
        font=_FONT,
        padding=4,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelColor=quiet,
            titleColor=quiet,
            titleFontWeight="normal",
            gridColor=rule,
            domainColor=rule,
            tickColor=rule,
            labelFontSize=11,
            titleFontSize=11,
        ),
        legend=alt.LegendConfig(labelColor=quiet, titleColor=quiet, labelFontSize=11),
    )
    return dict(configured.to_dict())
