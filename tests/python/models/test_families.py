"""Families of tasks: limits by hand, tables against polars, and what a wrong declaration gets."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import defaultdict
from datetime import datetime, timedelta
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.metrics.diagnostics.families import permuted_deviate
from passk_py.reports.answer import find_answer
from passk_py.stats.distributions import student_quantile
from passk_py.warehouse.tables import open_tables

from ..conftest import BuildError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conftest import Project

Rows = list[dict[str, Any]]

KS: Final = [1, 2, 4]
BASE: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 2,
    "passk_create_sql_functions": False,
    "passk_ordered_metrics": False,
    "passk_min_eligible_share": 0.5,
    "passk_private_suites": [{"public": "open", "private": "held"}],
    "passk_plan_attempts": [2, 4],
    "passk_gates": [
        {"name": "high", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.9},
        {"name": "all", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.999},
        {"name": "low", "type": "threshold", "metric": "pass_at_k", "k": 2, "min": 0.3},
        {"name": "drop", "type": "drop", "metric": "pass_hat_k", "k": 2, "max_drop": 0.2, "scope": "unseen"},
    ],
}  # fmt: skip
VARS: Final = {**BASE, "passk_cluster": "repo", "passk_slices": ["kind"]}
START: Final = datetime(2026, 1, 1)
METRICS: Final = ("pass_at_k", "pass_hat_k")


def task(
    run: str, suite: str, name: str, family: str | None, verdicts: str, day: int
) -> Iterable[dict[str, Any]]:
    tags = {"kind": "long" if len(verdicts) > 5 else "short"}
    for attempt, verdict in enumerate(verdicts, 1):
        yield {
            "run_id": run, "suite": suite, "task_id": name, "attempt": attempt,
            "outcome": {"P": "passed", "F": "failed", "X": "excluded"}[verdict], "agent": "bot",
            "agent_version": run, "started_at": START + timedelta(days=day),
            "tags": tags | ({"repo": family} if family else {}),
        }  # fmt: skip


def log() -> Rows:
    """Families of 1 to 7 tasks, or of nearly all, lone and short tasks, excluded attempts, two runs."""
    dice = random.Random(8)
    rows: Rows = []
    for suite, families, lone in (("open", 9, 4), ("held", 5, 7), ("one", 1, 0), ("two", 1, 1)):
        tasks = []
        for family in range(families):
            rate = dice.choice([0.2, 0.6, 0.95])
            tasks += [
                (f"{'abcdefghi'[family]}{number}", f"f{family}", rate)
                for number in range(
                    dice.randint(1, 7)
                    if suite in ("open", "held")
                    else {"one": 12, "two": 40}[suite]
                )
            ]
        tasks += [(f"z{number}", None, dice.random()) for number in range(lone)]
        for day, run in enumerate(("before", "after")):
            for name, family, rate in tasks:
                verdicts = "".join(
                    "X"
                    if dice.random() < 0.04
                    else "P"
                    if dice.random() < rate - 0.1 * day
                    else "F"
                    for _ in range(dice.choice([3, 5, 6, 8]))
                )
                rows += task(run, suite, name, family, verdicts, day)
    return rows


@pytest.fixture(scope="module")
def attempts() -> Rows:
    return log()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Rows) -> Project:
    made = make_project()
    made.land(attempts)
    made.run(VARS)
    made.run(VARS, command="test", select=["passk_suite_metrics", "passk_comparisons", "int_passk__suite_families", "int_passk__pair_families", "int_passk__family_checks"])  # fmt: skip
    return made


def frame(attempts: Rows) -> pl.DataFrame:
    tags = pl.Struct({"kind": pl.String, "repo": pl.String})
    return pl.DataFrame(attempts, schema_overrides={"tags": tags}, infer_schema_length=None)


def counted(attempts: Rows) -> dict[tuple[str, str], dict[str, tuple[str, int, int]]]:
    """Count by run and suite: of each task its family, or its own name, n and c."""
    found: dict[tuple[str, str], dict[str, tuple[str, int, int]]] = defaultdict(dict)
    for row in attempts:
        tasks = found[row["run_id"], row["suite"]]
        own = f"task {row['task_id']}"
        family, n, c = tasks.get(row["task_id"], (row["tags"].get("repo", own), 0, 0))
        is_counted = row["outcome"] != "excluded"
        tasks[row["task_id"]] = (family, n + is_counted, c + (row["outcome"] == "passed"))
    return found


def exact(metric: str, n: int, c: int, k: int) -> Fraction:
    lucky = c if metric == "pass_hat_k" else n - c
    share = Fraction(math.comb(lucky, k), math.comb(n, k))
    return share if metric == "pass_hat_k" else 1 - share


def related(scores: list[tuple[str, Fraction]]) -> tuple[int, Fraction, Fraction, Fraction]:
    """Give families, effective families, mean, and the variance of the mean of one such family."""
    tasks = len(scores)
    mean = sum(score for _, score in scores) / tasks
    apart: dict[str, Fraction] = defaultdict(Fraction)
    sizes: dict[str, int] = defaultdict(int)
    for family, score in scores:
        apart[family] += score - mean
        sizes[family] += 1
    number, units = len(sizes), Fraction(tasks**2, sum(size**2 for size in sizes.values()))
    squares = sum(one**2 for one in apart.values())
    of_mean = squares / tasks**2 * number / (number - 1) if number > 1 else Fraction(0)
    return number, units, mean, of_mean * units


def test_limits_are_those_of_families(built: Project, attempts: Rows) -> None:
    rows = built.records("select * from passk_suite_metrics where slice_name = 'all'")
    tasks = counted(attempts)
    compared = 0
    for row, metric in itertools.product(rows, METRICS):
        counts, k = tasks[row["run_id"], row["suite"]], row["k"]
        scores = [(family, exact(metric, n, c, k)) for family, n, c in counts.values() if n >= k]
        if row[metric] is None:
            assert row["families"] is None
            continue
        families, units, mean, variance = related(scores)
        assert (row["families"], row["eligible_tasks"]) == (families, len(scores))
        assert row["effective_families"] == pytest.approx(float(units), rel=1e-12)
        assert row[metric] == pytest.approx(float(mean), rel=1e-12)
        middle = (units * mean + 1) / (units + 2)
        squares = (units - 1) * variance + units * (mean - middle) ** 2
        squares += middle**2 + (1 - middle) ** 2
        error = math.sqrt(squares / ((units + 1) * (units + 2)))
        reach = student_quantile(math.floor(units + Fraction(3, 2)), 0.95) * error
        short = row["total_tasks"] - row["eligible_tasks"]
        lower = max(float(middle) - reach, 0.0) * len(scores) / row["total_tasks"]
        upper = (min(float(middle) + reach, 1.0) * len(scores) + short) / row["total_tasks"]
        assert row[f"{metric}_lower"] == pytest.approx(lower, rel=1e-11, abs=1e-14)
        assert row[f"{metric}_upper"] == pytest.approx(upper, rel=1e-11)
        compared += 1
    assert compared >= 30


def test_limits_of_differences_are_those_of_families(built: Project, attempts: Rows) -> None:
    rows = built.records("select * from passk_comparisons where difference is not null")
    tasks = counted(attempts)
    assert len(rows) == 24
    for row in rows:
        before, after = (tasks[run, row["suite"]] for run in ("before", "after"))
        k, metric = row["k"], row["metric"]
        scores = [
            (family, exact(metric, *after[name][1:], k) - exact(metric, n, c, k))
            for name, (family, n, c) in before.items()
            if min(n, after[name][1]) >= k
        ]
        families, units, mean, variance = related(scores)
        assert (row["families"], row["eligible_tasks"]) == (families, len(scores))
        middle = units * mean / (units + 2)
        squares = (units - 1) * variance + units * mean**2 + 2 - (units + 2) * middle**2
        error = math.sqrt(squares / ((units + 1) * (units + 2)))
        reach = student_quantile(math.floor(units + Fraction(3, 2)), 0.95) * error
        share = Fraction(len(scores), row["common_tasks"])
        lower = max(float(middle) - reach, -1.0) * share - (1 - share)
        upper = min(float(middle) + reach, 1.0) * share + (1 - share)
        assert row["difference_lower"] == pytest.approx(float(lower), rel=1e-11, abs=1e-13)
        assert row["difference_upper"] == pytest.approx(float(upper), rel=1e-11, abs=1e-13)


def columns_of(project: Project, table: str) -> list[str]:
    return [row["column_name"] for row in project.records(f"describe {table}")]


def near(actual: Any, expected: Any) -> bool:
    if isinstance(actual, float) and isinstance(expected, float):
        return math.isclose(actual, expected, rel_tol=1e-10, abs_tol=1e-11)
    return bool(actual == expected)


def assert_table(project: Project, table: str, expected: pl.DataFrame, keys: list[str]) -> None:
    order = ", ".join(keys)
    columns = columns_of(project, table)
    shared = [name for name in expected.columns if name in columns and name != "loaded_at"]
    # A task that only one side has says nothing of families.
    assert not [name for name in {*columns} ^ {*expected.columns} if "famil" in name]
    found = project.records(f"select {', '.join(shared)} from {table} order by {order}")
    wanted = expected.select(shared).sort(keys).to_dicts()
    assert len(found) == len(wanted) > 0
    for row, other in zip(found, wanted, strict=True):
        assert {n: (v, other[n]) for n, v in row.items() if not near(v, other[n])} == {}, row


def test_sql_and_polars_agree(built: Project, attempts: Rows) -> None:
    told = frame(attempts)
    options: dict[str, Any] = {"cluster": "repo", "min_eligible_share": 0.5}
    suites = pk.suite_metrics(told, ks=KS, ordered=False, slices=["kind"], **options)
    assert_table(
        built, "passk_suite_metrics", suites, ["run_id", "suite", "slice_name", "slice_value", "k"]
    )
    pairs = pk.compare(told, "before", "after", ks=KS, **options)
    assert_table(built, "passk_comparisons", pairs, ["suite", "metric", "k"])
    plans = pk.plan(told, ks=KS, attempts_per_task=[2, 4], **options)
    assert_table(built, "passk_plans", plans, ["run_id", "suite", "metric", "k", "attempts"])
    private = [{"public": "open", "private": "held"}]
    leaks = pk.contamination(told, private, ks=KS, **options)
    assert_table(built, "passk_contamination", leaks, ["public_run_id", "k"])
    gates = pk.judge_gates(told, BASE["passk_gates"], k=2, ordered=False, **options)
    assert_table(built, "passk_gates", gates, ["gate", "suite", "run_id"])
    trust = pk.diagnose(told, k=2, ordered=False, cluster="repo").filter(
        pl.col("diagnostic") == "related_tasks"
    )
    rows = built.records(
        "select run_id, suite, statistic, verdict, finding, tasks from passk_diagnostics "
        "where diagnostic = 'related_tasks' order by run_id, suite"
    )
    wanted = trust.sort("run_id", "suite").select(rows[0].keys()).to_dicts()
    for row, other in zip(rows, wanted, strict=True):
        assert {n: (v, other[n]) for n, v in row.items() if not near(v, other[n])} == {}


def test_a_gate_on_tasks_like_these_speaks_of_families(built: Project) -> None:
    told = {
        (row["gate"], row["suite"]): row
        for row in built.records("select * from passk_gates where run_id = 'after'")
    }
    high = told["high", "one"]
    assert "cannot pass with fewer than 29 families of tasks, and there is 1." in high["reason"]
    assert told["drop", "one"]["to_settle"].endswith("families of tasks.")
    more = "More families of tasks: how they differ is not known from one."
    assert told["all", "one"]["to_settle"] == more


def test_one_family_says_next_to_nothing(built: Project) -> None:
    rows = built.records("select * from passk_suite_metrics where suite = 'one' and families = 1")
    assert rows
    for row in rows:
        assert (row["effective_families"], row["pass_hat_k_lower"]) == (1.0, 0.0)
        assert row["pass_hat_k_upper"] == 1.0
        assert row["heterogeneity_lower"] is None
        # Of these tasks as much is known as ever.
        assert row["delta_k"] is not None
        assert row["pass_hat_k"] is not None
    reasons = built.query(
        "select distinct suite, null_reason from passk_plans where suite in ('one', 'two') order by 1"
    )
    assert reasons == [
        ("one", "all tasks are of one family"),
        ("two", "its families say hardly more than one would"),
    ]


def test_bootstrap_and_ranks_take_families(built: Project, attempts: Rows) -> None:
    told = frame(attempts)
    drawn = pk.bootstrap_limits(told, ks=[2], resamples=200, cluster="repo", min_eligible_share=0.5)
    alone = pk.bootstrap_limits(told, ks=[2], resamples=200, min_eligible_share=0.5)
    width = (pl.col("upper") - pl.col("lower")).mean()
    is_open = pl.col("suite") == "open"
    assert (
        drawn.filter(is_open).select(width).item()
        > 1.2 * alone.filter(is_open).select(width).item()
    )
    one = drawn.filter(pl.col("suite") == "one")
    assert set(one["null_reason"]) == {"all tasks are of one family"}
    assert one["lower"].null_count() == one.height
    assert one["estimate"].null_count() == 0
    ranks = pk.rank_runs(told, ks=KS, cluster="repo", min_eligible_share=0.5)
    assert_table(built, "passk_rankings", ranks, ["suite", "run_id", "metric", "k"])


def test_the_answer_says_what_it_knows_of_families(built: Project) -> None:
    with open_tables(built.database) as tables:
        suites = {suite.name: suite for suite in find_answer(tables).suites}
    assert {name: suite.families for name, suite in suites.items()} == {
        "held": 12, "one": 1, "open": 13, "two": 2,
    }  # fmt: skip
    assert not any(run.is_related for suite in suites.values() for run in suite.runs)


@pytest.mark.long
def test_families_change_limits_alone(
    built: Project, make_project: Callable[[], Project], attempts: Rows
) -> None:
    """Values stay; and where every task is a family of its own, all is as without families."""
    plain, alone = make_project(), make_project()
    for project, variables in ((plain, BASE), (alone, {**BASE, "passk_cluster": "task_id"})):
        project.land(attempts)
        project.run(variables, select=["+passk_suite_metrics", "+passk_comparisons"])
    limits = ("lower", "upper", "within_share", "curve_shape", "families", "loaded_at")
    for table in ("passk_suite_metrics", "passk_comparisons"):
        columns = columns_of(plain, table)
        values = [name for name in columns if not name.endswith(limits)]
        where = " where slice_name = 'all'" if table == "passk_suite_metrics" else ""
        query = f"select {', '.join(values)} from {table}{where} order by all"
        for row, other in zip(plain.query(query), built.query(query), strict=True):
            assert all(near(one, two) for one, two in zip(row, other, strict=True)), (row, other)
        every = [name for name in columns if not name.endswith(("families", "loaded_at"))]
        query = f"select {', '.join(every)} from {table} order by all"
        for row, other in zip(plain.query(query), alone.query(query), strict=True):
            assert all(near(one, two) for one, two in zip(row, other, strict=True)), (row, other)
    assert plain.query("select count(families) from passk_suite_metrics") == [(0,)]


def test_a_task_is_of_its_least_family(project: Project) -> None:
    rows = [*task("r", "s", "t", "zeta", "PF", 0), *task("r", "s", "u", None, "PF", 0)]
    rows += [
        {**row, "attempt": row["attempt"] + 2} for row in task("r", "s", "t", "Alpha", "PP", 0)
    ]
    project.land(rows)
    project.run({**BASE, "passk_cluster": "repo", "passk_gates": []}, select=["+passk_tasks"])
    found = project.query("select task_id, family from passk_tasks order by task_id")
    assert found == [("t", "Alpha"), ("u", None)]


@pytest.mark.long
def test_wrong_declarations_are_told(project: Project) -> None:
    for cluster, said in (
        (["repo"], 'passk_cluster is ["repo"], but must be a tag, a column of the contract'),
        ({"name": "repo"}, 'passk_cluster is {"name": "repo"}, but must be a tag, a column'),
        ({"name": "r", "expression": ""}, "but must be a tag, a column of the contract"),
    ):
        told = project.render("{{ passk._var_mistakes() | tojson }}", {"passk_cluster": cluster})
        (mistake,) = json.loads(told)
        assert said in mistake


@pytest.mark.long
def test_a_column_that_is_not_there_is_told(project: Project) -> None:
    project.land(task("r", "s", "t", None, "PF", 0))
    cluster = {"name": "r", "expression": "repository"}
    with pytest.raises(BuildError) as raised:
        project.run({**BASE, "passk_cluster": cluster}, select=["+passk_tasks"])
    assert 'passk_cluster, "r": the contract has no column repository.' in str(raised.value)


@pytest.mark.long
def test_families_that_names_show_are_found(project: Project) -> None:
    dice = random.Random(4)
    rows: Rows = []
    for family, rate in (("sat", 0.95), ("queens", 0.5), ("factor", 0.1), ("path", 0.9)):
        for number in range(10):
            name = f"{family}-{number:02}"
            like = "".join("P" if dice.random() < rate else "F" for _ in range(4))
            other = "".join("P" if dice.random() < 0.6 else "F" for _ in range(4))
            rows += [
                *task("alike", "s", name, None, like, 0),
                *task("not", "s", name, None, other, 1),
            ]
            rows += task("alone", "s", f"{'abcdefghij'[number]}{family}", None, like, 2)
    project.land(rows)
    read = ("diagnostics", "suite_metrics", "runs", "tasks", "rankings", "rejected_attempts")
    project.run(BASE, select=[f"+passk_{table}" for table in read])
    with open_tables(project.database) as tables:
        (suite,) = find_answer(tables).suites
    assert {run.run_id for run in suite.runs if run.is_related} == {"alike"}
    assert suite.families is None
    said = {
        row["run_id"]: row
        for row in project.records(
            "select * from passk_diagnostics where diagnostic = 'related_tasks'"
        )
    }
    assert [said[run]["verdict"] for run in ("alike", "not", "alone")] == [
        "warning", "ok", "not_applicable",
    ]  # fmt: skip
    assert said["alike"]["finding"].startswith("The names of the tasks show 4 families")
    assert said["alike"]["statistic"] > 0.5
    assert said["alike"]["p"] < 0.01 < said["not"]["p"]
    assert "docs/families.md" in said["alike"]["advice"]
    # Related tasks are no fault of the log, so that a gate on all diagnostics does not fail on them.
    gate = [{"name": "log", "type": "diagnostics", "diagnostics": "all", "run": "all"}]
    found = pk.judge_gates(frame(rows), gate, k=2, ordered=False)
    assert set(found["result"]) == {"pass"}


@pytest.mark.parametrize("sizes", [(3, 2, 1, 1), (2, 2, 2), (4, 3), (5, 1, 1)])
def test_the_chance_distribution_has_the_moments_of_all_orders(sizes: tuple[int, ...]) -> None:
    """By every order of the scores, in exact fractions."""
    scores = [Fraction(one, 20) for one in (0, 20, 6, 6, 18, 1, 12)][: sum(sizes)]
    tasks, families = sum(sizes), len(sizes)
    mean = sum(scores) / tasks
    totals = []
    for order in itertools.permutations(scores):
        left = iter(order)
        sums = [sum(itertools.islice(left, size)) - mean * size for size in sizes]
        totals.append(sum(one**2 / size for one, size in zip(sums, sizes, strict=True)))
    expected = sum(totals) / len(totals)
    variance = sum((one - expected) ** 2 for one in totals) / len(totals)
    degrees = float(2 * expected**2 / variance)
    spread = 2 / (9 * degrees)
    between = float(max(totals))
    deviate = ((between / float(expected)) ** (1 / 3) - 1 + spread) / math.sqrt(spread)
    found = permuted_deviate(
        between,
        tasks,
        families,
        float(sum(Fraction(1, size) for size in sizes)),
        float(sum((one - mean) ** 2 for one in scores) / tasks),
        float(sum((one - mean) ** 4 for one in scores) / tasks),
    )
    assert found == pytest.approx(deviate, rel=1e-9)
    assert NormalDist().cdf(deviate) > 0.9
