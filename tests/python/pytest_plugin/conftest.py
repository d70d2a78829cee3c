"""What the tests of the plugin share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .sessions import Ended, run_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def session(tmp_path: Path) -> Callable[..., Ended]:
    """Write a file of tests, and run it as often as it is called."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    def run(text: str | None, *words: str, plugins: tuple[str, ...] = ()) -> Ended:
        if text is not None:
            (tmp_path / "test_agent.py").write_text(text, encoding="utf-8")
        return run_session(tmp_path, *words, plugins=plugins)

    return run
