"""The dashboards of ``passk superset`` in a browser: they show what the tables hold.

Superset runs in an environment of its own: ``PASSK_SUPERSET`` is its command. It asks the demo in
DuckDB and, where its programs are installed, in Postgres.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

import passk_py as pk
from passk_py.warehouse.catalog import PUBLIC_TABLES

from ..engines.parity import copy_table
from ..ports import free_port
from ..postgres_server import Server, postgres_programs
from .demo import DECOY_SHOWN, rows_of, with_decoys
from .serving import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .demo import Row

ROOT: Final = Path(__file__).resolve().parents[3]
SUPERSET: Final = os.environ.get("PASSK_SUPERSET")
LATEST: Final = ("scout-2026-03", "tracer-2026-03", "walker-2026-03")
SECONDS: Final = 60
PASSWORD: Final = "only of this test"  # noqa: S105 - of a server that lives for minutes

pytestmark = [
    pytest.mark.skipif(SUPERSET is None, reason="no Superset: see scripts/test_boards"),
    pytest.mark.timeout(900),
]

CONFIG: Final = """
SECRET_KEY = "a key of this test and of nothing else"
SQLALCHEMY_DATABASE_URI = "sqlite:///{home}/superset.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
"""


class Superset:
    """A Superset with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        config = home / "superset_config.py"
        config.write_text(CONFIG.format(home=home), encoding="utf-8")
        self.env = {
            **os.environ,
            "SUPERSET_CONFIG_PATH": str(config),
            "SUPERSET_HOME": str(home),
            "FLASK_APP": "superset",
        }
        self.todo = [
            ["db", "upgrade"],
            [
                "fab", "create-admin", "--username", "admin", "--password", PASSWORD,
                "--firstname", "a", "--lastname", "b", "--email", "a@example.org",
            ],
            ["init"],
        ]  # fmt: skip

    def take(self, name: str, uri: str, schema: str | None = None) -> None:
        """Import a bundle as the docs say."""
        folder = self.home / f"bundle of {name}"
        pk.superset_bundle(folder, uri=uri, schema=schema, name=name)
        self.todo.append(["import-directory", "--overwrite", str(folder)])

    def set_up(self) -> None:
        """Run all commands in one process, because each of its own takes half a minute."""
        python = Path(str(SUPERSET)).with_name("python")
        done = subprocess.run(
            [str(python), "-c", COMMANDS, json.dumps(self.todo)],
            env=self.env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-4000:]

    def serve(self) -> tuple[str, subprocess.Popen[bytes]]:
        port = free_port()
        log = self.home / "log.txt"
        with log.open("wb") as output:
            server = subprocess.Popen(
                [str(SUPERSET), "run", "--port", str(port), "--with-threads"],
                env=self.env, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/health", server, log)
        return address, server


COMMANDS: Final = """
import json, sys
from flask.cli import ScriptInfo
from superset.app import create_app
from superset.cli.main import superset

app = create_app()
for words in json.loads(sys.argv[1]):
    made = ScriptInfo(create_app=lambda: app)
    superset.main(words, "superset", standalone_mode=False, obj=made)
"""


@pytest.fixture(scope="module")
def served(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, and rows that no dashboard may draw unasked."""
    path = tmp_path_factory.mktemp("served") / "passk.duckdb"
    with_decoys(demo, path)
    return path


@pytest.fixture(scope="module")
def postgres(served: Path) -> Iterator[str | None]:
    """The same tables in a Postgres of its own, in a schema of their own."""
    programs = postgres_programs()
    if programs is None:
        yield None
        return
    server = Server(programs)
    try:
        database = server.database
        database.ask("create schema reliability")
        with duckdb.connect(str(served), read_only=True) as connection:
            for table in PUBLIC_TABLES:
                to = f"reliability.{table.name}"
                copy_table(connection, table.name, database, to, served.parent, maps="text")
        yield f"postgresql+psycopg2://{database.user}@{database.host}:{database.port}/postgres"
    finally:
        server.stop()


@pytest.fixture(scope="module")
def tables(demo: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(demo), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def looped(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of somebody's own, with the demo's log in it, and its published copy."""
    folder = tmp_path_factory.mktemp("looped")
    with duckdb.connect(str(demo), read_only=True) as connection:
        connection.execute(
            "copy (select run_id, suite, agent, task_id, attempt, outcome from passk_attempts) "
            f"to '{folder / 'log.parquet'}'"
        )
        connection.execute(
            "copy (select 'another' as run_id, suite, 'scout' as agent, task_id, attempt, "
            "case when attempt % 3 = 0 then 'failed' else 'passed' end as outcome "
            f"from passk_attempts where run_id = 'scout-2026-03') to '{folder / 'more.parquet'}'"
        )
    passk(folder, "load", "log.parquet")
    passk(folder, "build")
    passk(folder, "publish", "-o", "bi")
    return folder


def passk(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("passk")), *words],
        cwd=folder, capture_output=True, text=True, check=False,
        env={key: value for key, value in os.environ.items() if not key.startswith("PASSK_")},
    )  # fmt: skip
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])


@pytest.fixture(scope="module")
def site(
    served: Path, postgres: str | None, looped: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Superset with the dashboards over DuckDB, over Postgres, and over the copy of a loop."""
    superset = Superset(tmp_path_factory.mktemp("superset") / "home")
    superset.take("duckdb", f"duckdb:///{served}", "main")
    superset.take("looped", f"duckdb:///{looped / 'bi' / 'passk.duckdb'}")
    if postgres is not None:
        superset.take("postgres", postgres, "reliability")
    superset.set_up()
    address, server = superset.serve()
    yield address
    server.terminate()
    server.wait(30)


class Page:
    """A dashboard in a browser, and what it was told."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.told: list[tuple[str, list[Row]]] = []
        self.refused: list[tuple[int, str]] = []
        self.pending: set[Any] = set()
        page.on("request", self._asked)
        page.on("requestfinished", self._answered)
        page.on("requestfailed", self._answered)
        page.on("response", self._note)

    def _asked(self, request: Any) -> None:
        self.pending.add(request)

    def _answered(self, request: Any) -> None:
        self.pending.discard(request)

    def _note(self, response: Any) -> None:
        if response.status >= 400:
            self.refused.append((response.status, response.url))
        elif "/api/v1/chart/data" in response.url:
            asked = json.loads(response.request.post_data)["form_data"]
            if "slice_id" in asked and asked.get("viz_type") != "filter_select":
                name = self.names.get(asked["slice_id"], "?")
                self.told.append((name, response.json()["result"][0]["data"]))

    def log_in(self) -> None:
        self.page.goto(f"{self.address}/login/")
        self.page.get_by_label("Username").fill("admin")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").last.click()
        self.page.wait_for_url(re.compile("welcome|superset"))

    def open(self, slug: str) -> Page:
        found = self.page.request.get(f"{self.address}/api/v1/dashboard/{slug}/charts").json()
        self.names = {chart["id"]: chart["slice_name"] for chart in found["result"]}
        self.told.clear()
        self.pending.clear()
        self.page.goto(f"{self.address}/superset/dashboard/{slug}/")
        self.settle()
        return self

    def settle(self) -> None:
        """Wait until nothing has been asked for two seconds: each chart has its answer."""
        end = time.monotonic() + 120
        quiet = 0
        while quiet < 8:
            assert time.monotonic() < end, [request.url for request in self.pending]
            self.page.wait_for_timeout(250)
            quiet = 0 if self.pending else quiet + 1

    def choose(self, choice: str, value: str) -> None:
        control = self.page.locator("form").filter(
            has=self.page.get_by_role("heading", name=choice, exact=True)
        )
        control.locator(".ant-select-selector").click()
        field = control.get_by_role("combobox")
        field.fill(value)
        self.page.locator(".ant-select-item-option:visible").get_by_text(
            value, exact=True
        ).first.click()
        self.page.get_by_role("button", name="Apply").click()
        self.settle()

    def rows(self, name: str) -> list[Row]:
        """What a chart was told last."""
        return [rows for chart, rows in self.told if chart == name][-1]

    @property
    def text(self) -> str:
        return " ".join(self.page.inner_text("body").split())

    def table(self, name: str) -> list[list[str]]:
        """The cells of a table as they are shown."""
        chart = self.page.locator(f"[data-test-chart-name='{name}']")
        return [
            [" ".join(cell.split()) for cell in row.locator("td").all_inner_texts()]
            for row in chart.locator("tbody tr").all()
        ]


@pytest.fixture(scope="module")
def visitor(browser: Any, site: str) -> Iterator[Page]:
    tab = browser.new_page(viewport={"width": 1600, "height": 2400})
    page = Page(tab, site)
    page.log_in()
    yield page
    tab.close()


@pytest.fixture
def page(visitor: Page) -> Iterator[Page]:
    visitor.refused.clear()
    yield visitor
    assert not visitor.refused


@pytest.fixture(params=["duckdb", "postgres"])
def engine(request: pytest.FixtureRequest, postgres: str | None) -> str:
    if request.param == "postgres" and postgres is None:
        pytest.skip("no Postgres: see scripts/install_programs")
    return str(request.param)


def close(told: object, held: object) -> bool:
    if isinstance(told, float | int) and isinstance(held, float | int):
        return abs(told - held) <= 1e-12 * max(abs(told), abs(held))
    return told == held


def check(told: list[Row], held: list[Row]) -> None:
    assert held
    assert len(told) == len(held)
    for left, right in zip(told, held, strict=True):
        for name, value in right.items():
            assert close(left[name], value), (name, left, right)


def ordered(rows: list[Row], *keys: str) -> list[Row]:
    return sorted(rows, key=lambda row: tuple(str(row[key]) for key in keys))


def share(value: float | None) -> str:
    return "N/A" if value is None else f"{100 * value:.1f}%"


def check_overview(page: Page, tables: duckdb.DuckDBPyConnection, k: int) -> None:
    held = rows_of(
        tables,
        f"from passk_suite_metrics where slice_name = 'all' and k = {k} and run_id in {LATEST} "
        "order by run_id",
    )
    assert page.table("The latest run of each agent") == [
        [
            row["run_id"],
            row["agent"],
            str(row["k"]),
            *(
                share(row[f"{metric}{limit}"])
                for metric in ("pass_at_k", "pass_hat_k")
                for limit in ("", "_lower", "_upper")
            ),
            row["reading"] or row["null_reason"],
            str(row["total_tasks"]),
            str(row["attempts"]),
            str(row["excluded"]),
        ]
        for row in held
    ]


def test_the_overview_has_the_latest_runs(
    page: Page, engine: str, tables: duckdb.DuckDBPyConnection
) -> None:
    page.open(f"{engine}-overview")
    check_overview(page, tables, 4)
    assert DECOY_SHOWN not in page.text
    for name, column in (("pass@k", "pass_at_k"), ("pass^k", "pass_hat_k")):
        told = {row["k"]: row for row in page.rows(f"{name} over k")}
        held = rows_of(
            tables,
            f"select k, run_id, {column} as value from passk_suite_metrics "
            f"where slice_name = 'all' and {column} is not null and run_id in {LATEST}",
        )
        assert len(held) == len(LATEST) * len(told)
        for row in held:
            assert close(told[row["k"]][row["run_id"]], row["value"])


def test_k_can_be_chosen(page: Page, engine: str, tables: duckdb.DuckDBPyConnection) -> None:
    page.open(f"{engine}-overview").choose("k", "8")
    check_overview(page, tables, 8)
    page.choose("k", "100")
    check_overview(page, tables, 100)
    assert "n < 100 in 48 of 48 tasks" in page.text


def test_another_suite_can_be_chosen(page: Page, engine: str) -> None:
    page.open(f"{engine}-overview").choose("Suite", "older")
    (row,) = page.table("The latest run of each agent")
    assert row[0] == "walker-older"
    assert row[3] == f"{DECOY_SHOWN}%"


def test_a_run_has_its_numbers(page: Page, engine: str, tables: duckdb.DuckDBPyConnection) -> None:
    page.open(f"{engine}-run")
    for run in ("scout-2026-03", "tracer-2026-03"):
        if run != "scout-2026-03":
            page.choose("Run", run)
        known = rows_of(
            tables,
            f"""
            select k, pass_at_k as "pass@k", pass_at_k_lower as "pass@k from",
              pass_at_k_upper as "pass@k to", pass_hat_k as "pass^k",
              pass_hat_k_lower as "pass^k from", pass_hat_k_upper as "pass^k to"
            from passk_suite_metrics
            where slice_name = 'all' and run_id = '{run}' and pass_at_k is not null order by k
            """,
        )
        check(page.rows("pass@k and pass^k over k"), known)
        gap = rows_of(
            tables,
            f"""
            select k, delta_k, delta_k_lower as "delta_k from", delta_k_upper as "delta_k to"
            from passk_suite_metrics
            where slice_name = 'all' and run_id = '{run}' and delta_k is not null order by k
            """,
        )
        check(page.rows("delta_k over k"), gap)
        classes = rows_of(
            tables,
            f"select task_class, count(*) as tasks from passk_tasks where run_id = '{run}' "
            "group by 1",
        )
        check(ordered(page.rows("Tasks by class"), "task_class"), ordered(classes, "task_class"))
        costly = rows_of(
            tables,
            "select task_id, task_class, c, n, k, pass_at_k, pass_hat_k, expected_gain "
            f"from passk_tasks where run_id = '{run}' and c < n "
            "order by mend_rank",
        )
        check(
            ordered(page.rows("What to mend first"), "task_id"),
            ordered(costly, "task_id"),
        )
        told = page.rows("Can the log be trusted?")
        held = rows_of(
            tables,
            f"select diagnostic, verdict, finding from passk_diagnostics where run_id = '{run}'",
        )
        check(ordered(told, "diagnostic"), ordered(held, "diagnostic"))
        (row,) = page.table("At this k")
        (at_k,) = rows_of(
            tables,
            f"from passk_suite_metrics where slice_name = 'all' and run_id = '{run}' and k = 4",
        )
        assert row[:8] == [
            "4",
            *(
                share(at_k[f"{metric}{limit}"])
                for metric in ("pass_at_k", "pass_hat_k")
                for limit in ("", "_lower", "_upper")
            ),
            at_k["reading"],
        ]


def test_a_pair_has_its_differences(
    page: Page, engine: str, tables: duckdb.DuckDBPyConnection
) -> None:
    page.open(f"{engine}-compare")
    pair = "baseline_run_id = 'scout-2026-02' and candidate_run_id = 'scout-2026-03'"
    told = [[cell.replace("\u2212", "-") for cell in row] for row in page.table("Differences")]
    held = rows_of(tables, f"from passk_comparisons where {pair} and k = 4 order by metric")
    assert told == [
        [
            {"pass_at_k": "pass@k", "pass_hat_k": "pass^k"}[row["metric"]],
            "4",
            share(row["baseline"]),
            share(row["candidate"]),
            *(
                f"{100 * row[name]:+.1f}%"
                for name in (
                    "difference",
                    "difference_suite_lower",
                    "difference_suite_upper",
                    "difference_lower",
                    "difference_upper",
                )
            ),
            row["verdict"],
            row["meaning"],
        ]
        for row in held
    ]
    for metric, called in (("pass_at_k", "pass@k"), ("pass_hat_k", "pass^k")):
        curve = rows_of(
            tables,
            f"""
            select k, difference, difference_suite_lower as "from", difference_suite_upper as "to"
            from passk_comparisons
            where {pair} and metric = '{metric}' and difference is not null order by k
            """,
        )
        check(page.rows(f"Difference of {called} over k"), curve)
    moved = rows_of(
        tables,
        "select task_id, baseline_c, baseline_n, candidate_c, candidate_n, direction, p_adjusted "
        f"from passk_task_comparisons where {pair} and moved",
    )
    check(
        ordered(page.rows("Tasks that moved by more than chance does"), "task_id"),
        ordered(moved, "task_id"),
    )


def test_a_task_has_its_runs(page: Page, engine: str, tables: duckdb.DuckDBPyConnection) -> None:
    page.open(f"{engine}-tasks").choose("Task", "sat-15")
    told = page.rows("One task over the runs")
    held = rows_of(
        tables,
        "select run_id, task_id, c, n, k, pass_at_k, pass_at_k_lower, pass_at_k_upper, pass_hat_k, "
        "pass_hat_k_lower, pass_hat_k_upper from passk_task_metrics "
        "where task_id = 'sat-15' and k = 4",
    )
    check(ordered(told, "run_id"), ordered(held, "run_id"))
    map_ = page.rows("The share of attempts that failed")
    failed = rows_of(
        tables,
        "select run_id as run, task_id as task, 1 - pass_rate as failed from passk_tasks where n > 0",
    )
    check(ordered(map_, "run", "task"), ordered(failed, "run", "task"))


def test_gates_have_their_reasons(
    page: Page, engine: str, tables: duckdb.DuckDBPyConnection
) -> None:
    page.open(f"{engine}-gates").choose("Suite", "puzzles")
    held = rows_of(tables, "from passk_gates order by result")
    assert [row[0] for row in page.table("Rules")] == [row["result"] for row in held]
    for row in held:
        assert row["reason"] in page.text
        assert page.rows(f"Gates: {row['result']}")[0]["gates"] == 1
    page.choose("Result", "fail")
    (row,) = page.table("Rules")
    assert row[1] == "no-worse-than-before"


class Builds(threading.Thread):
    """Loads, builds and publishes over and over: with one run more, and without it again."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.published = 0
        self.failure: BaseException | None = None
        self.stop = threading.Event()

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                if self.published % 2 == 0:
                    passk(self.folder, "load", "more.parquet")
                else:
                    passk(self.folder, "unload", "--run", "another")
                passk(self.folder, "build")
                passk(self.folder, "publish", "-o", "bi")
                self.published += 1
        except BaseException as failure:
            self.failure = failure
            raise


def frozen(told: list[tuple[str, list[Row]]]) -> set[str]:
    """Write each answer as a text. Sums that were added up in another order differ in their last bit."""
    return {
        json.dumps(
            [
                name,
                [
                    {
                        key: round(value, 12) if isinstance(value, float) else value
                        for key, value in row.items()
                    }
                    for row in rows
                ],
            ],
            sort_keys=True,
        )
        for name, rows in told
    }


def test_a_dashboard_stays_up_while_builds_go_on(page: Page, looped: Path) -> None:
    """Every answer in a minute of builds is that of one of the two states, and none is refused."""
    page.open("looped-overview")
    without = frozen(page.told)
    passk(looped, "load", "more.parquet")
    passk(looped, "build")
    passk(looped, "publish", "-o", "bi")
    page.open("looped-overview")
    states = without | frozen(page.told)
    assert "another" in page.text
    passk(looped, "unload", "--run", "another")
    passk(looped, "build")
    passk(looped, "publish", "-o", "bi")
    page.open("looped-overview")
    assert frozen(page.told) == without
    assert len(states) > len(without)

    builds = Builds(looped)
    builds.start()
    loads, seen = 0, set[str]()
    start = time.monotonic()
    try:
        # Longer on a slow machine, until both states were seen.
        while (passed := time.monotonic() - start) < SECONDS or (
            passed < 4 * SECONDS and (seen != states or builds.published < 4)
        ):
            page.open("looped-overview")
            assert frozen(page.told) <= states, "an answer of neither state"
            seen |= frozen(page.told)
            loads += 1
    finally:
        builds.stop.set()
        builds.join()
    assert builds.failure is None
    assert seen == states
    assert builds.published >= 4
    print(f"{loads} loads of the page, {builds.published} builds and copies in {passed:.0f} s")
