"""How far judges agree: exact values by counting all pairs of verdicts, limits by their equation, and bad input."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, permutations, product
from math import floor, fsum, sqrt
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

Rows = list[dict[str, Any]]
Try = tuple[str, str, int]
NAMES: Final = ("ann", "bot", "log")


def drawn(seed: int, *, tasks: int = 20) -> tuple[Rows, Rows]:
    """Give attempts of two runs, and up to four verdicts of two judges on most of them."""
    dice = random.Random(seed)
    attempts, verdicts = [], []
    for run in ("r", "s"):
        for task in range(tasks):
            rate = dice.random()
            for number in range(1, dice.randint(1, 5) + 1):
                key = {"run_id": run, "suite": "x", "task_id": f"t{task}", "attempt": number}
                truly = dice.random() < rate
                attempts.append({**key, "passed": truly, "repo": f"f{task // 2}"})
                for judge, error in (("ann", 0.1), ("bot", 0.3)):
                    said = [truly != (dice.random() < error) for _ in range(dice.randint(0, 3))]
                    verdicts += [
                        {**key, "judge": judge, "verdict": "pass" if one else "fail"}
                        for one in said
                    ]
    return attempts, verdicts


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def said_of_tries(attempts: Rows, verdicts: Rows) -> dict[Try, dict[str, list[bool]]]:
    """Give all verdicts on each try that a judge judged, by judge; the log has one."""
    found: dict[Try, dict[str, list[bool]]] = {}
    for row in verdicts:
        place = (row["run_id"], row["task_id"], row["attempt"])
        found.setdefault(place, {}).setdefault(row["judge"], []).append(row["verdict"] == "pass")
    for row in attempts:
        place = (row["run_id"], row["task_id"], row["attempt"])
        if place in found:
            found[place]["log"] = [row["passed"]]
    return found


def differ(pairs: Any) -> Fraction:
    return mean([Fraction(one != other) for one, other in pairs])


Task = tuple[str, Fraction, Fraction | None, Fraction | None]


def by_hand(attempts: Rows, verdicts: Rows, judge: str, other: str) -> list[Task]:
    """Count, of each task, how often verdicts on one try agree, and differ on one try and on two."""
    tries = {
        place: said
        for place, said in said_of_tries(attempts, verdicts).items()
        if judge in said and other in said and (judge != other or len(said[judge]) > 1)
    }

    def same(place: Try) -> Fraction:
        said = tries[place]
        if judge == other:
            return differ(combinations(said[judge], 2))
        return differ(product(said[judge], said[other]))

    found: list[Task] = []
    for task in sorted({task for _, task, _ in tries}):
        of_runs = [[place for place in tries if place[:2] == (run, task)] for run in ("r", "s")]
        agreement = 1 - mean([same(place) for of_run in of_runs for place in of_run])
        retried = [of_run for of_run in of_runs if len(of_run) > 1]
        if not retried:
            found.append((task, agreement, None, None))
            continue
        one_try = mean([mean([same(place) for place in of_run]) for of_run in retried])
        two_tries = mean(
            [
                mean(
                    [
                        differ(product(tries[first][judge], tries[second][other]))
                        for first, second in permutations(of_run, 2)
                    ]
                )
                for of_run in retried
            ]
        )
        found.append((task, agreement, one_try, two_tries))
    return found


def row_of(found: pl.DataFrame, judge: str, other: str) -> dict[str, Any]:
    return found.filter(judge=judge, other_judge=other).row(0, named=True)


PAIRS: Final = [("ann", "ann"), ("ann", "bot"), ("ann", "log"), ("bot", "bot"), ("bot", "log")]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("judge", "other"), PAIRS)
def test_every_pair_of_verdicts_counts(judge: str, other: str, seed: int) -> None:
    attempts, verdicts = drawn(seed)
    row = row_of(pk.judge_agreement(pl.DataFrame(attempts), pl.DataFrame(verdicts)), judge, other)
    tasks = by_hand(attempts, verdicts, judge, other)
    retried = [(x, y) for _, _, x, y in tasks if x is not None and y is not None]
    agreement = mean([one for _, one, _, _ in tasks])
    assert row["agreement"] == pytest.approx(float(agreement), abs=1e-12)
    assert (row["tasks"], row["retried_tasks"]) == (len(tasks), len(retried))
    x, y = mean([x for x, _ in retried]), mean([y for _, y in retried])
    assert row["null_reason"] is None
    assert row["disagreement_same_try"] == pytest.approx(float(x), abs=1e-12)
    assert row["disagreement_other_try"] == pytest.approx(float(y), abs=1e-12)
    assert row["judges_share"] == pytest.approx(min(float(x / y), 1), abs=1e-12)
    said = said_of_tries(attempts, verdicts)
    rates = []
    for name in (judge, other):
        of_tasks: dict[str, list[Fraction]] = {}
        for (_, task, _), of_try in said.items():
            if {judge, other} <= of_try.keys() and (judge != other or len(of_try[judge]) > 1):
                of_tasks.setdefault(task, []).append(mean([Fraction(v) for v in of_try[name]]))
        rates.append(mean([mean(values) for values in of_tasks.values()]))
    chance = rates[0] * rates[1] + (1 - rates[0]) * (1 - rates[1])
    assert row["agreement_by_chance"] == pytest.approx(float(chance), abs=1e-12)
    assert row["kappa"] == pytest.approx(float((agreement - chance) / (1 - chance)), abs=1e-11)


def units_of(tasks: list[Task], *, by_family: bool) -> list[tuple[float, float]]:
    """Give disagreement on one try and on two, of tasks, or of families of two tasks each."""
    found: dict[int, list[tuple[float, float]]] = {}
    for task, _, x, y in tasks:
        if x is not None and y is not None:
            place = int(task[1:])
            found.setdefault(place // 2 if by_family else place, []).append((float(x), float(y)))
    return [
        (fsum(x for x, _ in some) / len(some), fsum(y for _, y in some) / len(some))
        for some in found.values()
    ]


@pytest.mark.parametrize("by_family", [False, True])
@pytest.mark.parametrize(("judge", "other"), PAIRS)
def test_the_limits_of_the_share_solve_their_equation(
    judge: str, other: str, by_family: bool
) -> None:
    """At a limit r, Student's t of x - r y is at its quantile, over the units and the two more."""
    attempts, verdicts = drawn(3, tasks=120)
    # All families have both of their tasks, so that they are units of one size.
    tasks = by_hand(attempts, verdicts, judge, other)
    known = {task for task, _, x, _ in tasks if x is not None}
    whole = {task for task in known if f"t{int(task[1:]) ^ 1}" in known}
    attempts, verdicts = (
        [row for row in rows if row["task_id"] in whole] for rows in (attempts, verdicts)
    )
    found = pk.judge_agreement(
        pl.DataFrame(attempts), pl.DataFrame(verdicts), cluster="repo" if by_family else None
    )
    row = row_of(found, judge, other)
    units = units_of(by_hand(attempts, verdicts, judge, other), by_family=by_family)
    assert len(units) == len(whole) // (2 if by_family else 1) >= 15
    assert row["families"] == (len(units) if by_family else None)
    every = [*units, (0.0, 1.0), (1.0, 1.0)]
    quantile = student_quantile(len(units) + 1, 0.95)
    for limit in (row["judges_share_lower"], row["judges_share_upper"]):
        apart = [x - limit * y for x, y in every]
        middle = fsum(apart) / len(apart)
        variance = fsum((one - middle) ** 2 for one in apart) / (len(apart) - 1)
        t = abs(middle) / sqrt(variance / len(apart))
        # Beyond 1 the limit is cut, so that 1 is within it.
        assert t == pytest.approx(quantile, rel=1e-9) if limit < 1 else t < quantile
    assert 0 < row["judges_share_lower"] < 1
    assert row["judges_share_lower"] <= row["judges_share"] <= row["judges_share_upper"]


def test_the_limits_of_the_agreement_are_those_of_a_mean_over_tasks() -> None:
    attempts, verdicts = drawn(5, tasks=20)
    row = row_of(pk.judge_agreement(pl.DataFrame(attempts), pl.DataFrame(verdicts)), "ann", "log")
    scores = [float(one) for _, one, _, _ in by_hand(attempts, verdicts, "ann", "log")]
    every = [*scores, 0.0, 1.0]
    middle = fsum(every) / len(every)
    error = sqrt(fsum((one - middle) ** 2 for one in every) / (len(every) - 1) / len(every))
    reach = student_quantile(floor(len(scores) + 1.5), 0.95) * error
    assert row["agreement_lower"] == pytest.approx(middle - reach, abs=1e-12)
    assert row["agreement_upper"] == pytest.approx(min(middle + reach, 1), abs=1e-12)


def share(regraded: Sequence[Sequence[tuple[bool, bool]]]) -> float | None:
    """Give the judge's share of tasks whose tries are pairs of verdicts of one judge."""
    key = [
        {"run_id": "r", "task_id": str(task), "attempt": number, "verdict": verdict, "passed": True}
        for task, tries in enumerate(regraded)
        for number, said in enumerate(tries, 1)
        for verdict in said
    ]
    frame = pl.DataFrame(key)
    found = pk.judge_agreement(frame.drop("verdict").unique(), frame.drop("passed"))
    value: float | None = row_of(found, "judge", "judge")["judges_share"]
    return value


def test_a_judge_that_never_wavers_has_no_share_and_one_that_throws_dice_all() -> None:
    steady = [[(True, True), (False, False), (True, True)]] * 6
    assert share(steady) == 0
    # All 16 ways in which two tries with two verdicts each come out, if all are dice.
    sides = (True, False)
    pairs = [(one, other) for one in sides for other in sides]
    assert share([[one, other] for one in pairs for other in pairs]) == pytest.approx(1, abs=1e-12)
    # Verdicts of one try that differ more than those of two are no more than all.
    assert share([[(True, False), (False, True)]] * 6) == 1


@pytest.mark.parametrize(
    ("regraded", "said"),
    [
        ([[(True, False)]] * 9, "no task has two tries that both judged"),
        ([[(True, False)] * 2] * 4, "only 4 tasks have two tries that both judged, fewer than 5"),
        ([[(True, True)] * 2] * 9, "no two tries of a task were judged differently"),
    ],
)
def test_too_little_for_a_share_is_said(regraded: list[list[tuple[bool, bool]]], said: str) -> None:
    rows = [
        {"run_id": "r", "task_id": str(task), "attempt": number, "verdict": verdict, "passed": True}
        for task, tries in enumerate(regraded)
        for number, verdicts in enumerate(tries, 1)
        for verdict in verdicts
    ]
    frame = pl.DataFrame(rows)
    found = pk.judge_agreement(frame.drop("verdict").unique(), frame.drop("passed"))
    row = row_of(found, "judge", "judge")
    assert (row["null_reason"], row["judges_share"]) == (said, None)
    assert row["judges_share_lower"] is row["judges_share_upper"] is None
    # All passed by the log and by the judge: kappa is not defined.
    if regraded[0][0] == (True, True):
        assert (row["agreement"], row["agreement_by_chance"], row["kappa"]) == (1, 1, None)


LOG: Final = pl.DataFrame(
    {
        "run_id": ["r"] * 4,
        "task_id": ["t"] * 4,
        "attempt": [1, 2, 3, 4],
        "outcome": ["passed", "failed", "excluded", "passed"],
    }
)


def test_rows_that_are_no_verdicts_are_left_out() -> None:
    rows: Rows = [
        {"task_id": "t", "attempt": 1, "verdict": "PASS", "judge": " a "},
        {"task_id": "t", "attempt": 2, "verdict": "pass", "judge": "a"},
        {"task_id": "t", "attempt": 3, "verdict": "pass", "judge": "a"},
        {"task_id": "t", "attempt": 9, "verdict": "pass", "judge": "a"},
        {"task_id": "t", "attempt": 1, "verdict": "maybe", "judge": "a"},
        {"task_id": "", "attempt": 1, "verdict": "pass", "judge": "a"},
        {"task_id": "t", "attempt": 1, "verdict": "fail", "judge": "Log"},
    ]
    found = pk.judge_agreement(LOG, pl.DataFrame([{"run_id": "r", **row} for row in rows]))
    assert found.select("judge", "other_judge", "attempts", "agreement").rows() == [
        ("a", "log", 2, 0.5)
    ]


def test_equal_verdicts_are_copies_only_at_the_same_time() -> None:
    row = {"run_id": "r", "task_id": "t", "attempt": 1, "verdict": "pass"}
    timed = {**row, "judged_at": "2026-11-01"}
    frame = pl.DataFrame([row, row, timed, timed, {**timed, "note": "again"}])
    used = pk.judge_agreement(LOG, frame)
    assert row_of(used, "judge", "judge")["agreement"] == 1
    # Of two equal ones of one time, one counts: alone it is no pair.
    assert pk.judge_agreement(LOG, frame[2:4])["other_judge"].to_list() == ["log"]
    assert pk.judge_agreement(LOG, frame[:2])["other_judge"].to_list() == ["judge", "log"]


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([1], "verdicts must be a frame, not list"),
        (
            pl.DataFrame({"run_id": ["r"]}),
            "the verdicts have no column task_id and no attempt and no verdict",
        ),
    ],
)
def test_what_is_no_frame_of_verdicts_is_refused(verdicts: Any, said: str) -> None:
    with pytest.raises(pk.PasskError, match=said):
        pk.judge_agreement(LOG, verdicts)


def test_no_verdicts_have_no_rows() -> None:
    none = pl.DataFrame(
        schema={
            "run_id": pl.String,
            "task_id": pl.String,
            "attempt": pl.Int64,
            "verdict": pl.String,
        }
    )
    assert pk.judge_agreement(LOG, none).is_empty()
