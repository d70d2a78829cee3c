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
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dbt.contracts.graph.manifest import Manifest


def _itself(value: Any) -> Any:  # noqa: ANN401 - vars hold whatever YAML can
    """Give a value that shapes the project by all that it is."""
    return value


def _whether(value: Any) -> Any:  # noqa: ANN401
    """Say that a value is there, where it matters no further."""
    return True if value else None


def _kinds_of_slices(slices: Any) -> Any:  # noqa: ANN401
    """Tell tags from expressions, without their names."""
    if not isinstance(slices, list):
        return slices
    return ["tag" if isinstance(one, str) else "expression" for one in slices]


def _kinds_of_gates(gates: Any) -> Any:  # noqa: ANN401
    """Give what says which tables the rules read: type, m of k, sequential, kind of baseline."""
    if not isinstance(gates, list) or not all(isinstance(gate, dict) for gate in gates):
        return gates
    kinds = {
        json.dumps(
            {
                "type": gate.get("type"),
                "m": "m" in gate,
                "sequential": gate.get("sequential"),
                "baseline": "runs before"
                if isinstance(gate.get("baseline"), dict)
                else "baseline" in gate,
            },
            sort_keys=True,
            default=str,
        )
        for gate in gates
    }
    return sorted(kinds)


SHAPING: Final[Mapping[str, Callable[[Any], Any]]] = {
    "passk_attempts_columns": _itself,
    "passk_attempts_files": _whether,
    "passk_attempts_model": _itself,
    "passk_attempts_source": _itself,
    "passk_baseline": _whether,
    "passk_bootstrap": _itself,
    "passk_cluster": _whether,
    "passk_costs": _itself,
    "passk_difficulty": _whether,
    "passk_extrapolated_ks": _whether,
    "passk_gates": _kinds_of_gates,
    "passk_labels_model": _itself,
    "passk_m_of_k": _whether,
    "passk_landing_schema": _itself,
    "passk_ordered_metrics": _itself,
    "passk_pairs": _whether,
    "passk_private_suites": _whether,
    "passk_quarantine": _whether,
    "passk_slices": _kinds_of_slices,
    "passk_verdicts_model": _itself,
}
"""The part of each var that decides which models there are and what they read.

All else is read when a model is rendered, but for the vars of the one model in Python, which is
there where ``passk_bootstrap`` asks for it.
"""

_KEPT: Final = 8
_PACKAGES: Final = ("dbt-core", "dbt-adapters", "dbt-duckdb")
"""Packages whose macros and formats are in the parsed project."""


def shaping_vars(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the parsed project depends on of the vars, in the order of their names."""
    if variables.get("passk_bootstrap"):
        return {name: variables[name] for name in sorted(variables)}
    shapes = {name: shape(variables[name]) for name, shape in SHAPING.items() if name in variables}
    return {name: shape for name, shape in shapes.items() if shape is not None}


def place_of_parsed(variables: Mapping[str, Any], code: str) -> Path:
    """Name the file in the user's cache that holds the project as it is parsed with these vars."""
    from platformdirs import user_cache_path

    parts = {
        "code": code,
        "project": str(project_dir()),
        "programs": [version(name) for name in _PACKAGES],
        "vars": as_yaml(shaping_vars(variables)),
    }
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return user_cache_path("passk") / f"parsed-{digest[:32]}.msgpack"


def read_parsed(place: Path, database: str | None = None) -> Manifest | None:
    """Read the parsed project; None where there is none that can be read.

    ``database`` is the name of the database to build, which is all that differs between those of a
    machine; None for the one that the project was parsed for.
    """
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
    if database is not None:
        for node in (*manifest.nodes.values(), *manifest.sources.values()):
            if node.relation_name:
                parsed_for, named = f'"{node.database}"', f'"{database}"'
                node.relation_name = node.relation_name.replace(parsed_for, named, 1)
            node.database = database
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
