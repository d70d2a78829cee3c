"""Whether the public tables hold what has landed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from passk_py.tables import Tables

__all__ = ["Pending", "pending_changes"]


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
