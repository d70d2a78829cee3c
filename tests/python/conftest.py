"""Fixtures of the suites that build the dbt project: a project on a database of its own, and logs.

dbt runs in this process, because a process of its own costs more than a build. Four things make
that cheap and safe: every database is called ``passk.duckdb`` and opened from its own folder, so
that one profile and one parsed manifest serve them all; the manifest is parsed once for each set of
the vars that shape it; what dbt makes of a text is kept (``faster_dbt.py``); and every path that dbt
writes to is under pytest's temporary folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import duckdb
import polars as pl
import pytest
import yaml  # type: ignore[import-untyped]

from passk_py.common.contract import LANDING_COLUMNS
from passk_py.warehouse.building.parsed_project import read_parsed, shaping_vars

from .faster_dbt import close_database, make_dbt_faster
from .macro_calls import record_macro_calls
from .programs import environment

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

ROOT: Final = Path(__file__).resolve().parents[2]
DATA: Final = ROOT.parent / "shared" / "data"
DATABASE: Final = "passk.duckdb"
FIRST_LOAD: Final = datetime(2026, 1, 1)

KEPT_MANIFESTS: Final = 8
"""More would only fill the memory: few tests come back to vars of long ago."""

Row = Mapping[str, Any]
Vars = Mapping[str, Any]

VERDICTS: Final = {"P": "passed", "F": "failed", "X": "excluded"}

if "PASSK_DBT" in os.environ:
    # `passk build` would take it in the place of dbt 1, which is what is tested where no test says so.
    os.environ["PASSK_DBT_2"] = os.environ.pop("PASSK_DBT")

_PLACE: Final = {
    "run_id": "VARCHAR",
    "suite": "VARCHAR",
    "task_id": "VARCHAR",
}
_SOURCE: Final = {
    "source_file": "VARCHAR",
    "source_line": "BIGINT",
    "source_format": "VARCHAR",
    "loaded_at": "TIMESTAMP",
}
TABLE_COLUMNS: Final[dict[str, dict[str, str]]] = {
    "landing.attempts": {column.name: column.duckdb_type for column in LANDING_COLUMNS},
    "landing.rejected": {
        **_PLACE,
        "attempt": "BIGINT",
        **dict.fromkeys(("outcome", "reason_code", "reason", "raw"), "VARCHAR"),
        **_SOURCE,
    },
    "landing.removed_tasks": {**_PLACE, "removed_at": "TIMESTAMP"},
}
LANDING_DDL: Final = (
    "create schema if not exists landing",
    *(
        f"create table {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})"
        for table, columns in TABLE_COLUMNS.items()
    ),
)

_TEXTS: Final = {"VARCHAR": pl.String(), "BIGINT": pl.Int64(), "DOUBLE": pl.Float64()}


def polars_type(duckdb_type: str) -> pl.DataType:
    """Give the polars type that a column of the contract is written to Parquet as."""
    if duckdb_type == "TIMESTAMP":
        return pl.Datetime("us")
    if duckdb_type.startswith("MAP"):
        return pl.List(pl.Struct({"key": pl.String(), "value": pl.String()}))
    return _TEXTS[duckdb_type]


def task_attempts(
    run_id: str,
    task_id: str,
    outcomes: str,
    *,
    suite: str = "suite",
    loaded_at: datetime = FIRST_LOAD,
    first: int = 1,
    **more: Any,
) -> list[dict[str, Any]]:
    """Give the rows of one task: P passed, F failed, X excluded, a dot for a number left out."""
    return [
        {
            "run_id": run_id,
            "suite": suite,
            "task_id": task_id,
            "attempt": number,
            "outcome": VERDICTS[letter],
            "loaded_at": loaded_at,
            **more,
        }
        for number, letter in enumerate(outcomes, first)
        if letter != "."
    ]


class BuildError(Exception):
    """A dbt command that failed; its text is what the user would read."""

    @property
    def message(self) -> str:
        """The project's own message, without the frame that dbt puts around it."""
        lines = str(self).splitlines()
        while lines and re.search(r"(Error|Error in .*)$", lines[0]):
            del lines[0]
        text = textwrap.dedent("\n".join(lines))
        return text.partition("\n\n> in macro")[0].strip()


@dataclass
class Dbt:
    """Calls dbt in this process, with a manifest that is parsed once for each set of vars."""

    folder: Path
    project_dir: Path = ROOT
    profile: str = "passk"
    has_vars_of_passk_alone: bool = True
    """Whether no model of the project's own reads a var."""
    shared: Path | None = None
    """A folder in which this run's workers keep what they have parsed for each other."""
    manifests: dict[tuple[str, str], Manifest] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        # For a small log a second thread of DuckDB costs more than it saves.
        settings = {"threads": 1}
        output = {
            "type": "duckdb", "path": DATABASE, "schema": "main", "threads": 1, "settings": settings,
        }  # fmt: skip
        profile = {
            self.profile: {"target": "duckdb", "outputs": {"duckdb": output, "demo": output}}
        }
        # JSON is YAML too.
        (self.folder / "profiles.yml").write_text(json.dumps(profile), encoding="utf-8")

    def target_path(self, variables: Vars, target: str = "duckdb") -> Path:
        """Give the folder of compiled SQL for these vars."""
        text = json.dumps([target, variables], sort_keys=True, default=str)
        return self.folder / f"target_{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def options(self, variables: Vars, target: str = "duckdb") -> list[str]:
        """Give the options that every command takes."""
        return [
            "--project-dir", str(self.project_dir),
            "--profiles-dir", str(self.folder),
            "--target", target,
            "--target-path", str(self.target_path(variables, target)),
            "--log-path", str(self.folder / "logs"),
            "--log-level", "none",
            "--log-level-file", "none",
            "--vars", yaml.safe_dump(dict(variables), default_flow_style=True, sort_keys=True),
        ]  # fmt: skip

    def keys(self, variables: Vars, target: str) -> tuple[tuple[str, str], tuple[str, str]]:
        """Name the manifest of these vars alone, and that of all vars of the same shape."""
        shaping = shaping_vars(variables) if self.has_vars_of_passk_alone else variables
        alone, shape = (
            json.dumps(given, sort_keys=True, default=str) for given in (variables, shaping)
        )
        # Where no var shapes it, a wrong one changes nothing either.
        return (target, f"alone {alone}" if shaping else shape), (target, shape)

    def place(self, key: tuple[str, str]) -> Path | None:
        """Name the file of a manifest that the workers share."""
        digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()
        return self.shared / f"parsed_{digest[:32]}.msgpack" if self.shared else None

    def parsed(self, variables: Vars, target: str) -> Manifest:
        """Parse the project with these vars."""
        from dbt.cli.main import dbtRunner

        done = dbtRunner().invoke(["parse", *self.options(variables, target), "--no-write-json"])
        if not done.success:
            raise BuildError(str(done.exception))
        return cast("Manifest", done.result)

    def manifest(self, variables: Vars, target: str = "duckdb") -> Manifest:
        """Parse the project with these vars, or give what was parsed before with those that shape it."""
        alone, shape = self.keys(variables, target)
        place = self.place(shape)
        is_shared = shape not in self.manifests and place is not None and place.exists()
        key = shape if shape in self.manifests or is_shared else alone
        manifest = self.manifests.pop(key, None)
        if manifest is None:
            if len(self.manifests) >= KEPT_MANIFESTS:
                del self.manifests[next(iter(self.manifests))]
                gc.unfreeze()
            manifest = read_parsed(place) if place and is_shared else None
            manifest = manifest or self.parsed(variables, target)
            # It stays: to look through it for dead objects, time after time, costs as much as half a build.
            gc.collect()
            gc.freeze()
        # The last place is that of the one used last: the first is given up.
        self.manifests[key] = manifest
        # dbt's notes of ephemeral models as it compiles: a second time it would leave them out.
        for node in manifest.nodes.values():
            if node.resource_type in ("model", "test", "unit_test"):
                node.extra_ctes_injected = False
                node.extra_ctes = []
        return manifest

    def invoke(
        self,
        arguments: Sequence[str],
        *,
        folder: Path,
        variables: Vars,
        target: str = "duckdb",
    ) -> Any:
        """Run a dbt command in a folder and give its result, or raise what it said."""
        from dbt.cli.main import dbtRunner

        with contextlib.chdir(folder):
            manifest = self.manifest(variables, target)
            command, *rest = arguments
            try:
                done: Any = dbtRunner(manifest=manifest).invoke(
                    [command, *self.options(variables, target), "--no-write-json", *rest]
                )
            finally:
                close_database()
        if done.success and command != "compile":
            # The vars are right, which a run checks: with a wrong one dbt parses as if all had their defaults.
            alone, shape = self.keys(variables, target)
            if alone in self.manifests:
                self.manifests[shape] = self.manifests.pop(alone)
                if (place := self.place(shape)) and not place.exists():
                    beside = place.with_suffix(f".{os.getpid()}")
                    beside.write_bytes(self.manifests[shape].to_msgpack())
                    beside.replace(place)
        if done.exception is not None:
            # dbt keeps what is wrong with a template of the command line to its log.
            hidden = str(done.exception) == "Error parsing inline query"
            raise BuildError(str(done.exception.__context__ if hidden else done.exception))
        if not done.success:
            failures = [
                f"{result.node.name}: {result.message}"
                for result in done.result
                if result.status not in ("success", "pass", "skipped")
            ]
            raise BuildError("\n".join(failures))
        return done.result


@dataclass
class Project:
    """One database, and the dbt project that builds it."""

    folder: Path
    dbt: Dbt

    @property
    def database(self) -> Path:
        """The database file."""
        return self.folder / DATABASE

    @contextlib.contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the database between two builds."""
        connection = duckdb.connect(str(self.database))
        try:
            yield connection
        finally:
            connection.close()

    def execute(self, *statements: str) -> None:
        """Run statements, one transaction for all."""
        with self.connect() as connection:
            connection.execute("begin")
            for statement in statements:
                connection.execute(statement)
            connection.execute("commit")

    def query(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Give the rows of a select."""
        with self.connect() as connection:
            return connection.execute(sql, parameters or None).fetchall()

    def records(self, sql: str, *parameters: Any) -> list[dict[str, Any]]:
        """Give the rows of a select as mappings."""
        with self.connect() as connection:
            result = connection.execute(sql, parameters or None)
            names = [column[0] for column in result.description]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def make_landing(self) -> None:
        """Make the empty tables that the loader writes to."""
        self.execute(*LANDING_DDL)

    def land(self, rows: Iterable[Row]) -> None:
        """Put rows into landing.attempts; what they do not say is null, the suite 'suite'."""
        if not self.database.exists():
            self.make_landing()
        defaults = {"suite": "suite", "loaded_at": FIRST_LOAD, "source_file": "log"}
        self.insert("landing.attempts", ({**defaults, **row} for row in rows))

    def insert(self, table: str, rows: Iterable[Row], *, replace: bool = False) -> None:
        """Put rows into a table of the schema landing, by way of Parquet: fast and typed."""
        columns = TABLE_COLUMNS[table]
        records = [dict(row) for row in rows]
        for record in records:
            if unknown := record.keys() - columns.keys():
                raise ValueError(f"{table} has no column {unknown}")
            tags = record.get("tags")
            if isinstance(tags, Mapping):
                record["tags"] = [{"key": key, "value": value} for key, value in tags.items()]
        schema = {name: polars_type(duckdb_type) for name, duckdb_type in columns.items()}
        path = self.folder / "rows.parquet"
        pl.DataFrame(
            {name: [record.get(name) for record in records] for name in schema}, schema=schema
        ).write_parquet(path)
        maps = "* replace (map_from_entries(tags) as tags)" if "tags" in columns else "*"
        self.execute(
            *([f"delete from {table}"] if replace else []),
            f"insert into {table} by name select {maps} from read_parquet('{path}')",
        )
        path.unlink()

    def run(
        self,
        variables: Vars | None = None,
        *,
        command: str = "run",
        full_refresh: bool = False,
        select: Sequence[str] = (),
        target: str = "duckdb",
    ) -> Any:
        """Build the models, or raise what dbt said."""
        arguments = [command]
        if full_refresh:
            arguments.append("--full-refresh")
        if select:
            arguments += ["--select", *select]
        return self.dbt.invoke(
            arguments, folder=self.folder, variables=variables or {}, target=target
        )

    def refused(self, variables: Vars, command: str = "run") -> str:
        """Give what a build with these vars says, which must fail."""
        with pytest.raises(BuildError) as caught:
            self.run(variables, command=command)
        return str(caught.value.message)

    def relation(self, model: str) -> str:
        """Give the name of a model's table in the database."""
        node = self.dbt.manifest({}).nodes[f"model.passk.{model}"]
        return str(node.relation_name)

    def render(self, template: str, variables: Vars | None = None) -> str:
        """Give the SQL that a template of the project's macros compiles to."""
        result = self.dbt.invoke(
            ["compile", "--no-populate-cache", "--no-introspect", "--quiet", "--inline", template],
            folder=self.folder,
            variables=variables or {},
        )
        return str(result.results[0].node.compiled_code)

    def copy(self, folder: Path) -> Project:
        """Give a project on a copy of the database."""
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.database, folder / DATABASE)
        return Project(folder, self.dbt)


def pytest_configure(config: pytest.Config) -> None:
    """Let dbt make nothing twice that follows from a text alone, where tests run."""
    if not config.getoption("numprocesses", None) or hasattr(config, "workerinput"):
        make_dbt_faster()
        if folder := os.environ.get("PASSK_COVERAGE"):
            record_macro_calls(folder)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run's own, which its workers share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session", autouse=True)
def caches(shared_folder: Path) -> Iterator[None]:
    """Caches of this run's own, which its workers share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared_folder / "cache"))
        yield


@pytest.fixture(scope="session")
def make_once(shared_folder: Path) -> Callable[[str, Callable[[Path], None]], Path]:
    """Fills a folder of this name by the first worker that asks for it, while the others wait."""

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        folder, filled = shared_folder / name, shared_folder / f"{name}.filled"
        with (shared_folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not filled.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                filled.touch()
        return folder

    return make


def project_files() -> set[Path]:
    """Give the files of the dbt project, and where dbt writes if nobody tells it another place."""
    places = ["dbt_project.yml", "profiles.yml", "models", "macros", "seeds", "target", "logs"]
    places += [".user.yml", "dbt_packages", "package-lock.yml", ".passk"]
    found: set[Path] = set()
    for place in places:
        path = ROOT / place
        found |= {file for file in [path, *path.rglob("*")] if file.is_file()}
    return found


def written_since(before: set[Path], folder: Path) -> list[Path]:
    """Give what lies in a folder, and the files of the project that were not there before."""
    # Files that others change at the same time are no new files.
    return [*sorted(folder.iterdir()), *sorted(project_files() - before)]


@pytest.fixture(scope="session")
def published_demo(make_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The demo as a person makes it: ``passk.duckdb``, ``answer.txt``, its log, a copy in ``bi``.

    Its answer is in ``answer.json`` too, and the files that it wrote are listed in ``written.txt``.
    """

    def fill(folder: Path) -> None:
        def run(*words: str) -> str:
            done = subprocess.run(
                [sys.executable, "-m", "passk_py", *words],
                cwd=folder,
                env=environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        demo = ("demo", "--database", "passk.duckdb")
        before = project_files()
        answer = run(*demo)
        written = "\n".join(map(str, written_since(before, folder)))
        (folder / "written.txt").write_text(written, encoding="utf-8")
        (folder / "answer.txt").write_text(answer, encoding="utf-8")
        (folder / "answer.json").write_text(run(*demo, "--json"), encoding="utf-8")
        run("publish", "-o", "bi")

    return make_once("published_demo", fill)


@pytest.fixture(scope="session")
def dbt_demo(make_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The demo's seed built and documented by dbt without a warning: ``demo.duckdb``, ``target``.

    Without tests, most of which read the tables again: a long test runs them on a copy.
    """

    def fill(folder: Path) -> None:
        from dbt.cli.main import dbtRunner

        for command in (
            ["build", "--exclude", "resource_type:unit_test", "resource_type:test"],
            # The build has compiled all of it.
            ["docs", "generate", "--static", "--no-compile"],
        ):
            with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
                patch.setenv("PASSK_DATABASE", str(folder / "demo.duckdb"))
                # A process of its own would first make of all templates what this one has kept.
                try:
                    done: Any = dbtRunner().invoke([
                        "--warn-error", "--log-level", "none", *command,
                        "--project-dir", str(ROOT), "--profiles-dir", str(ROOT), "--target", "demo",
                        "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
                    ])  # fmt: skip
                finally:
                    close_database()
            assert done.exception is None, done.exception
            assert done.success, [result.message for result in done.result]

    return make_once("dbt_demo", fill)


@pytest.fixture(scope="session")
def attempts() -> Callable[..., list[dict[str, Any]]]:
    """Makes the rows of one task from letters; see task_attempts."""
    return task_attempts


@pytest.fixture(scope="session")
def dbt(tmp_path_factory: pytest.TempPathFactory, shared_folder: Path) -> Dbt:
    """The dbt project of this repository."""
    os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "false"
    return Dbt(tmp_path_factory.mktemp("dbt"), shared=shared_folder)


@pytest.fixture(scope="session")
def make_project(tmp_path_factory: pytest.TempPathFactory, dbt: Dbt) -> Callable[[], Project]:
    """Makes projects on new databases with empty landing tables, for fixtures of any scope."""

    def make() -> Project:
        made = Project(tmp_path_factory.mktemp("project"), dbt)
        made.make_landing()
        return made

    return make


@pytest.fixture
def project(make_project: Callable[[], Project]) -> Project:
    """A project on a new database with empty landing tables."""
    return make_project()


def data_file(*parts: str) -> Path:
    """Give the path of a real log that lies beside the checkout, or skip the test by its name."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} is not beside this checkout, in {DATA}")
    return path


@pytest.fixture(scope="session")
def tau_bench_file() -> Path:
    """tau-bench's own result file: 50 airline tasks with 4 trials each of gpt-4o."""
    return data_file("tau_bench", "gpt-4o-airline.json")


@pytest.fixture(scope="session")
def human_eval_file() -> Path:
    """164 tasks of HumanEval with 100 samples each of CodeGen-16B."""
    return data_file("humaneval_codegen16b", "attempts.csv")


BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
BROWSER_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium that calls home for nothing."""
    found = os.environ.get("PASSK_CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if found is None:
        pytest.skip("no Chromium: see scripts/install_programs")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=list(BROWSER_FLAGS))
        yield opened
        opened.close()
