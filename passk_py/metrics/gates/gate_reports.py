"""Results of gates for others to read: JUnit XML for CI, Markdown for people."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub, and Gitea and Forgejo after it, name the summary of a CI step."""

_MARKS: Final = {"pass": "✅ pass", "fail": "❌ fail", "inconclusive": "❔ inconclusive"}
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

Row = dict[str, Any]


def title(row: Row) -> str:
    """Say which run a row is about, and which part of it."""
    said = [str(row["run_id"]), str(row["suite"])]
    if row["slice_name"] != "all":
        said.append(f"{row['slice_name']} = {row['slice_value']}")
    if row["baseline_run_id"] is not None:
        said.append(f"against {row['baseline_run_id']}")
    return " · ".join(said)


def settling(row: Row) -> str | None:
    """Say what would settle an inconclusive result, as a sentence."""
    what = row["to_settle"]
    return None if what is None else f"To settle it: {what[:1].lower()}{what[1:]}"


def _clean(text: str) -> str:
    """Leave out what XML can't hold."""
    return _NO_XML.sub("\ufffd", text)


def junit(rows: Sequence[Row]) -> str:
    """Write the results as JUnit XML."""
    kinds = [_junit_kind(row) for row in rows]
    counts = {name: str(kinds.count(kind)) for name, kind in _JUNIT_COUNTS.items()}
    root = ET.Element("testsuites")
    suite = ET.SubElement(
        root, "testsuite", {"name": "passk gates", "tests": str(len(rows)), **counts}
    )
    for row, kind in zip(rows, kinds, strict=True):
        name = _clean(f"{row['gate']}: {title(row)}")
        case = ET.SubElement(suite, "testcase", classname="passk.gates", name=name)
        text = _clean("\n".join(filter(None, (row["rule"], row["reason"], settling(row)))))
        if kind is None:
            ET.SubElement(case, "system-out").text = text
            continue
        message = _clean(row["reason"])
        if kind == "skipped":
            message = f"{row['result']}, advisory: {message}"
        found = ET.SubElement(case, kind, message=message)
        if kind != "skipped":
            found.set("type", row["result"])
        found.text = text
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


_JUNIT_COUNTS: Final = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _junit_kind(row: Row) -> str | None:
    """Name the element: inconclusive is an error; nothing of an advisory gate stops a build."""
    if row["result"] == "pass":
        return None
    if row["is_advisory"]:
        return "skipped"
    return "failure" if row["result"] == "fail" else "error"


def _cell(text: str) -> str:
    """Write a cell of a Markdown table: names come from files that others wrote."""
    plain = _CONTROL.sub(" ", text).replace("\\", "\\\\").replace("|", "\\|")
    for sign in "*_`<>[]":
        plain = plain.replace(sign, f"\\{sign}")
    return plain


def markdown(rows: Sequence[Row], notes: Sequence[str] = ()) -> str:
    """Write the results as a Markdown table, after notes on what they were judged by."""
    lines = ["## Gates", "", count(rows), ""]
    for note in notes:
        lines += [_cell(note), ""]
    if rows:
        lines += ["| gate | run | rule | result | why |", "|---|---|---|---|---|"]
    for row in rows:
        result = _MARKS[row["result"]] + (" (advisory)" if row["is_advisory"] else "")
        why = " ".join(filter(None, (row["reason"], settling(row))))
        cells = (row["gate"], title(row), row["rule"], result, why)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines) + "\n"


def count(rows: Sequence[Row], unjudged: Sequence[Row] = ()) -> str:
    """Say how many results there are of each kind; those without a run to judge are one."""
    if not rows:
        return "No gate was judged."
    found = [row["result"] for row in rows if row not in unjudged]
    passed, failed, unknown = (found.count(one) for one in ("pass", "fail", "inconclusive"))
    said = (
        (passed, f"pass{'es' if passed == 1 else ''}"),
        (failed, f"fail{'s' if failed == 1 else ''}"),
        (unknown, f"{'is' if unknown == 1 else 'are'} inconclusive"),
        (len(unjudged), f"{'is' if len(unjudged) == 1 else 'are'} not judged"),
    )
    return f"{', '.join(f'{number} {does}' for number, does in said if number)}."


def append_step_summary(text: str) -> None:
    """Add a report to the summary of the CI step that runs."""
    place = os.environ.get(STEP_SUMMARY)
    if not place:
        raise PasskError(
            f"There is no CI step to summarize: the variable {STEP_SUMMARY} is not set.",
            hint="Write a file instead: `passk gate --markdown FILE`, `passk report -o FILE.md`.",
        )
    try:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise PasskError(f"{place} can't be written: {error.strerror}.") from error
