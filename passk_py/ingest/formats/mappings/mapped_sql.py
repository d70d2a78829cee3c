"""Expressions of a mapping as SQL over the columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from passk_py.common.sql_text import identifier, quote
from passk_py.ingest.formats.base import Field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passk_py.ingest.formats.kinds import Kind
    from passk_py.ingest.formats.mappings.mapping_expression import Expression, Where


def field_of(one: Expression, columns: Mapping[str, Kind]) -> Field:
    """Write an expression of a mapping in SQL."""
    if one.path is None:
        return Field(quote(one.source), "text", one.source)
    column, kind = _found(one, columns)
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
    # The empty field of a table is no value.
    given = f"nullif({text}, '') is not null" if kind == "text" else f"{column} is not null"
    if one.operator == "null":
        return Field(f"not ({given})" if one.operands[0] else given, "boolean", one.source)
    if one.operator in ("in", "not in"):
        sql = f"({' or '.join(_equal(text, operand) for operand in one.operands)})"
        sql = sql if one.operator == "in" else f"not {sql}"
    elif one.operator in ("==", "!="):
        sql = _equal(text, one.operands[0])
        sql = sql if one.operator == "==" else f"not ({sql})"
    else:
        # NaN is neither more nor less than anything, though DuckDB puts it above all.
        value = f"try_cast({text} as double)"
        value = f"case when not isnan({value}) then {value} end"
        sql = f"{value} {one.operator} {_number(one.operands[0])}"
    return Field(f"case when {given} then {sql} end", "boolean", one.source)


def _found(one: Expression, columns: Mapping[str, Kind]) -> tuple[str, Kind]:
    """Write what the path leads to."""
    name, *steps = one.path or ()
    column, kind = identifier(str(name)), columns.get(str(name), "text")
    if not steps and not one.among:
        return column, kind
    # Within a column: of text, JSON; of a struct or a list, what DuckDB has.
    whole = column if kind == "text" else f"to_json({column})"
    value = whole
    for where, after in one.among:
        value = f"{_first_in(_member(value, steps), where)}"
        steps = list(after)
    found = f"json_extract_string({value}, {quote('$' + _path(steps))})"
    return f"case when json_valid({whole}) then {found} end" if kind == "text" else found, "text"


def _member(value: str, steps: list[str | int]) -> str:
    return f"json_extract({value}, {quote('$' + _path(steps))})"


def _path(steps: list[str | int]) -> str:
    return "".join(
        f"[{step if step >= 0 else f'#{step}'}]"
        if isinstance(step, int)
        else "." + identifier(step)
        for step in steps
    )


def _first_in(value: str, where: Where) -> str:
    """Write the first element of a list whose field equals a value."""
    field = f"json_extract_string(x, {quote('$.' + identifier(where.name))})"
    elements = f"json_extract({value}, '$[*]')"
    return f"list_filter({elements}, lambda x: {_equal(field, where.operand)})[1]"


def without_verdict(field: Field, unless: Field) -> Field:
    """Make a field null where another one is true."""
    return Field(
        f"case when ({unless.sql}) then null else {field.sql} end", field.kind, field.label
    )


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
