"""From the figures of a pair of runs to a verdict, in a word and in a sentence."""

from __future__ import annotations

from typing import Any, Final

from passk_py.common.words import decimals, symbol
from passk_py.metrics.comparisons.pair_figures import LEAST_DECIDING
from passk_py.metrics.nearly_all import NEARLY_ALL_PERCENT, are_nearly_all
from passk_py.metrics.states import with_short_tasks
from passk_py.stats.distributions import normal_quantile

_NEAREST: Final = 1e-9
"""How near to 0 a limit may come on the side that the test excludes."""
_SHOWN: Final = 0.0005
"""A limit below is 0 to three decimals, and is said in words."""
_SAME: Final = 1e-12
"""Sums of the same rates in another order differ by less."""


def with_limits(row: dict[str, Any], confidence: float) -> dict[str, Any]:
    """Decide whether there is a difference, and give the limits beside that.

    Tasks with n < k in either run may have any difference from -1 to 1. The interval for these
    tasks excludes 0 exactly where the test decides: it is made of another variance than z, and
    would contradict it now and then.
    """
    reason = reason_without_verdict(row)
    found: dict[str, Any] = {"no_verdict": reason, "is_significant": False, "is_decided": False}
    difference, z = row.get("difference"), row.get("z")
    if difference is None:
        return found
    eligible, common = row["eligible_tasks"], row["common_tasks"]

    def widened(limits: tuple[float, float]) -> tuple[float, float]:
        lower, upper = limits
        return (
            with_short_tasks(lower, eligible, common, -1.0),
            with_short_tasks(upper, eligible, common, 1.0),
        )

    lower, upper = widened(row["suite_limits"])
    significant = reason is None and z is not None and abs(z) >= normal_quantile(confidence)
    beyond_short = eligible == common or (upper < 0 if difference < 0 else lower > 0)
    decided = significant and beyond_short
    if not decided:
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    elif difference > 0:
        lower = max(lower, _NEAREST)
    else:
        upper = min(upper, -_NEAREST)
    found |= {
        "is_significant": significant,
        "is_decided": decided,
        "difference_suite_lower": lower,
        "difference_suite_upper": upper,
    }
    if "limits" in row:
        found |= dict(
            zip(("difference_lower", "difference_upper"), widened(row["limits"]), strict=True)
        )
    return found


def reason_without_verdict(row: dict[str, Any]) -> str | None:
    """Say why no verdict is given, though there may be figures."""
    common = row["common_tasks"]
    of_baseline = common + row["baseline_only_tasks"]
    if row["no_figures"] is not None:
        return str(row["no_figures"])
    if not are_nearly_all(common, of_baseline):
        return (
            f"only {common} of {of_baseline} tasks of the baseline are in both runs,"
            f" fewer than {NEARLY_ALL_PERCENT} %"
        )
    if row["deciding_tasks"] < LEAST_DECIDING:
        return (
            f"only {row['deciding_tasks']} of {row['eligible_tasks']} tasks could come out"
            f" differently at k = {row['k']}, fewer than {LEAST_DECIDING}"
        )
    return None


def judged(row: dict[str, Any]) -> dict[str, Any]:
    """Give the verdict on a row with its limits, and what follows from it."""
    k, reason = row["k"], row["no_verdict"]
    difference: Any = row.get("difference")
    short = row["common_tasks"] - row["eligible_tasks"]
    caveat = None
    if difference is not None and short:
        caveat = (
            f"n < {k} in {short} of {row['common_tasks']} tasks of both runs,"
            " which the limits allow any difference"
        )
    name = symbol(row["metric"], k)
    hidden = None if row["metric"] == "pass_at_k" or difference is None else False
    if reason is not None:
        said = f"No verdict on {name}: {reason}."
        return {
            "verdict": "insufficient",
            "hidden_regression": hidden,
            "null_reason": reason,
            "caveat": caveat,
            "meaning": said,
        }
    least = row["minimum_change"]
    lower, upper = row["difference_suite_lower"], row["difference_suite_upper"]
    if row["is_decided"]:
        verdict = "regression" if difference < 0 else "improvement"
        if abs(difference) < least:
            verdict = "below_threshold"
    else:
        verdict = "equivalent" if -least < lower and upper < least else "inconclusive"
    if hidden is not None:
        hidden = verdict == "regression" and row["rate_difference"] >= -_SAME
    near, far = (lower, upper) if difference >= 0 else (-upper, -lower)
    nearest = "above 0" if row["is_decided"] and near < _SHOWN else decimals(near)
    moved = (
        f"{name} {'fell' if difference < 0 else 'rose'} by {decimals(difference).lstrip('-')} "
        f"({nearest} to {decimals(far)})"
    )
    return {
        "verdict": verdict,
        "hidden_regression": hidden,
        "null_reason": None,
        "caveat": caveat,
        "meaning": _meaning(verdict, row, moved, name, hidden),
    }


def _meaning(verdict: str, row: dict[str, Any], moved: str, name: str, hidden: bool | None) -> str:
    k, least = row["k"], decimals(row["minimum_change"])
    if verdict == "below_threshold":
        return f"{moved}, less than the {least} that matter."
    if verdict == "equivalent":
        return f"{name} is the same to less than {least}."
    if verdict == "inconclusive":
        if row["difference"] == 0:
            return f"{name} did not change."
        if row["is_significant"]:
            eligible = row["eligible_tasks"]
            return (
                f"{moved} over the {eligible} tasks with n >= {k} in both runs, which the other"
                f" {row['common_tasks'] - eligible} could undo."
            )
        if row["z"] is None:
            return f"{moved}, where one task outweighs the others: too little to tell from chance."
        return f"{moved}, which chance alone can explain."
    what = "tries succeed"
    if k > 1:
        often = (
            f"{k} times in a row"
            if row["metric"] == "pass_hat_k"
            else f"at least once in {k} tries"
        )
        what = f"tasks succeed {often}"
    said = f"{moved}: {'fewer' if verdict == 'regression' else 'more'} {what}."
    if hidden:
        rates = row["rate_difference"]
        rose = f"rose by {decimals(rates)}" if rates > _SAME else "did not change"
        said += f" pass@1 hides it: it {rose}."
    return said
