"""The answer on a terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from passk_py.common.words import (
    DASH,
    and_list,
    in_families,
    limit,
    percent,
    plain,
    plural,
    shortened,
    sparkline,
    symbol,
)
from passk_py.reports.answer.answer_facts import MOST_RUNS
from passk_py.reports.answer.grid import shown_ks
from passk_py.reports.answer.verdict_sentences import paragraphs

if TYPE_CHECKING:
    from rich.console import RenderableType

    from passk_py.reports.answer import Answer
    from passk_py.reports.answer.answer_facts import Run, Suite
    from passk_py.reports.answer.verdict_sentences import Paragraph
    from passk_py.reports.answer.verdicts import Verdict

_COLOURS: Final = {"pass_at_k": "cyan", "pass_hat_k": "magenta", "regression": "yellow"}
_QUIET: Final = "dim"
_LEAST_NAME: Final = 10
_CELL: Final = 6
_COUNTS: Final = {"attempts": 9, "excluded": 9, "consistent": 11, "flaky": 6, "incapable": 10}


def render_answer(answer: Answer, *, width: int, bars: bool = True) -> Group:
    """Lay out the answer."""
    parts: list[RenderableType] = []
    for suite in answer.suites:
        parts += _suite(answer, suite, width, bars=bars)
    related = any(run.families for suite in answer.suites for run in suite.runs)
    others = "other families of tasks" if related else "other tasks"
    caution = f"The intervals also hold for {others} like these."
    if any(run.is_related for suite in answer.suites for run in suite.runs):
        caution += (
            " They assume that tasks are unrelated. Here, tasks of one family seem to behave alike,"
            " so the intervals may be too narrow: see related_tasks in `passk diagnose`."
        )
    parts.append(Text(caution, style=_QUIET))
    return Group(*parts)


def _suite(answer: Answer, suite: Suite, width: int, *, bars: bool) -> list[RenderableType]:
    ks = shown_ks(suite, answer.deployment_k, most=(width - 8 - _LEAST_NAME) // _CELL)
    listed = replace(suite, runs=_listed(answer, suite))
    facts = f"{plural(len(suite.runs), 'run')} · {_tasks(suite)} · means over tasks, in percent"
    name = shortened(suite.name, max(_LEAST_NAME, width - len(facts) - 3))
    k = answer.deployment_k
    parts: list[RenderableType] = [
        Text.assemble((name, "bold"), (f" · {facts}", _QUIET)),
        Text(),
        _metrics(answer, listed, ks, width, bars=bars),
        *_gaps(listed, ks),
        _counts(listed, k, width),
        Text(),
        *_left_out(suite, listed),
        *_warnings(suite),
        *([Text(" ".join(suite.losses)), Text()] if suite.losses else []),
        *([Text(" ".join(suite.horizons)), Text()] if suite.horizons else []),
        *([Text(" ".join(suite.thresholds)), Text()] if suite.thresholds else []),
        *([Text(" ".join(suite.grader)), Text()] if suite.grader else []),
        *([Text(" ".join(suite.trends)), Text()] if suite.trends else []),
        *([*map(Text, suite.costs), Text()] if suite.costs else []),
        Text(_legend(answer), style=_QUIET),
        Text(),
    ]
    verdicts = answer.verdicts[suite.name]
    for verdict in verdicts:
        if len(verdicts) > 1:
            parts.append(_group_line(verdict))
        for paragraph in paragraphs(verdict, answer):
            parts.append(_headline(paragraph))
            parts.append(Padding(Text(" ".join(paragraph.sentences)), (0, 0, 1, 2)))
    return parts


def _legend(answer: Answer) -> str:
    """Define the words for runs, and those for tasks."""
    k, most, least = answer.deployment_k, answer.consistent_rate, answer.incapable_rate
    steady = "all its attempts" if most == 1 else f"at least {limit(most)}% of its attempts"
    hopeless = "none" if least == 0 else f"at most {limit(least)}%"
    return (
        f"At k = {k}, a run is capable if {symbol('pass_at_k', k)} is at least "
        f"{limit(answer.capable_threshold)}%, and consistent if {symbol('pass_hat_k', k)} is at "
        f"least {limit(answer.consistent_threshold)}%. A task is consistent if {steady} passed, "
        f"and incapable if {hopeless} did."
    )


def _listed(answer: Answer, suite: Suite) -> tuple[Run, ...]:
    """Give the latest runs and the best ones, in the order of the suite."""
    latest = sorted(suite.runs, key=lambda run: (run.newness, run.run_id))[-MOST_RUNS:]
    ids = {run.run_id for run in latest} | {run_id for _, _, run_id in _best(answer, suite)}
    return tuple(run for run in suite.runs if run.run_id in ids)


def _left_out(suite: Suite, listed: Suite) -> list[RenderableType]:
    """Say that runs are not listed, and where they are."""
    if len(suite.runs) == len(listed.runs):
        return []
    said = (
        f"The tables list the {MOST_RUNS} latest of {plural(len(suite.runs), 'run')}, and the "
        "best; --json has all."
    )
    return [Text(said, style=_QUIET)]


def _tasks(suite: Suite) -> str:
    counts = sorted({run.tasks for run in suite.runs})
    related = in_families(suite.families)
    if len(suite.groups) == 1:
        return plural(counts[0], "task") + related
    if len(counts) == 1:
        return f"{plural(counts[0], 'task')} each{related}, not the same ones"
    return f"{counts[0]:,} to {plural(counts[-1], 'task')}{related}"


def _table(*widths: int) -> Table:
    table = Table(box=None, padding=0, pad_edge=False, show_header=False)
    for width in widths:
        table.add_column(width=width, no_wrap=True, overflow="crop")
    return table


def _right(text: str, style: str = "") -> Text:
    return Text(text, style=style, justify="right")


def _name_width(suite: Suite, room: int) -> int:
    longest = max(len(plain(text)) for run in suite.runs for text in (run.run_id, _about(run)))
    return max(_LEAST_NAME, min(longest, room))


def _metrics(answer: Answer, suite: Suite, ks: list[int], width: int, *, bars: bool) -> Table:
    """Two lines a run: pass@k, which rises with k, and pass^k, which falls."""
    deployment_k = answer.deployment_k
    best = _best(answer, suite)
    drawn = len(ks) + 2 if bars else 0
    cell = max(_CELL, len(f"k={ks[-1]}") + 1) if ks else _CELL
    fixed = 8 + cell * len(ks) + drawn
    if fixed + _LEAST_NAME > width:
        drawn, fixed = 0, fixed - drawn
    names = _name_width(suite, width - fixed)
    table = _table(names, 8, *[cell] * len(ks), drawn)
    # The line that marks the deployment k does not include the space.
    marks = {k: "bold underline" if k == deployment_k else "bold" for k in ks}
    heads = [Text.assemble((f"k={k}", mark), justify="right") for k, mark in marks.items()]
    table.add_row("", "", *heads, "")
    for run in suite.runs:
        for line, metric in enumerate(("pass_at_k", "pass_hat_k")):
            colour = _COLOURS[metric]
            values = getattr(run, metric)
            shares = [values.get(k) for k in ks]
            name = _about(run) if line else run.run_id
            table.add_row(
                Text(shortened(name, names), style=_QUIET if line else "bold"),
                Text(f"  {symbol(metric)}", style=colour),
                *(
                    _right(
                        percent(share),
                        f"bold {colour}"
                        if (metric, k, run.run_id) in best
                        else _style(share, strong=k == deployment_k),
                    )
                    for k, share in zip(ks, shares, strict=True)
                ),
                Text(f"  {sparkline(shares)}" if drawn else "", style=colour),
            )
        table.add_row()
    return table


def _best(answer: Answer, suite: Suite) -> set[tuple[str, int, str]]:
    """Name the values that the verdicts speak of: metric, k and run."""
    return {
        (pick.metric, pick.k, run.run_id)
        for verdict in answer.verdicts[suite.name]
        if len(verdict.runs) > 1
        for pick in (verdict.reviewed, verdict.unattended)
        for run in pick.runs
    }


def _about(run: Run) -> str:
    """Say of a run what its name does not."""
    label = run.agent_label or ""
    if run.label == label:
        return run.model or ""
    return label or run.model or ""


def _style(share: float | None, *, strong: bool) -> str:
    if share is None:
        return _QUIET
    return "bold" if strong else ""


def _gaps(suite: Suite, ks: list[int]) -> list[RenderableType]:
    """Say why a number is missing: in the table, and of the k that the table leaves out."""
    reasons: dict[str, list[str]] = {}
    for run in suite.runs:
        # A run that is short of attempts at one k is so at every larger one.
        first = next((k for k in ks if run.pass_at_k.get(k) is None), None)
        if first is not None:
            reason = run.null_reasons.get(first, f"k = {first} is not in its grid")
            reasons.setdefault(reason, []).append(plain(run.run_id))
    lines = [f"{DASH} {reason}: {and_list(names)}." for reason, names in reasons.items()]
    beyond = [k for k in suite.ks if k > max(ks, default=0)]
    if beyond:
        lines.append(f"From k = {beyond[0]} on, too few tasks have k attempts, in every run.")
    return [*(Text(line, style=_QUIET) for line in lines), *([Text()] if lines else [])]


def _counts(suite: Suite, k: int, width: int) -> Table:
    """Count what was measured, and how the tasks behave."""
    head = f"at k = {k}"
    readings = max(len(head), *(len(run.reading or DASH) for run in suite.runs)) + 2
    columns = _COUNTS
    if sum(columns.values()) + readings + _LEAST_NAME > width:
        columns = {name: columns[name] for name in ("consistent", "flaky", "incapable")}
    if sum(columns.values()) + readings + _LEAST_NAME > width:
        readings = 0
    names = _name_width(suite, width - sum(columns.values()) - readings)
    table = _table(names, *columns.values(), readings)
    heads = [_right(name, _QUIET) for name in columns]
    table.add_row("", *heads, Text(f"  {head}" if readings else "", style=_QUIET))
    for run in suite.runs:
        counts = {"attempts": run.attempts, "excluded": run.excluded, **run.classes}
        table.add_row(
            Text(shortened(run.run_id, names), style="bold"),
            *(_right(f"{counts.get(name, 0):,}") for name in columns),
            f"  {run.reading or DASH}" if readings else "",
        )
    return table


def _warnings(suite: Suite) -> list[RenderableType]:
    said: dict[str, list[str]] = {}
    for run in suite.runs:
        if run.warnings:
            said.setdefault(run.warnings, []).append(plain(run.run_id))
    return [
        Text(f"{_of_runs(names, suite)}: {plain(warning)}", style=_QUIET)
        for warning, names in said.items()
    ]


def _of_runs(names: list[str], suite: Suite) -> str:
    return "All runs" if len(names) == len(suite.runs) > 1 else and_list(names, most=3)


def _group_line(verdict: Verdict) -> Text:
    names = and_list([plain(run.run_id) for run in verdict.runs])
    same = "has its own" if len(verdict.runs) == 1 else "have the same"
    return Text(f"{names} {same} {plural(verdict.tasks, 'task')}:", style=_QUIET)


def _headline(paragraph: Paragraph) -> Text:
    text = Text(paragraph.headline, style="bold")
    for name in paragraph.names:
        start = paragraph.headline.find(name)
        if start >= 0:
            text.stylize(_COLOURS[paragraph.kind], start, start + len(name))
    return text
