"""Mappings: how the rows of anyone's own file become attempts, said in a few lines.

A mapping names, for each column of the contract, where its value is found:

- ``$.case.id`` is what stands under these names in a row of JSON, ``$.scores[0]`` an element of a
  list; of a table, ``$.name`` is a column. Other names are written ``$["a b"]``.
- ``$.score >= 0.8``, ``$.status == 'ok'`` or ``$.kind in ('a', 'b')`` compare it: true, false, or
  null where there is no value.
- ``$.trial + 1`` counts from another number.
- A text without ``$`` is that text, for every row.

``attempt: in_order`` numbers the tries of a task by ``started_at`` or, where there is none, in the
order of the rows. ``rows: $.results`` says where in a JSON document the rows are. ``tags`` is a
table of such lines.

>>> said = {"task_id": "$.case.id", "attempt": "in_order", "passed": "$.score >= 0.8"}
>>> mapping = Mapping.of(said, name="mine")
>>> mapping.expressions["passed"].value_of({"score": 0.9})
True
"""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.contract import CONTRACT_COLUMNS, EXPECTED_ATTEMPTS
from passk_py.common.errors import PasskError
from passk_py.ingest.formats.json_values import at, number
from passk_py.ingest.formats.yaml_file import existing_file, load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "IN_ORDER",
    "MAPPINGS_FOLDER",
    "Expression",
    "Mapping",
    "map_options",
    "mapping_from",
    "path_of",
    "save_mapping",
]

IN_ORDER: Final = "in_order"
"""The mapping of ``attempt`` that numbers the tries by their order."""

MAPPINGS_FOLDER: Final = Path("passk_mappings")
"""Where mappings are kept: ``passk_mappings/NAME.yml`` in the working directory."""

_COLUMNS: Final = (
    *(column.name for column in CONTRACT_COLUMNS if column.name != "tags"),
    "passed",
    EXPECTED_ATTEMPTS.name,
)
_OTHERS: Final = ("name", "rows", "tags")
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
    """Where a value is found, and what is made of it.

    Parameters
    ----------
    source
        As it was written.
    path
        Names and places that lead to the value; None for a text that stands for itself.
    operator
        ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``+``, or nothing.
    operands
        What it is compared with, or what is added.
    """

    source: str
    path: tuple[str | int, ...] | None = None
    operator: str = ""
    operands: tuple[Any, ...] = ()

    def value_of(self, row: Any) -> Any:  # noqa: ANN401 - JSON
        """Find the value in a row.

        Parameters
        ----------
        row
            A row of JSON: dicts, lists and plain values.

        Returns
        -------
        object
            The value; None where the row has none.

        Examples
        --------
        >>> parsed("$.trial + 1").value_of({"trial": 0})
        1
        >>> parsed("$.ok == true").value_of({"ok": None}) is None
        True
        """
        if self.path is None:
            return self.source
        value = at(row, *self.path)
        if value is None or not self.operator:
            return value
        if self.operator == "+":
            # What is no whole number is left to the contract, which says so.
            whole = value if type(value) is int else None
            if isinstance(value, str) and _WHOLE.fullmatch(value):
                whole = int(value)
            return value if whole is None else whole + self.operands[0]
        return _compared(value, self.operator, self.operands)


def _compared(value: Any, operator: str, operands: tuple[Any, ...]) -> bool | None:  # noqa: ANN401
    if operator == "in":
        return any(_equal(value, operand) for operand in operands)
    operand = operands[0]
    if operator in ("==", "!="):
        # What is no flag is no verdict.
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


def _equal(value: Any, operand: Any) -> bool:  # noqa: ANN401
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
    """Read an expression.

    Parameters
    ----------
    source
        As it is written in a mapping.

    Raises
    ------
    PasskError
        If it starts like a path and is none.

    Examples
    --------
    >>> parsed("$.case.id").path, parsed('$["a b"][0]').path
    (('case', 'id'), ('a b', 0))
    >>> parsed("$.status in ('ok', 'good')").operands
    ('ok', 'good')
    >>> parsed("helpdesk").value_of({})
    'helpdesk'
    """
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


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping.

    Parameters
    ----------
    name
        What it is called; ``source_format`` of the rows that it lands.
    expressions
        Columns of the contract, or ``passed``, and where their values are found.
    tags
        Tags, and where theirs are.
    rows
        The path to the rows of a JSON document.
    in_order
        Whether the tries are numbered by their order.
    """

    name: str
    expressions: dict[str, Expression]
    tags: dict[str, Expression] = field(default_factory=dict)
    rows: tuple[str, ...] = ()
    in_order: bool = False

    @classmethod
    def of(cls, said: Any, name: str) -> Mapping:  # noqa: ANN401 - whatever a file holds
        """Make a mapping of what a file or a command line says.

        Parameters
        ----------
        said
            Columns and expressions.
        name
            What to call it, if it does not say so itself.

        Raises
        ------
        PasskError
            If there is a name that the contract does not know, an expression that can't be read,
            or neither task nor verdict.
        """
        if not isinstance(said, dict):
            raise PasskError(
                f"The mapping {name} holds no lines `column: expression`.",
                hint="Write lines such as `task_id: $.case.id` and `passed: $.score >= 0.8`.",
            )
        unknown = [str(key) for key in said if key not in (*_COLUMNS, *_OTHERS)]
        if unknown:
            raise PasskError(
                f"The mapping {name} has {', '.join(unknown)}, which is no column of the contract.",
                hint=f"The columns are {', '.join((*_COLUMNS, 'tags'))}; rows says where rows are.",
            )
        tags = said.get("tags") or {}
        if not isinstance(tags, dict):
            raise PasskError(
                f"The tags of the mapping {name} are no table.",
                hint="Write tags as lines of their own, such as `domain: $.domain`.",
            )
        in_order = said.get("attempt") == IN_ORDER
        given = {
            column: parsed(_as_text(said[column]))
            for column in _COLUMNS
            if said.get(column) is not None and not (column == "attempt" and in_order)
        }
        if "task_id" not in given:
            raise PasskError(
                f"The mapping {name} does not say what task_id is.",
                hint="Add a line such as `task_id: $.case.id`.",
            )
        if not any(column in given for column in ("outcome", "passed", "score")):
            raise PasskError(
                f"The mapping {name} does not say which attempts passed.",
                hint="Add a line such as `passed: $.score >= 0.8`, or outcome, or score.",
            )
        if "attempt" not in given and not in_order:
            raise PasskError(
                f"The mapping {name} does not say which try of its task a row is.",
                hint=f"Add `attempt: $.trial`, or `attempt: {IN_ORDER}` to number the tries of a "
                "task by started_at or, where there is none, in the order of the rows.",
            )
        return cls(
            str(said.get("name") or name),
            given,
            {str(tag): parsed(_as_text(value)) for tag, value in tags.items()},
            _rows_at(said.get("rows")),
            in_order,
        )

    @property
    def description(self) -> str:
        """Everything that decides which attempts come out, as text."""
        return json.dumps(
            {
                **{column: one.source for column, one in self.expressions.items()},
                "tags": {tag: one.source for tag, one in self.tags.items()},
                "rows": self.rows,
                "in_order": self.in_order,
            }
        )

    @property
    def paths(self) -> list[tuple[str | int, ...]]:
        """Every path that the mapping reads."""
        every = (*self.expressions.values(), *self.tags.values())
        return [one.path for one in every if one.path is not None]


def _as_text(value: Any) -> str:  # noqa: ANN401 - YAML
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rows_at(said: Any) -> tuple[str, ...]:  # noqa: ANN401 - YAML
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


def mapping_from(lines: Iterable[str], kept: str | None) -> Mapping | None:
    """Read what ``--map`` and ``--mapping`` were given.

    Parameters
    ----------
    lines
        ``column=expression``; a tag is ``tags.NAME=expression``. They come before what ``kept``
        says.
    kept
        A YAML file, or the name of a mapping in :data:`MAPPINGS_FOLDER`.

    Returns
    -------
    Mapping or None
        None if neither was given.

    Raises
    ------
    PasskError
        If something can't be read.

    Examples
    --------
    >>> mapping_from(["task_id=$.id", "passed=$.ok", "attempt=$.try", "tags.a=$.b"], None).tags
    {'a': Expression(source='$.b', path=('b',), operator='', operands=())}
    """
    said: dict[str, Any] = {}
    name = "mapping"
    if kept is not None:
        path = _path_of(kept)
        name, said = path.stem, load_yaml(path, "`task_id: $.case.id` and `attempt: $.trial`")
    for line in lines:
        column, equals, expression = line.partition("=")
        if not equals or not column.strip():
            raise PasskError(
                f"--map is {line!r}, but must be a column and where it is found.",
                hint="Write --map 'task_id=$.case.id', for example.",
            )
        column = column.strip()
        if column.startswith("tags.") and isinstance(said.get("tags") or {}, dict):
            said["tags"] = {**(said.get("tags") or {}), column.removeprefix("tags."): expression}
        else:
            said[column] = expression
    return Mapping.of(said, name) if said or kept is not None else None


def save_mapping(mapping: Mapping, name: str) -> Path:
    """Keep a mapping under a name.

    Parameters
    ----------
    mapping
        The mapping.
    name
        Its name: letters, digits, dots, dashes and underscores.

    Returns
    -------
    Path
        The file in :data:`MAPPINGS_FOLDER`.

    Raises
    ------
    PasskError
        If the name is none, or a mapping of that name says something else.
    """
    import yaml  # type: ignore[import-untyped]

    if not re.fullmatch(r"[\w-][\w.-]*", name):
        raise PasskError(
            f"{name!r} is no name for a mapping.",
            hint="Use letters, digits, dots, dashes and underscores.",
        )
    said: dict[str, Any] = {}
    if mapping.rows:
        # Where the rows are in a list is said without the star.
        steps = mapping.rows[:-1] if len(mapping.rows) > 1 else mapping.rows
        said["rows"] = "$" + "".join(_step(step) for step in steps)
    said |= {column: one.source for column, one in mapping.expressions.items()}
    if mapping.in_order:
        said["attempt"] = IN_ORDER
    if mapping.tags:
        said["tags"] = {tag: one.source for tag, one in mapping.tags.items()}
    written = yaml.safe_dump(said, sort_keys=False, allow_unicode=True)
    path = MAPPINGS_FOLDER / f"{name}.yml"
    if path.exists() and path.read_text("utf-8") != written:
        raise PasskError(
            f"{path} holds another mapping already.", hint="Take another name, or edit the file."
        )
    path.parent.mkdir(exist_ok=True)
    path.write_text(written, "utf-8")
    return path


def path_of(*names: str) -> str:
    """Write the path that leads to a value under these names.

    Examples
    --------
    >>> path_of("case", "a b")
    '$.case["a b"]'
    """
    return "$" + "".join(map(_step, names))


def map_options(lines: dict[str, str]) -> str:
    r"""Write the ``--map`` options of a mapping as a shell takes them.

    Examples
    --------
    >>> map_options({"task_id": "$.task", "passed": "$.status == 'ok'"})
    '--map task_id=$.task --map "passed=$.status == \'ok\'"'
    """
    return " ".join(f"--map {_for_shell(f'{column}={said}')}" for column, said in lines.items())


def _for_shell(argument: str) -> str:
    """Quote an argument if it needs that; ``$`` before a dot is a plain character to a shell."""
    if re.fullmatch(r"[\w=$.-]+", argument, re.ASCII):
        return argument
    # Readable where single quotes are part of it.
    plain = "'" in argument and not re.search(r"[\"`\\!]|\$[^.]", argument)
    return f'"{argument}"' if plain else shlex.quote(argument)


def _step(name: str) -> str:
    """Write a name of a path so that it is read back as the same."""
    if name == "*" or _PLAIN_NAME.fullmatch(name):
        return f".{name}"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{quoted}"]'


def _path_of(kept: str) -> Path:
    named = MAPPINGS_FOLDER / f"{kept}.yml"
    for path in (existing_file(str(named)), existing_file(kept)):
        if path is not None:
            return path
    names = ", ".join(sorted(path.stem for path in MAPPINGS_FOLDER.glob("*.yml")))
    raise PasskError(
        f"There is no mapping {kept[:60]!r}: neither a file of that name nor a mapping kept in "
        f"{MAPPINGS_FOLDER}/.",
        hint=f"The mappings of {MAPPINGS_FOLDER}/ are {names}."
        if names
        else "Write one with --map 'task_id=$.case.id' ... --save-mapping NAME.",
    )
