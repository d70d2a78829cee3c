"""OpenTelemetry metrics as OTLP JSON, one line: gauges of pass@k and pass^k, and their limits.

The shape is that of ``ExportMetricsServiceRequest`` in JSON, which collectors receive over HTTP and
read from files: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. A value that is
null has no data point.
"""

from __future__ import annotations

import json
from datetime import UTC
from typing import TYPE_CHECKING, Any

from passk_py.reports.conversions.asked import MEANINGS, METRICS, Asked, Result, results_of
from passk_py.warehouse.project import version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from passk_py.reports.queries.chosen import Chosen, Row

_OF_RUNS = {
    "passk.run.id": "run_id",
    "passk.suite": "suite",
    "gen_ai.agent.name": "agent",
    "gen_ai.agent.version": "agent_version",
    "gen_ai.request.model": "model",
}


def otel_metrics(chosen: Chosen, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
    """Write a gauge for each metric and limit, with a data point for each run and k."""
    results = list(results_of(chosen, asked))
    metrics = []
    for metric in METRICS:
        for side, ending in (("", ""), ("_lower", ".lower"), ("_upper", ".upper")):
            points = [
                _point(result, row, f"{metric}{side}")
                for result in results
                for row in result.values
                if row[f"{metric}{side}"] is not None
            ]
            limit = f"{ending[1:].capitalize()} limit of: " if ending else ""
            metrics.append(
                {
                    "name": f"passk.{metric}{ending}",
                    "description": f"{limit}{MEANINGS[metric]}",
                    "unit": "1",
                    "gauge": {"dataPoints": points},
                }
            )
    scope = {"scope": {"name": "passk", "version": version()}, "metrics": metrics}
    resource = {"attributes": [_attribute("service.name", "passk")]}
    whole = {"resourceMetrics": [{"resource": resource, "scopeMetrics": [scope]}]}
    yield "", [json.dumps(whole, ensure_ascii=False), "\n"]


def _point(result: Result, row: Row, column: str) -> dict[str, Any]:
    """Write a value with its run and k, at the time of the run's last attempt."""
    run = result.run
    at = run["last_started_at"] or run["started_at"] or run["loaded_at"]
    known = [(name, run[key]) for name, key in _OF_RUNS.items() if run[key] is not None]
    seconds = int(at.replace(tzinfo=UTC).timestamp())
    return {
        "attributes": [_attribute(name, value) for name, value in (*known, ("passk.k", row["k"]))],
        # 64-bit integers are texts in OTLP's JSON.
        "timeUnixNano": str(seconds * 1_000_000_000 + at.microsecond * 1_000),
        "asDouble": row[column],
    }


def _attribute(name: str, value: str | int) -> dict[str, Any]:
    kind, shown = ("intValue", str(value)) if isinstance(value, int) else ("stringValue", value)
    return {"key": name, "value": {kind: shown}}
