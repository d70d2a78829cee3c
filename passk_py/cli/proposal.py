"""``passk formats --propose``: the mapping that may read a file, and what would land by it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from passk_py.cli.load_output import note_problems
from passk_py.cli.log_tables import in_memory
from passk_py.cli.next_steps import command_line
from passk_py.cli.table_output import fitted_table
from passk_py.common.errors import PasskError
from passk_py.common.words import and_list, plain, plural
from passk_py.ingest.formats.kinds import listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from passk_py.cli.session import Session
    from passk_py.ingest.formats.mappings.mapping import Mapping

_ROWS: Final = 10
_COLUMNS: Final = ("run_id", "task_id", "attempt", "outcome", "score")


def say_proposal(session: Session, path: Path) -> int:
    """Print the command that may read a file, and the first rows as they would land."""
    import duckdb

    from passk_py.ingest.formats import recognise
    from passk_py.ingest.formats.first_look import take_sample
    from passk_py.ingest.formats.mappings.mapping import map_options, mapping_from
    from passk_py.ingest.formats.mappings.unknown import (
        BLANKS,
        holds_columns,
        looks_like,
        proposal,
    )

    if not path.is_file():
        raise PasskError(f"{path} is no file.", hint="Name a file that `passk load` does not read.")
    with duckdb.connect() as connection:
        sample = take_sample(path, connection)
    known = None if sample.problem else recognise(sample)
    if known and not known.is_harness and "attempt" not in sample.fields:
        # The format rejects the file; a mapping may number rows in their order.
        known = None
    lines: dict[str, str] = {}
    if known is None:
        if sample.problem or not looks_like(sample):
            what = sample.problem.message if sample.problem else sample.description
            raise PasskError(
                f"{path} is {what or 'no log'}, for which there is no mapping.",
                hint=(sample.problem and sample.problem.hint)
                or "Mappings read JSON, CSV and Parquet.",
            )
        if holds_columns(sample):
            raise PasskError(
                f"{path} holds columns, one after the other, for which there is no mapping.",
                hint="Write its rows, as pandas does with to_json(orient='records').",
            )
        lines = proposal(sample)
    command = " ".join([command_line("load", str(path)), map_options(lines)]).strip()
    session.say(command)
    rows: list[dict[str, Any]] = []
    code = 0
    if blanks := [line for line in lines.values() if line in BLANKS]:
        session.note(
            f"No name in the file says what {and_list(blanks)} {'are' if blanks[1:] else 'is'}: "
            "write the right paths there."
        )
    else:
        mapping = mapping_from([f"{name}={line}" for name, line in lines.items()], None)
        rows, code = _say_rows(session, path, mapping)
    named = known.name if known else None
    session.result({"command": command, "format": named, "mapping": lines, "rows": rows})
    return code


def _doubts(connection: DuckDBPyConnection) -> Iterator[str]:
    """Say of the rows that landed what a person should look at before the line is run."""
    twice = connection.execute(
        "select run_id, task_id, attempt from landing.attempts "
        "group by run_id, suite, task_id, attempt having count(*) > 1 order by all limit 1"
    ).fetchone()
    if twice:
        run, task, attempt = map(str, twice)
        yield (
            f"Several rows are attempt {attempt} of task {plain(task)} in run {plain(run)}: name "
            "their runs by --map run_id=..., or number them by --map attempt=in_order."
        )
    reasons = connection.execute(
        "select outcome_reason from landing.attempts "
        "where outcome = 'excluded' and outcome_reason is not null "
        "group by outcome_reason order by count(*) desc, outcome_reason"
    ).fetchall()
    if reasons:
        said = [plain(str(reason)) for (reason,) in reasons]
        yield (
            f"Attempts with the {'reasons' if said[1:] else 'reason'} {listed(said)} have no "
            "verdict and do not count. Where one is a failure of the agent, add --policy "
            f"{shlex.quote(f'{said[0]}=failed')}, for example."
        )
    most = connection.execute(
        "select max(score) from landing.attempts where outcome_reason is null having max(score) > 1"
    ).fetchone()
    if most:
        yield (
            f"The scores go up to {most[0]:g}, and all from 1 on pass: add --score-threshold with "
            "the least score that should."
        )


def _say_rows(
    session: Session, path: Path, mapping: Mapping | None
) -> tuple[list[dict[str, Any]], int]:
    """Print the first rows as they would land, and how many; 2 if the file can't be read."""
    from passk_py.ingest.landing import load

    with in_memory() as connection:
        report = load(path, database=connection, mapping=mapping)
        rows = connection.execute(
            f"select {', '.join(_COLUMNS)} from landing.attempts "
            f"order by source_line, attempt limit {_ROWS}"
        ).fetchall()
        notes = [*_doubts(connection)]
    console = session.console()
    texts = [["" if value is None else plain(str(value)) for value in row] for row in rows]
    headings = ("run", "task", "attempt", "verdict", "score")
    table, _ = fitted_table(headings, texts, console.width, [(0,), (1,)], numbers=range(2, 3))
    session.say()
    session.show(table, console)
    rejected = f", {report.rows_rejected:,} rejected" if report.rows_rejected else ""
    session.say(f"{plural(report.rows_landed, 'attempt')} would land{rejected}.")
    note_problems(session, report)
    for note in notes:
        session.note(note)
    said = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    # Rejected rows are said, and are no reason for an error.
    return said, report.exit_code if report.exit_code > 1 else 0
