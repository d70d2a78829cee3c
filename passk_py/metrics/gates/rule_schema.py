"""The keys and values of a gate rule, as ``rule_schema.yml`` says for Python and SQL alike."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

_TEXT: Final = files(__package__).joinpath("rule_schema.yml").read_text("utf-8")
# Written in C where it can be: it is ten times as fast.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

SCHEMA: Final[dict[str, Any]] = yaml.load(_TEXT, Loader=_LOADER)  # noqa: S506 - is safe

DEMO_GATES: Final[tuple[dict[str, Any], ...]] = tuple(SCHEMA["demo"])
"""The rules of the var ``passk_gates`` where it is ``demo``."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of attempts that a rule may limit."""

    part: str
    whole: tuple[str, ...]
    said: str
    of: str
    unsure: str | None = None


SHARES: Final = {
    metric: Share(**{**share, "whole": tuple(share["whole"])})
    for metric, share in SCHEMA["shares"].items()
}


def keys_of(kind: str) -> dict[str, str]:
    """Give the keys that a rule of a type takes, with what their values are."""
    return {**SCHEMA["common"], **SCHEMA["types"][kind]}
