"""Verdicts that are others than before: what is worth a message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from passk_py.common.words import percent, plain, points, symbol

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict on the latest run of an agent that is another one than before."""

    suite: str
    said: str


def verdict_changes(facts: Row) -> list[Change]:
    """Compare the latest run of each agent with its run before, and with its baselines."""
    k = facts["deployment_k"]
    return [
        Change(suite["suite"], plain(said))
        for suite in facts["suites"]
        for said in (*_readings(suite, k), *_comparisons(suite, k))
    ]


def _readings(suite: Row, k: int) -> Iterable[str]:
    """Give the agents whose reading is another one than that of their run before."""
    before: dict[str, Row] = {}
    for run in suite["runs"]:
        if run["agent"] is None:
            continue
        earlier = before.get(run["agent"])
        before[run["agent"]] = run
        if earlier is None or not run["is_latest"]:
            continue
        first, last = _reading(earlier, k), _reading(run, k)
        if None not in (first, last) and first != last:
            yield f"{run['label']} is {last}; {earlier['label']} was {first}."


def _reading(run: Row, k: int) -> str | None:
    return next((row["reading"] for row in run["curve"] if row["k"] == k), None)


def _comparisons(suite: Row, k: int) -> Iterable[str]:
    """Give the latest runs whose pass^k rose or fell beyond chance."""
    latest = {run["run_id"]: run for run in suite["runs"] if run["is_latest"]}
    labels = {run["run_id"]: run["label"] for run in suite["runs"]}
    for row in suite["comparisons"]:
        moved = {"improvement": "rose", "regression": "fell"}.get(row["verdict"])
        # At k = 1 both metrics are the pass rate, which is compared as pass@1.
        is_judged = row["k"] == k and (k == 1 or row["metric"] == "pass_hat_k")
        if moved is None or not is_judged or row["candidate_run_id"] not in latest:
            continue
        yield (
            f"{symbol(row['metric'], k)} of {labels[row['candidate_run_id']]} {moved} from "
            f"{percent(row['baseline'])}% to {percent(row['candidate'])}%, by "
            f"{points(abs(row['difference']))} against {labels[row['baseline_run_id']]}."
        )
