"""The test cases of a JUnit XML document, read as a stream.

Only the elements and attributes that say how a test went are kept; the output of tests is skipped.
DTDs and entities are rejected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cache
from typing import IO, TYPE_CHECKING, Final
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from passk_py.ingest.containers.open_bytes import read_chunk
from passk_py.ingest.formats.harness import Record
from passk_py.ingest.formats.policy import general_policy
from passk_py.ingest.formats.run_names import REPEATS, pytest_repeat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.parsers.expat import XMLParserType

_CHUNK: Final = 1 << 20
_MOST_DEEP: Final = 100
# The longest tag: the parser holds one in memory until it ends.
_MOST_UNREAD: Final = 8 << 20
_MOST_TEXT: Final = 500
_MOST_PROPERTIES: Final = 100
_LONGEST_VALUE: Final = 2_000
_CHILDREN: Final = frozenset(
    (
        *("failure", "error", "skipped"),
        *("flakyFailure", "flakyError", "rerunFailure", "rerunError"),
    )
)
SUITES_COLUMNS: Final = frozenset(("agent", "agent_version", "model", "seed"))
"""Properties of a suite that fill a column of its attempts."""
COLUMNS: Final = SUITES_COLUMNS | {"cost_usd", "input_tokens", "output_tokens"}
_NOT_RUN: Final = frozenset(("notrun", "disabled", "skipped", "suppressed"))
# The attributes of a suite in the order in which pytest alone writes them, since 5.1. The name of
# its suite can be set, and the root has one from 8.4 on only.
_PYTEST_SUITE: Final = ("name", "errors", "failures", "skipped", "tests", "time", "timestamp")
# The same of Playwright, which alone writes the name of a project for the host's.
_PLAYWRIGHT_SUITE: Final = ("name", "timestamp", "hostname", "tests", "failures", "skipped")
_SPOKEN: Final = re.compile(
    rf"^(.*?)(?:^|[\s_:(\[-]+)(?:{REPEATS})[\s_#-]*([0-9]{{1,9}})(?: of [0-9]+)?[)\]]?$",
    re.DOTALL | re.IGNORECASE,
)
_TIMEOUT: Final = re.compile(
    r"failed: timeout|(?:the )?test (?:timed out|timeout of [0-9])"
    r"|.{0,200}exceeded timeout of [0-9]",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(slots=True)
class Child:
    """One run of a test case, as the report has it."""

    kind: str
    type: str
    message: str
    text: str = ""

    @property
    def timed_out(self) -> bool:
        """Whether it says that the time was up."""
        said = self.message or self.text.lstrip()
        return "timeout" in self.type.lower() or _TIMEOUT.match(said) is not None

    @property
    def after_the_test(self) -> bool:
        """Whether it is about pytest's tear-down."""
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
        if self.message.startswith("exited with error code"):
            # Bazel's word for a test that failed and wrote no report of its own.
            return False, None
        if self.timed_out and not _says_why(self.type):
            return None, "timeout"
        return None, self.type or "error"


@dataclass(slots=True)
class _Suite:
    """A suite that is open."""

    name: str
    timestamp: str | None
    number: int
    pytest: bool
    playwright: bool
    project: str
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Case:
    """A test case, with the suites that it is in."""

    classname: str
    name: str | None
    time: str | None
    not_run: bool
    suites: list[_Suite]
    children: list[Child] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def pytest(self) -> bool:
        """Whether pytest ran it."""
        return bool(self.suites) and self.suites[-1].pytest

    @property
    def key(self) -> int:
        """Tell it from the other tests of the file."""
        return hash((self.suites[-1].number if self.suites else 0, self.classname, self.name))

    @property
    def only_after_the_test(self) -> bool:
        """Whether it is about nothing but the tear-down."""
        return bool(self.children) and all(child.after_the_test for child in self.children)

    def verdicts(self) -> list[tuple[bool | None, str | None]]:
        """Give the verdict of each run of the test with its reason, in their order."""
        before = [child.verdict() for child in self.children if child.kind.startswith("flaky")]
        after = [child.verdict() for child in self.children if child.kind.startswith("rerun")]
        by_kind: dict[str, Child] = {}
        for child in self.children:
            if not (child.kind == "error" and child.after_the_test):
                by_kind.setdefault(child.kind, child)
        last = next((by_kind[k] for k in ("failure", "error", "skipped") if k in by_kind), None)
        passed, reason = last.verdict() if last else (True, None)
        if last is None and self.not_run:
            passed, reason = None, "skipped"
        if any(child.after_the_test for child in self.children):
            reason = reason or "teardown"
        return [*before, (passed, reason), *after]

    def columns(self) -> dict[str, str]:
        """Give the properties that are columns of the attempt: its own before its suites'."""
        of_suites = {
            name: value
            for suite in self.suites
            for name, value in suite.properties.items()
            if name in SUITES_COLUMNS
        }
        return of_suites | {n: self.properties[n] for n in COLUMNS & self.properties.keys()}

    def tags(self) -> dict[str, str]:
        """Give the other properties."""
        return {name: value for name, value in self.properties.items() if name not in COLUMNS}

    def titles(self) -> tuple[tuple[str, ...], str]:
        """Give the titles above the name of the test, and the name."""
        name = self.name or ""
        if not self.pytest:
            suites = tuple(suite.name for suite in self.suites if suite.name)
            if project := self.suites[-1].project if self.suites else "":
                return (project, *((self.classname,) if self.classname else suites)), name
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
            return pytest_repeat(name)
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


def tried(
    tries: Sequence[Case],
) -> tuple[Case, list[tuple[bool | None, str | None]], int]:
    """Give the case that says how a test went, the verdicts on it, and how many tries came before.

    pytest writes a further case of the same name if it tries a test again, and for an error of the
    tear-down after a failure.
    """
    case = tries[0]
    verdicts = case.verdicts()
    reruns = len(verdicts) - 1
    for one in tries[1:]:
        if not one.only_after_the_test:
            case, verdicts, reruns = one, one.verdicts()[-1:], reruns + 1
        elif verdicts[-1][0] is not None:
            verdicts = [(verdicts[-1][0], "teardown")]
    return case, verdicts, reruns


def cases_in(file: IO[bytes]) -> Iterator[Case | Record]:
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


@cache
def _says_why(type_: str) -> bool:
    """Tell whether an error's type says more than a timeout: a connection is not the agent's."""
    known = [pattern for pattern, outcome in general_policy() if outcome == "excluded"]
    lowered = type_.lower()
    return "timeout" in lowered or any(
        fnmatchcase(lowered, pattern) for pattern in known if "*" in pattern
    )


class _TooDeep(Exception):  # noqa: N818 - becomes the reason of a rejected row
    """Ends the parsing of a document that is nested too deep."""


class _Target:
    """Is told by the parser of what it meets, and keeps what is asked for of it."""

    def __init__(self, parser: XMLParserType) -> None:
        self.case: Case | None = None
        self._parser = parser
        self._cases: list[Case] = []
        self._suites: list[_Suite] = []
        self._child: Child | None = None
        self._now = 0
        self._number = 0
        self._pytest = False
        parser.ordered_attributes = False
        # Otherwise text is held back until after its handler has changed.
        parser.buffer_text = False
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        # Text is asked for where it is wanted only: most of a document is the output of tests.
        parser.CharacterDataHandler = None
        parser.DefaultHandlerExpand = None
        parser.CommentHandler = None
        parser.ProcessingInstructionHandler = None

    def take(self) -> list[Case]:
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
                self.case = Case(
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
            if self._suites and self._suites[-1].playwright:
                # An exception in a test is an error there, a timeout too: the test failed.
                tag = tag.replace("Error", "Failure").replace("error", "failure")
            self._child = Child(tag, attributes.get("type", "")[:_MOST_TEXT], message)
            self.case.children.append(self._child)
            if not message:
                self._parser.CharacterDataHandler = self._text

    def _suite(self, attributes: dict[str, str]) -> None:
        self._number += 1
        name = attributes.get("name", "")
        inner = bool(self._suites) and self._suites[-1].pytest
        playwright = tuple(attributes)[: len(_PLAYWRIGHT_SUITE)] == _PLAYWRIGHT_SUITE
        suite = _Suite(
            name,
            _iso(attributes.get("timestamp", "")),
            self._number,
            pytest=self._pytest
            or inner
            or name == "pytest"
            or tuple(attributes)[: len(_PYTEST_SUITE)] == _PYTEST_SUITE,
            playwright=playwright,
            project=attributes["hostname"] if playwright else "",
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
        if known is None and self._suites and name in SUITES_COLUMNS:
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
