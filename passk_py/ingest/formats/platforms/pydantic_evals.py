"""Pydantic Evals: an ``EvaluationReport`` as JSON.

``EvaluationReportAdapter.dump_json`` of ``pydantic_evals.reporting`` writes the report that
``Dataset.evaluate`` gives: tries whose task ran are in ``cases``, those in which it raised are in
``failures``. With ``repeat``, each try has the name of its case with `` [2/5]`` behind it, and the
case itself in ``source_case_name``.

- Pydantic Evals has no verdict of a case: its rate of assertions counts each of them. A case
  passed if all of its assertions hold.
- A case without assertions is judged by its lowest score and ``--score-threshold``. If a score of
  the report is above 1, the threshold has to be given. Scores of 0 and 1 are no verdicts: an
  evaluator that returns true or false makes an assertion. A case can have evaluators of its own.
- An evaluator that raised leaves no verdict, unless an assertion does not hold.
- A report does not say when it was made, and its name is that of the function, so the run is named
  after the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.containers.shape import ANY, decoded_or_none, decoder
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Expected
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, dict_at, list_at, short_line, small_tags, text
from passk_py.ingest.formats.platforms.named_scores import EVALUATOR_ERROR, judged_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Shape
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_LISTS: Final = ("cases", "failures")
_REPEAT: Final = re.compile(r" \[([0-9]{1,9})/([0-9]{1,9})\]")


class PydanticEvals(JsonHarness):
    """Pydantic Evals' report."""

    name = "pydantic-evals"
    title = "Pydantic Evals' EvaluationReport as JSON"
    reader_version = 1
    container = "json_object"
    suffixes = (".json",)
    recognised_by = (
        "an object whose cases have scores, labels and assertions, or whose failures have "
        "error_message and error_stacktrace"
    )
    fields = (
        ("run_id", "the file's name, or its folder's"),
        ("suite", "dataset_name; else pydantic-evals"),
        ("task_id", "source_case_name, else name"),
        ("attempt", "the number in name, [2/5]; else 1"),
        ("outcome", "assertions.<name>.value, evaluator_failures, error_message"),
        ("outcome_reason", "evaluator_error; of failures, the first line of error_message"),
        ("score", "the only score, or the lowest if there are no assertions"),
        ("agent", "name of the report, which is that of the function unless it was given"),
        ("model", "experiment_metadata.model"),
        ("duration_s", "task_duration"),
        ("cost_usd", "metrics.cost"),
        ("input_tokens", "metrics.input_tokens"),
        ("output_tokens", "metrics.output_tokens"),
        ("output_hash", "SHA-256 of output"),
        ("tags", "assertion.*, score.*, label.*; short values of metadata and attributes"),
        ("transcript", "the case: the file, and # with its JSON pointer"),
    )
    verdict_rule = (
        "all assertions are true; without assertions, the lowest score reaches --score-threshold"
    )
    attempt_rule = "the number behind the name of the case"
    error_rule = (
        "a failure has no verdict, and the first line of error_message decides; an evaluator that "
        "raised leaves no verdict, with the reason evaluator_error, unless an assertion is false"
    )
    documentation = "https://ai.pydantic.dev/evals/"
    example = (
        '{"name": "agent", "cases": [{"name": "sum [1/2]", "source_case_name": "sum", "inputs": '
        '"2+2", "output": "4", "metrics": {}, "scores": {}, "labels": {}, "assertions": {"exact": '
        '{"name": "exact", "value": true}}, "task_duration": 0.1}], "failures": []}'
    )
    uses_threshold = True
    default_suite = "pydantic-evals"
    labels = {
        "task_id": "name",
        "passed": "assertions",
        "score": "scores",
        "duration_s": "task_duration",
        "cost_usd": "metrics.cost",
        "input_tokens": "metrics.input_tokens",
        "output_tokens": "metrics.output_tokens",
    }
    reasons = {EVALUATOR_ERROR: "excluded"}
    rows_at: ClassVar[tuple[str, ...]] = (_LISTS[0], EACH)
    shape = {
        **dict.fromkeys(
            (
                *("name", "source_case_name", "metadata", "output", "metrics", "attributes"),
                *("scores", "labels", "assertions", "task_duration", "error_message"),
            ),
            ANY,
        ),
        "evaluator_failures": [{"name": ANY, "error_message": ANY}],
    }
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = dict.fromkeys(
        (("name",), ("dataset_name",), ("experiment_metadata",)), ANY
    )

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first case, or of the first failure."""
        if not sample.can_be(self.container) or not set(_LISTS) & set(sample.fields):
            return False
        if {*_LISTS, "experiment_metadata"} <= set(sample.fields):
            return True
        cases, failures = (sample.keys_of_first_row((name, EACH)) for name in _LISTS)
        return {"scores", "labels", "assertions"} <= cases or (
            {"name", "inputs", "error_message", "error_stacktrace"} <= failures
        )

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Leave it to the cases, which may have assertions."""
        return False

    def read(self, log: Log) -> Iterator[Record]:
        """Find out how high the scores are, then read the cases and the failures."""
        for path in log.files:
            log.heads["highest"], failures = _survey(path)
            log.heads["repeat"] = 0
            with log.opened(path) as file:
                yield from self.read_file(file, log)
            if failures:
                with open_log(path) as file:
                    for record in self.read_file(file, log, (_LISTS[1], EACH)):
                        # An earlier message says that the file is cut off.
                        if not record.ends:
                            yield record

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a case or a failure to an attempt."""
        name, source = text(row.get("name")), text(row.get("source_case_name"))
        repeat = _REPEAT.fullmatch(name.removeprefix(source)) if name and source else None
        if repeat:
            log.heads["repeat"] = max(log.heads["repeat"], int(repeat[2]))
        metrics, error = dict_at(row, "metrics"), row.get("error_message")
        if error is not None:
            judged = {"outcome_reason": short_line(error) or "error"}
        else:
            judged = _judged(row, None if log.has_threshold else log.heads["highest"])
        tags = small_tags(row.get("metadata")) | small_tags(row.get("attributes"))
        for kind in ("assertion", "score", "label"):
            values = dict_at(row, f"{kind}s")
            said = {f"{kind}.{one}": at(result, "value") for one, result in values.items()}
            tags |= small_tags(said)
        if error is None and "outcome_reason" in judged:
            why = short_line(at(list_at(row, "evaluator_failures"), 0, "error_message"))
            tags[EVALUATOR_ERROR] = why or EVALUATOR_ERROR
        yield {
            "task_id": source or name,
            "attempt": int(repeat[1]) if repeat else 1,
            **judged,
            "duration_s": row.get("task_duration"),
            "cost_usd": metrics.get("cost"),
            "input_tokens": metrics.get("input_tokens"),
            "output_tokens": metrics.get("output_tokens"),
            "output_hash": digest_of(row.get("output")),
            "tags": tags,
            "transcript": self.place_of(element, log),
        }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what the report says of itself."""
        metadata = log.heads.get("experiment_metadata")
        tags = small_tags(metadata)
        return {
            "suite": text(log.heads.get("dataset_name")),
            "agent": text(log.heads.get("name")),
            "model": text(tags.pop("model", None)),
            "tags": {name: value for name, value in tags.items() if name != "repeat"},
        }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of repeats from the names."""
        return [Expected(log.heads["repeat"])] if log.heads["repeat"] else []


def _survey(path: Path) -> tuple[float, int]:
    """Find the highest score of a report, and count its failures."""
    decode = decoder({"scores": ANY})
    found: list[float] = []
    with open_log(path) as file:
        for element in JsonWalk(file, (_LISTS[0], EACH), decode).rows():
            row = element.value
            if row is None and element.fault is None:
                row = decoded_or_none(decode, element.data)
            found += _scores(row) if isinstance(row, dict) else []
    with open_log(path) as file:
        rows = JsonWalk(file, (_LISTS[1], EACH), decoder({})).rows()
        failures = sum(element.fault is None or bool(element.names) for element in rows)
    return max(found, default=0.0), failures


def _scores(row: dict[str, Any]) -> list[float]:
    values = (at(score, "value") for score in dict_at(row, "scores").values())
    return [value for value in values if type(value) in (int, float)]


def _judged(row: dict[str, Any], highest: float | None) -> dict[str, Any]:
    """Judge a case by its assertions, or if it has none, by its scores."""
    held = [at(one, "value") for one in dict_at(row, "assertions").values()]
    all_hold = bool(held) and all(one is True for one in held)
    said = False if any(one is False for one in held) else all_hold or None
    graded = _scores(row) if said is not None or not held else []
    is_broken = bool(list_at(row, "evaluator_failures"))
    return judged_row(said, graded, is_broken=is_broken, highest=highest)
