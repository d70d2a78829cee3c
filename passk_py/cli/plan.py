"""``passk plan``: plan how many tasks and attempts the next run needs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from passk_py.cli.next_steps import note_stale
from passk_py.cli.plan_output import SuitePlans, say_plan
from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import NameChoice, common_options, database_option, examples
from passk_py.common.errors import PasskError
from passk_py.common.names import require_known
from passk_py.common.sql_text import quote
from passk_py.common.words import plain
from passk_py.reports.queries.run_queries import known_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from passk_py.metrics.planning.wish import Wish

_GUESSED_K: Final = 4
_NOTHING_TO_PLAN_FROM: Final = 2
_SHARE: Final = click.FloatRange(0, 1, min_open=True, max_open=True)


Row = dict[str, Any]


@click.command(
    "plan",
    short_help="Plan how many tasks and attempts the next run needs.",
    epilog=examples(
        "passk plan nightly-2026-11-20",
        "passk plan nightly-2026-11-20 --k 8 --width .06 --attempts 8 --attempts 16",
        "passk plan --pass-rate .6 --heterogeneity .4 --k 4",
    )
    + "\n\nExit codes: 0 planned, 2 nothing to plan from.",
)
@click.argument("run", required=False)
@database_option
@click.option("--suite", help="Plan from this suite. [default: all suites of the run]")
@click.option(
    "--metric",
    type=NameChoice(["pass_hat_k", "pass_at_k"]),
    default="pass_hat_k",
    show_default=True,
    help="Plan for this metric.",
)
@click.option(
    "--k",
    type=click.IntRange(1),
    help=f"Plan for this k. [default: the var passk_deployment_k; {_GUESSED_K} for a guess]",
)
@click.option(
    "--width",
    type=_SHARE,
    help="Aim for an interval of this width. [default: passk_plan_width]",
)
@click.option(
    "--difference",
    type=_SHARE,
    help="Aim to detect this drop between two runs. [default: passk_plan_difference]",
)
@click.option(
    "--power",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    help="Detect the drop with this probability. [default: passk_plan_power]",
)
@click.option(
    "--attempts",
    type=click.IntRange(1),
    multiple=True,
    help="Plan for this many attempts per task; may be repeated. [default: passk_plan_attempts]",
)
@click.option("--pass-rate", type=_SHARE, help="Guess the mean pass rate (pass@1), without a run.")
@click.option(
    "--heterogeneity",
    type=click.FloatRange(0, 1),
    help="Guess how much tasks differ, from 0 (all alike) to 1 (each always or never passes).",
)
@common_options
@pass_session
def command(
    session: Session,
    /,
    *,
    run: str | None,
    database: Path,
    suite: str | None,
    metric: str,
    k: int | None,
    attempts: tuple[int, ...],
    pass_rate: float | None,
    heterogeneity: float | None,
    **aims: float | None,
) -> int:
    """Plan the number of tasks, and of attempts per task, for the next run.

    The plan aims for an interval that is narrow enough, and for detecting a drop between two runs.
    It starts from a measured RUN, which needs the tables of `passk build`, or without a database
    from a guess: --pass-rate and --heterogeneity, both required. A default that begins with passk_
    is a var.
    """
    asked = {name: value for name, value in aims.items() if value is not None}
    guess = _guess(run, suite, pass_rate, heterogeneity)
    stale: str | None = None
    if run is None:
        wish, rows = _guessed(*guess, k or _GUESSED_K, attempts, asked)
        found = [SuitePlans(None, Counter(), rows, 0.0)]
    else:
        wish, found, stale = _of_run(session, database, run, suite, k, attempts, asked)
    found = [
        replace(one, rows=[row for row in one.rows if row["metric"] == metric]) for one in found
    ]
    # Before any output: the reader of a pipe may close it.
    planned = any(row["basis"] is not None for one in found for row in one.rows)
    session.code = 0 if planned else _NOTHING_TO_PLAN_FROM
    session.result(
        {
            **({} if run is None else {"database": str(database), "stale": stale}),
            "run_id": run,
            "width": wish.width,
            "difference": wish.difference,
            "power": wish.power,
            "confidence": wish.confidence,
            "excluded_share": {str(one.suite): one.excluded for one in found},
            "plans": [{"suite": one.suite, **row} for one in found for row in one.rows],
        }
    )
    for place, one in enumerate(found):
        if place:
            session.say()
        say_plan(session, run, one, wish)
    if not found:
        session.say(f"No plan is possible from {plain(str(run))}: it has no counted attempt.")
    return session.code


def _guess(
    run: str | None, suite: str | None, pass_rate: float | None, heterogeneity: float | None
) -> tuple[float, float]:
    """Give the guess, if there is no run; exactly one of the two must be given."""
    if run is not None:
        if pass_rate is not None or heterogeneity is not None:
            raise click.UsageError("Give either a run or a guess, not both.")
        return 0.0, 0.0
    if pass_rate is None or heterogeneity is None:
        raise click.UsageError(
            "Name a measured run, or guess with --pass-rate and --heterogeneity."
        )
    if suite is not None:
        raise click.UsageError("--suite needs the name of a run.")
    return pass_rate, heterogeneity


def _enough(attempts: Sequence[int], planned: Sequence[int], k: int) -> tuple[int, ...]:
    """Choose the attempts per task: the given ones, or those of the vars that are at least k."""
    if not attempts:
        return tuple(n for n in planned if n >= k) or (k, 2 * k, 4 * k)
    if max(attempts) < k:
        raise PasskError(
            f"k = {k} needs at least {k} attempts of each task.",
            hint=f"Give --attempts {k}, or more.",
        )
    return tuple(attempts)


def _guessed(
    pass_rate: float, heterogeneity: float, k: int, attempts: Sequence[int], asked: Row
) -> tuple[Wish, list[Row]]:
    from passk_py.metrics.planning import plan_guess
    from passk_py.metrics.planning.wish import DEFAULT_ATTEMPTS, Wish

    chosen = _enough(attempts, DEFAULT_ATTEMPTS, k)
    table = plan_guess(pass_rate, heterogeneity, ks=[k], attempts_per_task=chosen, **asked)
    return Wish((k,), chosen, **asked), table.to_dicts()


def _of_run(
    session: Session,
    database: Path,
    run: str,
    suite: str | None,
    k: int | None,
    attempts: Sequence[int],
    asked: Row,
) -> tuple[Wish, list[SuitePlans], str | None]:
    """Plan from the counts of the run's tasks in the tables; say why the tables are stale."""
    from passk_py.metrics.planning.plans_table import plan_counts
    from passk_py.metrics.planning.wish import Wish
    from passk_py.metrics.states import families_of_states
    from passk_py.warehouse.settings import read_settings
    from passk_py.warehouse.tables import open_tables

    with open_tables(database) as tables:
        settings = read_settings(tables)
        # Before the run is looked up: it may have landed after the build.
        stale = note_stale(session, tables)
        known = known_runs(tables)
        # Tables of older versions lack it.
        family = "family" if "family" in tables.columns("passk_tasks") else "null as family"
        counted = tables.rows(
            f"select suite, {family}, n, c, count(*), sum(excluded), sum(attempts) "
            f"from {tables.require('passk_tasks')} "
            f"where run_id = {quote(run)} and n is not null group by all order by suite"
        )
    require_known("run", [run], sorted({one for one, _ in known}))
    suites = [of for one, of in known if one == run]
    if suite is not None:
        require_known("suite", [suite], suites)
    k = k or settings.deployment_k
    chosen = _enough(attempts, settings.plan_attempts, k)
    defaults = {
        "width": settings.plan_width,
        "difference": settings.plan_difference,
        "power": settings.plan_power,
        "confidence": settings.confidence,
    }
    wish = Wish((k,), chosen, **(defaults | asked))
    by_suite: dict[str, Counter[tuple[int, int]]] = {}
    families: dict[str, dict[str | None, Counter[tuple[int, int]]]] = {}
    lost: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for name, family, n, c, tasks, excluded, attempts_made in counted:
        if suite in (None, name):
            by_suite.setdefault(name, Counter())[n, c] += tasks
            of_suite = families.setdefault(name, {})
            of_suite.setdefault(family, Counter())[n, c] += tasks
            lost[name] += int(excluded)
            made[name] += int(attempts_made)
    share = settings.min_eligible_share
    found = [
        SuitePlans(
            name,
            states,
            plan_counts(
                states,
                wish,
                None if settings.cluster is None else families_of_states(families[name]),
                min_eligible_share=share,
            ),
            lost[name] / made[name],
        )
        for name, states in by_suite.items()
    ]
    return wish, found, stale
