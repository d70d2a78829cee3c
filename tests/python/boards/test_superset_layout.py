"""Superset's dashboards as a browser measures them: nothing is cut, nothing lies on something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.reports.superset.dashboards import DASHBOARDS

from .superset_site import Page, needs_superset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .superset_site import Superset

pytestmark = needs_superset

# Charts are pictures: their texts are noted as they are drawn, each as the box that it takes.
NOTE_TEXTS: Final = """
const {clearRect, fillText} = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.clearRect = function (...box) {
  this.canvas.texts = [];
  return clearRect.apply(this, box);
};
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  const size = this.measureText(text), to = this.getTransform();
  const corners = [
    [x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent],
    [x + size.actualBoundingBoxRight, y - size.actualBoundingBoxAscent],
    [x - size.actualBoundingBoxLeft, y + size.actualBoundingBoxDescent],
    [x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent],
  ].map(([a, b]) => to.transformPoint(new DOMPoint(a, b)));
  const xs = corners.map(point => point.x), ys = corners.map(point => point.y);
  (this.canvas.texts ??= []).push({
    text, left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys),
    bottom: Math.max(...ys),
  });
  return fillText.call(this, text, x, y, ...rest);
};
"""

MEASURE: Final = """() => {
  const wider = element => element.scrollWidth > element.clientWidth + 1;
  const cells = [...document.querySelectorAll(".superset-chart-table th, .superset-chart-table td")];
  const texts = [...document.querySelectorAll(".dashboard-markdown .dashboard-component")];
  return {
    page: [document.documentElement.scrollWidth, window.innerWidth],
    errors: [...document.querySelectorAll(".ant-alert-error, .ant-alert-warning")]
      .map(alert => alert.innerText),
    tables: [...document.querySelectorAll(".superset-chart-table table")]
      .map(table => [table.scrollWidth, table.parentElement.clientWidth]),
    cut: [...cells, ...texts].filter(wider).map(element => element.innerText),
    texts: texts.filter(text => text.scrollHeight > text.clientHeight + 1)
      .map(text => text.innerText),
    titles: [...document.querySelectorAll("[data-test='slice-header'] .header-title")]
      .filter(wider).map(title => title.innerText),
    pictures: [...document.querySelectorAll("canvas")].map(canvas => ({
      chart: canvas.closest("[data-test-chart-name]")?.dataset.testChartName,
      width: canvas.width, height: canvas.height, texts: canvas.texts ?? [],
    })),
  };
}"""


@pytest.fixture(scope="module")
def measured(browser: Any, superset: Superset) -> Iterator[Page]:
    tab = browser.new_page()
    tab.add_init_script(NOTE_TEXTS)
    page = Page(tab, superset.address)
    page.log_in()
    yield page
    tab.close()


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two texts share more than a pixel in both directions."""
    return (
        min(one["right"], other["right"]) - max(one["left"], other["left"]) > 1
        and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 1
    )


def check_picture(picture: dict[str, Any]) -> None:
    texts = picture["texts"]
    name = picture["chart"]
    for text in texts:
        assert text["left"] >= -1, (name, text)
        assert text["top"] >= -1, (name, text)
        assert text["right"] <= picture["width"] + 1, (name, text)
        assert text["bottom"] <= picture["height"] + 1, (name, text)
    for place, one in enumerate(texts):
        for other in texts[place + 1 :]:
            assert not overlap(one, other), (name, one, other)


@pytest.mark.parametrize("dashboard", [dashboard.name for dashboard in DASHBOARDS])
@pytest.mark.parametrize(
    ("name", "width"), [("duckdb", 800), ("duckdb", 1280), ("duckdb", 1920), ("crowded", 800)]
)
def test_nothing_is_cut_or_overlaps(measured: Page, name: str, width: int, dashboard: str) -> None:
    # As high as the page, because Superset draws no chart that is out of sight.
    measured.page.set_viewport_size({"width": width, "height": 3200})
    found = measured.open(f"{name}-{dashboard}").page.evaluate(MEASURE)
    assert found["page"][0] <= found["page"][1]
    assert found["errors"] == []
    for inner, outer in found["tables"]:
        assert inner <= outer + 1
    assert found["cut"] == found["texts"] == found["titles"] == []
    pictures = [picture for picture in found["pictures"] if picture["texts"]]
    for picture in pictures:
        check_picture(picture)
    drawn = {picture["chart"] for picture in pictures}
    (charts,) = (
        {
            chart.name
            for row in one.rows
            for chart in row
            if chart.kind not in {"table", "big_number_total"}
        }
        for one in DASHBOARDS
        if one.name == dashboard
    )
    assert drawn == charts
    for picture in pictures:
        if picture["chart"] == "pass@k and pass^k over k":
            labels = {text["text"] for text in picture["texts"]}
            assert {f"{tens}%" for tens in range(0, 101, 10)} <= labels
        if picture["chart"] == "The share of attempts that failed":
            # A label for each of 40 tasks and of the runs, of which there are four in the demo.
            assert len(picture["texts"]) >= 40 + (4 if name == "duckdb" else 16)
