"""Print plans: a table of tasks and attempts, and sentences about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.cli.table_output import fitting
from passk_py.common.words import DASH, limit, percent, plain, plural, symbol

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from rich.table import Table

    from passk_py.cli.session import Session
    from passk_py.metrics.planning.wish import Wish

_MARK: Final = "*"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SuitePlans:
    """The plans of one suite, or of a guess, which has no suite and no states."""

    suite: str | None
    states: Counter[tuple[int, int]]
    """How many tasks have n attempts and c passes."""
    rows: list[Row]
    excluded: float
    """The share of the attempts that are excluded."""


def say_plan(session: Session, run: str | None, found: SuitePlans, wish: Wish) -> None:
    """Print the plans of one suite, or of a guess, which has no run."""
    session.say(_title(run, found))
    session.say()
    answered = [row for row in found.rows if row["basis"] is not None]
    if not answered:
        reason = found.rows[0]["null_reason"]
        session.say_wrapped(f"No plan is possible from it: {reason}.", hang="  ")
        return
    _say_grid(session, answered, wish)
    session.say(f"{_MARK} the fewest attempts in all.")
    session.say()
    for sentence in _sentences(found, answered, wish):
        session.say_wrapped(sentence, hang="  ")


def _title(run: str | None, found: SuitePlans) -> str:
    row = found.rows[0]
    name = symbol(row["metric"], row["k"])
    if run is None or found.suite is None:
        return f"a guess · {name} of {percent(row['estimate'])}"
    sizes = sorted({n for n, _ in found.states})
    each = plural(sizes[-1], "attempt")
    if len(sizes) > 1:
        each = f"{sizes[0]} to {each}"
    seen = "" if row["estimate"] is None else f" of {percent(row['estimate'])}"
    tasks = plural(found.states.total(), "task")
    return f"{plain(run)} · {plain(found.suite)} · {name}{seen} · {tasks}, {each} each"


def _say_grid(session: Session, rows: list[Row], wish: Wish) -> None:
    """Lay out the plans: both aims beside each other, or one by one where that is too wide."""
    console = session.console()
    wide = f"{limit(wish.width)} points wide"
    drop = f"drop of {limit(wish.difference)} points"
    per_task, lines = "attempts\nper task", _lines(rows)
    names = (per_task, f"{wide}:\ntasks", "\nattempts", f"{drop}:\ntasks", "\nattempts in each run")
    columns = list(zip(names, *lines, strict=True))
    # Two more cells between columns than other tables have.
    room = console.width - (len(names) - 1)
    if len(fitting(columns, room, [(4,)])) == len(names):
        session.show(_grid(names, lines), console)
        return
    for title, first, attempts in (
        (f"{wide}:", 1, "attempts"),
        (f"{drop}:", 3, "attempts\nin each run"),
    ):
        if first > 1:
            session.say()
        session.say(title)
        of_aim = [(line[0], *line[first : first + 2]) for line in lines]
        session.show(_grid((per_task, "tasks", attempts), of_aim), console)


def _grid(names: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True, vertical="bottom")
    for line in lines:
        table.add_row(*line)
    return table


def _lines(rows: list[Row]) -> list[list[str]]:
    """Write the numbers of each plan, the cheapest of each aim with its mark."""
    lines = []
    cheapest = {
        name: min((row[name] for row in rows if row[name] is not None), default=None)
        for name in ("attempts_for_width", "attempts_for_difference")
    }
    for row in rows:
        cells = [f"{row['attempts']:,}"]
        for aim in ("width", "difference"):
            tasks, total = row[f"tasks_for_{aim}"], row[f"attempts_for_{aim}"]
            mark = _MARK if total is not None and total == cheapest[f"attempts_for_{aim}"] else " "
            cells += [DASH, DASH] if tasks is None else [f"{tasks:,}", f"{total:,}{mark}"]
        lines.append(cells)
    return lines


def _sentences(found: SuitePlans, answered: list[Row], wish: Wish) -> list[str]:
    """Say what helps more, what the two aims mean, and how certain the numbers are."""
    said = []
    # The plan whose number of attempts is nearest to that of the run.
    made = min((n for n, _ in found.states), default=0)
    row = min(answered, key=lambda one: abs(one["attempts"] - made))
    share = row["within_share"]
    if share is not None:
        units = "tasks" if row["families_for_width"] is None else "families"
        more = f"more attempts help more than more {units}"
        if share <= 0.5:
            more = f"more {units} help more than more attempts"
        if share <= 0.2:
            more = f"only more {units} help"
        said.append(
            f"With {plural(row['attempts'], 'attempt')} per task, chance within tasks makes up"
            f" {percent(share)} % of the variance, and differences between {units} the rest: for"
            f" the interval, {more}."
        )
    if row["expected_width"] is not None:
        told = ""
        if row["detectable_difference"] is not None:
            drop = limit(round(row["detectable_difference"], 3))
            told = f", and two such runs can detect a drop of {drop} points"
        wide = limit(round(row["expected_width"], 3))
        said.append(
            f"The {plural(row['tasks'], 'task')} of the run, with that many attempts each, give an"
            f" interval {wide} points wide{told}."
        )
    if row["families_for_width"] is not None:
        said.append(
            f"The interval knows of the families of tasks: {limit(wish.width)} points take"
            f" {row['families_for_width']:,} families of the size that the run's have, at"
            f" {plural(row['attempts'], 'attempt')} per task. Fewer tasks of each of so many do"
            " nearly as well."
        )
    if found.excluded:
        said.append(_spares(row, found.excluded))
    unknown = [one for one in found.rows if one["null_reason"] is not None]
    if unknown:
        said.append(f"No figure for a drop: {unknown[0]['null_reason']}.")
    said.append(
        f"The interval is the {limit(wish.confidence)} % interval for tasks like these. The drop is"
        f" between two runs on the same tasks and is detected in {limit(wish.power)} % of all"
        " repetitions; it says nothing about unseen tasks, which may change differently."
    )
    tasks = plural(row["tasks"] or 0, "task")
    sure = {
        "moments": f"the numbers come from a sample of {tasks}.",
        "beta_binomial": (
            "not very. Some task of the run has fewer than 2k attempts, so a beta distribution was"
            " fitted."
        ),
        "guess": "only as certain as the guess. Measure some tasks and plan from them.",
    }
    said.append(f"How certain: {sure[row['basis']]}")
    return said


def _spares(row: Row, excluded: float) -> str:
    """Say how many attempts to make so that enough remain after exclusions."""
    from passk_py.metrics.planning.sizes import with_spares

    tasks = row["tasks_for_width"] or row["tasks"]
    made = with_spares(row["attempts"], tasks, excluded)
    return (
        f"{percent(excluded)} % of the run's attempts were excluded. Make {made} of each task to"
        f" keep {row['attempts']}: then, on average, fewer than one of"
        f" {plural(tasks, 'task')} ends up with less."
    )
