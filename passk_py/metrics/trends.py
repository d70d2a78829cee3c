"""A straight line through the latest runs of an agent: the table ``passk_trends``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.common.words import decimals, symbol
from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.comparisons.compared_runs import METRICS
from passk_py.metrics.frames import DEFAULT_KS, task_counts
from passk_py.metrics.logs import said_of_runs
from passk_py.metrics.nearly_all import are_nearly_all
from passk_py.metrics.run_order import lines_in_order
from passk_py.metrics.states import score, short_reason
from passk_py.metrics.uncertainty import floor_of_suite
from passk_py.stats.distributions import normal_quantile, student_quantile
from passk_py.stats.estimators import ArgumentError
from passk_py.stats.estimators.arguments import checked_confidence, checked_ks, checked_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

TREND_RUNS: Final = 12
"""The default of the var ``passk_trend_runs``, which a test holds it to."""
LEAST_RUNS: Final = 5
"""Fewer hardly say how runs scatter around a line."""
MOST_RUNS: Final = 100

TREND_COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("suite", "agent", "metric"), pl.String),
    "k": pl.Int64,
    **dict.fromkeys(("first_run_id", "last_run_id"), pl.String),
    **dict.fromkeys(("runs", "left_out_runs", "common_tasks", "tasks"), pl.Int64),
    **dict.fromkeys(("mean_value", "slope", "slope_lower", "slope_upper"), pl.Float64),
    **dict.fromkeys(("verdict", "null_reason", "meaning"), pl.String),
}

_VERBS: Final = {"rising": "rises", "falling": "falls", "no_trend": "shows no trend"}


@any_frame
def trends(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    most_runs: int = TREND_RUNS,
    confidence: float = 0.95,
    min_eligible_share: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Say whether pass@k and pass^k of each agent rise or fall from run to run.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`. Attempts without a
        ``run_id`` are of no run.
    ks
        Whole numbers from 1.
    most_runs
        The latest runs of an agent on a suite that the line goes through, from 5 to 100, chosen
        from twice as many. Runs are
        ordered by ``started_at`` where all of them have it, else by ``loaded_at``, then by
        ``run_id``.
    confidence
        Level of the limits, between 0 and 1.
    min_eligible_share
        The share of the tasks of every run that must have n >= k in every run, from 0 to 1.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per suite, agent with at least two runs, metric and k, with the columns of the
        table ``passk_trends`` except ``loaded_at``. ``slope`` is the change of the metric from one
        run to the next, by least squares over the tasks that every run has tried k times; its
        limits are those of Student's t with R - 2 degrees of freedom for R runs. Runs that have
        tried less than 90 % of the last run's tasks k times are left out; ``left_out_runs`` counts
        those after the first run. Figures are null with fewer than 5 runs, where fewer than 90 % of
        the last run's tasks are in every run, and where too few have n >= k; ``null_reason`` says
        why. ``verdict`` is ``rising`` or ``falling``
        where the limits are on one side of 0, else ``no_trend``.

    Raises
    ------
    ArgumentError
        If an option can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": f"night-{night}", "agent": "bot", "task_id": task, "attempt": number,
    ...          "passed": task >= night}
    ...         for night in range(6)
    ...         for task in range(6)
    ...         for number in range(1, 5)
    ...     ]
    ... )
    >>> found = trends(log, ks=[2]).filter(metric="pass_hat_k")
    >>> found.select("runs", "verdict", pl.col("slope").round(3)).rows()
    [(6, 'falling', -0.167)]
    """
    chosen = checked_ks("trends", ks)
    level = checked_confidence("trends", confidence)
    share = checked_share("trends", min_eligible_share)
    if not isinstance(most_runs, int) or not LEAST_RUNS <= most_runs <= MOST_RUNS:
        raise ArgumentError(
            f"trends: most_runs must be an integer from 5 to 100; got {most_runs!r}"
        )
    log = attempts.lazy()
    if "run_id" in log.collect_schema():
        log = log.filter(pl.col("run_id").is_not_null())
    counts = task_counts(log, threshold=threshold).collect()
    by_run = counts.partition_by("run_id", "suite", as_dict=True)
    runs = said_of_runs(log, ("agent", "started_at", "loaded_at")).collect()
    found = lines_of_runs(
        runs.to_dicts(),
        lambda run_id, suite: by_run[run_id, suite],
        chosen,
        most_runs=most_runs,
        confidence=level,
        min_eligible_share=share,
    )
    return found.sort("suite", "agent", "metric", "k")


def lines_of_runs(
    runs: Iterable[Mapping[str, Any]],
    counts: Callable[[str, str], pl.DataFrame],
    ks: Sequence[int],
    *,
    most_runs: int,
    confidence: float,
    min_eligible_share: float,
) -> pl.DataFrame:
    """Fit the lines of all agents; ``counts`` gives the tasks of a run and suite with n and c."""
    rows = []
    for line in lines_in_order(runs):
        if len(line) > 1:
            latest = line[-2 * most_runs :]
            tasks = [counts(run["run_id"], run["suite"]) for run in latest]
            for k in ks:
                chosen = _alike(tasks, k)[-most_runs:]
                rows += _trends_of_line(
                    [latest[place] for place in chosen],
                    [tasks[place] for place in chosen],
                    k,
                    chosen[-1] - chosen[0] + 1 - len(chosen),
                    confidence,
                    min_eligible_share,
                )
    return pl.DataFrame(rows, schema=TREND_COLUMNS)


def _alike(counts: Sequence[pl.DataFrame], k: int) -> list[int]:
    """Choose the runs that have tried 90 % of the last one's tasks k times, and the last one."""
    *others, own = (set(run.filter(pl.col("n") >= k)["task_id"]) for run in counts)
    chosen = [
        place
        for place, run in enumerate(others)
        if own and are_nearly_all(len(run & own), len(own))
    ]
    return [*chosen, len(others)]


def _trends_of_line(
    line: Sequence[Mapping[str, Any]],
    counts: Sequence[pl.DataFrame],
    k: int,
    left_out: int,
    confidence: float,
    share: float,
) -> list[dict[str, Any]]:
    """Fit the lines of some runs, the earliest first, to ``task_id``, ``n`` and ``c`` of each."""
    runs = len(line)
    every = pl.concat(
        frame.select("task_id", "n", "c", place=pl.lit(place)) for place, frame in enumerate(counts)
    )
    least_n = (
        every.group_by("task_id")
        .agg(tried_in=pl.len(), least_n=pl.col("n").min())
        .filter(pl.col("tried_in") == runs)
    )
    eligible = least_n.filter(pl.col("least_n") >= k)
    states = every.join(eligible, on="task_id").group_by("place", "n", "c").len().rows()
    own = counts[-1]
    reason = (
        short_reason(
            k,
            own.filter(pl.col("n") >= k).height,
            own.height,
            min_eligible_share=share,
            of=" of the last run",
        )
        or _too_few_runs(runs, own.height, least_n.height, k)
        or short_reason(
            k, eligible.height, least_n.height, min_eligible_share=share, of=" of every run"
        )
    )
    rows = []
    for metric in METRICS:
        row: dict[str, Any] = {
            "suite": line[-1]["suite"],
            "agent": line[-1]["agent"],
            "metric": metric,
            "k": k,
            "first_run_id": line[0]["run_id"],
            "last_run_id": line[-1]["run_id"],
            "runs": runs,
            "left_out_runs": left_out,
            "common_tasks": least_n.height,
            "tasks": eligible.height,
            "null_reason": reason,
        }
        if reason is not None:
            rows.append(row | {"meaning": f"Not known: {reason}."})
            continue
        values = [
            math.fsum(tasks * score(metric, n, c, k) for of, n, c, tasks in states if of == place)
            / eligible.height
            for place in range(runs)
        ]
        rows.append(row | _fitted(row, values, min(eligible["least_n"]), confidence))
    return rows


def _too_few_runs(runs: int, last: int, common: int, k: int) -> str | None:
    if runs < LEAST_RUNS:
        are = "is" if runs == 1 else "are"
        return (
            f"a trend takes at least 5 runs with n >= {k} in the same tasks, and there {are} {runs}"
        )
    if not are_nearly_all(common, last):
        return f"only {common} of {last} tasks of the last run are in every run"
    return None


def _fitted(
    row: Mapping[str, Any], values: Sequence[float], least_n: int, confidence: float
) -> dict[str, Any]:
    """Fit a line by least squares, with places 1 to R for the times of the runs."""
    runs, tasks, common = len(values), row["tasks"], row["common_tasks"]
    squares = runs * (runs * runs - 1) / 12
    from_middle = [place - (runs - 1) / 2 for place in range(runs)]
    mean = math.fsum(values) / runs
    slope = math.fsum(map(math.prod, zip(from_middle, values, strict=True))) / squares
    residuals = math.fsum(
        (value - mean - slope * place) ** 2
        for place, value in zip(from_middle, values, strict=True)
    )
    t, z = student_quantile(runs - 2, confidence), normal_quantile(confidence)
    floor = floor_of_suite(row["k"], least_n, confidence) / tasks**2
    reach = math.sqrt((t * t * residuals / (runs - 2) + z * z * floor) / squares)
    # A task with n < k may have risen or fallen by 1 in the middle.
    short = (runs * runs // 4) / 2 / squares * (common - tasks)
    lower, upper = (((slope + side * reach) * tasks + side * short) / common for side in (-1, 1))
    verdict = "rising" if lower > 0 else "falling" if upper < 0 else "no_trend"
    over = f"{_VERBS[verdict]} over {runs} runs"
    if row["left_out_runs"]:
        over += f" ({row['left_out_runs']} left out)"
    return {
        "mean_value": mean,
        "slope": slope,
        "slope_lower": lower,
        "slope_upper": upper,
        "verdict": verdict,
        "meaning": f"{symbol(row['metric'], row['k'])} {over}: "
        f"{decimals(slope)} a run ({decimals(lower)} to {decimals(upper)}).",
    }
