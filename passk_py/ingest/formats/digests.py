"""Digests of what an agent produced, and of what is too long for a name."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from passk_py.ingest.containers.shape import Json


_NULL: Final = msgspec.Raw(b"null")


def packed(value: Json) -> bytes:
    """Write equal values of JSON as equal bytes; RecursionError if one is nested too deep."""
    try:
        return msgspec.json.encode(value, order="deterministic")
    except (TypeError, ValueError, msgspec.MsgspecError):
        return json.dumps(value, sort_keys=True).encode()


def digest_of(output: Json) -> str | None:
    """Give the SHA-256 of what an agent produced; None where there is nothing."""
    if isinstance(output, msgspec.Raw):
        # The bytes of the file: equal outputs of one writer are equal bytes.
        return None if output == _NULL else sha256(output).hexdigest()
    if output is None:
        return None
    if isinstance(output, str):
        return sha256(output.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        return sha256(packed(output)).hexdigest()
    except RecursionError:
        return None


def short_digest(data: bytes) -> str:
    """Give a digest that is short enough for a name."""
    return sha256(data).hexdigest()[:8]
