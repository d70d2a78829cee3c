"""SWE-bench: the reports of evaluated instances, and the summaries of evaluation runs.

``swebench eval`` writes ``logs/run_evaluation/<run_id>/<model>/<instance>/report.json`` for each
instance and ``<model>.<run_id>.json`` for a run. Files of one working directory are read
together; either kind works without the other. The leaderboard's ``<submission>/logs/<instance>/``
is understood too, and OpenHands's ``<run>/eval_outputs/<instance>/`` beside ``report.json`` or
``output.report.json``, which is the summary under another name.

- An instance that is not resolved failed, also where SWE-bench suspects the infrastructure: its
  hint is only kept as the reason.
- An empty patch failed: it has no report. An instance without a report, or with one that can't be
  read, is an error. Errors that SWE-bench ascribes to the environment are excluded and the rest
  fails: most often the patch did not apply. Without a summary, the folders of instances tell which
  of them have no report.
- SWE-bench has no attempts: each evaluation run is one of a model and dataset, in the order of
  ``created_at`` or, where one has none, of their names, ``run-2`` before ``run-10``. Load the
  folder that holds all runs: the place of a run depends on the others.
- The model is as in a path, with ``__`` for ``/``. A summary's name, of which both parts may have
  dots, is taken apart by the folders of the reports or, without them, at the last dot that does not
  stand between digits, as in ``model-4.5``.
- Instances without a prediction (``incomplete_ids``) are no attempts, but expected ones.
"""

from __future__ import annotations

import json
import re
from filecmp import cmp
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.harness import Expected, Record, Unfit
from passk_py.ingest.formats.harnesses.swe_bench_runs import (
    METADATA,
    PATCH,
    REPORT,
    Run,
    directory_of,
    group_of_report,
    has_no_report,
    metadata_in,
    numbered,
    runs_of,
)
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, list_at, text
from passk_py.ingest.formats.kinds import Refusal, listed
from passk_py.ingest.formats.run_names import are_repeats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_INSTANCE_LOG: Final = "run_instance.log"
_ROW: Final = frozenset(("patch_is_None", "patch_exists", "patch_successfully_applied", "resolved"))
# The start of a summary: one of many instances is longer than a sample.
_SUMMARY: Final = frozenset(
    ("total_instances", "submitted_instances", "resolved_instances", "completed_ids")
)
_SHOWN: Final = 5
_PIECE: Final = 1 << 16
_TIME: Final = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")


class SweBench(JsonHarness):
    """SWE-bench's reports and summaries."""

    name = "swe-bench"
    title = "SWE-bench's report.json of instances, or its summary of a run"
    reader_version = 3
    container = "json_object"
    suffixes = (".json",)
    recognised_by = (
        "an instance with patch_is_None, patch_exists, patch_successfully_applied and resolved, or "
        "an object with total_instances, submitted_instances, resolved_instances and completed_ids"
    )
    fields = (
        ("run_id", "the model: its folder, or the summary's name, <model>.<run_id>.json"),
        ("suite", "run.json: dataset; else swe-bench"),
        ("task_id", "the instance's id"),
        ("attempt", "the place of the evaluation run among those of the model and dataset"),
        ("outcome", "resolved, or the list of the summary that has the instance"),
        ("outcome_reason", "failure_reasons, infra_failure_reason, empty_patch or error"),
        ("model", "as run_id"),
        ("tags", "run: SWE-bench's run_id"),
        ("transcript", "the instance's folder, as far as there is one"),
    )
    verdict_rule = "resolved, or the id is in resolved_ids"
    attempt_rule = "the place of the evaluation run by created_at of run.json, else by its name"
    error_rule = (
        "no report: failure_reasons or error decides; SWE-bench itself counts it as not resolved"
    )
    documentation = "https://www.swebench.com/SWE-bench/guides/evaluation/"
    example = (
        '{"django__django-11099": {"patch_is_None": false, "patch_exists": true, '
        '"patch_successfully_applied": true, "resolved": true, "tests_status": {...}}}'
    )
    default_suite = "swe-bench"
    numbered_with_others = True
    reasons = {
        "error": "failed",
        "missing_module": "failed",
        "no_tests_collected": "failed",
        "tests_timed_out": "failed",
        "browser_launch_failed": "excluded",
        "display_unavailable": "excluded",
        "out_of_memory": "excluded",
        "container_unavailable": "excluded",
        "network_unreachable": "excluded",
    }
    rows_at = (EACH,)
    shape = dict.fromkeys(
        (
            *("resolved", "infra_failure_reason"),
            *("resolved_ids", "unresolved_ids", "empty_patch_ids", "error_ids"),
            *("submitted_ids", "incomplete_ids", "failure_reasons"),
        ),
        ANY,
    )

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the summary, or of the only instance."""
        if not sample.can_be(self.container):
            return False
        if set(sample.fields) >= _SUMMARY:
            return True
        return len(sample.fields) == 1 and sample.keys_of_first_row(self.rows_at) >= _ROW

    def group(self, sample: Sample) -> Path | None:
        """Put all runs together that were made in one working directory."""
        is_summary = set(sample.fields) >= _SUMMARY
        return directory_of(sample.path) if is_summary else group_of_report(sample.path)

    def repeated(self, sample: Sample) -> Refusal | None:
        """Pass over an empty report, which SWE-bench counts as none."""
        folder = sample.path.parent
        if sample.size or sample.path.name != REPORT or not (folder / PATCH).is_file():
            return None
        return Refusal(
            "the empty report of an instance of SWE-bench whose evaluation failed",
            "Name the folder that holds all runs.",
        )

    def is_copy(self, path: Path, other: Path) -> bool | None:
        """Tell by the names of the run, or by the log beside a report, which has times in it."""
        if not path.name.startswith(REPORT):
            # The name of a summary is that of its run.
            return path.name == other.name or None
        if path.parts[-4:] == other.parts[-4:]:
            return True
        mine, its = (file.with_name(_INSTANCE_LOG) for file in (path, other))
        # Two runs that resolve an instance often have the same report.
        if not (mine.is_file() and its.is_file() and cmp(mine, its, shallow=False)):
            return False
        with mine.open("rb") as file:
            return _TIME.search(file.read(_PIECE)) is not None

    def companions(self, path: Path) -> tuple[Path, ...]:
        """Find what says of which dataset the runs are, and when they were made."""
        if not path.is_dir():
            single = path.parent.parent.parent / METADATA
            return (single, *metadata_in(directory_of(path)))
        # An instance whose evaluation failed has a patch and no report: that it is there counts.
        patches = sorted(p for p in path.rglob(PATCH) if has_no_report(p.parent))
        return (*metadata_in(path), *sorted(path.glob(f"*/{METADATA}")), *patches)

    def read(self, log: Log) -> Iterator[Record]:
        """Read the summaries, the reports, and what only the summaries or folders tell."""
        runs, summaries = runs_of(log.files)
        numbers, suites = numbered({*runs.values(), *summaries.values()}, log)
        log.heads |= {"numbers": numbers, "suites": suites, "tasks": {}, "lists": {}, "met": set()}
        for path, run in summaries.items():
            log.heads |= {"run": run, "summary": True}
            with log.opened(path) as file:
                yield from self.read_file(file, log, rows_at=())
        for path, run in runs.items():
            log.heads |= {"run": run, "summary": False}
            with log.opened(path) as file:
                yield from self.read_file(file, log)
        yield from _left(log, {path.parent.parent: run for path, run in runs.items()})

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map the report of an instance to an attempt, or take note of a summary."""
        run: Run = log.heads["run"]
        lists = log.heads["lists"]
        if log.heads["summary"]:
            lists.setdefault((run.model, run.name), []).append(row)
            return []
        if not element.names:
            raise Unfit(
                "malformed_line", "The report is a list, but should be an object with the instance."
            )
        task = element.names[0]
        reason = text(row.get("infra_failure_reason"))
        for summary in lists.get((run.model, run.name), ()):
            reason = reason or text(at(summary, "failure_reasons", task))
        resolved = row.get("resolved")
        # SWE-bench takes a report without this key for an error.
        passed = resolved if isinstance(resolved, bool) else None
        if passed:
            reason = None
        elif passed is None:
            reason = reason or "error"
        log.heads["met"].add((run, task))
        return [_attempt(log, run, task, passed, reason, log.current.parent)]

    def warnings(self, log: Log) -> Iterator[str]:
        """Say which evaluation runs are attempts of one run, unless their names do."""
        for (model, _), names in _merged(log).items():
            if len(names) > 1 and not log.run_id and not are_repeats(names):
                yield (
                    f"The evaluation runs {listed(names, _SHOWN)} of {model} are attempts 1 to "
                    f"{len(names)} of one run. If they are not repeats of one treatment, load each "
                    "by itself, with a --run-id of its own."
                )

    def expected(self, log: Log) -> Iterable[Expected]:
        """Expect each task once in each run, also those without a prediction."""
        suites: dict[str, set[str | None]] = {}
        counts: dict[str, int] = {}
        for run, suite in log.heads["suites"].items():
            suites.setdefault(run.model, set()).add(suite)
            counts[run.model] = counts.get(run.model, 0) + 1
        for model, tasks in log.heads["tasks"].items():
            # With several datasets, the dataset of a task is not known.
            if len(suites[model]) == 1:
                yield Expected(counts[model], tuple(tasks), model)


def _merged(log: Log) -> dict[tuple[str, str | None], list[str]]:
    """Give the evaluation runs that are attempts of one run, in their order."""
    found: dict[tuple[str, str | None], list[str]] = {}
    numbers: dict[tuple[str, str], int] = log.heads["numbers"]
    suites: dict[Run, str | None] = log.heads["suites"]
    by_number = sorted(suites, key=lambda run: numbers[run.model, run.name])
    for run in by_number:
        found.setdefault((run.model, suites[run]), []).append(run.name)
    return {key: list(dict.fromkeys(names)) for key, names in found.items()}


def _attempt(
    log: Log,
    run: Run,
    task: str,
    passed: bool | None,
    reason: str | None,
    folder: Path | None = None,
) -> dict[str, Any]:
    log.heads["tasks"].setdefault(run.model, {})[task] = None
    return {
        "run_id": run.model,
        "suite": log.heads["suites"][run],
        "task_id": task,
        "attempt": log.heads["numbers"][run.model, run.name],
        "passed": passed,
        "outcome_reason": reason,
        "model": run.model,
        "tags": {"run": run.name} if run.name else None,
        "transcript": None if folder is None else str(folder),
    }


def _left(log: Log, folders: Mapping[Path, Run]) -> Iterator[Record]:
    """Give the attempts that have no report, from the summaries and the folders of models."""
    by_name = {(run.model, run.name): run for run in log.heads["suites"]}
    for key, summaries in log.heads["lists"].items():
        run = by_name[key]
        for summary in summaries:
            for task, passed, reason in _listed(summary):
                if (run, task) not in log.heads["met"]:
                    log.heads["met"].add((run, task))
                    raw = json.dumps({"instance_id": task, "resolved": passed, "reason": reason})
                    folder = run.folder / run.model / task if run.folder else None
                    folder = folder if folder and folder.is_dir() else None
                    yield Record(_attempt(log, run, task, passed, reason, folder), raw)
            for name in ("submitted_ids", "incomplete_ids"):
                for task in _texts(summary, name):
                    log.heads["tasks"].setdefault(run.model, {})[task] = None
    if not log.path.is_dir():
        return
    for folder, run in folders.items():
        if (run.model, run.name) in log.heads["lists"]:
            continue
        for inner in sorted(folder.iterdir()):
            if (run, inner.name) not in log.heads["met"] and has_no_report(inner):
                values = _attempt(log, run, inner.name, None, "error", inner)
                yield Record(values, str(inner.name))


def _listed(summary: dict[str, Any]) -> Iterator[tuple[str, bool | None, str | None]]:
    """Give what a summary says of the instances that had a prediction."""
    why = summary.get("failure_reasons")
    yield from ((task, True, None) for task in _texts(summary, "resolved_ids"))
    yield from ((task, False, text(at(why, task))) for task in _texts(summary, "unresolved_ids"))
    yield from ((task, False, "empty_patch") for task in _texts(summary, "empty_patch_ids"))
    for task in _texts(summary, "error_ids"):
        yield task, None, text(at(why, task)) or "error"


def _texts(summary: dict[str, Any], name: str) -> list[str]:
    return [task for task in list_at(summary, name) if isinstance(task, str)]
