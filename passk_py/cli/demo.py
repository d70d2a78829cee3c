"""``passk demo``: make a demo log, load it, build the tables and print the answer."""

from __future__ import annotations

from pathlib import Path

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, examples
from passk_py.common.errors import PasskError

_LOG = "passk_demo.jsonl"
_DEFAULT = Path("passk_demo.duckdb")


@click.command(
    "demo",
    short_help="Make a demo log, load it, build the tables, print the answer.",
    epilog=examples("passk demo", "passk demo --database /tmp/demo.duckdb --json")
    + "\n\nExit codes: 0 done, 1 a data test failed, 2 it could not run.",
)
# Not PASSK_DATABASE: that names the user's own runs, and the demo never touches them.
@click.option(
    "--database",
    type=click.Path(path_type=Path),
    default=_DEFAULT,
    show_default=True,
    metavar="PATH",
    help="Make this DuckDB file. The log is written beside it.",
)
@common_options
@pass_session
def command(session: Session, *, database: Path) -> int:
    """Make a demo log, load it, build the tables and print the answer.

    The log holds real attempts of randomized solvers at 48 puzzles. The demo takes up to a
    minute, needs no network and does not touch your own runs.
    """
    from passk_py.cli.answer_output import print_answer
    from passk_py.cli.build_output import run_build, say_build
    from passk_py.demo import write_log
    from passk_py.ingest.landing import load

    log = database.parent / _LOG
    _reject_other_log(log)
    _reject_other_runs(database, log)
    session.note(f"Making {log}: solvers try 48 puzzles.")
    try:
        write_log(log)
    except OSError as error:
        raise PasskError(
            f"{log} can't be written: {error.strerror}.",
            hint="With --database, name a database in a folder where you may write.",
        ) from error
    loaded = load(log, database=database)
    for file in loaded.files:
        if file.status == "failed":
            raise PasskError(file.message, hint=file.hint or None)
    session.note(f"Loaded {loaded.rows_landed:,} attempts. Building the tables with dbt.")
    report = run_build(session, database, variables={"passk_gates": "demo"})
    if report.failed:
        say_build(session, report)
        session.result({"database": str(database), "failed": [n.name for n in report.failed]})
        return report.exit_code
    session.note("")
    print_answer(session, database, log=log)
    return 0


def _reject_other_log(log: Path) -> None:
    """Raise an error if a file of that name is not the demo's."""
    import json

    try:
        with log.open("rb") as file:
            first = file.readline(100_000)
    except FileNotFoundError:
        return
    except OSError as error:
        raise PasskError(f"{log} can't be read: {error.strerror}.") from error
    try:
        ours = json.loads(first).get("suite") == "puzzles"
    except (ValueError, AttributeError):
        ours = False
    if not ours:
        raise PasskError(
            f"{log} already exists and is not the demo's log.",
            hint="Name a database in another folder with --database, or move the file away.",
        )


def _reject_other_runs(database: Path, log: Path) -> None:
    """Raise an error unless the database is new or holds only the demo."""
    if not database.exists() or (database.is_file() and not database.stat().st_size):
        return
    from passk_py.warehouse.tables import open_tables

    hint = "Give a new file with --database: the demo never mixes with other data."
    with open_tables(database) as tables:
        landed = tables.find("attempts", schema="landing")
        if landed is not None:
            rejected = tables.find("rejected", schema="landing")
            others = tables.rows(
                f"select source_file from {landed} union select source_file from {rejected}"
            )
            for (source,) in others:
                if Path(source) != log.absolute():
                    raise PasskError(f"{database} holds attempts of {source}.", hint=hint)
        foreign = tables.rows(
            "select table_schema || '.' || table_name from information_schema.tables "
            "where table_schema <> 'landing' and not starts_with(table_name, 'passk_') "
            "and not contains(table_name, '_passk__') order by 1 limit 1"
        )
        if foreign:
            raise PasskError(f"{database} holds the table {foreign[0][0]}.", hint=hint)
