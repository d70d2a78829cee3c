"""The language of mappings: paths to a value, and what is made of the value.

``$`` is the row, ``^`` what lies one star of ``rows`` above it, ``^^`` two. ``$.case.id`` is the
value under these names, ``$.scores[0]`` an element of a list, ``$.stats[name == "f1"]`` the first
element of a list whose field says so; ``$key`` and ``^key`` are the name or the place under which
the row, or what is above it, stands. A value may be compared or added to, and a text that starts
with neither ``$`` nor ``^`` stands for itself.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.ingest.formats.json_values import at, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.ingest.containers.shape import Json

Level = tuple[str | int | None, "Json"]
"""The name or place under which something stands, and its value."""

_QUOTES: Final = r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'"
STEP: Final = re.compile(rf"\.([A-Za-z_][\w-]*)|\[(-?\d{{1,9}})\]|\[({_QUOTES})\]")
"""A step of a path: a name, a place in a list, or a name in quotes."""
_WHERE: Final = re.compile(
    rf"""\[\s*(?:([A-Za-z_][\w-]*)|({_QUOTES}))\s*==?\s*({_QUOTES}|[^\]\s"'](?:[^\]"']*[^\]\s"'])?)\s*\]"""
)
_STAR: Final = re.compile(r"\.[\w-]*\*|\[\*\]")
_START: Final = re.compile(r"(\$|\^+)(key(?![\w-]))?")
_COMPARISON: Final = re.compile(r"\s*(==|=|!=|<>|<=|>=|<|>)\s*(.+?)\s*$", re.DOTALL)
_SUM: Final = re.compile(r"\s*([+-])\s*(\d{1,18})\s*$")
_IN: Final = re.compile(r"\s+(not\s+)?in\s*[(\[](.*)[)\]]\s*$", re.DOTALL)
_PATH: Final = re.compile(r"(\$|\^+)(key\b|\.[A-Za-z_]|\[)")
_ITEM: Final = re.compile(r"""\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|[^,'"]+?)\s*(?:,|$)""")
_QUOTED: Final = re.compile(r""""(?:[^"]|"")*"|'(?:[^']|'')*'""")
_WORD: Final = re.compile(r"[^\W\d][\w./:@+-]*")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_WORDS: Final = {"true": True, "false": False}
_YES: Final = ("true", "1", "1.0")
_NO: Final = ("false", "0", "0.0")


@dataclass(frozen=True, slots=True)
class Where:
    """Leads from a list to its first element whose field equals a value."""

    name: str
    operand: Any

    def first_in(self, value: Json) -> Json:
        """Find the element; None if there is none."""
        if not isinstance(value, list):
            return None
        for one in value:
            found = at(one, self.name)
            if found is not None and equal(found, self.operand):
                return one
        return None


@dataclass(frozen=True, slots=True)
class Expression:
    """Where a value is found, and what is made of it."""

    source: str
    path: tuple[str | int, ...] | None = None
    """Names and places that lead to the value; None for a text that stands for itself."""
    operator: str = ""
    """A comparison such as ``==``, ``in`` or ``not in``, or ``+``, ``null``, or nothing."""
    operands: tuple[Any, ...] = ()
    """The operand: the value to compare with, or to add; of ``null``, whether it should be."""
    up: int = 0
    """How many levels above the row the path starts."""
    is_key: bool = False
    """Whether it is the name or place of what is there, and not a value in it."""
    among: tuple[tuple[Where, tuple[str | int, ...]], ...] = ()
    """Elements of lists that the path goes on in, and the names and places in each of them."""

    @property
    def compares(self) -> bool:
        """Whether its value is true, false or null."""
        return self.operator not in ("", "+")

    def value_of(self, row: Json) -> Json:
        """Find the value in a row; None where the row has none."""
        if self.path is None:
            return self.source
        return self.made_of(self._found(row))

    def value_in(self, levels: Sequence[Level]) -> Json:
        """Find the value in the last of the levels, or in the one that it asks for."""
        if self.path is None:
            return self.source
        if self.up >= len(levels):
            return self.made_of(None)
        key, value = levels[-1 - self.up]
        return self.made_of(key if self.is_key else self._found(value))

    def is_in(self, levels: Sequence[Level]) -> bool:
        """Tell whether there is anything where it looks, be it null."""
        if not self.path or self.is_key or self.up >= len(levels):
            return self.path is None or self.is_key or self.up < len(levels)
        value = levels[-1 - self.up][1]
        *names, last = self.path
        inside = at(value, *names)
        if self.among or isinstance(last, int):
            return self._found(value) is not None
        return isinstance(inside, dict) and last in inside

    def _found(self, value: Json) -> Json:
        value = at(value, *self.path or ())
        for where, path in self.among:
            value = at(where.first_in(value), *path)
        return value

    def made_of(self, value: Json) -> Json:
        """Make of what was found what is asked for."""
        if self.operator == "null":
            # As everywhere else, an empty text is no value.
            return (value is None or value == "") == self.operands[0]
        if value is None or not self.operator:
            return value
        if self.operator == "+":
            # The contract rejects values that are no whole numbers, and says so.
            whole = value if type(value) is int else None
            if isinstance(value, str) and _WHOLE.fullmatch(value):
                whole = int(value)
            return value if whole is None else whole + self.operands[0]
        return _compared(value, self.operator, self.operands)


def _compared(value: Json, operator: str, operands: tuple[Any, ...]) -> bool | None:
    if operator in ("in", "not in"):
        return any(equal(value, operand) for operand in operands) == (operator == "in")
    operand = operands[0]
    if operator in ("==", "!="):
        # A value that is no flag is no verdict.
        if isinstance(operand, bool) and str(value).strip().lower() not in (*_YES, *_NO):
            return None
        return equal(value, operand) == (operator == "==")
    left, right = number(value), number(operand)
    # NaN is neither more nor less than anything.
    if left is None or right is None or left != left:  # noqa: PLR0124
        return None
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[
        operator
    ]


def equal(value: Json, operand: Json) -> bool:
    """Compare as a person would: 1 equals '1', true equals 'true' and 'True'."""
    if isinstance(operand, bool):
        return str(value).strip().lower() in (_YES if operand else _NO)
    if isinstance(operand, float | int):
        found = number(value)
        return found is not None and found == operand
    if isinstance(value, bool):
        return str(value).lower() == str(operand).lower()
    return str(value) == str(operand)


def parsed(source: str) -> Expression:
    """Read an expression. Raise PasskError if it starts like a path and is none."""
    text = source.strip()
    start = _START.match(text)
    if start is None:
        if _PATH.search(text):
            raise no_expression(source, "a path stands at the start, or the whole is a text")
        try:
            source.encode()
        except UnicodeEncodeError as error:
            raise no_expression(source, "it holds half of a surrogate pair") from error
        return Expression(source)
    path, among, end = _steps(source, text, start.end(), is_key=bool(start[2]))
    up = len(start[1]) if start[1] != "$" else 0
    if up and not (path or among or start[2]):
        raise no_expression(source, "it names nothing; write ^.name or ^key", end)
    operator, operands = _operation(source, text, end)
    return Expression(source, path, operator, operands, up, bool(start[2]), among)


def _steps(
    source: str, text: str, place: int, *, is_key: bool
) -> tuple[tuple[str | int, ...], tuple[tuple[Where, tuple[str | int, ...]], ...], int]:
    """Read the steps of a path, and say where they end."""
    path: list[str | int] = []
    among: list[tuple[Where, list[str | int]]] = []
    while True:
        steps = among[-1][1] if among else path
        if step := STEP.match(text, place):
            name, index, quoted = step.groups()
            steps.append(name if name is not None else int(index) if index else unquoted(quoted))
        elif step := _WHERE.match(text, place):
            name, quoted, literal = step.groups()
            among.append((Where(name or unquoted(quoted), _literal(source, literal)), []))
        elif _STAR.match(text, place):
            raise no_expression(source, "* can only stand in rows", place)
        else:
            return tuple(path), tuple((where, tuple(rest)) for where, rest in among), place
        if is_key:
            raise no_expression(source, "a name or a place has nothing in it", place)
        place = step.end()


def _operation(source: str, text: str, place: int) -> tuple[str, tuple[Any, ...]]:
    """Read what follows the path: what is made of the value."""
    rest = text[place:]
    if not rest.strip():
        return "", ()
    if added := _SUM.match(rest):
        return "+", (int(added[2]) * (-1 if added[1] == "-" else 1),)
    if among := _IN.match(rest):
        return "not in" if among[1] else "in", _listed(source, among[2])
    if comparison := _COMPARISON.match(rest):
        operator = {"=": "==", "<>": "!="}.get(comparison[1], comparison[1])
        if operator in ("==", "!=") and comparison[2].lower() == "null":
            return "null", (operator == "==",)
        operand = _literal(source, comparison[2])
        if operator not in ("==", "!=") and (
            isinstance(operand, bool) or not isinstance(operand, int | float)
        ):
            raise no_expression(source, f"{operator} compares with a number", place)
        return operator, (operand,)
    raise no_expression(source, f"{rest.strip()!r} is not understood", place)


def no_expression(source: str, why: str, place: int | None = None) -> PasskError:
    """Give the error for an expression, of which what stands from a place on is wrong."""
    where = ""
    if place is not None:
        rest = source.lstrip()[place:].lstrip()
        where = f" from character {len(source) - len(rest) + 1} on"
    return PasskError(
        f"The mapping {source!r} can't be read{where}: {why}.",
        hint="Write a path such as $.case.id, ^.title or $key, a comparison such as "
        "$.score >= 0.8 or $.error == null, or a text.",
    )


def unquoted(name: str) -> str:
    """Take a name out of its quotes."""
    return re.sub(r"\\(.)", r"\1", name[1:-1])


def _listed(source: str, text: str) -> tuple[Any, ...]:
    """Read the values of ``in (...)``."""
    values: list[Any] = []
    place = 0
    while place < len(text):
        item = _ITEM.match(text, place)
        if item is None:
            raise no_expression(source, f"{text[place:].strip()!r} is no value")
        values.append(_literal(source, item[1]))
        place = item.end()
    if not values:
        raise no_expression(source, "there is nothing in the brackets")
    return tuple(values)


def _literal(source: str, text: str) -> Any:  # noqa: ANN401 - a text, a number, true or false
    """Read a value: a text in quotes, a number, true, false, or one plain word."""
    text = text.strip()
    if _QUOTED.fullmatch(text):
        return text[1:-1].replace(text[0] * 2, text[0])
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    found = number(text) if "_" not in text else None
    if found is not None and math.isfinite(found):
        return int(found) if found == int(found) else found
    # Anything else may be meant as more than a word, and would decide verdicts unseen.
    if not _WORD.fullmatch(text):
        why = "put a text into quotes"
        if _PATH.match(text):
            why = "a path can only be compared with a value, not with another path"
        raise no_expression(source, f"{text!r} is no value; {why}", source.strip().find(text))
    return text
