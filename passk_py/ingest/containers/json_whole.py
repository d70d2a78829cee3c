"""A small JSON document at once: what :class:`JsonWalk` gives row by row, in one call.

Most logs are small, and a call for each row is then most of what they cost. A document in which
anything is unexpected is left to the walk, which says what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH, is_level
from passk_py.ingest.containers.shape import Json, decoder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from passk_py.ingest.containers.shape import Shape

MAX_WHOLE_BYTES: Final = 16 << 20

Whole = tuple[list[dict[str, Any]], dict[tuple[str, ...], Any]]
"""The rows of a document, and the values beside them by their paths."""


def whole_decoder(
    rows_at: tuple[str, ...], shape: Shape, heads: Mapping[tuple[str, ...], Shape]
) -> Callable[[bytes], Whole | None] | None:
    """Make a decoder of documents; None if the rows are anywhere else than in one list."""
    # The decoder gives None where the walk has to say what is in a document.
    *names, last = rows_at or ("",)
    if last != EACH or any(map(is_level, names)):
        return None
    rows_in = tuple(names)
    wanted = _tree(rows_in, shape, heads)
    if wanted is None:
        return None
    decode = decoder(wanted)
    quoted = [f'"{name}"'.encode() for name in names]

    def decoded(data: bytes) -> Whole | None:
        # If two members have one name, a decoder keeps one, and the walk sees both.
        if any(data.count(name) != 1 for name in quoted):
            return None
        try:
            document = decode(data)
        except (TypeError, ValueError, RecursionError):
            return None
        rows = _found(document, rows_in)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return None
        beside = {path: value for path in heads if (value := _found(document, path)) is not None}
        return rows, beside

    return decoded


def _tree(
    rows_in: tuple[str, ...], shape: Shape, heads: Mapping[tuple[str, ...], Shape]
) -> Shape | None:
    """Put the shapes together as they are in the document; None if they overlap."""
    if not rows_in:
        # There is nothing beside the elements of a list.
        return [shape]
    tree: dict[str, Any] = {}
    for path, inner in ((rows_in, [shape]), *heads.items()):
        node = tree
        for name in path[:-1]:
            node = node.setdefault(name, {})
            if not isinstance(node, dict):
                return None
        if path[-1] in node:
            return None
        node[path[-1]] = inner
    return tree


def _found(document: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document
