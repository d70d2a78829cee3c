"""Verifiers: the ``results.jsonl`` and ``traces.jsonl`` of ``vf-eval``.

Up to 0.3 an evaluation with ``--save-results`` writes ``results.jsonl``, a line for each rollout,
and ``metadata.json`` beside it. The environments of ``verifiers.v1`` write ``traces.jsonl``: since
0.3 or 0.4 a line for each episode with the traces of its agents, before that one for each trace.

- A rollout passed if its reward reaches ``pass_threshold`` of the metadata, 0.5 by default, as in
  Verifiers' own pass@k. A ``--score-threshold`` other than 1 comes before it. Metadata of
  older versions, and traces, have no such threshold, so that a reward of 1 is needed.
- A rollout that ended with an error has a reward of 0 in ``results.jsonl``, which Verifiers counts
  as a failure. Nothing was graded, so the class of the error decides.
- In an episode, traces that are not trained and have no rewards are of judges and modelled users,
  and are no attempts. If its agents have several names, each has a suite of its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.shape import ANY, RAW
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Expected
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    list_at,
    number,
    short_line,
    small_tags,
    text,
    time_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_ROLLOUT: Final = ("prompt", "completion", "reward")
# How a line begins, if its transcript is longer than the sample.
_BEGINNINGS: Final = (("example_id", "prompt"), ("id", "prompt", "completion"))
_EPISODE: Final = frozenset(("id", "task", "traces"))
_TRACE: Final = frozenset(("id", "task", "nodes"))
# Errors that the model makes: a call of a tool that can't be read, and more text than fits.
_ERRORS_OF_AGENTS: Final = ("ToolParseError", "OverlongPromptError")


class Verifiers(JsonHarness):
    """Verifiers' results of rollouts."""

    name = "verifiers"
    title = "Verifiers' results.jsonl"
    reader_version = 1
    container = "json_lines"
    suffixes = (".jsonl",)
    recognised_by = "lines with prompt, completion, reward and example_id, or id and generation_ms"
    fields = (
        ("run_id", "the file's name, or its folder's"),
        ("suite", "metadata.json: env_id; else verifiers"),
        ("task_id", "example_id, else id"),
        ("attempt", "the order of timing.start_time, or of the lines of a task"),
        ("outcome", "reward, error"),
        ("outcome_reason", "the class of error"),
        ("score", "reward, unless there is an error"),
        ("model", "metadata.json: model"),
        ("seed", "metadata.json: sampling_args.seed"),
        ("started_at", "timing.start_time"),
        ("duration_s", "timing.total; or total_ms, in seconds"),
        ("input_tokens", "token_usage.input_tokens"),
        ("output_tokens", "token_usage.output_tokens"),
        ("output_hash", "SHA-256 of completion, as the bytes in the file"),
        ("tags", "short values of metrics; task, stop_condition, is_truncated"),
        ("transcript", "the rollout: the file, and # with its line"),
    )
    verdict_rule = (
        "reward reaches pass_threshold of metadata.json, or a --score-threshold other than 1; "
        "without both, it is at least 1"
    )
    attempt_rule = "the rollouts of an example in the order in which they started, or of the lines"
    error_rule = (
        "an error leaves no verdict, and its class decides, ToolParseError and OverlongPromptError "
        "as failed; Verifiers counts a reward of 0"
    )
    documentation = "https://github.com/PrimeIntellect-ai/verifiers/blob/main/docs/evaluation.md"
    example = (
        '{"example_id": 0, "prompt": [...], "completion": [...], "reward": 1.0, "timing": '
        '{"start_time": 1795000000.0, "total": 1.5}, "is_completed": true, "metrics": {}}'
    )
    uses_threshold = True
    numbers_attempts = True
    default_suite = "verifiers"
    labels: ClassVar[dict[str, str]] = {
        "task_id": "example_id",
        "score": "reward",
        "duration_s": "timing.total",
        "input_tokens": "token_usage.input_tokens",
        "output_tokens": "token_usage.output_tokens",
    }
    reasons: ClassVar[dict[str, Any]] = dict.fromkeys(_ERRORS_OF_AGENTS, "failed")
    shape = {
        **dict.fromkeys(
            (
                *("example_id", "id", "task", "reward", "error", "total_ms"),
                *("metrics", "stop_condition", "is_truncated"),
            ),
            ANY,
        ),
        "completion": RAW,
        "timing": dict.fromkeys(("start_time", "total", "total_ms"), ANY),
        "token_usage": dict.fromkeys(("input_tokens", "output_tokens"), ANY),
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the lines, or from the first ones of a very long line."""
        if sample.container != self.container:
            return False
        fields = sample.fields
        if not sample.complete:
            is_named = sample.path.name.startswith("results.")
            return is_named and any(fields[: len(begins)] == begins for begins in _BEGINNINGS)
        known = "example_id" in fields or {"id", "generation_ms"} <= set(fields)
        return known and set(_ROLLOUT) <= set(fields)

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Leave it to the metadata, which may have a threshold."""
        return False

    def companions(self, path: Path) -> tuple[Path, ...]:
        """Find the metadata of the evaluation."""
        return (path.parent / "metadata.json",)

    def read(self, log: Log) -> Iterator[Record]:
        """Read the metadata, then the lines."""
        metadata = log.beside(*self.companions(log.path))
        threshold = None if log.has_threshold else at(metadata, "pass_threshold")
        log.heads |= {"metadata": metadata, "threshold": _finite(threshold), "parts": 0}
        yield from super().read(log)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a rollout to an attempt."""
        timing, usage = dict_at(row, "timing"), dict_at(row, "token_usage")
        error = _error_of(row.get("error"))
        example = row.get("example_id")
        seconds, start = timing.get("total"), number(timing.get("start_time"))
        milliseconds = number(timing.get("total_ms", row.get("total_ms")))
        if seconds is None and milliseconds is not None:
            seconds = milliseconds / 1000
        tags = small_tags(row.get("metrics"))
        tags |= small_tags({name: row.get(name) for name in ("task", "stop_condition")})
        if row.get("is_truncated") is True:
            tags["is_truncated"] = True
        yield {
            "task_id": row.get("id") if example is None else example,
            "attempt": 1,
            **_judged(row.get("reward"), error, log),
            "started_at": time_of(start * 1000) if start else None,
            # A total of 0 is that of a rollout which was not scored.
            "duration_s": seconds or None,
            "input_tokens": _whole(usage.get("input_tokens")),
            "output_tokens": _whole(usage.get("output_tokens")),
            "output_hash": digest_of(row.get("completion")),
            "tags": tags,
            "transcript": self.place_of(element, log),
        }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the names of the environment and of the model from the metadata."""
        metadata = log.heads["metadata"]
        seed = at(metadata, "sampling_args", "seed")
        return {
            "suite": text(at(metadata, "env_id")) or text(at(metadata, "env")),
            "model": text(at(metadata, "model")),
            "seed": seed if type(seed) is int else None,
        }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of rollouts from the metadata."""
        rollouts = at(log.heads["metadata"], "rollouts_per_example")
        return [Expected(rollouts)] if type(rollouts) is int and rollouts > 0 else []

    def warnings(self, log: Log) -> Iterable[str]:
        """Say that rewards in between failed, if nobody said from which reward on one passes."""
        return _warnings(log)


class VerifiersTraces(JsonHarness):
    """Verifiers' traces of agents."""

    name = "verifiers-traces"
    title = "Verifiers' traces.jsonl"
    reader_version = 1
    container = "json_lines"
    suffixes = (".jsonl",)
    recognised_by = "lines with id, task and traces, or with id, task and nodes"
    fields = (
        ("run_id", "run.id; else the file's name, or its folder's"),
        ("suite", "env.id, with / and the agent's name if there are several; else verifiers"),
        ("task_id", "task.data.id, else task.data.idx, else task.key"),
        ("attempt", "the order of timing.start, or of the lines of a task"),
        ("outcome", "rewards, ok, errors, stop_condition"),
        ("outcome_reason", "the type of the last error, else stop_condition"),
        ("score", "the sum of score * weight of rewards"),
        ("agent", "agent.name, and agent.config.harness.id"),
        ("model", "the model of the last of calls; else agent.config.model"),
        ("started_at", "timing.start"),
        ("duration_s", "timing: from the first start of a stage to the last end of one"),
        ("cost_usd", "calls: the sum of usage.cost"),
        ("input_tokens", "calls: the sums of usage.prompt_tokens and usage.cached_input_tokens"),
        ("output_tokens", "calls: the sum of usage.completion_tokens"),
        ("tags", "short values of metrics; reward.*, task.data.name, stop_condition"),
        ("transcript", "the episode: the file, and # with its line"),
    )
    verdict_rule = "the sum of the weighted rewards reaches --score-threshold, 1 by default"
    attempt_rule = "the traces of a task in the order in which they started, or of the lines"
    error_rule = (
        "a trace that is not ok has no verdict, and the type of its last error decides; without a "
        "reward, stop_condition does: agent_timeout is failed, other stages are excluded"
    )
    documentation = "https://github.com/PrimeIntellect-ai/verifiers/blob/main/docs/evaluation.md"
    example = (
        '{"id": "5f...", "env": {"id": "gsm8k"}, "task": {"type": "Task", "data": {"idx": 0}}, '
        '"ok": true, "traces": [{"id": "9c...", "task": {...}, "nodes": [...], "rewards": '
        '{"exact": {"score": 1.0, "weight": 1.0}}, "ok": true}]}'
    )
    uses_threshold = True
    numbers_attempts = True
    default_suite = "verifiers"
    reasons: ClassVar[dict[str, Any]] = {"finalize_timeout": "excluded"}
    _trace: ClassVar[dict[str, Any]] = {
        "task": {"key": ANY, "hash": ANY, "data": {"id": ANY, "idx": ANY, "name": ANY}},
        "agent": {
            "name": ANY,
            "trainable": ANY,
            "config": {"model": ANY, "harness": {"id": ANY}},
        },
        "run": {"id": ANY},
        **dict.fromkeys(("rewards", "metrics", "ok", "stop_condition", "timing"), ANY),
        "errors": [{"type": ANY, "message": ANY}],
        "calls": [{"model": ANY, "usage": ANY}],
        "nodes": [{"usage": ANY}],
    }
    shape = {**_trace, "env": {"id": ANY}, "traces": [_trace]}

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the lines, or from the first ones of a very long line."""
        if sample.container != self.container:
            return False
        fields = set(sample.fields)
        if not sample.complete:
            # The task or the messages are longer than the sample.
            begins = (("id", "env", "task"), ("version", "id", "verifiers"))
            return sample.path.name.startswith("traces.") and sample.fields[:3] in begins
        rated = {"rewards", "metrics"} & fields and {"is_completed", "errors"} & fields
        return ("env" in fields and fields >= _EPISODE) or (bool(rated) and fields >= _TRACE)

    def read(self, log: Log) -> Iterator[Record]:
        """Read the lines."""
        log.heads |= {"threshold": None, "parts": 0}
        yield from super().read(log)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map an episode to the attempts of its agents, or a trace to an attempt."""
        place = self.place_of(element, log)
        if "traces" not in row:
            yield {**_attempt(row, log), "run_id": text(at(row, "run", "id")), "transcript": place}
            return
        shared = {"run_id": text(at(row, "run", "id")), "transcript": place}
        traces = [one for one in list_at(row, "traces") if isinstance(one, dict)]
        traces = [one for one in traces if _is_attempt(one)]
        env = text(at(row, "env", "id"))
        names = {text(at(one, "agent", "name")) for one in traces}
        for one in traces:
            made = _attempt({"task": row.get("task"), **one}, log)
            several = env and len(names) > 1
            suite = f"{env}/{at(one, 'agent', 'name')}" if several else env
            yield {**made, **shared, "suite": suite}
        if not traces:
            # The environment failed before an agent began.
            yield {**_attempt({**row, "rewards": None}, log), **shared, "suite": env}

    def warnings(self, log: Log) -> Iterable[str]:
        """Say that rewards in between failed, if nobody said from which reward on one passes."""
        return _warnings(log)


def _judged(reward: Json, error: str | None, log: Log) -> dict[str, Any]:
    """Give the verdict, the score and the reason of a rollout."""
    if error:
        return {"passed": None, "outcome_reason": error, "score": None}
    if isinstance(reward, float) and not math.isfinite(reward):
        return {"passed": None, "outcome_reason": "reward_not_finite", "score": None}
    value, threshold = _finite(reward), log.heads["threshold"]
    if value is not None and threshold is None and 0 < value < 1 and not log.has_threshold:
        log.heads["parts"] += 1
    decided = threshold is not None and value is not None
    return {"passed": value >= threshold if decided else None, "score": reward}


def _warnings(log: Log) -> Iterator[str]:
    if parts := log.heads["parts"]:
        yield (
            f"{parts:,} rewards are between 0 and 1, and failed. Say from which reward on a "
            "rollout passes with --score-threshold; Verifiers' own pass@k takes 0.5 by default."
        )


def _error_of(error: Json) -> str | None:
    """Give the class of an error, which older versions wrote as its repr."""
    if isinstance(error, dict):
        return text(error.get("error")) or "error"
    if isinstance(error, str):
        return short_line(error).split("(", 1)[0] or "error"
    return None if error is None else "error"


def _finite(value: Json) -> float | None:
    found = number(value) if type(value) in (int, float) else None
    return found if found is not None and math.isfinite(found) else None


def _whole(value: Json) -> Json:
    """Write a number of tokens as the whole number that it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_attempt(trace: dict[str, Any]) -> bool:
    return at(trace, "agent", "trainable") is not False or bool(dict_at(trace, "rewards"))


def _attempt(trace: dict[str, Any], log: Log) -> dict[str, Any]:
    """Map a trace to an attempt."""
    data, agent, timing = (
        dict_at(trace, *path) for path in (("task", "data"), ("agent",), ("timing",))
    )
    errors, rewards = list_at(trace, "errors"), dict_at(trace, "rewards")
    calls = list_at(trace, "calls") or list_at(trace, "nodes")
    usages = [dict_at(one, "usage") for one in calls if dict_at(one, "usage")]
    broken = not trace["ok"] if isinstance(trace.get("ok"), bool) else bool(errors)
    stopped = text(trace.get("stop_condition"))
    error = (text(at(errors, -1, "type")) or stopped or "error") if broken else None
    given = {name: _reward(one) for name, one in rewards.items()}
    values = [value for value in given.values() if value is not None]
    verdict = _judged(sum(values) if values else None, error, log)
    if not values and not error:
        verdict["outcome_reason"] = stopped
    models = [model for one in calls if (model := text(at(one, "model")))]
    start, spans = number(timing.get("start")), list(timing.values())
    starts = [one for span in spans if (one := number(at(span, "start")))]
    ends = [one for span in spans if (one := number(at(span, "end")))]
    harness = text(at(agent, "config", "harness", "id"))
    name = text(agent.get("name"))
    tags = small_tags(trace.get("metrics"))
    tags |= small_tags({f"reward.{one}": value for one, value in given.items()})
    tags |= small_tags({"task_name": data.get("name"), "stop_condition": stopped})
    task = (data.get("id"), data.get("idx"), at(trace, "task", "key"), at(trace, "task", "hash"))
    return {
        "task_id": next((one for one in task if one is not None), None),
        "attempt": 1,
        **verdict,
        "agent": f"{name}/{harness}" if name and harness else name or harness,
        "model": models[-1] if models else text(at(agent, "config", "model")),
        "started_at": time_of(start * 1000) if start else None,
        "duration_s": max(ends) - min(starts) if starts and ends else None,
        "cost_usd": _sum(usages, "cost"),
        "input_tokens": _sum(usages, "prompt_tokens", "cached_input_tokens"),
        "output_tokens": _sum(usages, "completion_tokens"),
        "tags": tags,
    }


def _reward(value: Json) -> float | None:
    """Give a weighted reward, which before 0.3 was a plain number."""
    if not isinstance(value, dict):
        return number(value)
    score, weight = number(value.get("score")), number(value.get("weight", 1.0))
    return None if score is None or weight is None else score * weight


def _sum(usages: list[dict[str, Any]], *names: str) -> float | None:
    given = (_finite(usage.get(name)) for usage in usages for name in names)
    found = [one for one in given if one is not None]
    return sum(found) if found else None
