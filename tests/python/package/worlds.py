"""Versions of dbt and DuckDB, the package as it is published, and projects that install it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT: Final = Path(__file__).resolve().parents[3]
STRICT: Final = Path(__file__).with_name("strict_dbt.py")
VERSION: Final = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))["version"]

DBTS: Final = ("1.10", "1.11", "1.12")
DUCKDBS: Final = {"1.4": "1.10", "1.5": "1.11", "2.0": "1.12"}
"""Each DuckDB, and the dbt in whose environment it is installed."""

BESIDE: Final = tuple((dbt, engine) for engine, dbt in DUCKDBS.items())
"""Oldest with oldest to newest with newest."""

EVERY: Final = tuple((dbt, engine) for dbt in DBTS for engine in DUCKDBS)


def site_packages(environment: Path) -> Path:
    """Give the folder of a virtual environment that holds what is installed."""
    return next(environment.glob("lib/python*/site-packages"))


@dataclass(frozen=True, slots=True)
class World:
    """A dbt and a DuckDB.

    Parameters
    ----------
    dbt, engine
        Their minor versions.
    python
        The interpreter of the environment that has this dbt.
    instead
        A folder with a DuckDB that is taken instead of the environment's own; none where that is the one.
    """

    dbt: str
    engine: str
    python: Path
    instead: Path | None

    def environment(self) -> dict[str, str]:
        """Give the variables under which its programs run."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        kept["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "false"
        if self.instead:
            kept["PYTHONPATH"] = str(self.instead)
        return kept

    def versions(self) -> tuple[str, str]:
        """Give the minor versions that its programs say they are."""
        said = subprocess.run(
            [str(self.python), "-c",
             "import duckdb, importlib.metadata as m; print(m.version('dbt-core'), duckdb.__version__)"],
            env=self.environment(), capture_output=True, text=True, check=True,
        ).stdout.split()  # fmt: skip
        dbt, engine = (".".join(version.split(".")[:2]) for version in said)
        return dbt, engine

    def call(
        self, folder: Path, *arguments: str, strict: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run dbt in a project; `strict` holds YAML against dbt's JSON schemas, and makes every warning an error."""
        program = [str(STRICT)] if strict else ["-m", "dbt.cli.main"]
        options = ["--warn-error", "--show-all-deprecations"] if strict else []
        return subprocess.run(
            [str(self.python), *program, "--no-use-colors", *options, *arguments,
             "--profiles-dir", "."],
            cwd=folder, env=self.environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip

    def run(self, folder: Path, *arguments: str, strict: bool = True) -> str:
        """Run dbt in a project and give what it prints; fail the test with that where dbt fails or warns."""
        done = self.call(folder, *arguments, strict=strict)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said[-8000:]
        # dbt names each event that tells of something given up `...Deprecation`; that 1.10 is old it says otherwise.
        assert "Deprecation" not in said, said[-8000:]
        return said


@dataclass(frozen=True, slots=True)
class Worlds:
    """The environments that scripts/test_package made, and folders for single DuckDBs."""

    folder: Path
    engines: Path

    def find(self, dbt: str, engine: str) -> World | None:
        """Give the world of two minor versions, or nothing where one could not be installed."""
        python = self.folder / f"dbt-{dbt}" / "bin" / "python"
        home = self.folder / f"dbt-{DUCKDBS[engine]}"
        if not python.exists() or not home.exists():
            return None
        return World(
            dbt, engine, python, None if DUCKDBS[engine] == dbt else self._only(engine, home)
        )

    def _only(self, engine: str, home: Path) -> Path:
        only = self.engines / engine
        if not only.exists():
            only.mkdir(parents=True)
            for path in site_packages(home).glob("*duckdb*"):
                if not path.name.startswith("dbt"):
                    (only / path.name).symlink_to(path)
        return only


def write_project(folder: Path, files: Mapping[str, Any]) -> None:
    """Write a project's files: text as it is, everything else as JSON, which is YAML too."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8"
        )


def profile(name: str, database: str = "evals.duckdb", schema: str = "analytics") -> dict[str, Any]:
    """Give a profile with one target."""
    output = {"type": "duckdb", "path": database, "schema": schema, "threads": 2}
    return {name: {"target": "dev", "outputs": {"dev": output}}}


def query(database: Path, sql: str) -> list[tuple[Any, ...]]:
    """Give the rows of a select, read by the DuckDB of this test."""
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def checked_files() -> list[Path]:
    """Give the files that git has or would have: what a clone of the next commit holds."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]


def publish(folder: Path) -> tuple[Path, str, Path]:
    """Make what a host of code has of this checkout: a repository, its one commit's name, and that commit as a tarball."""
    repository = folder / "passk.git"
    for name in checked_files():
        target = repository / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    git: Sequence[str] = (
        "git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-C", str(repository),
    )  # fmt: skip
    for words in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["add", "--all", "--force"],
        ["commit", "--quiet", "--no-verify", "--message", "All of it"],
    ):
        subprocess.run([*git, *words], check=True, capture_output=True)
    commit = subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    tarball = folder / "served" / f"passk-{VERSION}.tar.gz"
    tarball.parent.mkdir()
    subprocess.run(
        [*git, "archive", f"--prefix=passk-{VERSION}/", f"--output={tarball}", commit],
        check=True,
        capture_output=True,
    )
    return repository, commit, tarball
