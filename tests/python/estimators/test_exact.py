"""The estimators against exact rationals, in every regime and for n up to a million."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb, lgamma, perm
from typing import TYPE_CHECKING

import mpmath
import polars as pl
import pytest

from passk_py.stats import estimators as est
from passk_py.stats.numerics import let, log1p_nonnegative, log_beta_moment, one_minus_exp

if TYPE_CHECKING:
    from collections.abc import Callable

Point = tuple[int, int, int]
SMALLEST = 1e-300

SIZES = (50, 99, 100, 200, 500, 1_000, 2_000, 10_000, 100_000, 999_983, 1_000_000)


def points() -> list[Point]:
    """Everything up to n = 28, and the edges and the middle of larger n."""
    found = {(n, c, k) for n in range(1, 29) for c in range(n + 1) for k in range(1, n + 1)}
    dice = random.Random(20211107)
    for n in SIZES:
        passes = {0, 1, 2, 3, 10, 11, 12, n // 10, n // 3, n // 2, n - n // 10}
        passes |= {n - 12, n - 11, n - 3, n - 2, n - 1, n}
        passes |= {dice.randint(0, n) for _ in range(14)}
        for c in passes:
            drawn = {1, 2, 3, 5, 8, 10, 12, 32, 33, 50, 100, n // 2, n - 1, n}
            # Where the impossible, the certain and the change of formula meet.
            for edge in (c, n - c):
                drawn |= {edge + step for step in (-30, -12, -11, -10, -9, -1, 0, 1)}
            drawn |= {round(n ** dice.random()) for _ in range(26)}
            found |= {(n, c, k) for k in drawn if 1 <= k <= n}
    return sorted(found)


def representable(n: int, c: int, k: int) -> bool:
    """Tell, without the exact value, whether C(c, k) / C(n, k) can be above 1e-300."""
    if k > c:
        return True
    return lgamma(c + 1) - lgamma(c - k + 1) - lgamma(n + 1) + lgamma(n - k + 1) > -695.0


def exact(n: int, c: int, k: int) -> tuple[float, float]:
    """Give C(c, k) / C(n, k), and 1 less it, as the nearest floats.

    The quotient of two Python integers is rounded once, however long they are.
    """
    if k > c:
        return 0.0, 1.0
    # Either the k drawn are among the c passes, or the n - c failures among those not drawn.
    if k <= n - c:
        part, whole = perm(c, k), perm(n, k)
    else:
        part, whole = perm(n - k, n - c), perm(n, n - c)
    value = part / whole if whole.bit_length() - part.bit_length() < 1_000 else 0.0
    return value, (whole - part) / whole


@pytest.fixture(scope="module")
def computed() -> pl.DataFrame:
    """Give every point with its estimates; ``fail_all_k`` is 1 - pass@k."""
    frame = pl.DataFrame(points(), schema=["n", "c", "k"], orient="row")
    failed = pl.col("n") - pl.col("c")
    return frame.with_columns(
        est.pass_at_k("n", "c", "k"),
        est.pass_hat_k("n", "c", "k"),
        fail_all_k=est.pass_hat_k("n", failed, "k"),
    )


def worst(
    table: pl.DataFrame, column: str, truth: Callable[[int, int, int], float | None]
) -> tuple[float, tuple[object, ...], int]:
    """Give the largest relative error, where it is, and over how many points."""
    top: tuple[float, tuple[object, ...]] = (0.0, ())
    seen = 0
    for n, c, k, got in table.select("n", "c", "k", column).iter_rows():
        want = truth(n, c, k)
        if want is None:
            assert 0.0 <= got < 1e-295, (n, c, k, got)
            continue
        seen += 1
        if got == want:
            continue
        assert 0.0 < want < 1.0, f"{column}{(n, c, k)} must be exactly {want}, is {got}"
        error = abs(got - want) / want
        top = max(top, (error, (n, c, k, got, want)))
    return *top, seen


def hat(n: int, c: int, k: int) -> float | None:
    if not representable(n, c, k):
        return None
    value = exact(n, c, k)[0]
    return value if value >= SMALLEST or k > c else None


def at(n: int, c: int, k: int) -> float:
    return exact(n, n - c, k)[1] if representable(n, n - c, k) else 1.0


def test_the_sample_is_large(computed: pl.DataFrame) -> None:
    assert computed.height >= 20_000
    assert computed["n"].max() == 1_000_000


def test_pass_at_k(computed: pl.DataFrame) -> None:
    error, where, seen = worst(computed, "pass_at_k", at)
    assert error <= 1e-15, where
    assert seen >= 20_000


def test_pass_hat_k(computed: pl.DataFrame) -> None:
    error, where, seen = worst(computed, "pass_hat_k", hat)
    assert error <= 4e-13, where
    assert seen >= 14_000


def test_one_minus_pass_at_k(computed: pl.DataFrame) -> None:
    error, where, seen = worst(computed, "fail_all_k", lambda n, c, k: hat(n, n - c, k))
    assert error <= 4e-13, where
    assert seen >= 14_000


def test_pass_hat_k_away_from_underflow(computed: pl.DataFrame) -> None:
    error, where, _ = worst(computed.filter(pl.col("pass_hat_k") > 1e-3), "pass_hat_k", hat)
    assert error <= 5e-15, where


def test_the_reference_is_that_of_fractions() -> None:
    for n, c, k in points()[::97]:
        if n > 2_000 or not representable(n, c, k):
            continue
        ratio = Fraction(comb(c, k), comb(n, k))
        assert exact(n, c, k) == (float(ratio), float(1 - ratio))


@pytest.mark.parametrize("k", [1, 2, 3, 5, 10, 31, 32, 33, 100])
def test_k_as_a_number(k: int) -> None:
    sample = sorted({(n, c, k) for n, c, _ in points() if n >= k})
    table = pl.DataFrame(sample, schema=["n", "c", "k"], orient="row").with_columns(
        est.pass_at_k("n", "c", k), est.pass_hat_k("n", "c", k)
    )
    error, where, _ = worst(table, "pass_at_k", at)
    assert error <= 2e-15, where
    error, where, _ = worst(table, "pass_hat_k", hat)
    assert error <= (5e-15 if k <= 32 else 4e-13), where


def test_at_k_1_both_are_c_over_n_to_the_bit(computed: pl.DataFrame) -> None:
    once = computed.filter(pl.col("k") == 1)
    rate = once["c"] / once["n"]
    for column in ("pass_at_k", "pass_hat_k"):
        assert once[column].equals(rate.alias(column)), column
    for name in ("pass_at_k", "pass_hat_k", "pass_at_k_plugin", "pass_hat_k_plugin"):
        by_number = once.select(getattr(est, name)("n", "c", 1)).to_series()
        assert by_number.equals(rate.alias(name)), name


def test_log_choose() -> None:
    pairs = [(n, k) for n in range(60) for k in range(n + 1)]
    pairs += [(n, k) for n in (200, 1_000, 10**6) for k in (1, 2, 3, 9, 12, 100)]
    pairs += [(n, n - k) for n in (200, 1_000, 10**6) for k in (1, 2, 3, 9, 12, 100)]
    pairs += [(10_000, 5_000), (30_000, 15_000)]
    table = pl.DataFrame(pairs, schema=["n", "k"], orient="row").with_columns(
        est.log_choose("n", "k")
    )
    with mpmath.workdps(40):
        for n, k, got in table.iter_rows():
            want = mpmath.log(comb(n, k))
            assert abs(got - want) <= 1e-15 * want, (n, k)


def test_plugins_do_not_cancel() -> None:
    sample = [
        (n, c, k)
        for n in (1, 2, 3, 7, 10, 200, 999_983, 10**6)
        for c in {0, 1, 2, n // 3, n // 2, n - 2, n - 1, n}
        for k in (1, 2, 3, 8, 16, 17, 40, 1_000, 10**6)
        if 0 <= c <= n
    ]
    table = pl.DataFrame(sample, schema=["n", "c", "k"], orient="row").with_columns(
        est.pass_at_k_plugin("n", "c", "k"), est.pass_hat_k_plugin("n", "c", "k")
    )
    with mpmath.workdps(40):
        for n, c, k, any_, all_ in table.iter_rows():
            want_any = 1 - (1 - mpmath.mpf(c) / n) ** k
            want_all = (mpmath.mpf(c) / n) ** k
            assert abs(any_ - want_any) <= 1e-15 * want_any, (n, c, k)
            if want_all > SMALLEST or c in (0, n):
                # Half a unit in the last place of c / n for each factor of a power, or one of the
                # logarithm, which is at most 690.
                room = 4e-16 * (2 - mpmath.log(want_all)) + 1.2e-16 * min(k, 16) if c else 0
                assert abs(all_ - want_all) <= room * want_all, (n, c, k)


def test_pooled_and_the_bound_of_delta_k() -> None:
    sample = [
        (m, k)
        for m in (0.0, 1e-12, 1e-3, 0.25, 0.5, 0.9, 1 - 1e-3, 1 - 1e-9, 1.0)
        for k in (1, 2, 3, 8, 100, 10_000)
    ]
    table = pl.DataFrame(sample, schema=["m", "k"], orient="row").with_columns(
        est.pass_at_k_pooled("m", "k"), est.pass_hat_k_pooled("m", "k"), est.delta_k_max("m", "k")
    )
    with mpmath.workdps(60):
        for m, k, any_, all_, bound in table.iter_rows():
            exact_m = mpmath.mpf(m)
            for got, want in (
                (any_, 1 - (1 - exact_m) ** k),
                (all_, exact_m**k),
                (bound, exact_m - exact_m**k),
            ):
                if want > SMALLEST or want == 0:
                    assert abs(got - want) <= 1e-15 * want, (m, k)


def test_log_moment_of_real_parameters() -> None:
    """Posteriors and the beta-binomial have parameters that are not whole."""
    dice = random.Random(1)
    sample = [
        (10 ** dice.uniform(-2, 6), 10 ** dice.uniform(-2, 6), float(dice.randint(1, 10_000)))
        for _ in range(400)
    ]
    table = pl.DataFrame(sample, schema=["a", "b", "k"], orient="row").with_columns(
        moment=log_beta_moment(pl.col("a"), pl.col("b"), pl.col("k"))
    )
    with mpmath.workdps(60):
        for a, b, k, got in table.iter_rows():
            a_, b_, k_ = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(k)
            want = (
                mpmath.loggamma(a_ + k_)
                + mpmath.loggamma(a_ + b_)
                - mpmath.loggamma(a_)
                - mpmath.loggamma(a_ + b_ + k_)
            )
            assert abs(got - want) <= 2e-13 * abs(want), (a, b, k)


def test_logarithm_and_exponential_near_zero() -> None:
    sizes = [10.0**exponent for exponent in range(-300, 3)]
    sizes += [0.0, 0.3, 0.7, 1.0, 5.0, 36.0, 40.0, 700.0, 745.0, 1e5]
    field = pl.field
    table = pl.DataFrame({"y": sizes}).with_columns(
        log1p=let(
            {"y": pl.col("y")},
            {"u": 1.0 + field("y")},
            {"out": log1p_nonnegative(field("y"), field("u"))},
        ),
        rest=one_minus_exp(-pl.col("y")),
        certain=one_minus_exp(pl.col("y") * -float("inf")),
    )
    with mpmath.workdps(400):
        for y, log1p, rest, certain in table.iter_rows():
            want = mpmath.log1p(y)
            assert abs(log1p - want) <= 4e-16 * want, y
            want = -mpmath.expm1(-mpmath.mpf(y))
            assert abs(rest - want) <= 4e-16 * want, y
            if y > 0.0:
                assert certain == 1.0
