"""Files of anyone's own, read by a mapping: JSON in any shape, CSV and Parquet tables.

A mapping is never guessed: it is given with ``passk load --map`` or ``--mapping``. SQL takes the
values from a table, so that it lands as fast as a canonical one; from JSON, only the values that
the mapping names are decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from passk_py.common.errors import PasskError
from passk_py.common.sql_text import identifier, quote
from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.base import Field, Format
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.kinds import Refusal, listed
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.kinds import Kind
    from passk_py.ingest.formats.mapping import Mapping as MappingOfColumns
    from passk_py.ingest.formats.mapping_expression import Expression
    from passk_py.ingest.formats.sample import Sample

_SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")


def mapped(mapping: MappingOfColumns, sample: Sample) -> Format:
    """Make the format that reads files of this container by a mapping."""
    container = sample.container
    if mapping.rows:
        if not sample.one_object:
            raise PasskError(
                f"{sample.path} is not a single JSON object, so rows can't be looked up in it.",
                hint="Leave out rows: each line, element or row of the file is already a row.",
            )
        container = "json_object"
    said: dict[str, Any] = {
        "name": mapping.name,
        "container": container,
        "numbers_attempts": mapping.in_order,
        "attempts_stay": not mapping.in_order,
        "fields": _described(mapping),
        "settings": mapping.description,
    }
    # A format describes itself in its class, so a mapping makes a class of its own.
    if container in ("csv", "parquet"):
        said["columns"] = tuple(dict.fromkeys(str(path[0]) for path in mapping.paths))
        return cast("Format", type("MappedTable", (_MappedTable,), said)(mapping))
    if container in ("json_lines", "json_list", "json_object"):
        said |= {
            "labels": {column: one.source for column, one in mapping.expressions.items()},
            "rows_at": mapping.rows or ((EACH,) if container == "json_list" else ()),
            "shape": _shape_of(mapping.paths),
        }
        return cast("Format", type("MappedJson", (_MappedJson,), said)(mapping))
    raise PasskError(
        f"{sample.path} can't be read by a mapping: it is {sample.description or 'no table'}.",
        hint="Mappings read JSON, CSV and Parquet.",
    )


class _Described:
    """The facts that both kinds give of themselves."""

    title = "any JSON, CSV or Parquet file, by a mapping"
    reader_version = 2
    suffixes: ClassVar[tuple[str, ...]] = _SUFFIXES
    recognised_by = "never: --map or --mapping asks for it"
    verdict_rule = "as the mapping says: outcome, passed, or score and its threshold"
    attempt_rule = (
        "as the mapping says; in_order numbers by started_at, then by the order of the rows"
    )
    error_rule = "no verdict: outcome_reason and the policy decide"
    documentation = "docs/formats.md#any-other-file"
    example = "task_id: $.case.id"
    differs_by_run = False
    is_harness = True
    uses_threshold = True

    def __init__(self, mapping: MappingOfColumns) -> None:
        self._mapping = mapping

    def recognises(self, sample: Sample) -> bool:
        """Tell of no file that it is to be read by a mapping."""
        return False

    def without_threshold(self, sample: Sample) -> str | None:
        """Say that the mapping names no score."""
        named = "score" in self._mapping.expressions
        return None if named else "the mapping does not say where a score is"

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Tell whether the mapping says where a score is, and no verdict."""
        return "score" in self._mapping.expressions and not (
            {"outcome", "passed"} & self._mapping.expressions.keys()
        )


def _described(mapping: MappingOfColumns) -> tuple[tuple[str, str], ...]:
    tags = ((f"tags.{tag}", one.source) for tag, one in mapping.tags.items())
    return (*((column, one.source) for column, one in mapping.expressions.items()), *tags)


class _MappedJson(_Described, JsonHarness):
    """JSON, row by row."""

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        values = {column: one.value_of(row) for column, one in self._mapping.expressions.items()}
        if self._mapping.tags:
            values["tags"] = {tag: one.value_of(row) for tag, one in self._mapping.tags.items()}
        yield values

    def default_run_id(self, path: Path) -> str | None:
        return None if "run_id" in self._mapping.expressions else super().default_run_id(path)


def _shape_of(paths: list[tuple[str | int, ...]]) -> dict[str, Any]:
    """Ask for what the paths lead to; of a list, for all of it."""
    shape: dict[str, Any] = {}
    for path in sorted(paths, key=len, reverse=True):
        names = []
        for step in path:
            if isinstance(step, int):
                break
            names.append(step)
        node = shape
        for name in names[:-1]:
            below = node.setdefault(name, {})
            if below is ANY:
                break
            node = below
        else:
            # A shorter path asks for the whole of what a longer one takes a part of.
            node[names[-1]] = ANY
    return shape


class _MappedTable(_Described, Format):
    """A CSV or Parquet table, in SQL."""

    def refuse(self, sample: Sample) -> Refusal | None:
        missing = [name for name in self.columns if name not in sample.fields]
        if missing:
            return Refusal(
                f"no column {missing[0]} among its columns ({listed(sample.fields)}), which the "
                f"mapping {self.name} reads",
                "Correct the mapping, or load the file without it.",
            )
        return super().refuse(sample)

    def default_run_id(self, path: Path) -> str | None:
        said = "run_id" in self._mapping.expressions
        return None if said else run_named_after(path, self.suffixes)

    def contract(self, columns: Mapping[str, Kind]) -> dict[str, Field]:
        fields = {column: _field(one, columns) for column, one in self._mapping.expressions.items()}
        if self._mapping.in_order:
            fields["attempt"] = Field("1", "integer", "attempt")
        if self._mapping.tags:
            pairs = ", ".join(
                f"{{'k': {quote(tag)}, 'v': cast({_field(one, columns).sql} as varchar)}}"
                for tag, one in self._mapping.tags.items()
            )
            entries = f"[e for e in [{pairs}] if e.v is not null]"
            some = f"case when len({entries}) > 0 then map_from_entries({entries}) end"
            fields["tags"] = Field(some, "map", "tags")
        return fields


def _field(one: Expression, columns: Mapping[str, Kind]) -> Field:
    """Write an expression of a mapping in SQL."""
    if one.path is None:
        return Field(quote(one.source), "text", one.source)
    name = str(one.path[0])
    column, kind = identifier(name), columns.get(name, "text")
    if len(one.path) > 1:
        # Within a column: of text, JSON; of a struct or a list, what DuckDB has.
        steps = "".join(
            f"[{step}]" if isinstance(step, int) else "." + identifier(step)
            for step in one.path[1:]
        )
        whole = column if kind == "text" else f"to_json({column})"
        column = f"json_extract_string({whole}, {quote('$' + steps)})"
        column = f"case when json_valid({whole}) then {column} end" if kind == "text" else column
        kind = "text"
    if not one.operator:
        return Field(column, kind, one.source)
    if one.operator == "+":
        # The contract rejects values that are no whole numbers, and says so.
        if kind == "text":
            whole = f"regexp_full_match({column}, '[+-]?[0-9]{{1,18}}')"
            summed = f"cast(try_cast({column} as bigint) + {one.operands[0]} as varchar)"
            return Field(f"case when {whole} then {summed} else {column} end", "text", one.source)
        if kind == "integer":
            return Field(f"{column}::hugeint + {one.operands[0]}", kind, one.source)
        return Field(column, kind, one.source)
    text = f"cast({column} as varchar)"
    if one.operator == "in":
        equal = " or ".join(_equal(text, operand) for operand in one.operands)
        sql = f"({equal})"
    elif one.operator in ("==", "!="):
        sql = _equal(text, one.operands[0])
        sql = sql if one.operator == "==" else f"not ({sql})"
    else:
        # NaN is neither more nor less than anything, though DuckDB puts it above all.
        value = f"try_cast({text} as double)"
        value = f"case when not isnan({value}) then {value} end"
        sql = f"{value} {one.operator} {_number(one.operands[0])}"
    # The empty field of a table is no value.
    given = f"nullif({text}, '') is not null" if kind == "text" else f"{column} is not null"
    return Field(f"case when {given} then {sql} end", "boolean", one.source)


def _equal(text: str, operand: Any) -> str:  # noqa: ANN401 - a literal of a mapping
    if isinstance(operand, bool):
        word = f"lower(trim({text}))"
        yes, no = ("true", "false") if operand else ("false", "true")
        # A value that is no flag is no verdict.
        return (
            f"case when {word} in ('true', '1', '1.0') then {yes} "
            f"when {word} in ('false', '0', '0.0') then {no} end"
        )
    if isinstance(operand, int | float):
        return f"coalesce(try_cast({text} as double) = {_number(operand)}, false)"
    return f"{text} = {quote(str(operand))}"


def _number(operand: Any) -> str:  # noqa: ANN401 - a literal of a mapping
    if isinstance(operand, bool) or not isinstance(operand, int | float):
        return f"try_cast({quote(str(operand))} as double)"
    return f"{float(operand)!r}::double"
