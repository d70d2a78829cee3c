"""Kinds of plain values in rows of an unknown file: verdicts in words, ids, numbers, times."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.formats.json_values import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.ingest.containers.shape import Json

# Words for a failure, without regard to case, and the word for a pass that each of them replaces.
_GOOD: Final = {
    "fail": "pass",
    "failed": "passed",
    "not passed": "passed",
    "failure": "success",
    "failures": "successes",
    "unsuccessful": "successful",
    "incorrect": "correct",
    "wrong answer": "accepted",
    "rejected": "accepted",
    "unsolved": "solved",
    "not solved": "solved",
    "unresolved": "resolved",
    "not resolved": "resolved",
    "wrong": "right",
    "nok": "ok",
    "not ok": "ok",
    "error": "ok",
    "bad": "good",
    "no": "yes",
    "false": "true",
    "✗": "✓",
    "✘": "✔",
    "❌": "✅",
}
_PASSES: Final = frozenset((*_GOOD.values(), "succeeded"))
_ERRORS: Final = ("error", "errors", "errored")
"""Failures only where no other word is one."""
# Verdicts in letters, as Inspect and people write them.
_GOOD_LETTERS: Final = ("c", "y")
_LETTERS: Final = (*_GOOD_LETTERS, "i", "n", "p")
_FLAGS: Final = ("true", "false", "0", "1")
# A try that came to its end, or did not, may be called so, whatever it was worth.
_ENDED: Final = ("success", "ok", *_ERRORS)
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:.*")
_WORDS: Final = 50
_BETWEEN: Final = re.compile(r"[\s_-]+")
_OF_TASKS: Final = re.compile(r" (ids|instances|tasks|cases|tests|problems)$")
_LONGEST: Final = 10


def _plain(word: str) -> str:
    """Give a word as the tables of words have it, without what it is said of."""
    return _OF_TASKS.sub("", _BETWEEN.sub(" ", word).strip().lower())


def good_word(values: Iterable[Any]) -> str | None:
    """Find among words the one for a pass; None if they are no verdicts."""
    words = list(dict.fromkeys(map(str, values)))[:_WORDS]
    for word in words:
        if _plain(word) in _PASSES:
            return word
    # If all are failures, there is a word for a pass elsewhere, written as they are.
    if not words or not all(_plain(one) in _GOOD for one in words):
        return None
    good = _GOOD[_plain(words[0])]
    return good.upper() if words[0].isupper() else good.title() if words[0].istitle() else good


def verdict_of_words(path: str, values: list[str]) -> dict[str, str]:
    """Write how words judge; those that are no verdicts, such as skipped, are the reasons."""
    words = list(dict.fromkeys(values))
    if are_letters(values):
        return {"passed": _is_one_of(path, [one for one in words if one.lower() in _GOOD_LETTERS])}
    good = [word for word in words if _plain(word) in _PASSES]
    bad = [word for word in words if _plain(word) in _GOOD]
    errors = [word for word in bad if _plain(word) in _ERRORS]
    if len(errors) < len(bad):
        bad = [word for word in bad if word not in errors]
    lines = {"passed": _is_one_of(path, good or [good_word(values)])}
    known = [word for word in (*good, *bad) if "'" not in word]
    if len(known) < len(words):
        lines |= {"outcome_reason": path, "no_verdict": _is_none_of(path, known)}
    return lines


def _is_none_of(path: str, words: Sequence[str]) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{path} not in ({listed})" if words[1:] else f"{path} != {listed}"


def _is_one_of(path: str, words: Sequence[str | None]) -> str:
    """Write that a value is one of some words, without quotes in them."""
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{path} in ({listed})" if words[1:] else f"{path} == {listed}"


def are_letters(values: list[str]) -> bool:
    """Tell whether all are letters for verdicts, with one for a pass among them."""
    letters = {value.lower() for value in values}
    return letters <= set(_LETTERS) and bool(letters & set(_GOOD_LETTERS))


def only_ended(words: list[str]) -> bool:
    """Tell whether words may only say whether a try came to its end."""
    return all(_plain(word) in _ENDED for word in words)


def are_times(values: list[Any]) -> bool:
    """Tell whether all are times."""
    return all(isinstance(value, str) and _TIME.fullmatch(value) for value in values)


def are_uuids(values: list[Any]) -> bool:
    """Tell whether all are UUIDs."""
    return all(isinstance(value, str) and _UUID.fullmatch(value) for value in values)


def are_of_one_row_each(values: list[Any]) -> bool:
    """Tell whether no value comes twice."""
    return len(set(map(str, values))) == len(values)


def come_again(values: list[Any]) -> bool:
    """Tell whether there are several texts, and each comes about twice or more."""
    different = set(map(str, values)) if all(values) else set[str]()
    return 1 < len(different) <= len(values) / 2


def are_texts(keys: list[Any]) -> bool:
    """Tell whether there are any, and all are texts."""
    return bool(keys) and all(isinstance(key, str) for key in keys)


def are_counts(keys: list[Any]) -> bool:
    """Tell whether all are texts of short whole numbers."""
    return are_texts(keys) and all(key.isdecimal() and len(key) < _LONGEST for key in keys)


def are_words(values: list[Any]) -> bool:
    """Tell whether texts are verdicts, in words."""
    words = [_plain(value) for value in values if value is not None]
    return all(word in _GOOD or word in _PASSES for word in words)


def is_flag(value: Json) -> bool:
    """Tell whether a value is yes or no."""
    return isinstance(value, bool) or str(value).lower() in _FLAGS


def is_number(value: Json) -> bool:
    """Tell whether a value is a number, or the text of one."""
    return number(value) is not None
