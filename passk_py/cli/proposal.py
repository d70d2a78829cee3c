"""``passk formats --propose``: the mapping that may read a file, and what would land by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.cli.load_output import note_problems
from passk_py.cli.log_tables import in_memory
from passk_py.cli.next_steps import command_line
from passk_py.cli.table_output import fitted_table
from passk_py.common.errors import PasskError
from passk_py.common.words import and_list, plain, plural

if TYPE_CHECKING:
    from pathlib import Path

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
    from passk_py.ingest.formats.mappings.unknown import BLANKS, looks_like, proposal

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
        lines = proposal(sample)
    command = " ".join([command_line("load", str(path)), map_options(lines)]).strip()
    session.say(command)
    rows: list[dict[str, Any]] = []
    if blanks := [line for line in lines.values() if line in BLANKS]:
        session.note(
            f"No name in the file says what {and_list(blanks)} {'are' if blanks[1:] else 'is'}: "
            "write the right paths there."
        )
    else:
        mapping = mapping_from([f"{name}={line}" for name, line in lines.items()], None)
        rows = _say_rows(session, path, mapping)
    named = known.name if known else None
    session.result({"command": command, "format": named, "mapping": lines, "rows": rows})
    return 0


def _say_rows(session: Session, path: Path, mapping: Mapping | None) -> list[dict[str, Any]]:
    """Print the first rows as they would land, and how many there are."""
    from passk_py.ingest.landing import load

    with in_memory() as connection:
        report = load(path, database=connection, mapping=mapping)
        rows = connection.execute(
            f"select {', '.join(_COLUMNS)} from landing.attempts "
            f"order by source_line, attempt limit {_ROWS}"
        ).fetchall()
    console = session.console()
    texts = [["" if value is None else plain(str(value)) for value in row] for row in rows]
    headings = ("run", "task", "attempt", "verdict", "score")
    table, _ = fitted_table(headings, texts, console.width, [(0,), (1,)], numbers=range(2, 3))
    session.say()
    session.show(table, console)
    rejected = f", {report.rows_rejected:,} rejected" if report.rows_rejected else ""
    session.say(f"{plural(report.rows_landed, 'attempt')} would land{rejected}.")
    note_problems(session, report)
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
