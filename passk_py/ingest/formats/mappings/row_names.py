"""Columns of the contract in rows of an unknown file, told by the names of their fields."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import is_level
from passk_py.ingest.formats.mappings.mapping import IN_ORDER
from passk_py.ingest.formats.mappings.mapping_expression import parsed
from passk_py.ingest.formats.mappings.mapping_rows import path_of
from passk_py.ingest.formats.mappings.row_values import (
    are_counts,
    are_letters,
    are_of_one_row_each,
    are_texts,
    are_times,
    are_uuids,
    come_again,
    good_word,
    is_flag,
    is_number,
    only_ended,
    verdict_of_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from passk_py.ingest.formats.mappings.mapping_expression import Expression, Level
    from passk_py.ingest.formats.mappings.mapping_rows import Path

NO_TASK: Final = "$.TASK"
NO_VERDICT: Final = "$.VERDICT"
"""The paths of what no name says."""

# Other tools' names of the contract's columns, the best name first. Letters only.
_TASK: Final = (
    *("taskid", "task", "taskname", "caseid", "case", "testcaseid", "testcase", "testid"),
    *("problemid", "problem", "questionid", "instanceid", "itemid", "exampleid", "sampleid"),
    *("scenarioid", "scenario", "promptid", "docid", "queryid", "testname", "nodeid"),
    *("taskidx", "taskindex"),
)
# Anything may be called so, rows and what is above them.
_ASKED: Final = ("question", "prompt", "input", "inputs")
_ANY: Final = ("test", "id", "name", "key", "question", "prompt", "input", "title")
_FLAG: Final = (
    *("passed", "pass", "iscorrect", "correct", "correctness", "isresolved", "resolved"),
    *("issolved", "solved", "ispassed", "passfail", "exactmatch"),
    # These may only say that a try came to its end.
    *("issuccess", "success", "successful", "succeeded", "ok"),
)
# Or a flag may say whose verdict it is, as graded_correct does.
_ENDS: Final = re.compile(r".*[\W_](passed|correct|solved|resolved)", re.IGNORECASE | re.DOTALL)
_WORD: Final = ("outcome", "verdict", "result", "grade", "status")
_SCORE: Final = (
    *("score", "reward", "grade", "points", "accuracy", "finalscore", "totalscore"),
    *("overallscore", "meanscore", "averagescore", "finalreward", "totalreward", "value"),
)
_ATTEMPT: Final = (
    *("attempt", "trial", "attemptnumber", "attemptid", "trialid", "repeat", "repetition"),
    *("iteration", "try", "epoch", "runindex", "sampleindex", "attemptindex", "trialindex"),
    *("runidx", "sampleidx", "attemptidx", "trialidx", "run"),
)
_OTHERS: Final = {
    "run_id": ("runid", "run", "runname", "experiment", "experimentid", "experimentname"),
    "suite": ("suite", "benchmark", "dataset"),
    "agent": ("agent", "agentname"),
    "model": ("model", "modelname"),
}
_STARTED: Final = ("startedat", "starttime", "started", "start")
_ERROR: Final = ("error", "errortype", "exception", "errormessage")
# Names of lists that hold the tries of a task, and not what was checked in each of them.
TRIES: Final = re.compile(
    r"(attempt|trial|sample|try|trie|run|repeat|repetition|rollout|completion|generation|epoch"
    r"|iteration|response|seed)s?[^a-z]*",
    re.IGNORECASE,
)
# Names of lists of tasks, whatever their elements have in them.
OF_TASKS: Final = re.compile(r"(test|task|case|problem|question|instance)s", re.IGNORECASE)
_NOT_A_LETTER: Final = re.compile(r"[\W_]+")
_METRIC: Final = ("metric", "metricname", "measure")
_DEEPEST: Final = 2
_MOST_NAMES: Final = 200

_Fields = dict[tuple[str, ...], list[Any]]


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows, each with the levels above it, the row last."""

    levels: tuple[tuple[Level, ...], ...]
    is_document: bool
    """Whether the topmost level is a document of many tasks."""
    path: Path
    are_tries: bool
    """Whether their list is called as if they were tries of one task."""
    _fields: dict[int, _Fields] = field(default_factory=dict)

    @property
    def above(self) -> range:
        """How far up there is something, from the row's own level on."""
        return range(min(map(len, self.levels), default=0))

    def fields(self, up: int) -> _Fields:
        """List the plain values in the objects of a level, by where they are."""
        if up not in self._fields:
            found = self._fields[up] = {}
            # Rows in a row are of one object above them.
            for _, values in itertools.groupby((one[-1 - up][1] for one in self.levels), id):
                value = next(values)
                if isinstance(value, dict):
                    _add(found, value, ())
        return self._fields[up]

    def keys(self, up: int) -> list[str | int | None]:
        """List the names or places of a level."""
        return [levels[-1 - up][0] for levels in self.levels]

    def are_called(self, up: int) -> str:
        """Give the name of the list or object whose elements a level is; empty if it has none."""
        stars = [place for place, step in enumerate(self.path) if is_level(step)]
        place = stars[-1 - up] if up < len(stars) else 0
        return self.path[place - 1].lower() if place and not is_level(self.path[place - 1]) else ""

    @property
    def scalars(self) -> list[Any]:
        """The rows that are plain values; none if any is an object or a list."""
        rows = [levels[-1][1] for levels in self.levels]
        return [] if any(isinstance(row, dict | list) for row in rows) else rows


def _add(found: _Fields, row: Mapping[str, Any], above: tuple[str, ...]) -> None:
    for name, value in itertools.islice(row.items(), _MOST_NAMES):
        if isinstance(value, dict) and len(above) < _DEEPEST:
            _add(found, value, (*above, name))
        else:
            found.setdefault((*above, name), []).append(value)


def columns_of(rows: Rows) -> dict[str, str]:
    """Write the lines of a mapping of rows; capitals stand for what no name says."""
    verdict = _verdict(rows)
    task = _task(rows, verdict)
    lines = {"task_id": task or NO_TASK, **(verdict or {"passed": NO_VERDICT})}
    for column, names in _OTHERS.items():
        for up in rows.above:
            fields = rows.fields(up)
            found = _named(fields, names, top=True)
            if found and _are_names(found, column, up, rows):
                lines[column] = _path(found, up)
                break
            # Or it is the name under which that stands, among others of its kind.
            plural = {f"{name}s" for name in names}
            if up and rows.are_called(up) in plural and (said := _key_or_name(rows, up)) != task:
                lines[column] = said
                break
    if task and "run_id" not in lines and (run := _runs(rows, lines) or _maker(rows, lines)):
        lines["run_id"] = run
    lines |= {"attempt": _attempt(rows, task or "")}
    own = rows.fields(0)
    started = _named((path for path in own if are_times(own[path])), _STARTED, top=True)
    if started and lines["attempt"] == IN_ORDER:
        lines["started_at"] = _path(started, 0)
    texts = (path for path in own if all(isinstance(one, str | None) for one in own[path]))
    error = _named(texts, _ERROR, top=True)
    if error and "outcome_reason" not in lines and _lacks_verdicts(rows, lines):
        lines["outcome_reason"] = _path(error, 0)
    return lines


def _are_names(path: tuple[str, ...], column: str, up: int, rows: Rows) -> bool:
    """Tell whether a field names a run, a suite or who made it, in most rows."""
    values = rows.fields(up)[path]
    if not up and 2 * len(values) <= len(rows.levels):
        return False
    if column == "run_id":
        texts = [str(value) for value in values]
        # Runs that are counted are the tries of a task, and an id of each row is that of a try.
        is_of_try = are_of_one_row_each(texts) and len(texts) > 1 and are_uuids(texts)
        is_count = not up and path[-1].lower() == "run" and are_counts(texts)
        return not (is_of_try or is_count)
    return all(isinstance(value, str | None) for value in values)


def _lacks_verdicts(rows: Rows, lines: dict[str, str]) -> bool:
    """Tell whether the verdict of a row is null."""
    judge = parsed(lines.get("passed") or lines["score"])
    return any(judge.value_in(levels) is None for levels in rows.levels)


def _runs(rows: Rows, lines: dict[str, str]) -> str | None:
    """Find the level above the task under whose names the same tasks stand again."""
    task = parsed(lines["task_id"])
    judge = parsed(lines.get("passed") or lines["score"])
    for up in rows.above[task.up + 1 :]:
        said = _key_or_name(rows, up)
        is_used = (judge.is_key and judge.up == up) or said in lines.values()
        if not is_used and _differ_in_a_task(rows, said, task):
            return said
    return None


def _maker(rows: Rows, lines: dict[str, str]) -> str | None:
    """Find the agent or model that is not the same in all rows of a task."""
    task = parsed(lines["task_id"])
    makers = [lines[column] for column in ("agent", "model") if column in lines]
    return next((said for said in makers if _differ_in_a_task(rows, said, task)), None)


def _differ_in_a_task(rows: Rows, said: str, task: Expression) -> bool:
    """Tell whether a task has several of these names, which are not those of tries."""
    named = parsed(said)
    names = [named.value_in(levels) for levels in rows.levels]
    if not are_texts(names) or all(map(TRIES.fullmatch, names)):
        return False
    tasks = (str(task.value_in(levels)) for levels in rows.levels)
    return _comes_with_several(zip(tasks, names, strict=True))


def _comes_with_several(pairs: Iterable[tuple[Any, Any]]) -> bool:
    """Tell whether any of the first comes with more than one of the second."""
    firsts: dict[Any, Any] = {}
    return any(firsts.setdefault(one, other) != other for one, other in pairs)


def _task(rows: Rows, verdict: dict[str, str] | None) -> str | None:
    """Find what names the task of a row: its own field, what is above it, or a key."""
    # The topmost level of a document is no task, unless the document is the row.
    levels = [up for up in rows.above if not (up and rows.is_document and up == rows.above[-1])]
    for up in levels:
        if found := _named(rows.fields(up), _TASK):
            return _path(found, up)
    texts = [row for row in rows.scalars if isinstance(row, str)]
    if texts and not any(line.split(" ")[0] == "$" for line in (verdict or {}).values()):
        return "$"
    own = rows.fields(0)
    # A row that has an id of its own is a try of what it is about.
    named = _named((path for path in own if not are_uuids(own[path])), _ANY) or _named(own, _ANY)
    if named and are_of_one_row_each(own[named]):
        named = _named((path for path in own if come_again(own[path])), _ASKED) or named
    texts = [value for value in own.get(named or (), ()) if isinstance(value, str)]
    if named and texts and not rows.are_tries and not any(map(str.isdecimal, texts)):
        return _path(named, 0)
    for up in levels[1:]:
        if found := _named(rows.fields(up), _ANY):
            return _path(found, up)
    keyed = [up for up in levels if are_texts(rows.keys(up))]
    if keyed and not keyed[0] and (rows.are_tries or are_counts(rows.keys(0))):
        keyed = keyed[1:] or keyed
    if keyed:
        return _key(keyed[0])
    return _path(named, 0) if named else None


def _key_or_name(rows: Rows, up: int) -> str:
    """Find what names the elements of a level."""
    found = None if are_texts(rows.keys(up)) else _named(rows.fields(up), _ANY)
    return _path(found, up) if found else _key(up)


def _named(
    fields: Iterable[tuple[str, ...]],
    names: tuple[str, ...],
    *,
    top: bool = False,
    alone: bool = False,
) -> tuple[str, ...] | None:
    """Find the field that has the best of some names, the outer ones first.

    If it has to be alone, there is none where two objects in a row have such a field.
    """
    ranks: dict[tuple[int, int], tuple[str, ...]] = {}
    several: set[tuple[int, int]] = set()
    for path in fields:
        if top and len(path) > 1:
            continue
        # Tables are often flattened documents, with names such as output.correct.
        steps = (*path[:-1], *path[-1].split("."))
        for said in {"".join(steps[-2:]), steps[-1]}:
            name = _NOT_A_LETTER.sub("", said).lower()
            if name in names:
                rank = (len(path), names.index(name))
                if ranks.setdefault(rank, path) != path:
                    several.add(rank)
    best = min(ranks, default=None)
    return None if best is None or (alone and best in several) else ranks[best]


def _verdict(rows: Rows) -> dict[str, str] | None:
    """Find what says whether a row passed."""
    values = [row for row in rows.scalars if row is not None]
    if values and all(map(is_flag, values)):
        return {"passed": "$"}
    if values and good_word(values):
        return verdict_of_words("$", list(map(str, values)))
    if values and all(is_number(value) and 0 <= float(value) <= 1 for value in values):
        return {"score": "$"}
    fields = {
        path: [value for value in found if value is not None]
        for path, found in rows.fields(0).items()
    }
    flags = [path for path, found in fields.items() if found and all(map(is_flag, found))]
    return _flag(fields, flags) or _word_or_score(rows, fields, flags)


def _flag(fields: _Fields, flags: list[tuple[str, ...]]) -> dict[str, str] | None:
    """Find the field that is true where a row passed."""
    unseen = [path for path, found in fields.items() if not found]
    found = _named(flags, (*_FLAG, *_WORD), alone=True) or _named(unseen, _FLAG, alone=True)
    ends = [path for path in flags if _ENDS.fullmatch(path[-1])]
    if found or (found := ends[0] if len(ends) == 1 else None):
        return {"passed": _path(found, 0)}
    return None


def _word_or_score(
    rows: Rows, fields: _Fields, flags: list[tuple[str, ...]]
) -> dict[str, str] | None:
    """Find the word of the verdict, the score of the row, or the list that it is in."""
    words = [p for p, found in fields.items() if found and all(isinstance(v, str) for v in found)]
    words = [path for path in words if good_word(fields[path]) or are_letters(fields[path])]
    score = _score(fields)
    if found := _named(words, (*_FLAG, *_WORD, *_SCORE), alone=True):
        if not only_ended(fields[found]):
            return verdict_of_words(_path(found, 0), fields[found])
        if not score:
            # The verdict may be another, whose name tells nothing.
            others = [path for path in flags if not _named([path], (*_TASK, *_ANY, *_ATTEMPT))]
            told = any(len(set(fields[path])) > 1 for path in others)
            return None if told else verdict_of_words(_path(found, 0), fields[found])
    unseen = [path for path, found in fields.items() if not found]
    if score or (score := _named(unseen, _SCORE, alone=True)):
        return {"score": _path(score, 0)}
    for up in rows.above[1:]:
        keys = [key for key in rows.keys(up) if isinstance(key, str)]
        if good_word(keys) and not _stand_again(rows, up):
            return verdict_of_words(_key(up), keys)
    return None


def _score(fields: _Fields) -> tuple[str, ...] | None:
    """Find the score of a row."""
    numbers = [path for path, found in fields.items() if found and all(map(is_number, found))]
    # The value of one of several metrics is none.
    names = _SCORE if _named(fields, _METRIC) is None else _SCORE[:-1]
    shares = [path for path in numbers if all(0 <= float(one) <= 1 for one in fields[path])]
    texts = [path for path in shares if all(isinstance(one, str) for one in fields[path])]
    return _named(numbers, names, alone=True) or _named(texts, (*_FLAG, *_WORD), alone=True)


def _stand_again(rows: Rows, up: int) -> bool:
    """Tell whether a row is in lists of several names, such as generated and resolved."""
    return _comes_with_several(
        ((repr(levels[-1][1]), *(key for key, _ in levels[: -1 - up])), levels[-1 - up][0])
        for levels in rows.levels
    )


def _attempt(rows: Rows, task: str) -> str:
    """Find the number of a row among the tries of its task."""
    fields = rows.fields(0)
    counts = {
        path: [int(value) for value in values]
        for path, values in fields.items()
        if values and all(str(value).isdecimal() and len(str(value)) < 10 for value in values)
    }
    found = _named(counts, _ATTEMPT)
    if found is not None:
        return _path(found, 0) + (" + 1" if min(counts[found]) == 0 else "")
    keys = rows.keys(0)
    if task.startswith("^") and (are_counts(keys) or all(isinstance(key, int) for key in keys)):
        return "$key" + (" + 1" if min(int(str(key)) for key in keys) == 0 else "")
    return IN_ORDER


def _path(names: tuple[str, ...], up: int) -> str:
    return ("^" * up or "$") + path_of(*names).removeprefix("$")


def _key(up: int) -> str:
    return f"{'^' * up or '$'}key"
