"""Costs of runs: brute force over orders, tables against polars, and figures that are not known."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import permutations
from statistics import mean
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.stats.distributions import student_quantile
from passk_py.validation.check_all import validate_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

MEASURES: Final = ["cost_usd", "duration_s", "tokens"]
COST: Final = {"type": "cost", "run": "all", "severity": "ignore", "inconclusive": "ignore"}
INCREASE: Final = {**COST, "type": "cost_increase"}
GATES: Final = [
    {**COST, "name": "low", "metric": "cost_usd", "max": 9},
    {**COST, "name": "lower", "metric": "cost_usd", "max": 0.4},
    {**COST, "name": "near", "metric": "cost_usd", "max": 1.5},
    {**COST, "name": "tail", "metric": "duration_s", "statistic": "p95", "max": 5},
    {**COST, "name": "high tail", "metric": "cost_usd", "statistic": "p95", "max": 0.1},
    {**COST, "name": "success", "metric": "tokens", "statistic": "per_success", "max": 150},
    {**COST, "name": "dollars", "metric": "cost_usd", "statistic": "per_success", "max": 5},
    {**INCREASE, "name": "increase", "metric": "cost_usd", "max_increase": 0.1},
    {**INCREASE, "name": "much", "metric": "cost_usd", "max_increase": 30},
    {**INCREASE, "name": "named", "metric": "duration_s", "max_increase": 0.5, "baseline": "dear"},
    {**INCREASE, "name": "lost", "metric": "tokens", "max_increase": 0, "baseline": "nothing"},
]
VARS: Final = {
    "passk_gates": GATES,
    "passk_ks": [1, 2, 3, 4],
    "passk_deployment_k": 2,
    "passk_ordered_metrics": False,
    "passk_diagnostics": False,
    "passk_min_eligible_share": 0.8,
    "passk_costs": MEASURES,
    "passk_cluster": "repo",
}
TABLES: Final = (
    "passk_costs", "passk_cost_curves", "passk_task_costs", "passk_cost_comparisons", "passk_frontier",
)  # fmt: skip
UNSEEN: Final = -math.log(0.025) / 1.959963984540054


def some_log() -> Rows:
    """Tasks of all kinds; a cheap run, one that is slow and mostly unmeasured, families, gaps."""
    dice = random.Random(7)
    rows: Rows = []
    for run, factor in (("dear", 1.0), ("cheap", 0.2), ("slow, a,b", 1.05)):
        for task in range(24):
            rate = dice.choice([0.0, 0.3, 0.6, 0.9, 1.0])
            base = dice.lognormvariate(0, 0.7)
            for attempt in range(1, dice.choice([3, 5, 6, 8]) + 1):
                outcome = "passed" if dice.random() < rate else "failed"
                cost = (
                    factor
                    * base
                    * dice.lognormvariate(0, 0.3)
                    * (1.5 if outcome == "failed" else 1)
                )
                rows.append(
                    {
                        "run_id": run, "suite": "suite", "task_id": f"t{task}", "attempt": attempt,
                        "outcome": "excluded" if task == 23 or dice.random() < 0.05 else outcome, "agent": "bot",
                        "cost_usd": None if dice.random() < 0.02 else cost,
                        "duration_s": None if run > "s" and dice.random() < 0.5 else dice.choice([1.0, 2.0, 3.0, 5.0]),
                        "input_tokens": None if run == "dear" else dice.randrange(100), "output_tokens": dice.randrange(10),
                        "tags": {"repo": f"f{task % 5}"} if task > 3 else {},
                    }
                )  # fmt: skip
    # A run whose attempts say nothing of what they cost.
    rows += [
        {"run_id": "mute", "suite": "suite", "task_id": f"t{task}", "attempt": 1, "outcome": "passed", "agent": "bot"}
        for task in range(24)
    ]  # fmt: skip
    rows += [
        {"run_id": "free", "suite": "suite", "task_id": f"t{task}", "attempt": 1, "outcome": "passed", "agent": "bot", "cost_usd": 0.0}
        for task in range(24)
    ]  # fmt: skip
    # Two whose failures do not say it: in half of the tasks, and in one of them.
    rows += [
        {
            "run_id": run, "suite": "suite", "task_id": f"t{task}", "attempt": attempt, "agent": "bot",
            "outcome": "failed" if task < failing and attempt == 1 else "passed",
            "cost_usd": None if task < failing and attempt == 1 else 20.0 if task < 12 else 1.0,
        }
        for run, failing in (("untold", 12), ("untold by one", 1))
        for task in range(24)
        for attempt in range(1, 11)
    ]  # fmt: skip
    # Two of which some excluded attempts say it: of 48 a quarter, and a half.
    rows += [
        {
            "run_id": run, "suite": "suite", "task_id": f"t{task}", "attempt": attempt, "agent": "other",
            "outcome": "passed" if attempt < 5 else "excluded",
            "cost_usd": 2.0 if attempt < 5 else 1.0 if attempt == 5 and task % every == 0 else None,
        }
        for run, every in (("unpaid", 2), ("paid", 1))
        for task in range(24)
        for attempt in range(1, 7)
    ]  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def attempts() -> Rows:
    return some_log()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Rows) -> Project:
    made = make_project()
    made.land(attempts)
    made.run(VARS)
    made.run(VARS, command="test", select=TABLES)
    return made


def test_the_tables_are_what_polars_makes_of_the_log(built: Project) -> None:
    report = validate_tables(built.database)
    found = {table.table: table for table in report.tables}
    assert all(found[name].rows > 5 for name in TABLES)
    assert [table.examples for table in report.tables if table.different] == []


def tried(costs: list[tuple[bool, Fraction]], k: int) -> tuple[Fraction, Fraction]:
    """Average the number of tries and what they cost over all orders of the attempts."""
    orders = list(permutations(costs))
    tries = spent = Fraction(0)
    for order in orders:
        for passed, cost in order[:k]:
            tries += 1
            spent += cost
            if passed:
                break
    return tries / len(orders), spent / len(orders)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_retries_are_the_mean_over_all_orders(n: int) -> None:
    dice = random.Random(n)
    for c in range(n + 1):
        costs = [Fraction(dice.randrange(1, 40), 8) for _ in range(n)]
        log = pl.DataFrame(
            {
                "run_id": "r", "task_id": "t", "attempt": range(1, n + 1),
                "passed": [place < c for place in range(n)], "cost_usd": [float(cost) for cost in costs],
            }
        )  # fmt: skip
        both = [(place < c, cost) for place, cost in enumerate(costs)]
        for row in pk.task_costs(log, ks=range(1, n + 1)).iter_rows(named=True):
            tries, spent = tried(both, row["k"])
            assert row["tries"] == pytest.approx(float(tries), rel=1e-14)
            assert row["retry_cost"] == pytest.approx(float(spent), rel=1e-14)
            assert row["series_cost"] == pytest.approx(float(row["k"] * sum(costs) / n), rel=1e-14)


def test_retries_in_sql_are_the_mean_over_all_orders(built: Project, attempts: Rows) -> None:
    told = 0
    for row in built.records(
        f"select * from {built.relation('passk_task_costs')}"
        " where run_id = 'cheap' and measure = 'tokens' and n <= 6 and retry_cost is not null"
    ):
        of_task = [
            (one["outcome"] == "passed", Fraction(one["input_tokens"] + one["output_tokens"]))
            for one in attempts
            if (one["run_id"], one["task_id"]) == ("cheap", row["task_id"])
            and one["outcome"] != "excluded"
        ]
        tries, spent = tried(of_task, row["k"])
        assert row["tries"] == pytest.approx(float(tries), rel=1e-14)
        assert row["retry_cost"] == pytest.approx(float(spent), rel=1e-13)
        told += 1
    assert told > 40


def test_tasks_whose_outcomes_say_no_cost_are_few_or_nothing_is_said(built: Project) -> None:
    of_runs = {
        row["run_id"]: row
        for row in built.records(
            f"select * from {built.relation('passk_costs')} where run_id like 'untold%'"
        )
    }
    untold, by_one = of_runs["untold"], of_runs["untold by one"]
    # 228 of 240 attempts are known, but the mean of the others' tasks would be 1 in the place of 10.5.
    assert untold["coverage"] == 0.95
    assert untold["mean"] is untold["p95"] is untold["per_success"] is None
    said = "no passed, or no failed, attempt has cost_usd in"
    assert untold["null_reason"] == f"{said} 12 of 24 tasks"
    assert by_one["mean"] == pytest.approx((11 * 20 + 12) / 23, rel=1e-12)
    assert by_one["caveat"] == (
        f"239 of 240 counted attempts have cost_usd; {said} 1 of 24 tasks, which are left out"
    )
    curves = {
        row["k"]: row
        for row in built.records(
            f"select * from {built.relation('passk_cost_curves')} where run_id = 'untold by one'"
        )
    }
    assert curves[4]["eligible_tasks"] == 23
    assert (
        curves[4]["caveat"]
        == "n < 4 or no cost_usd of an outcome in 1 of 24 tasks, which are left out"
    )


def test_a_success_has_no_cost_where_that_of_excluded_attempts_is_not_known(built: Project) -> None:
    costs = f"select * from {built.relation('passk_costs')} where run_id in ('paid', 'unpaid')"
    paid, unpaid = sorted(built.records(costs), key=lambda row: str(row["run_id"]))
    # 120 of 144 attempts are known, and 108 of 144: more and less than .8.
    assert paid["per_success"] == pytest.approx((96 * 2 + 24) / 96, rel=1e-12)
    assert paid["caveat"] == "96 of 96 counted attempts have cost_usd, and 24 of 48 excluded ones"
    assert (
        unpaid["per_success"] is unpaid["per_success_lower"] is unpaid["per_success_upper"] is None
    )
    assert (unpaid["mean"], unpaid["p95"], unpaid["spent"]) == (2.0, 2.0, 204.0)
    said = (
        "96 of 96 counted attempts have cost_usd, and only 12 of 48 excluded ones, "
        "too few to know what a success costs"
    )
    assert (unpaid["caveat"], unpaid["null_reason"]) == (said, None)
    gates = built.records(
        f"select * from {built.relation('passk_gates')} where gate = 'dollars' and run_id = 'unpaid'"
    )
    assert [(row["result"], row["reason"], row["to_settle"]) for row in gates] == [
        ("inconclusive", f"There is no such figure: {said}.", "Attempts that say it.")
    ]


def test_totals_are_what_the_attempts_say(built: Project, attempts: Rows) -> None:
    for row in built.records(
        f"select * from {built.relation('passk_costs')} where measure = 'cost_usd'"
    ):
        mine = [one for one in attempts if one["run_id"] == row["run_id"]]
        assert row["spent"] == pytest.approx(
            math.fsum(one["cost_usd"] or 0 for one in mine), rel=1e-13
        )
        failed = math.fsum(one["cost_usd"] or 0 for one in mine if one["outcome"] == "failed")
        assert row["spent_on_failures"] == pytest.approx(failed, rel=1e-13)
        if row["run_id"] == "free":
            assert (row["spent"], row["share_on_failures"]) == (0, None)
        else:
            assert row["share_on_failures"] == pytest.approx(failed / row["spent"], rel=1e-13)
        counted = [one for one in mine if one["outcome"] != "excluded"]
        measured = sum(one["cost_usd"] is not None for one in counted)
        assert row["coverage"] == pytest.approx(measured / len(counted))
        said = row["caveat"] or row["null_reason"]
        assert (said is None) == all(one["cost_usd"] is not None for one in mine)


def test_a_success_of_a_task_costs_nothing_unless_all_attempts_say_theirs(
    built: Project, attempts: Rows
) -> None:
    kinds = set()
    of_tasks: dict[tuple[str, str], Rows] = {}
    for row in attempts:
        of_tasks.setdefault((row["run_id"], row["task_id"]), []).append(row)
    for row in built.records(f"select * from {built.relation('passk_tasks')}"):
        own = of_tasks[row["run_id"], row["task_id"]]
        costs = [one["cost_usd"] for one in own if one.get("cost_usd") is not None]
        passed = sum(one["outcome"] == "passed" for one in own)
        kinds.add((len(costs) == len(own), bool(costs), passed > 0))
        if passed and len(costs) == len(own):
            assert row["cost_per_success_usd"] == pytest.approx(sum(costs) / passed)
        else:
            assert row["cost_per_success_usd"] is None
    assert {(True, True, True), (False, True, True), (True, True, False)} <= kinds


def test_a_run_without_costs_has_no_row_and_one_with_few_no_figures(built: Project) -> None:
    rows = built.records(f"select * from {built.relation('passk_costs')}")
    assert not [row for row in rows if row["run_id"] == "mute"]
    slow = next(
        row for row in rows if (row["run_id"], row["measure"]) == ("slow, a,b", "duration_s")
    )
    assert slow["spent"] > 0
    assert slow["mean"] is slow["p95"] is slow["per_success"] is None
    assert (
        slow["null_reason"]
        == f"only {slow['measured']} of {slow['n']} counted attempts have duration_s"
    )
    curves = built.records(
        f"select * from {built.relation('passk_cost_curves')} where run_id like 'slow%' and measure = 'duration_s'"
    )
    assert {row["null_reason"] for row in curves} == {slow["null_reason"]}
    compared = built.records(f"select * from {built.relation('passk_cost_comparisons')}")
    mute = [row for row in compared if "mute" in (row["baseline_run_id"], row["candidate_run_id"])]
    assert mute
    assert {row["verdict"] for row in mute} == {"insufficient"}


def even_log(costs: list[list[tuple[bool, float]]], **more: Any) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"run_id": "r", "task_id": f"t{task}", "attempt": number, "passed": passed, "cost_usd": cost, **more}
            for task, tries in enumerate(costs)
            for number, (passed, cost) in enumerate(tries, 1)
        ]
    )  # fmt: skip


def by_hand(x: list[float], y: list[float], reach: float) -> tuple[float, float, float]:
    """Work out a ratio with its limits, as docs/costs.md has them."""
    number, ratio = len(x), sum(x) / sum(y)
    apart = [one / mean(x) - other / mean(y) for one, other in zip(x, y, strict=True)]
    squares = sum(z * z for z in apart) + max(2 * max(z * z for z in apart), (UNSEEN * reach) ** 2)
    error = student_quantile(number - 1, 0.95) * math.sqrt(squares / number / (number - 1))
    return ratio, ratio * math.exp(-error), ratio * math.exp(error)


def test_limits_are_those_of_the_formula() -> None:
    dice = random.Random(3)
    costs = [
        [(dice.random() < 0.7, dice.lognormvariate(0, 1)) for _ in range(4)] for _ in range(15)
    ]
    row = pk.run_costs(even_log(costs)).row(0, named=True)
    spent = [sum(cost for _, cost in tries) for tries in costs]
    passes = [float(sum(passed for passed, _ in tries)) for tries in costs]
    for figure, expected in (
        ("mean", by_hand([one / 4 for one in spent], [1.0] * 15, 0)),
        ("per_success", by_hand(spent, passes, 1)),
    ):
        told = tuple(row[f"{figure}{end}"] for end in ("", "_lower", "_upper"))
        assert told == pytest.approx(expected, rel=1e-9)


def test_perfect_runs_of_one_price_still_may_fail_one_day() -> None:
    row = pk.run_costs(even_log([[(True, 2.0)] * 4] * 50)).row(0, named=True)
    assert (row["mean_lower"], row["mean_upper"]) == (2.0, 2.0)
    # With a chance of .025, 50 tasks all pass although only .928 of tasks like these do.
    assert row["per_success_upper"] > 2 / 0.025 ** (1 / 50)
    curve = pk.cost_curves(even_log([[(True, 2.0)] * 4] * 50), ks=[1, 4])
    first, fourth = curve.iter_rows(named=True)
    assert first["retry_cost_upper"] == 2.0
    assert fourth["retry_cost_upper"] > 2 * (1 + 3 * (1 - 0.025 ** (1 / 50)))


def test_one_task_has_no_limits_and_no_pass_no_cost_of_a_success() -> None:
    row = pk.run_costs(even_log([[(False, 2.0), (False, 3.0)]])).row(0, named=True)
    assert (row["mean"], row["p95"], row["spent_on_failures"]) == (2.5, 3.0, 5.0)
    assert (
        row["mean_lower"]
        is row["p95_lower"]
        is row["per_success"]
        is row["per_success_upper"]
        is None
    )
    curve = pk.cost_curves(even_log([[(False, 2.0), (False, 3.0)]]), ks=[2]).row(0, named=True)
    assert (curve["tries"], curve["retry_cost"], curve["cost_per_solved"]) == (2.0, 5.0, None)


def test_families_of_one_task_are_tasks_and_copies_of_tasks_say_no_more() -> None:
    dice = random.Random(4)
    costs = [
        [(dice.random() < 0.6, dice.lognormvariate(0, 1)) for _ in range(4)] for _ in range(12)
    ]
    alone = pk.run_costs(even_log(costs)).drop("families", "effective_families")
    lone = even_log(costs).with_columns(repo=pl.col("task_id"))
    assert pk.run_costs(lone, cluster="repo").drop("families", "effective_families").equals(alone)
    twice = pl.concat([lone, lone.with_columns(pl.col("task_id") + "-copy")])
    row = pk.run_costs(twice, cluster="repo").row(0, named=True)
    assert (row["families"], row["effective_families"]) == (12, 12.0)
    for name in ("mean_lower", "mean_upper", "per_success_lower", "per_success_upper"):
        assert row[name] == pytest.approx(alone.item(0, name), rel=1e-12)


def test_p95_counts_tasks_and_not_attempts() -> None:
    # 19 tasks of one attempt, and one that was tried a hundred times and is dear.
    many = [[(True, 1.0)]] * 19 + [[(True, 50.0)] * 100]
    row = pk.run_costs(even_log(many)).row(0, named=True)
    assert row["p95"] == 1.0
    assert row["p95_upper"] is None


def test_changes_are_said_in_the_words_of_their_measure() -> None:
    dice = random.Random(5)
    base = [[(True, dice.lognormvariate(0, 0.5)) for _ in range(3)] for _ in range(40)]
    old = even_log(base).with_columns(run_id=pl.lit("old"), duration_s=pl.col("cost_usd"))
    new = old.with_columns(
        run_id=pl.lit("new"),
        cost_usd=pl.col("cost_usd") * 0.16,
        duration_s=pl.col("duration_s") * 3,
    )
    rows = pk.compare_costs(
        pl.concat([old, new]), "old", "new", measures=["cost_usd", "duration_s"]
    )
    assert rows.select("measure", "verdict", "meaning").rows() == [
        ("cost_usd", "less", "84 % cheaper (84 to 84)."),
        ("duration_s", "more", "200 % more time (200 to 200)."),
    ]
    same = pk.compare_costs(pl.concat([old, old.with_columns(run_id=pl.lit("new"))]), "old", "new")
    assert same.item(0, "meaning") == "The same cost_usd to the percent."
    assert same.item(0, "verdict") == "inconclusive"
    free = old.with_columns(run_id=pl.lit("new"), cost_usd=pl.lit(0.0))
    none = pk.compare_costs(pl.concat([old, free]), "old", "new").row(0, named=True)
    assert (none["relative_change"], none["relative_change_lower"]) == (-1.0, None)
    assert none["meaning"] == (
        "100 % cheaper: in the candidate all are 0, so that there are no limits."
    )


WIDE: Final = (
    "67 % dearer, which chance alone can explain: from over 99 % cheaper to over 9999 % dearer."
)


def two_tasks() -> Rows:
    return [
        {
            "run_id": run, "suite": "suite", "task_id": task, "attempt": 1, "outcome": "passed", "agent": "bot", "cost_usd": cost,
        }
        for run, costs in (("1 old", (1.0, 2.0)), ("2 new", (3.0, 2.0)))
        for task, cost in zip("ab", costs, strict=True)
    ]  # fmt: skip


def test_limits_that_are_far_off_are_not_written_out() -> None:
    found = pk.compare_costs(pl.DataFrame(two_tasks()), "1 old", "2 new", confidence=0.99)
    assert found.item(0, "relative_change_upper") > 1e20
    assert found.item(0, "meaning") == WIDE


def test_limits_that_are_far_off_can_be_read(make_project: Callable[[], Project]) -> None:
    made = make_project()
    made.land(two_tasks())
    variables = {"passk_confidence": 0.99, "passk_ordered_metrics": False}
    made.run(variables, select=["+passk_cost_comparisons"])
    [row] = made.records(f"select meaning from {made.relation('passk_cost_comparisons')}")
    assert row["meaning"] == WIDE


def test_the_frontier_is_what_no_other_run_beats() -> None:
    dice = random.Random(6)
    runs = {"a": (0.9, 3.0), "b": (0.9, 1.0), "c": (0.5, 0.5), "d": (0.4, 2.0), "e": (0.2, 0.1)}
    log = pl.concat(
        even_log([[(dice.random() < rate, cost) for _ in range(6)] for _ in range(60)]).with_columns(run_id=pl.lit(run))
        for run, (rate, cost) in runs.items()
    )  # fmt: skip
    rows = {row["run_id"]: row for row in pk.cost_frontier(log, ks=[2]).iter_rows(named=True)}
    values = {run: (row["pass_hat_k"], row["mean_cost"]) for run, row in rows.items()}
    for run, (mine, cost) in values.items():
        beating = [
            other
            for other, (theirs, price) in values.items()
            if theirs >= mine and price <= cost and (theirs, price) != (mine, cost)
        ]
        assert rows[run]["is_on_frontier"] == (not beating)
        assert rows[run]["beaten_by"] == (", ".join(sorted(beating)) or None)
    assert rows["d"]["is_surely_beaten"]
    assert not rows["a"]["is_surely_beaten"]


@pytest.mark.parametrize(("price", "tries"), [(0.01, (29, 31)), (0.1, (17, 19)), (0.07, (61, 53))])
def test_no_run_costs_less_by_rounding(price: float, tries: tuple[int, int]) -> None:
    good, bad = (
        even_log([[(passed, price)] * n] * 30)
        for passed, n in zip((True, False), tries, strict=True)
    )
    log = pl.concat(
        [good.with_columns(run_id=pl.lit("good")), bad.with_columns(run_id=pl.lit("bad"))]
    )
    row = pk.cost_frontier(log, ks=[1]).row(by_predicate=pl.col("run_id") == "bad", named=True)
    assert row["beaten_by"] == "good"
    assert not row["is_surely_beaten"]


def test_wrong_options_are_refused() -> None:
    log = even_log([[(True, 1.0)]])
    with pytest.raises(pk.ArgumentError, match="measures must be a list of cost_usd"):
        pk.run_costs(log, measures=["price"])
    with pytest.raises(pk.PasskError, match="no suite in common"):
        pk.compare_costs(log, "r", "s")
    assert pk.run_costs(log.drop("cost_usd")).height == 0
    assert pk.run_costs(log, measures=[]).height == 0


def test_gates_say_each_result_in_words(built: Project) -> None:
    rows = {
        (row["gate"], row["run_id"]): row
        for row in built.records(f"select * from {built.relation('passk_gates')}")
    }
    assert {row["result"] for row in rows.values()} == {"pass", "fail", "inconclusive"}
    assert {row["scope"] for row in rows.values()} == {"unseen"}
    low, tail = rows["low", "cheap"], rows["high tail", "dear"]
    assert low["result"] == "pass"
    assert low["rule"] == "An attempt costs at most 9 US dollars on average, for tasks like these"
    assert low["reason"].startswith("An attempt costs 0.")
    assert low["reason"].endswith("): even the upper limit is within 9.")
    assert (tail["result"], tail["estimate_upper"]) == ("fail", None)
    assert tail["rule"] == "95 % of attempts cost at most 0.1 US dollars, for tasks like these"
    assert "to an unknown limit): even the lower limit is above 0.1." in tail["reason"]
    assert rows["low", "mute"]["reason"] == "No attempt of the run says it."
    assert rows["low", "free"]["reason"] == (
        "An attempt costs 0.0 US dollars on average (an unknown limit to an unknown limit): "
        "too little is known to judge by 9."
    )
    assert (
        rows["increase", "free"]["reason"]
        == "All are 0 in the run, for which there is no interval."
    )
    few = rows["tail", "slow, a,b"]
    assert few["result"] == "inconclusive"
    assert few["reason"].startswith("There is no such figure: only ")
    assert rows["much", "dear"]["result"] == "pass"
    assert rows["increase", "dear"]["result"] == "fail"
    assert rows["increase", "dear"]["rule"] == (
        "An attempt costs at most 10 % more than in the baseline, for tasks like these"
    )
    assert rows["lost", "cheap"]["rule"] == (
        "An attempt uses at most 0 % more tokens than in the baseline, for tasks like these"
    )
    assert rows["named", "dear"]["reason"] == "The run is the baseline."
    assert (
        rows["lost", "cheap"]["reason"]
        == "There is no change: no attempt of the baseline has tokens."
    )


@pytest.mark.long
def test_wrong_rules_are_named_by_dbt_and_python_alike(built: Project) -> None:
    wrong = [
        {"name": "a", "type": "cost", "metric": "price", "max": 1},
        {"name": "b", "type": "cost", "metric": "cost_usd", "max": 0},
        {"name": "c", "type": "cost", "metric": "cost_usd", "max": 1, "statistic": "median"},
        {"name": "d", "type": "cost_increase", "metric": "cost_usd"},
    ]
    with pytest.raises(pk.PasskError) as told:
        pk.judge_gates(even_log([[(True, 1.0)]]), wrong)
    said = built.refused({"passk_gates": wrong})
    for mistake in (
        'a: metric is "price", but must be one of cost_usd, duration_s, input_tokens, output_tokens, tokens.',
        "b: max is 0, but must be a number above 0.",
        'c: statistic is "median", but must be one of mean, p95, per_success.',
        "d: max_increase is null, but must be a share of the baseline, a number from 0.",
    ):
        assert mistake in str(told.value)
        name, _, rest = mistake.partition(": ")
        assert f'passk_gates, "{name}": {rest}' in said
    unlisted = [{"name": "e", "type": "cost", "metric": "tokens", "max": 1}]
    assert 'passk_gates, "e": passk_costs does not list tokens.' in built.refused(
        {"passk_gates": unlisted}
    )
