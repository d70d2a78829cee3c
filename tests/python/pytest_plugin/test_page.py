"""The page about pytest shows what a session prints."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

import passk_py as pk

from ..docs.blocks import ROOT, blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from .sessions import Ended

pytest_plugins = ["pytester"]
PAGE = "docs/pytest.md"
SHELL = [block.text.strip() for block in blocks("shell", PAGE)]
TEXT = [block.text.rstrip() for block in blocks("text", PAGE)]


@pytest.mark.parametrize(("command", "shown"), [*zip(SHELL, TEXT, strict=True)], ids=SHELL)
def test_the_page_shows_what_a_session_prints(
    session: Callable[..., Ended], pytester: pytest.Pytester, command: str, shown: str
) -> None:
    example, _ = blocks("python", PAGE)
    (pytester.path / "test_helpdesk.py").write_text(example.text, encoding="utf-8")
    program, *words = shlex.split(command)
    assert program == "pytest"
    said = session(None, *words).out
    for part in shown.split("...\n"):
        assert part.rstrip() in said


def test_the_marker_of_the_page_needs_as_many_attempts_as_it_says() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    minimum, k, least = re.findall(r"least_attempts\(([0-9.]+), ([0-9]+)\)` is ([0-9]+)", page)[0]
    assert pk.least_attempts(float(minimum), int(k)) == int(least)
    _, marked = blocks("python", PAGE)
    assert f"repeat={int(least) - 1}, k={k}, min_pass_hat_k={minimum}" in marked.text


def test_the_page_has_every_option(
    pytester: pytest.Pytester, session: Callable[..., Ended]
) -> None:
    said = session(None, "--help").out
    options = set(re.findall(r"--passk-[a-z-]+", said))
    assert len(options) == 13
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert options == set(re.findall(r"--passk-[a-z-]+", page))
