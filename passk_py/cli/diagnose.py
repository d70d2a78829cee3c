"""``passk diagnose``: check whether a log can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import click

from passk_py.cli.next_steps import note_stale
from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples
from passk_py.common.errors import PasskError
from passk_py.common.names import require_known
from passk_py.common.words import as_part, plain, plural
from passk_py.metrics.diagnostic_words import UNKNOWN, WORDS
from passk_py.reports.queries.run_queries import known_runs
from passk_py.warehouse.catalog import Filters, public_table

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    "diagnose",
    short_help="Check whether the log can be trusted.",
    epilog=examples(
        "passk diagnose",
        "passk diagnose nightly-2026-11-20",
        "passk diagnose nightly-2026-11-20 --suite airline --json",
    ),
)
@click.argument("run", required=False)
@database_option
@click.option(
    "--suite", "suites", multiple=True, help="Check this suite; may be repeated. [default: all]"
)
@common_options
@pass_session
def command(session: Session, *, run: str | None, database: Path, suites: tuple[str, ...]) -> int:
    """Check whether the log of RUN, or of every run, can be trusted.

    Attempts should be independent tries by one agent, as many as planned, all judged the same way.
    Warnings come first, each with its evidence and advice. Then come the checks that found nothing
    and those that this log can't answer, with the reason.
    """
    from passk_py.warehouse.tables import open_tables

    filters = Filters((run,) if run is not None else (), suites)
    with open_tables(database) as tables:
        # Before the run is looked up: it may have landed after the build.
        stale = note_stale(session, tables)
        table = public_table("passk_diagnostics")
        # In the order of a build, which is that of the diagnostics.
        rows = tables.records(tables.select(table, filters))
        known = known_runs(tables)
    if not rows:
        _refuse(run, suites, known)
    places = {name: place for place, name in enumerate(WORDS)}
    rows.sort(key=lambda row: places.get(row["diagnostic"], len(places)))
    rows.sort(key=lambda row: (row["suite"], row["run_id"]))
    by_run: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        by_run.setdefault((row["run_id"], row["suite"]), []).append(row)
    session.result(
        {
            "database": str(database),
            "stale": stale,
            "runs": [_as_dict(*one) for one in by_run.items()],
        }
    )
    for place, ((run_id, suite), found) in enumerate(by_run.items()):
        if place:
            session.say()
        _say(session, f"{plain(run_id)} · {plain(suite)}", found)
    return 0


def _refuse(run: str | None, suites: tuple[str, ...], known: list[tuple[str, str]]) -> NoReturn:
    """Raise an error that says why there is nothing to show."""
    for name, given, place in (("run", (run,) if run else (), 0), ("suite", suites, 1)):
        require_known(name, given, list(dict.fromkeys(row[place] for row in known)))
    if run is not None and suites:
        raise PasskError(
            f"The run {plain(run)} has no attempts in {', '.join(map(plain, suites))}."
        )
    if known:
        raise PasskError(
            "The tables were built without diagnostics.",
            hint="Build them with the var passk_diagnostics: true, which is the default.",
        )
    raise PasskError("There are no attempts.", hint="Load a log with `passk load FILE`.")


def _as_dict(key: tuple[str, str], rows: list[dict[str, Any]]) -> dict[str, Any]:
    run_id, suite = key
    shown = (
        "diagnostic", "verdict", "statistic", "p", "p_adjusted", "tasks", "finding", "meaning",
        "advice",
    )  # fmt: skip
    return {
        "run_id": run_id,
        "suite": suite,
        "warnings": sum(row["verdict"] == "warning" for row in rows),
        "diagnostics": [{name: row[name] for name in shown} for row in rows],
    }


def _say(session: Session, title: str, rows: list[dict[str, Any]]) -> None:
    by_verdict: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_verdict.setdefault(row["verdict"], []).append(row)
    warnings = by_verdict.get("warning", [])
    session.say(f"{title}: {plural(len(warnings), 'warning') if warnings else 'no warning'}")
    for row in warnings:
        session.say()
        session.say(f"  {row['diagnostic']}")
        for lead, text in (("", row["finding"]), ("", row["meaning"]), ("To do: ", row["advice"])):
            session.say_wrapped(f"{lead}{plain(text)}", indent="    ")
    if warnings:
        session.say()
    fine = [row["diagnostic"] for row in by_verdict.get("ok", [])]
    unknown = [
        f"{row['diagnostic']} ({as_part(plain(row['finding']))})"
        for verdict in UNKNOWN
        for row in by_verdict.get(verdict, [])
    ]
    if fine:
        session.say_wrapped(f"Fine: {', '.join(fine)}.", indent="  ")
    unknown.append(
        "an effect that all attempts of a task share (it looks like a different chance of a pass)"
    )
    session.say_wrapped(f"Not known: {'; '.join(unknown)}.", indent="  ")
