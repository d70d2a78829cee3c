"""The arguments of the estimators: columns, expressions or numbers, and their rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Final, TypeAlias

import polars as pl

from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

IntoExpr: TypeAlias = pl.Expr | pl.Series | str | int | float | None
"""A column name, an expression, a series or a number."""

F64: Final = pl.Float64()

EXACT: Final = 2.0**53
"""From here on a float64 does not hold every whole number."""


class ArgumentError(PasskError, ValueError):
    """A number, given as such, that no data could make right."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument as an expression, and its value if it was a number."""

    expr: pl.Expr
    literal: float | None


@dataclass(frozen=True, slots=True)
class Rule:
    """The values that an argument may have."""

    text: str
    whole: bool
    low: float
    high: float

    def accepts(self, value: float) -> bool:
        """Tell whether a number obeys."""
        return self.low <= value <= self.high and not (self.whole and value != math.floor(value))

    def check(self, x: pl.Expr) -> pl.Expr:
        """Whether data obey; NaN sorts above every number, so it fails the upper bound."""
        inside = (x >= self.low) & (x <= self.high)
        return inside & (x == x.floor()) if self.whole else inside


COUNT: Final = Rule("a whole number from 0", True, 0.0, EXACT - 1)
POSITIVE: Final = Rule("a whole number from 1", True, 1.0, EXACT - 1)
RATE: Final = Rule("a number from 0 to 1", False, 0.0, 1.0)
FINITE: Final = Rule("a finite number", False, -1.7976931348623157e308, 1.7976931348623157e308)


def refuse(function: str, argument: str, value: object, allowed: str) -> NoReturn:
    """Raise an error that names function, argument and value."""
    raise ArgumentError(
        f"{function}: {argument} must be {allowed}; got {value!r}",
        hint="Give a column name or an expression where the value differs from row to row.",
    )


def checked_counts(function: str, name: str, values: Iterable[int]) -> list[int]:
    """Give whole numbers from 1 in the order in which they are asked for, or raise an error."""
    found = [] if isinstance(values, str) else list(values)
    whole = all(isinstance(one, int) and not isinstance(one, bool) and one >= 1 for one in found)
    if not found or not whole:
        raise ArgumentError(
            f"{function}: {name} must be whole numbers from 1, at least one of them; got {values!r}"
        )
    return list(dict.fromkeys(found))


def checked_ks(function: str, ks: Iterable[int]) -> list[int]:
    """Give a grid of k in order, each once, or raise an error."""
    return sorted(checked_counts(function, "ks", ks))


def checked_share(function: str, share: float, name: str = "min_eligible_share") -> float:
    """Give a share, by default that of the tasks that must be eligible, or raise an error."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise ArgumentError(f"{function}: {name} must be a number from 0 to 1; got {share!r}")
    return float(share)


def checked_slices(function: str, slices: Sequence[str]) -> list[str]:
    """Give the names of slices, or raise an error."""
    names = [] if isinstance(slices, str) else list(slices)
    if isinstance(slices, str) or "all" in names or len(set(names)) < len(names):
        raise ArgumentError(
            f"{function}: slices must be different names other than 'all'; got {slices!r}",
            hint="Write one slice as a list of one: slices=['domain'].",
        )
    return names


def checked_confidence(function: str, confidence: float) -> float:
    """Give a level of confidence, or raise an error."""
    if isinstance(confidence, bool) or not 0.0 < confidence < 1.0:
        raise ArgumentError(
            f"{function}: confidence must be between 0 and 1; got {confidence!r}",
            hint="For an interval of 95 %, give 0.95.",
        )
    return float(confidence)


def as_number(function: str, argument: str, value: object, rule: Rule) -> float:
    """Give a Python number as a float, or raise an error."""
    if isinstance(value, bool) or not isinstance(value, Real):
        refuse(function, argument, value, rule.text)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not rule.accepts(number):
        refuse(function, argument, value, rule.text)
    return number


def as_operand(function: str, argument: str, value: IntoExpr, rule: Rule) -> Operand:
    """Give an argument as an expression of Float64."""
    if isinstance(value, str):
        value = pl.col(value)
    elif isinstance(value, pl.Series):
        value = pl.lit(value)
    if isinstance(value, pl.Expr):
        # Not a cast: that would read numbers out of text.
        return Operand(value * pl.lit(1.0, F64), None)
    if value is None:
        return Operand(pl.lit(None, F64), None)
    number = as_number(function, argument, value, rule)
    return Operand(pl.lit(number, F64), number)


def task_operands(
    function: str, n: IntoExpr, c: IntoExpr, k: IntoExpr
) -> tuple[Operand, Operand, Operand]:
    """Give n, c and k; raise an error on two numbers that can't go together."""
    operands = (
        as_operand(function, "n", n, COUNT),
        as_operand(function, "c", c, COUNT),
        as_operand(function, "k", k, POSITIVE),
    )
    refuse_above(function, ("c", operands[1]), ("n", operands[0]))
    return operands


def refuse_above(function: str, part: tuple[str, Operand], whole: tuple[str, Operand]) -> None:
    """Raise an error on two numbers of which the part is more than the whole."""
    small, large = part[1].literal, whole[1].literal
    if small is not None and large is not None and small > large:
        refuse(function, part[0], int(small), f"at most {whole[0]} = {int(large)}")


def as_outcomes(passed: IntoExpr, function: str) -> pl.Expr:
    """Give the outcomes of attempts as an expression."""
    if isinstance(passed, str):
        return pl.col(passed)
    if isinstance(passed, pl.Series):
        return pl.lit(passed)
    if isinstance(passed, pl.Expr):
        return passed
    refuse(function, "passed", passed, "a column name or an expression of type Boolean")


def null_unless(condition: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Give the value where the condition holds, else null."""
    return pl.when(condition).then(value).otherwise(None)


def one_k(function: str, k: IntoExpr) -> tuple[pl.Expr, pl.Expr]:
    """Give k as a whole number for a group, and whether it is one; the first row's if a column."""
    operand = as_operand(function, "k", k, POSITIVE)
    if operand.literal is not None:
        return pl.lit(int(operand.literal), pl.Int64), pl.lit(True)
    first = operand.expr.first()
    valid = POSITIVE.check(first)
    return pl.when(valid).then(first).otherwise(1.0).cast(pl.Int64), valid
