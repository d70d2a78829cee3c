"""The rows of all tables of a database, and how they differ from those of another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ..public import PUBLIC_TABLES

if TYPE_CHECKING:
    from conftest import Project

INTERNAL_TABLES: Final = (
    "int_passk__attempts",
    "int_passk__comparisons",
    "int_passk__pair_sums",
    "int_passk__copy_checks",
    "int_passk__duplicate_attempts",
    "int_passk__expected_attempts",
    "int_passk__count_checks",
    "int_passk__long_tasks",
    "int_passk__family_checks",
    "int_passk__loss_checks",
    "int_passk__order_checks",
    "int_passk__slow_orders",
    "int_passk__suite_pass_checks",
    "int_passk__suite_families",
    "int_passk__suite_windows",
    "int_passk__tasks_by_count",
    "int_passk__window_checks",
    "int_passk__pair_families",
    "int_passk__pair_states",
    "int_passk__pairs",
    "int_passk__read_tasks",
    "int_passk__runs",
    "int_passk__session_checks",
    "int_passk__streaks",
    "int_passk__suite_metrics",
    "int_passk__task_counts",
    "int_passk__task_scans",
    "int_passk__task_windows",
    "int_passk__unmasked_tasks",
)

Snapshot = dict[str, list[dict[str, Any]]]
"""Rows by the name of their table."""


def snapshot(project: Project) -> Snapshot:
    """Give the rows of every table."""
    found: Snapshot = {}
    with project.connect() as connection:
        for table in (*PUBLIC_TABLES, *INTERNAL_TABLES):
            relation = table if table.startswith("passk_") else project.relation(table)
            result = connection.execute(f"select * from {relation}")
            names = [column[0] for column in result.description]
            found[table] = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        states = project.relation("int_passk__estimates_by_count")
        found["int_passk__estimates_by_count"] = [
            {"n": n, "c": c, "k": k}
            for n, c, k in connection.execute(f"select n, c, k from {states}").fetchall()
        ]
    return found


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort rows in a way that floats do not decide."""

    def texts(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple("" if isinstance(value, float) else repr(value) for value in row.values())

    return sorted(
        ({k: v for k, v in row.items() if k not in ("built_with", "log_version")} for row in rows),
        key=texts,
    )


def is_same(actual: Any, expected: Any) -> bool:
    if isinstance(actual, float) and isinstance(expected, float):
        # Differences of two estimates are near 0 by cancellation: there the absolute error counts.
        return math.isclose(actual, expected, rel_tol=1e-12, abs_tol=1e-15)
    return type(actual) is type(expected) and actual == expected


def differences(actual: Snapshot, expected: Snapshot) -> list[str]:
    """Say where the tables of two databases differ."""
    found = []
    for table in (*PUBLIC_TABLES, *INTERNAL_TABLES):
        mine, others = in_order(actual[table]), in_order(expected[table])
        if len(mine) != len(others):
            found.append(f"{table}: {len(mine)} rows instead of {len(others)}")
            continue
        found += [
            f"{table}.{name}: {row.get(name)!r} instead of {wanted!r} in {other}"
            for row, other in zip(mine, others, strict=True)
            for name, wanted in other.items()
            if row.keys() != other.keys() or not is_same(row[name], wanted)
        ]
    # States of counts that no task has any more do no harm; none may be there twice.
    states = [tuple(row.values()) for row in actual["int_passk__estimates_by_count"]]
    if len(states) != len(set(states)):
        found.append("int_passk__estimates_by_count holds a state more than once")
    return found
