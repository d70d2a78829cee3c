"""pass@k and pass^k as polars expressions.

Every function takes column names, expressions or numbers and returns a :class:`polars.Expr`, named
after the function, that works in ``select``, ``with_columns``, ``group_by``, in eager, lazy and
streaming frames.

The rules are the same everywhere. Counts are whole numbers; any integer or float type may hold
them, below 2**53. Data that can't be right (c > n, a negative or fractional count, NaN, k < 1), or
that isn't enough (n < k), gives null, never a made-up number. A Python number that can't be right
raises :class:`ArgumentError`, a :class:`ValueError`, when the expression is made; n < k is null
for numbers too.

Counts that decide the value without arithmetic are decided first: c = 0 gives pass@k 0 exactly,
fewer than k failures give 1 exactly, and at k = 1 both metrics are c / n to the last bit.

Sources: pass@k is Chen et al., "Evaluating Large Language Models Trained on Code" (2021),
arXiv:2107.03374; pass^k is Yao et al., "tau-bench" (2024), arXiv:2406.12045.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Final, TypeAlias

import polars as pl

from passk_py.errors import PasskError
from passk_py.numerics import (
    let,
    log1p_nonnegative,
    log_beta_moment_steps,
    one_minus_exp_steps,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from passk_py.numerics import Steps

__all__ = [
    "ArgumentError",
    "IntoExpr",
    "delta_k",
    "delta_k_max",
    "delta_k_unbiased",
    "heterogeneity",
    "log_choose",
    "pass_at_k",
    "pass_at_k_first_k",
    "pass_at_k_from_rank",
    "pass_at_k_from_windows",
    "pass_at_k_plugin",
    "pass_at_k_pooled",
    "pass_at_k_window",
    "pass_hat_k",
    "pass_hat_k_first_k",
    "pass_hat_k_from_rank",
    "pass_hat_k_from_windows",
    "pass_hat_k_plugin",
    "pass_hat_k_pooled",
    "pass_hat_k_window",
    "suite_reading",
    "task_class",
]

IntoExpr: TypeAlias = pl.Expr | pl.Series | str | int | float | None
"""A column name, an expression, a series or a number."""

_F64: Final = pl.Float64()
_EXACT: Final = 2.0**53
"""From here on a float64 does not hold every whole number."""

_PRODUCT_MAX_K: Final = 32
"""Up to this k, given as a number, a product of k factors is quicker than the log moment."""

_POWER_MAX_K: Final = 16
"""Up to this k the rounding of c / n costs a power less than a logarithm does."""


class ArgumentError(PasskError, ValueError):
    """A number, given as such, that no data could make right."""


# ---------------------------------------------------------------------------------------------
# arguments


@dataclass(frozen=True, slots=True)
class _Operand:
    """An argument as an expression, and its value if it was a number."""

    expr: pl.Expr
    literal: float | None


@dataclass(frozen=True, slots=True)
class _Rule:
    """What an argument may be."""

    text: str
    whole: bool
    low: float
    high: float

    def accepts(self, value: float) -> bool:
        return self.low <= value <= self.high and not (self.whole and value != math.floor(value))

    def check(self, x: pl.Expr) -> pl.Expr:
        """Whether data obey; NaN sorts above every number, so it fails the upper bound."""
        inside = (x >= self.low) & (x <= self.high)
        return inside & (x == x.floor()) if self.whole else inside


_COUNT: Final = _Rule("a whole number from 0", True, 0.0, _EXACT - 1)
_POSITIVE: Final = _Rule("a whole number from 1", True, 1.0, _EXACT - 1)
_RATE: Final = _Rule("a number from 0 to 1", False, 0.0, 1.0)
_FINITE: Final = _Rule("a finite number", False, -1.7976931348623157e308, 1.7976931348623157e308)


def _refuse(function: str, argument: str, value: object, allowed: str) -> NoReturn:
    raise ArgumentError(
        f"{function}: {argument} must be {allowed}; got {value!r}",
        hint="Give a column name or an expression where the value differs from row to row.",
    )


def _number(function: str, argument: str, value: object, rule: _Rule) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        _refuse(function, argument, value, rule.text)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not rule.accepts(number):
        _refuse(function, argument, value, rule.text)
    return number


def _operand(function: str, argument: str, value: IntoExpr, rule: _Rule) -> _Operand:
    if isinstance(value, str):
        value = pl.col(value)
    elif isinstance(value, pl.Series):
        value = pl.lit(value)
    if isinstance(value, pl.Expr):
        # Not a cast: that would read numbers out of text.
        return _Operand(value * pl.lit(1.0, _F64), None)
    if value is None:
        return _Operand(pl.lit(None, _F64), None)
    number = _number(function, argument, value, rule)
    return _Operand(pl.lit(number, _F64), number)


def _task_operands(
    function: str, n: IntoExpr, c: IntoExpr, k: IntoExpr
) -> tuple[_Operand, _Operand, _Operand]:
    operands = (
        _operand(function, "n", n, _COUNT),
        _operand(function, "c", c, _COUNT),
        _operand(function, "k", k, _POSITIVE),
    )
    _refuse_above(function, ("c", operands[1]), ("n", operands[0]))
    return operands


def _refuse_above(function: str, part: tuple[str, _Operand], whole: tuple[str, _Operand]) -> None:
    """Refuse two numbers of which the part is more than the whole."""
    small, large = part[1].literal, whole[1].literal
    if small is not None and large is not None and small > large:
        _refuse(function, part[0], int(small), f"at most {whole[0]} = {int(large)}")


def _outcomes(passed: IntoExpr, function: str) -> pl.Expr:
    if isinstance(passed, str):
        return pl.col(passed)
    if isinstance(passed, pl.Series):
        return pl.lit(passed)
    if isinstance(passed, pl.Expr):
        return passed
    _refuse(function, "passed", passed, "a column name or an expression of type Boolean")


def _null_unless(condition: pl.Expr, value: pl.Expr) -> pl.Expr:
    return pl.when(condition).then(value).otherwise(None)


# ---------------------------------------------------------------------------------------------
# unbiased: k attempts drawn from the n without replacement


def _task_valid(k: _Operand) -> pl.Expr:
    """Whether n, c and k are counts with c <= n and k <= n."""
    n, c = pl.field("n"), pl.field("c")
    valid = _COUNT.check(n) & (c >= 0.0) & (c <= n) & (c == c.floor())
    if k.literal is not None:
        return valid & (n >= k.literal)
    return valid & (pl.field("k") <= n) & _POSITIVE.check(pl.field("k"))


def pass_at_k(n: IntoExpr, c: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Estimate pass@k without bias: at least one of k attempts passes.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    k
        How many attempts the user makes.

    Returns
    -------
    polars.Expr
        Float64, a probability. Null where n < k and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If n, c or k is a number that can't be right.

    Notes
    -----
    .. math:: 1 - \binom{n - c}{k} / \binom{n}{k}

    (Chen et al. 2021, arXiv:2107.03374, equation 1). Relative error at most 1e-15 against exact
    rationals for n up to 1e6; for ``1 - pass_at_k`` with the same accuracy take
    ``pass_hat_k(n, n - c, k)``.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k(4, 2, 2)).item()
    0.8333333333333333
    >>> tasks = pl.DataFrame({"n": [4, 4, 1], "c": [1, 0, 1]})
    >>> tasks.select(pass_at_k("n", "c", 2)).to_series().to_list()
    [0.5, 0.0, None]
    """
    n_, c_, k_ = _task_operands("pass_at_k", n, c, k)
    fn, fc, fk = pl.field("n"), pl.field("c"), pl.field("k")
    if k_.literal is not None and k_.literal <= _PRODUCT_MAX_K:
        # 1 - (1 - c/n) (1 - c/(n-1)) ... by Horner's rule, from the inside: a sum of terms that
        # are all positive, so that nothing cancels, and c / n to the last bit at k = 1.
        drawn = int(k_.literal)
        value = fc / (fn - float(drawn - 1))
        for i in reversed(range(drawn - 1)):
            value = (fc + (fn - fc - float(i)) * value) / (fn - float(i))
        steps: Steps = ({"value": value},)
    else:
        # Failures instead of passes: 1 - pass@k is pass^k of the task with n - c passes.
        steps = log_beta_moment_steps(fn - fc - fk + 1.0, fc, fk)
        steps += one_minus_exp_steps(pl.field("log_moment"), "value")
    decided = (
        pl.when(fc == 0.0)
        .then(0.0)
        .when(fn - fc < fk)
        .then(1.0)
        .when(fk == 1.0)
        .then(fc / fn)
        .otherwise(pl.field("value"))
    )
    return let(
        {"n": n_.expr, "c": c_.expr, "k": k_.expr},
        *steps,
        {"pass_at_k": _null_unless(_task_valid(k_), decided)},
    )


def pass_hat_k(n: IntoExpr, c: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Estimate pass^k without bias: all of k attempts pass.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a probability. Null where n < k and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If n, c or k is a number that can't be right.

    Notes
    -----
    .. math:: \binom{c}{k} / \binom{n}{k}

    (Yao et al. 2024, arXiv:2406.12045, section 3). Relative error at most 4e-13 against exact
    rationals for n up to 1e6, which is reached near 1e-300; below 5e-15 for values above 1e-3.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_hat_k(4, 3, 2)).item()
    0.5
    >>> tasks = pl.DataFrame({"n": [4, 4, 1], "c": [3, 1, 1]})
    >>> tasks.select(pass_hat_k("n", "c", 2)).to_series().to_list()
    [0.5, 0.0, None]
    """
    n_, c_, k_ = _task_operands("pass_hat_k", n, c, k)
    fn, fc, fk = pl.field("n"), pl.field("c"), pl.field("k")
    if k_.literal is not None and k_.literal <= _PRODUCT_MAX_K:
        value = fc / fn
        for i in range(1, int(k_.literal)):
            value = value * ((fc - float(i)) / (fn - float(i)))
        steps: Steps = ({"value": value},)
    else:
        steps = log_beta_moment_steps(fc - fk + 1.0, fn - fc, fk)
        steps += ({"value": pl.field("log_moment").exp()},)
    decided = (
        pl.when(fc == fn)
        .then(1.0)
        .when(fk > fc)
        .then(0.0)
        .when(fk == 1.0)
        .then(fc / fn)
        .otherwise(pl.field("value"))
    )
    return let(
        {"n": n_.expr, "c": c_.expr, "k": k_.expr},
        *steps,
        {"pass_hat_k": _null_unless(_task_valid(k_), decided)},
    )


def log_choose(n: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute the natural logarithm of the number of ways to choose k out of n.

    Parameters
    ----------
    n
        How many there are.
    k
        How many are chosen.

    Returns
    -------
    polars.Expr
        Float64 in nats. Null unless 0 <= k <= n.

    Raises
    ------
    ArgumentError
        If n or k is a negative or fractional number.

    Notes
    -----
    :math:`\ln \binom{n}{k} = -\ln E[X^k]` for :math:`X \sim` Beta(1, n - k). Relative error at
    most 1e-15.

    Examples
    --------
    >>> import polars as pl
    >>> round(pl.select(log_choose(200, 2).exp()).item(), 6)
    19900.0
    >>> pl.select(log_choose(2, 3)).item() is None
    True
    """
    n_ = _operand("log_choose", "n", n, _COUNT)
    k_ = _operand("log_choose", "k", k, _COUNT)
    fn, fk = pl.field("n"), pl.field("k")
    valid = _COUNT.check(fn) & _COUNT.check(fk) & (fk <= fn)
    decided = pl.when((fk == 0.0) | (fk == fn)).then(0.0).otherwise(-pl.field("log_moment"))
    return let(
        {"n": n_.expr, "k": k_.expr},
        *log_beta_moment_steps(pl.lit(1.0, _F64), fn - fk, fk),
        {"log_choose": _null_unless(valid, decided)},
    )


# ---------------------------------------------------------------------------------------------
# plug-in and pooled: the formula of a known p


def _plugin_valid() -> pl.Expr:
    n, c = pl.field("n"), pl.field("c")
    valid = _POSITIVE.check(n) & (c >= 0.0) & (c <= n) & (c == c.floor())
    return valid & _POSITIVE.check(pl.field("k"))


def pass_at_k_plugin(n: IntoExpr, c: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Put c / n into the formula of a known p: at least one of k attempts passes.

    Biased: too low for every k > 1. Take :func:`pass_at_k` unless k exceeds n.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    k
        How many attempts the user makes; may exceed n.

    Returns
    -------
    polars.Expr
        Float64, a probability. Null where n = 0 and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If n, c or k is a number that can't be right.

    Notes
    -----
    .. math:: 1 - (1 - c/n)^k

    computed as :math:`1 - e^{-k \ln(1 + c / (n - c))}`, which does not cancel.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k_plugin(2, 1, 3)).item()
    0.875
    """
    n_, c_, k_ = _task_operands("pass_at_k_plugin", n, c, k)
    fn, fc, fk = pl.field("n"), pl.field("c"), pl.field("k")
    odds, one_plus_odds = pl.field("odds"), pl.field("one_plus_odds")
    decided = (
        pl.when(fc == 0.0)
        .then(0.0)
        .when(fc == fn)
        .then(1.0)
        .when(fk == 1.0)
        .then(fc / fn)
        .otherwise(pl.field("value"))
    )
    return let(
        {"n": n_.expr, "c": c_.expr, "k": k_.expr},
        {"odds": fc / (fn - fc)},
        {"one_plus_odds": 1.0 + odds},
        *one_minus_exp_steps(-fk * log1p_nonnegative(odds, one_plus_odds), "value"),
        {"pass_at_k_plugin": _null_unless(_plugin_valid(), decided)},
    )


def pass_hat_k_plugin(n: IntoExpr, c: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Put c / n into the formula of a known p: all of k attempts pass.

    Biased: too high for every k > 1, by .04 to .08 at n = 5 to 10. Take :func:`pass_hat_k` unless
    k exceeds n.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    k
        How many attempts must all pass; may exceed n.

    Returns
    -------
    polars.Expr
        Float64, a probability. Null where n = 0 and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If n, c or k is a number that can't be right.

    Notes
    -----
    .. math:: (c/n)^k

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_hat_k_plugin(2, 1, 3)).item()
    0.125
    """
    n_, c_, k_ = _task_operands("pass_hat_k_plugin", n, c, k)
    fn, fc, fk = pl.field("n"), pl.field("c"), pl.field("k")
    odds, one_plus_odds = pl.field("odds"), pl.field("one_plus_odds")
    decided = (
        pl.when(fc == 0.0)
        .then(0.0)
        .when(fc == fn)
        .then(1.0)
        # The rounding of c / n is raised to the power too: k / 2 units in the last place, 1e-10
        # at k = 1e6. The logarithm of the odds of failure has a small relative error instead.
        .when((fk > float(_POWER_MAX_K)) & (fn - fc <= fc))
        .then((-fk * log1p_nonnegative(odds, one_plus_odds)).exp())
        .otherwise((fc / fn).pow(fk))
    )
    return let(
        {"n": n_.expr, "c": c_.expr, "k": k_.expr},
        {"odds": (fn - fc) / fc},
        {"one_plus_odds": 1.0 + odds},
        {"pass_hat_k_plugin": _null_unless(_plugin_valid(), decided)},
    )


def pass_at_k_pooled(pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute pass@k as if every task were the same coin.

    Parameters
    ----------
    pass_1
        Mean pass@1 over tasks.
    k
        How many attempts the user makes.

    Returns
    -------
    polars.Expr
        Float64, a probability: an upper bound of the mean over tasks (Jensen's inequality). Null
        where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If pass_1 or k is a number that can't be right.

    Notes
    -----
    .. math:: 1 - (1 - m)^k

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k_pooled(0.5, 3)).item()
    0.875
    """
    m_ = _operand("pass_at_k_pooled", "pass_1", pass_1, _RATE)
    k_ = _operand("pass_at_k_pooled", "k", k, _POSITIVE)
    m, fk = pl.field("m"), pl.field("k")
    value = pl.when(fk == 1.0).then(m).otherwise(pl.field("value"))
    return let(
        {"m": m_.expr, "k": k_.expr},
        *one_minus_exp_steps(fk * (-m).log1p(), "value"),
        {"pass_at_k_pooled": _null_unless(_RATE.check(m) & _POSITIVE.check(fk), value)},
    )


def pass_hat_k_pooled(pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute pass^k as if every task were the same coin.

    Parameters
    ----------
    pass_1
        Mean pass^1 over tasks.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a probability: a lower bound of the mean over tasks (Jensen's inequality). Null
        where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If pass_1 or k is a number that can't be right.

    Notes
    -----
    .. math:: m^k

    Examples
    --------
    >>> import polars as pl
    >>> round(pl.select(pass_hat_k_pooled(0.42, 2)).item(), 4)
    0.1764
    """
    m_ = _operand("pass_hat_k_pooled", "pass_1", pass_1, _RATE)
    k_ = _operand("pass_hat_k_pooled", "k", k, _POSITIVE)
    m, fk = pl.field("m"), pl.field("k")
    return let(
        {"m": m_.expr, "k": k_.expr},
        {"pass_hat_k_pooled": _null_unless(_RATE.check(m) & _POSITIVE.check(fk), m.pow(fk))},
    )


# ---------------------------------------------------------------------------------------------
# heterogeneity between tasks


def delta_k(pass_hat_k: IntoExpr, pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute the reliability gain over the model in which every task is the same coin.

    With estimates in place of the true values it is too low; :func:`delta_k_unbiased` corrects it.

    Parameters
    ----------
    pass_hat_k
        Mean pass^k over tasks.
    pass_1
        Mean pass^1 over tasks.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a difference of probabilities; from 0 to :func:`delta_k_max` for true values, but
        an estimate may be negative. Null where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If an argument is a number that can't be right.

    Notes
    -----
    .. math:: \mathrm{pass}^k - (\mathrm{pass}^1)^k

    At k = 2 it is the variance of p between tasks.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(delta_k(0.5, 0.5, 10)).item()
    0.4990234375
    """
    r_ = _operand("delta_k", "pass_hat_k", pass_hat_k, _RATE)
    m_ = _operand("delta_k", "pass_1", pass_1, _RATE)
    k_ = _operand("delta_k", "k", k, _POSITIVE)
    r, m, fk = pl.field("r"), pl.field("m"), pl.field("k")
    valid = _RATE.check(r) & _RATE.check(m) & _POSITIVE.check(fk)
    return let(
        {"r": r_.expr, "m": m_.expr, "k": k_.expr},
        {"delta_k": _null_unless(valid, r - m.pow(fk))},
    )


def delta_k_max(pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Compute the largest delta_k that a mean pass^1 allows: every task always or never passes.

    Parameters
    ----------
    pass_1
        Mean pass^1 over tasks.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a difference of probabilities. Null where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If pass_1 or k is a number that can't be right.

    Notes
    -----
    .. math:: m - m^k = m (1 - e^{(k - 1) \ln m})

    where the right side does not cancel near m = 1. The smallest is 0 (Jensen's inequality).

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(delta_k_max(0.5, 2)).item()
    0.25
    """
    m_ = _operand("delta_k_max", "pass_1", pass_1, _RATE)
    k_ = _operand("delta_k_max", "k", k, _POSITIVE)
    m, fk = pl.field("m"), pl.field("k")
    value = pl.when(fk == 1.0).then(0.0).otherwise(m * pl.field("share"))
    return let(
        {"m": m_.expr, "k": k_.expr},
        *one_minus_exp_steps((fk - 1.0) * m.log(), "share"),
        {"delta_k_max": _null_unless(_RATE.check(m) & _POSITIVE.check(fk), value)},
    )


def delta_k_unbiased(
    pass_hat_k: IntoExpr, pass_1: IntoExpr, var_pass_1: IntoExpr, tasks: IntoExpr, k: IntoExpr
) -> pl.Expr:
    r"""Estimate delta_k from estimates, corrected for the noise of the mean.

    Parameters
    ----------
    pass_hat_k
        Mean over tasks of the unbiased pass^k.
    pass_1
        Mean over tasks of c / n.
    var_pass_1
        Sample variance (divided by tasks - 1) over tasks of c / n.
    tasks
        Over how many tasks the means run.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a difference of probabilities; may be negative, and is not clipped. Exactly 0 at
        k = 1. Null for fewer than 2 tasks at k > 1, and where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If an argument is a number that can't be right.

    Notes
    -----
    .. math:: \overline{r_k} - m^k + \frac{k (k - 1)}{2} m^{k - 2} \frac{s^2}{T}

    The last term is the second-order bias of :math:`m^k`; at k = 2 the estimate is exactly
    unbiased.

    Examples
    --------
    Two tasks with 4 of 4 and 0 of 4 passes at k = 2: pass^2 is 1/2, pass^1 is 1/2 and its sample
    variance 1/2.

    >>> import polars as pl
    >>> pl.select(delta_k_unbiased(0.5, 0.5, 0.5, 2, 2)).item()
    0.5
    """
    function = "delta_k_unbiased"
    r_ = _operand(function, "pass_hat_k", pass_hat_k, _RATE)
    m_ = _operand(function, "pass_1", pass_1, _RATE)
    variance_ = _operand(function, "var_pass_1", var_pass_1, _RATE)
    tasks_ = _operand(function, "tasks", tasks, _COUNT)
    k_ = _operand(function, "k", k, _POSITIVE)
    r, m, variance, size, fk = (pl.field(name) for name in ("r", "m", "variance", "size", "k"))
    noise = variance / size
    correction = fk * (fk - 1.0) / 2.0 * m.pow(fk - 2.0) * noise
    estimable = _RATE.check(variance) & _COUNT.check(size) & (size > 1.0)
    value = (
        pl.when(fk == 1.0)
        .then(0.0)
        .when(estimable)
        .then(r - m.pow(fk) + correction)
        .otherwise(None)
    )
    valid = _RATE.check(r) & _RATE.check(m) & _POSITIVE.check(fk)
    return let(
        {
            "r": r_.expr,
            "m": m_.expr,
            "variance": variance_.expr,
            "size": tasks_.expr,
            "k": k_.expr,
        },
        {function: _null_unless(valid, value)},
    )


def heterogeneity(delta_k: IntoExpr, pass_1: IntoExpr, k: IntoExpr) -> pl.Expr:
    r"""Place delta_k between its bounds: 0 all tasks equally flaky, 1 all tasks all-or-nothing.

    Parameters
    ----------
    delta_k
        From :func:`delta_k_unbiased` or :func:`delta_k`.
    pass_1
        Mean pass^1 over tasks.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, a share of :func:`delta_k_max`; an estimate may be negative or above 1. Null where
        the bounds meet (k = 1, or a mean of 0 or 1), and where an input is null or can't be right.

    Raises
    ------
    ArgumentError
        If an argument is a number that can't be right.

    Notes
    -----
    .. math:: \Delta_k / (m - m^k)

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(heterogeneity(0.125, 0.5, 2)).item()
    0.5
    """
    d_ = _operand("heterogeneity", "delta_k", delta_k, _FINITE)
    m_ = _operand("heterogeneity", "pass_1", pass_1, _RATE)
    k_ = _operand("heterogeneity", "k", k, _POSITIVE)
    d, most = pl.field("d"), pl.field("most")
    return let(
        {"d": d_.expr, "most": delta_k_max(m_.expr, k_.expr)},
        {"heterogeneity": _null_unless(_FINITE.check(d) & (most > 0.0), d / most)},
    )


# ---------------------------------------------------------------------------------------------
# ordered: the attempts in the order in which they were made


def _one_k(function: str, k: IntoExpr) -> tuple[pl.Expr, pl.Expr]:
    """Give k as a whole number for a group, and whether it is one; the first row's if a column."""
    operand = _operand(function, "k", k, _POSITIVE)
    if operand.literal is not None:
        return pl.lit(int(operand.literal), pl.Int64), pl.lit(True)
    first = operand.expr.first()
    valid = _POSITIVE.check(first)
    return pl.when(valid).then(first).otherwise(1.0).cast(pl.Int64), valid


def _first_k(
    function: str, passed: IntoExpr, k: IntoExpr, found: Callable[[pl.Expr, pl.Expr], pl.Expr]
) -> pl.Expr:
    outcomes = _outcomes(passed, function)
    size, valid = _one_k(function, k)
    among = outcomes.is_not_null().cum_sum() <= size
    enough = valid & (outcomes.count() >= size)
    return _null_unless(enough, found(outcomes, among).cast(_F64)).alias(function)


def pass_at_k_first_k(passed: IntoExpr, k: IntoExpr) -> pl.Expr:
    """Aggregate the ordered outcomes of a task: whether any of the first k attempts passes.

    Parameters
    ----------
    passed
        Boolean outcomes in the order of the attempts; null is an excluded attempt, which is
        skipped.
    k
        How many attempts the user makes. Of a column, the first value in the group counts.

    Returns
    -------
    polars.Expr
        Float64, 1.0 or 0.0, one a group. Null with fewer than k counted attempts.

    Raises
    ------
    ArgumentError
        If k is a number below 1 or fractional.

    Notes
    -----
    Unbiased when attempts are exchangeable, with 2 to 5 times the variance of :func:`pass_at_k`.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"passed": [False, None, False, True]})
    >>> log.select(k2=pass_at_k_first_k("passed", 2), k3=pass_at_k_first_k("passed", 3)).row(0)
    (0.0, 1.0)
    """
    return _first_k("pass_at_k_first_k", passed, k, lambda won, among: (won & among).any())


def pass_hat_k_first_k(passed: IntoExpr, k: IntoExpr) -> pl.Expr:
    """Aggregate the ordered outcomes of a task: whether all of the first k attempts pass.

    Parameters
    ----------
    passed
        Boolean outcomes in the order of the attempts; null is an excluded attempt, which is
        skipped.
    k
        How many attempts must all pass. Of a column, the first value in the group counts.

    Returns
    -------
    polars.Expr
        Float64, 1.0 or 0.0, one a group. Null with fewer than k counted attempts.

    Raises
    ------
    ArgumentError
        If k is a number below 1 or fractional.

    Notes
    -----
    Unbiased when attempts are exchangeable, with 2 to 5 times the variance of :func:`pass_hat_k`.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"passed": [True, None, True, False]})
    >>> log.select(k2=pass_hat_k_first_k("passed", 2), k3=pass_hat_k_first_k("passed", 3)).row(0)
    (1.0, 0.0)
    """
    return _first_k("pass_hat_k_first_k", passed, k, lambda won, among: (won | ~among).all())


def _window(
    function: str, passed: IntoExpr, k: IntoExpr, attempt: IntoExpr, *, verdict: bool
) -> pl.Expr:
    """Share of the complete windows of k consecutive attempts that all have the verdict."""
    outcomes = _outcomes(passed, function)
    size, valid = _one_k(function, k)
    if attempt is None:
        place = pl.int_range(outcomes.len())
    else:
        place = _operand(function, "attempt", attempt, _COUNT).expr
        valid = valid & (place.null_count() == 0) & (place.diff() > 0.0).all()

    def windows(places: pl.Expr) -> pl.Expr:
        # k places in rising order span k - 1 exactly if they are consecutive.
        return (places.shift(1 - size) - places == size - 1).sum()

    counted = windows(place.filter(outcomes.is_not_null()))
    hits = windows(place.filter(outcomes if verdict else ~outcomes))
    return _null_unless(valid & (counted > 0), hits / counted)


def pass_at_k_window(passed: IntoExpr, k: IntoExpr, *, attempt: IntoExpr = None) -> pl.Expr:
    """Aggregate the ordered outcomes of a task: the share of windows in which any attempt passes.

    Parameters
    ----------
    passed
        Boolean outcomes in the order of the attempts; null is an excluded attempt. A window that
        would contain it is not counted.
    k
        How many consecutive attempts make a window. Of a column, the first value in the group
        counts.
    attempt
        The numbers of the attempts, strictly rising. Where one is missing, windows break too.

    Returns
    -------
    polars.Expr
        Float64, a share, one a group. Null without a complete window, and where the numbers of
        the attempts don't rise.

    Raises
    ------
    ArgumentError
        If k is a number below 1 or fractional.

    Notes
    -----
    Unbiased when attempts are exchangeable, with 1.2 to 1.3 times the variance of
    :func:`pass_at_k`; the gap between the two shows streaks.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"passed": [letter == "P" for letter in "PFFPP"]})
    >>> log.select(pass_at_k_window("passed", 2)).item()
    0.75
    """
    name = "pass_at_k_window"
    return (1.0 - _window(name, passed, k, attempt, verdict=False)).alias(name)


def pass_hat_k_window(passed: IntoExpr, k: IntoExpr, *, attempt: IntoExpr = None) -> pl.Expr:
    """Aggregate the ordered outcomes of a task: the share of windows in which all attempts pass.

    Parameters
    ----------
    passed
        Boolean outcomes in the order of the attempts; null is an excluded attempt. A window that
        would contain it is not counted.
    k
        How many consecutive attempts make a window. Of a column, the first value in the group
        counts.
    attempt
        The numbers of the attempts, strictly rising. Where one is missing, windows break too.

    Returns
    -------
    polars.Expr
        Float64, a share, one a group. Null without a complete window, and where the numbers of
        the attempts don't rise.

    Raises
    ------
    ArgumentError
        If k is a number below 1 or fractional.

    Notes
    -----
    Unbiased when attempts are exchangeable, with 1.2 to 1.3 times the variance of
    :func:`pass_hat_k`; the gap between the two shows streaks.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"passed": [letter == "P" for letter in "PPFPPPFPPP"]})
    >>> log.select(pass_hat_k_window("passed", 3)).item()
    0.25
    """
    name = "pass_hat_k_window"
    return _window(name, passed, k, attempt, verdict=True).alias(name)


def _from_windows(
    function: str, part: tuple[str, IntoExpr], windows: IntoExpr
) -> tuple[_Operand, _Operand, pl.Expr]:
    part_ = _operand(function, part[0], part[1], _COUNT)
    windows_ = _operand(function, "windows", windows, _COUNT)
    _refuse_above(function, (part[0], part_), ("windows", windows_))
    few, all_ = pl.field("few"), pl.field("all")
    return part_, windows_, _COUNT.check(few) & _POSITIVE.check(all_) & (few <= all_)


def pass_at_k_from_windows(fail_windows: IntoExpr, windows: IntoExpr) -> pl.Expr:
    """Compute the sliding-window pass@k from counts of windows.

    Parameters
    ----------
    fail_windows
        Windows of k consecutive attempts that all failed.
    windows
        Complete windows of k consecutive attempts.

    Returns
    -------
    polars.Expr
        Float64, a share. Null without a window, and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_at_k_from_windows(1, 4)).item()
    0.75
    """
    name = "pass_at_k_from_windows"
    few, all_, valid = _from_windows(name, ("fail_windows", fail_windows), windows)
    share = pl.field("few") / pl.field("all")
    return let({"few": few.expr, "all": all_.expr}, {name: _null_unless(valid, 1.0 - share)})


def pass_hat_k_from_windows(pass_windows: IntoExpr, windows: IntoExpr) -> pl.Expr:
    """Compute the sliding-window pass^k from counts of windows.

    Parameters
    ----------
    pass_windows
        Windows of k consecutive attempts that all passed.
    windows
        Complete windows of k consecutive attempts.

    Returns
    -------
    polars.Expr
        Float64, a share. Null without a window, and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(pass_hat_k_from_windows(1, 4)).item()
    0.25
    """
    name = "pass_hat_k_from_windows"
    few, all_, valid = _from_windows(name, ("pass_windows", pass_windows), windows)
    share = pl.field("few") / pl.field("all")
    return let({"few": few.expr, "all": all_.expr}, {name: _null_unless(valid, share)})


def _from_rank(
    function: str, rank: tuple[str, IntoExpr], n: IntoExpr, k: IntoExpr, *, within: float
) -> pl.Expr:
    """Give ``within`` where the rank is among the first k, 1 - ``within`` where it is later."""
    rank_ = _operand(function, rank[0], rank[1], _POSITIVE)
    n_ = _operand(function, "n", n, _COUNT)
    k_ = _operand(function, "k", k, _POSITIVE)
    _refuse_above(function, (rank[0], rank_), ("n", n_))
    place, fn, fk = pl.field("rank"), pl.field("n"), pl.field("k")
    valid = _COUNT.check(fn) & _POSITIVE.check(fk) & (fk <= fn)
    # No rank is an answer, not a missing value: there was no such attempt.
    possible = place.is_null() | (_POSITIVE.check(place) & (place <= fn))
    value = pl.when(place <= fk).then(within).otherwise(1.0 - within)
    return let(
        {"rank": rank_.expr, "n": n_.expr, "k": k_.expr},
        {function: _null_unless(valid & possible, value)},
    )


def pass_at_k_from_rank(first_pass_rank: IntoExpr, n: IntoExpr, k: IntoExpr) -> pl.Expr:
    """Tell from the place of the first pass whether any of the first k attempts passed.

    Parameters
    ----------
    first_pass_rank
        Place of the first pass among the counted attempts, from 1; null if none passed.
    n
        Counted attempts of the task.
    k
        How many attempts the user makes.

    Returns
    -------
    polars.Expr
        Float64, 1.0 or 0.0. Null where n < k and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> tasks = pl.DataFrame({"first_pass_rank": [2, 3, None], "n": [4, 4, 4]})
    >>> tasks.select(pass_at_k_from_rank("first_pass_rank", "n", 2)).to_series().to_list()
    [1.0, 0.0, 0.0]
    """
    rank = ("first_pass_rank", first_pass_rank)
    return _from_rank("pass_at_k_from_rank", rank, n, k, within=1.0)


def pass_hat_k_from_rank(first_fail_rank: IntoExpr, n: IntoExpr, k: IntoExpr) -> pl.Expr:
    """Tell from the place of the first failure whether all of the first k attempts passed.

    Parameters
    ----------
    first_fail_rank
        Place of the first failure among the counted attempts, from 1; null if none failed.
    n
        Counted attempts of the task.
    k
        How many attempts must all pass.

    Returns
    -------
    polars.Expr
        Float64, 1.0 or 0.0. Null where n < k and where the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> tasks = pl.DataFrame({"first_fail_rank": [2, 3, None], "n": [4, 4, 4]})
    >>> tasks.select(pass_hat_k_from_rank("first_fail_rank", "n", 2)).to_series().to_list()
    [0.0, 1.0, 1.0]
    """
    rank = ("first_fail_rank", first_fail_rank)
    return _from_rank("pass_hat_k_from_rank", rank, n, k, within=0.0)


# ---------------------------------------------------------------------------------------------
# words for numbers


def task_class(
    n: IntoExpr, c: IntoExpr, *, consistent_rate: float = 1.0, incapable_rate: float = 0.0
) -> pl.Expr:
    """Name what was observed of a task: consistent, flaky or incapable.

    It says nothing of what was not observed: 5 of 5 happens 59 % of the time at p = .9.

    Parameters
    ----------
    n
        Counted attempts of the task.
    c
        How many of them passed.
    consistent_rate
        Consistent if c / n is at least this.
    incapable_rate
        Incapable if c / n is at most this.

    Returns
    -------
    polars.Expr
        String: ``consistent``, ``incapable``, else ``flaky``; ``unknown`` where n = 0. Null where
        the counts can't be right.

    Raises
    ------
    ArgumentError
        If a number can't be right, or incapable_rate is not below consistent_rate.

    Examples
    --------
    >>> import polars as pl
    >>> tasks = pl.DataFrame({"n": [4, 4, 4, 0], "c": [4, 2, 0, 0]})
    >>> tasks.select(task_class("n", "c")).to_series().to_list()
    ['consistent', 'flaky', 'incapable', 'unknown']
    """
    name = "task_class"
    n_ = _operand(name, "n", n, _COUNT)
    c_ = _operand(name, "c", c, _COUNT)
    _refuse_above(name, ("c", c_), ("n", n_))
    high = _number(name, "consistent_rate", consistent_rate, _RATE)
    low = _number(name, "incapable_rate", incapable_rate, _RATE)
    if low >= high:
        _refuse(name, "incapable_rate", incapable_rate, f"below consistent_rate = {high}")
    fn, fc = pl.field("n"), pl.field("c")
    words = (
        pl.when(fn == 0.0)
        .then(pl.lit("unknown"))
        .when(fc / fn >= high)
        .then(pl.lit("consistent"))
        .when(fc / fn <= low)
        .then(pl.lit("incapable"))
        .otherwise(pl.lit("flaky"))
    )
    valid = _COUNT.check(fn) & _COUNT.check(fc) & (fc <= fn)
    return let({"n": n_.expr, "c": c_.expr}, {name: _null_unless(valid, words)})


def suite_reading(
    pass_at_k: IntoExpr,
    pass_hat_k: IntoExpr,
    *,
    capable_threshold: float = 0.8,
    consistent_threshold: float = 0.95,
) -> pl.Expr:
    """Read pass@k and pass^k of a suite together.

    Parameters
    ----------
    pass_at_k
        Mean pass@k over tasks.
    pass_hat_k
        Mean pass^k over tasks.
    capable_threshold
        Capable if pass@k is at least this.
    consistent_threshold
        Consistent if pass^k is at least this.

    Returns
    -------
    polars.Expr
        String: ``capable and consistent``, ``capable but flaky`` or ``not capable``. Null where an
        input is null or not a probability.

    Raises
    ------
    ArgumentError
        If a number is not from 0 to 1.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(suite_reading(0.8, 0.4)).item()
    'capable but flaky'
    """
    name = "suite_reading"
    at_ = _operand(name, "pass_at_k", pass_at_k, _RATE)
    hat_ = _operand(name, "pass_hat_k", pass_hat_k, _RATE)
    capable = _number(name, "capable_threshold", capable_threshold, _RATE)
    consistent = _number(name, "consistent_threshold", consistent_threshold, _RATE)
    at, hat = pl.field("at"), pl.field("hat")
    words = (
        pl.when(at < capable)
        .then(pl.lit("not capable"))
        .when(hat >= consistent)
        .then(pl.lit("capable and consistent"))
        .otherwise(pl.lit("capable but flaky"))
    )
    valid = _RATE.check(at) & _RATE.check(hat)
    return let({"at": at_.expr, "hat": hat_.expr}, {name: _null_unless(valid, words)})
