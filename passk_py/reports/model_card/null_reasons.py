"""Why a value of a card is null: the rules of ``passk_suite_metrics``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Row

_LEAST_INFORMATIVE: Final = 10
_LEAST_FAMILIES: Final = 1.5
"""Below it ``passk_suite_metrics`` has no limits of delta_k, heterogeneity and the shape."""


def null_reasons(row: Row, by_k: dict[int, Row]) -> dict[str, str]:
    """Say of each column that is null why it is."""
    return {
        column: _why_null(column, row, by_k)
        for column, value in row.items()
        if value is None and column not in ("null_reason", "families", "effective_families")
    }


def _why_null(column: str, row: Row, by_k: dict[int, Row]) -> str:
    """Give the rule of ``passk_suite_metrics`` by which a column is null."""
    if column == "pass_at_1":
        return str(by_k[1]["null_reason"])
    if column == "curve_shape":
        return _why_no_shape(by_k)
    if row["null_reason"] is not None:
        return str(row["null_reason"])
    if column.endswith(("_suite_lower", "_suite_upper", "_within_share")):
        return _why_no_share(row)
    if row["delta_k"] is None:
        return "it takes two eligible tasks"
    if column.startswith("heterogeneity") and row["k"] == 1:
        return "at k = 1 unequal tasks change nothing"
    if column.startswith("heterogeneity") and row["heterogeneity"] is None:
        return "at this pass@1 unequal tasks could change nothing"
    return _too_few(row)


def _says_one(row: Row) -> bool:
    """Say whether the families of the tasks say hardly more than one would."""
    return row["effective_families"] is not None and row["effective_families"] < _LEAST_FAMILIES


def _too_few(row: Row) -> str:
    if _says_one(row):
        return "the families of its tasks say hardly more than one would"
    there = row["informative_tasks"]
    return f"it takes {_LEAST_INFORMATIVE} tasks that both pass and fail, and there are {there}"


def _why_no_share(row: Row) -> str:
    if row["pass_hat_k_suite_lower"] is None:
        return f"a task has n < {2 * row['k']}, which is 2k"
    if row["eligible_tasks"] < 2:
        return "it takes two eligible tasks"
    return "all tasks have the same estimate"


def _why_no_shape(by_k: dict[int, Row]) -> str:
    if 2 not in by_k:
        return "it is read off at k = 2, which is not among passk_ks"
    second = by_k[2]
    if second["null_reason"] is not None:
        return f"it is read off at k = 2: {second['null_reason']}"
    if second["informative_tasks"] < _LEAST_INFORMATIVE or _says_one(second):
        return _too_few(second)
    return "at this pass@1 unequal tasks could change nothing"
