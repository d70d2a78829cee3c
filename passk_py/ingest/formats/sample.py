"""A look at the start of a file: what container it is, and what its fields are called.

Formats are recognised from this alone, so a folder of thousands of files costs a short read each.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import duckdb

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.open_bytes import (
    BOM,
    Compression,
    compression_of,
    open_bytes,
    read_chunk,
)
from passk_py.ingest.containers.shape import loaded
from passk_py.ingest.containers.zip_members import names_in
from passk_py.ingest.formats.kinds import Container, Kind, Refusal, listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_walk import Element

__all__ = [
    "SAMPLE_BYTES",
    "Sample",
    "glob_literal",
    "holds_objects",
    "kind_of",
    "may_be_a_log",
    "take_sample",
    "top_level_keys",
]

SAMPLE_BYTES: Final = 1 << 20
"""How much of a file is looked at."""

_PEEK: Final = 4096
_DELIMITERS: Final = (",", ";", "\t", "|")
_PARQUET: Final = b"PAR1"
_ZIP: Final = b"PK\x03\x04"
# What a file is that holds rows or logs which passk does not read: where it says so, and how.
_NOT_READ: Final = (
    (0, b"ARROW1", "an Arrow file", "Write it as Parquet."),
    (0, b"SQLite format 3\x00", "an SQLite database", "Write its rows as CSV."),
    (257, b"ustar", "a tar archive", "Unpack it, and load what was in it."),
)
# More members than any harness writes; listing them takes memory.
_MOST_MEMBERS: Final = 1_000_000
# Longer ones are no names, but a text that happens to have no line's end.
_LONGEST_NAME: Final = 10_000
_SPACE: Final = b" \t\r\n"
# Everything up to the next bracket, strings in one piece. Possessive, so that it can't backtrack.
_PLAIN: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_KEY: Final = re.compile(rb'[^"{}\[\]]*+("(?:[^"\\]++|\\.)*+")\s*+(:?)', re.DOTALL)
# What may stand before the root of an XML document.
_PROLOG: Final = re.compile(
    rb"(?:\s++|<\?.*?\?>|<!--.*?-->|<![A-Z][^>\[]*+(?:\[.*?\]\s*)?>)*+", re.DOTALL
)
_TAG: Final = re.compile(rb"<([A-Za-z_][\w.:-]*)")


@dataclass(frozen=True, slots=True)
class Sample:
    """What the start of a file shows.

    Parameters
    ----------
    path
        The file.
    size
        Its size in bytes, as it lies on the disk.
    compression
        How it is compressed.
    container
        What its rows come in; None where that can't be told.
    fields
        The names of its columns, or all keys of the objects that the sample holds.
    complete
        Whether the sample holds at least one whole row, so that no key of it is missing.
    kinds
        How each column of a Parquet table is handed over.
    delimiter
        What separates the fields of a CSV table.
    newline
        What ends a line.
    starts_with_bom
        Whether a byte order mark comes first.
    start
        The first bytes of its text, decompressed.
    one_object
        Whether the file seems to be one JSON object, be it on one line or on many.
    members
        The names of the members of a zip.
    files
        The files of a log that is a folder; else empty.
    companions
        Files beside it that say more of it.
    part_of
        The folder whose files are one log together, of which only this part was named; else None.
    some_of
        Whether the files of the log were named one by one, so that others of it may be missing.
    found_in
        The folder that was named, if the file itself was not.
    problem
        Why nothing can be read from the file.
    foreign
        Whether that is because it is something else, and not because it is damaged.
    description
        What the file seems to be, to be named in an error.
    """

    path: Path
    size: int
    compression: Compression = "none"
    container: Container | None = None
    fields: tuple[str, ...] = ()
    complete: bool = True
    kinds: dict[str, Kind] = field(default_factory=dict)
    delimiter: str = ","
    newline: bytes = b"\n"
    starts_with_bom: bool = False
    start: bytes = field(default=b"", repr=False)
    one_object: bool = False
    members: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    companions: tuple[Path, ...] = ()
    part_of: Path | None = None
    some_of: bool = False
    found_in: Path | None = None
    problem: Refusal | None = None
    foreign: bool = False
    description: str = ""

    @property
    def all_files(self) -> tuple[Path, ...]:
        """Every file of which the log consists."""
        return (*(self.files or (self.path,)), *self.companions)

    def can_be(self, container: Container) -> bool:
        """Tell whether the file can be read as this container."""
        return self.container == container or (container == "json_object" and self.one_object)

    def keys_of_first_row(self, rows_at: tuple[str, ...]) -> frozenset[str]:
        """List the keys of the first row, as far as the sample shows them.

        Parameters
        ----------
        rows_at
            The path to the rows, as :class:`~passk_py.ingest.containers.json_walk.JsonWalk` has it.

        Returns
        -------
        frozenset of str
            Empty if the path leads to no object.
        """
        first = self._first(rows_at)
        if first is None:
            return frozenset()
        if isinstance(first.value, dict):
            return frozenset(first.value)
        return frozenset(top_level_keys(first.data) if first.data.startswith(b"{") else ())

    def first_row(self, rows_at: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON
        """Give the first row, if the sample has all of it; else None.

        Parameters
        ----------
        rows_at
            The path to the rows; of lines, the empty one.
        """
        first = self._first(rows_at)
        return None if first is None else first.value

    def _first(self, rows_at: tuple[str, ...]) -> Element | None:
        if rows_at and rows_at[0] not in (EACH, *self.fields):
            return None
        start = self.start
        if self.container == "json_lines" and not self.one_object:
            start = start.split(self.newline, 1)[0]
        return next(JsonWalk(io.BytesIO(start), rows_at, loaded).rows(), None)


def take_sample(path: Path, connection: duckdb.DuckDBPyConnection) -> Sample:
    """Look at the start of a file.

    Parameters
    ----------
    path
        A regular file.
    connection
        Any connection to DuckDB; reads the schema of a Parquet table.

    Returns
    -------
    Sample
        What it shows. A file that can't be read gives a sample with a ``problem``.
    """
    sample = Sample(path, path.stat().st_size)
    with path.open("rb") as file:
        magic = file.read(4)
    if magic == _PARQUET:
        return _parquet(sample, connection)
    if magic == _ZIP:
        return _zip(sample)
    sample = replace(sample, compression=compression_of(magic))
    try:
        with open_bytes(path, sample.compression) as file:
            head = read_chunk(file, SAMPLE_BYTES) or b""
            whole = not read_chunk(file, 1)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        return _unreadable(sample, f"damaged ({error})", "Write or copy the file again.")
    return _text(sample, head, whole=whole)


def may_be_a_log(path: Path) -> bool:
    """Tell from a few bytes whether a look at a file is worth while, whatever it is called.

    Parameters
    ----------
    path
        A regular file.
    """
    with path.open("rb") as file:
        head = file.read(_PEEK)
    if compression_of(head[:4]) != "none" or head.startswith((_PARQUET, _ZIP)):
        return True
    text = head.removeprefix(BOM).lstrip(_SPACE)
    return text.startswith((b"{", b"[", b"<")) or b"task_id" in text


def holds_objects(sample: Sample) -> bool:
    """Tell whether a file is JSON with fields: an object, a list of objects or lines of them."""
    if sample.container != "json_lines":
        return sample.container in ("json_list", "json_object") and bool(sample.fields)
    # A recording of a terminal has one such line at its top, and no others.
    lines = [line for line in sample.start.split(sample.newline, 2)[:2] if line.strip()]
    return bool(sample.fields) and all(line.lstrip().startswith(b"{") for line in lines)


def _unreadable(sample: Sample, what: str, hint: str) -> Sample:
    return replace(sample, problem=Refusal(what, hint))


def _text(sample: Sample, head: bytes, *, whole: bool) -> Sample:
    for at, magic, what, hint in _NOT_READ:
        if head.startswith(magic, at):
            return replace(_unreadable(sample, what, hint), foreign=True)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _unreadable(sample, "text in UTF-16", "Convert the file to UTF-8.")
    if head.startswith(BOM):
        head = head[len(BOM) :]
        sample = replace(sample, starts_with_bom=True)
    body = head.lstrip(_SPACE)
    sample = replace(sample, start=body)
    if not body:
        return _unreadable(sample, "empty", "Check whether the run that wrote it ended.")
    if b"\n" not in head and b"\r" in head:
        sample = replace(sample, newline=b"\r")
    if body.startswith(b"["):
        return _list(sample, body)
    lines = body.split(sample.newline)
    complete = whole or len(lines) > 1
    # Many a writer ends the one line with a newline.
    one_line = sample.newline not in (body.rstrip(_SPACE) if whole else body)
    if not whole and len(lines) > 1:
        del lines[-1]
    objects = [line for line in lines if line.startswith(b"{")]
    if (
        len(objects) > 1 or (objects and (one_line or objects[0].rstrip(_SPACE).endswith(b"}")))
    ) and (body.startswith(b"{") or _are_objects(objects)):
        return replace(
            sample,
            container="json_lines",
            fields=_keys_of_all(objects),
            complete=complete,
            one_object=one_line and body.startswith(b"{"),
        )
    if body.startswith(b"{"):
        names = tuple(top_level_keys(body))
        return replace(
            sample,
            container="json_object",
            fields=names,
            complete=whole,
            one_object=True,
            description=f"one JSON object with the keys {listed(names)}",
        )
    if body.startswith(b"<") and (root := _root_of(body)):
        return replace(
            sample, container="xml", fields=(root,), description=f"XML with the root <{root}>"
        )
    # The first line is blank up to the body, which in a table may be fields without a name.
    blank = head[: len(head) - len(body)]
    lines[0] = blank[blank.rfind(sample.newline) + 1 :] + lines[0]
    return _table(sample, lines)


def _are_objects(lines: list[bytes]) -> bool:
    """Tell whether most lines are JSON; a table may have a first column of texts in braces."""
    good = 0
    for line in lines:
        try:
            json.loads(line)
        except RecursionError:
            good += 1
        except ValueError:
            continue
        else:
            good += 1
    return 2 * good > len(lines)


def _list(sample: Sample, body: bytes) -> Sample:
    inner = body[1:].lstrip(_SPACE)
    end, keys = len(inner), list[bytes]()
    if inner.startswith(b"{"):
        end = _end_of_value(inner)
        keys = [inner[: end if end > 0 else None]]
    elif not inner.startswith(b"]") and inner:
        return replace(sample, description="a JSON list of something that is not objects")
    return replace(
        sample, container="json_list", fields=_keys_of_all(keys), complete=not keys or end > 0
    )


def _table(sample: Sample, lines: list[bytes]) -> Sample:
    try:
        first = _header_text(lines[0])
    except UnicodeDecodeError:
        return replace(sample, description="binary data")
    if any(character < " " and character != "\t" for character in first):
        return replace(sample, description="binary data")
    start = " ".join(first[:200].split())
    start = start if len(start) <= 60 else f"{start[:57]}..."
    sample = replace(sample, description=f"text that starts with '{start}'")
    best: tuple[str, ...] = ()
    delimiter = ","
    for candidate in _DELIMITERS:
        names = _header(lines, candidate)
        if ("task_id" in names, len(names)) > ("task_id" in best, len(best)):
            best, delimiter = names, candidate
    if not best:
        return sample
    return replace(sample, container="csv", fields=best, delimiter=delimiter)


def _header(lines: list[bytes], delimiter: str) -> tuple[str, ...]:
    """Read the names of the columns; none if they are too long for names."""
    texts = (_header_text(line) + "\n" for line in lines)
    # A name in quotes may go on in the next line, a quote that is never closed does not.
    return _names(texts, delimiter, strict=True) or _names(
        iter([_header_text(lines[0])]), delimiter, strict=False
    )


def _names(texts: Iterator[str], delimiter: str, *, strict: bool) -> tuple[str, ...]:
    try:
        row = next(csv.reader(texts, delimiter=delimiter, strict=strict), [])
    except (csv.Error, UnicodeDecodeError):
        return ()
    names = tuple(name.strip() for name in row)
    return () if any(len(name) > _LONGEST_NAME for name in names) else names


def _header_text(line: bytes) -> str:
    return line.strip(b"\r").decode("utf-8")


def _root_of(body: bytes) -> str | None:
    """Find the name of an XML document's root."""
    prolog = _PROLOG.match(body)
    tag = _TAG.match(body, prolog.end() if prolog else 0)
    return tag[1].decode() if tag else None


def _zip(sample: Sample) -> Sample:
    try:
        names = names_in(sample.path)
    except OSError as error:
        if error.errno is not None:
            raise
        what = str(error).removeprefix("it is ")
        return _unreadable(sample, what, "Write or copy the file again.")
    if len(names) > _MOST_MEMBERS:
        return _unreadable(
            sample, f"a zip with {len(names):,} members", "Unpack what is to be loaded."
        )
    return replace(
        sample,
        container="zip",
        members=names,
        description=f"a zip with the members {listed(names)}",
    )


def _parquet(sample: Sample, connection: duckdb.DuckDBPyConnection) -> Sample:
    with sample.path.open("rb") as file:
        file.seek(-4, 2)
        if sample.size < 3 * len(_PARQUET) or file.read(4) != _PARQUET:
            return _unreadable(
                sample, "a Parquet file without its end", "Write or copy the file again."
            )
    try:
        described = connection.execute(
            "describe select * from read_parquet(?, hive_partitioning = false)",
            [glob_literal(sample.path)],
        ).fetchall()
    except duckdb.Error as error:
        first_line = str(error).splitlines()[0]
        return _unreadable(
            sample, f"a damaged Parquet file ({first_line})", "Write or copy the file again."
        )
    return replace(
        sample,
        container="parquet",
        fields=tuple(row[0] for row in described),
        kinds={row[0]: kind_of(row[1]) for row in described},
    )


def kind_of(duckdb_type: str) -> Kind:
    """Tell how a column of this type of DuckDB is handed over.

    Examples
    --------
    >>> kind_of("INTEGER"), kind_of("DECIMAL(9,2)"), kind_of("MAP(VARCHAR, INTEGER)")
    ('integer', 'text', 'map')
    """
    base = duckdb_type.upper()
    if base.endswith("]"):
        return "other"
    if base.startswith("TIMESTAMP"):
        return "timestamptz" if "TIME ZONE" in base else "timestamp"
    kinds: dict[str, Kind] = {"MAP": "map", "STRUCT": "other", "UNION": "other", "BLOB": "other"}
    kinds |= dict.fromkeys(("FLOAT", "DOUBLE"), "float")
    kinds |= dict.fromkeys(("BOOLEAN",), "boolean")
    kinds |= dict.fromkeys(("DATE",), "timestamp")
    kinds |= dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer")
    kinds |= dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer")
    # Everything else, decimals among them, is exact as text.
    return kinds.get(base.split("(")[0].strip(), "text")


def glob_literal(path: Path) -> str:
    """Write a path so that DuckDB takes it for this one file, whatever characters it has.

    Examples
    --------
    >>> from pathlib import Path
    >>> glob_literal(Path("run[1]*.jsonl"))
    'run[[]1][*].jsonl'
    """
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def top_level_keys(data: bytes) -> list[str]:
    """List the keys of a JSON object, which may be cut off or damaged further on.

    Parameters
    ----------
    data
        Text that starts with ``{``.

    Returns
    -------
    list of str
        Its own keys, in order, as far as they can be read.

    Examples
    --------
    >>> top_level_keys(b'{"a": {"b": 1}, "c": [{"d": 2')
    ['a', 'c']
    """
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
        at = _PLAIN.match(data, at).end() if depth != 1 else _bracket(data, at)  # type: ignore[union-attr]
        step = data[at : at + 1]
        if step in (b"{", b"["):
            depth += 1
        elif step in (b"}", b"]"):
            depth -= 1
        if depth <= 0 or step == b'"':
            return keys
        at += 1
    return keys


def _bracket(data: bytes, at: int) -> int:
    found = re.compile(rb'["{}\[\]]').search(data, at)
    return found.start() if found else len(data)


def _end_of_value(data: bytes) -> int:
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


def _keys_of_all(objects: list[bytes]) -> tuple[str, ...]:
    keys: dict[str, None] = {}
    for text in objects:
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            keys |= dict.fromkeys(top_level_keys(text))
        else:
            keys |= dict.fromkeys(row if isinstance(row, dict) else ())
    return tuple(keys)
