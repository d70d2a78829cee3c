"""Langfuse: the items of experiments, which were dataset runs before version 4, with their scores.

Read are, as a list, lines of JSON or in an object,

- items of the API, ``GET /api/public/experiment-items?fields=scores``;
- the ``ExperimentResult`` of an SDK as JSON: ``json.dumps(result, default=vars)``;
- the ``datasetRunItems`` of a dataset run, or ``GET /api/public/dataset-run-items``, if each item
  has the ``scores`` of its trace, or the ``trace`` with them. Langfuse's own answer names the
  traces only, and is rejected.

A dataset item that a run has several times was repeated: its attempts are numbered by their start
or, where they don't tell it, as they stand. An ``ExperimentResult`` lacks the items whose task
raised, so the API's items are the better export. Of several scores of one name, the latest counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    seconds_between,
    small_tags,
    text,
)
from passk_py.ingest.formats.kinds import Refusal
from passk_py.ingest.formats.platforms.experiment_rows import Experiment, error_in, input_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json, Shape
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_SCORE: Final[Shape] = dict.fromkeys(
    ("name", "value", "stringValue", "dataType", "data_type", "timestamp"), ANY
)
# Texts and corrections of an output are no scores.
_NO_SCORES: Final = ("TEXT", "CORRECTION")
_SCORES: Final[Mapping[str, Shape]] = {
    "scores": [_SCORE],
    "evaluations": [_SCORE],
    "trace": {"scores": [_SCORE]},
}
_SNAKE: Final = {
    "experimentName": "experiment_name",
    "experimentId": "experiment_id",
    "experimentDatasetId": "experiment_dataset_id",
    "experimentItemId": "experiment_item_id",
    "experimentItemMetadata": "experiment_item_metadata",
    "experimentMetadata": "experiment_metadata",
    "datasetRunName": "dataset_run_name",
    "datasetRunId": "dataset_run_id",
    "datasetItemId": "dataset_item_id",
    "traceId": "trace_id",
    "startTime": "start_time",
    "endTime": "end_time",
    "createdAt": "created_at",
}


class Langfuse(Experiment):
    """Langfuse's experiments."""

    name = "langfuse"
    title = "Langfuse's experiments: items of the API, ExperimentResult, dataset runs with scores"
    reader_version = 1
    suffixes = (".json", ".jsonl")
    recognised_by = (
        "items with experimentItemId, or with datasetItemId and traceId; item, evaluations and "
        "trace_id; in a list, in lines, or in data, item_results or datasetRunItems"
    )
    fields = (
        ("run_id", "experimentName, datasetRunName or run_name; else the id of the run"),
        ("suite", "datasetName, else experimentDatasetId, datasetId; else langfuse"),
        ("task_id", "experimentItemId, datasetItemId or item.id; else the input"),
        ("attempt", "the place among the items of the run that are the same, by startTime"),
        ("outcome", "scores, evaluations: value, or stringValue if the type is CATEGORICAL"),
        ("outcome_reason", "if level is ERROR, the output, which says the error"),
        ("score", "the only score, or the lowest if no score gives verdicts"),
        ("agent", "name of an ExperimentResult"),
        ("model", "experimentMetadata.model"),
        ("started_at", "startTime, else createdAt"),
        ("duration_s", "endTime - startTime; trace.latency"),
        ("cost_usd", "trace.totalCost"),
        ("output_hash", "SHA-256 of output"),
        ("tags", "score.<name>; short values of the item's metadata"),
        ("transcript", "the item: the file, and # with its JSON pointer or line"),
    )
    attempt_rule = "the same items of a run are counted by startTime, else as they stand"
    error_rule = (
        "an item of the level ERROR has no verdict, and its output decides, which is the error; an "
        "item without scores is excluded"
    )
    documentation = "https://langfuse.com/docs/evaluation/experiments/experiments-via-sdk"
    example = (
        '{"data": [{"id": "o1", "traceId": "a1", "startTime": "2026-11-21T10:00:00Z", "level": '
        '"DEFAULT", "experimentName": "nightly", "experimentItemId": "t1", "scores": [{"name": '
        '"correct", "dataType": "BOOLEAN", "value": true}]}], "meta": {}}'
    )
    default_suite = "langfuse"
    numbers_attempts = True
    runs_have_ids = True
    inside = ("data", "item_results", "itemResults", "datasetRunItems")
    labels: ClassVar = {
        "task_id": "experimentItemId",
        "started_at": "startTime",
        "duration_s": "trace.latency",
        "cost_usd": "trace.totalCost",
    }
    shape: ClassVar[Shape] = {
        **dict.fromkeys((*_SNAKE, *_SNAKE.values(), "level", "output", "metadata"), ANY),
        **_SCORES,
        "item": ANY,
        "trace": {"scores": [_SCORE], "latency": ANY, "totalCost": ANY},
    }
    score_shape: ClassVar[Shape] = _SCORES
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = dict.fromkeys(
        (
            *(("name",), ("run_name",), ("runName",), ("datasetName",), ("datasetId",)),
            *(("meta",), ("metadata",)),
        ),
        ANY,
    )

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first item."""
        return self._kind(sample) is not None

    def refuse(self, sample: Sample) -> Refusal | None:
        """Reject items that only name the traces which have the scores."""
        keys = self.row_keys(sample)
        if self._kind(sample) != "run items" or keys & {"scores", "trace"}:
            return None
        return Refusal(
            "no scores: the items of a dataset run name the traces that have them",
            "Export GET /api/public/experiment-items?fields=scores instead, dump the SDK's "
            "ExperimentResult, or put each trace's scores into its item as `scores`.",
        )

    def _kind(self, sample: Sample) -> str | None:
        keys = {_SNAKE.get(name, name) for name in self.row_keys(sample)}
        if "experiment_item_id" in keys:
            return "items"
        if {"item", "output", "evaluations"} <= keys:
            return "result"
        return "run items" if {"dataset_item_id", "trace_id"} <= keys else None

    def scores(self, row: dict[str, Any]) -> Iterable[Mapping[str, Json]]:
        """Give the scores of an item."""
        return (_scores(row),)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterator[dict[str, Any]]:
        """Map an item to an attempt."""

        def get(name: str) -> Json:
            value = row.get(name)
            return row.get(_SNAKE[name]) if value is None else value

        scores, item = _scores(row), dict_at(row, "item")
        started = get("startTime")
        if row.get("level") == "ERROR":
            said = row.get("output")
            message = said.removeprefix("Error: ") if isinstance(said, str) else None
            judged: dict[str, Any] = {"outcome_reason": error_in(message) or "error"}
        else:
            judged = self.judge(scores, log)
        duration = seconds_between(started, get("endTime"))
        metadata = get("experimentItemMetadata") or item.get("metadata")
        task = get("experimentItemId") or get("datasetItemId") or item.get("id")
        run = text(get("experimentName")) or text(get("datasetRunName"))
        yield {
            "run_id": run,
            "suite": text(get("experimentDatasetId")) or text(at(item, "dataset_id")),
            "task_id": task or input_task(item.get("input")),
            "attempt": 1,
            **judged,
            "model": text(at(get("experimentMetadata"), "model")),
            "started_at": get("createdAt") if started is None else started,
            "duration_s": at(row, "trace", "latency") if duration is None else duration,
            "cost_usd": at(row, "trace", "totalCost"),
            "output_hash": digest_of(row.get("output")),
            "tags": small_tags(metadata) | small_tags({f"score.{n}": v for n, v in scores.items()}),
            "transcript": self.place_of(element, log),
        }
        if run is None and "ids" not in log.heads:
            log.heads["ids"] = text(get("experimentId")) or text(get("datasetRunId"))

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what the file says of the whole run."""
        heads = log.heads
        name = text(heads.get("name"))
        run = text(heads.get("run_name")) or text(heads.get("runName"))
        return {
            # A dataset run has its own name where an ExperimentResult has that of the experiment.
            "run_id": run or (name if "datasetName" in heads else heads.get("ids")),
            "suite": text(heads.get("datasetName")) or text(heads.get("datasetId")),
            "agent": name if run else None,
            "model": text(at(heads.get("metadata"), "model")),
        }

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which scores decided, and if there are more pages."""
        yield from super().warnings(log)
        meta = log.heads.get("meta")
        page, pages = at(meta, "page"), at(meta, "totalPages")
        more = type(page) is int and type(pages) is int and page < pages
        if text(at(meta, "cursor")) or more:
            yield (
                "It is one page of several, as its meta says. Put the items of all pages into one "
                "list and load it: attempts are numbered within a file."
            )


def _scores(row: dict[str, Any]) -> dict[str, Json]:
    """Give the scores by their names; of those with one name the latest."""
    given = row.get("scores") or row.get("evaluations") or at(row, "trace", "scores")
    found: dict[str, Json] = {}
    times: dict[str, str] = {}
    for one in given if isinstance(given, list) else ():
        name = text(at(one, "name"))
        kind = at(one, "dataType") or at(one, "data_type")
        if name is None or kind in _NO_SCORES:
            continue
        value = one.get("value")
        said = text(one.get("stringValue")) if kind == "CATEGORICAL" or value is None else None
        time = text(one.get("timestamp")) or ""
        if name not in found or time >= times[name]:
            found[name], times[name] = value if said is None else said, time
    return found
