"""Names and digests that formats make of what a harness says at length."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from pathlib import Path

__all__ = [
    "LONGEST_TASK",
    "REPEATS",
    "Names",
    "are_repeats",
    "digest_of",
    "natural",
    "packed",
    "run_of_results",
    "short_digest",
    "shortened",
    "small_tags",
    "without_endings",
]

LONGEST_TASK: Final = 200
"""How many characters of a text are a task's name."""

REPEATS: Final = "attempt|run|repeat|repetition|iteration|round|trial|try"
"""What repeated runs are called."""

_REPEATED: Final = re.compile(rf"(?:.*[^a-z])?(?:{REPEATS})[-_. ]?", re.DOTALL | re.IGNORECASE)
_WITHOUT_WORDS: Final = re.compile(r"[0-9TZ\W_]*", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)
_LONGEST_TAG: Final = 100
_DIGITS: Final = re.compile("([0-9]+)")
# More names than any log has; beyond them they are not compared any more.
_MOST_NAMES: Final = 1_000_000


@dataclass(slots=True)
class Names:
    """Finds out which names stand for more than one thing, in a log that is read twice.

    Examples
    --------
    >>> names = Names()
    >>> for name, thing in [("a", 1), ("b", 2), ("a", 1), ("b", 3)]:
    ...     names.note(name, thing)
    >>> names.are_clear("a"), names.are_clear("b")
    (True, False)
    """

    _first: dict[int, int] = field(default_factory=dict)
    _unclear: set[int] = field(default_factory=set)

    def note(self, name: Hashable, thing: Hashable) -> None:
        """Note what a name stands for in a row. Only their hashes are kept."""
        if len(self._first) < _MOST_NAMES:
            key, value = hash(name), hash(thing)
            if self._first.setdefault(key, value) != value:
                self._unclear.add(key)

    def are_clear(self, name: Hashable) -> bool:
        """Tell whether a name stands for one thing only."""
        return hash(name) not in self._unclear


def packed(value: Any) -> bytes:  # noqa: ANN401 - JSON
    """Write a value of JSON as bytes that are the same for equal values.

    Raises
    ------
    RecursionError
        If it is nested too deep.

    Examples
    --------
    >>> packed({"b": 1, "a": [None]})
    b'{"a":[null],"b":1}'
    """
    try:
        return msgspec.json.encode(value, order="deterministic")
    except (TypeError, ValueError, msgspec.MsgspecError):
        return json.dumps(value, sort_keys=True).encode()


def digest_of(output: Any) -> str | None:  # noqa: ANN401 - JSON
    """Give the SHA-256 of what an agent produced; None where there is nothing.

    Examples
    --------
    >>> digest_of("4")[:8], digest_of(None)
    ('4b227777', None)
    """
    if output is None:
        return None
    if isinstance(output, str):
        return sha256(output.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        return sha256(packed(output)).hexdigest()
    except RecursionError:
        return None


def short_digest(data: bytes) -> str:
    """Give a digest that is short enough for a name."""
    return sha256(data).hexdigest()[:8]


def shortened(name: str, most: int) -> str:
    """Make one line of a text, cut and with a digest if it is longer.

    Examples
    --------
    >>> shortened("a name", 60), shortened("sum up", 3)
    ('a name', 'sum~91a27aaf')
    """
    if len(name) <= most and "\n" not in name:
        return name
    digest = short_digest(name.encode("utf-8", "surrogatepass"))
    return f"{' '.join(name[:most].split())}~{digest}"


def small_tags(metadata: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Take what is short enough to be a slice: flags, numbers and short texts.

    Examples
    --------
    >>> small_tags({"level": 3, "easy": True, "kind": "sql", "notes": "x" * 1000, "steps": []})
    {'level': 3, 'easy': True, 'kind': 'sql'}
    """
    if not isinstance(metadata, dict):
        return {}
    tags: dict[str, Any] = {}
    for name, value in metadata.items():
        if isinstance(value, str):
            if 0 < len(value) <= _LONGEST_TAG:
                tags[name] = value
        elif isinstance(value, bool | int | float):
            tags[name] = value
    return tags


def without_endings(name: str, endings: Iterable[str]) -> str | None:
    """Take the endings off a file's name, those of compression first; None if nothing is left.

    Examples
    --------
    >>> without_endings("run-1.jsonl.gz", (".jsonl",)), without_endings(".json", (".json",))
    ('run-1', None)
    """
    for ending in (".gz", ".zst", *endings):
        name = name.removesuffix(ending)
    return name or None


def run_of_results(path: Path, endings: Iterable[str]) -> str | None:
    """Name the run of a ``<name>_eval_results.json`` by its name or, without one, by its folder."""
    name = without_endings(path.name, (*endings, "eval_results")) or ""
    return name.rstrip("_") or path.parent.name or None


def are_repeats(names: Iterable[str]) -> bool:
    """Tell whether names are those of repeated runs: times, ``run-1`` and ``run-3``, or 1 to n.

    Examples
    --------
    >>> are_repeats(["run-1", "run-3"]), are_repeats(["a1", "a2"]), are_repeats(["gpt-4", "gpt-5"])
    (True, True, False)
    """
    names = list(names)
    if all(_WITHOUT_WORDS.fullmatch(name) for name in names):
        return True
    found = [_NUMBERED.fullmatch(name) for name in names]
    stems = {match[1] for match in found if match}
    if not all(found) or len(stems) > 1:
        return False
    numbers = sorted(int(match[2]) for match in found if match)
    series = [*range(numbers[0], numbers[0] + len(numbers))]
    counted = len(numbers) > 1 and numbers[0] in (0, 1) and numbers == series
    return counted or _REPEATED.fullmatch(stems.pop()) is not None


def natural(name: str) -> list[str | int]:
    """Split a name so that the numbers in it are compared as such.

    Examples
    --------
    >>> sorted(["run-10", "run-2"], key=natural)
    ['run-2', 'run-10']
    """
    return [int(part) if place % 2 else part for place, part in enumerate(_DIGITS.split(name))]
