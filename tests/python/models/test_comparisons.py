"""Comparisons of two runs: the tables against polars, pairs, and how often they are wrong."""

from __future__ import annotations

import math
import random
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import product
from math import comb
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conftest import Project

Rows = list[dict[str, Any]]

KS: Final = [1, 2, 4, 5]
VARS: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 4,
    "passk_create_sql_functions": False,
    "passk_ordered_metrics": False,
}
MODELS: Final = ("passk_comparisons", "passk_task_comparisons")
START: Final = datetime(2026, 1, 1)


def counted(run: str, task: str, n: int, c: int, **more: Any) -> Rows:
    """Give n attempts of a task, the first c of them passed."""
    return [
        {
            "run_id": run,
            "task_id": task,
            "attempt": number + 1,
            "outcome": "passed" if number < c else "failed",
            **more,
        }
        for number in range(n)
    ]


def run_of(name: str, tasks: Iterable[tuple[int, int]], **more: Any) -> Rows:
    """Give a run from the n and c of its tasks."""
    return [
        row
        for number, (n, c) in enumerate(tasks)
        for row in counted(name, f"t{number:02}", n, c, **more)
    ]


def build(project: Project, variables: dict[str, Any], **more: Any) -> Any:
    """Build the comparisons and what they need, and no more."""
    return project.run({**VARS, **variables}, select=[f"+{model}" for model in MODELS], **more)


def check(project: Project, variables: dict[str, Any]) -> None:
    """Run the tests of the comparisons' data."""
    project.run({**VARS, **variables}, command="test", select=MODELS)


def comparisons(project: Project, where: str = "true", columns: str = "*") -> Rows:
    return project.records(
        f"select {columns} from passk_comparisons where {where} "
        "order by suite, baseline_run_id, candidate_run_id, metric, k"
    )


def pairs(project: Project) -> list[tuple[str, ...]]:
    return project.query(
        "select distinct suite, baseline_run_id, candidate_run_id, pair_source "
        "from passk_comparisons order by all"
    )


def is_near(actual: Any, expected: Any) -> bool:
    if isinstance(actual, float) and isinstance(expected, float):
        return math.isclose(actual, expected, rel_tol=1e-9, abs_tol=1e-14)
    return actual == expected


# ---------------------------------------------------------------------------------------------
# the numbers


def noisy(seed: int, *, ragged: bool) -> Rows:
    """Make two runs of tasks of every kind, with excluded attempts and tasks in one run only."""
    chance = random.Random(seed)
    rows = []
    for run in ("old", "new"):
        for number in range(40):
            if (run, number) in {("old", 0), ("new", 1), ("new", 2)}:
                continue
            n = chance.choice([5, 6, 9]) if ragged else 8
            rate = chance.choice([0, 0.2, 0.5, 0.9, 1, 1])
            for attempt in range(n):
                outcome = "passed" if chance.random() < rate else "failed"
                rows.append({
                    "run_id": run, "suite": "s", "task_id": f"t{number}", "attempt": attempt + 1,
                    "outcome": outcome,
                })  # fmt: skip
            if chance.random() < 0.3:
                rows.append({**rows[-1], "attempt": n + 1, "outcome": "excluded"})
    return rows


@pytest.mark.long
@pytest.mark.parametrize("share", [1, 0])
@pytest.mark.parametrize("ragged", [False, True])
def test_sql_and_polars_agree(project: Project, ragged: bool, share: Any) -> None:
    log = noisy(7, ragged=ragged)
    # A task without a counted attempt in one run, or in both, and one beyond every k but the first.
    for task, old, new in (("none", "XX", "PP"), ("neither", "X", "X"), ("short", "PF", "F")):
        for run, letters in (("old", old), ("new", new)):
            log += [
                {
                    "run_id": run, "suite": "s", "task_id": task, "attempt": number + 1,
                    "outcome": {"P": "passed", "F": "failed", "X": "excluded"}[letter],
                }
                for number, letter in enumerate(letters)
            ]  # fmt: skip
    project.land(log)
    build(project, {
        "passk_min_eligible_share": share, "passk_minimum_change": 0.02, "passk_confidence": 0.9,
        "passk_pairs": [{"baseline": "old", "candidate": "new"}],
    })  # fmt: skip
    frame = pl.DataFrame([{k: v for k, v in row.items() if k != "loaded_at"} for row in log])
    expected = pk.compare(
        frame, "old", "new", ks=KS, min_eligible_share=share, minimum_change=0.02, confidence=0.9
    )
    names = ", ".join(expected.columns)
    actual = comparisons(project, columns=names)
    wanted = expected.sort("metric", "k").to_dicts()
    assert len(actual) == len(wanted) == 2 * len(KS)
    assert any(row["z"] is not None for row in wanted) == (share == 0)
    for row, other in zip(actual, wanted, strict=True):
        assert {n: v for n, v in row.items() if not is_near(v, other[n])} == {}, other
    by_task = pk.compare_tasks(frame, "old", "new", confidence=0.9)
    found = project.records(
        f"select {', '.join(by_task.columns)} from passk_task_comparisons order by task_id"
    )
    wanted = by_task.sort("task_id").to_dicts()
    assert len(found) == len(wanted) == 40
    assert any(row["moved"] for row in wanted)
    for row, other in zip(found, wanted, strict=True):
        assert {n: v for n, v in row.items() if not is_near(v, other[n])} == {}, other


def exact(counts: Iterable[tuple[int, int, int, int]], k: int) -> tuple[Fraction, Fraction]:
    """Give the sum of the differences of pass^k and its variance, as rationals."""
    total = variance = Fraction(0)
    for a, x, b, y in counts:
        ways = comb(a + b, b)
        total += Fraction(comb(y, k), comb(b, k)) - Fraction(comb(x, k), comb(a, k))
        for drawn in range(max(0, x + y - a), min(x + y, b) + 1):
            chance = Fraction(comb(x + y, drawn) * comb(a + b - x - y, b - drawn), ways)
            left = Fraction(comb(x + y - drawn, k), comb(a, k))
            variance += chance * (Fraction(comb(drawn, k), comb(b, k)) - left) ** 2
    return total, variance


def within(n: int, c: int, k: int) -> Fraction:
    """Give the unbiased variance within a task of its pass^k, as far as n attempts know it."""
    if n < 2 * k:
        return Fraction(0)
    return Fraction(comb(c, k), comb(n, k)) ** 2 - Fraction(comb(c, 2 * k), comb(n, 2 * k))


def test_z_and_limits_are_those_of_exact_rationals(project: Project) -> None:
    counts = [(8, 8, 8, 5), (8, 7, 6, 3), (5, 5, 9, 6), (8, 2, 8, 1), (8, 0, 8, 0), (8, 8, 8, 8),
              (6, 4, 6, 5), (7, 6, 8, 2), (8, 1, 8, 7), (8, 6, 8, 6), (8, 2, 8, 0), (8, 1, 6, 2),
              (9, 3, 8, 2), (7, 2, 7, 3), (8, 3, 5, 1)]  # fmt: skip
    project.land(run_of("old", [(a, x) for a, x, _, _ in counts]))
    project.land(run_of("new", [(b, y) for _, _, b, y in counts]))
    build(project, {"passk_baseline": "old"})
    found = comparisons(project, columns="metric, k, z, difference, difference_suite_lower")
    assert len(found) == 2 * len(KS)
    assert sum(row["z"] is None for row in found) == 0
    for row in found:
        table = counts
        if row["metric"] == "pass_at_k":
            table = [(a, a - x, b, b - y) for a, x, b, y in counts]
        total, variance = exact(table, row["k"])
        total = -total if row["metric"] == "pass_at_k" else total
        assert row["z"] == pytest.approx(float(total) / math.sqrt(variance), rel=1e-12)
        assert row["difference"] == pytest.approx(float(total / len(counts)), rel=1e-12)
        # The larger variance: if the runs were the same, or within them where n >= 2k; and the floor.
        passes = sum((within(n, c, row["k"]) for a, x, b, y in table for n, c in ((a, x), (b, y))))
        unseen = -math.log(0.025) / 1.959963984540054 * row["k"] / 5
        spread = float(max(variance, passes)) + max(0.5, unseen**2)
        limit = (float(total) - 1.959963984540054 * math.sqrt(spread)) / len(counts)
        # Where z decides on a rise, the limit would be cut at 0: none does here.
        assert row["difference_suite_lower"] == pytest.approx(limit, rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "tested"),
    [
        # Two tasks that fall alike are as few as decide, and one that falls far is not enough.
        ([8] * 8, [4, 4] + [8] * 6, False),
        ([8] * 2 + [6] * 6, [4, 4] + [6] * 6, True),
        ([8] * 2 + [6] * 6, [3, 4] + [6] * 6, False),
        ([8] + [6] * 7, [4] + [6] * 7, False),
        ([6] * 8, [6] * 8, True),
        ([8] * 8, [8] * 8, False),
        # One fell far, and more rose: it is not the one that the difference comes from.
        ([8] + [4] * 12, [0] + [5] * 12, False),
        # Of five that could come out differently, none of the others ever failed.
        ([6] * 5 + [8] * 3, [3] * 5 + [8] * 3, False),
        ([6] * 6 + [8] * 2, [3] * 6 + [8] * 2, True),
    ],
)
def test_z_is_null_where_it_is_far_from_normal(
    project: Project, old: list[int], new: list[int], tested: bool
) -> None:
    log = run_of("old", [(8, c) for c in old]) + run_of("new", [(8, c) for c in new])
    project.land(log)
    build(project, {"passk_ks": [1], "passk_deployment_k": 1, "passk_baseline": "old"})
    (row, _) = comparisons(project)
    assert (row["z"] is not None) == (row["p"] is not None) == tested
    again = pk.compare(pl.DataFrame(log), "old", "new", ks=[1])
    assert (again["z"].is_not_null().all(), again["meaning"][0]) == (tested, row["meaning"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("lost_before", "lost_after", "said"),
    [
        # One and two tasks of 40 are short: each run has a value, and so has their difference.
        (1, 2, None),
        (2, 2, None),
        (0, 3, "n < 4 in 3 of 40 tasks of both runs, in the candidate"),
        (3, 2, "n < 4 in 3 of 40 tasks of both runs, in the baseline"),
        (3, 4, "n < 4 in 7 of 40 tasks of both runs"),
    ],
)
def test_a_pair_has_a_difference_where_both_runs_have_a_value(
    project: Project, lost_before: int, lost_after: int, said: str | None
) -> None:
    # The tasks that each run lacks are others.
    old = [(3, 3)] * lost_before + [(4, 4)] * (40 - lost_before)
    new = [(4, 0)] * (40 - lost_after) + [(3, 0)] * lost_after
    log = run_of("old", old) + run_of("new", new)
    project.land(log)
    only = {"passk_ks": [4], "passk_deployment_k": 4, "passk_baseline": "old"}
    build(project, only)
    lost = lost_before + lost_after
    for row in comparisons(project):
        assert (row["null_reason"], row["eligible_tasks"]) == (said, 40 - lost)
        if said is None:
            assert row["difference"] == -1
            assert row["difference_suite_lower"] == pytest.approx(-1)
            # The others may have any difference.
            assert row["difference_suite_upper"] > (-(40 - lost) + lost) / 40
            assert row["caveat"].startswith(f"n < 4 in {lost} of 40 tasks of both runs, which")
    again = pk.compare(pl.DataFrame(log), "old", "new", ks=[4])
    assert again["null_reason"].to_list() == [said] * 2


def test_runs_without_a_long_task_in_common_have_no_figures(project: Project) -> None:
    """With a share this low either run has enough tasks, but no task is long enough in both."""
    log = run_of("old", [(3, 3), (4, 4)]) + run_of("new", [(4, 4), (3, 3)])
    project.land(log)
    only = {"passk_ks": [4], "passk_deployment_k": 4, "passk_baseline": "old"}
    build(project, {**only, "passk_min_eligible_share": 0.5})
    wanted = "n < 4 in 2 of 2 tasks of both runs"
    assert {row["null_reason"] for row in comparisons(project)} == {wanted}
    again = pk.compare(pl.DataFrame(log), "old", "new", ks=[4], min_eligible_share=0.5)
    assert set(again["null_reason"]) == {wanted}


def test_limits_for_tasks_like_these_are_students_with_two_more_tasks(project: Project) -> None:
    """The textbook's interval, for the ten differences and for 1 and -1."""
    project.land(run_of("old", [(4, 4)] * 5 + [(4, 2)] * 5))
    project.land(run_of("new", [(4, 1)] * 3 + [(4, 4)] * 5 + [(4, 0)] * 2))
    build(project, {"passk_ks": [1], "passk_deployment_k": 1, "passk_baseline": "old"})
    (row, _) = comparisons(project)
    values = [-0.75] * 3 + [0] * 2 + [0.5] * 3 + [-0.5] * 2 + [1, -1]
    mean = sum(values) / 12
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / 11)
    # The 97.5 % point of Student's t with 11 degrees of freedom, from the tables.
    reach = 2.2009851600916399 * deviation / math.sqrt(12)
    assert row["difference_lower"] == pytest.approx(mean - reach, rel=1e-12)
    assert row["difference_upper"] == pytest.approx(mean + reach, rel=1e-12)


@pytest.mark.long
def test_fishers_p_is_that_over_all_outcomes(project: Project) -> None:
    """Every pair of counts up to 5 and 4 attempts, each a task, against exact rationals."""
    counts = [
        (a, x, b, y)
        for a, b in ((1, 1), (2, 3), (5, 4), (4, 4), (12, 12))
        for x, y in product(range(a + 1), range(b + 1))
    ]
    for run, side in (("old", 0), ("new", 2)):
        project.land(run_of(run, [(one[side], one[side + 1]) for one in counts]))
    build(project, {"passk_baseline": "old"})
    found = {
        (row["baseline_n"], row["baseline_c"], row["candidate_n"], row["candidate_c"]): row
        for row in project.records("select * from passk_task_comparisons")
    }
    assert len(found) == len(counts)
    ps = {}
    for a, x, b, y in counts:
        ways = {
            j: comb(x + y, j) * comb(a + b - x - y, b - j)
            for j in range(max(0, x + y - a), min(x + y, b) + 1)
        }
        p = Fraction(sum(w for w in ways.values() if w <= ways[y]), comb(a + b, b))
        ps[a, x, b, y] = p
        assert found[a, x, b, y]["p"] == pytest.approx(float(p), rel=1e-12, abs=0)
    for (a, _, b, _), row in found.items():
        least = min(p for (n, _, m, _), p in ps.items() if (n, m) == (a, b))
        assert row["least_p"] == pytest.approx(float(least), rel=1e-12, abs=0)
        fallen = ps[a, row["baseline_c"], b, 0]
        assert row["least_p_of_fall"] == pytest.approx(float(fallen), rel=1e-12, abs=0)
        # Benjamini and Hochberg: the least q at which the task would be among those that are found.
        own = ps[a, row["baseline_c"], b, row["candidate_c"]]
        q = min(p * len(ps) / sum(o <= p for o in ps.values()) for p in ps.values() if p >= own)
        assert row["p_adjusted"] == pytest.approx(float(min(q, 1)), rel=1e-12, abs=0)
        assert row["moved"] == (q <= 0.05)


def test_no_rounding_takes_an_adjusted_p_below_p(project: Project) -> None:
    """Of tasks that are all alike the adjusted p is p, to the last bit; some of these lie just below 1."""
    log = [
        row
        for n in (4, 8, 12, 20)
        for c in range(n + 1)
        for run in ("old", "new")
        for row in run_of(run, [(n, c)] * 20, suite=f"{c} of {n}")
    ]
    project.land(log)
    build(project, {"passk_baseline": "old"})
    ps = project.query("select p, p_adjusted from passk_task_comparisons")
    assert any(0.999 < p < 1 for p, _ in ps)
    assert [pair for pair in ps if pair[0] != pair[1]] == []
    again = pk.compare_tasks(pl.DataFrame(log), "old", "new")
    assert again.filter(pl.col("p") > pl.col("p_adjusted")).is_empty()


# ---------------------------------------------------------------------------------------------
# pairs


def two_suites(project: Project) -> None:
    for suite, names in (("a", "123"), ("b", "12"), ("c", "3")):
        for name in names:
            project.land(run_of(f"r{name}", [(2, 1)], suite=suite))


def test_each_run_is_compared_with_the_one_before_it(project: Project) -> None:
    for order, (run, agent, started) in enumerate(
        [("c", "x", 1), ("b", "x", 2), ("a", "x", 3), ("p", None, None), ("o", None, 1), ("y", "y", 1)]
    ):  # fmt: skip
        time = None if started is None else START + timedelta(days=started)
        loaded = START + timedelta(hours=order)
        project.land(run_of(run, [(2, 1)], agent=agent, started_at=time, loaded_at=loaded))
    build(project, {})
    assert pairs(project) == [
        ("suite", "b", "a", "previous"),
        ("suite", "c", "b", "previous"),
        # Not both have started: the order in which they came.
        ("suite", "p", "o", "previous"),
    ]


def test_all_runs_are_compared_with_the_baseline(project: Project) -> None:
    two_suites(project)
    build(project, {"passk_baseline": "r1"})
    assert pairs(project) == [
        ("a", "r1", "r2", "baseline"),
        ("a", "r1", "r3", "baseline"),
        ("b", "r1", "r2", "baseline"),
    ]


@pytest.mark.long
def test_declared_pairs_hold_in_every_suite_that_has_both(project: Project) -> None:
    two_suites(project)
    declared = [
        {"baseline": "r2", "candidate": "r1"},
        {"baseline": "r2", "candidate": "r1", "suite": "a"},
        {"baseline": "r3", "candidate": "r1", "suite": "a"},
    ]
    build(project, {"passk_pairs": declared})
    wanted = [
        ("a", "r2", "r1", "declared"),
        ("a", "r3", "r1", "declared"),
        ("b", "r2", "r1", "declared"),
    ]
    assert pairs(project) == wanted
    build(project, {"passk_pairs": declared, "passk_baseline": "r3"})
    assert pairs(project) == [
        wanted[0],
        wanted[1],
        ("a", "r3", "r2", "baseline"),
        wanted[2],
    ]
    # The declared pair goes before the baseline's.
    build(project, {"passk_pairs": declared[2:], "passk_baseline": "r3"})
    assert pairs(project) == [("a", "r3", "r1", "declared"), ("a", "r3", "r2", "baseline")]


@pytest.mark.long
def test_a_run_that_the_log_does_not_have_is_named(project: Project) -> None:
    two_suites(project)
    build(project, {
        "passk_pairs": [
            {"baseline": "r1", "candidate": "gone"},
            {"baseline": "gone", "candidate": "r3", "suite": "a"},
            {"baseline": "gone", "candidate": "lost"},
            {"baseline": "r1", "candidate": "r3", "suite": "c"},
        ],
    })  # fmt: skip
    found = project.query(
        "select distinct suite, baseline_run_id, candidate_run_id, verdict, null_reason "
        "from passk_comparisons where difference is null order by all"
    )
    assert found == [
        ("(unknown)", "gone", "lost", "insufficient", "the suite has no attempt of either run"),
        ("a", "gone", "r3", "insufficient", "the suite has no attempt of the baseline"),
        ("a", "r1", "gone", "insufficient", "the suite has no attempt of the candidate"),
        ("b", "r1", "gone", "insufficient", "the suite has no attempt of the candidate"),
        ("c", "r1", "r3", "insufficient", "the suite has no attempt of the baseline"),
    ]
    assert project.query("select count(*) from passk_task_comparisons") == [(0,)]
    build(project, {"passk_baseline": "gone"})
    assert len(pairs(project)) == 6
    assert {row["null_reason"] for row in comparisons(project)} == {
        "the suite has no attempt of the baseline"
    }


def test_a_log_of_one_run_has_nothing_to_compare(project: Project) -> None:
    project.land(run_of("r", [(2, 1)]))
    build(project, {})
    check(project, {})
    for model in MODELS:
        assert project.query(f"select count(*) from {model}") == [(0,)]


def test_runs_without_a_common_task(project: Project) -> None:
    project.land(counted("old", "t", 2, 1) + counted("new", "u", 2, 1))
    build(project, {"passk_baseline": "old"})
    check(project, {"passk_baseline": "old"})
    (row, *_) = comparisons(project)
    assert (row["common_tasks"], row["baseline_only_tasks"], row["candidate_only_tasks"]) == (
        0,
        1,
        1,
    )
    assert (row["verdict"], row["null_reason"]) == ("insufficient", "no task is in both runs")


# ---------------------------------------------------------------------------------------------
# increments


def rows_of(project: Project, sql: str) -> list[tuple[Any, ...]]:
    return [
        tuple(round(v, 12) if isinstance(v, float) else v for v in row)
        for row in project.query(sql)
    ]


def snapshot(project: Project) -> dict[str, list[tuple[Any, ...]]]:
    return {
        model: rows_of(project, f"select * from {model} order by suite, baseline_run_id, "
                                f"candidate_run_id, {'metric, k' if 'task' not in model else 'task_id'}")
        for model in MODELS
    }  # fmt: skip


@pytest.mark.long
def test_increments_equal_a_full_build_whatever_changes(project: Project) -> None:
    """New runs, late attempts, runs that go, and other pairs."""
    hours = (START + timedelta(hours=n) for n in range(1, 100))

    def made_of() -> list[Any]:
        table = project.relation("int_passk__pair_sums")
        pair = "suite, baseline_run_id, candidate_run_id, pair_source"
        return project.query(
            f"select distinct {pair}, log_version, built_with from {table} order by all"
        )

    def step(variables: dict[str, Any], leaves_all: bool = False) -> None:
        before = made_of()
        build(project, variables)
        assert (made_of() == before) == leaves_all
        found = snapshot(project)
        build(project, variables, full_refresh=True)
        assert snapshot(project) == found

    build(project, {})
    for name in "abc":
        tasks = [(4, (number * ord(name)) % 5) for number in range(12)]
        project.land(run_of(name, tasks, loaded_at=next(hours)))
        # One run has no other to be compared with.
        step({}, leaves_all=name == "a")
    step({}, leaves_all=True)
    assert pairs(project) == [("suite", "a", "b", "previous"), ("suite", "b", "c", "previous")]
    late = counted("b", "t00", 9, 3, loaded_at=next(hours))[4:]
    project.land(late)
    step({})
    pair = {"baseline": "a", "candidate": "c"}
    step({"passk_pairs": [pair]})
    step({"passk_pairs": [pair, {"baseline": "a", "candidate": "z"}]})
    project.land(run_of("z", [(4, 2)] * 12, loaded_at=next(hours)))
    step({"passk_pairs": [pair, {"baseline": "a", "candidate": "z"}]})
    step({"passk_pairs": [pair], "passk_baseline": "a"})
    step(
        {"passk_pairs": [pair], "passk_baseline": "a", "passk_minimum_change": 0.3}, leaves_all=True
    )
    step({"passk_baseline": "a", "passk_confidence": 0.99})
    removed = next(hours)
    project.execute("delete from landing.attempts where run_id = 'c'")
    project.insert("landing.removed_tasks", [
        {"run_id": "c", "suite": "suite", "task_id": f"t{number:02}", "removed_at": removed}
        for number in range(12)
    ])  # fmt: skip
    step({"passk_baseline": "a"})
    assert pairs(project) == [("suite", "a", "b", "baseline"), ("suite", "a", "z", "baseline")]


def test_only_the_pairs_of_changed_runs_are_made_anew(project: Project) -> None:
    for number, name in enumerate("abc"):
        project.land(run_of(name, [(4, 2)] * 8, loaded_at=START + timedelta(hours=number)))
    build(project, {"passk_baseline": "a"})
    table = project.relation("int_passk__pair_sums")
    project.execute(f"update {table} set rate_difference = 7")
    project.land(counted("c", "new", 4, 1, loaded_at=START + timedelta(hours=9)))
    build(project, {"passk_baseline": "a"})
    kept = f"select distinct candidate_run_id from {table} where rate_difference = 7"
    assert project.query(kept) == [("b",)]


# ---------------------------------------------------------------------------------------------
# how often it is wrong


def beta(chance: random.Random) -> float:
    return chance.betavariate(0.5, 0.5)


def simulated(
    name: str,
    repetitions: int,
    tasks: int,
    n: int,
    change: Callable[[float, int], float],
) -> pl.DataFrame:
    """Make a suite for each repetition: a run, and another of tasks with changed chances."""
    chance = random.Random(name)
    names = ("suite", "run_id", "task_id", "attempt", "outcome")
    rows = []
    for repetition in range(repetitions):
        for task in range(tasks):
            rate = chance.betavariate(0.5, 0.5)
            for run, used in (("old", rate), ("new", change(rate, task))):
                for attempt in range(1, n + 1):
                    outcome = "passed" if chance.random() < used else "failed"
                    rows.append((f"{name} {repetition}", run, f"t{task}", attempt, outcome))
    return pl.DataFrame(rows, schema=list(names), orient="row")


@pytest.fixture(scope="module")
def many(make_project: Callable[[], Project]) -> Rows:
    """The comparisons of many suites in which nothing changed, and of many with a fall."""
    project = make_project()
    log = pl.concat([
        simulated("same", 300, 30, 5, lambda rate, _: rate),
        simulated("fall", 120, 50, 8, lambda rate, task: 0.3 * rate if task % 10 == 0 else rate),
    ])  # fmt: skip
    path = project.folder / "log.parquet"
    log.write_parquet(path)
    columns = ", ".join(log.columns)
    project.execute(
        f"insert into landing.attempts ({columns}, loaded_at) "
        f"select {columns}, timestamp '2026-01-01' from read_parquet('{path}')"
    )
    project.run({**VARS, "passk_baseline": "old"}, select=("+passk_comparisons",))
    return comparisons(project)


def test_without_a_change_one_in_twenty_is_called_one(many: Rows) -> None:
    """300 suites: of what is true of one in 20, chance shows more than 29 once in 1000 times."""
    for metric, k in product(("pass_at_k", "pass_hat_k"), (1, 2, 4)):
        found = [
            r
            for r in many
            if r["suite"].startswith("same") and (r["metric"], r["k"]) == (metric, k)
        ]
        assert len(found) == 300
        assert sum(row["verdict"] in ("regression", "improvement") for row in found) <= 29
        # Of what is true of 19 in 20, chance shows fewer than 273 once in 1000 times.
        inside = [r["difference_suite_lower"] <= 0 <= r["difference_suite_upper"] for r in found]
        assert sum(inside) >= 273
        like = [r["difference_lower"] <= 0 <= r["difference_upper"] for r in found]
        assert sum(like) >= 273


def test_a_fall_of_few_tasks_is_found_more_often_than_by_a_paired_t(many: Rows) -> None:
    """One task in ten falls to three tenths of its chance."""
    found = [
        r
        for r in many
        if r["suite"].startswith("fall") and (r["metric"], r["k"]) == ("pass_hat_k", 4)
    ]
    assert len(found) == 120
    by_permutation = sum(row["verdict"] == "regression" for row in found)
    by_paired_t = sum(row["difference_upper"] < 0 for row in found)
    assert by_permutation >= 2 * by_paired_t > 0


# ---------------------------------------------------------------------------------------------
# polars' own words


LOG: Final = pl.DataFrame([
    {"run_id": run, "task_id": f"t{task}", "attempt": number, "passed": number <= passes}
    for run, passes in (("old", 8), ("new", 6))
    for task in range(8)
    for number in range(1, 9)
])  # fmt: skip


def test_polars_students_quantiles_are_those_of_the_tables() -> None:
    from passk_py.stats.distributions import student_quantile

    for degrees, wanted in ((1, 12.706204736174705), (2, 4.3026527297494639), (3, 3.1824463052837096),
                            (10, 2.2281388519862747), (29, 2.0452296421327043)):  # fmt: skip
        assert student_quantile(degrees, 0.95) == pytest.approx(wanted, rel=1e-13)
    assert student_quantile(10**5, 0.95) == pytest.approx(1.959963984540054, abs=3e-5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"baseline": "new"}, "the baseline and the candidate are both 'new'"),
        ({"baseline": "gone"}, "there is no attempt of the run 'gone'"),
        ({"suite": "other"}, "there is no attempt of the run 'old' in the suite 'other'"),
        ({"ks": []}, "ks must be whole numbers from 1"),
        ({"ks": [True]}, "ks must be whole numbers from 1"),
        ({"confidence": 1}, "confidence must be between 0 and 1; got 1"),
        ({"minimum_change": 1}, "minimum_change must be from 0 to less than 1; got 1"),
        (
            {"min_eligible_share": "zero"},
            "min_eligible_share must be a number from 0 to 1; got 'zero'",
        ),
    ],
)
def test_polars_refuses_what_can_not_be_right(options: dict[str, Any], said: str) -> None:
    call = {"baseline": "old", "candidate": "new", **options}
    with pytest.raises(pk.PasskError, match="compare: ") as caught:
        pk.compare(LOG, **call)
    assert said in str(caught.value)


def test_runs_of_different_suites_are_not_compared() -> None:
    log = LOG.with_columns(suite=pl.col("run_id"))
    with pytest.raises(pk.PasskError, match="'old' and 'new' have no suite in common"):
        pk.compare_tasks(log, "old", "new")


def test_a_lazy_log_gives_the_same() -> None:
    assert pk.compare(LOG.lazy(), "old", "new").equals(pk.compare(LOG, "old", "new"))
    assert pk.compare_tasks(LOG.lazy(), "old", "new").equals(pk.compare_tasks(LOG, "old", "new"))
