"""Fixtures that the tests of the plugin share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

# Imported before the first session in this process, which forgets what it imports.
import passk_py.pytest_plugin.session_end
import passk_py.validation.recompute.answer_tables  # noqa: F401

from .sessions import PLUGIN, Ended, run_session

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Write a file of tests, and run it as often as it is called; in this process, without xdist."""
    pytester.makeini("[pytest]")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "100")

    def run(text: str | None, *words: str, plugins: tuple[str, ...] = ()) -> Ended:
        if text is not None:
            (pytester.path / "test_agent.py").write_text(text, encoding="utf-8")
        if "xdist.plugin" in plugins:
            return run_session(pytester.path, *words, plugins=plugins)
        named = [word for plugin in (PLUGIN, *plugins) for word in ("-p", plugin)]
        done = pytester.runpytest_inprocess(*named, "--tb=no", *words)
        return Ended(int(done.ret), f"{done.stdout}\n{done.stderr}", pytester.path)

    return run
