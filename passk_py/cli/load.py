"""``passk load``: load attempt logs into the database."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from passk_py.cli.load_output import load_as_dict, note_problems, say_files
from passk_py.cli.reading_options import read_logs, reading_options
from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples
from passk_py.cli.standard_input import stdin_kept
from passk_py.common.words import plain, plural

if TYPE_CHECKING:
    from pathlib import Path

    from passk_py.ingest.landing import LoadReport


@click.command(
    "load",
    short_help="Load attempt logs into the database.",
    epilog=examples(
        "passk load results.jsonl",
        "passk load 'logs/**/*.parquet' --suite checkout --agent helpdesk",
        "passk load trials/ --run-id nightly-2026-11-20 --tag split=private --strict",
        "passk load s3://evals/nightly/ https://example.org/results.jsonl",
        "passk load jobs/ --policy 'agenttimeout*=excluded'",
        "passk load out.csv --map 'task_id=$.case' --map 'passed=$.score >= 0.8' "
        "--map attempt=in_order",
        "passk load --labels labels.csv",
        "passk load --verdicts verdicts.csv",
    )
    + "\n\nExit codes: 0 loaded, 1 --strict rejected a file, 2 a file could not be read.",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@database_option
@reading_options
@click.option(
    "--save-mapping", "save_as", metavar="NAME", help="Save the mapping as passk_mappings/NAME.yml."
)
@click.option(
    "--parquet",
    metavar="FOLDER",
    help="Keep the attempts of a new database as Parquet in this folder, by suite and run. "
    "[default: in the database]",
)
@click.option(
    "--labels",
    "are_labels",
    is_flag=True,
    help="Read people's verdicts on attempts: run_id, suite, task_id, attempt, verdict.",
)
@click.option(
    "--verdicts",
    "are_verdicts",
    is_flag=True,
    help="Read judges' verdicts on attempts: the same columns, and judge.",
)
@common_options
@pass_session
@click.pass_context
def command(
    context: click.Context,
    session: Session,
    /,
    *,
    paths: tuple[str, ...],
    database: Path,
    are_labels: bool,
    are_verdicts: bool,
    **options: Any,  # noqa: ANN401 - those of reading
) -> int:
    """Load attempt logs from files, globs, folders, addresses and standard input (-).

    Valid rows land: they go to the tables of the schema landing, which `passk build` reads. Invalid
    rows go to passk_rejected_attempts, each with its reason. A file that has landed before is
    skipped; if it has changed, its rows are replaced.

    --run-id, --suite, --agent, --model and --tag replace the log's own values. A log with several
    runs, suites, agents or models is rejected if an option would make them one. Logs that are
    loaded together under one --run-id form one run: the attempt numbers of a task continue from
    log to log, in the order given. Files of a folder or glob are ordered by name, run-2 before
    run-10. Formats with attempt numbers of their own (jsonl, json, csv, parquet, --map) keep them.

    With --labels, the files (CSV, TSV, JSON lines, JSON, Parquet) say whether attempts truly
    passed. The next build then says how often the grader errs, and corrects the metrics.

    With --verdicts, the files hold verdicts of judges that may err, such as models; an attempt may
    have several. The next build then says how far judges agree, with each other and with the log.
    """
    if are_labels or are_verdicts:
        spelled = "--labels" if are_labels else "--verdicts"
        given = [
            one.opts[0]
            for one in context.command.params
            if one.name in {*options, "are_verdicts"}
            and one.opts[0] != spelled
            and context.get_parameter_source(one.name) is ParameterSource.COMMANDLINE
        ]
        if given:
            raise click.UsageError(f"{spelled} can't be combined with {given[0]}.")
        return _load_labels(session, paths, database, are_verdicts=are_verdicts)
    with stdin_kept(paths) as (named, kept):
        if kept is not None:
            from passk_py.ingest.landing.fingerprint import digest_of_file

            # By its content, because each standard input is another file.
            options["known_as"] = {str(kept): f"stdin:{digest_of_file(kept)[:16]}"}
        report = read_logs(session, named, database, **options)
    session.result({"database": str(database), **load_as_dict(report)})
    say_files(session, report)
    note_problems(session, report)
    if any(file.status != "failed" for file in report.files):
        _say_next(session, report, database)
    return report.exit_code


def _load_labels(
    session: Session, paths: tuple[str, ...], database: Path, *, are_verdicts: bool
) -> int:
    from passk_py.cli.next_steps import command_line, say_next
    from passk_py.ingest.landing import load_labels, load_verdicts

    load, word = (load_verdicts, "verdict") if are_verdicts else (load_labels, "label")
    files = load(list(paths), database=database)
    session.result({"database": str(database), "files": [asdict(file) for file in files]})
    for file in files:
        landed = f"{plural(file.rows_landed, word)} landed, {file.rows_rejected:,} rejected"
        session.say(f"{plain(file.path)}: {file.status}, {landed}.")
        if file.first_reason is not None:
            session.note(f"{plain(file.path)}: the first rejected is {plain(file.first_reason)}")
    say_next(session, ("next", command_line("build", database=database)))
    return 0


def _say_next(session: Session, report: LoadReport, database: Path) -> None:
    from passk_py.cli.next_steps import command_line, say_next

    steps = [("next", command_line("build", database=database))]
    if any(file.excluded for file in report.files):
        policy = command_line("formats", "--policy")
        steps.append(("then, which reasons exclude an attempt", policy))
    if report.rows_rejected:
        rejected = command_line("show", "passk_rejected_attempts", database=database)
        steps.append(("then, why rows were rejected", rejected))
    say_next(session, *steps)
