"""The attempts of a session, from the reports of its tests, in the workers of xdist too.

Nothing is imported here but pytest, because every session loads this file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from passk_py.pytest_plugin.repetition import split

ATTRIBUTE: Final = "passk"
"""The attribute of a report that says which attempt it is of: values that xdist can send."""

_LONGEST: Final = 500
"""How much of a message is kept: as much as the reader of JUnit reads."""

Fault = tuple[str, str, str, str]
"""Of what is not a pass: the phase, and the kind, type and message that JUnit XML has for it."""


@dataclass(slots=True)
class Attempt:
    """One run of a test."""

    nodeid: str
    """The id of the test, without the repetition."""
    number: int
    of: int
    gate: tuple[int | None, float] | None = None
    faults: list[Fault] = field(default_factory=list)
    properties: dict[str, Any] = field(default_factory=dict)
    started: float | None = None
    duration: float = 0.0
    phases: list[str] = field(default_factory=list)
    failed_reports: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether it was run to its end, or is known to have broken off."""
        # With --setup-only no test is called.
        return bool({"teardown", "???", "collect"} & set(self.phases)) and (
            "call" in self.phases or bool(self.faults)
        )


class Recorder:
    """Collects attempts while a session runs; registered where results come together."""

    def __init__(self) -> None:
        self.attempts: dict[str, Attempt] = {}
        self.uncollected: dict[str, Attempt] = {}
        """Files and classes that could not be collected, or were skipped as a whole."""
        self.unmeasured: dict[str, None] = {}
        """Tests that can't be repeated."""
        self.retried: dict[str, None] = {}
        """Attempts that another plugin made several times."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a phase of a test."""
        attempt = self._attempt_of(report)
        if attempt is None:
            self.unmeasured[report.nodeid] = None
            return
        # A report of a part of a test, which pytest makes for its subtests.
        if not hasattr(report, "context"):
            if report.when in attempt.phases or report.outcome not in _OUTCOMES:
                self.retried[report.nodeid] = None
            attempt.phases.append(str(report.when))
            attempt.duration += report.duration
        if attempt.started is None:
            attempt.started = getattr(report, "start", None) or None
        attempt.properties |= {str(name): value for name, value in report.user_properties}
        attempt.failed_reports += report.failed and not hasattr(report, "wasxfail")
        if (fault := _fault(report)) is not None:
            attempt.faults.append(fault)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take what could not be collected."""
        if report.passed or not report.nodeid:
            return
        kind = ("skipped", "pytest.skip", "")
        if report.failed:
            kind = ("error", "", "collection failure")
        attempt = Attempt(report.nodeid, 1, 1, faults=[("collect", *kind)], phases=["collect"])
        self.uncollected[report.nodeid] = attempt

    def _attempt_of(self, report: pytest.TestReport) -> Attempt | None:
        about = getattr(report, ATTRIBUTE, None)
        known = self.attempts.get(report.nodeid)
        if about is None and report.when == "???":  # type: ignore[comparison-overlap]
            # xdist reports a test during which a worker crashed, and knows its id only.
            stem, number, of = split(report.nodeid) or (None, 0, 0)
            if known is None and stem is not None:
                about = {"nodeid": stem, "number": number, "of": of}
        if known is None and about is not None:
            known = self.attempts[report.nodeid] = Attempt(**about)
        return known


_OUTCOMES: Final = ("passed", "failed", "skipped")


def _fault(report: pytest.TestReport) -> Fault | None:
    """Say what is not a pass as pytest's own JUnit XML does."""
    if report.passed:
        return None
    phase = str(report.when)
    if report.skipped:
        return (
            phase,
            "skipped",
            "pytest.xfail" if hasattr(report, "wasxfail") else "pytest.skip",
            "",
        )
    if phase != "call":
        return phase, "error", "", f"failed on {'teardown' if phase == 'teardown' else 'setup'}"
    if hasattr(report, "wasxfail"):
        return phase, "skipped", "", ""
    crash = getattr(report.longrepr, "reprcrash", None)
    message = str(report.longrepr) if crash is None else str(crash.message)
    return phase, "failure", "", message[:_LONGEST]
