"""At least m of k: brute force over all draws, tables against polars, and what a wrong pair gets."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from math import comb, fsum, log
from statistics import NormalDist, mean
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
import passk_py.stats.estimators as est
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Project

Rows = list[dict[str, Any]]

PAIRS: Final = [(1, 1), (1, 3), (2, 3), (3, 3), (2, 4), (3, 5), (17, 32)]
GATE: Final = {"type": "threshold", "metric": "pass_m_of_k", "run": "all"}
GATES: Final = [
    {**GATE, "name": "low", "m": 2, "k": 3, "min": 0.2},
    {**GATE, "name": "these", "m": 2, "k": 3, "min": 0.2, "scope": "suite"},
    {**GATE, "name": "near", "m": 1, "k": 3, "min": 0.6, "scope": "suite"},
    {**GATE, "name": "high", "m": 2, "k": 4, "min": 0.97},
    {**GATE, "name": "each", "m": 2, "k": 3, "min": 0.4, "each": "kind"},
    {**GATE, "name": "short", "m": 17, "k": 32, "min": 0.5},
    {"name": "all", "type": "threshold", "metric": "pass_hat_k", "k": 3, "min": 0.3, "run": "all"},
]
VARS: Final = {
    "passk_ks": [1, 3, 4],
    "passk_deployment_k": 3,
    "passk_ordered_metrics": False,
    "passk_min_eligible_share": 0.5,
    "passk_slices": ["kind"],
    "passk_m_of_k": [{"m": m, "k": k} for m, k in PAIRS],
    "passk_gates": GATES,
}
FAMILIES: Final = {**VARS, "passk_cluster": "repo"}
PLACE: Final = ("run_id", "suite", "slice_name", "slice_value")


def some_log() -> Rows:
    """Tasks that are perfect, hopeless, between and short; two kinds, families, excluded attempts."""
    dice = random.Random(5)
    rows: Rows = []
    for run in ("before", "after"):
        for task in range(24):
            rate = dice.choice([0.0, 0.3, 0.6, 0.9, 1.0])
            for attempt in range(1, dice.choice([3, 5, 6, 8, 9, 40]) + 1):
                outcome = "passed" if dice.random() < rate else "failed"
                rows.append(
                    {
                        "run_id": run, "suite": "suite", "task_id": f"t{task}", "attempt": attempt,
                        "outcome": "excluded" if dice.random() < 0.05 else outcome, "agent": "bot",
                        "tags": {"kind": "odd" if task % 2 else "even", **({"repo": f"f{task % 5}"} if task > 3 else {})},
                    }
                )  # fmt: skip
    return rows


def draws(n: int, c: int, m: int, k: int) -> Fraction:
    """Count the draws of k out of n attempts, c of which pass, with at least m passes."""
    passes = [sum(place < c for place in drawn) for drawn in combinations(range(n), k)]
    return Fraction(sum(found >= m for found in passes), len(passes))


def halves(n: int, c: int, m: int, k: int) -> Fraction:
    """Count the draws of two separate groups of k with at least m passes in both."""
    good = found = 0
    for one in combinations(range(n), k):
        for other in combinations([place for place in range(n) if place not in one], k):
            found += 1
            good += all(sum(place < c for place in group) >= m for group in (one, other))
    return Fraction(good, found)


@pytest.fixture(scope="module")
def attempts() -> Rows:
    return some_log()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Rows) -> Iterator[Project]:
    made = make_project()
    made.land(attempts)
    made.run(VARS, select=["+passk_m_of_k", "+passk_suite_metrics", "+passk_gates"])
    made.run(VARS, command="test", select=["passk_m_of_k", "int_passk__m_of_k_states"])
    return made


def counts(rows: Rows) -> dict[str, dict[str, tuple[int, int]]]:
    """Count n and c of each task by run."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for row in rows:
        n, c = found.setdefault(row["run_id"], {}).get(row["task_id"], (0, 0))
        is_counted = row["outcome"] != "excluded"
        found[row["run_id"]][row["task_id"]] = (n + is_counted, c + (row["outcome"] == "passed"))
    return found


def exact(n: int, c: int, m: int, k: int) -> Fraction:
    return sum(
        (Fraction(comb(c, j) * comb(n - c, k - j), comb(n, k)) for j in range(m, k + 1)),
        Fraction(0),
    )


def test_states_count_all_draws(built: Project) -> None:
    found = built.records(
        "select n, c, k, m, estimate, var_estimate"
        f" from {built.relation('int_passk__m_of_k_states')}"
        " where metric = 'pass_m_of_k' and n <= 9 and k <= 5"
    )
    assert {(row["m"], row["k"]) for row in found} == set(PAIRS) - {(17, 32)}
    told = 0
    for row in found:
        n, c, m, k = row["n"], row["c"], row["m"], row["k"]
        if n < k:
            assert row["estimate"] is None
            continue
        chance = draws(n, c, m, k)
        assert row["estimate"] == pytest.approx(float(chance), rel=1e-14)
        if n < 2 * k:
            assert row["var_estimate"] is None
        elif k <= 3:
            told += 1
            within = max(chance**2 - halves(n, c, m, k), Fraction(0))
            assert row["var_estimate"] == pytest.approx(float(within), abs=1e-15)
    assert told > 40


def test_estimates_of_long_tasks_are_exact(built: Project) -> None:
    found = built.records(
        f"select * from {built.relation('int_passk__m_of_k_states')} where k = 32 and n >= 32"
    )
    assert {row["metric"] for row in found} == {"pass_m_of_k", "mg_pass_at_k"}
    for row in found:
        n, c = row["n"], row["c"]
        if row["metric"] == "pass_m_of_k":
            want = exact(n, c, 17, 32)
        else:
            want = Fraction(2, 32) * sum(exact(n, c, m, 32) for m in range(17, 33))
        assert row["estimate"] == pytest.approx(float(want), rel=1e-13)


def test_suites_are_means_with_the_limits_of_every_suite(built: Project, attempts: Rows) -> None:
    for run, tasks in counts(attempts).items():
        for m, k in PAIRS:
            (row,) = built.records(
                "select * from passk_m_of_k where slice_name = 'all' and metric = 'pass_m_of_k'"
                f" and run_id = '{run}' and m = {m} and k = {k}"
            )
            scores = [float(exact(n, c, m, k)) for n, c in tasks.values() if n >= k]
            assert (row["eligible_tasks"], row["total_tasks"]) == (len(scores), len(tasks))
            if len(scores) < 12:
                assert (row["estimate"], row["lower"]) == (None, None)
                assert row["null_reason"] == f"n < {k} in {24 - len(scores)} of 24 tasks"
                continue
            assert row["estimate"] == pytest.approx(mean(scores), rel=1e-13)
            both = [*scores, 0.0, 1.0]
            error = (
                fsum((one - mean(both)) ** 2 for one in both) / (len(both) - 1) / len(both)
            ) ** 0.5
            reach = student_quantile(len(both) - 1, 0.95) * error
            short = len(tasks) - len(scores)
            low = max(mean(both) - reach, 0) * len(scores) / len(tasks)
            high = (min(mean(both) + reach, 1) * len(scores) + short) / len(tasks)
            assert row["lower"] == pytest.approx(low, rel=1e-8)
            assert row["upper"] == pytest.approx(high, rel=1e-8)
            assert (row["caveat"] is not None) == (short > 0)


def test_one_of_k_and_all_of_k_are_pass_at_k_and_pass_hat_k(built: Project) -> None:
    rows = built.query(
        "select ends.metric, ends.k, ends.m, ends.estimate, ends.suite_lower, ends.lower,"
        " suites.pass_at_k, suites.pass_hat_k, suites.pass_at_k_suite_lower,"
        " suites.pass_hat_k_suite_lower, suites.pass_at_k_lower, suites.pass_hat_k_lower"
        " from passk_m_of_k as ends inner join passk_suite_metrics as suites"
        " using (run_id, suite, slice_name, slice_value, k)"
        " where ends.metric = 'pass_m_of_k' and ends.m in (1, ends.k)"
    )
    assert len(rows) == 2 * 3 * 3
    for _, k, m, estimate, suite_lower, lower, at, hat, *limits in rows:
        wanted = (hat, limits[1], limits[3]) if m == k else (at, limits[0], limits[2])
        assert [estimate, suite_lower, lower] == [
            value if value is None else pytest.approx(value, rel=1e-12) for value in wanted
        ]


def test_mean_over_majorities(built: Project, attempts: Rows) -> None:
    found = {
        (row["run_id"], row["k"]): row
        for row in built.records(
            "select * from passk_m_of_k where metric = 'mg_pass_at_k' and slice_name = 'all'"
        )
    }
    assert {k: row["m"] for (_, k), row in found.items()} == {3: 3, 4: 3, 5: 4, 32: 17}
    for run, tasks in counts(attempts).items():
        for k, least in ((3, 3), (4, 3), (5, 4)):
            scores = [
                Fraction(2, k) * sum(exact(n, c, m, k) for m in range(least, k + 1))
                for n, c in tasks.values()
                if n >= k
            ]
            want = float(sum(scores) / len(scores))
            assert found[run, k]["estimate"] == pytest.approx(want, rel=1e-13)


def test_the_sql_function_takes_columns(built: Project) -> None:
    states = [(n, c) for n in range(10) for c in range(n + 1)]
    for m, k in ((1, 1), (2, 3), (3, 5), (4, 4)):
        listed = ", ".join(f"({n}, {c}, {m}, {k})" for n, c in states)
        found = built.query(
            f"select n, c, pass_m_of_k(n, c, m, k) from (values {listed}) as states (n, c, m, k)"
        )
        for n, c, chance in found:
            want = float(exact(n, c, m, k)) if n >= k else None
            assert chance == (want if want is None else pytest.approx(want, rel=1e-13))
    (wrong,) = built.query(
        "select pass_m_of_k(4, 5, 1, 2), pass_m_of_k(4, 2, 3, 2), pass_m_of_k(4, 2, 0, 2)"
    )
    assert wrong == (None, None, None)


def frame(attempts: Rows) -> pl.DataFrame:
    tags = pl.Struct({"kind": pl.String, "repo": pl.String})
    return pl.DataFrame(attempts, schema_overrides={"tags": tags}, infer_schema_length=None)


def test_polars_gives_the_table(built: Project, attempts: Rows) -> None:
    key = (*PLACE, "metric", "k", "m")
    made = pk.m_of_k_metrics(frame(attempts), PAIRS, min_eligible_share=0.5, slices=["kind"]).sort(
        key
    )
    found = built.records(f"select * from passk_m_of_k order by {', '.join(key)}")
    assert made.height == len(found)
    for ours, row in zip(made.iter_rows(named=True), found, strict=True):
        for name, value in ours.items():
            wide = 1e-8 if name in ("lower", "upper") else 1e-12
            assert row[name] == (pytest.approx(value, rel=wide) if isinstance(value, float) else value), (name, row)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("variables", [VARS, FAMILIES], ids=["alone", "families"])
def test_validate_recomputes_it(
    make_project: Callable[[], Project], attempts: Rows, variables: dict[str, Any]
) -> None:
    project = make_project()
    project.land(attempts)
    project.run(variables)
    report = pk.validate_tables(project.database)
    tables = {table.table: table for table in report.tables}
    # Two runs, three places, seven pairs and a mean for each of four k.
    assert tables["passk_m_of_k"].rows == 2 * 3 * (7 + 4)
    assert report.examples == []
    project.execute("update passk_m_of_k set estimate = estimate + 1e-9 where m = 2")
    assert pk.validate_tables(project.database).different > 0


@pytest.mark.long
def test_families_are_draws(make_project: Callable[[], Project], attempts: Rows) -> None:
    project = make_project()
    project.land(attempts)
    project.run(FAMILIES, select=["+passk_m_of_k", "+passk_suite_metrics"])
    rows = project.query(
        "select ends.families, ends.effective_families, ends.lower, ends.upper, suites.families,"
        " suites.effective_families, suites.pass_hat_k_lower, suites.pass_hat_k_upper"
        " from passk_m_of_k as ends inner join passk_suite_metrics as suites"
        " using (run_id, suite, slice_name, slice_value, k)"
        " where ends.metric = 'pass_m_of_k' and ends.m = ends.k and k > 1"
    )
    assert len(rows) == 2 * 3
    for row in rows:
        assert row[0] < 15
        assert row[:4] == pytest.approx(row[4:], rel=1e-12)


def test_gates_follow_the_limits_of_the_table(built: Project) -> None:
    """The result of a gate, from the table's limits and what excluded attempts could change."""
    gates = built.records("select * from passk_gates where metric like 'pass_%_of_%'")
    assert len(gates) == 2 * 7
    results = {(row["gate"], row["result"]) for row in gates}
    assert {("low", "pass"), ("high", "fail"), ("short", "inconclusive")} <= results
    for row in gates:
        _, m, _, k = row["metric"].split("_")
        (chance,) = built.records(
            "select * from passk_m_of_k where metric = 'pass_m_of_k' and run_id = ? and k = ? and m = ?"
            " and slice_name = ? and slice_value = ?",
            row["run_id"], int(k), int(m), row["slice_name"], row["slice_value"],
        )  # fmt: skip
        infix = "suite_" if row["scope"] == "suite" else ""
        for name, of in (("estimate", "estimate"), ("estimate_lower", f"{infix}lower"), ("estimate_upper", f"{infix}upper")):  # fmt: skip
            assert row[name] == chance[of]
        assert row["rule"].startswith(f"{m}-of-{k} pass rate at least ")
        if row["result"] == "pass":
            assert row["estimate_lower"] >= row["threshold"]
        if row["result"] == "fail":
            assert row["estimate_upper"] < row["threshold"]


def test_excluded_attempts_move_the_limits_by_the_scores_they_would_make(built: Project) -> None:
    bounds = built.records(
        f"select * from {built.relation('int_passk__gate_bounds')} where slice_name = 'all'"
        " and metric = 'pass_2_of_3'"
    )
    assert {row["run_id"] for row in bounds} == {"before", "after"}
    for row in bounds:
        tasks = built.query(
            f"select n, c, excluded from {built.relation('int_passk__task_counts')}"
            " where run_id = ? and slice_name = 'all' and n >= 3 and excluded > 0",
            row["run_id"],
        )
        assert row["excluded"] == sum(x for _, _, x in tasks) > 0
        for passed, name in ((0, "change_if_failed"), (1, "change_if_passed")):
            change = sum(
                exact(n + x, c + passed * x, 2, 3) - exact(n, c, 2, 3) for n, c, x in tasks
            )
            assert row[name] == pytest.approx(float(change), rel=1e-12)


def test_polars_judges_gates_as_sql_does(built: Project, attempts: Rows) -> None:
    judged = pk.judge_gates(frame(attempts), GATES, k=3, min_eligible_share=0.5)
    found = built.records("select * from passk_gates")
    assert judged.height == len(found)
    key = ("gate", "run_id", "slice_value")
    by_key = {tuple(row[name] for name in key): row for row in found}
    for row in judged.iter_rows(named=True):
        sql = by_key[tuple(row[name] for name in key)]
        for name in ("rule", "metric", "k", "result", "tasks", "reason", "to_settle", "severity"):
            assert row[name] == sql[name], (row, sql)


MISTAKES: Final[list[tuple[dict[str, Any], str]]] = [
    ({"m": 2}, "pass_m_of_k takes both m and k: at least m of k tries succeed."),
    ({"k": 3}, "pass_m_of_k takes both m and k: at least m of k tries succeed."),
    ({"m": 4, "k": 3}, "m is 4 and k is 3, but m must be from 1 to k, and k up to 32."),
    ({"m": 2, "k": 33}, "m is 2 and k is 33, but m must be from 1 to k, and k up to 32."),
    ({"m": "2", "k": 3}, 'm is "2", but must be an integer of at least 1.'),
    ({"m": 2, "k": 3, "metric": "pass_hat_k"}, "m has no meaning without metric: pass_m_of_k."),
]


@pytest.mark.long
def test_both_readers_of_rules_tell_the_same_mistakes(make_project: Callable[[], Project]) -> None:
    rules = [
        {"name": f"g{place}", **GATE, "min": 0.5, **gate}
        for place, (gate, _) in enumerate(MISTAKES)
    ]
    with pytest.raises(pk.PasskError) as caught:
        pk.judge_gates(frame(some_log()), rules)
    variables = {
        "passk_ks": [1, 2, 3, 33],
        "passk_deployment_k": 3,
        "passk_m_of_k": [{"m": 2, "k": 3}],
    }
    said = make_project().refused({**variables, "passk_gates": rules})
    for place, (_, mistake) in enumerate(MISTAKES):
        assert f"g{place}: {mistake}" in str(caught.value)
        assert f'passk_gates, "g{place}": {mistake}' in said


@pytest.mark.long
def test_a_gate_needs_its_pair_in_the_table(make_project: Callable[[], Project]) -> None:
    rule = {"name": "g", **GATE, "min": 0.5, "m": 3, "k": 4}
    said = make_project().refused({"passk_gates": [rule], "passk_m_of_k": [{"m": 2, "k": 4}]})
    assert 'passk_gates, "g": passk_m_of_k does not list {m: 3, k: 4}.' in said


def test_no_estimate_is_above_one(built: Project) -> None:
    """Of many passes the chance is 1 but for rounding, which may be to either side."""
    states = [(n, c) for n in (100, 1000) for c in range(n // 2, n - 31, 7)]
    frame = pl.DataFrame(states, schema=["n", "c"], orient="row")
    listed = ", ".join(f"({n}, {c})" for n, c in states)
    for m, k in ((1, 26), (1, 32), (2, 32)):
        found = frame.select(est.pass_m_of_k("n", "c", m, k)).to_series().to_list()
        template = f"{{{{ passk.pass_m_of_k('n', 'c', {m}, {k}) }}}}"
        rows = built.query(
            f"select pass_m_of_k(n, c, {m}, {k}), {built.render(template)}"
            f" from (values {listed}) as states (n, c)"
        )
        for (n, c), chance, row in zip(states, found, rows, strict=True):
            want = pytest.approx(float(exact(n, c, m, k)), rel=1e-13)
            assert (chance, *row) == (want, want, want)
            assert max(chance, *row) <= 1
    assert built.query("select pass_m_of_k(1000, 500, 10, 33)") == [(None,)]


def test_polars_of_small_counts() -> None:
    for m, k in ((1, 1), (1, 4), (2, 4), (3, 4), (4, 4), (3, 6)):
        states = [(n, c) for n in range(10) for c in range(n + 1)]
        frame = pl.DataFrame(states, schema=["n", "c"], orient="row")
        found = frame.select(est.pass_m_of_k("n", "c", m, k)).to_series()
        for (n, c), chance in zip(states, found, strict=True):
            want = float(draws(n, c, m, k)) if n >= k else None
            assert chance == (want if want is None else pytest.approx(want, rel=1e-14))


def test_polars_of_large_counts() -> None:
    states = [(n, c) for n in (200, 10_000, 1_000_000) for c in (1, 20, n // 2, n - 20, n - 1, n)]
    frame = pl.DataFrame(states, schema=["n", "c"], orient="row")
    for m, k in ((1, 2), (3, 4), (5, 8), (17, 32), (32, 32)):
        found = frame.select(est.pass_m_of_k("n", "c", m, k)).to_series()
        for (n, c), chance in zip(states, found, strict=True):
            assert chance == pytest.approx(float(exact(n, c, m, k)), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(
    ("m", "k"), [(0, 2), (3, 2), (1, 33), (1.5, 2), (True, 2), (1, 0), ("1", 2), (1, "k")]
)
def test_polars_refuses_other_pairs(m: Any, k: Any) -> None:
    with pytest.raises(pk.ArgumentError, match=r"pass_m_of_k: [mk] must be a whole number"):
        est.pass_m_of_k("n", "c", m, k)


def test_counts_that_can_not_be_right_are_null() -> None:
    frame = pl.DataFrame({"n": [4.0, None, 4.0, 2.5, -1.0], "c": [5, 1, None, 1, 0]})
    assert frame.select(est.pass_m_of_k("n", "c", 1, 2)).to_series().to_list() == [None] * 5


@pytest.mark.long
def test_without_the_var_there_are_no_rows(make_project: Callable[[], Project]) -> None:
    project = make_project()
    project.land(some_log()[:40])
    project.run({**VARS, "passk_m_of_k": [], "passk_gates": []}, select=["+passk_m_of_k"])
    assert project.query("select count(*) from passk_m_of_k") == [(0,)]


def test_normal_limits_for_these_tasks(built: Project, attempts: Rows) -> None:
    """One run and pair by hand: the variances within, and the floor of a suite."""
    tasks = [(n, c) for n, c in counts(attempts)["after"].values() if n >= 1]
    (row,) = built.records(
        "select * from passk_m_of_k where run_id = 'after' and k = 1 and slice_name = 'all'"
    )
    within = sum(Fraction(c, n) ** 2 - Fraction(c * (c - 1), n * (n - 1)) for n, c in tasks)
    z = NormalDist().inv_cdf(0.975)
    unseen = -log(0.025) / z / min(n for n, _ in tasks)
    error = (float(within) + max(0.25, unseen**2)) ** 0.5 / len(tasks)
    assert row["suite_lower"] == pytest.approx(row["estimate"] - z * error, rel=1e-12)
