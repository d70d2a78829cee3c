"""How sure the numbers of tasks and of suites are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.stats import estimators as est
from passk_py.stats.distributions import normal_quantile
from passk_py.stats.estimators.intervals import limit_of_mean, student_quantiles

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITE_ENDS: Final = (
    *("_lower", "_upper", "_suite_lower", "_suite_upper"),
    *("_within_share", "_bayes", "_bayes_lower", "_bayes_upper"),
)
"""The ends of the columns that say how sure pass_at_k and pass_hat_k of a suite are."""

_LEAST_INFORMATIVE: Final = 10
"""With fewer tasks that are neither perfect nor hopeless, intervals of delta_k are too narrow."""

_STEEP, _FLAT = 0.25, 0.6

_TASKS: Final = pl.col("tasks")
"""How many tasks a row stands for."""
FLOOR_OF_SUITE: Final = 0.25
FLOOR_OF_DIFFERENCE: Final = 0.5
"""The least floor of the intervals for these tasks, beside the variances."""


def floor_unit(confidence: float) -> float:
    """Give the root of the floor of an interval for these tasks where n = k: -ln(a / 2) / z.

    n attempts that all passed have a variance of 0 and still prove little. T such tasks come with a
    chance of at least a / 2 from tasks whose mean pass^k is as low as 1 + ln(a / 2) k / (n T).
    The limit z sqrt(floor) / T must reach that, so sqrt(floor) is this unit times k / n.
    """
    return -math.log(round((1 - confidence) / 2, 10)) / normal_quantile(confidence)


def floor_of_difference(k: int, least_n: int, confidence: float) -> float:
    """Give what the interval of a difference holds beside the variances."""
    return max(FLOOR_OF_DIFFERENCE, (floor_unit(confidence) * k / least_n) ** 2)


def floor_of_suite(k: int, least_n: int, confidence: float) -> float:
    """Give what the interval of a suite's mean holds beside the variances."""
    return max(FLOOR_OF_SUITE, (floor_unit(confidence) * k / least_n) ** 2)


def with_task_limits(states: pl.LazyFrame, confidence: float) -> pl.LazyFrame:
    """Add the limits of the estimates of each (n, c, k), which are quantiles and take long."""
    return states.with_columns(
        **{
            f"{metric}_{end}": getattr(est, f"{metric}_{end}")("n", "c", "k", confidence=confidence)
            for metric in ("pass_at_k", "pass_hat_k")
            for end in ("lower", "upper")
        }
    )


def with_task_uncertainty(states: pl.LazyFrame) -> pl.LazyFrame:
    """Add what the limits of a suite need of each (n, c, k): variance, and a posterior.

    An estimate's square less the estimate of twice as many draws is the unbiased estimate of its
    variance. Under a uniform prior the posterior mean of p^k is pass^k of c + k passes among
    n + 1 + k attempts, and that of (1 - p)^k the same with the failures.
    """
    n, c, k = pl.col("n"), pl.col("c"), pl.col("k")
    # All are pass^k of some counts. As rows of one column, polars plans and runs its formula once.
    counts = [
        counts
        for lucky in (n - c, c)
        for draws in (k, 2 * k)
        for counts in ((n, lucky, draws), (n + 1 + draws, lucky + draws, draws))
    ]
    names = ("of_n", "of_c", "of_k")
    lists = {
        name: pl.concat_list(column)
        for name, column in zip(names, zip(*counts, strict=True), strict=True)
    }
    drawn = [pl.col("drawn").list.get(place) for place in range(len(counts))]
    found: dict[str, pl.Expr] = {}
    for metric, of_metric in (("pass_at_k", drawn[:4]), ("pass_hat_k", drawn[4:])):
        estimate, mean, twice, square = of_metric
        found |= {
            f"within_{metric}": (estimate**2 - twice).clip(0.0),
            f"{metric}_bayes": 1 - mean if metric == "pass_at_k" else mean,
            f"spread_{metric}_bayes": (square - mean**2).clip(0.0),
        }
    return (
        states.with_columns(**lists)
        .explode(names)
        .with_columns(drawn=est.pass_hat_k(*names))
        .group_by("n", "c", "k", maintain_order=True)
        .agg("drawn")
        .select("n", "c", "k", **found)
    )


def mean(x: pl.Expr) -> pl.Expr:
    """Give the mean of a column over the tasks that have a value."""
    return (x * _TASKS).sum() / _tasks_with(x)


def covariance(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    """Give the sample covariance over tasks of two columns that are null in the same rows."""
    about = (_TASKS * (x - mean(x)) * (y - mean(y))).sum() / (_tasks_with(x) - 1)
    return pl.when(_tasks_with(x) > 1).then(about)


def _tasks_with(x: pl.Expr) -> pl.Expr:
    """Count the tasks that have a value; null without one."""
    tasks = pl.when(x.is_not_null()).then(_TASKS).sum()
    return pl.when(tasks > 0).then(tasks)


def scatter(eligible: pl.Expr) -> dict[str, pl.Expr]:
    """Give what the limits of a suite's means need of its eligible tasks."""
    found: dict[str, pl.Expr] = {}
    for metric in ("pass_at_k", "pass_hat_k"):
        score, within, bayes, spread = (
            pl.when(eligible).then(pl.col(name))
            for name in (metric, f"within_{metric}", f"{metric}_bayes", f"spread_{metric}_bayes")
        )
        found |= {
            f"var_{metric}": covariance(score, score),
            f"within_{metric}": pl.when((eligible & within.is_null()).sum() == 0).then(
                (within * _TASKS).sum()
            ),
            f"{metric}_bayes": mean(bayes),
            f"spread_{metric}_bayes": (spread * _TASKS).sum(),
        }
    return found


def family_scatter(estimated: pl.LazyFrame, place: Sequence[str]) -> pl.LazyFrame:
    """Give the families of the eligible tasks by ``place`` and k, and how much their sums vary.

    The variances replace those of unrelated tasks: T times the variance of the mean of T tasks,
    F / (F - 1) / T times the sum over families of (a family's scores less the mean)^2.
    """
    n, c, k = pl.col("n"), pl.col("c"), pl.col("k")
    scores = {"pass_1": c / n, "pass_at_k": pl.col("pass_at_k"), "pass_hat_k": pl.col("pass_hat_k")}
    tasks, families = pl.col("tasks"), pl.len()
    about = {name: pl.col(name) - mean(pl.col(name)).over(*place, "k") for name in scores}

    def spread(one: str, other: str) -> pl.Expr:
        squares = (pl.col(one) * pl.col(other)).sum() / tasks.sum()
        return pl.when(families > 1).then(squares * families / (families - 1))

    return (
        estimated.filter(n >= k)
        .select(
            *(*place, "k", "family"),
            *("lone", "tasks"),
            **scores,
        )
        .with_columns(**about)
        .group_by(*place, "k", "family", "lone")
        .agg(
            tasks=tasks.sum().cast(pl.Float64),
            **{name: (pl.col(name) * tasks).sum() for name in scores},
        )
        .group_by(*place, "k")
        .agg(
            families=families.cast(pl.Int64),
            effective_families=tasks.sum() ** 2 / (tasks**2).sum(),
            **{f"related_var_{name}": spread(name, name) for name in scores},
            related_covariance=spread("pass_1", "pass_hat_k"),
        )
    )


def with_suite_limits(table: pl.LazyFrame, known: pl.Expr, confidence: float) -> pl.LazyFrame:
    """Add the limits of a suite's means."""
    tasks, units = pl.col("eligible_tasks"), pl.col("units")
    total = pl.col("total_tasks")
    z = normal_quantile(confidence)
    unseen = floor_unit(confidence) * pl.col("k") / pl.col("least_n")
    floor = pl.max_horizontal(pl.lit(FLOOR_OF_SUITE), unseen**2)
    columns: dict[str, pl.Expr] = {
        "informative_tasks": pl.when(known).then(pl.col("informative_tasks")),
        "pass_hat_k_per_attempt": pl.col("pass_hat_k") ** (1 / pl.col("k")),
    }
    for metric in ("pass_at_k", "pass_hat_k"):
        mean, bayes = pl.col(metric), pl.when(known).then(pl.col(f"{metric}_bayes"))
        scatter = (mean, pl.col(f"var_{metric}") * (units / tasks), units, confidence)
        own = z * (pl.col(f"within_{metric}") + floor).sqrt() / tasks
        posterior = z * pl.col(f"spread_{metric}_bayes").sqrt() / tasks
        limits = {
            metric: (
                limit_of_mean(*scatter, -1),
                limit_of_mean(*scatter, 1),
            ),
            f"{metric}_suite": (mean - own, mean + own),
            f"{metric}_bayes": (bayes - posterior, bayes + posterior),
        }
        for name, (lower, upper) in limits.items():
            # Tasks with n < k may score anything.
            columns |= {
                f"{name}_lower": lower.clip(0.0, 1.0) * tasks / total,
                f"{name}_upper": (upper.clip(0.0, 1.0) * tasks + total - tasks) / total,
            }
        columns |= {
            # Where tasks are alike the variance is 0, but for what rounding leaves.
            f"{metric}_within_share": pl.when(
                known & (pl.col(f"most_var_{metric}") > 1e-26 * mean * mean)
            ).then(pl.col(f"within_{metric}") / tasks / pl.col(f"most_var_{metric}")),
            f"{metric}_bayes": bayes,
        }
    return table.with_columns(**columns).with_columns(**_of_differences(known, confidence))


@dataclass(frozen=True, slots=True)
class _Moments:
    """The scores of tasks: how many there are, or families, means, variances and covariance."""

    units: pl.Expr
    rate: pl.Expr
    hat: pl.Expr
    var_rate: pl.Expr
    var_hat: pl.Expr
    covariance: pl.Expr

    def padded(self) -> _Moments:
        """Add one task that is never solved and one that always is."""
        units = self.units + 2

        def spread(own: pl.Expr, x: pl.Expr, y: pl.Expr) -> pl.Expr:
            apart = (x - 0.5) * (y - 0.5) * (2 * self.units / units)
            return ((self.units - 1) * own + 0.5 + apart) / (units - 1)

        return _Moments(
            units,
            (self.units * self.rate + 1) / units,
            (self.units * self.hat + 1) / units,
            spread(self.var_rate, self.rate, self.rate),
            spread(self.var_hat, self.hat, self.hat),
            spread(self.covariance, self.hat, self.rate),
        )

    def delta(self) -> pl.Expr:
        """Give delta_k, for k from 2."""
        k = pl.col("k")
        power = self.rate**k - k * (k - 1) / 2 * self.rate ** (k - 2) * self.var_rate / self.units
        return self.hat - power

    def limits(self, delta: pl.Expr, confidence: float) -> dict[str, tuple[pl.Expr, pl.Expr]]:
        """Give middle and reach of delta_k and of heterogeneity, for k from 2."""
        k = pl.col("k")
        bound = self.rate - self.hat + delta
        slope = k * self.rate ** (k - 1)

        def reach(slope: pl.Expr) -> pl.Expr:
            variance = self.var_hat + slope**2 * self.var_rate - 2 * slope * self.covariance
            quantile = student_quantiles((self.units + 0.5).floor() - 1, confidence)
            return quantile * (variance.clip(0.0) / self.units).sqrt()

        index = delta / bound
        return {
            "delta_k": (delta, reach(slope)),
            "heterogeneity": (index, reach(slope + index * (1 - slope)) / bound),
        }


def _of_differences(known: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """Give the limits of delta_k and heterogeneity, by the delta method over tasks.

    They reach as far as those of the tasks as they are, and of two tasks more, one never solved and
    one always: where nearly all tasks are alike, the tasks alone would leave out the truth in most
    logs.
    """
    units = pl.col("units")
    own = _Moments(
        units,
        pl.col("pass_1"),
        pl.col("pass_hat_k"),
        *(
            pl.col(name) * (units / pl.col("eligible_tasks"))
            for name in ("var_pass_1", "var_pass_hat_k", "covariance")
        ),
    )
    padded = own.padded()
    forms = own.limits(pl.col("delta_k"), confidence), padded.limits(padded.delta(), confidence)
    # Student's t of no degrees of freedom has no quantile.
    degrees = (units + 0.5).floor() - 1
    enough = known & (pl.col("informative_tasks") >= _LEAST_INFORMATIVE) & (degrees >= 1)
    found: dict[str, pl.Expr] = {}
    for name in ("delta_k", "heterogeneity"):
        (middle, reach), (wide, wide_reach) = (form[name] for form in forms)
        here = enough & pl.col(name).is_not_null()
        ends = {
            "lower": pl.min_horizontal(middle - reach, wide - wide_reach),
            "upper": pl.max_horizontal(middle + reach, wide + wide_reach),
        }
        for side, end in ends.items():
            # At k = 1 there is no difference, but what rounding leaves.
            found[f"{name}_{side}"] = (
                pl.when(here & (pl.col("k") > 1)).then(end).when(here).then(0.0)
            )
    return found


def curve_shape(place: Sequence[str]) -> pl.Expr:
    """Name how pass^k falls over k, by the interval of the heterogeneity at k = 2."""
    pair = pl.col("k") == 2
    low, high = (
        pl.col(f"heterogeneity_{side}").filter(pair).first().over(*place)
        for side in ("lower", "upper")
    )
    return (
        pl.when(low.is_null())
        .then(None)
        .when(high < _STEEP)
        .then(pl.lit("steep"))
        .when(low > _FLAT)
        .then(pl.lit("flat"))
        .when((low >= _STEEP) & (high <= _FLAT))
        .then(pl.lit("mixed"))
        .otherwise(pl.lit("undetermined"))
    )
