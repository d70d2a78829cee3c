"""The report as one HTML file, which asks nothing of the network and works without scripts."""

from __future__ import annotations

from base64 import b64encode
from functools import cached_property
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import jinja2
from markupsafe import Markup

from passk_py.common.words import (
    DASH,
    limit,
    percent,
    plain,
    plural,
    shortened,
    side_of_zero,
    symbol,
)
from passk_py.reports.report import charts
from passk_py.reports.report.agent_sentences import interval, verdict
from passk_py.reports.report.drawing import inline
from passk_py.reports.report.theme import HEAT, RUNS, heat_step, stylesheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = dict[str, Any]

_TONES: Final = {
    "improvement": "good",
    "equivalent": "good",
    "regression": "bad",
    "inconclusive": "unsure",
    "insufficient": "unsure",
    "pass": "good",
    "fail": "bad",
    "warning": "bad",
    "ok": "good",
    "capable and consistent": "good",
    "capable but flaky": "unsure",
    "not capable": "bad",
}
"""How what is said is coloured; the words stand beside the colour everywhere."""
_LONG: Final = 60
_TASK: Final = 46
_RUN: Final = 28
_OUTCOMES: Final = str.maketrans({"P": "●", "F": "○", "x": "×"})  # noqa: RUF001 - a cross is meant


def as_html(facts: Row) -> str:
    """Write the facts as a page."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined, finalize=_printable,
    )  # fmt: skip
    environment.filters.update(
        percent=percent,
        plain=plain,
        plural=plural,
        short=lambda name: shortened(name, _LONG),
        short_task=lambda name: shortened(name, _TASK),
        short_run=lambda name: shortened(name, _RUN),
        outcomes=lambda letters: letters.translate(_OUTCOMES),
    )
    script = _read("report.js")
    return environment.get_template("report.html").render(
        facts=facts,
        points=signed_points,
        k=facts["deployment_k"],
        level=limit(facts["confidence"]),
        capable=limit(facts["capable_threshold"]),
        consistent=limit(facts["consistent_threshold"]),
        suites=[_Suite(suite, facts) for suite in facts["suites"]],
        steps=list(enumerate(HEAT)),
        styles=stylesheet() + _read("report.css"),
        script=script,
        script_digest=f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
        dash=DASH,
        symbol=symbol,
        interval=interval,
        tone=_tone,
        heat_step=heat_step,
    )


def _printable(value: Any) -> Any:  # noqa: ANN401 - whatever a template shows
    """Show what can't be printed as its escape: sentences of the tables have names in them too."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _read(name: str) -> str:
    folder = resources.files("passk_py.reports.report") / "templates"
    return (folder / name).read_text(encoding="utf-8")


class _Suite:
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
            ("verdict", "Verdict"),
            ("k", "Over k"),
            ("tasks", "Tasks"),
            ("baseline", "Against the baseline"),
            ("gates", "Gates"),
            *([("trend", "Over releases")] if self.trends else []),
            ("coverage", "What was measured"),
            ("trust", "Can the log be trusted?"),
        ]

    @property
    def verdicts(self) -> list[tuple[Row, str, str]]:
        """The latest run of each agent, its tone and its sentence."""
        found = []
        for run in self.runs:
            if run["is_latest"]:
                at_k: Row = next((row for row in run["curve"] if row["k"] == self.k), {})
                found.append((run, _tone(at_k.get("reading")), verdict(run, self.facts)))
        return found

    @cached_property
    def overlay(self) -> str | None:
        """Both curves of all runs in one plot, where they can be told apart."""
        if not 1 < len(self.runs) <= RUNS or not self.ks:
            return None
        label = "pass@k, dashed, and pass^k, solid, over k for " + _listed(self.runs)
        return inline(charts.overlay(self.runs, self.ks, self.k), label)

    def curves(self) -> Iterable[tuple[Row, str, str | None]]:
        """Each run with its curves and, below, its delta_k; none where no k has a figure."""
        if not self.ks:
            return
        highest = self.highest_delta
        for run in self.runs:
            label = (
                f"pass@k, dashed, and pass^k, solid, over k for {shortened(run['run_id'], _LONG)}"
            )
            below = charts.delta(run, self.ks, highest)
            said = f"delta_k over k for {shortened(run['run_id'], _LONG)}"
            drawn = inline(below, said) if below is not None else None
            yield run, inline(charts.curve(run, self.ks, self.k), label), drawn

    @property
    def highest_delta(self) -> float:
        """The top of the axes of delta_k."""
        ends = [
            value
            for run in self.runs
            for row in run["curve"]
            for value in (row["delta_k"], row["delta_k_upper"])
            if value is not None
        ]
        return max(0.05, *ends) if ends else 0.05

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
        """How many tasks are of which class."""
        return inline(charts.classes(self.told), "Number of tasks of each class by run")

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
                tone=_tone_colour(row["verdict"]),
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
        if row["baseline_run_id"] is not None:
            # What a rule allows to be lost is written without its sign.
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
            tone=_tone_colour(row["result"]),
            said=said,
        )
        return inline(drawn, said)

    @cached_property
    def warnings(self) -> list[tuple[Row, list[Row]]]:
        """What the diagnostics warn of: what it means once, and what was found in which run."""
        found: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.told["diagnostics"]:
            if row["verdict"] == "warning":
                key = (row["diagnostic"], row["meaning"], row["advice"])
                found.setdefault(key, []).append(row)
        return [(rows[0], rows) for rows in found.values()]

    @cached_property
    def other_diagnostics(self) -> list[Row]:
        """What they find of the latest runs beside that."""
        return [
            row
            for row in self.told["diagnostics"]
            if row["verdict"] != "warning" and row["is_of_latest"]
        ]

    @property
    def warned_runs(self) -> list[tuple[str, list[str]]]:
        """What is odd about the runs' counts, and of which runs."""
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
            for place, task in enumerate(self.told["tasks"], start=1)
            if any("outcomes" in run for run in task["runs"].values())
        ]


def signed_points(row: Row, column: str, limits: str | None = None) -> str:
    """Write a difference in percentage points, with its limits."""
    if row[column] is None:
        return DASH
    low, high = (row[f"{limits or column}_{side}"] for side in ("lower", "upper"))
    if low is None or high is None:
        return _signed(row[column])
    ends = " to ".join(side_of_zero(end, _signed(end)) for end in (low, high))
    return f"{_signed(row[column])} ({ends})"


def _signed(share: float) -> str:
    text = f"{100 * share:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def _tone(said: str | None) -> str:
    return _TONES.get(said or "", "plain")


def _tone_colour(said: str | None) -> str:
    tone = _tone(said)
    return "quiet" if tone == "plain" else tone


def _listed(runs: Sequence[Row]) -> str:
    return ", ".join(shortened(run["run_id"], _LONG) for run in runs)
