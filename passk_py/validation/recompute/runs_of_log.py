"""``passk_runs`` of a log that has just landed, with its warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.validation.recompute.runs import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The first attempts name the agent, duplicates among them; a run may have none with the number 1.
_FIRST: Final = ", ".join(
    f"case when bool_or(attempt = 1) then {end}({name}) filter (attempt = 1) "
    f"else {end}({name}) end as {other}{name}"
    for name in IDENTITY
    for end, other in (("min", ""), ("max", "other_"))
)
_FILE: Final = "coalesce(source_file, '')"

RUNS_SQL: Final = f"""
with landed as (
  select
    run_id, suite, count(distinct task_id) as landed_tasks, max(loaded_at) as loaded_at,
    {_FIRST}
  from landing.attempts
  group by all
),

totals as (
  select
    run_id, suite, count(*) as tasks, count(*) filter (n = 0) as uncounted_tasks,
    sum(attempts)::bigint as attempts, sum(n)::bigint as n, sum(c)::bigint as c,
    sum(excluded)::bigint as excluded, min(n) as min_n, max(n) as max_n
  from passk_tasks
  group by all
),

started as (
  select run_id, suite, min(started_at) as started_at, max(started_at) as last_started_at
  from passk_attempts
  group by all
),

expected as (
  select run_id, suite, task_id, max(expected_attempts) as expected_attempts
  from landing.expected_attempts
  group by all
),

missing as (
  select
    run_id, suite, sum(expected_attempts)::bigint as expected_attempts,
    sum(greatest(expected_attempts - coalesce(tasks.attempts, 0), 0))::bigint as missing_attempts,
    count(*) filter (expected_attempts > 0 and tasks.attempts is null) as untried_tasks
  from expected left join passk_tasks as tasks using (run_id, suite, task_id)
  group by all
),

rejected_rows as (
  select
    nullif(run_id, '') as run_id, coalesce(suite, 'default') as suite, {_FILE} as source_file
  from passk_rejected_attempts
),

rejected as (
  select run_id, suite, count(*) as rejected
  from rejected_rows
  where run_id is not null
  group by all
),

-- A row that names no run may belong to any run of its file, or to any run at all.
unnamed as (
  select source_file, count(*) as rows_unnamed from rejected_rows where run_id is null group by all
),

files as (
  select run_id, suite, {_FILE} as source_file
  from landing.attempts
  where {_FILE} in (select source_file from unnamed)
  union
  from rejected_rows
),

rejected_unnamed as (
  select run_id, suite, sum(rows_unnamed)::bigint as rejected_unnamed
  from files inner join unnamed using (source_file)
  where source_file <> ''
  group by all
)

select
  totals.*, landed.* exclude (run_id, suite), started.* exclude (run_id, suite),
  missing.expected_attempts, coalesce(missing.untried_tasks, 0) as untried_tasks,
  missing.missing_attempts,
  landed_tasks - tasks as refused_tasks,
  coalesce(rejected.rejected, 0) as rejected,
  coalesce(rejected_unnamed.rejected_unnamed, 0)
    + coalesce((select rows_unnamed from unnamed where source_file = ''), 0) as rejected_unnamed
from totals
inner join landed using (run_id, suite)
inner join started using (run_id, suite)
left join missing using (run_id, suite)
left join rejected using (run_id, suite)
left join rejected_unnamed using (run_id, suite)
order by run_id, suite
"""
"""The runs with an attempt, and what their warnings are made of."""


UNUSABLE_RUNS_SQL: Final = f"""
create view int_passk__unusable_runs as
with landed as (
  select run_id, suite, max(loaded_at) as loaded_at, {_FIRST}
  from landing.attempts
  group by all
),

rejected as (
  select run_id, coalesce(suite, 'default') as suite, max(loaded_at) as loaded_at
  from passk_rejected_attempts
  where run_id <> ''
  group by all
)

select run_id, suite, agent, agent_version, model, loaded_at
from landed anti join passk_tasks using (run_id, suite)
union all by name
select * from rejected anti join landed using (run_id, suite)
"""
"""The runs of which no attempt can be used: a gate must not pass by an older run in their place."""


def with_warnings(runs: pl.DataFrame) -> pl.DataFrame:
    """Add the column ``warnings``, in the words of SQL; null where nothing is odd."""
    said = [" ".join(_warnings(run)) or None for run in runs.iter_rows(named=True)]
    return runs.with_columns(warnings=pl.Series(said, dtype=pl.String))


def _warnings(run: Mapping[str, Any]) -> Iterator[str]:
    """Give the sentences about a run, in the order of SQL."""

    def counted(name: str, one: str, more: str) -> Iterator[str]:
        if count := run[name]:
            yield f"1 {one}" if count == 1 else f"{count} {more}"

    if run["min_n"] < run["max_n"]:
        yield f"n differs between tasks, from {run['min_n']} to {run['max_n']}."
    yield from counted(
        "uncounted_tasks", "task has no counted attempt.", "tasks have no counted attempt."
    )
    yield from counted(
        "refused_tasks",
        "task is left out: all its attempts conflict.",
        "tasks are left out: all their attempts conflict.",
    )
    if run["missing_attempts"]:
        yield (
            f"{run['missing_attempts']} of {run['expected_attempts']} attempts that were to be "
            "made are missing."
        )
    yield from counted(
        "untried_tasks",
        "task that was to be tried has no attempt.",
        "tasks that were to be tried have no attempt.",
    )
    yield from counted("rejected", "row was rejected.", "rows were rejected.")
    yield from counted(
        "rejected_unnamed",
        "rejected row does not say whose it is.",
        "rejected rows do not say whose they are.",
    )
    if any(run[name] != run[f"other_{name}"] for name in ("agent", "agent_version")):
        yield "The run has more than one agent or version."
    if run["model"] != run["other_model"]:
        yield "The run has more than one model."
