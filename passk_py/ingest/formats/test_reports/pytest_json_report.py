"""pytest-json-report: the ``.report.json`` of ``pytest --json-report``.

A test is an attempt, and repeats by pytest-repeat, whose names end in ``[3-4]``, are attempts of
one test if the file has all of them: parameters that are numbers look the same. The verdicts are
those of pytest's JUnit report:

- A test that was meant to fail (``xfailed``) has no verdict, one that passed nevertheless has.
- An ``error`` of the set-up has no verdict; one of the tear-down alone keeps that of the test.
- ``rerun``, by pytest-rerunfailures, has only the last try, whose ``call`` has the verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.containers.shape import ANY, decoder
from passk_py.ingest.formats.harness import Expected, Unfit, expected_of_each
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, first_line, number, short_line, text
from passk_py.ingest.formats.run_names import pytest_repeat, pytest_repeats, said_of_unrepeated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Shape
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_VERDICTS: Final = {"passed": True, "xpassed": True, "failed": False}
_OTHERS: Final = ("skipped", "xfailed")
# The test itself says how it ended.
_OF_THE_CALL: Final = ("error", "rerun")
_STAGES: Final = ("setup", "call", "teardown")
_STAGE: Final[Mapping[str, Shape]] = {
    "duration": ANY,
    "outcome": ANY,
    "crash": {"message": ANY},
}


class PytestJsonReport(JsonHarness):
    """A report of pytest-json-report."""

    name = "pytest-json-report"
    title = "pytest-json-report's .report.json"
    reader_version = 1
    container = "json_object"
    suffixes = (".json",)
    recognised_by = "an object with exitcode, summary and tests that have nodeid and outcome"
    fields = (
        ("run_id", "the file's name, or its folder's"),
        ("suite", "pytest, unless --suite is given"),
        ("task_id", "nodeid; without a repeat, if all repeats are there"),
        ("attempt", "the place among the repeats of the test"),
        ("outcome", "outcome; of error and rerun, call.outcome"),
        (
            "outcome_reason",
            "setup.crash.message of an error; timeout, by call.crash.message; skipped, xfailed",
        ),
        ("duration_s", "the sum of duration of setup, call and teardown"),
        ("tags", "reruns"),
        ("transcript", "the test: the file, and # with its JSON pointer"),
    )
    verdict_rule = "outcome is passed, xpassed or failed"
    attempt_rule = "repeats of a test by pytest-repeat, as they stand"
    error_rule = (
        "an error of the set-up has no verdict, and its message decides; one of the tear-down "
        "keeps the test's verdict; skipped and xfailed tests are excluded"
    )
    documentation = "https://pypi.org/project/pytest-json-report/"
    example = (
        '{"exitcode": 0, "summary": {"passed": 1}, "tests": [{"nodeid": "test_a.py::test_add", '
        '"outcome": "passed", "call": {"duration": 0.5, "outcome": "passed"}}]}'
    )
    default_suite = "pytest"
    numbers_attempts = True
    labels: ClassVar[dict[str, str]] = {"task_id": "nodeid", "passed": "outcome"}
    reasons: ClassVar[dict[str, Any]] = dict.fromkeys((*_OTHERS, "error"), "excluded")
    rows_at = ("tests", EACH)
    shape: ClassVar[Shape] = {"nodeid": ANY, "outcome": ANY, **dict.fromkeys(_STAGES, _STAGE)}

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the report and of its first test."""
        known = {"exitcode", "summary", "tests"} <= set(sample.fields)
        keys = sample.keys_of_first_row(self.rows_at) if known else frozenset[str]()
        return sample.can_be(self.container) and {"nodeid", "outcome"} <= keys

    def read(self, log: Log) -> Iterator[Record]:
        """Find out which tests were repeated, then read the tests."""
        for path in log.files:
            log.heads["repeats"], log.heads["others"] = pytest_repeats(_names(path))
            with log.opened(path) as file:
                yield from self.read_file(file, log)

    def attempts(
        self, row: dict[str, Any], element: Element, log: Log
    ) -> Iterable[dict[str, Any] | Unfit | Record]:
        """Map a test to an attempt."""
        name, outcome = text(row.get("nodeid")), row.get("outcome")
        repeat = pytest_repeat(name) if name else None
        if repeat and repeat[0] in log.heads["repeats"]:
            name = repeat[0]
        if outcome is None:
            raise Unfit("missing_field", "outcome is missing.")
        ended = at(row, "call", "outcome") if outcome in _OF_THE_CALL else outcome
        if ended is not None and ended not in (*_VERDICTS, *_OTHERS):
            raise Unfit("unknown_outcome", f"outcome is {str(ended)[:60]!r}, which pytest lacks.")
        passed = None if ended is None else _VERDICTS.get(ended)
        reason = None if passed else ended
        if ended is None:
            reason = short_line(at(row, "setup", "crash", "message")) or "error"
        elif passed is False:
            said = first_line(at(row, "call", "crash", "message")).lower()
            reason = "timeout" if "timeout" in said else None
        seconds = [number(at(row, stage, "duration")) for stage in _STAGES]
        told = [one for one in seconds if one is not None]
        yield {
            "task_id": name,
            "attempt": 1,
            "passed": passed,
            "outcome_reason": reason,
            "duration_s": sum(told) if told else None,
            "tags": {"reruns": "yes"} if outcome == "rerun" else {},
            "transcript": self.place_of(element, log),
        }

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which names only look like those of repeats."""
        return said_of_unrepeated(log.heads["others"])

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of repeats from the names."""
        return expected_of_each(log.heads["repeats"])


def _names(path: Path) -> Iterator[str]:
    """Give the names of the tests."""
    with open_log(path) as file:
        for element in JsonWalk(file, PytestJsonReport.rows_at, decoder({"nodeid": ANY})).rows():
            if name := text(at(element.value, "nodeid")):
                yield name
