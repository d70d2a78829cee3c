"""The charts of the dashboards: what each asks, and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

AT_COLOR: Final = "#0b6e7f"
HAT_COLOR: Final = "#8a2795"
"""The colours of pass@k and pass^k, where a chart has no colours for agents."""

_Conditions = tuple[dict[str, Any], ...]

AT_LIMIT_COLOR: Final = "#8cc3cb"
HAT_LIMIT_COLOR: Final = "#cf9fd4"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart."""

    name: str
    dataset: str
    kind: str
    """What Superset calls this kind of chart."""
    settings: dict[str, Any]
    text: str = ""
    """What it shows, which Superset has beside the title."""
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
        "show_cell_bars": False,
        "color_pn": False,
        "column_config": config,
    }
    return Chart(name, dataset, "table", settings, text)


def _line(metrics: list[Any], groups: list[str]) -> dict[str, Any]:
    return {
        "x_axis": "k",
        "metrics": metrics,
        "groupby": groups,
        "adhoc_filters": [condition("pass_at_k", "IS NOT NULL")],
        "x_axis_sort_asc": True,
        "row_limit": 10000,
        "seriesType": "line",
        "markerEnabled": True,
        "markerSize": 5,
        "rich_tooltip": True,
        "show_legend": True,
        "legendType": "scroll",
        "legendOrientation": "top",
        "y_axis_format": ".0%",
        "tooltipTimeFormat": "smart_date",
        "x_axis_title": "k",
        "x_axis_title_margin": 30,
        "truncateXAxis": False,
        "truncateYAxis": True,
        "y_axis_bounds": [0, 1],
    }


def curves(
    name: str, dataset: str, metric: str, *, by: str, where: _Conditions, text: str
) -> Chart:
    """Draw one metric over k, a line for each value of a column."""
    settings = _line([metric], [by])
    settings["adhoc_filters"] += where
    # Lines of more runs can't be told apart.
    settings |= {"limit": 8, "timeseries_limit_metric": "newest run", "order_desc": True}
    return Chart(name, dataset, "echarts_timeseries_line", settings, text)


def limits(
    name: str,
    dataset: str,
    metrics: dict[str, str],
    *,
    bounds: tuple[float | None, float | None] = (0, 1),
    known: str,
    where: _Conditions = (),
    text: str = "",
) -> Chart:
    """Draw metrics over k as lines, each in its colour, where a column has a value."""
    # Superset's own bands, those of a forecast, stand wrong where the other axis has numbers.
    settings = _line(list(metrics), []) | {"y_axis_bounds": list(bounds), "legendType": "plain"}
    settings["adhoc_filters"] = [condition(known, "IS NOT NULL"), *where]
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
        "show_legend": True,
        "show_values": False,
        "show_percentage": False,
        "value_bounds": [0, 1],
        "y_axis_format": ".0%",
        "left_margin": "auto",
        "bottom_margin": "auto",
        "sort_x_axis": "alpha_asc",
        "sort_y_axis": "value_asc",
    }
    return Chart(name, dataset, "heatmap_v2", settings, text)
