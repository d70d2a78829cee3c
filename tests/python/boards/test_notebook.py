"""The notebook: every cell runs, and as an app it shows what the tables hold, whatever is chosen.

Beside the demo, the served copy holds rows that it may not show where they aren't asked for: a
slice, and an older suite, with shares of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

import passk_py as pk
from passk_py.common.words import DASH, percent
from passk_py.warehouse.catalog import PUBLIC_TABLES

from ..ports import free_port
from .demo import DECOY_SHOWN, rows_of, with_decoys
from .serving import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .demo import Row

    Make = Callable[[Path, Path], None]

ROOT: Final = Path(__file__).resolve().parents[3]
NOTEBOOK: Final = ROOT / "docs" / "notebooks" / "reliability.py"
PYTHON: Final = os.environ.get("PASSK_NOTEBOOK")
STRANGE: Final = "_a_ *b* <i>c</i> &amp; `d` $e$ "
LONG: Final = STRANGE + "nightly-" * 24

pytestmark = [
    pytest.mark.skipif(PYTHON is None, reason="the notebook needs marimo: scripts/test_boards"),
    pytest.mark.timeout(600),
]


def environment() -> dict[str, str]:
    return {**os.environ, "DO_NOT_TRACK": "1", "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def copy(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bi")
    pk.publish(folder, database=demo)
    return folder / "passk.duckdb"


def fresh(copy: Path, served: Path) -> None:
    """Add the table that says how fresh a copy is."""
    with duckdb.connect(str(served)) as connection:
        connection.execute(f"attach '{copy}' as copied (read_only)")
        connection.execute(
            "create table passk_published as select * replace (3 as landed_since_build, "
            "timestamp '2026-01-02 03:04:05' as newest_loaded_at) "
            "from copied.main.passk_published"
        )


def decoyed(copy: Path, served: Path) -> None:
    with_decoys(copy, served)
    fresh(copy, served)


def empty(copy: Path, served: Path) -> None:
    with duckdb.connect(str(served)) as connection:
        connection.execute(f"attach '{copy}' as demo (read_only)")
        for table in PUBLIC_TABLES:
            connection.execute(f"create table {table.name} as from demo.main.{table.name} limit 0")


def bare(copy: Path, served: Path) -> None:
    """Leave out all tables that a copy may lack, and how fresh it is."""
    with duckdb.connect(str(served)) as connection:
        connection.execute(f"attach '{copy}' as demo (read_only)")
        for name in ("runs", "tasks", "task_metrics", "suite_metrics"):
            connection.execute(f"create table passk_{name} as from demo.main.passk_{name}")


def sized(runs: int, tasks: int) -> Make:
    """Make a copy of so many runs and tasks, with names that are long or look like markup."""

    def make(copy: Path, served: Path) -> None:
        with duckdb.connect(str(served)) as connection:
            connection.execute(f"attach '{copy}' as demo (read_only)")
            connection.execute(
                "create table known as select task_id, row_number() over (order by task_id) as place "
                "from demo.main.passk_tasks where run_id = 'walker-2026-03'"
            )
            for table in PUBLIC_TABLES:
                source = f"demo.main.{table.name}"
                columns = [row["column_name"] for row in rows_of(connection, f"describe {source}")]
                if table.name in ("passk_gates", "passk_comparisons") or "run_id" not in columns:
                    connection.execute(f"create table {table.name} as from {source} limit 0")
                    continue
                changed = [f"'{LONG}' || run as run_id"]
                changed += [f"'{LONG}' || (run % 10) as agent"] if "agent" in columns else []
                changed += [
                    f"{name} + run * interval 1 day as {name}"
                    for name in ("started_at", "last_started_at")
                    if name in columns
                ]
                rows = f"{source} as one cross join range({runs}) as all_runs(run)"
                where = "where run_id = 'walker-2026-03'"
                if "task_id" in columns:
                    changed.append(f"'{STRANGE}' || one.task_id || ' ' || again as task_id")
                    rows += " inner join known on one.task_id = known.task_id"
                    rows += f" cross join range({-(-tasks // 48)}) as all_tasks(again)"
                    where += f" and known.place + 48 * again <= {tasks}"
                connection.execute(
                    f"create table {table.name} as "
                    f"select one.* replace ({', '.join(changed)}) from {rows} {where}"
                )

    return make


def published(copy: Path, served: Path) -> None:
    shutil.copy(copy, served)


@pytest.mark.parametrize("make", [published, decoyed, empty, bare, sized(2, 5)])
def test_every_cell_runs(copy: Path, tmp_path: Path, make: Make) -> None:
    make(copy, tmp_path / "passk.duckdb")
    page = tmp_path / "page.html"
    # Beside a notebook, marimo writes what it remembers of an export.
    for path in (NOTEBOOK, NOTEBOOK.with_suffix(".css")):
        shutil.copy(path, tmp_path)
    subprocess.run(
        [
            str(PYTHON), "-m", "marimo", "export", "html", str(tmp_path / NOTEBOOK.name), "-o", str(page),
            "--no-include-code",
            "--", "--database", str(tmp_path / "passk.duckdb"),
        ],
        env=environment(),
        check=True,
    )  # fmt: skip
    assert ("Nothing to show" in page.read_text("utf-8")) == (make is empty)


class App:
    """The notebook as an app, in a browser."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address

    def open(self, path: str = "", last: str = "The same in Python") -> App:
        self.page.goto(self.address + path)
        self.page.get_by_role("heading", name=last).wait_for()
        return self

    def choose(self, name: str, value: str, code: str) -> None:
        """Choose a value, and wait for the last cell, which has every choice."""
        self.page.get_by_label(name, exact=True).select_option(value)
        self.page.locator("pre", has_text=code).wait_for()

    def chosen(self, name: str) -> str:
        return str(self.page.get_by_label(name, exact=True).input_value())

    @property
    def tiles(self) -> list[list[str]]:
        return [
            [part.inner_text() for part in tile.locator("> *").all()]
            for tile in self.page.locator(".tile").all()
        ]

    def section(self, name: str) -> Any:
        return self.page.locator(".passk", has=self.page.get_by_role("heading", name=name))

    def rows(self, head: str) -> list[list[str]]:
        """Give the cells of the tables whose first head this is."""
        table = self.page.locator(
            ".passk-view table", has=self.page.locator(f"th >> text='{head}'")
        )
        return [
            [cell.inner_text() for cell in row.locator("td").all()]
            for row in table.first.locator("tbody tr").all()
        ]

    @property
    def tasks(self) -> list[list[str]]:
        rows = self.page.locator("marimo-table tbody tr").all()
        return [[cell.inner_text().strip() for cell in row.locator("td").all()][1:] for row in rows]


@pytest.fixture(scope="module")
def serve(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Make], str]]:
    servers: list[subprocess.Popen[bytes]] = []

    def start(make: Make) -> str:
        folder = tmp_path_factory.mktemp("served")
        make(copy, folder / "passk.duckdb")
        port = free_port()
        with (folder / "log.txt").open("wb") as output:
            servers.append(
                subprocess.Popen(
                    [
                        str(PYTHON), "-m", "marimo", "run", str(NOTEBOOK), "--headless",
                        "--no-token", "--port", str(port),
                        "--", "--database", str(folder / "passk.duckdb"),
                    ],
                    env=environment(),
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            )  # fmt: skip
        address = f"http://localhost:{port}/"
        wait_for(address, servers[-1], folder / "log.txt")
        return address

    yield start
    for server in servers:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="module")
def served(serve: Callable[[Make], str]) -> str:
    return serve(decoyed)


@pytest.fixture(scope="module")
def large(serve: Callable[[Make], str]) -> str:
    return serve(sized(40, 5_000))


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., App]]:
    contexts = []
    outside: list[str] = []
    mistakes: list[str] = []

    def go(address: str, width: int = 1280, **more: Any) -> App:
        context = browser.new_context(viewport={"width": width, "height": 900}, **more)
        context.set_default_timeout(90_000)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "request",
            lambda request: (
                outside.append(request.url)
                if not request.url.startswith((address, "data:", "blob:"))
                else None
            ),
        )
        page.on("pageerror", lambda error: mistakes.append(str(error)))
        return App(page, address)

    yield go
    for context in contexts:
        context.close()
    assert not outside
    assert not mistakes


@pytest.fixture
def app(visit: Callable[..., App], served: str) -> App:
    return visit(served)


def limits(row: Row, metric: str) -> str:
    if row[f"{metric}_lower"] is None:
        return DASH
    return f"{percent(row[f'{metric}_lower'])} to {percent(row[f'{metric}_upper'])}"


def shown(value: float | None) -> str:
    return DASH if value is None else f"{percent(value)}%"


def check_run(app: App, tables: duckdb.DuckDBPyConnection, run: str, k: int) -> None:
    (row,) = rows_of(
        tables,
        f"from passk_suite_metrics where slice_name = 'all' and run_id = '{run}' and k = {k}",
    )
    at, hat, reading = app.tiles
    for tile, metric, symbol in ((at, "pass_at_k", "pass@"), (hat, "pass_hat_k", "pass^")):
        assert tile[0].startswith(f"{symbol}{k}: ")
        assert tile[1] == shown(row[metric])
        assert tile[2] == (row["null_reason"] or f"{limits(row, metric)}, for tasks like these")
    assert reading[1] == (row["reading"] or DASH)
    assert app.rows("pass@k")[0][:7] == [
        run,
        str(k),
        shown(row["pass_at_k"]),
        limits(row, "pass_at_k"),
        shown(row["pass_hat_k"]),
        limits(row, "pass_hat_k"),
        row["reading"] or DASH,
    ]
    tasks = rows_of(
        tables,
        "from passk_task_metrics inner join passk_tasks using (suite, run_id, task_id) "
        f"select task_id, mend_rank, task_class, passk_task_metrics.* where run_id = '{run}' "
        f"and passk_task_metrics.k = {k} order by mend_rank nulls last, task_id limit 15",
    )
    assert len(tasks) == 15
    for cells, task in zip(app.tasks, tasks, strict=True):
        assert cells[:9] == [
            task["task_id"],
            DASH if task["mend_rank"] is None else str(task["mend_rank"]),
            task["task_class"],
            str(task["c"]),
            str(task["n"]),
            shown(task["pass_at_k"]),
            limits(task, "pass_at_k"),
            shown(task["pass_hat_k"]),
            limits(task, "pass_hat_k"),
        ]


def test_each_filter_shows_its_numbers_and_keeps_the_others(
    app: App, tables: duckdb.DuckDBPyConnection
) -> None:
    app.open()
    check_run(app, tables, app.chosen("run"), 4)
    app.choose("k", "8", "k=8)")
    app.choose("run", "walker-2026-03", "run_id='walker-2026-03'")
    check_run(app, tables, "walker-2026-03", 8)
    app.choose("baseline", "tracer-2026-03", "compare(attempts, 'tracer-2026-03'")
    assert [row[0] for row in app.rows("pass@k")] == ["walker-2026-03", "tracer-2026-03"]
    app.choose("run", "scout-2026-02", "run_id='scout-2026-02'")
    assert app.chosen("baseline") == "tracer-2026-03"
    check_run(app, tables, "scout-2026-02", 8)
    app.choose("suite", "older", "suite='older'")
    assert (app.chosen("run"), app.chosen("k")) == ("walker-older", "8")
    assert app.tiles[0][1] == f"{DECOY_SHOWN}%"
    app.choose("suite", "puzzles", "suite='puzzles'")
    # The choice stands in the address, too.
    assert "k=8" in app.page.url
    app.open("?run=tracer-2026-03&k=2")
    check_run(app, tables, "tracer-2026-03", 2)


def test_no_slice_and_no_other_suite_is_shown_unasked(app: App) -> None:
    app.open()
    assert DECOY_SHOWN not in app.page.inner_text("body")


def test_a_k_beyond_the_attempts_is_a_dash_with_the_reason(
    app: App, tables: duckdb.DuckDBPyConnection
) -> None:
    app.open("?run=walker-2026-03&k=100")
    check_run(app, tables, "walker-2026-03", 100)
    assert [tile[1] for tile in app.tiles] == [DASH] * 3
    assert "n < 100 in 48 of 48 tasks" in app.tiles[0][2]
    assert app.tasks[0][10].endswith("< k = 100")


def test_a_pair_has_its_differences(app: App, tables: duckdb.DuckDBPyConnection) -> None:
    app.open("?run=scout-2026-03&k=8")
    assert app.chosen("baseline") == "scout-2026-02"
    rows = rows_of(tables, "from passk_comparisons where k = 8 order by metric")
    for cells, row in zip(app.rows("difference for these tasks"), rows, strict=True):
        hides = " (hidden by pass@1)" if row["hidden_regression"] else ""
        low, high = (100 * row[f"difference_suite_{end}"] for end in ("lower", "upper"))
        assert cells == [
            "scout-2026-03",
            "scout-2026-02",
            f"{'pass@' if row['metric'] == 'pass_at_k' else 'pass^'}8",
            shown(row["baseline"]),
            shown(row["candidate"]),
            f"{100 * row['difference']:+.1f} ({low:+.1f} to {high:+.1f})",
            f"{100 * row['difference_lower']:+.1f} to {100 * row['difference_upper']:+.1f}",
            f"{row['verdict']}{hides}",
        ]
    app.choose("baseline", "walker-2026-03", "compare(attempts, 'walker-2026-03'")
    assert "did not compare scout-2026-03 with walker-2026-03" in app.page.inner_text("body")
    app.choose("baseline", "--", "pk.view(metrics)")
    app.page.get_by_text(f"{DASH} No baseline is chosen.").wait_for()
    # Without a baseline there is no comparison to write.
    assert "compare(" not in app.page.locator("pre").last.inner_text()


def test_the_curves_are_drawn_with_their_limits(
    app: App, tables: duckdb.DuckDBPyConnection
) -> None:
    app.open("?run=scout-2026-03")
    labels = app.page.locator("figure svg [aria-label]").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    )
    for row in rows_of(
        tables,
        "from passk_suite_metrics where slice_name = 'all' and pass_at_k is not null "
        "and run_id in ('scout-2026-03', 'scout-2026-02')",
    ):
        for metric, symbol in (("pass_at_k", "pass@"), ("pass_hat_k", "pass^")):
            said = f"{symbol}{row['k']} {shown(row[metric])} ({limits(row, metric)})"
            assert f"{row['run_id']}: {said}" in labels
    assert app.page.locator("figure svg [stroke-dasharray='5,3']").count() == 2


def test_tasks_can_be_searched_and_sorted_and_open_their_attempts(
    app: App, tables: duckdb.DuckDBPyConnection
) -> None:
    app.open("?run=walker-2026-03")
    (task, *others) = rows_of(
        tables,
        "from passk_tasks where run_id = 'walker-2026-03' and task_id like 'sat-1%' order by task_id",
    )
    app.page.get_by_placeholder("Search").fill("sat-1")
    app.page.wait_for_function(
        "rows => document.querySelector('marimo-table').shadowRoot"
        ".querySelectorAll('tbody tr').length === rows",
        arg=len(others) + 1,
    )
    assert sorted(cells[0] for cells in app.tasks) == [
        task["task_id"],
        *(one["task_id"] for one in others),
    ]
    app.page.locator("marimo-table tbody tr", has_text=task["task_id"]).get_by_role(
        "checkbox"
    ).click()
    app.page.get_by_role("heading", name=f"Attempts of {task['task_id']}").wait_for()
    attempts = rows_of(
        tables,
        "from passk_attempts where run_id = 'walker-2026-03' "
        f"and task_id = '{task['task_id']}' order by attempt",
    )
    rows = app.page.locator("#attempts tbody tr").all()
    assert [[cell.inner_text() for cell in row.locator("td").all()][:3] for row in rows] == [
        [str(one["attempt"]), one["outcome"], one["outcome_reason"] or DASH] for one in attempts
    ]


def test_gates_have_their_reasons(app: App, tables: duckdb.DuckDBPyConnection) -> None:
    app.open()
    rows = rows_of(tables, "from passk_gates where suite = 'puzzles' order by gate")
    assert [cells[:4] for cells in app.rows("gate")] == [
        [row["gate"], row["result"], row["run_id"], row["rule"]] for row in rows
    ]
    text = app.page.inner_text("body")
    assert all(row["reason"] in text for row in rows)


def test_it_says_how_fresh_the_copy_is(app: App, copy: Path) -> None:
    app.open()
    with duckdb.connect(str(copy), read_only=True) as connection:
        (row,) = rows_of(connection, "from passk_published")
    said = app.page.locator("#fresh").inner_text()
    assert row["copy_id"] in said
    assert f"published {row['published_at']:%Y-%m-%d %H:%M} UTC (0 hours ago)" in said
    assert "loaded 2026-01-02 03:04 UTC" in said
    assert "3 attempts landed after the build" in said


def test_an_empty_copy_says_what_to_do(
    visit: Callable[..., App], serve: Callable[[Make], str]
) -> None:
    app = visit(serve(empty), 390).open(last="Nothing to show")
    assert "has no run" in app.page.inner_text("body")


def test_a_bare_copy_says_what_it_lacks(
    visit: Callable[..., App], serve: Callable[[Make], str]
) -> None:
    app = visit(serve(bare)).open()
    text = app.page.inner_text("body")
    for lacking in ("passk_comparisons", "passk_gates"):
        assert f"{DASH} The copy was published without {lacking}." in text
    assert f"{DASH} There are no diagnostics." in text
    assert "how fresh it is, is not known" in text
    app.page.locator("marimo-table tbody").get_by_role("checkbox").first.click()
    app.page.get_by_text("it was published without passk_attempts").wait_for()


def check_widths(app: App, width: int) -> None:
    assert app.page.evaluate("document.documentElement.scrollWidth") <= width
    wider = app.page.evaluate(
        """() => [...document.querySelectorAll('.passk, .passk *')].filter(one => {
            if (one.getBoundingClientRect().right <= innerWidth + 1) return false;
            for (let above = one.parentElement; above !== document.body; above = above.parentElement)
                if (above.matches('.scroll')) return false;
            return true;
        }).map(one => one.tagName + ' ' + one.className)"""
    )
    assert wider == []


@pytest.mark.parametrize("width", [390, 800, 1280, 1920])
def test_nothing_is_wider_than_the_screen(
    visit: Callable[..., App], served: str, large: str, width: int
) -> None:
    for address in (served, large):
        app = visit(address, width).open()
        app.page.locator("marimo-table tbody").get_by_role("checkbox").first.click()
        app.page.locator("#attempts").wait_for()
        check_widths(app, width)


@pytest.mark.parametrize(("runs", "tasks"), [(2, 5), (40, 5_000)])
def test_names_are_shown_letter_for_letter(
    visit: Callable[..., App], serve: Callable[[Make], str], large: str, runs: int, tasks: int
) -> None:
    app = visit(large if runs == 40 else serve(sized(runs, tasks))).open()
    name = f"{LONG}{runs - 1}"
    assert app.page.get_by_role("heading", name=f"{name} at k = 4").is_visible()
    assert app.rows("pass@k")[0][0] == name
    assert app.page.get_by_text(f"{tasks:,} rows").is_visible()
    assert app.tasks[0][0].startswith(STRANGE.strip())
    assert f"{DASH} No gate judges this suite" in app.page.inner_text("body")
    app.choose("baseline", f"{LONG}0", f"compare(attempts, {f'{LONG}0'!r}")
    assert len(app.rows("pass@k")) == 2


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious(
    visit: Callable[..., App], served: str, mode: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    app = visit(served, width, color_scheme=mode).open()
    # The page's own part: the table of tasks and the filters are marimo's.
    violations = axe.run(app.page, ".passk").response["violations"]
    found = {
        one["id"]: [node["html"][:120] for node in one["nodes"][:3]]
        for one in violations
        if one["impact"] in ("serious", "critical")
    }
    assert found == {}
