"""``passk peek``: answer from attempt logs alone, without a database and without dbt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from passk_py.cli.load_output import load_as_dict, note_problems
from passk_py.cli.log_tables import in_memory, settings_of_log, tables_of_log
from passk_py.cli.next_steps import command_line, say_next
from passk_py.cli.reading_options import read_logs, reading_options
from passk_py.cli.session import GATE_COULD_NOT_RUN, Session, pass_session
from passk_py.cli.shared_options import common_options, examples
from passk_py.cli.standard_input import STDIN, stdin_kept
from passk_py.common.errors import PasskError
from passk_py.common.words import and_list, plain, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passk_py.ingest.landing import LoadReport
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

_MOST: Final = 1_000_000
_NOT_OF_READING: Final = ("pair", "rules", "k", "difficulty")


@click.command(
    "peek",
    short_help="Print pass@k, pass^k and a recommendation, without a database.",
    epilog=examples(
        "passk peek results.jsonl",
        "zstd -dc results.jsonl.zst | passk peek -",
        "passk peek logs/ --compare nightly-2026-11-19 nightly-2026-11-20",
        "passk peek results.jsonl --gate gates.yml",
        "passk peek results.jsonl --k 8 --json",
    )
    + "\n\nExit codes: 0 answered, 1 --strict rejected a file, 2 a file could not be read or "
    "nothing can be compared. "
    "--gate has those of `passk gate`.",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--compare",
    "pair",
    nargs=2,
    metavar="BASELINE CANDIDATE",
    help="Compare two runs instead, both named by their run_id.",
)
@click.option(
    "--gate",
    "rules",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Judge the rules of a YAML file instead, for a pipeline without a database.",
)
@click.option(
    "--k",
    type=click.IntRange(1, _MOST),
    help="Judge runs by this number of tries; also the k of rules that name none. [default: 4]",
)
@click.option(
    "--difficulty",
    metavar="NAME",
    help="Say up to which length of tasks a run is reliable; tag or column NAME has the length.",
)
@reading_options
@common_options
@pass_session
def command(
    session: Session,
    /,
    *,
    paths: tuple[str, ...],
    pair: tuple[str, str] | None,
    rules: Path | None,
    k: int | None,
    difficulty: str | None,
    **options: Any,  # noqa: ANN401 - those of reading
) -> int:
    """Print pass@k, pass^k and a recommendation from attempt logs, without a database.

    The answer is the one that `passk load`, `passk build` and `passk show` print, but nothing is
    kept. PATH is a file, a glob, a folder or an address, as for `passk load`, or - for standard
    input. To query tables in SQL, to diagnose a log, or for reports, load the logs.
    """
    if pair is not None and rules is not None:
        raise click.UsageError("Give either --compare or --gate, not both.")
    if difficulty is not None and (pair is not None or rules is not None):
        raise click.UsageError("--difficulty is for the answer, without --compare and --gate.")
    if rules is not None:
        # The code that holds until all is judged, even if nobody reads the notes.
        session.could_not_run = session.code = GATE_COULD_NOT_RUN
    settings = settings_of_log(k, difficulty)
    with stdin_kept(paths) as (named, kept), in_memory() as connection:
        report = _as_given(read_logs(session, named, connection, **options), kept)
        note_problems(session, report)
        _require_attempts(report, rules)
        about = {"paths": list(paths), "log": load_as_dict(report)}
        if not report.rows_landed:
            # The notes say why.
            session.result(about)
            return report.exit_code
        from passk_py.reports.queries.attempt_queries import count_rejected

        tables = tables_of_log(connection, settings)
        rejected = count_rejected(tables)
        if rejected and tables.rows("select 1 from passk_runs limit 1"):
            session.note(f"{_rejected(rejected)} and in no number below.")
        if pair is not None:
            _compare(session, tables, settings, pair, about)
        elif rules is not None:
            _judge(session, tables, settings, rules, about)
        else:
            _answer(session, tables, settings, paths, about, k)
    return session.code or (0 if rules is not None else report.exit_code)


def _as_given(report: LoadReport, kept: Path | None) -> LoadReport:
    """Name standard input in the report as the caller did, and say of no file that it lands."""

    def said(text: str, name: str) -> str:
        return text if kept is None else text.replace(str(kept), name)

    files = [
        replace(
            file,
            path=said(file.path, STDIN),
            message=said(file.message, "Standard input").replace("did not land", "is left out"),
            hint=file.hint.replace("load without --strict to land", "leave out --strict to count"),
        )
        for file in report.files
    ]
    return replace(report, files=tuple(files))


def _require_attempts(report: LoadReport, rules: Path | None) -> None:
    """Raise an error if there is nothing to answer from, or not all that a gate has to judge."""
    failed = sum(file.status == "failed" for file in report.files)
    if rules is not None and failed:
        were = "file was" if failed == 1 else "files were"
        raise PasskError(f"No gate was judged: {failed:,} {were} not read.")
    empty = [file.path for file in report.files if not file.rows_landed and file.rows_read]
    if rules is not None and empty:
        raise PasskError(
            f"No gate was judged: every row of {plain(empty[0])} was rejected.",
            hint="Correct its rows, or do not name it.",
        )
    if not report.rows_landed and not failed:
        raise PasskError(
            "No attempt is left to answer from: passk rejected every row.",
            hint="Correct the rows; --run-id, --suite and --map set what a log leaves out.",
        )


def _answer(
    session: Session,
    tables: Tables,
    settings: Settings,
    paths: tuple[str, ...],
    about: Mapping[str, Any],
    k: int | None,
) -> None:
    from passk_py.cli.answer_output import newest_pair, show_answer
    from passk_py.reports.answer import find_answer
    from passk_py.reports.answer.as_dict import answer_as_dict

    answer = find_answer(tables)
    if not answer.suites:
        codes = tables.rows("select distinct reason_code from passk_rejected_attempts order by 1")
        raise PasskError(
            f"No attempt is left to answer from: {_rejected(answer.rejected)}, as "
            f"{and_list(str(code) for (code,) in codes)}.",
            hint="Give each attempt of a task one row and a number of its own.",
        )
    name = settings.difficulty_name
    if name is not None and not any(suite.horizons for suite in answer.suites):
        session.note(
            f"No task with {plural(settings.deployment_k, 'attempt')} has a number above 0 in the "
            f"tag or column {plain(name)}."
        )
    session.result({**about, **answer_as_dict(answer)})
    if session.as_json:
        return
    show_answer(session, answer)
    session.say()
    session.say("Next")
    # Standard input is gone.
    again = [*("FILE" if path == STDIN else path for path in paths), *_reading_words()]
    judged_by = [] if k is None else ["--k", str(k)]
    steps = [
        ("what changed", command_line("peek", *again, *judged_by, "--compare", *two))
        for two in newest_pair(answer)
    ]
    steps.append(("keep the log", command_line("load", *again)))
    asked = []
    if name is not None:
        from passk_py.warehouse.building.variables import as_yaml

        asked = ["--vars", as_yaml({"passk_difficulty": name})]
    steps.append(("then, all tables", command_line("build", *asked)))
    say_next(session, *steps)


def _rejected(rows: int) -> str:
    return f"{plural(rows, 'row')} {'is' if rows == 1 else 'are'} rejected"


def _reading_words() -> list[str]:
    """Give the options of this call that say how logs are read, to be typed again."""
    context = click.get_current_context()
    words = []
    for option in context.command.params:
        name = str(option.name)
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not isinstance(option, click.Option) or not is_given or name in _NOT_OF_READING:
            continue
        value = context.params.get(name)
        if option.is_flag:
            words += [option.opts[0]] if value else []
        else:
            values = list(value or ()) if option.multiple else [value]
            words += [word for one in values for word in (option.opts[0], str(one))]
    return words


def _compare(
    session: Session,
    tables: Tables,
    settings: Settings,
    pair: tuple[str, str],
    about: Mapping[str, Any],
) -> None:
    from passk_py.cli.compare import find_comparison, say_comparison

    found = find_comparison(tables, settings, *pair)
    say_comparison(session, found, about, k=settings.deployment_k)


def _judge(
    session: Session, tables: Tables, settings: Settings, rules: Path, about: Mapping[str, Any]
) -> None:
    from passk_py.cli.gate import gate_code, read_gates, say_gates, unmatched
    from passk_py.warehouse.gates_of_tables import judge_tables
    from passk_py.warehouse.looks import with_looks

    read = read_gates(None, rules, (), settings)
    # A log has no memory of builds, so looks is null here.
    rows = with_looks(tables, judge_tables(tables, settings, read).to_dicts())
    # Before any output: the reader of a pipe may close it, and a gate must not pass by that.
    session.code = gate_code(tables, rows)
    named = {row[name] for row in rows for name in ("run_id", "baseline_run_id")}
    runs = tables.rows("select distinct run_id from passk_runs order by 1")
    if others := [plain(run) for (run,) in runs if run not in named]:
        session.note(
            f"Not judged: {and_list(others)}. A rule without run: judges the latest run of each "
            "suite and agent: without started_at the last one read, of one file the last by name."
        )
    session.result({**about, "exit_code": session.code, "gates": rows})
    say_gates(session, rows, unmatched(tables, rows))
