"""The parts of a dashboard: rows of charts, and filters at its side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from passk_py.reports.superset.superset_charts import Chart

ESTIMATES: Final = {
    "pass_at_k": "pass@k",
    "pass_at_k_lower": "from",
    "pass_at_k_upper": "to",
    "pass_hat_k": "pass^k",
    "pass_hat_k_lower": "from",
    "pass_hat_k_upper": "to",
}
"""The columns of both metrics with their limits, and what they are called on the page."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A choice at the side of a dashboard; it filters each chart whose dataset has the column."""

    name: str
    dataset: str
    column: str
    first: str = ""
    """The metric by which the values are sorted; empty to sort them by themselves."""
    must_choose: bool = False
    """Whether one value is always chosen, at first the first one; else several, or none, can be."""
    within: tuple[str, ...] = ()
    """The filters whose choice narrows the values."""
    but_not: tuple[str, ...] = ()
    """The names of the charts that it leaves alone."""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A dashboard."""

    name: str
    """The last part of its address, and of its title."""
    text: str
    """The text above the charts, which says what they show."""
    rows: tuple[tuple[Chart, ...], ...]
    """All charts of a row have the same width."""
    heights: tuple[int, ...]
    """How high each row is, in Superset's units of eight pixels."""
    filters: tuple[Filter, ...]


def filter_of_first(
    name: str,
    dataset: str,
    column: str,
    *,
    within: tuple[str, ...] = (),
) -> Filter:
    """Let one value be chosen, at first the newest."""
    return Filter(name, dataset, column, "newest first", must_choose=True, within=within)


def filter_of_k(*, but_not: tuple[str, ...] = ()) -> Filter:
    """Let one k be chosen, at first the deployment k."""
    return Filter("k", "points", "k", "deployment k first", must_choose=True, but_not=but_not)
