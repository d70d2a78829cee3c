"""Writes the semantic layer in the form of dbt 1.10 and 1.11; ``--check`` fails if it is old.

``semantic/`` has the form of dbt 1.12 and dbt v2, where metrics are part of a model. Older versions
of dbt ignore them there. They read ``semantic_legacy/``, which has the same measures and metrics.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = ("passk_suite_points", "passk_run_counts")
LEGACY: Final = ROOT / "semantic_legacy" / "passk_metrics.yml"
HEAD: Final = "# Written by scripts/semantic_legacy.py from the models of semantic/.\n"


def dimension(column: dict[str, Any]) -> dict[str, Any]:
    """Give the dimension of a column."""
    told = {key: column[key] for key in ("name", "description")}
    told["type"] = column["dimension"]["type"]
    if told["type"] == "time":
        told["type_params"] = {"time_granularity": column["granularity"]}
    return told


def semantic_model(model: dict[str, Any]) -> dict[str, Any]:
    """Give the semantic model of a model. Each simple metric has a measure of its name."""
    return {
        "name": model["name"],
        "description": model["description"],
        "model": f"ref('{model['name']}')",
        "primary_entity": model["primary_entity"],
        "defaults": {"agg_time_dimension": model["agg_time_dimension"]},
        "dimensions": [dimension(column) for column in model["columns"]],
        "measures": [
            {key: metric[key] for key in ("name", "agg", "expr")}
            for metric in model["metrics"]
            if metric["type"] == "simple"
        ],
    }


def legacy_metric(metric: dict[str, Any]) -> dict[str, Any]:
    """Give a metric that is simple or derived."""
    told = {key: metric[key] for key in ("name", "label", "description", "type")}
    if metric["type"] == "simple":
        told["type_params"] = {"measure": metric["name"]}
    else:
        inputs = [one["name"] for one in metric["input_metrics"]]
        told["type_params"] = {"expr": metric["expr"], "metrics": inputs}
    return told


def written() -> str:
    """Give the whole file."""
    models = [
        yaml.safe_load((ROOT / "semantic" / f"{name}.yml").read_text("utf-8"))["models"][0]
        for name in SOURCES
    ]
    layer = {
        "semantic_models": [semantic_model(model) for model in models],
        "metrics": [legacy_metric(metric) for model in models for metric in model["metrics"]],
    }
    text: str = yaml.safe_dump(layer, sort_keys=False, width=120, allow_unicode=True)
    return HEAD + text


def main() -> int:
    """Write the file, or compare it."""
    text = written()
    if "--check" not in sys.argv[1:]:
        LEGACY.write_text(text, "utf-8")
        return 0
    if LEGACY.exists() and LEGACY.read_text("utf-8") == text:
        return 0
    print(f"{LEGACY.relative_to(ROOT)} is old: run python scripts/semantic_legacy.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
