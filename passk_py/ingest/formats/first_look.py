"""A look at the start of a file: what container it is, and what its fields are called.

Formats are recognised from this alone, so a folder of thousands of files costs a short read each.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.files import size_in_words
from passk_py.ingest.containers.json_start import end_of_value, keys_of_all, top_level_keys
from passk_py.ingest.containers.open_bytes import BOM, compression_of, open_bytes, read_chunk
from passk_py.ingest.containers.zip_members import names_in
from passk_py.ingest.formats.kinds import Refusal, listed
from passk_py.ingest.formats.parquet_schema import kinds_of_columns
from passk_py.ingest.formats.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAMPLE_BYTES: Final = 1 << 20

_PEEK: Final = 4096
_DELIMITERS: Final = (",", ";", "\t", "|")
_PARQUET: Final = b"PAR1"
_ZIP: Final = b"PK\x03\x04"
# Kinds of files with rows or logs that passk does not read: where they say so, and how.
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
# Text that may precede the root of an XML document.
_PROLOG: Final = re.compile(
    rb"(?:\s++|<\?.*?\?>|<!--.*?-->|<![A-Z][^>\[]*+(?:\[.*?\]\s*)?>)*+", re.DOTALL
)
_TAG: Final = re.compile(rb"<([A-Za-z_][\w.:-]*)")


def take_sample(path: Path, connection: duckdb.DuckDBPyConnection) -> Sample:
    """Look at the start of a regular file; one that can't be read has a ``problem``."""
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
        return _unreadable(sample, f"damaged ({error})")
    return _text(sample, head, whole=whole)


def may_be_a_log(path: Path) -> bool:
    """Tell from a few bytes whether a look at a file is worth while, whatever it is called."""
    with path.open("rb") as file:
        head = file.read(_PEEK)
    if compression_of(head[:4]) != "none" or head.startswith((_PARQUET, _ZIP)):
        return True
    text = head.removeprefix(BOM).lstrip(_SPACE)
    return text.startswith((b"{", b"[", b"<")) or b"task_id" in text


def _unreadable(sample: Sample, what: str, hint: str = "Write or copy the file again.") -> Sample:
    return replace(sample, problem=Refusal(what, hint))


def _text(sample: Sample, head: bytes, *, whole: bool) -> Sample:
    for at, magic, what, hint in _NOT_READ:
        if head.startswith(magic, at):
            return replace(_unreadable(sample, what, hint), foreign=True)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _unreadable(sample, "text in UTF-16", "Convert the file to UTF-8.")
    head = head.removeprefix(BOM)
    body = head.lstrip(_SPACE)
    sample = replace(sample, start=body)
    if not body and not whole:
        seen = f"blank for its first {size_in_words(len(head))}"
        return _unreadable(sample, seen, "Remove the blanks before the first attempt.")
    if not body:
        return _unreadable(sample, "empty", "Check whether the run that wrote it has finished.")
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
            fields=keys_of_all(objects),
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
    broken = 0
    for line in lines:
        try:
            json.loads(line)
        except RecursionError:
            continue
        except ValueError:
            broken += 1
    return 2 * broken < len(lines)


def _list(sample: Sample, body: bytes) -> Sample:
    inner = body[1:].lstrip(_SPACE)
    end, keys = len(inner), list[bytes]()
    if inner.startswith(b"{"):
        end = end_of_value(inner)
        keys = [inner[: end if end > 0 else None]]
    elif not inner.startswith(b"]") and inner:
        return replace(sample, description="a JSON list of something that is not objects")
    return replace(
        sample, container="json_list", fields=keys_of_all(keys), complete=not keys or end > 0
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
        return _unreadable(sample, str(error).removeprefix("it is "))
    if len(names) > _MOST_MEMBERS:
        what = f"a zip with {len(names):,} members"
        return _unreadable(sample, what, "Unpack what is to be loaded.")
    said = f"a zip with the members {listed(names)}"
    return replace(sample, container="zip", members=names, description=said)


def _parquet(sample: Sample, connection: duckdb.DuckDBPyConnection) -> Sample:
    with sample.path.open("rb") as file:
        file.seek(-4, 2)
        if sample.size < 3 * len(_PARQUET) or file.read(4) != _PARQUET:
            return _unreadable(sample, "a Parquet file without its end")
    try:
        kinds = kinds_of_columns(sample.path, connection)
    except duckdb.Error as error:
        return _unreadable(sample, f"a damaged Parquet file ({str(error).splitlines()[0]})")
    return replace(sample, container="parquet", fields=tuple(kinds), kinds=kinds)
