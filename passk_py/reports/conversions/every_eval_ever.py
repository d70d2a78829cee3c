"""Every Eval Ever: one file for each run, under ``data/<suite>/<developer>/<model>/``.

The fields are those of the schema of the files, version 0.3.0,
https://github.com/evaleval/every_eval_ever. Its records of single samples hold the prompts and the
answers, which passk does not keep, so only the aggregates are written.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.common.words import symbol
from passk_py.reports.conversions.asked import (
    MEANINGS,
    METRICS,
    Asked,
    Result,
    required,
    results_of,
)
from passk_py.warehouse.project import version
from passk_py.warehouse.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from passk_py.reports.queries.chosen import Chosen, Row

_SCHEMA: Final = "0.3.0"
_UNSAFE: Final = re.compile(r'[<>"\\|?*\x00-\x1f]|[. ]\Z|\A\.{1,2}\Z|\A\Z')
_INTERVAL: Final = "Student's t over tasks with two pseudo-tasks, for tasks like these"
_OF_NO_HARNESS: Final = frozenset(("jsonl", "json", "csv", "parquet", "mapped"))


def every_eval_ever(chosen: Chosen, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
    """Write the record of each run that has a value."""
    organization = required(
        asked.organization, "organization", "A record names the organization that evaluated"
    )
    relationship = required(
        asked.relationship,
        "relationship",
        "A record says how the evaluator is related to the model",
    )
    level = read_settings(chosen.tables).confidence
    formats = _formats(chosen)
    for result in results_of(chosen, asked):
        run = result.run
        name, developer = _model(result, asked.developer)
        values = [
            _result(result, row, metric, level, asked.dataset)
            for row in result.values
            for metric in METRICS
            if row[metric] is not None
        ]
        if not values:
            why = next((row["null_reason"] for row in result.values), "no k is in passk_ks")
            raise PasskError(f"All values of {result.said} are null: {why}.")
        now = f"{time.time():.0f}"
        details = {
            "run_id": run["run_id"],
            "agent": run["agent"],
            "agent_version": run["agent_version"],
        }
        record = {
            "schema_version": _SCHEMA,
            "evaluation_id": f"{run['suite']}/{name}/{now}",
            "retrieved_timestamp": now,
            "source_metadata": {
                "source_name": "passk",
                "source_type": "evaluation_run",
                "source_organization_name": organization,
                "evaluator_relationship": relationship,
                "additional_details": _texts(details),
            },
            "eval_library": {
                "name": formats.get((run["run_id"], run["suite"])) or "unknown",
                "version": "unknown",
                "additional_details": {"metrics_by": f"passk {version()}"},
            },
            "model_info": {
                "name": name,
                "id": name,
                "developer": developer,
                "additional_details": {
                    "deployment_type": "unknown", "model_availability": "unknown",
                },
            },
            "evaluation_results": values,
        }  # fmt: skip
        if run["started_at"]:
            record["evaluation_timestamp"] = f"{run['started_at'].isoformat()}Z"
        folders = (
            _folder(part, result)
            for part in (run["suite"], developer, name.removeprefix(f"{developer}/"))
        )
        path = "/".join(("data", *folders, f"{_uuid(run)}.json"))
        yield path, [json.dumps(record, ensure_ascii=False, indent=2), "\n"]


def _result(
    result: Result, row: Row, metric: str, level: float, dataset: str | None
) -> dict[str, Any]:
    """Write a metric of one k, with its interval."""
    suite, k = result.run["suite"], row["k"]
    uncertainty: dict[str, Any] = {"num_samples": row["eligible_tasks"]}
    limits = [row[f"{metric}_{side}"] for side in ("lower", "upper")]
    if None not in limits:
        uncertainty["confidence_interval"] = {
            "lower": limits[0], "upper": limits[1], "confidence_level": level, "method": _INTERVAL,
        }  # fmt: skip
    source = (
        {"source_type": "hf_dataset", "hf_repo": dataset} if dataset else {"source_type": "other"}
    )
    return {
        "evaluation_result_id": f"{suite}/{metric}/{k}",
        "evaluation_name": suite,
        "source_data": {"dataset_name": dataset or suite, **source},
        "metric_config": {
            "evaluation_description": MEANINGS[metric],
            "metric_id": metric,
            "metric_name": symbol(metric, k),
            "metric_kind": "pass_rate",
            "metric_unit": "proportion",
            "metric_parameters": {"k": k},
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {
            "score": row[metric],
            "details": _texts(
                {
                    "eligible_tasks": row["eligible_tasks"], "total_tasks": row["total_tasks"],
                    "attempts": result.run["n"], "excluded_attempts": result.run["excluded"],
                    "reading": row["reading"],
                }
            ),
            "uncertainty": uncertainty,
        },
    }  # fmt: skip


def _formats(chosen: Chosen) -> dict[tuple[str, str], str]:
    """Give the harnesses by whose logs the runs came, where a harness wrote them."""
    rows = chosen.tables.rows(
        "select run_id, suite, string_agg(distinct source_format, ', ' order by source_format) "
        f"from {chosen.source('passk_attempts')} group by run_id, suite"
    )
    return {(run, suite): name for run, suite, name in rows if name and name not in _OF_NO_HARNESS}


def _model(result: Result, developer: str | None) -> tuple[str, str]:
    """Give the model and who made it."""
    model = result.run["model"]
    if not model:
        raise PasskError(
            f"A record names one model, and {result.said} has none, or several.",
            hint="Load the log with --model, or choose other runs with --run.",
        )
    if "/" in model:
        return model, model.partition("/")[0]
    return model, required(developer, "developer", f"A record names the developer of {model}")


def _folder(part: str, result: Result) -> str:
    """Make a folder of a name, as the repository of the records does, or reject it."""
    made = part.replace("/", "_").replace(":", "_")
    if _UNSAFE.search(made) or made in ("data", "unknown"):
        raise PasskError(
            f"{result.said} can't be filed: '{part}' is no name of a folder there.",
            hint="Load the log with another --suite or --model.",
        )
    return made


def _uuid(run: Row) -> uuid.UUID:
    """Give the name of the file, the same each time, so that a newer record replaces it."""
    names = json.dumps([run["run_id"], run["suite"]]).encode()
    return uuid.UUID(bytes=hashlib.sha256(names).digest()[:16], version=4)


def _texts(values: dict[str, Any]) -> dict[str, str]:
    """Write details as the texts that the schema wants; what is null is left out."""
    return {name: str(value) for name, value in values.items() if value is not None}
