"""A gap that is nothing but rounding has the same direction in SQL and in polars."""

from __future__ import annotations

import pytest

from passk_py.metrics.diagnostics.order import direction


@pytest.mark.parametrize(
    ("gap", "word"),
    [
        (0.0, "more"),
        (-1e-17, "more"),
        (1e-17, "more"),
        (-2e-9, "less"),
        (-0.1, "less"),
        (0.1, "more"),
        (None, "more"),
    ],
)
def test_a_gap_within_rounding_is_no_fall(gap: float | None, word: str) -> None:
    assert direction(gap, "less", "more") == word
