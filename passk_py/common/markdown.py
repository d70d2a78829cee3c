"""Markdown that holds any name: escaping, code spans, and tables that are aligned as plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import decimals, plain, shortened, side_of_zero

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LONGEST_NAME: Final = 80
_WIDEST_COLUMN: Final = 320
"""A longer cell stands out, so that one name does not fill the others with blanks."""
_AS_CODE: Final = re.compile(r"[^`|\\\s](?:[^`|\\]*[^`|\\\s])?")
"""Characters that a code span shows letter for letter, in a table too, in every dialect."""
_ALWAYS: Final = re.compile(r"[\\`*\[\]$~]")
_UNDERSCORE: Final = re.compile(r"(?<![0-9A-Za-z_])_+|_+(?![0-9A-Za-z_])")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY: Final = re.compile(r"&(?=[#A-Za-z])")
_EMOJI: Final = re.compile(r":(?=[0-9A-Za-z_+-]+:)")


def text(said: object) -> str:
    """Write a sentence so that Markdown shows it letter for letter; names in it are anyone's."""
    # A bar is an entity, because dialects differ in how they read a backslash before one.
    escaped = _ALWAYS.sub(lambda sign: f"\\{sign[0]}", plain(str(said)))
    escaped = _UNDERSCORE.sub(lambda signs: "\\_" * len(signs[0]), escaped)
    escaped = _ENTITY.sub(r"\\&", _TAG.sub(r"\\<", escaped))
    return _EMOJI.sub(r"\\:", escaped).replace("|", "&#124;")


def name(given: object, *, whole: bool = False) -> str:
    """Write a name as code, where code can hold it."""
    # After the escapes of what can't be printed, so that they are not cut.
    known = plain(str(given))
    if not whole:
        known = shortened(known, _LONGEST_NAME)
    if _AS_CODE.fullmatch(known):
        return f"`{known}`"
    if not known.strip():
        return "(empty)" if not known else "(blanks)"
    return text(known)


def share(number: float | None) -> str:
    """Write a share to three decimals, so that only a whole is 1 and only nothing is 0."""
    if number is None:
        return "not known"
    if number in (0.0, 1.0):
        return str(int(number))
    said = decimals(number)
    return {"1.000": ">0.999", "0.000": "<0.001"}.get(said, said)


def signed(number: float | None) -> str:
    """Write a difference, or what may be below 0 or above 1, to three decimals."""
    if number is None:
        return "not known"
    said = decimals(number)
    return f"+{said}" if number > 0 and said != "0.000" else said


def share_interval(row: Mapping[str, Any], column: str) -> str:
    """Write the limits of a share: the columns of a row that end in ``_lower`` and ``_upper``."""
    return _interval(row, column, share)


def signed_interval(row: Mapping[str, Any], column: str) -> str:
    """Write the limits of a difference, each of which is on one side of 0 or the other."""
    return _interval(row, column, lambda limit: side_of_zero(limit, signed(limit)))


def _interval(row: Mapping[str, Any], column: str, write: Callable[[float], str]) -> str:
    lower, upper = row[f"{column}_lower"], row[f"{column}_upper"]
    return "not known" if None in (lower, upper) else f"{write(lower)} to {write(upper)}"


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()
) -> list[str]:
    """Write a table whose columns are aligned as plain text too."""
    from rich.cells import cell_len

    widths = [
        max(2, cell_len(head), *(min(cell_len(row[place]), _WIDEST_COLUMN) for row in rows))
        for place, head in enumerate(heads)
    ]

    def line(cells: Sequence[str]) -> str:
        padded = [
            " " * (width - cell_len(cell)) + cell
            if place in numbers
            else cell + " " * (width - cell_len(cell))
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * (width - 1) + (":" if place in numbers else "-") for place, width in enumerate(widths)
    ]
    return [line(heads), line(rule), *map(line, rows)]
