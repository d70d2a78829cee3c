"""How often each test is to be repeated, by its marker or for all, and what can't be combined."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKER: Final = "passk"
ARGUMENT: Final = "passk_attempt"
"""The parameter of a repeated test, which is a fixture too."""

_KEYS: Final = ("repeat", "k", "min_pass_hat_k")
_ENDING: Final = re.compile(r"(.*)(\[|-)([0-9]{1,9})-([0-9]{1,9})\]", re.DOTALL)
_OTHERS: Final = (
    # The names of a plugin, its option, the option's value that does nothing, what it does.
    (("repeat", "pytest_repeat"), "count", 1, "--count of pytest-repeat repeats tests too"),
    (("rerunfailures", "pytest_rerunfailures"), "reruns", 0, "--reruns stops at the first pass"),
    (
        ("rerunfailures", "pytest_rerunfailures"),
        "force_reruns",
        0,
        "--force-reruns stops at the first pass",
    ),
    (("pytest-retry", "pytest_retry"), "retries", 0, "--retries stops at the first pass"),
    (("flakefinder", "pytest_flakefinder"), "flake_finder_enable", False, "--flake-finder repeats"),
)
_MARKERS_OF_OTHERS: Final = {
    "repeat": (("repeat", "pytest_repeat"), "pytest-repeat repeats it too"),
    "flaky": (
        ("rerunfailures", "pytest_rerunfailures", "pytest-retry", "pytest_retry", "flaky"),
        "it is tried again until it passes",
    ),
}


@dataclass(frozen=True, slots=True)
class Wish:
    """How often a test is to be repeated, and the gate on it alone."""

    repeat: int
    gate: tuple[int | None, float] | None = None
    """Its k, None for that of the session, and the least pass^k."""


def wish_of(node: pytest.Item) -> Wish | None:
    """Read what is wished of a test; None if it is a test like any other."""
    given: dict[str, Any] = {}
    for mark in reversed(list(node.iter_markers(MARKER))):
        if mark.args or not mark.kwargs.keys() <= set(_KEYS):
            raise _wrong(node, f"The marker {MARKER} takes {', '.join(f'{one}=' for one in _KEYS)}")
        given |= mark.kwargs
    repeat = given.get("repeat", node.config.getoption("passk_repeat"))
    if repeat is None and not given:
        return None
    repeat = 1 if repeat is None else repeat
    least, k = given.get("min_pass_hat_k"), given.get("k")
    for name, value in (("repeat", repeat), ("k", k)):
        if value is not None and (type(value) is not int or value < 1):
            raise _wrong(node, f"{name} is {value!r}, but must be a whole number from 1")
    if least is not None and not (type(least) in (int, float) and 0 < least <= 1):
        raise _wrong(node, f"min_pass_hat_k is {least!r}, but must be above 0 and at most 1")
    if k is not None and least is None:
        raise _wrong(node, "k is that of min_pass_hat_k, which is missing")
    if other := other_repeats(node.config):
        raise pytest.Collector.CollectError(other)
    for name, (plugins, does) in _MARKERS_OF_OTHERS.items():
        if _has(node.config, plugins) and node.get_closest_marker(name) is not None:
            raise _wrong(node, f"It is marked {name}, so {does}. Take one of the two markers off")
    return Wish(repeat, None if least is None else (k, float(least)))


def _wrong(node: pytest.Item, what: str) -> Exception:
    return pytest.Collector.CollectError(f"passk: {node.nodeid}: {what}.")


def _has(config: pytest.Config, plugins: tuple[str, ...]) -> bool:
    return any(config.pluginmanager.hasplugin(name) for name in plugins)


def other_repeats(config: pytest.Config) -> str | None:
    """Say which other plugin repeats tests or tries them again, if one does."""
    for plugins, option, nothing, does in _OTHERS:
        if not _has(config, plugins):
            continue
        value = config.getoption(option, None)
        if value is None and option == "reruns":
            with suppress(ValueError, KeyError):
                value = config.getini(option)
        if str(value or nothing) != str(nothing):
            return (
                f"passk can't repeat tests together with another plugin: {does}, and the numbers "
                "would be wrong. Use one of the two."
            )
    return None


def ending(number: int, of: int) -> str:
    """Give the id of an attempt, in the form of pytest-repeat, which the reader of JUnit knows."""
    return f"{number}-{of}"


def split(nodeid: str) -> tuple[str, int, int] | None:
    """Give the id of a test without its repetition, which one it is, and of how many."""
    found = _ENDING.fullmatch(nodeid)
    if not found or not 1 <= int(found[3]) <= int(found[4]):
        return None
    return found[1] if found[2] == "[" else f"{found[1]}]", int(found[3]), int(found[4])


def joined(nodeid: str, number: int, of: int) -> str:
    """Give the id of a test with its repetition."""
    if nodeid.endswith("]"):
        return f"{nodeid[:-1]}-{ending(number, of)}]"
    return f"{nodeid}[{ending(number, of)}]"


def whole_tests(failed: list[str], repeat: int | None) -> Iterator[str]:
    """Give the ids of all attempts of tests that failed, so that --lf selects all or none."""
    for nodeid in failed:
        stem, _, of = split(nodeid) or (nodeid, 1, repeat or 1)
        if of > 1:
            yield from (joined(stem, number, of) for number in range(1, of + 1))
