"""The report's charts as files of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import write_report
from passk_py.reports.report import charts
from passk_py.reports.report.drawing import as_png, as_svg
from passk_py.reports.report.theme import AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from passk_py.reports.report.charts import Chart

Row = dict[str, Any]

_LONGEST_NAME: Final = 60


def figures(facts: Row) -> dict[str, Chart]:
    """Make the charts of every suite by name, which can be that of a file.

    If there are several suites, a name begins with that of the suite. If there are more than eight
    runs, each has its own chart over k.
    """
    found: dict[str, Chart] = {}
    for suite in facts["suites"]:
        before = f"{suite['suite']}-" if len(facts["suites"]) > 1 else ""
        for name, chart in _of_suite(suite, facts["deployment_k"]):
            if chart is not None:
                found[_free(f"{before}{name}", found)] = chart
    return found


def _of_suite(suite: Row, k: int) -> Iterable[tuple[str, Chart | None]]:
    runs = suite["runs"]
    ks = charts.known_ks(runs)
    if not ks:
        return
    if 1 < len(runs) <= AGENTS:
        yield "over-k", charts.overlay(runs, ks, k, alone=True)
        yield "delta-k", charts.overlay_delta(runs, ks)
    else:
        for run in runs:
            own = f"-{run['run_id']}" if len(runs) > 1 else ""
            yield f"over-k{own}", charts.curve(run, ks, k, alone=True, width=480, height=300)
    yield "classes", charts.classes(suite, alone=True)
    yield "tasks", charts.heat(suite, alone=True)
    for measure, rows in charts.by_measure(suite):
        yield f"frontier-{measure}", charts.frontier(runs, rows, alone=True)
    for agent, line in charts.releases(runs, k):
        yield f"releases-{agent}", charts.trend(line, k, alone=True)


def _free(name: str, taken: Iterable[str]) -> str:
    """Make a name that every file system takes, and that is not taken."""
    plain = re.sub(r"[^0-9A-Za-z_.-]+", "-", name).strip("-.")[:_LONGEST_NAME] or "figure"
    found, place = plain, 2
    while found.lower() in {one.lower() for one in taken}:
        found, place = f"{plain}-{place}", place + 1
    return found


def write_figures(facts: Row, folder: Path) -> list[Path]:
    """Write the charts as SVG and PNG on white paper."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PasskError(f"{folder} can't be made: {error.strerror}.") from error
    written = []
    for name, chart in figures(facts).items():
        for kind in ("svg", "png"):
            path = folder / f"{name}.{kind}"
            write_report(path, as_svg(chart) if kind == "svg" else as_png(chart))
            written.append(path)
    return written
