"""JUnit XML: the test reports of pytest, Maven Surefire, Playwright, jest, node and most others.

A test is a task, and each time that it was run is an attempt. The document is read as a stream;
DTDs and entities are refused, and the output of tests is passed over.

- Recognised by the root ``testsuites`` or ``testsuite``.
- All files of a folder are one log and one run, called after the folder: ``run-1.xml``,
  ``run-2.xml`` and so on are attempts of one run, and so are ``run-1/junit.xml`` and
  ``run-2/junit.xml`` (or ``attempt``, ``try``, ``trial``, ``repeat``, ``iteration``, ``round``, and
  Bazel's ``run_1_of_2``). Folders such as ``agent-run-1`` and ``agent-run-2`` are a run called
  ``agent``. A file that is named alone is a run called after the file.
- ``task_id`` is ``<classname>::<name>``. Where the class says nothing (node, jest), it is the names
  of the suites and the test, joined by ``>``. Playwright's tests have their project before it: a
  test that two projects run is two tasks.
- Repetitions: pytest-repeat's ``[3-4]`` or ``[id-3-4]`` and words such as ``attempt 3`` at the end
  of a name are taken off if the file holds at least two repetitions of the test; an id that happens
  to end so stays, as does one of which there are several numbers, ``[3-4]`` beside ``[3-5]``.
  Surefire's ``flakyFailure``, ``flakyError``, ``rerunFailure`` and ``rerunError``
  are attempts of their own. Tests of one name are attempts too, but not those of pytest: of
  pytest-rerunfailures only the last try says what happened, so its tries are one attempt with the
  tag ``reruns``. jest-junit writes nothing of retries, and Playwright only if it is told to.
- Attempts are numbered by the timestamp of their suite and, within it, by their order in the file.
  Files without timestamps come in the order of their names, ``run-2`` before ``run-10``.
- Passed without ``failure``, ``error`` and ``skipped``; ``failure`` is a failure, with the reason
  ``timeout`` where it says so. ``error`` is no verdict: its type is the reason, ``setup`` where
  pytest's set-up failed, else ``error``. Where only pytest's tear-down failed, the test keeps its
  verdict, with the reason ``teardown``. Playwright calls what a test throws an ``error``, so there
  it is a failure.
- Skipped tests are excluded with the reason ``skipped``, ``todo`` or ``xfailed``. jest-junit writes
  a todo like a test that passed.
- ``started_at`` is the timestamp of the suite. Properties named ``agent``, ``agent_version``,
  ``model``, ``seed``, ``cost_usd``, ``input_tokens`` and ``output_tokens`` fill these columns.
  Other properties of a test are tags, ``score`` among them: it takes no part in the verdict.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, ClassVar, Final

from passk_py.containers.source import open_log
from passk_py.formats.base import Refusal
from passk_py.formats.harness import Expected, Harness, Record
from passk_py.formats.junit_cases import COLUMNS, SUITES_COLUMNS, WORDS, Case, cases_in
from passk_py.formats.naming import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.formats.base import Container, Outcome
    from passk_py.formats.harness import Log
    from passk_py.formats.sample import Sample

__all__ = ["JUnit"]

_MOST_ROOT: Final = 10_000
_PROMPTFOO: Final = re.compile(rb'<testsuites[^>]*\sname="promptfoo')
_ROOTS: Final = frozenset(("testsuites", "testsuite"))
# Names that say nothing of the run.
_ANY_NAME: Final = frozenset(
    (
        *("junit", "xunit", "report", "reports", "result", "results", "tests"),
        *("test-report", "test-reports", "test-result", "test-results"),
    )
)
# What stands before the number, in it what stands before the word.
_FOLDER: Final = re.compile(
    rf"^((?:(.*[^a-z]))?(?:{WORDS})[-_. ]?)(?:[0-9]+(?:[-_. ]of[-_. ]?[0-9]+)?|\*)$",
    re.DOTALL | re.IGNORECASE,
)


class JUnit(Harness):
    """JUnit XML reports."""

    name: ClassVar[str] = "junit"
    title: ClassVar[str] = "JUnit XML of pytest, Surefire, Playwright, jest, node and others"
    reader_version: ClassVar[int] = 3
    container: ClassVar[Container] = "xml"
    suffixes: ClassVar[tuple[str, ...]] = (".xml",)
    recognised_by: ClassVar[str] = "XML with the root testsuites or testsuite"
    fields: ClassVar[tuple[tuple[str, str], ...]] = (
        (
            "run_id",
            (
                "the folder's name, of agent-run-1 and agent-run-2 agent; of a file that is named "
                "alone, the file's"
            ),
        ),
        ("suite", "junit, unless --suite is given"),
        (
            "task_id",
            (
                "<classname>::<name> without a repetition, after Playwright's project; else suites "
                "and name, with >"
            ),
        ),
        ("attempt", "the place by the suite's timestamp, then in the order of the file"),
        ("outcome", "failure, error, skipped, or none of them; Surefire's tries"),
        ("outcome_reason", "the error's type, setup, teardown, timeout, skipped, todo, xfailed"),
        ("agent", "the property agent"),
        ("agent_version", "the property agent_version"),
        ("model", "the property model"),
        ("seed", "the property seed"),
        ("started_at", "the timestamp of the suite"),
        ("duration_s", "time"),
        ("cost_usd", "the property cost_usd"),
        ("input_tokens", "the property input_tokens"),
        ("output_tokens", "the property output_tokens"),
        ("tags", "other properties of the test; reruns of pytest-rerunfailures"),
    )
    verdict_rule: ClassVar[str] = "neither failure nor error nor skipped"
    attempt_rule: ClassVar[str] = (
        "each run of a test, in the order of its suite's timestamp and of the file; of the files "
        "of a folder together"
    )
    error_rule: ClassVar[str] = (
        "an error is no verdict, but in Playwright: its type decides; a failure in pytest's "
        "tear-down alone keeps the test's verdict; skipped tests are excluded"
    )
    documentation: ClassVar[str] = "https://github.com/testmoapp/junitxml"
    example: ClassVar[str] = (
        '<testsuites><testsuite name="pytest"><testcase classname="test_agent" '
        'name="test_agent[add-1-4]" time="0.1"/></testsuite></testsuites>'
    )
    default_suite: ClassVar[str] = "junit"
    numbers_attempts: ClassVar[bool] = True
    reasons: ClassVar[Mapping[str, Outcome]] = {
        "setup": "excluded",
        "collection": "excluded",
        "error": "excluded",
        "skipped": "excluded",
        "xfailed": "excluded",
        "todo": "excluded",
    }
    labels: ClassVar[Mapping[str, str]] = {
        "task_id": "name",
        "started_at": "timestamp",
        "duration_s": "time",
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the root."""
        return sample.container == self.container and not _ROOTS.isdisjoint(sample.fields)

    def group(self, sample: Sample) -> Path | None:
        """Put the files of a folder together, and folders of repeated runs of one name."""
        folder = sample.path.parent
        repeated = _FOLDER.match(folder.name)
        if not repeated:
            return folder
        return folder.with_name(f"{repeated[1]}*") if repeated[2] else folder.parent

    def doubled(self, sample: Sample) -> Refusal | None:
        """Pass over what promptfoo writes beside its own JSON."""
        ours = _PROMPTFOO.search(sample.start[:_MOST_ROOT])
        stem = sample.path.name.removesuffix(".xml").removesuffix(".junit")
        if not ours or not (sample.path.parent / f"{stem}.json").is_file():
            return None
        return Refusal(
            "promptfoo's results as JUnit XML, which its JSON beside it holds too",
            "Load the JSON.",
        )

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after its folder, or after a file that has a name of its own."""
        if path.is_dir():
            return path.name or None
        repeated = _FOLDER.match(path.name) if path.name.endswith("*") else None
        named = repeated[2].rstrip("-_. ") if repeated else super().default_run_id(path)
        return path.parent.name or named if (named or "").lower() in _ANY_NAME else named

    def read(self, log: Log) -> Iterator[Record]:
        """Read the files of a folder."""
        log.heads |= {"of": {}, "others": False}
        for path in sorted(log.files, key=_natural):
            with open_log(path) as file:
                known = _Names(cases_in(file))
            with log.opened(path) as file:
                yield from _records(file, known, log)

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of repetitions that pytest-repeat was told to make."""
        by_number: dict[int, list[str]] = {}
        for task, number in log.heads["of"].items():
            by_number.setdefault(number, []).append(task)
        if len(by_number) == 1 and not log.heads["others"]:
            return [Expected(number) for number in by_number]
        return [Expected(number, tuple(tasks), only=True) for number, tasks in by_number.items()]


class _Names:
    """Which names of a file are repetitions, and which of them are there several times."""

    def __init__(self, cases: Iterable[Case | Record]) -> None:
        steps: dict[int, tuple[int, int]] = {}
        times: dict[int, int] = {}
        for case in cases:
            if isinstance(case, Record):
                break
            if repetition := case.repetition():
                stem, step, of = repetition
                key = hash((case.titles()[0], stem))
                # -1 says that there are several.
                step_before, of_before = steps.get(key, (step, of))
                steps[key] = (
                    step if step_before == step else -1,
                    of if of_before == of else -1,
                )
            if case.pytest:
                times[case.key] = times.get(case.key, 0) + 1
        # All repetitions of a test are told of as many.
        self._repeated = {key for key, (step, of) in steps.items() if step < 0 <= of}
        self.left = {key: number for key, number in times.items() if number > 1}
        """How often a test of pytest is still to come, of those that are there several times."""

    def stem(self, case: Case) -> tuple[str, int]:
        """Give the name of a test without a repetition, and how many of them there should be."""
        repetition = case.repetition()
        if repetition:
            stem, _, of = repetition
            if hash((case.titles()[0], stem)) in self._repeated:
                return stem, of
        return case.titles()[1], 0


def _records(file: IO[bytes], known: _Names, log: Log) -> Iterator[Record]:
    """Give the attempts of a document."""
    waiting: dict[int, list[Case]] = {}
    # How often each task of pytest-repeat was to be run in this document.
    ofs: dict[str, int] = {}
    for case in cases_in(file):
        if isinstance(case, Record):
            yield case
            continue
        tries = [case]
        if case.key in known.left:
            tries = waiting.setdefault(case.key, [])
            tries.append(case)
            known.left[case.key] -= 1
            if known.left[case.key]:
                continue
            del waiting[case.key], known.left[case.key]
        name, of = known.stem(case)
        task = case.task(name)
        if of and task:
            ofs[task] = of
        log.heads["others"] = log.heads["others"] or not of
        yield from _attempts(tries, task)
    for task, of in ofs.items():
        log.heads["of"][task] = log.heads["of"].get(task, 0) + of
    # Of a document that is cut off, what was met is all there is.
    for tries in waiting.values():
        yield from _attempts(tries, tries[-1].task(known.stem(tries[-1])[0]))


def _attempts(tries: list[Case], task: str | None) -> Iterator[Record]:
    """Give the attempts of a test case, or the one of several tries of pytest."""
    case = tries[0]
    verdicts = case.verdicts()
    reruns = 0
    for one in tries[1:]:
        if not one.only_after_the_test:
            case, verdicts, reruns = one, one.verdicts()[-1:], reruns + 1
        elif verdicts[-1][0] is not None:
            verdicts = [(verdicts[-1][0], "teardown")]
    suites = {
        name: value
        for suite in case.suites
        for name, value in suite.properties.items()
        if name in SUITES_COLUMNS
    }
    said = suites | {name: case.properties[name] for name in COLUMNS & case.properties.keys()}
    tags = {name: value for name, value in case.properties.items() if name not in COLUMNS}
    if reruns:
        tags["reruns"] = str(reruns)
    started = next((s.timestamp for s in reversed(case.suites) if s.timestamp), None)
    # Of several tries, the time is that of the last or first one: it is not known of which.
    time = case.time.replace(",", "") if case.time and len(verdicts) == 1 else None
    for passed, reason in verdicts:
        values = {
            **said,
            "task_id": task,
            "attempt": 1,
            "passed": passed,
            "outcome_reason": reason,
            "started_at": started,
            "duration_s": time,
            "tags": tags or None,
        }
        yield Record(values, f"{case.classname} {case.name} {passed} {reason or ''}".strip())


def _natural(path: Path) -> list[list[str | int]]:
    """Split a path so that the numbers in it are compared as such."""
    return [natural(name) for name in path.parts]
