"""The options of a conversion, and the results of runs that it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.reports.queries.run_queries import values_over_k

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.reports.queries.chosen import Chosen, Row

METRICS: Final = ("pass_at_k", "pass_hat_k")

MEANINGS: Final = {
    "pass_at_k": "The probability that at least one of k attempts at a task passes",
    "pass_hat_k": "The probability that all of k attempts at a task pass",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of a conversion; empty for all, None for what is not said."""

    runs: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    ks: tuple[int, ...] = ()
    metric: str | None = None
    dataset: str | None = None
    task: str | None = None
    source_url: str | None = None
    percent: bool = False
    organization: str | None = None
    relationship: str | None = None
    developer: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A run in a suite: its row of ``passk_runs``, and its values over k."""

    run: Row
    values: list[Row]

    @property
    def said(self) -> str:
        """Name it in a message."""
        return f"run {self.run['run_id']} in suite {self.run['suite']}"


def results_of(chosen: Chosen, asked: Asked) -> Iterator[Result]:
    """Read the runs that are asked for, in the order of their names."""
    over_k = values_over_k(chosen)
    for run in chosen.rows("passk_runs"):
        by_k = over_k.get((run["run_id"], run["suite"]), {})
        yield Result(run, [row for k, row in by_k.items() if not asked.ks or k in asked.ks])


def required(value: str | None, option: str, why: str) -> str:
    """Give a fact that only the user knows, or raise the error that asks for it."""
    if not value:
        raise PasskError(f"{why}, which the log does not know.", hint=f"Give it with --{option}.")
    return value
