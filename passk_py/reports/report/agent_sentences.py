"""One sentence for each agent: whether it can, and whether it does every time."""

from __future__ import annotations

from typing import Any, Final

from passk_py.common.words import limit, percent, percents, symbol

__all__ = ["interval", "spoken", "verdict"]

Row = dict[str, Any]

_ADVICE: Final = {
    "capable and consistent": "It can run unattended.",
    "capable but flaky": "Have its output reviewed.",
    "not capable": "It is not ready, even where its output is reviewed.",
}


def interval(row: Row, metric: str) -> str:
    """Write a share in percent with its limits.

    Examples
    --------
    >>> interval({"pass_at_k": 0.97, "pass_at_k_lower": 0.909, "pass_at_k_upper": 1.0}, "pass_at_k")
    '97.0% (90.9 to 100)'
    """
    if row[metric] is None:
        return percent(None)
    limits = percents(row[f"{metric}_lower"], row[f"{metric}_upper"])
    return f"{percent(row[metric])}% ({limits})"


def spoken(row: Row, metric: str) -> str:
    """Say what a point of a curve is, for who can't see or point at it.

    Examples
    --------
    >>> row = {"k": 4, "pass_hat_k": None, "null_reason": "n < k in 3 of 9 tasks"}
    >>> spoken(row, "pass_hat_k")
    'pass^4 is not known: n < k in 3 of 9 tasks'
    """
    called = symbol(metric, row["k"])
    if row[metric] is None:
        return f"{called} is not known: {row['null_reason']}"
    return f"{called} {interval(row, metric)}"


def verdict(run: Row, facts: Row) -> str:
    """Say of a run what its reading at the deployment k means.

    Examples
    --------
    >>> at_4 = {
    ...     "k": 4, "reading": "capable but flaky", "null_reason": None,
    ...     "pass_at_k": 0.97, "pass_at_k_lower": 0.909, "pass_at_k_upper": 0.994,
    ...     "pass_hat_k": 0.385, "pass_hat_k_lower": 0.28, "pass_hat_k_upper": 0.5,
    ... }
    >>> facts = {"deployment_k": 4, "capable_threshold": 0.8, "consistent_threshold": 0.95}
    >>> print(verdict({"label": "walker", "is_sure": False, "curve": [at_4]}, facts))
    walker is capable but flaky: pass@4 97.0% (90.9 to 99.4), pass^4 38.5% (28.0 to 50.0), short \
of 95%. Have its output reviewed.

    >>> sure = {
    ...     "k": 4, "reading": "capable and consistent", "null_reason": None,
    ...     "pass_at_k": 1.0, "pass_at_k_lower": 0.9, "pass_at_k_upper": 1.0,
    ...     "pass_hat_k": 1.0, "pass_hat_k_lower": 0.9, "pass_hat_k_upper": 1.0,
    ... }
    >>> print(verdict({"label": "tiny", "is_sure": False, "curve": [sure]}, facts))
    tiny is capable and consistent: pass@4 100% (90.0 to 100), pass^4 100% (90.0 to 100), which \
may be short of 95%. Perhaps it can run unattended.
    """
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
