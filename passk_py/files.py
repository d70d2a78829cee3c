"""Files that are written whole or not at all."""

from __future__ import annotations

import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["drafted"]


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Give the path of a draft beside a file, which takes its place unless an error comes.

    Parameters
    ----------
    path
        The file to write.

    Yields
    ------
    pathlib.Path
        Where to write. Nothing of it is left after an error.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "report.txt"
    >>> with drafted(path) as draft:
    ...     written = draft.write_text("all of it")
    >>> [file.name for file in path.parent.iterdir()]
    ['report.txt']
    """
    # Not made of the file's name, which may be as long as a name can be.
    draft = path.with_name(f".passk-{secrets.token_hex(8)}.tmp")
    try:
        yield draft
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
