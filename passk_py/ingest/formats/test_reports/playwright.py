"""Playwright: the report of its JSON reporter, ``npx playwright test --reporter=json``.

A test of a project is a task, called as the JUnit report of the same run calls it. Each of its
``results`` is an attempt: those of ``--repeat-each``, which are tests of one title beside each
other, and those of ``retries``, which JUnit leaves out.

- Playwright's rule: a result passed if its status is ``expectedStatus``, which is ``failed`` in a
  test that is marked by ``test.fail``.
- A retry of a test that should fail, and passed, says nothing new: Playwright reports it as
  passed, because only the first result decides. It is left out, as in the JUnit report.
- Tries after a failure stop at the first pass, so that every estimate is biased: the tag ``reruns``
  says how many there were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.harness import Expected, Unfit
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, list_at, number, short_line, small_tags, text
from passk_py.ingest.formats.kinds import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json, Shape
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_REASONS: Final = {"timedOut": "timeout", "skipped": "skipped", "interrupted": "interrupted"}
_UNGRADED: Final = ("skipped", "interrupted")
_STATUSES: Final = frozenset(("passed", "failed", *_REASONS))
# Deeper than anyone nests groups of tests.
_DEEPEST: Final = 100


class Playwright(JsonHarness):
    """Playwright's JSON report."""

    name = "playwright"
    title = "Playwright's JSON report, with its retries"
    reader_version = 1
    container = "json_object"
    suffixes = (".json",)
    recognised_by = "an object with config, suites and stats, or with suites that have specs"
    fields = (
        ("run_id", "the file's name, or its folder's"),
        ("suite", "playwright, unless --suite is given"),
        ("task_id", "project, file and titles: small::a.spec.ts::group \u203a test"),
        ("attempt", "the place among the results of the test and project, by startTime"),
        ("outcome", "results.status, expectedStatus"),
        ("outcome_reason", "timeout, skipped, interrupted"),
        ("started_at", "results.startTime"),
        ("duration_s", "results.duration / 1000"),
        ("tags", "project; reruns; tags; annotations with a short description"),
        ("transcript", "the result: the file, and # with its JSON pointer"),
    )
    verdict_rule = "status is expectedStatus"
    attempt_rule = "repeats and retries of a test are counted in the order of startTime"
    error_rule = (
        "timedOut is a failure, with the reason timeout; skipped and interrupted tests are "
        "excluded; a test without results did not run"
    )
    documentation = "https://playwright.dev/docs/test-reporters#json-reporter"
    example = (
        '{"config": {"version": "1.65.1"}, "suites": [{"title": "a.spec.ts", "specs": [{"title": '
        '"add", "tests": [{"expectedStatus": "passed", "projectName": "small", "results": '
        '[{"status": "failed", "retry": 0}, {"status": "passed", "retry": 1}]}]}]}], "stats": {}}'
    )
    default_suite = "playwright"
    numbers_attempts = True
    labels = {
        "task_id": "title",
        "passed": "status",
        "started_at": "startTime",
        "duration_s": "duration / 1000",
    }
    reasons = dict.fromkeys(_UNGRADED, "excluded")
    rows_at: ClassVar[tuple[str, ...]] = ("suites", EACH)
    # A suite has suites, so there is no shape of it.
    shape = ANY
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = {
        ("config", "projects"): [{"name": ANY, "repeatEach": ANY}],
        ("errors",): ANY,
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the report, or of the first suite."""
        if not sample.can_be(self.container) or "suites" not in sample.fields:
            # The configuration comes first, and may be long.
            config = sample.keys_of_first_row(("config",))
            return {"configFile", "rootDir", "projects"} <= config
        if {"config", "stats"} <= set(sample.fields):
            return True
        return {"title", "file", "specs"} <= sample.keys_of_first_row(self.rows_at)

    def refuse(self, sample: Sample) -> Refusal | None:
        """Reject a report of a run that found no tests."""
        errors = sample.first_row(("errors",))
        if not sample.complete or sample.first_row(("suites",)) != [] or not errors:
            return None
        message = at(errors, 0, "message")
        return Refusal(
            f"no tests, because Playwright failed: {short_line(message)}",
            "Correct the tests or their configuration, and run them again.",
        )

    def attempts(
        self, row: dict[str, Any], element: Element, log: Log
    ) -> Iterable[dict[str, Any] | Unfit]:
        """Map the suite of a file to the attempts of its tests."""
        pointer = self.place_of(element, log)
        file = text(row.get("title")) or text(row.get("file"))
        for spec, titles, place in _specs(row, (), pointer, 0):
            for number_, test in enumerate(list_at(spec, "tests")):
                project = text(at(test, "projectName"))
                names = (project, file, " \u203a ".join(titles))
                task = "::".join(name for name in names if name)
                shared = {"task_id": task, "attempt": 1}
                yield from _attempts_of(test, spec, f"{place}/tests/{number_}/results", shared)

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of repeats, where all projects have the same."""
        projects = list_at(log.heads, "config.projects")
        repeats = {repr(at(one, "repeatEach")): at(one, "repeatEach") for one in projects}
        count = next(iter(repeats.values()), None)
        return [Expected(count)] if len(repeats) == 1 and type(count) is int and count > 1 else []

    def warnings(self, log: Log) -> Iterable[str]:
        """Say what went wrong beside the tests."""
        if errors := list_at(log.heads, "errors"):
            message = short_line(at(errors, 0, "message"))
            yield f"Playwright reports errors outside of the tests, the first one is: {message}"


def _specs(
    suite: Json, titles: tuple[str, ...], pointer: str, depth: int
) -> Iterator[tuple[dict[str, Any], tuple[str, ...], str]]:
    """Give the specs of a suite and of those in it, with their titles and their places."""
    for number_, spec in enumerate(list_at(suite, "specs")):
        if isinstance(spec, dict):
            title = text(spec.get("title")) or ""
            yield spec, (*titles, title), f"{pointer}/specs/{number_}"
    for number_, inner in enumerate(list_at(suite, "suites")):
        if depth < _DEEPEST:
            named = text(at(inner, "title"))
            inside = (*titles, named) if named else titles
            yield from _specs(inner, inside, f"{pointer}/suites/{number_}", depth + 1)


def _attempts_of(
    test: Json, spec: dict[str, Any], pointer: str, shared: dict[str, Any]
) -> Iterator[dict[str, Any] | Unfit]:
    """Give the attempts of a test, which are its results."""
    should = text(at(test, "expectedStatus")) or "passed"
    results = [one for one in list_at(test, "results") if isinstance(one, dict)]
    reruns = len(results) - 1
    labels = [text(tag) for tag in list_at(spec, "tags")]
    notes = {
        name: at(note, "description")
        for note in list_at(test, "annotations")
        if (name := text(at(note, "type"))) and name not in _STATUSES
    }
    tags = small_tags({**notes, "project": at(test, "projectName")})
    tags |= small_tags({"tags": ",".join(filter(None, labels))})
    for place, result in enumerate(results):
        status = text(result.get("status"))
        if place and should == "failed" and status == "passed":
            continue
        if status not in _STATUSES:
            yield Unfit("unknown_outcome", f"status is {status!r}, which Playwright does not know.")
            continue
        milliseconds = number(result.get("duration"))
        yield {
            **shared,
            "passed": None if status in _UNGRADED else status == should,
            "outcome_reason": _REASONS.get(status),
            "started_at": result.get("startTime"),
            "duration_s": None if milliseconds is None else milliseconds / 1000,
            "tags": {**tags, "reruns": str(reruns)} if reruns > 0 else tags,
            "transcript": f"{pointer}/{place}",
        }
