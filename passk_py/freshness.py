"""Whether the public tables hold what has landed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from passk_py.tables import Tables

__all__ = ["Pending", "newer_than_built", "pending_changes", "unfinished_tables"]


@dataclass(frozen=True, slots=True)
class Pending:
    """What has changed in the landing tables after the last build.

    Parameters
    ----------
    attempts
        Attempts that landed.
    removed_tasks
        Tasks that lost attempts.
    since
        When the newest batch that the build knows had landed, UTC; None if it knows none.
    """

    attempts: int
    removed_tasks: int
    since: datetime | None

    def __bool__(self) -> bool:
        return bool(self.attempts or self.removed_tasks)

    @property
    def sentence(self) -> str:
        """What has changed, for a person."""
        parts = []
        if self.attempts:
            plural = "attempts have" if self.attempts > 1 else "attempt has"
            parts.append(f"{self.attempts:,} {plural} landed")
        if self.removed_tasks:
            plural = "tasks have" if self.removed_tasks > 1 else "task has"
            parts.append(f"{self.removed_tasks:,} {plural} lost attempts")
        return f"{' and '.join(parts)} since the last build."


def newer_than_built(tables: Tables) -> str | None:
    """Say what has changed in the landing tables after the last build.

    Parameters
    ----------
    tables
        The open database.

    Returns
    -------
    str
        A sentence for a person; None if nothing has changed, or nothing has been built.
    """
    pending = pending_changes(tables)
    return pending.sentence if pending else None


def pending_changes(tables: Tables) -> Pending:
    """Compare the landing tables with what was built from them.

    Parameters
    ----------
    tables
        The open database.

    Returns
    -------
    Pending
        What the next build will see; false if it is nothing, or nothing has been built.
    """
    counts = tables.find("int_passk__task_counts")
    landed = tables.find("attempts", schema="landing")
    removed = tables.find("removed_tasks", schema="landing")
    if counts is None or landed is None or removed is None:
        return Pending(0, 0, None)
    since = tables.rows(f"select max(loaded_at) from {counts}")[0][0]
    bound = f"timestamp '{since if since is not None else '0001-01-01'}'"
    attempts = tables.rows(f"select count(*) from {landed} where loaded_at > {bound}")[0][0]
    # A build that saw a removal keeps no trace of its time, so the rows of the tasks are counted.
    lost = tables.rows(
        f"""
        with candidates as (
          select distinct run_id, suite, task_id from {removed} where removed_at > {bound}
        ),
        here as (
          select run_id, suite, task_id, count(*) as attempts
          from {landed} semi join candidates using (run_id, suite, task_id)
          group by all
        ),
        built as (
          select run_id, suite, task_id, attempts + copies as attempts
          from {counts} semi join candidates using (run_id, suite, task_id)
          where slice_name = 'all'
        )
        select count(*)
        from candidates
        left join here using (run_id, suite, task_id)
        left join built using (run_id, suite, task_id)
        where coalesce(built.attempts, 0) > coalesce(here.attempts, 0)
        """
    )[0][0]
    return Pending(int(attempts), int(lost), since)


def unfinished_tables(tables: Tables) -> list[str]:
    """Name the public tables that the last build did not come to.

    A build that was killed, or that was told to build a part, leaves tables of two states of the
    log. Each table of the way says of which rows it was made, so they are compared.

    Parameters
    ----------
    tables
        The open database.

    Returns
    -------
    list of str
        The tables that are older, or newer, than the counts of the tasks; empty if all are of one
        state, or nothing has been built.
    """
    runs = tables.find("int_passk__runs")
    if runs is None:
        return []
    known = "run_id, suite, loaded_at, log_rows"
    made = f"select run_id, suite, loaded_at, task_rows as log_rows from {runs}"
    wanted = f"{made} where task_rows > 0"
    differing: dict[str, list[str]] = {}
    if counts := tables.find("int_passk__task_counts"):
        counted = (
            "select run_id, suite, max(loaded_at), cast(sum(attempts + copies) as bigint) "
            f"from {counts} where slice_name = 'all' group by run_id, suite"
        )
        differing["passk_runs"] = [_either_way(counted, f"select {known} from {runs}")]
    if metrics := tables.find("int_passk__suite_metrics"):
        held = f"select distinct {known} from {metrics} where slice_name = 'all'"
        differing["passk_suite_metrics"] = [_either_way(held, wanted)]
    pairs, compared = tables.find("int_passk__pairs"), tables.find("int_passk__comparisons")
    if pairs and compared:
        keys = "suite, baseline_run_id, candidate_run_id, pair_source"
        declared = f"""
            select
              {keys},
              case
                when old.loaded_at is null or new.loaded_at > old.loaded_at then new.loaded_at
                else old.loaded_at
              end,
              cast(coalesce(old.log_rows, 0) + coalesce(new.log_rows, 0) as bigint)
            from (select {keys} from {pairs}) as pairs
            left join (select run_id, suite as old_suite, loaded_at, log_rows from ({made})) as old
              on baseline_run_id = old.run_id and suite = old_suite
            left join (select run_id, suite as new_suite, loaded_at, log_rows from ({made})) as new
              on candidate_run_id = new.run_id and suite = new_suite
        """
        held = f"select distinct {keys}, loaded_at, log_rows from {compared}"
        differing["passk_comparisons"] = [_either_way(held, declared)]
    differing["passk_diagnostics"] = [
        # Empty where a var switches them off.
        f"select 1 from ({_either_way(f'select {known} from {checks}', wanted)}) "
        f"where exists (select 1 from {checks})"
        for checks in map(tables.find, ("int_passk__order_checks", "int_passk__copy_checks"))
        if checks
    ]
    return [
        name
        for name, queries in differing.items()
        if any(tables.rows(f"select 1 from ({sql}) limit 1") for sql in queries)
    ]


def _either_way(one: str, other: str) -> str:
    """Write a query of the rows that only one of two queries gives."""
    return f"({one} except {other}) union all ({other} except {one})"
