"""The moments behind the diagnostics, against all orders of the verdicts, in exact rationals."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from passk_py.metrics.diagnostics import moments as twin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import Project

MOST = 8


@pytest.fixture(scope="module")
def sql(make_project: Callable[[], Project]) -> Project:
    return make_project()


def evaluate(
    project: Project, call: str, columns: Sequence[str], rows: Sequence[Sequence[int]]
) -> list[Any]:
    """Run a call for each row of a table."""
    path = project.folder / "arguments.parquet"
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.Int64()), orient="row")
    frame.with_row_index("row").write_parquet(path)
    rendered = project.render(
        f"select {{{{ passk.{call} }}}} from read_parquet('{path}') order by row"
    )
    return [row[0] for row in project.query(rendered)]


def orders(n: int, c: int) -> list[tuple[int, ...]]:
    return [
        tuple(int(place in passes) for place in range(n))
        for passes in itertools.combinations(range(n), c)
    ]


def moments(values: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    mean = sum(values, Fraction(0)) / len(values)
    return mean, sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)


def tasks() -> list[tuple[int, int]]:
    return [(n, c) for n in range(1, MOST + 1) for c in range(n + 1)]


def test_switches_over_all_orders(sql: Project) -> None:
    means = evaluate(sql, "switches_expected('n', 'c')", ["n", "c"], tasks())
    variances = evaluate(sql, "switches_variance('n', 'c')", ["n", "c"], tasks())
    for (n, c), mean, variance in zip(tasks(), means, variances, strict=True):
        seen = [
            Fraction(sum(a != b for a, b in itertools.pairwise(order))) for order in orders(n, c)
        ]
        assert (mean, variance) == pytest.approx([float(x) for x in moments(seen)], rel=1e-14)


def test_places_over_all_orders(sql: Project) -> None:
    means = evaluate(sql, "rank_sum_expected('n', 'c')", ["n", "c"], tasks())
    variances = evaluate(sql, "rank_sum_variance('n', 'c')", ["n", "c"], tasks())
    for (n, c), mean, variance in zip(tasks(), means, variances, strict=True):
        seen = [Fraction(sum(p * x for p, x in enumerate(order, 1))) for order in orders(n, c)]
        assert (mean, variance) == pytest.approx([float(x) for x in moments(seen)], rel=1e-14)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_windows_over_all_orders(sql: Project, k: int) -> None:
    points = [(n, c) for n, c in tasks() if n >= k]
    variances = evaluate(sql, f"window_variance('n', 'c', {k})", ["n", "c"], points)
    for (n, c), variance in zip(points, variances, strict=True):
        shares = [
            Fraction(sum(all(order[i : i + k]) for i in range(n - k + 1)), n - k + 1)
            for order in orders(n, c)
        ]
        mean, exact = moments(shares)
        assert mean == Fraction(comb(c, k), comb(n, k))
        assert variance == pytest.approx(float(exact), rel=1e-13, abs=1e-16)
        assert twin.window_variance(n, c, k) == pytest.approx(float(exact), rel=1e-13, abs=1e-16)


def test_windows_of_large_n_are_those_of_the_sum_over_all_pairs(sql: Project) -> None:
    points = [(n, c) for n in (30, 100, 126) for c in range(0, n + 1, 7)]
    variances = evaluate(sql, "window_variance('n', 'c', 6)", ["n", "c"], points)
    for (n, c), variance in zip(points, variances, strict=True):
        count, pairs = n - 5, Fraction(0)
        for one, other in itertools.product(range(count), repeat=2):
            together = min(6 + abs(one - other), 12)
            pairs += Fraction(comb(c, together), comb(n, together))
        exact = pairs / count**2 - Fraction(comb(c, 6), comb(n, 6)) ** 2
        assert variance == pytest.approx(float(exact), rel=1e-9, abs=1e-15)


def test_sessions_over_all_choices(sql: Project) -> None:
    points = [(first, n, c) for n, c in tasks() for first in range(n + 1)]
    columns = ["first", "n", "c"]
    variances = evaluate(sql, "session_variance('first', 'n', 'c')", columns, points)
    squares = evaluate(sql, "session_square_variance('first', 'n', 'c')", columns, points)
    for (first, n, c), variance, square in zip(points, variances, squares, strict=True):
        hits = [Fraction(sum(order[:first])) for order in orders(n, c)]
        mean, exact = moments(hits)
        assert mean == Fraction(first * c, n)
        of_square = moments([(hit - mean) ** 2 for hit in hits])[1]
        assert variance == pytest.approx(float(exact), rel=1e-14)
        assert square == pytest.approx(float(of_square), rel=1e-12, abs=1e-16)
        # A task that can't vary must not take part in a test by its rounding.
        assert (square > 1e-12) == (of_square > 0)
        assert twin.session_moments(first, n, c) == pytest.approx(
            (float(exact), float(of_square)), rel=1e-12, abs=1e-15
        )


def test_sessions_of_large_n(sql: Project) -> None:
    points = [(f, n, c) for n in (20, 60) for f in (2, 7, n // 2) for c in (2, 9, n // 2, n - 3)]
    columns = ["first", "n", "c"]
    squares = evaluate(sql, "session_square_variance('first', 'n', 'c')", columns, points)
    for (f, n, c), square in zip(points, squares, strict=True):
        chances = {
            hit: Fraction(comb(c, hit) * comb(n - c, f - hit), comb(n, f))
            for hit in range(max(0, f + c - n), min(f, c) + 1)
        }
        mean = Fraction(f * c, n)
        second = sum(chance * (hit - mean) ** 2 for hit, chance in chances.items())
        fourth = sum(chance * (hit - mean) ** 4 for hit, chance in chances.items())
        assert square == pytest.approx(float(fourth - second**2), rel=1e-12)


def test_flip_rate_undoes_the_chance_of_two_verdicts(sql: Project) -> None:
    points = [(different, pairs) for pairs in range(12) for different in range(pairs + 1)]
    rates = evaluate(sql, "flip_rate('d', 'pairs')", ["d", "pairs"], points)
    for (different, pairs), rate in zip(points, rates, strict=True):
        if pairs == 0:
            assert rate is None
        elif 2 * different >= pairs:
            assert rate == 0.5
        else:
            assert 2 * rate * (1 - rate) == pytest.approx(different / pairs, abs=1e-15)


def test_cochran_q_is_null_without_a_task_that_passes_and_fails(sql: Project) -> None:
    points = [(4, 36, 12, 48), (4, 0, 0, 0), (2, 4, 2, 2)]
    columns = ["n", "squares", "passes", "of_tasks"]
    found = evaluate(sql, "cochran_q('n', 'squares', 'passes', 'of_tasks')", columns, points)
    assert found == [None, None, 2.0]


@pytest.mark.parametrize("p", [None, 0.04, 0.05, 0.5])
@pytest.mark.parametrize("tasks_", [None, 0, 9, 10])
def test_verdicts(sql: Project, p: float | None, tasks_: int | None) -> None:
    p_ = "cast(null as double)" if p is None else p
    count = "cast(null as bigint)" if tasks_ is None else tasks_
    call = f"diagnostic_verdict('{p_}', '{count}', 0.05)"
    enough = p is not None and tasks_ == 10
    expected = ("warning" if p == 0.04 else "ok") if enough else "insufficient"
    assert sql.query(sql.render(f"select {{{{ passk.{call} }}}}")) == [(expected,)]


@pytest.mark.parametrize(
    ("call", "mistake"),
    [
        ("switches_expected(0, 0)", "passk.switches_expected: n is 0, but must be an integer of at least 1."),
        ("switches_variance(3, 4)", "passk.switches_variance: c is 4, but must be at most n, which is 3."),
        ("rank_sum_expected(3, none)", "passk.rank_sum_expected: c is null, but must be a column, an SQL expression or an integer."),
        ("rank_sum_variance(3, -1)", "passk.rank_sum_variance: c is -1, but must be an integer of at least 0."),
        ("window_variance('n', 'c', 'k')", 'passk.window_variance: k is "k", but must be an integer of at least 1.'),
        ("session_variance(5, 4, 2)", "passk.session_variance: first is 5, but must be at most n, which is 4."),
        ("session_square_variance(1, 4, 1.5)", "passk.session_square_variance: c is 1.5, but must be an integer of at least 0."),
        ("flip_rate(3, 2)", "passk.flip_rate: disagreements is 3, but must be at most pairs, which is 2."),
        ("cochran_q(0, 1, 1, 1)", "passk.cochran_q: attempts is 0, but must be an integer of at least 1."),
        ("diagnostic_verdict(2, 10)", "passk.diagnostic_verdict: p is 2, but must be a number from 0 to 1."),
    ],
)  # fmt: skip
def test_wrong_literals_are_refused_in_words(sql: Project, call: str, mistake: str) -> None:
    with pytest.raises(Exception, match="passk") as caught:
        sql.render(f"{{{{ passk.{call} }}}}")
    assert mistake in str(caught.value)


@pytest.mark.parametrize(
    "call", ["switches_expected", "switches_variance", "rank_sum_expected", "rank_sum_variance"]
)
def test_data_that_can_not_be_right_gives_null(sql: Project, call: str) -> None:
    points = [(0, 0), (3, 4), (3, -1), (-2, 1)]
    assert evaluate(sql, f"{call}('n', 'c')", ["n", "c"], points) == [None] * 4
