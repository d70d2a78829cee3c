"""Standard input as a file, because it can be read only once."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Iterator

STDIN: Final = "-"


@contextmanager
def stdin_kept(paths: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Path | None]]:
    """Give the paths with a file in place of ``-``, and that file; None if there is no ``-``."""
    if STDIN not in paths:
        yield paths, None
        return
    if paths.count(STDIN) > 1:
        raise click.UsageError("- stands for standard input, which can be read only once.")
    if sys.stdin is None:
        raise PasskError("Standard input is closed.", hint="Name a file instead of -.")
    with tempfile.TemporaryDirectory(prefix="passk-stdin-") as folder:
        kept = Path(folder, "stdin")
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield tuple(str(kept) if path == STDIN else path for path in paths), kept
