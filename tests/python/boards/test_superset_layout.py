"""Superset's dashboards as a browser measures them: nothing is cut, overlapped or hard to read."""

from __future__ import annotations

import re
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
    text, color: this.fillStyle, left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys),
    bottom: Math.max(...ys),
  });
  return fillText.call(this, text, x, y, ...rest);
};
"""

MEASURE: Final = """() => {
  const wider = element => element.scrollWidth > element.clientWidth + 1;
  const cells = [...document.querySelectorAll(".superset-chart-table th, .superset-chart-table td")];
  const texts = [...document.querySelectorAll(".dashboard-markdown .dashboard-component")];
  const titles = [...document.querySelectorAll("[data-test='slice-header'] .header-title")];
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!/^rgba\\(.*, 0\\)$/.test(color)) return color;
    }
  };
  const colors = [...cells, ...texts, ...titles, document.querySelector("input.dynamic-title-input")]
    .map(element => [element.innerText ?? element.value, getComputedStyle(element).color, ground(element)]);
  return {
    page: [document.documentElement.scrollWidth, window.innerWidth],
    errors: [...document.querySelectorAll(".ant-alert-error, .ant-alert-warning")]
      .map(alert => alert.innerText),
    tables: [...document.querySelectorAll(".superset-chart-table")].map(chart => {
      const wide = Math.max(...[...chart.querySelectorAll("table")].map(table => table.scrollWidth));
      const scrolls = [...chart.querySelectorAll("*")].some(
        one => getComputedStyle(one).overflowX === "auto" && one.scrollWidth >= wide);
      return [wide, chart.clientWidth, scrolls];
    }),
    cut: [...cells, ...texts].filter(wider).map(element => element.innerText),
    texts: texts.filter(text => text.scrollHeight > text.clientHeight + 1)
      .map(text => text.innerText),
    titles: titles.filter(wider).map(title => title.innerText),
    colors,
    pictures: [...document.querySelectorAll("canvas")].map(canvas => ({
      chart: canvas.closest("[data-test-chart-name]")?.dataset.testChartName,
      width: canvas.width, height: canvas.height, texts: canvas.texts ?? [], ground: ground(canvas),
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


def parts(color: str) -> list[float]:
    """Give red, green, blue from 0 to 255 and the opacity of a color as browsers write it."""
    if color.startswith("#"):
        return [*(int(color[place : place + 2], 16) for place in (1, 3, 5)), 1.0]
    found = [float(part) for part in re.findall(r"[\d.]+", color)]
    return found if len(found) == 4 else [*found, 1.0]


def light(color: list[float]) -> float:
    """Give the relative luminance that WCAG defines."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in color[:3])
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(color: str, ground: str) -> float:
    *inks, opacity = parts(color)
    below = parts(ground)
    seen = [opacity * ink + (1 - opacity) * under for ink, under in zip(inks, below, strict=False)]
    low, high = sorted((light(seen), light(below)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "rgb(255, 255, 255)") == pytest.approx(21)
    # The grey that WCAG's own explanations give as the palest that can be read on white.
    assert contrast("#767676", "rgb(255, 255, 255)") == pytest.approx(4.54, abs=0.005)
    assert contrast("rgba(0, 0, 0, 0)", "rgb(1, 2, 3)") == 1


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
    ("name", "width", "scheme"),
    [
        ("duckdb", 390, "light"),
        ("duckdb", 800, "light"),
        ("duckdb", 1280, "dark"),
        ("duckdb", 1920, "light"),
        ("crowded", 390, "dark"),
        ("crowded", 800, "light"),
    ],
)
def test_nothing_is_cut_or_overlaps(
    measured: Page, name: str, width: int, scheme: str, dashboard: str
) -> None:
    # As high as the page, because Superset draws no chart that is out of sight.
    measured.page.set_viewport_size({"width": width, "height": 5000 if width == 390 else 3200})
    # Superset follows the system, until somebody chooses a theme.
    measured.page.emulate_media(color_scheme=scheme)
    found = measured.open(f"{name}-{dashboard}").page.evaluate(MEASURE)
    assert found["page"][0] <= found["page"][1]
    assert found["errors"] == []
    for inner, outer, scrolls in found["tables"]:
        # On a phone, tables scroll sideways.
        assert inner <= outer + 1 or (width == 390 and scrolls)
    assert found["cut"] == found["texts"] == found["titles"] == []
    is_dark = light(parts(found["colors"][-1][2])) < 0.05
    assert is_dark == (scheme == "dark")
    pale = [one for one in found["colors"] if contrast(one[1], one[2]) < 4.5]
    assert pale == []
    pictures = [picture for picture in found["pictures"] if picture["texts"]]
    for picture in pictures:
        check_picture(picture)
        for text in picture["texts"]:
            assert contrast(text["color"], picture["ground"]) >= 4.5, (picture["chart"], text)
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


def test_both_metrics_are_drawn_of_the_six_newest_runs(measured: Page) -> None:
    measured.page.set_viewport_size({"width": 1280, "height": 3200})
    answers = measured.open("crowded-overview").answers
    drawn = [
        {name.partition(" #")[2] for row in rows for name in row if name != "k"}
        for chart, rows in answers
        if chart == "pass@k and pass^k over k"
    ]
    assert drawn == [set("123456")] * 2
