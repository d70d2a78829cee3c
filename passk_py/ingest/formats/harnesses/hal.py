"""HAL, the Holistic Agent Leaderboard: the ``<run_id>_UPLOAD.json`` of ``hal-eval``.

The file holds one run: ``config``, the figures in ``results``, and in ``raw_eval_results`` what the
benchmark said of each task, in a form of its own. Files of the leaderboard are encrypted; run
``hal-decrypt`` first.

- ``successful_tasks`` and ``failed_tasks`` of the results are HAL's verdicts, the same for every
  benchmark. Without them, a task of ``raw_eval_results`` passed if its reward or score is 1.
- A task whose result is a text has no grade: the agent or its machine broke, and the first line
  says how. HAL counts it among the failed tasks. SWE-bench's ``error_ids`` are failures here, too,
  as in the format swe-bench.
- With ``--prompt_sensitivity`` a task has a result for each variation of its prompt. Each is an
  attempt, judged by its reward or score, for HAL's lists are about their mean.
- Runs that were repeated are files of their own. Give them one ``--run-id`` to make their tasks
  attempts of one run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.harness import Record
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    list_at,
    number,
    short_line,
    small_tags,
    text,
)
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json, Shape
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_RAW: Final = "raw_eval_results"
_ERRORS: Final = "error_ids"
_LISTS: Final = (("successful_tasks", True), ("failed_tasks", False))
_SCORES: Final = ("reward", "score", "success")
_MODELS: Final = ("model_name", "agent.model.name", "model")


class Hal(JsonHarness):
    """HAL's results of a run."""

    name = "hal"
    title = "HAL's _UPLOAD.json"
    reader_version = 1
    container = "json_object"
    suffixes = (".json",)
    recognised_by = "an object with results, raw_eval_results and config or metadata"
    fields = (
        ("run_id", "config.run_id, else metadata.run_id"),
        ("suite", "config.benchmark_name; else hal"),
        ("task_id", "successful_tasks and failed_tasks of results; else raw_eval_results"),
        ("attempt", "1, or the place of the variation of the prompt"),
        ("outcome", "successful_tasks, failed_tasks; else reward, score or success of the task"),
        (
            "outcome_reason",
            "the first line of a result that is a text; error, for SWE-bench's error_ids",
        ),
        ("score", "reward or score of the task in raw_eval_results"),
        ("agent", "config.agent_name"),
        ("agent_version", "config.agent_version, else agent_hash"),
        ("model", "config.agent_args: model_name, agent.model.name or model"),
        ("started_at", "results.latencies.<task>.first_call_timestamp"),
        ("duration_s", "wall_clock_times.<task>, else total_time of its latencies"),
        ("cost_usd", "results.costs.<task>, else cost of the task in raw_eval_results"),
        ("tags", "step_count; prompt_variation_id"),
        ("transcript", "the task: the file, and # with its JSON pointer"),
    )
    verdict_rule = (
        "HAL's lists of tasks; without them, the reward or score reaches --score-threshold"
    )
    attempt_rule = "1 for each task of a run; the place of a variation of the prompt"
    error_rule = (
        "a result that is a text has no verdict, and its first line decides; HAL counts a failure"
    )
    documentation = "https://github.com/princeton-pli/hal-harness"
    example = (
        '{"config": {"agent_name": "...", "benchmark_name": "gaia", "run_id": "gaia_1"}, '
        '"results": {"accuracy": 0.5, "successful_tasks": ["a"], "failed_tasks": ["b"]}, '
        '"raw_eval_results": {"a": {"score": true}, "b": {"score": false}}}'
    )
    uses_threshold = True
    default_suite = "hal"
    labels: ClassVar[dict[str, str]] = {"score": "reward or score"}
    rows_are_objects = False
    rows_at = (_RAW, EACH)
    shape: ClassVar[Shape] = dict.fromkeys((*_SCORES, "cost", "prompt_variation_id"), ANY)
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = {
        ("config",): ANY,
        ("metadata",): ANY,
        ("results",): dict.fromkeys(
            ("successful_tasks", "failed_tasks", "latencies", "costs"), ANY
        ),
        ("wall_clock_times",): ANY,
        ("task_step_counts",): ANY,
        ("agent_hash",): ANY,
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the names at the top of the document."""
        fields = set(sample.fields)
        known = {"results", _RAW} <= fields and fields & {"config", "metadata"}
        return bool(known) and sample.can_be(self.container)

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Leave it to the lists of tasks."""
        return False

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after the file without _UPLOAD, or after its folder."""
        return run_named_after(path, (".json", "_UPLOAD"))

    def read(self, log: Log) -> Iterator[Record]:
        """Keep what the benchmark said of the tasks, then take the lists after it."""
        for path in log.files:
            said: dict[str, Any] = {}
            log.heads["said"] = said
            with log.opened(path) as file:
                yield from self.read_file(file, log)
            for values in self._all(said, log):
                yield Record(values, values)

    def attempts(self, row: Json, element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Keep a result, from which no attempt is made yet."""
        if element.names:
            log.heads["said"][element.names[-1]] = row
        return ()

    def _all(self, said: dict[str, Any], log: Log) -> Iterator[dict[str, Any]]:
        """Give the attempts of the listed tasks, or else of all tasks that have a result."""
        results = log.heads.get("results")
        verdicts: dict[str, bool | None] = {}
        for name, passed in _LISTS:
            verdicts |= {task: passed for one in list_at(results, name) if (task := text(one))}
        # SWE-bench's report, in which the tasks are not.
        errors = {text(one) for one in list_at(said, _ERRORS)}
        for task in verdicts or said:
            result, place = said.get(task), f"{log.current}#/{_RAW}/{task}"
            if isinstance(result, list) and any(_score(one) is not None for one in result):
                for count, one in enumerate(result, 1):
                    shared = {"task_id": task, "attempt": count}
                    yield {**shared, **_graded(one), "transcript": f"{place}/{count - 1}"}
                continue
            made = {"task_id": task, "attempt": 1, **_graded(result), **_times(task, log)}
            if made["outcome_reason"] is None:
                made["passed"] = verdicts.get(task)
                made["outcome_reason"] = "error" if task in errors else None
            if (cost := at(results, "costs", task)) is not None:
                made["cost_usd"] = cost
            yield {**made, "transcript": place}

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the names from the configuration."""
        config, metadata = log.heads.get("config"), log.heads.get("metadata")
        arguments = dict_at(config, "agent_args") or dict_at(metadata, "agent_args")
        models = (text(arguments.get(name)) for name in _MODELS)
        return {
            "run_id": text(at(config, "run_id")) or text(at(metadata, "run_id")),
            "suite": text(at(config, "benchmark_name")),
            "agent": text(at(config, "agent_name")),
            "agent_version": text(at(config, "agent_version")) or text(log.heads.get("agent_hash")),
            "model": next(filter(None, models), None),
        }


def _graded(result: Json) -> dict[str, Any]:
    """Give what the benchmark said of a task, or of a variation of its prompt."""
    broken = short_line(result) or "error" if isinstance(result, str) else None
    variation = small_tags({"prompt_variation_id": at(result, "prompt_variation_id")})
    return {
        "outcome_reason": broken,
        "score": _score(result),
        "cost_usd": at(result, "cost"),
        "tags": variation,
    }


def _times(task: str, log: Log) -> dict[str, Any]:
    """Give the times and the steps of a task, which are those of all variations of its prompt."""
    latency = at(log.heads.get("results"), "latencies", task)
    seconds = at(log.heads.get("wall_clock_times"), task)
    if seconds is None:
        seconds = at(latency, "total_time") if isinstance(latency, dict) else latency
    return {
        "started_at": text(at(latency, "first_call_timestamp")),
        "duration_s": seconds,
        "tags": small_tags({"step_count": at(log.heads.get("task_step_counts"), task)}),
    }


def _score(result: Json) -> float | None:
    """Take the reward or the score of a result; true is 1."""
    if isinstance(result, bool):
        return float(result)
    for name in _SCORES:
        value = at(result, name)
        if isinstance(value, bool):
            return float(value)
        if (found := number(value)) is not None:
            return found
    return None
