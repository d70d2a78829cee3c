"""The rules that runs are held to."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.dashboard_parts import Dashboard, Filter
from passk_py.reports.superset.superset_charts import condition, count, table

_ORDER: Final = (("result", True), ("gate", True), ("run_id", True))

GATES: Final = Dashboard(
    "gates",
    "Each rule of the var `passk_gates`. A rule passes where even the limit on the wrong side "
    "meets it, and fails where even the limit on the right side misses it. Otherwise it is "
    "inconclusive.",
    (
        tuple(
            count(f"Gates: {result}", "gates", "gates", where=(condition("result", "==", result),))
            for result in ("pass", "inconclusive", "fail")
        ),
        (
            table(
                "Rules",
                "gates",
                {
                    "result": "result",
                    "gate": "gate",
                    "run_id": "run",
                    "baseline_run_id": "baseline",
                    "slice_value": "slice",
                    "estimate": "estimate",
                    "estimate_lower": "from",
                    "estimate_upper": "to",
                },
                order=_ORDER,
                formats={".3f": ("estimate", "estimate_lower", "estimate_upper")},
            ),
        ),
        (
            table(
                "Reasons",
                "gates",
                {
                    "result": "result",
                    "gate": "gate",
                    "run_id": "run",
                    "rule": "rule",
                    "reason": "reason",
                    "to_settle": "what would settle it",
                },
                order=_ORDER,
            ),
        ),
    ),
    (16, 40, 50),
    (
        Filter("Suite", "gates", "suite"),
        Filter("Agent", "gates", "agent"),
        Filter("Result", "gates", "result"),
    ),
)
