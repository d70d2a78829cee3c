"""The message on a file of no format: what it looks like, and the mapping that may read it.

A mapping is never guessed for a load. Here it is only written down, for a person to look at: names
such as ``task`` and ``ok`` say well enough what they are.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.formats.kinds import listed
from passk_py.ingest.formats.mapping import IN_ORDER, map_options
from passk_py.ingest.formats.mapping_rows import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.sample import Sample

# Other tools' names of the contract's columns, the best name first. Letters only.
_TASK: Final = (
    *("taskid", "task", "taskname", "caseid", "case", "testcaseid", "testcase", "testid"),
    *("problemid", "problem", "questionid", "instanceid", "itemid", "exampleid", "sampleid"),
    *("scenarioid", "scenario", "promptid", "docid", "testname", "test", "id", "name", "key"),
    *("question", "prompt", "input", "title"),
)
_FLAG: Final = (
    *("passed", "pass", "ok", "success", "successful", "succeeded", "iscorrect", "correct"),
    *("isresolved", "resolved", "issolved", "solved", "ispassed", "issuccess"),
)
_WORD: Final = ("outcome", "verdict", "status", "result", "grade", "label")
_SCORE: Final = ("score", "reward", "grade", "points", "accuracy", "value")
_ATTEMPT: Final = (
    *("attempt", "trial", "attemptnumber", "attemptid", "trialid", "repeat", "repetition"),
    *("iteration", "try", "epoch", "runindex", "sampleindex"),
)
_OTHERS: Final = {
    "run_id": ("runid", "run", "runname"),
    "suite": ("suite", "benchmark", "dataset"),
    "agent": ("agent", "agentname"),
    "model": ("model", "modelname"),
}
# Words for a failure, and the word for a pass that each of them replaces.
_GOOD: Final = {
    "fail": "pass",
    "failed": "passed",
    "failure": "success",
    "incorrect": "correct",
    "unsolved": "solved",
    "unresolved": "resolved",
    "wrong": "right",
    "error": "ok",
}
_FLAGS: Final = ("true", "false", "0", "1")
_NOT_A_LETTER: Final = re.compile(r"[\W_]+")
_MOST_LINES: Final = 2

_Fields = dict[tuple[str, ...], Any]


def looks_like(sample: Sample) -> str | None:
    """Say of a file with rows what it looks like; None if it seems to have none."""
    fields = listed(sample.fields)
    if sample.container == "json_object" or (sample.one_object and sample.fields):
        return f"one JSON object with the keys {fields}"
    if not sample.fields:
        return None
    if sample.container == "csv":
        return f"a table with the columns {fields}" if _rows_of_table(sample) else None
    words = {
        "json_lines": f"JSON lines of objects with the fields {fields}",
        "json_list": f"a JSON array of objects with the fields {fields}",
        "parquet": f"a Parquet table with the columns {fields}",
    }
    return words.get(sample.container or "")


def mapping_to_try(sample: Sample) -> str:
    """Write ``--map`` options that may read a file; capitals stand for what no field names."""
    lines: dict[str, str] = {}
    fields = _fields_of(sample)
    if sample.one_object:
        rows = _rows_in(sample)
        if rows:
            lines["rows"], fields = rows
        elif not _named(fields, _TASK):
            lines["rows"], fields = "$.KEY", {}
    lines["task_id"] = path_of(*(_named(fields, _TASK) or ("TASK",)))
    lines |= _verdict(fields)
    for column, names in _OTHERS.items():
        found = _named(fields, names, top=True)
        if found and isinstance(fields[found], str | None):
            lines[column] = path_of(*found)
    lines["attempt"] = _attempt(fields)
    return map_options(lines)


def _fields_of(sample: Sample) -> _Fields:
    """List the fields of the first row, and what they hold as far as that can be seen."""
    if sample.container == "csv":
        return dict(zip(((n,) for n in sample.fields), _rows_of_table(sample) or [], strict=False))
    known: _Fields = {(name,): None for name in sample.fields}
    if sample.container in ("json_lines", "json_list", "json_object"):
        row = sample.first_row((EACH,) if sample.container == "json_list" else ())
        if isinstance(row, dict):
            known = {path: None for path in known if not isinstance(row.get(path[0]), dict)}
            known |= _flat(row)
    return known


def _flat(row: Mapping[str, Any], above: tuple[str, ...] = ()) -> _Fields:
    """List the plain values of a row and of the objects in it."""
    found: _Fields = {}
    for name, value in row.items():
        if isinstance(value, dict) and len(above) < _MOST_LINES:
            found |= _flat(value, (*above, name))
        else:
            found[(*above, name)] = value
    return found


def _rows_in(sample: Sample) -> tuple[str, _Fields] | None:
    """Find the list of objects in a document, and the fields of the first one."""
    for name in sample.fields:
        row = sample.first_row((name, EACH))
        inside = sample.first_row((name,))
        if isinstance(inside, list) and isinstance(row, dict):
            return path_of(name), _flat(row)
        if isinstance(inside, dict):
            for inner, rows in inside.items():
                if isinstance(rows, list) and rows and isinstance(rows[0], dict):
                    return path_of(name, inner), _flat(rows[0])
        elif inside is None and isinstance(row, dict):
            # The list is longer than the sample.
            return path_of(name), _flat(row)
    return None


def _rows_of_table(sample: Sample) -> list[str] | None:
    """Give the second line of a table; None if that shows that it is none."""
    lines = sample.start.split(sample.newline)[:_MOST_LINES]
    try:
        texts = [line.decode() for line in lines if line.strip()]
        rows = list(csv.reader(texts, delimiter=sample.delimiter))
    except (UnicodeDecodeError, csv.Error):
        return None
    named = [name for name in sample.fields if name]
    if len(named) < _MOST_LINES or len(rows) < _MOST_LINES or len(rows[0]) != len(rows[1]):
        return None
    return rows[1]


def _named(
    fields: Iterable[tuple[str, ...]], names: tuple[str, ...], *, top: bool = False
) -> tuple[str, ...] | None:
    """Find the field that has the best of some names, the outer ones first."""
    ranks: dict[tuple[int, int], tuple[str, ...]] = {}
    for path in fields:
        if top and len(path) > 1:
            continue
        for said in {"".join(path[-2:]), path[-1]}:
            name = _NOT_A_LETTER.sub("", said).lower()
            if name in names:
                ranks.setdefault((len(path), names.index(name)), path)
    return ranks[min(ranks)] if ranks else None


def _verdict(fields: _Fields) -> dict[str, str]:
    """Find what says whether a row passed."""
    flags = {path: value for path, value in fields.items() if _is_flag(value)}
    unseen = [path for path, value in fields.items() if value is None]
    if found := _named(flags, (*_FLAG, *_WORD)) or _named(unseen, _FLAG):
        return {"passed": path_of(*found)}
    words = {path: value for path, value in fields.items() if isinstance(value, str)}
    numbers = [path for path, value in fields.items() if _is_number(value)]
    if found := _named(words, (*_FLAG, *_WORD)):
        said = words[found]
        good = _GOOD.get(said.lower(), said if said.lower() in _GOOD.values() else "passed")
        return {"passed": f"{path_of(*found)} == '{good}'"}
    if found := _named(numbers, _SCORE) or _named(unseen, _SCORE):
        return {"score": path_of(*found)}
    return {"passed": "$.VERDICT"}


def _attempt(fields: _Fields) -> str:
    counts = {path: value for path, value in fields.items() if str(value).isdecimal()}
    found = _named(counts, _ATTEMPT)
    if found is None:
        return IN_ORDER
    # A count from 0 has a first row of 0, mostly.
    return path_of(*found) + (" + 1" if int(counts[found]) == 0 else "")


def _is_flag(value: Json) -> bool:
    return isinstance(value, bool) or str(value).lower() in _FLAGS


def _is_number(value: Json) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
