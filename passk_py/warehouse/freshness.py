"""Whether the public tables are those of the log: whole, and with all that has landed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import plural
from passk_py.warehouse.settings import COPY, Settings, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from passk_py.warehouse.tables import Tables


@dataclass(frozen=True, slots=True)
class Pending:
    """The changes of the landing tables after the last build."""

    attempts: int = 0
    removed_tasks: int = 0
    expected_tasks: int = 0
    """Tasks of which the log expects another number of attempts than before."""

    def __bool__(self) -> bool:
        return bool(self.attempts or self.removed_tasks or self.expected_tasks)

    @property
    def sentence(self) -> str:
        """Say the changes to a person."""
        parts = [
            (self.attempts, "attempt", "landed"),
            (self.removed_tasks, "task", "lost attempts"),
        ]
        if not (self.attempts or self.removed_tasks):
            parts = [(self.expected_tasks, "task", "another number of expected attempts")]
        said = (
            f"{plural(count, noun)} {'has' if count == 1 else 'have'} {what}"
            for count, noun, what in parts
            if count
        )
        return f"{' and '.join(said)} since the last build."


def stale(tables: Tables) -> str | None:
    """Say why the public tables are not those of the log; None if they are. All readers ask."""
    said = (why_unfinished(tables), changed_since(tables, pending_changes(tables)))
    return " ".join(filter(None, said)) or None


def changed_since(tables: Tables, pending: Pending) -> str | None:
    """Say what the log has that complete tables lack; None if they have all of it."""
    sentences = [pending.sentence] if pending else []
    if missed := _missed_by_copy(tables):
        attempts = plural(missed, "attempt")
        sentences.append(f"This copy was published without {attempts} that had landed.")
    return " ".join(sentences) or None


def why_unfinished(tables: Tables) -> str | None:
    """Say why the public tables are not of one build of this version; None if they are."""
    if _is_of_another_version(tables):
        return "Another version of passk built the tables."
    unfinished = unfinished_tables(tables)
    return half_built(unfinished) if unfinished else None


def _is_of_another_version(tables: Tables) -> bool:
    """Say whether tables lack what they are made from, or the column of the state of the log."""
    if any(
        tables.find(name) and not tables.find(before) for name, (before, _) in _FOLLOWING.items()
    ):
        return True
    stored = {name for name in ("int_passk__runs", "int_passk__comparisons") if tables.find(name)}
    versioned = tables.rows(
        "select table_name from duckdb_columns() "
        "where column_name = 'log_version' and database_name = current_database()"
    )
    return not stored <= {name for (name,) in versioned}


def half_built(unfinished: list[str]) -> str:
    """Say which tables the last build did not come to."""
    return f"The tables are half built: the last build did not reach {', '.join(unfinished)}."


def _missed_by_copy(tables: Tables) -> int:
    """Count the attempts that had landed, and were not built, when a copy was published."""
    copy = tables.find(COPY)
    if copy is None:
        return 0
    return int(tables.rows(f"select coalesce(max(landed_since_build), 0) from {copy}")[0][0])


def pending_changes(tables: Tables) -> Pending:
    """Tell what the next build will see; false if it is nothing, or the input is another."""
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
          select run_id, suite, task_id, attempts + duplicates as attempts
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
    """Name the public tables that are older, or newer, than what they are made from.

    A build that was killed, or that was told to build a part, leaves tables of two states of the
    log, or of two settings of the vars. Each stored table says by ``log_version`` which state of a
    run its rows are of, and by ``built_with`` what made them, so each is compared with the one
    before it.
    """
    if tables.find("int_passk__runs") is None:
        return []
    if _is_of_another_version(tables):
        return list(dict.fromkeys(chain.from_iterable(_STORED.values())))
    settings = read_settings(tables)
    found = (
        *_made_of_others(tables, settings),
        *_made_of_other_estimates(tables, settings),
        *_made_of_other_pairs(tables),
        *_built_otherwise(tables),
    )
    return list(dict.fromkeys(found))


def _made_of_others(tables: Tables, settings: Settings) -> Iterator[str]:
    """Give public tables that have other states of runs than what they are made from."""
    read: dict[tuple[str, str], set[tuple[Any, ...]]] = {}

    def states(name: str, condition: str = "true") -> set[tuple[Any, ...]] | None:
        place, key = tables.find(name), (name, condition)
        if place and key not in read:
            # Compared here: planning the comparison of few rows takes DuckDB longer than all else.
            columns = "distinct run_id, suite, log_version"
            read[key] = set(tables.rows(f"select {columns} from {place} where {condition}"))
        return read.get(key)

    scans, log = states("int_passk__task_scans"), states("int_passk__log_runs")
    if scans is None or log is None:
        pass
    # Runs that lost all of their attempts stay listed where the log says what has gone.
    elif scans - log or (log - scans and not settings.reads_landing):
        yield "passk_tasks"
    for name, (before, condition) in _FOLLOWING.items():
        if all(settings.values[variable] for variable in _SWITCHES.get(name, ())):
            wanted, held = states(before, condition), states(name)
            if wanted is not None and held is not None and wanted != held:
                yield from _STORED[name]


def _made_of_other_estimates(tables: Tables, settings: Settings) -> Iterator[str]:
    """Give the table of the bootstrap if it is of other estimates than those of the suites."""
    metrics, bootstrap = (
        tables.find("int_passk__suite_metrics"), tables.find("passk_suite_bootstrap")
    )  # fmt: skip
    if metrics and bootstrap and settings.bootstrap:
        other = _other_bootstrap(bootstrap, metrics)
        if tables.rows(f"{other} limit 1"):
            yield "passk_suite_bootstrap"


def _made_of_other_pairs(tables: Tables) -> Iterator[str]:
    """Give the tables of pairs that are of other pairs, or other states of runs, than wanted."""
    pairs = tables.find("int_passk__pairs")
    key = "suite, baseline_run_id, candidate_run_id, pair_source, slice_name, log_version"
    # Read once, and compared here: planning the view takes DuckDB longer than all else.
    wanted = set(tables.rows(f"select {key} from {pairs}")) if pairs else None
    for name in ("int_passk__pair_states", "int_passk__pair_sums", "int_passk__comparisons"):
        place = tables.find(name)
        if (
            wanted is not None
            and place
            and set(tables.rows(f"select distinct {key} from {place}")) != wanted
        ):
            yield from _STORED[name]


_FOLLOWING: Final = {
    "int_passk__runs": ("int_passk__task_scans", "true"),
    "int_passk__long_tasks": ("int_passk__task_scans", "not is_masked"),
    "int_passk__unmasked_tasks": ("int_passk__long_tasks", "not is_masked"),
    "int_passk__duplicate_attempts": ("int_passk__unmasked_tasks", "duplicates > 0"),
    "int_passk__streaks": ("int_passk__task_counts", "pass_mask is null and n > 0"),
    "int_passk__tasks_by_count": ("int_passk__runs", "task_rows > 0"),
    "int_passk__suite_windows": ("int_passk__tasks_by_count", "true"),
    "int_passk__suite_families": ("int_passk__tasks_by_count", "true"),
    "int_passk__suite_metrics": ("int_passk__tasks_by_count", "true"),
    "int_passk__count_checks": ("int_passk__tasks_by_count", "true"),
    "int_passk__loss_checks": ("int_passk__tasks_by_count", "true"),
    "int_passk__family_checks": ("int_passk__tasks_by_count", "true"),
    "int_passk__order_checks": ("int_passk__tasks_by_count", "true"),
    "int_passk__suite_pass_checks": ("int_passk__tasks_by_count", "true"),
    "int_passk__window_checks": ("int_passk__tasks_by_count", "true"),
    "int_passk__read_tasks": ("int_passk__tasks_by_count", "true"),
    "int_passk__copy_checks": ("int_passk__read_tasks", "true"),
    "int_passk__session_checks": ("int_passk__read_tasks", "true"),
    "int_passk__slow_orders": (
        "int_passk__task_counts",
        "slice_name = 'all' and pass_mask is null and c > 0 and c < n",
    ),
}
"""The table that each stored one is made from, and which of its rows count."""

_CHECKS: Final = ("passk_diagnostics",)
_ORDER_CHECKS: Final = ("passk_diagnostics", "passk_ordered_metrics")
_SWITCHES: Final = {
    "int_passk__streaks": ("passk_ordered_metrics",),
    "int_passk__suite_windows": ("passk_ordered_metrics",),
    "int_passk__suite_families": ("passk_cluster",),
    "int_passk__count_checks": _CHECKS,
    "int_passk__loss_checks": _CHECKS,
    "int_passk__family_checks": _CHECKS,
    "int_passk__read_tasks": _CHECKS,
    "int_passk__copy_checks": _CHECKS,
    "int_passk__session_checks": _CHECKS,
    "int_passk__slow_orders": _ORDER_CHECKS,
    "int_passk__order_checks": _ORDER_CHECKS,
    "int_passk__suite_pass_checks": _ORDER_CHECKS,
    "int_passk__window_checks": _ORDER_CHECKS,
}
"""The vars without which a table is empty."""


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


_STORED: Final[Mapping[str, tuple[str, ...]]] = {
    "int_passk__long_tasks": ("passk_tasks",),
    "int_passk__unmasked_tasks": ("passk_tasks",),
    "int_passk__duplicate_attempts": ("passk_attempts", "passk_rejected_attempts"),
    "int_passk__streaks": ("passk_task_metrics",),
    "int_passk__expected_attempts": ("passk_missing_attempts",),
    "int_passk__runs": ("passk_runs",),
    "int_passk__tasks_by_count": ("passk_suite_metrics",),
    "int_passk__suite_windows": ("passk_suite_metrics",),
    "int_passk__suite_families": ("passk_suite_metrics",),
    "int_passk__pair_families": ("passk_comparisons",),
    "int_passk__suite_metrics": ("passk_suite_metrics",),
    "int_passk__pair_states": ("passk_comparisons", "passk_rankings"),
    "int_passk__pair_sums": ("passk_comparisons", "passk_rankings"),
    "int_passk__comparisons": ("passk_comparisons", "passk_rankings"),
    "int_passk__count_checks": ("passk_diagnostics",),
    "int_passk__loss_checks": ("passk_diagnostics",),
    "int_passk__family_checks": ("passk_diagnostics",),
    "int_passk__slow_orders": ("passk_diagnostics",),
    "int_passk__order_checks": ("passk_diagnostics",),
    "int_passk__suite_pass_checks": ("passk_diagnostics",),
    "int_passk__window_checks": ("passk_diagnostics",),
    "int_passk__read_tasks": ("passk_diagnostics",),
    "int_passk__read_attempts": ("passk_diagnostics",),
    "int_passk__copy_checks": ("passk_diagnostics",),
    "int_passk__session_checks": ("passk_diagnostics",),
}
"""Tables that say what they were built with, and the public tables that are made from each."""


def _built_otherwise(tables: Tables) -> Iterator[str]:
    """Give the public tables that are of other vars than the scans, from which all are made."""
    scans = "int_passk__task_scans"
    places = {name: place for name in (scans, *_STORED) if (place := tables.find(name))}
    if scans not in places:
        return
    # All rows of a table have the same; before the last stroke is what all tables of a build share.
    built = dict(
        tables.rows(
            " union all ".join(
                f"(select '{name}', regexp_replace(built_with, '/[^/]*$', '') from {place} limit 1)"
                for name, place in places.items()
            )
        )
    )
    for name, made in _STORED.items():
        # An empty table says nothing.
        if None not in (built.get(scans), built.get(name)) and built[name] != built[scans]:
            yield from made


def _either_way(one: str, other: str) -> str:
    """Write a query of the rows that only one of two queries gives."""
    return f"({one} except {other}) union all ({other} except {one})"
