"""SQL that takes the values of a format's keys out of JSON, in both ways of reading.

``read_json`` turns every value into text or a double by itself; the careful way does so from the
text of a row, finds out what is wrong with the rows that can't be read, and must come to the same
texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.common.contract import CONTRACT_COLUMNS
from passk_py.common.sql_text import identifier, quote
from passk_py.ingest.landing.values import case_of

if TYPE_CHECKING:
    from passk_py.ingest.formats import Key

_NEITHER: Final = "', which is neither text nor a number.'"


def member(key: Key) -> str:
    """Write SQL for a value of what ``read_json`` gives with :func:`fast_columns`."""
    return ".".join(identifier(part) for part in key.path)


def fast_columns(keys: tuple[Key, ...]) -> str:
    """Write the argument ``columns`` of ``read_json`` for a format's keys."""
    tree: dict[str, Any] = {}
    for key in keys:
        node = tree
        for part in key.path[:-1]:
            node = node.setdefault(part, {})
        node[key.path[-1]] = (
            "MAP(VARCHAR, VARCHAR)" if key.table else "DOUBLE" if key.measure else "VARCHAR"
        )

    def written(node: dict[str, Any] | str) -> str:
        if isinstance(node, str):
            return node
        fields = ", ".join(f"{identifier(k)} {written(v)}" for k, v in node.items())
        return f"STRUCT({fields})"

    return "{" + ", ".join(f"{quote(k)}: {quote(written(v))}" for k, v in tree.items()) + "}"


def fast_oddity(keys: tuple[Key, ...]) -> str:
    """Write SQL for rows in which a value may not be what ``read_json`` made of it."""
    # It is true where an identifier may have been an object, a list or a boolean, which read_json
    # gives as text, and a text may also look like that; and where a whole number is too large for
    # a double. The careful way knows better.
    whole = [column.name for column in CONTRACT_COLUMNS if column.duckdb_type == "BIGINT"]
    odd = ["false"]
    for key in keys:
        value = member(key)
        if key.scalar:
            # As comparisons, which look at the first bytes only.
            odd += [
                f"({value} >= {quote(bracket)} and {value} < {quote(chr(ord(bracket) + 1))})"
                for bracket in "[{"
            ]
            odd += [f"{value} = 'true'", f"{value} = 'false'"]
        if key.measure and key.path[-1] in whole:
            odd.append(f"abs({value}) >= {1 << 53}")
    return " or ".join(odd)


def rows_of_texts(name: str, keys: tuple[Key, ...], unit: str) -> str:
    """Write SQL for the raw rows of a batch of JSON texts, each called a line or an element."""
    tops = tuple(dict.fromkeys(key.path[0] for key in keys))
    paths = ", ".join(quote(_json_path(key.path)) for key in keys)
    # As text, because taking apart a value of the type JSON parses it again.
    parts = f"json_extract(text, [{paths}])::varchar[]"
    present = "parts"
    if len(tops) < len(keys) or any(len(key.path) > 1 for key in keys):
        present = f"json_extract(text, [{', '.join(quote(_json_path((top,))) for top in tops)}])"
    known = f"[k for k in json_keys(text) if k in ({', '.join(quote(top) for top in tops)})]"
    doubled = f"[k for k in {known} if len([n for n in {known} if n = k]) > 1][1]"
    each = ", ".join(f"parts[{place}] as p{place}" for place, _ in enumerate(keys, 1))
    values = ", ".join(
        f"{_value(key, f'p{place}')} as {identifier(key.column)}"
        for place, key in enumerate(keys, 1)
    )
    faults = list(enumerate(_faults(keys, unit, doubled)))
    odd = " or ".join(f"({when})" for _, (when, _, _) in faults)
    fault = case_of([(when, str(place)) for place, (when, _, _) in faults])
    code = case_of([(f"fault = {place}", code) for place, (_, code, _) in faults])
    reason = case_of([(f"fault = {place}", reason) for place, (_, _, reason) in faults])
    # Each step needs what the one before made sure of: the functions raise on broken JSON.
    return f"""
        select {values}, line as source_line, text as raw,
            case when fault is not null then {code} end as read_code,
            case when fault is not null then {reason} end as read_reason
        from (select *, case when {odd} then {fault} end as fault
        from (select *, {each},
            case when type = 'OBJECT' then len({known}) > list_count({present}) end as twice
        from (select *, case when type = 'OBJECT' then {parts} end as parts
        from (select *, case when valid then json_type(text) end as type
        from (select *, code is null and json_valid(text) as valid from {name})))))
    """


def _value(key: Key, part: str) -> str:
    """Write SQL for the text of a JSON value, as ``read_json`` would give it."""
    # Most strings need nothing but their quotes taken off; the others are parsed once more.
    plain = f"substr({part}, 2, length({part}) - 2)"
    string = (
        f"case when contains({part}, '\\') then json_extract_string({part}, '$') else {plain} end"
    )
    # Numbers that are no integers are written as DuckDB writes a double: 1e-07, not 1e-7.
    double = f"try_cast({part} as double)"
    fraction = f"(contains({part}, '.') or contains({part}, 'e')) and isfinite({double})"
    rules = [
        (f"{part} = 'null'", "null"),
        (f"{part}[1] = '\"'", string),
        (fraction, f"cast({double} as varchar)"),
    ]
    if key.measure:
        rules += [(f"{part} = 'true'", "'1'"), (f"{part} = 'false'", "'0'")]
    return f"({case_of(rules, otherwise=part)})::varchar"


def _faults(keys: tuple[Key, ...], unit: str, doubled: str) -> list[tuple[str, str, str]]:
    """List what can be wrong with a row: a condition, the code and the reason, as SQL."""
    cut_off = f"The last {unit} ends within its JSON; the file is probably cut off."
    not_object = f"{quote(f'The {unit} is not a JSON object but ')} || lower(type) || '.'"
    twice = f"{quote(f'The {unit} has the key ')} || {doubled} || ' twice.'"
    faults = [
        ("code is not null", "code", "reason"),
        ("not valid and ends", "'truncated'", quote(cut_off)),
        ("not valid", "'malformed_line'", quote(f"The {unit} is not valid JSON.")),
        ("type <> 'OBJECT'", "'malformed_line'", not_object),
        ("twice", "'malformed_line'", twice),
    ]
    for place, key in enumerate(keys, 1):
        if key.scalar:
            first = f"left(p{place}, 1)"
            kinds = case_of(
                [(f"{first} = '{{'", "'an object'"), (f"{first} = '['", "'a list'")],
                otherwise="'a boolean'",
            )
            reason = f"{quote(key.column + ' is ')} || {kinds} || {_NEITHER}"
            faults.append((f"{first} in ('{{', '[', 't', 'f')", "'wrong_type'", reason))
    return faults


def _json_path(path: tuple[str, ...]) -> str:
    return "$" + "".join(f'."{part}"' for part in path)
