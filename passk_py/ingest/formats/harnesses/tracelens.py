"""tracelens: the batch of trials that ``--save-trials`` and ``--checkpoint`` write.

A checkpoint has the batch under ``batch``. The report of ``--output`` repeats the trials in short
and is not read.

- A trial that failed or timed out and was passed by its graders is a pass, and keeps its status as
  the reason.
- ``attempts`` of a trial counts its retries after errors of the infrastructure, which are no
  attempts.
- Times are the transcript's: those of a trial hold the wait for a free slot too, so without a
  transcript there is a start, but no duration.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_start import keys_at_start_of, start_of, top_level_keys
from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY, Json
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Expected, Unfit
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    list_at,
    seconds_between,
    small_tags,
    text,
)
from passk_py.ingest.formats.kinds import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_ROW: Final = frozenset(("trial_id", "task_id", "run_index"))
_BATCH: Final = "batch"
_BATCH_ID: Final = re.compile(rb'"batch_id"\s*:\s*("(?:[^"\\]|\\.)*+")')
_NOT_EVIDENCE: Final = ("infra_error", "skipped", "pending", "running")
_PIECE: Final = 1 << 16
_MOST_BESIDE: Final = 1000
# Two values of each are kept: if there is only one, it fills the trials that have none.
_SAID: Final = ("agent", "agent_version", "model")


class TraceLens(JsonHarness):
    """tracelens's batch of trials."""

    name = "tracelens"
    title = "tracelens's trials or checkpoint as JSON"
    reader_version = 3
    container = "json_object"
    suffixes = (".json",)
    recognised_by = "an object whose trials, or batch.trials, have trial_id, task_id and run_index"
    fields = (
        ("run_id", "provenance.run_id, batch_id"),
        ("suite", "provenance.measurement.eval_set_name; else tracelens"),
        ("task_id", "task_id"),
        ("attempt", "run_index + 1"),
        ("outcome", "outcomes.passed, outcomes.grader_error, status"),
        ("outcome_reason", "grader_error, or status unless it is completed"),
        ("score", "the mean of outcomes.score, where the trial was graded"),
        ("agent", "transcript.agent_name; else provenance.candidate.adapter"),
        ("agent_version", "transcript.agent_version"),
        ("model", "transcript.steps.model, the first"),
        ("started_at", "transcript.started_at; else started_at"),
        ("duration_s", "transcript.completed_at - transcript.started_at"),
        ("input_tokens", "the sum of transcript.steps.tokens_in"),
        ("output_tokens", "the sum of transcript.steps.tokens_out"),
        ("output_hash", "SHA-256 of transcript.final_output"),
        ("tags", "short values of metadata; retries, which is attempts - 1, if there were any"),
        ("transcript", "a trial that has one: the file, and # with its JSON pointer"),
    )
    verdict_rule = "all outcomes passed"
    attempt_rule = "run_index + 1"
    error_rule = (
        "infra_error, skipped, pending, running and grader_error are excluded; failed, timeout and "
        "no_outcomes fail, unless --policy says otherwise: as tracelens counts them"
    )
    documentation = "https://pypi.org/project/tracelens/"
    example = (
        '{"batch_id": "nightly", "trials": [{"trial_id": "a-0", "task_id": "a", "run_index": 0, '
        '"total_runs": 3, "status": "completed", "outcomes": [{"grader_id": "tests", "passed": '
        'true, "score": 1.0, "grader_error": false}]}]}'
    )
    default_suite = "tracelens"
    labels = {
        "attempt": "run_index + 1",
        "passed": "outcomes.passed",
        "score": "outcomes.score",
        "started_at": "transcript.started_at",
        "agent": "transcript.agent_name",
        "agent_version": "transcript.agent_version",
    }
    reasons = {
        "failed": "failed",
        "timeout": "failed",
        "no_outcomes": "failed",
        "infra_error": "excluded",
        "grader_error": "excluded",
        "skipped": "excluded",
        "pending": "excluded",
        "running": "excluded",
    }
    rows_at = ("trials", EACH)
    shape = {
        **dict.fromkeys(("task_id", "run_index", "total_runs", "attempts"), ANY),
        **dict.fromkeys(("status", "started_at", "metadata"), ANY),
        "outcomes": [{"passed": ANY, "score": ANY, "grader_error": ANY}],
        "transcript": {
            "steps": [{"model": ANY, "tokens_in": ANY, "tokens_out": ANY}],
            "final_output": ANY,
            "started_at": ANY,
            "completed_at": ANY,
            "agent_name": ANY,
            "agent_version": ANY,
        },
    }
    head_shapes = {
        (*top, *path): ANY
        for top in ((), (_BATCH,))
        for path in (
            ("batch_id",),
            ("provenance", "run_id"),
            ("provenance", "measurement", "eval_set_name"),
            ("provenance", "measurement", "task_hashes"),
            ("provenance", "measurement", "runner", "num_runs"),
            ("provenance", "candidate", "adapter"),
        )
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first trial."""
        return sample.can_be(self.container) and (
            sample.keys_of_first_row(self.rows_at) >= _ROW
            or sample.keys_of_first_row((_BATCH, *self.rows_at)) >= _ROW
        )

    def repeated(self, sample: Sample) -> Refusal | None:
        """Pass over the report."""
        if not {"gradable_trials", "task_summaries"} <= set(sample.fields):
            return None
        return Refusal(
            "a report of tracelens, which has the trials in short",
            "Load the trials: tracelens run --save-trials trials.json.",
        )

    def doubled(self, sample: Sample) -> Refusal | None:
        """Look for the batch of a checkpoint in the files beside it."""
        id_ = _BATCH_ID.search(sample.start[:_PIECE])
        if _BATCH not in sample.fields or id_ is None:
            return None
        for other in islice(sorted(sample.path.parent.glob("*.json")), _MOST_BESIDE):
            if other != sample.path and _batch_id_of(other) == id_[1]:
                return Refusal(
                    f"a checkpoint of tracelens, whose trials are in {other.name} beside it",
                    f"Load {other.name}, or name this file itself.",
                )
        return None

    def read(self, log: Log) -> Iterator[Record]:
        """Read a batch, or the batch of a checkpoint."""
        for path in log.files:
            log.heads["top"] = top = (_BATCH,) if _BATCH in keys_at_start_of(path) else ()
            log.heads["runs"] = 0
            log.heads["said"] = {name: [] for name in _SAID}
            with log.opened(path) as file:
                yield from self.read_file(file, log, (*top, *self.rows_at))

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a trial to an attempt."""
        index, runs, retries = row.get("run_index"), row.get("total_runs"), row.get("attempts")
        if type(runs) is int:
            log.heads["runs"] = max(runs, log.heads["runs"])
        passed, score, reason = _graded(row)
        transcript = dict_at(row, "transcript")
        model, tokens_in, tokens_out = _steps(list_at(transcript, "steps"))
        start = transcript.get("started_at")
        tags = small_tags(row.get("metadata"))
        if type(retries) is int and retries > 1:
            tags["retries"] = retries - 1
        attempt = {
            "task_id": row.get("task_id"),
            "attempt": index + 1 if type(index) is int else index,
            "passed": passed,
            "outcome_reason": reason,
            "score": score,
            "agent": transcript.get("agent_name"),
            "agent_version": transcript.get("agent_version"),
            "model": model,
            "started_at": row.get("started_at") if start is None else start,
            "duration_s": seconds_between(start, transcript.get("completed_at")),
            "input_tokens": tokens_in,
            "output_tokens": tokens_out,
            "output_hash": digest_of(transcript.get("final_output")),
            "tags": tags,
            "transcript": self.place_of(element, log) if transcript else None,
        }
        for name, values in log.heads["said"].items():
            if attempt[name] is not None and len(values) < 2 and attempt[name] not in values:
                values.append(attempt[name])
        yield attempt

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what the batch says of itself, and the agent of the trials that name one."""
        said = {
            name: text(values[0]) if len(values) == 1 else None
            for name, values in log.heads["said"].items()
        }
        adapter = _head(log, "provenance", "candidate", "adapter")
        if not log.heads["said"]["agent"]:
            said["agent"] = text(at(adapter, "name")) or text(at(adapter, "class_path"))
        return {
            "run_id": text(_head(log, "provenance", "run_id")) or text(_head(log, "batch_id")),
            "suite": text(_head(log, "provenance", "measurement", "eval_set_name")),
            **said,
        }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of runs, and the tasks."""
        runs = _head(log, "provenance", "measurement", "runner", "num_runs")
        if type(runs) is not int:
            runs = log.heads["runs"]
        tasks = _head(log, "provenance", "measurement", "task_hashes")
        return [Expected(runs, tuple(tasks) if isinstance(tasks, dict) else ())]


def _head(log: Log, *names: str) -> Json:
    return log.heads.get(".".join([*log.heads["top"], *names]))


def _batch_id_of(path: Path) -> bytes | None:
    """Give the id of a batch that is no checkpoint."""
    try:
        start = b"" if path.is_symlink() or not path.is_file() else start_of(path)
    except (EOFError, OSError, ValueError):
        return None
    keys = top_level_keys(start) if start.startswith(b"{") else []
    found = _BATCH_ID.search(start) if {"batch_id", "trials"} <= set(keys) else None
    return found[1] if found else None


def _graded(row: dict[str, Any]) -> tuple[Any, Any, str | None]:
    """Give the verdict, the score and the reason of a trial."""
    status, outcomes = row.get("status"), row.get("outcomes")
    reason = None if status == "completed" else text(status)
    if reason in _NOT_EVIDENCE:
        return None, None, reason
    if outcomes is None or outcomes == []:
        return None, None, "no_outcomes" if status == "completed" else reason
    passed, scores, broken = True, [], False
    for outcome in outcomes if isinstance(outcomes, list) else (None,):
        verdict = at(outcome, "passed")
        if verdict is not True and verdict is not False:
            raise Unfit("wrong_type", "outcomes.passed must be true or false in each outcome.")
        passed = passed and verdict
        broken = broken or at(outcome, "grader_error") is True
        scores.append(at(outcome, "score"))
    if broken:
        return None, None, "grader_error"
    if len(scores) == 1:
        return passed, scores[0], reason
    good = all(type(score) is int or type(score) is float for score in scores)
    return passed, sum(scores) / len(scores) if good else None, reason


def _steps(steps: list[Any]) -> tuple[Any, int | None, int | None]:
    """Give the first model of the steps and the sums of their tokens."""
    model = tokens_in = tokens_out = None
    for step in steps:
        if isinstance(step, dict):
            model = model or text(step.get("model"))
            read, written = step.get("tokens_in"), step.get("tokens_out")
            if type(read) is int:
                tokens_in = (tokens_in or 0) + read
            if type(written) is int:
                tokens_out = (tokens_out or 0) + written
    return model, tokens_in, tokens_out
