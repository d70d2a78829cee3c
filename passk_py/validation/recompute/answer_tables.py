"""The tables that an answer is read from, made of the attempts that have just landed, without dbt.

They have the names of SQL's, and those of its columns that the answer, comparisons and gates read.
Rows are counted in SQL; the estimates are those of :mod:`passk_py.metrics`.
"""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.common.contract import CONTRACT_COLUMNS, KEY, TRANSCRIPT
from passk_py.ingest.landing.raw_rows import AsArrow
from passk_py.metrics.causes.lost_shares import LOST_TYPES, counted_parts_of_counts, lost_rows
from passk_py.metrics.comparisons.run_pairs import pair_of
from passk_py.metrics.diagnostics.families import Counted, judged_families
from passk_py.metrics.diagnostics.read_runs import read_tasks
from passk_py.metrics.frames.averaging import suite_metrics_of_counts
from passk_py.metrics.rankings import Shared, ranking
from passk_py.metrics.run_order import latest_first
from passk_py.metrics.trends import lines_of_runs
from passk_py.stats import estimators as est
from passk_py.validation.recompute.answer_costs import (
    cost_columns,
    table_of_horizons,
    tables_of_costs,
)
from passk_py.validation.recompute.metrics import reading
from passk_py.validation.recompute.pairs import compared_runs, expected_pairs
from passk_py.validation.recompute.runs_of_log import RUNS_SQL, UNUSABLE_RUNS_SQL, with_warnings
from passk_py.warehouse.settings import RECORDED
from passk_py.warehouse.tables import fetch_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from passk_py.warehouse.settings import Settings

_KEY: Final = ", ".join(KEY)
_SAID: Final = ", ".join(
    "list_sort(map_entries(tags))" if column.name == "tags" else column.name
    for column in CONTRACT_COLUMNS
    if column.name not in (*KEY, TRANSCRIPT.name)
)
"""The columns on which duplicates of an attempt have to agree."""

_FALLS: Final = ("pass_hat_k",)
"""The metric of which the answer shows falls."""

_ATTEMPTS_SQL: Final = f"""
-- Most logs repeat no attempt. A task has none twice whose attempts set as many bits as there are
-- attempts; numbers beyond 126 set none.
create temp table repeated_keys as
select {_KEY} from landing.attempts semi join (
  select run_id, suite, task_id
  from landing.attempts
  group by all
  having count(*) <> bit_count(
    bit_or(case when attempt <= 126 then 1::hugeint << attempt::integer else 0 end)
  )
) using (run_id, suite, task_id)
group by {_KEY} having count(*) > 1;

create temp table repeated as
select
  attempts.*,
  row_number() over (partition by {_KEY} order by loaded_at, source_file, source_line) as place,
  counted.is_unanimous
from landing.attempts
inner join (
  select {_KEY}, count(distinct row({_SAID})) = 1 as is_unanimous
  from landing.attempts semi join repeated_keys using ({_KEY})
  group by {_KEY}
) as counted using ({_KEY});

create view passk_attempts as
from landing.attempts anti join repeated_keys using ({_KEY})
union all by name
select * exclude (place, is_unanimous) from repeated where is_unanimous and place = 1;

create table passk_rejected_attempts as
select run_id, suite, task_id, attempt, reason_code, source_file, loaded_at from landing.rejected
union all by name
select
  run_id, suite, task_id, attempt, source_file, loaded_at,
  case when is_unanimous then 'duplicate' else 'conflicting_duplicate' end as reason_code
from repeated
where not is_unanimous or place > 1;
"""


_COUNTS_SQL: Final = """
select
  run_id, suite, task_id, count(*) as attempts,
  count(*) filter (outcome <> 'excluded') as n,
  count(*) filter (outcome = 'passed') as c,
  count(*) filter (outcome = 'excluded') as excluded
from passk_attempts
group by all
order by all
"""


_FAILURES_SQL: Final = """
select
  run_id, suite, task_id, outcome_reason,
  count(*) filter (outcome = 'failed') as failures,
  count(*) filter (outcome = 'excluded') as excluded
from passk_attempts
where outcome <> 'passed'
group by run_id, suite, task_id, outcome_reason, outcome
"""
"""Grouped by the outcome too, because without a reason it decides the cause."""

_SHARED_SQL: Final = """
with aged as (select * from passk_tasks inner join ranked_runs using (suite, run_id))
select
  suite,
  older.run_id as older,
  newer.run_id as newer,
  older.n as baseline_n,
  older.c as baseline_c,
  newer.n as candidate_n,
  newer.c as candidate_c,
  count(*) as tasks
from aged as older inner join aged as newer using (suite, task_id)
where older.age > newer.age
group by all
"""


def write_answer_tables(connection: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Write the tables beside the attempts."""
    connection.execute(_ATTEMPTS_SQL)
    connection.execute(
        f"create table {RECORDED} as select unnest(?) as var_name, unnest(?) as var_value",
        [list(settings.values), [json.dumps(value) for value in settings.values.values()]],
    )
    counts = fetch_frame(connection, _COUNTS_SQL)
    classes = est.task_class(
        "n",
        "c",
        consistent_rate=settings.consistent_rate,
        incapable_rate=settings.incapable_rate,
    )
    tables = {"passk_tasks": counts.with_columns(task_class=classes)}
    suites = suite_metrics_of_counts(
        counts.lazy().with_columns(broken=pl.lit(None, pl.String)),
        settings.ks,
        by_family=False,
        min_eligible_share=settings.min_eligible_share,
        confidence=settings.confidence,
        ordered=False,
    ).with_columns(reading=reading(settings))
    tables["passk_suite_metrics"] = suites.collect()
    _write(connection, tables)
    connection.execute(UNUSABLE_RUNS_SQL)
    runs = with_warnings(fetch_frame(connection, RUNS_SQL))
    by_age = latest_first(runs.to_dicts(), settings.ranked_runs)
    pairs = [
        (pair_of(suite, baseline, candidate, counts), source)
        for suite, baseline, candidate, source in expected_pairs(runs, settings).iter_rows()
    ]
    rankings = ranking(
        tables["passk_suite_metrics"].filter(pl.col("k") <= settings.deployment_k),
        by_age,
        _shared(connection, by_age),
        confidence=settings.confidence,
        min_eligible_share=settings.min_eligible_share,
    )
    log = _log_of_costs(connection, settings)
    of_deployment = rankings.filter(pl.col("k") == settings.deployment_k)
    _write(
        connection,
        {
            "passk_runs": runs,
            "passk_diagnostics": _related(counts),
            "passk_comparisons": compared_runs(pairs, runs, settings, (), _FALLS).frame,
            "passk_rankings": rankings,
            "passk_trends": _trends(runs, counts, settings),
            "passk_lost_reliability": _losses(
                counts, fetch_frame(connection, _FAILURES_SQL), settings
            ),
            "passk_horizons": table_of_horizons(log, settings),
            **tables_of_costs(log, runs, of_deployment, settings),
        },
    )


def _log_of_costs(connection: duckdb.DuckDBPyConnection, settings: Settings) -> pl.DataFrame:
    """Fetch the attempts with their costs and lengths; none if no attempt says any."""
    costs = cost_columns(settings)
    said = " + ".join(["0", *(f"count({name})" for name in costs)])
    known = connection.execute(f"select {said} from passk_attempts").fetchall()[0][0]
    columns = ", ".join((*KEY, "outcome", *costs))
    none = "" if known or settings.length_sql else " limit 0"
    sql = f"select {columns}{settings.length_sql} from passk_attempts{none}"
    return fetch_frame(connection, sql)


def _losses(counts: pl.DataFrame, failures: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Share out the lost reliability by cause, which is all that the answer reads."""
    parts = counted_parts_of_counts(counts, failures, settings.causes)
    rows = lost_rows(
        parts,
        [settings.deployment_k],
        min_eligible_share=settings.min_eligible_share,
        confidence=settings.confidence,
    )
    types: dict[str, type[pl.DataType]] = {
        **dict.fromkeys(("run_id", "suite"), pl.String),
        **LOST_TYPES,
    }
    return pl.DataFrame(list(rows), schema=types, orient="row")


def _trends(runs: pl.DataFrame, counts: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Fit the lines that the answer reads, those at the deployment k."""
    by_run = counts.partition_by("run_id", "suite", as_dict=True)
    return lines_of_runs(
        runs.to_dicts(),
        lambda run_id, suite: by_run[run_id, suite],
        [settings.deployment_k],
        most_runs=settings.trend_runs,
        confidence=settings.confidence,
        min_eligible_share=settings.min_eligible_share,
    )


def _related(counts: pl.DataFrame) -> pl.DataFrame:
    """Say of each run whether its tasks resemble each other: all that the answer reads."""
    rows = []
    for run in counts.partition_by("suite", "run_id"):
        read = run.filter(pl.col("task_id").is_in(read_tasks(run)))
        tasks = (
            Counted(name, None, n, c) for name, n, c in read.select("task_id", "n", "c").rows()
        )
        verdict = judged_families(tasks, "").verdict
        rows.append((run["suite"][0], run["run_id"][0], "related_tasks", verdict))
    schema = dict.fromkeys(("suite", "run_id", "diagnostic", "verdict"), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _shared(
    connection: duckdb.DuckDBPyConnection, by_age: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str, str], Shared]:
    """Count the tasks of each two ranked runs that have the same counts."""
    places = [(suite, run, age) for suite, runs in by_age.items() for age, run in enumerate(runs)]
    connection.execute("create temp table ranked_runs (suite varchar, run_id varchar, age bigint)")
    if not places:
        return {}
    connection.executemany("insert into ranked_runs values (?, ?, ?)", places)
    found = fetch_frame(connection, _SHARED_SQL)
    histograms = found.partition_by("suite", "older", "newer", as_dict=True)
    tasks_of = {
        (suite, run): tasks
        for suite, run, tasks in connection.execute(
            "select suite, run_id, count(*) from passk_tasks group by all"
        ).fetchall()
    }
    shared = {}
    for suite, runs in by_age.items():
        for newer, older in combinations(runs, 2):
            histogram = histograms.get((suite, older, newer), found.clear())
            common = histogram["tasks"].sum()
            only = (tasks_of[suite, run] - common for run in (older, newer))
            shared[suite, older, newer] = Shared(histogram, *only)
    return shared


def _write(connection: duckdb.DuckDBPyConnection, tables: dict[str, pl.DataFrame]) -> None:
    for name, frame in tables.items():
        connection.register("frame", AsArrow(frame))
        connection.execute(f"create table {name} as from frame")
        connection.unregister("frame")
