"""Tasks in quarantine, which gates leave out up to a date: entries of the var ``passk_quarantine``.

Whether an attempt is left out follows from its own time, so that the same log gives the same
results on every day. One without a time is not left out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.common.errors import PasskError
from passk_py.metrics.gates.rule_mistakes import mistakes_of_quarantine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from passk_py.metrics.gates.evidence import Evidence
    from passk_py.metrics.run_order import Run

_KNOWN: Final = ("_metrics", "_chances", "_counted", "_first_passes")
"""The numbers that evidence keeps of its attempts."""
_MOST_NAMED: Final = 5


class Entry(NamedTuple):
    """One entry: which tasks, and up to which day."""

    task: str
    """A task_id, or with a star at its end the beginning of some."""
    until: date
    suite: str | None

    def names(self, suite: str, task_id: str) -> bool:
        """Tell whether the entry is about a task."""
        if self.suite not in (None, suite):
            return False
        if self.task.endswith("*"):
            return task_id.startswith(self.task[:-1])
        return task_id == self.task


class Said(NamedTuple):
    """The tasks of a run that are left out, and the sentences on them."""

    quarantined_tasks: int
    judged_tasks: int
    words: str
    """They begin with a space; empty where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A log without what is in quarantine."""

    log: Evidence
    said: Mapping[tuple[str, str], Said]

    def of(self, run: Run) -> Said | None:
        """Give what is said of a run; None where it has no task."""
        return self.said.get((run.run_id, run.suite))


def entries_of(given: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Read entries as the var has them; an error names every mistake of every entry."""
    entries = list(given)
    mistakes = mistakes_of_quarantine(entries)
    if mistakes:
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        raise PasskError(
            "\n  - ".join([f"The quarantine has {count}.", *mistakes]),
            hint="docs/quarantine.md says what each entry takes.",
        )
    return [
        Entry(one["task"], date.fromisoformat(one["until"]), one.get("suite")) for one in entries
    ]


def quarantine_of(log: Evidence, entries: Sequence[Entry]) -> Quarantine | None:
    """Take what is in quarantine out of a log; None where there is no entry."""
    if not entries:
        return None
    tasks = log.attempts.select("suite", "task_id").unique()
    named = {task: [one for one in entries if one.names(*task)] for task in tasks.iter_rows()}
    last_days = pl.DataFrame(
        [(*task, max(one.until for one in of)) for task, of in named.items() if of],
        schema={**tasks.schema, "last_day": pl.Date},
        orient="row",
    )
    is_left_out = (pl.col("made_at").dt.date() <= pl.col("last_day")).fill_null(value=False)
    dated = (
        log.attempts.with_columns(made_at=_made_at(log.attempts))
        .join(last_days, on=["suite", "task_id"], how="left", maintain_order="left")
        .with_columns(is_left_out=is_left_out)
    )
    kept = dated.filter(~pl.col("is_left_out"))
    nothing_known: dict[str, Any] = {name: {} for name in _KNOWN}
    without = replace(log, attempts=kept.select(log.attempts.columns), **nothing_known)
    # Runs keep their order, also those that have no other task.
    vars(without)["runs"] = log.runs
    return Quarantine(without, _said(dated, named, entries))


def _made_at(attempts: pl.DataFrame) -> pl.Expr:
    """Give when each attempt was made, in UTC, or else when it landed; null where nothing says."""
    times = [
        pl.col(name).dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        if getattr(attempts.schema[name], "time_zone", None)
        else pl.col(name).cast(pl.Datetime("us"))
        for name in ("started_at", "loaded_at")
        if name in attempts.columns
    ]
    return pl.coalesce(*times, pl.lit(None, pl.Datetime("us")))


def _said(
    dated: pl.DataFrame,
    named: Mapping[tuple[str, str], Sequence[Entry]],
    entries: Sequence[Entry],
) -> dict[tuple[str, str], Said]:
    """Say of each run what is left out, and which entries have no effect."""
    is_judged = ~pl.col("is_left_out")
    tasks = dated.group_by("run_id", "suite", "task_id").agg(
        is_left_out=pl.col("is_left_out").any(),
        is_judged=is_judged.any(),
        is_dated=pl.col("made_at").filter(is_judged).is_not_null().any(),
    )
    by_run: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in tasks.sort("task_id").iter_rows(named=True):
        by_run[row["run_id"], row["suite"]].append(row)
    everywhere = {entry for of in named.values() for entry in of}
    said = {}
    for run, rows in by_run.items():
        left_out = [row["task_id"] for row in rows if row["is_left_out"]]
        words = [_left_out(left_out, len(rows))] if left_out else []
        for entry in entries:
            judged = [
                row for row in rows if row["is_judged"] and entry in named[run[1], row["task_id"]]
            ]
            if any(row["is_dated"] for row in judged):
                words.append(f"The quarantine of {entry.task} ran out on {entry.until}.")
            elif judged:
                words.append(
                    f"The log does not say when {entry.task} was tried, so it is not left out."
                )
            elif entry not in everywhere:
                where = f" of the suite {entry.suite}" if entry.suite else ""
                words.append(
                    f"passk_quarantine names {entry.task}{where}, but the log has no such task."
                )
        said[run] = Said(
            len(left_out),
            sum(row["is_judged"] for row in rows),
            "".join(f" {sentence}" for sentence in words),
        )
    return said


def _left_out(names: Sequence[str], tasks: int) -> str:
    number = len(names)
    share = (200 * number + tasks) // (2 * tasks)
    more = f" and {number - _MOST_NAMED} more" if number > _MOST_NAMED else ""
    return (
        f"{number} of {tasks} tasks ({share} %) {'is' if number == 1 else 'are'} in quarantine: "
        f"{', '.join(names[:_MOST_NAMED])}{more}."
    )
