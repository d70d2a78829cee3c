"""Opening a log file: compression by content, and the bytes behind it."""

from __future__ import annotations

import gzip
import io
import os
from abc import abstractmethod
from typing import IO, TYPE_CHECKING, Any, Final, Literal, cast

import zstandard

if TYPE_CHECKING:
    from pathlib import Path

    from _typeshed import WriteableBuffer

Compression = Literal["none", "gzip", "zstd"]

BOM: Final = b"\xef\xbb\xbf"

_BUFFER: Final = 1 << 17
# A zstd block of four bytes may stand for 128 KiB, so this many bytes give at most 32 MiB.
_ZSTD_PIECE: Final = 1 << 10
# So many are read at once; a call for each piece would take as long as decompressing it.
_ZSTD_CHUNK: Final = 1 << 16


def compression_of(head: bytes) -> Compression:
    """Tell from the first bytes of a file how it is compressed."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    return "none"


def open_bytes(path: Path, compression: Compression) -> IO[bytes]:
    """Open a file for reading what it holds, decompressed."""
    # Reading raises EOFError where a compressed file is cut off, and an OSError without a number,
    # or zlib.error, where it is damaged.
    if compression == "gzip":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if compression == "zstd":
        return zstd_bytes(open_as_it_is(path))
    return open_as_it_is(path)


def open_as_it_is(path: Path) -> io.BufferedReader:
    """Open a file up to the end that it has now: one that is still written to would not end."""
    return io.BufferedReader(_AsItIs(path), _BUFFER)


def open_log(path: Path) -> IO[bytes]:
    """Open a file for reading what it holds, however it is compressed; see :func:`open_bytes`."""
    with path.open("rb") as file:
        compression = compression_of(file.read(4))
    return open_bytes(path, compression)


def position_of(file: IO[bytes]) -> int:
    """Tell how far a file is read, as nearly as possible in bytes on the disk."""
    inner: IO[bytes] = getattr(file, "fileobj", None) or file
    return inner.tell()


def zstd_bytes(file: IO[bytes]) -> IO[bytes]:
    """Read zstd from a file that is open, and close both together."""
    return cast("IO[bytes]", _ZstdFile(file))


def read_chunk(file: IO[bytes], size: int) -> bytes | None:
    """Read on; fewer bytes come at the end only, and None at that of a file that is cut off."""
    pieces: list[bytes] = []
    missing = size
    while missing > 0:
        try:
            # Unlike read, it does not throw away what it has when the rest is missing.
            piece: bytes = cast("Any", file).read1(missing)
        except EOFError:
            return b"".join(pieces) or None
        if not piece:
            break
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


class _AsItIs(io.FileIO):
    """A file that ends where it ended when it was opened."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._end = os.fstat(self.fileno()).st_size

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read into a buffer."""
        return super().readinto(memoryview(buffer).cast("B")[: self._left()]) or 0

    def readall(self) -> bytes:
        """Read on to the end."""
        pieces = iter(lambda: self.read(self._left()), b"")
        return b"".join(piece or b"" for piece in pieces)

    def _left(self) -> int:
        return max(0, self._end - self.tell())


class PieceReader(io.RawIOBase):
    """A file that is read piece by piece from another one, which it closes."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        # Called as in gzip's file object; its position tells how far the reading is.
        self.fileobj = file

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def close(self) -> None:
        """Close both files."""
        self.fileobj.close()
        super().close()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read into a buffer; fewer bytes than it holds come at any time."""
        view = memoryview(buffer).cast("B")
        piece = self.read1(len(view))
        view[: len(piece)] = piece
        return len(piece)

    @abstractmethod
    def read1(self, size: int) -> bytes:
        """Read what can be had at once; nothing at the end only."""


class _ZstdFile(PieceReader):
    """Reads zstd, one frame after the other."""

    # The package's own file object takes a file that is cut off for one that ends.

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._decompressor = zstandard.ZstdDecompressor()
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._packed = b""
        self._next = 0
        self._left = b""
        self._text = b""
        self._at = 0

    def read1(self, size: int) -> bytes:
        while self._at >= len(self._text):
            if not self._more():
                return b""
        piece = self._text[self._at : self._at + size]
        self._at += len(piece)
        return piece

    def _more(self) -> bool:
        data = self._left or self._piece()
        if not data:
            if self._frame:
                raise EOFError("the file ends within a frame of zstd")
            return False
        frame = self._frame = self._frame or self._decompressor.decompressobj()
        try:
            self._text, self._at, self._left = frame.decompress(data), 0, b""
        except zstandard.ZstdError as error:
            # gzip raises this too.
            raise OSError(str(error)) from error
        if frame.eof:
            self._frame, self._left = None, frame.unused_data
        return True

    def _piece(self) -> bytes:
        if self._next >= len(self._packed):
            self._packed, self._next = self.fileobj.read(_ZSTD_CHUNK), 0
        start = self._next
        self._next += _ZSTD_PIECE
        return self._packed[start : self._next]
