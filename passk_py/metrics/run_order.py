"""The order of the runs of a suite and agent, as in the SQL view ``int_passk__run_order``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one suite, and its place among the runs of its agent."""

    run_id: str
    suite: str
    told: Mapping[str, Any]
    """A row of ``passk_runs``, or as much of it as the log says."""
    previous: str | None
    is_latest: bool

    @property
    def agent(self) -> str | None:
        """The agent that made its attempts."""
        agent = self.told.get("agent")
        return None if agent is None else str(agent)


def in_order(runs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Sort runs, the earliest first: by ``started_at``, or ``loaded_at``, then by ``run_id``."""
    rows = list(runs)
    # Times of the log are an order only if every run has one.
    dated = all(row.get("started_at") is not None for row in rows)
    time = "started_at" if dated else "loaded_at"
    return sorted(rows, key=lambda row: (row.get(time) is not None, row.get(time), row["run_id"]))


def latest_first(runs: Iterable[Mapping[str, Any]], most: int) -> dict[str, list[str]]:
    """Name the latest runs of each suite, as many as ``most`` says, the newest first."""
    suites: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        suites.setdefault(run["suite"], []).append(run)
    return {
        suite: [told["run_id"] for told in reversed(in_order(suites[suite])[-most:])]
        for suite in sorted(suites)
    }


def lines_in_order(runs: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Group runs by suite and agent, the earliest of each first."""
    lines: dict[tuple[str, str | None], list[Mapping[str, Any]]] = {}
    for run in runs:
        lines.setdefault((run["suite"], run.get("agent")), []).append(run)
    return [in_order(line) for line in lines.values()]


def runs_in_order(runs: Iterable[Mapping[str, Any]]) -> list[Run]:
    """Give each run its place among those of its suite and agent."""
    found = []
    for line in lines_in_order(runs):
        ids = [run["run_id"] for run in line]
        before = [None, *ids[:-1]]
        found += [
            Run(told["run_id"], told["suite"], told, previous, told is line[-1])
            for told, previous in zip(line, before, strict=True)
        ]
    return found
