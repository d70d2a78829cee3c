"""The public macros: every kind of argument, every wrong one, and brute force for their values."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from math import comb, inf, log, nan
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py.stats.estimators as polars_estimators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conftest import Project

Number = int | float | None
EXACT: Final = 2**53


@pytest.fixture(scope="module")
def sql(make_project: Callable[[], Project]) -> Project:
    """A project whose macros are rendered, and a database to run them on."""
    return make_project()


def build_error(project: Project, call: str) -> str:
    """Give what the project says about a wrong call."""
    from importlib import import_module

    error = import_module(type(project).__module__).BuildError
    try:
        project.render(f"{{{{ passk.{call} }}}}")
    except error as caught:
        return str(caught.message)
    return "nothing"


def evaluate(
    project: Project,
    calls: Sequence[str],
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    dtype: pl.DataType | None = None,
) -> list[tuple[Any, ...]]:
    """Run calls of macros for each row of a table."""
    path = project.folder / "arguments.parquet"
    schema = {name: dtype or pl.Float64() for name in columns}
    pl.DataFrame(list(rows), schema=schema, orient="row").with_row_index("row").write_parquet(path)
    selected = ", ".join(f"{{{{ passk.{call} }}}}" for call in calls)
    return project.query(
        project.render(f"select {selected} from read_parquet('{path}') order by row")
    )


def value(project: Project, call: str) -> Any:
    """Run one call without a table."""
    return project.query(project.render(f"select {{{{ passk.{call} }}}}"))[0][0]


# ---------------------------------------------------------------------------------------------
# values


def small_counts(least_k: int = 1, beyond: int = 0) -> list[tuple[int, int, int]]:
    return [
        (n, c, k) for n in range(13) for c in range(n + 1) for k in range(least_k, n + 1 + beyond)
    ]


def test_unbiased_estimates_of_all_small_counts(sql: Project) -> None:
    points = small_counts()
    rows = evaluate(
        sql, ["pass_at_k('n', 'c', 'k')", "pass_hat_k('n', 'c', 'k')"], ["n", "c", "k"], points
    )
    for (n, c, k), (at, hat) in zip(points, rows, strict=True):
        assert at == pytest.approx(float(1 - Fraction(comb(n - c, k), comb(n, k))), rel=5e-15)
        assert hat == pytest.approx(float(Fraction(comb(c, k), comb(n, k))), rel=5e-15)


def test_plugin_estimates_of_all_small_counts_and_k_beyond_n(sql: Project) -> None:
    points = [point for point in small_counts(beyond=4) if point[0] > 0]
    rows = evaluate(
        sql,
        ["pass_at_k_plugin('n', 'c', 'k')", "pass_hat_k_plugin('n', 'c', 'k')"],
        ["n", "c", "k"],
        points,
    )
    for (n, c, k), (at, hat) in zip(points, rows, strict=True):
        assert at == pytest.approx(float(1 - Fraction(n - c, n) ** k), rel=2e-15)
        assert hat == pytest.approx(float(Fraction(c, n) ** k), rel=2e-15)
        assert math.copysign(1, at) == 1, f"a negative zero at {(n, c, k)}"


def test_log_choose_of_all_small_numbers(sql: Project) -> None:
    points = [(n, k) for n in range(40) for k in range(n + 1)]
    rows = evaluate(sql, ["log_choose('n', 'k')"], ["n", "k"], points)
    for (n, k), (actual,) in zip(points, rows, strict=True):
        assert actual == pytest.approx(log(comb(n, k)), rel=1e-15)


def test_pooled_estimates(sql: Project) -> None:
    rates = [0.0, 1e-300, 1e-17, 1e-9, 0.1, 0.25, 0.5, 0.9, 1 - 2**-53, 1.0]
    points = [(p, k) for p in rates for k in (1, 2, 3, 8, 100, 1000)]
    rows = evaluate(
        sql, ["pass_at_k_pooled('p', 'k')", "pass_hat_k_pooled('p', 'k')"], ["p", "k"], points
    )
    for (p, k), (at, hat) in zip(points, rows, strict=True):
        assert at == pytest.approx(float(1 - (1 - Fraction(p)) ** k), rel=2e-15, abs=0)
        assert hat == pytest.approx(float(Fraction(p) ** k), rel=2e-13, abs=1e-300)
        assert 0 <= hat <= at <= 1


def test_delta_k_and_its_bounds(sql: Project) -> None:
    chance = random.Random(4)
    points = [
        (chance.random(), chance.choice([0.0, 0.5, 1.0, chance.random()]), k)
        for k in (1, 2, 3, 5, 8, 40)
        for _ in range(30)
    ]
    rows = evaluate(
        sql, ["delta_k('r', 'm', 'k')", "delta_k_max('m', 'k')"], ["r", "m", "k"], points
    )
    for (r, m, k), (delta, highest) in zip(points, rows, strict=True):
        power = Fraction(m) ** k
        assert delta == pytest.approx(float(Fraction(r) - power), rel=0, abs=3e-16)
        assert highest == pytest.approx(float(Fraction(m) - power), rel=0, abs=3e-16)
        assert highest >= 0


def test_delta_k_unbiased_by_its_formula(sql: Project) -> None:
    chance = random.Random(5)
    points = [
        (chance.random(), chance.choice([0.0, 1.0, chance.random()]), chance.random(), tasks, k)
        for k in (1, 2, 3, 4, 8, 16)
        for tasks in (0, 1, 2, 50)
        for _ in range(10)
    ]
    call = "delta_k_unbiased('r', 'm', 'v', 't', 'k')"
    rows = evaluate(sql, [call], ["r", "m", "v", "t", "k"], points)
    for (r, m, v, tasks, k), (actual,) in zip(points, rows, strict=True):
        if k == 1:
            assert actual == 0
            assert math.copysign(1, actual) == 1
        elif tasks < 2:
            assert actual is None
        else:
            mean, variance = Fraction(m), Fraction(v)
            raised = mean ** (k - 2) if k > 2 else Fraction(1)
            exact = Fraction(r) - mean**k + Fraction(k * (k - 1), 2) * raised * variance / tasks
            assert actual == pytest.approx(float(exact), rel=1e-15, abs=5e-16)


@pytest.mark.long
def test_delta_2_is_the_mean_over_pairs_of_different_tasks(sql: Project) -> None:
    """The mean of p_i p_j over i <> j replaces m squared, which makes it unbiased."""
    chance = random.Random(6)
    for _ in range(20):
        tasks, n = chance.randint(2, 9), chance.randint(2, 9)
        passes = [chance.randint(0, n) for _ in range(tasks)]
        rates = [Fraction(c, n) for c in passes]
        r = sum(Fraction(comb(c, 2), comb(n, 2)) for c in passes) / tasks
        mean = sum(rates) / tasks
        variance = sum((rate - mean) ** 2 for rate in rates) / (tasks - 1)
        pairs = sum(a * b for a, b in itertools.permutations(rates, 2)) / (tasks * (tasks - 1))
        call = f"delta_k_unbiased({float(r)}, {float(mean)}, {float(variance)}, {tasks}, 2)"
        assert value(sql, call) == pytest.approx(float(r - pairs), rel=1e-13, abs=3e-16)


def test_heterogeneity_is_the_place_between_the_bounds(sql: Project) -> None:
    points = [(d, m, k) for d in (-0.1, 0.0, 0.1) for m in (0.0, 0.25, 0.7, 1.0) for k in (1, 2, 5)]
    rows = evaluate(sql, ["heterogeneity('d', 'm', 'k')"], ["d", "m", "k"], points)
    for (d, m, k), (actual,) in zip(points, rows, strict=True):
        highest = Fraction(m) - Fraction(m) ** k
        if highest == 0:
            assert actual is None
        else:
            assert actual == pytest.approx(float(Fraction(d) / highest), rel=1e-14)


def test_first_k_estimates(sql: Project) -> None:
    points = [
        (rank, n, k) for n in range(6) for rank in [None, *range(1, n + 1)] for k in range(1, 8)
    ]
    calls = ["pass_at_k_first_k('r', 'n', 'k')", "pass_hat_k_first_k('r', 'n', 'k')"]
    for (rank, n, k), row in zip(
        points, evaluate(sql, calls, ["r", "n", "k"], points), strict=True
    ):
        seen = rank is not None and rank <= k
        assert row == ((None, None) if n < k else (float(seen), float(not seen)))


def test_window_estimates(sql: Project) -> None:
    points = [(part, windows) for windows in range(12) for part in range(windows + 1)]
    calls = ["pass_at_k_window('part', 'windows')", "pass_hat_k_window('part', 'windows')"]
    for (part, windows), row in zip(
        points, evaluate(sql, calls, ["part", "windows"], points), strict=True
    ):
        share = None if windows == 0 else part / windows
        assert row == ((None, None) if windows == 0 else ((windows - part) / windows, share))


def test_task_class_at_its_thresholds(sql: Project) -> None:
    rows = {
        "default": {(0, 0): "unknown", (4, 0): "incapable", (4, 1): "flaky", (4, 3): "flaky",
                    (4, 4): "consistent", (1, 1): "consistent", (1, 0): "incapable"},
        "0.75, 0.25": {(0, 0): "unknown", (4, 0): "incapable", (4, 1): "incapable",
                       (4, 2): "flaky", (4, 3): "consistent", (4, 4): "consistent"},
    }  # fmt: skip
    for thresholds, classes in rows.items():
        more = "" if thresholds == "default" else f", {thresholds}"
        found = evaluate(sql, [f"task_class('n', 'c'{more})"], ["n", "c"], classes)
        assert dict(zip(classes, (row[0] for row in found), strict=True)) == classes


def test_suite_reading_at_its_thresholds(sql: Project) -> None:
    readings = {
        (0.79999, 0.5): "not capable",
        (0.0, 0.0): "not capable",
        (0.8, 0.94999): "capable but flaky",
        (1.0, 0.0): "capable but flaky",
        (0.95, 0.95): "capable and consistent",
        (1.0, 1.0): "capable and consistent",
        (None, 0.5): None,
        (0.5, None): None,
    }
    found = evaluate(sql, ["suite_reading('a', 'h')"], ["a", "h"], readings)
    assert dict(zip(readings, (row[0] for row in found), strict=True)) == readings
    own = evaluate(sql, ["suite_reading('a', 'h', 0.5, 0.25)"], ["a", "h"], [(0.5, 0.25)])
    assert own == [("capable and consistent",)]


# ---------------------------------------------------------------------------------------------
# relations


def test_k_sweep_over_a_relation(sql: Project) -> None:
    tasks = [("a", 4, 2), ("b", 4, 2), ("c", 10, 7), ("d", 1, 1), ("e", 0, 0), ("f", 3, 0)]
    sql.execute(
        "create or replace table tasks (task_id varchar, trials int, successes int)",
        *(f"insert into tasks values ('{task}', {n}, {c})" for task, n, c in tasks),
    )
    template = "{{ passk.k_sweep('tasks', [1, 2, 5], 'trials', 'successes', ['task_id']) }}"
    rows = sql.records(sql.render(template))
    expected = {}
    for task, n, c in tasks:
        for k in (1, 2, 5):
            at = None if k > n else float(1 - Fraction(comb(n - c, k), comb(n, k)))
            hat = None if k > n else float(Fraction(comb(c, k), comb(n, k)))
            expected[task, n, c, k] = (at, hat)
    found = {
        (row["task_id"], row["trials"], row["successes"], row["k"]): (
            row["pass_at_k"],
            row["pass_hat_k"],
        )
        for row in rows
    }
    assert len(rows) == len(found)
    assert found.keys() == expected.keys()
    for key, pair in expected.items():
        if None in pair:
            assert found[key] == pair, key
        else:
            assert found[key] == pytest.approx(pair, rel=5e-15), key


def random_log(chance: random.Random, tasks: int) -> list[tuple[str, int, str]]:
    """Give attempts of tasks with gaps, excluded ones and any order of rows."""
    rows = []
    for task in range(tasks):
        share = chance.random()
        for attempt in range(1, chance.randint(1, 60)):
            if chance.random() < 0.9:
                verdict = "passed" if chance.random() < share else "failed"
                outcome = "excluded" if chance.random() < 0.1 else verdict
                rows.append((f"t{task}", attempt + 500, outcome))
    chance.shuffle(rows)
    return rows


def streaks_of(numbers: set[int]) -> dict[int, int]:
    """Count the unbroken streaks of each length."""
    lengths: dict[int, int] = {}
    for start in numbers:
        if start - 1 not in numbers:
            length = next(i for i in itertools.count(1) if start + i not in numbers)
            lengths[length] = lengths.get(length, 0) + 1
    return lengths


def test_streak_lengths_and_window_counts(sql: Project) -> None:
    rows = random_log(random.Random(8), 60)
    path = sql.folder / "log.parquet"
    pl.DataFrame(rows, schema=["task", "nr", "verdict"], orient="row").write_parquet(path)
    sql.execute(f"create or replace table log as from read_parquet('{path}')")
    streaks = "{{ passk.streak_lengths('log', ['task'], 'nr', 'verdict') }}"
    found = sql.query(sql.render(f"select task, kind, streak_length, streaks from ({streaks})"))
    ks = [1, 2, 3, 5, 17, 80]
    sql.execute("create or replace table streaks as " + sql.render(streaks))
    windows = sql.query(sql.render(f"{{{{ passk.window_counts('streaks', ['task'], {ks}) }}}}"))

    expected_streaks, expected_windows = [], []
    for task in {row[0] for row in rows}:
        numbers = {
            kind: {nr for name, nr, verdict in rows if name == task and verdict in verdicts}
            for kind, verdicts in (
                ("counted", ("passed", "failed")),
                ("passed", ("passed",)),
                ("failed", ("failed",)),
            )
        }
        for kind, found_numbers in numbers.items():
            for length, count in streaks_of(found_numbers).items():
                expected_streaks.append((task, kind, length, count))
        if numbers["counted"]:
            for k in ks:
                counts = [
                    sum(all(nr + i in one for i in range(k)) for nr in one)
                    for one in numbers.values()
                ]
                expected_windows.append((task, k, *counts))
    assert sorted(found) == sorted(expected_streaks)
    assert sorted(windows) == sorted(expected_windows)


# ---------------------------------------------------------------------------------------------
# arguments


@pytest.mark.long
@pytest.mark.parametrize(
    "call",
    [
        "pass_at_k(10, 7, 2)",
        "pass_at_k('10', '7', '2')",
        "pass_at_k(' 10 ', '+7', '2.0')",
        "pass_at_k(10.0, '7', 2)",
        "pass_at_k('1e1', 7, 2)",
        "pass_at_k('n', 'c', 'k')",
        "pass_at_k('t.n', 't.c', 2)",
        "pass_at_k('c + f', 'c', 'k')",
        "pass_at_k('c + f', 'n - f', 'k + 1 - 1')",
        "pass_at_k('case when c > 0 then n else 0 end', 'coalesce(c, 0)', '1 + 1')",
        "pass_at_k('n -- counted\\n', 'c', 'k')",
        "pass_at_k('\"n\"', '(c)', 'cast(k as integer)')",
        "pass_at_k('cast(n as varchar)', 'cast(c as decimal(9, 2))', 'k')",
    ],
)
def test_arguments_of_every_form(sql: Project, call: str) -> None:
    table = "(select 10 as n, 7 as c, 3 as f, 2 as k) as t"
    for name in ("pass_at_k", "pass_hat_k", "pass_at_k_plugin", "pass_hat_k_plugin"):
        renamed = call.replace("pass_at_k(", f"{name}(")
        exact = {
            "pass_at_k": 1 - Fraction(comb(3, 2), comb(10, 2)),
            "pass_hat_k": Fraction(comb(7, 2), comb(10, 2)),
            "pass_at_k_plugin": 1 - Fraction(9, 100),
            "pass_hat_k_plugin": Fraction(49, 100),
        }[name]
        found = sql.query(sql.render(f"select {{{{ passk.{renamed} }}}} from {table}"))[0][0]
        assert found == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize(
    "dtype", [pl.Int8(), pl.UInt8(), pl.Int32(), pl.UInt64(), pl.Int128(), pl.Float32()]
)
def test_columns_of_every_number_type(sql: Project, dtype: pl.DataType) -> None:
    if dtype == pl.Int128():
        rows = sql.query(
            sql.render(
                "select {{ passk.pass_hat_k('n', 'c', 'k') }}"
                " from (select 10::hugeint as n, 7::hugeint as c, 2::hugeint as k)"
            )
        )
    else:
        call = "pass_hat_k('n', 'c', 'k')"
        rows = evaluate(sql, [call], ["n", "c", "k"], [(10, 7, 2)], dtype)
    assert rows[0][0] == pytest.approx(21 / 45, rel=1e-14)


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("log_choose('a + b', 'a')", log(10)),
        ("pass_hat_k_pooled('a / 4.0', 'a')", 0.25),
        ("pass_at_k_pooled('a / 4.0', 'b - 1')", 0.75),
        ("delta_k('a / 4.0', 'b / 6.0', 'a')", 0.25),
        ("delta_k_max('b / 6.0', 'a')", 0.25),
        ("delta_k_unbiased('a / 4.0', 'b / 6.0', '1 / 2.0', 'a + 2', 'a')", 0.375),
        ("heterogeneity('a / 8.0', 'b / 6.0', 'a')", 1.0),
        ("pass_at_k_window('b - a', 'a + 2')", 0.75),
        ("pass_hat_k_window('b - a', 'a + 2')", 0.25),
        ("pass_at_k_first_k('a + 0', 'a + b', 'a')", 1.0),
        ("pass_hat_k_first_k('a + 1', 'a + b', 'a')", 1.0),
        ("task_class('a + b', 'a + 3')", "consistent"),
        ("suite_reading('a / 2.0', 'b / 6.0')", "capable but flaky"),
    ],
)
def test_expressions_as_arguments(sql: Project, call: str, expected: object) -> None:
    found = sql.query(sql.render(f"select {{{{ passk.{call} }}}} from (select 2 as a, 3 as b)"))
    if isinstance(expected, float):
        assert found[0][0] == pytest.approx(expected, rel=1e-14)
    else:
        assert found[0][0] == expected


def test_macros_within_macros(sql: Project) -> None:
    call = "suite_reading(passk.pass_at_k('n', 'c', 'k'), passk.pass_hat_k('n', 'c', 'k'))"
    assert evaluate(sql, [call], ["n", "c", "k"], [(10, 9, 2), (10, 1, 2), (10, 10, 2)]) == [
        ("capable but flaky",),
        ("not capable",),
        ("capable and consistent",),
    ]


# ---------------------------------------------------------------------------------------------
# data that can't be right

NO_COUNT: Final[tuple[Number, ...]] = (None, -1.0, 0.5, 2.5, nan, inf, -inf, EXACT + 2.0, 1e300)
"""No number of attempts."""
NO_RATE: Final[tuple[Number, ...]] = (None, -0.25, 1.25, nan, inf, -inf)
"""No probability."""


def spoiled(good: Sequence[Number], bad: Sequence[Sequence[Number]]) -> list[tuple[Number, ...]]:
    """Give the good arguments with one of them made bad."""
    return [
        (*good[:place], wrong, *good[place + 1 :])
        for place, values in enumerate(bad)
        for wrong in values
    ]


NULLS: Final[dict[str, list[tuple[Number, ...]]]] = {
    "pass_at_k": [
        *spoiled((10.0, 7.0, 2.0), (NO_COUNT, NO_COUNT, (*NO_COUNT, 0.0))),
        (10.0, 11.0, 2.0), (10.0, 7.0, 11.0), (0.0, 0.0, 1.0), (1.0, 1.0, 2.0),
        (inf, inf, inf), (nan, nan, nan),
    ],
    "pass_at_k_plugin": [
        *spoiled((10.0, 7.0, 2.0), ((*NO_COUNT, 0.0), NO_COUNT, (*NO_COUNT, 0.0))),
        (10.0, 11.0, 2.0), (0.0, 0.0, 1.0), (inf, inf, inf), (nan, nan, nan),
    ],
    "log_choose": [*spoiled((10.0, 2.0), (NO_COUNT, NO_COUNT)), (10.0, 11.0), (nan, nan)],
    "pass_at_k_pooled": [*spoiled((0.5, 2.0), (NO_RATE, (*NO_COUNT, 0.0)))],
    "delta_k": [*spoiled((0.5, 0.5, 2.0), (NO_RATE, NO_RATE, (*NO_COUNT, 0.0)))],
    "delta_k_max": [*spoiled((0.5, 2.0), (NO_RATE, (*NO_COUNT, 0.0)))],
    "delta_k_unbiased": [
        *spoiled(
            (0.5, 0.5, 0.25, 10.0, 2.0),
            (NO_RATE, NO_RATE, (None, -0.25, nan, inf), NO_COUNT, (*NO_COUNT, 0.0)),
        ),
        (0.5, 0.5, 0.25, 1.0, 2.0),
    ],
    "heterogeneity": [
        *spoiled((0.1, 0.5, 2.0), ((None, nan, inf, -inf), NO_RATE, (*NO_COUNT, 0.0))),
        (0.1, 0.0, 2.0), (0.1, 1.0, 2.0), (0.1, 0.5, 1.0),
    ],
    "pass_at_k_window": [*spoiled((3.0, 10.0), (NO_COUNT, (*NO_COUNT, 0.0))), (11.0, 10.0)],
    "pass_at_k_first_k": [
        *spoiled((3.0, 10.0, 2.0), ((-1.0, 0.0, 2.5, nan, inf), NO_COUNT, (*NO_COUNT, 0.0))),
        (11.0, 10.0, 2.0), (3.0, 10.0, 11.0), (None, 0.0, 1.0),
    ],
    "task_class": [*spoiled((10.0, 7.0), (NO_COUNT, NO_COUNT)), (10.0, 11.0), (nan, nan)],
    "suite_reading": [*spoiled((0.9, 0.9), (NO_RATE, NO_RATE)), (nan, nan)],
}  # fmt: skip
for same, other in (
    ("pass_hat_k", "pass_at_k"),
    ("pass_hat_k_plugin", "pass_at_k_plugin"),
    ("pass_hat_k_pooled", "pass_at_k_pooled"),
    ("pass_hat_k_window", "pass_at_k_window"),
    ("pass_hat_k_first_k", "pass_at_k_first_k"),
):
    NULLS[same] = NULLS[other]


@pytest.mark.long
@pytest.mark.parametrize("macro", NULLS)
def test_null_for_data_that_cannot_be_right(sql: Project, macro: str) -> None:
    rows = NULLS[macro]
    columns = [f"a{place}" for place in range(len(rows[0]))]
    call = f"{macro}({', '.join(repr(column) for column in columns)})"
    found = evaluate(sql, [call], columns, rows)
    wrong = {row: result for row, (result,) in zip(rows, found, strict=True) if result is not None}
    assert wrong == {}


POLARS_NAMES: Final = {
    "pass_at_k_window": "pass_at_k_from_windows",
    "pass_hat_k_window": "pass_hat_k_from_windows",
    "pass_at_k_first_k": "pass_at_k_from_rank",
    "pass_hat_k_first_k": "pass_hat_k_from_rank",
}


@pytest.mark.long
@pytest.mark.parametrize("macro", NULLS)
def test_odd_data_gives_in_sql_what_it_gives_in_polars(sql: Project, macro: str) -> None:
    arguments = len(NULLS[macro][0])
    odd: tuple[Number, ...] = (None, 0.0, 1.0, 2.0, 0.5, -1.0, nan, inf, float(EXACT))
    if arguments <= 3:
        odd += (3.0, 1.5, -inf, EXACT - 1.0, EXACT + 2.0, 1e300)
    rows = list(itertools.product(odd, repeat=arguments))
    columns = [f"a{place}" for place in range(arguments)]
    call = f"{macro}({', '.join(repr(column) for column in columns)})"
    in_sql = [row[0] for row in evaluate(sql, [call], columns, rows)]
    function = getattr(polars_estimators, POLARS_NAMES.get(macro, macro))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.Float64), orient="row")
    in_polars = frame.select(function(*columns)).to_series().to_list()
    different = [
        (row, a, b)
        for row, a, b in zip(rows, in_sql, in_polars, strict=True)
        if a != b and not (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-12))
    ]  # fmt: skip
    assert different[:5] == []


def test_the_sql_null_as_an_argument_is_data(sql: Project) -> None:
    assert value(sql, "pass_at_k('null', 1, 1)") is None
    assert value(sql, "pass_hat_k(2, 'null', 1)") is None
    assert value(sql, "log_choose(2, 'null')") is None


# ---------------------------------------------------------------------------------------------
# wrong literals

A_COUNT: Final = "a column, an SQL expression or an integer"
A_NUMBER: Final = "a column, an SQL expression or a number"


def wrong_counts(macro: str, argument: str, least: int, call: str) -> dict[str, str]:
    """Give calls with a wrong count at the asterisk, and what each must say."""
    whole, any_count = f"an integer of at least {least}.", f"{A_COUNT}."
    shown = {
        str(least - 1): (str(least - 1), whole),
        "'2.5'": ('"2.5"', whole),
        "none": ("null", any_count),
        "true": ("true", any_count),
        "' '": ('" "', any_count),
    }
    if macro == "pass_at_k":
        shown |= {
            "2.5": ("2.5", whole),
            "'-3'": ('"-3"', whole),
            "''": ('""', any_count),
            "[1]": ("[1]", any_count),
            "{'a': 1}": ('{"a": 1}', any_count),
        }
    return {
        call.replace("*", wrong): f"passk.{macro}: {argument} is {text}, but must be {allowed}"
        for wrong, (text, allowed) in shown.items()
    }


def wrong_numbers(
    macro: str, argument: str, call: str, low: int = 0, high: int = 1
) -> dict[str, str]:
    """Give the same for a number between two limits."""
    between, any_number = f"a number from {low} to {high}.", f"{A_NUMBER}."
    shown = {
        str(low - 0.5): (str(low - 0.5), between),
        "'1.5'": ('"1.5"', between),
        "none": ("null", any_number),
        "false": ("false", any_number),
        "''": ('""', any_number),
    }
    return {
        call.replace("*", wrong): f"passk.{macro}: {argument} is {text}, but must be {allowed}"
        for wrong, (text, allowed) in shown.items()
    }


def too_many(macro: str, part: str, whole: str, call: str) -> dict[str, str]:
    """Give a call with 6 of 5."""
    return {call: f"passk.{macro}: {part} is 6, but must be at most {whole}, which is 5."}


def wrong_calls() -> dict[str, dict[str, str]]:
    """Give, for each macro, wrong calls and what they must say."""
    cases: dict[str, dict[str, str]] = {}
    for macro in ("pass_at_k", "pass_hat_k", "pass_at_k_plugin", "pass_hat_k_plugin"):
        cases[macro] = (
            wrong_counts(macro, "n", 0, f"{macro}(*, 'c', 'k')")
            | wrong_counts(macro, "c", 0, f"{macro}('n', *, 'k')")
            | wrong_counts(macro, "k", 1, f"{macro}('n', 'c', *)")
            | too_many(macro, "c", "n", f"{macro}(5, 6, 1)")
        )
    cases["log_choose"] = wrong_counts("log_choose", "n", 0, "log_choose(*, 'k')") | wrong_counts(
        "log_choose", "k", 0, "log_choose('n', *)"
    )
    for macro in ("pass_at_k_pooled", "pass_hat_k_pooled", "delta_k_max"):
        cases[macro] = wrong_numbers(macro, "pass_1", f"{macro}(*, 'k')") | wrong_counts(
            macro, "k", 1, f"{macro}('p', *)"
        )
    cases["delta_k"] = (
        wrong_numbers("delta_k", "pass_hat_k", "delta_k(*, 'p', 'k')")
        | wrong_numbers("delta_k", "pass_1", "delta_k('h', *, 'k')")
        | wrong_counts("delta_k", "k", 1, "delta_k('h', 'p', *)")
    )
    macro = "delta_k_unbiased"
    cases[macro] = (
        wrong_numbers(macro, "pass_hat_k", f"{macro}(*, 'p', 'v', 't', 'k')")
        | wrong_numbers(macro, "pass_1", f"{macro}('h', *, 'v', 't', 'k')")
        | wrong_numbers(macro, "var_pass_1", f"{macro}('h', 'p', *, 't', 'k')")
        | wrong_counts(macro, "tasks", 0, f"{macro}('h', 'p', 'v', *, 'k')")
        | wrong_counts(macro, "k", 1, f"{macro}('h', 'p', 'v', 't', *)")
    )
    macro = "heterogeneity"
    cases[macro] = (
        wrong_numbers(macro, "delta_k", f"{macro}(*, 'p', 'k')", low=-1)
        | wrong_numbers(macro, "pass_1", f"{macro}('d', *, 'k')")
        | wrong_counts(macro, "k", 1, f"{macro}('d', 'p', *)")
    )
    for macro, part in (
        ("pass_at_k_window", "fail_windows"),
        ("pass_hat_k_window", "pass_windows"),
    ):
        cases[macro] = (
            wrong_counts(macro, part, 0, f"{macro}(*, 'w')")
            | wrong_counts(macro, "windows", 0, f"{macro}('part', *)")
            | too_many(macro, part, "windows", f"{macro}(6, 5)")
        )
    for macro, rank in (
        ("pass_at_k_first_k", "first_pass_rank"),
        ("pass_hat_k_first_k", "first_fail_rank"),
    ):
        cases[macro] = (
            wrong_counts(macro, rank, 1, f"{macro}(*, 'n', 'k')")
            | wrong_counts(macro, "n", 0, f"{macro}('r', *, 'k')")
            | wrong_counts(macro, "k", 1, f"{macro}('r', 'n', *)")
            | too_many(macro, rank, "n", f"{macro}(6, 5, 1)")
        )
    cases["task_class"] = (
        wrong_counts("task_class", "n", 0, "task_class(*, 'c')")
        | wrong_counts("task_class", "c", 0, "task_class('n', *)")
        | too_many("task_class", "c", "n", "task_class(5, 6)")
        | wrong_numbers("task_class", "consistent_rate", "task_class('n', 'c', *)")
        | wrong_numbers("task_class", "incapable_rate", "task_class('n', 'c', 1, *)")
    )
    macro = "suite_reading"
    cases[macro] = (
        wrong_numbers(macro, "pass_at_k", f"{macro}(*, 'h')")
        | wrong_numbers(macro, "pass_hat_k", f"{macro}('a', *)")
        | wrong_numbers(macro, "capable_threshold", f"{macro}('a', 'h', *)")
        | wrong_numbers(macro, "consistent_threshold", f"{macro}('a', 'h', 1, *)")
    )
    for macro, call in (
        ("k_sweep", "k_sweep('t', *)"),
        ("window_counts", "window_counts('t', ['a'], *)"),
    ):
        lists = {"5": "5", "'ab'": '"ab"', "none": "null", "[]": "[]", "{'a': 1}": '{"a": 1}'}
        said = f"passk.{macro}: ks is {{}}, but must be "
        cases[macro] = {
            call.replace("*", wrong): said.format(shown) + "a list of integers of at least 1."
            for wrong, shown in lists.items()
        } | {
            call.replace("*", wrong): said.format(shown) + "an integer of at least 1."
            for wrong, shown in {"[0]": "0", "[1, 2.5]": "2.5", "['x']": '"x"'}.items()
        }
    return cases


@pytest.mark.long
@pytest.mark.parametrize("macro", wrong_calls())
def test_a_literal_that_cannot_be_right_is_a_compile_error(sql: Project, macro: str) -> None:
    expected = wrong_calls()[macro]
    assert {call: build_error(sql, call) for call in expected} == expected


@pytest.mark.parametrize(
    ("call", "start"),
    [
        ("pass_at_k(n, c, k)", "passk.pass_at_k: n is "),
        ("pass_hat_k('n', 'c')", "passk.pass_hat_k: k is "),
        ("suite_reading(a, h)", "passk.suite_reading: pass_at_k is "),
        ("pass_at_k('1e400', 1, 1)", "passk.pass_at_k: n is "),
        ("k_sweep(none, [1])", "passk.k_sweep: relation is "),
        ("streak_lengths('t', [])", "passk.streak_lengths: partition_by is "),
        ("streak_lengths('t', 'task_id')", "passk.streak_lengths: partition_by is "),
        ("window_counts('t', 'task_id', [1])", "passk.window_counts: partition_by is "),
    ],
)
def test_other_slips_name_the_macro_and_the_argument(sql: Project, call: str, start: str) -> None:
    assert build_error(sql, call).startswith(start)
