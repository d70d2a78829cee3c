"""The cause of an attempt that did not pass, by the reason that the log gives for it."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from passk_py.common.strict_yaml import load_own

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PATTERNS: Final[Mapping[str, str]] = load_own(
    files(__package__).joinpath("cause_patterns.yml").read_text("utf-8")
)
"""Patterns of reasons and their causes, of which the first that fits decides."""

UNKNOWN: Final = "unknown"
"""The cause of a reason that nothing fits, and of exclusion without a reason."""
AGENT: Final = "agent"
"""The cause of a failure without a reason."""

_ANYTHING: Final = {"*": ".*", "%": ".*", "_": "."}


def cause_finder(patterns: Mapping[str, str]) -> Callable[[str], str]:
    """Make the function that finds the cause of a reason; the patterns given come first."""
    rules = [
        (_as_regex(pattern), cause)
        for each in (patterns, PATTERNS)
        for pattern, cause in each.items()
    ]

    def cause_of(reason: str) -> str:
        lowered = reason.lower()
        return next((cause for rule, cause in rules if rule.fullmatch(lowered)), UNKNOWN)

    return cause_of


def _as_regex(pattern: str) -> re.Pattern[str]:
    signs = (_ANYTHING.get(sign, re.escape(sign)) for sign in pattern.lower())
    return re.compile("".join(signs), re.DOTALL)
