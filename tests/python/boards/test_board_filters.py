"""Filters of the boards keep each other, and links keep the filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from .serving import NEEDS_DCT

if TYPE_CHECKING:
    from .board_page import Board

pytestmark = [NEEDS_DCT, pytest.mark.timeout(900)]


def filters_of(page: Any) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


@pytest.mark.parametrize(
    ("path", "control", "runs"),
    [
        ("/run?suite=older", "Run", {"walker-older"}),
        (
            "/run?suite=puzzles",
            "Run",
            {"scout-2026-02", "scout-2026-03", "tracer-2026-03", "walker-2026-03"},
        ),
        ("/overview?suite=older", "Agent", {"walker"}),
        ("/compare?suite=puzzles", "Baseline", {"scout-2026-02"}),
    ],
)
def test_a_suite_leaves_only_what_is_in_it(
    board: Board, path: str, control: str, runs: set[str]
) -> None:
    found = set(board.open(path).choices(control))
    assert found - {"newest", "All"} == runs


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "/run?suite=puzzles&run=walker-older",
            "walker-older is a run of older, not of puzzles. Choose another run, or the other suite.",
        ),
        ("/run?suite=puzzles&run=nope", "No run is called nope."),
        ("/run?suite=nope", "No suite is called nope."),
        ("/details?suite=puzzles&run=nope", "No run is called nope."),
        ("/grader?suite=nope", "No suite is called nope."),
        ("/overview?suite=older&agent=scout", "scout has no run of this suite, but of puzzles."),
        ("/overview?agent=nope", "No agent is called nope."),
        ("/overview?suite=nope", "No suite is called so."),
        ("/compare?suite=puzzles&candidate=walker-older", "walker-older is the candidate of no pair here."),
        ("/compare?suite=puzzles&baseline=scout-2026-03", "scout-2026-03 is the baseline of no pair here."),
        ("/compare?suite=older", "No pair of the suite older is compared."),
        ("/task?suite=older&task=nope", "No task is called nope."),
    ],
)  # fmt: skip
def test_filters_that_contradict_each_other_say_so(board: Board, path: str, said: str) -> None:
    board.open(path)
    assert said in board.text
    # Neither a chart nor a table is drawn empty.
    assert "pass^k solid" not in board.text
    assert "What to mend first" not in board.text


def test_a_row_leads_on_with_the_filters(board: Board) -> None:
    board.open("/overview?k=2")
    board.follow("walker-2026-03")
    assert urlsplit(board.page.url).path == "/run"
    assert filters_of(board.page) == {"run": "walker-2026-03", "suite": "puzzles", "k": "2"}
    assert "pass^2, all k tries" in board.text
    board.follow("queens-")
    assert urlsplit(board.page.url).path == "/task"
    assert filters_of(board.page)["k"] == "2"
    assert "At k = 2" in board.text


@pytest.mark.parametrize("name", ["run", "details", "grader", "compare", "task", "gates"])
def test_boards_lead_to_each_other_with_the_filters(board: Board, name: str) -> None:
    board.open(f"/{name}?suite=puzzles" + ("" if name == "gates" else "&k=3"))
    with board.page.expect_navigation():
        board.page.locator(".dbt-charts-svg-container a", has_text="Overview").first.click()
    assert urlsplit(board.page.url).path == "/overview"
    assert filters_of(board.page) == {"suite": "puzzles"} | ({} if name == "gates" else {"k": "3"})
