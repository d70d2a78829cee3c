"""How far judges agree, and whose doing it is that tries differ: the table ``passk_judges``."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import polars as pl

from passk_py.common.contract import KEY, LOG_JUDGE
from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.graders.matched_labels import as_polars, read_labels
from passk_py.metrics.logs import read_log
from passk_py.metrics.states import padded
from passk_py.stats.distributions import student_quantile
from passk_py.stats.estimators.arguments import checked_confidence

LEAST_TASKS: Final = 5
"""Fewer tasks with two tries say too little of how tries differ."""

_PAIR: Final = ("suite", "judge", "other_judge")
_TRY: Final = ("run_id", "suite", "task_id")
_FIGURES: Final = (
    *("pass_rate", "other_pass_rate", "agreement", "agreement_lower", "agreement_upper"),
    *("agreement_by_chance", "kappa", "disagreement_same_try", "disagreement_other_try"),
    *("judges_share", "judges_share_lower", "judges_share_upper"),
)
JUDGE_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(_PAIR, pl.String),
    **dict.fromkeys(("attempts", "tasks", "retried_tasks", "families"), pl.Int64),
    **dict.fromkeys(_FIGURES, pl.Float64),
    "null_reason": pl.String,
}


@any_frame
def judge_agreement(
    attempts: pl.DataFrame | pl.LazyFrame,
    verdicts: Any,  # noqa: ANN401 - any frame
    *,
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Say how far judges agree about attempts, and what share of disagreement is theirs.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`. Its outcomes are the
        verdicts of the judge ``log``.
    verdicts
        A frame with ``run_id``, ``suite`` (if the log has it), ``task_id``, ``attempt`` and
        ``verdict``, passed or failed, and maybe ``judge`` (``judge`` where it is not said),
        ``judged_at`` and ``note``. Each row is a verdict of its own, but for equal ones of one
        ``judged_at``. Rows that are none, or of attempts that are not there or excluded, are left
        out.
    cluster
        A column or tag that names a task's family: its tasks count as related.
    confidence
        Level of the intervals, between 0 and 1.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per suite and pair of judges that judged the same attempts, with the columns of the
        table ``passk_judges`` except ``loaded_at``; a judge with several verdicts on an attempt is
        a pair with itself. ``judges_share`` is null, and ``null_reason`` says why, with fewer than
        five tasks that have two such tries in a run, or if no two tries were judged differently.

    Raises
    ------
    PasskError
        If the attempts or the verdicts lack a column, or an outcome is unknown.
    ArgumentError
        If an option can't be right.

    Notes
    -----
    With x the chance that the two verdicts differ on one try, and y that on two tries of a task,

    .. math:: \text{agreement} = 1 - \bar x, \quad
        \kappa = \frac{\text{agreement} - e}{1 - e}, \quad
        \text{share} = \frac{\bar x}{\bar y},

    means over tasks of all pairs of verdicts, where e is the agreement by chance (Cohen 1960). The
    limits of the agreement are those of a suite's mean; those of the share are Fieller's (1954),
    with two tasks more that have x = 0, y = 1 and x = y = 1.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "r", "task_id": str(t), "attempt": a, "passed": (t + a) % 4 > 0}
    ...         for t in range(20) for a in range(1, 5)
    ...     ]
    ... )
    >>> verdicts = log.select(
    ...     "run_id", "task_id", "attempt",
    ...     verdict=pl.col("passed") & (pl.col("task_id") != "3"),
    ... )
    >>> found = judge_agreement(log, verdicts).row(0, named=True)
    >>> found["judge"], found["other_judge"], round(found["agreement"], 4)
    ('judge', 'log', 0.9625)
    >>> round(found["kappa"], 3), round(found["judges_share"], 3)
    (0.905, 0.073)
    """
    level = checked_confidence("judge_agreement", confidence)
    log = read_log(attempts, threshold, cluster=cluster)
    used = graded_verdicts(read_verdicts(verdicts), log)
    families = None
    if cluster is not None:
        families = log.group_by(_TRY).agg(pl.col("family").min()).collect()
    return agreement_of(used, families, level)


def read_verdicts(verdicts: Any) -> pl.DataFrame:  # noqa: ANN401 - any frame
    """Read verdicts from any frame, without the rows that are none."""
    frame = as_polars(verdicts, "verdicts")
    columns = ("judge", "judged_at", "note")
    frame = frame.with_columns(
        pl.lit(None, pl.String).alias(name) for name in columns if name not in frame.columns
    )
    judge = pl.col("judge").cast(pl.String).str.strip_chars()
    said = frame.select(
        "judged_at", "note", judge=pl.when(judge != "").then(judge).fill_null("judge")
    )
    told = pl.concat([read_labels(frame, "verdicts"), said], how="horizontal")
    is_reserved = pl.col("judge").str.to_lowercase() == LOG_JUDGE
    return told.filter(pl.col("reason_code").is_null() & ~is_reserved).drop("reason_code")


def graded_verdicts(verdicts: pl.DataFrame, grades: pl.LazyFrame) -> pl.DataFrame:
    """Keep the verdicts that count, and put ``passed``, the grade of the attempt, beside each."""
    keys = verdicts.select(KEY).unique().lazy()
    graded = grades.select(*KEY, "passed").filter(pl.col("passed").is_not_null())
    matched = verdicts.lazy().join(
        graded.join(keys, on=list(KEY), how="semi"), on=list(KEY), how="inner"
    )
    same = (*KEY, "judge", "verdict", "judged_at", "note")
    is_copy = pl.col("judged_at").is_not_null() & (pl.int_range(pl.len()).over(same) > 0)
    return matched.filter(~is_copy).collect()


def agreement_of(
    used: pl.DataFrame, families: pl.DataFrame | None, confidence: float
) -> pl.DataFrame:
    """Compare all pairs of judges: the rows of :func:`judge_agreement`."""
    tasks = _judged_tasks(used)
    if families is None:
        tasks = tasks.with_columns(family=pl.lit(None, pl.String))
    else:
        tasks = tasks.join(families, on=list(_TRY), how="left")
    terms = _terms(tasks)
    rows = [
        dict(zip(_PAIR, pair, strict=True))
        | _agreement(group, confidence, by_family=families is not None)
        for pair, group in terms.partition_by(_PAIR, as_dict=True, maintain_order=True).items()
    ]
    return pl.DataFrame(rows, schema=JUDGE_TYPES, orient="row").sort(_PAIR)


def _judged_tasks(used: pl.DataFrame) -> pl.DataFrame:
    """Sum up the tries of each run, task and pair of judges."""
    passed = (pl.col("verdict") == "passed").cast(pl.Float64)
    by_log = used.unique(KEY).select(
        *KEY,
        judge=pl.lit(LOG_JUDGE),
        verdicts=pl.lit(1.0),
        passes=pl.col("passed").cast(pl.Float64),
    )
    counted = pl.concat(
        [
            used.group_by(*KEY, "judge").agg(
                verdicts=pl.len().cast(pl.Float64), passes=passed.sum()
            ),
            by_log,
        ]
    )
    judge, other = pl.col("judge"), pl.col("other_judge")
    m, c = pl.col("verdicts"), pl.col("passes")
    d, e = pl.col("other_verdicts"), pl.col("other_passes")
    pairs = counted.join(
        counted.rename({name: f"other_{name}" for name in ("judge", "verdicts", "passes")}),
        on=list(KEY),
    ).filter(
        (judge != LOG_JUDGE)
        & ((other == LOG_JUDGE) | (judge < other) | ((judge == other) & (m > 1)))
    )
    # Of two draws from the verdicts of a try, which may be the same verdict.
    any_two = (c * (d - e) + e * (m - c)) / (m * d)
    return (
        pairs.with_columns(
            any_two=any_two,
            two=pl.when(judge == other).then(any_two * m / (m - 1)).otherwise(any_two),
        )
        .group_by(*_TRY, "judge", "other_judge")
        .agg(
            tries=pl.len().cast(pl.Float64),
            passes=(c / m).sum(),
            other_passes=(e / d).sum(),
            two=pl.col("two").sum(),
            any_two=pl.col("any_two").sum(),
        )
    )


def _terms(tasks: pl.DataFrame) -> pl.DataFrame:
    """Take the runs of each task together."""
    m, c, e = pl.col("tries"), pl.col("passes"), pl.col("other_passes")
    # All pairs of tries, less those of a try with itself.
    other_try = (m * (c + e) - 2 * c * e - pl.col("any_two")) / (m * (m - 1))
    is_retried = m > 1
    return (
        tasks.with_columns(
            same_try=pl.when(is_retried).then(pl.col("two") / m),
            other_try=pl.when(is_retried).then(other_try),
        )
        .group_by(*_PAIR, "task_id")
        .agg(
            attempts=m.sum(),
            pass_rate=c.sum() / m.sum(),
            other_pass_rate=e.sum() / m.sum(),
            agreement=1 - pl.col("two").sum() / m.sum(),
            same_try=pl.col("same_try").mean(),
            other_try=pl.col("other_try").mean(),
            family=pl.col("family").min(),
        )
        .sort(*_PAIR, "task_id")
    )


class _Moments(NamedTuple):
    """Means over tasks, and what their squares and products between units add up to."""

    units: float
    x: float
    y: float
    squares_x: float
    squares_y: float
    products: float


def _moments(tasks: pl.DataFrame, x: str, y: str) -> _Moments:
    means = [math.fsum(tasks[name].to_list()) / tasks.height for name in (x, y)]
    draws: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for task_id, family, *values in tasks.select("task_id", "family", x, y).iter_rows():
        draw = ("task", task_id) if family is None else ("family", family)
        apart = (values[0] - means[0], values[1] - means[1])
        draws.setdefault(draw, []).append(apart)
    units = tasks.height**2 / sum(len(one) ** 2 for one in draws.values())
    number = len(draws)
    sums = [tuple(math.fsum(side) for side in zip(*one, strict=True)) for one in draws.values()]
    # (units - 1) times the variance of a unit, which is that of a family's sum over its size.
    scale = (units - 1) * units / tasks.height**2 * number / (number - 1) if number > 1 else 0.0
    return _Moments(
        units,
        *means,
        *(scale * math.fsum(one[i] * one[j] for one in sums) for i, j in ((0, 0), (1, 1), (0, 1))),
    )


def _agreement(tasks: pl.DataFrame, confidence: float, *, by_family: bool) -> dict[str, Any]:
    """Compare two judges over the tasks with tries that both judged."""
    own = _moments(tasks, "agreement", "pass_rate")
    middle, reach = padded(own.x, own.squares_x, own.units, confidence)
    rate, other = (tasks[name].mean() for name in ("pass_rate", "other_pass_rate"))
    assert isinstance(rate, float)  # noqa: S101 - there is a task
    assert isinstance(other, float)  # noqa: S101
    by_chance = rate * other + (1 - rate) * (1 - other)
    retried = tasks.filter(pl.col("other_try").is_not_null())
    named = tasks["family"].drop_nulls()
    return {
        "attempts": int(tasks["attempts"].sum()),
        "tasks": tasks.height,
        "retried_tasks": retried.height,
        "families": named.n_unique() + tasks.height - named.len() if by_family else None,
        "pass_rate": rate,
        "other_pass_rate": other,
        "agreement": own.x,
        "agreement_lower": max(middle - reach, 0.0),
        "agreement_upper": min(middle + reach, 1.0),
        "agreement_by_chance": by_chance,
        "kappa": (own.x - by_chance) / (1 - by_chance) if by_chance < 1 else None,
        **_share(retried, confidence),
    }


def _share(retried: pl.DataFrame, confidence: float) -> dict[str, Any]:
    """Give how much of the disagreement between tries there is between verdicts of one try."""
    if retried.is_empty():
        return {"null_reason": "no task has two tries that both judged"}
    if retried.height < LEAST_TASKS:
        said = f"only {retried.height} tasks have two tries that both judged, fewer than 5"
        return {"null_reason": said}
    seen = _moments(retried, "same_try", "other_try")
    if seen.y <= 0:
        return {"null_reason": "no two tries of a task were judged differently"}
    lower, upper = _fieller(seen, confidence)
    return {
        "disagreement_same_try": seen.x,
        "disagreement_other_try": seen.y,
        "judges_share": min(max(seen.x / seen.y, 0.0), 1.0),
        "judges_share_lower": lower,
        "judges_share_upper": upper,
    }


def _fieller(seen: _Moments, confidence: float) -> tuple[float, float]:
    """Solve (x - r y)^2 = t^2 Var(x - r y) for r, with two units more: (0, 1) and (1, 1)."""
    units, x, y = seen.units, seen.x, seen.y
    more = [(0.0, 1.0), (1.0, 1.0)]
    mid_x, mid_y = (units * x + 1) / (units + 2), (units * y + 2) / (units + 2)
    of_mean = student_quantile(math.floor(units + 1.5), confidence) ** 2
    of_mean /= (units + 1) * (units + 2)
    apart = [(a - mid_x, b - mid_y) for a, b in more]
    var_x, var_y, both = (
        of_mean * (own + units * one * other + math.fsum(pair[i] * pair[j] for pair in apart))
        for own, one, other, i, j in (
            (seen.squares_x, x - mid_x, x - mid_x, 0, 0),
            (seen.squares_y, y - mid_y, y - mid_y, 1, 1),
            (seen.products, x - mid_x, y - mid_y, 0, 1),
        )
    )
    a, b, c = mid_y**2 - var_y, mid_x * mid_y - both, mid_x**2 - var_x
    if a <= 0 or b * b < a * c:
        return 0.0, 1.0
    root = math.sqrt(b * b - a * c)
    return min(max((b - root) / a, 0.0), 1.0), min(max((b + root) / a, 0.0), 1.0)
