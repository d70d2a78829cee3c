"""Names and digests that formats make of what a harness says at length."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from passk_py.ingest.containers.shape import Json

__all__ = [
    "LONGEST_TASK",
    "REPEATS",
    "Names",
    "are_repeats",
    "digest_of",
    "natural",
    "packed",
    "pytest_repeat",
    "run_named_after",
    "short_digest",
    "shortened",
    "small_tags",
    "without_endings",
    "without_ids",
]

LONGEST_TASK: Final = 200
"""How many characters of a text are a task's name."""

REPEATS: Final = "attempt|run|repeat|repetition|iteration|round|trial|try"
"""What repeated runs are called."""

_PYTEST_REPEAT: Final = re.compile(r"(.*)(\[|-)([0-9]{1,9})-([0-9]{1,9})\]", re.DOTALL)
_REPEATED: Final = re.compile(rf"(?:.*[^a-z])?(?:{REPEATS})[-_. ]?", re.DOTALL | re.IGNORECASE)
_WITHOUT_WORDS: Final = re.compile(r"[0-9TZ\W_]*", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)
_LONGEST_TAG: Final = 100
_DIGITS: Final = re.compile("([0-9]+)")
_UUID: Final = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?(?!\d)"
)
# Seconds or milliseconds since 1970, from 2015 to 2040.
_CLOCK: Final = re.compile(r"(?:1[4-9]|2[0-1])\d{8}(?:\d{3})?(?:\.\d+)?")
# More names than any log has; beyond them they are not compared any more.
_MOST_NAMES: Final = 1_000_000
# What files and folders are called in every run: what they hold, the tool or the suite.
_ANY_RUN: Final = frozenset(
    (
        *("all", "at", "final", "json", "jsonl", "k", "last", "latest", "of", "pass", "raw", "the"),
        *("artifact", "artifacts", "data", "export", "exports", "file", "files", "log", "logs"),
        *("out", "output", "outputs", "report", "reports", "result", "results", "summary"),
        *("bench", "benchmark", "benchmarks", "eval", "evals", "evaluate", "evaluated"),
        *("evaluation", "evaluations", "harness", "metric", "metrics", "score", "scored", "scores"),
        *("answer", "answers", "attempt", "attempts", "checkpoint", "checkpoints", "completion"),
        *("completions", "generation", "generations", "prediction", "predictions", "preds"),
        *("response", "responses", "run", "runs", "sample", "samples", "sanitized", "simulation"),
        *("simulations", "solution", "solutions", "task", "tasks", "test", "tests", "trial"),
        *("trials", "temp", "tmp"),
        *("bigcodebench", "bcb", "deepeval", "evalplus", "humaneval", "mbpp", "plus"),
        *("promptfoo", "tau", "tracelens"),
    )
)
_WORDS: Final = re.compile(r"[^-_.+\s]+")
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Folders above the file that are looked at for a name.
_MOST_FOLDERS: Final = 4


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


def packed(value: Json) -> bytes:
    """Write a value of JSON as bytes that are the same for equal values.

    Raises RecursionError if it is nested too deep.

    Examples
    --------
    >>> packed({"b": 1, "a": [None]})
    b'{"a":[null],"b":1}'
    """
    try:
        return msgspec.json.encode(value, order="deterministic")
    except (TypeError, ValueError, msgspec.MsgspecError):
        return json.dumps(value, sort_keys=True).encode()


def digest_of(output: Json) -> str | None:
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


def small_tags(metadata: Json) -> dict[str, Any]:
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


def run_named_after(path: Path, endings: Iterable[str]) -> str | None:
    """Name the run of a file that does not say it: after the file or, if need be, its folder.

    A name such as ``samples_eval_results`` is that of every run, and says nothing of this one. So
    the folder names the run, or the one above it where the folder's name says nothing either. A
    name with a digit in it is one of several beside each other, and stays. The endings are taken
    off in their order, after those of compression; None if nothing else is left, and no folder has
    a name.

    Examples
    --------
    >>> run_named_after(Path("logs/gpt-5/samples_eval_results.json"), (".json", "eval_results"))
    'gpt-5'
    >>> run_named_after(Path("logs/gpt-5.json"), (".json",))
    'gpt-5'
    >>> run_named_after(Path("gpt-5/results/output.json.gz"), (".json",))
    'gpt-5'
    """
    name = (without_endings(path.name, endings) or "").rstrip("-_. ")
    if not _is_any_runs(name):
        return name
    home = Path.home()
    for folder in list(path.parents)[:_MOST_FOLDERS]:
        if folder == home:
            break
        if not _is_any_runs(folder.name):
            return folder.name
    return name or path.parent.name or None


def _is_any_runs(name: str) -> bool:
    """Tell whether a file or folder of this name may be one of any run."""
    return _ANY_RUN.issuperset(_WORDS.findall(_CAPITAL.sub("_", name).lower()))


def without_ids(value: Json) -> Json:
    """Put ``<uuid>`` and ``<time>`` where a value has UUIDs and times, which may be new each time.

    Raises RecursionError if it is nested too deep.

    Examples
    --------
    >>> without_ids({"at": "2026-01-31T12:00:00Z", "n": 7, "started": 1769860800})
    {'at': '<time>', 'n': 7, 'started': '<time>'}
    >>> without_ids(["job 3f2504e0-4f89-41d3-9a0c-0305e82c3301"])
    ['job <uuid>']
    """
    if isinstance(value, str):
        return (
            "<time>" if _CLOCK.fullmatch(value) else _TIME.sub("<time>", _UUID.sub("<uuid>", value))
        )
    if isinstance(value, dict):
        return {name: without_ids(one) for name, one in value.items()}
    if isinstance(value, list):
        return [without_ids(one) for one in value]
    if type(value) in (int, float) and _CLOCK.fullmatch(repr(value)):
        return "<time>"
    return value


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


def pytest_repeat(name: str) -> tuple[str, int, int] | None:
    """Give the name of a test without pytest-repeat's ending, which repeat it is, and of how many.

    Examples
    --------
    >>> pytest_repeat("test_agent[add-1-4]"), pytest_repeat("test_agent[2-4]")
    (('test_agent[add]', 1, 4), ('test_agent', 2, 4))
    """
    found = _PYTEST_REPEAT.fullmatch(name)
    if not found or not 1 <= int(found[3]) <= int(found[4]):
        return None
    return found[1] if found[2] == "[" else f"{found[1]}]", int(found[3]), int(found[4])


def natural(name: str) -> list[str | int]:
    """Split a name so that the numbers in it are compared as such.

    Examples
    --------
    >>> sorted(["run-10", "run-2"], key=natural)
    ['run-2', 'run-10']
    """
    return [int(part) if place % 2 else part for place, part in enumerate(_DIGITS.split(name))]
