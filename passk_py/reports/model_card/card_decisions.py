"""The decisions about a run: the runs beside it, and the rules that it was held to."""

from __future__ import annotations

from typing import Any, Final

from passk_py.common.markdown import name, share, signed, signed_interval, table, text
from passk_py.common.words import chance, in_points, symbol
from passk_py.reports.decision_words import result_of, verdict_of, why_of

Row = dict[str, Any]

_WHY_COMPARED: Final = {
    "declared": "The pair is declared in passk_pairs.",
    "baseline": "The baseline is that of passk_baseline.",
    "previous": "The baseline is the run before this one, of the same suite and agent.",
    "gate": "The baseline is that of a gate.",
}


def comparisons_section(card: Row) -> list[str]:
    """Compare the run with those it was paired with."""
    if not card["comparisons"]:
        return [
            "## Against a baseline",
            "",
            "There is none: no pair of passk_comparisons has this run as its candidate.",
        ]
    lines: list[str] = []
    for pair in card["comparisons"]:
        first = pair["metrics"][0]
        rows = [
            (
                symbol(row["metric"], row["k"]),
                share(row["baseline"]),
                share(row["candidate"]),
                signed(row["difference"]),
                signed_interval(row, "difference_suite"),
                signed_interval(row, "difference"),
                chance(row["p"], "no test"),
                verdict_of(row),
            )
            for row in pair["metrics"]
        ]
        heads = (
            "metric", "baseline", "this run", "difference", "for these tasks only",
            "for tasks like these", "p", "verdict",
        )  # fmt: skip
        said = " ".join(text(in_points(row["meaning"])) for row in pair["metrics"])
        lines += [
            *([""] if lines else []),
            f"## Against {name(pair['baseline_run_id'])}",
            "",
            *table(heads, rows, numbers=(1, 2, 3, 6)),
            "",
            said,
            "",
            (
                f"- The verdict is about these tasks: {first['common_tasks']:,} that both runs "
                f"have ({first['baseline_only_tasks']:,} more only in the baseline, "
                f"{first['candidate_only_tasks']:,} only in this run). Differences are this run "
                f"less the baseline. {_WHY_COMPARED[pair['pair_source']]}"
            ),
            (
                f"- Single tasks beyond chance: {pair['fell_tasks']:,} fell and "
                f"{pair['rose_tasks']:,} rose, of {pair['tested_tasks']:,} tested."
            ),
        ]
    return lines


def gates_section(card: Row) -> list[str]:
    """Say which rules it was held to, and what came out."""
    if not card["gates"]:
        return ["## Gates", "", "No gate judges this run: the var passk_gates has no rule for it."]
    rows = []
    for gate in card["gates"]:
        part = "all"
        if gate["slice_name"] != "all":
            part = f"{name(gate['slice_name'])} = {name(gate['slice_value'])}"
        rows.append(
            (
                name(gate["gate"]),
                result_of(gate),
                text(gate["rule"]),
                part,
                share(gate["pass_at_1"]),
                text(why_of(gate)),
            )
        )
    heads = ("gate", "result", "rule", "slice", "pass@1", "why")
    return ["## Gates", "", *table(heads, rows, numbers=(4,))]
