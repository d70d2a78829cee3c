"""Values of OTLP's JSON, in which 64-bit integers are texts and attributes are a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.ingest.formats.json_values import number

if TYPE_CHECKING:
    from collections.abc import Container

    from passk_py.ingest.containers.shape import Json


def attributes(of: Json, wanted: Container[str]) -> dict[str, Json]:
    """Give attributes as plain values; None for those that are not wanted, which may be long."""
    found: dict[str, Json] = {}
    given = of.get("attributes") if isinstance(of, dict) else None
    for one in given if isinstance(given, list) else ():
        if not isinstance(one, dict):
            continue
        name, value = one.get("key"), one.get("value")
        if isinstance(name, str) and isinstance(value, dict):
            found[name] = _plain(value) if name in wanted else None
    return found


def _plain(value: dict[str, Json]) -> Json:
    """Take a text, true or false, or a number."""
    plain = value.get("stringValue")
    if plain is None:
        plain = value.get("boolValue")
    if plain is None and (plain := value.get("intValue")) is not None:
        # 64 bits are a text in OTLP's JSON.
        is_text = isinstance(plain, str) and plain.removeprefix("-").isdecimal()
        plain = int(plain) if is_text and len(plain) < 20 else plain
    # So are NaN and infinity.
    return number(value.get("doubleValue")) if plain is None else plain


def nanoseconds(value: Json) -> int:
    """Take nanoseconds since 1970, which are a text in OTLP's JSON; 0 if there are none."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        value = int(value)
    return value if type(value) is int and 0 < value < 1 << 63 else 0
