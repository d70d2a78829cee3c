"""pass^k over the length of tasks: ``passk_horizons`` and ``passk_difficulty_curve``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.difficulty.horizon_fit import SETTLED, fit_horizon
from passk_py.metrics.frames.counting import TASK, unordered_tasks
from passk_py.metrics.logs import read_log, value_of
from passk_py.metrics.states import all_pass, padded, related, short_reason
from passk_py.stats.estimators.arguments import checked_confidence, checked_ks, checked_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_RUN: Final = ("run_id", "suite")
_FEWEST: Final = 10
"""Tasks of which a curve is fitted."""
_BINS: Final = 5
HORIZON_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("k", "fitted_tasks", "total_tasks"), pl.Int64),
    **dict.fromkeys(
        (
            *("shortest", "longest", "horizon", "horizon_lower", "horizon_upper"),
            *("curve_level", "curve_slope", "curve_power", "effective_draws"),
        ),
        pl.Float64,
    ),
    **dict.fromkeys(("null_reason", "caveat"), pl.String),
}
CURVE_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("k", "bin"), pl.Int64),
    **dict.fromkeys(("shortest", "longest", "typical_length"), pl.Float64),
    "tasks": pl.Int64,
    **dict.fromkeys(
        ("effective_draws", "pass_hat_k", "pass_hat_k_lower", "pass_hat_k_upper"), pl.Float64
    ),
}


@any_frame
def horizons(
    attempts: pl.DataFrame | pl.LazyFrame,
    difficulty: str,
    ks: Iterable[int],
    *,
    cluster: str | None = None,
    min_eligible_share: float = 0.95,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Find the length of tasks at which pass^k is one half: the table ``passk_horizons``.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    difficulty
        The column or tag with the length of a task, a number above 0: minutes, steps, tokens. Of
        attempts that differ the mean is taken.
    ks
        Values of k, whole numbers from 1.
    cluster, min_eligible_share, confidence, threshold
        As in :func:`passk_py.suite_metrics`.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite and k: ``fitted_tasks`` (with a length and n >= k),
        ``total_tasks``, the ``shortest`` and ``longest`` length, the ``horizon`` with limits for
        tasks like these, in units of the length, null beyond the lengths that tasks have; the
        curve's ``curve_level``, ``curve_slope`` and ``curve_power``; ``effective_draws``,
        ``null_reason``, why there is no horizon, and ``caveat``.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Notes
    -----
    The mean pass^k of tasks of a length is taken to be

    .. math:: \left(1 + e^{-(a + b \log_2 length)}\right)^{-\sqrt k}

    At k = 1 this is the logistic curve of METR (Kwa et al. 2025, arXiv:2503.14499). Tasks of one
    length may differ. The limits are Fieller's (1954).

    Examples
    --------
    >>> import polars as pl
    >>> rows = [(minutes, minutes <= 8) for minutes in (1, 2, 4, 8, 16, 32, 64, 128)] * 2
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "r", "task_id": task, "attempt": 1, "minutes": minutes, "passed": passed}
    ...         for task, (minutes, passed) in enumerate(rows)
    ...     ]
    ... )
    >>> found = horizons(log, "minutes", [1]).row(0, named=True)
    >>> round(found["horizon"], 6), found["caveat"]
    (11.313708, 'no limits: that pass^k falls with length is not sure')
    """
    name = "horizons"
    options = _options(name, ks, min_eligible_share, confidence)
    return _table(
        horizon_rows, task_lengths(attempts, difficulty, cluster, threshold), options, HORIZON_TYPES
    )


@any_frame
def difficulty_curve(
    attempts: pl.DataFrame | pl.LazyFrame,
    difficulty: str,
    ks: Iterable[int],
    *,
    cluster: str | None = None,
    min_eligible_share: float = 0.95,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Average pass^k over short and long tasks: the table ``passk_difficulty_curve``.

    Parameters
    ----------
    attempts, difficulty, ks, cluster, min_eligible_share, confidence, threshold
        As in :func:`horizons`.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite, k and ``bin``, five of as many tasks, as far as tasks of one
        length allow: the ``shortest``, ``longest`` and ``typical_length`` (geometric mean), the
        number of ``tasks``, ``effective_draws``, the mean ``pass_hat_k`` and its limits for tasks
        like these. There are no rows for a k that too few tasks of the run have attempts for.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     {"run_id": "r", "task_id": [1, 2, 3], "attempt": 1, "steps": [2, 8, 8]}
    ... ).with_columns(passed=pl.col("task_id") < 3)
    >>> difficulty_curve(log, "steps", [1]).select("bin", "shortest", "tasks", "pass_hat_k").rows()
    [(1, 2.0, 1, 1.0), (2, 8.0, 2, 0.5)]
    """
    options = _options("difficulty_curve", ks, min_eligible_share, confidence)
    return _table(
        curve_rows, task_lengths(attempts, difficulty, cluster, threshold), options, CURVE_TYPES
    )


def _options(
    name: str, ks: Iterable[int], min_eligible_share: float, confidence: float
) -> dict[str, Any]:
    return {
        "ks": checked_ks(name, ks),
        "min_eligible_share": checked_share(name, min_eligible_share),
        "confidence": checked_confidence(name, confidence),
    }


def _table(
    rows: Callable[..., Iterator[dict[str, Any]]],
    tasks: pl.DataFrame,
    options: dict[str, Any],
    types: dict[str, type[pl.DataType]],
) -> pl.DataFrame:
    place = dict.fromkeys(_RUN, pl.String)
    return pl.DataFrame(list(rows(tasks, **options)), schema={**place, **types}, orient="row")


def task_lengths(
    attempts: pl.DataFrame | pl.LazyFrame,
    difficulty: str,
    cluster: str | None,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Count tasks of the same run, family, length and counts, also those without a length.

    Tasks that can't be counted are left out.
    """
    length = value_of("difficulty", difficulty, attempts.lazy().collect_schema())
    log = read_log(
        attempts,
        threshold,
        more={"length": length.str.strip_chars().cast(pl.Float64, strict=False)},
        cluster=cluster,
    )
    known = pl.col("length").is_finite() & (pl.col("length") > 0)
    # The mean of equal numbers may be off by rounding.
    told = pl.col("length").filter(known)
    lengths = log.group_by(TASK).agg(
        length=pl.when(told.min() == told.max()).then(told.min()).otherwise(told.mean())
    )
    family = pl.col("family") if cluster is not None else pl.lit(None, pl.String)
    return (
        unordered_tasks(log, TASK)
        .filter(pl.col("n").is_not_null())
        .join(lengths, on=list(TASK))
        .with_columns(family=family)
        .group_by(*_RUN, "family", "length", "n", "c")
        .agg(tasks=pl.len().cast(pl.Int64))
        .sort(*_RUN, "length", "n", "c", "family")
        .collect(engine="streaming")
    )


def _fitted(
    tasks: pl.DataFrame, ks: Sequence[int]
) -> Iterator[tuple[dict[str, Any], int, int, pl.DataFrame]]:
    """Give each run and k with the number of tasks, of those that are fitted, and these."""
    for (run, suite), of_run in sorted(tasks.partition_by(*_RUN, as_dict=True).items()):
        for k in ks:
            fitted = of_run.filter((pl.col("n") >= k) & pl.col("length").is_not_null())
            scores = [all_pass(n, c, k) for n, c in fitted.select("n", "c").iter_rows()]
            yield (
                {"run_id": run, "suite": suite, "k": k},
                _number(of_run),
                k,
                fitted.with_columns(score=pl.Series(scores, dtype=pl.Float64)),
            )


def _number(tasks: pl.DataFrame) -> int:
    return int(tasks["tasks"].sum())


def horizon_rows(
    tasks: pl.DataFrame, *, ks: Sequence[int], min_eligible_share: float, confidence: float
) -> Iterator[dict[str, Any]]:
    """Fit the curve of each run and k, from :func:`task_lengths`."""
    for place, total, k, fitted in _fitted(tasks, ks):
        known = _number(fitted)
        row = {
            **dict.fromkeys(HORIZON_TYPES),
            **place,
            "fitted_tasks": known,
            "total_tasks": total,
            "shortest": fitted["length"].min(),
            "longest": fitted["length"].max(),
        }
        left_out = f"n < k or no length in {total - known} of {total} tasks"
        short = short_reason(k, known, total, min_eligible_share=min_eligible_share)
        if short is not None:
            yield row | {"null_reason": left_out}
        elif known < _FEWEST:
            yield row | {"null_reason": "fewer than 10 tasks"}
        else:
            caveat = f"{left_out}, which are left out" if known < total else None
            yield row | {"caveat": caveat} | _horizon(fitted, k, confidence)


def _horizon(fitted: pl.DataFrame, k: int, confidence: float) -> dict[str, Any]:
    """Give the columns of the curve and the horizon."""
    doublings, weight = fitted["length"].log(2), fitted["tasks"].cast(pl.Float64)
    number = float(weight.sum())
    mean = float((weight * doublings).sum()) / number
    spread = math.sqrt(float((weight * (doublings - mean) ** 2).sum()) / number)
    if spread <= 1e-9:
        return {"null_reason": "all tasks are of one length", "caveat": None}
    points = fitted.select(
        draw=pl.col("family"), place=(doublings - mean) / spread, score="score", weight=weight
    )
    fit = fit_horizon(points, k, confidence)
    if not fit.moved <= SETTLED:
        return {"null_reason": "the fit does not settle", "caveat": None}
    ends: Any = doublings.min(), doublings.max()
    first, last = (fit.above + fit.slope * (end - mean) / spread for end in ends)

    def length_at(place: float) -> float | None:
        at = mean + spread * place
        return 2.0**at if ends[0] <= at <= ends[1] else None

    lower, upper = (None, None) if fit.limits is None else map(length_at, fit.limits)
    found: dict[str, Any] = {
        "horizon_lower": lower,
        "horizon_upper": upper,
        "curve_level": fit.level - fit.slope * mean / spread,
        "curve_slope": fit.slope / spread,
        "curve_power": fit.power,
        "effective_draws": fit.units,
    }
    # One half at all lengths, but for rounding: nowhere in particular.
    is_flat = fit.slope > -1e-9 and abs(fit.above) < 1e-6
    if not is_flat and min(first, last) > 0:
        found["null_reason"] = "pass^k is above one half at all lengths of the tasks"
    elif not is_flat and max(first, last) < 0:
        found["null_reason"] = "pass^k is below one half at all lengths of the tasks"
    elif is_flat or fit.slope >= 0:
        found["null_reason"] = "pass^k does not fall with length"
    else:
        found["horizon"] = 2.0 ** (mean - spread * fit.above / fit.slope)
    if fit.limits is None:
        found["caveat"] = "no limits: that pass^k falls with length is not sure"
    return found


def curve_rows(
    tasks: pl.DataFrame, *, ks: Sequence[int], min_eligible_share: float, confidence: float
) -> Iterator[dict[str, Any]]:
    """Average pass^k in bins of length, from :func:`task_lengths`."""
    for place, total, k, fitted in _fitted(tasks, ks):
        # The values of a suite are known without the lengths.
        of_run = tasks.filter(
            (pl.col("run_id") == place["run_id"]) & (pl.col("suite") == place["suite"])
        )
        eligible = _number(of_run.filter(pl.col("n") >= k))
        if short_reason(k, eligible, total, min_eligible_share=min_eligible_share) is not None:
            continue
        before = 0
        bins: dict[int, list[pl.DataFrame]] = {}
        for (_,), of_length in sorted(fitted.partition_by("length", as_dict=True).items()):
            number = _BINS * before // _number(fitted) + 1
            bins.setdefault(number, []).append(of_length)
            before += _number(of_length)
        for number, parts in bins.items():
            yield place | {"bin": number} | _mean_of_bin(pl.concat(parts), confidence)


def _mean_of_bin(tasks: pl.DataFrame, confidence: float) -> dict[str, Any]:
    weight, number = tasks["tasks"], _number(tasks)
    mean = float((weight * tasks["score"]).sum()) / number
    draws: list[tuple[int, float]] = []
    times: list[int] = []
    families: dict[str, tuple[int, float]] = {}
    for family, score, count in tasks.select("family", "score", "tasks").iter_rows():
        if family is None:
            draws.append((1, score - mean))
            times.append(count)
        else:
            size, off = families.get(family, (0, 0.0))
            families[family] = size + count, off + count * (score - mean)
    draws += families.values()
    found = related(draws, [*times, *(1 for _ in families)])
    squares = 0.0 if found.variance is None else found.variance * (found.units - 1)
    middle, reach = padded(mean, squares, found.units, confidence)
    return {
        "shortest": tasks["length"].min(),
        "longest": tasks["length"].max(),
        "typical_length": math.exp(float((weight * tasks["length"].log()).sum()) / number),
        "tasks": number,
        "effective_draws": found.units,
        "pass_hat_k": mean,
        "pass_hat_k_lower": max(middle - reach, 0.0),
        "pass_hat_k_upper": min(middle + reach, 1.0),
    }
