"""Queries about attempts: how they were sampled, which count, and which were rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.common.sql_text import quote
from passk_py.reports.queries.chosen import any_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from passk_py.reports.queries.chosen import Chosen, Row
    from passk_py.warehouse.tables import Tables


def excluded_reasons(chosen: Chosen) -> dict[str, list[Row]]:
    """Count the excluded attempts by ``outcome_reason``, the most frequent first, by run."""
    found: dict[str, list[Row]] = {}
    for row in chosen.tables.records(
        "select run_id, outcome_reason, count(*) as attempts "
        f"from {chosen.source('passk_attempts')} and outcome = 'excluded' "
        "group by all order by attempts desc, outcome_reason nulls last"
    ):
        found.setdefault(row.pop("run_id"), []).append(row)
    return found


def attempts_of_tasks(
    chosen: Chosen, tasks: Iterable[str], columns: Mapping[str, str], *, most: int
) -> list[Row]:
    """Read the first attempts of each task and run, in order; each column is given as SQL."""
    wanted = ", ".join(f"{sql} as {name}" for name, sql in columns.items())
    return chosen.tables.records(
        f"select task_id, run_id, attempt, {wanted} "
        f"from {chosen.source('passk_attempts')} and {any_of('task_id', tasks)} "
        "qualify row_number() over (partition by task_id, run_id order by attempt) "
        f"<= {most} order by task_id, run_id, attempt"
    )


def attempts_with_cost(chosen: Chosen) -> dict[str, int]:
    """Count the attempts of each run that say what they cost."""
    return dict(
        chosen.tables.rows(
            f"select run_id, count(cost_usd) from {chosen.source('passk_attempts')} group by run_id"
        )
    )


def tags_of_tasks(chosen: Chosen, tasks: Iterable[str], most: int) -> dict[str, dict[str, str]]:
    """Give the tags of tasks that have one value for a task, and at most so many values in all."""
    found: dict[str, dict[str, str]] = {}
    for task_id, key, value in chosen.tables.rows(
        "with pairs as (select task_id, unnest(map_entries(tags)) as tag "
        f"from {chosen.source('passk_attempts')} and {any_of('task_id', tasks)}), "
        "tagged as (select task_id, tag.key as key, min(tag.value) as value, "
        "max(tag.value) as last from pairs group by all) "
        "select task_id, key, value from tagged "
        "qualify bool_and(value is not distinct from last) over (partition by key) "
        f"and count(distinct value) over (partition by key) between 2 and {most} "
        "and value is not null order by key, value, task_id"
    ):
        found.setdefault(task_id, {})[key] = value
    return found


def recorded_counts(chosen: Chosen) -> tuple[int, int, int, int]:
    """Count the attempts with a seed, the seeds, and those with an output hash and a start."""
    (counts,) = chosen.tables.rows(
        "select count(seed), count(distinct seed), count(output_hash), count(started_at) "
        f"from {chosen.source('passk_attempts')}"
    )
    seeded, seeds, hashed, started = counts
    return seeded, seeds, hashed, started


def tag_values(chosen: Chosen, names: Sequence[str]) -> tuple[list[Row], int]:
    """Count the attempts by the value of a tag of any of some names, and those that have one."""
    said = (
        "select task_id, attempt, tag.key as tag, tag.value as value from "
        "(select task_id, attempt, unnest(map_entries(tags)) as tag "
        f"from {chosen.source('passk_attempts')}) "
        f"where {any_of('lower(tag.key)', names)} and tag.value is not null"
    )
    values = chosen.tables.records(
        f"select tag, value, count(*) as attempts from ({said}) "
        "group by tag, value order by attempts desc, tag, value"
    )
    ((attempts,),) = chosen.tables.rows(f"select count(distinct (task_id, attempt)) from ({said})")
    return values, attempts


def sources(chosen: Chosen) -> list[Row]:
    """List the files that the attempts come from."""
    return chosen.tables.records(
        "select source_file, source_format, count(*) as attempts, "
        "min(loaded_at) as first_loaded_at, max(loaded_at) as last_loaded_at "
        f"from {chosen.source('passk_attempts')} "
        "group by source_file, source_format order by source_file, source_format"
    )


def missing_tasks(chosen: Chosen) -> tuple[int, int]:
    """Count the tasks that lack attempts, and those of them without any attempt."""
    (counts,) = chosen.tables.rows(
        "select count(*), count(*) filter (where attempts = 0) "
        f"from {chosen.source('passk_missing_attempts')}"
    )
    short, untried = counts
    return short, untried


def rejected_reasons(chosen: Chosen) -> list[Row]:
    """Count the rejected rows by ``reason_code``, the most frequent first."""
    return chosen.tables.records(
        "select reason_code, count(*) as rows_rejected "
        f"from {chosen.source('passk_rejected_attempts')} "
        "group by reason_code order by rows_rejected desc, reason_code nulls last"
    )


def count_rejected(tables: Tables) -> int:
    """Count the rejected rows of every run, and of none."""
    table = tables.require("passk_rejected_attempts")
    return int(tables.rows(f"select count(*) from {table}")[0][0])


def logs_cut_off(tables: Tables, runs: Iterable[str | None]) -> list[str]:
    """Name the files with attempts of these runs whose last row ends too early."""
    # A published copy may be without one of them.
    rejected, attempts = map(tables.find, ("passk_rejected_attempts", "passk_attempts"))
    if rejected is None or attempts is None:
        return []
    named = ", ".join(quote(run) for run in runs if run is not None) or "null"
    found = tables.rows(
        f"select distinct parse_filename(source_file) from {rejected} "
        "where reason_code = 'truncated' and source_file in ("
        f"select source_file from {attempts} where run_id in ({named})) "
        "order by 1"
    )
    return [name for (name,) in found]


def any_rejected(tables: Tables, run_id: str) -> bool:
    """Tell whether a row of a run was rejected."""
    table = tables.require("passk_rejected_attempts")
    return bool(tables.rows(f"select 1 from {table} where run_id = {quote(run_id)} limit 1"))
