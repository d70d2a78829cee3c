"""A report in a few lines of Markdown: the leaderboard, the answer and the gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from passk_py.common.markdown import name, table, text
from passk_py.common.words import money, symbol
from passk_py.reports.decision_words import result_of, why_of
from passk_py.reports.report.agent_sentences import interval
from passk_py.reports.report.leaderboard import any_cost, leaderboard, measured

if TYPE_CHECKING:
    from passk_py.reports.posts.changes import Change

Row = dict[str, Any]


def short_markdown(facts: Row, changes: list[Change]) -> str:
    """Write the report short enough for a comment: aggregates and names, and no attempt."""
    lines = ["## Capability and reliability"]
    if facts["stale"]:
        lines += ["", f"The tables are not those of the log: {text(facts['stale'])}"]
    for suite in facts["suites"]:
        lines += ["", f"### {name(suite['suite'])}", "", text(measured(suite)), ""]
        lines += _leaderboard(suite, facts["deployment_k"])
        for said in suite["advice"]:
            lines += ["", f"**{text(said['headline'])}** {text(' '.join(said['sentences']))}"]
        found = [change for change in changes if change.suite == suite["suite"]]
        if found:
            lines += ["", "Changed:", "", *(f"- {text(change.said)}" for change in found)]
        lines += _gates(suite)
    return "\n".join(lines) + "\n"


def _leaderboard(suite: Row, k: int) -> list[str]:
    costs = any_cost(suite["runs"])
    rows = [
        (
            name(row["run"]["label"]),
            _value(row["first"], "pass_at_k"),
            *([] if k == 1 else [_value(row["at_k"], "pass_at_k")]),
            _value(row["at_k"], "pass_hat_k"),
            text(row["reading"] or "not known"),
            *([money(row["run"]["cost_per_success_usd"])] if costs else []),
        )
        for row in leaderboard(suite["runs"], k)
        if row["run"]["is_latest"]
    ]
    heads = (
        "agent",
        "pass@1",
        *([] if k == 1 else [symbol("pass_at_k", k)]),
        symbol("pass_hat_k", k),
        "reading",
        *(["cost of a success, $"] if costs else []),
    )
    return table(heads, rows)


def _value(row: Row | None, metric: str) -> str:
    return "not known" if row is None or row[metric] is None else interval(row, metric)


def _gates(suite: Row) -> list[str]:
    if not suite["gates"]:
        return []
    rows = [
        (name(row["gate"]), result_of(row), name(row["run_id"]), text(why_of(row)))
        for row in suite["gates"]
    ]
    return ["", *table(("gate", "result", "run", "why"), rows)]
