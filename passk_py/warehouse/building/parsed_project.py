"""The project as dbt 1 has parsed it, kept for the next database of this machine."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from passk_py.warehouse.building.variables import as_yaml
from passk_py.warehouse.project import project_dir

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dbt.contracts.graph.manifest import Manifest

SHAPING: Final = frozenset(
    {
        "passk_attempts_columns",
        "passk_attempts_files",
        "passk_attempts_model",
        "passk_attempts_source",
        "passk_baseline",
        "passk_bootstrap",
        "passk_extrapolated_ks",
        "passk_gates",
        "passk_labels_model",
        "passk_landing_schema",
        "passk_ordered_metrics",
        "passk_pairs",
        "passk_private_suites",
        "passk_slices",
    }
)
"""The vars that decide which models there are and what they read.

All others are read when a model is rendered, but for those of the one model in Python, which is
there where ``passk_bootstrap`` asks for it.
"""

_KEPT: Final = 8
_PACKAGES: Final = ("dbt-core", "dbt-adapters", "dbt-duckdb")
"""Whose macros and formats the parsed project has."""


def shaping_vars(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Give the vars that the parsed project depends on, in the order of their names."""
    names = variables.keys() if variables.get("passk_bootstrap") else SHAPING & variables.keys()
    return {name: variables[name] for name in sorted(names)}


def place_of_parsed(database: Path, variables: Mapping[str, Any], code: str) -> Path:
    """Name the file in the user's cache that holds the project as it is parsed for a database."""
    from platformdirs import user_cache_path

    parts = {
        "code": code,
        "project": str(project_dir()),
        "programs": [version(name) for name in _PACKAGES],
        "database": database.stem,
        "vars": as_yaml(shaping_vars(variables)),
    }
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return user_cache_path("passk") / f"parsed-{digest[:32]}.msgpack"


def read_parsed(place: Path) -> Manifest | None:
    """Read the parsed project; None where there is none that can be read."""
    from dbt.contracts.graph.manifest import Manifest

    try:
        content = place.read_bytes()
    except OSError:
        return None
    with suppress(OSError):
        place.touch()
    try:
        manifest = Manifest.from_msgpack(content)
    except Exception:  # noqa: BLE001 - of a damaged file dbt raises whatever its readers raise
        return None
    manifest.build_flat_graph()  # type: ignore[no-untyped-call]
    return manifest


def keep_parsed(parsed: Path, place: Path) -> None:
    """Keep what dbt has parsed, and the few that were used last, where a cache can be written."""
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        # A name that is swept with the others, where the process is killed.
        beside = place.with_stem(f"{place.stem}-{os.getpid()}")
        shutil.copyfile(parsed, beside)
        beside.replace(place)
        kept = sorted(place.parent.glob("parsed-*.msgpack"), key=lambda one: -one.stat().st_mtime)
        for old in kept[_KEPT:]:
            old.unlink()
