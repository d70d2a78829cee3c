"""From the attempts of a session to rows of the attempt contract, by the rules for JUnit XML."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from passk_py.ingest.formats.test_reports.junit_cases import Case, Child, tried

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.pytest_plugin.reported_attempts import Attempt


def task_of(nodeid: str) -> str:
    """Name a test as the reader of JUnit XML does: dots for the path, then the name."""
    path, bracket, params = nodeid.partition("[")
    names = path.split("::")
    names[0] = names[0].replace("/", ".").removesuffix(".py")
    names[-1] += bracket + params
    classname = ".".join(names[:-1])
    return f"{classname}::{names[-1]}" if classname else names[-1]


def rows_of(
    attempts: Iterable[Attempt], given: Mapping[str, str | None]
) -> Iterator[dict[str, Any]]:
    """Give a row for each attempt, those of a test numbered in the order in which they started."""
    by_task: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        by_task.setdefault(attempt.nodeid, []).append(attempt)
    for nodeid, ones in by_task.items():
        ones.sort(key=lambda one: (one.started or math.inf, one.number))
        for place, one in enumerate(ones, 1):
            row = {
                **given,
                "task_id": task_of(nodeid),
                "attempt": place,
                **_told(one),
                "expected_attempts": one.of,
            }
            yield {name: value for name, value in row.items() if value is not None}


def write_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write rows as lines of JSON."""
    return "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows)


def _told(attempt: Attempt) -> dict[str, Any]:
    """Say how an attempt went; the policy of the reader of JUnit XML decides what it counts as."""
    properties = {name: str(value) for name, value in attempt.properties.items()}
    children = [(phase, Child(*rest)) for phase, *rest in attempt.faults]
    after = [child for phase, child in children if phase == "teardown"]
    before = [child for phase, child in children if phase != "teardown"]
    # pytest's XML has an error of the tear-down after a failure as a case of its own.
    is_apart = any(phase == "call" and child.kind == "failure" for phase, child in children)
    parts = [before, after] if after and is_apart else [[*before, *after]]
    case, verdicts, _ = tried(
        [Case("", attempt.nodeid, None, False, [], part, properties) for part in parts]
    )
    passed, reason = verdicts[-1]
    started = attempt.started
    return {
        "outcome": "excluded" if passed is None else "passed" if passed else "failed",
        "outcome_reason": reason,
        **{name: _number(attempt.properties[name]) for name in sorted(case.columns())},
        "started_at": started and datetime.fromtimestamp(started, UTC).isoformat(),
        "duration_s": round(attempt.duration, 6) if attempt.phases != ["collect"] else None,
        "tags": case.tags() or None,
    }


def _number(value: object) -> object:
    """Keep a number that JSON can hold; everything else is a text, as in XML."""
    is_number = type(value) is int or (isinstance(value, float) and math.isfinite(value))
    return value if is_number else str(value)
