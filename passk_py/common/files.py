"""Files: their paths, their sizes in words, and writing them whole or not at all."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import stat
import time
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_WORDS: Final = "|".join(re.escape(os.strerror(code)) for code in _NO_ROOM)
_SAYS_NO_ROOM: Final = re.compile(
    rf"(?:\b(?:IO|FATAL|TransactionContext) Error\b|\[Errno \d+\]).*(?:{_WORDS})"
    rf"|(?:{_WORDS}) \(os error \d+\)",
    re.DOTALL,
)
"""The words alone may be of a log, and part of an error about its values."""

SCHEMES: Final = ("http", "https", "s3", "gs", "az", "hf", "memory")
"""The kinds of addresses that logs are fetched from; the last is for tests."""

_FORGOTTEN_S: Final = 60 * 60
"""Processes of two containers may not see each other; none leaves a draft alone for so long."""


def absolute(path: str | Path) -> Path:
    """Give the path that a file is known by: absolute, without dots, links left as they are."""
    # A link that a user names stays the name that they know the file by, wherever it leads.
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - resolve follows links


def is_remote(path: str | Path) -> bool:
    """Tell whether a path is an address from which a log can be fetched."""
    scheme, separator, _ = str(path).partition("://")
    return bool(separator) and scheme.lower() in SCHEMES


def not_a_file(path: Path, name: str | None = None) -> str | None:
    """Say that a path is a pipe, a socket or a device, which no call should wait for; else None."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    kind = next((name for is_one, name in kinds if is_one(mode)), "a device")
    return f"{name or path} is neither a file nor a folder but {kind}."


def is_disk_full(error: BaseException | str | None) -> bool:
    """Tell whether an error, or one that it came from, is that there is no room on a disk."""
    # DuckDB and dbt have no error of their own for it, and pass on the system's words.
    while isinstance(error, BaseException):
        if (isinstance(error, OSError) and error.errno in _NO_ROOM) or is_disk_full(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return error is not None and bool(_SAYS_NO_ROOM.search(error))


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Give the path of a draft beside a file, which takes its place unless an error comes."""
    draft = draft_beside(path)
    try:
        yield draft
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def draft_beside(path: Path) -> Path:
    """Give a new name for a draft beside a path, after removing the drafts of killed processes."""
    here = f".passk-{zlib.crc32(platform.node().encode()):08x}-"
    # Elsewhere a signal to a process is more than a question.
    for left in path.parent.glob(f"{here}*.tmp") if os.name == "posix" else ():
        with suppress(OSError):
            is_old = time.time() - left.stat().st_mtime > _FORGOTTEN_S
            if is_old and not _is_running(left.name.removeprefix(here).partition("-")[0]):
                shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
    # Not made of the file's name, which may be as long as a name can be.
    return path.with_name(f"{here}{os.getpid()}-{secrets.token_hex(4)}.tmp")


def _is_running(pid: str) -> bool:
    """Tell whether a process of this machine may still be at work."""
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        # Another user's.
        return True
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    return True


def size_in_words(size: int) -> str:
    """Write a number of bytes in the unit in which it is not nothing."""
    if size < 1_000:
        return f"{size} byte{'' if size == 1 else 's'}"
    kilobytes = f"{size / 1e3:.1f}"
    return f"{kilobytes} kB" if float(kilobytes) < 1_000 else f"{size / 1e6:,.1f} MB"


def write_report(path: Path, report: str | bytes, *, is_private: bool = False) -> None:
    """Write a report whole or not at all; a private one is for nobody else to read."""
    content = report.encode() if isinstance(report, str) else report
    try:
        with drafted(path) as draft:
            draft.touch(0o600 if is_private else 0o666)
            draft.write_bytes(content)
    except OSError as error:
        raise PasskError(f"{path} can't be written: {error.strerror}.") from error


def to_disk(path: Path) -> None:
    """Have the system write a file or folder out, or a power cut could leave a name without it."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
