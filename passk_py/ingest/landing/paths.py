"""How a path is known."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["absolute"]


def absolute(path: str | Path) -> Path:
    """Give the path that a file is known by: absolute, without dots, links left as they are."""
    # A link that a user names stays the name that they know the file by, wherever it leads.
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - resolve follows links
