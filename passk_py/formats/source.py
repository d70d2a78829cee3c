"""Opening a log file: compression by content, and the bytes behind it."""

from __future__ import annotations

import gzip
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Final, Literal, cast

from passk_py.errors import PasskError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BOM", "Compression", "compression_of", "open_bytes", "read_chunk"]

Compression = Literal["none", "gzip", "zstd"]
"""How a file is compressed, in DuckDB's words."""

BOM: Final = b"\xef\xbb\xbf"
"""The mark that some programs put at the start of UTF-8 files."""


def compression_of(head: bytes) -> Compression:
    """Tell from the first bytes of a file how it is compressed."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    return "none"


def open_bytes(path: Path, compression: Compression) -> IO[bytes]:
    """Open a file for reading what it holds, decompressed.

    Parameters
    ----------
    path
        The file.
    compression
        As :func:`compression_of` tells it.

    Returns
    -------
    file object
        Reads bytes; the caller closes it.

    Raises
    ------
    PasskError
        If nothing that is installed reads zstd.
    """
    if compression == "gzip":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if compression == "zstd":
        return _open_zstd(path)
    return path.open("rb")


def read_chunk(file: IO[bytes], size: int) -> bytes | None:
    """Read on, giving all that can be had of a compressed file that is cut off.

    Parameters
    ----------
    file
        What :func:`open_bytes` gave.
    size
        How many bytes to read; fewer come only at the end.

    Returns
    -------
    bytes or None
        Nothing at the end of the file; None at the end of one that is cut off.
    """
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


def _open_zstd(path: Path) -> IO[bytes]:
    # Part of Python from 3.14 on; a package before that.
    for module in ("compression.zstd", "zstandard"):
        try:
            zstd: Any = import_module(module)
        except ImportError:
            continue
        return cast("IO[bytes]", zstd.open(path, "rb"))
    raise PasskError(
        f"{path} is compressed with zstd, which this Python can't read.",
        hint="Install the package zstandard, or decompress the file.",
    )
