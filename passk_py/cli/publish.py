"""``passk publish``: write a read-only copy for dashboards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import (
    NameChoice,
    common_options,
    database_option,
    examples,
    raw_option,
)
from passk_py.common.words import plural
from passk_py.warehouse.catalog import KNOWN_TABLES

if TYPE_CHECKING:
    from passk_py.warehouse.publishing import PublishedCopy

_NAMES = [table.name for table in KNOWN_TABLES]


@click.command(
    "publish",
    short_help="Write a read-only copy for dashboards.",
    epilog=examples(
        "passk build && passk publish -o bi",
        "passk publish -o bi --wait 600",
        "passk publish -o bi --format duckdb --without passk_attempts",
    ),
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write the copy to this folder.",
)
@click.option(
    "--without",
    multiple=True,
    type=NameChoice(_NAMES),
    metavar="TABLE",
    help="Leave this table out; may be repeated.",
)
@click.option(
    "--format",
    type=click.Choice(["duckdb", "parquet", "both"]),
    default="both",
    show_default=True,
    help="Write this format; files of the other format stay as they are.",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=0,
    show_default=True,
    metavar="SECONDS",
    help="Keep trying for this long while a build, or another publish, is running.",
)
@raw_option
@database_option
@common_options
@pass_session
def command(
    session: Session,
    /,
    *,
    output: Path,
    database: Path,
    **options: Any,  # noqa: ANN401 - those of publish()
) -> int:
    """Write a copy of the public tables that dashboards can read during builds.

    FOLDER gets passk.duckdb, which DuckDB 1.0 and later can read, and parquet/TABLE.parquet. The
    table passk_published in it says how fresh the copy is. All tables show one state of the
    database. They replace the last copy once all are complete; readers that have the last copy open
    can go on reading it.
    """
    from passk_py.cli.next_steps import command_line
    from passk_py.warehouse.publishing import publish

    copy = publish(output, database=database, on_wait=session.note, **options)
    session.result(_as_dict(copy, database))
    session.log("published", copy_id=copy.copy_id, runs=copy.runs, rows=sum(copy.rows.values()))
    tables = f"{plural(len(copy.rows), 'table')}, {plural(sum(copy.rows.values()), 'row')}"
    for path in (copy.database, copy.parquet):
        if path is not None:
            session.say(f"{path}: {tables}")
    session.say(f"copy {copy.copy_id}: {plural(copy.runs, 'run')}{_loaded(copy)}")
    if copy.stale is not None:
        again = command_line("build", database=database)
        session.note(
            f"{copy.stale} Only passk_attempts may show this. Run `{again}`, then publish.",
            level="warning",
            event="stale",
        )
    return 0


def _loaded(copy: PublishedCopy) -> str:
    newest = copy.newest_loaded_at
    return "" if newest is None else f", the newest attempts loaded {newest:%Y-%m-%d %H:%M} UTC"


def _as_dict(copy: PublishedCopy, database: Path) -> dict[str, object]:
    newest = copy.newest_loaded_at
    return {
        "database": str(database),
        "copy_id": copy.copy_id,
        "published_at": copy.published_at.isoformat(),
        "newest_loaded_at": None if newest is None else newest.isoformat(),
        "runs": copy.runs,
        "landed_since_build": copy.landed_since_build,
        "stale": copy.stale,
        "duckdb": None if copy.database is None else str(copy.database),
        "parquet": None if copy.parquet is None else str(copy.parquet),
        "tables": [{"table": name, "rows": rows} for name, rows in copy.rows.items()],
    }
