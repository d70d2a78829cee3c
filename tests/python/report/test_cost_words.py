"""Costs of runs, in sentences."""

from __future__ import annotations

from typing import Any

from passk_py.reports.cost_words import cost_sentences


def cost(run: str, per_success: float | None) -> dict[str, Any]:
    return {
        "run_id": run, "measure": "cost_usd", "null_reason": None, "spent": 3.0, "share_on_failures": 0.25,
        "c": 0 if per_success is None else 3, "per_success": per_success, "per_success_lower": None, "per_success_upper": None,
    }  # fmt: skip


def said_of(**best: bool) -> list[str]:
    return cost_sentences(
        [cost(run, 2.0) for run in best],
        [],
        [{"run_id": run, "measure": "cost_usd", "is_on_frontier": on} for run, on in best.items()],
        4,
        newness=lambda run: run,
    )


def test_runs_that_no_other_beats_are_named() -> None:
    assert said_of(a=True, b=False, c=True)[-1] == (
        "No other run beats a and c on both pass^4 and the cost of an attempt."
    )


def test_nothing_is_said_of_runs_that_are_all_beaten_by_one_not_shown() -> None:
    assert said_of(a=False, b=False) == [
        f"{run}: a success costs $2.00, and 25.0% of what was spent went into failures."
        for run in "ab"
    ]


def test_a_run_without_a_pass_says_what_was_spent() -> None:
    [said] = cost_sentences([cost("a", None)], [], [], 4, newness=lambda run: run)
    assert said == "a: no attempt passed, and $3.00 were spent."


def test_a_success_whose_cost_is_not_known_says_why() -> None:
    caveat = "8 of 8 counted attempts have cost_usd, and only 1 of 4 excluded ones, too few"
    [said] = cost_sentences(
        [cost("a", None) | {"c": 2, "caveat": caveat}], [], [], 4, newness=lambda run: run
    )
    assert said == f"a: {caveat}."
