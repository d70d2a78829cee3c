"""Whether the log can be trusted, what is not known, and where it comes from."""

from __future__ import annotations

import json
from typing import Any, Final

from passk_py.common.markdown import name, share, table, text
from passk_py.common.words import chance, symbol
from passk_py.reports.grader_words import grader_sentences, judge_sentences
from passk_py.reports.model_card.wording import named, time_of, trust_of

Row = dict[str, Any]

_MOST_SOURCES: Final = 10
_VERDICTS: Final = {
    "warning": "warning",
    "ok": "ok",
    "insufficient": "not known: too few tasks",
    "not_applicable": "not known from this log",
}


def diagnostics_section(card: Row) -> list[str]:
    """List what the diagnostics found."""
    lines = ["## Can the log be trusted?", ""]
    if not card["diagnostics"]:
        return [*lines, "Not known: the tables were built without diagnostics."]
    warnings = [row for row in card["diagnostics"] if row["verdict"] == "warning"]
    rows = [
        (
            row["diagnostic"],
            _VERDICTS[row["verdict"]],
            chance(row["p_adjusted"], "no test"),
            text(row["finding"]),
        )
        for row in card["diagnostics"]
    ]
    said = trust_of(card["diagnostics"])
    lines += [said[:1].upper() + said[1:], ""]
    lines += [
        f"- **{row['diagnostic']}**: {text(row['meaning'])} To do: {text(row['advice'])}"
        for row in warnings
    ]
    lines += [""] if warnings else []
    return [*lines, *table(("question", "verdict", "corrected p", "finding"), rows, numbers=(2,))]


def grader_section(card: Row) -> list[str]:
    """Say how often the grader errs, and how far judges agree, where labels or verdicts are."""
    grader = card["grader"] or {"rates": None, "corrected": []}
    said = [
        *grader_sentences(grader["rates"], grader["corrected"]),
        *judge_sentences(card["judges"]),
    ]
    if not said:
        return []
    return ["## Can the grader be trusted?", "", text(" ".join(said))]


def contamination_section(card: Row) -> list[str]:
    """Compare public suites with private ones, where any are declared."""
    if not card["contamination"]:
        return []
    k = card["deployment_k"]["k"]
    rows = [
        (
            name(row["private_suite"]),
            named(row["private_run_id"]),
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


def not_known_section(card: Row) -> list[str]:
    """List what the log does not tell."""
    rows = [f"- {text(row['what'])}: {text(row['reason'])}." for row in card["not_known"]]
    return ["## What the log can't tell", "", *rows]


def provenance_section(card: Row) -> list[str]:
    """List files, versions and vars."""
    told = card["provenance"]
    sources = told["sources"]
    newest = f"The newest attempt of the run was loaded at {_loaded(card['run']['loaded_at'])}."
    lines = ["## Where the numbers come from", "", f"passk {told['passk_version']}. {newest}"]
    if card["stale"]:
        lines += [f"The tables are not those of the log: {text(card['stale'])}"]
    rows = [
        (
            named(row["source_file"]),
            named(row["source_format"]),
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
    return "a time that is not recorded" if moment is None else time_of(moment)
