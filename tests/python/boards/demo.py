"""The demo as the dashboards have it: what its tables say, and rows that no dashboard may draw.

Beside the demo, a served database holds rows that no page may draw where it isn't asked for them: a
slice, and an older suite, with shares of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import duckdb

from passk_py.warehouse.catalog import PUBLIC_TABLES

if TYPE_CHECKING:
    from pathlib import Path

DECOY: Final = 0.8642
DECOY_SHOWN: Final = "86.4"

Row = dict[str, Any]


def rows_of(connection: duckdb.DuckDBPyConnection, sql: str) -> list[Row]:
    result = connection.execute(sql)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def with_decoys(demo: Path, served: Path) -> None:
    with duckdb.connect(str(served)) as connection:
        connection.execute(f"attach '{demo}' as demo (read_only)")
        for table in PUBLIC_TABLES:
            connection.execute(f"create table {table.name} as from demo.main.{table.name}")
            columns = {
                row["column_name"]: row["column_type"]
                for row in rows_of(connection, f"describe {table.name}")
            }
            shares = [
                f"case when {name} is null then null else {DECOY} end as {name}"
                for name in columns
                if name.startswith(("pass_at_k", "pass_hat_k", "delta_k"))
                and columns[name] == "DOUBLE"
            ]
            if "run_id" in columns and "suite" in columns:
                earlier = [
                    f"{name} - interval 1 year as {name}"
                    for name in ("started_at", "last_started_at")
                    if name in columns
                ]
                changed = ["'walker-older' as run_id", "'older' as suite", *shares, *earlier]
                connection.execute(
                    f"insert into {table.name} select * replace ({', '.join(changed)}) "
                    f"from demo.main.{table.name} where run_id = 'walker-2026-03'"
                )
            if "slice_name" in columns and table.name == "passk_suite_metrics":
                changed = ["'kind' as slice_name", "'sat' as slice_value", *shares]
                connection.execute(
                    f"insert into {table.name} select * replace ({', '.join(changed)}) "
                    f"from demo.main.{table.name}"
                )
        # The demo has no costs, causes that differ, trends, or what a var or labels ask for: the
        # older suite has them.
        connection.execute(
            "delete from passk_lost_reliability where suite = 'older'; "
            "insert into passk_lost_reliability by name "
            "select 'walker-older' as run_id, 'older' as suite, 'cause' as dimension, "
            "'all' as slice_name, part, 4 as k, failed as failed_attempts, share as lost_share, "
            "share - 0.1 as lost_share_lower, share + 0.1 as lost_share_upper "
            "from (values ('user_simulator', 12, 0.35), ('limit', 21, 0.65)) as causes (part, failed, share); "
            "insert into passk_costs by name "
            "select 'walker-older' as run_id, 'older' as suite, 'cost_usd' as measure, 0.31 as mean, "
            "0.76 as p95, 0.57 as per_success, 0.44 as per_success_lower, 0.71 as per_success_upper, "
            "0.401 as share_on_failures; "
            "insert into passk_trends by name "
            "select 'older' as suite, 'local-search' as agent, 'pass_hat_k' as metric, 4 as k, "
            "'walker-older' as last_run_id, 6 as runs, -0.05 as slope, 'falling' as verdict, "
            "'It falls, as the board says.' as meaning"
        )
        connection.execute(
            "create temp table older as "
            "select 'walker-older' as run_id, 'older' as suite, 'local-search' as agent, 4 as k, "
            "'all' as slice_name, 'cost_usd' as measure, 'minutes' as difficulty; "
            "insert into passk_cost_curves by name "
            "select run_id, suite, agent, k, measure, 0.48 as cost_per_solved, "
            "0.39 as cost_per_solved_lower, 0.62 as cost_per_solved_upper, "
            "1234.5 as cost_per_reliable, 987.6 as cost_per_reliable_lower from older; "
            "insert into passk_frontier by name "
            "select run_id, suite, agent, k, measure, 0.53 as pass_hat_k, 0.41 as pass_hat_k_lower, "
            "0.66 as pass_hat_k_upper, 0.31 as mean_cost, 0.28 as mean_cost_lower, "
            "0.35 as mean_cost_upper, true as is_on_frontier, 'None beats it.' as meaning from older; "
            "insert into passk_m_of_k by name "
            "select run_id, suite, agent, slice_name, 'pass_m_of_k' as metric, k, 3 as m, "
            "0.77 as estimate, 0.65 as lower, 0.86 as upper from older; "
            "insert into passk_horizons by name "
            "select run_id, suite, agent, k, difficulty, 37.25 as horizon, 12.5 as horizon_lower, "
            "'one limit' as caveat from older; "
            "insert into passk_difficulty_curve by name "
            "select run_id, suite, agent, k, difficulty, bin, 2.0 * bin as shortest, "
            "2.0 * bin + 1 as longest, 8 as tasks, 1 - bin / 10 as pass_hat_k, "
            "0.9 - bin / 10 as pass_hat_k_lower, 1.0 as pass_hat_k_upper "
            "from older cross join (values (1), (2)) as bins (bin); "
            "insert into passk_corrected_metrics by name "
            "select run_id, suite, agent, k, 'pass_hat_k' as metric, 0.53 as raw, 0.61 as corrected, "
            "0.5 as corrected_lower, 0.72 as corrected_upper, 0.17 as share_lost_to_grader from older; "
            "insert into passk_graders by name "
            "select suite, 240 as labels, 0.96 as sensitivity, 0.93 as sensitivity_lower, "
            "0.98 as sensitivity_upper, 'too few labels of failures' as null_reason from older; "
            "insert into passk_judges by name "
            "select suite, 'grader' as judge, 'model-b' as other_judge, 90 as attempts, "
            "0.94 as agreement, 0.88 as agreement_lower, 0.97 as agreement_upper, "
            "0.27 as judges_share, 0.12 as judges_share_lower, 0.45 as judges_share_upper from older; "
            "insert into passk_threshold_metrics by name "
            "select older.* exclude (measure, difficulty), slice_name as slice_value, known.*, "
            "estimate - 0.1 as lower, estimate + 0.04 as upper, 'some have no score' as caveat "
            "from older cross join (values "
            "(0.5, 'pass_at_k', 0.95), (0.5, 'pass_hat_k', 0.63), "
            "(0.8, 'pass_at_k', 0.91), (0.8, 'pass_hat_k', 0.44)) as known (threshold, metric, estimate)"
        )


def with_curves(served: Path) -> None:
    """Give the older suite a second k where its rows are of one: a curve needs two."""
    with duckdb.connect(str(served)) as connection:
        connection.execute(
            "insert into passk_cost_curves "
            "select * replace (8 as k, 0.52 as cost_per_solved, 0.41 as cost_per_solved_lower, "
            "2345.6 as cost_per_reliable) from passk_cost_curves where suite = 'older'; "
            "insert into passk_corrected_metrics "
            "select * replace (8 as k, 0.31 as raw, 0.42 as corrected, 0.28 as corrected_lower, "
            "0.58 as corrected_upper) from passk_corrected_metrics where suite = 'older'"
        )


def without_rows(demo: Path, served: Path) -> None:
    with duckdb.connect(str(served)) as connection:
        connection.execute(f"attach '{demo}' as demo (read_only)")
        for table in PUBLIC_TABLES:
            connection.execute(f"create table {table.name} as from demo.main.{table.name} limit 0")


LONG: Final = "_*<b>&amp; " + "long_name*with<b>&_" * 9
"""Padding to a name of 200 letters, of letters that Markdown and HTML read otherwise."""

NAMES: Final = (
    "run_id",
    "suite",
    "agent",
    "model",
    "task_id",
    "baseline_run_id",
    "candidate_run_id",
)
RUNS: Final = ("run_id", "baseline_run_id", "candidate_run_id")


def with_long_names(demo: Path, served: Path) -> None:
    """Copy the demo ten times, so that it has 40 runs, with names of some 200 letters."""
    with duckdb.connect(str(served)) as connection:
        connection.execute(f"attach '{demo}' as demo (read_only)")
        connection.execute("create table times as select range as time from range(10)")
        for table in PUBLIC_TABLES:
            columns = [
                row["column_name"]
                for row in rows_of(connection, f"describe demo.main.{table.name}")
            ]
            changed = [
                f"{name} || '{LONG}'" + (" || time" if name in RUNS else "") + f" as {name}"
                for name in NAMES
                if name in columns
            ]
            connection.execute(
                f"create table {table.name} as select * exclude (time) replace ({', '.join(changed)}) "
                f"from demo.main.{table.name}, times"
            )
        connection.execute(
            f"insert into passk_suite_metrics select * replace ('kind{LONG}' as slice_name, "
            f"'sat{LONG}' as slice_value) from passk_suite_metrics where slice_name = 'all'"
        )


def crowd(log: Path) -> None:
    """Write a log of 40 runs, 20 agents and 5,000 tasks, most of whose names have 200 letters."""
    pad = "nightly_*evals*_<b>of</b>_&_the_desk_"
    with duckdb.connect() as connection:
        connection.execute(
            f"""
            copy (
              select
                rpad('run_', 190, '{pad}') || lpad(run::varchar, 10, '0') as run_id,
                rpad('suite_', 200, '{pad}') as suite,
                rpad('agent_', 198, '{pad}') || lpad((run % 20)::varchar, 2, '0') as agent,
                case when task % 2 = 0 then 'task-' || task
                  else rpad('task_', 190, '{pad}') || lpad(task::varchar, 10, '0')
                end as task_id,
                attempt,
                case when (task * 7 + run * 3 + attempt * attempt) % 11 < 6 + run % 4
                  then 'passed' else 'failed'
                end as outcome
              from range(40) as runs (run), range(5000) as tasks (task),
                range(1, 5) as attempts (attempt)
            ) to '{log}' (format parquet)
            """
        )
