"""``passk export``: write public tables to files."""

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
    filter_options,
    raw_option,
)
from passk_py.common.words import plural
from passk_py.warehouse.catalog import KNOWN_TABLES, public_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.warehouse.catalog import PublicTable

_NAMES = [table.name for table in KNOWN_TABLES]


@click.command(
    "export",
    short_help="Write public tables to files.",
    epilog=examples(
        "passk export --all -o tables",
        "passk export passk_suite_metrics --k 1 --k 4 -o metrics.csv",
        "passk export passk_tasks passk_runs --run nightly -o out --format arrow",
    ),
)
@click.argument("tables", nargs=-1, metavar="[TABLE]...", type=NameChoice(_NAMES))
@click.option("--all", "everything", is_flag=True, help="Write all public tables.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Write to this folder or, for one table, to a .parquet, .csv, .json or .arrow file.",
)
@click.option(
    "--format",
    type=click.Choice(["parquet", "csv", "json", "arrow"]),
    help="Write files of this format to a folder. [default: parquet] The ending of a single file "
    "decides its format.",
)
@click.option(
    "--keep-formulas",
    is_flag=True,
    help="Write texts to CSV as they are. By default a text that a spreadsheet would run as a "
    "formula has an apostrophe before it.",
)
@raw_option
@database_option
@filter_options
@common_options
@pass_session
def command(
    session: Session,
    /,
    *,
    tables: tuple[str, ...],
    everything: bool,
    output: Path,
    database: Path,
    runs: tuple[str, ...],
    suites: tuple[str, ...],
    ks: tuple[int, ...],
    **options: Any,  # noqa: ANN401 - those of export_tables()
) -> int:
    """Write public tables to files, whole or filtered.

    Name the tables, which `passk show --help` lists, or give --all. All files show one state of the
    database, and appear complete or not at all.
    """
    _refuse(tables, everything=everything, ks=ks)
    from passk_py.warehouse.exporting import export_tables

    built, stale = _built(session, database)
    names = list(dict.fromkeys(tables)) or [table.name for table in built]
    files = export_tables(
        names, output, database=database, run_id=runs, suite=suites, k=ks, **options
    )
    session.result(
        {
            "database": str(database),
            "stale": stale,
            "files": [
                {"table": file.table, "path": str(file.path), "rows": file.rows} for file in files
            ],
        }
    )
    for file in files:
        session.say(f"{file.path}: {plural(file.rows, 'row')}")
    return 0


def _refuse(given: Sequence[str], *, everything: bool, ks: Sequence[int]) -> None:
    """Raise an error for options that contradict each other."""
    if everything and given:
        raise click.UsageError("Give either --all or the names of tables, not both.")
    if not everything and not given:
        raise click.UsageError("Name the tables to export, or give --all.")
    without = [name for name in given if "k" not in public_table(name).filters]
    if ks and without:
        raise click.UsageError(f"{', '.join(without)} has no k to filter by.")


def _built(session: Session, database: Path) -> tuple[list[PublicTable], str | None]:
    """List the built tables, and say why they are stale."""
    from passk_py.cli.next_steps import note_stale
    from passk_py.warehouse.tables import open_tables

    with open_tables(database) as tables:
        return tables.public(), note_stale(session, tables)
