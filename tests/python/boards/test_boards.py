"""The boards in a browser: what they show is what the tables hold, whatever filter is set.

Beside the demo, the served database holds rows that no board may draw where it isn't asked for
them: a slice, and an older suite, with shares of their own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

from passk_py.common.words import percent
from passk_py.warehouse.catalog import PUBLIC_TABLES

from ..ports import free_port
from .demo import DECOY_SHOWN, rows_of, with_decoys
from .serving import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .demo import Row

ROOT: Final = Path(__file__).resolve().parents[3]
DCT: Final = os.environ.get("PASSK_DCT") or shutil.which("dct")

pytestmark = [
    pytest.mark.skipif(
        DCT is None, reason="the boards need dct (dbt-charts), which is not installed"
    ),
    pytest.mark.timeout(600),
]

ROWS_OF_THE_PAGE = """() => {
  const found = [];
  for (const text of document.querySelectorAll('.dbt-charts-svg-container svg text')) {
    const box = text.getBoundingClientRect();
    found.push([Math.round(box.top + box.height / 2), box.left, text.textContent]);
  }
  found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const rows = [];
  let last = -100;
  for (const [top, , text] of found) {
    if (top - last > 4) { rows.push([]); last = top; }
    rows[rows.length - 1].push(text);
  }
  return rows;
}"""

MARKS = """() => [...document.querySelectorAll('[aria-label]')].map(e => e.getAttribute('aria-label'))"""


def plain(text: str) -> str:
    """Leave out the characters that a page has for the eye only."""
    return re.sub(r"[\u2000-\u200f\u2060-\u206f\s]+", " ", text).strip()


class Board:
    """A page of a board, opened anew for every filter."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address

    def open(self, path: str) -> Board:
        answer = self.page.goto(self.address + path, wait_until="networkidle")
        assert answer.status == 200, self.page.inner_text("body")[:2000]
        return self

    @property
    def rows(self) -> list[list[str]]:
        return [
            [plain(text) for text in row if plain(text)]
            for row in self.page.evaluate(ROWS_OF_THE_PAGE)
        ]

    @property
    def text(self) -> str:
        return plain(" ".join(" ".join(row) for row in self.rows))

    @property
    def marks(self) -> list[str]:
        return [plain(label) for label in self.page.evaluate(MARKS)]

    def row_of(self, *first: str) -> list[str]:
        found = [row for row in self.rows if tuple(row[: len(first)]) == first]
        assert len(found) == 1, (first, self.rows)
        return found[0]

    def choose(self, control: str, value: str) -> None:
        self.page.get_by_role("combobox", name=control, exact=True).click()
        with self.page.expect_navigation(wait_until="networkidle"):
            self.page.locator(
                ".dbt-select-option:visible", has_text=re.compile(f"^{value}$")
            ).click()


def without_rows(demo: Path, served: Path) -> None:
    with duckdb.connect(str(served)) as connection:
        connection.execute(f"attach '{demo}' as demo (read_only)")
        for table in PUBLIC_TABLES:
            connection.execute(f"create table {table.name} as from demo.main.{table.name} limit 0")


@pytest.fixture(scope="module")
def serve(
    demo: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Callable[[Path, Path], None]], str]]:
    """Serve the project's boards over a database that a function makes of the demo."""
    servers: list[subprocess.Popen[bytes]] = []

    def start(make: Callable[[Path, Path], None]) -> str:
        folder = tmp_path_factory.mktemp("served")
        served = folder / "passk.duckdb"
        make(demo, served)
        port = free_port()
        log = folder / "log.txt"
        with log.open("wb") as output:
            servers.append(
                subprocess.Popen(
                    [str(DCT), "serve", "--port", str(port), "--no-cache", "--target", "duckdb"],
                    cwd=ROOT,
                    env={
                        **os.environ,
                        # dbt charts takes the path of a profile from the project's folder.
                        "PASSK_DATABASE": os.path.relpath(served, ROOT),
                        "DO_NOT_TRACK": "1",
                    },
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            )
        address = f"http://localhost:{port}"
        wait_for(address, servers[-1], log)
        return address

    yield start
    for server in servers:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="module")
def served(serve: Callable[[Callable[[Path, Path], None]], str]) -> str:
    return serve(with_decoys)


@pytest.fixture
def board(browser: Any, served: str) -> Iterator[Board]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    outside: list[str] = []
    page.on(
        "request",
        lambda request: (
            outside.append(request.url)
            if not request.url.startswith((served, "data:", "blob:"))
            else None
        ),
    )
    mistakes: list[str] = []
    page.on("pageerror", lambda error: mistakes.append(str(error)))
    yield Board(page, served)
    page.close()
    assert not outside
    assert not mistakes


def limits(row: Row, metric: str) -> str:
    return f"{percent(row[f'{metric}_lower'])} to {percent(row[f'{metric}_upper'])}"


def suite_rows(tables: duckdb.DuckDBPyConnection, k: int) -> dict[str, Row]:
    sql = f"from passk_suite_metrics where slice_name = 'all' and k = {k}"
    return {row["run_id"]: row for row in rows_of(tables, sql)}


LATEST: Final = ("scout-2026-03", "tracer-2026-03", "walker-2026-03")


def check_overview(board: Board, tables: duckdb.DuckDBPyConnection, k: int) -> None:
    assert f"puzzles: the latest run of each agent at k = {k}" in board.text
    for run, row in suite_rows(tables, k).items():
        if run not in LATEST:
            assert run not in board.text
            continue
        first = suite_rows(tables, 1)[run]
        shown = next(cells for cells in board.rows if cells[0] == run and len(cells) > 3)
        assert shown == [
            run,
            row["model"],
            str(row["total_tasks"]),
            str(row["attempts"]),
            percent(first["pass_at_k"]) + "%",
            percent(row["pass_at_k"]) + "%",
            limits(row, "pass_at_k"),
            percent(row["pass_hat_k"]) + "%",
            limits(row, "pass_hat_k"),
            row["reading"],
        ]


def test_the_overview_has_the_latest_runs(board: Board, tables: duckdb.DuckDBPyConnection) -> None:
    board.open("/overview/")
    check_overview(board, tables, 4)


def test_the_overview_draws_both_curves(board: Board, tables: duckdb.DuckDBPyConnection) -> None:
    board.open("/overview/")
    points = "\n".join(board.marks)
    for k in (1, 4, 10):
        for run, row in suite_rows(tables, k).items():
            if run in LATEST:
                at = f"{100 * row['pass_at_k']:.1f}".removesuffix(".0")
                hat = f"{100 * row['pass_hat_k']:.1f}".removesuffix(".0")
                assert f"{k}; pass@k: {run}; pass@k: {at}%" in points
                assert re.search(
                    rf"^{k}; {run};.* pass\^k: {re.escape(hat)}%$", points, re.MULTILINE
                )
    assert board.page.locator("[stroke-dasharray='6,4']").count() >= len(LATEST)


def test_filters_are_chosen_on_the_page(board: Board, tables: duckdb.DuckDBPyConnection) -> None:
    board.open("/overview/")
    board.choose("k", "2")
    assert "k=2" in board.page.url
    check_overview(board, tables, 2)
    board.choose("Agent", "walker")
    assert "agent=walker" in board.page.url
    assert "walker-2026-03" in board.text
    assert "tracer-2026-03" not in board.text


def test_a_suite_that_is_chosen_is_shown_alone(board: Board) -> None:
    board.open("/overview/?suite=older")
    assert board.row_of("walker-older", "local-search")[5] == f"{DECOY_SHOWN}%"
    assert "2026-03" not in board.text


@pytest.mark.parametrize("name", ["overview", "run", "compare", "task"])
def test_no_slice_and_no_older_suite_is_drawn_unasked(board: Board, name: str) -> None:
    board.open(f"/{name}/")
    shown = re.findall(r"[\d.]+", board.text + " ".join(board.marks))
    assert DECOY_SHOWN not in shown
    assert "walker-older" not in board.text


def test_a_run_has_its_numbers(board: Board, tables: duckdb.DuckDBPyConnection) -> None:
    run = "walker-2026-03"
    board.open(f"/run/?run={run}&k=8")
    row = suite_rows(tables, 8)[run]
    first = suite_rows(tables, 1)[run]
    text = board.text
    assert f"{run} on puzzles" in text
    for expected in (
        percent(first["pass_at_k"]) + "%",
        limits(first, "pass_at_k"),
        percent(row["pass_at_k"]) + "%",
        limits(row, "pass_at_k"),
        percent(row["pass_hat_k"]) + "%",
        limits(row, "pass_hat_k"),
        row["reading"],
        "pass^8, all k tries",
    ):
        assert expected in text
    gap = f"{100 * row['delta_k']:.1f}".removesuffix(".0")
    assert f"8; delta_k; delta_k: {gap}%" in board.marks
    classes = rows_of(
        tables,
        f"select task_class, count(*) as tasks from passk_tasks where run_id = '{run}' group by 1",
    )
    for one in classes:
        assert f"{one['task_class']}; tasks: {one['tasks']}" in " | ".join(board.marks)
    costliest = rows_of(
        tables,
        f"from passk_tasks where run_id = '{run}' and c < n order by mend_rank limit 15",
    )
    for task in costliest:
        assert board.row_of(task["task_id"])[1:6] == [
            task["task_class"],
            f"{task['c']} of {task['n']}",
            percent(task["pass_at_k"]) + "%",
            percent(task["pass_hat_k"]) + "%",
            percent(task["expected_gain"]) + "%",
        ]
    for one in rows_of(tables, f"from passk_diagnostics where run_id = '{run}'"):
        # The lines of a finding are texts of their own.
        assert any(one["diagnostic"] in cells and one["verdict"] in cells for cells in board.rows)


def test_a_k_beyond_the_attempts_is_not_known(
    board: Board, tables: duckdb.DuckDBPyConnection
) -> None:
    board.open("/run/?run=walker-2026-03&k=16")
    row = suite_rows(tables, 16)["walker-2026-03"]
    assert row["pass_at_k"] is None
    assert row["null_reason"] in board.text
    assert board.text.count("not known") == 3


def points_of(difference: float) -> str:
    return f"{100 * difference:+.1f}"


def test_a_pair_has_its_differences(board: Board, tables: duckdb.DuckDBPyConnection) -> None:
    board.open("/compare/?k=8")
    assert "scout-2026-03 against scout-2026-02 on puzzles" in board.text
    for metric, called in (("pass_at_k", "pass@8"), ("pass_hat_k", "pass^8")):
        (row,) = rows_of(
            tables,
            f"from passk_comparisons where metric = '{metric}' and k = 8",
        )
        expected = [
            f"{points_of(row['difference'])} points",
            f"{points_of(row['difference_suite_lower'])} to {points_of(row['difference_suite_upper'])}",
        ]
        (judged,) = [cells for cells in board.rows if called in cells and "puzzles" not in cells]
        for cell in (
            percent(row["baseline"]) + "%",
            percent(row["candidate"]) + "%",
            *expected,
            f"{points_of(row['difference_lower'])} to {points_of(row['difference_upper'])}",
            row["verdict"],
        ):
            assert cell in judged
        pair = ("scout-2026-03", "scout-2026-02", "puzzles", called)
        assert board.row_of(*pair)[4:] == [*expected, row["verdict"]]
    moved = rows_of(tables, "from passk_task_comparisons where moved")
    assert f"{len(moved)} tasks moved by more than chance does" in board.text
    for row in moved:
        assert board.row_of(row["task_id"])[1:4] == [
            f"{row['baseline_c']} of {row['baseline_n']}",
            f"{row['candidate_c']} of {row['candidate_n']}",
            row["direction"],
        ]


def test_a_task_has_its_numbers_over_runs(board: Board, tables: duckdb.DuckDBPyConnection) -> None:
    board.open("/task/")
    board.choose("Task", "sat-15")
    assert "sat-15 of puzzles At k = 4" in board.text
    rows = rows_of(tables, "from passk_task_metrics where task_id = 'sat-15' and k = 4")
    assert len(rows) == 4
    for row in rows:
        cells = board.row_of(row["run_id"], f"{row['c']} of {row['n']}")
        assert cells[4:8] == [
            percent(row["pass_at_k"]) + "%",
            limits(row, "pass_at_k"),
            percent(row["pass_hat_k"]) + "%",
            limits(row, "pass_hat_k"),
        ]


def test_the_heat_map_has_every_task_of_every_run(
    board: Board, tables: duckdb.DuckDBPyConnection
) -> None:
    board.open("/task/")
    cells = {label for label in board.marks if "passed: " in label}
    rows = rows_of(tables, "from passk_tasks")
    assert len(rows) == 4 * 48
    for row in rows:
        share = 100 * row["c"] / row["n"]
        (shown,) = [
            label for label in cells if label.startswith(f"{row['run_id']}; {row['task_id']}; ")
        ]
        assert abs(float(shown.split("passed: ")[1].rstrip("%")) - share) <= 0.5 + 1e-9


def test_gates_have_their_reasons(board: Board, tables: duckdb.DuckDBPyConnection) -> None:
    board.open("/gates/?suite=puzzles")
    rows = rows_of(tables, "from passk_gates")
    assert rows
    # Where a text is broken into lines, the page has no space.
    cells = {cell.replace(" ", "") for line in board.rows for cell in line}
    for row in rows:
        for column in ("gate", "result", "run_id", "rule", "reason"):
            assert row[column].replace(" ", "") in cells
    board.choose("Result", "fail")
    for row in rows:
        assert (row["run_id"] in board.text.split()) == (row["result"] == "fail")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/run/?run=nope", "There is no such run"),
        ("/compare/?candidate=nope", "No such pair is compared"),
        ("/task/?task=nope", "There is no such task"),
        ("/gates/?suite=nope", "No rule is left by these filters."),
    ],
)
def test_what_is_not_there_is_said(board: Board, path: str, said: str) -> None:
    board.open(path)
    assert said in board.text


def test_empty_tables_make_no_error(
    browser: Any, serve: Callable[[Callable[[Path, Path], None]], str]
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    board = Board(page, serve(without_rows))
    assert "No rule is declared" in board.open("/gates/").text
    assert "There is no such run" in board.open("/run/").text
    assert "No such pair is compared" in board.open("/compare/").text
    assert "There is no such task" in board.open("/task/").text
    assert "No run is there yet" in board.open("/overview/").text
    page.close()
