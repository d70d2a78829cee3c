"""How much less, or more, an attempt costs in one run than in another: ``compare_costs``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.common.errors import PasskError
from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.comparisons.compared_runs import with_agents
from passk_py.metrics.costs.cost_tables import table_of_costs
from passk_py.metrics.costs.ratios import ratio_limits
from passk_py.metrics.costs.run_costs import DEFAULT_MEASURES
from passk_py.metrics.costs.spending import checked_measures, measured_log, task_spending
from passk_py.metrics.frames.columns import identities
from passk_py.metrics.nearly_all import NEARLY_ALL_PERCENT, are_nearly_all
from passk_py.stats.estimators.arguments import checked_confidence, checked_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WORDS: Final[dict[str, tuple[str, str]]] = {
    "cost_usd": ("cheaper", "dearer"),
    "duration_s": ("less time", "more time"),
    "input_tokens": ("fewer input tokens", "more input tokens"),
    "output_tokens": ("fewer output tokens", "more output tokens"),
    "tokens": ("fewer tokens", "more tokens"),
}
"""The word for a cost that is lower, or higher."""

PAIR: Final = ("suite", "baseline_run_id", "candidate_run_id", "measure")
CHANGES: Final = ("relative_change", "relative_change_lower", "relative_change_upper")
CHANGE_TYPES: Final[dict[str, Any]] = {
    **dict.fromkeys(PAIR, pl.String),
    **dict.fromkeys(("baseline_tasks", "common_tasks", "families"), pl.Int64),
    **dict.fromkeys(("baseline", "candidate", *CHANGES), pl.Float64),
    **dict.fromkeys(("verdict", "null_reason", "meaning"), pl.String),
}

_ROUNDING: Final = 1e-9
"""Equal costs must not differ by rounding."""
_SAME: Final = 0.005


@any_frame
def compare_costs(
    attempts: pl.DataFrame | pl.LazyFrame,
    baseline: str,
    candidate: str,
    *,
    measures: Iterable[str] = DEFAULT_MEASURES,
    suite: str | None = None,
    min_eligible_share: float = 0.95,
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Compare what an attempt costs in two runs, over the tasks that both have.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    baseline, candidate
        The two runs by their ``run_id``.
    measures
        As in :func:`passk_py.run_costs`.
    suite
        One suite; by default every suite that both runs have.
    min_eligible_share, cluster, confidence, threshold
        As in :func:`passk_py.run_costs`, of each run.

    Returns
    -------
    polars.DataFrame
        One row per suite and measure that either run has, with the columns of the table
        ``passk_cost_comparisons`` except ``pair_source`` and ``loaded_at``: agents and their
        versions, the mean costs of an attempt in both runs, ``relative_change`` (-0.84 is 84 %
        less) with limits for tasks like these, ``verdict`` (``less``, ``more``, ``inconclusive``
        or ``insufficient``), ``null_reason`` and ``meaning``.

    Raises
    ------
    ArgumentError
        If an option can't be right.
    PasskError
        If the two runs have no suite in common.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": run, "task_id": task, "attempt": 1, "passed": True, "cost_usd": cost}
    ...         for run, power in (("old", 1.0), ("new", 0.5))
    ...         for task in range(20)
    ...         for cost in [(4 + task) ** power]
    ...     ]
    ... )
    >>> compare_costs(log, "old", "new").item(0, "meaning")
    '73 % cheaper (70 to 76).'
    """
    names = checked_measures("compare_costs", measures)
    share = checked_share("compare_costs", min_eligible_share)
    level = checked_confidence("compare_costs", confidence)
    runs = attempts.lazy().filter(pl.col("run_id").is_in([baseline, candidate]))
    spending = task_spending(measured_log(runs, names, threshold, cluster), names)
    who = identities(runs).collect()
    of_runs = [set(who.filter(run_id=run)["suite"]) for run in (baseline, candidate)]
    common = sorted(of_runs[0] & of_runs[1])
    suites = [one for one in common if suite in (None, one)]
    if not suites:
        raise PasskError(
            f"compare_costs: {baseline} and {candidate} have no suite in common",
            hint="Name two runs of the log that are over the same suite.",
        )
    costs = table_of_costs(
        spending,
        pl.DataFrame(schema=dict.fromkeys(("run_id", "suite", "measure"), pl.String)),
        min_eligible_share=share,
        confidence=level,
        by_family=cluster is not None,
    )
    pairs = [(one, baseline, candidate) for one in suites]
    changes = table_of_changes(
        spending, costs, pairs, confidence=level, by_family=cluster is not None
    )
    return with_agents(changes, who).sort("suite", "measure")


def table_of_changes(
    spending: pl.DataFrame,
    costs: pl.DataFrame,
    pairs: Sequence[tuple[str, str, str]],
    *,
    confidence: float,
    by_family: bool,
) -> pl.DataFrame:
    """Compare pairs of (suite, baseline, candidate); ``costs`` are their rows of that table."""
    known = {
        (row["suite"], row["run_id"], row["measure"]): row for row in costs.iter_rows(named=True)
    }
    rows = []
    for suite, baseline, candidate in pairs:
        for measure in WORDS:
            of_pair = [known.get((suite, run, measure)) for run in (baseline, candidate)]
            if any(of_pair):
                before, after = (
                    spending.filter("is_measured", suite=suite, run_id=run, measure=measure).select(
                        "task_id", "family", "cost_of_attempt"
                    )
                    for run in (baseline, candidate)
                )
                found = _ratio(before, after, confidence, by_family=by_family)
                place = dict(zip(PAIR, (suite, baseline, candidate, measure), strict=True))
                rows.append(_judged(place, of_pair[0], of_pair[1], found))
    return pl.DataFrame(rows, schema=CHANGE_TYPES, orient="row")


def _ratio(
    before: pl.DataFrame, after: pl.DataFrame, confidence: float, *, by_family: bool
) -> dict[str, Any]:
    family = pl.coalesce("family", "family_right")
    terms = before.join(after, on="task_id", maintain_order="left").select(
        x="cost_of_attempt_right",
        y="cost_of_attempt",
        reach=pl.lit(0.0),
        one=pl.lit(1),
        draw=pl.when(family.is_null())
        .then(pl.struct(kind=pl.lit("task"), name="task_id"))
        .otherwise(pl.struct(kind=pl.lit("family"), name=family)),
    )
    limits = ratio_limits(terms, ["one"], confidence, by_family=by_family)
    return limits.row(0, named=True) if limits.height else {"tasks": 0, "estimate": None}


def _judged(
    place: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    found: Mapping[str, Any],
) -> dict[str, Any]:
    measure, tasks = place["measure"], found["tasks"]
    of_baseline = before["measured_tasks"] if before else 0
    row: dict[str, Any] = {
        **dict.fromkeys(CHANGE_TYPES),
        **place,
        "baseline_tasks": of_baseline,
        "common_tasks": tasks,
        "families": found.get("families"),
        "null_reason": _reason(measure, before, after, tasks, found["estimate"]),
    }
    if row["null_reason"] is None:
        row |= {"baseline": found["mean_y"], "candidate": found["mean_x"]}
        for name, end in zip(CHANGES, ("estimate", "lower", "upper"), strict=True):
            row[name] = None if found[end] is None else found[end] - 1
    return row | dict(zip(("verdict", "meaning"), judged_change(row), strict=True))


def _reason(
    measure: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    tasks: int,
    estimate: float | None,
) -> str | None:
    for side, costs in (("baseline", before), ("candidate", after)):
        if costs is None:
            return f"no attempt of the {side} has {measure}"
    for side, costs in (("baseline", before), ("candidate", after)):
        if costs is not None and costs["null_reason"] is not None:
            return f"in the {side} {costs['null_reason']}"
    of_baseline = before["measured_tasks"] if before else 0
    if not are_nearly_all(tasks, of_baseline):
        return (
            f"only {tasks} of {of_baseline} tasks of the baseline are in both runs, "
            f"fewer than {NEARLY_ALL_PERCENT} %"
        )
    return "the baseline cost nothing" if estimate is None else None


def judged_change(row: Mapping[str, Any]) -> tuple[str, str]:
    """Say what a change of costs comes to: the verdict, and its meaning."""
    measure = row["measure"]
    if row["null_reason"] is not None:
        return "insufficient", f"No comparison of {measure}: {row['null_reason']}."
    change, lower, upper = (row[name] for name in CHANGES)
    if change == -1:
        free = f"100 % {WORDS[measure][0]}"
        return "inconclusive", f"{free}: in the candidate all are 0, so that there are no limits."
    said = change_said(measure, change)
    if lower is None:
        return "inconclusive", f"{said}, of too few tasks for limits."
    verdict = "less" if upper < -_ROUNDING else "more" if lower > _ROUNDING else "inconclusive"
    if lower > -_SAME and upper < _SAME:
        return verdict, f"The same {measure} to the percent."
    if verdict == "inconclusive":
        ends = f"from {change_said(measure, lower)} to {change_said(measure, upper)}"
        return verdict, f"{said}, which chance alone can explain: {ends}."
    near, far = sorted((lower, upper), key=abs)
    return verdict, f"{said} ({_percent(near)} to {_percent(far)})."


def change_said(measure: str, change: float) -> str:
    """Write a relative change in percent, such as ``84 % cheaper``."""
    return f"{_percent(change)} % {WORDS[measure][change >= 0]}"


def _percent(change: float) -> str:
    # A limit is never 100 % less, and may be too far off for a number of SQL.
    if change >= 99.995:
        return "over 9999"
    if change <= -0.995:
        return "over 99"
    return str(math.floor(abs(change) * 100 + 0.5))
