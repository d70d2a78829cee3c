"""The estimators in SQL against exact values, over every regime of n, c and k.

The exact values come from log-gamma functions of 80 digits, of which at most 12 are lost; a part of
the points is computed a second time from integers, to show that those digits are right.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, lgamma, log
from typing import TYPE_CHECKING, Final

import mpmath
import polars as pl
import pytest
from mpmath import mpf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Project

SMALLEST: Final = 1e-300
"""Smaller results are only required to be small."""
LIMIT: Final = 1e-12

Point = tuple[int, int, int]

pytestmark = pytest.mark.usefixtures("eighty_digits")


@pytest.fixture(scope="module")
def eighty_digits() -> Iterator[None]:
    with mpmath.workdps(80):
        yield


@cache
def log_factorial(n: int) -> mpf:
    return mpmath.loggamma(n + 1)


@cache
def log_ratio(n: int, c: int, k: int) -> mpf | None:
    """Give ln(C(c, k) / C(n, k)), or None for ln 0."""
    if k > c:
        return None
    if c == n:
        return mpf(0)
    return log_factorial(c) - log_factorial(c - k) - log_factorial(n) + log_factorial(n - k)


@cache
def ratio(n: int, c: int, k: int) -> mpf:
    """Give C(c, k) / C(n, k)."""
    logarithm = log_ratio(n, c, k)
    return mpf(0) if logarithm is None else mpmath.exp(logarithm)


def largest_k(n: int, c: int, exponent: float) -> int:
    """Give the largest k for which C(c, k) / C(n, k) is above 10 to the power of -exponent."""

    def magnitude(k: int) -> float:
        whole = lgamma(c + 1) - lgamma(c - k + 1) - lgamma(n + 1) + lgamma(n - k + 1)
        return -whole / log(10)

    low, high = 1, c
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if magnitude(middle) < exponent else (low, middle - 1)
    return low


def counts_of(n: int, chance: random.Random) -> set[int]:
    """Give numbers of passes: the ends, round shares, and some at random."""
    ends = {*range(6), *range(n - 5, n + 1)}
    shares = {n // 1000, n // 100, n // 10, n // 3, n // 2, n - n // 10, n - n // 100}
    return {c for c in ends | shares | {chance.randint(0, n) for _ in range(4)} if 0 <= c <= n}


def draws_of(n: int, c: int, chance: random.Random) -> set[int]:
    """Give ks: small, the ends, where the formula changes, and where results become tiny."""
    ks = {1, 2, 3, 4, 5, 8, 10, 16, 32, 64, 100, 128, 1000, n // 10, n // 2, n - 1, n}
    for passes in (c, n - c):
        # The log moment changes its formula at c - k = 10, and is certain from c - k = -1 on.
        ks |= {passes - gap for gap in (-1, 0, 1, 2, 9, 10, 11, 30)}
        if passes:
            ks |= {largest_k(n, passes, exponent) for exponent in (1, 10, 100, 299.9)}
    ks |= {chance.randint(1, n) for _ in range(3)}
    return {k for k in ks if 1 <= k <= n}


@cache
def points() -> tuple[Point, ...]:
    """Give at least 20,000 different points, the same ones every time."""
    chance = random.Random(20210707)
    found: dict[Point, None] = {}
    for n in range(1, 17):
        for c in range(n + 1):
            found.update(dict.fromkeys((n, c, k) for k in range(1, n + 1)))
    sizes = [17, 20, 22, 24, 30, 50, 64, 100, 126, 200, 500, 1000, 2000, 5000, 10_000, 65_536]
    sizes += [100_000, 300_000, 524_287, 999_999, 1_000_000]
    sizes += [int(10 ** chance.uniform(1.2, 6)) for _ in range(40)]
    for n in sizes:
        for c in sorted(counts_of(n, chance)):
            found.update(dict.fromkeys((n, c, k) for k in sorted(draws_of(n, c, chance))))
    return tuple(found)


@dataclass
class Largest:
    """The largest relative error of a metric, and where it is."""

    error: float = 0.0
    point: Point | None = None
    values: int = 0

    def see(self, actual: float | None, exact: mpf, point: Point) -> None:
        assert actual is not None, f"null at {point}"
        if exact == 0:
            assert actual == 0.0, f"{actual!r} instead of 0 at {point}"
        elif exact < SMALLEST:
            assert 0.0 <= actual <= 2 * SMALLEST, f"{actual!r} at {point}"
        else:
            self.values += 1
            error = abs(float((mpf(actual) - exact) / exact))
            if error > self.error:
                self.error, self.point = error, point


def complement(n: int, c: int, k: int) -> mpf:
    """Give pass@k."""
    return 1 - ratio(n, n - c, k)


METRICS: Final[dict[str, Callable[[int, int, int], mpf]]] = {
    "pass_at_k": complement,
    "fail_all_k": lambda n, c, k: ratio(n, n - c, k),
    "pass_hat_k": ratio,
    "log_choose": lambda n, _, k: log_factorial(n) - log_factorial(k) - log_factorial(n - k),
}


def report(name: str, largest: Largest) -> None:
    print(f"{name}: {largest.values} values, at most {largest.error:.2e} at {largest.point}")


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project]) -> Project:
    """A database on which a build has left the SQL functions."""
    made = make_project()
    # They are made with this model.
    made.run(select=["+int_passk__estimates_by_count"])
    return made


@pytest.fixture(scope="module")
def values(built: Project) -> list[tuple[Point, dict[str, float | None]]]:
    """The SQL functions at every point."""
    path = built.folder / "points.parquet"
    pl.DataFrame(points(), schema=["n", "c", "k"], orient="row").write_parquet(path)
    rows = built.query(
        "select n, c, k, pass_at_k(n, c, k), pass_hat_k(n, n - c, k), pass_hat_k(n, c, k),"
        f" log_choose(n, k) from read_parquet('{path}')"
    )
    return [(row[:3], dict(zip(METRICS, row[3:], strict=True))) for row in rows]


def test_there_are_twenty_thousand_points_of_every_regime() -> None:
    all_points = points()
    assert len(set(all_points)) == len(all_points) >= 20_000
    assert max(n for n, _, _ in all_points) == 1_000_000
    large = [point for point in all_points if point[0] >= 100_000]
    for regime in (
        lambda n, c, k: c == 0,
        lambda n, c, k: c == 1,
        lambda n, c, k: c == n - 1,
        lambda n, c, k: c == n,
        lambda n, c, k: k == 1,
        lambda n, c, k: k == n,
        lambda n, c, k: 1e-300 < ratio(n, c, k) < 1e-290,
        lambda n, c, k: 1e-300 < ratio(n, n - c, k) < 1e-290,
        lambda n, c, k: 0 < 1 - ratio(n, c, k) < 1e-3,
        lambda n, c, k: 0 < complement(n, c, k) < 1e-3,
    ):
        assert sum(regime(*point) for point in large) >= 10


def test_the_exact_values_agree_with_integers() -> None:
    chance = random.Random(1)
    small = [(n, c, k) for n, c, k in points() if n <= 2000]
    for n, c, k in chance.sample(small, 2000):
        exact = Fraction(comb(c, k), comb(n, k))
        by_logs = ratio(n, c, k)
        if exact == 0:
            assert by_logs == 0
        else:
            error = by_logs * exact.denominator / exact.numerator - 1
            assert abs(error) < mpf(10) ** -70


@pytest.mark.long
@pytest.mark.parametrize(
    ("metric", "limit"),
    [("pass_at_k", LIMIT), ("fail_all_k", LIMIT), ("pass_hat_k", LIMIT), ("log_choose", 1e-14)],
)
def test_functions_of_the_database(
    values: list[tuple[Point, dict[str, float | None]]], metric: str, limit: float
) -> None:
    largest = Largest()
    for point, row in values:
        largest.see(row[metric], METRICS[metric](*point), point)
    report(metric, largest)
    assert largest.values >= 15_000
    assert largest.error <= limit


def test_both_metrics_are_the_pass_rate_at_k_1_to_the_bit(
    values: list[tuple[Point, dict[str, float | None]]],
) -> None:
    at_1 = [(point, row) for point, row in values if point[2] == 1]
    assert len(at_1) >= 500
    for (n, c, _), row in at_1:
        assert row["pass_at_k"] == row["pass_hat_k"] == c / n


def test_no_estimate_leaves_0_to_1_and_the_certain_is_certain(
    values: list[tuple[Point, dict[str, float | None]]],
) -> None:
    for (n, c, k), row in values:
        at, hat = row["pass_at_k"], row["pass_hat_k"]
        assert at is not None
        assert hat is not None
        assert 0.0 <= hat <= at <= 1.0
        assert (at == 0.0) == (c == 0)
        assert at == 1.0 or n - c >= k
        assert (hat == 1.0) == (c == n)
        assert hat == 0.0 or c >= k


@pytest.mark.long
def test_a_literal_k_is_as_accurate_written_out(built: Project) -> None:
    """As k draws without replacement, of k up to 32."""
    chance = random.Random(32)
    large = [10**9, 2**40, 2**53 - 1]
    states = {point[:2] for point in points()}
    states |= {(n, c) for n in large for c in counts_of(n, chance)}
    path = built.folder / "literal.parquet"
    pl.DataFrame(sorted(states), schema=["n", "c"], orient="row").write_parquet(path)
    at, hat, none_of_k = Largest(), Largest(), Largest()
    for k in (1, 2, 3, 4, 5, 8, 16, 31, 32):
        calls = [f"pass_at_k('n', 'c', {k})", f"pass_hat_k('n', 'c', {k})"]
        calls.append(f"pass_hat_k('n', 'n - c', {k})")
        selected = ", ".join(f"{{{{ passk.{call} }}}}" for call in calls)
        for n, c, *row in built.query(
            built.render(f"select n, c, {selected} from read_parquet('{path}')")
        ):
            point = (n, c, k)
            if n < k:
                assert row == [None, None, None]
                continue
            at.see(row[0], complement(*point), point)
            hat.see(row[1], ratio(*point), point)
            none_of_k.see(row[2], ratio(n, n - c, k), point)
            assert 0.0 <= row[1] <= row[0] <= 1.0
            if k == 1:
                assert row[0] == row[1] == c / n
    for name, largest in (("pass@k", at), ("pass^k", hat), ("none of k", none_of_k)):
        report(f"literal k, {name}", largest)
        assert largest.values >= 5_000
        assert largest.error <= LIMIT


def test_a_literal_k_reads_as_draws_without_replacement(built: Project) -> None:
    def shown(call: str) -> str:
        text = built.render(f"{{{{ passk.{call} }}}}")
        return text.replace("cast((n) as double)", "n").replace("cast((c) as double)", "c")

    hat = shown("pass_hat_k('n', 'c', 3)")
    assert "exp(ln(c / n) + ln((c - 1) / (n - 1)) + ln((c - 2) / (n - 2)))" in hat
    at = shown("pass_at_k('n', 'c', 2)")
    assert "-2 * atanh(c / (2 * n - c)) + -2 * atanh(c / (2 * (n - 1) - c))" in at
    assert len(built.render("{{ passk.pass_hat_k('n', 'c', 4) }}")) < 1000


STAGED_KS: Final = (1, 2, 3, 4, 5, 8, 10, 11, 12, 13, 16, 32, 64, 100, 128, 500, 1000, 4999, 10_000)
STAGED_KS_LARGE: Final = (65_000, 100_000, 250_000, 499_999, 999_990, 999_999, 1_000_000)


@pytest.fixture(scope="module")
def staged(
    make_project: Callable[[], Project],
) -> list[tuple[Point, tuple[float | None, ...], tuple[float | None, ...]]]:
    """int_passk__estimates_by_count over many counts: points, its columns, the same from the functions."""
    made = make_project()
    ks = [*STAGED_KS, *STAGED_KS_LARGE]
    variables = {"passk_ks": ks}
    made.run(variables, select=["+int_passk__estimates_by_count"])
    chance = random.Random(7)
    # Of short tasks all c, because the model makes all c that one of them has for the others too.
    states = {(n, c) for n in (*range(1, 14), 20, 100, 126) for c in range(n + 1)}
    for n in (1000, 5000, 10_000, 100_000, 500_000, 999_999, 1_000_000):
        near = {k + gap for k in ks for gap in (-1, 0, 1, 9, 10, 11)}
        passes = near | {n - c for c in near} | counts_of(n, chance)
        states |= {(n, c) for c in passes if 0 <= c <= n}
    path = made.folder / "states.parquet"
    pl.DataFrame(sorted(states), schema=["n", "c"], orient="row").write_parquet(path)
    made.execute(
        f"create or replace view {made.relation('int_passk__task_counts')} as"
        f" from read_parquet('{path}')"
    )
    made.run(variables, select=["int_passk__estimates_by_count"], full_refresh=True)
    rows = made.query(
        "select n, c, k, pass_at_k, pass_hat_k, pass_at_k_plugin, pass_hat_k_plugin,"
        " pass_at_k(n, c, k), pass_hat_k(n, c, k), pass_at_k_plugin(n, c, k),"
        f" pass_hat_k_plugin(n, c, k) from {made.relation('int_passk__estimates_by_count')}"
    )
    assert len(rows) == len(states) * len(ks)
    return [(row[:3], row[3:7], row[7:]) for row in rows]


def test_the_staged_model_is_as_accurate(
    staged: list[tuple[Point, tuple[float | None, ...], tuple[float | None, ...]]],
) -> None:
    at, hat = Largest(), Largest()
    for point, row, _ in staged:
        n, c, k = point
        if n < k:
            assert row[:2] == (None, None)
            continue
        at.see(row[0], complement(n, c, k), point)
        hat.see(row[1], ratio(n, c, k), point)
    report("staged pass_at_k", at)
    report("staged pass_hat_k", hat)
    assert min(at.values, hat.values) >= 8_000
    assert max(at.error, hat.error) <= LIMIT


def test_the_staged_model_agrees_with_the_single_expressions(
    staged: list[tuple[Point, tuple[float | None, ...], tuple[float | None, ...]]],
) -> None:
    for point, row, expressions in staged:
        for actual, expected in zip(row, expressions, strict=True):
            if expected is None:
                assert actual is None, point
            else:
                assert actual == pytest.approx(expected, rel=1e-15, abs=0), point


def test_plugin_against_exact_powers(
    staged: list[tuple[Point, tuple[float | None, ...], tuple[float | None, ...]]],
) -> None:
    at, hat = Largest(), Largest()
    for point, row, _ in staged:
        n, c, k = point
        at.see(row[2], 1 - (mpf(n - c) / n) ** k, point)
        hat.see(row[3], (mpf(c) / n) ** k, point)
    report("plug-in pass_at_k", at)
    report("plug-in pass_hat_k", hat)
    assert at.error <= LIMIT
    assert hat.error <= LIMIT


def test_log_of_rest_with_and_without_atanh(built: Project) -> None:
    """To the last digits where the part is small, and near the whole what exp() of it makes small."""
    chance = random.Random(5)
    wholes = [int(10 ** chance.uniform(0.5, 15)) for _ in range(5000)]
    pairs = [(int(whole * 10 ** -chance.uniform(0, 15)), whole) for whole in wholes]
    pairs = [(part, whole) for part, whole in pairs if 0 < part < whole]
    pairs += [(whole - 1, whole) for whole in (10, 10**6, 10**15)]
    path = built.folder / "parts.parquet"
    pl.DataFrame(pairs, schema=["a", "b"], orient="row").write_parquet(path)
    cast = "cast(a as double)", "cast(b as double)"
    for macro in ("default___log_of_rest", "duckdb___log_of_rest"):
        call = f"{{{{ passk.{macro}('{cast[0]}', '{cast[1]}') }}}}"
        rows = built.query(built.render(f"select a, b, {call} from read_parquet('{path}')"))
        assert len(rows) == len(pairs)
        for part, whole, value in rows:
            exact = mpmath.log1p(-mpf(part) / whole)
            rest = float(mpmath.exp(exact))
            error = abs(float(mpf(value) - exact))
            assert error <= 4e-16 * abs(float(exact)) or error * rest <= 4e-16, (part, whole)


def test_one_minus_exp_for_engines_without_an_accurate_sinh(built: Project) -> None:
    chance = random.Random(3)
    xs = [-(10 ** chance.uniform(-18, 2.8)) for _ in range(5000)] + [-0.7, -0.0, -1e-300, -700.0]
    path = built.folder / "x.parquet"
    pl.DataFrame({"x": xs}).write_parquet(path)
    for macro in ("default___one_minus_exp", "duckdb___one_minus_exp"):
        rows = built.query(
            built.render(f"select x, {{{{ passk.{macro}('x') }}}} from read_parquet('{path}')")
        )
        largest = max(
            (abs(float(mpf(value) / -mpmath.expm1(mpf(x)) - 1)), x) for x, value in rows if x
        )
        print(f"{macro}: at most {largest[0]:.2e} at x = {largest[1]}")
        assert largest[0] <= 1e-15
