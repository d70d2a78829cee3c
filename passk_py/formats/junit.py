"""JUnit XML: the test reports that pytest, Maven Surefire, jest, node and most others write.

A test is a task, and each time that it was run is an attempt. The document is read as a stream;
DTDs and entities are refused, and the output of tests is passed over.

- Recognised by the root ``testsuites`` or ``testsuite``.
- All files of a folder are one log and one run, called after the folder: ``run-1.xml``,
  ``run-2.xml`` and so on are attempts of one run, and so are ``run-1/junit.xml`` and
  ``run-2/junit.xml`` (or ``attempt``, ``try``, ``trial``, ``repeat``, ``iteration``, ``round``). A
  file that is named alone is a run called after the file.
- ``task_id`` is ``<classname>::<name>``. Where the class says nothing (node, jest), it is the names
  of the suites and the test, joined by ``>``.
- Repetitions: pytest-repeat's ``[3-4]`` or ``[id-3-4]`` and words such as ``attempt 3`` at the end
  of a name are taken off if the file holds at least two repetitions of the test; an id that happens
  to end so stays. Surefire's ``flakyFailure``, ``flakyError``, ``rerunFailure`` and ``rerunError``
  are attempts of their own. Tests of one name are attempts too, but not those of pytest: of
  pytest-rerunfailures only the last try says what happened, so its tries are one attempt with the
  tag ``reruns``. jest-junit writes nothing of retries.
- Attempts are numbered by the timestamp of their suite and, within it, by their order in the file.
  Files without timestamps come in the order of their names, ``run-2`` before ``run-10``.
- Passed without ``failure``, ``error`` and ``skipped``; ``failure`` is a failure, with the reason
  ``timeout`` where it says so. ``error`` is no verdict: its type is the reason, ``setup`` where
  pytest's set-up failed, else ``error``. Where only pytest's tear-down failed, the test keeps its
  verdict, with the reason ``teardown``.
- Skipped tests are excluded with the reason ``skipped``, ``todo`` or ``xfailed``. jest-junit writes
  a todo like a test that passed.
- ``started_at`` is the timestamp of the suite. Properties named ``agent``, ``agent_version``,
  ``model``, ``seed``, ``cost_usd``, ``input_tokens`` and ``output_tokens`` fill these columns.
  Other properties of a test are tags, ``score`` among them: it takes no part in the verdict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, TYPE_CHECKING, ClassVar, Final
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from passk_py.containers.source import open_log, read_chunk
from passk_py.formats.base import Refusal
from passk_py.formats.harness import Expected, Harness, Record
from passk_py.formats.naming import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from xml.parsers.expat import XMLParserType

    from passk_py.formats.base import Container, Outcome
    from passk_py.formats.harness import Log
    from passk_py.formats.sample import Sample

__all__ = ["JUnit"]

_CHUNK: Final = 1 << 20
_MOST_DEEP: Final = 100
# The longest tag: the parser holds one in memory until it ends.
_MOST_UNREAD: Final = 8 << 20
_MOST_TEXT: Final = 500
_MOST_PROPERTIES: Final = 100
_LONGEST_VALUE: Final = 2_000

_MOST_ROOT: Final = 10_000
_PROMPTFOO: Final = re.compile(rb'<testsuites[^>]*\sname="promptfoo')
_ROOTS: Final = frozenset(("testsuites", "testsuite"))
_CHILDREN: Final = frozenset(
    (
        *("failure", "error", "skipped"),
        *("flakyFailure", "flakyError", "rerunFailure", "rerunError"),
    )
)
_SUITES_COLUMNS: Final = frozenset(("agent", "agent_version", "model", "seed"))
_COLUMNS: Final = _SUITES_COLUMNS | {"cost_usd", "input_tokens", "output_tokens"}
_NOT_RUN: Final = frozenset(("notrun", "disabled", "skipped", "suppressed"))
# Names that say nothing of the run.
_ANY_NAME: Final = frozenset(
    (
        *("junit", "xunit", "report", "reports", "result", "results", "tests"),
        *("test-report", "test-reports", "test-result", "test-results"),
    )
)
_WORDS: Final = "attempt|run|repeat|repetition|iteration|round|trial|try"
_REPEAT: Final = re.compile(r"^(.*)(\[|-)([0-9]{1,9})-([0-9]{1,9})\]$", re.DOTALL)
_SPOKEN: Final = re.compile(
    rf"^(.*?)(?:^|[\s_:(\[-]+)(?:{_WORDS})[\s_#-]*([0-9]{{1,9}})(?: of [0-9]+)?[)\]]?$",
    re.DOTALL | re.IGNORECASE,
)
_FOLDER: Final = re.compile(rf"^(?:.*[^a-z])?(?:{_WORDS})[-_. ]?[0-9]+$", re.IGNORECASE)
_TIMEOUT: Final = re.compile(
    r"failed: timeout|(?:the )?test timed out|.{0,200}exceeded timeout of [0-9]",
    re.IGNORECASE | re.DOTALL,
)


class JUnit(Harness):
    """JUnit XML reports."""

    name: ClassVar[str] = "junit"
    title: ClassVar[str] = "JUnit XML of pytest, Surefire, jest, node and others"
    reader_version: ClassVar[int] = 1
    container: ClassVar[Container] = "xml"
    suffixes: ClassVar[tuple[str, ...]] = (".xml",)
    recognised_by: ClassVar[str] = "XML with the root testsuites or testsuite"
    fields: ClassVar[tuple[tuple[str, str], ...]] = (
        ("run_id", "the folder's name; of a file that is named alone, the file's"),
        ("suite", "junit, unless --suite is given"),
        ("task_id", "<classname>::<name> without a repetition; else suites and name, with >"),
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
        "an error is no verdict: its type decides; a failure in pytest's tear-down alone keeps the "
        "test's verdict; skipped tests are excluded"
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
        """Put the files of a folder together, and folders of repeated runs."""
        folder = sample.path.parent
        return folder.parent if _FOLDER.match(folder.name) else folder

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
        named = super().default_run_id(path)
        return path.parent.name or named if (named or "").lower() in _ANY_NAME else named

    def read(self, log: Log) -> Iterator[Record]:
        """Read the files of a folder."""
        log.heads |= {"of": {}, "others": False}
        for path in sorted(log.files, key=_natural):
            with open_log(path) as file:
                known = _Names(_cases(file))
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


@dataclass(slots=True)
class _Child:
    """What a test case says of one of its runs."""

    kind: str
    type: str
    message: str
    text: str = ""

    @property
    def timed_out(self) -> bool:
        said = self.message or self.text.lstrip()
        return "timeout" in self.type.lower() or _TIMEOUT.match(said) is not None

    @property
    def after_the_test(self) -> bool:
        return self.kind == "error" and self.message.startswith(
            ("failed on teardown", "test teardown failure")
        )

    def verdict(self) -> tuple[bool | None, str | None]:
        """Give the verdict and the reason."""
        if self.kind.lower().endswith("failure"):
            return False, "timeout" if self.timed_out else None
        if self.kind == "skipped":
            known = {"pytest.xfail": "xfailed", "todo": "todo"}
            return None, known.get(self.type, "skipped")
        if self.message.startswith(("failed on setup", "test setup failure")):
            return None, "setup"
        if self.message.startswith("collection failure"):
            return None, "collection"
        return None, self.type or ("timeout" if self.timed_out else "error")


@dataclass(slots=True)
class _Suite:
    """A suite that is open."""

    name: str
    timestamp: str | None
    number: int
    pytest: bool
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Case:
    """A test case, with the suites that it is in."""

    classname: str
    name: str | None
    time: str | None
    not_run: bool
    suites: list[_Suite]
    children: list[_Child] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def pytest(self) -> bool:
        return bool(self.suites) and self.suites[-1].pytest

    @property
    def key(self) -> int:
        """Tell it from the other tests of the file."""
        return hash((self.suites[-1].number if self.suites else 0, self.classname, self.name))

    def titles(self) -> tuple[tuple[str, ...], str]:
        """Give what stands before the name of the test, and the name."""
        name = self.name or ""
        if not self.pytest:
            suites = tuple(suite.name for suite in self.suites if suite.name)
            if self.classname in ("", "test"):
                return suites, name
            if self.classname == name:
                last = f"{suites[-1]} " if suites else ""
                inside = bool(last) and name.startswith(last) and name != last
                return (suites[-1:], name[len(last) :]) if inside else ((), name)
        return ((self.classname,) if self.classname else ()), name

    def repetition(self) -> tuple[str, int, int] | None:
        """Give the name without a repetition, which one it is, and of how many."""
        _, name = self.titles()
        if self.pytest:
            found = _REPEAT.match(name)
            if not found or not 1 <= int(found[3]) <= int(found[4]):
                return None
            stem = found[1] if found[2] == "[" else f"{found[1]}]"
            return stem, int(found[3]), int(found[4])
        spoken = _SPOKEN.match(name)
        return (spoken[1], int(spoken[2]), 0) if spoken else None

    def task(self, name: str) -> str | None:
        """Give the id of the task of a test of this name."""
        if not self.name:
            return None
        before, _ = self.titles()
        parts = (*before, name) if name else before
        spoken = self.classname in ("", "test", self.name) and not self.pytest
        return (" > " if spoken else "::").join(parts) or None


class _Names:
    """Which names of a file are repetitions, and which of them are there several times."""

    def __init__(self, cases: Iterable[_Case | Record]) -> None:
        steps: dict[int, int] = {}
        times: dict[int, int] = {}
        for case in cases:
            if isinstance(case, Record):
                break
            if repetition := case.repetition():
                stem, step, of = repetition
                key = hash((case.titles()[0], stem, of))
                # -1 says that there are several.
                steps[key] = step if steps.get(key, step) == step else -1
            if case.pytest:
                times[case.key] = times.get(case.key, 0) + 1
        self._repeated = {key for key, step in steps.items() if step < 0}
        self.left = {key: number for key, number in times.items() if number > 1}
        """How often a test of pytest is still to come, of those that are there several times."""

    def stem(self, case: _Case) -> tuple[str, int]:
        """Give the name of a test without a repetition, and how many of them there should be."""
        repetition = case.repetition()
        if repetition:
            stem, _, of = repetition
            if hash((case.titles()[0], stem, of)) in self._repeated:
                return stem, of
        return case.titles()[1], 0


def _records(file: IO[bytes], known: _Names, log: Log) -> Iterator[Record]:
    """Give the attempts of a document."""
    waiting: dict[int, list[_Case]] = {}
    # How often each task of pytest-repeat was to be run in this document.
    ofs: dict[str, int] = {}
    for case in _cases(file):
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


def _attempts(tries: list[_Case], task: str | None) -> Iterator[Record]:
    """Give the attempts of a test case, or the one of several tries of pytest."""
    case = tries[0]
    verdicts = _verdicts(case)
    reruns = 0
    for one in tries[1:]:
        if not _only_after(one):
            case, verdicts, reruns = one, _verdicts(one)[-1:], reruns + 1
        elif verdicts[-1][0] is not None:
            verdicts = [(verdicts[-1][0], "teardown")]
    suites = {
        name: value
        for suite in case.suites
        for name, value in suite.properties.items()
        if name in _SUITES_COLUMNS
    }
    said = suites | {name: case.properties[name] for name in _COLUMNS & case.properties.keys()}
    tags = {name: value for name, value in case.properties.items() if name not in _COLUMNS}
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


def _only_after(case: _Case) -> bool:
    """Tell whether a case is about nothing but the tear-down."""
    return bool(case.children) and all(child.after_the_test for child in case.children)


def _verdicts(case: _Case) -> list[tuple[bool | None, str | None]]:
    """Give the verdict of each run of a test, in their order."""
    before = [child.verdict() for child in case.children if child.kind.startswith("flaky")]
    after = [child.verdict() for child in case.children if child.kind.startswith("rerun")]
    by_kind: dict[str, _Child] = {}
    for child in case.children:
        if not (child.kind == "error" and child.after_the_test):
            by_kind.setdefault(child.kind, child)
    last = next((by_kind[k] for k in ("failure", "error", "skipped") if k in by_kind), None)
    passed, reason = last.verdict() if last else (True, None)
    if last is None and case.not_run:
        passed, reason = None, "skipped"
    if any(child.after_the_test for child in case.children):
        reason = reason or "teardown"
    return [*before, (passed, reason), *after]


def _cases(file: IO[bytes]) -> Iterator[_Case | Record]:
    """Parse a document as a stream; what is wrong with it comes last."""
    # Only the parser below is used, with the guards of defusedxml: no tree is made.
    parser = DefusedXMLParser(forbid_dtd=True).parser
    target = _Target(parser)
    fed = 0
    fault: tuple[str, str] | None = None
    while fault is None:
        chunk = read_chunk(file, _CHUNK) or b""
        fed += len(chunk)
        try:
            parser.Parse(chunk, not chunk)
        except _TooDeep:
            fault = ("malformed_line", f"The document is nested deeper than {_MOST_DEEP} elements.")
        except DefusedXmlException:
            fault = ("malformed_line", "The document has a DTD or entities, which are not read.")
        except (ExpatError, ValueError, LookupError) as error:
            fault = ("malformed_line", f"The document is not valid XML: {str(error)[:200]}.")
            if not chunk:
                fault = ("truncated", "The file ends before its XML does; it is cut off.")
        if fault is None and fed - parser.CurrentByteIndex > _MOST_UNREAD:
            fault = ("field_too_large", f"A tag has more than {_MOST_UNREAD} bytes.")
        yield from target.take()
        if not chunk:
            break
    if fault:
        name = target.case.name if target.case else ""
        yield Record(None, name or "", fault, ends=fault[0] == "truncated")


class _TooDeep(Exception):  # noqa: N818 - becomes the reason of a rejected row
    """Ends the parsing of a document that is nested too deep."""


class _Target:
    """Is told by the parser of what it meets, and keeps what is asked for of it."""

    def __init__(self, parser: XMLParserType) -> None:
        self.case: _Case | None = None
        self._parser = parser
        self._cases: list[_Case] = []
        self._suites: list[_Suite] = []
        self._child: _Child | None = None
        self._now = 0
        self._number = 0
        self._pytest = False
        parser.ordered_attributes = False
        # Else text is kept back, and handed over where its handler is changed.
        parser.buffer_text = False
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        # Text is asked for where it is wanted only: most of a document is the output of tests.
        parser.CharacterDataHandler = None
        parser.DefaultHandlerExpand = None
        parser.CommentHandler = None
        parser.ProcessingInstructionHandler = None

    def take(self) -> list[_Case]:
        """Give the cases that ended since the last time."""
        cases, self._cases = self._cases, []
        return cases

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._now += 1
        if self._now > _MOST_DEEP:
            raise _TooDeep
        if "}" in tag:
            tag = tag.rpartition("}")[2]
        if tag == "testcase":
            if self.case is None:
                get = attributes.get
                self.case = _Case(
                    get("classname", ""),
                    get("name"),
                    get("time"),
                    get("status") in _NOT_RUN or get("result") in _NOT_RUN,
                    self._suites,
                )
        elif tag == "property":
            self._property(attributes.get("name"), attributes.get("value", ""))
        elif tag == "testsuite":
            self._suite(attributes)
        elif tag == "testsuites":
            self._pytest = attributes.get("name") == "pytest tests"
        elif tag in _CHILDREN and self.case is not None:
            message = attributes.get("message", "")[:_MOST_TEXT]
            self._child = _Child(tag, attributes.get("type", "")[:_MOST_TEXT], message)
            self.case.children.append(self._child)
            if not message:
                self._parser.CharacterDataHandler = self._text

    def _suite(self, attributes: dict[str, str]) -> None:
        self._number += 1
        name = attributes.get("name", "")
        inner = bool(self._suites) and self._suites[-1].pytest
        suite = _Suite(
            name,
            _iso(attributes.get("timestamp", "")),
            self._number,
            pytest=self._pytest or inner or name == "pytest",
        )
        # Another list, since the cases so far keep theirs.
        self._suites = [*self._suites, suite]

    def _end(self, tag: str) -> None:
        self._now -= 1
        if "}" in tag:
            tag = tag.rpartition("}")[2]
        if tag == "testcase":
            if self.case is not None:
                self._cases.append(self.case)
            self.case = None
        elif tag in _CHILDREN:
            self._child = None
            self._parser.CharacterDataHandler = None
        elif tag == "testsuite":
            self._suites = self._suites[:-1]

    def _text(self, text: str) -> None:
        """Take the start of what a failure without a message says."""
        child = self._child
        if child is not None:
            child.text += text[:_MOST_TEXT]
        if child is None or len(child.text) > _MOST_TEXT:
            self._parser.CharacterDataHandler = None

    def _property(self, name: str | None, value: str) -> None:
        known = self.case.properties if self.case else None
        if known is None and self._suites and name in _SUITES_COLUMNS:
            known = self._suites[-1].properties
        if known is not None and name and len(known) < _MOST_PROPERTIES:
            known[name[:_LONGEST_VALUE]] = value[:_LONGEST_VALUE]


def _iso(timestamp: str) -> str | None:
    """Take a time as ISO 8601 writes it; other words for it are as good as none."""
    try:
        datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return timestamp


def _natural(path: Path) -> list[list[str | int]]:
    """Split a path so that the numbers in it are compared as such."""
    return [natural(name) for name in path.parts]
