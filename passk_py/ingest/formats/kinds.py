"""Words that formats and the look at a file share: containers, kinds of values, rejections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Container = Literal["json_lines", "json_list", "json_object", "csv", "parquet", "zip", "xml"]

Outcome = Literal["failed", "excluded"]
"""The outcome that an attempt without a verdict counts as."""

Kind = Literal["text", "integer", "float", "boolean", "timestamp", "timestamptz", "map", "other"]
"""How a reader hands a value over: as text, or as a value of DuckDB that needs no parsing."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a file as a whole can't be landed, and what to do about it."""

    message: str
    hint: str


def listed(names: Sequence[str], most: int = 20) -> str:
    """Write names into a sentence, not all of them if there are many."""
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])]) or "none"
