"""The facts from the start of JSON, wherever it is cut off: its keys, and where a value ends."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.open_bytes import BOM, open_log, read_chunk

if TYPE_CHECKING:
    from pathlib import Path

_PIECE: Final = 1 << 16
# Everything up to the next bracket, strings in one piece. Possessive, so that it can't backtrack.
_PLAIN: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_KEY: Final = re.compile(rb'[^"{}\[\]]*+("(?:[^"\\]++|\\.)*+")\s*+(:?)', re.DOTALL)
_TOKEN: Final = re.compile(rb'(?:[^"{}\[\],]++|"(?:[^"\\]++|\\.)*+")*+([{}\[\],])', re.DOTALL)
_ENDS: Final = 8
_DEEPEST: Final = 200
_BRACKET: Final = re.compile(rb'["{}\[\]]')


def start_of(path: Path) -> bytes:
    """Read the start of a document, without a byte order mark and blanks."""
    with open_log(path) as file:
        return (read_chunk(file, _PIECE) or b"").removeprefix(BOM).lstrip()


def keys_at_start_of(path: Path) -> list[str]:
    """List the keys that an object in a file starts with; none if it holds something else."""
    start = start_of(path)
    return top_level_keys(start) if start.startswith(b"{") else []


def top_level_keys(data: bytes) -> list[str]:
    """List the keys of a JSON object, which may be cut off or damaged further on, in order."""
    keys: list[str] = []
    depth, at = 0, 0
    while at < len(data):
        if depth == 1 and (found := _KEY.match(data, at)):
            if found[2]:
                try:
                    keys.append(str(json.loads(found[1])))
                except ValueError:
                    return keys
            at = found.end()
            continue
        at = _PLAIN.match(data, at).end() if depth != 1 else _next_bracket(data, at)  # type: ignore[union-attr]
        step = data[at : at + 1]
        if step in (b"{", b"["):
            depth += 1
        elif step in (b"}", b"]"):
            depth -= 1
        if depth <= 0 or step == b'"':
            return keys
        at += 1
    return keys


def _next_bracket(data: bytes, at: int) -> int:
    found = _BRACKET.search(data, at)
    return found.start() if found else len(data)


def end_of_value(data: bytes) -> int:
    """Find where the object or list at the start ends; -1 if the data ends before."""
    depth, at = 0, 0
    while True:
        at = _PLAIN.match(data, at).end()  # type: ignore[union-attr]
        step = data[at : at + 1]
        if step in (b"", b'"'):
            return -1
        depth += 1 if step in (b"{", b"[") else -1
        at += 1
        if depth == 0:
            return at


def partly_loaded(data: bytes) -> Any:  # noqa: ANN401 - JSON
    """Load a JSON document as far as it goes before it is cut off; None if it is no JSON."""
    try:
        return json.loads(data)
    except RecursionError:
        return None
    except ValueError:
        pass
    # Brackets that are open behind the last whole value, before a comma or a bracket, are closed.
    opened, ends, place = b"", list[tuple[int, bytes]](), 0
    while (token := _TOKEN.match(data, place)) and len(opened) <= _DEEPEST:
        place, mark = token.end(), token[1]
        if mark in b"{[":
            opened = (b"}" if mark == b"{" else b"]") + opened
        elif mark != b",":
            opened = opened[1:]
        ends = [*ends[-_ENDS:], (place - (mark == b","), opened)]
    for end, closing in reversed(ends):
        try:
            return json.loads(data[:end] + closing)
        except (ValueError, RecursionError):
            continue
    return None


def keys_of_all(objects: list[bytes]) -> tuple[str, ...]:
    """List the keys of all objects, each of which may be cut off."""
    keys: dict[str, None] = {}
    for text in objects:
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            keys |= dict.fromkeys(top_level_keys(text))
        else:
            keys |= dict.fromkeys(row if isinstance(row, dict) else ())
    return tuple(keys)
