"""One sentence for each agent: whether it can, and whether it does every time."""

from __future__ import annotations

from typing import Any, Final

from passk_py.common.words import limit, percent, percents, symbol

Row = dict[str, Any]

_ADVICE: Final = {
    "capable and consistent": "It can run unattended.",
    "capable but flaky": "Have its output reviewed.",
    "not capable": "On the whole suite, it is not ready, even where its output is reviewed.",
}


def interval(row: Row, metric: str) -> str:
    """Write a share in percent with its limits."""
    if row[metric] is None:
        return percent(None)
    limits = percents(row[f"{metric}_lower"], row[f"{metric}_upper"])
    return f"{percent(row[metric])}% ({limits})"


def spoken(row: Row, metric: str) -> str:
    """Say what a point of a curve is, for readers who can't see or point at it."""
    called = symbol(metric, row["k"])
    if row[metric] is None:
        return f"{called} is not known: {row['null_reason']}"
    return f"{called} {interval(row, metric)}"


def verdict(run: Row, facts: Row) -> str:
    """Say of a run what its reading at the deployment k means."""
    name = run["label"]
    k = facts["deployment_k"]
    row = next((row for row in run["curve"] if row["k"] == k), None)
    if row is None or row["reading"] is None:
        reason = "the tables have no such k" if row is None else row["null_reason"]
        first = next((one for one in run["curve"] if one["k"] == 1), None)
        seen = f" Its {spoken(first, 'pass_at_k')}." if first is not None and k > 1 else ""
        return f"{name} can't be judged at k = {k}: {reason}.{seen}"
    reading, advice = row["reading"], ""
    at, hat = (spoken(row, metric) for metric in ("pass_at_k", "pass_hat_k"))
    if reading == "not capable":
        at += f", short of {limit(facts['capable_threshold'])}%"
    elif reading == "capable but flaky":
        hat += f", short of {limit(facts['consistent_threshold'])}%"
    elif not run["is_sure"]:
        hat += f", which may be short of {limit(facts['consistent_threshold'])}%"
        advice = "Perhaps it can run unattended."
    return f"{name} is {reading}: {at}, {hat}. {advice or _ADVICE[reading]}"
