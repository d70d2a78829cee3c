"""How many attempts of each task there should be, as the log and the options say it.

A row's number for its own task comes first, then a harness's number for all tasks or for some, then
``--expected-attempts``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.common.contract import MOST_EXPECTED
from passk_py.ingest.landing.options import can_be_stored
from passk_py.ingest.landing.raw_rows import AsArrow

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb

    from passk_py.ingest.formats.harness import Expected
    from passk_py.ingest.landing.options import Options

EXPECTED: Final = "temp.passk_expected"
"""A row for each task: its number, whether a harness says it of this log, and more."""

_SAID: Final = "passk_said"
_LONGEST_NAME: Final = 10_000
_Row = tuple[str | None, str | None, int, bool]


@dataclass(frozen=True, slots=True)
class Expectations:
    """How many attempts there should be."""

    missing: int = 0
    """How many the harness was to make that the log does not hold; 0 of other logs."""
    contradiction: str = ""
    """Say in a sentence where the rows of a task disagree; empty if they agree."""


def expectations(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    options: Options,
    said: Iterable[Expected] = (),
) -> Expectations | None:
    """Find out from typed rows and a harness how many attempts there should be; None if unsaid."""
    told = _told(said)
    default = options.expected_attempts
    asked = "expected_attempts is not null and reject_code is null"
    own = connection.execute(f"select 1 from {relation} where {asked} limit 1").fetchall()
    if not (told or own or default):
        return None
    import polars as pl

    kinds = {"run_id": pl.String, "task_id": pl.String, "n": pl.Int64, "alone": pl.Boolean}
    connection.register(_SAID, AsArrow(pl.DataFrame(told, schema=kinds, orient="row")))
    try:
        connection.execute(
            f"create or replace temp table passk_expected as {_query(relation, told, default)}"
        )
    finally:
        connection.unregister(_SAID)
    missing = "select coalesce(sum(greatest(expected_attempts - attempts, 0)), 0)"
    return Expectations(
        int(connection.execute(f"{missing} from {EXPECTED}").fetchall()[0][0]) if told else 0,
        _contradiction(connection) if own else "",
    )


def _told(said: Iterable[Expected]) -> list[_Row]:
    rows: list[_Row] = []
    for one in said:
        # A name that can't be stored as text names nothing that has landed.
        named = one.run_id is None or is_name(one.run_id)
        if not (named and 1 <= one.attempts <= MOST_EXPECTED):
            continue
        if not one.only:
            rows.append((one.run_id, None, one.attempts, False))
        rows += [
            (one.run_id, task, one.attempts, one.only)
            for task in dict.fromkeys(one.tasks)
            if is_name(task)
        ]
    return rows


def is_name(text: str) -> bool:
    """Tell whether a text can be stored as a name: of a run, a task, a model."""
    return 0 < len(text) <= _LONGEST_NAME and can_be_stored(text)


def _query(relation: str, told: list[_Row], default: int | None) -> str:
    """Write SQL for the key of each task, its number, its good rows, and what its rows say."""
    # A task of which the log holds no attempt was to be tried in each run that it is said of. A
    # number for one task comes before one for all tasks.
    every = " union all ".join(
        _said_of(of_run=of_run, of_task=of_task)
        # Each of them takes a while to plan.
        for of_run, of_task in sorted(
            {(run is not None, task is not None) for run, task, *_ in told}
        )
    )
    joined = "from seen"
    if every:
        n = "coalesce(max(n) filter (alone), max(n)) as n"
        every = f", said as (select run_id, suite, task_id, {n} from ({every}) group by all)"
        joined = "from seen full join said using (run_id, suite, task_id)"
    number = ", ".join(["most", *(["n"] if every else []), f"{default or 'null'}::bigint"])
    return f"""
        with seen as materialized (
            select run_id, suite, task_id, count(*) filter (reject_code is null) as attempts,
                max(expected_attempts) filter (reject_code is null) as most,
                min(expected_attempts) filter (reject_code is null) as fewest
            from {relation} group by all
        ){every}
        select run_id, suite, task_id, coalesce({number}) as expected_attempts,
            {"most is null and n is not null" if every else "false"} as is_of_log,
            coalesce(attempts, 0) as attempts, fewest, most
        {joined}
        where run_id is not null and suite is not null and task_id is not null
            and expected_attempts is not null
    """


def _said_of(*, of_run: bool, of_task: bool) -> str:
    """Write SQL for what is said of one run or of all, and of one task or of all."""
    seen = "(select distinct run_id, suite from seen) as seen" if of_task else "seen"
    said = (
        f"(from {_SAID} where run_id is {'not ' if of_run else ''}null "
        f"and task_id is {'not ' if of_task else ''}null) as said"
    )
    return (
        f"select seen.run_id, suite, {'said' if of_task else 'seen'}.task_id, n, alone "
        f"from {seen} "
        + (f"join {said} on seen.run_id = said.run_id" if of_run else f"cross join {said}")
    )


def _contradiction(connection: duckdb.DuckDBPyConnection) -> str:
    tasks, first = connection.execute(
        "select count(*), min((run_id, task_id, fewest, most)) "
        f"from {EXPECTED} where fewest <> most"
    ).fetchall()[0]
    if not tasks:
        return ""
    run, task, fewest, most = first
    return (
        f"expected_attempts differs within {'1 task' if tasks == 1 else f'{tasks:,} tasks'}: task "
        f"{task} of run {run}, for one, has {fewest} and {most}. The most counts."
    )
