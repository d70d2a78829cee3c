"""The language of mappings: paths to a value, and what is made of the value.

``$.case.id`` is the value under these names, ``$.scores[0]`` an element of a list; a value may be
compared or added to, and a text without ``$`` stands for itself.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.ingest.formats.json_values import at, number

if TYPE_CHECKING:
    from passk_py.ingest.containers.shape import Json

_STEP: Final = re.compile(
    r"""\.([A-Za-z_][\w-]*)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]|\.(\*)|\[(\*)\]"""
)
_COMPARISON: Final = re.compile(r"\s*(==|=|!=|<>|<=|>=|<|>)\s*(.+?)\s*$", re.DOTALL)
_SUM: Final = re.compile(r"\s*([+-])\s*(\d+)\s*$")
_IN: Final = re.compile(r"\s+in\s*[(\[](.*)[)\]]\s*$", re.DOTALL)
_ITEM: Final = re.compile(r"""\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|[^,'"]+?)\s*(?:,|$)""")
_QUOTED: Final = re.compile(r""""(?:[^"]|"")*"|'(?:[^']|'')*'""")
_WORD: Final = re.compile(r"[^\W\d][\w./:@+-]*")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_WORDS: Final = {"true": True, "false": False}
_YES: Final = ("true", "1", "1.0")
_NO: Final = ("false", "0", "0.0")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expression:
    """Where a value is found, and what is made of it."""

    source: str
    path: tuple[str | int, ...] | None = None
    """Names and places that lead to the value; None for a text that stands for itself."""
    operator: str = ""
    """``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``+``, or nothing."""
    operands: tuple[Any, ...] = ()
    """The operand: the value to compare with, or to add."""

    def value_of(self, row: Json) -> Json:
        """Find the value in a row of JSON; None where the row has none."""
        if self.path is None:
            return self.source
        value = at(row, *self.path)
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
    if operator == "in":
        return any(_equal(value, operand) for operand in operands)
    operand = operands[0]
    if operator in ("==", "!="):
        # A value that is no flag is no verdict.
        if isinstance(operand, bool) and str(value).strip().lower() not in (*_YES, *_NO):
            return None
        return _equal(value, operand) == (operator == "==")
    left, right = number(value), number(operand)
    # NaN is neither more nor less than anything.
    if left is None or right is None or left != left:  # noqa: PLR0124
        return None
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[
        operator
    ]


def _equal(value: Json, operand: Json) -> bool:
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
    if not text.startswith("$"):
        try:
            source.encode()
        except UnicodeEncodeError as error:
            raise _no_expression(source, "it holds half of a surrogate pair") from error
        return Expression(source)
    path: list[str | int] = []
    place = 1
    while step := _STEP.match(text, place):
        name, index, quoted, *every = step.groups()
        if any(every):
            raise _no_expression(source, "* can only stand in rows")
        path.append(name if name is not None else int(index) if index else _unquoted(quoted))
        place = step.end()
    rest = text[place:]
    if not path:
        raise _no_expression(source, "it names nothing")
    if not rest.strip():
        return Expression(source, tuple(path))
    if added := _SUM.match(rest):
        amount = int(added[2]) * (-1 if added[1] == "-" else 1)
        return Expression(source, tuple(path), "+", (amount,))
    if among := _IN.match(rest):
        return Expression(source, tuple(path), "in", _listed(source, among[1]))
    if comparison := _COMPARISON.match(rest):
        operator = {"=": "==", "<>": "!="}.get(comparison[1], comparison[1])
        operand = _literal(source, comparison[2])
        if operator not in ("==", "!=") and (
            isinstance(operand, bool) or not isinstance(operand, int | float)
        ):
            raise _no_expression(source, f"{operator} compares with a number")
        return Expression(source, tuple(path), operator, (operand,))
    raise _no_expression(source, f"{rest.strip()!r} is not understood")


def _no_expression(source: str, why: str) -> PasskError:
    return PasskError(
        f"The mapping {source!r} can't be read: {why}.",
        hint="Write a path such as $.case.id, a comparison such as $.score >= 0.8, or a text.",
    )


def _unquoted(name: str) -> str:
    """Take a name out of its quotes."""
    return re.sub(r"\\(.)", r"\1", name[1:-1])


def _listed(source: str, text: str) -> tuple[Any, ...]:
    """Read the values of ``in (...)``."""
    values: list[Any] = []
    place = 0
    while place < len(text):
        item = _ITEM.match(text, place)
        if item is None:
            raise _no_expression(source, f"{text[place:].strip()!r} is no value")
        values.append(_literal(source, item[1]))
        place = item.end()
    if not values:
        raise _no_expression(source, "there is nothing in the brackets")
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
        raise _no_expression(source, f"{text!r} is no value; put a text into quotes")
    return text


def rows_at(said: Any) -> tuple[str, ...]:  # noqa: ANN401 - YAML
    """Read where the rows are: ``$.results`` and ``$.results[*]`` are the elements of that list."""
    if said is None:
        return ()
    text = str(said).strip()
    path: list[str] = []
    place = 1
    while text.startswith("$") and (step := _STEP.match(text, place)):
        name, index, quoted, *every = step.groups()
        if index:
            raise _no_expression(text, "rows can't be led to by a place in a list")
        path.append("*" if any(every) else name if name is not None else _unquoted(quoted))
        place = step.end()
    if not path or text[place:].strip():
        raise _no_expression(text, "rows is a path such as $.results or $.eval.*.*")
    return tuple(path) if path[-1] == "*" else (*path, "*")


def path_of(*names: str) -> str:
    """Write the path that leads to a value under these names."""
    return "$" + "".join(map(_step, names))


def _step(name: str) -> str:
    """Write a name of a path so that it is read back as the same."""
    if name == "*" or _PLAIN_NAME.fullmatch(name):
        return f".{name}"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{quoted}"]'
