"""Which tables people query: their keys, what to show of them first, and filtering them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.sql_text import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "KNOWN_TABLES",
    "OPTIONAL_TABLES",
    "PUBLIC_TABLES",
    "Filters",
    "PublicTable",
    "filters_of",
    "public_table",
    "shared_columns",
]


@dataclass(frozen=True, slots=True)
class PublicTable:
    """One table that people query.

    Parameters
    ----------
    name
        Its name in the database.
    grain
        What one row is.
    key
        The columns that tell its rows apart, in the order in which rows are shown.
    headline
        The columns that a terminal shows first, the most telling ones first.
    filters
        Which of ``run_id``, ``suite`` and ``k`` it can be filtered by.
    run_columns
        The columns that name a run; a row with the run in any of them is one of the run.
    suite_columns
        The columns that name a suite, in the same way.
    var
        The var that asks for it; empty if every build makes it.
    """

    name: str
    grain: str
    key: tuple[str, ...]
    headline: tuple[str, ...]
    filters: tuple[str, ...] = ("run_id", "suite")
    run_columns: tuple[str, ...] = ("run_id",)
    suite_columns: tuple[str, ...] = ("suite",)
    var: str = ""

    def columns_of(self, name: str) -> tuple[str, ...]:
        """Give the columns that hold a ``run_id``, a ``suite`` or a ``k``."""
        places = {"run_id": self.run_columns, "suite": self.suite_columns}
        return places.get(name, (name,))


PUBLIC_TABLES: Final = (
    PublicTable(
        "passk_attempts",
        "attempt",
        ("run_id", "suite", "task_id", "attempt"),
        ("run_id", "task_id", "attempt", "outcome", "outcome_reason", "score", "duration_s"),
    ),
    PublicTable(
        "passk_rejected_attempts",
        "refused row",
        ("source_file", "source_line"),
        ("reason", "source_line", "source_file", "run_id", "task_id", "attempt"),
    ),
    PublicTable(
        "passk_runs",
        "run",
        ("suite", "run_id"),
        ("run_id", "tasks", "attempts", "excluded", "rejected", "pass_rate", "min_n", "max_n"),
    ),
    PublicTable(
        "passk_missing_attempts",
        "run, task that lacks attempts",
        ("suite", "run_id", "task_id"),
        ("run_id", "task_id", "expected_attempts", "attempts", "missing_attempts"),
    ),
    PublicTable(
        "passk_tasks",
        "run, task",
        ("suite", "run_id", "task_id"),
        ("run_id", "task_id", "n", "c", "task_class", "pass_hat_k", "mend_rank"),
    ),
    PublicTable(
        "passk_task_metrics",
        "run, task, k",
        ("suite", "run_id", "task_id", "k"),
        ("run_id", "task_id", "k", "n", "c", "pass_at_k", "pass_hat_k", "null_reason"),
        ("run_id", "suite", "k"),
    ),
    PublicTable(
        "passk_suite_metrics",
        "run, slice, k",
        ("suite", "run_id", "slice_name", "slice_value", "k"),
        ("run_id", "k", "pass_at_k", "pass_hat_k", "eligible_tasks", "total_tasks", "reading"),
        ("run_id", "suite", "k"),
    ),
    PublicTable(
        "passk_extrapolations",
        "run, k beyond what was measured",
        ("suite", "run_id", "k"),
        ("run_id", "k", "pass_at_k", "pass_hat_k", "pass_hat_k_at_most", "basis", "measured_k"),
        ("run_id", "suite", "k"),
    ),
    PublicTable(
        "passk_comparisons",
        "pair of runs, metric, k",
        ("suite", "baseline_run_id", "candidate_run_id", "metric", "k"),
        ("baseline_run_id", "candidate_run_id", "metric", "k", "difference", "p", "verdict"),
        ("run_id", "suite", "k"),
        ("baseline_run_id", "candidate_run_id"),
    ),
    PublicTable(
        "passk_task_comparisons",
        "pair of runs, task",
        ("suite", "baseline_run_id", "candidate_run_id", "task_id"),
        ("task_id", "baseline_c", "baseline_n", "candidate_c", "candidate_n", "p", "moved"),
        ("run_id", "suite"),
        ("baseline_run_id", "candidate_run_id"),
    ),
    PublicTable(
        "passk_plans",
        "run, metric, k, attempts per task",
        ("suite", "run_id", "metric", "k", "attempts"),
        ("run_id", "metric", "k", "attempts", "tasks_for_width", "tasks_for_difference", "basis"),
        ("run_id", "suite", "k"),
    ),
    PublicTable(
        "passk_contamination",
        "pair of suites, run on the public one, k",
        ("public_suite", "private_suite", "public_run_id", "k"),
        ("public_run_id", "k", "public_pass_hat_k", "private_pass_hat_k", "verdict", "meaning"),
        ("run_id", "suite", "k"),
        ("public_run_id", "private_run_id"),
        ("public_suite", "private_suite"),
    ),
    PublicTable(
        "passk_diagnostics",
        "run, diagnostic",
        ("suite", "run_id", "diagnostic"),
        ("run_id", "diagnostic", "verdict", "statistic", "p_adjusted", "tasks", "finding"),
    ),
    PublicTable(
        "passk_gates",
        "gate, run",
        ("gate", "suite", "run_id", "baseline_run_id", "slice_name", "slice_value"),
        ("gate", "run_id", "result", "rule", "estimate", "threshold", "reason"),
        ("run_id", "suite", "k"),
    ),
)
"""Every public table that a build makes, in the order of the way of the data."""

OPTIONAL_TABLES: Final = (
    PublicTable(
        "passk_suite_bootstrap",
        "run, slice, metric, k",
        ("suite", "run_id", "slice_name", "slice_value", "metric", "k"),
        ("run_id", "slice_value", "metric", "k", "estimate", "lower", "upper", "eligible_tasks"),
        ("run_id", "suite", "k"),
        var="passk_bootstrap",
    ),
)
"""Public tables that are there only if a var asks for them."""

KNOWN_TABLES: Final = (*PUBLIC_TABLES, *OPTIONAL_TABLES)
"""Every public table, whether or not a build makes it by itself."""


def public_table(name: str) -> PublicTable:
    """Find a public table by its name.

    Parameters
    ----------
    name
        The table's name.

    Returns
    -------
    PublicTable
        The table.

    Raises
    ------
    PasskError
        If no public table has that name.
    """
    for table in KNOWN_TABLES:
        if table.name == name:
            return table
    from passk_py.common.names import did_you_mean

    names = [table.name for table in KNOWN_TABLES]
    raise PasskError(
        f"There is no public table '{name}'.{did_you_mean([name], names)}",
        hint=f"The tables are {', '.join(names)}.",
    )


def shared_columns(columns: Iterable[str], *, with_raw: bool) -> dict[str, str]:
    """Give the SQL of columns for a copy or a file, which others than who has the log may read.

    Parameters
    ----------
    columns
        The names of a table's columns.
    with_raw
        Whether refused rows are given as they were read, and files with their folders.

    Returns
    -------
    dict
        Expressions by the name of the column, which stays the same.

    Examples
    --------
    >>> shared_columns(["reason", "raw", "source_file"], with_raw=False)["raw"]
    'null::varchar'
    >>> shared_columns(["reason", "raw", "source_file"], with_raw=True)["raw"]
    'raw'
    """
    # A refused row may hold prompts, outputs and keys; a path tells of people and machines.
    others = {"raw": "null::varchar", "source_file": "parse_filename(source_file)"}
    return {name: name if with_raw else others.get(name, name) for name in columns}


def _any_of(columns: Sequence[str], values: Sequence[str]) -> str:
    """Write the condition that one of the columns has one of the values."""
    said = [f"{column} in ({', '.join(values)})" for column in columns]
    return said[0] if len(said) == 1 else f"({' or '.join(said)})"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which rows of a table are wanted; empty means all.

    Parameters
    ----------
    runs, suites
        Values of ``run_id`` and of ``suite``.
    ks
        Values of ``k``.
    """

    runs: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    ks: tuple[int, ...] = ()

    def where(self, table: PublicTable) -> str:
        """Write the condition for a table in SQL.

        Parameters
        ----------
        table
            The table. What it can't be filtered by is left out.

        Returns
        -------
        str
            A condition, ``true`` if nothing is filtered.
        """
        wanted: tuple[tuple[str, Sequence[str]], ...] = (
            ("run_id", [quote(run) for run in self.runs]),
            ("suite", [quote(suite) for suite in self.suites]),
            ("k", [str(k) for k in self.ks]),
        )
        parts = [
            _any_of(table.columns_of(column), values)
            for column, values in wanted
            if values and column in table.filters
        ]
        return " and ".join(parts) or "true"


def filters_of(
    run_id: str | Iterable[str] = (),
    suite: str | Iterable[str] = (),
    k: int | Iterable[int] = (),
) -> Filters:
    """Make filters of one value each, or of several.

    Parameters
    ----------
    run_id, suite, k
        A value, or values.

    Examples
    --------
    >>> filters_of("nightly", k=[1, 4])
    Filters(runs=('nightly',), suites=(), ks=(1, 4))
    """
    return Filters(
        (run_id,) if isinstance(run_id, str) else tuple(run_id),
        (suite,) if isinstance(suite, str) else tuple(suite),
        (k,) if isinstance(k, int) else tuple(k),
    )
