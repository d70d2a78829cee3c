"""The shared part of formats whose logs are JSON: the walk to the rows, and what comes of each."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from passk_py.ingest.containers.json_buffer import Element
from passk_py.ingest.containers.json_walk import JsonWalk
from passk_py.ingest.containers.json_whole import MAX_WHOLE_BYTES, Whole, whole_decoder
from passk_py.ingest.containers.lines import not_utf8, read_lines
from passk_py.ingest.containers.open_bytes import read_chunk
from passk_py.ingest.containers.shape import Shape, decoder, loaded
from passk_py.ingest.formats.harness import Harness, Record, Unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from passk_py.ingest.formats.harness import Log

_LEAST_SIZE: Final = 1000


class JsonHarness(Harness):
    """A harness whose file is one JSON document with the rows at ``rows_at``, or lines of JSON."""

    rows_at: ClassVar[tuple[str, ...]] = ()
    """The names that lead to the rows, and :data:`~passk_py.ingest.containers.json_walk.EACH`."""
    shape: ClassVar[Shape]
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = {}
    """Paths to read beside the rows, which ``log.heads`` knows by their names with dots."""

    rows_are_objects: bool = True
    """Whether a row that is no object is rejected."""

    @abstractmethod
    def attempts(
        self, row: dict[str, Any], element: Element, log: Log
    ) -> Iterable[dict[str, Any] | Unfit | Record]:
        """Give the attempts that a row tells of; usually one. Raise Unfit if it is no attempt."""
        # Nothing in the row is sure to have its type: json_values looks before it takes. The heads
        # of the log may be incomplete until the last row.

    def place_of(self, element: Element, log: Log) -> str:
        """Say where a row is that holds a transcript: its line, or a JSON pointer after #."""
        if self.container == "json_lines":
            return f"{log.current}#L{element.place}"
        if not element.names:
            return str(log.current)
        return f"{log.current}#/{'/'.join(element.names)}/{element.place}"

    def read(self, log: Log) -> Iterator[Record]:
        """Walk over the documents."""
        for path in log.files:
            with log.opened(path) as file:
                yield from self.read_file(file, log)

    def read_file(
        self, file: IO[bytes], log: Log, rows_at: tuple[str, ...] | None = None
    ) -> Iterator[Record]:
        """Walk over one document, whose rows may be elsewhere than in others."""
        if self.container == "json_lines":
            yield from self._read_lines(file, log)
            return
        rows_at = self.rows_at if rows_at is None else rows_at
        begun, whole = self.begin(file, rows_at)
        yield from self.go_on(file, log, rows_at, begun, whole)

    def begin(self, file: IO[bytes], rows_at: tuple[str, ...]) -> tuple[bytes, Whole | None]:
        """Read the start of a document, and decode it at once if it is small and that works out."""
        begun = read_chunk(file, MAX_WHOLE_BYTES) or b""
        return begun, self._whole(rows_at, begun) if len(begun) < MAX_WHOLE_BYTES else None

    def go_on(
        self, file: IO[bytes], log: Log, rows_at: tuple[str, ...], begun: bytes, whole: Whole | None
    ) -> Iterator[Record]:
        """Give the records of a document that was begun."""
        if whole:
            rows, heads = whole
            log.heads |= {".".join(path): value for path, value in heads.items()}
            names = rows_at[:-1]
            for place, row in enumerate(rows):
                element = Element(b"", names, place, row)
                # The same as records, without its generator.
                try:
                    for values in self.attempts(row, element, log):
                        yield _record_of(values, row)
                except Unfit as unfit:
                    yield _record_of(unfit, row)
            return
        walk = JsonWalk(file, rows_at, self._decode, frozenset(self.head_shapes), begun)
        for element in walk.rows():
            self._note_heads(walk, log)
            yield from self.records(element, log)
        self._note_heads(walk, log)

    @cached_property
    def _decode(self) -> Callable[[bytes], Any]:
        return decoder(self.shape)

    @cached_property
    def _decode_heads(self) -> dict[tuple[str, ...], Callable[[bytes], Any]]:
        return {path: decoder(shape) for path, shape in self.head_shapes.items()}

    @cached_property
    def _decode_whole(self) -> dict[tuple[str, ...], Callable[[bytes], Whole | None] | None]:
        """By the path to the rows, as it comes."""
        return {}

    def _whole(self, rows_at: tuple[str, ...], data: bytes) -> Whole | None:
        """Decode a small document at once; None if that does not work out."""
        if rows_at not in self._decode_whole:
            made = whole_decoder(rows_at, self.shape, self.head_shapes)
            self._decode_whole[rows_at] = made
        decode = self._decode_whole[rows_at]
        return decode(data) if decode else None

    def _note_heads(self, walk: JsonWalk, log: Log) -> None:
        for path in list(walk.heads):
            data = walk.heads.pop(path)
            try:
                value = self._decode_heads[path](data)
            except (TypeError, ValueError, RecursionError):
                value, _ = _second_look(data)
            log.heads[".".join(path)] = value

    def _read_lines(
        self, file: IO[bytes], log: Log, decode: Callable[[bytes], Any] | None = None
    ) -> Iterator[Record]:
        """Read lines, of which more may be wanted than of other files."""
        decode = decode or self._decode
        for batch in read_lines(file):
            for number, line, code, reason, ends in batch.rows():
                data = line.encode("utf-8", "surrogatepass")
                element = Element(data, place=number)
                if code is not None and reason is not None:
                    element.fault = (code, reason)
                else:
                    try:
                        element.value = decode(data)
                    except (TypeError, ValueError, RecursionError):
                        element.value = None
                for record in self.records(element, log):
                    if record.fault and ends and record.fault[0] == "malformed_line":
                        cut_off = "The last line ends within its JSON; the file is cut off."
                        record.fault = ("truncated", cut_off)
                    record.line = number
                    yield record

    def records(self, element: Element, log: Log) -> Iterator[Record]:
        """Give the records of a row."""
        row, fault = value_or_fault(element)
        if fault is None and self.rows_are_objects and not isinstance(row, dict):
            kind = "a list" if isinstance(row, list) else "no object"
            fault = ("malformed_line", f"The row is {kind}, but should be a JSON object.")
        if fault:
            yield rejected(element, fault)
            return
        size = None
        try:
            for values in self.attempts(row, element, log):
                # The attempts of a row share it.
                size = _LEAST_SIZE if size else _size_of(row, element)
                yield _record_of(values, row, size)
        except Unfit as unfit:
            yield _record_of(unfit, row, size or _size_of(row, element))


def _record_of(
    values: dict[str, Any] | Unfit | Record, row: dict[str, Any], size: int = _LEAST_SIZE
) -> Record:
    if isinstance(values, dict):
        return Record(values, row, size=size)
    if isinstance(values, Unfit):
        return Record(None, row, (values.code, values.reason), size=size)
    return values


def value_or_fault(element: Element) -> tuple[Any, tuple[str, str] | None]:
    """Give what an element holds, loaded whole where it is not as expected, or its fault."""
    if element.fault is not None or element.value is not None:
        return element.value, element.fault
    return _second_look(element.data)


def rejected(element: Element, fault: tuple[str, str]) -> Record:
    """Make the rejected row of an element."""
    said = element.data.decode("utf-8", "backslashreplace")
    return Record(None, said, fault, ends=fault[0] == "truncated")


def _second_look(data: bytes) -> tuple[Any, tuple[str, str] | None]:
    """Load a row whole that could not be read as expected, or say what is wrong with it."""
    try:
        return loaded(data), None
    except UnicodeDecodeError as error:
        return None, not_utf8(error)
    except ValueError as error:
        why = str(error).split(": line", maxsplit=1)[0].rstrip(".")[:200]
        return None, ("malformed_line", f"The row is not valid JSON: {why}.")


def _size_of(row: object, element: Element) -> int:
    """Tell about how many bytes a row takes without the values that the format does not use."""
    if len(element.data) < 4000:
        return _LEAST_SIZE + len(element.data)
    try:
        return _LEAST_SIZE + len(msgspec.json.encode(row))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return len(element.data)
