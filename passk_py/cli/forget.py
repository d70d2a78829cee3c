"""``passk forget``: landed rows out of the database again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from passk_py.answer.words import plural
from passk_py.cli.options import common_options, database_option, examples
from passk_py.cli.session import Session, pass_session
from passk_py.errors import PasskError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command(
    "forget",
    short_help="Landed rows out of the database again.",
    epilog=examples("passk forget --run nightly-2026-11-20", "passk forget --source-file a.jsonl"),
)
@click.option(
    "--run", "run_id", metavar="RUN_ID", help="Remove this run, whichever files it came from."
)
@click.option("--source-file", help="Remove what came from this file.")
@database_option
@common_options
@pass_session
def command(
    session: Session, *, run_id: str | None, source_file: str | None, database: Path
) -> int:
    """Remove the landed rows of a run or of a file.

    The next build removes them from the public tables. Loading the file again brings them back.
    """
    from passk_py.cli.next_steps import command_line, say_next
    from passk_py.landing import forget

    if (run_id is None) == (source_file is None):
        raise click.UsageError("Give either --run or --source-file.")
    if not database.exists():
        raise PasskError(
            f"There is no database {database}.", hint="Name the one to clean with --database."
        )
    report = forget(database, run_id=run_id, source_file=source_file)
    session.result(
        {
            "database": str(database),
            "rows": report.rows,
            "rejected": report.rejected,
            "files": report.files,
            "tasks": report.tasks,
        }
    )
    what = f"the run {run_id}" if run_id is not None else f"the file {source_file}"
    if not report.rows and not report.rejected:
        session.say(f"Nothing of {what} has landed in {database}.")
        say_next(session, ("its runs", command_line("show", "passk_runs", database=database)))
        return 0
    session.say(
        f"Removed {plural(report.rows, 'attempt')} of {plural(report.tasks, 'task')} and "
        f"{plural(report.rejected, 'rejected row')} of {what}."
    )
    say_next(session, ("next", command_line("build", database=database)))
    return 0
