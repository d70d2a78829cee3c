"""The walk over one large JSON document: every row, with its end, whatever the file looks like."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_py.ingest.containers import json_buffer, json_walk
from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.shape import ANY, decoder, loaded

LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20), st.sampled_from(['"', "\\", '\\"', "{", "}", "[", "]", "},{", '{"id": ', "é\n", "\\u"]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["id", "a", "b", '"', "\\", "x y"]), inner, max_size=4),
    ),
    max_leaves=12,
)
ROWS = st.lists(st.dictionaries(st.sampled_from(["id", "a", "b"]), VALUES, max_size=3), max_size=6)
WRITTEN = st.sampled_from([{}, {"indent": 2}, {"indent": 0}, {"separators": (",", ":")}, {"ensure_ascii": False}])  # fmt: skip


def walked(
    text: bytes, path: tuple[str, ...], wanted: frozenset[tuple[str, ...]] = frozenset()
) -> tuple[list[Any], JsonWalk]:
    walk = JsonWalk(io.BytesIO(text), path, loaded, wanted)
    return list(walk.rows()), walk


@pytest.fixture(params=[1, 7, 64, 1 << 22])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(json_buffer, "_CHUNK", request.param)
    return int(request.param)


@settings(deadline=None, max_examples=150)
@given(rows=ROWS, before=VALUES, after=VALUES, style=WRITTEN)
def test_every_row_and_every_head_comes_out_as_it_is(
    rows: list[Any], before: Any, after: Any, style: dict[str, Any]
) -> None:
    document = {"before": before, "out": {"skip": after, "rows": rows}, "after": after}
    text = json.dumps(document, **style).encode()
    for size in (3, 50, 1 << 22):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_buffer, "_CHUNK", size)
            found, walk = walked(text, ("out", "rows", EACH), frozenset({("before",), ("after",)}))
        assert [element.fault for element in found] == [None] * len(rows)
        assert [element.value for element in found] == rows
        assert [element.place for element in found] == list(range(len(rows)))
        assert json.loads(walk.heads["before",]) == before
        assert json.loads(walk.heads["after",]) == after


@settings(deadline=None, max_examples=100)
@given(rows=ROWS, style=WRITTEN, data=st.data())
def test_a_document_that_is_cut_off_gives_what_it_holds_and_says_so(
    rows: list[Any], style: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps({"rows": rows}, **style).encode()
    cut = data.draw(st.integers(1, len(text) - 1))
    found, _ = walked(text[:cut], ("rows", EACH))
    whole = [element for element in found if element.fault is None]
    assert [element.value for element in whole] == rows[: len(whole)]
    assert len(found) - len(whole) == 1
    assert found[-1].fault is not None
    assert found[-1].fault[0] == "truncated"


def test_a_row_that_is_broken_inside_does_not_hide_the_next(chunk: int) -> None:
    text = b'{"rows": [{"id": 1}, {"id": nonsense, "x": ["]}"]}, {"id": 3}], "z": 0}'
    found, _ = walked(text, ("rows", EACH))
    assert [element.value for element in found] == [{"id": 1}, None, {"id": 3}]
    assert found[1].data == b'{"id": nonsense, "x": ["]}"]}'


def test_members_of_objects_are_rows_with_their_names(chunk: int) -> None:
    text = b'{"eval": {"a/1": [{"x": 1}, {"x": 2}], "b\\"": [{"x": 3}], "c": []}}'
    found, _ = walked(text, ("eval", EACH, EACH))
    assert [(element.names, element.place) for element in found] == [
        (("eval", "a/1"), 0),
        (("eval", "a/1"), 1),
        (("eval", 'b"'), 0),
    ]


def test_a_document_may_be_the_row(chunk: int) -> None:
    found, _ = walked(b' {"id": 1, "deep": {"id": 2}} ', ())
    assert [element.value for element in found] == [{"id": 1, "deep": {"id": 2}}]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (b"", ["truncated"]),
        (b"[]", ["malformed_line"]),
        (b'{"rows": 1}', ["malformed_line"]),
        (b'{"rows": "text"}', ["malformed_line"]),
        (b'{"rows": [}', ["malformed_line"]),
        (b'{"rows": [1, "a"]}', [None, None]),
        (b'{"rows": []} []', ["malformed_line"]),
        (b'{"other": []}', []),
        (b'{"rows": [{"id": 1}', [None, "truncated"]),
        (b"{1: 2}", ["malformed_line"]),
        (b'{"rows"', ["truncated"]),
        (b'{"a": ]', ["malformed_line"]),
    ],
)
def test_what_is_no_such_document_says_why(text: bytes, faults: list[Any], chunk: int) -> None:
    found, _ = walked(text, ("rows", EACH))
    assert [element.fault and element.fault[0] for element in found] == faults


def test_objects_inside_that_begin_as_the_row_does_are_no_rows(chunk: int) -> None:
    rows = [{"id": n, "name": "x", "inner": [{"id": 7, "name": "y"}, {"id": 8}]} for n in range(30)]
    for style in ({}, {"indent": 1}):
        found, _ = walked(json.dumps({"rows": rows}, **style).encode(), ("rows", EACH))  # type: ignore[arg-type]
        assert [element.value for element in found] == rows


def test_a_row_over_the_bound_is_refused_and_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (json_buffer, json_walk):
        monkeypatch.setattr(module, "MAX_RECORD_BYTES", 1000)
    monkeypatch.setattr(json_buffer, "_CHUNK", 100)
    rows = [{"id": 1}, {"id": 2, "x": 'a"}]\\' * 1000, "y": [{}]}, {"id": 3}]
    found, _ = walked(json.dumps({"rows": rows}).encode(), ("rows", EACH))
    assert [element.fault and element.fault[0] for element in found] == [
        None,
        "field_too_large",
        None,
    ]
    assert [element.value for element in found] == [{"id": 1}, None, {"id": 3}]


def test_only_what_the_shape_asks_for_is_made() -> None:
    decode = decoder({"id": ANY, "info": {"error": ANY}, "parts": [{"ok": ANY}]})
    row = b'{"id": 1, "x": {"big": [1]}, "info": {"error": "e", "y": 1}, "parts": [{"ok": true, "z": 1}]}'
    assert decode(row) == {"id": 1, "info": {"error": "e"}, "parts": [{"ok": True}]}
    with pytest.raises(TypeError):
        decode(b'{"info": [1]}')
    with pytest.raises(ValueError, match="malformed"):
        decode(b'{"id": nonsense}')


@pytest.mark.parametrize(
    "row",
    [{"id": 0, "k{n}": 0, "t": "x" * 50}, {"k{n}": 0, "t": "x" * 50}],
    ids=["second", "first"],
)
def test_rows_whose_end_can_not_be_guessed_are_not_read_over_and_over(row: dict[str, Any]) -> None:
    rows = [{key.replace("{n}", str(n)): n for key in row} for n in range(5000)]
    tried = []

    def decode(data: bytes) -> Any:
        tried.append(len(data))
        return loaded(data)

    walk = JsonWalk(io.BytesIO(json.dumps({"rows": rows}).encode()), ("rows", EACH), decode)
    found = [element.value for element in walk.rows()]
    assert found == rows
    # Each row is decoded once, but for the few in which a guess went wrong.
    assert len(tried) < len(rows) + 100
    assert walk._misses > 8


def test_a_backslash_at_the_end_of_what_is_held_escapes_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_buffer, "_CHUNK", 64)
    for pad in range(130):
        text = '{"skip": "' + "x" * pad + '\\\\", "rows": [{"id": 1}]}'
        found, _ = walked(text.encode(), ("rows", EACH))
        assert [element.value for element in found] == [{"id": 1}], pad
