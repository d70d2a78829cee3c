"""JUnit XML: the test reports of pytest, Maven Surefire, Playwright, jest, node and most others.

A test is a task, and each time that it was run is an attempt.

- All files of a folder are one run, called after the folder: ``run-1.xml``, ``run-2.xml`` and so on
  are attempts of one run, and so are ``run-1/junit.xml`` and ``run-2/junit.xml`` (or ``attempt``,
  ``try`` and the like). Folders such as ``agent-run-1`` and ``agent-run-2`` are a run called
  ``agent``. Files that hold the same tests under names of their own, ``gpt-5.xml`` beside
  ``claude.xml``, are runs of their own; ``--run-id`` makes them one.
- Bazel's ``bazel-testlogs`` is one run: a target, or a test within it, named after the target, is a
  task; shards are put together; ``run_1_of_3`` and ``test_attempts/attempt_1.xml`` are attempts.
- Where the class says nothing (node, jest), a task is called after the suites and the test, joined
  by ``>``. A test that two of Playwright's projects run is two tasks.
- Repetitions: pytest-repeat's ``[3-4]`` or ``[id-3-4]`` is taken off if the file holds all of
  ``[1-4]`` to ``[4-4]`` of the test; an id that happens to end so stays. Words such as
  ``attempt 3`` at the end of a name are taken off if there are at least two of the test.
  Surefire's ``flakyFailure``, ``flakyError``, ``rerunFailure`` and ``rerunError``
  are attempts of their own. Tests of one name are attempts too, but not those of pytest: of
  pytest-rerunfailures only the last try says what happened, so its tries are one attempt.
  jest-junit writes nothing of retries, and Playwright only if it is told to.
- Tries after a failure stop at the first pass, so that every estimate is biased: the tag ``reruns``
  says how many there were.
- ``failure`` has the reason ``timeout`` where it says so. Playwright calls what a test throws an
  ``error``, so there it is a failure. jest-junit writes a todo like a test that passed.
- The property ``score`` is a tag: it takes no part in the verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import IO, TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.open_bytes import open_log, read_chunk
from passk_py.ingest.formats.harness import Expected, Harness, Record, expected_of_each
from passk_py.ingest.formats.kinds import Refusal, listed
from passk_py.ingest.formats.run_names import said_of_unrepeated
from passk_py.ingest.formats.test_reports.bazel import Place, is_report, place_of, root_of
from passk_py.ingest.formats.test_reports.junit_cases import Case, cases_in, tried
from passk_py.ingest.formats.test_reports.junit_repeats import (
    SHOWN,
    SUFFIXES,
    Repeats,
    folder_of_run,
    in_order,
    name_of_run,
    runs_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_MOST_ROOT: Final = 10_000
_PROMPTFOO: Final = re.compile(rb'<testsuites[^>]*\sname="promptfoo')
_ROOTS: Final = frozenset(("testsuites", "testsuite"))
_SHARD: Final = re.compile(r"_shard_[0-9]+/[0-9]+$")
_MOST_NAMES: Final = 100_000


class JUnit(Harness):
    """JUnit XML reports."""

    name = "junit"
    title = "JUnit XML of pytest, Surefire, Playwright, jest, node and others"
    reader_version = 4
    container = "xml"
    suffixes = SUFFIXES
    recognised_by = "XML with the root testsuites or testsuite"
    fields = (
        (
            "run_id",
            (
                "the folder's name: agent for agent-run-1 and agent-run-2; the file's, if it is "
                "named alone or holds the same tests as one of another name beside it"
            ),
        ),
        ("suite", "junit, unless --suite is given"),
        (
            "task_id",
            (
                "<classname>::<name> without a repetition, after Playwright's project or Bazel's "
                "target; else suites and name, with >"
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
        (
            "tags",
            "other properties of the test; reruns, where it was tried again because it failed",
        ),
    )
    verdict_rule = "neither failure nor error nor skipped"
    attempt_rule = (
        "each run of a test, in the order of its suite's timestamp and of the file; of the files "
        "of a run together"
    )
    error_rule = (
        "an error is no verdict, except in Playwright: its type decides; a failure in pytest's "
        "tear-down alone keeps the test's verdict; skipped tests are excluded"
    )
    documentation = "https://github.com/testmoapp/junitxml"
    example = (
        '<testsuites><testsuite name="pytest"><testcase classname="test_agent" '
        'name="test_agent[add-1-4]" time="0.1"/></testsuite></testsuites>'
    )
    default_suite = "junit"
    numbers_attempts = True
    reasons = dict.fromkeys(
        ("setup", "collection", "error", "skipped", "xfailed", "todo"), "excluded"
    )
    labels = {"task_id": "name", "started_at": "timestamp", "duration_s": "time"}

    def recognises(self, sample: Sample) -> bool:
        """Tell from the root."""
        return sample.container == self.container and not _ROOTS.isdisjoint(sample.fields)

    def group(self, sample: Sample) -> Path | None:
        """Put the files of a folder together, folders of repeated runs, and Bazel's targets."""
        if root := root_of(sample.path, sample.found_in):
            return root
        return folder_of_run(sample.path.parent)

    def doubled(self, sample: Sample) -> Refusal | None:
        """Pass over what promptfoo writes beside its own JSON."""
        ours = _PROMPTFOO.search(sample.start[:_MOST_ROOT])
        stem = sample.path.name.removesuffix(".xml").removesuffix(".junit")
        if not ours or not (sample.path.parent / f"{stem}.json").is_file():
            return None
        return Refusal(
            "promptfoo's results as JUnit XML, which its JSON beside it holds too", "Load the JSON."
        )

    def is_copy(self, path: Path, other: Path) -> bool | None:
        """Tell by the time that a report has; Bazel's own reports are the same for each run."""
        with open_log(path) as file:
            if b'timestamp="' in (read_chunk(file, _MOST_ROOT) or b""):
                return True
        return False if is_report(path) and is_report(other) else None

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after its folder, or after a file that has a name of its own."""
        if path.is_dir():
            return path.name or None
        return name_of_run(path, super().default_run_id(path))

    def read(self, log: Log) -> Iterator[Record]:
        """Read the files of a folder."""
        log.heads |= {"of": {}, "others": False, "said": _Said()}
        said: _Said = log.heads["said"]
        # A file alone has nothing beside it that says which folder is Bazel's.
        folder = log.path if log.path.is_dir() else None
        places = {
            path: place_of(path, root) if (root := root_of(path, folder)) else None
            for path in log.files
        }
        plain = in_order(path for path in log.files if not places[path])
        runs, said.merged = ({}, ()) if log.run_id else runs_of(plain)
        said.runs = tuple(dict.fromkeys(runs.values()))
        placed = sorted((place.sorts, path) for path, place in places.items() if place)
        # How often each target was tried again because it failed.
        reruns = Counter(
            (place.target, place.run, place.shard)
            for place in places.values()
            if place and place.attempt is not None
        )
        for path in [*plain, *(path for _, path in placed)]:
            with open_log(path) as file:
                known = Repeats(cases_in(file))
            said.unrepeated |= dict.fromkeys(known.unrepeated)
            place = places[path]
            with log.opened(path) as file:
                for record in _records(file, known, log, place):
                    if record.values is not None:
                        if run := runs.get(path):
                            record.values["run_id"] = run
                        if place:
                            tried = reruns[place.target, place.run, place.shard]
                            _put(record.values, place, tried)
                    yield record
            said.end_file()
        said.reruns += len(reruns)

    def warnings(self, log: Log) -> Iterator[str]:
        """Say what is taken for attempts, and what is not."""
        said: _Said = log.heads["said"]
        if said.runs:
            yield (
                f"Its files hold the same tests under {len(said.runs)} names, so each name is a "
                f"run of its own: {listed(said.runs, SHOWN)}. If they are attempts of one run, "
                "name it with --run-id."
            )
        if said.merged:
            yield (
                f"Its files {listed(said.merged, SHOWN)} are loaded as attempts of one run. If "
                "they are of several agents, load each by itself, with a --run-id of its own."
            )
        yield from said_of_unrepeated(said.unrepeated)
        if said.same:
            names = sorted(said.same)
            yield (
                f"A name that is there several times in a file is one task, and each time is an "
                f"attempt of it: {listed(names, SHOWN)} ({len(names):,} in all). If these are "
                "different tests, give them names of their own."
            )
        if said.reruns:
            yield (
                f"Tests were tried again because they failed, {said.reruns:,} of them: attempts "
                "that stop at the first pass make every estimate too good. Switch retries off, and "
                "repeat each test a fixed number of times; docs/formats.md says how."
            )

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of repetitions that pytest-repeat was told to make."""
        numbers = set(log.heads["of"].values())
        if len(numbers) == 1 and not log.heads["others"]:
            return [Expected(numbers.pop())]
        return expected_of_each(log.heads["of"])


class _Said:
    """The remarks on a log, not all of them if there are many."""

    def __init__(self) -> None:
        self.runs: tuple[str, ...] = ()
        self.merged: tuple[str, ...] = ()
        self.unrepeated: dict[str, None] = {}
        self.same: set[str] = set()
        self.reruns = 0
        self._seen: set[int] = set()

    def note(self, task: str | None) -> None:
        """Note a test of the file that is read."""
        key = hash(task)
        if task and key in self._seen and len(self.same) < _MOST_NAMES:
            self.same.add(task)
        self._seen.add(key)

    def end_file(self) -> None:
        """Forget the tests of a file that is read."""
        self._seen.clear()


def _put(values: dict[str, Any], place: Place, tried: int) -> None:
    """Give an attempt its place among those of its target."""
    values["attempt"] = place.order
    if tried:
        values["tags"] = {**(values["tags"] or {}), "reruns": str(tried)}


def _records(file: IO[bytes], known: Repeats, log: Log, place: Place | None) -> Iterator[Record]:
    """Give the attempts of a document."""
    said: _Said = log.heads["said"]
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
        task = _task_of(case, name, place)
        if of and task:
            ofs[task] = of
        log.heads["others"] = log.heads["others"] or not of
        if of is None:
            said.note(task)
        yield from _attempts(tries, task, said)
    for task, of in ofs.items():
        log.heads["of"][task] = log.heads["of"].get(task, 0) + of
    # If a document is cut off, the cases read so far are all there are.
    for tries in waiting.values():
        task = _task_of(tries[-1], known.stem(tries[-1])[0], place)
        yield from _attempts(tries, task, said)


def _task_of(case: Case, name: str, place: Place | None) -> str | None:
    """Name the task of a test; within Bazel, after its target."""
    task = case.task(name)
    if not place or not task:
        return task
    if not case.classname and case.suites and case.suites[-1].name == case.name:
        # Bazel's own report of a target, or of a shard of it, that wrote none.
        shard = _SHARD.search(case.name)
        return f"{place.target}{shard[0] if shard else ''}"
    return f"{place.target}::{task}"


def _attempts(tries: list[Case], task: str | None, said: _Said) -> Iterator[Record]:
    """Give the attempts of a test case, or the one of several tries of pytest."""
    case, verdicts, reruns = tried(tries)
    columns, tags = case.columns(), case.tags()
    if reruns:
        tags["reruns"] = str(reruns)
        said.reruns += 1
    started = next((s.timestamp for s in reversed(case.suites) if s.timestamp), None)
    # If there are several tries, the time may be that of the last or of the first one.
    time = case.time.replace(",", "") if case.time and len(verdicts) == 1 else None
    for passed, reason in verdicts:
        values = {
            **columns,
            "task_id": task,
            "attempt": 1,
            "passed": passed,
            "outcome_reason": reason,
            "started_at": started,
            "duration_s": time,
            "tags": tags or None,
        }
        yield Record(values, f"{case.classname} {case.name} {passed} {reason or ''}".strip())
