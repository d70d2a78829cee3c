"""The permutation test of a task's two runs, against exact rationals and against every way to deal its attempts."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conftest import Project

State = tuple[int, int, int]
"""Attempts of the baseline, attempts of the candidate, passes of both together."""

KS: Final = [1, 2, 3, 4, 5, 7, 8, 20, 100, 150, 300]


@pytest.fixture(scope="module")
def sql(make_project: Callable[[], Project]) -> Project:
    """A project whose macros are rendered, and a database to run them on."""
    return make_project()


def rows(project: Project, states: Iterable[State], select: str) -> list[tuple[Any, ...]]:
    """Run the staged SQL for these states."""
    path = project.folder / "pooled.parquet"
    names = ("baseline_n", "candidate_n", "passes")
    pl.DataFrame(list(states), schema=dict.fromkeys(names, pl.Int64()), orient="row").write_parquet(
        path
    )
    return project.query(
        project.render(
            f"with pooled as (select * from read_parquet('{path}')), "
            f"{{{{ passk._permuted_outcomes() }}}}, {{{{ passk._permutation_variances({KS}) }}}} {select}"
        )
    )


def share(c: int, n: int, k: int) -> Fraction:
    return Fraction(comb(c, k), comb(n, k))


def exact_chance(state: State, drawn: int) -> Fraction:
    a, b, passes = state
    return Fraction(comb(passes, drawn) * comb(a + b - passes, b - drawn), comb(a + b, b))


def possible(state: State) -> range:
    a, b, passes = state
    return range(max(0, passes - a), min(passes, b) + 1)


def exact_variance(state: State, k: int) -> Fraction:
    a, b, passes = state
    return sum(
        (
            exact_chance(state, drawn) * (share(drawn, b, k) - share(passes - drawn, a, k)) ** 2
            for drawn in possible(state)
        ),
        Fraction(0),
    )


def dealt_variance(state: State, k: int) -> Fraction:
    """The same from all ways to deal the attempts, one by one."""
    a, b, passes = state
    differences = []
    for dealt in combinations(range(a + b), b):
        drawn = sum(number < passes for number in dealt)
        differences.append(share(drawn, b, k) - share(passes - drawn, a, k))
    assert sum(differences) == 0
    return sum((d * d for d in differences), Fraction(0)) / len(differences)


SMALL: Final = [(a, b, c) for a in range(1, 9) for b in range(1, 9) for c in range(1, a + b)]
LARGE: Final = [
    (a, b, c)
    for a, b in ((20, 20), (100, 100), (100, 37), (64, 300), (300, 300), (7, 200))
    for c in sorted({1, 2, 5, (a + b) // 3, (a + b) // 2, a + b - 9, a + b - 2, a + b - 1})
]


def test_the_variance_is_that_over_all_ways_to_deal_the_attempts() -> None:
    """The formula that the SQL is held against below."""
    cases = [state for state in SMALL if state[0] <= 5 and state[1] <= 5]
    for state in cases:
        for k in range(1, min(state[:2]) + 1):
            assert exact_variance(state, k) == dealt_variance(state, k)


def test_variances_of_all_small_counts(sql: Project) -> None:
    found = rows(sql, SMALL, "select baseline_n, candidate_n, passes, k, variance from variances")
    assert {row[:4] for row in found} == {
        (*state, k) for state in SMALL for k in KS if k <= min(state[:2])
    }
    for *state, k, variance in found:
        exact = exact_variance(tuple(state), k)  # type: ignore[arg-type]
        assert variance == pytest.approx(float(exact), rel=2e-14, abs=0)


def test_variances_of_large_counts(sql: Project) -> None:
    found = rows(sql, LARGE, "select baseline_n, candidate_n, passes, k, variance from variances")
    assert len(found) > 200
    for *state, k, variance in found:
        exact = exact_variance(tuple(state), k)  # type: ignore[arg-type]
        if exact and exact < Fraction(1, 10**290):
            continue
        assert variance == pytest.approx(float(exact), rel=1e-12, abs=0), (state, k)


def test_chances_of_large_counts(sql: Project) -> None:
    found = rows(sql, LARGE, "select baseline_n, candidate_n, passes, drawn, chance from outcomes")
    assert {row[:4] for row in found} == {(*state, j) for state in LARGE for j in possible(state)}
    for *state, drawn, chance in found:
        exact = exact_chance(tuple(state), drawn)  # type: ignore[arg-type]
        assert chance == pytest.approx(float(exact), rel=1e-12, abs=1e-300), (state, drawn)


def test_variance_at_k_1_has_a_closed_form(sql: Project) -> None:
    found = rows(sql, LARGE, "select * from variances where k = 1")
    assert len(found) == len(LARGE)
    for a, b, passes, _, variance in found:
        n = a + b
        exact = (Fraction(1, a) + Fraction(1, b)) * Fraction(passes * (n - passes), n * (n - 1))
        assert variance == pytest.approx(float(exact), rel=1e-12, abs=0)


@pytest.mark.long
@pytest.mark.parametrize("most", [1, 9, 10, 123, 99999])
def test_numbers_are_those_that_are_needed(sql: Project, most: int) -> None:
    """Up to the most attempts that the package says that it can compare, and not beyond."""
    assert int(sql.render("{{ passk._most_numbered() }}")) == 99999
    for state in ((most, 1, 1), (1, most, 1)):
        (found,) = rows(sql, [state], "select min(number), max(number), count(*) from numbers")
        assert found == (0, most, most + 1)
