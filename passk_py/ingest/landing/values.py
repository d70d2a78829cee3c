"""SQL that types one raw value and says what is wrong with it.

Raw values come as text or as what DuckDB has; here each becomes what the contract asks
for, or a rule that rejects it. The casts of DuckDB are more generous than a log should be given
credit for ('3.5' is 4 as an integer, '1_0' is 10, 'infinity' is a date), hence the guards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from passk_py.common.sql_text import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from passk_py.ingest.formats import Kind

_MAX_TEXT_BYTES: Final = 1 << 20
"""The longest identifier. More is a mistake: a transcript in the wrong column, say."""

_MAX_PLACE_BYTES: Final = 4096
"""The longest path or URL. A longer text is the transcript itself."""

_WHOLE: Final = r"'\s*[+-]?[0-9]+([.]0*)?\s*'"


def shown(column: str) -> str:
    """Write SQL for a value in quotes, cut short, to be shown in a sentence."""
    text = f"cast({column} as varchar)"
    cut = f"case when length({text}) > 60 then '...' else '' end"
    return f"'''' || left({text}, 60) || {cut} || ''''"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that rejects rows."""

    when: str
    """SQL that is true for rows that break the rule; null counts as false."""
    field: str
    code: str
    """SQL for the ``reason_code``."""
    reason: str
    """SQL for the sentence that names the field, the value and what is allowed."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A value of the contract's type, null where it can't be had, and the rules that it passed."""

    sql: str
    rules: tuple[Rule, ...] = ()


def _is(label: str, column: str, rest: str) -> str:
    return f"{quote(label + ' is ')} || {shown(column)} || {quote(', ' + rest)}"


def _wrong(name: str, label: str, kind: Kind, what: str) -> Rule:
    column = f"f_{name}"
    given = f"{column} <> ''" if kind == "text" else f"{column} is not null"
    said = _is(label, column, f"which is not {what}.")
    return Rule(f"v_{name} is null and {given}", name, "'wrong_type'", said)


def _text(name: str, label: str, kind: Kind) -> Typed:
    column, value = f"f_{name}", f"v_{name}"
    if kind in ("boolean", "map", "other"):
        return Typed("null::varchar", (_wrong(name, label, kind, "text or a number"),))
    sql = f"nullif({column}, '')" if kind == "text" else f"cast({column} as varchar)"
    large = (
        f"{quote(label + ' has ')} || strlen({value}) || "
        f"{quote(f' bytes; at most {_MAX_TEXT_BYTES} are allowed.')}"
    )
    return Typed(
        sql, (Rule(f"strlen({value}) > {_MAX_TEXT_BYTES}", name, "'field_too_large'", large),)
    )


def _whole(name: str, label: str, kind: Kind) -> Typed:
    column = f"f_{name}"
    cast = f"try_cast({column} as bigint)"
    wrong = _wrong(name, label, kind, "a whole number")
    if kind == "text":
        # Most are plain digits; only the others pay for the regular expression.
        plus_less = f"try_cast(ltrim(trim({column}), '+') as bigint)"
        sql = (
            f"case when cast({cast} as varchar) = {column} then {cast} "
            f"when regexp_full_match({column}, {_WHOLE}) then {plus_less} end"
        )
        is_whole = f"regexp_full_match({column}, {_WHOLE})"
    elif kind == "integer":
        sql, is_whole = cast, "true"
    elif kind == "float":
        is_whole = f"isfinite({column}) and {column} = trunc({column})"
        # Neither NaN nor infinity survives the cast.
        sql = f"case when {column} = trunc({column}) then {cast} end"
    else:
        return Typed("null::bigint", (wrong,))
    too_big = _is(label, column, "which does not fit into 64 bits.")
    # One condition, two reasons: what tells them apart is only looked at where it holds.
    rule = Rule(
        wrong.when,
        name,
        case_of([(is_whole, "'out_of_range'")], otherwise=wrong.code),
        case_of([(is_whole, too_big)], otherwise=wrong.reason),
    )
    return Typed(sql, (rule,))


def _number(name: str, label: str, kind: Kind) -> Typed:
    column, value = f"f_{name}", f"v_{name}"
    wrong = _wrong(name, label, kind, "a number")
    if kind == "text":
        # DuckDB takes 1_0 for 10.
        sql = f"case when not contains({column}, '_') then try_cast({column} as double) end"
    elif kind in ("integer", "float"):
        sql = f"cast({column} as double)"
    else:
        return Typed("null::double", (wrong,))
    finite = Rule(
        f"not isfinite({value})",
        name,
        "'not_finite'",
        _is(label, column, "which is not a finite number."),
    )
    return Typed(sql, (wrong, finite))


def _time(name: str, label: str, kind: Kind) -> Typed:
    column, value = f"f_{name}", f"v_{name}"
    what = "a time as ISO 8601 writes it, such as 2026-01-31T12:00:00Z"
    wrong = _wrong(name, label, kind, what)
    if kind == "text":
        # A cast to timestamp drops the zone of a text that has one, so it is kept for those that
        # are in UTC or have none; it is three times as fast. The session's zone is UTC. A time
        # without seconds is given some, because DuckDB 1.4 would take it for midnight.
        whole = f"{column} like '____-__-_____:__:__%'"
        zero = " or ".join(
            f"{column} like '____-__-_____:__:__{rest}+00:00'" for rest in (".______", "")
        )
        plain = f"{whole} and (strlen({column}) = 19 or suffix({column}, 'Z') or {zero})"
        text = case_of(
            [
                (whole, column),
                (
                    f"{column} like '____-__-_____:__%'",
                    f"left({column}, 16) || ':00' || substr({column}, 17)",
                ),
                (f"{column} like '____-__-__'", column),
            ]
        )
        sql = (
            f"case when {plain} then try_cast({column} as timestamp) "
            f"else try_cast({text} as timestamptz) at time zone 'UTC' end"
        )
    elif kind == "timestamp":
        sql = f"try_cast({column} as timestamp)"
    elif kind == "timestamptz":
        sql = f"{column} at time zone 'UTC'"
    else:
        return Typed("null::timestamp", (wrong,))
    # DuckDB also reads years before Christ and the word infinity.
    far = f"not {value} between timestamp '0001-01-01' and timestamp '9999-12-31 23:59:59.999999'"
    return Typed(sql, (replace(wrong, when=f"({wrong.when}) or {far}"),))


def _table(name: str, label: str, kind: Kind) -> Typed:
    column = f"f_{name}"
    wrong = _wrong(name, label, kind, "an object of names and texts, each name once")
    if kind == "map":
        return Typed(f"try_cast({column} as map(varchar, varchar))", (wrong,))
    if kind not in ("text", "other"):
        return Typed("null::map(varchar, varchar)", (wrong,))
    text = column if kind == "text" else f"cast(to_json({column}) as varchar)"
    # Nested, because each step raises on what the one before keeps out.
    unique = f"len(list_distinct(json_keys({text}))) = len(json_keys({text}))"
    made = f"""json_transform({text}, '"MAP(VARCHAR,VARCHAR)"')"""
    sql = (
        f"case when json_valid({text}) then case when json_type({text}) = 'OBJECT' "
        f"then case when {unique} then {made} end end end"
    )
    return Typed(sql, (wrong,))


def as_flag(name: str, label: str, kind: Kind) -> Typed:
    """Type a verdict that is true or false."""
    column = f"f_{name}"
    wrong = _wrong(name, label, kind, "true, false, 1 or 0")
    sql = "null::boolean"
    if kind == "boolean":
        sql = column
    elif kind == "text":
        sql = (
            f"case lower(trim({column})) when 'true' then true when 'false' then false "
            "when '1' then true when '0' then false when '1.0' then true when '0.0' then false end"
        )
    elif kind in ("integer", "float"):
        sql = f"case when {column} = 1 then true when {column} = 0 then false end"
    return Typed(sql, (wrong,))


def as_place(name: str, kind: Kind, log: Path) -> Typed:
    """Type the place of a transcript, seen from its log; null for anything else, such as itself."""
    column = f"f_{name}"
    if kind != "text":
        return Typed("null::varchar")
    folder = str(log.parent / "_").removesuffix("_")
    # JSON is the transcript, or a word on whether there is one.
    sql = case_of(
        [
            (f"strlen({column}) not between 1 and {_MAX_PLACE_BYTES}", "null"),
            (f"starts_with({column}, '/')", column),
            (f"{column}[1] in ('{{', '[') or {column} in ('true', 'false')", "null"),
            (f"contains({column}, chr(10))", "null"),
            (f"starts_with({column}, '#')", f"{quote(str(log))} || {column}"),
            (f"regexp_matches({column}, '^([A-Za-z][A-Za-z0-9+.-]*:|\\\\)')", column),
        ],
        otherwise=f"{quote(folder)} || {column}",
    )
    return Typed(f"case when {column} is not null then {sql} end")


TYPERS: Final[dict[str, Callable[[str, str, Kind], Typed]]] = {
    "VARCHAR": _text,
    "BIGINT": _whole,
    "DOUBLE": _number,
    "TIMESTAMP": _time,
    "MAP(VARCHAR, VARCHAR)": _table,
}
"""For each type of the contract, what makes it of a raw value."""


def case_of(rules: Sequence[tuple[str, str]], *, otherwise: str = "null") -> str:
    """Write SQL for the value that belongs to the first condition that holds."""
    whens = " ".join(f"when {when} then {then}" for when, then in rules)
    return f"case {whens} else {otherwise} end" if whens else otherwise
