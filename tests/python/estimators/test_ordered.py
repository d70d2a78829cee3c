"""Windows and first-k against brute force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_py.stats import estimators as est

if TYPE_CHECKING:
    from collections.abc import Iterable

Outcomes = list[bool | None]
LETTERS = {"P": True, "F": False, "-": None}


def outcomes(text: str) -> Outcomes:
    return [LETTERS[letter] for letter in text]


def brute_window(passed: Outcomes, attempts: list[int], k: int) -> tuple[float, float] | None:
    """Look at every k attempts with successive numbers."""
    by_number = dict(zip(attempts, passed, strict=True))
    windows = [
        [by_number.get(start + step) for step in range(k)]
        for start in range(min(attempts, default=0), max(attempts, default=0) + 1)
    ]
    complete = [window for window in windows if None not in window]
    if not complete:
        return None
    share = [sum(rule(window) for window in complete) / len(complete) for rule in (any, all)]
    return share[0], share[1]


def brute_first_k(passed: Outcomes, k: int) -> tuple[float, float] | None:
    counted = [outcome for outcome in passed if outcome is not None]
    if len(counted) < k:
        return None
    return float(any(counted[:k])), float(all(counted[:k]))


def four(k: int | str, attempt: str | None = None) -> dict[str, pl.Expr]:
    return {
        "at_window": est.pass_at_k_window("passed", k, attempt=attempt),
        "hat_window": est.pass_hat_k_window("passed", k, attempt=attempt),
        "at_first": est.pass_at_k_first_k("passed", k),
        "hat_first": est.pass_hat_k_first_k("passed", k),
    }


def expected(passed: Outcomes, attempts: list[int], k: int) -> list[float | None]:
    window = brute_window(passed, attempts, k) or (None, None)
    first = brute_first_k(passed, k) or (None, None)
    return [*window, *first]


def same(found: Iterable[float | None], want: Iterable[float | None]) -> bool:
    """Compare with room for one rounding: 1 - 1/3 is not the float nearest to 2/3."""
    return all(
        got is right if right is None else got is not None and abs(got - right) <= 2e-16
        for got, right in zip(found, want, strict=True)
    )


logs = st.lists(st.sampled_from([True, False, None]), min_size=0, max_size=14)
gapped = logs.flatmap(
    lambda log: st.tuples(
        st.just(log), st.lists(st.integers(1, 3), min_size=len(log), max_size=len(log))
    )
)


@settings(max_examples=200, deadline=None)
@given(gapped, st.integers(1, 6))
def test_against_brute_force(case: tuple[Outcomes, list[int]], k: int) -> None:
    passed, steps = case
    attempts = [sum(steps[: i + 1]) for i in range(len(steps))]
    schema = {"passed": pl.Boolean, "attempt": pl.Int64}
    frame = pl.DataFrame({"passed": passed, "attempt": attempts}, schema=schema)
    found = frame.select(**four(k, "attempt")).row(0)
    assert same(found, expected(passed, attempts, k))
    successive = frame.select(**four(k)).row(0)
    in_a_row = list(range(1, len(passed) + 1))
    assert same(successive, expected(passed, in_a_row, k))


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("by_column", [False, True], ids=["number", "column"])
def test_in_group_by(engine: pl._typing.EngineType, by_column: bool) -> None:
    tasks = ["PPFPPPFPPP", "PF-PP", "F", "---", "PPP", "FFFPFF", "-P-F-PP"]
    for k in (1, 2, 3):
        log = pl.LazyFrame(
            [
                {"task": task, "passed": passed, "attempt": attempt, "k": k}
                for task in tasks
                for attempt, passed in enumerate(outcomes(task), 1)
            ],
            schema={"task": pl.String, "passed": pl.Boolean, "attempt": pl.Int64, "k": pl.Int64},
        )
        found = (
            log.group_by("task", maintain_order=True)
            .agg(**four("k" if by_column else k, "attempt"))
            .collect(engine=engine)
        )
        want = [[t, *expected(outcomes(t), list(range(1, len(t) + 1)), k)] for t in tasks]
        for row, right in zip(found.rows(), want, strict=True):
            assert row[0] == right[0]
            assert same(row[1:], right[1:]), row[0]


def test_over_a_task() -> None:
    log = pl.DataFrame({"task": ["s", "s", "t", "t"], "passed": [True, True, True, False]})
    found = log.select(est.pass_hat_k_window("passed", 2).over("task")).to_series()
    assert found.to_list() == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("k", "window", "unbiased"),
    [(1, "0.800", "0.800"), (2, "0.556", "0.622"), (3, "0.250", "0.467"), (5, "0.000", "0.222")],
)
def test_the_sequence_ppfpppfppp(k: int, window: str, unbiased: str) -> None:
    log = pl.DataFrame({"passed": outcomes("PPFPPPFPPP")})
    assert f"{log.select(est.pass_hat_k_window('passed', k)).item():.3f}" == window
    assert f"{pl.select(est.pass_hat_k(10, 8, k)).item():.3f}" == unbiased


def test_an_excluded_attempt_is_skipped_by_first_k_and_breaks_windows() -> None:
    log = pl.DataFrame({"passed": outcomes("P-PF")})
    assert log.select(est.pass_hat_k_first_k("passed", 2)).item() == 1.0
    # Only the last two are next to each other.
    assert log.select(est.pass_hat_k_window("passed", 2)).item() == 0.0
    assert log.select(est.pass_at_k_window("passed", 2)).item() == 1.0


def test_numbers_that_do_not_rise_give_null() -> None:
    for attempts in ([1, 2, 2], [3, 2, 1], [1, None, 3]):
        log = pl.DataFrame({"passed": [True] * 3, "attempt": attempts})
        assert log.select(est.pass_hat_k_window("passed", 1, attempt="attempt")).item() is None


def test_a_k_in_a_column_that_cannot_be_right_gives_null() -> None:
    for k in (0, -1, None, 1.5):
        log = pl.DataFrame({"passed": [True] * 3, "k": pl.Series([k] * 3, dtype=pl.Float64)})
        assert log.select(**four("k")).row(0) == (None,) * 4


def test_text_outcomes_fail() -> None:
    log = pl.DataFrame({"passed": ["passed", "failed"]})
    with pytest.raises(pl.exceptions.PolarsError):
        log.select(est.pass_at_k_first_k("passed", 1))
    with pytest.raises(pl.exceptions.PolarsError):
        log.select(est.pass_hat_k_window("passed", 1))


def test_windows_and_ranks_say_the_same_as_the_aggregations() -> None:
    log = pl.DataFrame({"passed": outcomes("FPPFP")})
    for k in (1, 2, 3):
        row = log.select(**four(k)).row(0)
        counts = {1: (2, 3, 5), 2: (0, 1, 4), 3: (0, 0, 3)}[k]
        fail, good, windows = counts
        assert row[0] == pl.select(est.pass_at_k_from_windows(fail, windows)).item()
        assert row[1] == pl.select(est.pass_hat_k_from_windows(good, windows)).item()
        assert row[2] == pl.select(est.pass_at_k_from_rank(2, 5, k)).item()
        assert row[3] == pl.select(est.pass_hat_k_from_rank(1, 5, k)).item()
