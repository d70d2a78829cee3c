"""``passk compare``: compare two runs, with how certain each difference is."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from passk_py.cli.changed_costs import changed_costs, costs_said
from passk_py.cli.next_steps import command_line, note_stale
from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples
from passk_py.cli.table_output import fitted_table
from passk_py.common.errors import PasskError
from passk_py.common.names import require_known
from passk_py.common.sql_text import quote
from passk_py.common.words import (
    and_list,
    chance,
    in_points,
    interval_line,
    percent,
    plain,
    plural,
    side_of_zero,
    symbol,
)
from passk_py.reports.queries.run_queries import known_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.table import Table

    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

_TASKS: Final = 15
"""Tasks that a terminal shows; JSON has all."""

_DRAWN: Final = 25
_LEAST_TASK: Final = 12
"""A task's name is folded to this many cells before a number is left out."""
_NOTHING_COMPARED: Final = 2
_WITH_DRAWN: Final = 108
"""Characters of a drawn interval, and of a terminal that has room for it."""

Row = dict[str, Any]


@click.command(
    "compare",
    short_help="Compare two runs.",
    epilog=examples(
        "passk compare nightly-2026-11-19 nightly-2026-11-20",
        "passk compare old new --suite airline --k 4",
    )
    + "\n\nExit codes: 0 compared, whatever the verdict, 2 nothing to compare.",
)
@click.argument("baseline")
@click.argument("candidate")
@database_option
@click.option("--suite", help="Compare on this suite. [default: all that both runs have]")
@click.option(
    "--k",
    "ks",
    type=click.IntRange(1),
    multiple=True,
    help="Compare at this k; may be repeated. [default: passk_ks]",
)
@common_options
@pass_session
def command(
    session: Session,
    *,
    baseline: str,
    candidate: str,
    database: Path,
    suite: str | None,
    ks: tuple[int, ...],
) -> int:
    """Compare the run CANDIDATE with the run BASELINE, both named by their run_id.

    A difference is CANDIDATE less BASELINE. The comparison is read from the table passk_comparisons
    if it has the pair, which the vars passk_pairs and passk_baseline put there. Any other pair is
    computed from passk_attempts, with the vars of the last build.
    """
    from passk_py.warehouse.building.variables import as_yaml
    from passk_py.warehouse.settings import read_settings
    from passk_py.warehouse.tables import open_tables

    with open_tables(database) as tables:
        settings = read_settings(tables)
        # Before the run is looked up: it may have landed after the build.
        stale = note_stale(session, tables)
        found = find_comparison(tables, settings, baseline, candidate, suite=suite, ks=ks)
    say_comparison(
        session, found, {"database": str(database), "stale": stale}, k=_shown_k(settings, ks)
    )
    if not session.as_json and not found.is_stored:
        pairs = {"passk_pairs": [{"baseline": baseline, "candidate": candidate}]}
        again = command_line("build", "--vars", as_yaml(pairs), database=database)
        session.note("This pair is not in the tables, so it was compared just now.")
        session.note(f"To add it to the tables: {again}")
    return session.code


class Comparison(NamedTuple):
    """Two runs compared, as rows of the two tables of comparisons."""

    baseline: str
    candidate: str
    rows: list[Row]
    tasks: list[Row]
    costs: list[Row]
    """Rows of ``passk_cost_comparisons``."""
    is_stored: bool


def find_comparison(
    tables: Tables,
    settings: Settings,
    baseline: str,
    candidate: str,
    *,
    suite: str | None = None,
    ks: tuple[int, ...] = (),
) -> Comparison:
    """Read a pair from the tables, or compute it if they do not have it."""
    _check_runs(tables, baseline, candidate, suite)
    rows, tasks = _stored(tables, baseline, candidate, suite)
    stored = bool(rows)
    if not stored:
        rows, tasks = _computed(tables, baseline, candidate, suite, settings, ks)
    rows = [row for row in rows if not ks or row["k"] in ks]
    if not rows:
        known = ", ".join(map(str, settings.ks))
        raise PasskError(
            f"The tables have no k = {' and no k = '.join(map(str, ks))}.",
            hint=f"They were built for k = {known}, by the var passk_ks.",
        )
    costs = changed_costs(tables, baseline, candidate, {row["suite"] for row in rows}, settings)
    return Comparison(baseline, candidate, rows, tasks, costs, stored)


def _shown_k(settings: Settings, ks: tuple[int, ...]) -> int:
    """Choose the k of the headline."""
    return max(ks) if ks and settings.deployment_k not in ks else settings.deployment_k


def say_comparison(
    session: Session, found: Comparison, about: Mapping[str, Any], *, k: int
) -> None:
    """Print a comparison, and set the exit code before any output: a pipe's reader may close it."""
    session.code = _exit_code(found.rows, found.tasks)
    session.result(
        {
            **about,
            "baseline": found.baseline,
            "candidate": found.candidate,
            "source": "passk_comparisons" if found.is_stored else "passk_attempts",
            "comparisons": found.rows,
            "tasks": found.tasks,
            "costs": found.costs,
        }
    )
    if session.as_json:
        return
    for name, of_suite in groupby(found.rows, lambda row: row["suite"]):
        moved = [task for task in found.tasks if task["suite"] == name]
        changes = [cost for cost in found.costs if cost["suite"] == name]
        _say(session, list(of_suite), moved, changes, k)


def _exit_code(rows: list[Row], tasks: list[Row]) -> int:
    """Give 0 if anything was compared: a figure of a suite, or a task."""
    figures = any(row["difference"] is not None for row in rows)
    return 0 if figures or any(task["p"] is not None for task in tasks) else _NOTHING_COMPARED


def _check_runs(tables: Tables, baseline: str, candidate: str, suite: str | None) -> None:
    """Raise an error for runs that can't be compared."""
    if baseline == candidate:
        raise PasskError(f"The run {plain(baseline)} can't be compared with itself.")
    known = known_runs(tables)
    require_known("run", (baseline, candidate), sorted({run for run, _ in known}))
    suites = [{of for run, of in known if run == one} for one in (baseline, candidate)]
    common = sorted(suites[0] & suites[1])
    if not common:
        raise PasskError(
            f"{plain(baseline)} and {plain(candidate)} have no suite in common.",
            hint="Two runs are compared on the tasks that both have.",
        )
    if suite is not None and suite not in common:
        raise PasskError(
            f"The two runs have no suite {plain(suite)} in common.",
            hint=f"They have {', '.join(map(plain, common))}.",
        )


def _stored(
    tables: Tables, baseline: str, candidate: str, suite: str | None
) -> tuple[list[Row], list[Row]]:
    """Read the pair from the tables, if it is there."""
    if tables.find("passk_comparisons") is None or tables.find("passk_task_comparisons") is None:
        return [], []
    where = f"baseline_run_id = {quote(baseline)} and candidate_run_id = {quote(candidate)}"
    if suite is not None:
        where += f" and suite = {quote(suite)}"
    rows = tables.records(
        f"select * exclude (loaded_at) from {tables.require('passk_comparisons')} where {where} "
        "order by suite, metric, k"
    )
    tasks = tables.records(
        f"select * from {tables.require('passk_task_comparisons')} where {where} "
        "order by suite, p_adjusted, p, task_id"
    )
    return rows, tasks


def _computed(
    tables: Tables,
    baseline: str,
    candidate: str,
    suite: str | None,
    settings: Settings,
    ks: Sequence[int],
) -> tuple[list[Row], list[Row]]:
    """Compute the pair from the attempts."""
    from passk_py.metrics.comparisons import compare, compare_tasks
    from passk_py.warehouse.tables import fetch_frame

    log = fetch_frame(
        tables.connection,
        "select run_id, suite, task_id, attempt, outcome, agent, agent_version"
        f"{settings.family_sql} from {tables.require('passk_attempts')} "
        f"where run_id in ({quote(baseline)}, {quote(candidate)})",
    )
    rows = compare(
        log,
        baseline,
        candidate,
        ks=ks or settings.ks,
        suite=suite,
        confidence=settings.confidence,
        minimum_change=settings.minimum_change,
        min_eligible_share=settings.min_eligible_share,
        cluster=settings.cluster,
    )
    tasks = compare_tasks(log, baseline, candidate, suite=suite, confidence=settings.confidence)
    by_p = tasks.sort("suite", "p_adjusted", "p", "task_id", nulls_last=True)
    return rows.sort("suite", "metric", "k").to_dicts(), by_p.to_dicts()


def _say(session: Session, rows: list[Row], tasks: list[Row], costs: list[Row], k: int) -> None:
    """Print the comparison on one suite."""
    first = rows[0]
    console = session.console()
    said = [f"{plain(first['suite'])} · {plural(first['common_tasks'], 'task')} in both runs"]
    for side in ("baseline", "candidate"):
        only = first[f"{side}_only_tasks"]
        if only:
            said.append(f"{plural(only, 'task')} only in the {side}")
    session.say(" · ".join(said))
    session.say(f"baseline   {plain(first['baseline_run_id'])}")
    session.say(f"candidate  {plain(first['candidate_run_id'])}")
    session.say()
    for sentence in _headlines(rows, k):
        session.say(in_points(sentence))
    if changed := costs_said(rows, costs, k):
        session.say(changed)
    answered = [row for row in rows if row["difference"] is not None]
    if answered:
        session.say()
        drawn = console.width >= _WITH_DRAWN and not console.options.ascii_only
        grid, left_out = _grid(answered, console.width, drawn=drawn)
        session.show(grid, console)
        with_interval = "" if "interval" in left_out else ", with the interval for these tasks"
        session.say(f"Difference in points{with_interval}.")
        _say_left_out(session, left_out)
    unanswered = {row["k"]: row["null_reason"] for row in rows if row["difference"] is None}
    if unanswered and answered:
        least = min(unanswered)
        session.say(f"No figures from k = {least} on: {unanswered[least]}.")
    session.say()
    _say_tasks(session, tasks)


def _headlines(rows: list[Row], k: int) -> list[str]:
    """Choose sentences: reliability at the wanted k, a hidden regression, and pass@1."""
    at, hat = (
        {row["k"]: row for row in rows if row["metric"] == metric}
        for metric in ("pass_at_k", "pass_hat_k")
    )
    known = [one for one, row in hat.items() if row["difference"] is not None]
    chosen = k if k in known else max(known, default=min(hat))
    hidden = [one for one in known if hat[one]["hidden_regression"]]
    if chosen in hidden:
        # Its sentence includes pass@1.
        return [hat[chosen]["meaning"]]
    said = [hat[one]["meaning"] for one in (chosen, *hidden[:1]) if one != 1]
    return said + ([at[1]["meaning"]] if 1 in at else [])


def _grid(rows: list[Row], room: int, *, drawn: bool) -> tuple[Table, list[str]]:
    """Lay out the differences; name the columns that do not fit."""
    names = ["", "baseline", "candidate", "difference", "interval", "p", "verdict"]
    low, high = _bounds(rows)
    if drawn:
        # The head of the column gives the lowest and the highest value of the scale.
        names.append(f"{100 * low:+.0f}".ljust(_DRAWN - 3) + f"{100 * high:+.0f}".rjust(3))
    lines: list[list[str]] = []
    for row in rows:
        if row["metric"] == "pass_hat_k" and row["k"] == 1:
            # The same as pass@1.
            continue
        limits = (row["difference_suite_lower"], row["difference_suite_upper"])
        hidden = " (hidden)" if row["hidden_regression"] else ""
        cells = [
            symbol(row["metric"], row["k"]),
            percent(row["baseline"]),
            percent(row["candidate"]),
            f"{100 * row['difference']:+.1f}",
            " to ".join(side_of_zero(limit, f"{100 * limit:+.1f}") for limit in limits),
            chance(row["p"]),
            row["verdict"] + hidden,
        ]
        if drawn:
            cells.append(
                interval_line(
                    limits[0], row["difference"], limits[1], bounds=(low, high), width=_DRAWN
                )
            )
        lines.append(cells)
    # The picture first, because the interval says the same, and both sides together, because the
    # difference says more than one of them; the difference and its verdict never.
    spared = [(7,), (5,), (1, 2), (4,)]
    table, shown = fitted_table(names, lines, room, spared, numbers=range(1, 6))
    return table, [name for place, name in enumerate(names[:7]) if place not in shown]


def _say_left_out(session: Session, names: Sequence[str]) -> None:
    if names:
        session.say(f"No room for {and_list(names)}: see --json.")


def _bounds(rows: list[Row]) -> tuple[float, float]:
    """Give the ends of a scale that holds all intervals, and 0: whole steps of 5 points."""
    ends = [row[f"difference_suite_{side}"] for row in rows for side in ("lower", "upper")]
    low, high = min(0.0, *ends), max(0.0, *ends)
    return math.floor(20 * low - 1e-9) / 20, math.ceil(20 * high + 1e-9) / 20


def _say_tasks(session: Session, tasks: list[Row]) -> None:
    """Print the tasks that moved, the smallest p first."""
    moved = [task for task in tasks if task["moved"]]
    tested = sum(task["p"] is not None for task in tasks)
    if not moved:
        if tested:
            least = min(task["least_p"] for task in tasks if task["p"] is not None)
            session.say(
                f"None of {plural(tested, 'task')} moved beyond chance; with this many attempts,"
                f" p can't be below {least:.2g}."
            )
        return
    session.say(
        f"{len(moved):,} of {plural(tested, 'task')} moved; p is adjusted for their number:"
    )
    console = session.console()
    names = ("task", "baseline", "candidate", "p adjusted", "")
    lines = [
        (
            plain(task["task_id"]),
            f"{task['baseline_c']}/{task['baseline_n']}",
            f"{task['candidate_c']}/{task['candidate_n']}",
            chance(task["p_adjusted"]),
            task["direction"],
        )
        for task in moved[:_TASKS]
    ]
    table, shown = fitted_table(
        names, lines, console.width, [(3,)], numbers=range(1, 4), least=_LEAST_TASK
    )
    session.show(table, console)
    _say_left_out(session, [name for place, name in enumerate(names) if place not in shown])
    if len(moved) > _TASKS:
        session.say(f"... and {len(moved) - _TASKS:,} more; --json lists all.")
