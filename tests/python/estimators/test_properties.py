"""Properties that hold for all counts, whatever the numbers are."""

from __future__ import annotations

import math
from itertools import pairwise

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_py.stats import estimators as est

# Two neighbours in k may each be off by this much, relatively.
ROOM = 1e-12


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.one_of(st.integers(1, 40), st.integers(1, 1_000_000)))
    c = draw(st.one_of(st.integers(0, n), st.sampled_from([0, n, n // 2, min(1, n), n - 1])))
    k = draw(st.one_of(st.integers(1, n), st.sampled_from([1, n, max(1, c), max(1, n - c)])))
    return n, c, k


def value(expr: pl.Expr) -> float:
    found = pl.select(expr).item()
    assert isinstance(found, float)
    return found


@settings(max_examples=80, deadline=None)
@given(st.lists(counts(), min_size=1, max_size=50))
def test_probabilities_and_symmetry(rows: list[tuple[int, int, int]]) -> None:
    failed = pl.col("n") - pl.col("c")
    table = pl.DataFrame(rows, schema=["n", "c", "k"], orient="row").with_columns(
        est.pass_at_k("n", "c", "k"),
        est.pass_hat_k("n", "c", "k"),
        est.pass_at_k_plugin("n", "c", "k"),
        est.pass_hat_k_plugin("n", "c", "k"),
        fail_all_k=est.pass_hat_k("n", failed, "k"),
        fail_any_k=est.pass_at_k("n", failed, "k"),
    )
    for row in table.iter_rows(named=True):
        for name in table.columns[3:]:
            assert 0.0 <= row[name] <= 1.0, row
        assert abs(row["pass_at_k"] - (1.0 - row["fail_all_k"])) <= 1e-15, row
        assert abs(row["pass_hat_k"] - (1.0 - row["fail_any_k"])) <= 1e-15, row
        # All of k succeed only if any does; drawing without replacement helps pass@k.
        assert row["pass_hat_k"] <= row["pass_at_k"], row
        assert row["pass_at_k_plugin"] <= row["pass_at_k"] * (1 + ROOM), row
        assert row["pass_hat_k"] <= row["pass_hat_k_plugin"] * (1 + ROOM), row


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_monotone_in_k(task: tuple[int, int]) -> None:
    n, c = task
    table = pl.DataFrame({"k": range(1, n + 1)}).select(
        "k", at=est.pass_at_k(n, c, "k"), hat=est.pass_hat_k(n, c, "k")
    )
    at, hat = table["at"].to_list(), table["hat"].to_list()
    for before, after in pairwise(at):
        assert after >= before * (1 - ROOM)
    for before, after in pairwise(hat):
        assert after <= before * (1 + ROOM)
    assert at[-1] == (1.0 if c else 0.0)
    assert hat[-1] == (1.0 if c == n else 0.0)


@settings(max_examples=60, deadline=None)
@given(st.tuples(st.integers(2, 500), st.integers(1, 60)).filter(lambda pair: pair[1] <= pair[0]))
def test_monotone_in_c(pair: tuple[int, int]) -> None:
    n, k = pair
    table = pl.DataFrame({"c": range(n + 1)}).select(
        at=est.pass_at_k(n, "c", k), hat=est.pass_hat_k(n, "c", k)
    )
    for name in ("at", "hat"):
        values = table[name].to_list()
        for before, after in pairwise(values):
            assert after >= before * (1 - ROOM)


@settings(max_examples=40, deadline=None)
@given(counts())
def test_a_number_and_a_column_agree(task: tuple[int, int, int]) -> None:
    n, c, k = task
    row = pl.DataFrame([task], schema=["n", "c", "k"], orient="row")
    for function in (est.pass_at_k, est.pass_hat_k):
        by_column = row.select(function("n", "c", "k")).item()
        assert value(function(n, c, k)) == row.select(function("n", "c", k)).item()
        assert math.isclose(value(function(n, c, k)), by_column, rel_tol=ROOM, abs_tol=1e-300)


@settings(max_examples=80, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 500))
def test_bounds_of_the_pooled_forms(pass_1: float, share: float, k: int) -> None:
    pooled = value(est.pass_hat_k_pooled(pass_1, k))
    bound = value(est.delta_k_max(pass_1, k))
    assert 0.0 <= pooled <= pass_1 <= value(est.pass_at_k_pooled(pass_1, k)) * (1 + ROOM)
    assert bound >= 0.0
    assert abs(bound - (pass_1 - pooled)) <= 1e-15
    place = pl.select(est.heterogeneity(share * bound, pass_1, k)).item()
    assert place is None if bound == 0.0 else abs(place - share) <= 1e-9 or bound < 1e-300
