"""A newer bundle over an older one, by the commands of docs/superset.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml  # type: ignore[import-untyped]

import passk_py as pk
from passk_py.reports.superset.dashboards import DASHBOARDS

from .superset_site import Page, needs_superset

if TYPE_CHECKING:
    from pathlib import Path

    from .superset_site import Superset

pytestmark = needs_superset


def make_older(bundle: Path) -> None:
    """Change a bundle into one with another chart, and with another text in one that stays."""
    charts = bundle / "charts"
    stays = yaml.safe_load((charts / "gates_rules.yaml").read_text())
    extra = {**stays, "uuid": "11111111-2222-4333-8444-555555555555", "slice_name": "Left over"}
    (charts / "gates_left_over.yaml").write_text(yaml.safe_dump(extra))
    stays["description"] = "of the older bundle"
    (charts / "gates_rules.yaml").write_text(yaml.safe_dump(stays))
    file = bundle / "dashboards" / "gates.yaml"
    dashboard = yaml.safe_load(file.read_text())
    row = dashboard["position"]["GRID_ID"]["children"][-1]
    dashboard["position"]["CHART-extra"] = {
        "type": "CHART",
        "id": "CHART-extra",
        "children": [],
        "parents": ["ROOT_ID", "GRID_ID", row],
        "meta": {"chartId": 99, "uuid": extra["uuid"], "sliceName": "Left over", "width": 4, "height": 40},
    }  # fmt: skip
    dashboard["position"][row]["children"].append("CHART-extra")
    file.write_text(yaml.safe_dump(dashboard))


def charts_of(page: Any, address: str) -> dict[str, str | None]:
    found = page.request.get(f"{address}/api/v1/dashboard/staged-gates/charts").json()
    return {chart["slice_name"]: chart["description"] for chart in found["result"]}


def test_a_chart_of_an_older_bundle_goes(
    visitor: Page, superset: Superset, served: Path, tmp_path: Path
) -> None:
    uri = f"duckdb:///{served}"
    folder, file = tmp_path / "superset", tmp_path / "superset.zip"
    pk.superset_bundle(folder, uri=uri, schema="main", name="staged")
    make_older(folder)
    superset.todo.append(["import-directory", "--overwrite", str(folder)])
    superset.run()
    address = superset.address
    now = {
        chart.name for one in DASHBOARDS if one.name == "gates" for row in one.rows for chart in row
    }
    old = charts_of(visitor.page, address)
    assert set(old) == now | {"Left over"}
    assert old["Rules"] == "of the older bundle"

    pk.superset_bundle(folder, uri=uri, schema="main", name="staged")
    pk.superset_bundle(file, uri=uri, schema="main", name="staged")
    superset.todo.append(["import-dashboards", "--path", str(file), "--username", "admin"])
    superset.run()
    # Superset replaces a dashboard, but no chart that is there: so this command alone is not enough.
    old = charts_of(visitor.page, address)
    assert set(old) == now
    assert old["Rules"] == "of the older bundle"
    superset.todo.append(["import-directory", "--overwrite", str(folder)])
    superset.run()
    new = charts_of(visitor.page, address)
    assert set(new) == now
    assert new["Rules"] is None
    visitor.open("staged-gates")
    assert "Left over" not in visitor.text
    shown = visitor.page.locator("[data-test-chart-name]")
    assert {chart.get_attribute("data-test-chart-name") for chart in shown.all()} == now
    visitor.refused.clear()
