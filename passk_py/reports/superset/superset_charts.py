"""The charts of the dashboards: what each asks, and how it is drawn."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from passk_py.reports.superset.datasets import LOWER, UPPER

if TYPE_CHECKING:
    from collections.abc import Sequence

AT_COLOR: Final = "#178a9c"
HAT_COLOR: Final = "#b04fbb"
"""The colours of pass@k and pass^k, where a chart has no colours for agents, on white and black."""

_Conditions = tuple[dict[str, Any], ...]
_Metric = str | dict[str, Any]
"""The name of a metric of the dataset, or one of the chart's own."""

HAT_LIMIT_COLOR: Final = "#cf9fd4"

TENS: Final = {"interval": 0.1}
WHOLE: Final = {"minInterval": 0.01}
"""The steps of an axis: tens of percent; as fine as there is room for, but no half percent."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart."""

    name: str
    dataset: str
    kind: str
    """Superset's name of this kind of chart."""
    settings: dict[str, Any]
    text: str = ""
    """The description that Superset has beside the title."""
    colors: dict[str, str] = field(default_factory=dict)


def condition(column: str, operator: str, value: object = None) -> dict[str, Any]:
    """Write a filter of rows."""
    return {
        "clause": "WHERE",
        "expressionType": "SIMPLE",
        "subject": column,
        "operator": operator,
        "comparator": value,
    }


def table(
    name: str,
    dataset: str,
    columns: dict[str, str],
    *,
    order: tuple[tuple[str, bool], ...],
    where: _Conditions = (),
    formats: dict[str, tuple[str, ...]] | None = None,
    text: str = "",
) -> Chart:
    """Show rows, with the columns as they are called on the page, in d3's formats."""
    config: dict[str, Any] = {
        column: {"customColumnName": called} for column, called in columns.items()
    }
    for number_format, formatted in (formats or {}).items():
        for column in formatted:
            config[column]["d3NumberFormat"] = number_format
    settings = {
        "query_mode": "raw",
        "all_columns": list(columns),
        "order_by_cols": [f'["{column}", {str(up).lower()}]' for column, up in order],
        "adhoc_filters": list(where),
        "row_limit": 1000,
        "page_length": 0,
        "table_timestamp_format": "%Y-%m-%d %H:%M",
        # A name with `<b>` in it is that name.
        "allow_render_html": False,
        "show_cell_bars": False,
        "color_pn": False,
        "column_config": config,
    }
    return Chart(name, dataset, "table", settings, text)


# The picture's own axis of shares has no option for a step of 10%, so it is hidden, and one of
# percentages with the same ends replaces it.
_TENS_BESIDE: Final = {
    "animation": False,
    "yAxis": [
        {
            "type": "value",
            "min": 0,
            "max": 1,
            "interval": 0.1,
            "axisLabel": {"show": False},
            # On white and on black.
            "splitLine": {"lineStyle": {"color": "rgba(128, 128, 128, 0.25)"}},
        },
        {
            "type": "value",
            "position": "left",
            "min": 0,
            "max": 100,
            "interval": 10,
            "splitLine": {"show": False},
            "axisLabel": {"formatter": "{value}%"},
        },
    ],
}

# In pixels: how high the picture of curves is in a row of 70 units, and where its legend begins,
# which has room for a line for each of two curves of six runs, as on a phone.
_CURVES_HEIGHT: Final = 491
_LEGEND_TOP: Final = 318


def _over_k(bounds: tuple[float | None, float | None]) -> dict[str, Any]:
    """Draw something over k, each k as far from the next."""
    return {
        "x_axis": "k",
        "xAxisForceCategorical": True,
        "x_axis_sort_asc": True,
        "x_axis_title": "k",
        "x_axis_title_margin": 30,
        "y_axis_bounds": list(bounds),
        "truncateYAxis": True,
        "y_axis_format": ".0%",
        "rich_tooltip": True,
        "show_legend": True,
        "legendType": "plain",
        "legendOrientation": "top",
    }


def curves(name: str, *, where: _Conditions, text: str) -> Chart:
    """Draw both metrics over k for up to six runs, each in one colour."""
    metrics = [_newest_first("pass@k", "pass_at_k")], [_newest_first("pass^k", "pass_hat_k")]
    # Lines of more runs can't be told apart.
    chart = _both(name, metrics, ["run"], {"limit": 6}, where, text)
    # A legend that Superset places shows the first entries only, where all need three lines.
    legend = {"type": "plain", "top": _LEGEND_TOP, "width": "85%"}
    options = _TENS_BESIDE | {
        # The lines close to each other, and room between the entries of a line.
        "legend": legend | {"itemGap": 3, "formatter": "{name}   "},
        "grid": {"top": 15, "bottom": _CURVES_HEIGHT - _LEGEND_TOP + 50},
    }
    chart.settings["echart_options"] = json.dumps(options)
    return chart


def _newest_first(name: str, column: str) -> dict[str, Any]:
    """Give the value at a k and, over all k, the place by which Superset takes the newest runs."""
    # This kind of chart has no other order: it takes the runs whose metric is highest over all k.
    # Above 1, because a run of a single k has its value there, and so comes after the others.
    by_place = "when min(k) < max(k) then 1 + 1.0 / min(age_in_suite)"
    return {
        "expressionType": "SQL",
        "sqlExpression": f"case when count(*) = 1 then max({column}) {by_place} end",
        "label": name,
        "hasCustomLabel": True,
    }


def bands(name: str, *, text: str) -> Chart:
    """Draw both metrics of one run over k, each in its colour, with their limits as bands."""
    colors = {"pass@k": AT_COLOR, "pass^k": HAT_COLOR}
    metrics = {metric: [metric, f"{metric}{LOWER}", f"{metric}{UPPER}"] for metric in colors}
    chart = _both(name, (metrics["pass@k"], metrics["pass^k"]), [], {}, (), text)
    # A line, its limits and its band have one name, and not all have dots.
    options = _TENS_BESIDE | {"legend": {"icon": "roundRect"}}
    chart.settings["echart_options"] = json.dumps(options)
    for metric, color in colors.items():
        chart.colors.update(dict.fromkeys(metrics[metric], color))
    return chart


def _both(
    name: str,
    metrics: tuple[Sequence[_Metric], Sequence[_Metric]],
    groups: list[str],
    most: dict[str, Any],
    where: _Conditions,
    text: str,
) -> Chart:
    """Draw pass@k with dots and pass^k without."""
    settings = _over_k((0, 1))
    for end, suffix, asked in (("", "", metrics[0]), ("_b", "B", metrics[1])):
        query = {
            "metrics": list(asked),
            "groupby": groups,
            "adhoc_filters": [condition("pass_at_k", "IS NOT NULL"), *where],
            "row_limit": 10000,
            **most,
        }
        settings |= {f"{key}{end}": value for key, value in query.items()}
        settings |= {
            f"seriesType{suffix}": "line",
            f"markerEnabled{suffix}": not suffix,
            f"markerSize{suffix}": 7,
            f"opacity{suffix}": 0.15,
        }
    return Chart(name, "points", "mixed_timeseries", settings, text)


def limits(
    name: str,
    dataset: str,
    metrics: dict[str, str],
    *,
    bounds: tuple[float | None, float | None],
    step: dict[str, float],
    number_format: str = ".0%",
    known: str,
    where: _Conditions = (),
    text: str = "",
) -> Chart:
    """Draw metrics over k as lines, each in its colour, where a column has a value."""
    settings = _over_k(bounds) | {
        "metrics": list(metrics),
        "groupby": [],
        "adhoc_filters": [condition(known, "IS NOT NULL"), *where],
        "row_limit": 10000,
        "y_axis_format": number_format,
        "seriesType": "line",
        "markerEnabled": True,
        "markerSize": 5,
        # On a phone, a wider legend would push a button out of sight.
        "echart_options": json.dumps(
            {"animation": False, "yAxis": step, "legend": {"width": "70%"}}
        ),
    }
    return Chart(name, dataset, "echarts_timeseries_line", settings, text, metrics)


def bars(name: str, dataset: str, metric: str, *, by: str, text: str) -> Chart:
    """Draw a metric, a bar for each value of a column."""
    settings = {
        "x_axis": by,
        "metrics": [metric],
        "groupby": [],
        "adhoc_filters": [],
        "x_axis_sort": by,
        "x_axis_sort_asc": True,
        "row_limit": 1000,
        "show_value": True,
        "show_legend": False,
        "y_axis_format": ",d",
        "truncateYAxis": False,
    }
    return Chart(name, dataset, "echarts_timeseries_bar", settings, text, {metric: AT_COLOR})


def count(name: str, dataset: str, metric: str, *, where: _Conditions) -> Chart:
    """Show one number."""
    settings = {
        "metric": metric,
        "adhoc_filters": list(where),
        "header_font_size": 0.4,
        "subheader_font_size": 0.125,
        "y_axis_format": ",d",
    }
    return Chart(name, dataset, "big_number_total", settings)


def heat_map(
    name: str, dataset: str, metric: str, *, x: str, y: str, where: _Conditions, text: str
) -> Chart:
    """Draw a metric as the colour of a cell."""
    settings = {
        "x_axis": x,
        "groupby": y,
        "metric": metric,
        "adhoc_filters": list(where),
        "linear_color_scheme": "schemeOrRd",
        "normalize_across": "heatmap",
        "row_limit": 10000,
        # Its labels are black in the dark theme too, so the text says which end is which.
        "show_legend": False,
        "show_values": False,
        "show_percentage": False,
        "value_bounds": [0, 1],
        "y_axis_format": ".0%",
        "left_margin": 20,
        "bottom_margin": 20,
        # Each label is shown, and none overlaps the next.
        "xscale_interval": 1,
        "yscale_interval": 1,
        "x_axis_label_rotation": 90,
        "sort_x_axis": "alpha_asc",
        "sort_y_axis": "value_asc",
    }
    return Chart(name, dataset, "heatmap_v2", settings, text)
