"""The section of a card on what was measured of a run, and what was not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.common.markdown import name, share, table, text
from passk_py.common.words import and_list, from_to, plural, symbol
from passk_py.reports.model_card.wording import named, time_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Row = dict[str, Any]

_MOST_VALUES: Final = 5


def measured_section(card: Row) -> list[str]:
    """Say who made which attempts, when, and at what cost."""
    run, recorded = card["run"], card["recorded"]
    attempts = run["attempts"]
    seed = recorded["seed"]
    seeds = "not recorded"
    if seed["attempts_with"]:
        made = plural(seed["attempts_with"], "attempt")
        seeds = f"{seed['distinct_values']:,} different in {made}"
        if seed["attempts_without"]:
            seeds += f"; not recorded of {seed['attempts_without']:,}"
    rows = [
        ("run", name(run["run_id"], whole=True)),
        ("agent", named(run["agent"])),
        ("agent version", named(run["agent_version"])),
        ("model", named(run["model"])),
        ("suite", name(run["suite"], whole=True)),
        ("suite version", _tag(recorded["suite_version"], attempts)),
        ("tasks", f"{run['tasks']:,}"),
        ("attempts", f"{attempts:,}: {run['n']:,} counted, {run['excluded']:,} excluded"),
        ("counted attempts per task (n)", from_to(run["min_n"], run["max_n"])),
        ("temperature", _tag(recorded["temperature"], attempts)),
        ("seeds", seeds),
        ("started", _period(run["started_at"], run["last_started_at"])),
        ("duration", _total(run["duration_s"], lambda seconds: f"{seconds / 3600:,.1f} hours")),
        ("cost", _total(run["cost_usd"], lambda dollars: f"{dollars:,.2f} US dollars")),
        ("tokens read, written", _tokens(run)),
    ]
    lines = ["## What was measured", "", *table(("what", "as the log has it"), rows)]
    if run["warnings"]:
        lines += ["", f"Before you trust the numbers: {text(run['warnings'])}"]
    if _is_zero(recorded["temperature"]["values"]):
        lines += [
            "",
            (
                "At temperature 0 the attempts of a task may be one attempt: see temperature_zero"
                " and duplicate_seeds below."
            ),
        ]
    return lines


def _is_zero(values: Sequence[Row]) -> bool:
    for row in values:
        try:
            if float(row["value"]) == 0:
                return True
        except ValueError:
            continue
    return False


def _tag(found: Row, attempts: int) -> str:
    """Write the values of a tag, and of how many attempts each."""
    values = found["values"]
    if not values:
        return "not recorded"
    if len(values) == 1 and found["attempts_with"] == attempts:
        return f"{name(values[0]['value'])} (tag {name(values[0]['tag'])})"
    said = [
        f"{name(row['value'])} (tag {name(row['tag'])}) of {plural(row['attempts'], 'attempt')}"
        for row in values
    ]
    listed = and_list(said, most=_MOST_VALUES)
    if found["attempts_without"]:
        listed += f"; not recorded of {found['attempts_without']:,}"
    return listed


def _period(first: str | None, last: str | None) -> str:
    if first is None or last is None:
        return "not recorded"
    return time_of(first) if first == last else f"{time_of(first)} to {time_of(last)}"


def _total(value: float | None, write: Callable[[float], str]) -> str:
    return "not recorded" if value is None else write(value)


def _tokens(run: Row) -> str:
    known = [run["input_tokens"], run["output_tokens"]]
    if known == [None, None]:
        return "not recorded"
    return ", ".join("not recorded" if one is None else f"{one:,}" for one in known)


def left_out_section(card: Row) -> list[str]:
    """Say what is in no number, and how much it could change."""
    missing, exclusions, rejections = card["missing"], card["exclusions"], card["rejections"]
    lines = ["## What is left out", ""]
    if exclusions["excluded"]:
        reasons = ", ".join(
            f"{row['attempts']:,} {_reason(row['outcome_reason'])}" for row in exclusions["reasons"]
        )
        lines.append(
            f"- Excluded, because they say nothing of the agent: "
            f"{plural(exclusions['excluded'], 'attempt')} ({reasons})."
        )
    else:
        lines.append("- Excluded attempts: none.")
    if missing["null_reason"]:
        lines.append(f"- Missing attempts: not known, {text(missing['null_reason'])}.")
    elif missing["missing_attempts"]:
        lines.append(
            f"- Missing: {missing['missing_attempts']:,} of "
            f"{plural(missing['expected_attempts'], 'attempt')} that were to be made, of "
            f"{plural(missing['tasks_with_missing'], 'task')}. Tasks without any attempt, "
            f"which are in no number: {missing['tasks_without_attempt']:,}."
        )
    else:
        made = f"{missing['expected_attempts']:,}"
        lines.append(f"- Missing attempts: none of {made} that were to be made.")
    reasons = ", ".join(
        f"{row['rows_rejected']:,} {_reason(row['reason_code'])}" for row in rejections
    )
    lines.append(f"- Rejected rows of the log: {reasons or 'none'}.")
    if exclusions["bounds"]:
        lines += ["", *_bounds(exclusions["bounds"])]
    return lines


def _reason(code: str | None) -> str:
    return "without a reason" if code is None else name(code)


def _bounds(bounds: Sequence[Row]) -> list[str]:
    rows = [
        (
            symbol(row["metric"], row["k"]),
            share(row["estimate"]),
            share(row["if_all_failed"]),
            share(row["if_all_passed"]),
            str(row["eligible_tasks"]),
            text(row["null_reason"] or ""),
        )
        for row in bounds
    ]
    heads = (
        "metric", "without them", "had all failed", "had all passed", "eligible", "why not known",
    )  # fmt: skip
    lines = table(heads, rows, numbers=(1, 2, 3, 4))
    return ["What the excluded attempts could change at most:", "", *lines]
