"""``passk show``: print the answer again, or a public table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import (
    NameChoice,
    common_options,
    database_option,
    examples,
    filter_options,
)
from passk_py.warehouse.catalog import KNOWN_TABLES, Filters, public_table

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT = 50
_NAMES = [table.name for table in KNOWN_TABLES]


class _ListsTables(click.Command):
    """Names the tables in its help: only there are all their descriptions read."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the tables before the examples."""
        lines = [
            f"  {table.name:<24} one row per {table.grain}"
            + (f"; with the var {table.var}" if table.var else "")
            for table in KNOWN_TABLES
        ]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n".join(["\b", "Tables:", *lines]))
        super().format_epilog(ctx, formatter)


@click.command(
    "show",
    cls=_ListsTables,
    short_help="Print pass@k, pass^k and a recommendation, or rows of a table.",
    epilog=examples(
        "passk show",
        "passk show passk_tasks --run nightly-2026-11-20 --limit 10",
        "passk show passk_suite_metrics --k 1 --k 4 --csv",
    ),
)
@click.argument("table", required=False, metavar="[TABLE]", type=NameChoice(_NAMES))
@database_option
@filter_options
@click.option(
    "--columns",
    metavar="A,B,...",
    help="Print only these columns. By default a terminal shows those that fit; --csv and "
    "--json have all.",
)
@click.option(
    "--limit",
    type=click.IntRange(0),
    help=f"Print at most this many rows; 0 prints all. [default: {_LIMIT}; all with --csv, --json]",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a header.")
@common_options
@pass_session
def command(
    session: Session,
    *,
    table: str | None,
    database: Path,
    runs: tuple[str, ...],
    suites: tuple[str, ...],
    ks: tuple[int, ...],
    columns: str | None,
    limit: int | None,
    as_csv: bool,
) -> int:
    """Print pass@k, pass^k and a recommendation or, with TABLE, rows of a public table.

    --k, --columns, --limit and --csv are for a TABLE.
    """
    filters = Filters(runs, suites, ks)
    if table is None:
        for given, option in ((ks, "--k"), (columns, "--columns"), (as_csv, "--csv")):
            if given:
                raise click.UsageError(f"{option} needs the name of a table.")
        if limit is not None:
            raise click.UsageError("--limit needs the name of a table.")
        from passk_py.cli.answer_output import print_answer

        print_answer(session, database, filters)
        return 0
    if as_csv and session.as_json:
        raise click.UsageError("Give either --csv or --json, not both.")
    chosen = public_table(table)
    if ks and "k" not in chosen.filters:
        raise click.UsageError(f"{table} has no k to filter by.")
    from passk_py.cli.next_steps import note_stale
    from passk_py.cli.table_output import Selection, print_csv, print_json, print_table
    from passk_py.warehouse.tables import open_tables, require_filtered

    named = tuple(name.strip() for name in columns.split(",")) if columns else ()
    most = limit or None
    if limit is None and not as_csv and not session.as_json:
        most = _LIMIT
    with open_tables(database) as tables:
        # Before the run is looked up: it may have landed after the build.
        stale = note_stale(session, tables)
        require_filtered(tables, filters, [chosen])
        selection = Selection(tables, chosen, filters, named, most)
        if as_csv:
            print_csv(selection)
        elif session.as_json:
            print_json(selection, stale=stale)
        else:
            print_table(session, selection)
    return 0
