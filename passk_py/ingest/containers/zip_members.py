"""Members of a zip as streams, with bounds on what a member may cost to read.

Python's own ``zipfile`` reads what is stored or deflated, and the directory wherever that is not
plain; members compressed with zstd (method 93), which it can't read before Python 3.14, go through
the same decompressor as whole files of zstd. Nothing is ever unpacked to the disk, and no member is
held in memory.

A log is looked at before it is read, and the directory of one with many samples takes a while to
read; so the last one looked at is kept until it is read.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from contextlib import contextmanager
from operator import methodcaller
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Final, cast

from passk_py.common.errors import PasskError
from passk_py.ingest.containers.collector import COLLECTOR
from passk_py.ingest.containers.open_bytes import PieceReader, zstd_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MAX_MEMBER_BYTES: Final = 4 << 30

_ZSTD: Final = 93
# Methods of which a piece of the compressed bytes can't become much more than itself at once.
_OWN: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LOCAL: Final = struct.Struct("<4s22xHH")
_END: Final = struct.Struct("<4s6sHLLH")
# Flags, method, checksum, sizes, and where the member is.
_ENTRY: Final = struct.Struct("<8xHH4xLLL14xL")
# Magic, version to extract it, length of the name, and what else there is.
_ENTRY_START: Final = struct.Struct("<4s2xB21xH6s")
_ENTRY_MAGIC: Final = b"PK\1\2"
_NEWEST: Final = zipfile.MAX_EXTRACT_VERSION
# No extra field, no comment, and the first disk.
_NOTHING_MORE: Final = b"\0" * 6
_DECODED: Final = methodcaller("decode", "ascii")
# Encrypted, patched, encrypted as a whole.
_UNREADABLE: Final = 0x1 | 0x20 | 0x40
_AGAIN: Final = "Write or copy the file again."


_Stamp = tuple[int, int, int, int]
_looked_at: list[tuple[_Stamp, _Directory]] = []


def names_in(path: Path) -> tuple[str, ...]:
    """List the members of a zip; an OSError without a number if its directory is damaged."""
    # If two members have one name, the last one counts, as in zipfile.
    with path.open("rb") as file:
        directory = _directory(file)
        _looked_at[:] = [(_stamp_of(file), directory)]
    return directory.names


class _Directory:
    """The members that a zip lists, by their names."""

    # A log of Inspect has a member for each of its samples, of which few are read. So no more is
    # made of a plain directory than the names and where in it each stands.

    def __init__(
        self,
        data: bytes = b"",
        places: Mapping[str, int] | None = None,
        infos: Mapping[str, zipfile.ZipInfo] | None = None,
    ) -> None:
        self._data = data
        self._places = places or {}
        self._infos = infos
        self.names = tuple(self._places if infos is None else infos)

    def __getitem__(self, name: str) -> zipfile.ZipInfo:
        if self._infos is not None:
            return self._infos[name]
        fields = _ENTRY.unpack_from(self._data, self._places[name])
        info = zipfile.ZipInfo(name)
        info.flag_bits, info.compress_type, info.CRC = fields[:3]
        info.compress_size, info.file_size, info.header_offset = fields[3:]
        return info


def _directory(file: IO[bytes]) -> _Directory:
    return _plain_directory(file) or _Directory(infos=_infos_of(file))


def _plain_directory(file: IO[bytes]) -> _Directory | None:
    """Read the directory of a zip; None if anything in it is not as most programs write it."""
    end_at = file.seek(0, io.SEEK_END) - _END.size
    if end_at < 0:
        return None
    file.seek(end_at)
    magic, _, count, size, start, comment = _END.unpack(file.read(_END.size))
    # A file with another end has something before or behind it, or is too large for these
    # fields.
    if magic != b"PK\5\6" or comment or start + size != end_at:
        return None
    file.seek(start)
    data = file.read(size)
    if len(data) != size:
        return None
    names: list[bytes] = []
    places: list[int] = []
    at, begin = 0, _ENTRY.size
    while begin <= size:
        magic, version, length, more = _ENTRY_START.unpack_from(data, at)
        if magic != _ENTRY_MAGIC or version > _NEWEST or more != _NOTHING_MORE:
            return None
        places.append(at)
        at = begin + length
        names.append(data[begin:at])
        begin = at + _ENTRY.size
    if at != size or len(names) != count:
        return None
    # Letters beyond ASCII are read as the flags say, a zero ends a name, and a backslash is a slash
    # on some systems.
    letters = b"".join(names)
    if not letters.isascii() or b"\0" in letters or b"\\" in letters:
        return None
    return _Directory(data, dict(zip(map(_DECODED, names), places, strict=True)))


def _infos_of(file: IO[bytes]) -> dict[str, zipfile.ZipInfo]:
    try:
        with COLLECTOR.paused(), zipfile.ZipFile(file) as read:
            return {info.filename: info for info in read.infolist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise OSError(f"it is a damaged zip ({error})") from error


def _stamp_of(file: IO[bytes]) -> _Stamp:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _taken(file: IO[bytes]) -> _Directory | None:
    """Take the directory that was kept, if it is this file's."""
    try:
        stamp, directory = _looked_at.pop()
        return directory if stamp == _stamp_of(file) else None
    except (IndexError, OSError):
        # Nothing is kept, or the zip is no file of its own.
        return None


class ZipMembers:
    """The members of a zip that can seek; several can be open at a time."""

    def __init__(self, file: IO[bytes], most: int = _MAX_MEMBER_BYTES) -> None:
        taken = _taken(file)
        self._directory = _directory(file) if taken is None else taken
        self._file = file
        self._most = most
        self.names = self._directory.names

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member; PasskError if it is too large, or packed in a way that is not read."""
        # Reading raises what it does of a file of open_bytes.
        info = self._directory[name]
        self._check(info)
        packed = cast("IO[bytes]", _Slice(self._file, self._start_of(info), info.compress_size))
        own = info.compress_type != _ZSTD
        file = zipfile.ZipExtFile(packed, "r", info) if own else zstd_bytes(packed)
        with cast("IO[bytes]", _Member(cast("IO[bytes]", file), info, self._most)) as member:
            yield member

    def _check(self, info: zipfile.ZipInfo) -> None:
        where = PurePosixPath(info.filename.replace("\\", "/"))
        if where.is_absolute() or ".." in where.parts:
            raise PasskError(
                f"The zip has a member called {info.filename!r}, which leads out of it.",
                hint="Check where the file comes from.",
            )
        if info.flag_bits & _UNREADABLE:
            raise PasskError(
                f"The member {info.filename} of the zip is encrypted.",
                hint="Create the zip without encryption.",
            )
        if info.compress_type not in (*_OWN, _ZSTD):
            raise PasskError(
                f"The member {info.filename} of the zip is compressed with the method "
                f"{info.compress_type}.",
                hint="passk reads members that are stored, deflated or compressed with zstd.",
            )
        if info.file_size > self._most:
            raise _too_large(info, self._most)

    def _start_of(self, info: zipfile.ZipInfo) -> int:
        """Find where a member's bytes begin: behind its local header."""
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL.size)
        if len(header) < _LOCAL.size:
            raise OSError(f"the member {info.filename} is not where the zip says")
        magic, name, extra = _LOCAL.unpack(header)
        if magic != b"PK\x03\x04":
            raise OSError(f"the member {info.filename} is not where the zip says")
        return info.header_offset + _LOCAL.size + int(name) + int(extra)


def _too_large(info: zipfile.ZipInfo, most: int) -> PasskError:
    return PasskError(
        f"The member {info.filename} of the zip is larger than {most} bytes, the most that passk "
        "reads.",
        hint=f"Check where the file comes from. {_AGAIN}",
    )


class _Slice(PieceReader):
    """Some of the bytes of a file; closing it leaves the file open."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        super().__init__(file)
        self._at = start
        self._left = size

    def read1(self, size: int) -> bytes:
        self.fileobj.seek(self._at)
        piece = self.fileobj.read(min(size, self._left))
        self._at += len(piece)
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        io.RawIOBase.close(self)


class _Member(PieceReader):
    """The content of a member, counted and checked while it is read."""

    def __init__(self, file: IO[bytes], info: zipfile.ZipInfo, most: int) -> None:
        super().__init__(file)
        self._info = info
        self._most = most
        self._read = 0
        self._sum = 0

    def read1(self, size: int) -> bytes:
        try:
            piece: bytes = cast("Any", self.fileobj).read1(size)
        except zipfile.BadZipFile as error:
            raise OSError(f"the member {self._info.filename} is damaged ({error})") from error
        said = self._info.file_size, self._info.CRC
        if size > 0 and not piece and (self._read, self._sum) != said:
            raise OSError(f"the member {self._info.filename} is damaged (its checksum is wrong)")
        self._read += len(piece)
        self._sum = zlib.crc32(piece, self._sum)
        # The directory's word on a member need not be true.
        if self._read > self._most:
            raise _too_large(self._info, self._most)
        return piece
