"""Arize Phoenix: the runs of an experiment with their annotations.

``/v1/experiments/{id}/json``, which is also the button for downloads, gives a list of runs, and
``/csv`` a table with columns ``annotation_<name>_score``. Repetitions have numbers. Only the file's
name tells which experiment it is.

An annotation's score counts, or its label if it has no score. If it has an error instead, its
evaluator raised.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.shape import ANY, loaded_or_none
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.json_values import at, list_at, number, small_tags, text
from passk_py.ingest.formats.kinds import Refusal
from passk_py.ingest.formats.platforms.experiment_rows import Experiment, error_in
from passk_py.ingest.formats.platforms.named_scores import typed_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json, Shape
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_NOTE: Final[Shape] = dict.fromkeys(("name", "label", "score", "error"), ANY)
_COLUMN: Final = re.compile(r"annotation_(.+)_(label|score|error)", re.DOTALL)


class Phoenix(Experiment):
    """Arize Phoenix's experiments."""

    name = "phoenix"
    title = "Arize Phoenix's experiments as JSON or CSV"
    reader_version = 1
    suffixes = (".json", ".jsonl", ".csv")
    recognised_by = (
        "objects with example_id, reference_output and annotations, or columns example_id, "
        "reference_output and latency_ms"
    )
    fields = (
        ("run_id", "the file's name, or its folder's"),
        ("suite", "phoenix, unless --suite is given"),
        ("task_id", "example_id"),
        ("attempt", "repetition_number; else 1"),
        ("outcome", "annotations: score, else label; annotation_<name>_score"),
        ("outcome_reason", "evaluator_error; the first line of error"),
        ("score", "the only score, or the lowest if no annotation gives verdicts"),
        ("started_at", "start_time"),
        ("duration_s", "latency_ms / 1000"),
        ("input_tokens", "prompt_token_count"),
        ("output_tokens", "completion_token_count"),
        ("output_hash", "SHA-256 of output"),
        ("tags", "score.<name>, label.<name>; of a table short values of metadata"),
        ("transcript", "the run: the file, and # with its JSON pointer or line"),
    )
    attempt_rule = "repetition_number"
    error_rule = (
        "a run with an error has no verdict, and the first line of the error decides, though its "
        "annotations judge the missing output; an annotation with an error leaves no verdict, with "
        "the reason evaluator_error, unless another one says that the run failed"
    )
    documentation = "https://arize.com/docs/phoenix/datasets-and-experiments/how-to-experiments"
    example = (
        '[{"example_id": "t1", "repetition_number": 1, "input": {"q": "2+2"}, "reference_output": '
        '{"a": "4"}, "output": {"a": "4"}, "error": null, "latency_ms": 250, "annotations": '
        '[{"name": "correct", "label": "True", "score": 1.0, "error": null}]}]'
    )
    default_suite = "phoenix"
    has_tables = True
    inside = ("data", "task_runs")
    labels: ClassVar = {
        "task_id": "example_id",
        "attempt": "repetition_number",
        "started_at": "start_time",
        "duration_s": "latency_ms",
        "input_tokens": "prompt_token_count",
        "output_tokens": "completion_token_count",
    }
    shape: ClassVar[Shape] = {
        **dict.fromkeys(
            (
                *("example_id", "repetition_number", "output", "error", "latency_ms"),
                *("start_time", "prompt_token_count", "completion_token_count", "metadata"),
            ),
            ANY,
        ),
        "annotations": [_NOTE],
    }
    score_shape: ClassVar[Shape] = {"annotations": [_NOTE]}

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first run."""
        keys = self.row_keys(sample)
        is_run = {"example_id", "reference_output"} <= keys and keys & {"annotations", "latency_ms"}
        return bool(is_run) or _has_no_annotations(keys)

    def refuse(self, sample: Sample) -> Refusal | None:
        """Reject runs without their annotations."""
        if _has_no_annotations(self.row_keys(sample)):
            return Refusal(
                "no annotations: these runs of Phoenix come without their evaluations",
                "Export GET /v1/experiments/{id}/json, or download the experiment as JSON.",
            )
        return super().refuse(sample)

    def from_cells(self, cells: dict[str, str]) -> dict[str, Any]:
        """Put the columns of each annotation together."""
        row: dict[str, Any] = {}
        notes: dict[str, dict[str, Any]] = {}
        for name, cell in cells.items():
            if not cell:
                continue
            if found := _COLUMN.fullmatch(name):
                value = typed_cell(cell) if found[2] == "score" else cell
                notes.setdefault(found[1], {"name": found[1]})[found[2]] = value
            else:
                row[name] = cell
        # pandas writes counts that some rows lack as 12.0.
        for name in ("prompt_token_count", "completion_token_count", "repetition_number"):
            value = number(row.get(name))
            if value is not None and value.is_integer():
                row[name] = int(value)
        row["latency_ms"] = typed_cell(row.get("latency_ms"))
        row["metadata"] = loaded_or_none(row.get("metadata", "").encode())
        return {**row, "annotations": list(notes.values())}

    def scores(self, row: dict[str, Any]) -> Iterable[Mapping[str, Json]]:
        """Give the annotations of a run."""
        return (_scores(row),)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterator[dict[str, Any]]:
        """Map a run to an attempt."""
        scores, error = _scores(row), error_in(row.get("error"))
        milliseconds: Any = row.get("latency_ms")
        is_number = type(milliseconds) in (int, float)
        tags = {f"score.{name}": value for name, value in scores.items()}
        for one in list_at(row, "annotations"):
            if (label := text(at(one, "label"))) and label != scores.get(str(at(one, "name"))):
                tags[f"label.{at(one, 'name')}"] = label
        repetition = row.get("repetition_number")
        yield {
            "task_id": row.get("example_id"),
            "attempt": 1 if repetition is None else repetition,
            **({"outcome_reason": error} if error else self.judge(scores, log)),
            "started_at": row.get("start_time"),
            "duration_s": milliseconds / 1000 if is_number else milliseconds,
            "input_tokens": row.get("prompt_token_count"),
            "output_tokens": row.get("completion_token_count"),
            "output_hash": digest_of(row.get("output")),
            "tags": small_tags(row.get("metadata")) | small_tags(tags),
            "transcript": self.place_of(element, log),
        }


def _has_no_annotations(keys: frozenset[str]) -> bool:
    return {"dataset_example_id", "experiment_id", "repetition_number"} <= keys


def _scores(row: dict[str, Any]) -> dict[str, Json]:
    """Give the scores by their names, None where an evaluator raised."""
    found: dict[str, Json] = {}
    for one in list_at(row, "annotations"):
        if name := text(at(one, "name")):
            score = at(one, "score")
            found[name] = None if at(one, "error") else at(one, "label") if score is None else score
    return found
