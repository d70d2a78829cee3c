"""Reading a file once for its digest and its number of lines, beside the work of DuckDB."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Final, Self

from passk_py.common.errors import PasskError
from passk_py.ingest.containers.open_bytes import (
    Compression,
    open_as_it_is,
    open_bytes,
    read_chunk,
)
from passk_py.ingest.landing.raw_rows import csv_is_odd

if TYPE_CHECKING:
    from pathlib import Path

    from passk_py.ingest.formats.sample import Sample
    from passk_py.ingest.landing.source import Source

_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The facts from one pass over a log's bytes."""

    sha256: str
    lines: int = 0
    """The lines of its decompressed text; the last one counts even without a newline."""
    last: bytes = b""
    """The last byte of its text that is no blank."""
    odd: bool = False
    """Whether its bytes need the careful reader, or it is cut off."""


def digest_of(sample: Sample) -> str:
    """Compute the SHA-256 of a log of any size: of a file or of several, one after the other."""
    if sample.all_files == (sample.path,):
        return digest_of_file(sample.path)
    whole = hashlib.sha256()
    for path in sample.all_files:
        name = os.path.relpath(path, sample.path)
        whole.update(f"{name}\0{digest_of_file(path)}\0".encode())
    return whole.hexdigest()


def digest_of_file(path: Path) -> str:
    """Compute the SHA-256 of a file as it is on the disk."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FingerprintThread:
    """Computes a :class:`Fingerprint` while another thread waits for DuckDB, nearly for free."""

    _OVERLAP: Final = 64

    def __init__(self, source: Source) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._source = source
        self._sample = source.sample
        self._is_odd = csv_is_odd if source.format.container == "csv" else None
        self._stamp = _stamp(source.sample)
        self._stop = Event()

    def __enter__(self) -> Self:
        self._found = self._pool.submit(self._find)
        return self

    def __exit__(self, *_: object) -> None:
        # No caller needs the result any more.
        self._stop.set()
        self._pool.shutdown()

    def _find(self) -> Fingerprint:
        compression = self._sample.compression
        if self._sample.all_files != (self._sample.path,):
            return Fingerprint(digest_of(self._sample))
        if self._source.harness:
            # The check that DuckDB read the file to its end is of no use here.
            return Fingerprint(self._digest())
        if compression == "none":
            return self._read("none", hashlib.sha256())
        return replace(self._read(compression, None), sha256=digest_of(self._sample))

    def result(self) -> Fingerprint:
        """Wait for the reading to end and give what it found."""
        return self._found.result()

    def digest(self) -> str:
        """Give the digest of the log; an error if it was written to meanwhile."""
        digest = self.result().sha256
        if _stamp(self._sample) != self._stamp:
            raise PasskError(
                f"{self._source.path} was written to while it was read.",
                hint="Load it again when the run that writes it has finished.",
            )
        return digest

    def _digest(self) -> str:
        """Read the file as it is on the disk, nearly all the time without Python's lock."""
        whole, piece = hashlib.sha256(), memoryview(bytearray(_CHUNK))
        with open_as_it_is(self._sample.path) as file:
            while not self._stop.is_set() and (size := file.readinto(piece)):
                whole.update(piece[:size])
        return whole.hexdigest()

    def _read(self, compression: Compression, digest: hashlib._Hash | None) -> Fingerprint:
        newline, lines, odd = self._sample.newline, 0, False
        end, tail, last = newline, b"", b""
        with open_bytes(self._sample.path, compression) as file:
            while not self._stop.is_set():
                chunk = read_chunk(file, _CHUNK)
                if not chunk:
                    # DuckDB may take a compressed file that is cut off for a whole one.
                    odd = odd or chunk is None
                    break
                if digest:
                    digest.update(chunk)
                lines += chunk.count(newline)
                if self._is_odd and not odd:
                    odd = self._is_odd(tail + chunk)
                    tail = chunk[-self._OVERLAP :]
                end = chunk[-1:]
                last = (chunk[-self._OVERLAP :].rstrip() or chunk.rstrip())[-1:] or last
        found = digest.hexdigest() if digest else ""
        return Fingerprint(found, lines + (end != newline), last, odd)


def _stamp(sample: Sample) -> tuple[tuple[int, int], ...]:
    statuses = [path.stat() for path in sample.all_files]
    return tuple((status.st_size, status.st_mtime_ns) for status in statuses)
