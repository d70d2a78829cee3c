"""The dbt project that passk carries: where it is, its version, its code and its vars."""

from __future__ import annotations

import hashlib
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, Final

from passk_py.common.errors import PasskError

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_CODE: Final = ("dbt_project.yml", "profiles.yml", "models", "macros", "tests/generic")


def project_dir() -> Path:
    """Find the dbt project: in what the wheel carries, else in the checkout."""
    for folder in (_PACKAGE / "_dbt", _PACKAGE.parent):
        try:
            text = (folder / "dbt_project.yml").read_text(encoding="utf-8")
        except OSError:
            continue
        if re.search(r"^name: passk$", text, re.MULTILINE):
            return folder
    raise PasskError(
        f"The dbt project of passk is neither in {_PACKAGE / '_dbt'} nor in {_PACKAGE.parent}.",
        hint="The installation is damaged: install passk-py again.",
    )


def version() -> str:
    """Give the version of passk."""
    text = (project_dir() / "dbt_project.yml").read_text(encoding="utf-8")
    found = re.search(r"^version: (\S+)$", text, re.MULTILINE)
    return found[1] if found else "unknown"


def digest_of_code() -> str:
    """Give the digest of all files that dbt builds from."""
    folder = project_dir()
    digest = hashlib.sha256()
    for name in _CODE:
        place = folder / name
        paths = sorted(place.rglob("*")) if place.is_dir() else [place]
        for path in paths:
            if path.is_file() and path.suffix in (".sql", ".yml", ".md", ".py"):
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
                digest.update(path.read_bytes())
    return digest.hexdigest()


def default_variables() -> dict[str, Any]:
    """Give the vars of the project by name, with their defaults."""
    return deepcopy(_variables_in((project_dir() / "dbt_project.yml").read_text(encoding="utf-8")))


@cache
def _variables_in(text: str) -> dict[str, Any]:
    """Read the vars of a project file, which a command asks for several times."""
    from passk_py.common.strict_yaml import load_own

    return dict(load_own(text)["vars"]["passk"])


def targets() -> list[str]:
    """Name the targets of the packaged profile."""
    from passk_py.common.strict_yaml import load_own

    text = (project_dir() / "profiles.yml").read_text(encoding="utf-8")
    return list(load_own(text)["passk"]["outputs"])


def state_dir(database: str | Path) -> Path:
    """Give ``.passk/NAME`` beside a database: two builds in one folder don't share dbt's files."""
    path = Path(database).resolve()
    return path.parent / ".passk" / path.name
