"""A small document at once: the same as the walk gives, or nothing."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.json_whole import whole_decoder
from passk_py.ingest.containers.shape import ANY, decoder

SHAPE = {"id": ANY, "info": {"error": ANY}}
HEADS = {("model",): ANY, ("out", "kind"): {"name": ANY}}
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["id", "rows", "error", "name"]), inner, max_size=3)),
    max_leaves=6,
)  # fmt: skip
ROW = st.dictionaries(st.sampled_from(["id", "info", "text"]), VALUES, max_size=3)


def walked(text: bytes, path: tuple[str, ...], heads: dict[tuple[str, ...], Any]) -> Any:
    walk = JsonWalk(io.BytesIO(text), path, decoder(SHAPE), frozenset(heads))
    rows = list(walk.rows())
    beside = {}
    for name, data in walk.heads.items():
        if data != b"null":
            beside[name] = decoder(heads[name])(data)
    return rows, beside


@settings(deadline=None, max_examples=300)
@given(
    document=st.fixed_dictionaries(
        {
            "out": st.fixed_dictionaries(
                {"rows": st.lists(ROW, max_size=4)}, optional={"kind": VALUES}
            )
        },
        optional={"model": VALUES, "other": VALUES},
    )
)
def test_what_it_gives_is_what_the_walk_gives(document: dict[str, Any]) -> None:
    text = json.dumps(document).encode()
    decode = whole_decoder(("out", "rows", EACH), SHAPE, HEADS)
    assert decode is not None
    whole = decode(text)
    if whole is None:
        return
    rows, heads = walked(text, ("out", "rows", EACH), HEADS)
    assert [element.fault for element in rows] == [None] * len(rows)
    assert [element.value for element in rows] == whole[0]
    assert heads == whole[1]


def test_a_plain_document_is_taken_at_once() -> None:
    rows = [{"id": n, "info": {"error": None, "x": 1}, "text": "t"} for n in range(3)]
    wanted = [{"id": n, "info": {"error": None}} for n in range(3)]
    text = json.dumps({"model": "m", "out": {"kind": {"name": "k", "x": 1}, "rows": rows}}).encode()
    decode = whole_decoder(("out", "rows", EACH), SHAPE, HEADS)
    assert decode is not None
    assert decode(text) == (wanted, {("model",): "m", ("out", "kind"): {"name": "k"}})
    for heads in ({}, HEADS):
        listed = whole_decoder((EACH,), SHAPE, heads)
        assert listed is not None
        assert listed(json.dumps(rows).encode()) == (wanted, {})


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"rows": [{"id": 1}',
        b'{"rows": [{"id": 1}]} x',
        b'{"rows": [{"id": NaN}]}',
        b'{"rows": [{"id": 1}, 2]}',
        b'{"rows": [{"id": 1}, {"id": }]}',
        b'{"rows": [null]}',
        b'{"rows": null}',
        b'{"rows": {"a": {"id": 1}}}',
        b'{"rows": [{"id": 1}], "rows": [{"id": 2}]}',
        b'{"rows": [{"id": 1, "info": [1]}]}',
        b'{"rows": [{"id": "\xff"}]}',
        b'{"other": 1}',
    ],
)
def test_whatever_is_unexpected_is_left_to_the_walk(text: bytes) -> None:
    decode = whole_decoder(("rows", EACH), SHAPE, {})
    assert decode is not None
    assert decode(text) is None


def test_rows_anywhere_else_than_in_one_list_are_left_to_the_walk() -> None:
    assert whole_decoder((), SHAPE, {}) is None
    assert whole_decoder(("eval", EACH, EACH), SHAPE, {}) is None
    assert whole_decoder(("out", EACH), SHAPE, {("out",): ANY}) is None
    assert whole_decoder(("out", EACH), SHAPE, {("out", "deep"): ANY}) is None
