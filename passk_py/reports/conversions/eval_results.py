"""Hugging Face's ``.eval_results``: the entry of a model repository for a benchmark's leaderboard.

The fields are those of ``EvalResultEntry`` in huggingface_hub and of the file's specification,
https://huggingface.co/docs/hub/eval-results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml  # type: ignore[import-untyped]

from passk_py.common.errors import PasskError
from passk_py.common.words import plural, symbol
from passk_py.reports.conversions.asked import Asked, required, results_of
from passk_py.warehouse.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from passk_py.reports.queries.chosen import Chosen


def eval_results(chosen: Chosen, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
    """Write the entry of one number: pass@1, or the metric and k that are asked for."""
    dataset = required(asked.dataset, "dataset", "An entry names the dataset of the benchmark")
    task = required(asked.task, "task", "An entry names the task in the dataset's eval.yaml")
    metric, ks = asked.metric or "pass_at_k", asked.ks or (1,)
    if len(ks) > 1:
        raise PasskError("An entry has one number, for one k.", hint="Give --k once.")
    results = list(results_of(chosen, Asked(ks=ks)))
    if len(results) != 1:
        raise PasskError(
            f"An entry is of one run, and these are {len(results)}.",
            hint="Choose it with --run, and with --suite if it has several.",
        )
    (result,) = results
    row = result.values[0] if result.values else {}
    name, value = symbol(metric, ks[0]), row.get(metric)
    if value is None:
        why = row.get("null_reason") or f"k={ks[0]} is not in passk_ks"
        raise PasskError(f"{name} of {result.said} is null: {why}.")
    scale = 100 if asked.percent else 1
    limits = [row[f"{metric}_{side}"] for side in ("lower", "upper")]
    notes = [name, plural(row["eligible_tasks"], "task"), plural(result.run["n"], "attempt")]
    if None not in limits:
        lower, upper = (f"{scale * limit:.4g}" for limit in limits)
        level = f"{100 * read_settings(chosen.tables).confidence:g}%"
        notes.append(f"{level} interval {lower} to {upper}")
    entry: dict[str, Any] = {
        "dataset": {"id": dataset, "task_id": task},
        "value": scale * value,
    }
    if at := result.run["last_started_at"] or result.run["started_at"]:
        entry["date"] = f"{at.isoformat(timespec='seconds')}Z"
    if asked.source_url:
        entry["source"] = {"url": asked.source_url}
    entry["notes"] = ", ".join(notes)
    yield "", [yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=1000)]
