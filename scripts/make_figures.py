"""Draws ``docs/figures/``: four agents that pass half of their attempts, and the demo's report.

The shapes are those of *Pass@k and Pass^k Tell Different Stories from Mean Success Rate* (2025). A
log of them lands, is built, and is drawn as any other; ``--check`` fails where the tables give
other numbers than those that were drawn. The pictures of the report need Chromium.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import passk_py as pk
from passk_py.common.files import write_report
from passk_py.reports.report import charts
from passk_py.reports.report.drawing import as_svg
from passk_py.reports.report.figures import figures

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "figures"
NUMBERS: Final = FOLDER / "shapes.json"
CHROMIUM: Final = ("chromium", "chromium-browser", "google-chrome")
DRAWN: Final = ("over-k", "delta-k")

SHAPES: Final = {
    "homogeneous": (0.5, 0.5, 0.5),
    "no skew": (0.2, 0.8),
    "negative skew": (0.07, 0.715, 0.715),
    "positive skew": (0.93, 0.285, 0.285),
}
"""Chances of passing that the tasks take in turn."""

TASKS: Final = 60
ATTEMPTS: Final = 400
KS: Final = tuple(range(1, 9))
DIGITS: Final = 9


def write_log(path: Path) -> None:
    """Write the log: of every task as many attempts pass as its chance says.

    Parameters
    ----------
    path
        A file of JSON lines.
    """
    with path.open("w", encoding="utf-8") as file:
        for run, chances in SHAPES.items():
            for task in range(TASKS):
                passes = round(chances[task % len(chances)] * ATTEMPTS)
                for attempt in range(ATTEMPTS):
                    # Spread evenly, so that the order says nothing.
                    passed = (attempt + 1) * passes // ATTEMPTS > attempt * passes // ATTEMPTS
                    row = {
                        "run_id": run,
                        "suite": "four shapes",
                        "task_id": f"task {task:02}",
                        "attempt": attempt + 1,
                        "passed": passed,
                    }
                    file.write(json.dumps(row) + "\n")


def built(folder: Path) -> dict[str, Any]:
    """Land the log, build the tables and give what a report reads of them.

    Parameters
    ----------
    folder
        Where log and database go.
    """
    log, database = folder / "shapes.jsonl", folder / "shapes.duckdb"
    write_log(log)
    pk.load(log, database=database)
    variables = {"passk_ks": list(KS), "passk_diagnostics": False}
    if pk.build(database, variables=variables).exit_code:
        raise SystemExit("The log of the four shapes can't be built.")
    return pk.report(database).facts


def photograph_demo(folder: Path) -> None:
    """Make the demo, and take pictures of the leaderboard of its report, in light and dark.

    Parameters
    ----------
    folder
        Where log, database and report go.
    """
    from playwright.sync_api import sync_playwright

    database, page_file = folder / "demo.duckdb", folder / "report.html"
    command = [sys.executable, "-m", "passk_py", "demo", "--database", str(database)]
    subprocess.run(command, check=True, capture_output=True)
    page_file.write_text(pk.report(database).html(), "utf-8")
    found = next(filter(None, map(shutil.which, CHROMIUM)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": 1200, "height": 900},
                color_scheme=scheme,
                device_scale_factor=1,
            )
            page.goto(page_file.as_uri())
            top = page.evaluate("document.querySelector('#verdict-1').offsetTop")
            end = page.evaluate(
                "(one => one.offsetTop + one.offsetHeight)(document.querySelector('.cards'))"
            )
            page.screenshot(
                path=FOLDER / f"report-{scheme}.png",
                clip={"x": 0, "y": top - 16, "width": 1200, "height": end - top + 16},
            )
        browser.close()


def numbers(facts: dict[str, Any]) -> dict[str, Any]:
    """Give every number that the figures show, by run and metric, in the order of k.

    Parameters
    ----------
    facts
        The facts that :func:`built` gives.
    """
    (suite,) = facts["suites"]
    ks = charts.known_ks(suite["runs"])
    names = (
        *(
            f"{metric}{end}"
            for metric in ("pass_at_k", "pass_hat_k")
            for end in ("", "_lower", "_upper")
        ),
        "delta_k",
    )
    runs = {
        run["run_id"]: {
            name: [round(row[name], DIGITS) for row in run["curve"] if row["k"] in ks]
            for name in names
        }
        for run in suite["runs"]
    }
    return {"ks": ks, "runs": dict(sorted(runs.items()))}


def main() -> int:
    """Draw the figures, or compare their numbers."""
    only_checks = "--check" in sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="passk-") as folder:
        facts = built(Path(folder))
        if not only_checks:
            photograph_demo(Path(folder))
    found = json.dumps(numbers(facts), indent=1) + "\n"
    if only_checks:
        if NUMBERS.exists() and NUMBERS.read_text("utf-8") == found:
            return 0
        print("docs/figures is not what the tables give: run python scripts/make_figures.py")
        return 1
    drawn = figures(facts)
    for name in DRAWN:
        write_report(FOLDER / f"{name}.svg", as_svg(drawn[name], follows_mode=True))
    NUMBERS.write_text(found, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
