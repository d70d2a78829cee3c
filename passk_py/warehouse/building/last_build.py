"""A note of what the last whole build was made from, so that a build sees that nothing is new."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.landing.labels import LABEL_TABLES
from passk_py.ingest.landing.schema import TABLES
from passk_py.warehouse.building.build_report import BuildReport, NodeReport
from passk_py.warehouse.building.variables import as_yaml
from passk_py.warehouse.catalog import PUBLIC_TABLES
from passk_py.warehouse.freshness import stale
from passk_py.warehouse.project import version as version_of_passk
from passk_py.warehouse.settings import RECORDED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passk_py.warehouse.building.find_dbt import Dbt
    from passk_py.warehouse.tables import Tables

_TABLE: Final = "passk_last_whole_build"
_PLACE: Final = f"main_passk_internal.{_TABLE}"
_TIMES: Final = {"removed_tasks": "removed_at", "parts": "null"}
"""The column of a landing table that says when its rows came, where it is not ``loaded_at``."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The inputs of a build, beside the database."""

    code: str
    """The digest of the dbt project."""
    variables: Mapping[str, Any]
    dbt: Dbt


@dataclass(frozen=True, slots=True)
class Note:
    """The note of a whole build that went well."""

    landed: str
    """The state of the log that it read."""
    is_tested: bool
    warned: str
    """Its warnings, as JSON."""


def find(tables: Tables, recipe: Recipe) -> Note | None:
    """Find the note of a build of the same recipe, whose views are as it left them.

    The text of a view depends on the recipe alone, except in staging, which asks what has landed.
    """
    place, made_from = tables.find(_TABLE), _made_from(tables, recipe)
    if place is None or made_from is None:
        return None
    [last] = tables.records(f"from {place}")
    # First what also the note of another version of passk holds.
    if last.pop("made_from") != made_from:
        return None
    return Note(**last)


def unchanged(tables: Tables, recipe: Recipe, last: Note, *, tests: bool) -> BuildReport | None:
    """Give the report of a build that would have nothing to do; None where something is new."""
    if not all(tables.find(table.name) for table in PUBLIC_TABLES):
        return None
    if tests and not last.is_tested:
        return None
    if last.landed != _landed(tables, recipe) or stale(tables) is not None:
        return None
    # The warnings of the last build hold still.
    nodes = tuple(NodeReport(**node) for node in json.loads(last.warned))
    return BuildReport(0, 0, 0, (), nodes, 0.0, is_unchanged=True)


def forget(tables: Tables) -> None:
    """Take the note away before a build starts: one that is stopped leaves none."""
    tables.rows(f"drop table if exists {_PLACE}")


def note(tables: Tables, recipe: Recipe, report: BuildReport, *, tests: bool) -> None:
    """Note what a whole build that went well was made from."""
    warned = json.dumps([asdict(node) for node in report.warned])
    tables.connection.execute(
        f"create or replace table {_PLACE} as "
        "select ? as made_from, ? as landed, ? as is_tested, ? as warned",
        [_made_from(tables, recipe), _landed(tables, recipe), tests, warned],
    )


def _made_from(tables: Tables, recipe: Recipe) -> str | None:
    """Write down what the tables are made from beside the log, as JSON; None without them."""
    scans, recorded = tables.find("int_passk__task_scans"), tables.find(RECORDED)
    if scans is None or recorded is None:
        return None
    parts = {
        "code": recipe.code,
        "programs": [version_of_passk(), recipe.dbt.version, *_drivers(recipe.dbt)],
        # As dbt gets them: their names may be of several types.
        "vars": as_yaml(recipe.variables),
        # A dbt that somebody ran on the file themselves may have had other vars, or other code.
        "recorded": tables.rows(f"select * from {recorded} order by 1"),
        "built_with": tables.rows(f"select max(built_with) from {scans}"),
        # DuckDB keeps the name of the database in each view, which may be that of another file now.
        "views": tables.rows(
            "select current_database(), md5(string_agg(sql, ';' order by schema_name, view_name)) "
            "from duckdb_views() where not internal"
        ),
    }
    return json.dumps(parts, sort_keys=True, default=str)


def _landed(tables: Tables, recipe: Recipe) -> str:
    """Write down the state of the log, as JSON."""
    schema = recipe.variables.get("passk_landing_schema") or "landing"
    landed = {
        name: tables.rows(f"select count(*), max({_TIMES.get(name, 'loaded_at')}) from {place}")
        for name in (*TABLES, *LABEL_TABLES)
        if (place := tables.find(name, schema=schema))
    }
    return json.dumps(landed, sort_keys=True, default=str)


def _drivers(dbt: Dbt) -> list[str]:
    """Give the versions of what dbt asks DuckDB with; of dbt v2's driver, where it is."""
    if dbt.program:
        return [os.environ.get("ADBC_DRIVER_PATH", "")]
    return [version("dbt-duckdb"), version("duckdb")]
