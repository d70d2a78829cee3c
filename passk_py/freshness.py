"""Whether the public tables are those of the log: whole, and with all that has landed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.settings import Settings, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.tables import Tables

__all__ = [
    "Pending",
    "changed_since",
    "half_built",
    "pending_changes",
    "stale",
    "unfinished_tables",
]

COPY: Final = "passk_published"
"""The table by which one tells a copy that `passk publish` wrote."""


@dataclass(frozen=True, slots=True)
class Pending:
    """What has changed in the landing tables after the last build.

    Parameters
    ----------
    attempts
        Attempts that landed.
    removed_tasks
        Tasks that lost attempts.
    expected_tasks
        Tasks of which the log expects another number of attempts than before.
    """

    attempts: int = 0
    removed_tasks: int = 0
    expected_tasks: int = 0

    def __bool__(self) -> bool:
        return bool(self.attempts or self.removed_tasks or self.expected_tasks)

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
        if self.expected_tasks and not parts:
            plural = "tasks have" if self.expected_tasks > 1 else "task has"
            parts.append(f"{self.expected_tasks:,} {plural} another number of expected attempts")
        return f"{' and '.join(parts)} since the last build."


def stale(tables: Tables) -> str | None:
    """Say why the public tables are not those of the log: every reader asks this.

    Parameters
    ----------
    tables
        The open database.

    Returns
    -------
    str
        Sentences for a person: which tables the last build did not come to, and what has landed or
        gone since. None if the tables are those of the log, or nothing has been built.
    """
    unfinished = unfinished_tables(tables)
    said = (
        half_built(unfinished) if unfinished else None,
        changed_since(tables, pending_changes(tables)),
    )
    return " ".join(filter(None, said)) or None


def changed_since(tables: Tables, pending: Pending) -> str | None:
    """Say what the log has that complete tables lack.

    Parameters
    ----------
    tables
        The open database.
    pending
        What :func:`pending_changes` gives.

    Returns
    -------
    str
        Sentences for a person; None if they have all of it.
    """
    sentences = [pending.sentence] if pending else []
    if missed := _missed_by_copy(tables):
        plural = "attempts" if missed > 1 else "attempt"
        sentences.append(f"This copy was published without {missed:,} {plural} that had landed.")
    return " ".join(sentences) or None


def half_built(unfinished: list[str]) -> str:
    """Say which tables the last build did not come to.

    Examples
    --------
    >>> half_built(["passk_runs", "passk_suite_metrics"])
    'The tables are half built: the last build did not come to passk_runs, passk_suite_metrics.'
    """
    return f"The tables are half built: the last build did not come to {', '.join(unfinished)}."


def _missed_by_copy(tables: Tables) -> int:
    """Count the attempts that had landed, and were not built, when a copy was published."""
    copy = tables.find(COPY)
    if copy is None:
        return 0
    return int(tables.rows(f"select coalesce(max(landed_since_build), 0) from {copy}")[0][0])


def pending_changes(tables: Tables) -> Pending:
    """Compare the landing tables with what was built from them.

    Parameters
    ----------
    tables
        The open database.

    Returns
    -------
    Pending
        What the next build will see; false if it is nothing, nothing has been built, or the tables
        were built from another input.
    """
    counts = tables.find("int_passk__task_counts")
    if counts is None:
        return Pending()
    settings = read_settings(tables)
    schema = str(settings.values["passk_landing_schema"])
    landed = tables.find("attempts", schema=schema)
    removed = tables.find("removed_tasks", schema=schema)
    if landed is None or removed is None or not settings.reads_landing:
        return Pending()
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
    return Pending(int(attempts), int(lost), _newly_expected(tables))


def _newly_expected(tables: Tables) -> int:
    """Count the tasks of which the log expects another number of attempts than the last build."""
    expected = tables.find("stg_passk__expected_attempts")
    built = tables.find("int_passk__expected_attempts")
    if expected is None or built is None:
        return 0
    rows = "select run_id, suite, task_id, expected_attempts from"
    both = _either_way(f"{rows} {expected}", f"{rows} {built}")
    return int(tables.rows(f"select count(distinct (run_id, suite, task_id)) from ({both})")[0][0])


def unfinished_tables(tables: Tables) -> list[str]:
    """Name the public tables that the last build did not come to.

    A build that was killed, or that was told to build a part, leaves tables of two states of the
    log, or of two settings of the vars. Each table of the way says of which rows, and with what, it
    was made, so each is compared with the one before it.

    Parameters
    ----------
    tables
        The open database.

    Returns
    -------
    list of str
        The tables that are older, or newer, than what they are made from; empty if all are of one
        state, or nothing has been built.
    """
    if tables.find("int_passk__runs") is None:
        return []
    settings = read_settings(tables)
    found = (
        name
        for name, sql in (*_steps(tables, settings), *_built_otherwise(tables))
        if tables.rows(f"select 1 from ({sql}) limit 1")
    )
    return list(dict.fromkeys(found))


def _steps(tables: Tables, settings: Settings) -> Iterator[tuple[str, str]]:
    """Give public tables, and a query with a row where one is not made from what is there now.

    These are the comparisons by which the models themselves find what is to be made anew.
    """
    task = "run_id, suite, task_id, loaded_at"
    run = "run_id, suite, loaded_at"
    runs = tables.find("int_passk__runs")
    made = f"select {run}, task_rows as log_rows from {runs}"
    with_tasks = f"{made} where task_rows > 0"

    unmasked = tables.find("int_passk__unmasked_tasks")
    if unmasked and (scans := tables.find("int_passk__task_scans")):
        yield (
            "passk_tasks",
            _either_way(
                f"select {task}, attempts from {scans} where not is_masked and slice_name = 'all'",
                f"select distinct {task}, log_rows from {unmasked}",
            ),
        )
    if unmasked and (copies := tables.find("int_passk__duplicate_attempts")):
        copied = f"select {task}, log_rows from {unmasked} where copies > 0 and slice_name = 'all'"
        held = f"select distinct run_id, suite, task_id, task_loaded_at, log_rows from {copies}"
        for name in ("passk_attempts", "passk_rejected_attempts"):
            yield name, _either_way(copied, held)
    if unmasked and settings.ordered and (streaks := tables.find("int_passk__streaks")):
        wanted = f"select {task}, log_rows from {unmasked} where attempts > excluded"
        yield (
            "passk_task_metrics",
            _either_way(
                f"{wanted} and slice_name = 'all'",
                f"select distinct {task}, log_rows from {streaks}",
            ),
        )
    if counts := tables.find("int_passk__task_counts"):
        counted = (
            "select run_id, suite, max(loaded_at), cast(sum(attempts + copies) as bigint) "
            f"from {counts} where slice_name = 'all' group by run_id, suite"
        )
        yield "passk_runs", _either_way(counted, f"select {run}, log_rows from {runs}")
    if metrics := tables.find("int_passk__suite_metrics"):
        held = f"select distinct {run}, log_rows from {metrics} where slice_name = 'all'"
        yield "passk_suite_metrics", _either_way(held, with_tasks)
        bootstrap = tables.find("passk_suite_bootstrap")
        if bootstrap and settings.bootstrap:
            yield "passk_suite_bootstrap", _other_bootstrap(bootstrap, metrics)
    pairs, compared = tables.find("int_passk__pairs"), tables.find("int_passk__comparisons")
    if pairs and compared:
        yield "passk_comparisons", _other_pairs(pairs, compared, made)
    for checks in map(tables.find, ("int_passk__order_checks", "int_passk__copy_checks")):
        if checks:
            differing = _either_way(f"select {run}, log_rows from {checks}", with_tasks)
            # Empty where a var switches them off.
            is_wanted = f"exists (select 1 from {checks})"
            yield "passk_diagnostics", f"select 1 from ({differing}) where {is_wanted}"


def _other_pairs(pairs: str, compared: str, made: str) -> str:
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
    return _either_way(f"select distinct {keys}, loaded_at, log_rows from {compared}", declared)


def _other_bootstrap(bootstrap: str, metrics: str) -> str:
    """Write a query of estimates that are not those of the suites: it says nothing of the log."""
    key = "run_id, suite, slice_name, slice_value, k, metric"
    return f"""
        select 1
        from (select {key}, eligible_tasks, estimate from {bootstrap}) as drawn
        full join (
          unpivot (
            select run_id, suite, slice_name, slice_value, k, eligible_tasks, pass_at_k, pass_hat_k
            from {metrics}
          ) on pass_at_k, pass_hat_k into name metric value estimate
        ) as computed using ({key}, eligible_tasks)
        where
          (drawn.estimate is null) <> (computed.estimate is null)
          or abs(drawn.estimate - computed.estimate) > 1e-9
    """


_STORED: Final = {
    "int_passk__unmasked_tasks": "passk_tasks",
    "int_passk__duplicate_attempts": "passk_attempts",
    "int_passk__streaks": "passk_task_metrics",
    "int_passk__expected_attempts": "passk_missing_attempts",
    "int_passk__runs": "passk_runs",
    "int_passk__suite_metrics": "passk_suite_metrics",
    "int_passk__pair_states": "passk_comparisons",
    "int_passk__comparisons": "passk_comparisons",
    "int_passk__order_checks": "passk_diagnostics",
    "int_passk__copy_checks": "passk_diagnostics",
}
"""Tables that say what they were built with, and a public table that is made from each."""


def _built_otherwise(tables: Tables) -> Iterator[tuple[str, str]]:
    """Give public tables, and a query with a row where vars are not those of the scans.

    All rows of a table are built with the same; the part before the last stroke is that of all
    tables of a build.
    """
    scans = tables.find("int_passk__task_scans")
    if scans is None:
        return
    built = "select regexp_replace(built_with, '/[^/]*$', '') as built from {} limit 1"
    for name, public in _STORED.items():
        if place := tables.find(name):
            both = f"({built.format(scans)}) as scans, ({built.format(place)}) as other"
            yield public, f"select 1 from {both} where scans.built <> other.built"


def _either_way(one: str, other: str) -> str:
    """Write a query of the rows that only one of two queries gives."""
    return f"({one} except {other}) union all ({other} except {one})"
