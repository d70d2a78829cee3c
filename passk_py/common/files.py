"""Files: their paths, their sizes in words, and writing them whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["absolute", "drafted", "size_in_words", "to_disk", "write_report"]


def absolute(path: str | Path) -> Path:
    """Give the path that a file is known by: absolute, without dots, links left as they are."""
    # A link that a user names stays the name that they know the file by, wherever it leads.
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - resolve follows links


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Give the path of a draft beside a file, which takes its place unless an error comes."""
    # Not made of the file's name, which may be as long as a name can be.
    draft = path.with_name(f".passk-{secrets.token_hex(8)}.tmp")
    try:
        yield draft
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def size_in_words(size: int) -> str:
    """Write a number of bytes in the unit in which it is not nothing."""
    if size < 1_000:
        return f"{size} byte{'' if size == 1 else 's'}"
    kilobytes = f"{size / 1e3:.1f}"
    return f"{kilobytes} kB" if float(kilobytes) < 1_000 else f"{size / 1e6:,.1f} MB"


def write_report(path: Path, report: str | bytes) -> None:
    """Write a report whole or not at all."""
    content = report.encode() if isinstance(report, str) else report
    try:
        with drafted(path) as draft:
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
