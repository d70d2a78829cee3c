"""Standard input as a file, because it can be read only once."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Final

import click

from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from pathlib import Path

STDIN: Final = "-"


def with_stdin_kept(paths: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Give the paths, with the file ``stdin`` of the folder in place of ``-``."""
    if STDIN not in paths:
        return paths
    if paths.count(STDIN) > 1:
        raise click.UsageError("- stands for standard input, which can be read only once.")
    if sys.stdin is None:
        raise PasskError("Standard input is closed.", hint="Name a file instead of -.")
    kept = folder / "stdin"
    with kept.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return tuple(str(kept) if path == STDIN else path for path in paths)
