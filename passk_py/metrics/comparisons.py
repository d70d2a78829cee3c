"""Two runs on the same tasks, from a log of attempts.

The definitions and the defaults are those of the SQL tables ``passk_comparisons`` and
``passk_task_comparisons``, reached by another way: whole numbers of any size where SQL has
logarithms, so that each quotient is rounded once. That suits tasks of up to some hundreds of
attempts.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.common.errors import PasskError
from passk_py.common.words import decimals, symbol
from passk_py.metrics.frames import DEFAULT_KS, task_counts
from passk_py.metrics.states import score, short_reason, variance_within, with_short_tasks
from passk_py.metrics.uncertainty import floor_of_difference
from passk_py.stats.distributions import normal_quantile, p_value, student_quantile, two_sided_p
from passk_py.stats.estimators import ArgumentError
from passk_py.stats.estimators.arguments import checked_confidence, checked_ks, checked_share
from passk_py.stats.permutations import PairCounts, fisher, least_p, variance_of_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "COMPARISON_COLUMNS",
    "Pair",
    "compare",
    "compare_tasks",
    "comparison_rows",
    "has_moved",
    "is_told_apart",
    "judged",
    "pair_of",
    "task_comparisons",
    "with_limits",
]

_METRICS: Final = ("pass_at_k", "pass_hat_k")
_LEAST_TASKS: Final = 6
"""Fewer tasks that could come out differently carry no verdict."""
_TENTHS: Final = 9
"""How many tenths of the baseline's tasks the candidate must have."""
_NEAREST: Final = 1e-9
"""How near to 0 a limit may come on the side that the test excludes."""
_SHOWN: Final = 0.0005
"""A limit below is 0 to three decimals, and is said in words."""
_TINY: Final = 1e-60
"""A smaller difference adds nothing to sums of powers."""
_SAME: Final = 1e-12
"""Sums of the same rates in another order differ by less."""

COMPARISON_COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    "suite": pl.String,
    "baseline_run_id": pl.String,
    "candidate_run_id": pl.String,
    "metric": pl.String,
    **dict.fromkeys(
        (
            "k",
            "common_tasks",
            "baseline_only_tasks",
            "candidate_only_tasks",
            "eligible_tasks",
            "informative_tasks",
            "least_n",
        ),
        pl.Int64,
    ),
    **dict.fromkeys(
        (
            "baseline",
            "candidate",
            "difference",
            "z",
            "p",
            "difference_lower",
            "difference_upper",
            "difference_suite_lower",
            "difference_suite_upper",
            "minimum_change",
        ),
        pl.Float64,
    ),
    "verdict": pl.String,
    "hidden_regression": pl.Boolean,
    "null_reason": pl.String,
    "caveat": pl.String,
    "meaning": pl.String,
}
"""What :func:`compare` gives."""


# ---------------------------------------------------------------------------------------------
# the pairs


class Pair(NamedTuple):
    """The tasks of two runs of a suite.

    Parameters
    ----------
    suite, baseline_run_id, candidate_run_id
        Which pair it is.
    common
        The tasks of both: ``task_id``, and n and c of each side.
    baseline_only, candidate_only
        How many tasks only one of them has.
    """

    suite: str
    baseline_run_id: str
    candidate_run_id: str
    common: pl.DataFrame
    baseline_only: int
    candidate_only: int

    @property
    def missing(self) -> str | None:
        """Which run has no task, in words; None if both have some."""
        has_baseline = self.common.height + self.baseline_only > 0
        has_candidate = self.common.height + self.candidate_only > 0
        if has_baseline and has_candidate:
            return None
        which = "the candidate" if has_baseline else "the baseline"
        return which if has_baseline or has_candidate else "either run"

    def histogram(self) -> Counter[PairCounts]:
        """Count the tasks of both runs that have the same counts."""
        columns = ("baseline_n", "baseline_c", "candidate_n", "candidate_c")
        return Counter(PairCounts(*row) for row in self.common.select(columns).iter_rows())


def pair_of(suite: str, baseline: str, candidate: str, counts: pl.DataFrame) -> Pair:
    """Put two runs of a suite side by side.

    Parameters
    ----------
    suite, baseline, candidate
        Which pair.
    counts
        Tasks with ``run_id``, ``suite``, ``task_id``, ``n`` and ``c``, maybe of other runs too.

    Returns
    -------
    Pair
        The pair. A run of which there is no task leaves its side empty.
    """
    sides = [
        counts.filter(pl.col("suite") == suite, pl.col("run_id") == run).select(
            "task_id", pl.col("n").alias(f"{side}_n"), pl.col("c").alias(f"{side}_c")
        )
        for side, run in (("baseline", baseline), ("candidate", candidate))
    ]
    common = sides[0].join(sides[1], on="task_id").sort("task_id")
    only = [side.height - common.height for side in sides]
    return Pair(suite, baseline, candidate, common, only[0], only[1])


def _pairs(
    function: str,
    attempts: pl.DataFrame | pl.LazyFrame,
    baseline: str,
    candidate: str,
    suite: str | None,
    threshold: float,
) -> list[Pair]:
    if baseline == candidate:
        raise ArgumentError(f"{function}: the baseline and the candidate are both {baseline!r}")
    every = task_counts(attempts.lazy(), threshold=threshold).collect()
    counts = every.filter(pl.col("n").is_not_null())
    runs = (baseline, candidate)
    suites = [set(counts.filter(pl.col("run_id") == run)["suite"]) for run in runs]
    for run, of_run in zip(runs, suites, strict=True):
        if not of_run or (suite is not None and suite not in of_run):
            where = "" if suite is None else f" in the suite {suite!r}"
            known = every["run_id"].unique().sort().to_list()
            raise PasskError(
                f"{function}: there is no attempt of the run {run!r}{where}",
                hint=f"The runs are {', '.join(known)}.",
            )
    chosen = {suite} if suite is not None else suites[0] & suites[1]
    if not chosen:
        raise PasskError(
            f"{function}: {baseline!r} and {candidate!r} have no suite in common",
            hint="Two runs are compared on the tasks that both have.",
        )
    return [pair_of(name, baseline, candidate, counts) for name in sorted(chosen)]


class _Sums(NamedTuple):
    """What a pair's tasks add up to, for one metric and k."""

    eligible: int
    informative: int
    deciding: int
    least_n: int | None
    baseline: float
    candidate: float
    difference: float
    squares: float
    fourths: float
    rate_difference: float
    variance: float
    within: float


def _sums(histogram: Counter[PairCounts], metric: str, k: int) -> _Sums:
    eligible = informative = deciding = 0
    least_n = None
    parts: list[tuple[float, ...]] = []
    for counts, tasks in histogram.items():
        fewer = min(counts.baseline_n, counts.candidate_n)
        if fewer < k:
            continue
        least_n = fewer if least_n is None else min(least_n, fewer)
        before = score(metric, counts.baseline_n, counts.baseline_c, k)
        after = score(metric, counts.candidate_n, counts.candidate_c, k)
        rates = counts.candidate_c / counts.candidate_n - counts.baseline_c / counts.baseline_n
        variance = 0.0
        if counts.is_informative:
            drawn = counts.passes if metric == "pass_hat_k" else counts.attempts - counts.passes
            variance = variance_of_difference(counts.baseline_n, counts.candidate_n, drawn, k)
            informative += tasks
        eligible += tasks
        deciding += tasks if variance > 0 else 0
        difference = after - before
        within = variance_within(metric, counts.baseline_n, counts.baseline_c, k)
        within += variance_within(metric, counts.candidate_n, counts.candidate_c, k)
        # In SQL a power that is too small for a number stops some engines.
        size = abs(difference) if abs(difference) >= _TINY else 0.0
        powers = (difference, size**2, size**4)
        sums = (before, after, *powers, rates, variance, within)
        parts.append(tuple(tasks * value for value in sums))
    totals = [math.fsum(column) for column in zip(*parts, strict=True)] or [0.0] * 8
    return _Sums(eligible, informative, deciding, least_n, *totals)


def _limits(middle: float, reach: float) -> tuple[float, float]:
    return max(middle - reach, -1.0), min(middle + reach, 1.0)


def _figures(sums: _Sums, k: int, confidence: float) -> dict[str, Any]:
    """Give the figures over the eligible tasks, and their limits there."""
    tasks = sums.eligible
    difference = sums.difference / tasks
    # Where few tasks could differ, or one outweighs the others, z is far from normal.
    outweighed = sums.squares**2 < 2 * sums.fourths * (1 - 1e-9)
    tested = sums.deciding >= _LEAST_TASKS and not outweighed
    z = sums.difference / math.sqrt(sums.variance) if tested else None
    # The variance if both runs were the same is too small where a few tasks changed far.
    spread_within = max(sums.variance, sums.within)
    floor = floor_of_difference(k, sums.least_n or k, confidence)
    reach = normal_quantile(confidence) * math.sqrt(spread_within + floor) / tasks
    figures: dict[str, Any] = {
        "least_n": sums.least_n,
        "baseline": sums.baseline / tasks,
        "candidate": sums.candidate / tasks,
        "difference": difference,
        "rate_difference": sums.rate_difference / tasks,
        "z": z,
        "p": None if z is None else p_value(two_sided_p(z)),
        "standard_error": math.sqrt(sums.variance) / tasks,
        "suite_limits": _limits(difference, reach),
    }
    if tasks > 1:
        # Two more tasks, one that gets better in every try and one that gets worse.
        middle = sums.difference / (tasks + 2)
        spread = (sums.squares + 2 - (tasks + 2) * middle**2) / (tasks + 1)
        wide = student_quantile(tasks + 1, confidence) * math.sqrt(spread / (tasks + 2))
        figures["limits"] = _limits(middle, wide)
    return figures


def with_limits(row: dict[str, Any], confidence: float) -> dict[str, Any]:
    """Decide whether there is a difference, and give the limits beside that.

    Tasks with n < k in either run may have any difference from -1 to 1. The interval for these
    tasks excludes 0 exactly where the test decides: it is made of another variance than z, and
    would contradict it now and then.

    Parameters
    ----------
    row
        One of :func:`comparison_rows` with its figures, before or after z is rounded otherwise.
    confidence
        Level of what is beyond chance.

    Returns
    -------
    dict
        ``no_verdict``, ``is_significant``, ``is_decided`` and the limits, where there are figures.
    """
    reason = _no_verdict(row)
    found: dict[str, Any] = {"no_verdict": reason, "is_significant": False, "is_decided": False}
    difference, z = row.get("difference"), row.get("z")
    if difference is None:
        return found
    eligible, common = row["eligible_tasks"], row["common_tasks"]

    def widened(limits: tuple[float, float]) -> tuple[float, float]:
        lower, upper = limits
        return (
            with_short_tasks(lower, eligible, common, -1.0),
            with_short_tasks(upper, eligible, common, 1.0),
        )

    lower, upper = widened(row["suite_limits"])
    significant = reason is None and z is not None and abs(z) >= normal_quantile(confidence)
    beyond_short = eligible == common or (upper < 0 if difference < 0 else lower > 0)
    decided = significant and beyond_short
    if not decided:
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    elif difference > 0:
        lower = max(lower, _NEAREST)
    else:
        upper = min(upper, -_NEAREST)
    found |= {
        "is_significant": significant,
        "is_decided": decided,
        "difference_suite_lower": lower,
        "difference_suite_upper": upper,
    }
    if "limits" in row:
        found |= dict(
            zip(("difference_lower", "difference_upper"), widened(row["limits"]), strict=True)
        )
    return found


def is_told_apart(
    histogram: Counter[PairCounts],
    metric: str,
    k: int,
    *,
    confidence: float,
    min_eligible_share: float,
) -> bool:
    """Say whether two runs differ beyond chance on the tasks that both have.

    Parameters
    ----------
    histogram
        How many of those tasks have which counts in both runs.
    metric
        ``pass_at_k`` or ``pass_hat_k``.
    k
        At which k.
    confidence
        Level of what is beyond chance.
    min_eligible_share
        The share of the tasks that must have n >= k in each run.

    Examples
    --------
    >>> pairs = Counter({PairCounts(8, 8, 8, 2): 10})
    >>> is_told_apart(pairs, "pass_hat_k", 4, confidence=0.95, min_eligible_share=0.95)
    True
    """
    sums = _sums(histogram, metric, k)
    row = {
        "k": k,
        "common_tasks": histogram.total(),
        "baseline_only_tasks": 0,
        "eligible_tasks": sums.eligible,
        "deciding_tasks": sums.deciding,
        "no_figures": _short_reason(histogram, sums.eligible, k, min_eligible_share),
    }
    if row["no_figures"] is None:
        row |= _figures(sums, k, confidence)
    return bool(with_limits(row, confidence)["is_decided"])


def _no_verdict(row: dict[str, Any]) -> str | None:
    """Say why no verdict is given, though there may be figures."""
    common = row["common_tasks"]
    of_baseline = common + row["baseline_only_tasks"]
    if row["no_figures"] is not None:
        return str(row["no_figures"])
    if 10 * common < _TENTHS * of_baseline:
        return (
            f"only {common} of {of_baseline} tasks of the baseline are in both runs,"
            " fewer than 90 %"
        )
    if row["deciding_tasks"] < _LEAST_TASKS:
        return (
            f"only {row['deciding_tasks']} of {row['eligible_tasks']} tasks could come out"
            f" differently at k = {row['k']}, fewer than {_LEAST_TASKS}"
        )
    return None


def judged(row: dict[str, Any]) -> dict[str, Any]:
    """Give the verdict on figures, and what follows from it.

    Parameters
    ----------
    row
        One of :func:`comparison_rows` with what :func:`with_limits` gives.

    Returns
    -------
    dict
        ``verdict``, ``hidden_regression``, ``null_reason``, ``caveat`` and ``meaning``.
    """
    k, reason = row["k"], row["no_verdict"]
    difference: Any = row.get("difference")
    short = row["common_tasks"] - row["eligible_tasks"]
    caveat = None
    if difference is not None and short:
        caveat = (
            f"n < {k} in {short} of {row['common_tasks']} tasks of both runs,"
            " which the limits allow any difference"
        )
    name = symbol(row["metric"], k)
    hidden = None if row["metric"] == "pass_at_k" or difference is None else False
    if reason is not None:
        said = f"No verdict on {name}: {reason}."
        return {
            "verdict": "insufficient",
            "hidden_regression": hidden,
            "null_reason": reason,
            "caveat": caveat,
            "meaning": said,
        }
    least = row["minimum_change"]
    lower, upper = row["difference_suite_lower"], row["difference_suite_upper"]
    if row["is_decided"]:
        verdict = "regression" if difference < 0 else "improvement"
        if abs(difference) < least:
            verdict = "below_threshold"
    else:
        verdict = "equivalent" if -least < lower and upper < least else "inconclusive"
    if hidden is not None:
        hidden = verdict == "regression" and row["rate_difference"] >= -_SAME
    near, far = (lower, upper) if difference >= 0 else (-upper, -lower)
    nearest = "above 0" if row["is_decided"] and near < _SHOWN else decimals(near)
    moved = (
        f"{name} {'fell' if difference < 0 else 'rose'} by {decimals(difference).lstrip('-')} "
        f"({nearest} to {decimals(far)})"
    )
    return {
        "verdict": verdict,
        "hidden_regression": hidden,
        "null_reason": None,
        "caveat": caveat,
        "meaning": _meaning(verdict, row, moved, name, hidden),
    }


def _meaning(verdict: str, row: dict[str, Any], moved: str, name: str, hidden: bool | None) -> str:
    k, least = row["k"], decimals(row["minimum_change"])
    if verdict == "below_threshold":
        return f"{moved}, less than the {least} that matter."
    if verdict == "equivalent":
        return f"{name} is the same to less than {least}."
    if verdict == "inconclusive":
        if row["difference"] == 0:
            return f"{name} did not change."
        if row["is_significant"]:
            eligible = row["eligible_tasks"]
            return (
                f"{moved} over the {eligible} tasks with n >= {k} in both runs, which the other"
                f" {row['common_tasks'] - eligible} could undo."
            )
        if row["z"] is None:
            return f"{moved}, where one task outweighs the others: too little to tell from chance."
        return f"{moved}, which chance alone can explain."
    what = "tries succeed"
    if k > 1:
        often = (
            f"{k} times in a row"
            if row["metric"] == "pass_hat_k"
            else f"at least once in {k} tries"
        )
        what = f"tasks succeed {often}"
    said = f"{moved}: {'fewer' if verdict == 'regression' else 'more'} {what}."
    if hidden:
        rates = row["rate_difference"]
        rose = f"rose by {decimals(rates)}" if rates > _SAME else "did not change"
        said += f" pass@1 hides it: it {rose}."
    return said


def compare(
    attempts: pl.DataFrame | pl.LazyFrame,
    baseline: str,
    candidate: str,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    suite: str | None = None,
    confidence: float = 0.95,
    minimum_change: float = 0.0,
    min_eligible_share: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Compare pass@k and pass^k of two runs over the tasks that both have.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    baseline, candidate
        The two runs by their ``run_id``. A difference is candidate less baseline.
    ks
        Whole numbers from 1.
    suite
        One suite; by default every suite that both runs have.
    confidence
        Level of the intervals, and of what is beyond chance.
    minimum_change
        The least difference that matters.
    min_eligible_share
        The share of the common tasks that must have n >= k in each run for there to be figures at
        that k, from 0 to 1. The figures are over the tasks that have them in both; the limits allow
        the others any difference.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per suite, metric and k, with the columns of the table ``passk_comparisons`` except
        those that tell of the runs: numbers of tasks, means over the eligible ones, ``difference``,
        ``z`` and ``p`` of the stratified permutation test, limits for tasks like these and for
        these tasks, ``verdict``, ``hidden_regression``, ``null_reason`` and ``meaning``.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a run has no attempt, or the two have no suite in common.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": run, "task_id": task, "attempt": number, "passed": number <= passes}
    ...         for run, passes in (("old", 4), ("new", 2))
    ...         for task in range(10)
    ...         for number in range(1, 5)
    ...     ]
    ... )
    >>> row = compare(log, "old", "new", ks=[1]).row(0, named=True)
    >>> row["verdict"], round(row["difference"], 3), round(row["z"], 3)
    ('regression', -0.5, -4.83)
    """
    chosen = checked_ks("compare", ks)
    level = checked_confidence("compare", confidence)
    if not 0 <= minimum_change < 1:
        raise ArgumentError(
            f"compare: minimum_change must be from 0 to less than 1; got {minimum_change!r}"
        )
    share = checked_share("compare", min_eligible_share)
    pairs = _pairs("compare", attempts, baseline, candidate, suite, threshold)
    rows = [
        row
        for pair in pairs
        for row in comparison_rows(
            pair,
            chosen,
            confidence=level,
            minimum_change=minimum_change,
            min_eligible_share=share,
        )
    ]
    return pl.DataFrame(
        {name: [row.get(name) for row in rows] for name in COMPARISON_COLUMNS},
        schema=COMPARISON_COLUMNS,
    )


def comparison_rows(
    pair: Pair,
    ks: Sequence[int],
    *,
    confidence: float,
    minimum_change: float,
    min_eligible_share: float,
) -> list[dict[str, Any]]:
    """Compare a pair.

    Parameters
    ----------
    pair
        The tasks of two runs.
    ks
        The grid of k.
    confidence
        Level of the intervals, and of what is beyond chance.
    minimum_change
        The least difference that matters.
    min_eligible_share
        The share of the common tasks that must have n >= k in each run.

    Returns
    -------
    list of dict
        A row for each metric and k, with the columns of :func:`compare`, and what it hides:
        ``no_figures`` (why there are none), ``deciding_tasks`` (that could come out differently),
        ``rate_difference`` (of the mean pass rates) and ``standard_error`` (of the difference, if
        the two runs were the same).
    """
    histogram = pair.histogram()
    common = pair.common.height
    rows = []
    for metric in _METRICS:
        for k in ks:
            sums = _sums(histogram, metric, k)
            row: dict[str, Any] = {
                "suite": pair.suite,
                "baseline_run_id": pair.baseline_run_id,
                "candidate_run_id": pair.candidate_run_id,
                "metric": metric,
                "k": k,
                "common_tasks": common,
                "baseline_only_tasks": pair.baseline_only,
                "candidate_only_tasks": pair.candidate_only,
                "eligible_tasks": sums.eligible,
                "informative_tasks": sums.informative,
                "deciding_tasks": sums.deciding,
                "minimum_change": minimum_change,
                "no_figures": _no_pair(pair)
                or _short_reason(histogram, sums.eligible, k, min_eligible_share),
            }
            if row["no_figures"] is None:
                row |= _figures(sums, k, confidence)
            row |= with_limits(row, confidence)
            rows.append(row | judged(row))
    return rows


def _no_pair(pair: Pair) -> str | None:
    """Say why there is nothing to compare."""
    if pair.missing is not None:
        return f"the suite has no attempt of {pair.missing}"
    return "no task is in both runs" if pair.common.is_empty() else None


def _short_reason(
    histogram: Counter[PairCounts], eligible: int, k: int, share: float
) -> str | None:
    """Say why a pair has no figures where a run lacks tasks with n >= k, as for its own value."""
    common = histogram.total()
    both = " of both runs"
    reasons = []
    for side, of_side in (("baseline", 0), ("candidate", 2)):
        ready = sum(tasks for counts, tasks in histogram.items() if counts[of_side] >= k)
        of = f"{both}, in the {side}"
        reasons.append(short_reason(k, ready, common, min_eligible_share=share, of=of))
    lacking = [reason for reason in reasons if reason is not None]
    if len(lacking) == 1:
        return lacking[0]
    # With a share this low, each run may have tasks that the other lacks.
    least = 1.0 if lacking else 0.0
    return short_reason(k, eligible, common, min_eligible_share=least, of=both)


def compare_tasks(
    attempts: pl.DataFrame | pl.LazyFrame,
    baseline: str,
    candidate: str,
    *,
    suite: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Find the tasks that moved between two runs.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    baseline, candidate
        The two runs by their ``run_id``. A difference is candidate less baseline.
    suite
        One suite; by default every suite that both runs have.
    confidence
        A task moved if its adjusted p is at most 1 less this.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per suite and task that both runs have, with the columns of the table
        ``passk_task_comparisons``: counts and pass rates of both, ``difference``, the two-sided
        ``p`` of Fisher's exact test, ``p_adjusted`` for the number of tasks (Benjamini and
        Hochberg), the ``least_p`` that so many attempts can give, the ``least_p_of_fall`` that they
        can with as many passes in the baseline, ``moved``, ``direction`` and ``null_reason``.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If a run has no attempt, or the two have no suite in common.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": run, "task_id": "t", "attempt": number, "passed": number <= passes}
    ...         for run, passes in (("old", 8), ("new", 2))
    ...         for number in range(1, 9)
    ...     ]
    ... )
    >>> compare_tasks(log, "old", "new").select("direction", "moved", pl.col("p").round(4)).row(0)
    ('fell', True, 0.007)
    """
    level = checked_confidence("compare_tasks", confidence)
    pairs = _pairs("compare_tasks", attempts, baseline, candidate, suite, threshold)
    return pl.concat([task_comparisons(pair, confidence=level) for pair in pairs])


def task_comparisons(pair: Pair, *, confidence: float) -> pl.DataFrame:
    """Compare the tasks of a pair, each for itself.

    Parameters
    ----------
    pair
        The tasks of two runs.
    confidence
        A task moved if its adjusted p is at most 1 less this.

    Returns
    -------
    polars.DataFrame
        One row per task, with the columns of :func:`compare_tasks`.
    """
    states = [one for one in pair.histogram() if one.baseline_n and one.candidate_n]
    tested = pl.DataFrame(
        [
            (
                *one,
                p_value(fisher(one)),
                p_value(least_p(one.baseline_n, one.candidate_n)),
                p_value(fisher(one._replace(candidate_c=0))),
            )
            for one in states
        ],
        schema={
            **dict.fromkeys(PairCounts._fields, pl.Int64),
            **dict.fromkeys(("p", "least_p", "least_p_of_fall"), pl.Float64),
        },
        orient="row",
    )
    rates = [pl.col(f"{side}_c") / pl.col(f"{side}_n") for side in ("baseline", "candidate")]
    balance = pl.col("candidate_c") * pl.col("baseline_n") - pl.col("baseline_c") * pl.col(
        "candidate_n"
    )
    p = pl.col("p")
    return (
        pair.common.join(tested, on=PairCounts._fields, how="left", maintain_order="left")
        .with_columns(
            suite=pl.lit(pair.suite),
            baseline_run_id=pl.lit(pair.baseline_run_id),
            candidate_run_id=pl.lit(pair.candidate_run_id),
            # 0 / 0 is NaN here, and null in SQL.
            baseline_pass_rate=rates[0].fill_nan(None),
            candidate_pass_rate=rates[1].fill_nan(None),
            direction=pl.when(p.is_null())
            .then(None)
            .otherwise(balance.sign().replace_strict([-1, 0, 1], ["fell", "same", "rose"])),
            null_reason=pl.when(p.is_not_null())
            .then(None)
            .when((pl.col("baseline_n") == 0) & (pl.col("candidate_n") == 0))
            .then(pl.lit("no counted attempt in either run"))
            .when(pl.col("baseline_n") == 0)
            .then(pl.lit("no counted attempt in the baseline"))
            .otherwise(pl.lit("no counted attempt in the candidate")),
            # The quotient first: it is at least 1, so that no rounding takes it below p.
            scaled=p * (p.count() / p.rank("max")),
        )
        .with_columns(
            difference=pl.col("candidate_pass_rate") - pl.col("baseline_pass_rate"),
            p_adjusted=pl.col("scaled")
            .sort_by("p", descending=True, nulls_last=True)
            .cum_min()
            .gather(p.rank("ordinal", descending=True).cast(pl.Int64) - 1)
            .clip(upper_bound=1.0),
        )
        .with_columns(moved=has_moved("p_adjusted", confidence))
        .select(
            "suite",
            "baseline_run_id",
            "candidate_run_id",
            "task_id",
            *PairCounts._fields,
            "baseline_pass_rate",
            "candidate_pass_rate",
            "difference",
            "p",
            "p_adjusted",
            "least_p",
            "least_p_of_fall",
            "moved",
            "direction",
            "null_reason",
        )
    )


def has_moved(p_adjusted: str, confidence: float) -> pl.Expr:
    """Say whether a task moved, by the name of the column of its adjusted p."""
    return (pl.col(p_adjusted) <= round(1 - confidence, 10)).fill_null(value=False)
