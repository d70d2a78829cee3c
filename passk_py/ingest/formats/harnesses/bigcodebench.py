"""BigCodeBench: the ``eval_results.json`` that ``bigcodebench.evaluate`` writes.

``..._pass_at_k.json`` beside it says which part of the benchmark it is and has its figures. The
samples themselves, in a file of their own, have no verdict and are not read.

- A fault of the environment looks like any other failure. Where no right solution passed,
  none was tried, and no task is ``gt_failed``.
- The file's name is
  ``<model>--bigcodebench[-hard]-<split>--<backend>-<temperature>-<n>-...``, with n samples of each
  task; before 0.2 the hard subset was ``_hard`` at its end. The model may end in ``--`` and its
  revision. A value that only another name could say is null.
- ``date`` is when the samples were tested, not made, so ``started_at`` is null.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Expected, Unfit
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, flag, list_at, number, text
from passk_py.ingest.formats.kinds import Refusal
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_ROW: Final = frozenset(("solution", "status"))
_PASS: Final = "pass"  # noqa: S105 - a status
_TIMEOUT: Final = "timeout"
_ENDING: Final = "eval_results"
_FIGURES: Final = "pass_at_k.json"
_NAME: Final = re.compile(
    r"(?P<model>.+?)--bigcodebench(?P<hard>-hard)?-(?P<split>complete|instruct)"
    r"--(?P<backend>[a-z0-9_]+)-(?P<temperature>[0-9.]+)-(?P<samples>[0-9]{1,9})(?:-.*?)?"
    # The subset, as the versions before 0.2 added it.
    r"(?P<subset>_hard)?"
)


class BigCodeBench(JsonHarness):
    """BigCodeBench's results of a model."""

    name = "bigcodebench"
    title = "BigCodeBench's eval_results.json"
    reader_version = 3
    container = "json_object"
    suffixes = (".json",)
    recognised_by = "an object whose eval has lists of objects with solution and status"
    fields = (
        (
            "run_id",
            "the file's name without eval_results; its folder's, if that is samples or similar",
        ),
        ("suite", "bigcodebench[-hard]-<split>, by _pass_at_k.json or the file's name"),
        ("task_id", "the key in eval"),
        ("attempt", "the place in the task's list, from 1"),
        ("outcome", "status"),
        ("outcome_reason", "timeout, where status is that"),
        ("model", "_pass_at_k.json: model; else the start of the file's name"),
        ("output_hash", "SHA-256 of solution"),
        ("tags", "gt_failed, calibrated; backend and temperature of the file's name"),
    )
    verdict_rule = "status is pass"
    attempt_rule = "the place in the task's list"
    error_rule = (
        "none: every status but pass is a failure, as BigCodeBench counts it; gt_failed marks "
        "tasks whose right solution failed too"
    )
    documentation = "https://github.com/bigcode-project/bigcodebench"
    example = (
        '{"date": "2026-01-31 12:00", "eval": {"BigCodeBench/0": [{"task_id": "BigCodeBench/0", '
        '"solution": "...", "status": "pass", "details": {}}]}}'
    )
    default_suite = "bigcodebench"
    labels = {"output_hash": "solution"}
    rows_at = ("eval", EACH, EACH)
    shape = {"solution": ANY, "status": ANY}

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first sample."""
        return sample.can_be(self.container) and sample.keys_of_first_row(self.rows_at) >= _ROW

    def repeated(self, sample: Sample) -> Refusal | None:
        """Pass over the figures, if the samples are not there."""
        if not {"gt_pass_rate", "failed_tasks"} <= set(sample.fields):
            return None
        return Refusal(
            "BigCodeBench's figures of a model, without the samples",
            "Load the file of the same name that ends in eval_results.json.",
        )

    def companions(self, path: Path) -> tuple[Path, ...]:
        """Find the figures, which say what was evaluated."""
        start, ending, rest = path.name.rpartition(f"{_ENDING}.json")
        return (path.with_name(start + _FIGURES),) if ending and rest in ("", ".gz", ".zst") else ()

    def read(self, log: Log) -> Iterator[Record]:
        """Look at the figures, then read the samples."""
        beside = [log.beside(path) for path in self.companions(log.path)]
        figures = beside[0] if beside else None
        rate = number(at(figures, "gt_pass_rate"))
        known = list_at(figures, "failed_tasks") if rate else []
        log.heads["figures"] = figures
        log.heads["failed"] = frozenset(task for task in known if isinstance(task, str))
        yield from super().read(log)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a sample to an attempt."""
        if len(element.names) != len(("eval", "task")):
            # A list instead of the object of tasks.
            raise Unfit("missing_field", "The sample stands under no task in eval.")
        status = row.get("status")
        if status is not None and text(status) is None:
            raise Unfit("wrong_type", "status is no text.")
        task = element.names[-1]
        yield {
            "task_id": task,
            "attempt": element.place + 1,
            "passed": None if status is None else status == _PASS,
            "outcome_reason": _TIMEOUT if status == _TIMEOUT else None,
            "output_hash": digest_of(row.get("solution")),
            "tags": {"gt_failed": True} if task in log.heads["failed"] else None,
        }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what the figures and the name say."""
        figures, named = log.heads["figures"], self._named(log)
        subset, split = text(at(figures, "subset")), text(at(figures, "split"))
        if split is None and named:
            split, subset = named["split"], "hard" if named["hard"] or named["subset"] else "full"
        hard = "-hard" if subset == "hard" else ""
        tags: dict[str, Any] = dict.fromkeys(("backend", "temperature"))
        if named:
            tags = {name: named[name] for name in tags}
        calibrated = flag(at(figures, "calibrated"))
        tags["calibrated"] = None if calibrated is None else str(calibrated).lower()
        return {
            "suite": split and f"bigcodebench{hard}-{split}",
            "model": text(at(figures, "model")) or (named["model"] if named else None),
            "tags": tags,
        }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of samples from the name."""
        named = self._named(log)
        return [Expected(int(named["samples"]))] if named else []

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after the file without its ending, or after the folder."""
        return run_named_after(path, (*self.suffixes, _ENDING))

    def _named(self, log: Log) -> re.Match[str] | None:
        return _NAME.fullmatch(self.default_run_id(log.path) or "")
