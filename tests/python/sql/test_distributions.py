"""Tails and quantiles in SQL against forty digits."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING, Final

import mpmath
import polars as pl
import pytest
from mpmath import mpf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conftest import Project

LEVELS: Final = (0.8, 0.9, 0.95, 0.99)

pytestmark = pytest.mark.usefixtures("forty_digits")


@pytest.fixture(scope="module")
def forty_digits() -> Iterator[None]:
    with mpmath.workdps(40):
        yield


@pytest.fixture(scope="module")
def sql(make_project: Callable[[], Project]) -> Project:
    """A project whose macros are rendered, and a database to run them on."""
    return make_project()


def evaluate(
    project: Project, call: str, columns: dict[str, Sequence[float | None]]
) -> list[float]:
    path = project.folder / "arguments.parquet"
    pl.DataFrame(columns, strict=False).with_row_index("row").write_parquet(path)
    rendered = f"select {{{{ passk.{call} }}}} from read_parquet('{path}') order by row"
    return [row[0] for row in project.query(project.render(rendered))]


def test_the_normal_tail_keeps_its_relative_accuracy(sql: Project) -> None:
    points = [i / 100 for i in range(3700)]
    for z, actual in zip(points, evaluate(sql, "normal_tail('z')", {"z": points}), strict=True):
        exact = float(mpmath.erfc(z / mpmath.sqrt(2)) / 2)
        assert actual == pytest.approx(exact, rel=5e-13, abs=0), z


def test_the_other_side_of_the_normal_tail_is_what_is_left(sql: Project) -> None:
    points = [-i / 10 for i in range(400)]
    for z, actual in zip(points, evaluate(sql, "normal_tail('z')", {"z": points}), strict=True):
        assert actual == pytest.approx(float(mpmath.erfc(z / mpmath.sqrt(2)) / 2), rel=1e-15), z


def test_no_number_has_no_tail(sql: Project) -> None:
    tails = evaluate(sql, "normal_tail('z')", {"z": [None, inf, -inf]})
    assert tails == [None, 0, 1]
    assert evaluate(sql, "normal_tail('z')", {"z": [nan]})[0] in (None, 0)


@pytest.mark.parametrize("level", LEVELS)
def test_normal_quantiles(sql: Project, level: float) -> None:
    exact = mpmath.sqrt(2) * mpmath.erfinv(mpf(str(level)))
    (actual,) = evaluate(sql, f"normal_quantile({level})", {"a": [1.0]})
    assert actual == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize("level", LEVELS)
def test_student_quantiles_leave_as_much_on_both_sides_as_they_say(
    sql: Project, level: float
) -> None:
    degrees = [*range(1, 80), 100, 300, 1000, 10_000, 1_000_001]
    quantiles = evaluate(sql, f"student_quantile('d', {level})", {"d": [float(d) for d in degrees]})
    for d, t in zip(degrees, quantiles, strict=True):
        outside = mpmath.betainc(mpf(d) / 2, mpf(1) / 2, 0, d / (d + mpf(t) ** 2), regularized=True)
        assert float(outside) == pytest.approx(float(1 - mpf(str(level))), rel=3e-8), d


def test_what_is_no_number_of_degrees_has_no_quantile(sql: Project) -> None:
    assert (
        evaluate(sql, "student_quantile('d', 0.95)", {"d": [None, 0.0, -1.0, 1.5, 31.5, inf]})
        == [None] * 6
    )


@pytest.mark.parametrize(
    ("degrees", "limit"), [(1, 0.005), (2, 0.0025), (4, 0.0015), (10, 0.0006), (30, 0.0002)]
)
def test_the_chi_square_tail_is_as_near_as_it_says(
    sql: Project, degrees: int, limit: float
) -> None:
    points = [i / 10 for i in range(800)]
    tails = evaluate(sql, f"chi_square_tail('x', {degrees})", {"x": points})
    for x, actual in zip(points, tails, strict=True):
        exact = float(mpmath.gammainc(mpf(degrees) / 2, mpf(x) / 2, mpmath.inf, regularized=True))
        assert abs(actual - exact) < (limit if exact <= 0.1 else 10 * limit), x
