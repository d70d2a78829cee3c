"""What the formats of harnesses share: records in, attempts out, in Python.

A harness writes one file, or a folder of files, in a shape of its own. Such a format reads it piece
by piece and gives a dict for each attempt, its names those of the contract; typing the values,
deciding what an error counts as, numbering the attempts and refusing rows is done by
:mod:`passk_py.ingest.landing` for all formats alike.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from passk_py.ingest.containers.json_walk import Element, JsonWalk
from passk_py.ingest.containers.json_whole import MAX_WHOLE_BYTES, Whole, whole_decoder
from passk_py.ingest.containers.lines import read_lines
from passk_py.ingest.containers.open_bytes import open_log, position_of, read_chunk
from passk_py.ingest.containers.shape import Shape, decoder, loaded
from passk_py.ingest.formats.base import Field, Format
from passk_py.ingest.formats.canonical import CANONICAL_FIELDS
from passk_py.ingest.formats.naming import run_named_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.ingest.formats.kinds import Kind, Refusal
    from passk_py.ingest.formats.sample import Sample

__all__ = [
    "Expected",
    "Harness",
    "JsonHarness",
    "Log",
    "Record",
    "Unfit",
    "at",
    "flag",
    "number",
    "seconds_between",
    "text",
]

_MOST_RAW: Final = 10_001
_MOST_SIDE_BYTES: Final = 16 << 20


class Unfit(Exception):  # noqa: N818 - a row that is refused, not an error of ours
    """Refuses a row: raised, or given in the place of an attempt, by a format.

    Parameters
    ----------
    code
        The ``reason_code``, in one word.
    reason
        A sentence: what is wrong, and where.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(slots=True)
class Record:
    """An attempt as a format tells it, or what stands in its place.

    Parameters
    ----------
    values
        Names of :data:`~passk_py.ingest.formats.canonical.CANONICAL_FIELDS` and what the file says;
        None where ``fault`` is set.
    raw
        The row as it was read, or what is left of it, for the table of rejected rows: a text, or
        what becomes one as JSON.
    fault
        Why the row is refused: a code and a sentence.
    ends
        Whether the file ended within the row.
    line
        The line that it stands in; None where rows are counted instead.
    size
        About how many bytes it takes in memory.
    """

    values: dict[str, Any] | None
    raw: Any = ""
    fault: tuple[str, str] | None = None
    ends: bool = False
    line: int | None = None
    size: int = 1000

    @property
    def text(self) -> str:
        """The row as text, cut short."""
        return self.raw[:_MOST_RAW] if isinstance(self.raw, str) else _as_text(self.raw)


@dataclass(frozen=True, slots=True)
class Expected:
    """How many attempts the harness was told to make.

    Parameters
    ----------
    attempts
        Of each task.
    tasks
        Tasks that were to be tried, whether the log holds an attempt of them or not.
    run_id
        The run that this is about; None for every run of the log.
    only
        Whether it is about these tasks alone. It then comes before what is said of all tasks.
    """

    attempts: int
    tasks: tuple[str, ...] = ()
    run_id: str | None = None
    only: bool = False


@dataclass(slots=True)
class Log:
    """A log that is being read: one file, or the files of one folder.

    Parameters
    ----------
    path
        What the log is known by: the file, or the folder.
    files
        The files that hold its rows, in the order of their names.
    run_id
        What who loads it calls its run; None if they left that to the log.
    heads
        What the log says of itself, above or after its rows; filled while it is read.
    """

    path: Path
    files: tuple[Path, ...]
    run_id: str | None = None
    heads: dict[str, Any] = field(default_factory=dict)
    _done: int = 0
    _open: IO[bytes] | None = None

    @contextmanager
    def opened(self, path: Path) -> Iterator[IO[bytes]]:
        """Open one of its files, decompressed."""
        with open_log(path) as file:
            self._open = file
            try:
                yield file
            finally:
                self._open = None
                self._done += path.stat().st_size

    @property
    def position(self) -> int:
        """How many bytes are read, as they lie on the disk."""
        return self._done + (position_of(self._open) if self._open else 0)

    def beside(self, path: Path) -> Any:  # noqa: ANN401 - JSON
        """Load a small JSON file that says more of the log; None if there is none that can be read.

        Parameters
        ----------
        path
            The file. A link is not followed.
        """
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_SIDE_BYTES:
                return None
            return loaded(path.read_bytes())
        except (OSError, ValueError):
            return None


class Harness(Format):
    """The log of a harness."""

    uses_threshold: ClassVar[bool] = False
    is_harness: ClassVar[bool] = True
    default_suite: ClassVar[str] = "default"
    numbered_with_others: ClassVar[bool] = False
    """Whether the number of an attempt is its run's place among those that are read with it."""
    labels: ClassVar[Mapping[str, str]] = {}
    """What the file calls the value of a contract column, for the reason of a rejected row."""

    @abstractmethod
    def read(self, log: Log) -> Iterator[Record]:
        """Read a log from its start to its end.

        Parameters
        ----------
        log
            The log.

        Yields
        ------
        Record
            An attempt, or a fault in its place: whatever was read comes out as one of the two.
        """

    def fills(self, log: Log) -> Mapping[str, Any]:
        """Give what the log says of all its attempts, for those that don't say it themselves.

        Asked once, after the last row. Names of contract columns; ``tags`` is a dict.
        """
        del log
        return {}

    def expected(self, log: Log) -> Iterable[Expected]:
        """Give how many attempts there should be. Asked once, after the last row."""
        del log
        return ()

    def warnings(self, log: Log) -> Iterable[str]:
        """Say, in sentences, how the log was read where another reading is as likely.

        Asked once, after the last row.
        """
        del log
        return ()

    def contract(self, columns: Mapping[str, Kind]) -> dict[str, Field]:
        """Map each value to the column of its name."""
        fields = {
            name: Field(f'"{name}"', "text", self.labels.get(name, name))
            for name in CANONICAL_FIELDS
            if name in columns
        }
        if self.numbers_attempts:
            # Of the rows that are numbered later, some may say something of their order.
            fields["attempt"] = Field("coalesce(attempt, '1')", "text", "attempt")
        return fields

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after the file, or after the folder that it is or lies in."""
        if path.is_dir():
            return path.name or None
        return run_named_after(path, self.suffixes)

    def group(self, sample: Sample) -> Path | None:
        """Name the folder whose files are one log together; None if a file is a log of its own."""
        del sample
        return None

    def owns(self, sample: Sample) -> Path | None:
        """Name the folder whose inner folders hold nothing but parts of this file's attempt.

        What an agent or a grader left there may look like a log of another format.
        """
        del sample
        return None

    def repeated(self, sample: Sample) -> Refusal | None:
        """Say of a file of the harness that another one holds what is in it; None if none does.

        Asked only of files that no format recognises.
        """
        del sample
        return None

    def doubled(self, sample: Sample) -> Refusal | None:
        """Say of a file of this format that one beside it holds its rows too; None if none does.

        Asked only of files that were found in a folder: one that is named itself is read.
        """
        del sample
        return None

    def other_tasks(self, sample: Sample) -> str:
        """Write the options of ``passk load`` that name the tasks otherwise; empty if none do.

        Asked of a log whose tasks no other log of its suite has.
        """
        del sample
        return ""

    def companions(self, path: Path) -> tuple[Path, ...]:
        """List the files that say more of a log, whether they exist or not.

        Parameters
        ----------
        path
            What the log is known by: a file or, of a format that groups files, their folder.
        """
        del path
        return ()


class JsonHarness(Harness):
    """A harness whose file is one JSON document with the rows somewhere inside, or lines of JSON.

    Of the container ``json_lines``, each line is a row; of the others, ``rows_at`` leads to them.
    """

    rows_at: ClassVar[tuple[str, ...]] = ()
    """The names that lead to the rows, and :data:`~passk_py.ingest.containers.json_walk.EACH`."""
    shape: ClassVar[Shape]
    """What is read of a row."""
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = {}
    """What is read beside the rows: paths, which ``log.heads`` knows by their names with dots."""

    @abstractmethod
    def attempts(
        self, row: dict[str, Any], element: Element, log: Log
    ) -> Iterable[dict[str, Any] | Unfit]:
        """Give the attempts that a row tells of; usually one.

        Parameters
        ----------
        row
            The row, as far as ``shape`` asks for it. Nothing in it is sure to have the type that
            it should have: :func:`at`, :func:`text` and :func:`number` look before they take.
        element
            Where the row was found.
        log
            The log; its heads may be incomplete until the last row.

        Raises
        ------
        Unfit
            If the row is no attempt.
        """

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
        self,
        file: IO[bytes],
        log: Log,
        rows_at: tuple[str, ...],
        begun: bytes,
        whole: Whole | None,
    ) -> Iterator[Record]:
        """Give the records of a document that was begun."""
        if whole:
            rows, heads = whole
            log.heads |= {".".join(path): value for path, value in heads.items()}
            names = rows_at[:-1]
            for place, row in enumerate(rows):
                element = Element(b"", names, place, row)
                # What records does, without its generator.
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
            lines = zip(
                batch.numbers, batch.texts, batch.codes, batch.reasons, batch.ends, strict=True
            )
            for number_, line, code, reason, ends in lines:
                data = line.encode("utf-8", "surrogatepass")
                element = Element(data, place=number_)
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
                    record.line = number_
                    yield record

    def records(self, element: Element, log: Log) -> Iterator[Record]:
        """Give the records of a row."""
        row, fault = element.value, element.fault
        if fault is None and row is None:
            row, fault = _second_look(element.data)
        if fault is None and not isinstance(row, dict):
            kind = "a list" if isinstance(row, list) else "no object"
            fault = ("malformed_line", f"The row is {kind}, but should be a JSON object.")
        if fault:
            text_of = element.data.decode("utf-8", "backslashreplace")
            yield Record(None, text_of, fault, ends=fault[0] == "truncated")
            return
        size = _size_of(row, element)
        try:
            for values in self.attempts(row, element, log):
                yield _record_of(values, row, size)
        except Unfit as unfit:
            yield _record_of(unfit, row, size)


def _record_of(values: dict[str, Any] | Unfit, row: dict[str, Any], size: int = 1000) -> Record:
    if isinstance(values, Unfit):
        return Record(None, row, (values.code, values.reason), size=size)
    return Record(values, row, size=size)


def _second_look(data: bytes) -> tuple[Any, tuple[str, str] | None]:
    """Load a row whole that could not be read as expected, or say what is wrong with it."""
    try:
        return loaded(data), None
    except UnicodeDecodeError as error:
        byte = data[error.start]
        reason = f"The row is not valid UTF-8: byte 0x{byte:02x} at position {error.start + 1}."
        return None, ("invalid_utf8", reason)
    except ValueError as error:
        return None, ("malformed_line", f"The row is not valid JSON: {_first_words(error)}.")


def _first_words(error: ValueError) -> str:
    return str(error).split(": line", maxsplit=1)[0].rstrip(".")[:200]


def _size_of(row: object, element: Element) -> int:
    """Tell about how many bytes a row takes once what nobody asked for is gone."""
    if len(element.data) < 4000:
        return 1000 + len(element.data)
    try:
        return 1000 + len(msgspec.json.encode(row))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return len(element.data)


def _as_text(row: object) -> str:
    try:
        made = msgspec.json.encode(row).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        made = json.dumps(row, default=str)
    return made[:_MOST_RAW]


def at(value: Any, *names: str | int) -> Any:  # noqa: ANN401 - JSON
    """Take what is found under names within dicts and lists; None where there is no such thing.

    Examples
    --------
    >>> at({"a": [{"b": 1}]}, "a", 0, "b"), at({"a": None}, "a", 0, "b")
    (1, None)
    """
    for name in names:
        if isinstance(name, str):
            value = value.get(name) if isinstance(value, dict) else None
        else:
            value = (
                value[name]
                if isinstance(value, list) and -len(value) <= name < len(value)
                else None
            )
    return value


def text(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Take a text that is not empty, or a whole number as text; None for everything else.

    Examples
    --------
    >>> text("a"), text(7), text(""), text({"a": 1}), text(True)
    ('a', '7', None, None, None)
    """
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def number(value: Any) -> float | None:  # noqa: ANN401 - JSON
    """Take a number, written as one or as a text; None for everything else.

    Examples
    --------
    >>> number(1), number("0.5"), number(True), number("x")
    (1.0, 0.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def flag(value: Any) -> bool | None:  # noqa: ANN401 - JSON
    """Take true or false; None for everything else.

    Examples
    --------
    >>> flag(True), flag(1), flag("true")
    (True, None, None)
    """
    return value if isinstance(value, bool) else None


def seconds_between(start: Any, end: Any) -> float | None:  # noqa: ANN401 - JSON
    """Take the seconds between two times as ISO 8601 writes them; None if there are none.

    Examples
    --------
    >>> seconds_between("2026-01-31T12:00:00Z", "2026-01-31T12:01:00.500000+00:00")
    60.5
    """
    times = [_time(value) for value in (start, end)]
    if times[0] is None or times[1] is None:
        return None
    seconds = (times[1] - times[0]).total_seconds()
    return seconds if seconds >= 0 else None


def _time(value: Any) -> datetime | None:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
