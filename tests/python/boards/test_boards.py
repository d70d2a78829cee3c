"""The boards in a browser: what they show is what the tables hold, whatever filter is set.

Beside the demo, the served database holds rows that no board may draw where it isn't asked for
them: a slice, and an older suite, with shares of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.common.words import percent

from .board_page import Board
from .demo import DECOY_SHOWN, rows_of, without_rows
from .serving import NEEDS_DCT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import duckdb

    from .demo import Row

pytestmark = [NEEDS_DCT, pytest.mark.timeout(900)]


def limits(row: Row, metric: str) -> str:
    return f"{percent(row[f'{metric}_lower'])} to {percent(row[f'{metric}_upper'])}"


def suite_rows(tables: duckdb.DuckDBPyConnection, k: int) -> dict[str, Row]:
    sql = f"from passk_suite_metrics where slice_name = 'all' and k = {k}"
    return {row["run_id"]: row for row in rows_of(tables, sql)}


LATEST: Final = ("scout-2026-03", "tracer-2026-03", "walker-2026-03")


def check_overview(board: Board, tables: duckdb.DuckDBPyConnection, k: int) -> None:
    assert "puzzles" in board.text
    assert f"The latest run of each agent at k = {k}" in board.text
    for run, row in suite_rows(tables, k).items():
        # A table of ranks has older runs too, with fewer columns.
        shown = [cells for cells in board.rows if cells[0] == run and len(cells) > 5]
        if run not in LATEST:
            assert not shown
            continue
        first = suite_rows(tables, 1)[run]
        assert shown[0] == [
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


def test_the_overview_ranks_all_runs(board: Board, tables: duckdb.DuckDBPyConnection) -> None:
    board.open("/overview/?k=8")
    rows = rows_of(
        tables, "from passk_rankings where metric = 'pass_hat_k' and k = 8 order by estimated_rank"
    )
    assert len(rows) == 4
    shown = [cells for cells in board.rows if cells[-1] in {"yes", "no"}]
    for cells, row in zip(shown, rows, strict=True):
        low, high = row["rank_lower"], row["rank_upper"]
        assert cells == [
            row["run_id"],
            percent(row["estimate"]) + "%",
            f"{percent(row['lower'])} to {percent(row['upper'])}%",
            (f"{low} to {high}" if low < high else str(low)) + " of 4",
            "yes" if row["may_be_best"] else "no",
        ]


def test_the_overview_shows_runs_that_none_beats(board: Board) -> None:
    board.open("/overview/?suite=older&k=4")
    assert board.row_of("walker-older", "cost, $")[2:] == [
        "53.0%", "41.0 to 66.0%", "0.31", "0.28", "0.35", "None beats it.",
    ]  # fmt: skip
    assert "pass^4 and the mean of an attempt: cost, $" in board.text
    board.open("/overview/?k=4")
    assert "Reliability and cost" not in board.text


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


@pytest.mark.parametrize("name", ["overview", "run", "grader", "compare", "task"])
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


def test_a_run_has_its_causes_and_costs(board: Board) -> None:
    board.open("/run/?run=walker-older&suite=older&k=4")
    assert board.row_of("limit")[1:] == ["21", "65.0%", "55.0 to 75.0%"]
    assert board.row_of("user simulator")[1:] == ["12", "35.0%", "25.0 to 45.0%"]
    assert board.row_of("cost, $", "0.31")[1:7] == ["0.31", "0.76", "0.57", "0.44", "0.71", "40.1%"]
    assert ["Costs"] in board.rows
    assert board.row_of("cost, $", "0.48")[1:] == ["0.48", "0.39", "0.62", "1,230", "988", "—", "—"]
    assert "8; solved; solved: 0.52" in board.marks
    assert "8; always right; always right: 2,350" in board.marks
    board.open("/run/?run=walker-2026-03&k=4")
    assert ["Costs"] not in board.rows
    assert "Where reliability is lost" not in board.text


def test_a_run_has_its_details(board: Board) -> None:
    board.open("/details/?run=walker-older&suite=older&k=4")
    assert board.row_of("at least 3 of 4")[1:] == ["77.0%", "65.0 to 86.0%", "—"]
    assert board.row_of("0.5", "95.0%")[1:] == [
        "95.0%", "85.0 to 99.0%", "63.0%", "53.0 to 67.0%", "some have no score",
    ]  # fmt: skip
    assert board.row_of("0.8", "91.0%")[2] == "81.0 to 95.0%"
    assert board.row_of("4", "37.3")[2:] == ["12.5", "—", "one limit"]
    assert board.row_of("2", "3", "8")[3:] == ["90.0%", "80.0 to 100%"]
    assert board.row_of("4", "5", "8")[3:] == ["80.0%", "70.0 to 100%"]


def test_slices_are_shown_in_a_table_of_their_own(
    board: Board, tables: duckdb.DuckDBPyConnection
) -> None:
    run = "walker-2026-03"
    board.open(f"/details/?suite=puzzles&run={run}&k=4")
    (tasks,) = rows_of(tables, f"select tasks from passk_runs where run_id = '{run}'")
    row = board.row_of("kind = sat")
    share, bounds = f"{DECOY_SHOWN}%", f"{DECOY_SHOWN} to {DECOY_SHOWN}%"
    assert row[1:] == [str(tasks["tasks"]), share, bounds, share, bounds, "—"]
    others = [shown for shown in board.rows if shown != row]
    assert DECOY_SHOWN not in re.findall(r"[\d.]+", str(others))
    assert "walker-older" not in board.text


def test_what_no_build_was_asked_for_is_said_with_the_var(board: Board) -> None:
    board.open("/details/?run=walker-2026-03&k=4")
    for var in ("passk_m_of_k", "passk_score_thresholds", "passk_difficulty"):
        assert f"Set the var {var}" in board.text or f"set the var {var}" in board.text
    board.open("/grader/?run=walker-2026-03&k=4")
    assert "passk load --labels labels.csv" in board.text
    assert "passk load --verdicts verdicts.csv" in board.text


def test_a_grader_has_its_errors(board: Board) -> None:
    board.open("/grader/?run=walker-older&suite=older&k=4")
    for expected in ("96.0%", "93.0 to 98.0%", "240", "too few labels of failures", "not known"):
        assert expected in board.text
    assert board.row_of("pass^4")[1:] == ["53.0%", "61.0%", "50.0 to 72.0%", "—"]
    assert board.row_of("grader", "model-b")[2:] == [
        "90", "94.0%", "88.0 to 97.0%", "27.0%", "12.0 to 45.0%", "—",
    ]  # fmt: skip
    board.open("/grader/?run=walker-older&suite=older&k=8")
    assert board.row_of("pass^8")[1:] == ["31.0%", "42.0%", "28.0 to 58.0%", "—"]


def test_an_agent_has_its_trend(board: Board) -> None:
    board.open("/overview/?suite=older&k=4")
    assert board.row_of("local-search", "6")[1:4] == [
        "6",
        "falling",
        "It falls, as the board says.",
    ]
    board.open("/overview/?k=4")
    assert "From run to run" not in board.text


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
        ("/details/?run=nope", "There is no such run"),
        ("/grader/?run=nope", "There is no such run"),
        ("/compare/?candidate=nope", "No such pair is compared"),
        ("/task/?task=nope", "There is no such task"),
        ("/gates/?suite=nope", "No rule is left by these filters."),
    ],
)
def test_what_is_not_there_is_said(board: Board, path: str, said: str) -> None:
    board.open(path)
    assert said in board.text


def test_empty_tables_make_no_error(
    browser: Any, serve_boards: Callable[..., str], demo: Path, tmp_path: Path
) -> None:
    without_rows(demo, tmp_path / "empty.duckdb")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    board = Board(page, serve_boards("--database", tmp_path / "empty.duckdb"))
    assert "No rule is declared" in board.open("/gates/").text
    for name in ("run", "details", "grader"):
        assert "There is no such run" in board.open(f"/{name}/").text
    assert "No such pair is compared" in board.open("/compare/").text
    assert "There is no such task" in board.open("/task/").text
    assert "No run is there yet" in board.open("/overview/").text
    page.close()
