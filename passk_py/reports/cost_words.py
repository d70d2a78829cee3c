"""Costs of runs, in sentences."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import DASH, and_list, money, percent, plain, symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Row = dict[str, Any]

_MOST: Final = 4
_UNITS: Final = {
    "cost_usd": "${}",
    "duration_s": "{} s",
    "input_tokens": "{} input tokens",
    "output_tokens": "{} output tokens",
    "tokens": "{} tokens",
}
MEASURE_NAMES: Final = {
    "cost_usd": "cost, $",
    "duration_s": "time, s",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "tokens": "tokens",
}
_RELIABILITY: Final = {
    "improvement": "more reliable",
    "regression": "less reliable",
    "equivalent": "equivalent",
    "below_threshold": "changed by less than matters",
    "inconclusive": "not told apart",
    "insufficient": "too little data",
}


def axis_title(measure: str) -> str:
    """Name the cost of an attempt with its unit."""
    noun, _, unit = MEASURE_NAMES[measure].partition(", ")
    return f"{noun} of an attempt" + (f", {unit}" if unit else "")


def amount(value: float | None) -> str:
    """Write a cost without its unit."""
    return money(value) if value is None or value < 1000 else f"{value:,.0f}"


def amounts(row: Row, name: str) -> str:
    """Write a cost and its limits, without the unit."""
    if row[name] is None:
        return DASH
    lower, upper = row[f"{name}_lower"], row[f"{name}_upper"]
    if lower is None and upper is None:
        return amount(row[name])
    end = f"to {amount(upper)}" if upper is not None else "or more"
    return f"{amount(row[name])} ({amount(lower)} {end})"


def cost_sentences(
    costs: Sequence[Row],
    changes: Sequence[Row],
    frontier: Sequence[Row],
    k: int,
    *,
    newness: Callable[[str], Any],
) -> list[str]:
    """Say what a success of the latest runs costs, how costs changed, and who beats whom.

    The rows are those of one suite: of ``passk_costs``, of ``passk_cost_comparisons`` with what
    pass^k did in ``reliability``, and of ``passk_frontier`` at one k.
    """
    first = next((name for name in _UNITS if any(row["measure"] == name for row in costs)), None)
    if first is None:
        return []
    of_first = [row for row in costs if row["measure"] == first]
    latest = sorted(of_first, key=lambda row: newness(row["run_id"]))[-_MOST:]
    said = [_success(row) for row in latest]
    pairs = groupby(changes, lambda row: (row["candidate_run_id"], row["baseline_run_id"]))
    told = [(pair, text) for pair, rows in pairs if (text := change_of_pair(rows, k))]
    told.sort(key=lambda one: newness(one[0][0]))
    said += [text for _, text in told[-_MOST:]]
    there = [row for row in frontier if row["measure"] == first]
    chosen = [plain(row["run_id"]) for row in there if row["is_on_frontier"]]
    # Of some runs alone, those that beat them all may not be shown.
    if len(there) > 1 and chosen:
        hat = symbol("pass_hat_k", k)
        of_attempt = f"the {_noun(first)} of an attempt"
        said.append(f"No other run beats {and_list(chosen)} on both {hat} and {of_attempt}.")
    return said


def _noun(measure: str) -> str:
    return {"cost_usd": "cost", "duration_s": "time"}.get(measure, measure.replace("_", " "))


def _success(row: Row) -> str:
    """Say what a success of a run costs."""
    run = plain(row["run_id"])
    if row["null_reason"] is not None:
        return f"{run}: {row['null_reason']}."
    spent = _UNITS[row["measure"]]
    if row["per_success"] is None and row["c"]:
        return f"{run}: {row['caveat']}."
    if row["per_success"] is None:
        return f"{run}: no attempt passed, and {spent.format(amount(row['spent']))} were spent."
    share = ""
    if row["share_on_failures"]:
        share = f", and {percent(row['share_on_failures'])}% of what was spent went into failures"
    verb = "takes" if row["measure"] == "duration_s" else "costs"
    return f"{run}: a success {verb} {spent.format(amounts(row, 'per_success'))}{share}."


def change_of_pair(rows: Iterable[Row], k: int) -> str:
    """Say of a pair how pass^k and costs changed; nothing where no cost was compared."""
    found = list(rows)
    known = [row["meaning"].rstrip(".") for row in found if row["relative_change"] is not None]
    if not known:
        return ""
    first = found[0]
    pair = f"{plain(first['candidate_run_id'])} against {plain(first['baseline_run_id'])}"
    at_k = f"{_RELIABILITY.get(first['reliability'], 'not compared')} at {symbol('pass_hat_k', k)}"
    return f"{pair}: {at_k}; per attempt {'; '.join(known)}."
