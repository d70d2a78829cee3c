"""Braintrust: the events of an experiment, or the results that an SDK gives.

Read are, as a list, lines of JSON or in an object,

- events, as ``/v1/experiment/{id}/fetch``, SQL queries and the export button give them: the root
  spans are attempts. The SDKs log scores in spans of their own and tokens in those of calls, so the
  spans of a trace are put together;
- ``EvalResultWithSummary`` of ``Eval``, or the list of its results.

Braintrust compares experiments by the input, so it names the task. Trials (``trial_count``) are
further traces of one input, and have no numbers: they are numbered by their start or, where they
don't tell it, as they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    list_at,
    number,
    small_tags,
    text,
    time_of,
)
from passk_py.ingest.formats.platforms.experiment_rows import Experiment, error_in, input_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json, Shape
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_SCORER_ERRORS: Final = "scorer_errors"
_SPENT: Final = ("prompt_tokens", "completion_tokens", "estimated_cost")
_SPAN: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(("root_span_id", "span_parents", "is_root"), ANY),
    **dict.fromkeys(("scores", "metrics"), ANY),
    "span_attributes": {"type": ANY},
}


class Braintrust(Experiment):
    """Braintrust's experiments."""

    name = "braintrust"
    title = "Braintrust's experiments: events of the API, EvalResultWithSummary"
    reader_version = 1
    suffixes = (".json", ".jsonl")
    recognised_by = (
        "objects with root_span_id and scores or span_attributes; summary and results with input, "
        "output and scores"
    )
    fields = (
        ("run_id", "summary.experiment_name; else experiment_id; else the file's name"),
        ("suite", "origin.object_id, if it is a dataset; else braintrust"),
        ("task_id", "input"),
        ("attempt", "the place among the traces of the same input, by metrics.start"),
        ("outcome", "scores of the root span and of the others of its trace"),
        ("outcome_reason", "evaluator_error; the first line of error"),
        ("score", "the only score, or the lowest if no score gives verdicts"),
        ("model", "metadata.model"),
        ("started_at", "metrics.start, else created"),
        ("duration_s", "metrics.end - metrics.start"),
        ("cost_usd", "metrics.estimated_cost of the root span, or the sum over calls of models"),
        ("input_tokens", "metrics.prompt_tokens, in the same way"),
        ("output_tokens", "metrics.completion_tokens, in the same way"),
        ("output_hash", "SHA-256 of output"),
        ("tags", "score.<name>; tags; short values of metadata"),
        ("transcript", "the row: the file, and # with its JSON pointer or line"),
    )
    attempt_rule = "the traces of an input are counted by metrics.start, else as they stand"
    error_rule = (
        "a row with an error has no verdict, and the first line of the error decides; a scorer in "
        "metadata.scorer_errors leaves no verdict, with the reason evaluator_error, unless another "
        "score says that the row failed"
    )
    documentation = "https://www.braintrust.dev/docs/annotate/export"
    example = (
        '[{"id": "e1", "experiment_id": "x1", "span_id": "s1", "root_span_id": "s1", "input": '
        '"2+2", "output": "4", "expected": "4", "error": null, "scores": {"exact": 1}, "metrics": '
        '{"start": 1795255200.5, "end": 1795255201.0}, "metadata": {"model": "m"}}]'
    )
    default_suite = "braintrust"
    numbers_attempts = True
    runs_have_ids = True
    inside = ("events", "results", "data")
    labels: ClassVar = {
        "task_id": "input",
        "started_at": "created",
        "cost_usd": "metrics.estimated_cost",
        "input_tokens": "metrics.prompt_tokens",
        "output_tokens": "metrics.completion_tokens",
    }
    shape: ClassVar[Shape] = {
        **_SPAN,
        **dict.fromkeys(
            ("experiment_id", "created", "input", "output", "error", "metadata", "tags", "origin"),
            ANY,
        ),
    }
    score_shape: ClassVar[Shape] = {**_SPAN, "metadata": {_SCORER_ERRORS: ANY}}
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = {
        ("summary",): dict.fromkeys(("experiment_name", "experimentName", "project_name"), ANY),
        ("cursor",): ANY,
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first row."""
        keys = self.row_keys(sample)
        if "root_span_id" in keys:
            return bool(keys & {"scores", "span_attributes", "span_parents"})
        return {"input", "output", "scores"} <= keys and (
            "summary" in sample.fields or "exc_info" in keys
        )

    def scores(self, row: dict[str, Any]) -> Iterable[Mapping[str, Json]]:
        """Give the scores of a result, or none of a span, whose trace may have more."""
        return () if text(row.get("root_span_id")) else (_scores(row),)

    def note(self, row: dict[str, Any], log: Log) -> None:
        """Put the spans of a trace together."""
        super().note(row, log)
        root = text(row.get("root_span_id"))
        if root is None:
            return
        scores, spent = log.heads.setdefault("traces", {}).setdefault(root, ({}, {}))
        for name, value in _scores(row).items():
            # The root span says that a scorer raised, and a span of the trace what one gave.
            if value is not None or name not in scores:
                scores[name] = value
        if at(row, "span_attributes", "type") == "llm":
            for name in _SPENT:
                if (value := number(at(row, "metrics", name))) is not None:
                    spent[name] = spent.get(name, 0) + value

    def end_survey(self, log: Log) -> None:
        """Note the scores of each trace."""
        for scores, _ in log.heads.get("traces", {}).values():
            log.heads["scores"].note(scores)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterator[dict[str, Any]]:
        """Map a root span or a result to an attempt."""
        root = text(row.get("root_span_id"))
        if root and _is_within(row):
            return
        known = log.heads.get("traces", {})
        scores, spent = known.get(root, ({}, {})) if root else (_scores(row), {})
        metrics, metadata = dict_at(row, "metrics"), dict_at(row, "metadata")
        start, end = number(metrics.get("start")), number(metrics.get("end"))
        error = error_in(row.get("error"))
        is_dataset = at(row, "origin", "object_type") == "dataset"
        summary = dict_at(log.heads, "summary")
        tags = {name: value for name, value in metadata.items() if name != "model"}
        tags["tags"] = ",".join(filter(None, map(text, list_at(row, "tags"))))
        tags |= {f"score.{name}": value for name, value in scores.items()}
        used = {name: metrics.get(name, spent.get(name)) for name in _SPENT}
        yield {
            "run_id": text(summary.get("experiment_name"))
            or text(summary.get("experimentName"))
            or text(row.get("experiment_id")),
            "suite": text(at(row, "origin", "object_id")) if is_dataset else None,
            "task_id": input_task(row.get("input")),
            "attempt": 1,
            **({"outcome_reason": error} if error else self.judge(scores, log)),
            "model": text(metadata.get("model")),
            "started_at": row.get("created") if start is None else time_of(start * 1000),
            "duration_s": None if start is None or end is None or end < start else end - start,
            "cost_usd": used["estimated_cost"],
            "input_tokens": _whole(used["prompt_tokens"]),
            "output_tokens": _whole(used["completion_tokens"]),
            "output_hash": digest_of(row.get("output")),
            "tags": small_tags(tags),
            "transcript": self.place_of(element, log),
        }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what a summary says."""
        summary = dict_at(log.heads, "summary")
        return {
            "run_id": text(summary.get("experiment_name")) or text(summary.get("experimentName")),
            "tags": {"project": text(summary.get("project_name"))},
        }

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which scores decided, and that there may be more pages."""
        yield from super().warnings(log)
        if text(log.heads.get("cursor")):
            yield (
                "It may be one page of several: Braintrust gives a cursor with each page. Fetch "
                "until a page is empty, put the events of all pages into one list, and load it: "
                "a trace may go on in the next page, and attempts are numbered within a file."
            )


def _is_within(row: dict[str, Any]) -> bool:
    """Tell whether a span is within another one."""
    # The root span of a trace need not have the id that the trace has.
    if "span_parents" in row or "is_root" in row:
        return bool(list_at(row, "span_parents")) or row.get("is_root") is False
    return at(row, "span_attributes", "type") not in (None, "eval")


def _scores(row: dict[str, Any]) -> dict[str, Json]:
    """Give the scores by their names, None where a scorer raised."""
    # A scorer that gives null has nothing to say of the case.
    given = {name: value for name, value in dict_at(row, "scores").items() if value is not None}
    return dict.fromkeys(dict_at(row, "metadata", _SCORER_ERRORS)) | given


def _whole(value: Json) -> Json:
    """Take a sum of whole numbers as one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
