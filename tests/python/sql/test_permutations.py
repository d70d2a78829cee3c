"""The permutation test of a task's two runs, against exact rationals and against every way to deal its attempts."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

from passk_py.stats.permutations import variance_of_difference

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


def rows(
    project: Project, names: tuple[str, str, str], states: Iterable[State], macro: str, select: str
) -> list[tuple[Any, ...]]:
    """Run the CTEs of a macro for these states."""
    path = project.folder / "pooled.parquet"
    pl.DataFrame(list(states), schema=dict.fromkeys(names, pl.Int64()), orient="row").write_parquet(
        path
    )
    return project.query(
        project.render(
            f"with pooled as (select * from read_parquet('{path}')), {{{{ {macro} }}}} {select}"
        )
    )


def outcomes(project: Project, states: Iterable[State], select: str) -> list[tuple[Any, ...]]:
    """Run the SQL of the outcomes for these states."""
    names = ("baseline_n", "candidate_n", "passes")
    return rows(project, names, states, "passk._permuted_outcomes()", select)


def variances(
    project: Project, states: Iterable[State], ks: list[int] = KS
) -> dict[tuple[State, int], float]:
    """Run the SQL of the variances for these states."""
    names = ("fewer_n", "more_n", "passes")
    macro = f"passk._permutation_variances({ks})"
    found = rows(project, names, states, macro, "select * from variances")
    assert len(found) == len({row[:4] for row in found})
    return {((fewer, more, passes), k): value for fewer, more, passes, k, value in found}


def in_order(states: Iterable[State]) -> list[State]:
    """Give the states with the fewer attempts first: to a square it is the same."""
    return sorted({(min(a, b), max(a, b), passes) for a, b, passes in states})


def share(c: int, n: int, k: int) -> Fraction:
    return Fraction(comb(c, k), comb(n, k))


def exact_chance(state: State, drawn: int) -> Fraction:
    a, b, passes = state
    return Fraction(comb(passes, drawn) * comb(a + b - passes, b - drawn), comb(a + b, b))


def possible(state: State) -> range:
    a, b, passes = state
    return range(max(0, passes - a), min(passes, b) + 1)


def exact_variance(state: State, k: int) -> Fraction:
    """Give E[A^2] + E[B^2] - 2 E[A B], from the chances that 2k and fewer attempts are passes.

    C(d, k)^2 is the sum over j of C(j, k) C(k, j - k) C(d, j), because two subsets of k have j in all.
    """
    a, b, passes = state

    def mean_square(n: int) -> Fraction:
        return Fraction(
            sum(
                comb(j, k) * comb(k, j - k) * comb(n, j) * share(passes, a + b, j)
                for j in range(k, min(2 * k, n) + 1)
            ),
            comb(n, k) ** 2,
        )

    both = share(passes, a + b, 2 * k)
    return mean_square(a) + mean_square(b) - 2 * both


def dealt_variance(state: State, k: int) -> Fraction:
    """The same from all ways to deal the attempts, one by one."""
    a, b, passes = state
    differences = []
    for dealt in combinations(range(a + b), b):
        drawn = sum(number < passes for number in dealt)
        differences.append(share(drawn, b, k) - share(passes - drawn, a, k))
    assert sum(differences) == 0
    return sum((d * d for d in differences), Fraction(0)) / len(differences)


def test_variances_in_python_are_the_nearest_numbers_to_exact_ones() -> None:
    small = [
        (a, b, passes) for a in range(1, 9) for b in range(1, 9) for passes in range(a + b + 1)
    ]
    large = [(98, 100, 61), (100, 100, 199), (20, 200, 110), (200, 150, 7), (300, 301, 600)]
    for state in (*small, *large):
        for k in (k for k in KS if k <= min(state[:2])):
            assert variance_of_difference(*state, k) == float(exact_variance(state, k)), (state, k)
    for state in ((2, 3, 2), (4, 4, 5), (5, 3, 6)):
        assert variance_of_difference(*state, 2) == float(dealt_variance(state, 2))


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


def check_variances(
    found: dict[tuple[State, int], float], states: list[State], ks: list[int], error: float
) -> None:
    """Hold the variances against exact rationals; the SQL has no row where the variance is 0."""
    assert found
    asked = {(state, k) for state in states for k in ks if k <= state[0]}
    assert set(found) <= asked
    for state, k in asked:
        exact = exact_variance(state, k)
        if (state, k) not in found:
            assert exact == 0, (state, k)
        elif exact > Fraction(1, 10**290):
            assert found[state, k] == pytest.approx(float(exact), rel=error, abs=0), (state, k)


def test_variances_of_all_small_counts(sql: Project) -> None:
    states = in_order(SMALL)
    check_variances(variances(sql, states), states, KS, 2e-14)


def test_variances_of_large_counts(sql: Project) -> None:
    states = in_order(LARGE)
    check_variances(variances(sql, states), states, KS, 1e-12)


def test_variances_of_thousands_of_attempts_and_more(sql: Project) -> None:
    """The work does not grow with n, and digits do not get lost."""
    states = [
        (least, most, passes)
        for least, most in ((4_000, 4_000), (3_999, 4_000), (120, 5_000), (10**6, 10**6 + 1))
        for passes in (150, least // 2 + 100, least + most - 1)
    ]
    ks = [1, 2, 8, 100]
    check_variances(variances(sql, states, ks), states, ks, 1e-12)


def test_a_task_that_only_passed_or_only_failed_has_no_variance(sql: Project) -> None:
    assert variances(sql, [(3, 5, 0), (3, 5, 8)]) == {}


def test_chances_of_large_counts(sql: Project) -> None:
    found = outcomes(
        sql, LARGE, "select baseline_n, candidate_n, passes, drawn, chance from outcomes"
    )
    assert {row[:4] for row in found} == {(*state, j) for state in LARGE for j in possible(state)}
    for *state, drawn, chance in found:
        exact = exact_chance(tuple(state), drawn)  # type: ignore[arg-type]
        assert chance == pytest.approx(float(exact), rel=1e-12, abs=1e-300), (state, drawn)


def test_variance_at_k_1_has_a_closed_form(sql: Project) -> None:
    found = variances(sql, in_order(LARGE), [1])
    assert {state for state, _ in found} == set(in_order(LARGE))
    for (a, b, passes), _ in found:
        n = a + b
        exact = (Fraction(1, a) + Fraction(1, b)) * Fraction(passes * (n - passes), n * (n - 1))
        assert found[(a, b, passes), 1] == pytest.approx(float(exact), rel=1e-12, abs=0)


@pytest.mark.long
@pytest.mark.parametrize("most", [1, 9, 10, 123, 99999])
def test_numbers_are_those_that_are_needed(sql: Project, most: int) -> None:
    """Up to the most attempts that the package says that it can compare, and not beyond."""
    assert int(sql.render("{{ passk._most_numbered() }}")) == 99999
    for state in ((most, 1, 1), (1, most, 1)):
        (found,) = outcomes(sql, [state], "select min(number), max(number), count(*) from numbers")
        assert found == (0, most, most + 1)
