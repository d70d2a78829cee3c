"""Queries about runs as wholes: their names, and their values over k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.reports.queries.chosen import Chosen, Row
    from passk_py.warehouse.tables import Tables

_CURVE: Final = (
    "k",
    *(
        f"{name}{side}"
        for name in ("pass_at_k", "pass_hat_k", "delta_k")
        for side in ("", "_lower", "_upper")
    ),
    "eligible_tasks", "total_tasks", "families", "effective_families", "reading", "null_reason",
)  # fmt: skip
"""The columns of ``passk_suite_metrics`` that are shown over k."""

_OF_FAMILIES: Final = {"families": None, "effective_families": None}

_WHOLE: Final = "slice_name = 'all' and slice_value = 'all'"


def known_runs(tables: Tables) -> list[tuple[str, str]]:
    """List the ``run_id`` and ``suite`` of all runs, suite by suite."""
    return tables.rows(
        f"select run_id, suite from {tables.require('passk_runs')} order by suite, run_id"
    )


def values_over_k(chosen: Chosen) -> dict[tuple[str, str], dict[int, Row]]:
    """Read the values of whole suites over k, by run and suite."""
    columns = ("run_id", "suite", *_there(chosen, _CURVE))
    rows = chosen.rows("passk_suite_metrics", columns, also=_WHOLE)
    return _by_k(({**_OF_FAMILIES, **row} for row in rows), "run_id", "suite")


def values_over_k_of_slices(
    chosen: Chosen, columns: Iterable[str]
) -> dict[tuple[str, str], dict[int, Row]]:
    """Read the values of a run over k, by the name and the value of the slice."""
    keys = ("slice_name", "slice_value")
    rows = chosen.rows("passk_suite_metrics", (*keys, *_there(chosen, columns)))
    return _by_k(({**_OF_FAMILIES, **row} for row in rows), *keys)


def _there(chosen: Chosen, columns: Iterable[str]) -> list[str]:
    """Leave out what tables and copies of older versions lack."""
    known = chosen.tables.columns("passk_suite_metrics")
    return [name for name in columns if name in known or name not in _OF_FAMILIES]


def _by_k(rows: Iterable[Row], *keys: str) -> dict[Any, dict[int, Row]]:
    """Put rows together that have the same keys, which are left out of them."""
    found: dict[Any, dict[int, Row]] = {}
    for row in rows:
        found.setdefault(tuple(row.pop(key) for key in keys), {})[row["k"]] = row
    return found


def ranked_runs(tables: Tables, k: int) -> list[Row]:
    """Read the ranks of runs, and the runs that are not told apart from them, up to a k."""
    return tables.records(f"select * from {tables.require('passk_rankings')} where k <= {k}")


def related_runs(tables: Tables) -> set[tuple[str, str]]:
    """List ``run_id`` and ``suite`` of runs whose tasks are related, without the limits knowing."""
    diagnostics = tables.find("passk_diagnostics")
    if diagnostics is None:
        return set()
    return set(
        tables.rows(
            f"select run_id, suite from {diagnostics} "
            "where diagnostic = 'related_tasks' and verdict = 'warning'"
        )
    )
