"""The keys and values of a gate rule, as ``rule_schema.yml`` says for Python and SQL alike."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from passk_py.common.strict_yaml import load_own

SCHEMA: Final[dict[str, Any]] = load_own(
    files(__package__).joinpath("rule_schema.yml").read_text("utf-8")
)

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
