"""``passk load``: load attempt logs into the database."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples
from passk_py.cli.table_output import fitted_table
from passk_py.common.words import plain, plural, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.ingest.landing import FileReport, LoadReport

__all__ = ["command"]

_LEAST_NAME: Final = 20
_OTHER_COLUMNS: Final = 52
_LONGEST_REASON: Final = 40
_MOST_REASONS: Final = 6
_MOST_PASSED_OVER: Final = 5
_MOST_PASSED_OVER_AS_JSON: Final = 100
_SHOWN: Final = 20
"""So many files are listed one by one; of more, only incomplete or doubtful ones."""


@click.command(
    "load",
    short_help="Load attempt logs into the database.",
    epilog=examples(
        "passk load results.jsonl",
        "passk load 'logs/**/*.parquet' --suite checkout --agent helpdesk",
        "passk load trials/ --run-id nightly-2026-11-20 --tag split=private --strict",
        "passk load jobs/ --policy 'agenttimeout*=excluded'",
        "passk load out.csv --map 'task_id=$.case' --map 'passed=$.score >= 0.8' "
        "--map attempt=in_order",
    )
    + "\n\nExit codes: 0 loaded, 1 --strict rejected a file, 2 a file could not be read.",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@database_option
@click.option(
    "--format",
    metavar="NAME",
    help="Read the files in this format; `passk formats` lists all. [default: recognised]",
)
@click.option(
    "--map",
    "lines",
    multiple=True,
    metavar="COLUMN=EXPR",
    help="Read any JSON, CSV or Parquet: say where a column is, e.g. 'task_id=$.case.id', "
    "'passed=$.score >= 0.8'; may be repeated.",
)
@click.option(
    "--mapping",
    "kept",
    metavar="NAME|FILE",
    help="Use the mapping passk_mappings/NAME.yml, or the one in FILE.",
)
@click.option(
    "--save-mapping", "save_as", metavar="NAME", help="Save the mapping as passk_mappings/NAME.yml."
)
@click.option("--run-id", help="Put all attempts into one run, numbered on from log to log.")
@click.option("--suite", help="Set the suite of all attempts.")
@click.option("--agent", help="Set the agent of all attempts.")
@click.option("--model", help="Set the model of all attempts.")
@click.option(
    "--tag", "tags", multiple=True, metavar="K=V", help="Tag all attempts; may be repeated."
)
@click.option(
    "--score-threshold",
    type=float,
    default=1.0,
    show_default=True,
    help="Count a score of at least this as a pass, where the log has no verdict.",
)
@click.option(
    "--policy",
    multiple=True,
    metavar="RULE|FILE",
    help="Set how attempts without a verdict count: REASON=failed, REASON=excluded, or a YAML "
    "file of `reason: outcome`; may be repeated. `passk formats --policy` lists the rules.",
)
@click.option(
    "--expected-attempts",
    metavar="N",
    type=click.IntRange(min=1),
    help="Expect N attempts of each task, where the log does not say how many there should be. "
    "Those that are not in the log count as missing.",
)
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Read N logs at a time.",
)
@click.option(
    "--parquet",
    metavar="FOLDER",
    help="Keep the attempts of a new database as Parquet in this folder, by suite and run.",
)
@click.option("--strict", is_flag=True, help="Reject a whole file if one of its rows is rejected.")
@common_options
@pass_session
def command(
    session: Session,
    /,
    *,
    paths: tuple[str, ...],
    database: Path,
    lines: tuple[str, ...],
    kept: str | None,
    save_as: str | None,
    tags: tuple[str, ...],
    policy: tuple[str, ...],
    **options: Any,  # noqa: ANN401 - those of load()
) -> int:
    """Load attempt logs from files, globs and folders.

    A file that has landed before is not loaded again; if it has changed, its rows are replaced.
    Rows that break the contract go to passk_rejected_attempts, each with its reason.

    --run-id, --suite, --agent, --model and --tag replace the log's own values. A log with several
    runs, suites, agents or models is rejected if an option names one for all. Logs that are loaded
    together under one --run-id form one run: the attempts of a task are numbered on from log to
    log, in the order given. Files of a folder or glob are ordered by name, run-2 before run-10.
    Formats with attempt numbers of their own (jsonl, json, csv, parquet, --map) keep them.
    """
    from passk_py.cli.progress import reading
    from passk_py.ingest.formats.mapping import mapping_from, save_mapping
    from passk_py.ingest.formats.policy import policy_from
    from passk_py.ingest.landing import load

    rules = policy_from(policy)
    mapping = mapping_from(lines, kept)
    if save_as is not None:
        if mapping is None:
            raise click.UsageError("--save-mapping needs --map or --mapping.")
        session.note(f"The mapping was saved in {save_mapping(mapping, save_as)}.")
        # By the name under which it was saved.
        mapping = replace(mapping, name=save_as)
    with reading(session) as progress:
        report = load(
            list(paths),
            database=database,
            tags=_tags(tags),
            policy=rules,
            mapping=mapping,
            progress=progress,
            **options,
        )
    session.result({"database": str(database), **_as_dict(report)})
    _say(session, report, database)
    return report.exit_code


def _tags(given: tuple[str, ...]) -> dict[str, str]:
    tags: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise click.UsageError(f"--tag is {text!r}, but must be a name and a value: K=V.")
        tags[name] = value
    return tags


def _say(session: Session, report: LoadReport, database: Path) -> None:
    listed = report.files
    if len(listed) > _SHOWN:
        failed = [file for file in listed if file.status == "failed"]
        others = [
            file
            for file in listed
            if file.status != "failed" and (file.rows_rejected or file.is_doubtful)
        ]
        # Every failed file is listed.
        listed = (*failed, *others[: max(0, _SHOWN - len(failed))])
    if not session.as_json and any(file.status != "failed" for file in report.files):
        _say_files(session, listed, report)
    for file in listed:
        if file.status == "failed":
            session.note(f"Error: {plain(file.message)}")
            if file.hint:
                session.note(plain(file.hint))
        elif file.message:
            session.note(f"{_short(file.path)}: {plain(file.message)}")
    for skipped in report.skipped[:3]:
        session.note(f"Skipped: {plain(skipped.path)} is {plain(skipped.reason)}.")
    if len(report.skipped) > 3:
        session.note(f"... and {len(report.skipped) - 3:,} more files.")
    if report.passed_over:
        named = ", ".join(_short(path) for path in report.passed_over[:_MOST_PASSED_OVER])
        more = ", ..." if len(report.passed_over) > _MOST_PASSED_OVER else ""
        them = "it" if len(report.passed_over) == 1 else "them"
        files = plural(len(report.passed_over), "file")
        session.note(f"{files} passed over: {named}{more}; name {them} to read {them}.")
    if any(file.status != "failed" for file in report.files):
        _say_next(session, report, database)


def _say_files(session: Session, listed: tuple[FileReport, ...], report: LoadReport) -> None:
    from rich.text import Text

    console = session.console()
    headings = ("file", "format", "status", "read", "landed", "rejected")
    lines: list[Sequence[str | Text]] = [
        (
            shortened(_short(file.path), max(_LEAST_NAME, console.width - _OTHER_COLUMNS)),
            file.format or "",
            Text(file.status, style="red" if file.status == "failed" else ""),
            *(f"{rows:,}" for rows in (file.rows_read, file.rows_landed, file.rows_rejected)),
        )
        for file in listed
    ]
    if len(report.files) > 1:
        total = (report.rows_read, report.rows_landed, report.rows_rejected)
        lines.append((plural(len(report.files), "file"), "", "", *(f"{rows:,}" for rows in total)))
    # Failures are always listed below.
    spared = [(1,), (3,), (2,)]
    table, _ = fitted_table(headings, lines, console.width, spared, numbers=range(3, 6))
    if len(report.files) > 1:
        table.rows[-1].style = "bold"
        if listed:
            table.rows[-2].end_section = True
    session.show(table, console)
    session.say()
    if len(report.files) > 1:
        statuses = ", ".join(f"{count:,} {status}" for status, count in report.statuses.items())
        excluded: Counter[str] = Counter()
        for file in report.files:
            excluded.update(file.excluded)
        left_out = []
        if excluded:
            # Where not all files are listed, no other line gives the reason.
            why = "" if len(listed) == len(report.files) else _reasons(dict(excluded.most_common()))
            left_out.append(f"{excluded.total():,} excluded{why}")
        if missing := sum(file.missing for file in report.files):
            left_out.append(f"{missing:,} missing")
        told = f" Attempts: {', '.join(left_out)}." if left_out else ""
        session.say(f"{plural(len(report.files), 'file')}: {statuses}.{told}")
    for file in listed:
        if file.status != "failed" and (said := _left_out(file)):
            session.say(f"{_short(file.path)}: {said}.")
    if report.parquet is not None:
        session.say(f"The attempts are stored as Parquet in {_short(str(report.parquet))}.")


def _left_out(file: FileReport) -> str:
    """Describe the rows and attempts of a file that are in no metric, and why."""
    parts = []
    if file.rows_rejected:
        rows = plural(file.rows_rejected, "row")
        parts.append(f"{rows} rejected{_reasons(file.reasons)}")
    if file.excluded:
        attempts = plural(sum(file.excluded.values()), "attempt")
        parts.append(f"{attempts} excluded{_reasons(file.excluded)}")
    if file.missing:
        parts.append(f"{plural(file.missing, 'expected attempt')} missing")
    return "; ".join(parts)


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


def _short(path: str) -> str:
    """Write a path relative to the current folder, if it is inside."""
    try:
        return plain(str(Path(path).relative_to(Path.cwd())))
    except ValueError:
        return plain(path)


def _reasons(reasons: dict[str, int]) -> str:
    named = [
        (shortened(plain(reason), _LONGEST_REASON), count) for reason, count in reasons.items()
    ]
    if len(named) == 1:
        return f" ({named[0][0]})" if named[0][0] else ""
    said = [f"{count:,} {reason or 'without a reason'}" for reason, count in named[:_MOST_REASONS]]
    return f" ({', '.join([*said, *(['...'] if len(named) > _MOST_REASONS else [])])})"


def _as_dict(report: LoadReport) -> dict[str, Any]:
    return {
        "rows_read": report.rows_read,
        "rows_landed": report.rows_landed,
        "rows_rejected": report.rows_rejected,
        "reasons": report.reasons,
        "files": [
            {
                "path": file.path,
                "status": file.status,
                "format": file.format,
                "rows_read": file.rows_read,
                "rows_landed": file.rows_landed,
                "rows_rejected": file.rows_rejected,
                "reasons": file.reasons,
                "excluded": file.excluded,
                "missing": file.missing,
                "message": file.message,
                "hint": file.hint,
            }
            for file in report.files
        ],
        "skipped": [asdict(file) for file in report.skipped],
        "passed_over": {
            "files": len(report.passed_over),
            "paths": list(report.passed_over[:_MOST_PASSED_OVER_AS_JSON]),
        },
        "parquet": None if report.parquet is None else str(report.parquet),
    }
