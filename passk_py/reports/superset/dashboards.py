"""The dashboards: which charts they have, where those stand, and what they can be filtered by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from passk_py.reports.superset.superset_charts import (
    AT_COLOR,
    AT_LIMIT_COLOR,
    HAT_COLOR,
    HAT_LIMIT_COLOR,
    Chart,
    bars,
    condition,
    count,
    curves,
    heat_map,
    limits,
    table,
)

__all__ = ["DASHBOARDS", "Dashboard", "Filter"]

# Of these, pictures can show no more: the tables beside them have all.
_MOST_RUNS: Final = 16
_MOST_TASKS: Final = 60


@dataclass(frozen=True, slots=True)
class Filter:
    """A choice at the side of a dashboard.

    Parameters
    ----------
    name
        What it is called.
    dataset, column
        Where the values come from. It filters each chart whose dataset has such a column.
    first
        The metric by which the values are sorted; empty to sort them by themselves.
    ascending
        Whether they ascend.
    must_choose
        Whether one value is always chosen, at first the first one; else several, or none, can be.
    within
        The filters whose choice narrows the values.
    but_not
        The names of the charts that it leaves alone.
    """

    name: str
    dataset: str
    column: str
    first: str = ""
    ascending: bool = True
    must_choose: bool = False
    within: tuple[str, ...] = ()
    but_not: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A dashboard.

    Parameters
    ----------
    name
        The last part of its address, and of its title.
    text
        What it shows; stands above the charts.
    rows
        Its charts, a row after the other; of a row all are as wide as they are high alike.
    heights
        How high each row is, in Superset's units of eight pixels.
    filters
        What it can be filtered by.
    """

    name: str
    text: str
    rows: tuple[tuple[Chart, ...], ...]
    heights: tuple[int, ...]
    filters: tuple[Filter, ...]


def _suite(dataset: str = "points", first: str = "newest run") -> Filter:
    return Filter("Suite", dataset, "suite", first, ascending=False, must_choose=True)


def _k(dataset: str = "points", *, but_not: tuple[str, ...] = ()) -> Filter:
    return Filter("k", dataset, "k", "deployment k first", must_choose=True, but_not=but_not)


_DIFFERENCE: Final = {"difference": HAT_COLOR, "from": HAT_LIMIT_COLOR, "to": HAT_LIMIT_COLOR}
_NEWEST: Final = condition("age", "==", 1)

# The columns of both metrics with their limits, and what they are called on the page.
_ESTIMATES: Final = {
    "pass_at_k": "pass@k",
    "pass_at_k_lower": "pass@k from",
    "pass_at_k_upper": "pass@k to",
    "pass_hat_k": "pass^k",
    "pass_hat_k_lower": "pass^k from",
    "pass_hat_k_upper": "pass^k to",
}
_LATEST: Final = "The latest run of each agent, at most eight. Not filtered by k."
_WITHIN_TASKS: Final = "With the limits for these tasks, in lighter colours. Not filtered by k."

_OVERVIEW: Final = Dashboard(
    "overview",
    "The latest run of each agent. **pass@k**: at least one of k tries succeeds. "
    "**pass^k**: all k tries succeed. Both are means over the tasks of a suite, with limits for "
    "tasks like these.",
    (
        (
            table(
                "The latest run of each agent",
                "points",
                {
                    "run_id": "run",
                    "agent": "agent",
                    "k": "k",
                    **_ESTIMATES,
                    "judgement": "reading",
                    "total_tasks": "tasks",
                    "attempts": "attempts",
                    "excluded": "excluded",
                },
                order=(("run_id", True),),
                where=(_NEWEST,),
                formats={".1%": tuple(_ESTIMATES)},
            ),
        ),
        (
            curves(
                "pass@k over k",
                "points",
                "pass@k",
                by="run",
                where=(_NEWEST,),
                text=_LATEST,
            ),
            curves(
                "pass^k over k",
                "points",
                "pass^k",
                by="run",
                where=(_NEWEST,),
                text=_LATEST,
            ),
        ),
    ),
    (40, 50),
    (
        _suite(),
        Filter("Agent", "points", "agent", within=("Suite",)),
        _k(but_not=("pass@k over k", "pass^k over k")),
    ),
)

_RUN: Final = Dashboard(
    "run",
    "One run: how far pass@k and pass^k part over k, which tasks cost the most reliability, and "
    "whether its log can be trusted. Limits are those for tasks like these, in lighter colours.",
    (
        (
            table(
                "At this k",
                "points",
                {
                    "k": "k",
                    **_ESTIMATES,
                    "judgement": "reading",
                    "eligible_tasks": "tasks with k attempts",
                    "total_tasks": "tasks",
                    "n": "counted attempts",
                    "excluded": "excluded",
                },
                order=(("k", True),),
                formats={".1%": tuple(_ESTIMATES)},
            ),
        ),
        (
            limits(
                "pass@k and pass^k over k",
                "points",
                {
                    "pass@k": AT_COLOR,
                    "pass@k from": AT_LIMIT_COLOR,
                    "pass@k to": AT_LIMIT_COLOR,
                    "pass^k": HAT_COLOR,
                    "pass^k from": HAT_LIMIT_COLOR,
                    "pass^k to": HAT_LIMIT_COLOR,
                },
                known="pass_at_k",
                text="With their limits, in lighter colours. Not filtered by k.",
            ),
            limits(
                "delta_k over k",
                "points",
                {
                    "delta_k": HAT_COLOR,
                    "delta_k from": HAT_LIMIT_COLOR,
                    "delta_k to": HAT_LIMIT_COLOR,
                },
                known="delta_k",
                bounds=(0, None),
                text="How unequal the tasks are; 0 where each is as flaky as the next. "
                "Not filtered by k.",
            ),
        ),
        (
            bars(
                "Tasks by class",
                "tasks",
                "tasks",
                by="task_class",
                text="Consistent, flaky or incapable at the deployment k. Not filtered by k.",
            ),
            table(
                "What to mend first",
                "tasks",
                {
                    "task_id": "task",
                    "task_class": "class",
                    "c": "passed",
                    "n": "of",
                    "k": "k",
                    "pass_at_k": "pass@k",
                    "pass_hat_k": "pass^k",
                    "expected_gain": "expected gain",
                },
                order=(("mend_rank", True),),
                where=(condition("pass_rate", "<", 1),),
                formats={".1%": ("pass_at_k", "pass_hat_k", "expected_gain")},
                text="Expected gain: how much pass^k of the suite can be expected to rise if the "
                "task passed always. At the deployment k. Not filtered by k.",
            ),
        ),
        (
            table(
                "Can the log be trusted?",
                "diagnostics",
                {
                    "diagnostic": "diagnostic",
                    "verdict": "verdict",
                    "finding": "finding",
                    "advice": "what to do",
                },
                # Warnings come last in the alphabet, and first on the page.
                order=(("verdict", False), ("diagnostic", True)),
            ),
        ),
    ),
    (20, 50, 50, 50),
    (
        _suite(),
        Filter(
            "Run",
            "points",
            "run_id",
            "newest run",
            ascending=False,
            must_choose=True,
            within=("Suite",),
        ),
        _k(
            but_not=(
                "pass@k and pass^k over k",
                "delta_k over k",
                "Tasks by class",
                "What to mend first",
            )
        ),
    ),
)

_COMPARE: Final = Dashboard(
    "compare",
    "A pair of runs. The limits for these tasks exclude 0 exactly where the test finds a change; "
    "those for tasks like these are wider.",
    (
        (
            table(
                "Differences",
                "comparisons",
                {
                    "called": "metric",
                    "k": "k",
                    "baseline": "baseline",
                    "candidate": "candidate",
                    "difference": "difference",
                    "difference_suite_lower": "from, these tasks",
                    "difference_suite_upper": "to, these tasks",
                    "difference_lower": "from, tasks like these",
                    "difference_upper": "to, tasks like these",
                    "verdict": "verdict",
                    "said": "what it means",
                },
                order=(("k", True), ("metric", True)),
                formats={
                    ".1%": ("baseline", "candidate"),
                    "+.1%": (
                        "difference",
                        "difference_suite_lower",
                        "difference_suite_upper",
                        "difference_lower",
                        "difference_upper",
                    ),
                },
            ),
        ),
        (
            limits(
                "Difference of pass@k over k",
                "comparisons",
                _DIFFERENCE,
                known="difference",
                bounds=(None, None),
                where=(condition("metric", "==", "pass_at_k"),),
                text=_WITHIN_TASKS,
            ),
            limits(
                "Difference of pass^k over k",
                "comparisons",
                _DIFFERENCE,
                known="difference",
                bounds=(None, None),
                where=(condition("metric", "==", "pass_hat_k"),),
                text=_WITHIN_TASKS,
            ),
        ),
        (
            table(
                "Tasks that moved by more than chance does",
                "task comparisons",
                {
                    "task_id": "task",
                    "baseline_c": "baseline passed",
                    "baseline_n": "baseline of",
                    "candidate_c": "candidate passed",
                    "candidate_n": "candidate of",
                    "direction": "direction",
                    "p_adjusted": "p, adjusted",
                },
                order=(("p_adjusted", True), ("task_id", True)),
                formats={".3~g": ("p_adjusted",)},
                where=(condition("moved", "IS TRUE"),),
            ),
        ),
    ),
    (30, 50, 40),
    (
        _suite("comparisons", "newest candidate"),
        Filter(
            "Candidate",
            "comparisons",
            "candidate_run_id",
            "newest candidate",
            ascending=False,
            must_choose=True,
            within=("Suite",),
        ),
        Filter(
            "Baseline",
            "comparisons",
            "baseline_run_id",
            "newest baseline",
            ascending=False,
            must_choose=True,
            within=("Suite", "Candidate"),
        ),
        _k("comparisons", but_not=("Difference of pass@k over k", "Difference of pass^k over k")),
    ),
)

_TASKS: Final = Dashboard(
    "tasks",
    "Which tasks fail in which runs, and one task over the runs. The map has at most the "
    f"{_MOST_TASKS} tasks that fail most and the {_MOST_RUNS} newest runs.",
    (
        (
            table(
                "One task over the runs",
                "points of tasks",
                {
                    "run_id": "run",
                    "task_id": "task",
                    "c": "passed",
                    "n": "of",
                    "excluded": "excluded",
                    "k": "k",
                    **_ESTIMATES,
                    "null_reason": "why not known",
                },
                order=(("ordered_at", False), ("run_id", False)),
                formats={".1%": tuple(_ESTIMATES)},
            ),
        ),
        (
            heat_map(
                "The share of attempts that failed",
                "tasks",
                "failed",
                x="run",
                y="task",
                where=(
                    condition("place", "<=", _MOST_TASKS),
                    condition("age_in_suite", "<=", _MOST_RUNS),
                    condition("n", ">", 0),
                ),
                text="Not filtered by task or k.",
            ),
        ),
    ),
    (40, 130),
    (
        _suite(),
        Filter(
            "Task",
            "tasks",
            "task_id",
            "hardest first",
            must_choose=True,
            within=("Suite",),
            but_not=("The share of attempts that failed",),
        ),
        _k(but_not=("The share of attempts that failed",)),
    ),
)

_GATES: Final = Dashboard(
    "gates",
    "Each rule of the var `passk_gates`. A rule passes where even the limit on the wrong side "
    "meets it, fails where even the limit on the right side misses it, and is inconclusive else.",
    (
        (
            *(
                count(
                    f"Gates: {result}",
                    "gates",
                    "gates",
                    where=(condition("result", "==", result),),
                )
                for result in ("pass", "inconclusive", "fail")
            ),
        ),
        (
            table(
                "Rules",
                "gates",
                {
                    "result": "result",
                    "gate": "gate",
                    "run_id": "run",
                    "baseline_run_id": "baseline",
                    "slice_value": "slice",
                    "rule": "rule",
                    "estimate": "estimate",
                    "estimate_lower": "from",
                    "estimate_upper": "to",
                    "reason": "reason",
                    "to_settle": "what would settle it",
                },
                order=(("result", True), ("gate", True), ("run_id", True)),
                formats={".3f": ("estimate", "estimate_lower", "estimate_upper")},
            ),
        ),
    ),
    (16, 60),
    (
        Filter("Suite", "gates", "suite"),
        Filter("Agent", "gates", "agent"),
        Filter("Result", "gates", "result"),
    ),
)

DASHBOARDS: Final = (_OVERVIEW, _RUN, _COMPARE, _TASKS, _GATES)
