"""The report as Markdown, which reads as plain text too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.common.markdown import (
    name,
    share,
    share_interval,
    signed,
    signed_interval,
    table,
    text,
)
from passk_py.common.words import (
    TASK_CLASSES,
    and_list,
    from_to,
    in_families,
    in_points,
    limit,
    plural,
    symbol,
)
from passk_py.reports.decision_words import result_of, verdict_of, why_of
from passk_py.reports.length_words import horizon_sentences
from passk_py.reports.loss_words import cause_name
from passk_py.reports.report.agent_sentences import verdict
from passk_py.reports.report.page_words import unwarned
from passk_py.reports.report.write_costs import costs_section

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

_MOST_TASKS: Final = 20


def as_markdown(facts: Row) -> str:
    """Write the facts as Markdown."""
    k = facts["deployment_k"]
    lines = [
        "# Capability and reliability",
        "",
        (
            "pass@k: at least one of k tries succeeds. pass^k: all k tries succeed. Judged at "
            f"k = {k}: capable from {symbol('pass_at_k', k)} = "
            f"{limit(facts['capable_threshold'])}%, consistent from {symbol('pass_hat_k', k)} = "
            f"{limit(facts['consistent_threshold'])}%. Means over tasks, with "
            f"{limit(facts['confidence'])}% intervals for tasks like these. The tables below have "
            "shares of 1, as those in SQL: 0.8 is 80%."
        ),
    ]
    if facts["stale"]:
        lines += ["", f"The tables are not those of the log: {text(facts['stale'])}"]
    for suite in facts["suites"]:
        parts = (
            *(_verdicts, _curves, _lengths, _thresholds, _tasks, _losses, _comparisons, _gates),
            *([costs_section] if suite["costs"] else []),
            *(_coverage, _diagnostics),
        )
        left = suite["runs_left_out"]
        older = f"; {plural(left, 'older run')} not shown" if left else ""
        count = f"{plural(len(suite['runs']), 'run')}, {plural(suite['total_tasks'], 'task')}"
        count += in_families(suite["families"])
        lines += ["", f"## {name(suite['suite'])}", "", f"{count}{older}."]
        for part in parts:
            said = part(suite, facts)
            lines += ["", *said] if said else []
    return "\n".join(lines) + "\n"


def _verdicts(suite: Row, facts: Row) -> list[str]:
    lines = [f"- {text(verdict(run, facts))}" for run in suite["runs"] if run["is_latest"]]
    for said in suite["advice"]:
        lines += ["", f"**{text(said['headline'])}** {text(' '.join(said['sentences']))}"]
    return lines


def _curves(suite: Row, _facts: Row) -> list[str]:
    rows = [
        (
            name(run["run_id"]),
            str(row["k"]),
            share(row["pass_at_k"]),
            share_interval(row, "pass_at_k"),
            share(row["pass_hat_k"]),
            share_interval(row, "pass_hat_k"),
            signed(row["delta_k"]),
            text(row["null_reason"] or ""),
        )
        for run in suite["runs"]
        for row in run["curve"]
    ]
    heads = ("run", "k", "pass@k", "interval", "pass^k", "interval", "delta_k", "why not known")
    return ["### Over k", "", *table(heads, rows, numbers=(1, 2, 4, 6))]


def _lengths(suite: Row, _facts: Row) -> list[str]:
    said = [text(" ".join(horizon_sentences(run["horizons"]))) for run in suite["runs"]]
    if not any(said):
        return []
    return ["### Over the length of tasks", "", *(f"- {one}" for one in said if one)]


def _thresholds(suite: Row, facts: Row) -> list[str]:
    rows = [
        (
            name(run["run_id"]),
            f"{row['threshold']:g}",
            f"{row['passes']:,}",
            f"{row['scored_attempts']:,} of {row['counted_attempts']:,}",
            share(row["pass_at_k"]),
            share_interval(row, "pass_at_k"),
            share(row["pass_hat_k"]),
            share_interval(row, "pass_hat_k"),
            text(row["null_reason"] or row["caveat"] or ""),
        )
        for run in suite["runs"]
        for row in run["thresholds"]
    ]
    if not rows:
        return []
    metrics = (symbol(metric, facts["deployment_k"]) for metric in ("pass_at_k", "pass_hat_k"))
    heads = (
        *("run", "from a score of", "passes", "attempts with a score"),
        *(head for metric in metrics for head in (metric, "interval")),
        "to mind",
    )
    return ["### By the score that passes", "", *table(heads, rows, numbers=(1, 2, 3, 4, 6))]


def _tasks(suite: Row, facts: Row) -> list[str]:
    runs = suite["runs"]
    counts = [
        (name(run["run_id"]), *(f"{run['classes'].get(kind, 0):,}" for kind in TASK_CLASSES))
        for run in runs
    ]
    lines = ["### Tasks", "", *table(("run", *TASK_CLASSES), counts, numbers=(1, 2, 3, 4))]
    if not suite["tasks"]:
        return lines
    rows = [
        (
            name(task["task_id"]),
            share(task["expected_gain"]),
            *(_passed(task["runs"].get(run["run_id"])) for run in runs),
        )
        for task in suite["tasks"][:_MOST_TASKS]
    ]
    hat = symbol("pass_hat_k", facts["deployment_k"])
    heads = ("task", f"expected gain of {hat}", *(name(run["run_id"]) for run in runs))
    return [
        *lines,
        "",
        (
            f"What to mend first, and how many of its counted attempts passed ({len(rows):,} of "
            f"{plural(suite['total_tasks'], 'task')}):"
        ),
        "",
        *table(heads, rows, numbers=(1, *range(2, 2 + len(runs)))),
    ]


def _losses(suite: Row, facts: Row) -> list[str]:
    rows = [
        (
            name(run["run_id"]),
            text(cause_name(row["part"])),
            share(row["lost_share"]),
            share_interval(row, "lost_share"),
            share(row["lost"]),
            share(row["pass_hat_k_if_passed"]),
        )
        for run in suite["runs"]
        for row in run["lost_by_cause"]
        if len(run["lost_by_cause"]) > 1
    ]
    if not rows:
        return []
    hat = symbol("pass_hat_k", facts["deployment_k"])
    heads = (
        "run",
        "cause",
        f"share of lost {hat}",
        "interval",
        "lost",
        f"{hat} if these had passed",
    )
    return ["### Where reliability is lost", "", *table(heads, rows, numbers=(2, 4, 5))]


def _passed(cell: Row | None) -> str:
    return "" if cell is None else f"{cell['c']}/{cell['n']}"


def _comparisons(suite: Row, _facts: Row) -> list[str]:
    lines = ["### Against the baseline", ""]
    if suite["trends"]:
        lines += [text(" ".join(suite["trends"])), ""]
    if not suite["comparisons"]:
        none = "No two of these runs are compared."
        return [*lines, none if len(suite["runs"]) > 1 else "There is one run only."]
    rows = [
        (
            name(row["candidate_run_id"]),
            name(row["baseline_run_id"]),
            symbol(row["metric"], row["k"]),
            share(row["baseline"]),
            share(row["candidate"]),
            signed(row["difference"]),
            signed_interval(row, "difference_suite"),
            verdict_of(row),
            text(in_points(row["meaning"] or row["null_reason"] or "")),
        )
        for row in suite["comparisons"]
    ]
    heads = (
        "run", "baseline", "metric", "baseline has", "run has", "difference",
        "for these tasks only", "verdict", "means",
    )  # fmt: skip
    return [*lines, *table(heads, rows, numbers=(3, 4, 5))]


def _gates(suite: Row, _facts: Row) -> list[str]:
    lines = ["### Gates", ""]
    if not suite["gates"]:
        return [*lines, "No gate judges these runs."]
    rows = [
        (
            name(row["gate"]),
            result_of(row),
            name(row["run_id"]),
            text(row["rule"]),
            text(why_of(row)),
        )
        for row in suite["gates"]
    ]
    return [*lines, *table(("gate", "result", "run", "rule", "why"), rows)]


def _coverage(suite: Row, _facts: Row) -> list[str]:
    rows = [
        (
            name(run["run_id"]),
            f"{run['tasks']:,}",
            f"{run['attempts']:,}",
            from_to(run["min_n"], run["max_n"]),
            f"{run['excluded']:,}",
            "not known" if run["expected_attempts"] is None else f"{run['missing_attempts']:,}",
            f"{run['rejected']:,}",
            text(_reasons(run["excluded_reasons"])),
            text(run["warnings"] or ""),
        )
        for run in suite["runs"]
    ]
    heads = (
        "run", "tasks", "attempts", "n per task", "excluded", "missing", "rejected",
        "why excluded", "to mind",
    )  # fmt: skip
    return ["### What was measured", "", *table(heads, rows, numbers=(1, 2, 3, 4, 5, 6))]


def _reasons(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    return and_list(f"{row['reason'] or 'no reason'} ({row['attempts']:,})" for row in rows)


def _diagnostics(suite: Row, _facts: Row) -> list[str]:
    lines = ["### Can the log be trusted?", ""]
    if suite["grader"]:
        lines += [text(" ".join(suite["grader"])), ""]
    if not suite["diagnostics"]:
        return [*lines, "Not known: the tables were built without diagnostics."]
    warnings = [row for row in suite["diagnostics"] if row["verdict"] == "warning"]
    if not warnings:
        return [*lines, unwarned(suite["diagnostics"])]
    rows = [
        (
            row["diagnostic"],
            name(row["run_id"]),
            text(row["finding"]),
            text(f"{row['meaning']} {row['advice']}"),
        )
        for row in warnings
    ]
    return [*lines, *table(("warning", "run", "finding", "means, and what to do"), rows)]
