"""EvalPlus: the ``eval_results.json`` that ``evalplus.evaluate`` writes.

The samples themselves, in a file of their own, have no verdict and are not read. Up to EvalPlus
0.2.0 a task had two lists, ``base`` and ``plus``, of ``[status, details]``.

- The verdict is EvalPlus's score with the extra tests; ``plus_status`` is null if those were not
  run (``--base-only``). Both statuses are tags, so that the score of the base tests can be had too.
- Up to 0.2.0 the statuses were ``success`` and ``timed out``, and the tags have the later words for
  them. The kind of an exception is not recorded, so one of the environment looks like any other.
- ``date`` is when the samples were tested, not made, so ``started_at`` is null.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.containers.shape import ANY, decoder
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Unfit
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, text
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_PASS: Final = "pass"  # noqa: S105 - a status
_TIMEOUT: Final = "timeout"
# The words of EvalPlus 0.2.0 and before.
_FORMER: Final = {"success": _PASS, "failed": "fail", "timed out": _TIMEOUT}
_FORMERLY_AT: Final = ("eval", EACH)
_FIRST: Final = decoder({"nfiles": ANY, "base": ANY})
_NAME: Final = re.compile(r"(.+)_([a-z0-9]+)_temp_([0-9.]+)(?:[-_]sanitized)?")
_SUITES: Final = {"HumanEval": "humaneval", "Mbpp": "mbpp"}


class EvalPlus(JsonHarness):
    """EvalPlus's results of a model."""

    name = "evalplus"
    title = "EvalPlus's eval_results.json"
    reader_version = 3
    container = "json_object"
    suffixes = (".json",)
    recognised_by = (
        "an object whose eval has lists of objects with solution and base_status, or objects with "
        "nfiles, base and plus"
    )
    fields = (
        (
            "run_id",
            "the file's name without eval_results; its folder's, if that is samples or similar",
        ),
        ("suite", "humaneval+ or mbpp+; without the extra tests humaneval or mbpp; else evalplus"),
        ("task_id", "the key in eval"),
        ("attempt", "the place in the task's list, from 1"),
        ("outcome", "base_status, plus_status"),
        ("outcome_reason", "timeout, where a status is that"),
        ("model", "the file's name: <model>_<backend>_temp_<temperature>"),
        ("output_hash", "SHA-256 of solution"),
        ("tags", "base_status, plus_status; backend and temperature of the file's name"),
    )
    verdict_rule = "base_status and plus_status are pass; base_status alone, if plus_status is null"
    attempt_rule = "the place in the task's list"
    error_rule = "none: every status but pass is a failure, as EvalPlus counts it"
    documentation = "https://github.com/evalplus/evalplus/blob/master/docs/cli.md"
    example = (
        '{"date": "2026-01-31 12:00", "hash": "...", "eval": {"HumanEval/0": [{"task_id": '
        '"HumanEval/0", "solution": "...", "base_status": "pass", "plus_status": "fail"}]}}'
    )
    default_suite = "evalplus"
    labels = {"output_hash": "solution"}
    rows_at = ("eval", EACH, EACH)
    shape = dict.fromkeys(("solution", "base_status", "plus_status", "nfiles", "base", "plus"), ANY)

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first sample."""
        return sample.can_be(self.container) and (
            {"solution", "base_status"} <= sample.keys_of_first_row(self.rows_at)
            or _is_former(sample.keys_of_first_row(_FORMERLY_AT))
        )

    def read(self, log: Log) -> Iterator[Record]:
        """Look which of the two forms a file has, then read it."""
        for path in log.files:
            with open_log(path) as file:
                first = next(JsonWalk(file, _FORMERLY_AT, _FIRST).rows(), None)
            former = first is not None and isinstance(first.value, dict) and _is_former(first.value)
            with log.opened(path) as file:
                yield from self.read_file(file, log, _FORMERLY_AT if former else None)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a sample to an attempt, or a task of the former kind to its attempts."""
        if _is_former(row):
            yield from _former(row, element)
            return
        if len(element.names) != len(("eval", "task")):
            # A list instead of the object of tasks.
            raise Unfit("missing_field", "The sample stands under no task in eval.")
        base, plus = _status(row, "base_status"), _status(row, "plus_status")
        yield {
            **_graded(element.names[-1], base, plus),
            "attempt": element.place + 1,
            "output_hash": digest_of(row.get("solution")),
        }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what the name says."""
        named = _NAME.fullmatch(self.default_run_id(log.path) or "")
        if not named:
            return {}
        tags = {"backend": named[2], "temperature": named[3]}
        return {"model": named[1].replace("--", "/"), "tags": tags}

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after the file without its ending, or after the folder."""
        return run_named_after(path, (*self.suffixes, "eval_results"))


def _is_former(keys: Collection[str]) -> bool:
    return "nfiles" in keys and "base" in keys


def _former(row: dict[str, Any], element: Element) -> Iterator[dict[str, Any]]:
    """Give the attempts of a task whose statuses are in lists."""
    base, plus = row.get("base"), row.get("plus") or []
    if not isinstance(base, list) or not isinstance(plus, list) or not element.names:
        raise Unfit("wrong_type", "base and plus are no lists of statuses.")
    if len(plus) not in (0, len(base)):
        raise Unfit("out_of_range", f"base has {len(base)} statuses, but plus has {len(plus)}.")
    for place, one in enumerate(base):
        statuses = {"base_status": at(one, 0), "plus_status": at(plus, place, 0)}
        graded = [_status(statuses, name) for name in statuses]
        now = [_FORMER.get(status, status) if status else None for status in graded]
        yield {**_graded(element.names[-1], *now), "attempt": place + 1}


def _graded(task: str, base: str | None, plus: str | None) -> dict[str, Any]:
    """Give the verdict of the statuses, and the suite that they are of."""
    suite = _SUITES.get(task.partition("/")[0])
    tags = {"base_status": base}
    if plus is not None:
        tags["plus_status"] = plus
        suite = suite and f"{suite}+"
    return {
        "suite": suite,
        "task_id": task,
        "passed": None if base is None else base == _PASS and plus in (None, _PASS),
        "outcome_reason": _TIMEOUT if _TIMEOUT in (base, plus) else None,
        "tags": tags,
    }


def _status(row: dict[str, Any], name: str) -> str | None:
    status = row.get(name)
    if status is not None and text(status) is None:
        raise Unfit("wrong_type", f"{name} is no text.")
    return text(status)
