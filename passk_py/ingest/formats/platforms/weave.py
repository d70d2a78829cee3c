"""W&B Weave: the calls of ``Evaluation.evaluate``.

Read are calls, as ``/calls/stream_query``, the export button and ``call.to_dict()`` give them: a
list, lines of JSON or an object with ``calls``. A call of ``Evaluation.predict_and_score`` is an
attempt, whichever other calls are beside it; the calls of the model tell why it failed. Read is
the answer of ``/eval_results/query``, too, whose rows have the trials of each evaluation.

- Trials (``trials``) are further calls of one example, and have no numbers: they are numbered by
  ``started_at``, and those of ``/eval_results/query``, which have no times, as they stand.
- A scorer gives a value or an object of them, each of which is a score: ``<scorer>.<name>``.
- ``predict_and_score`` catches what the model raises, so that an exception of its own is one of a
  scorer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.shape import ANY, loaded_or_none
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    list_at,
    seconds_between,
    small_tags,
    text,
)
from passk_py.ingest.formats.platforms.experiment_rows import Experiment, error_in, input_task
from passk_py.ingest.formats.platforms.named_scores import EVALUATOR_ERROR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json, Shape
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_ATTEMPTS: Final = ("predict_and_score", "predictAndScore")
# Scores are nested in objects of scorers; deeper ones are details.
_DEEPEST: Final = 3
_COSTS: Final = (("prompt_tokens_total_cost",), ("completion_tokens_total_cost",))
_TOKENS: Final = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))


class Weave(Experiment):
    """Weave's evaluations."""

    name = "weave"
    title = "W&B Weave's evaluations: calls as JSON, or rows of /eval_results/query"
    reader_version = 2
    suffixes = (".json", ".jsonl")
    recognised_by = (
        "calls with op_name, trace_id and inputs, among them of predict_and_score; rows with "
        "row_digest and evaluations"
    )
    fields = (
        (
            "run_id",
            "evaluation_call_id; parent_id, the call of Evaluation.evaluate; else trace_id",
        ),
        ("suite", "the name of the evaluation, inputs.self; evaluation_ref of the only evaluation"),
        ("task_id", "the row in the reference inputs.example; row_digest; else the example itself"),
        ("attempt", "the place among the calls or the trials of the example, by started_at"),
        ("outcome", "output.scores; scores of a trial"),
        ("outcome_reason", "evaluator_error; the exception of the model's call"),
        ("score", "the only score, or the lowest if no score gives verdicts"),
        ("agent", "the name of inputs.model; model_ref of the only evaluation"),
        ("agent_version", "the digest of the same"),
        ("model", "the only model of summary.usage"),
        ("started_at", "started_at"),
        (
            "duration_s",
            "output.model_latency, else ended_at - started_at; model_latency_seconds of a trial",
        ),
        ("cost_usd", "the sum over models of summary.weave.costs"),
        ("input_tokens", "the sum of prompt_tokens or input_tokens of summary.usage"),
        ("output_tokens", "the sum of completion_tokens or output_tokens of summary.usage"),
        ("output_hash", "SHA-256 of output.output, output.model_output or model_output"),
        ("tags", "score.<scorer>"),
        ("transcript", "the call: the file, and # with its JSON pointer or line"),
    )
    attempt_rule = "the calls of an example are counted by started_at; trials, as they stand"
    error_rule = (
        "an exception leaves no verdict, with the reason evaluator_error; if the model's call has "
        "an exception, it decides; a call without scores is excluded"
    )
    documentation = "https://docs.wandb.ai/weave/guides/core-types/evaluations"
    example = (
        '[{"id": "c1", "op_name": "weave:///e/p/op/Evaluation.predict_and_score:d1", "trace_id": '
        '"x", "parent_id": "run1", "started_at": "2026-11-21T10:00:00Z", "inputs": {"self": '
        '"weave:///e/p/object/sums:d2", "model": "weave:///e/p/op/agent:d3", "example": {"q": '
        '"2+2"}}, "output": {"output": "4", "scores": {"exact": true}, "model_latency": 0.5}}]'
    )
    default_suite = "weave"
    numbers_attempts = True
    runs_have_ids = True
    inside = ("calls", "data", "rows")
    labels: ClassVar = {"task_id": "inputs.example", "duration_s": "output.model_latency"}
    shape: ClassVar[Shape] = {
        **dict.fromkeys(
            (
                *("id", "op_name", "trace_id", "parent_id", "started_at", "ended_at"),
                *("output", "exception", "summary", "row_digest", "evaluations"),
            ),
            ANY,
        ),
        "inputs": ANY,
    }
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = {
        ("summary", "evaluations"): [{"evaluation_ref": ANY, "model_ref": ANY}]
    }
    score_shape: ClassVar[Shape] = {
        **dict.fromkeys(("op_name", "parent_id", "exception", "output"), ANY),
        "evaluations": [{"trials": [{"scores": ANY}]}],
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first call and the names of calls, or of the first row."""
        names = (name.encode() for name in _ATTEMPTS)
        keys = self.row_keys(sample)
        has_calls = {"op_name", "trace_id", "inputs"} <= keys
        return {"row_digest", "evaluations"} <= keys or (
            has_calls and any(name in sample.start for name in names)
        )

    def scores(self, row: dict[str, Any]) -> Iterable[Mapping[str, Json]]:
        """Give the scores of an attempt, or of trials; no other call has any."""
        if _is_attempt(row):
            return (_scores(at(row, "output", "scores")),)
        return (_scores(trial.get("scores")) for _, trial, _ in _trials(row))

    def note(self, row: dict[str, Any], log: Log) -> None:
        """Note the scores of a call, and why one failed."""
        super().note(row, log)
        parent, error = text(row.get("parent_id")), _error(row.get("exception"))
        if parent and error and not _is_attempt(row):
            log.heads.setdefault("errors", {})[parent] = error

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterator[dict[str, Any]]:
        """Map a call of predict_and_score, or each trial of a row, to an attempt."""
        if not _is_attempt(row):
            yield from self._trials(row, element, log)
            return
        inputs, output = dict_at(row, "inputs"), row.get("output")
        scores, broken = _scores(at(output, "scores")), _error(row.get("exception"))
        answer = at(output, "output") if "output" in dict_at(output) else at(output, "model_output")
        error = None
        if answer is None and not scores and not broken:
            error = log.heads.get("errors", {}).get(row.get("id"))
        if broken:
            judged: dict[str, Any] = {"outcome_reason": EVALUATOR_ERROR}
        else:
            judged = {"outcome_reason": error} if error else self.judge(scores, log)
        usage = dict_at(row, "summary", "usage")
        tags = small_tags({f"score.{name}": value for name, value in scores.items()})
        latency = at(output, "model_latency")
        seconds = seconds_between(row.get("started_at"), row.get("ended_at"))
        example = inputs.get("example")
        reference = example.rpartition("/id/")[2] if isinstance(example, str) else None
        prompt, completion = (_sum(usage, names) for names in _TOKENS)
        yield {
            "run_id": text(row.get("parent_id")) or text(row.get("trace_id")),
            "suite": _name(inputs.get("self"))[0],
            "task_id": reference or input_task(example),
            "attempt": 1,
            **judged,
            "agent": _name(inputs.get("model"))[0],
            "agent_version": _name(inputs.get("model"))[1],
            "model": next(iter(usage)) if len(usage) == 1 else None,
            "started_at": row.get("started_at"),
            "duration_s": seconds if latency is None else latency,
            "cost_usd": _sum(dict_at(row, "summary", "weave", "costs"), *_COSTS),
            "input_tokens": prompt,
            "output_tokens": completion,
            "output_hash": digest_of(answer),
            "tags": {**tags, EVALUATOR_ERROR: broken} if broken else tags,
            "transcript": self.place_of(element, log),
        }

    def _trials(self, row: dict[str, Any], element: Element, log: Log) -> Iterator[dict[str, Any]]:
        """Map the trials of a row of ``/eval_results/query``."""
        for run_id, trial, place in _trials(row):
            scores = _scores(trial.get("scores"))
            yield {
                "run_id": run_id,
                "task_id": text(row.get("row_digest")),
                "attempt": 1,
                **self.judge(scores, log),
                "duration_s": trial.get("model_latency_seconds"),
                "output_hash": digest_of(trial.get("model_output")),
                "tags": small_tags({f"score.{name}": value for name, value in scores.items()}),
                "transcript": f"{self.place_of(element, log)}/{place}",
            }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the names from the summary of the only evaluation."""
        said = list_at(log.heads.get("summary.evaluations"))
        if len(said) != 1:
            return {}
        agent, version = _name(at(said[0], "model_ref"))
        suite, _ = _name(at(said[0], "evaluation_ref"))
        return {"suite": suite, "agent": agent, "agent_version": version}


def _trials(row: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any], str]]:
    """Give the trials of a row, each with its evaluation and its place."""
    for number, evaluation in enumerate(list_at(row, "evaluations")):
        run_id = text(at(evaluation, "evaluation_call_id"))
        for place, trial in enumerate(list_at(evaluation, "trials")):
            yield run_id, dict_at(trial), f"evaluations/{number}/trials/{place}"


def _is_attempt(row: dict[str, Any]) -> bool:
    """Tell whether a call is one of predict_and_score."""
    name = text(row.get("op_name")) or ""
    return name.rpartition("/")[2].partition(":")[0].rpartition(".")[2] in _ATTEMPTS


def _name(reference: Json) -> tuple[str | None, str | None]:
    """Give the name and the digest of a reference, or the name of the object itself."""
    if isinstance(reference, dict):
        return text(reference.get("name")), None
    said = text(reference)
    if said is None or not said.startswith("weave:"):
        return None, None
    name, _, digest = said.rpartition("/")[2].partition(":")
    return name or None, digest or None


def _scores(scores: Json) -> dict[str, Json]:
    """Give the values of the scorers by their names."""
    found: dict[str, Json] = {}

    def add(name: str, value: Json, depth: int) -> None:
        if isinstance(value, dict):
            if depth < _DEEPEST:
                for inner, one in value.items():
                    add(f"{name}.{inner}", one, depth + 1)
        elif value is None or isinstance(value, bool | int | float | str):
            found[name] = value

    for name, value in dict_at(scores).items():
        add(name, value, 1)
    return found


def _error(exception: Json) -> str | None:
    """Say an exception in a line; new versions write it as JSON."""
    known = None
    if isinstance(exception, str) and exception.startswith("{"):
        known = loaded_or_none(exception.encode("utf-8", "surrogatepass"))
    if isinstance(known, dict) and text(known.get("type")):
        return error_in({"name": known["type"], "message": known.get("message")})
    return error_in(exception)


def _sum(models: dict[str, Any], *kinds: tuple[str, ...]) -> Json:
    """Add what models spent, of each kind under the first name that it has; None if it has none."""
    values = [
        next((value for name in names if (value := at(model, name)) is not None), None)
        for model in models.values()
        for names in kinds
    ]
    known = [value for value in values if type(value) in (int, float)]
    return sum(known) if known and len(known) == len(values) else None
