"""Terminal-Bench: the ``results.json`` that ``tb run`` writes into the folder of a run.

``run_metadata.json`` beside it names the agent, the model and how many attempts were to be made.
The ``results.json`` in a trial's own folder is not read, because the run's holds all of them.

- ``is_resolved`` false is a failure, whatever ``failure_mode`` says, and a trial that timed out and
  was resolved all the same is a pass.
- Runs of one attempt each (``.1-of-1``) that are in one folder are attempts of one run, in the
  order of ``start_time`` or, where one has none or was resumed, of their names, ``run2`` before
  ``run10``. A task is counted in the runs that were to try it: those whose ``task_ids`` have it or
  that say nothing of them. Such a run has the dataset in its name if there are several.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY, Json
from passk_py.ingest.formats.harness import Expected, expected_of_each
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, list_at, seconds_between, text
from passk_py.ingest.formats.kinds import Refusal, listed
from passk_py.ingest.formats.run_names import are_repeats, natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_NAME: Final = re.compile(r"\.(\d+)-of-(\d+)(?:\.|$)")
_ONLY_ONE: Final = re.compile(rb'"trial_name"\s*:\s*"[^"]*\.1-of-1(?:\.[^"]*)?"')
_ROW: Final = frozenset(("trial_name", "task_id", "is_resolved"))
_METADATA: Final = "run_metadata.json"
_SHOWN: Final = 5


@dataclass(slots=True)
class _Runs:
    """Runs of one attempt each that are attempts of one run, as far as they are read."""

    open: int = 0
    """How many of them don't say which tasks they were to try."""
    planned: Counter[str] = field(default_factory=Counter)
    """How many of the others were to try a task."""


class TerminalBench(JsonHarness):
    """Terminal-Bench's results of a run."""

    name = "terminal-bench"
    title = "Terminal-Bench's results.json of a run"
    reader_version = 3
    container = "json_object"
    suffixes = (".json",)
    recognised_by = "an object whose results have trial_name, task_id and is_resolved"
    fields = (
        ("run_id", "the run's folder; of runs of one attempt each, their folder, agent and model"),
        ("suite", "run_metadata.json: dataset_name; else terminal-bench"),
        ("task_id", "task_id"),
        ("attempt", "trial_name: <task>.<attempt>-of-<n>"),
        ("outcome", "is_resolved, failure_mode"),
        ("outcome_reason", "failure_mode, unless it is unset or none"),
        ("agent", "run_metadata.json: agent_name"),
        ("model", "run_metadata.json: model_name"),
        ("started_at", "trial_started_at"),
        ("duration_s", "trial_ended_at - trial_started_at"),
        ("input_tokens", "total_input_tokens"),
        ("output_tokens", "total_output_tokens"),
        ("transcript", "the folder of the trial beside the file: <task>/<trial_name>"),
    )
    verdict_rule = "is_resolved"
    attempt_rule = (
        "the number in trial_name; of runs of one attempt each, the place of the run among those "
        "that were to try the task, by start_time of run_metadata.json, else by its name"
    )
    error_rule = (
        "is_resolved null: failure_mode decides; Terminal-Bench itself counts it as not resolved"
    )
    documentation = "https://www.tbench.ai/docs"
    example = (
        '{"id": "...", "results": [{"trial_name": "hello-world.1-of-3.2026-01-31__12-00-00", '
        '"task_id": "hello-world", "is_resolved": true, "failure_mode": "unset"}]}'
    )
    default_suite = "terminal-bench"
    reasons = {
        "agent_timeout": "failed",
        "test_timeout": "failed",
        "context_length_exceeded": "failed",
        "output_length_exceeded": "failed",
        "fatal_llm_parse_error": "failed",
        "parse_error": "excluded",
        "agent_installation_failed": "excluded",
        "unknown_agent_error": "excluded",
    }
    rows_at = ("results", EACH)
    shape = dict.fromkeys(
        (
            *("trial_name", "task_id", "is_resolved", "failure_mode"),
            *("total_input_tokens", "total_output_tokens", "trial_started_at", "trial_ended_at"),
        ),
        ANY,
    )

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first trial."""
        return sample.can_be(self.container) and sample.keys_of_first_row(self.rows_at) >= _ROW

    def group(self, sample: Sample) -> Path | None:
        """Put runs of one attempt each together that lie side by side."""
        return sample.path.parent.parent if _ONLY_ONE.search(sample.start) else None

    def repeated(self, sample: Sample) -> Refusal | None:
        """Pass over the file of a single trial."""
        if not set(sample.fields) >= _ROW:
            return None
        return Refusal(
            "one trial of Terminal-Bench, which the results.json of its run holds too",
            "Name the folder of the run.",
        )

    def companions(self, path: Path) -> tuple[Path, ...]:
        """Find the metadata of the run, or of the runs in a folder."""
        if path.is_dir():
            return tuple(sorted(path.glob(f"*/{_METADATA}")))
        return (path.parent / _METADATA,)

    def read(self, log: Log) -> Iterator[Record]:
        """Read one run, or the runs of one attempt each."""
        several = log.path.is_dir()
        files = [(path, log.beside(path.parent / _METADATA)) for path in log.files]
        if several:
            files = _in_order(files)
        datasets = {text(at(metadata, "dataset_name")) for _, metadata in files}
        said = ("agent_name", "model_name", *(("dataset_name",) if len(datasets) > 1 else ()))
        runs: dict[str, _Runs] = {}
        log.heads |= {"runs": runs, "place": None, "names": {}}
        for path, metadata in files:
            log.heads |= {"metadata": metadata, "met": set()}
            if several:
                names = [text(at(metadata, name)) for name in said]
                run = ".".join([log.path.name, *(name for name in names if name)])
                log.heads["place"] = (run, _counted(runs.setdefault(run, _Runs()), metadata))
                log.heads["names"].setdefault(run, []).append(path.parent.name)
            with log.opened(path) as file:
                yield from self.read_file(file, log)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a trial to an attempt."""
        name = _NAME.search(str(row.get("trial_name")))
        mode = text(row.get("failure_mode"))
        task, trial = text(row.get("task_id")), text(row.get("trial_name"))
        attempt = {
            "task_id": row.get("task_id"),
            "attempt": int(name[1]) if name else None,
            "passed": row.get("is_resolved"),
            "outcome_reason": None if mode in ("unset", "none") else mode,
            "started_at": row.get("trial_started_at"),
            "duration_s": seconds_between(row.get("trial_started_at"), row.get("trial_ended_at")),
            "input_tokens": row.get("total_input_tokens"),
            "output_tokens": row.get("total_output_tokens"),
            "transcript": f"{log.current.parent}/{task}/{trial}" if task and trial else None,
        }
        if place := log.heads["place"]:
            run, tasks = place
            number = _place_of(row.get("task_id"), log.heads["runs"][run], tasks, log.heads["met"])
            attempt |= {"run_id": run, "attempt": number, **_described(log)}
        yield attempt

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the agent and the model of a run of its own."""
        if log.heads["place"]:
            return {}
        folder = log.path.parent.name
        run = text(at(log.heads["metadata"], "run_id"))
        return {"run_id": run or folder, **_described(log)}

    def warnings(self, log: Log) -> Iterator[str]:
        """Say which runs of one attempt each are one run, unless their names do."""
        for run, names in log.heads["names"].items():
            if len(names) > 1 and not log.run_id and not are_repeats(names):
                yield (
                    f"The runs {listed(names, _SHOWN)} of one attempt each are attempts 1 to "
                    f"{len(names)} of the run {run}. If they are not repeats of one treatment, "
                    "load each by itself, with a --run-id of its own."
                )

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of attempts and the tasks from the metadata."""
        if log.heads["place"]:
            for run, runs in log.heads["runs"].items():
                # Tasks that no run names were to be tried in those that name none.
                yield Expected(runs.open, (), run)
                counts = {task: runs.open + planned for task, planned in runs.planned.items()}
                yield from expected_of_each(counts, run)
            return
        attempts = at(log.heads["metadata"], "n_attempts")
        if isinstance(attempts, int):
            yield Expected(attempts, _tasks_of(log.heads["metadata"]))


def _in_order(files: list[tuple[Path, Any]]) -> list[tuple[Path, Any]]:
    """Sort runs by when they started or, if one of them does not tell, by their names."""
    times = {
        path: text(at(metadata, "start_time"))
        # A run that is resumed overwrites when it started.
        if at(metadata, "resumed_at") is None
        else None
        for path, metadata in files
    }
    dated = all(times.values())
    return sorted(
        files,
        key=lambda file: (times[file[0]] or "" if dated else "", natural(file[0].parent.name)),
    )


def _tasks_of(metadata: Json) -> tuple[str, ...]:
    return tuple(task for task in list_at(metadata, "task_ids") if isinstance(task, str))


def _counted(runs: _Runs, metadata: Json) -> frozenset[str]:
    """Count a run in, and give the tasks that it was to try; none if it does not say them."""
    tasks = frozenset(_tasks_of(metadata))
    runs.planned.update(tasks)
    runs.open += not tasks
    return tasks


def _place_of(task: Json, runs: _Runs, planned: frozenset[str], met: set[str]) -> int:
    """Give the place of a run among those that were to try a task."""
    if not isinstance(task, str):
        return runs.open + 1
    if planned and task not in planned and task not in met:
        met.add(task)
        runs.planned[task] += 1
    return runs.open + runs.planned[task]


def _described(log: Log) -> dict[str, Any]:
    metadata = log.heads["metadata"]
    return {
        "suite": text(at(metadata, "dataset_name")),
        "agent": text(at(metadata, "agent_name")),
        "model": text(at(metadata, "model_name")),
    }
