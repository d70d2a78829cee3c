"""Measure how soon a browser shows a report, and the tasks that a filter leaves.

    python benchmarks/filters.py report.html

The report is one of several runs, ``benchmarks/report.py --part report`` makes one of a million tasks. Its page is opened again and
again in headless Chromium and looked at for half a second: for each filter alone, since the first one of a page costs most, and for a
row of filters one after the other. Milliseconds: from the start of the page to its first paint, and from the input of a filter to the
end of the next frame.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

TURNS = 5
BEFORE = 500
"""Milliseconds for which a page is looked at before its first filter: nobody chooses sooner."""

# The next frame is drawn when a message that is sent in its callback arrives.
FILTER = """
([name, value]) => new Promise((done) => requestAnimationFrame(() => {
  const field = document.querySelector(".explorer form").elements[name];
  const start = performance.now();
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(performance.now() - start);
    port2.postMessage("");
  });
}))
"""
OPTIONS = "(name) => [...document.querySelector('.explorer form').elements[name].options].map((one) => one.value)"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def rows_of_filters(page: Page) -> list[list[tuple[str, str]]]:
    """Each filter alone, and a row of ten: by run, search, class and a second run, set and taken back."""
    runs, kinds = page.evaluate(OPTIONS, "run"), page.evaluate(OPTIONS, "kind")
    search = page.locator(".explorer a.task").first.inner_text()
    first, second, last = runs[1], runs[2], runs[-1]
    alone = [("run", first), ("q", search), ("kind", kinds[-1])]
    row = [
        ("run", first),
        ("q", search[:-1]),
        ("kind", kinds[-1]),
        ("q", search),
        ("run", second),
        ("against", last),
        ("run", ""),
        ("q", ""),
        ("run", last),
        ("against", first),
    ]
    return [*([one] for one in alone), row]


def line(name: str, times: list[float]) -> str:
    """Sum up times of one kind."""
    return (
        f"{name:32} {len(times):4} times, median {median(times):4.0f} ms, max {max(times):4.0f} ms"
    )


def main() -> None:
    """Measure, and print a line for each filter."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("page", type=Path)
    address = parser.parse_args().page.resolve().as_uri()
    paints: list[float] = []
    times: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )

        def opened() -> Page:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address)
            page.wait_for_selector(".explorer a.task")
            page.wait_for_timeout(BEFORE)
            return page

        rows = rows_of_filters(opened())
        for row in rows * TURNS:
            page = opened()
            paints.append(page.evaluate(PAINT))
            for place, (name, value) in enumerate(row, 1):
                label = f"{'alone' if len(row) == 1 else place:>5} {name} {value or 'all'}"
                times.setdefault(label, []).append(page.evaluate(FILTER, [name, value]))
            page.close()
    print(line("first paint", paints))
    for label, measured in times.items():
        print(line(label, measured))
    every = [time for measured in times.values() for time in measured]
    print(line("all filters", every), f"{sum(time > 100 for time in every)} above 100 ms", sep=", ")


if __name__ == "__main__":
    main()
