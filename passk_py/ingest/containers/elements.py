"""The elements of a JSON list with their numbers, in batches: the careful way to read.

An element that is broken inside is found where its brackets say that it ends, and the elements
after it are still read. Nothing is made of them here; DuckDB reads from the text of an element what
the format asks for.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final

import msgspec

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.lines import BATCH_BYTES, Batch, decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.ingest.containers.json_buffer import Element

_RAW: Final = msgspec.json.Decoder(msgspec.Raw)


def read_elements(file: IO[bytes]) -> Iterator[Batch]:
    """Read the elements of a JSON list; the last is ``truncated`` if the list does not end."""
    batch, size = Batch(), 0
    for number, element in enumerate(JsonWalk(file, (EACH,), _proved).rows(), 1):
        _add(batch, number, element)
        size += len(batch.texts[-1])
        if size >= BATCH_BYTES:
            yield batch
            batch, size = Batch(), 0
    if len(batch):
        yield batch


def _proved(data: bytes) -> bool:
    """Make sure that an element ends where it seems to; what is in it is DuckDB's business."""
    try:
        _RAW.decode(data)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error
    return True


def _add(batch: Batch, number: int, element: Element) -> None:
    if element.fault is None:
        batch.add(number, *decode(element.data))
    elif element.fault[0] == "truncated" and element.data:
        # DuckDB says whether what there is of it is JSON.
        text, fault = decode(element.data)
        batch.add(number, text, fault, ends=True)
    else:
        batch.add(number, decode(element.data)[0], element.fault)
