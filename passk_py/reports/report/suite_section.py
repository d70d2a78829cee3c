"""The values and drawings of the section of a suite, by their names in the templates."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import plural, shortened, symbol
from passk_py.reports.report import charts
from passk_py.reports.report.agent_sentences import verdict
from passk_py.reports.report.drawing import inline
from passk_py.reports.report.leaderboard import leaderboard
from passk_py.reports.report.page_words import signed_points, tone, tone_colour
from passk_py.reports.report.theme import AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = dict[str, Any]

_LONG: Final = 60
_FIRST: Final = 100
"""The number of tasks that are shown without a script: the first to mend."""
_DETAILED: Final = 25
"""The number of these that are shown with their attempts."""


class SuiteSection:
    """A suite, as its section of the page shows it."""

    def __init__(self, told: Row, facts: Row) -> None:
        self.told = told
        self.facts = facts
        self.k: int = facts["deployment_k"]
        self.runs: list[Row] = told["runs"]
        self.ks = charts.known_ks(self.runs)

    @property
    def sections(self) -> list[tuple[str, str]]:
        """The sections that there are, and their headings."""
        return [
            ("verdict", "Leaderboard"),
            ("tasks", "Tasks"),
            *([("losses", "Where reliability is lost")] if self.mixed_losses else []),
            ("k", "Over k"),
            *([("lengths", "Over the length of tasks")] if self.lengths else []),
            *([("thresholds", "By the score that passes")] if self.has_thresholds else []),
            ("baseline", "Against the baseline"),
            ("gates", "Gates"),
            *([("costs", "Cost")] if self.told["costs"] else []),
            *([("trend", "Over releases")] if self.has_releases else []),
            ("coverage", "What was measured"),
            ("trust", "Can the log be trusted?"),
        ]

    @cached_property
    def leaderboard(self) -> list[Row]:
        """Give the runs with their values at the deployment k, the highest pass^k first."""
        rows = leaderboard(self.runs, self.k)
        for row in rows:
            name = shortened(row["run"]["label"], _LONG)
            label = f"pass@k, dashed, and pass^k, solid, over k for {name}"
            row["curve"] = inline(charts.spark(row["run"], self.ks), label) if self.ks else ""
        return rows

    @property
    def has_grey(self) -> bool:
        """Whether there are more agents than colours."""
        return any(run["colour"] == "quiet" for run in self.runs)

    @property
    def has_earlier(self) -> bool:
        """Whether there are runs that are not the latest of their agents."""
        return not all(run["is_latest"] for run in self.runs)

    @property
    def has_thresholds(self) -> bool:
        """Whether thresholds of scores are asked for, and a run has scores."""
        return any(run["thresholds"] for run in self.runs)

    @property
    def has_ranks(self) -> bool:
        """Whether there are runs to rank."""
        return any(run["rank"] and run["rank"]["ranked_runs"] > 1 for run in self.runs)

    @property
    def has_best(self) -> bool:
        """Whether a run is the best at something."""
        return any(run["may_be_best_at"] for run in self.runs)

    @property
    def mixed_losses(self) -> list[Row]:
        """The runs whose failures have more than one cause."""
        return [run for run in self.runs if len(run["lost_by_cause"]) > 1]

    @property
    def first(self) -> list[Row]:
        """The tasks that are shown without a script."""
        return list(self.told["tasks"][:_FIRST])

    @property
    def verdicts(self) -> list[tuple[Row, str, str]]:
        """The latest run of each agent, its tone and its sentence."""
        found = []
        for run in self.runs:
            if run["is_latest"]:
                at_k: Row = next((row for row in run["curve"] if row["k"] == self.k), {})
                found.append((run, tone(at_k.get("reading")), verdict(run, self.facts)))
        return found

    @cached_property
    def overlay(self) -> str | None:
        """Both curves of all runs in one plot, where they can be told apart."""
        if not 1 < len(self.runs) <= AGENTS or not self.ks:
            return None
        label = "pass@k, dashed, and pass^k, solid, over k for " + _listed(self.runs)
        return inline(charts.overlay(self.runs, self.ks, self.k), label)

    def curves(self) -> Iterable[tuple[Row, str, str | None]]:
        """Each run with its curves and, below, its delta_k; none where no k has a figure."""
        if not self.ks:
            return
        for run in self.runs:
            name = shortened(run["run_id"], _LONG)
            label = f"pass@k, dashed, and pass^k, solid, over k for {name}"
            below = charts.delta(run, self.ks, self.deltas)
            said = f"delta_k over k for {name}"
            drawn = inline(below, said) if below is not None else None
            yield run, inline(charts.curve(run, self.ks, self.k), label), drawn

    @cached_property
    def deltas(self) -> tuple[float, float]:
        """The ends of the axes of delta_k, which are those of all runs."""
        points = [row for run in self.runs for row in run["curve"] if row["delta_k"] is not None]
        tops = [row["delta_k_upper"] for row in points if row["delta_k_upper"] is not None]
        # An estimate may be below 0, and is shown, although what it estimates is not.
        values = [row["delta_k"] for row in points]
        return min([0.0, *values]), max([0.05, *values, *tops])

    @cached_property
    def heat(self) -> str | None:
        """The heat map of all tasks."""
        drawn = charts.heat(self.told)
        count = plural(self.told["total_tasks"], "task")
        if drawn is None:
            return None
        return inline(drawn, f"Pass rate of {count} by run, the first to mend in front")

    @cached_property
    def classes(self) -> str:
        """The number of tasks of each class."""
        return inline(charts.classes(self.told), "Number of tasks of each class by run")

    @property
    def has_releases(self) -> bool:
        """Whether there is anything to say of several runs of an agent."""
        return bool(self.trends or self.told["trends"])

    @cached_property
    def lengths(self) -> list[tuple[Row, str]]:
        """The runs whose tasks have a length, and their pass^k over it."""
        found = []
        for run in self.runs:
            drawn = charts.over_length(run)
            if drawn is not None:
                name = shortened(run["run_id"], _LONG)
                label = f"pass^1 and {symbol('pass_hat_k', self.k)} over length for {name}"
                found.append((run, inline(drawn, label)))
        return found

    @cached_property
    def trends(self) -> list[tuple[str, str]]:
        """Each agent of several runs, and its numbers over its releases."""
        return [
            (
                agent,
                inline(
                    charts.trend(runs, self.k),
                    f"{symbol('pass_at_k', self.k)} and {symbol('pass_hat_k', self.k)} "
                    f"of the runs of {shortened(agent, _LONG)}, the earliest first",
                ),
            )
            for agent, runs in charts.releases(self.runs, self.k)
        ]

    @property
    def costs(self) -> list[tuple[Row, Row | None]]:
        """The costs of the shown runs, and their figures at the deployment k."""
        at_k = {(row["run_id"], row["measure"]): row for row in self.told["costs"]["at_k"]}
        by_run = {row["run_id"]: place for place, row in enumerate(self.runs)}
        rows = [row for row in self.told["costs"]["runs"] if row["run_id"] in by_run]
        rows.sort(key=lambda row: (row["measure"], by_run[row["run_id"]]))
        return [(row, at_k.get((row["run_id"], row["measure"]))) for row in rows]

    @cached_property
    def frontiers(self) -> list[tuple[str, str, list[Row]]]:
        """Each measure that two runs or more have, a drawing of who is beaten, and its runs."""
        found = []
        for measure, rows in charts.by_measure(self.told):
            there = {row["run_id"] for row in rows}
            runs = [run for run in self.runs if run["run_id"] in there]
            said = f"{symbol('pass_hat_k', self.k)} over the cost of an attempt for "
            drawn = inline(charts.frontier(runs, rows), said + _listed(runs))
            found.append((measure, drawn, runs))
        return found

    @cached_property
    def pairs(self) -> list[tuple[Row, list[tuple[Row, str]]]]:
        """Each pair of runs, and its rows with a drawing of the difference."""
        rows = self.told["comparisons"]
        ends = [
            abs(row[column])
            for row in rows
            for column in ("difference", "difference_suite_lower", "difference_suite_upper")
            if row[column] is not None
        ]
        reach = max([0.05, *ends])
        found: dict[tuple[str, str], list[tuple[Row, str]]] = {}
        for row in rows:
            key = (row["candidate_run_id"], row["baseline_run_id"])
            found.setdefault(key, []).append((row, self._difference(row, reach)))
        return [(drawn[0][0], drawn) for drawn in found.values()]

    def _difference(self, row: Row, reach: float) -> str:
        if row["difference"] is None:
            return ""
        called = symbol(row["metric"], row["k"])
        said = f"{called} {signed_points(row, 'difference', 'difference_suite')}"
        return inline(
            charts.span(
                row["difference"],
                row["difference_suite_lower"],
                row["difference_suite_upper"],
                domain=(-reach, reach),
                mark=0.0,
                tone=tone_colour(row["verdict"]),
                said=said,
            ),
            said,
        )

    @cached_property
    def gates(self) -> list[tuple[Row, str]]:
        """Each gate, and a drawing of what it judges."""
        return [(row, self._gate(row)) for row in self.told["gates"]]

    def _gate(self, row: Row) -> str:
        """Draw what a rule on pass@k or pass^k judges; other rules are about counts."""
        estimate, threshold = row["estimate"], row["threshold"]
        if row["metric"] is None or row["k"] is None or estimate is None or threshold is None:
            return ""
        domain, mark = (0.0, 1.0), threshold
        if row["baseline_run_id"] is not None or row["rule_type"] == "rolling_drop":
            # The loss that a rule allows is written without its sign.
            mark = -threshold
            ends = (estimate, row["estimate_lower"], row["estimate_upper"], mark)
            reach = max(0.05, *(abs(end) for end in ends if end is not None))
            domain = (-reach, reach)
        said = f"{estimate:.3f}, held against {mark:g}"
        drawn = charts.span(
            estimate,
            row["estimate_lower"],
            row["estimate_upper"],
            domain=domain,
            mark=mark,
            tone=tone_colour(row["result"]),
            said=said,
        )
        return inline(drawn, said)

    @cached_property
    def warnings(self) -> list[tuple[Row, list[Row]]]:
        """The warnings of the diagnostics: each meaning once, with the findings by run."""
        found: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.told["diagnostics"]:
            if row["verdict"] == "warning":
                key = (row["diagnostic"], row["meaning"], row["advice"])
                found.setdefault(key, []).append(row)
        return [(rows[0], rows) for rows in found.values()]

    @cached_property
    def other_diagnostics(self) -> list[Row]:
        """The other findings in the latest runs."""
        return [
            row
            for row in self.told["diagnostics"]
            if row["verdict"] != "warning" and row["is_of_latest"]
        ]

    @property
    def warned_runs(self) -> list[tuple[str, list[str]]]:
        """Each warning about counts, with the runs that it is about."""
        said: dict[str, list[str]] = {}
        for run in self.runs:
            if run["warnings"]:
                said.setdefault(run["warnings"], []).append(run["run_id"])
        return list(said.items())

    @cached_property
    def detailed(self) -> list[tuple[int, Row]]:
        """The tasks whose attempts are shown, with their places."""
        return [
            (place, task)
            for place, task in enumerate(self.first[:_DETAILED], start=1)
            if any("outcomes" in run for run in task["runs"].values())
        ]


def _listed(runs: Sequence[Row]) -> str:
    return ", ".join(shortened(run["run_id"], _LONG) for run in runs)
