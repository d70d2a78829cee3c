"""OpenTelemetry: ``gen_ai.evaluation.result`` events in OTLP JSON, as events of logs or of spans.

Read are documents with ``resourceLogs`` or ``resourceSpans``, and lines of them, as the file
exporters of the collector and of the SDKs write. The events of one span are the scores of one
attempt; without a span, those of one ``gen_ai.response.id`` are. If the span is in the file too, it
tells the model, the tokens, the duration and whether it failed.

- The conventions of evaluations have no name for a task. It is the first of ``test.case.name``,
  ``langfuse.experiment.item.id``, ``case_name`` and ``task_id`` that the event or its span has. If
  yours has another name, read the file by ``--map``.
- A label such as pass or fail is the verdict, else the value is.
- An event with ``error.type`` is one of an evaluator that failed. Events called
  ``gen_ai.evaluation.<name>``, as before version 1.38 of the conventions, are read too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from passk_py.ingest.containers.json_walk import EACH, JsonWalk, Names
from passk_py.ingest.containers.lines import raw_lines, read_lines
from passk_py.ingest.containers.open_bytes import BOM, open_log
from passk_py.ingest.containers.shape import ANY, decoded_or_none, decoder
from passk_py.ingest.formats.harness import Record, Unfit
from passk_py.ingest.formats.json_harness import rejected, value_or_fault
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    list_at,
    short_line,
    small_tags,
    text,
    time_of,
)
from passk_py.ingest.formats.kinds import listed
from passk_py.ingest.formats.platforms.experiment_rows import Experiment
from passk_py.ingest.formats.platforms.named_scores import Scores, typed_cell, verdict_in
from passk_py.ingest.formats.platforms.otlp_values import attributes, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json, Shape
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_PREFIX: Final = "gen_ai.evaluation."
_RESULT: Final = "gen_ai.evaluation.result"
_ROOTS: Final = ("resourceLogs", "resourceSpans")
_TASKS: Final = ("test.case.name", "langfuse.experiment.item.id", "case_name", "task_id")
_RUNS: Final = ("langfuse.experiment.name", "run_id")
_SUITES: Final = ("test.suite.name", "langfuse.experiment.dataset.id")
_MODELS: Final = ("gen_ai.response.model", "gen_ai.request.model")
_WANTED: Final = frozenset(
    (
        *(*_TASKS, *_RUNS, *_SUITES, *_MODELS),
        *("service.name", "service.version", "event.name", "error.type"),
        *(f"{_PREFIX}{name}" for name in ("name", "score", "score.label", "score.value")),
        *("gen_ai.agent.name", "gen_ai.agent.version", "gen_ai.response.id"),
        *("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    )
)
_FAILED: Final = (2, "STATUS_CODE_ERROR")
_NO_TRACE: Final = ("0" * 16, "0" * 32)
_LIST: Final[Shape] = [{"key": ANY, "value": ANY}]
_RECORD: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(("traceId", "spanId", "timeUnixNano", "observedTimeUnixNano"), ANY),
    **dict.fromkeys(("eventName", "name"), ANY),
    "attributes": _LIST,
}
_SPAN: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(("traceId", "spanId", "startTimeUnixNano", "endTimeUnixNano"), ANY),
    "attributes": _LIST,
    "status": {"code": ANY},
    "events": [_RECORD],
}
_RESOURCE: Final[Shape] = {
    "resource": {"attributes": _LIST},
    "scopeLogs": [{"logRecords": [_RECORD]}],
    "scopeSpans": [{"spans": [_SPAN]}],
}
_Resource: TypeAlias = "tuple[dict[str, Any] | Record, str, int]"
"""A resource, or the rejected row of one that can't be read, with its place as text and number."""

_WHAT: Final = (
    "An event names neither its span nor a gen_ai.response.id, so its attempt is unknown."
)


@dataclass(slots=True)
class _Case:
    """The facts that a file has about one attempt."""

    place: str
    line: int
    first: int
    """The time of the first of its events, in nanoseconds since 1970."""
    said: dict[str, Json]
    """The attributes of its events and of its span, but for their scores and labels."""
    resource: dict[str, Json]
    scores: dict[str, Json] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    broken: str | None = None
    span: dict[str, Any] | None = None


class OtelEvaluations(Experiment):
    """OpenTelemetry's evaluation events."""

    name = "otel-evaluations"
    title = "OpenTelemetry's gen_ai.evaluation.result events as OTLP JSON"
    reader_version = 1
    suffixes = (".json", ".jsonl")
    recognised_by = "resourceLogs or resourceSpans, with gen_ai.evaluation in them"
    fields = (
        ("run_id", "langfuse.experiment.name, run_id; else the file's name, or its folder's"),
        ("suite", "test.suite.name, langfuse.experiment.dataset.id; else otel"),
        ("task_id", "test.case.name, langfuse.experiment.item.id, case_name, task_id"),
        ("attempt", "the place among the spans of the task, by their start or their events"),
        ("outcome", "gen_ai.evaluation.score.label, else gen_ai.evaluation.score.value"),
        ("outcome_reason", "evaluator_error; error.type of the span, if its status is an error"),
        ("score", "the only score, or the lowest if no evaluation gives verdicts"),
        ("agent", "gen_ai.agent.name, else service.name"),
        ("agent_version", "gen_ai.agent.version, else service.version"),
        ("model", "gen_ai.response.model, else gen_ai.request.model"),
        ("started_at", "startTimeUnixNano of the span"),
        ("duration_s", "endTimeUnixNano - startTimeUnixNano of the span"),
        ("input_tokens", "gen_ai.usage.input_tokens"),
        ("output_tokens", "gen_ai.usage.output_tokens"),
        ("tags", "score.<name> and label.<name> of each evaluation; the evaluator's error.type"),
        ("transcript", "the first event: the file, and # with its JSON pointer or line"),
    )
    attempt_rule = "the spans, or the responses, of a task are counted by their time"
    error_rule = (
        "a span of the status ERROR has no verdict, and its error.type decides; an event with "
        "error.type leaves no verdict, with the reason evaluator_error, unless another one says "
        "that the attempt failed"
    )
    documentation = "https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/"
    example = (
        '{"resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "1795255200000000000", '
        '"eventName": "gen_ai.evaluation.result", "spanId": "a1", "traceId": "b1", "attributes": '
        '[{"key": "test.case.name", "value": {"stringValue": "t1"}}, {"key": '
        '"gen_ai.evaluation.name", "value": {"stringValue": "correct"}}, {"key": '
        '"gen_ai.evaluation.score.label", "value": {"stringValue": "pass"}}]}]}]}]}'
    )
    default_suite = "otel"
    numbers_attempts = True
    labels: ClassVar = {
        "task_id": "test.case.name",
        "input_tokens": "gen_ai.usage.input_tokens",
        "output_tokens": "gen_ai.usage.output_tokens",
    }
    shape = _RESOURCE
    score_shape = _RESOURCE

    def can_read(self, sample: Sample) -> bool:
        """Tell whether it is one object, or lines of them."""
        return sample.container == "json_lines" or sample.can_be("json_object")

    def recognises(self, sample: Sample) -> bool:
        """Tell from its keys and the names of its events."""
        if sample.container != "json_lines" and not sample.can_be("json_object"):
            return False
        return bool(set(_ROOTS) & set(sample.fields)) and _PREFIX.encode() in sample.start

    def scores(self, row: dict[str, Any]) -> Iterable[Mapping[str, Json]]:
        """Give no scores: they are known once all events are read."""
        return ()

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Give no attempts: they are known once all events are read."""
        return ()

    def read(self, log: Log) -> Iterator[Record]:
        """Put the events of each span together, find the spans, then give the attempts."""
        log.heads["scores"] = survey = Scores()
        for path in log.files:
            cases: dict[tuple[str, str], _Case] = {}
            with log.opened(path) as file:
                yield from self._collect(file, log, cases)
            # The span of an event of logs may be anywhere in the file.
            if log.heads.pop("spans", False) and any(one.span is None for one in cases.values()):
                with open_log(path) as file:
                    for resource, _, _ in self._resources(file, path):
                        if isinstance(resource, dict):
                            _find_spans(resource, cases)
            for case in cases.values():
                survey.note(case.scores)
            for case in cases.values():
                yield self._record(case, log)

    def _collect(
        self, file: IO[bytes], log: Log, cases: dict[tuple[str, str], _Case]
    ) -> Iterator[Record]:
        """Put events together, and give what can't be read."""
        path = log.current
        for resource, place, line in self._resources(file, path):
            if isinstance(resource, Record):
                yield resource
                continue
            about = attributes(dict_at(resource, "resource"), _WANTED)
            log.heads["spans"] = log.heads.get("spans") or bool(list_at(resource, "scopeSpans"))
            for event, kind, span, inner in _events(resource):
                said = attributes(event, _WANTED)
                key = _key(event, span, said)
                if key is None:
                    yield Record(None, event, ("missing_field", _WHAT), line=line)
                    continue
                time = nanoseconds(event.get("timeUnixNano") or event.get("observedTimeUnixNano"))
                case = cases.get(key)
                if case is None:
                    of_span = attributes(span, _WANTED) if span else {}
                    case = _Case(f"{path}#{place}{inner}", line, time, of_span, about)
                    case.span = _times(span) if span else None
                    cases[key] = case
                _add(case, kind, said, time)

    def _resources(self, file: IO[bytes], path: Path) -> Iterator[_Resource]:
        """Give each resource of a document or of lines."""
        if _is_lines(path):
            yield from self._resources_of_lines(file)
            return
        count = 0
        at_resource = (Names("|".join(_ROOTS), _ROOTS), EACH)
        for element in JsonWalk(file, at_resource, self._decode_resource).rows():
            count += 1
            value, fault = value_or_fault(element)
            if fault:
                yield rejected(element, fault), "", count
                continue
            yield value, f"/{'/'.join(map(str, element.keys))}", count

    def _resources_of_lines(self, file: IO[bytes]) -> Iterator[_Resource]:
        """Give each resource of lines of documents."""
        for batch in read_lines(file):
            for place, line, code, reason, ends in batch.rows():
                data = line.encode("utf-8", "surrogatepass")
                document = None if code else decoded_or_none(self._decode_line, data)
                if not isinstance(document, dict):
                    fault = (code or "malformed_line", reason or "The line is no JSON object.")
                    if ends:
                        fault = ("truncated", "The last line ends within its JSON.")
                    yield Record(None, line, fault, ends=ends, line=place), "", place
                    continue
                for root in _ROOTS:
                    for resource in list_at(document, root):
                        yield resource, f"L{place}", place

    @cached_property
    def _decode_resource(self) -> Any:  # noqa: ANN401 - a function
        return decoder(_RESOURCE)

    @cached_property
    def _decode_line(self) -> Any:  # noqa: ANN401 - a function
        return decoder({root: [_RESOURCE] for root in _ROOTS})

    def _record(self, case: _Case, log: Log) -> Record:
        said, span = case.said, case.span or {}
        task = _first(_TASKS, said)
        if task is None:
            known = listed([name for name in said if not name.startswith("gen_ai.")])
            why = (
                f"No attribute says which task it is; the others are {known}. Name it by "
                f"{_TASKS[0]}, or read the file by --map."
            )
            return Record(None, said, ("missing_field", why), line=case.line)
        start, end = (nanoseconds(span.get(f"{name}TimeUnixNano")) for name in ("start", "end"))
        failed = at(span, "status", "code") in _FAILED
        try:
            judged = (
                {"outcome_reason": short_line(text(said.get("error.type"))) or "error"}
                if failed
                else self.judge(case.scores, log)
            )
        except Unfit as unfit:
            return Record(None, said, (unfit.code, unfit.reason), line=case.line)
        values = {
            "run_id": _first(_RUNS, said, case.resource),
            "suite": _first(_SUITES, said, case.resource),
            "task_id": task,
            # It tells the order of those without a span.
            "attempt": case.first or 1,
            **judged,
            "agent": text(said.get("gen_ai.agent.name")) or text(case.resource.get("service.name")),
            "agent_version": text(said.get("gen_ai.agent.version"))
            or text(case.resource.get("service.version")),
            "model": _first(_MODELS, said),
            "started_at": time_of(start / 1e6) if start else None,
            "duration_s": (end - start) / 1e9 if start and end >= start else None,
            "input_tokens": said.get("gen_ai.usage.input_tokens"),
            "output_tokens": said.get("gen_ai.usage.output_tokens"),
            "tags": small_tags(
                {
                    **{f"score.{name}": value for name, value in case.scores.items()},
                    **{f"label.{name}": value for name, value in case.labels.items()},
                    "evaluator_error": case.broken,
                }
            ),
            "transcript": case.place,
        }
        return Record(values, said, line=case.line)


def _is_lines(path: Path) -> bool:
    """Tell whether a file has one document in each line, and more than one of them."""
    with open_log(path) as file:
        lines = (line for line in raw_lines(file) if line.strip())
        first = next(lines, b"").removeprefix(BOM).strip()
        is_object = first.startswith(b"{") and first.endswith(b"}")
        return is_object and next(lines, None) is not None


def _events(
    resource: Json,
) -> Iterator[tuple[dict[str, Any], str, dict[str, Any] | None, str]]:
    """Give the evaluation events of a resource, each with its name, its span and its place."""
    for n, scope in enumerate(list_at(resource, "scopeLogs")):
        for m, event in enumerate(list_at(scope, "logRecords")):
            if isinstance(event, dict) and (kind := _evaluation(event)):
                yield event, kind, None, f"/scopeLogs/{n}/logRecords/{m}"
    for n, scope in enumerate(list_at(resource, "scopeSpans")):
        for m, span in enumerate(list_at(scope, "spans")):
            for k, event in enumerate(list_at(span, "events")):
                if isinstance(event, dict) and (kind := _evaluation(event)):
                    yield event, kind, span, f"/scopeSpans/{n}/spans/{m}/events/{k}"


def _evaluation(event: dict[str, Any]) -> str | None:
    """Give the name of an evaluation event; None of another event."""
    name = text(event.get("eventName")) or text(event.get("name"))
    if name is None:
        # Before logs had a field for it, the name was an attribute.
        name = text(attributes(event, _WANTED).get("event.name"))
    return name if name and name.startswith(_PREFIX) else None


def _key(
    event: dict[str, Any], span: dict[str, Any] | None, said: dict[str, Json]
) -> tuple[str, str] | None:
    """Tell which attempt an event is about; None if it does not say it."""
    of = span or event
    names = (text(of.get("traceId")) or "", text(of.get("spanId")) or "")
    if names[1] and names[1] not in _NO_TRACE:
        return names
    response = text(said.get("gen_ai.response.id"))
    return ("response", response) if response else None


def _add(case: _Case, kind: str, said: dict[str, Json], time: int) -> None:
    """Add an event to an attempt."""
    plain = kind.removeprefix(_PREFIX) if kind != _RESULT else "score"
    name = text(said.pop(f"{_PREFIX}name", None)) or plain
    label = text(said.pop(f"{_PREFIX}score.label", None))
    value = said.pop(f"{_PREFIX}score.value", None)
    value = said.pop(f"{_PREFIX}score", None) if value is None else value
    value = typed_cell(value) if isinstance(value, str) else value
    error = text(said.pop("error.type", None))
    if time >= case.times.get(name, 0):
        case.times[name] = time
        decided = label if value is None or verdict_in(label) is not None else value
        case.scores[name] = None if error else decided
        if label:
            case.labels[name] = label
    case.broken = case.broken or error
    case.first = min(case.first, time)
    case.said |= said


def _times(span: dict[str, Any]) -> dict[str, Any]:
    """Keep what tells when a span was and whether it failed."""
    return {name: span.get(name) for name in ("startTimeUnixNano", "endTimeUnixNano", "status")}


def _find_spans(resource: dict[str, Any], cases: dict[tuple[str, str], _Case]) -> None:
    """Give attempts the spans that they are about."""
    for scope in list_at(resource, "scopeSpans"):
        for span in list_at(scope, "spans"):
            key = (text(at(span, "traceId")) or "", text(at(span, "spanId")) or "")
            if case := cases.get(key):
                case.span = _times(span)
                case.said = attributes(span, _WANTED) | case.said
                case.resource = attributes(dict_at(resource, "resource"), _WANTED) | case.resource


def _first(names: Iterable[str], *places: dict[str, Json]) -> str | None:
    """Give the text of the first of these names that one of the places has."""
    for name in names:
        for place in places:
            if found := text(place.get(name)):
                return found
    return None
