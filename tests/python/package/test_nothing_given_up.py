"""Nothing that dbt gives up stands in the project, so that the next dbt does not stop on it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .worlds import BESIDE, ROOT, checked_files, profile, site_packages, write_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from .worlds import World

AUTOFIX = Path(__file__).with_name("local_autofix.py")


@pytest.mark.parametrize("variables", [{}, {"passk_bootstrap": 100}])
@pytest.mark.parametrize(("dbt", "engine"), BESIDE)
def test_every_file_is_what_dbts_schemas_say(
    tmp_path: Path, find_world: Callable[[str, str], World], dbt: str, engine: str, variables: dict[str, int]
) -> None:  # fmt: skip
    """With every warning an error, over the package's own seeds, unit tests and exposures too."""
    write_project(tmp_path, {"profiles.yml": profile("passk")})
    find_world(dbt, engine).run(
        tmp_path, "parse", "--no-partial-parse", "--project-dir", str(ROOT),
        "--target-path", str(tmp_path / "target"), "--log-path", str(tmp_path / "logs"),
        "--vars", json.dumps(variables),
    )  # fmt: skip


@pytest.fixture(scope="session")
def autofix() -> str:
    """The Python of an environment with dbt-autofix."""
    python = Path(os.environ.get("PASSK_PACKAGE_ENVIRONMENTS", "")) / "autofix" / "bin" / "python"
    if not python.exists():
        pytest.skip("no dbt-autofix: see scripts/test_package")
    return str(python)


def changes(autofix: str, schemas: Path, project: Path) -> list[dict[str, object]]:
    """Give what dbt-autofix would change of a project."""
    done = subprocess.run(
        [autofix, str(AUTOFIX), str(schemas), "deprecations", "--path", str(project), "--dry-run", "--all", "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines[-1] == {"mode": "complete"}, done.stdout + done.stderr
    return lines[:-1]


@pytest.mark.parametrize("folder", [".", "integration_tests"])
def test_autofix_finds_nothing_to_change(
    tmp_path: Path, find_world: Callable[[str, str], World], autofix: str, folder: str
) -> None:
    """With the schemas of the newest dbt; and it does find what is put in."""
    world = find_world("1.12", "2.0")
    schemas = site_packages(world.python.parents[1]) / "dbt" / "jsonschemas"
    project = tmp_path / "project"
    for name in checked_files():
        if name.is_relative_to(folder) and name.suffix in {".sql", ".yml", ".py", ".md", ".csv"}:
            path = project / name.relative_to(folder)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((ROOT / name).read_bytes())
    assert changes(autofix, schemas, project) == []
    (project / "models" / "old.yml").write_text(
        "models:\n  - name: old\n    config:\n      speed: high\n    tests: [unique]\n"
    )
    assert len(changes(autofix, schemas, project)) == 1
