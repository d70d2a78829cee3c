"""The rules of the answer, on runs made for each case, and its words."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from passk_py.common.words import DASH
from passk_py.reports.answer import Answer, Change, Run, Suite
from passk_py.reports.answer.grid import shown_ks
from passk_py.reports.answer.ranks import Ranks
from passk_py.reports.answer.render import render_answer
from passk_py.reports.answer.verdicts import judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

KS = (1, 2, 4)


def around(values: tuple[float | None, ...]) -> dict[int, tuple[float, float]]:
    """Intervals of ten points to either side."""
    return {
        k: (max(0.0, value - 0.1), min(1.0, value + 0.1))
        for k, value in zip(KS, values, strict=True)
        if value is not None
    }


def run(
    run_id: str,
    at: tuple[float | None, ...],
    hat: tuple[float | None, ...],
    **more: Any,
) -> Run:
    """A run with its values at 1, 2 and 4."""
    values: dict[str, Any] = {
        "suite": "s",
        "agent": None,
        "agent_version": None,
        "model": None,
        "tasks": 10,
        "attempts": 40,
        "excluded": 0,
        "rejected": 0,
        "classes": {"consistent": 2, "flaky": 8, "incapable": 0, "unknown": 0},
        "reading": "capable but flaky",
        "task_set": (10, 7),
        "since": None,
        "warnings": None,
    }
    short = {k: f"n < {k} in 1 of 10 tasks" for k, v in zip(KS, at, strict=True) if v is None}
    values |= {
        "pass_at_k": dict(zip(KS, at, strict=True)),
        "pass_hat_k": dict(zip(KS, hat, strict=True)),
        "pass_at_k_limits": around(at),
        "pass_hat_k_limits": around(hat),
        "null_reasons": short,
    }
    return Run(run_id=run_id, **(values | more))


def answer(*runs: Run, k: int = 4) -> Answer:
    return answer_of(Suite("s", runs, KS), k)


def answer_of(suite: Suite, k: int = 4) -> Answer:
    return Answer(
        (suite,),
        deployment_k=k,
        capable_threshold=0.8,
        consistent_threshold=0.95,
        confidence=0.95,
        rejected=0,
    )


def text(made: Answer, width: int = 80) -> str:
    console = Console(width=width, markup=False)
    with console.capture() as captured:
        console.print(render_answer(made, width=width))
    return " ".join(captured.get().split())


CAPABLE = run("capable", (0.6, 0.9, 0.97), (0.6, 0.5, 0.3))
STEADY = run("steady", (0.7, 0.75, 0.78), (0.7, 0.65, 0.6))


def test_reviewed_is_the_highest_pass_at_k_and_unattended_the_highest_pass_hat_k() -> None:
    (verdict,) = judge(Suite("s", (CAPABLE, STEADY), KS), 4, 0.8, 0.95)
    assert verdict.reviewed.runs == (CAPABLE,)
    assert verdict.reviewed.gap == pytest.approx(0.19)
    assert verdict.unattended.runs == (STEADY,)
    assert verdict.unattended.gap == pytest.approx(0.3)
    assert not verdict.unattended.reaches


def test_the_best_value_stands_with_its_interval() -> None:
    said = text(answer(CAPABLE, STEADY))
    assert (
        "pass@4 = 97.0% (95% interval 87.0 to 100): the chance that at least one of 4 tries" in said
    )
    assert "pass^4 = 60.0% (95% interval 50.0 to 70.0): the chance that all 4 tries at a" in said


def test_a_consistent_task_is_told_from_a_consistent_run() -> None:
    made = answer(CAPABLE)
    runs = "a run is capable if pass@4 is at least 80%, and consistent if pass^4 is at least 95%."
    tasks = "A task is consistent if all its attempts passed, and incapable if none did."
    assert f"At k = 4, {runs} {tasks}" in text(made)
    made.consistent_rate, made.incapable_rate = 0.9, 0.05
    assert (
        "A task is consistent if at least 90% of its attempts passed, and incapable if at most 5% "
        "did."
    ) in text(made)


def test_equal_runs_are_said_to_be_equal() -> None:
    twin = run("twin", (0.6, 0.9, 0.97), (0.6, 0.5, 0.4))
    said = text(answer(CAPABLE, twin))
    assert "Use capable or twin where a person picks the right try." in said
    assert "They are equal at pass@4. Of these, twin has the highest pass^4, 40.0%." in said


def test_runs_of_other_tasks_are_not_compared() -> None:
    other = run("other", (1.0, 1.0, 1.0), (1.0, 1.0, 1.0), task_set=(10, 8))
    verdicts = judge(Suite("s", (CAPABLE, STEADY, other), KS), 4, 0.8, 0.95)
    assert [[one.run_id for one in verdict.runs] for verdict in verdicts] == [
        ["capable", "steady"],
        ["other"],
    ]
    said = text(answer(CAPABLE, STEADY, other))
    assert "10 tasks each, not the same ones" in said
    assert "other has its own 10 tasks: Use other where a person picks the right try." in said
    assert "No other run has tried just these tasks, so it is compared with none." in said


def test_a_run_alone_is_compared_with_none() -> None:
    assert "No other run has tried these tasks." in text(answer(STEADY))


def test_run_without_a_value_is_left_out_and_named() -> None:
    short = run("short", (0.9, 0.95, None), (0.9, 0.85, None), reading=None)
    (verdict,) = judge(Suite("s", (CAPABLE, STEADY, short), KS), 4, 0.8, 0.95)
    assert verdict.reviewed.unknown == (short,)
    said = text(answer(CAPABLE, STEADY, short))
    assert f"{DASH} n < 4 in 1 of 10 tasks: short." in said
    assert "Not compared, because its pass@4 is null: short." in said


def test_smaller_k_is_taken_where_no_run_has_attempts_enough() -> None:
    one = run("one", (0.5, 0.9, None), (0.5, 0.2, None))
    two = run("two", (0.5, 0.8, None), (0.5, 0.3, None))
    (verdict,) = judge(Suite("s", (one, two), KS), 4, 0.8, 0.95)
    assert (verdict.reviewed.k, verdict.unattended.k) == (2, 2)
    said = text(answer(one, two))
    assert "It is not judged by pass@4, for which no run has enough attempts." in said


def test_nothing_known_is_said_with_the_reason() -> None:
    void = run("void", (None, None, None), (None, None, None), reading=None)
    said = text(answer(void))
    assert "What to use unattended can't be known." in said
    assert "pass^4 is null: n < 4 in 1 of 10 tasks." in said


NARROW = dict.fromkeys(KS, (0.965, 0.988))
SURE = run("sure", (1.0, 1.0, 1.0), (1.0, 0.99, 0.98), pass_hat_k_limits=NARROW, tasks=1000)


def test_dependable_run_may_run_unattended() -> None:
    said = text(answer(CAPABLE, SURE))
    assert "Let sure run unattended." in said
    assert (
        "pass^4 = 98.0% (95% interval 96.5 to 98.8): the chance that all 4 tries at a "
        "task are right. capable is next" in said
    )
    assert "as low" not in said


def test_a_run_is_surer_alone_than_as_the_best_of_many() -> None:
    """At 1 - .05 / 200 the lower limit of 1,000 tasks is near 95 % less 1.9 times the reach."""
    close = {"pass_hat_k_limits": dict.fromkeys(KS, (0.952, 0.988))}
    sure = run("sure", (1.0, 1.0, 1.0), (1.0, 0.99, 0.97), tasks=1000, **close)
    assert "Let sure run unattended." in text(answer(sure))
    others = [run(f"r{number}", (0.9, 0.9, 0.9), (0.9, 0.6, 0.5)) for number in range(19)]
    said = text(answer(sure, *others))
    assert "Perhaps sure can run unattended." in said
    assert "(the interval of the best of 20), below" in said


def test_an_estimate_above_the_threshold_alone_lets_none_run_unattended() -> None:
    said = text(answer(CAPABLE, run("hopeful", (1.0, 1.0, 1.0), (1.0, 0.99, 0.97))))
    assert "Let hopeful" not in said
    assert "Perhaps hopeful can run unattended." in said
    # Of two runs each is taken at 1 - .05 / 2: 10 tasks, middle (10 x .97 + 1) / 12 = .8917, and
    # (.8917 - .87) t_11(.9875) / t_11(.975) below: .8917 - .0217 x 2.593 / 2.201.
    assert (
        "It may be as low as 86.6% (the interval of the best of 2), below 95%, the threshold for "
        "a consistent run." in said
    )


def test_of_equal_runs_the_least_sure_is_named() -> None:
    sure = run("sure", (1.0, 1.0, 1.0), (1.0, 0.99, 0.97), pass_hat_k_limits=NARROW, tasks=1000)
    said = text(answer(sure, run("hopeful", (1.0, 1.0, 1.0), (1.0, 0.99, 0.97))))
    assert "Perhaps sure or hopeful can run unattended." in said
    assert "hopeful may be as low as 86.6% (the interval of the best of 2), below 95%" in said


def test_more_tries_than_were_made_may_make_a_run_capable() -> None:
    one = run("one", (0.7, None, None), (0.7, None, None), reading=None)
    said = text(answer(one))
    assert "Whether one is capable is not known." in said
    assert (
        "It does not reach 80%, the threshold for a capable run, and with more tries it may."
        in said
    )
    both = text(answer(one, run("two", (0.6, None, None), (0.6, None, None), reading=None)))
    assert "No run is known to be capable; where a person picks the right try, use one." in both


def test_one_attempt_says_nothing_of_four() -> None:
    one = run("one", (1.0, None, None), (1.0, None, None), reading=None)
    said = text(answer(one))
    assert "Whether one can run unattended is not known." in said
    assert "It is not judged by pass^4, for which no run has enough attempts." in said


def test_tasks_that_a_value_leaves_out_are_counted() -> None:
    said = text(answer(run("some", (0.9, 0.9, 0.9), (0.9, 0.6, 0.5), left_out={4: 3})))
    left_out = "Left out, because n < 4: 3 of the 10 tasks; the interval allows them any value."
    assert said.count(left_out) == 2


def test_runs_that_never_pass_are_recommended_for_nothing() -> None:
    zero = run("zero", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), reading="not capable")
    said = text(answer(zero, run("nil", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))))
    assert "None is of use, even where a person picks the right try." in said
    assert "No run is reliable enough to work unattended." in said


def test_best_of_the_incapable_is_called_incapable() -> None:
    weak = run("weak", (0.4, 0.5, 0.6), (0.4, 0.3, 0.2))
    both = text(answer(STEADY, weak))
    assert "No run is capable; where a person picks the right try, use steady." in both
    said = text(answer(STEADY))
    assert "steady is not capable, even where a person picks the right try." in said
    assert "It does not reach 80%, the threshold for a capable run." in said
    assert "steady is not reliable enough to work unattended on the whole suite." in said


VERSIONS = {"agent": "bot", "task_set": (10, 7)}


BEFORE = run("b-1", (0.6, 0.7, 0.8), (0.6, 0.55, 0.5), since=datetime(2026, 1, 1), **VERSIONS)
AFTER = run("b-2", (0.7, 0.8, 0.9), (0.7, 0.5, 0.3), since=datetime(2026, 1, 2), **VERSIONS)


def change(**more: Any) -> Change:
    """The comparisons of the two runs."""
    values: dict[str, Any] = {
        "baseline": "b-1",
        "candidate": "b-2",
        "k": 4,
        "at_1": (0.6, 0.7),
        "hat_k": (0.5, 0.3),
        "limits": (-0.31, -0.09),
        "is_hidden": True,
    }
    return Change(**(values | more))


def test_regression_that_pass_at_one_hides_is_named() -> None:
    suite = Suite("s", (BEFORE, AFTER), KS, (change(),))
    (verdict,) = judge(suite, 4, 0.8, 0.95)
    (found,) = verdict.regressions
    assert (found.before, found.after) == ("bot (run b-1)", AFTER)
    said = text(answer_of(suite))
    assert "bot (run b-2) hides a regression behind a better pass@1." in said
    assert (
        "Against bot (run b-1), pass@1 rose from 60.0 to 70.0%, and pass^4 fell from 50.0 to 30.0%, "
        "by 20.0 points (95% interval for these tasks 9.0 to 31.0): fewer tasks succeed 4 times in a "
        "row."
    ) in said


def test_a_plain_regression_is_said() -> None:
    fell = change(at_1=(0.7, 0.6), is_hidden=False, limits=(-0.31, -1e-9))
    said = text(answer_of(Suite("s", (BEFORE, AFTER), KS, (fell,))))
    assert "bot (run b-2) regressed." in said
    assert (
        "pass@1 fell from 70.0 to 60.0%, and pass^4 from 50.0 to 30.0%, by 20.0 points (95% interval "
        "for these tasks above 0 to 31.0)."
    ) in said


def test_a_pair_that_was_not_compared_is_never_told() -> None:
    said = text(answer(BEFORE, AFTER))
    assert "regress" not in said


@pytest.mark.parametrize("more", [{"k": 2}, {"candidate": "b-3"}])
def test_a_change_at_another_k_or_of_another_run_is_not_told(more: dict[str, Any]) -> None:
    suite = Suite("s", (BEFORE, AFTER), KS, (change(**more),))
    assert not [found for verdict in judge(suite, 4, 0.8, 0.95) for found in verdict.regressions]


def test_the_newest_regressions_are_said_and_the_others_counted() -> None:
    runs = [
        run(f"b-{day}", (0.6, 0.7, 0.8), (0.6, 0.5, 0.4), since=datetime(2026, 1, day), **VERSIONS)
        for day in range(1, 6)
    ]
    changes = tuple(change(baseline=f"b-{day}", candidate=f"b-{day + 1}") for day in range(1, 5))
    said = text(answer_of(Suite("s", tuple(runs), KS, changes)))
    told = [f"b-{day}" for day in range(1, 6) if f"bot (run b-{day}) hides" in said]
    assert told == ["b-3", "b-4", "b-5"]
    assert "1 regression more of older runs." in said


# ---------------------------------------------------------------------------------------------
# what can't be told from the best


class Twins:
    """Say of each run whether it may be the best beside the first one."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def has(self, run: Run) -> bool:
        return run.run_id != "old"

    def may_be_best(self, runs: Sequence[Run], metric: str, k: int) -> list[Run]:
        del metric, k
        return [one for one in runs if one is runs[0] or one.run_id in self.names]

    def without_luck(self, run: Run, metric: str, k: int) -> float | None:
        del run
        return 0.9512 if metric == "pass_at_k" and k == 4 else None


def with_twins(*runs: Run, twins: Twins) -> Answer:
    return Answer(
        (Suite("s", runs, KS),), deployment_k=4, capable_threshold=0.8, consistent_threshold=0.95,
        confidence=0.95, rejected=0, ranks=twins,  # type: ignore[arg-type]
    )  # fmt: skip


def test_runs_that_are_not_told_apart_are_named_in_one_breath() -> None:
    near = run("near", (0.6, 0.88, 0.95), (0.6, 0.45, 0.25))
    said = text(with_twins(CAPABLE, near, STEADY, twins=Twins("near", "capable")))
    assert (
        "Use capable or near where a person picks the right try: they are not told apart." in said
    )
    assert "The highest of 2 that are not told apart looks better than it is: expect 95.1%." in said
    assert "near is next with 95.0%, 2.0 points behind, which chance alone can explain." in said
    assert (
        "No run is reliable enough to work unattended on the whole suite; steady, capable or near "
        "come closest: they are not told apart."
    ) in said


def test_runs_that_are_too_old_to_be_ranked_are_not_chosen_from() -> None:
    old = run("old", (0.9, 0.99, 0.99), (0.9, 0.9, 0.9))
    said = text(with_twins(CAPABLE, old, STEADY, twins=Twins()))
    assert "Use capable where a person picks the right try." in said
    assert "too high" not in said
    assert "only the latest are ranked: 1 run that is older." in said
    assert "No ranked run reaches 95%, the threshold for a consistent run." in said


def test_runs_that_are_all_too_old_are_told_by_their_values() -> None:
    old = run("old", (0.9, 0.99, 0.99), (0.9, 0.9, 0.9))
    said = text(with_twins(old, twins=Twins()))
    assert "old" in said
    two = Answer(
        (Suite("s", (CAPABLE, STEADY), KS),), deployment_k=4, capable_threshold=0.8,
        consistent_threshold=0.95, confidence=0.95, rejected=0, ranks=Ranks([]),
    )  # fmt: skip
    assert "How sure this order is, is not known: passk_rankings has none of these runs." in text(
        two
    )


def test_of_ranks_a_run_may_be_the_best_if_none_ahead_is_told_apart() -> None:
    apart = {"a": "b, c, d", "b": "a, d", "c": "a, d", "d": "a, b, c", "e": "a; b; c; d"}
    ranks = Ranks(
        {"suite": "s", "run_id": name, "metric": "pass_at_k", "k": 4, "not_told_apart_from": others}
        for name, others in apart.items()
    )
    runs = [run(name, (0.6, 0.88, 0.95), (0.6, 0.45, 0.25)) for name in "abcde"]
    # c is not told from a, but b is better; d is told from none; e only from a run of another name.
    assert [one.run_id for one in ranks.may_be_best(runs, "pass_at_k", 4)] == ["a", "b", "d"]
    assert [one.run_id for one in ranks.may_be_best(runs[2:], "pass_at_k", 4)] == ["c", "d"]
    assert not ranks.has(run("f", (0.6, 0.88, 0.95), (0.6, 0.45, 0.25)))


def test_the_only_run_with_a_value_is_not_recommended() -> None:
    short = run("short", (0.9, 0.95, None), (0.9, 0.85, None), reading=None)
    said = text(answer(SURE, short))
    assert (
        "What to use where a person picks the right try is not known: of 2 runs only sure has pass@4."
        in said
    )
    assert "What to use unattended is not known: of 2 runs only sure has pass^4." in said
    assert "Use sure" not in said
    assert "Let sure" not in said


def test_of_many_runs_the_latest_and_the_best_are_listed() -> None:
    values = (0.5, 0.5, 0.5)
    many = [run(f"run-{day}", values, values, since=datetime(2026, 1, day)) for day in range(1, 32)]
    later = [
        run(f"new-{day}", values, values, since=datetime(2026, 2, day)) for day in range(1, 29)
    ]
    best = run("best", (0.9, 0.9, 0.9), (0.9, 0.9, 0.9), since=datetime(2025, 1, 1))
    said = text(answer(best, *many, *later))
    # 28 days of February and the last 12 of January.
    assert "run-20 " in said
    assert "run-19 " not in said
    assert said.count("best pass@k") == 1
    assert "The tables list the 40 latest of 60 runs, and the best;" in said


def test_versions_of_an_agent_are_compared_in_the_order_of_time(
    passk: Passk, letters: Path
) -> None:
    said = passk("show", "--json")
    (suite,) = said.json["suites"]
    assert [one["run_id"] for one in suite["runs"]] == ["old", "new"]
    (verdict,) = suite["verdicts"]
    # At k = 4 only: three tasks, of which one has three counted attempts in the new run.
    assert verdict["unattended"]["unknown"] == ["new"]


def test_shown_ks_keep_the_ends_and_the_deployment_k() -> None:
    ks = (1, 2, 3, 4, 5, 6, 8, 10, 16, 32)
    values = dict.fromkeys(ks, 0.5)
    one = run("a", (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    wide = Run(
        **{
            name: getattr(one, name)
            for name in one.__slots__
            if name not in ("pass_at_k", "pass_hat_k")
        },
        pass_at_k=values | {32: None},
        pass_hat_k=values | {32: None},
    )
    shown = shown_ks(Suite("s", (wide,), ks), 5)
    assert shown == [1, 2, 3, 5, 6, 10, 16] or {1, 5, 16} <= set(shown)
    assert len(shown) == 7
    assert 32 not in shown
    assert shown_ks(Suite("s", (wide,), ks), 5, most=1)[-1] == 16


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_long_names_fit(width: int) -> None:
    name = "checkout-agent-" * 14
    runs = [
        run(
            f"{name}{number}",
            (0.5, 0.6, 0.7),
            (0.5, 0.4, 0.3),
            agent=name,
            agent_version=str(number),
        )
        for number in range(3)
    ]
    console = Console(width=width, markup=False)
    with console.capture() as captured:
        console.print(render_answer(answer(*runs), width=width))
    lines = captured.get().splitlines()
    assert all(len(line.rstrip()) <= width for line in lines)
    assert any(line.startswith("check") and "…" in line for line in lines)
