"""``passk validate``: check the SQL tables against polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples, vars_option
from passk_py.common.words import plain, plural

if TYPE_CHECKING:
    from pathlib import Path

    from passk_py.validation.check_all import ValidationReport
    from passk_py.validation.parity import Difference

_EXAMPLES = 20


@click.command(
    "validate",
    short_help="Recompute every number in polars and compare it with SQL.",
    epilog=examples("passk validate", "passk validate --json")
    + "\n\nExit codes: 0 the tables agree, 1 they differ, 2 nothing to compare.",
)
@database_option
@vars_option
@common_options
@pass_session
def command(session: Session, *, database: Path, variables: str | None) -> int:
    """Recompute every public number from passk_attempts in polars, and compare it with SQL.

    Counts, times, names, classes, verdicts and gate results must be equal, nulls must be in the
    same places, and no row may appear twice. Numbers may differ by a relative 1e-12; limits, p,
    plans and extrapolations, which SQL approximates, by 1e-9. The vars determine the expected pairs
    of runs and gates. --vars is needed only for a database that does not record its vars.
    """
    from passk_py.cli.next_steps import note_stale
    from passk_py.cli.progress import counting
    from passk_py.validation.check_all import validate_tables
    from passk_py.warehouse.settings import parse_variables
    from passk_py.warehouse.tables import open_tables

    given = parse_variables(variables)
    with open_tables(database) as tables:
        stale = note_stale(session, tables)
    with counting(session, "Recomputing", "attempts") as progress:
        report = validate_tables(database, variables=given, examples=_EXAMPLES, progress=progress)
    session.result({"database": str(database), "stale": stale, **_as_dict(report)})
    session.log(
        "validated",
        level="error" if report.different else "info",
        runs=report.runs,
        attempts=report.attempts,
        different=report.different,
    )
    _say(session, report)
    return report.exit_code


def _say(session: Session, report: ValidationReport) -> None:
    for table in report.tables:
        verdict = f"{table.different:,} differ" if table.different else "agree"
        session.say(
            f"{table.table:<22}  {table.rows:>12,} rows  {table.values:>14,} values  "
            f"largest relative difference {table.largest:.1e}  {verdict}"
        )
    if report.different:
        for example in report.examples[:_EXAMPLES]:
            session.say(_line(example))
        more = report.different - len(report.examples[:_EXAMPLES])
        if more > 0:
            session.say(f"... and {more:,} more.")
        session.say(f"SQL and polars differ in {plural(report.different, 'value')}.")
    else:
        session.say(
            f"SQL and polars agree on {plural(report.runs, 'run')} of "
            f"{plural(report.attempts, 'attempt')}."
        )
    for sentence in report.left_out:
        session.note(plain(sentence), level="warning", event="left_out")


def _line(example: Difference) -> str:
    row = ", ".join(f"{name}={plain(str(value))}" for name, value in example.key.items())
    if example.column is None:
        where = "SQL" if example.sql else "polars"
        return f"  {example.table} [{row}]: only {where} has this row"
    apart = "" if example.relative is None else f" ({example.relative:.1e} apart)"
    return (
        f"  {example.table} [{row}] {example.column}: SQL {_value(example.sql)}, "
        f"polars {_value(example.polars)}{apart}"
    )


def _value(value: Any) -> str:  # noqa: ANN401 - whatever a column holds
    if value is None:
        return "null"
    return plain(repr(value) if isinstance(value, float) else str(value))


def _as_dict(report: ValidationReport) -> dict[str, Any]:
    return {
        "agree": not report.different,
        "largest_relative_difference": report.largest,
        "different": report.different,
        "runs": report.runs,
        "attempts": report.attempts,
        "landed_since_build": report.pending.attempts,
        "vars_recorded": report.settings.recorded,
        "left_out": list(report.left_out),
        "tables": [
            {
                "table": table.table,
                "rows": table.rows,
                "values": table.values,
                "largest_relative_difference": table.largest,
                "different": table.different,
            }
            for table in report.tables
        ],
        "examples": [
            {
                "table": one.table,
                "key": one.key,
                "column": one.column,
                "sql": one.sql,
                "polars": one.polars,
                "relative_difference": one.relative,
            }
            for one in report.examples[:_EXAMPLES]
        ],
    }
