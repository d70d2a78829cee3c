"""Mappings: how the rows of anyone's own file become attempts, said in a few lines.

A mapping names, for each column of the contract, where its value is found:

- ``$.case.id`` is the value under these names in a row of JSON, ``$.scores[0]`` an element of a
  list, ``$.stats[name == "f1"]`` the first whose field says so; in a table, ``$.name`` is a column.
  Other names are written ``$["a b"]``. ``$`` is the row itself, ``^`` what lies one star of
  ``rows`` above it; ``$key`` and ``^key`` are the names or places under which they stand.
- ``$.score >= 0.8``, ``$.status == 'ok'`` or ``$.kind in ('a', 'b')`` compare it: true, false, or
  null where there is no value. ``$.error == null`` is never null.
- ``$.trial + 1`` counts from another number.
- A text that starts with neither ``$`` nor ``^`` is that text, for every row.

``attempt: in_order`` numbers the tries of a task by ``started_at`` or, where there is none, in the
order of the rows. ``rows: $.results`` says where in a document, or in each line, the rows are; a
list says several places. Where ``no_verdict`` is true, an attempt has no verdict. ``tags`` is a
table of such lines.

>>> said = {"task_id": "$.case.id", "attempt": "in_order", "passed": "$.score >= 0.8"}
>>> mapping = Mapping.of(said, name="mine")
>>> mapping.expressions["passed"].value_of({"score": 0.9})
True
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.contract import CONTRACT_COLUMNS, EXPECTED_ATTEMPTS
from passk_py.common.errors import PasskError
from passk_py.ingest.containers.json_walk import is_level
from passk_py.ingest.formats.mappings.mapping_expression import Expression, parsed
from passk_py.ingest.formats.mappings.mapping_rows import rows_as_said, rows_at
from passk_py.ingest.formats.yaml_file import existing_file, load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.ingest.formats.mappings.mapping_rows import Path as RowPath

IN_ORDER: Final = "in_order"

_OF_OPTIONS: Final = "mapping"
_MAPPINGS_FOLDER: Final = Path("passk_mappings")

_COLUMNS: Final = (
    *(column.name for column in CONTRACT_COLUMNS if column.name != "tags"),
    "passed",
    EXPECTED_ATTEMPTS.name,
)
_OTHERS: Final = ("name", "rows", "no_verdict", "tags")


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping."""

    name: str
    expressions: dict[str, Expression]
    """Columns of the contract, or ``passed``, and where their values are found."""
    tags: dict[str, Expression] = field(default_factory=dict)
    rows: tuple[RowPath, ...] = ()
    """Where the rows are; nothing if each line, element or row of the file is one."""
    in_order: bool = False
    no_verdict: Expression | None = None
    """Whether the attempt has no verdict, whatever the other expressions give."""

    @classmethod
    def of(cls, said: Any, name: str) -> Mapping:  # noqa: ANN401 - whatever a file holds
        """Make a mapping of what a file or a command line says: columns and expressions."""
        if not isinstance(said, dict):
            raise PasskError(
                f"The {_called(name)} holds no lines `column: expression`.",
                hint="Write lines such as `task_id: $.case.id` and `passed: $.score >= 0.8`.",
            )
        unknown = [str(key) for key in said if key not in (*_COLUMNS, *_OTHERS)]
        if unknown:
            raise PasskError(
                f"The {_called(name)} has {', '.join(unknown)}, which is not a column of the "
                "contract.",
                hint=f"The columns are {', '.join((*_COLUMNS, 'tags'))}; rows says where rows "
                "are, no_verdict which attempts have no verdict.",
            )
        tags = said.get("tags") or {}
        if not isinstance(tags, dict):
            raise PasskError(
                f"The tags of the {_called(name)} are not a table.",
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
                f"The {_called(name)} has no rule for task_id.",
                hint="Add a line such as `task_id: $.case.id`.",
            )
        if not any(column in given for column in ("outcome", "passed", "score")):
            raise PasskError(
                f"The {_called(name)} has no rule for the verdict.",
                hint="Add a line such as `passed: $.score >= 0.8`, or outcome, or score.",
            )
        if "attempt" not in given and not in_order:
            raise PasskError(
                f"The {_called(name)} has no rule for the number of the attempt.",
                hint=f"Add `attempt: $.trial`, or `attempt: {IN_ORDER}` to number the tries of a "
                "task by started_at or, where there is none, in the order of the rows.",
            )
        made = cls(
            str(said.get("name") or name),
            given,
            {str(tag): parsed(_as_text(value)) for tag, value in tags.items()},
            tuple(map(rows_at, _listed(said.get("rows")))),
            in_order,
            None if said.get("no_verdict") is None else parsed(_as_text(said["no_verdict"])),
        )
        made._check()
        return made

    def _check(self) -> None:
        """Raise where an expression can have no value in any row."""
        if self.no_verdict and not self.no_verdict.compares:
            raise PasskError(
                f"The {self.called} says no_verdict={self.no_verdict.source}, which is no "
                "condition.",
                hint="Write a comparison such as no_verdict=$.error != null, or "
                "no_verdict=$.skipped == true.",
            )
        levels = max((sum(map(is_level, path)) for path in self.rows), default=0)
        for one in self.every:
            if one.up > levels:
                raise PasskError(
                    f"The {self.called} says {one.source}, which lies higher than where its "
                    "rows are.",
                    hint="Each star of rows is a level: in $.tasks[*].samples[*], ^ is the task.",
                )

    @property
    def called(self) -> str:
        """Its name in a sentence."""
        return _called(self.name)

    @property
    def description(self) -> str:
        """Everything that decides which attempts come out, as text."""
        return json.dumps(
            {
                **{column: one.source for column, one in self.expressions.items()},
                **({"no_verdict": self.no_verdict.source} if self.no_verdict else {}),
                "tags": {tag: one.source for tag, one in self.tags.items()},
                "rows": self.rows
                if len(self.rows) > 1
                else [step for path in self.rows for step in path],
                "in_order": self.in_order,
            }
        )

    @property
    def every(self) -> tuple[Expression, ...]:
        """Every expression of it that reads something."""
        found = (*self.expressions.values(), *self.tags.values(), self.no_verdict)
        return tuple(one for one in found if one is not None and one.path is not None)


def _called(name: str) -> str:
    """Name a mapping in a sentence; that of a command line has no name of its own."""
    return name if name == _OF_OPTIONS else f"mapping {name}"


def _listed(said: Any) -> list[Any]:  # noqa: ANN401 - YAML
    return [] if said is None else said if isinstance(said, list) else [said]


def _as_text(value: Any) -> str:  # noqa: ANN401 - YAML
    return str(value).lower() if isinstance(value, bool) else str(value)


def mapping_from(lines: Iterable[str], kept: str | None) -> Mapping | None:
    """Read ``--map``, before what ``--mapping`` keeps; None if neither is given."""
    said: dict[str, Any] = {}
    rows: list[str] = []
    name = _OF_OPTIONS
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
        elif column == "rows":
            rows.append(expression)
        else:
            said[column] = expression
    if rows:
        said["rows"] = rows
    return Mapping.of(said, name) if said or kept is not None else None


def save_mapping(mapping: Mapping, name: str) -> Path:
    """Keep a mapping under a name that is new or its own; give the file."""
    import yaml  # type: ignore[import-untyped]

    if not re.fullmatch(r"[\w-][\w.-]*", name):
        raise PasskError(
            f"{name!r} is not a valid name for a mapping.",
            hint="Use letters, digits, dots, dashes and underscores.",
        )
    said: dict[str, Any] = {}
    if mapping.rows:
        rows = [rows_as_said(path) for path in mapping.rows]
        said["rows"] = rows if len(rows) > 1 else rows[0]
    said |= {column: one.source for column, one in mapping.expressions.items()}
    if mapping.no_verdict:
        said["no_verdict"] = mapping.no_verdict.source
    if mapping.in_order:
        said["attempt"] = IN_ORDER
    if mapping.tags:
        said["tags"] = {tag: one.source for tag, one in mapping.tags.items()}
    written = yaml.safe_dump(said, sort_keys=False, allow_unicode=True)
    path = _MAPPINGS_FOLDER / f"{name}.yml"
    if path.exists() and path.read_text("utf-8") != written:
        raise PasskError(
            f"{path} already holds a different mapping.",
            hint="Choose another name, or edit the file.",
        )
    path.parent.mkdir(exist_ok=True)
    path.write_text(written, "utf-8")
    return path


def map_options(lines: dict[str, str]) -> str:
    """Write the ``--map`` options of a mapping as a shell takes them."""
    return " ".join(f"--map {_for_shell(f'{column}={said}')}" for column, said in lines.items())


def _for_shell(argument: str) -> str:
    """Quote an argument if it needs that; ``$`` is plain to a shell before a dot or a blank."""
    if re.fullmatch(r"(?:[\w=.-]|\$(?=\.|\Z))+", argument, re.ASCII):
        return argument
    # Readable where single quotes are part of it.
    plain = "'" in argument and not re.search(r"[\"`\\!]|\$[^. ]", argument)
    return f'"{argument}"' if plain else shlex.quote(argument)


def _path_of(kept: str) -> Path:
    named = _MAPPINGS_FOLDER / f"{kept}.yml"
    for path in (existing_file(str(named)), existing_file(kept)):
        if path is not None:
            return path
    names = ", ".join(sorted(path.stem for path in _MAPPINGS_FOLDER.glob("*.yml")))
    raise PasskError(
        f"There is no mapping {kept[:60]!r}: neither a file of that name nor a mapping kept in "
        f"{_MAPPINGS_FOLDER}/.",
        hint=f"The mappings of {_MAPPINGS_FOLDER}/ are {names}."
        if names
        else "Write one with --map 'task_id=$.case.id' ... --save-mapping NAME.",
    )
