"""Gates: the table against polars, results worked by hand, and what a build stops on."""

from __future__ import annotations

import contextlib
import math
import random
from datetime import datetime
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl
import pytest

import passk_py as pk
from passk_py.warehouse.tables import fetch_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conftest import Project

Rows = list[dict[str, Any]]

VARS: Final = {
    "passk_ks": [1, 2, 4, 5],
    "passk_deployment_k": 4,
    "passk_create_sql_functions": False,
}
KEY: Final = ("gate", "suite", "run_id", "baseline_run_id", "slice_name", "slice_value")
LETTERS: Final = {"P": "passed", "F": "failed", "X": "excluded"}


def _day(day: int) -> datetime:
    return datetime(2026, 1, day)


def run_of(name: str, tasks: Iterable[str], suite: str = "suite", **more: Any) -> Rows:
    """Give a run from the letters of its tasks."""
    return [
        {
            "run_id": name, "suite": suite, "task_id": f"t{task:03}", "attempt": number,
            "outcome": LETTERS[letter], **more,
        }
        for task, letters in enumerate(tasks)
        for number, letter in enumerate(letters, 1)
        if letter != "!"
    ]  # fmt: skip


def build(project: Project, gates: Any, **more: Any) -> Rows:
    """Build the gates and what they need, test them, and give their rows."""
    variables = {**VARS, "passk_gates": gates, **more}
    project.run(variables, select=["+passk_gates"])
    return rows(project)


def rows(project: Project) -> Rows:
    return project.records(f"select * from passk_gates order by {', '.join(KEY)}")


def is_near(actual: Any, expected: Any) -> bool:
    if isinstance(actual, float) and isinstance(expected, float):
        # As far as the quantiles of Student's t agree.
        return math.isclose(actual, expected, rel_tol=2e-8, abs_tol=1e-12)
    return bool(actual == expected)


# ---------------------------------------------------------------------------------------------
# SQL against polars

RULES: Final[Rows] = [
    {"name": "low", "type": "threshold", "metric": "pass_hat_k", "min": 0.1, "run": "all"},
    {"name": "middle", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.5, "run": "all"},
    {"name": "high", "type": "threshold", "metric": "pass_at_k", "k": 1, "min": 0.99, "agent": "b", "severity": "warn"},
    {"name": "here", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.45, "scope": "suite", "run": "all"},
    {"name": "too far", "type": "threshold", "metric": "pass_at_k", "k": 5, "min": 0.5},
    {"name": "each domain", "type": "threshold", "metric": "pass_at_k", "k": 2, "min": 0.6, "each": "domain"},
    {
        "name": "one domain", "type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.3, "each": "domain",
        "slice_value": "air", "run": "all",
    },
    {
        "name": "no domain", "type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.3, "each": "domain",
        "slice_value": "sea",
    },
    {"name": "each task", "type": "each_task", "metric": "pass_hat_k", "k": 2, "min": 0.5},
    {"name": "any try", "type": "each_task", "metric": "pass_at_k", "k": 4, "min": 0.2, "run": "all"},
    {"name": "drop", "type": "drop", "metric": "pass_hat_k", "k": 2, "max_drop": 0.05, "run": "all"},
    {"name": "wide drop", "type": "drop", "metric": "pass_at_k", "k": 1, "max_drop": 0.6, "scope": "unseen"},
    {"name": "no drop", "type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0, "baseline": "a3"},
    {"name": "odd pair", "type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.1, "baseline": "b1"},
    {"name": "lost pair", "type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.1, "baseline": "gone"},
    {"name": "excluded", "type": "coverage", "metric": "excluded_attempts", "max": 0.03, "run": "all"},
    {"name": "missing", "type": "coverage", "metric": "missing_attempts", "max": 0},
    {"name": "rejected", "type": "coverage", "metric": "rejected_attempts", "max": 0.5},
    {"name": "worse", "type": "regressed_tasks", "max": 0, "run": "all"},
    {"name": "one worse", "type": "regressed_tasks", "max": 1, "baseline": "a1", "run": "a2"},
    {"name": "clean", "type": "diagnostics", "diagnostics": "all", "inconclusive": "error"},
    {"name": "still", "type": "diagnostics", "diagnostics": ["drift", "batch_effect"], "severity": "ignore"},
    {"name": "copies", "type": "diagnostics", "diagnostics": "duplicate_seeds"},
    {"name": "nobody", "type": "threshold", "metric": "pass_hat_k", "min": 0.5, "agent": "zoe"},
    {"name": "nothing", "type": "coverage", "metric": "missing_attempts", "max": 0, "run": "x9", "suite": "other"},
]  # fmt: skip


def noisy(seed: int) -> Rows:
    """Make runs of two agents on two suites, with excluded attempts, ragged tasks and tags."""
    chance = random.Random(seed)
    found: Rows = []
    runs = [("a1", "a", 0.8), ("a2", "a", 0.35), ("a3", "a", 0.85), ("b1", "b", 0.6)]
    for suite, tasks in (("suite", 30), ("other", 3)):
        for day, (run, agent, skill) in enumerate(runs, 1):
            if (suite, run) == ("other", "b1"):
                continue
            for task in range(tasks):
                n = chance.choice([4, 6, 8]) if suite == "suite" else 2
                rate = chance.choice([0.02, skill, 1])
                for number in range(1, n + 1):
                    excluded = suite == "suite" and chance.random() < 0.03
                    passed = chance.random() < rate
                    found.append({
                        "run_id": run, "suite": suite, "task_id": f"t{task}", "attempt": number,
                        "outcome": "excluded" if excluded else "passed" if passed else "failed",
                        "agent": agent, "loaded_at": _day(day),
                        "tags": {"domain": chance.choice(["air", "land"])},
                    })  # fmt: skip
    return found


@pytest.mark.long
@pytest.mark.parametrize(("share", "confidence"), [(1, 0.95), (0.95, 0.9), (0, 0.8)])
def test_sql_and_polars_agree(project: Project, share: Any, confidence: float) -> None:
    log = noisy(5)
    project.land(log)
    actual = build(
        project, RULES, passk_slices=["domain"], passk_min_eligible_share=share,
        passk_confidence=confidence,
    )  # fmt: skip
    with project.connect() as connection:
        runs = fetch_frame(connection, "select * from passk_runs")
    frame = pl.DataFrame(log)
    expected = pk.judge_gates(
        frame, RULES, runs=runs, k=4, confidence=confidence, min_eligible_share=share
    ).to_dicts()

    def key(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(str(row[name] or "") for name in KEY)

    assert [key(row) for row in sorted(actual, key=key)] == sorted(map(key, expected))
    for row, other in zip(sorted(actual, key=key), sorted(expected, key=key), strict=True):
        assert {n: (row[n], v) for n, v in other.items() if not is_near(row[n], v)} == {}, other
    # The log is one on which rules can come out in every way.
    results = {(row["metric"], row["result"]) for row in actual}
    assert {result for _, result in results} == {"pass", "fail", "inconclusive"}
    assert {row["gate"] for row in actual} == {rule["name"] for rule in RULES}
    project.run({
        **VARS, "passk_gates": RULES, "passk_slices": ["domain"], "passk_min_eligible_share": share,
        "passk_confidence": confidence,
    }, command="test", select=["passk_gates,test_name:passk_rows_hold"])  # fmt: skip


# ---------------------------------------------------------------------------------------------
# worked by hand: each case is a suite, so that one build judges all of them


class Case(NamedTuple):
    """A log, a rule, and what must come out."""

    log: dict[str, list[str]]
    """Letters of the tasks, by run, the oldest first."""
    rule: dict[str, Any]
    result: str
    reason: str
    """How it ends; dots at the front stand for what is not looked at."""
    to_settle: str | None = None


CASES: Final = {
    # (T + 1 - t) / (T + 2) with t = 2.0010 at 59 degrees and 2.0003 at 60: .94998 and .95081.
    "58 perfect tasks": Case(
        {"r": ["PP"] * 58}, {"type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.95}, "inconclusive",
        "pass^2 is 1.000 (0.950 to 1.000), and 0.95 lies between these limits. "
        "It cannot pass with fewer than 59 tasks, and there are 58.", "At least 59 tasks.",
    ),
    "59 perfect tasks": Case(
        {"r": ["PP"] * 59}, {"type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.95}, "pass",
        "pass^2 is 1.000 (0.951 to 1.000): even the lower limit reaches 0.95.",
    ),
    # Two attempts of each: 1 + ln(.025) / 2 / T: .95 at 36.9. Eight: 1 - 1.96 / 2 / T: .95 at 19.6.
    "36 of this suite": Case(
        {"r": ["PP"] * 36}, {"type": "threshold", "metric": "pass_at_k", "k": 1, "min": 0.95, "scope": "suite"},
        "inconclusive", "It cannot pass with fewer than 37 tasks, and there are 36.",
        "At least 37 tasks.",
    ),
    "37 of this suite": Case(
        {"r": ["PP"] * 37}, {"type": "threshold", "metric": "pass_at_k", "k": 1, "min": 0.95, "scope": "suite"},
        "pass", "pass@1 is 1.000 (0.950 to 1.000): even the lower limit reaches 0.95.",
    ),
    "19 of this suite, eight times": Case(
        {"r": ["P" * 8] * 19}, {"type": "threshold", "metric": "pass_at_k", "k": 1, "min": 0.95, "scope": "suite"},
        "inconclusive", "It cannot pass with fewer than 20 tasks, and there are 19.",
        "At least 20 tasks.",
    ),
    "20 of this suite, eight times": Case(
        {"r": ["P" * 8] * 20}, {"type": "threshold", "metric": "pass_at_k", "k": 1, "min": 0.95, "scope": "suite"},
        "pass", "pass@1 is 1.000 (0.951 to 1.000): even the lower limit reaches 0.95.",
    ),
    "too few attempts for this suite": Case(
        {"r": ["PPP"] * 20}, {"type": "threshold", "metric": "pass_at_k", "k": 2, "min": 0.95, "scope": "suite"},
        "inconclusive",
        "pass@2 is 1.000, but an interval for these tasks takes 4 attempts of each.",
        "At least 4 counted attempts of every task.",
    ),
    "an excluded attempt tips a pass": Case(
        {"r": ["PP"] * 58 + ["PPX"]}, {"type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.95},
        "inconclusive", "which would pass, but not if the 1 excluded attempts had failed.",
        "The excluded attempts, made again.",
    ),
    "a sure fail": Case(
        {"r": ["FF"] * 20 + ["PF"] * 2}, {"type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.24},
        "fail", "even the upper limit is below 0.24.",
    ),
    # As passes they would add 20 / 3 / 22 = .30.
    "excluded attempts tip a fail": Case(
        {"r": ["FFX"] * 20 + ["PF"] * 2}, {"type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.24},
        "inconclusive", "which would fail, but not if the 20 excluded attempts had passed.",
        "The excluded attempts, made again.",
    ),
    "at the threshold": Case(
        {"r": ["P", "F"] * 50}, {"type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.499},
        "inconclusive", "and 0.499 lies between these limits.",
        "Hardly anything: the estimate is too near the threshold.",
    ),
    "too few attempts": Case(
        {"r": ["PPPP", "PPP"]}, {"type": "threshold", "metric": "pass_hat_k", "k": 4, "min": 0.5},
        "inconclusive", "There is no pass^4: n < 4 in 1 of 2 tasks.",
        "At least 4 counted attempts of every task.",
    ),
    "no such slice": Case(
        {"r": ["PP"] * 3},
        {"type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.5, "each": "domain", "slice_value": "sea"},
        "inconclusive", "The run has no task in domain sea.",
        "A run that has such tasks, or another slice in the gate.",
    ),
    # Two attempts of each: -ln(.025) / 2 / T = 1.844 / T: .03 at 61.5.
    "61 equal tasks": Case(
        {"old": ["PP"] * 61, "new": ["PP"] * 61}, {"type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.03},
        "inconclusive", "It cannot pass with fewer than 62 tasks, and there are 61.",
        "At least 62 tasks.",
    ),
    "62 equal tasks": Case(
        {"old": ["PP"] * 62, "new": ["PP"] * 62}, {"type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.03},
        "pass", "a difference of 0.000 (-0.030 to 0.030), at worst not below -0.03.",
    ),
    # Where k is n, -ln(.025) / T = 3.689 / T, .074 with 50 tasks: two perfect runs show no drop of .03.
    "50 perfect tasks, four in a row": Case(
        {"old": ["PPPP"] * 50, "new": ["PPPP"] * 50},
        {"type": "drop", "metric": "pass_hat_k", "k": 4, "max_drop": 0.03},
        "inconclusive", "It cannot pass with fewer than 123 tasks, and there are 50.",
        "At least 123 tasks.",
    ),
    # Eight: z sqrt(1 / 2) / T = 1.386 / T: .03 at 46.2.
    "47 equal tasks, eight times": Case(
        {"old": ["P" * 8] * 47, "new": ["P" * 8] * 47},
        {"type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.03},
        "pass", "a difference of 0.000 (-0.029 to 0.029), at worst not below -0.03.",
    ),
    "a fall": Case(
        {"old": ["PPPP"] * 30, "new": ["PFFF"] * 30}, {"type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.1},
        "fail", "at best below -0.1.",
    ),
    "other tasks": Case(
        {"old": ["PP"] * 30, "new": ["PP"] * 26}, {"type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.5},
        "inconclusive",
        "Only 26 of 30 tasks of the baseline are in both runs, fewer than 90 %.",
        "A run over the tasks of the baseline.",
    ),
    # 35 have n >= 2 in both, but each run has 36 of the 37, which are 92.5 % of the baseline's.
    "short tasks are no other tasks": Case(
        {"old": ["P"] + ["PP"] * 39, "new": ["PP", "P"] + ["PP"] * 35},
        {"type": "drop", "metric": "pass_hat_k", "k": 2, "max_drop": 0.5},
        "pass", "over 35 of 37 tasks, at worst not below -0.5.",
    ),
    "no baseline": Case(
        {"r": ["PP"] * 30}, {"type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.5}, "inconclusive",
        "There is no baseline: no earlier run of the agent on this suite, and no declared pair.",
        "Another run of the agent, or a baseline that the gate names.",
    ),
    # .95^59 = .0485, .95^58 = .0510.
    "a task of 58 attempts": Case(
        {"r": ["P" * 58]}, {"type": "each_task", "metric": "pass_hat_k", "k": 1, "min": 0.95},
        "inconclusive",
        "0 of 1 tasks are sure to reach 0.95, 0 are sure not to; worst is t000 (58 of 58 passed).",
        "At least 59 attempts of each task.",
    ),
    "a task of 59 attempts": Case(
        {"r": ["P" * 59]}, {"type": "each_task", "metric": "pass_hat_k", "k": 1, "min": 0.95},
        "pass",
        "1 of 1 tasks are sure to reach 0.95, 0 are sure not to; worst is t000 (59 of 59 passed).",
    ),
    # 0.3 * 10 is not 3 in every order of rounding.
    "a share at its limit": Case(
        {"r": ["PPPPPPPXXX"]}, {"type": "coverage", "metric": "excluded_attempts", "max": 0.3}, "pass",
        "3 of 10 attempts are excluded, and 3 may be.",
    ),
    "a share above its limit": Case(
        {"r": ["PPPPPPPXXX"]}, {"type": "coverage", "metric": "excluded_attempts", "max": 0.29}, "fail",
        "3 of 10 attempts are excluded, and 2 may be.",
    ),
    "missing is not known": Case(
        {"r": ["PP"]}, {"type": "coverage", "metric": "missing_attempts", "max": 0.1}, "inconclusive",
        "The log does not say how many attempts were to be made.",
        "A log that says how many attempts were to be made.",
    ),
    # Fisher's exact test of 4 of 4 against 0 of 4: p = 2 / C(8, 4) = .029.
    "a task got worse": Case(
        {"old": ["PPPP"], "new": ["FFFF"]}, {"type": "regressed_tasks", "max": 0}, "fail",
        "1 of 1 tasks fell beyond chance, the surest of them t000.",
    ),
    # With 2 attempts p is 1 / 3 at the least.
    "none could be seen": Case(
        {"old": ["PP"], "new": ["FF"]}, {"type": "regressed_tasks", "max": 0}, "inconclusive",
        "0 of 1 tasks fell beyond chance. A fall to no pass could be seen in 0 of the 1 that passed "
        "before.",
        "More attempts of each task: see least_p_of_fall in passk_task_comparisons.",
    ),
    "no order to speak of": Case(
        {"r": ["PPPP"] * 3}, {"type": "diagnostics", "diagnostics": ["drift"]}, "inconclusive",
        "Nothing is known of drift.", "More in the log: see advice in passk_diagnostics.",
    ),
    # All of the newest run's attempts conflict: the same number twice, with two verdicts.
    "the newest is of no use": Case(
        {"old": ["PP"] * 30, "new": ["!"]}, {"type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.1},
        "inconclusive", "No attempt of new can be used: all were rejected.",
        "The reasons in passk_rejected_attempts, mended.",
    ),
    # .0286 * 100 is far above .05, so none of three such falls among 100 tasks can be told from
    # chance. All three can: each has the variance 4 * 4 / (7 * 4 * 4) = 1 / 7 and the step 1 / 2, and
    # (3 - 1 / 4) / sqrt(3 / 7) = 4.2.
    "falls that can't be seen": Case(
        {"old": ["PPPP"] * 100, "new": ["FFFF"] * 3 + ["PPPP"] * 97},
        {"type": "regressed_tasks", "max": 0}, "inconclusive",
        "0 of 100 tasks fell beyond chance. Together they fell beyond chance, but which of them "
        "cannot be told.",
        "More attempts of each task.",
    ),
    # No fall of 3 of 8 is beyond chance, and 20 of them are: 20 * 3 / 8 - 1 / 8 = 7.4, the variance
    # 20 * 3 * 13 / (15 * 8 * 8) = .81.
    "all fell, and none alone": Case(
        {"old": ["PPPFFFFF"] * 20, "new": ["F" * 8] * 20}, {"type": "regressed_tasks", "max": 0},
        "inconclusive",
        "0 of 20 tasks fell beyond chance. Together they fell beyond chance, but which of them "
        "cannot be told.",
        "More attempts of each task.",
    ),
    # The first may fall. The others: 10 * 3 / 8 - 1 / 8 = 3.6, 10 * 13 * 3 / (15 * 8 * 8) = .41.
    "more than the one that may": Case(
        {"old": ["P" * 8] * 20, "new": ["F" * 8, *["PPPPPFFF"] * 10, *["P" * 8] * 9]},
        {"type": "regressed_tasks", "max": 1}, "inconclusive",
        "1 of 20 tasks fell beyond chance, the surest of them t000. All but the worst fell together "
        "beyond chance, but which of them cannot be told.",
        "More attempts of each task.",
    ),
    "the one that may": Case(
        {"old": ["P" * 8] * 20, "new": ["F" * 8, *["P" * 8] * 19]},
        {"type": "regressed_tasks", "max": 1}, "pass",
        "1 of 20 tasks fell beyond chance, the surest of them t000. A fall to no pass could be seen "
        "in 20 of the 20 that passed before.",
    ),
    # 4 of 12 against none: (1 / 3 - 1 / 12) / sqrt(4 * 20 / (23 * 12 * 12)) = 1.6.
    "one that passed a third": Case(
        {"old": ["PPPPFFFFFFFF", *["P" * 12] * 19], "new": ["F" * 12, *["P" * 12] * 19]},
        {"type": "regressed_tasks", "max": 0}, "pass",
        "0 of 20 tasks fell beyond chance. A fall to no pass could be seen in 19 of the 20 that "
        "passed before.",
    ),
    # The number that may fall is the one that was found to have fallen, and not that of a single attempt: of the
    # others (1 - (1 + 18 / 20) / 38 * 2) / 1 = .9.
    "the one that may, beside one attempt": Case(
        {"old": ["P", *["P" * 20] * 19], "new": ["F", "PP" + "F" * 18, *["P" * 20] * 18]},
        {"type": "regressed_tasks", "max": 1}, "pass",
        "1 of 20 tasks fell beyond chance, the surest of them t001. A fall to no pass could be seen "
        "in 19 of the 20 that passed before.",
    ),
    "all may fall": Case(
        {"old": ["P" * 20] * 3, "new": ["P" * 20] * 3}, {"type": "regressed_tasks", "max": 3},
        "pass",
        "0 of 3 tasks fell beyond chance. A fall to no pass could be seen in 3 of the 3 that passed "
        "before.",
    ),
    "one passed before, and a hundred may fall": Case(
        {"old": ["PPPP", "FFFF"], "new": ["PPPP", "FFFF"]},
        {"type": "regressed_tasks", "max": 100}, "pass",
        "0 of 2 tasks fell beyond chance. A fall to no pass could be seen in 1 of the 1 that passed "
        "before.",
    ),
    # A single attempt in each run can't show anything: p = 1.
    "one task of 20 could be seen": Case(
        {"old": ["P" * 20, *["P"] * 19], "new": ["P" * 20, *["P"] * 19]},
        {"type": "regressed_tasks", "max": 0}, "inconclusive",
        "0 of 20 tasks fell beyond chance. A fall to no pass could be seen in 1 of the 20 that "
        "passed before.",
        "More attempts of each task: see least_p_of_fall in passk_task_comparisons.",
    ),
    "none passed before": Case(
        {"old": ["F" * 12] * 3, "new": ["F" * 12] * 3}, {"type": "regressed_tasks", "max": 0},
        "inconclusive",
        "0 of 3 tasks fell beyond chance. No task passed in the baseline.",
        "A baseline that passes.",
    ),
    # 2 / C(24, 12) = 7e-7, times 20 tasks.
    "no fall to be seen": Case(
        {"old": ["P" * 12] * 20, "new": ["P" * 12] * 20}, {"type": "regressed_tasks", "max": 0},
        "pass",
        "0 of 20 tasks fell beyond chance. A fall to no pass could be seen in 20 of the 20 that "
        "passed before.",
    ),
    "few of the baseline's tasks": Case(
        {"old": ["P" * 12] * 20, "new": ["P" * 12] * 17}, {"type": "regressed_tasks", "max": 0},
        "inconclusive",
        "0 of 17 tasks fell beyond chance. They are fewer than 90 % of the 20 of the baseline.",
        "A run over the tasks of the baseline.",
    ),
    "a task with excluded attempts": Case(
        {"r": ["P" * 60 + "X" * 40]},
        {"type": "each_task", "metric": "pass_hat_k", "k": 1, "min": 0.95}, "inconclusive",
        "0 of 1 tasks are sure to reach 0.95, 0 are sure not to; worst is t000 (60 of 60 passed).",
        "More attempts of the tasks that are neither.",
    ),
    # Each of 30 tasks as flaky: z sqrt(1/4) / 30 = .033 is left however many attempts there are,
    # and the estimate is only .02 above.
    "attempts alone can't settle it": Case(
        {"r": ["PPPPPPPF"] * 30}, {"type": "threshold", "metric": "pass_at_k", "k": 1, "min": 0.855, "scope": "suite"},
        "inconclusive", "and 0.855 lies between these limits.", "... tasks like these",
    ),
    "no run": Case(
        {"r": ["PP"]}, {"type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.5, "run": "other"},
        "inconclusive", "No run is judged: the log has none named other of the suite no run.",
        "Such a run, or other names in the gate.",
    ),
}  # fmt: skip

N: Final = 30
GRADED: Final = ["P" * c + "F" * (N - c) for c in range(N + 1)]
MORE_GATES: Final = [
    {"name": "needed", "suite": "at the threshold", "type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.45},
    {"name": "graded", "suite": "graded", "type": "each_task", "metric": "pass_hat_k", "k": 1, "min": 0.9},
    {"name": "moved", "suite": "moved", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.5},
    {"name": "latest", "suite": "order", "type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.5},
    {"name": "all", "suite": "order", "type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.5, "run": "all"},
    {"name": "one", "suite": "order", "type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.5, "run": "y"},
    {"name": "own", "suite": "order", "type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.9, "run": "x"},
    {
        "name": "rival", "suite": "order", "type": "drop", "metric": "pass_hat_k", "k": 1, "max_drop": 0.9,
        "run": "x", "baseline": "z",
    },
]  # fmt: skip


@pytest.fixture(scope="module")
def cases(make_project: Callable[[], Project]) -> Project:
    project = make_project()
    log: Rows = []
    for suite, case in CASES.items():
        for day, (run, tasks) in enumerate(case.log.items(), 1):
            # A run of which nothing can be used has one number twice, with two verdicts.
            log += run_of(run, tasks, suite, started_at=_day(day), loaded_at=_day(day))
            if tasks == ["!"]:
                for letter in "PF":
                    log += run_of(run, [letter], suite, started_at=_day(day), loaded_at=_day(day))
    log += run_of("r", GRADED, "graded")
    log += run_of("r", ["PPFX", "PPPP", "PFFF", "PX"], "moved")
    for run, agent, day in (("x", "a", 3), ("y", "a", 1), ("z", "b", 2)):
        log += run_of(run, ["PP"] * 3, "order", agent=agent, started_at=_day(day))
    project.land(log)
    gates = [{"name": suite, "suite": suite, **case.rule} for suite, case in CASES.items()]
    build(project, [*gates, *MORE_GATES], passk_slices=["domain"])
    return project


@pytest.fixture(scope="module")
def judged(cases: Project) -> Rows:
    """The rows of the table, read once: the view takes seconds."""
    return rows(cases)


def gate(judged: Rows, name: str) -> Rows:
    return [row for row in judged if row["gate"] == name]


@pytest.mark.parametrize("name", CASES)
def test_a_case_worked_by_hand(judged: Rows, name: str) -> None:
    case = CASES[name]
    # The newest run alone is judged.
    (row,) = gate(judged, name)
    assert row["result"] == case.result, row["reason"]
    assert row["reason"].endswith(case.reason), row["reason"]
    if case.to_settle is not None and case.to_settle.startswith("... "):
        assert case.to_settle[4:] in row["to_settle"]
    else:
        assert row["to_settle"] == case.to_settle
    assert row["severity"] == {"fail": "error", "inconclusive": "warn"}.get(case.result)
    if len(case.log) == 2 and "!" not in case.log["new"]:
        assert (row["run_id"], row["baseline_run_id"]) == ("new", "old")


def test_what_the_excluded_attempts_could_change(cases: Project) -> None:
    """PPFX at k = 2: C(2,2)/C(3,2) = 1/3; had it failed 1/6, had it passed 3/6.

    PX has no pass^2: the limits allow it any.
    """
    ((excluded, if_failed, if_passed),) = cases.query(
        "select excluded, change_if_failed, change_if_passed "
        f"from {cases.relation('int_passk__gate_bounds')} where suite = 'moved'"
    )
    assert excluded == 1
    assert math.isclose(if_failed, 1 / 6 - 1 / 3, rel_tol=1e-12)
    assert math.isclose(if_passed, 1 / 2 - 1 / 3, rel_tol=1e-12)


def test_more_tasks_that_would_settle_it(judged: Rows) -> None:
    """Half of 100 tasks pass: the lower limit of .40 or so must come up to .45."""
    (row,) = gate(judged, "needed")
    assert row["estimate"] == 0.5
    needed = 100 * ((0.5 - row["estimate_lower"]) / 0.05) ** 2
    assert 300 < needed < 400
    assert row["to_settle"] == (
        f"About {10 * math.ceil(needed / 10)} tasks like these. "
        "If the estimate stays, the gate then passes."
    )


def test_each_task_is_judged_by_exact_tails(judged: Rows) -> None:
    """Against sums of rationals: at pass^1 >= 9/10, tasks of every c of n = 30."""
    (row,) = gate(judged, "graded")
    p = Fraction(9, 10)

    def tail(counts: Iterable[int]) -> Fraction:
        return sum((comb(N, j) * p**j * (1 - p) ** (N - j) for j in counts), Fraction(0))

    error = Fraction(5, 100)
    met = sum(tail(range(c, N + 1)) <= error for c in range(N + 1))
    missed = sum(tail(range(c + 1)) * (N + 1) <= error for c in range(N + 1))
    assert 0 < met < 3
    assert 15 < missed < 30
    assert row["result"] == "fail"
    assert row["reason"] == (
        f"{met} of 31 tasks are sure to reach 0.9, {missed} are sure not to; "
        "worst is t000 (0 of 30 passed)."
    )
    assert row["estimate"] == pytest.approx(met / 31, rel=1e-12)


def test_the_latest_run_of_each_agent_is_judged(judged: Rows) -> None:
    assert [row["run_id"] for row in gate(judged, "latest")] == ["x", "z"]
    assert [row["run_id"] for row in gate(judged, "all")] == ["x", "y", "z"]
    assert [row["run_id"] for row in gate(judged, "one")] == ["y"]


def test_a_baseline_that_only_a_gate_names_is_for_that_gate(cases: Project, judged: Rows) -> None:
    assert [row["baseline_run_id"] for row in gate(judged, "own")] == ["y"]
    assert [row["baseline_run_id"] for row in gate(judged, "rival")] == ["z"]
    sources = cases.query(
        "select distinct baseline_run_id, candidate_run_id, pair_source from passk_comparisons "
        "where suite = 'order' order by 1"
    )
    assert sources == [("y", "x", "previous"), ("z", "x", "gate")]


# ---------------------------------------------------------------------------------------------
# what a build stops on


@pytest.mark.long
def test_each_gate_has_its_severity(cases: Project) -> None:
    gates = [
        {
            "name": f"{key} {severity}", "suite": "at the threshold", "type": "threshold",
            "metric": "pass_hat_k", "k": 1, "min": least, key: severity,
        }
        for key, least in (("severity", 0.9), ("inconclusive", 0.5))
        for severity in ("error", "warn", "ignore")
    ]  # fmt: skip
    found = build(cases, gates, passk_slices=["domain"])
    assert {row["gate"]: (row["result"], row["severity"], row["is_advisory"]) for row in found} == {
        "severity error": ("fail", "error", False),
        "severity warn": ("fail", "warn", True),
        "severity ignore": ("fail", "ignore", True),
        "inconclusive error": ("inconclusive", "error", False),
        "inconclusive warn": ("inconclusive", "warn", False),
        "inconclusive ignore": ("inconclusive", "ignore", False),
    }
    variables = {**VARS, "passk_slices": ["domain"], "passk_gates": gates}
    errors, warnings = "passk_gates_hold", "passk_gates_warn"
    with pytest.raises(Exception, match=f"{errors}: Got 2 results"):
        cases.run(variables, command="test", select=[errors])
    done = cases.run(variables, command="test", select=[warnings])
    (warned,) = (result for result in done if result.node.resource_type == "test")
    assert (str(warned.status), warned.failures) == ("warn", 2)


def said_by(project: Project, arguments: list[str], variables: dict[str, Any]) -> str:
    """Give what a command of dbt writes to its log, whether it goes well or not."""
    log = project.dbt.folder / "logs" / "dbt.log"
    log.unlink(missing_ok=True)
    with contextlib.suppress(Exception):
        project.dbt.invoke(
            [*arguments, "--log-level-file", "info"], folder=project.folder, variables=variables
        )
    return log.read_text("utf-8")


@pytest.mark.long
def test_the_log_of_a_build_says_why(project: Project) -> None:
    """Each gate that stops or warns, with its run, rule, reason and what would settle it; none that passes."""
    project.land([
        *run_of("old", ["PPPP"] * 12, loaded_at=_day(1)),
        *run_of("new\nline", ["FFFF"] * 12, loaded_at=_day(2), tags={"domain": "air"}),
    ])  # fmt: skip
    gates = [
        {"name": "fails", "type": "threshold", "metric": "pass_hat_k", "k": 4, "min": 0.9},
        {"name": "warns", "type": "threshold", "metric": "pass_hat_k", "k": 5, "min": 0.9},
        {"name": "falls", "type": "drop", "metric": "pass_hat_k", "k": 4, "max_drop": 0.1, "baseline": "old"},
        {"name": "in a slice", "type": "threshold", "metric": "pass_at_k", "k": 1, "min": 0.5, "each": "domain"},
        {"name": "passes", "type": "coverage", "metric": "excluded_attempts", "max": 0},
        {"name": "is let through", "type": "threshold", "metric": "pass_at_k", "min": 0.9, "severity": "ignore"},
    ]  # fmt: skip
    found = {row["gate"]: row for row in build(project, gates, passk_slices=["domain"])}
    variables = {**VARS, "passk_gates": gates, "passk_slices": ["domain"]}
    said = said_by(project, ["test", "--select", "passk_gates"], variables)
    for gate, result, place in (
        ("fails", "fail", "new line, suite"),
        ("warns", "inconclusive", "new line, suite"),
        ("falls", "fail", "new line, suite, against old"),
        ("in a slice", "fail", "new line, suite, domain = air"),
    ):
        row = found[gate]
        assert row["result"] == result
        settling = [f"to settle it: {row['to_settle']}"] if row["to_settle"] else []
        lines = [
            f"passk gate {gate}: {result}, {place}",
            f"rule: {row['rule']}",
            f"reason: {row['reason']}",
            *settling,
        ]
        assert "\n    ".join(lines) in said
    assert found["warns"]["to_settle"] is not None
    assert said.count("passk gate ") == 4


@pytest.mark.long
def test_the_log_says_nothing_of_gates_that_pass_or_are_not_there(project: Project) -> None:
    project.land(run_of("r", ["PPPP"] * 12))
    passing = {
        **VARS,
        "passk_gates": [{"name": "p", "type": "coverage", "metric": "excluded_attempts", "max": 0}],
    }
    for variables in (passing, VARS):
        project.run(variables, select=["+passk_gates"])
        said = said_by(project, ["build", "--select", "passk_gates"], variables)
        assert "PASS passk_gates_hold" in said
        assert "passk gate" not in said


@pytest.mark.long
def test_the_log_of_many_gates_ends_with_their_number(project: Project) -> None:
    """Twenty are told, of the 23 slices that fail."""
    project.land([
        row
        for number in range(23)
        for row in run_of(
            "r", ["FFFF"] * 12, suite=f"suite {number:02}", tags={"domain": "air"}
        )
    ])  # fmt: skip
    gates = [
        {
            "name": "each",
            "type": "threshold",
            "metric": "pass_at_k",
            "k": 1,
            "min": 0.5,
            "each": "domain",
        }
    ]
    build(project, gates, passk_slices=["domain"])
    variables = {**VARS, "passk_gates": gates, "passk_slices": ["domain"]}
    said = said_by(project, ["test", "--select", "passk_gates"], variables)
    assert said.count("passk gate each: fail, r, suite ") == 20
    assert "passk: 3 more rows of passk_gates are like these." in said


@pytest.mark.long
def test_without_gates_the_table_is_empty(cases: Project) -> None:
    assert build(cases, [], passk_slices=["domain"]) == []
    variables = {**VARS, "passk_slices": ["domain"], "passk_gates": []}
    cases.run(variables, command="test", select=["passk_gates"])


@pytest.mark.long
def test_tasks_that_a_pair_lost_to_excluded_attempts_count_against_a_pass(project: Project) -> None:
    """Of 20 tasks 19 are compared: -ln(.025) / 19 = .194. The last may be 0 - 1: 19/20 of it and 1/20."""
    project.land([
        *run_of("old", ["PPPP"] * 20, loaded_at=_day(1)),
        *run_of("new", [*["PPPP"] * 19, "PPXX"], loaded_at=_day(2)),
        *run_of("old", ["PPPP"] * 20, "whole", loaded_at=_day(1)),
        *run_of("new", ["PPPP"] * 19, "whole", loaded_at=_day(2)),
    ])  # fmt: skip
    rule = {"name": "drop", "type": "drop", "metric": "pass_hat_k", "k": 4, "max_drop": 0.2}
    found = {row["suite"]: row for row in build(project, [rule], passk_min_eligible_share=0)}
    lost, whole = found["suite"], found["whole"]
    assert (lost["result"], lost["tasks"], lost["estimate"]) == ("inconclusive", 19, 0)
    assert lost["reason"].endswith(
        "a difference of 0.000 (-0.234 to 0.234) over 19 of 20 tasks, and -0.2 lies between these "
        "limits."
    )
    assert lost["to_settle"] == "At least 4 counted attempts of every task in both runs."
    assert (whole["result"], whole["tasks"]) == ("pass", 19)


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "rule", "said"),
    [
        # d = -5/30; V = 1 for each of five tasks; the floor is ln(.025)^2 / z^2 = 3.542:
        # 1.96 sqrt(8.542) / 30 = .191. Three of 33 tasks may have any difference.
        (
            ["PPPP"] * 30 + ["FFXX"] * 3, ["PPPF"] * 5 + ["PPPP"] * 28,
            {"type": "drop", "max_drop": 0.25},
            "a difference of -0.167 (-0.416 to 0.113) over 30 of 33 tasks, and -0.25 lies between",
        ),
        # V = 2/70 for each of two tasks: 1.96 sqrt(3.600) / 28 = .133.
        (
            ["PPPP"] * 31, ["PPPP"] * 26 + ["FFFF"] * 2 + ["FFXX"] * 3,
            {"type": "drop", "max_drop": 0.05},
            "a difference of -0.071 (-0.281 to 0.152) over 28 of 31 tasks, and -0.05 lies between",
        ),
        # Over the 34 tasks .742 to .980: 34/64 of that, and up to 30/64 more.
        (
            ["PPPP"], ["PPPP"] * 30 + ["FFFF"] * 4 + ["FFFX"] * 30,
            {"type": "threshold", "min": 0.9},
            "pass^4 is 0.882 (0.394 to 0.989) over 34 of 64 tasks, and 0.9 lies between these limits.",
        ),
    ],
)  # fmt: skip
def test_short_tasks_make_no_limit_better(
    project: Project, old: list[str], new: list[str], rule: dict[str, Any], said: str
) -> None:
    log = [*run_of("old", old, loaded_at=_day(1)), *run_of("new", new, loaded_at=_day(2))]
    project.land(log)
    gate = {"name": "g", "metric": "pass_hat_k", "k": 4, **rule}
    (row,) = build(project, [gate], passk_min_eligible_share=0)
    assert row["result"] == "inconclusive"
    assert said in row["reason"]
    (same,) = pk.judge_gates(pl.DataFrame(log), [gate], min_eligible_share=0).to_dicts()
    assert (same["result"], same["reason"]) == (row["result"], row["reason"])


@pytest.mark.long
def test_a_gate_says_how_many_tasks_it_leaves_out(project: Project) -> None:
    # (78 + 1 - t) / 80 with t = 1.9905 at 79 degrees is .963; 78/80 of it.
    log = run_of("r", [*["PPPP"] * 78, *["PP"] * 2])
    project.land(log)
    rule = {"name": "most", "type": "threshold", "metric": "pass_hat_k", "k": 4, "min": 0.9}
    (row,) = build(project, [rule])
    said = "pass^4 is 1.000 (0.939 to 1.000) over 78 of 80 tasks: even the lower limit reaches 0.9."
    assert (row["result"], row["reason"]) == ("pass", said)
    (same,) = pk.judge_gates(pl.DataFrame(log), [rule]).to_dicts()
    assert same["reason"] == said


@pytest.mark.long
@pytest.mark.parametrize(
    ("files", "most", "result", "said"),
    [
        # Of rows without a file it is not known either.
        (
            {None: 2}, 0, "inconclusive",
            "0 of 60 rows are rejected, and 0 may be, but 2 rejected rows do not say whose they are.",
        ),
        # 60 of 120 rows of its file can't be read.
        (
            {"half.jsonl": 60}, 0, "inconclusive",
            "0 of 60 rows are rejected, and 0 may be, but 60 rejected rows do not say whose they are.",
        ),
        ({"half.jsonl": 60}, 0.5, "pass", "0 of 60 rows are rejected, and 30 may be."),
        (
            {"half.jsonl": 1}, 0, "inconclusive",
            "0 of 60 rows are rejected, and 0 may be, but 1 rejected row does not say whose it is.",
        ),
        ({"other.jsonl": 60}, 0, "pass", "0 of 60 rows are rejected, and 0 may be."),
    ],
)  # fmt: skip
def test_rejected_rows_that_name_no_run_may_be_of_any_run_of_their_file(
    project: Project, files: dict[str | None, int], most: float, result: str, said: str
) -> None:
    log = run_of("r", ["PPPPPP"] * 10, source_file="half.jsonl")
    project.land(log)
    project.insert("landing.rejected", [
        {
            "reason_code": "malformed_line", "reason": "malformed_line: ...", "source_file": file,
            "run_id": None if number % 2 else "",
        }
        for file, rows in files.items()
        for number in range(rows)
    ])  # fmt: skip
    rule = {"name": "rejected", "type": "coverage", "metric": "rejected_attempts", "max": most}
    (row,) = build(project, [rule])
    assert (row["result"], row["reason"]) == (result, said)
    settle = "The reasons in passk_rejected_attempts, mended." if result == "inconclusive" else None
    assert row["to_settle"] == settle
    runs = pl.DataFrame(project.records("select * from passk_runs"), infer_schema_length=None)
    (same,) = pk.judge_gates(pl.DataFrame(log), [rule], runs=runs).to_dicts()
    assert {name: same[name] for name in ("result", "reason", "to_settle")} == {
        "result": result, "reason": said, "to_settle": settle,
    }  # fmt: skip
