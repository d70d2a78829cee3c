"""Reading a file once for its digest and its number of lines, beside the work of DuckDB."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from passk_py.ingest.containers.open_bytes import Compression, open_bytes, read_chunk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from passk_py.ingest.formats.sample import Sample

__all__ = ["Fingerprint", "FingerprintThread", "digest_of", "digest_of_file"]

_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What one pass over a file's bytes tells.

    Parameters
    ----------
    sha256
        The digest of the file as it lies on the disk.
    lines
        The lines of its decompressed text, the last one counted even without an end.
    last
        The last byte of its text that is no blank.
    odd
        Whether a test of its bytes found something that only the careful reader understands, or
        the file is compressed and cut off.
    """

    sha256: str
    lines: int
    last: bytes
    odd: bool


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
    """Compute the SHA-256 of a file as it lies on the disk."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FingerprintThread:
    """Computes a :class:`Fingerprint` while another thread waits for DuckDB.

    Both release Python's lock, so on two cores the digest is nearly free.

    Parameters
    ----------
    sample
        The file.
    odd
        Tells from a piece of its text whether DuckDB may read it otherwise than the careful
        reader. Pieces overlap by a few bytes.
    only_digest
        Leave out all but the digest: what tells whether DuckDB read the file to its end is of no
        use for a file that it does not read itself.
    """

    _OVERLAP: Final = 64

    def __init__(
        self,
        sample: Sample,
        odd: Callable[[bytes], bool] | None = None,
        *,
        only_digest: bool = False,
    ) -> None:
        self._thread = Thread(target=self._run, daemon=True)
        self._sample = sample
        self._odd = odd
        self._only_digest = only_digest
        self._stop = Event()
        self._result: Fingerprint | None = None
        self._error: Exception | None = None

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def _run(self) -> None:
        try:
            compression = self._sample.compression
            if self._sample.all_files != (self._sample.path,):
                self._result = Fingerprint(digest_of(self._sample), 0, b"", odd=False)
            elif self._only_digest:
                self._result = Fingerprint(self._digest(), 0, b"", odd=False)
            elif compression == "none":
                self._result = self._read("none", hashlib.sha256())
            else:
                text = self._read(compression, None)
                digest = digest_of(self._sample)
                self._result = replace(text, sha256=digest)
        except Exception as error:  # noqa: BLE001 - raised again where the result is asked for
            self._error = error

    def cancel(self) -> None:
        """End the reading, for a result that nobody needs any more."""
        self._stop.set()
        self._thread.join()

    def result(self) -> Fingerprint:
        """Wait for the reading to end and give what it found."""
        self._thread.join()
        if self._error:
            raise self._error
        assert self._result is not None  # noqa: S101 - _run sets one of the two
        return self._result

    def _digest(self) -> str:
        """Read the file as it lies on the disk, nearly all the time without Python's lock."""
        whole, piece = hashlib.sha256(), memoryview(bytearray(_CHUNK))
        with self._sample.path.open("rb", buffering=0) as file:
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
                if self._odd and not odd:
                    odd = self._odd(tail + chunk)
                    tail = chunk[-self._OVERLAP :]
                end = chunk[-1:]
                last = (chunk[-self._OVERLAP :].rstrip() or chunk.rstrip())[-1:] or last
        found = digest.hexdigest() if digest else ""
        return Fingerprint(found, lines + (end != newline), last, odd)
