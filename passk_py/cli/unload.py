"""``passk unload``: remove landed rows from the database."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, NoReturn

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples
from passk_py.common.errors import PasskError
from passk_py.common.names import no_such
from passk_py.common.words import and_list, plain, plural

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    "unload",
    short_help="Remove the landed rows of a run or of a file.",
    epilog=examples("passk unload --run nightly-2026-11-20", "passk unload --source-file a.jsonl")
    + "\n\nExit codes: 0 removed, 2 no such run or file.",
)
@click.option(
    "--run",
    "run_id",
    metavar="RUN_ID",
    help="Remove this run, whichever files hold it. Give either --run or --source-file.",
)
@click.option("--source-file", help="Remove the rows of this file, named as it was loaded.")
@database_option
@common_options
@pass_session
def command(
    session: Session, *, run_id: str | None, source_file: str | None, database: Path
) -> int:
    """Remove the landed rows of a run or of a file.

    The next build removes them from the public tables. Loading the file again brings them back.
    `passk forget` is an alias of this command.
    """
    from passk_py.cli.next_steps import command_line, say_next
    from passk_py.ingest.landing import forget

    if (run_id is None) == (source_file is None):
        raise click.UsageError("Give either --run or --source-file.")
    if not database.exists():
        raise PasskError(
            f"There is no database {database}.", hint="Name the database with --database."
        )
    report = forget(database, run_id=run_id, source_file=source_file)
    if not any((report.rows, report.rejected, report.files, report.labels)):
        _reject_unknown(database, run_id, source_file)
    session.result({"database": str(database), **asdict(report)})
    what = f"the run {run_id}" if run_id is not None else f"the file {source_file}"
    session.say(
        f"Removed {plural(report.rows, 'attempt')} of {plural(report.tasks, 'task')} and "
        f"{plural(report.rejected, 'rejected row')} of {what}."
        if not report.labels
        else f"Removed {plural(report.labels, 'verdict')} of {what}."
    )
    say_next(session, ("next", command_line("build", database=database)))
    return 0


def _reject_unknown(database: Path, run_id: str | None, source_file: str | None) -> NoReturn:
    """Raise an error that lists the landed names: a typo must not look like a removal."""
    from passk_py.warehouse.tables import open_tables

    with open_tables(database) as tables:
        runs = tables.rows(
            "select run_id from landing.attempts union select run_id from landing.rejected "
            "where run_id is not null order by 1"
        )
        files = tables.rows("select source_file from landing.files order by 1")
    if run_id is not None:
        raise PasskError(
            no_such("run", [run_id], [run for (run,) in runs]),
            hint=f"Only a run that has landed in {database} can be removed.",
        )
    listed = and_list(plain(file) for (file,) in files)
    raise PasskError(
        f"No row of the file {source_file} has landed in {database}.",
        hint=f"The landed files: {listed}." if files else "No file has landed there.",
    )
