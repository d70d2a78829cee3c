"""Where reliability is lost, in sentences."""

from __future__ import annotations

from typing import Any

from passk_py.reports.loss_words import cause_name, loss_sentences


def rows(run: str, **shares: float) -> list[dict[str, Any]]:
    return [
        {"run_id": run, "k": 4, "part": part, "lost_share": share} for part, share in shares.items()
    ]


def test_a_cause_of_somebodys_own_keeps_its_name() -> None:
    assert [cause_name(part) for part in ("user_simulator", "tool_*_<b>&", "agent")] == [
        "user simulator", "tool_*_<b>&", "agent",
    ]  # fmt: skip


def test_one_cause_says_nothing() -> None:
    assert loss_sentences([rows("r", agent=1.0), []], of_several=True) == []


def test_one_run_has_no_name() -> None:
    found = loss_sentences([rows("r", agent=0.61, limit=0.3, tools=0.09)], of_several=False)
    assert found == [
        "Of the lost pass^4, 61.0% is the agent's, 30.0% hits a limit and 9.0% is of tools."
    ]


def test_the_last_runs_are_said() -> None:
    runs = [rows(f"r{number}", grader=0.75, unknown=0.25) for number in range(6)]
    found = loss_sentences(runs, of_several=True)
    assert (
        found[0]
        == "Of the pass^4 that r2 lacks, 75.0% is the grader's and 25.0% has an unknown cause."
    )
    assert found[-1] == "2 other runs in passk_lost_reliability."
    assert len(found) == 5
