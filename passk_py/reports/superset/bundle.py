"""The bundle as files: what Superset imports."""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.reports.superset.dashboards import DASHBOARDS
from passk_py.reports.superset.datasets import DATASETS, Column
from passk_py.warehouse.descriptions import described_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passk_py.reports.superset.dashboards import Dashboard, Filter
    from passk_py.reports.superset.datasets import Dataset
    from passk_py.reports.superset.superset_charts import Chart
    from passk_py.warehouse.descriptions import TableDescription

_VERSION: Final = "1.0.0"
_WIDTH: Final = 12
_ID: Final = uuid.UUID("5f1d8f0a-6f0e-5c55-9f2e-6a1f0c2f4b77")
"""The ids made from it are the same in all bundles, so that a newer one updates an older."""

_CSS: Final = Path(__file__).with_name("dashboard.css")

_TYPES: Final = {
    "string": "VARCHAR",
    "bigint": "BIGINT",
    "double": "DOUBLE PRECISION",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP",
}


def bundle_files(uri: str, *, schema: str | None, name: str) -> dict[str, Any]:
    """Make what Superset imports."""
    ids = _Ids(name)
    tables = described_tables()
    folder = _file_name(name)
    files: dict[str, Any] = {
        "metadata.yaml": {
            "version": _VERSION,
            "type": "Dashboard",
            # Part of the form; a bundle of the same version is the same to the byte.
            "timestamp": "2026-01-01T00:00:00+00:00",
        },
        f"databases/{folder}.yaml": _database(uri, name, ids),
    }
    for dataset in DATASETS:
        path = f"datasets/{folder}/{_file_name(dataset.name)}.yaml"
        files[path] = _dataset(dataset, tables[dataset.table], schema, name, ids)
    for dashboard in DASHBOARDS:
        for chart in _charts(dashboard):
            path = f"charts/{dashboard.name}_{_file_name(chart.name)}.yaml"
            files[path] = _chart(chart, dashboard, ids)
        files[f"dashboards/{dashboard.name}.yaml"] = _dashboard(dashboard, name, ids)
    return files


class _Ids:
    """Names of things that stay the same from one bundle to the next."""

    def __init__(self, name: str) -> None:
        self._root = uuid.uuid5(_ID, name)

    def of(self, *path: str) -> str:
        return str(uuid.uuid5(self._root, "/".join(path)))

    def short(self, kind: str, *path: str) -> str:
        return f"{kind}-{self.of(kind, *path)[:8]}"


def _file_name(text: str) -> str:
    return re.sub(
        r"[^a-z0-9]+", "_", text.lower().replace("^", " hat ").replace("@", " at ")
    ).strip("_")


def _charts(dashboard: Dashboard) -> list[Chart]:
    return [chart for row in dashboard.rows for chart in row]


def _database(uri: str, name: str, ids: _Ids) -> dict[str, Any]:
    extra: dict[str, Any] = {"allows_virtual_table_explore": True}
    if uri.startswith("duckdb:"):
        # Otherwise the first reader would prevent that the next copy or build is written.
        extra["engine_params"] = {"connect_args": {"read_only": True}}
    return {
        "database_name": name,
        "sqlalchemy_uri": uri,
        "cache_timeout": None,
        "expose_in_sqllab": True,
        "allow_run_async": False,
        "allow_ctas": False,
        "allow_cvas": False,
        "allow_dml": False,
        "allow_csv_upload": False,
        "extra": extra,
        "uuid": ids.of("database"),
        "version": _VERSION,
    }


def _dataset(
    dataset: Dataset, table: TableDescription, schema: str | None, name: str, ids: _Ids
) -> dict[str, Any]:
    columns = [
        Column(name, table.types.get(name, ""), text)
        for name, text in table.columns.items()
        if name not in dataset.left_out
    ]
    before = "" if schema is None else f"{schema}."
    source = f"{before}{dataset.table}"
    if dataset.left_out:
        source = f"(select {', '.join(column.name for column in columns)} from {source})"
    return {
        # Superset wants a name that no dataset of another database has: so even one that reads a
        # single table is a query with a name of its own.
        "table_name": f"{name}: {dataset.name}",
        "description": table.text,
        "main_dttm_col": None,
        "default_endpoint": None,
        "offset": 0,
        "cache_timeout": -1,
        "schema": schema,
        "sql": dataset.sql.replace("{table}", source).replace("{schema}", before),
        "params": None,
        "template_params": None,
        "filter_select_enabled": True,
        "fetch_values_predicate": None,
        "extra": None,
        "normalize_columns": False,
        "always_filter_main_dttm": False,
        "uuid": ids.of("dataset", dataset.name),
        "metrics": [
            {
                "metric_name": metric.name,
                "verbose_name": metric.name,
                "metric_type": None,
                "expression": metric.expression,
                "description": metric.text,
                "d3format": metric.number_format or None,
                "extra": {},
                "warning_text": None,
            }
            for metric in dataset.metrics
        ],
        "columns": [
            {
                "column_name": column.name,
                "verbose_name": None,
                "is_dttm": column.data_type == "timestamp",
                "is_active": True,
                "type": _TYPES.get(column.data_type),
                # A share, a cost or a limit is no group.
                "groupby": column.data_type != "double",
                "filterable": True,
                "expression": None,
                "description": column.text,
                "python_date_format": None,
                "extra": {},
            }
            for column in (*columns, *dataset.added)
        ],
        "version": _VERSION,
        "database_uuid": ids.of("database"),
    }


def _chart(chart: Chart, dashboard: Dashboard, ids: _Ids) -> dict[str, Any]:
    return {
        "slice_name": chart.name,
        "description": chart.text or None,
        "certified_by": None,
        "certification_details": None,
        "viz_type": chart.kind,
        "params": {"viz_type": chart.kind, "time_range": "No filter", **chart.settings},
        "query_context": None,
        "cache_timeout": -1,
        "uuid": ids.of("chart", dashboard.name, chart.name),
        "version": _VERSION,
        "dataset_uuid": ids.of("dataset", chart.dataset),
    }


def _dashboard(dashboard: Dashboard, name: str, ids: _Ids) -> dict[str, Any]:
    charts = _charts(dashboard)
    # The import replaces these numbers by its own.
    numbers = {chart.name: number for number, chart in enumerate(charts, start=1)}
    colors = {called: color for chart in charts for called, color in chart.colors.items()}
    return {
        "dashboard_title": f"{name}: {dashboard.name}",
        "description": None,
        "css": _CSS.read_text(encoding="utf-8"),
        "slug": f"{_file_name(name)}-{dashboard.name}",
        "certified_by": "",
        "certification_details": "",
        "published": True,
        "uuid": ids.of("dashboard", dashboard.name),
        "position": _position(dashboard, numbers, ids),
        "metadata": {
            # Its first colours can be seen on white and on black.
            "color_scheme": "d3Category10",
            "label_colors": colors,
            "shared_label_colors": [],
            "cross_filters_enabled": False,
            # At the side, it would take a third of a page of 800 pixels.
            "filter_bar_orientation": "HORIZONTAL",
            "native_filter_configuration": [
                _filter(choice, dashboard, numbers, ids) for choice in dashboard.filters
            ],
            "chart_configuration": {},
            "global_chart_configuration": {},
            "expanded_slices": {},
            "refresh_frequency": 0,
            "timed_refresh_immune_slices": [],
            "default_filters": "{}",
        },
        "version": _VERSION,
    }


def _filter(
    choice: Filter, dashboard: Dashboard, numbers: Mapping[str, int], ids: _Ids
) -> dict[str, Any]:
    left_alone = [numbers[name] for name in choice.but_not]
    return {
        "id": ids.short("NATIVE_FILTER", dashboard.name, choice.name),
        "name": choice.name,
        "description": "",
        "type": "NATIVE_FILTER",
        "filterType": "filter_select",
        "targets": [
            {"datasetUuid": ids.of("dataset", choice.dataset), "column": {"name": choice.column}}
        ],
        "defaultDataMask": {"extraFormData": {}, "filterState": {}, "ownState": {}},
        "cascadeParentIds": [
            ids.short("NATIVE_FILTER", dashboard.name, parent) for parent in choice.within
        ],
        "scope": {"rootPath": ["ROOT_ID"], "excluded": left_alone},
        "chartsInScope": [number for number in numbers.values() if number not in left_alone],
        "tabsInScope": [],
        "controlValues": {
            "enableEmptyFilter": choice.must_choose,
            "defaultToFirstItem": choice.must_choose,
            "multiSelect": not choice.must_choose,
            "searchAllOptions": True,
            "inverseSelection": False,
            "sortAscending": True,
        },
        "sortMetric": choice.first or None,
        # Otherwise the first value is shown, and the charts are not filtered by it.
        "requiredFirst": choice.must_choose,
    }


def _position(dashboard: Dashboard, numbers: Mapping[str, int], ids: _Ids) -> dict[str, Any]:
    words = ids.short("MARKDOWN", dashboard.name)
    first = ids.short("ROW", dashboard.name, "text")
    rows = [first]
    position: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
        "HEADER_ID": {"type": "HEADER", "id": "HEADER_ID", "meta": {"text": dashboard.name}},
        first: _row(first, [words]),
        words: {
            "type": "MARKDOWN",
            "id": words,
            "children": [],
            "parents": ["ROOT_ID", "GRID_ID", first],
            "meta": {"width": _WIDTH, "height": 8, "code": dashboard.text},
        },
    }
    for place, (row, height) in enumerate(zip(dashboard.rows, dashboard.heights, strict=True)):
        row_id = ids.short("ROW", dashboard.name, str(place))
        rows.append(row_id)
        cells = []
        for chart in row:
            cell = ids.short("CHART", dashboard.name, chart.name)
            cells.append(cell)
            position[cell] = {
                "type": "CHART",
                "id": cell,
                "children": [],
                "parents": ["ROOT_ID", "GRID_ID", row_id],
                "meta": {
                    "chartId": numbers[chart.name],
                    "uuid": ids.of("chart", dashboard.name, chart.name),
                    "sliceName": chart.name,
                    "width": _WIDTH // len(row),
                    "height": height,
                },
            }
        position[row_id] = _row(row_id, cells)
    grid = {"type": "GRID", "id": "GRID_ID", "parents": ["ROOT_ID"], "children": rows}
    return {**position, "GRID_ID": grid}


def _row(row_id: str, cells: list[str]) -> dict[str, Any]:
    return {
        "type": "ROW",
        "id": row_id,
        "children": cells,
        "parents": ["ROOT_ID", "GRID_ID"],
        "meta": {"background": "BACKGROUND_TRANSPARENT"},
    }
