"""A report in a few lines of Markdown: the leaderboard, the answer and the gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.common.markdown import name, table
from passk_py.common.markdown import text as escaped
from passk_py.common.words import money, shortened, symbol
from passk_py.reports.decision_words import result_of, why_of
from passk_py.reports.posts.unlinked import unlinked
from passk_py.reports.report.agent_sentences import interval
from passk_py.reports.report.leaderboard import any_cost, leaderboard, measured

if TYPE_CHECKING:
    from passk_py.reports.posts.changes import Change

Row = dict[str, Any]

_LONGEST_NAME: Final = 80


def _text(said: str) -> str:
    """Write a sentence letter for letter; names in it call for nobody."""
    return unlinked(escaped(said))


def _name(given: str) -> str:
    """Write a name as code, where it calls for nobody; as text where code can't hold it."""
    code = name(given)
    return code if code.startswith("`") else _text(shortened(given, _LONGEST_NAME))


def short_markdown(facts: Row, changes: list[Change]) -> str:
    """Write the report short enough for a comment: aggregates and names, and no attempt."""
    lines = ["## Capability and reliability"]
    if facts["stale"]:
        lines += ["", f"The tables are not those of the log: {_text(facts['stale'])}"]
    for suite in facts["suites"]:
        lines += ["", f"### {_name(suite['suite'])}", "", _text(measured(suite)), ""]
        lines += _leaderboard(suite, facts["deployment_k"])
        for said in suite["advice"]:
            lines += ["", f"**{_text(said['headline'])}** {_text(' '.join(said['sentences']))}"]
        found = [change for change in changes if change.suite == suite["suite"]]
        if found:
            lines += ["", "Changed:", "", *(f"- {_text(change.said)}" for change in found)]
        lines += _gates(suite)
    return "\n".join(lines) + "\n"


def _leaderboard(suite: Row, k: int) -> list[str]:
    costs = any_cost(suite["runs"])
    rows = [
        (
            _name(row["run"]["label"]),
            _value(row["first"], "pass_at_k"),
            *([] if k == 1 else [_value(row["at_k"], "pass_at_k")]),
            _value(row["at_k"], "pass_hat_k"),
            _text(row["reading"] or "not known"),
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
        (_name(row["gate"]), result_of(row), _name(row["run_id"]), _text(why_of(row)))
        for row in suite["gates"]
    ]
    return ["", *table(("gate", "result", "run", "why"), rows)]
