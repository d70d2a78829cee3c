"""How often graders err, and metrics without their errors: from frames of attempts and labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames import DEFAULT_KS
from passk_py.metrics.graders.corrected_scores import Wish, corrected_value
from passk_py.metrics.graders.grader import grader_of
from passk_py.metrics.graders.matched_labels import matched_labels, read_labels, strata_of
from passk_py.metrics.logs import read_log
from passk_py.metrics.states import score, short_reason, states_of_runs
from passk_py.stats.distributions import normal_quantile
from passk_py.stats.estimators.arguments import (
    ArgumentError,
    checked_confidence,
    checked_ks,
    checked_share,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.metrics.graders.grader import Grader
    from passk_py.metrics.states import Families, States

METRICS: Final = ("pass_at_k", "pass_hat_k")

_COUNTS: Final = (
    "runs",
    "labelled_passes",
    "labelled_failures",
    "false_passes",
    "false_failures",
    "attempts",
)
_ENDS: Final = ("", "_lower", "_upper")
_RATES: Final = tuple(
    f"{name}{end}"
    for name in (
        "false_share_of_passes",
        "false_share_of_failures",
        "sensitivity",
        "false_pass_rate",
    )
    for end in _ENDS
)
GRADER_TYPES: Final[dict[str, type[pl.DataType]]] = {
    "suite": pl.String,
    **dict.fromkeys(("labels", "rejected_labels", *_COUNTS), pl.Int64),
    **dict.fromkeys(
        ("effective_passes", "effective_failures", "graded_pass_rate", *_RATES), pl.Float64
    ),
    "null_reason": pl.String,
}
CORRECTED_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("run_id", "suite", "metric"), pl.String),
    **dict.fromkeys(("k", "eligible_tasks", "total_tasks", "families"), pl.Int64),
    **dict.fromkeys(
        ("raw", "corrected", "standard_error", "corrected_lower", "corrected_upper"), pl.Float64
    ),
    **{f"share_lost_to_grader{end}": pl.Float64 for end in _ENDS},
    **dict.fromkeys(("passes_to_label", "failures_to_label"), pl.Int64),
    "null_reason": pl.String,
}


@any_frame
def grader_rates(
    attempts: pl.DataFrame | pl.LazyFrame,
    labels: Any,  # noqa: ANN401 - any frame
    *,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Say how often the grader of each suite errs, from labels: the table ``passk_graders``.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    labels
        A frame with ``run_id``, ``suite`` (if the log has it), ``task_id``, ``attempt`` and
        ``verdict``, passed or failed. They may be sampled by grade, and must be drawn at random
        among the passes and among the failures of a run.
    confidence
        Level of the intervals, between 0 and 1.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per suite with labels: how many there are of graded passes and failures and how
        many were graded wrongly, ``sensitivity`` (s, the share of true passes that are passed) and
        ``false_pass_rate`` (f, the share of true failures that are passed) with limits, and
        ``null_reason``.

    Raises
    ------
    PasskError
        If the attempts or the labels lack a column, or an outcome is unknown.

    Notes
    -----
    With A and B the shares of true passes among graded passes and failures and q the graded pass
    rate, Bayes' rule gives

    .. math:: s = \frac{A q}{A q + B (1 - q)}, \quad
              f = \frac{(1 - A) q}{(1 - A) q + (1 - B) (1 - q)}.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "r", "task_id": str(t), "attempt": a, "passed": (t + a) % 4 > 0}
    ...         for t in range(20) for a in range(1, 5)
    ...     ]
    ... )
    >>> labels = log.head(40).select(
    ...     "run_id", "task_id", "attempt",
    ...     verdict=pl.col("passed") & (pl.col("task_id") != "3"),
    ... )
    >>> grader_rates(log, labels).select("sensitivity", pl.col("false_pass_rate").round(3)).row(0)
    (1.0, 0.231)
    """
    checked_confidence("grader_rates", confidence)
    runs = _counted_runs(attempts, threshold, None)
    graders, rows = graders_of(_matched(attempts, labels, threshold), runs, confidence)
    del graders
    return rows


@any_frame
def corrected_metrics(
    attempts: pl.DataFrame | pl.LazyFrame,
    labels: Any,  # noqa: ANN401 - any frame
    *,
    ks: Iterable[int] = DEFAULT_KS,
    min_eligible_share: float = 0.95,
    width: float = 0.1,
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Correct pass@k and pass^k for the errors of the grader: ``passk_corrected_metrics``.

    Parameters
    ----------
    attempts, labels
        As in :func:`grader_rates`.
    ks
        The k of pass@k and pass^k, whole numbers from 1.
    min_eligible_share, cluster
        As in :func:`~passk_py.metrics.frames.suite_metrics`.
    width
        Width of the interval that labels alone should leave, for the number of labels to make.
    confidence, threshold
        As in :func:`grader_rates`.

    Returns
    -------
    polars.DataFrame
        One row per run of a suite with labels, metric and k, with the columns of the table
        ``passk_corrected_metrics``: ``raw``, ``corrected`` with standard error and limits,
        ``share_lost_to_grader``, how many more labels to make, and ``null_reason``.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If the attempts or the labels lack a column, or an outcome is unknown.

    Notes
    -----
    With s and f of :func:`grader_rates`, the estimate of a task is

    .. math:: \sum_j \frac{\binom{c}{j} \binom{n-c}{k-j}}{\binom{n}{k}}
              \left(\frac{1-f}{s-f}\right)^j \left(\frac{-f}{s-f}\right)^{k-j},

    unbiased for errors that are independent between attempts, and for 1 - pass@k the same with
    failures. At k = 1 it is that of Rogan and Gladen (1978). A grader that errs on the same tasks
    every time is not mended by it.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "r", "task_id": str(t), "attempt": a, "passed": (t + a) % 4 > 0}
    ...         for t in range(20) for a in range(1, 5)
    ...     ]
    ... )
    >>> labels = log.select("run_id", "task_id", "attempt", verdict=pl.col("passed"))
    >>> found = corrected_metrics(log, labels, ks=[2]).row(1, named=True)
    >>> found["raw"], round(found["corrected"], 3), found["share_lost_to_grader"]
    (0.5, 0.5, 0.0)
    """
    chosen = checked_ks("corrected_metrics", ks)
    wish = Wish(
        checked_confidence("corrected_metrics", confidence),
        checked_share("corrected_metrics", min_eligible_share),
        _checked_width(width),
    )
    runs = _counted_runs(attempts, threshold, cluster)
    graders, _ = graders_of(_matched(attempts, labels, threshold), runs, confidence)
    return corrected_runs(runs, graders, chosen, wish)


def _checked_width(width: float) -> float:
    if not 0.001 <= width < 1:
        raise ArgumentError(
            f"corrected_metrics: width must be a number from 0.001 to less than 1; got {width!r}"
        )
    return float(width)


def _counted_runs(
    attempts: pl.DataFrame | pl.LazyFrame, threshold: float, cluster: str | None
) -> dict[tuple[str, str], tuple[States, Families | None]]:
    counted = states_of_runs(attempts, threshold, cluster)
    return {(run, suite): (states, families) for run, suite, states, families in counted}


def _matched(
    attempts: pl.DataFrame | pl.LazyFrame,
    labels: Any,  # noqa: ANN401 - any frame
    threshold: float,
) -> pl.DataFrame:
    return matched_labels(read_labels(labels), read_log(attempts, threshold))


def graders_of(
    matched: pl.DataFrame,
    runs: dict[tuple[str, str], tuple[States, Families | None]],
    confidence: float,
) -> tuple[dict[str, Grader], pl.DataFrame]:
    """Give the graders of suites that have labels which are used, and ``passk_graders``."""
    graded = {}
    for run, (states, _) in runs.items():
        n = sum(attempts * tasks for (attempts, _), tasks in states.items())
        c = sum(passes * tasks for (_, passes), tasks in states.items())
        graded[run] = (c / max(n, 1), n)
    strata = strata_of(matched, graded)
    graders = {suite: grader_of(found, confidence) for suite, found in strata.items() if found}
    by_suite = {
        suite: (total, rejected)
        for suite, total, rejected in matched.group_by("suite")
        .agg(total=pl.len(), rejected=pl.col("reason_code").count())
        .iter_rows()
    }
    rows = []
    for suite in strata:
        labels, rejected = by_suite[suite]
        row = {"suite": suite, "labels": labels, "rejected_labels": rejected}
        if suite in graders:
            row |= _said(graders[suite], confidence)
        else:
            row |= {**dict.fromkeys(_COUNTS, 0), "null_reason": "no label can be used"}
        rows.append(row)
    return graders, pl.DataFrame(rows, schema=GRADER_TYPES, orient="row")


def _said(grader: Grader, confidence: float) -> dict[str, Any]:
    """Say what a grader does: a row of ``passk_graders``."""
    row: dict[str, Any] = {
        **grader.counts._asdict(),
        "null_reason": grader.reason,
    }
    shares, of = grader.shares, grader.limits
    if shares is not None:
        row |= {
            "effective_passes": shares.effective_passes,
            "effective_failures": shares.effective_failures,
            "graded_pass_rate": shares.graded,
        }
    if shares is None or grader.reason is not None:
        return row
    row |= {
        "false_share_of_passes": 1 - shares.passes,
        "false_share_of_passes_lower": 1 - of["passes_upper"],
        "false_share_of_passes_upper": 1 - of["passes_lower"],
        "false_share_of_failures": shares.failures,
        "false_share_of_failures_lower": of["failures_lower"],
        "false_share_of_failures_upper": of["failures_upper"],
    }
    at, z = grader.at, normal_quantile(confidence)
    # A rate falls with one share and rises with the other.
    attempts = grader.counts.attempts
    truly = attempts * shares.truly
    lower, upper = ("passes_lower", "failures_upper"), ("passes_upper", "failures_lower")
    for name, number, down, up in (
        ("sensitivity", truly, lower, upper),
        ("false_pass_rate", attempts - truly, upper, lower),
    ):
        value: float | None = getattr(at["estimate"], name)
        row[name] = value
        if value is None:
            continue
        realised = z * math.sqrt(value * (1 - value) / number)
        for side, sign, extreme, points in (("lower", -1, 0.0, down), ("upper", 1, 1.0, up)):
            ends: list[float | None] = [getattr(at[point], name) for point in points]
            known = [end - value for end in ends if end is not None]
            limit = value + sign * math.hypot(*known, realised)
            row[f"{name}_{side}"] = min(max(limit, 0.0), 1.0) if len(known) == 2 else extreme
    row["null_reason"] = _useless(row, told_apart=at["estimate"].is_told_apart)
    return row


def _useless(row: dict[str, Any], *, told_apart: bool) -> str | None:
    if row["sensitivity"] is None:
        return "by the labels no attempt truly passed"
    if row["false_pass_rate"] is None:
        return "by the labels no attempt truly failed"
    if told_apart and row["sensitivity"] > row["false_pass_rate"]:
        return None
    return "it passes true failures at least as often as true passes: it is no better than chance"


def corrected_runs(
    runs: dict[tuple[str, str], tuple[States, Families | None]],
    graders: dict[str, Grader],
    ks: Iterable[int],
    wish: Wish,
) -> pl.DataFrame:
    """Correct the metrics of runs by their counts: the rows of :func:`corrected_metrics`."""
    chosen = list(ks)
    rows = [
        {
            "run_id": run,
            "suite": suite,
            **corrected_value(
                metric, k, states, families, graders[suite], _raw(metric, states, k, wish), wish
            ),
        }
        for (run, suite), (states, families) in runs.items()
        if suite in graders
        for metric in METRICS
        for k in chosen
    ]
    return pl.DataFrame(rows, schema=CORRECTED_TYPES, orient="row")


def _raw(metric: str, states: States, k: int, wish: Wish) -> float | None:
    """Give the metric as graded."""
    eligible = {state: tasks for state, tasks in states.items() if state[0] >= k}
    tasks = sum(eligible.values())
    if short_reason(k, tasks, states.total(), min_eligible_share=wish.min_eligible_share):
        return None
    return math.fsum(number * score(metric, n, c, k) for (n, c), number in eligible.items()) / tasks
