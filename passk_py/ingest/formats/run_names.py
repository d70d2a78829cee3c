"""Names of runs and of their repeats, from the names of files, folders and tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.ingest.formats.kinds import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_SHOWN: Final = 5
REPEATS: Final = "attempt|run|repeat|repetition|iteration|round|trial|try"

_PYTEST_REPEAT: Final = re.compile(r"(.*)(\[|-)([0-9]{1,9})-([0-9]{1,9})\]", re.DOTALL)
_REPEATED: Final = re.compile(rf"(?:.*[^a-z])?(?:{REPEATS})[-_. ]?", re.DOTALL | re.IGNORECASE)
_WITHOUT_WORDS: Final = re.compile(r"[0-9TZ\W_]*", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)
_DIGITS: Final = re.compile("([0-9]+)")
# Names of files and folders that every run has: their content, the tool or the suite.
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
        *("simulations", "solution", "solutions", "table", "task", "tasks", "test", "tests"),
        *("trace", "traces", "trial", "trials", "temp", "tmp"),
        *("bigcodebench", "bcb", "deepeval", "evalplus", "humaneval", "mbpp", "plus"),
        *("promptfoo", "tau", "tracelens"),
    )
)
_WORDS: Final = re.compile(r"[^-_.+\s]+")
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# How many folders above the file may give the run its name.
_MOST_FOLDERS: Final = 4


def without_endings(name: str, endings: Iterable[str]) -> str | None:
    """Take the endings off a file's name, those of compression first; None if nothing is left."""
    for ending in (".gz", ".zst", *endings):
        name = name.removesuffix(ending)
    return name or None


def run_named_after(path: Path, endings: Iterable[str]) -> str | None:
    """Name the run of a file that does not say it: after the file or, if need be, its folder."""
    # A name such as samples_eval_results is that of every run, and says nothing of this one. So
    # the folder names the run, or one above it. A name with a digit in it is one of several
    # beside each other, and stays.
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


def are_repeats(names: Iterable[str]) -> bool:
    """Tell whether names are those of repeated runs: times, ``run-1`` and ``run-3``, or 1 to n."""
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
    """Give the name of a test before pytest-repeat's ending, which repeat it is, of how many."""
    found = _PYTEST_REPEAT.fullmatch(name)
    if not found or not 1 <= int(found[3]) <= int(found[4]):
        return None
    return found[1] if found[2] == "[" else f"{found[1]}]", int(found[3]), int(found[4])


def are_repetitions(found: set[tuple[int, int]]) -> bool:
    """Tell whether numbers, and of how many each is, are those of one test that was repeated."""
    ofs = {of for _, of in found}
    if len(ofs) > 1 or len(found) < 2:
        return False
    of = ofs.pop()
    # Words such as `attempt 3` don't say of how many.
    return not of or len(found) == of


def pytest_repeats(names: Iterable[str]) -> tuple[dict[str, int], list[str]]:
    """Count the repeats of each repeated test, and list the names that only look repeated."""
    steps: dict[str, set[tuple[int, int]]] = {}
    written: dict[str, list[str]] = {}
    for name in names:
        if repeat := pytest_repeat(name):
            steps.setdefault(repeat[0], set()).add(repeat[1:])
            written.setdefault(repeat[0], []).append(name)
    repeats = {stem: len(found) for stem, found in steps.items() if are_repetitions(found)}
    others = (stem for stem, found in steps.items() if len(found) > 1 and stem not in repeats)
    return repeats, [name for stem in others for name in written[stem]]


def said_of_unrepeated(names: Collection[str]) -> Iterator[str]:
    """Say what becomes of tests that only look repeated, if there are any."""
    if names:
        yield (
            "Names that end like repetitions of pytest-repeat, of which not all are there, are "
            f"tasks of their own: {listed([*names], _SHOWN)}."
        )


def natural(name: str) -> list[str | int]:
    """Split a name so that the numbers in it are compared as such."""
    return [int(part) if place % 2 else part for place, part in enumerate(_DIGITS.split(name))]
