"""Decoding of a row's JSON down to what a format asks for, without making the rest of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Json: TypeAlias = Any
"""A JSON value. Nothing in it is sure to have the type that it should have."""

ANY = None
"""In a shape: the value as it is, whatever it is."""

RAW: Final = "raw"
"""In a shape: the bytes of the value as they are in the file, a :class:`msgspec.Raw`."""

Shape: TypeAlias = "Mapping[str, Shape] | list[Shape] | str | None"
"""An object with the members that are wanted, a list of such, :data:`ANY` or :data:`RAW`."""


def decoder(shape: Shape) -> Callable[[bytes], Any]:
    """Make a decoder that gives only the wanted members, as dicts, lists and plain values."""
    # Members that are not in the shape are passed over, which takes a small part of the time and
    # memory that it takes to make them. The decoder raises TypeError where the JSON is of another
    # shape, ValueError where it is no JSON (NaN and numbers too large for a double are not), and
    # RecursionError where it is nested too deep.
    decode = msgspec.json.Decoder(_type_of(shape)).decode

    def decoded(data: bytes) -> Json:
        try:
            return decode(data)
        except msgspec.ValidationError as error:
            raise TypeError(str(error)) from error
        except msgspec.DecodeError as error:
            raise ValueError(str(error)) from error

    return decoded


def _type_of(shape: Shape, name: str = "Row") -> Any:  # noqa: ANN401 - made at run time
    if shape is None:
        return Any
    if isinstance(shape, str):
        return msgspec.Raw
    if isinstance(shape, list):
        return list[_type_of(shape[0], f"{name}s")] | None  # type: ignore[misc]
    members = {key: _type_of(inner, f"{name}_{key}") for key, inner in shape.items()}
    made = TypedDict(name, members, total=False)  # type: ignore[misc]
    return made if name == "Row" else made | None


def decoded_or_none(decode: Callable[[bytes], Any], data: bytes) -> Json:
    """Decode a row, or load it whole where it has another shape; None if it is no JSON."""
    try:
        return decode(data)
    except (TypeError, ValueError, RecursionError):
        return loaded_or_none(data)


def loaded(data: bytes) -> Json:
    """Load a row whole, with Python's NaN and Infinity; ValueError if it is no JSON."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def loaded_or_none(data: bytes) -> Json:
    """Load a row whole as :func:`loaded` does; None if it can't be."""
    try:
        return loaded(data)
    except ValueError:
        return None
