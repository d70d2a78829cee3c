"""The boards at every width, light and dark: nothing is cut, overlapped or hard to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from .board_layout import faults_of, pale_texts
from .board_page import Board
from .demo import LONG, with_long_names
from .serving import NEEDS_DCT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [NEEDS_DCT, pytest.mark.timeout(900)]

NAMES: Final = ("overview", "run", "details", "grader", "compare", "task", "gates")
WIDE: Final = (800, 1280, 1920)
PHONE: Final = (390,)


@pytest.fixture(scope="module")
def long_names(
    serve_boards: Callable[..., str], demo: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    database = tmp_path_factory.mktemp("long") / "passk.duckdb"
    with_long_names(demo, database)
    return serve_boards("--database", database)


def opened(browser: Any, address: str, path: str, widths: tuple[int, ...], scheme: str) -> Board:
    page = browser.new_page(viewport={"width": widths[0], "height": 900}, color_scheme=scheme)
    page.set_default_timeout(120_000)
    board = Board(page, address).open(path)
    assert page.url == address + path
    return board


def check_layout(board: Board, widths: tuple[int, ...]) -> None:
    for width in widths:
        board.page.set_viewport_size({"width": width, "height": 900})
        assert faults_of(board.page) == [], (board.page.url, width)


@pytest.mark.parametrize("widths", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_a_board_fits_its_screen(
    browser: Any, served_boards: str, name: str, scheme: str, widths: tuple[int, ...]
) -> None:
    folder = ("dark/" if scheme == "dark" else "") + ("phone/" if widths == PHONE else "")
    board = opened(browser, served_boards, f"/{folder}{name}", widths, scheme)
    check_layout(board, widths)
    assert pale_texts(board.page) == []
    board.page.close()


@pytest.mark.parametrize("widths", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", NAMES)
def test_long_names_of_many_runs_fit(
    browser: Any, long_names: str, name: str, widths: tuple[int, ...]
) -> None:
    folder = "phone/" if widths == PHONE else ""
    board = opened(browser, long_names, f"/{folder}{name}", widths, "light")
    check_layout(board, widths)
    # Where a name is broken into lines, the page has no space.
    text = board.text.replace(" ", "")
    if name != "gates":
        assert f"puzzles{LONG}".replace(" ", "") in text
    board.page.close()


@pytest.mark.parametrize(
    ("width", "scheme", "folder"),
    [
        (1280, "light", ""),
        (390, "light", "phone/"),
        (1280, "dark", "dark/"),
        (390, "dark", "dark/phone/"),
    ],
)
def test_the_address_leads_to_the_board_that_fits(
    browser: Any, served_boards: str, width: int, scheme: str, folder: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(120_000)
    page.goto(served_boards)
    page.wait_for_url(f"{served_boards}/{folder}overview", wait_until="commit")
    page.close()


def test_a_page_follows_the_window_and_the_system(browser: Any, served_boards: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page.set_default_timeout(120_000)
    page.goto(f"{served_boards}/gates?suite=puzzles&result=fail")
    page.emulate_media(color_scheme="dark")
    page.wait_for_url(f"{served_boards}/dark/gates?suite=puzzles&result=fail")
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_url(f"{served_boards}/dark/phone/gates?suite=puzzles&result=fail")
    page.close()
