"""Print the answer, the names of its tables and the next steps."""

from __future__ import annotations

import itertools
import textwrap
from typing import TYPE_CHECKING, Final

from passk_py.cli.next_steps import command_line, note_stale, say_next
from passk_py.cli.session import PIPED_WIDTH
from passk_py.common.words import and_list, plain, plural

if TYPE_CHECKING:
    from pathlib import Path

    from passk_py.cli.session import Session
    from passk_py.reports.answer import Answer
    from passk_py.warehouse.catalog import Filters

_TABLES: Final = "Tables    "


def print_answer(
    session: Session, database: Path, filters: Filters | None = None, *, log: Path | None = None
) -> None:
    """Print the answer of the public tables, for the runs and suites of the filters."""
    from passk_py.reports.answer import find_answer
    from passk_py.reports.answer.as_dict import answer_as_dict
    from passk_py.warehouse.tables import open_tables, require_filtered

    with open_tables(database) as tables:
        # Before the run is looked up: it may have landed after the build.
        stale = note_stale(session, tables)
        if filters is not None:
            require_filtered(tables, filters)
        answer = find_answer(tables, filters)
        names = [table.name for table in tables.public()]
        # The view passk_gates would judge every rule; in a copy it is a table.
        gates = tables.find("int_passk__gate_runs") or tables.find("passk_gates")
        has_gates = bool(gates and tables.rows(f"select 1 from {gates} limit 1"))
    if session.as_json:
        about = {"database": str(database), "stale": stale, "tables": names}
        session.result(about | answer_as_dict(answer))
        return
    if not answer.suites:
        _say_empty(session, database, answer, filters)
        return
    show_answer(session, answer)
    session.say()
    session.say(f"Database  {database}")
    if log is not None:
        session.say(f"Log       {log}")
    listed = textwrap.wrap(", ".join(names), PIPED_WIDTH - len(_TABLES))
    for number, line in enumerate(listed):
        session.say(f"{' ' * len(_TABLES) if number else _TABLES}{line}")
    session.say("Next")
    _say_next(session, database, answer, has_gates=has_gates)


def show_answer(session: Session, answer: Answer) -> None:
    """Print the answer alone."""
    from passk_py.reports.answer.render import render_answer

    console = session.console()
    bars = not console.options.ascii_only
    session.show(render_answer(answer, width=console.width, bars=bars), console)


def _say_empty(session: Session, database: Path, answer: Answer, filters: Filters | None) -> None:
    if filters is not None and (filters.runs or filters.suites):
        # All of them exist, otherwise an error was raised.
        session.say(f"{database} has no attempts of {_chosen(filters)}.")
        if not answer.rejected:
            say_next(session, ("its runs", command_line("show", "passk_runs", database=database)))
            return
    else:
        session.say(f"{database} has no attempts.")
    if answer.rejected:
        rejected = command_line("show", "passk_rejected_attempts", database=database)
        were = "row was" if answer.rejected == 1 else "rows were"
        say_next(session, (f"why {answer.rejected:,} {were} rejected", rejected))
    else:
        say_next(session, ("load a log", command_line("load", "FILE", database=database)))


def _chosen(filters: Filters) -> str:
    given = (names for names in (filters.runs, filters.suites) if names)
    return " in ".join(and_list(map(plain, names)) for names in given)


def _say_next(session: Session, database: Path, answer: Answer, *, has_gates: bool) -> None:
    from passk_py.reports.report import missing_package

    suite = answer.suites[0]
    best = answer.verdicts[suite.name][0].unattended.runs
    run = (best or suite.runs)[0].run_id
    gates = [("do the rules hold", command_line("gate", database=database))] if has_gates else []
    steps = [
        ("what changed", command_line("compare", *two, database=database))
        for two in newest_pair(answer)
    ]
    if missing_package() is None:
        steps.append(("see it", command_line("report", database=database)))
    steps += [
        *gates,
        ("can the log be trusted", command_line("diagnose", run, database=database)),
        ("task by task", command_line("show", "passk_tasks", "--run", run, database=database)),
        ("every k and estimator", command_line("show", "passk_suite_metrics", database=database)),
        ("SQL against polars", command_line("validate", database=database)),
        ("tables as files", command_line("export", "--all", "-o", "tables", database=database)),
    ]
    if answer.rejected:
        rejected = command_line("show", "passk_rejected_attempts", database=database)
        steps.insert(0, (plural(answer.rejected, "rejected row"), rejected))
    say_next(session, *steps)


def newest_pair(answer: Answer) -> list[tuple[str, str]]:
    """Choose a pair of runs to compare next: one with a regression, else the newest."""
    suite = answer.suites[0]
    regressed = [
        (one.change.baseline, one.after.run_id)
        for verdict in answer.verdicts[suite.name]
        for one in verdict.regressions
    ]
    pairs = [*itertools.pairwise(suite.runs), *itertools.pairwise(suite.groups[0])]
    pairs.sort(key=lambda two: two[1].newness, reverse=True)
    pairs.sort(key=lambda two: two[0].agent != two[1].agent or two[0].agent is None)
    newest = [(before.run_id, after.run_id) for before, after in pairs]
    return [*regressed, *newest][:1]
