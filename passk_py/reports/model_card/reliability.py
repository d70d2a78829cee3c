"""How reliable a run is: at one k, over k, in slices, and by task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.common.markdown import name, share, share_interval, table, text
from passk_py.common.words import (
    TASK_CLASSES,
    and_list,
    decimals,
    in_families,
    limit,
    plural,
    symbol,
)
from passk_py.reports.decision_words import verdict_of
from passk_py.reports.model_card.wording import trust_of

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

_MOST_SLICES: Final = 40
_MEANS: Final = {
    "pass_at_k": "at least one of {k} tries succeeds",
    "pass_hat_k": "all {k} tries succeed",
}
_SHAPES: Final = {
    "steep": "every task is about as flaky, and pass^k falls as fast as it can",
    "mixed": "some tasks are solved always or never, others now and then",
    "flat": "tasks are solved always or never, and pass^k stays near pass@1",
    "undetermined": "the interval of the heterogeneity at k = 2 allows several",
}
_INTERVALS: Final = (
    "Means over tasks. Intervals hold the true value in {level} of 100 repetitions. Those for "
    "tasks like these allow for which tasks were drawn: decide by them. Those for these tasks "
    "only say what more attempts at the same tasks would show, and need 2k attempts of each."
)


def _families(row: Row) -> list[str]:
    """Say that the intervals know of families, where they do."""
    if row["families"] is None:
        return []
    told = (
        f"- The tasks come{in_families(row['families'])}. Intervals for tasks like these take the "
        "tasks of a family as one draw: few families make them wide."
    )
    return [told]


def headline_section(card: Row) -> list[str]:
    """Show pass@1, pass@k and pass^k at the deployment k, with why this k."""
    row, first = card["at_deployment_k"], card["pass_at_1"]
    k = row["k"]
    shown = [("pass@1", first, "pass_at_k", "one try succeeds")]
    if k > 1:
        shown += [
            (symbol(metric, k), row, metric, means.format(k=k)) for metric, means in _MEANS.items()
        ]
    rows = [
        (
            called,
            means,
            share(values[metric]),
            share_interval(values, metric),
            share_interval(values, f"{metric}_suite"),
            f"{values['eligible_tasks']} of {values['total_tasks']}",
        )
        for called, values, metric, means in shown
    ]
    heads = (
        "metric", "means", "estimate", "for tasks like these", "for these tasks only", "eligible",
    )  # fmt: skip
    lines = table(heads, rows, numbers=(2,))
    lines += ["", *_why_null_lines(shown)]
    if row["reading"] is not None:
        lines += [_reading(card), ""]
    if row["pass_hat_k"] is not None and row["eligible_tasks"] < first["eligible_tasks"]:
        # As far as the var passk_min_eligible_share allows.
        lines += [
            (
                f"Not over the same tasks: {symbol('pass_hat_k', k)} is a mean over "
                f"{row['eligible_tasks']} of them and pass@1 over {first['eligible_tasks']}, and "
                "hard tasks may be among those that are left out."
            ),
            "",
        ]
    return [
        *lines,
        f"- {_INTERVALS.format(level=limit(card['confidence']))}",
        *_families(row),
        f"- {_why_this_k(card)}",
        *_spread(card),
        *_at_a_glance(card),
    ]


def _reading(card: Row) -> str:
    row, consistent = card["at_deployment_k"], f"{card['consistent_threshold']:g}"
    k = row["k"]
    if k > 1:
        seen = share(row["pass_at_1"])
        consistent = f"{symbol('pass_hat_k', k)} = {consistent}; pass@1 is {seen}"
    capable = f"{symbol('pass_at_k', k)} = {card['capable_threshold']:g}"
    return f"In words: **{row['reading']}** (capable from {capable}, consistent from {consistent})."


def _at_a_glance(card: Row) -> list[str]:
    """Say first what the sections below say of other runs, rules and the log."""
    lines = []
    for pair in card["comparisons"]:
        verdicts = ", ".join(
            f"{symbol(row['metric'], row['k'])} {verdict_of(row)}" for row in pair["metrics"]
        )
        lines.append(f"- Against {name(pair['baseline_run_id'])}: {verdicts}.")
    if card["gates"]:
        from passk_py.metrics.gates.gate_reports import count

        lines.append(f"- Gates: {count(card['gates'])}")
    lines.append(f"- The log: {trust_of(card['diagnostics'])}")
    return lines


def _why_null_lines(shown: Sequence[tuple[str, Row, str, str]]) -> list[str]:
    said: dict[str, list[str]] = {}
    for called, values, metric, _ in shown:
        reasons = values["null_reasons"]
        if values[metric] is None:
            said.setdefault(f"no value: {reasons[metric]}", []).append(called)
        elif values[f"{metric}_suite_lower"] is None:
            why = reasons[f"{metric}_suite_lower"]
            said.setdefault(f"no interval for these tasks only: {why}", []).append(called)
    # One line for all, so that pass^k is never without pass@1 beside it.
    if not said:
        return []
    reasons = "; ".join(f"{and_list(called)}: {text(why)}" for why, called in said.items())
    first = next(values for called, values, *_ in shown if called == "pass@1")
    seen = "" if "pass@1" in reasons else f" (pass@1 is {share(first['pass_at_k'])})"
    return [f"Not known: {reasons}{seen}.", ""]


def _why_this_k(card: Row) -> str:
    told = card["deployment_k"]
    k = told["k"]
    asked = (
        f"k = {k} is the var passk_deployment_k: how many times in a row the agent must succeed "
        "before someone looks."
    )
    if told["reason"]:
        return f"{asked} Why {k}: {text(' '.join(told['reason'].split()))}"
    if told["is_default"]:
        return (
            f"{asked} It is passk's default, and no reason for it was given: it should come from "
            "the deployment, not from what was measured."
        )
    return f"{asked} No reason for it was given with the card."


def _spread(card: Row) -> list[str]:
    """Say what unequal tasks add, and how pass^k falls."""
    row = card["at_deployment_k"]
    k = row["k"]
    lines = []
    if k > 1:
        reasons = row["null_reasons"]
        for column, called, means in (
            ("delta_k", f"delta_k at k = {k}", "what unequal tasks add to pass^k"),
            ("heterogeneity", f"Heterogeneity at k = {k}", "delta_k over the largest it could be"),
        ):
            if row[column] is None:
                said = f"not known, {text(reasons[column])}"
            elif row[f"{column}_lower"] is None:
                said = f"{decimals(row[column])}, its interval not known: "
                said += text(reasons[f"{column}_lower"])
            else:
                low, high = (decimals(row[f"{column}_{side}"]) for side in ("lower", "upper"))
                said = f"{decimals(row[column])} ({low} to {high})"
            lines.append(f"- {called}, {means}: {said}.")
    shape = row["curve_shape"]
    if shape is None:
        said = f"not known, {text(row['null_reasons']['curve_shape'])}"
    else:
        said = f"{shape}: {_SHAPES[shape]}"
    return [*lines, f"- Shape of the curve: {said}."]


def curve_section(card: Row) -> list[str]:
    """Table pass@k and pass^k over k."""
    rows = [
        (
            str(row["k"]),
            share(row["pass_at_1"]),
            share(row["pass_at_k"]),
            share_interval(row, "pass_at_k"),
            share(row["pass_hat_k"]),
            share_interval(row, "pass_hat_k"),
            share_interval(row, "pass_hat_k_suite"),
            f"{row['eligible_tasks']} of {row['total_tasks']}",
            _why_not(row),
        )
        for row in card["curve"]
    ]
    heads = (
        "k", "pass@1", "pass@k", "pass@k, tasks like these", "pass^k", "pass^k, tasks like these",
        "pass^k, these tasks only", "eligible", "why not known",
    )  # fmt: skip
    return [
        "## Over k",
        "",
        *table(heads, rows, numbers=(0, 1, 2, 4)),
        "",
        (
            "Each k has its own interval; together they hold less often. A task is eligible with k"
            " counted attempts."
        ),
    ]


def _why_not(row: Row) -> str:
    if row["null_reason"] is not None:
        return text(row["null_reason"])
    why = row["null_reasons"].get("pass_hat_k_suite_lower")
    return "" if why is None else f"these tasks only: {text(why)}"


def slices_section(card: Row) -> list[str]:
    """Table each slice that the vars ask for."""
    slices = card["slices"]
    if not slices:
        return []
    k = card["deployment_k"]["k"]
    at_k = _symbols(k)
    judged, called = "pass_at_k", "for tasks like these"
    if k > 1:
        judged, called = "pass_hat_k", f"{symbol('pass_hat_k', k)}, tasks like these"
    rows = [
        (
            name(row["slice_name"]),
            name(row["slice_value"]),
            share(row["pass_at_1"]),
            *_shares(row, k),
            share_interval(row, judged),
            f"{row['eligible_tasks']} of {row['total_tasks']}",
            text(row["null_reason"] or ""),
        )
        for row in slices[:_MOST_SLICES]
    ]
    heads = ("slice", "value", "pass@1", *at_k, called, "eligible", "why not known")
    lines = ["## Slices", "", *table(heads, rows, numbers=range(2, 3 + len(at_k)))]
    if len(slices) > _MOST_SLICES:
        lines += ["", f"{len(slices) - _MOST_SLICES} more are in the JSON of the card."]
    return lines


def _symbols(k: int) -> tuple[str, ...]:
    return (symbol("pass_at_k", k), symbol("pass_hat_k", k)) if k > 1 else ()


def _shares(row: Row, k: int) -> tuple[str, ...]:
    """Write pass@k and pass^k, which at k = 1 are pass@1."""
    return (share(row["pass_at_k"]), share(row["pass_hat_k"])) if k > 1 else ()


def tasks_section(card: Row) -> list[str]:
    """List the tasks to mend first."""
    tasks, k = card["tasks"], card["deployment_k"]["k"]
    classes = and_list(
        f"{tasks['classes'][kind]:,} {kind}"
        for kind in TASK_CLASSES
        if tasks["classes"][kind] or kind != "unknown"
    )
    lines = ["## What to mend first", "", f"Tasks as observed: {classes}."]
    if tasks["null_reason"]:
        return [*lines, f"There is no list: {text(tasks['null_reason'])}."]
    at_k = _symbols(k)
    rows = [
        (
            name(row["task_id"]),
            f"{row['c']} of {row['n']}",
            share(row["pass_at_1"]),
            *_shares(row, k),
            row["task_class"],
            share(row["expected_gain"]),
        )
        for row in tasks["mend_first"]
    ]
    gain = f"expected gain of {symbol('pass_hat_k', k)}"
    heads = ("task", "passed", "pass@1", *at_k, "class", gain)
    return [
        *lines,
        "",
        *table(heads, rows, numbers=(*range(1, 3 + len(at_k)), len(heads) - 1)),
        "",
        (
            f"{len(rows)} of {plural(tasks['tasks_that_failed'], 'task')} that failed once or "
            "more. The gain is what the suite can be expected to win if the task passed always."
        ),
    ]
