"""The report's charts, as Vega-Lite by Altair: each from rows of the facts, and from nothing else.

Every mark that stands for a number says it in its ``description``, which becomes its label in the
drawing: for screen readers, for readers who point at it, and for tests. A chart that is ``alone``
has no page around it that says what its marks mean, and says it in a legend.
"""

from __future__ import annotations

from passk_py.reports.report.charts.chart_parts import Chart
from passk_py.reports.report.charts.over_costs import by_measure, frontier
from passk_py.reports.report.charts.over_k import (
    curve,
    delta,
    known_ks,
    overlay,
    overlay_delta,
    spark,
)
from passk_py.reports.report.charts.over_length import over_length
from passk_py.reports.report.charts.over_releases import releases, trend
from passk_py.reports.report.charts.over_tasks import classes, heat
from passk_py.reports.report.charts.spans import span

__all__ = [
    "Chart",
    "by_measure",
    "classes",
    "curve",
    "delta",
    "frontier",
    "heat",
    "known_ks",
    "over_length",
    "overlay",
    "overlay_delta",
    "releases",
    "span",
    "spark",
    "trend",
]
