"""Rows as bytes: what is decoded of them, and what can be told of one that is broken."""

from __future__ import annotations

import math

from passk_py.ingest.containers.json_start import top_level_keys
from passk_py.ingest.containers.lines import decode
from passk_py.ingest.containers.shape import ANY, decoder, loaded_or_none


def test_keys_are_listed_of_an_object_that_is_cut_off() -> None:
    assert top_level_keys(b'{"a": {"b": 1}, "c": [{"d": 2') == ["a", "c"]


def test_only_the_wanted_members_are_decoded() -> None:
    read = decoder({"id": ANY, "reward": {"value": ANY}})
    row = b'{"id": 7, "reward": {"value": 1.0, "why": "..."}, "messages": [1, 2, 3]}'
    assert read(row) == {"id": 7, "reward": {"value": 1.0}}
    assert read(b'{"id": 7, "reward": null}') == {"id": 7, "reward": None}


def test_nan_is_understood_where_a_row_is_loaded_whole() -> None:
    assert math.isnan(loaded_or_none(b'{"a": NaN}')["a"])
    assert loaded_or_none(b"{") is None


def test_a_row_that_is_not_utf8_has_a_fault() -> None:
    assert decode(b'{"a": "\xff"}')[1][0] == "invalid_utf8"  # type: ignore[index]
