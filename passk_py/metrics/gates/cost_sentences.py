"""The sentences of gates on costs."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from passk_py.metrics.gates.rule_schema import SCHEMA

STATISTICS: Final[tuple[str, ...]] = tuple(SCHEMA["allowed"]["statistic"]["one_of"])


class Figure(NamedTuple):
    """The subject of a rule: ``p95_duration_s`` is the statistic p95 of duration_s."""

    statistic: str
    measure: str

    @property
    def words(self) -> tuple[str, str]:
        """The text before a number in a sentence, and the text after."""
        words = SCHEMA["measures"][self.measure]
        if self.statistic == "p95":
            return f"95 % of attempts {words['verbs']} at most ", f" {words['unit']}"
        if self.statistic == "per_success":
            return f"A success {words['verb']} ", f" {words['unit']}"
        return f"An attempt {words['verb']} ", f" {words['unit']} on average"


def figure_of(metric: str) -> Figure:
    """Take the metric of a rule on costs apart."""
    statistic = next(one for one in STATISTICS if metric.startswith(f"{one}_"))
    return Figure(statistic, metric.removeprefix(f"{statistic}_"))


def rule_text(kind: str, metric: str, threshold: float) -> str:
    """Write a rule on costs as a person reads it."""
    before, after = figure_of(metric).words
    if kind == "cost_increase":
        more = round(threshold * 100, 4)
        said = int(more) if more == int(more) else more
        of = " tokens" if after.startswith(" tokens") else ""
        return f"{before}at most {said} % more{of} than in the baseline, for tasks like these"
    most = "" if before.endswith("at most ") else "at most "
    return f"{before}{most}{threshold}{after}, for tasks like these"


def rounded(number: float, digits: int = 4) -> str:
    """Write a number with at most so many decimals, as SQL does."""
    scale = 10**digits
    return str(math.copysign(math.floor(abs(number) * scale + 0.5) / scale, number))


def limit_said(limit: float | None) -> str:
    """Write a limit, which there may not be."""
    return "an unknown limit" if limit is None else rounded(limit)
