"""``passk boards``: serve dashboards of dbt charts over the tables."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples


@click.command(
    "boards",
    short_help="Serve dashboards of the tables, with filters, in the browser.",
    epilog=examples(
        "passk boards",
        "passk publish -o bi && passk boards --database bi/passk.duckdb --port 8081",
        "passk boards --uri postgresql://reader@db/evals --schema reliability",
    ),
)
@database_option
@click.option(
    "--uri",
    metavar="URI",
    help="Read the tables in this Postgres instead: postgresql://USER:PASSWORD@HOST/DATABASE.",
)
@click.option(
    "--schema",
    help="Set the schema of the tables, if the database does not find them without it.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8080,
    show_default=True,
    help="Serve on this port.",
)
@click.option(
    "--host",
    default="localhost",
    show_default=True,
    help="Serve at this address. 0.0.0.0 lets in every machine of your network, such as a phone; "
    "there is no password.",
)
@common_options
@pass_session
def command(
    session: Session,
    *,
    database: Path,
    uri: str | None,
    schema: str | None,
    port: int,
    host: str,
) -> int:
    """Serve seven boards: overview, run, details, grader, compare, task, gates.

    You need dct, the program of dbt charts, on the path or named by PASSK_DCT. The boards have a
    dark mode, and one column on a phone. They read the tables whenever a page is loaded: if builds
    run meanwhile, serve a copy by `passk publish`.
    """
    from passk_py.reports.boards.board_project import write_project
    from passk_py.reports.boards.board_server import BoardServer
    from passk_py.reports.boards.dct_program import Dct, any_port, find_dct

    program = find_dct()
    source, password = _source(session, click.get_current_context(), database, uri, schema)
    with (
        BoardServer(host, port) as server,
        tempfile.TemporaryDirectory(prefix="passk-boards-") as name,
    ):
        folder = Path(name)
        write_project(folder, source)
        dct = Dct(program, folder, any_port(), password)
        if uri is not None:
            dct.check("passk_runs")
        with dct:
            server.dct = dct
            address = f"http://{'localhost' if host == '0.0.0.0' else host}:{port}/"  # noqa: S104
            session.result({"address": address, "dct": program})
            session.say(f"{address}  (Ctrl-C stops)")
            server.serve_forever()
    return 0


def _source(
    session: Session,
    context: click.Context,
    database: Path,
    uri: str | None,
    schema: str | None,
) -> tuple[dict[str, Any], str]:
    """Describe the database to dct, and give its password."""
    from passk_py.cli.next_steps import note_stale
    from passk_py.common.errors import PasskError
    from passk_py.reports.boards.board_project import duckdb_source, postgres_source
    from passk_py.warehouse.tables import open_tables

    if uri is not None:
        if context.get_parameter_source("database") is ParameterSource.COMMANDLINE:
            raise PasskError("Give --database or --uri, not both.")
        return postgres_source(uri, schema)
    with open_tables(database) as tables:
        runs = tables.find("passk_runs", schema=schema)
        if runs is None and schema is not None and tables.find("passk_runs"):
            raise PasskError(
                f"{database} has no table passk_runs in the schema {schema}.",
                hint="Leave out --schema: it is found.",
            )
        runs = runs or tables.require("passk_runs")
        note_stale(session, tables)
    return duckdb_source(database, runs.split('"')[1]), ""
