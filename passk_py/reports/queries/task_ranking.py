"""The tasks of a suite over several runs, in the order in which to mend them.

The order is kept in a table of the session, because a million tasks of many runs are ranked once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Chosen, Row
    from passk_py.warehouse.tables import Tables

_RANKED: Final = "temp.report_tasks"


def rank_tasks(chosen: Chosen) -> int:
    """Put the tasks in the order of their mean `expected_gain` over the runs, and count them."""
    chosen.tables.connection.execute(
        f"create or replace temp table {_RANKED} as "
        "select *, row_number() over "
        "(order by expected_gain desc nulls last, pass_rate, task_id) - 1 as place from ("
        "select task_id, avg(expected_gain) as expected_gain, avg(pass_rate) as pass_rate, "
        "sum(attempts) as attempts "
        f"from {chosen.source('passk_tasks')} group by task_id)"
    )
    return int(chosen.tables.rows(f"select count(*) from {_RANKED}")[0][0])


def first_tasks(tables: Tables, most: int) -> list[Row]:
    """Read the first of the ranked tasks, with their means over the runs."""
    return tables.records(
        f"select task_id, expected_gain, pass_rate, attempts from {_RANKED} "
        f"where place < {most} order by place"
    )


def pass_rates_by_bin(chosen: Chosen, bins: int, total: int) -> list[Row]:
    """Give the mean pass rate of each run in each bin of the ranked tasks."""
    return chosen.tables.records(
        "select run_id, bin, count(*) as tasks, min(place) + 1 as first_task, "
        "max(place) + 1 as last_task, avg(pass_rate) as pass_rate from ("
        f"select tasks.run_id, ranked.place, ranked.place * {bins} // {total} as bin, "
        f"tasks.pass_rate from {chosen.tables.require('passk_tasks')} as tasks "
        f"join {_RANKED} as ranked using (task_id) where {chosen.where()}"
        ") group by run_id, bin order by run_id, bin"
    )


def drop_ranking(tables: Tables) -> None:
    """Give the room of the ranking back."""
    tables.connection.execute(f"drop table if exists {_RANKED}")
