"""``passk build``: build the public tables from the landed attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples, vars_option

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    "build",
    short_help="Build and test the tables with dbt.",
    epilog=examples(
        "passk build",
        "passk build --vars '{passk_deployment_k: 8, passk_min_eligible_share: 0.9}'",
        "passk build --select +passk_runs --full-refresh",
        "passk build --no-tests",
    )
    + "\n\nExit codes: 0 built, 1 a data test failed, 2 a model could not be built.",
)
@database_option
@click.option("--full-refresh", is_flag=True, help="Rebuild everything, not only the changes.")
@click.option(
    "--select",
    multiple=True,
    metavar="SELECTOR",
    help="Build only the models of this dbt selector; may be repeated. [default: all]",
)
@click.option(
    "--no-tests",
    "tests",
    flag_value=False,
    default=True,
    help="Skip the data tests, gates among them.",
)
@vars_option
@click.option(
    "--target",
    default="duckdb",
    show_default=True,
    help="Build with this target of the packaged dbt profile.",
)
@common_options
@pass_session
def command(
    session: Session,
    /,
    *,
    database: Path,
    variables: str | None,
    **options: Any,  # noqa: ANN401 - those of build()
) -> int:
    """Build the public tables from the landed attempts with dbt, and test them.

    A build covers the changes since the last one; if there are none, dbt is not started. A build
    with other vars rebuilds everything. dbt writes its files to the folder .passk beside the
    database; with --debug, its log there holds each statement.
    """
    from passk_py.cli.build_output import build_as_dict, rejected_rows, run_build, say_build
    from passk_py.cli.next_steps import command_line, say_next
    from passk_py.warehouse.settings import parse_variables

    report = run_build(session, database, variables=parse_variables(variables), **options)
    rejected = {} if report.failed else rejected_rows(database)
    session.result({"database": str(database), **build_as_dict(report), "rejected": rejected})
    say_build(session, report, rejected)
    if not report.failed:
        steps = [("next", command_line("show", database=database))]
        if rejected:
            why = command_line("show", "passk_rejected_attempts", database=database)
            steps.append(("then, why rows are rejected", why))
        say_next(session, *steps)
    return report.exit_code
