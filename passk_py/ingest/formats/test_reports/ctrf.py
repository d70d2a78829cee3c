"""CTRF, the Common Test Report Format: reporters of Playwright, jest, pytest, Cypress and others.

A test is a task, and each time that it was run is an attempt: tests of one name and suite, the
``retryAttempts`` before the last try, and repeats by pytest-repeat, whose names end in ``[3-4]``,
if the file has all of them: parameters that are numbers look the same.

- The status is the reporter's own word. A test that was meant to fail, and did, is ``passed``.
- A test with ``retries`` but without ``retryAttempts`` is one attempt: only the last try is told.
- Tries after a failure stop at the first pass, so that every estimate is biased: the tag ``reruns``
  says how many there were.
- ``suite`` is a list, or a text of names; without it, ``filePath`` tells tests of one name apart.
  pytest's names are whole.
- ``start`` is in milliseconds; some reporters write seconds. If a reporter does not say when the
  tries before the last one began, the order of the tests numbers the attempts, without times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.containers.shape import ANY, decoder
from passk_py.ingest.formats.harness import Expected, Unfit, expected_of_each
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    first_line,
    list_at,
    number,
    small_tags,
    text,
    time_of,
)
from passk_py.ingest.formats.kinds import Refusal
from passk_py.ingest.formats.run_names import pytest_repeat, pytest_repeats, said_of_unrepeated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json, Shape
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_VERDICTS: Final = {"passed": True, "failed": False}
_STATUSES: Final = (*_VERDICTS, "skipped", "pending", "other")
# pytest's words for what broke before the test, or after it.
_AROUND: Final = ("setup_failed", "teardown_failed")
_MOST_TASKS: Final = 100_000
# The year 5138 in seconds, and 1973 in milliseconds.
_SECONDS: Final = 100_000_000_000
_TRY: Final[Mapping[str, Shape]] = dict.fromkeys(
    ("status", "rawStatus", "duration", "start", "message"), ANY
)


class Ctrf(JsonHarness):
    """A report in the Common Test Report Format."""

    name = "ctrf"
    title = "CTRF reports of Playwright, jest, pytest, Cypress and others"
    reader_version = 1
    container = "json_object"
    suffixes = (".json",)
    recognised_by = "an object with results that have tool, summary and tests, or with reportFormat"
    fields = (
        ("run_id", "runId; else the file's name, or its folder's"),
        ("suite", "results.environment.appName; else ctrf"),
        (
            "task_id",
            "suite or filePath, and name; of pytest, name alone, without a repeat if all are there",
        ),
        ("attempt", "the place among the tries of the test, by start"),
        ("outcome", "status, rawStatus; the same of retryAttempts"),
        ("outcome_reason", "timeout, if the message of a failed try says so; else status"),
        ("agent_version", "results.environment.appVersion"),
        ("started_at", "start"),
        ("duration_s", "duration / 1000"),
        ("tags", "tool; browser; reruns; tags; short values of labels"),
        ("transcript", "the test: the file, and # with its JSON pointer"),
    )
    verdict_rule = "status is passed or failed"
    attempt_rule = "tests of one name and suite, and the tries before the last one, by start"
    error_rule = (
        "skipped, pending and other are excluded, and so is a test whose rawStatus is setup_failed "
        "or teardown_failed, which CTRF counts as failed"
    )
    documentation = "https://ctrf.io/docs/specification/overview"
    example = (
        '{"reportFormat": "CTRF", "specVersion": "1.0.0", "results": {"tool": {"name": "pytest"}, '
        '"summary": {"tests": 1}, "tests": [{"name": "test_a.py::test_add", "status": "passed", '
        '"duration": 12, "retries": 1, "retryAttempts": [{"attempt": 1, "status": "failed"}]}]}}'
    )
    default_suite = "ctrf"
    numbers_attempts = True
    labels = {
        "task_id": "name",
        "passed": "status",
        "started_at": "start",
        "duration_s": "duration / 1000",
    }
    reasons = dict.fromkeys(("skipped", "pending", "other", *_AROUND), "excluded")
    rows_at: ClassVar[tuple[str, ...]] = ("results", "tests", EACH)
    shape = {
        **_TRY,
        **dict.fromkeys(("name", "suite", "filePath", "retries", "browser", "tags", "labels"), ANY),
        "retryAttempts": [_TRY],
    }
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = {
        ("runId",): ANY,
        ("results", "tool"): {"name": ANY},
        ("results", "environment"): {"appName": ANY, "appVersion": ANY},
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the results, and before version 1 from them alone."""
        if not sample.can_be(self.container) or "results" not in sample.fields:
            return False
        keys = sample.keys_of_first_row(("results",))
        return "reportFormat" in sample.fields or {"tool", "summary"} <= keys

    def repeated(self, sample: Sample) -> Refusal | None:
        """Say of Jest's own JSON, which Vitest writes too, which reports to write instead."""
        if not {"numTotalTests", "testResults"} <= set(sample.fields):
            return None
        return Refusal(
            "Jest's or Vitest's own JSON, whose tests are in lists by file",
            "Write a report that passk reads: CTRF by jest-ctrf-json-reporter or "
            "vitest-ctrf-json-reporter, or JUnit by jest-junit or `vitest --reporter=junit`.",
        )

    def read(self, log: Log) -> Iterator[Record]:
        """Find out which tests were repeated, and whether tries say when they began, then read."""
        for path in log.files:
            log.heads["timed"], names = _survey(path)
            log.heads["repeats"], log.heads["others"] = pytest_repeats(names)
            with log.opened(path) as file:
                yield from self.read_file(file, log)

    def attempts(
        self, row: dict[str, Any], element: Element, log: Log
    ) -> Iterable[dict[str, Any] | Unfit]:
        """Map a test to the attempts that its tries are."""
        task = _task(row, log.heads["repeats"])
        earlier = [one for one in list_at(row, "retryAttempts") if isinstance(one, dict)]
        retries = number(row.get("retries")) or 0
        labels = dict_at(row, "labels")
        tags = small_tags({**labels, "browser": row.get("browser")})
        tags |= small_tags({"tags": ",".join(filter(None, map(text, list_at(row, "tags"))))})
        if reruns := max(len(earlier), int(retries) if 0 < retries < _MOST_TASKS else 0):
            tags["reruns"] = str(reruns)
        for one in (*earlier, row):
            status = one.get("status")
            if status not in _STATUSES:
                yield Unfit("unknown_outcome", f"status is {str(status)[:60]!r}, which CTRF lacks.")
                continue
            milliseconds = number(one.get("duration"))
            yield {
                "task_id": task,
                "attempt": 1,
                "passed": None if one.get("rawStatus") in _AROUND else _VERDICTS.get(status),
                "outcome_reason": _reason(one, status),
                "started_at": _time(one.get("start")) if log.heads["timed"] else None,
                "duration_s": None if milliseconds is None else milliseconds / 1000,
                "tags": tags,
                "transcript": self.place_of(element, log),
            }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what the report says of the whole run."""
        environment = dict_at(log.heads, "results.environment")
        return {
            "run_id": text(log.heads.get("runId")),
            "suite": text(environment.get("appName")),
            "agent_version": text(environment.get("appVersion")),
            "tags": {"tool": text(dict_at(log.heads, "results.tool").get("name"))},
        }

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which names only look like those of repeats."""
        return said_of_unrepeated(log.heads["others"])

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of repeats from the names."""
        return expected_of_each(log.heads["repeats"])


def _survey(path: Path) -> tuple[bool, list[str]]:
    """Tell whether each try before the last one says when it began, and list pytest's names."""
    # Without those times, the order in which the tries stand is the only one.
    decode = decoder({"name": ANY, "retryAttempts": [{"start": ANY}]})
    is_timed, names = True, []
    with open_log(path) as file:
        for element in JsonWalk(file, Ctrf.rows_at, decode).rows():
            tries = list_at(element.value, "retryAttempts")
            is_timed = is_timed and all(_time(at(one, "start")) is not None for one in tries)
            name = text(at(element.value, "name")) or ""
            if "::" in name and pytest_repeat(name):
                names.append(name)
    return is_timed, names


def _task(row: dict[str, Any], repeats: Mapping[str, int]) -> str | None:
    """Give the task of a test."""
    name, suite = text(row.get("name")), row.get("suite")
    if name is None:
        return None
    if "::" in name:
        repeat = pytest_repeat(name)
        return repeat[0] if repeat and repeat[0] in repeats else name
    names = suite if isinstance(suite, list) else [suite]
    within = " > ".join(filter(None, map(text, names))) or text(row.get("filePath"))
    return f"{within} > {name}" if within else name


def _reason(row: dict[str, Any], status: str) -> str | None:
    """Say why a try did not pass, in a word."""
    if row.get("rawStatus") in _AROUND:
        return str(row["rawStatus"])
    if status == "failed":
        said = first_line(row.get("message")).lower()
        return "timeout" if "timeout" in said or "timed out" in said else None
    return None if status == "passed" else status


def _time(start: Json) -> str | None:
    value = number(start)
    if not value:
        return None
    return time_of(value * 1000 if value < _SECONDS else value)
