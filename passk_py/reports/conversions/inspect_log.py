"""Inspect's logs as JSON, which ``inspect view`` and its API open: a file for each run.

A passed attempt has the score C, a failed one I, and an excluded one the error that left it out.
The prompts, answers and messages are empty, because passk does not keep them. The shape is that of
``EvalLog``, version 2: https://inspect.aisi.org.uk/eval-logs.html.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.reports.conversions.asked import Asked, results_of
from passk_py.warehouse.project import version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from passk_py.reports.queries.chosen import Chosen, Row

_COLUMNS: Final = (
    *("task_id", "attempt", "outcome", "outcome_reason", "score", "started_at", "duration_s"),
    *("cost_usd", "input_tokens", "output_tokens", "tags"),
)
_MANY: Final = 10_000
_NO_MODEL: Final = "none/none"
"""As Inspect names it where no model is used."""


def inspect_log(chosen: Chosen, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
    """Write the log of each run."""
    for result in results_of(chosen, asked):
        run = result.run
        words = re.sub(r"[^0-9A-Za-z.-]+", "-", f"{run['run_id']}_{run['suite']}").strip("-.")
        digest = hashlib.sha256(json.dumps([run["run_id"], run["suite"]]).encode()).hexdigest()
        yield (
            f"{words[:80]}_{digest[:8]}.json",
            _log(type(chosen)(chosen.tables, (run["run_id"],), (run["suite"],)), run),
        )


def _log(chosen: Chosen, run: Row) -> Iterator[str]:
    """Write a log in parts, so that one of millions of attempts fits in memory."""
    head = json.dumps(_head(chosen, run), ensure_ascii=False, indent=2)
    yield f'{head[:-2]},\n  "samples": ['
    found = chosen.tables.connection.execute(
        f"select {', '.join(_COLUMNS)} from {chosen.source('passk_attempts')} "
        "order by task_id, attempt"
    )
    comma = ""
    while rows := found.fetchmany(_MANY):
        for row in rows:
            sample = _sample(dict(zip(_COLUMNS, row, strict=True)), run)
            yield f"{comma}\n    {json.dumps(sample, ensure_ascii=False)}"
            comma = ","
    yield "\n  ]\n}\n"


def _head(chosen: Chosen, run: Row) -> dict[str, Any]:
    """Write what is said of the whole run."""
    tasks = [task for (task,) in chosen.tables.rows(
        f"select distinct task_id from {chosen.source('passk_attempts')} order by task_id"
    )]  # fmt: skip
    started = _time(run["started_at"] or run["loaded_at"])
    model = run["model"] or _NO_MODEL
    accuracy = {"accuracy": {"name": "accuracy", "value": run["pass_rate"]}}
    score = {"name": "passk", "scorer": "passk", "params": {}, "metrics": accuracy}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": run["run_id"],
            "run_id": run["run_id"],
            "created": started,
            "task": run["suite"],
            "task_id": run["suite"],
            "task_version": 0,
            "dataset": {"name": run["suite"], "samples": len(tasks), "sample_ids": tasks},
            "model": model,
            "config": {"epochs": run["max_n"]},
            "packages": {"passk": version()},
            **({"solver": run["agent"]} if run["agent"] else {}),
            "metadata": {"agent_version": run["agent_version"]} if run["agent_version"] else {},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": run["attempts"],
            "completed_samples": run["n"],
            "scores": [score] if run["pass_rate"] is not None else [],
        },
        "stats": {"started_at": started, "completed_at": "", "model_usage": {}},
    }


def _sample(row: Row, run: Row) -> dict[str, Any]:
    """Write an attempt as an epoch of its sample."""
    reason = row["outcome_reason"]
    scores = {}
    if row["outcome"] != "excluded":
        value = "C" if row["outcome"] == "passed" else "I"
        scores["passk"] = {"value": value, **({"explanation": reason} if reason else {})}
    if row["score"] is not None:
        scores["score"] = {"value": row["score"]}
    usage = {name: row[name] for name in ("input_tokens", "output_tokens") if row[name] is not None}
    if row["cost_usd"] is not None:
        usage["total_cost"] = row["cost_usd"]
    sample: dict[str, Any] = {
        "id": row["task_id"],
        "epoch": row["attempt"],
        "input": "",
        "target": "",
        "messages": [],
        "output": {"model": run["model"] or _NO_MODEL, "choices": []},
        "scores": scores,
        "metadata": dict(row["tags"] or {}),
        "model_usage": {run["model"] or _NO_MODEL: usage} if usage else {},
    }
    if row["outcome"] == "excluded":
        sample["error"] = {"message": reason or "excluded", "traceback": "", "traceback_ansi": ""}
    if row["started_at"] is not None:
        sample["started_at"] = _time(row["started_at"])
    if row["duration_s"] is not None:
        sample["total_time"] = row["duration_s"]
    return sample


def _time(value: Any) -> str:  # noqa: ANN401 - a timestamp in UTC
    return f"{value.isoformat()}+00:00"
