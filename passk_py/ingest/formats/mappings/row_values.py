"""Kinds of plain values in rows of an unknown file: verdicts in words, ids, numbers, times."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.formats.json_values import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.ingest.containers.shape import Json

# Words for a failure, and the word for a pass that each of them replaces.
_GOOD: Final = {
    "fail": "pass",
    "failed": "passed",
    "failure": "success",
    "failures": "successes",
    "incorrect": "correct",
    "unsolved": "solved",
    "unresolved": "resolved",
    "wrong": "right",
    "error": "ok",
    "bad": "good",
    "no": "yes",
}
# Verdicts in letters, as Inspect and people write them.
_GOOD_LETTERS: Final = ("c", "y")
_LETTERS: Final = (*_GOOD_LETTERS, "i", "n", "p")
_FLAGS: Final = ("true", "false", "0", "1")
# A try that came to its end may be called so, whatever it was worth.
_ENDED: Final = ("success", "ok")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:.*")
_WORDS: Final = 8
_PLAIN_WORD: Final = re.compile(r"[\w /-]{1,40}")
_LONGEST: Final = 10


def good_word(values: Iterable[Any]) -> str | None:
    """Find among words the one for a pass; None if they are no verdicts."""
    words = list(dict.fromkeys(map(str, values)))[:_WORDS]
    for word in words:
        if word.lower() in _GOOD.values():
            return word
    # If all are failures, there is a word for a pass elsewhere.
    return _GOOD[words[0].lower()] if words and all(one.lower() in _GOOD for one in words) else None


def verdict_of_words(path: str, values: list[str]) -> dict[str, str]:
    """Write how words judge; those that are no verdicts, such as skipped, are the reasons."""
    words = list(dict.fromkeys(values))
    if are_letters(values):
        return {"passed": _is_one_of(path, [one for one in words if one.lower() in _GOOD_LETTERS])}
    good = [word for word in words if word.lower() in _GOOD.values()]
    lines = {"passed": _is_one_of(path, good or [good_word(values)])}
    others = [one for one in words if not are_words([one]) and _PLAIN_WORD.fullmatch(one)]
    if others:
        lines |= {"outcome_reason": path, "no_verdict": _is_one_of(path, others[:_WORDS])}
    return lines


def _is_one_of(path: str, words: Sequence[str | None]) -> str:
    """Write that a value is one of some words, without quotes in them."""
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{path} in ({listed})" if words[1:] else f"{path} == {listed}"


def are_letters(values: list[str]) -> bool:
    """Tell whether all are letters for verdicts, with one for a pass among them."""
    letters = {value.lower() for value in values}
    return letters <= set(_LETTERS) and bool(letters & set(_GOOD_LETTERS))


def only_ended(words: list[str]) -> bool:
    """Tell whether words may only say that no try broke off."""
    return all(word.lower() in _ENDED for word in words)


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
    return all(value is None or value.lower() in (*_GOOD, *_GOOD.values()) for value in values)


def is_flag(value: Json) -> bool:
    """Tell whether a value is yes or no."""
    return isinstance(value, bool) or str(value).lower() in _FLAGS


def is_number(value: Json) -> bool:
    """Tell whether a value is a number, or the text of one."""
    return number(value) is not None
