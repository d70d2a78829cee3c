"""Where reliability is lost: brute force over all draws, tables against polars, and wrong causes."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from datetime import UTC, datetime
from fractions import Fraction
from itertools import combinations
from math import comb, factorial, floor, sqrt
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import passk_py as pk
from passk_py.metrics.causes.cause_of_reason import PATTERNS, cause_finder
from passk_py.metrics.causes.lost_shares import counted_parts, counted_parts_of_counts
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Project

Rows = list[dict[str, Any]]

KS: Final = [1, 2, 4, 6]
CAUSES: Final = {"*TOOL%bug*": "tools", "time_ut": "grader", "plain words": "limit"}
VARS: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 4,
    "passk_ordered_metrics": False,
    "passk_min_eligible_share": 0.2,
    "passk_slices": ["kind", {"name": "half", "expression": "case when attempt < 4 then 'early' end"}],
    "passk_causes": CAUSES,
}  # fmt: skip
FAMILIES: Final = {**VARS, "passk_cluster": "repo"}
PLACE: Final = ("run_id", "suite", "dimension", "slice_name", "part")
REASONS: Final = {
    None: "agent",
    "a Tool\nBUG 12": "tools",
    "timeout": "grader",
    "timed out": "limit",
    "max-steps": "limit",
    "user_error": "user_simulator",
    "SandboxDied": "environment",
    "nobody knows": "unknown",
}
"""The reasons of this log's failures, and the cause of each."""


def some_log() -> Rows:
    """Tasks of many kinds, some short, with reasons for most failures and duplicates of an attempt."""
    dice = random.Random(11)
    rows: Rows = []
    for run in ("before", "after"):
        for task in range(22):
            rate = dice.choice([0.0, 0.4, 0.7, 1.0])
            for attempt in range(1, dice.choice([3, 5, 6, 7, 8]) + 1):
                outcome = "passed" if dice.random() < rate else "failed"
                outcome = "excluded" if dice.random() < 0.08 else outcome
                reason = dice.choice(list(REASONS)) if dice.random() < 0.8 else None
                tags = {"kind": dice.choice("ab")}
                if task > 3:
                    tags["repo"] = f"f{task % 4}"
                rows.append(
                    {
                        "run_id": run, "suite": "suite", "task_id": f"t{task}", "attempt": attempt,
                        "outcome": outcome, "outcome_reason": reason, "agent": "bot", "tags": tags,
                    }
                )  # fmt: skip
    # A second row of an attempt whose task is sorted, not masked; and a run that loses nothing.
    rows.append(dict(rows[5]))
    rows += [
        {**rows[0], "run_id": "perfect", "task_id": f"t{task}", "attempt": attempt,
         "outcome": "passed" if attempt > 1 else "excluded", "outcome_reason": "quota" if attempt == 1 else None}
        for task in range(3) for attempt in range(1, 6)
    ]  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def attempts() -> Rows:
    return some_log()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Rows) -> Iterator[Project]:
    made = make_project()
    made.land(attempts)
    made.run(VARS, select=["+passk_lost_reliability"])
    made.run(
        VARS,
        command="test",
        select=["passk_lost_reliability", "int_passk__lost_parts", "int_passk__lost_sums"],
    )
    return made  # fmt: skip


def once(rows: Rows) -> Rows:
    """Leave the copy of an attempt out."""
    return list({(row["run_id"], row["task_id"], row["attempt"]): row for row in rows}.values())


def cause(row: dict[str, Any]) -> str:
    if row["outcome_reason"] is None:
        return "agent" if row["outcome"] == "failed" else "unknown"
    return "environment" if row["outcome_reason"] == "quota" else REASONS[row["outcome_reason"]]


LABELS: Final[dict[tuple[str, str], Callable[[dict[str, Any]], str]]] = {
    ("cause", "all"): cause,
    ("slice", "kind"): lambda row: str(row["tags"]["kind"]),
    ("slice", "half"): lambda row: "early" if row["attempt"] < 4 else "(untagged)",
    ("family", "all"): lambda row: str(row["tags"].get("repo", "(no family)")),
}


def drawn_shares(
    labels: list[str | None], k: int
) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Share each draw of k that has a failure among its failures, by count, and mend each part."""
    shares: dict[str, Fraction] = defaultdict(Fraction)
    mended: dict[str, Fraction] = defaultdict(Fraction)
    every = list(combinations(labels, k))
    for drawn in every:
        failures = [label for label in drawn if label is not None]
        for label, times in Counter(failures).items():
            shares[label] += Fraction(times, len(failures) * len(every))
            mended[label] += Fraction(times == len(failures), len(every))
    return shares, mended


def shapley(labels: list[str | None], k: int) -> dict[str, Fraction]:
    """Add up what each failed attempt wins of pass^k when they are mended in every order."""
    places = [place for place, label in enumerate(labels) if label is not None]
    draws = [frozenset(drawn) & set(places) for drawn in combinations(range(len(labels)), k)]

    def pass_hat_k(mended: frozenset[int]) -> Fraction:
        return Fraction(sum(drawn <= mended for drawn in draws), len(draws))

    found: dict[str, Fraction] = defaultdict(Fraction)
    for place in places:
        others = [one for one in places if one != place]
        for size in range(len(others) + 1):
            weight = Fraction(
                factorial(size) * factorial(len(others) - size), factorial(len(places))
            )
            for chosen in map(frozenset, combinations(others, size)):
                found[str(labels[place])] += weight * (
                    pass_hat_k(chosen | {place}) - pass_hat_k(chosen)
                )
    return found


def expected(rows: Rows, label: Callable[[dict[str, Any]], str], k: int) -> dict[str, Any]:
    """Share out the loss of one run's tasks by drawing: exact fractions."""
    tasks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        tasks[row["task_id"]].append(row)
    lost: dict[str, Fraction] = defaultdict(Fraction)
    won: dict[str, Fraction] = defaultdict(Fraction)
    eligible, reached = 0, Fraction(0)
    for of_task in tasks.values():
        counted = [row for row in of_task if row["outcome"] != "excluded"]
        if len(counted) < k:
            continue
        eligible += 1
        labels = [None if row["outcome"] == "passed" else label(row) for row in counted]
        c = labels.count(None)
        reached += Fraction(comb(c, k), comb(len(labels), k))
        shares, mended = drawn_shares(labels, k)
        for part in shares:
            lost[part] += shares[part]
            won[part] += mended[part]
    return {"eligible": eligible, "pass_hat_k": reached / eligible, "lost": lost, "won": won}


def test_equal_parts_are_the_shapley_value_and_the_mean_over_draws() -> None:
    for labels in (
        [None, None, "a", "b", "a"],
        ["a", "b", "b"],
        [None, "a", None, "b", "c", "b"],
        [None, None, None, "a"],
    ):
        n, failures = len(labels), [label for label in labels if label is not None]
        for k in range(1, n + 1):
            loss = 1 - Fraction(comb(n - len(failures), k), comb(n, k))
            parts = {
                part: loss * Fraction(times, len(failures))
                for part, times in Counter(failures).items()
            }
            assert shapley(labels, k) == parts
            assert {
                part: share for part, share in drawn_shares(labels, k)[0].items() if share
            } == parts


@pytest.mark.parametrize("place", [place for place in LABELS if place[0] != "family"])
def test_shares_are_those_of_all_draws(
    built: Project, attempts: Rows, place: tuple[str, str]
) -> None:
    told = 0
    for run in ("before", "after"):
        rows = [row for row in once(attempts) if row["run_id"] == run]
        for k in KS:
            found = built.records(
                f"select * from {built.relation('passk_lost_reliability')} where run_id = '{run}' and k = {k}"
                f" and dimension = '{place[0]}' and slice_name = '{place[1]}'"
            )
            exact = expected(rows, LABELS[place], k)
            whole = sum(exact["lost"].values())
            assert {row["part"] for row in found} == {
                LABELS[place](row)
                for row in rows
                if place[0] == "slice" or row["outcome"] != "passed"
            }
            for row in found:
                told += 1
                lost = exact["lost"][row["part"]]
                assert row["eligible_tasks"] == exact["eligible"]
                assert row["pass_hat_k"] == pytest.approx(float(exact["pass_hat_k"]), rel=1e-13)
                assert row["lost"] == pytest.approx(float(lost / exact["eligible"]), rel=1e-13)
                assert row["lost_share"] == pytest.approx(float(lost / whole), rel=1e-13)
                mended = exact["pass_hat_k"] + exact["won"][row["part"]] / exact["eligible"]
                assert row["pass_hat_k_if_passed"] == pytest.approx(float(mended), rel=1e-12)
                of_part = [one for one in rows if LABELS[place](one) == row["part"]]
                assert row["excluded_attempts"] == sum(
                    one["outcome"] == "excluded" for one in of_part
                )
            assert sum(row["lost_share"] for row in found) == pytest.approx(1, abs=1e-14)
    assert told >= 16


def limits_by_hand(draws: list[tuple[float, float]]) -> tuple[float, float]:
    """Give limits of a ratio of sums from (part, whole) of each draw, as docs/causes.md says."""
    total = sum(whole for _, whole in draws)
    share = sum(part for part, _ in draws) / total
    squared = sum(whole**2 for _, whole in draws)
    units, size = total**2 / squared, squared / total
    middle = (units * share + 1) / (units + 2)
    squares = sum(((part - share * whole) / size) ** 2 for part, whole in draws)
    squares += units * (share - middle) ** 2 + middle**2 + (1 - middle) ** 2
    reach = student_quantile(floor(units + 1.5), 0.95) * sqrt(squares / (units + 1) / (units + 2))
    return max(middle - reach, 0), min(middle + reach, 1)


@pytest.mark.parametrize("by_family", [False, True])
def test_limits_take_tasks_or_families_as_draws(attempts: Rows, *, by_family: bool) -> None:
    log = pl.DataFrame(once(attempts))
    found = pk.lost_reliability(
        log, [4], causes=CAUSES, cluster="repo" if by_family else None, min_eligible_share=0.2
    )
    rows = [
        row for row in once(attempts) if row["run_id"] == "before" and row["outcome"] != "excluded"
    ]
    draws: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    for task in sorted({row["task_id"] for row in rows}):
        of_task = [row for row in rows if row["task_id"] == task]
        n, failed = len(of_task), [row for row in of_task if row["outcome"] == "failed"]
        if n < 4:
            continue
        loss = 1 - comb(n - len(failed), 4) / comb(n, 4)
        draw = of_task[0]["tags"].get("repo", task) if by_family else task
        for part in {*REASONS.values()}:
            times = sum(cause(row) == part for row in failed)
            draws[part][draw][0] += loss * times / len(failed) if failed else 0.0
            draws[part][draw][1] += loss
    told = found.filter(run_id="before", dimension="cause")
    assert told.height >= 7
    for row in told.iter_rows(named=True):
        lower, upper = limits_by_hand(
            [(part, whole) for part, whole in draws[row["part"]].values()]
        )
        assert (row["lost_share_lower"], row["lost_share_upper"]) == pytest.approx(
            (lower, upper), rel=1e-11
        )


def test_nothing_lost_has_no_shares(built: Project) -> None:
    found = built.records(
        f"select * from {built.relation('passk_lost_reliability')} where run_id = 'perfect' and dimension = 'cause' order by k"
    )
    assert [row["k"] for row in found] == KS
    for row in found:
        assert (row["part"], row["excluded_attempts"], row["lost_share"]) == (
            "environment",
            3,
            None,
        )
        if row["k"] <= 4:
            assert (row["lost"], row["pass_hat_k_if_passed"]) == (0, 1)
            assert row["null_reason"] == "nothing is lost: no counted attempt of these tasks failed"
        else:
            assert (row["lost"], row["null_reason"]) == (None, "n < 6 in 3 of 3 tasks")


def compared(built: Project, log: Rows, variables: dict[str, Any]) -> None:
    """Hold the table against what polars makes of the same log."""
    frame = pl.DataFrame(once(log)).with_columns(
        half=pl.when(pl.col("attempt") < 4).then(pl.lit("early"))
    )
    mine = pk.lost_reliability(
        frame, KS, causes=CAUSES, slices=["kind", "half"], cluster=variables.get("passk_cluster"),
        min_eligible_share=0.2,
    )  # fmt: skip
    stored = pl.DataFrame(
        built.records(
            f"select {', '.join(mine.columns)} from {built.relation('passk_lost_reliability')}"
        ),
        schema=mine.schema,
    )
    key = (*PLACE, "k")
    assert_frame_equal(
        stored.sort(key), mine.sort(key), check_row_order=False, rel_tol=1e-9, abs_tol=1e-12
    )


def test_table_agrees_with_polars(built: Project, attempts: Rows) -> None:
    compared(built, attempts, VARS)


@pytest.mark.long
def test_families_agree_too(built: Project, attempts: Rows) -> None:
    built.run(FAMILIES, select=["+passk_lost_reliability"])
    compared(built, attempts, FAMILIES)
    found = built.records(
        f"select * from {built.relation('passk_lost_reliability')} where dimension = 'family' and run_id = 'after'"
    )
    rows = [row for row in once(attempts) if row["run_id"] == "after"]
    for row in found:
        exact = expected(rows, LABELS["family", "all"], row["k"])
        assert row["lost"] == pytest.approx(
            float(exact["lost"][row["part"]] / exact["eligible"]), rel=1e-12
        )
        assert row["lost_share_lower"] is None
        # All failures of its tasks are the family's.
        assert row["pass_hat_k_if_passed"] == pytest.approx(
            row["pass_hat_k"] + row["lost"], rel=1e-12
        )
    assert {row["part"] for row in found} == {"(no family)", "f0", "f1", "f2", "f3"}


def test_a_late_attempt_changes_its_run_alone(
    make_project: Callable[[], Project], attempts: Rows
) -> None:
    made = make_project()
    made.land(attempts)
    made.run(VARS, select=["+passk_lost_reliability"])
    late = {
        **attempts[0],
        "run_id": "after",
        "task_id": "t0",
        "attempt": 60,
        "outcome": "failed",
        "outcome_reason": "judge died",
        "loaded_at": datetime(2026, 6, 1, tzinfo=UTC),
    }
    made.land([late])
    made.run(VARS, select=["+passk_lost_reliability"])
    compared(made, [*attempts, late], VARS)


@pytest.mark.parametrize("word", ["environment", "limit", "agent", "grader", "user_simulator"])
def test_patterns_name_each_cause(word: str) -> None:
    assert word in PATTERNS.values()


@pytest.mark.parametrize(
    ("reason", "cause_of_it"),
    [
        ("AgentTimeoutError", "limit"),
        ("EnvironmentStartTimeoutError", "environment"),
        ("VerifierTimeoutError", "grader"),
        ("NonZeroAgentExitCodeError", "agent"),
        ("error: SandboxDiedError", "environment"),
        ("message_limit", "limit"),
        ("context_window_exceeded", "limit"),
        ("too_many_errors", "limit"),
        ("max_steps", "limit"),
        ("user_error", "user_simulator"),
        ("infrastructure_error", "environment"),
        ("rate limit reached", "environment"),
        ("api_timeout", "environment"),
        ("fatal_llm_parse_error", "agent"),
        ("parse_error", "grader"),
        ("grader_error", "grader"),
        ("empty_patch", "agent"),
        ("budget_exhausted", "limit"),
        ("java.net.ConnectException", "environment"),
        ("error", "unknown"),
        ("", "unknown"),
    ],
)
def test_words_of_harnesses_have_causes(reason: str, cause_of_it: str) -> None:
    assert cause_finder({})(reason) == cause_of_it


@pytest.mark.parametrize(
    "causes", [["timeout"], {"timeout": 3}, {"": "limit"}, {"timeout": ""}, "timeout"]
)
def test_wrong_causes_are_refused(causes: Any) -> None:
    with pytest.raises(pk.ArgumentError, match="causes must map patterns of reasons to causes"):
        pk.lost_reliability(pl.DataFrame(some_log()), [1], causes=causes)


def test_a_log_without_reasons_blames_the_agent() -> None:
    log = pl.DataFrame(
        {"run_id": "r", "task_id": "t", "attempt": [1, 2, 3], "passed": [True, False, None]}
    )
    found = pk.lost_reliability(log, [1, 2]).select(
        "part", "k", "lost", "lost_share", "excluded_attempts"
    )
    assert found.rows() == [
        ("agent", 1, 0.5, 1.0, 0),
        ("unknown", 1, 0.0, 0.0, 1),
        ("agent", 2, 1.0, 1.0, 0),
        ("unknown", 2, 0.0, 0.0, 1),
    ]


def test_parts_follow_from_counts_by_reason(attempts: Rows) -> None:
    """Counts are made by hand here, and in polars from the attempts there."""
    task = ("run_id", "suite", "task_id")
    tasks: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    by_reason: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for row in once(attempts):
        place = tuple(row[name] for name in task)
        tasks[place][row["outcome"]] += 1
        if row["outcome"] != "passed":
            by_reason[*place, row["outcome_reason"], row["outcome"]][row["outcome"]] += 1
    counts = pl.DataFrame(
        [(*place, of["passed"] + of["failed"], of["passed"], of["excluded"]) for place, of in tasks.items()],
        schema=[*task, "n", "c", "excluded"],
        orient="row",
    )  # fmt: skip
    failures = pl.DataFrame(
        [(*place, reason, of["failed"], of["excluded"]) for (*place, reason, _), of in by_reason.items()],
        schema=[*task, "outcome_reason", "failures", "excluded"],
        orient="row",
    )  # fmt: skip
    found = counted_parts_of_counts(counts, failures, CAUSES)
    parts = counted_parts(pl.DataFrame(once(attempts)), {}, None, CAUSES)
    assert found.height > 40
    assert_frame_equal(found, parts, check_row_order=False)
