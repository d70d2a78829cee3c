"""``passk next``: list the tasks that an undecided gate needs more attempts of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from passk_py.cli.gate import declared_gates
from passk_py.cli.next_steps import note_stale
from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples
from passk_py.common.names import require_known
from passk_py.common.sql_text import quote
from passk_py.common.words import plain

if TYPE_CHECKING:
    from pathlib import Path

    from passk_py.metrics.gates.rules import Rule
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

Row = dict[str, Any]

_SHOWN = 20


@click.command(
    "next",
    short_help="List the tasks that need more attempts to decide a gate.",
    epilog=examples(
        "passk next nightly-2026-11-20 --gate unattended",
        "passk next nightly-2026-11-20 --gate unattended --json",
    )
    + "\n\nExit codes: 0 answered, 2 it could not run.",
)
@click.argument("run")
@click.option(
    "--gate", required=True, metavar="NAME", help="Settle this gate of the var passk_gates."
)
@database_option
@common_options
@pass_session
def command(session: Session, /, *, run: str, gate: str, database: Path) -> int:
    """List the tasks that need more attempts to decide an inconclusive gate.

    Each task of RUN is listed with the number of attempts that it lacks; for a decided gate, none
    is. With --json, a harness reads `tasks`, and stops when `is_decided` is true.
    """
    from passk_py.warehouse.settings import read_settings
    from passk_py.warehouse.tables import open_tables

    with open_tables(database) as tables:
        stale = note_stale(session, tables)
        settings = read_settings(tables)
        of_gate = declared_gates(tables, (gate,), database)
        require_known("run", [run], sorted({row["run_id"] for row in of_gate}))
        rows = [row for row in of_gate if row["run_id"] == run]
        is_open = any(row["result"] == "inconclusive" for row in rows)
        wanted = _attempts(_declared(settings, gate)) if is_open else 0
        tasks = _short_tasks(tables, settings, run, {row["suite"] for row in rows}, wanted)
    session.result(
        {
            "database": str(database),
            "stale": stale,
            "gate": gate,
            "run_id": run,
            "results": [
                {name: row[name] for name in ("suite", "slice_value", "result", "to_settle")}
                for row in rows
            ],
            "is_decided": not is_open,
            "tasks": tasks,
        }
    )
    _say(session, gate, run, rows, tasks)
    return 0


def _declared(settings: Settings, name: str) -> Rule:
    """Give the rule of a build, which may be one of the demo log's."""
    from passk_py.validation.recompute.decisions import declared_rules

    (rule,) = (one for one in declared_rules(settings, {name}) if one.gate == name)
    return rule


def _attempts(rule: Rule) -> int:
    """Give how many counted attempts of each task the rule judges by; 0 for rules about others."""
    if rule.type == "rolling_drop":
        return rule.k
    if rule.type not in ("threshold", "sequential", "drop"):
        return 0
    # An interval for these tasks takes twice as many.
    return rule.attempts or rule.k * (2 if rule.scope == "suite" else 1)


def _short_tasks(
    tables: Tables, settings: Settings, run: str, suites: set[str], wanted: int
) -> list[Row]:
    """Name the tasks that lack attempts, those first that lack the fewest."""
    judged = ""
    if settings.quarantine:
        judged = (
            "and (suite, task_id) not in (select (suite, task_id) "
            f"from {tables.require('passk_attempts')} where run_id = {quote(run)} "
            f"and {settings.slices['quarantine']} = 'in quarantine') "
        )
    counted = tables.records(
        f"select suite, task_id, n from {tables.require('passk_tasks')} "
        f"where run_id = {quote(run)} {judged}order by n desc, suite, task_id"
    )
    return [
        {"suite": row["suite"], "task_id": row["task_id"], "attempts": wanted - row["n"]}
        for row in counted
        if row["suite"] in suites and row["n"] is not None and row["n"] < wanted
    ]


def _say(session: Session, gate: str, run: str, rows: list[Row], tasks: list[Row]) -> None:
    """Print what the gate needs."""
    for row in rows:
        place = [run, row["suite"]]
        if row["slice_name"] != "all":
            place.append(f"{row['slice_name']} = {row['slice_value']}")
        session.say(plain(f"{row['result'].upper()}  {gate} · {' · '.join(place)}"))
        if row["to_settle"]:
            session.say_wrapped(f"To settle it: {plain(row['to_settle'])}", indent="  ")
    if not any(row["result"] == "inconclusive" for row in rows):
        session.say("\nThe gate is decided: no more attempts are needed.")
        return
    if not tasks:
        session.say("\nEvery task has the attempts that the gate judges by: try new tasks.")
        return
    attempts = sum(task["attempts"] for task in tasks)
    session.say(f"\n{len(tasks)} tasks lack {attempts} attempts:")
    width = max(len(plain(task["task_id"])) for task in tasks[:_SHOWN])
    for task in tasks[:_SHOWN]:
        session.say(f"  {plain(task['task_id']).ljust(width)}  {task['attempts']}")
    if len(tasks) > _SHOWN:
        session.say(f"  and {len(tasks) - _SHOWN} more; --json names all of them.")
