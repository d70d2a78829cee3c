"""Null results, errors, and the frames in which the expressions work."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

import polars as pl
import pytest

from passk_py.common.errors import PasskError
from passk_py.stats import estimators as est

if TYPE_CHECKING:
    from collections.abc import Callable

OF_COUNTS = [est.pass_at_k, est.pass_hat_k, est.pass_at_k_plugin, est.pass_hat_k_plugin]
UNBIASED = OF_COUNTS[:2]


def one(expr: pl.Expr) -> object:
    return pl.select(expr).item()


# Columns are float so that they can hold anything.
BAD_ROWS = {
    "n null": (None, 2.0, 2.0),
    "c null": (4.0, None, 2.0),
    "k null": (4.0, 2.0, None),
    "n NaN": (math.nan, 2.0, 2.0),
    "c NaN": (4.0, math.nan, 2.0),
    "k NaN": (4.0, 2.0, math.nan),
    "n infinite": (math.inf, 2.0, 2.0),
    "c infinite": (4.0, math.inf, 2.0),
    "k infinite": (4.0, 2.0, math.inf),
    "n fractional": (4.5, 2.0, 2.0),
    "c fractional": (4.0, 2.5, 2.0),
    "k fractional": (4.0, 2.0, 1.5),
    "n negative": (-4.0, -4.0, 1.0),
    "c negative": (4.0, -1.0, 2.0),
    "k negative": (4.0, 2.0, -1.0),
    "k zero": (4.0, 2.0, 0.0),
    "c above n": (4.0, 5.0, 2.0),
    "n zero": (0.0, 0.0, 1.0),
    "n beyond exact floats": (2.0**53, 2.0, 2.0),
}


@pytest.mark.parametrize("case", BAD_ROWS)
@pytest.mark.parametrize("function", OF_COUNTS, ids=lambda f: f.__name__)
def test_data_that_cannot_be_right_give_null(function: Callable[..., pl.Expr], case: str) -> None:
    # Columns made of Python floats, so that the NaN stays one.
    names = ("n", "c", "k")
    row = pl.DataFrame(
        {
            name: pl.Series([v], dtype=pl.Float64)
            for name, v in zip(names, BAD_ROWS[case], strict=True)
        }
    )
    assert row.select(function("n", "c", "k")).item() is None
    k = BAD_ROWS[case][2]
    if k is not None and k >= 1 and k == k // 1:
        assert row.select(function("n", "c", int(k))).item() is None


@pytest.mark.parametrize("function", UNBIASED, ids=lambda f: f.__name__)
def test_too_few_attempts_give_null_for_data_and_numbers(function: Callable[..., pl.Expr]) -> None:
    assert one(function(3, 3, 4)) is None
    assert one(function(3, 0, 4)) is None
    assert one(function(0, 0, 1)) is None
    assert pl.DataFrame({"n": [3]}).select(function("n", 3, 40)).item() is None


def test_the_plugins_need_only_one_attempt() -> None:
    assert one(est.pass_hat_k_plugin(2, 1, 10)) == 2.0**-10
    assert one(est.pass_at_k_plugin(2, 1, 10)) == 1 - 2.0**-10
    assert one(est.pass_hat_k_plugin(0, 0, 1)) is None
    assert one(est.pass_at_k_plugin(0, 0, 1)) is None


def test_decided_before_any_arithmetic() -> None:
    million = 10**6
    for k in (2, 40):
        assert one(est.pass_at_k(million, 0, k)) == 0.0
        assert one(est.pass_at_k(million, million - k + 1, k)) == 1.0
        assert one(est.pass_at_k(million, million - k, k)) <= 1.0
        assert one(est.pass_hat_k(million, million, k)) == 1.0
        assert one(est.pass_hat_k(million, k - 1, k)) == 0.0
        assert one(est.pass_hat_k(million, k, k)) > 0.0


NOT_COUNTS = [-1, 2.5, math.nan, math.inf, True, 2**53, 10**400]


@pytest.mark.parametrize("wrong", NOT_COUNTS, ids=repr)
@pytest.mark.parametrize("argument", ["n", "c", "k"])
@pytest.mark.parametrize("function", OF_COUNTS, ids=lambda f: f.__name__)
def test_numbers_that_cannot_be_right_are_refused(
    function: Callable[..., pl.Expr], argument: str, wrong: float
) -> None:
    arguments: dict[str, object] = {"n": "n", "c": "c", "k": "k", argument: wrong}
    with pytest.raises(ValueError, match=f"^{function.__name__}: {argument} must be a whole"):
        function(**arguments)


def test_the_message_names_function_argument_value_and_what_is_allowed() -> None:
    with pytest.raises(est.ArgumentError) as caught:
        est.pass_at_k("n", "c", 0)
    assert caught.value.message == "pass_at_k: k must be a whole number from 1; got 0"
    assert isinstance(caught.value, PasskError)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match=r"^pass_hat_k: c must be at most n = 3; got 4"):
        est.pass_hat_k(3, 4, 2)


def test_whole_floats_are_numbers() -> None:
    assert one(est.pass_hat_k(4.0, 3.0, 2.0)) == 0.5


def test_none_is_null() -> None:
    assert one(est.pass_at_k(4, None, 2)) is None


@pytest.mark.parametrize("wrong", [[1, 2], {"k": 1}, 1j, Decimal(2), b"2"], ids=repr)
def test_other_types_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"^pass_at_k: k must be a whole number from 1"):
        est.pass_at_k("n", "c", wrong)  # type: ignore[arg-type]


REFUSED = {
    "log_choose n": (lambda: est.log_choose(-1, 0), "log_choose: n must be a whole number from 0"),
    "log_choose k": (lambda: est.log_choose(1, 0.5), "log_choose: k must be a whole number from 0"),
    "first_k": (lambda: est.pass_at_k_first_k("p", 0), "pass_at_k_first_k: k must be a whole"),
    "window": (lambda: est.pass_hat_k_window("p", 1.5), "pass_hat_k_window: k must be a whole"),
    "window passed": (
        lambda: est.pass_hat_k_window(True, 1),
        "pass_hat_k_window: passed must be a column name or an expression of type Boolean; got",
    ),
    "windows": (
        lambda: est.pass_at_k_from_windows(3, 2),
        "pass_at_k_from_windows: fail_windows must be at most windows = 2; got 3",
    ),
    "windows negative": (
        lambda: est.pass_hat_k_from_windows(-1, 2),
        "pass_hat_k_from_windows: pass_windows must be a whole number from 0; got -1",
    ),
    "rank": (
        lambda: est.pass_at_k_from_rank(0, 2, 1),
        "pass_at_k_from_rank: first_pass_rank must be a whole number from 1; got 0",
    ),
    "rank above n": (
        lambda: est.pass_hat_k_from_rank(3, 2, 1),
        "pass_hat_k_from_rank: first_fail_rank must be at most n = 2; got 3",
    ),
    "pooled": (
        lambda: est.pass_hat_k_pooled(1.1, 2),
        "pass_hat_k_pooled: pass_1 must be a number from 0 to 1; got 1.1",
    ),
    "pooled NaN": (
        lambda: est.pass_at_k_pooled(math.nan, 2),
        "pass_at_k_pooled: pass_1 must be a number from 0 to 1; got nan",
    ),
    "delta": (lambda: est.delta_k(0.5, -0.5, 2), "delta_k: pass_1 must be a number from 0 to 1"),
    "variance": (
        lambda: est.delta_k_unbiased(0.5, 0.5, -1, 4, 2),
        "delta_k_unbiased: var_pass_1 must be a number from 0 to 1; got -1",
    ),
    "tasks": (
        lambda: est.delta_k_unbiased(0.5, 0.5, 0.1, 2.5, 2),
        "delta_k_unbiased: tasks must be a whole number from 0; got 2.5",
    ),
    "heterogeneity": (
        lambda: est.heterogeneity(math.inf, 0.5, 2),
        "heterogeneity: delta_k must be a finite number; got inf",
    ),
    "task_class": (
        lambda: est.task_class("n", "c", consistent_rate=1.5),
        "task_class: consistent_rate must be a number from 0 to 1; got 1.5",
    ),
    "task_class crossed": (
        lambda: est.task_class("n", "c", consistent_rate=0.2, incapable_rate=0.2),
        "task_class: incapable_rate must be below consistent_rate = 0.2; got 0.2",
    ),
    "reading": (
        lambda: est.suite_reading("a", "b", capable_threshold=80),
        "suite_reading: capable_threshold must be a number from 0 to 1; got 80",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_the_other_functions(case: str) -> None:
    make, message = REFUSED[case]
    with pytest.raises(est.ArgumentError) as caught:
        make()
    assert caught.value.message.startswith(message)


def test_log_choose_outside() -> None:
    assert one(est.log_choose(3, 4)) is None
    table = pl.DataFrame({"n": [3, 3, -1, None], "k": [-1, 4, 0, 1]})
    assert table.select(est.log_choose("n", "k")).to_series().to_list() == [None] * 4
    assert one(est.log_choose(0, 0)) == 0.0
    assert one(est.log_choose(7, 7)) == 0.0


def test_delta_k_and_heterogeneity() -> None:
    # Half the tasks always pass, half never: the bound is reached.
    assert one(est.delta_k(0.5, 0.5, 2)) == 0.25 == one(est.delta_k_max(0.5, 2))
    assert one(est.heterogeneity(0.25, 0.5, 2)) == 1.0
    assert one(est.heterogeneity(0.0, 0.5, 1)) is None
    assert one(est.heterogeneity(0.0, 1.0, 3)) is None
    assert one(est.heterogeneity(0.0, 0.0, 3)) is None
    assert one(est.delta_k_max(0.3, 1)) == 0.0


def test_delta_k_unbiased_edges() -> None:
    make = est.delta_k_unbiased
    # 0 to the power 0 is 1: at k = 2 and a mean of 0 the correction is the variance of the mean.
    assert one(make(0.0, 0.0, 0.5, 2, 2)) == 0.25
    assert one(make(0.3, 0.3, 0.5, 2, 1)) == 0.0
    assert one(make(0.3, 0.3, None, 1, 1)) == 0.0
    assert one(make(0.3, 0.3, 0.5, 1, 2)) is None
    assert one(make(0.3, 0.3, None, 5, 2)) is None
    assert one(make(None, 0.3, 0.1, 5, 1)) is None
    # Exact at k = 2: r - m^2 + s^2/T.
    assert one(make(0.375, 0.5, 0.25, 4, 2)) == 0.375 - 0.25 + 0.0625
    # k (k - 1) / 2 m^(k - 2) s^2/T at k = 4.
    assert one(make(0.25, 0.5, 0.25, 4, 4)) == 0.25 - 0.0625 + 6 * 0.25 * 0.0625


def test_from_windows_and_rank() -> None:
    assert one(est.pass_at_k_from_windows(0, 0)) is None
    assert one(est.pass_hat_k_from_windows(1, 4)) == 0.25
    assert one(est.pass_at_k_from_rank(None, 4, 4)) == 0.0
    assert one(est.pass_hat_k_from_rank(None, 4, 4)) == 1.0
    assert one(est.pass_at_k_from_rank(2, 4, 1)) == 0.0
    assert one(est.pass_at_k_from_rank(2, 4, 2)) == 1.0
    assert one(est.pass_hat_k_from_rank(2, 4, 1)) == 1.0
    assert one(est.pass_hat_k_from_rank(2, 4, 2)) == 0.0
    assert one(est.pass_at_k_from_rank(1, 2, 3)) is None
    table = pl.DataFrame({"rank": [0.0, 1.5, 5.0, math.nan], "n": [4] * 4})
    assert table.select(est.pass_at_k_from_rank("rank", "n", 2)).to_series().to_list() == [None] * 4


def test_words() -> None:
    table = pl.DataFrame(
        {"n": [10, 10, 10, 10, 10, 0, 3, None], "c": [10, 9, 5, 1, 0, 0, 4, 1]}
    ).with_columns(
        strict=est.task_class("n", "c"),
        lenient=est.task_class("n", "c", consistent_rate=0.9, incapable_rate=0.1),
    )
    rest = ["unknown", None, None]
    assert table["strict"].to_list() == ["consistent", *["flaky"] * 3, "incapable", *rest]
    assert table["lenient"].to_list() == [
        *["consistent"] * 2,
        "flaky",
        *["incapable"] * 2,
        *rest,
    ]
    assert one(est.suite_reading(0.8, 0.95)) == "capable and consistent"
    assert one(est.suite_reading(0.8, 0.94)) == "capable but flaky"
    assert one(est.suite_reading(0.79, 0.1)) == "not capable"
    assert one(est.suite_reading(0.5, 0.5, capable_threshold=0.5, consistent_threshold=0.5)) == (
        "capable and consistent"
    )
    assert one(est.suite_reading(None, 0.1)) is None
    assert one(est.suite_reading(0.1, None)) is None
    nan = pl.DataFrame({"at": [math.nan], "hat": [0.5]})
    assert nan.select(est.suite_reading("at", "hat")).item() is None


def test_text_is_not_read_as_numbers() -> None:
    with pytest.raises(pl.exceptions.InvalidOperationError):
        pl.DataFrame({"n": ["4"]}).select(est.pass_at_k("n", 1, 1))


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.UInt8, pl.Int32, pl.UInt64, pl.Int128, pl.Float32, pl.Decimal(10, 2)]
)
def test_any_numeric_type(dtype: pl.DataType) -> None:
    table = pl.DataFrame({"n": [4, None], "c": [3, 1], "k": [2, 2]}).cast(dtype)
    found = table.select(est.pass_hat_k("n", "c", "k")).to_series()
    assert found.dtype == pl.Float64
    assert found.to_list() == [pytest.approx(0.5, rel=1e-15), None]


# ---------------------------------------------------------------------------------------------
# contexts

TASKS = pl.DataFrame(
    {
        "suite": ["a", "a", "b", "b", "b"],
        "n": [4, 4, 8, 2, None],
        "c": [3, 1, 8, 1, 1],
        "k": [2, 2, 2, 3, 1],
    }
)
HAT = [0.5, 0.0, 1.0, None, None]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("k", ["k", 2], ids=["column", "number"])
def test_select_with_columns_and_lazy(engine: pl._typing.EngineType, k: int | str) -> None:
    expr = est.pass_hat_k("n", "c", k)
    want = [pytest.approx(0.5, rel=1e-15), *(HAT[1:] if k == "k" else [0.0, 1.0, 0.0, None])]
    assert TASKS.select(expr)["pass_hat_k"].to_list() == want
    assert TASKS.with_columns(expr)["pass_hat_k"].to_list() == want
    lazy = TASKS.lazy().with_columns(expr)
    assert lazy.collect_schema()["pass_hat_k"] == pl.Float64
    assert lazy.collect(engine=engine)["pass_hat_k"].to_list() == want


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("k", [2, 33], ids=["product", "moment"])
def test_group_by(engine: pl._typing.EngineType, k: int) -> None:
    log = pl.LazyFrame(
        {"task": ["s"] * 40 + ["t"] * 40, "passed": [True] * 39 + [False] + [True] * 40}
    )
    counted = (pl.col("passed").count(), pl.col("passed").sum())
    found = (
        log.group_by("task")
        .agg(est.pass_hat_k(*counted, k), est.pass_at_k(*counted, k))
        .sort("task")
        .collect(engine=engine)
    )
    # One failure among 40: C(39, k) / C(40, k) = 1 - k / 40.
    assert found["pass_hat_k"].to_list() == pytest.approx([1 - k / 40, 1.0], rel=2e-15)
    assert found["pass_at_k"].to_list() == [1.0, 1.0]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_every_function_over_aggregates(engine: pl._typing.EngineType) -> None:
    """Polars 2.1 panics on some nested struct expressions in this context."""
    log = pl.DataFrame({"task": ["s"] * 3, "passed": [True, False, True]})
    n, c, m = pl.len(), pl.col("passed").sum(), pl.col("passed").mean()
    made = [function(n, c, k) for function in OF_COUNTS for k in (2, 33, c)]
    made += [
        est.log_choose(n, c),
        est.pass_at_k_pooled(m, c),
        est.pass_hat_k_pooled(m, c),
        est.delta_k(m, m, c),
        est.delta_k_max(m, c),
        est.delta_k_unbiased(m, m, pl.col("passed").cast(pl.Int64).var(), n, c),
        est.heterogeneity(m, m, c),
        est.pass_at_k_from_windows(c, n),
        est.pass_hat_k_from_windows(c, n),
        est.pass_at_k_from_rank(c, n, 2),
        est.pass_hat_k_from_rank(c, n, 2),
        est.task_class(n, c),
        est.suite_reading(m, m),
    ]
    columns = {f"{expr.meta.output_name()}_{i}": expr for i, expr in enumerate(made)}
    grouped = log.lazy().group_by("task").agg(**columns).drop("task").collect(engine=engine)
    assert grouped.row(0) == log.select(**columns).row(0)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_inside_an_aggregation(engine: pl._typing.EngineType) -> None:
    found = (
        TASKS.lazy()
        .group_by("suite")
        .agg(est.pass_hat_k("n", "c", 2).mean())
        .sort("suite")
        .collect(engine=engine)
    )
    assert found["pass_hat_k"].to_list() == [0.25, 0.5]


def test_over_filter_sort_and_arithmetic() -> None:
    mean = est.pass_hat_k("n", "c", 2).mean().over("suite")
    assert TASKS.select(mean).to_series().to_list() == [0.25, 0.25, 0.5, 0.5, 0.5]
    assert TASKS.filter(est.pass_hat_k("n", "c", 2) > 0.4).height == 2
    best_first = TASKS.sort(est.pass_hat_k("n", "c", 2), descending=True, nulls_last=True)
    assert best_first["c"].to_list()[:2] == [8, 3]
    assert TASKS.select(1 - est.pass_hat_k("n", "c", 2)).to_series().to_list()[0] == 0.5


def test_no_rows() -> None:
    for expr in (
        est.pass_at_k("n", "c", "k"),
        est.pass_hat_k("n", "c", 40),
        est.log_choose("n", "c"),
        est.pass_at_k_plugin("n", "c", 3),
        est.delta_k_max(0.5, "k"),
    ):
        found = TASKS.clear().select(expr)
        assert found.height == 0
        assert found.dtypes == [pl.Float64]


def test_series_expressions_and_names() -> None:
    found = pl.select(est.pass_hat_k(pl.Series([4, 4]), pl.Series([3, 4]), pl.lit(2)))
    assert found.columns == ["pass_hat_k"]
    assert found.to_series().to_list() == pytest.approx([0.5, 1.0], rel=1e-15)
