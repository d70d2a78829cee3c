"""The built wheel, in an environment that has nothing else, works from any folder."""

from __future__ import annotations

import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

from ..built_wheel import build_wheel

ROOT = Path(__file__).resolve().parents[3]


def _run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("dist"))


def test_wheel_carries_the_dbt_project_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "passk_py/_dbt/dbt_project.yml" in names
    assert "passk_py/_dbt/models/marts/core/passk_suite_metrics.sql" in names
    assert "passk_py/_notebooks/reliability.py" in names
    assert "passk_py/_notebooks/reliability.css" in names
    assert "passk_py/py.typed" in names
    assert not [name for name in names if "tests/python" in name or ".duckdb" in name]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_installed_wheel_runs_the_demo_and_writes_nothing_beside_itself(
    wheel: Path, tmp_path: Path
) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(
        [*pip, "--require-hashes", "--requirement", str(ROOT / "requirements" / "run.txt")],
        tmp_path,
    )
    _run([*pip, "--no-deps", str(wheel)], tmp_path)

    def installed() -> set[Path]:
        # Python's own cache of compiled modules is not passk's writing.
        return {path for path in environment.rglob("*") if "__pycache__" not in path.parts}

    before = installed()
    work = tmp_path / "anywhere"
    work.mkdir()
    answer = _run([str(environment / "bin" / "passk"), "demo"], work)
    assert "pass^" in answer
    assert (work / "passk_demo.duckdb").exists()
    assert installed() == before
