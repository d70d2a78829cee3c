"""Find the dbt that is installed: dbt 1 as a package of Python, or dbt v2 as a program."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.programs import program_named_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from passk_py.warehouse.building.build_report import BuildReport

_VARIABLE: Final = "PASSK_DBT"
_VERSIONS: Final = (
    "passk builds with dbt 1.10 and 1.11, `pip install 'dbt-core<1.12' dbt-duckdb`, and with "
    "dbt v2, whose program stands on the path or in PASSK_DBT."
)


@dataclass(frozen=True, slots=True)
class Dbt:
    """A dbt that builds."""

    version: str
    program: Path | None = None
    """The program of dbt v2; None for dbt 1, which runs in this process."""

    def run(
        self,
        arguments: list[str],
        progress: Callable[[str, int, int], None] | None,
        *,
        database: Path,
        folder: Path,
        parsed: Path | None,
    ) -> BuildReport:
        """Run a command of dbt on a database, and tell what it did."""
        if self.program is None:
            from passk_py.warehouse.building.in_process import run

            return run(arguments, progress, database=database, folder=folder, parsed=parsed)
        from passk_py.warehouse.building.as_program import run as run_program

        return run_program(self.program, self.version, arguments, progress, database, folder)


def find_dbt() -> Dbt:
    """Find the dbt: that of ``PASSK_DBT``, else dbt 1 as a package, else the program ``dbt``."""
    hint = "Name the program of dbt v2, or unset it to build with dbt 1."
    if named := program_named_by(_VARIABLE, hint):
        return _of_program(named)
    try:
        version = metadata.version("dbt-core")
    except metadata.PackageNotFoundError:
        version = None
    if version is not None and _number(version) < (2,):
        if _number(version) < (1, 10):
            raise PasskError(f"dbt {version} is too old.", hint=_VERSIONS)
        return Dbt(version)
    found = shutil.which("dbt", path=str(Path(sys.executable).parent)) or shutil.which("dbt")
    if found is None:
        raise PasskError("No dbt was found.", hint=_VERSIONS)
    return _of_program(found)


def _of_program(program: str) -> Dbt:
    """Ask a program which dbt it is."""
    try:
        asked = subprocess.run(  # noqa: S603 - what the user names, or has on the path
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PasskError(f"{program} does not say its version: {error}.", hint=_VERSIONS) from error
    found = re.match(r"dbt-core (\S+)", asked.stdout)
    if found is None or _number(found[1]) < (2,):
        said = (asked.stdout.strip() or asked.stderr.strip()).splitlines() or ["nothing"]
        raise PasskError(
            f"{program} is not dbt v2; asked for its version, it says: {said[0].strip()}",
            hint=_VERSIONS,
        )
    return Dbt(found[1], Path(program))


def _number(version: str) -> tuple[int, ...]:
    """Give the first numbers of a version, to compare it."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
