"""The report's charts, as Vega-Lite by Altair: each from rows of the facts, and from nothing else.

Every mark that stands for a number says it in its ``description``, which becomes its label in the
drawing: for screen readers, for who points at it, and for tests.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import altair as alt

from passk_py.common.words import TASK_CLASSES, percent, plain, shortened, symbol
from passk_py.reports.report.agent_sentences import spoken
from passk_py.reports.report.theme import HEAT_EDGES, RUNS, colour

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "classes",
    "curve",
    "delta",
    "heat",
    "known_ks",
    "overlay",
    "overlay_delta",
    "releases",
    "span",
    "trend",
]

Row = dict[str, Any]
Chart = dict[str, Any]
"""A Vega-Lite specification."""
_Drawn = alt.Chart | alt.LayerChart | alt.FacetChart

_METRICS: Final = ("pass_at_k", "pass_hat_k")
_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_CLASS_COLOURS: Final = ("heat5", "heat3", "heat0", "none")
_SHARES: Final = alt.Scale(domain=[0, 1], nice=False)
_PERCENT: Final = "format(datum.value, '.3~%')"
_WIDE: Final = 24
"""A grid with a larger k is drawn on a logarithmic axis."""
_NAME: Final = 26
"""Letters of a name on an axis; the page has it whole."""


def known_ks(runs: Iterable[Row]) -> list[int]:
    """Give the k at which some run has a value, for axes that several charts share.

    Parameters
    ----------
    runs
        Runs of the facts.

    Examples
    --------
    >>> known_ks([{"curve": [{"k": 1, "pass_at_k": 0.5}, {"k": 2, "pass_at_k": None}]}])
    [1]
    """
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
    """Draw pass@k dashed and pass^k solid over k, each with its band.

    Parameters
    ----------
    run
        A run of the facts.
    ks
        The k of the axis.
    deployment_k
        The k that stands out.
    alone
        Whether no page around it says what the marks mean.
    width, height
        Of the plot, in pixels.
    """
    return _filled(_curve(tuple(ks), deployment_k, alone, width, height), list(_points(run)))


@cache
def _curve(
    ks: tuple[int, ...],
    deployment_k: int,
    alone: bool,
    width: int,
    height: int,
) -> Chart:
    """Make the chart without its rows: one for the forty runs of a page."""
    base = _of([]).encode(x=_over_k(ks))
    colours = _metric_colours()
    band = base.mark_area(opacity=0.2, aria=False).encode(
        y=alt.Y("lower:Q", scale=_SHARES, axis=_share_axis(), title=None),
        y2="upper:Q",
        color=colours,
    )
    line = base.mark_line(strokeWidth=2, aria=False).encode(
        y="value:Q", color=colours, strokeDash=_dashes(named=alone)
    )
    dots = base.mark_point(filled=True, opacity=1, size=26).encode(
        y="value:Q", color=colours, description="said:N", shape=_shapes()
    )
    return _finished(alt.layer(*_marked(ks, deployment_k), band, line, dots), width, height)


def overlay(
    runs: Sequence[Row],
    ks: Sequence[int],
    deployment_k: int,
    *,
    width: int = 720,
    height: int = 340,
) -> Chart:
    """Draw both curves of a few runs in one plot, a colour for each run.

    Parameters
    ----------
    runs
        At most :data:`~passk_py.reports.report.theme.RUNS` runs of the facts.
    ks
        The k of the axis.
    deployment_k
        The k that stands out.
    width, height
        Of the plot, in pixels.
    """
    names = _names(runs)
    rows = [{**row, "run": names[row["run"]]} for run in runs for row in _points(run)]
    base = _of(rows).encode(
        x=_over_k(ks),
        y=alt.Y("value:Q", scale=_SHARES, axis=_share_axis(), title=None),
        color=_run_colours(list(names.values())),
        detail="metric:N",
    )
    line = base.mark_line(strokeWidth=2, aria=False).encode(strokeDash=_dashes(named=True))
    dots = base.mark_point(filled=True, opacity=1, size=26).encode(description="said:N")
    return _finished(alt.layer(*_marked(ks, deployment_k), line, dots), width, height)


def delta(
    run: Row, ks: Sequence[int], highest: float, *, width: int = 280, height: int = 70
) -> Chart | None:
    """Draw what unequal tasks add to pass^k over k, with its band.

    Parameters
    ----------
    run
        A run of the facts.
    ks
        The k of the axis.
    highest
        The top of the axis, the same for all runs of a suite.
    width, height
        Of the plot, in pixels.

    Returns
    -------
    chart
        None if no delta_k is known.
    """
    rows = list(_deltas(run))
    return _filled(_delta(tuple(ks), highest, width, height), rows) if rows else None


@cache
def _delta(ks: tuple[int, ...], highest: float, width: int, height: int) -> Chart:
    base = _of([]).encode(x=_over_k(ks))
    scale = alt.Scale(domain=[0, highest], nice=False, clamp=True)
    axis = alt.Axis(labelExpr=_PERCENT, tickCount=2)
    band = base.mark_area(opacity=0.2, aria=False, color=colour("hat")).encode(
        y=alt.Y("lower:Q", scale=scale, axis=axis, title=None), y2="upper:Q"
    )
    line = base.mark_line(strokeWidth=2, aria=False, color=colour("hat")).encode(y="value:Q")
    dots = base.mark_point(filled=True, opacity=1, size=20, color=colour("hat")).encode(
        y="value:Q", description="said:N"
    )
    return _finished(band + line + dots, width, height)


def overlay_delta(
    runs: Sequence[Row], ks: Sequence[int], *, width: int = 720, height: int = 240
) -> Chart | None:
    """Draw delta_k of a few runs in one plot, a colour for each run.

    Parameters
    ----------
    runs
        At most :data:`~passk_py.reports.report.theme.RUNS` runs of the facts.
    ks
        The k of the axis.
    width, height
        Of the plot, in pixels.

    Returns
    -------
    chart
        None if no delta_k is known.
    """
    names = _names(runs)
    rows = [{**row, "run": names[row["run"]]} for run in runs for row in _deltas(run)]
    if not rows:
        return None
    base = _of(rows).encode(
        x=_over_k(ks),
        y=alt.Y("value:Q", axis=alt.Axis(labelExpr=_PERCENT, tickCount=4), title=None),
        color=_run_colours(list(names.values())),
    )
    line = base.mark_line(strokeWidth=2, aria=False)
    dots = base.mark_point(filled=True, opacity=1, size=26).encode(description="said:N")
    return _finished(line + dots, width, height)


def heat(suite: Row, *, alone: bool = False, width: int = 860, step: int = 16) -> Chart | None:
    """Draw the pass rate of every task by run: the first to mend stand on the left.

    Parameters
    ----------
    suite
        A suite of the facts.
    alone
        Whether no page around it says what the marks mean.
    width
        Of the plot, in pixels.
    step
        Height of a run, in pixels.

    Returns
    -------
    chart
        None if there is no task.
    """
    if not suite["heat"]:
        return None
    names = _names(suite["runs"])
    of_a_bin = suite["total_tasks"] / (max(row["bin"] for row in suite["heat"]) + 1)
    rows = [
        {
            "run": names[row["run_id"]],
            "from": row["bin"] * of_a_bin,
            "to": (row["bin"] + 1) * of_a_bin,
            "value": row["pass_rate"],
            "said": _said_of_bin(row),
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
        _of(known)
        .mark_rect()
        .encode(
            x=alt.X(
                "from:Q",
                scale=alt.Scale(domain=[0, suite["total_tasks"]], nice=False),
                axis=alt.Axis(format=",d", tickMinStep=1, grid=False, tickCount=6),
                title="tasks, the first to mend in front",
            ),
            x2="to:Q",
            y=_by_run(names),
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
    return _finished(chart, width, alt.Step(step))


def classes(suite: Row, *, alone: bool = False, width: int = 860, step: int = 20) -> Chart:
    """Draw how many tasks of each run are consistent, flaky, incapable and unknown.

    Parameters
    ----------
    suite
        A suite of the facts.
    alone
        Whether no page around it says what the marks mean.
    width
        Of the plot, in pixels.
    step
        Height of a run, in pixels.
    """
    names = _names(suite["runs"])
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
        _of(rows)
        .mark_bar(height={"band": 0.8})
        .encode(
            x=alt.X(
                "tasks:Q",
                axis=alt.Axis(format=",d", tickMinStep=1, tickCount=6),
                title="tasks",
                scale=alt.Scale(domain=[0, most], nice=False),
            ),
            y=_by_run(names),
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
    return _finished(chart, width, alt.Step(step))


def trend(
    runs: Sequence[Row], k: int, *, alone: bool = False, width: int = 460, height: int = 200
) -> Chart:
    """Draw pass@k and pass^k of one agent's runs, in the order in which they were made.

    Parameters
    ----------
    runs
        The runs of an agent, the earliest first.
    k
        The deployment k.
    alone
        Whether no page around it says what the marks mean.
    width, height
        Of the plot, in pixels.
    """
    names = _names(runs)
    rows = [
        {**row, "run": names[run["run_id"]]}
        for run in runs
        for row in _points(run)
        if row["k"] == k
    ]
    base = _of(rows).encode(
        x=alt.X(
            "run:N",
            sort=list(names.values()),
            scale=alt.Scale(domain=list(names.values())),
            axis=alt.Axis(labelAngle=-30, labelLimit=190, grid=False),
            title=None,
        )
    )
    colours = _metric_colours()
    rules = base.mark_rule(strokeWidth=2, opacity=0.45, aria=False).encode(
        y=alt.Y("lower:Q", scale=_SHARES, axis=_share_axis(), title=None),
        y2="upper:Q",
        color=colours,
    )
    line = base.mark_line(strokeWidth=2, aria=False).encode(
        y="value:Q", color=colours, strokeDash=_dashes(named=alone)
    )
    dots = base.mark_point(filled=True, opacity=1, size=40).encode(
        y="value:Q", color=colours, description="said:N", shape=_shapes()
    )
    return _finished(rules + line + dots, width, height)


def releases(runs: Iterable[Row], k: int) -> list[tuple[str, list[Row]]]:
    """Find the agents of which several runs have a value at the deployment k.

    Parameters
    ----------
    runs
        The runs of a suite, those of each agent in order.
    k
        The deployment k.

    Returns
    -------
    list
        Each agent and all of its runs.
    """
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


def span(
    estimate: float,
    lower: float | None,
    upper: float | None,
    *,
    domain: tuple[float, float],
    mark: float | None,
    tone: str,
    said: str,
    width: int = 150,
) -> Chart:
    """Draw an estimate and its interval as one line, beside what it is held against.

    Parameters
    ----------
    estimate, lower, upper
        The number and its limits; no line without them.
    domain
        Ends of the axis, the same for all rows of a table.
    mark
        Where the rule stands that it is held against, if there is one.
    tone
        Name of its colour.
    said
        What it says.
    width
        In pixels.
    """
    row: Row = {"value": estimate, "lower": lower, "upper": upper, "said": said}
    has_limits = lower is not None and upper is not None
    return _filled(_span(domain, mark, tone, has_limits, width), [row])


@cache
def _span(
    domain: tuple[float, float],
    mark: float | None,
    tone: str,
    has_limits: bool,
    width: int,
) -> Chart:
    scale = alt.Scale(domain=list(domain), nice=False, clamp=True)
    axis = alt.X("value:Q", scale=scale, axis=None)
    base = _of([])
    layers: list[alt.Chart] = []
    if mark is not None:
        layers.append(
            _beside([{"value": mark}])
            .mark_rule(strokeWidth=1.5, color=colour("quiet"), strokeDash=[2, 2], aria=False)
            .encode(x=axis)
        )
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
    return _finished(alt.layer(*layers), width, 14)


# ---------------------------------------------------------------------------------------------
# rows


def _points(run: Row) -> Iterable[Row]:
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
                    "said": f"{_short(run['run_id'])}: {spoken(row, metric)}",
                }


def _deltas(run: Row) -> Iterable[Row]:
    for row in run["curve"]:
        if row["delta_k"] is not None:
            limits = ""
            if row["delta_k_lower"] is not None:
                low, high = (
                    percent(max(0.0, row[f"delta_k_{side}"])) for side in ("lower", "upper")
                )
                limits = f" ({low} to {high})"
            yield {
                "k": row["k"],
                "run": run["run_id"],
                "value": row["delta_k"],
                "lower": row["delta_k_lower"],
                "upper": row["delta_k_upper"],
                "said": f"{_short(run['run_id'])}: delta_{row['k']} "
                f"{_points_of(row['delta_k'])}{limits}",
            }


def _points_of(share: float) -> str:
    return f"{'-' if share < 0 else ''}{percent(abs(share))}%"


def _said_of_bin(row: Row) -> str:
    name = _short(row["run_id"])
    rate = percent(row["pass_rate"])
    if row["first_task"] == row["last_task"]:
        return f"{name}, task {row['first_task']:,}: {rate}% passed"
    return f"{name}, tasks {row['first_task']:,} to {row['last_task']:,}: {rate}% passed on average"


def _short(name: str) -> str:
    return shortened(name, 60)


def _names(runs: Sequence[Row]) -> dict[str, str]:
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


# ---------------------------------------------------------------------------------------------
# scales and axes


_ROWS: Final = "rows"


def _of(rows: Sequence[Row]) -> alt.Chart:
    """Begin a chart of some rows, which others may take the place of."""
    return alt.Chart({"name": _ROWS, "values": list(rows)})


def _beside(rows: Sequence[Row]) -> alt.Chart:
    """Begin a layer whose rows stay."""
    return alt.Chart({"values": list(rows)})


def _filled(chart: Chart, rows: Sequence[Row]) -> Chart:
    """Give a chart its rows. To make it takes longer than to draw it, so it is made once."""

    def with_rows(part: Row) -> Row:
        if part.get("data", {}).get("name") != _ROWS:
            return part
        return {**part, "data": {"name": _ROWS, "values": list(rows)}}

    filled = with_rows(chart)
    return {**filled, "layer": [with_rows(layer) for layer in filled["layer"]]}


def _over_k(ks: Sequence[int]) -> alt.X:
    """Make the axis of k: each k of the grid has its mark, and large ones don't push the others."""
    domain: list[float] = [ks[0], ks[-1]] if len(ks) > 1 else [ks[0] - 0.5, ks[0] + 0.5]
    scale = (
        alt.Scale(type="log", base=2, nice=False, domain=domain)
        if domain[-1] > _WIDE
        else alt.Scale(nice=False, domain=domain)
    )
    axis = alt.Axis(values=list(ks), format="d", labelOverlap="greedy", grid=False)
    return alt.X("k:Q", scale=scale, axis=axis, title="k")


def _marked(ks: Sequence[int], deployment_k: int) -> list[alt.Chart]:
    """Draw a thin line at the deployment k, where the axis has it."""
    if deployment_k not in ks or len(ks) == 1:
        return []
    return [
        _beside([{"k": deployment_k}])
        .mark_rule(color=colour("quiet"), strokeDash=[1, 3], strokeWidth=1.5, aria=False)
        .encode(x=_over_k(ks))
    ]


def _share_axis() -> alt.Axis:
    return alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labelExpr=_PERCENT)


def _metric_colours() -> alt.Color:
    """Colour the metrics; the dashes name them."""
    scale = alt.Scale(domain=list(_METRICS), range=[colour("at"), colour("hat")])
    return alt.Color("metric:N", legend=None, scale=scale)


def _dashes(*, named: bool = False) -> alt.StrokeDash:
    legend = None
    if named:
        said = " ".join(f"datum.label == '{metric}' ? '{symbol(metric)}' :" for metric in _METRICS)
        legend = alt.Legend(title=None, labelExpr=f"{said} ''", orient="bottom", symbolSize=500)
    return alt.StrokeDash(
        "metric:N", legend=legend, scale=alt.Scale(domain=list(_METRICS), range=[[5, 3], [1, 0]])
    )


def _shapes() -> alt.Shape:
    """Tell the metrics apart without colour, where a line has one point only too."""
    return alt.Shape(
        "metric:N",
        legend=None,
        scale=alt.Scale(domain=list(_METRICS), range=["circle", "square"]),
    )


def _run_colours(names: Sequence[str]) -> alt.Color:
    return alt.Color(
        "run:N",
        scale=alt.Scale(
            domain=list(names),
            range=[colour(f"run{place % RUNS + 1}") for place in range(len(names))],
        ),
        legend=alt.Legend(
            title=None, orient="bottom", columns=3, labelLimit=240, symbolType="square"
        ),
    )


def _by_run(names: dict[str, str]) -> alt.Y:
    order = list(names.values())
    return alt.Y(
        "run:N",
        sort=order,
        scale=alt.Scale(domain=order, paddingInner=0.1),
        axis=alt.Axis(labelLimit=210, ticks=False, domain=False, labelPadding=6),
        title=None,
    )


def _finished(chart: _Drawn, width: int, height: int | alt.Step) -> Chart:
    quiet, rule = colour("quiet"), colour("rule")
    finished = chart.properties(width=width, height=height).configure(
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
    return dict(finished.to_dict())
