"""LiveCodeBench: the ``<scenario>_<n>_<temperature>_eval_all.json`` of ``--evaluate``.

The file is a list with an element for each problem, whose ``graded_list`` has a verdict for each
sample. The generations (without ``_eval_all``) have no verdicts and are not read.

- A sample that fails has an ``error_code`` in ``metadata``, a text of JSON for each sample, which
  gives the reason; older files have none, nor do the scenarios other than code.
- ``TestRunnerError`` (-5) is an exception of the test runner, but also what a solution leaves that
  ran into the global limit or ended the process. LiveCodeBench counts it as a failure, and so it
  lands, with the reason ``test_runner_error``.
- The file names neither the model nor the run: the folder and the file's name do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY, decoded_or_none, decoder
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Expected, Unfit
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, flag, list_at, small_tags, text
from passk_py.ingest.formats.kinds import Refusal
from passk_py.ingest.formats.run_names import run_named_after, without_endings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_ENDINGS: Final = (".json", "_eval_all")
_NAME: Final = re.compile(r"(?:Scenario\.)?([a-z]+)_([0-9]{1,9})_([0-9.]+)")
_REASONS: Final = {
    -1: "compilation_error",
    -2: "wrong_answer",
    -3: "timeout",
    -4: "runtime_error",
    -5: "test_runner_error",
}
_METADATA: Final = decoder({"error_code": ANY})
_EVALUATE: Final = (
    "Run LiveCodeBench with --evaluate, and load the file that ends in _eval_all.json."
)
_TAGS: Final = ("difficulty", "platform", "contest_id", "contest_date")
# The keys before a long list of outputs, in the order of the file.
_START: Final = frozenset(("question_id", "contest_id", "contest_date", "output_list"))


class LiveCodeBench(JsonHarness):
    """LiveCodeBench's graded samples."""

    name = "livecodebench"
    title = "LiveCodeBench's _eval_all.json"
    reader_version = 1
    container = "json_list"
    suffixes = (".json",)
    recognised_by = "a list of objects with question_id and graded_list"
    fields = (
        ("run_id", "the folder and the file's name without _eval_all.json"),
        ("suite", "livecodebench/ and the scenario, by the fields of the problem"),
        ("task_id", "question_id; id of code execution; with / and test_id of test outputs"),
        ("attempt", "the place in graded_list, from 1"),
        ("outcome", "graded_list"),
        ("outcome_reason", "error_code in the sample's metadata, in words"),
        ("model", "the folder, if the file's name is <scenario>_<n>_<temperature>"),
        ("output_hash", "SHA-256 of the sample in code_list, or in pred_list"),
        ("tags", "difficulty, platform, contest_id, contest_date; temperature of the file's name"),
        ("transcript", "the problem: the file, and # with its JSON pointer"),
    )
    verdict_rule = "graded_list"
    attempt_rule = "the place in graded_list"
    error_rule = "none: every sample that is not true is a failure, as LiveCodeBench counts it"
    documentation = "https://github.com/LiveCodeBench/LiveCodeBench"
    example = (
        '[{"question_id": "abc301_a", "contest_id": "abc301", "contest_date": '
        '"2023-05-13T00:00:00", "difficulty": "easy", "code_list": ["...", "..."], "graded_list": '
        '[true, false], "pass@1": 0.5, "metadata": ["{}", "{\\"error_code\\": -2}"]}]'
    )
    default_suite = "livecodebench"
    differs_by_run = False
    labels: ClassVar[dict[str, str]] = {"task_id": "question_id", "passed": "graded_list"}
    rows_at = (EACH,)
    shape: ClassVar[dict[str, Any]] = dict.fromkeys(
        (
            *("question_id", "id", "test_id", "code_list", "pred_list", "graded_list"),
            *("metadata", "original_code_list", *_TAGS),
        ),
        ANY,
    )

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first problem, or from those before its samples."""
        if sample.container != self.container:
            return False
        keys = sample.keys_of_first_row((EACH,))
        if {"question_id", "graded_list"} <= keys:
            return True
        return not sample.complete and keys >= _START

    def repeated(self, sample: Sample) -> Refusal | None:
        """Say what the generations are without the verdicts."""
        if not {"question_id", "contest_id", "output_list"} <= sample.keys_of_first_row((EACH,)):
            return None
        return Refusal("LiveCodeBench's generations, which have no verdicts", _EVALUATE)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a problem to the attempts that its samples are."""
        graded = row.get("graded_list")
        if not isinstance(graded, list):
            raise Unfit(
                "no_verdict",
                f"The problem has no graded_list: it was not evaluated. {_EVALUATE}",
            )
        scenario, task = _task(row)
        made = list_at(row, "code_list") or list_at(row, "pred_list")
        metadata = list_at(row, "metadata")
        shared: dict[str, Any] = {
            "suite": f"livecodebench/{scenario}",
            "task_id": task,
            "tags": small_tags({name: row.get(name) for name in _TAGS}),
            "transcript": f"{log.current}#/{element.place}",
        }
        aligned = len(made) == len(graded)
        for place, verdict in enumerate(graded):
            passed = flag(verdict)
            yield {
                **shared,
                "attempt": place + 1,
                "passed": passed,
                "outcome_reason": None if passed else _reason(at(metadata, place)),
                "output_hash": digest_of(made[place]) if aligned else None,
            }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what the name says."""
        named = _named(log.path)
        if not named:
            return {}
        return {"model": log.path.parent.name or None, "tags": {"temperature": named[3]}}

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of samples from the name."""
        named = _named(log.path)
        return [Expected(int(named[2]))] if named and int(named[2]) else []

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after its folder, which is the model, and the file."""
        name = without_endings(path.name, _ENDINGS)
        if _named(path) and path.parent.name:
            return f"{path.parent.name}_{name}"
        return run_named_after(path, _ENDINGS)


def _named(path: Path) -> re.Match[str] | None:
    return _NAME.fullmatch(without_endings(path.name, _ENDINGS) or "")


def _task(row: dict[str, Any]) -> tuple[str, str | None]:
    """Tell the scenario of a problem, and its name within it."""
    question, test = text(row.get("question_id")), text(row.get("test_id"))
    if "pred_list" not in row:
        return "selfrepair" if "original_code_list" in row else "codegeneration", question
    if test is not None:
        return "testoutputprediction", f"{question}/{test}" if question else None
    return "codeexecution", text(row.get("id")) or question


def _reason(metadata: Json) -> str | None:
    """Give the reason of a failure, from a text of JSON or an object."""
    if isinstance(metadata, str):
        metadata = decoded_or_none(_METADATA, metadata.encode("utf-8", "surrogatepass"))
    code = at(metadata, "error_code")
    return _REASONS.get(code) if type(code) is int else None
