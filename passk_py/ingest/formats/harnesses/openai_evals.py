"""OpenAI Evals: the events of a run of ``oaieval``, as its ``LocalRecorder`` writes them.

The first line has the ``spec`` of the run. The events of a sample, which may stand between those of
others, are found by ``sample_id``.

- A ``match`` is a verdict, and each further match of a sample a further attempt. Without one, the
  ``score`` or the ``accuracy`` of its ``metrics`` is judged, which model-graded evals record.
- Model-graded evals may give 1 to 5: if a score is above 1, the threshold has to be given.
- A sample with neither has no verdict: its ``error`` event says why, if there is one.
- Runs that were repeated are files of their own. Give them one ``--run-id`` to make their samples
  attempts of one run.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.harness import Record, Unfit
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, dict_at, list_at, number, short_line, text
from passk_py.ingest.formats.platforms.named_scores import judged_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Shape
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_SCORES: Final = ("score", "accuracy")
_TOKENS: Final = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
_TYPES: Final = ("match", "metrics", "error", "sampling")


class OpenAiEvals(JsonHarness):
    """The events of a run of OpenAI Evals."""

    name = "openai-evals"
    title = "OpenAI Evals' events of a run of oaieval"
    reader_version = 1
    container = "json_lines"
    suffixes = (".jsonl",)
    recognised_by = "lines with event_id, sample_id, type and data"
    fields = (
        ("run_id", "spec.run_id"),
        ("suite", "spec.eval_name; else openai-evals"),
        ("task_id", "sample_id"),
        ("attempt", "the place among the matches of the sample"),
        ("outcome", "data.correct of a match; else data.score or data.accuracy of metrics"),
        ("outcome_reason", "data.type and data.message of an error"),
        ("score", "data.score, else data.accuracy of metrics"),
        ("model", "the only one of spec.completion_fns"),
        ("input_tokens", "the sum of data.usage.prompt_tokens of a sample of one attempt"),
        ("output_tokens", "the sum of data.usage.completion_tokens of a sample of one attempt"),
        ("transcript", "the line of the sample's first event that is read"),
    )
    verdict_rule = "correct; without a match, the score or accuracy reaches --score-threshold"
    attempt_rule = "the matches of a sample, or 1"
    error_rule = (
        "a sample without a match, a score or an accuracy has no verdict, and its error decides; "
        "OpenAI Evals leaves it out"
    )
    documentation = "https://github.com/openai/evals/blob/main/docs/run-evals.md"
    example = (
        '{"run_id": "r1", "event_id": 2, "sample_id": "capitals.dev.0", "type": "match", "data": '
        '{"correct": true, "expected": "Paris", "picked": "Paris"}}'
    )
    uses_threshold = True
    default_suite = "openai-evals"
    numbers_attempts = True
    labels: ClassVar[dict[str, str]] = {"task_id": "sample_id", "passed": "data.correct"}
    shape: ClassVar[Shape] = {
        **dict.fromkeys(("spec", "sample_id", "event_id", "type"), ANY),
        "data": dict.fromkeys(("correct", *_SCORES, "type", "message", "usage"), ANY),
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the names in the first lines."""
        wanted = {"event_id", "sample_id", "type", "data"}
        return sample.container == self.container and wanted <= set(sample.fields)

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Leave it to the matches."""
        return False

    def read(self, log: Log) -> Iterator[Record]:
        """Keep what the events say of each sample, then give the samples."""
        for path in log.files:
            log.heads["samples"] = {}
            with log.opened(path) as file:
                yield from self.read_file(file, log)
            samples = log.heads["samples"]
            scores = (said["score"] or 0.0 for said in samples.values())
            highest = None if log.has_threshold else max(filter(isfinite, scores), default=None)
            for name, said in samples.items():
                yield from _attempts(name, said, highest)

    def attempts(
        self, row: dict[str, Any], element: Element, log: Log
    ) -> Iterable[dict[str, Any] | Unfit | Record]:
        """Keep an event, of which no attempt is made yet."""
        log.heads["spec"] = row.get("spec") or log.heads.get("spec")
        kind, data = row.get("type"), row.get("data")
        if "event_id" not in row or kind not in _TYPES:
            return ()
        if (name := text(row.get("sample_id"))) is None:
            raise Unfit("missing_field", "sample_id is missing.")
        place = self.place_of(element, log)
        said = log.heads["samples"].setdefault(
            name, {"matches": [], "score": None, "outcome_reason": None, "transcript": place}
        )
        if kind == "match":
            said["matches"].append(at(data, "correct"))
        elif kind == "metrics":
            found = (number(at(data, name)) for name in _SCORES)
            said["score"] = next((one for one in found if one is not None), said["score"])
        elif kind == "error":
            parts = filter(None, (text(at(data, name)) for name in ("type", "message")))
            said["outcome_reason"] = short_line(": ".join(parts)) or "error"
        for theirs, ours in _TOKENS.items():
            tokens = at(data, "usage", theirs)
            if type(tokens) is int:
                said[ours] = said.get(ours, 0) + tokens
        return ()

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the names from the spec."""
        spec = dict_at(log.heads, "spec")
        models = list_at(spec, "completion_fns")
        return {
            "run_id": text(spec.get("run_id")),
            "suite": text(spec.get("eval_name")),
            "model": text(models[0]) if len(models) == 1 else None,
        }


def _attempts(name: str, said: dict[str, Any], highest: float | None) -> Iterator[Record]:
    """Give the attempts of a sample: its matches, or one that its score judges."""
    matches = said.pop("matches") or [None]
    # A score, an error and tokens are of the sample, not of one of its attempts.
    known = said if len(matches) == 1 else {"transcript": said["transcript"]}
    fault = None
    if matches == [None] and said["score"] is not None:
        try:
            judged_row(None, [said["score"]], is_broken=False, highest=highest)
        except Unfit as unfit:
            fault = (unfit.code, unfit.reason)
    for passed in matches:
        values = {"task_id": name, "attempt": 1, "passed": passed, **known}
        if passed is True:
            # An error on the way is no reason of a pass.
            values["outcome_reason"] = None
        yield Record(None if fault else values, values, fault)
