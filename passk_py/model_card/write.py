"""A model card as Markdown, which reads as plain text too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from passk_py.answer.words import and_list, chance, decimals, limit, plural, symbol
from passk_py.diagnostic_words import UNKNOWN
from passk_py.gates.reports import settling
from passk_py.markdown import between, name, share, signed, table, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["as_markdown"]

Row = dict[str, Any]

_MOST_SOURCES: Final = 10
_MOST_VALUES: Final = 5
_MOST_SLICES: Final = 40

_MEANS: Final = {
    "pass_at_k": "at least one of {k} tries succeeds",
    "pass_hat_k": "all {k} tries succeed",
}
_SHAPES: Final = {
    "steep": "every task is about as flaky, and pass^k falls as fast as it can",
    "mixed": "some tasks are solved always or never, others now and then",
    "flat": "tasks are solved always or never, and pass^k stays near pass@1",
    "undetermined": "the interval of the heterogeneity at k = 2 allows several",
}
_INTERVALS: Final = (
    "Means over tasks. Intervals hold the true value in {level} of 100 repetitions. Those for "
    "tasks like these allow for which tasks were drawn: decide by them. Those for these tasks "
    "only say what more attempts at the same tasks would show, and need 2k attempts of each."
)
_WHY_COMPARED: Final = {
    "declared": "The pair is declared in passk_pairs.",
    "baseline": "The baseline is that of passk_baseline.",
    "previous": "The baseline is the run before this one, of the same suite and agent.",
    "gate": "The baseline is that of a gate.",
}
_VERDICTS: Final = {
    "warning": "warning",
    "ok": "ok",
    "insufficient": "not known: too few tasks",
    "not_applicable": "not known from this log",
}


def as_markdown(card: Row) -> str:
    """Write a card for people.

    Parameters
    ----------
    card
        What :func:`passk_py.model_card.facts.gather` gives.

    Returns
    -------
    str
        Sections in Markdown. Wherever there is a pass^k, pass@1 stands in the same table or line.
    """
    run = card["run"]
    lines = [f"# Model card: {name(run['run_id'])} on {name(run['suite'])}", ""]
    parts = (
        _headline,
        _measured,
        _left_out,
        _curve,
        _slices,
        _tasks,
        _comparisons,
        _gates,
        _diagnostics,
        _contamination,
        _not_known,
        _provenance,
    )
    for part in parts:
        written = part(card)
        if written:
            lines += [*written, ""]
    return "\n".join(lines).rstrip("\n") + "\n"


# ---------------------------------------------------------------------------------------------
# reliability


def _headline(card: Row) -> list[str]:
    """Show pass@1, pass@k and pass^k at the deployment k, with why this k."""
    row, first = card["at_deployment_k"], card["pass_at_1"]
    k = row["k"]
    shown = [("pass@1", first, "pass_at_k", "one try succeeds")]
    if k > 1:
        shown += [
            (symbol(metric, k), row, metric, means.format(k=k)) for metric, means in _MEANS.items()
        ]
    rows = [
        (
            called,
            means,
            share(values[metric]),
            _limits(values, metric),
            _limits(values, f"{metric}_suite"),
            f"{values['eligible_tasks']} of {values['total_tasks']}",
        )
        for called, values, metric, means in shown
    ]
    heads = (
        "metric",
        "means",
        "estimate",
        "for tasks like these",
        "for these tasks only",
        "eligible",
    )
    lines = table(heads, rows, numbers=(2,))
    lines += ["", *_why_null_lines(shown)]
    if row["reading"] is not None:
        lines += [_reading(card), ""]
    if row["pass_hat_k"] is not None and row["eligible_tasks"] < first["eligible_tasks"]:
        # With passk_on_short: eligible_only.
        lines += [
            (
                f"Not over the same tasks: {symbol('pass_hat_k', k)} is a mean over "
                f"{row['eligible_tasks']} of them and pass@1 over {first['eligible_tasks']}, and "
                "hard tasks may be among those that are left out."
            ),
            "",
        ]
    return [
        *lines,
        f"- {_INTERVALS.format(level=limit(card['confidence']))}",
        f"- {_why_this_k(card)}",
        *_spread(card),
        *_at_a_glance(card),
    ]


def _reading(card: Row) -> str:
    row, capable, consistent = (
        card[key] for key in ("at_deployment_k", "capable_threshold", "consistent_threshold")
    )
    k = row["k"]
    at, hat = symbol("pass_at_k", k), symbol("pass_hat_k", k)
    bounds = f"capable from {at} = {capable:g}, consistent from "
    if k == 1:
        return f"In words: **{row['reading']}** ({bounds}{consistent:g})."
    seen = share(row["pass_at_1"])
    return f"In words: **{row['reading']}** ({bounds}{hat} = {consistent:g}; pass@1 is {seen})."


def _at_a_glance(card: Row) -> list[str]:
    """Say first what the sections below say of other runs, rules and the log."""
    lines = []
    for pair in card["comparisons"]:
        verdicts = ", ".join(
            f"{symbol(row['metric'], row['k'])} {_verdict(row)}" for row in pair["metrics"]
        )
        lines.append(f"- Against {name(pair['baseline_run_id'])}: {verdicts}.")
    if card["gates"]:
        from passk_py.gates.reports import count

        lines.append(f"- Gates: {count(card['gates'])}")
    lines.append(f"- The log: {_trust(card['diagnostics'])}")
    return lines


def _trust(diagnostics: Sequence[Row]) -> str:
    """Say which diagnostics warn, and how many have nothing to go by."""
    if not diagnostics:
        return "not known whether it can be trusted, because there are no diagnostics."
    warned = [row["diagnostic"] for row in diagnostics if row["verdict"] == "warning"]
    unknown = sum(row["verdict"] in UNKNOWN for row in diagnostics)
    said = "no warning"
    if warned:
        said = f"{plural(len(warned), 'warning')}, {and_list(warned, most=len(warned))}"
    if unknown:
        said += f"; {unknown} of {len(diagnostics)} diagnostics can't be known from it"
    return f"{said}."


def _verdict(row: Row) -> str:
    return str(row["verdict"]) + (" (hidden by pass@1)" if row["hidden_regression"] else "")


def _why_null_lines(shown: Sequence[tuple[str, Row, str, str]]) -> list[str]:
    said: dict[str, list[str]] = {}
    for called, values, metric, _ in shown:
        reasons = values["null_reasons"]
        if values[metric] is None:
            said.setdefault(f"no value: {reasons[metric]}", []).append(called)
        elif values[f"{metric}_suite_lower"] is None:
            why = reasons[f"{metric}_suite_lower"]
            said.setdefault(f"no interval for these tasks only: {why}", []).append(called)
    # One line for all, so that pass^k is never without pass@1 beside it.
    if not said:
        return []
    reasons = "; ".join(f"{and_list(called)}: {text(why)}" for why, called in said.items())
    first = next(values for called, values, *_ in shown if called == "pass@1")
    seen = "" if "pass@1" in reasons else f" (pass@1 is {share(first['pass_at_k'])})"
    return [f"Not known: {reasons}{seen}.", ""]


def _why_this_k(card: Row) -> str:
    told = card["deployment_k"]
    k = told["k"]
    asked = (
        f"k = {k} is the var passk_deployment_k: how many times in a row the agent must succeed "
        "before someone looks."
    )
    if told["reason"]:
        return f"{asked} Why {k}: {text(' '.join(told['reason'].split()))}"
    if told["is_default"]:
        return (
            f"{asked} It is passk's default, and no reason for it was given: it should come from "
            "the deployment, not from what was measured."
        )
    return f"{asked} No reason for it was given with the card."


def _spread(card: Row) -> list[str]:
    """Say what unequal tasks add, and how pass^k falls."""
    row = card["at_deployment_k"]
    k = row["k"]
    lines = []
    if k > 1:
        reasons = row["null_reasons"]
        for column, called, means in (
            ("delta_k", f"delta_k at k = {k}", "what unequal tasks add to pass^k"),
            ("heterogeneity", f"Heterogeneity at k = {k}", "delta_k over the largest it could be"),
        ):
            if row[column] is None:
                said = f"not known, {text(reasons[column])}"
            elif row[f"{column}_lower"] is None:
                said = f"{decimals(row[column])}, its interval not known: "
                said += text(reasons[f"{column}_lower"])
            else:
                low, high = (decimals(row[f"{column}_{side}"]) for side in ("lower", "upper"))
                said = f"{decimals(row[column])} ({low} to {high})"
            lines.append(f"- {called}, {means}: {said}.")
    shape = row["curve_shape"]
    if shape is None:
        lines.append(
            f"- Shape of the curve: not known, {text(row['null_reasons']['curve_shape'])}."
        )
    else:
        lines.append(f"- Shape of the curve: {shape}: {_SHAPES[shape]}.")
    return lines


def _curve(card: Row) -> list[str]:
    rows = [
        (
            str(row["k"]),
            share(row["pass_at_1"]),
            share(row["pass_at_k"]),
            _limits(row, "pass_at_k"),
            share(row["pass_hat_k"]),
            _limits(row, "pass_hat_k"),
            _limits(row, "pass_hat_k_suite"),
            f"{row['eligible_tasks']} of {row['total_tasks']}",
            _why_not(row),
        )
        for row in card["curve"]
    ]
    heads = (
        "k", "pass@1", "pass@k", "pass@k, tasks like these", "pass^k", "pass^k, tasks like these",
        "pass^k, these tasks only", "eligible", "why not known",
    )  # fmt: skip
    return [
        "## Over k",
        "",
        *table(heads, rows, numbers=(0, 1, 2, 4)),
        "",
        (
            "Each k has its own interval; together they hold less often. A task is eligible with k"
            " counted attempts."
        ),
    ]


def _why_not(row: Row) -> str:
    if row["null_reason"] is not None:
        return text(row["null_reason"])
    why = row["null_reasons"].get("pass_hat_k_suite_lower")
    return "" if why is None else f"these tasks only: {text(why)}"


def _slices(card: Row) -> list[str]:
    slices = card["slices"]
    if not slices:
        return []
    k = card["deployment_k"]["k"]
    rows = [
        (
            name(row["slice_name"]),
            name(row["slice_value"]),
            *_three(row, k),
            f"{row['eligible_tasks']} of {row['total_tasks']}",
            text(row["null_reason"] or ""),
        )
        for row in slices[:_MOST_SLICES]
    ]
    lines = [
        "## Slices",
        "",
        *table(
            ("slice", "value", *_three_heads(k), "eligible", "why not known"),
            rows,
            numbers=_three_numbers(2, k),
        ),
    ]
    if len(slices) > _MOST_SLICES:
        lines += ["", f"{len(slices) - _MOST_SLICES} more are in the JSON of the card."]
    return lines


def _three_heads(k: int) -> tuple[str, ...]:
    if k == 1:
        return ("pass@1", "for tasks like these")
    hat = symbol("pass_hat_k", k)
    return ("pass@1", symbol("pass_at_k", k), hat, f"{hat}, tasks like these")


def _three(row: Row, k: int) -> tuple[str, ...]:
    if k == 1:
        return (share(row["pass_at_1"]), _limits(row, "pass_at_k"))
    return (
        share(row["pass_at_1"]),
        share(row["pass_at_k"]),
        share(row["pass_hat_k"]),
        _limits(row, "pass_hat_k"),
    )


def _three_numbers(first: int, k: int) -> tuple[int, ...]:
    return (first,) if k == 1 else (first, first + 1, first + 2)


def _limits(row: Row, metric: str) -> str:
    return between(share(row[f"{metric}_lower"]), share(row[f"{metric}_upper"]))


# ---------------------------------------------------------------------------------------------
# what was measured, and what was not


def _measured(card: Row) -> list[str]:
    run, recorded = card["run"], card["recorded"]
    attempts = run["attempts"]
    seed = recorded["seed"]
    seeds = "not recorded"
    if seed["attempts_with"]:
        seeds = (
            f"{seed['distinct_values']:,} different in {plural(seed['attempts_with'], 'attempt')}"
        )
        if seed["attempts_without"]:
            seeds += f"; not recorded of {seed['attempts_without']:,}"
    n = str(run["min_n"]) if run["min_n"] == run["max_n"] else f"{run['min_n']} to {run['max_n']}"
    rows = [
        ("run", name(run["run_id"], whole=True)),
        ("agent", _named(run["agent"])),
        ("agent version", _named(run["agent_version"])),
        ("model", _named(run["model"])),
        ("suite", name(run["suite"], whole=True)),
        ("suite version", _tag(recorded["suite_version"], attempts)),
        ("tasks", f"{run['tasks']:,}"),
        ("attempts", f"{attempts:,}: {run['n']:,} counted, {run['excluded']:,} excluded"),
        ("counted attempts per task (n)", n),
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


def _named(value: str | None) -> str:
    return "not recorded" if value is None else name(value, whole=True)


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
    return _time(first) if first == last else f"{_time(first)} to {_time(last)}"


def _time(moment: str) -> str:
    """Write a time to the second.

    Examples
    --------
    >>> _time("2026-03-09T07:16:15.900000Z")
    '2026-03-09 07:16:15 UTC'
    """
    return f"{moment[:10]} {moment[11:19]} UTC"


def _total(value: float | None, write: Callable[[float], str]) -> str:
    return "not recorded" if value is None else write(value)


def _tokens(run: Row) -> str:
    known = [run["input_tokens"], run["output_tokens"]]
    if known == [None, None]:
        return "not recorded"
    return ", ".join("not recorded" if one is None else f"{one:,}" for one in known)


def _left_out(card: Row) -> list[str]:
    """Say what is in no number, and how much it could change."""
    missing, exclusions = card["missing"], card["exclusions"]
    lines = ["## What is left out", ""]
    if exclusions["excluded"]:
        reasons = ", ".join(
            f"{row['attempts']:,} {_reason(row['outcome_reason'])}" for row in exclusions["reasons"]
        )
        lines += [
            (
                f"- Excluded, because they say nothing of the agent: "
                f"{plural(exclusions['excluded'], 'attempt')} ({reasons})."
            )
        ]
    else:
        lines += ["- Excluded attempts: none."]
    if missing["null_reason"]:
        lines += [f"- Missing attempts: not known, {text(missing['null_reason'])}."]
    elif missing["missing_attempts"]:
        lines += [
            (
                f"- Missing: {missing['missing_attempts']:,} of "
                f"{plural(missing['expected_attempts'], 'attempt')} that were to be made, of "
                f"{plural(missing['tasks_with_missing'], 'task')}. Tasks without any attempt, "
                f"which are in no number: {missing['tasks_without_attempt']:,}."
            )
        ]
    else:
        lines += [
            f"- Missing attempts: none of {missing['expected_attempts']:,} that were to be made."
        ]
    if card["rejections"]:
        reasons = ", ".join(
            f"{row['rows_rejected']:,} {_reason(row['reason_code'])}" for row in card["rejections"]
        )
        lines += [f"- Rejected rows of the log: {reasons}."]
    else:
        lines += ["- Rejected rows of the log: none."]
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
    return [
        "What the excluded attempts could change at most:",
        "",
        *table(
            (
                "metric",
                "without them",
                "had all failed",
                "had all passed",
                "eligible",
                "why not known",
            ),
            rows,
            numbers=(1, 2, 3, 4),
        ),
    ]


# ---------------------------------------------------------------------------------------------
# tasks, other runs, rules


def _tasks(card: Row) -> list[str]:
    tasks, k = card["tasks"], card["deployment_k"]["k"]
    classes = and_list(
        [
            f"{tasks['classes'][kind]:,} {kind}"
            for kind in ("consistent", "flaky", "incapable", "unknown")
            if tasks["classes"][kind] or kind != "unknown"
        ]
    )
    lines = ["## Tasks that cost most reliability", "", f"Tasks as observed: {classes}."]
    if tasks["null_reason"]:
        return [*lines, f"What each costs is not known: {text(tasks['null_reason'])}."]
    hat = symbol("pass_hat_k", k)
    at = (symbol("pass_at_k", k), hat) if k > 1 else ()
    rows = [
        (
            name(row["task_id"]),
            f"{row['c']} of {row['n']}",
            share(row["pass_at_1"]),
            *((share(row["pass_at_k"]), share(row["pass_hat_k"])) if k > 1 else ()),
            row["task_class"],
            share(row["lost_reliability_share"]),
        )
        for row in tasks["most_lost_reliability"]
    ]
    heads = ("task", "passed", "pass@1", *at, "class", "share of what is lost")
    last = len(heads) - 1
    return [
        *lines,
        "",
        *table(heads, rows, numbers=(*range(1, 3 + len(at)), last)),
        "",
        f"{len(rows)} of {plural(tasks['tasks_that_lose'], 'task')} that lose any.",
    ]


def _comparisons(card: Row) -> list[str]:
    if not card["comparisons"]:
        return [
            "## Against a baseline",
            "",
            "There is none: no pair of passk_comparisons has this run as its candidate.",
        ]
    lines: list[str] = []
    for pair in card["comparisons"]:
        rows = [
            (
                symbol(row["metric"], row["k"]),
                share(row["baseline"]),
                share(row["candidate"]),
                signed(row["difference"]),
                _differences(row, "difference_suite"),
                _differences(row, "difference"),
                chance(row["p"], "no test"),
                _verdict(row),
            )
            for row in pair["metrics"]
        ]
        heads = (
            "metric", "baseline", "this run", "difference", "for these tasks only",
            "for tasks like these", "p", "verdict",
        )  # fmt: skip
        said = " ".join(text(row["meaning"]) for row in pair["metrics"])
        lines += [
            *([""] if lines else []),
            f"## Against {name(pair['baseline_run_id'])}",
            "",
            *table(heads, rows, numbers=(1, 2, 3, 6)),
            "",
            said,
            "",
            f"- {_which_tasks(pair)} {_WHY_COMPARED[pair['pair_source']]}",
            f"- {_moved_tasks(pair)}",
        ]
    return lines


def _which_tasks(pair: Row) -> str:
    first = pair["metrics"][0]
    return (
        f"The verdict is about these tasks: {first['common_tasks']:,} that both runs have "
        f"({first['baseline_only_tasks']:,} more only in the baseline, "
        f"{first['candidate_only_tasks']:,} only in this run). Differences are this run less the "
        "baseline."
    )


def _moved_tasks(pair: Row) -> str:
    return (
        f"Single tasks beyond chance: {pair['fell_tasks']:,} fell and {pair['rose_tasks']:,} rose, "
        f"of {pair['tested_tasks']:,} tested."
    )


def _differences(row: Row, column: str) -> str:
    return between(signed(row[f"{column}_lower"]), signed(row[f"{column}_upper"]))


def _gates(card: Row) -> list[str]:
    if not card["gates"]:
        return ["## Gates", "", "No gate judges this run: the var passk_gates has no rule for it."]
    rows = []
    for gate in card["gates"]:
        why = " ".join(filter(None, (gate["reason"], settling(gate))))
        part = ""
        if gate["slice_name"] != "all":
            part = f"{name(gate['slice_name'])} = {name(gate['slice_value'])}"
        rows.append(
            (
                name(gate["gate"]),
                gate["result"] + (" (advisory)" if gate["is_advisory"] else ""),
                text(gate["rule"]),
                part or "all",
                share(gate["pass_at_1"]),
                text(why),
            )
        )
    heads = ("gate", "result", "rule", "slice", "pass@1", "why")
    return ["## Gates", "", *table(heads, rows, numbers=(4,))]


# ---------------------------------------------------------------------------------------------
# trust


def _diagnostics(card: Row) -> list[str]:
    lines = ["## Can the log be trusted?", ""]
    if not card["diagnostics"]:
        return [*lines, "Not known: the tables were built without diagnostics."]
    warnings = [row for row in card["diagnostics"] if row["verdict"] == "warning"]
    rows = [
        (
            row["diagnostic"],
            _VERDICTS[row["verdict"]],
            chance(row["p"], "no test"),
            text(row["finding"]),
        )
        for row in card["diagnostics"]
    ]
    said = _trust(card["diagnostics"])
    lines += [said[:1].upper() + said[1:], ""]
    for row in warnings:
        lines += [
            f"- **{row['diagnostic']}**: {text(row['meaning'])} To do: {text(row['advice'])}",
        ]
    lines += [""] if warnings else []
    return [*lines, *table(("question", "verdict", "p", "finding"), rows, numbers=(2,))]


def _contamination(card: Row) -> list[str]:
    if not card["contamination"]:
        return []
    k = card["deployment_k"]["k"]
    rows = [
        (
            name(row["private_suite"]),
            _named(row["private_run_id"]),
            share(row["public_pass_at_1"]),
            share(row["private_pass_at_1"]),
            share(row["public_pass_hat_k"]),
            share(row["private_pass_hat_k"]),
            text(row["verdict"].replace("_", " ")),
            text(row["meaning"]),
        )
        for row in card["contamination"]
    ]
    hat = symbol("pass_hat_k", k)
    heads = (
        "private suite", "run", "pass@1 here", "pass@1 there", f"{hat} here", f"{hat} there",
        "verdict", "means",
    )  # fmt: skip
    return ["## Beside a private suite", "", *table(heads, rows, numbers=(2, 3, 4, 5))]


def _not_known(card: Row) -> list[str]:
    rows = [f"- {text(row['what'])}: {text(row['reason'])}." for row in card["not_known"]]
    return ["## What the log can't tell", "", *rows]


def _provenance(card: Row) -> list[str]:
    told = card["provenance"]
    sources = told["sources"]
    lines = ["## Where the numbers come from", ""]
    lines += [
        (
            f"passk {told['passk_version']}. The newest attempt of the run was loaded at"
            f" {_loaded(card['run']['loaded_at'])}."
        )
    ]
    if told["newer_than_built"]:
        lines += [f"The tables are older than the log: {text(told['newer_than_built'])}"]
    rows = [
        (
            _named(row["source_file"]),
            _named(row["source_format"]),
            f"{row['attempts']:,}",
            _loaded(row["last_loaded_at"]),
        )
        for row in sources[:_MOST_SOURCES]
    ]
    lines += ["", *table(("file", "format", "attempts", "loaded at"), rows, numbers=(2,))]
    if len(sources) > _MOST_SOURCES:
        lines += ["", f"{len(sources) - _MOST_SOURCES:,} more are in the JSON of the card."]
    lines += [
        "",
        "Built with these vars:"
        if told["vars_are_recorded"]
        else "The database does not say with which vars it was built. These are the defaults, with"
        " the k that the tables have:",
        "",
        *(
            f"- {var}: {name(json.dumps(value, ensure_ascii=False), whole=True)}"
            for var, value in told["vars"].items()
            if value not in (None, [], {})
        ),
        "",
        "Vars that are not named are not set.",
    ]
    return lines


def _loaded(moment: str | None) -> str:
    return "a time that is not recorded" if moment is None else _time(moment)
