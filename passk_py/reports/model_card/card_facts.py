"""The facts of a model card: rows of the public tables, and the reasons of nulls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.names import require_known
from passk_py.common.words import TASK_CLASSES, plain
from passk_py.metrics.diagnostic_words import VERDICTS, WORDS
from passk_py.reports.model_card.exclusion_bounds import exclusion_bounds
from passk_py.reports.model_card.not_known import not_known
from passk_py.reports.model_card.null_reasons import null_reasons
from passk_py.reports.model_card.where_lost import lost_and_spent
from passk_py.reports.queries import attempt_queries, task_queries
from passk_py.reports.queries.chosen import Chosen, with_text_times
from passk_py.reports.queries.comparison_queries import compared, moved_tasks
from passk_py.reports.queries.grader_queries import corrected_at, graders, judges
from passk_py.reports.queries.run_queries import known_runs, values_over_k_of_slices
from passk_py.warehouse.looks import with_looks

if TYPE_CHECKING:
    from passk_py.reports.queries.chosen import Row
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

SCHEMA_VERSION: Final = 1
"""Rises when a key of the card goes, or comes to mean something else."""

UNRELATED_VARS: Final = frozenset(
    {
        "passk_labels_model",
        "passk_verdicts_model",
        "passk_landing_schema",
        "passk_incremental_by_loaded_at",
        "passk_extrapolated_ks",
        "passk_bootstrap",
        "passk_bootstrap_seed",
        "passk_plan_attempts",
        "passk_plan_width",
        "passk_plan_difference",
        "passk_plan_power",
        "passk_create_sql_functions",
    }
)
"""The vars that change no number of a card; without the others it can't be made again."""

_TAGS: Final = {
    "temperature": ("temperature",),
    "suite_version": ("suite_version", "benchmark_version", "dataset_version"),
}
"""Facts for which the contract has no column, and the tags in which a log may say them."""

_METRIC_COLUMNS: Final = (
    "k", "eligible_tasks", "total_tasks", "informative_tasks", "attempts", "n", "c", "excluded",
    *(
        f"{metric}{suffix}"
        for metric in ("pass_at_k", "pass_hat_k")
        for suffix in ("", "_lower", "_upper", "_suite_lower", "_suite_upper", "_within_share")
    ),
    "delta_k", "delta_k_lower", "delta_k_upper", "delta_k_max",
    "heterogeneity", "heterogeneity_lower", "heterogeneity_upper",
    "families", "effective_families", "curve_shape", "reading", "null_reason",
)  # fmt: skip

_MENDED_FIRST: Final = 10


def gather(tables: Tables, run_id: str, suite: str | None, k_reason: str | None) -> Row:
    """Collect what the public tables say of a run, as ``docs/model-card.md`` describes it."""
    from passk_py.warehouse.freshness import stale
    from passk_py.warehouse.project import default_variables, version
    from passk_py.warehouse.settings import read_settings

    suite = _find(tables, run_id, suite)
    settings = read_settings(tables)
    chosen = Chosen(tables, (run_id,), (suite,))
    (run,) = with_text_times(chosen.rows("passk_runs"))
    k = settings.deployment_k
    slices = _metrics(chosen, settings)
    curve = slices.pop(("all", "all"), {})
    card = {
        "passk_card": SCHEMA_VERSION,
        "stale": stale(tables),
        "run": run,
        "recorded": _recorded(chosen, run["attempts"]),
        "deployment_k": {
            "k": k,
            "reason": k_reason,
            "is_default": settings.recorded and k == default_variables()["passk_deployment_k"],
            "is_known": settings.recorded,
        },
        "confidence": settings.confidence,
        "capable_threshold": settings.capable_threshold,
        "consistent_threshold": settings.consistent_threshold,
        "pass_at_1": curve[1],
        "at_deployment_k": curve[k],
        "curve": list(curve.values()),
        "exclusions": _exclusions(chosen, curve, settings),
        "missing": _missing(chosen, run),
        "rejections": attempt_queries.rejected_reasons(chosen),
        "slices": [
            {"slice_name": name, "slice_value": value, **by_k[k]}
            for (name, value), by_k in sorted(slices.items())
        ],
        "tasks": _tasks(chosen),
        **lost_and_spent(chosen, k),
        "comparisons": _comparisons(chosen, k),
        "gates": _gates(chosen, curve, slices),
        "diagnostics": _diagnostics(chosen),
        "contamination": chosen.rows(
            "passk_contamination", also=f"k = {k}", run="public_run_id", suite="public_suite"
        ),
        "grader": _grader(chosen, k),
        "judges": judges(chosen).get(chosen.suites[0], []),
        "provenance": {
            "passk_version": version(),
            "vars": {
                name: value for name, value in settings.values.items() if name not in UNRELATED_VARS
            },
            "vars_are_recorded": settings.recorded,
            "sources": with_text_times(attempt_queries.sources(chosen)),
        },
    }
    card["not_known"] = not_known(card)
    return card


def _grader(chosen: Chosen, k: int) -> Row | None:
    """Read how often the grader errs, and the values without it; None without labels."""
    rates = graders(chosen).get(chosen.suites[0])
    if rates is None:
        return None
    corrected = corrected_at(chosen, k).get(chosen.suites[0], [])
    return {"rates": rates, "corrected": corrected}


def _find(tables: Tables, run_id: str, suite: str | None) -> str:
    """Give the suite of a run, or say which runs and suites there are."""
    known = known_runs(tables)
    suites = [of for run, of in known if run == run_id]
    if not suites:
        if attempt_queries.any_rejected(tables, run_id):
            raise PasskError(
                f"Every row of the run {plain(run_id)} was rejected.",
                hint="`passk show passk_rejected_attempts` says why.",
            )
        require_known("run", [run_id], list(dict.fromkeys(run for run, _ in known)))
    if suite is None and len(suites) > 1:
        raise PasskError(
            f"The run {plain(run_id)} has the suites {', '.join(map(plain, suites))}; a card is "
            "about one suite.",
            hint="Choose it with --suite.",
        )
    if suite is not None and suite not in suites:
        raise PasskError(
            f"The run {plain(run_id)} has no attempts in {plain(suite)}.",
            hint=f"It has {', '.join(map(plain, suites))}.",
        )
    return suites[0] if suite is None else suite


def _recorded(chosen: Chosen, attempts: int) -> Row:
    """Say what the log holds of how the attempts were sampled."""
    seeded, seeds, hashed, started = attempt_queries.recorded_counts(chosen)

    def counts(there: int) -> dict[str, int]:
        return {"attempts_with": there, "attempts_without": attempts - there}

    found: Row = {
        "seed": {**counts(seeded), "distinct_values": seeds},
        "output_hash": counts(hashed),
        "started_at": counts(started),
    }
    for what, names in _TAGS.items():
        values, there = attempt_queries.tag_values(chosen, names)
        found[what] = {"values": values, **counts(there)}
    return found


def _metrics(chosen: Chosen, settings: Settings) -> dict[tuple[str, str], dict[int, Row]]:
    """Read the rows of every slice by k, each with pass@1 and the reasons of what is null."""
    found = values_over_k_of_slices(chosen, _METRIC_COLUMNS)
    if 1 not in settings.ks:
        raise PasskError(
            "The tables have no k = 1, and a card shows pass^k beside pass@1 only.",
            hint="Build them with a var passk_ks that has 1.",
        )
    for by_k in found.values():
        for row in by_k.values():
            row["pass_at_1"] = by_k[1]["pass_at_k"]
            row["null_reasons"] = null_reasons(row, by_k)
    return found


def _exclusions(chosen: Chosen, curve: dict[int, Row], settings: Settings) -> Row:
    """Count the excluded attempts by reason, and bound what they could change."""
    (run,) = chosen.runs
    reasons = attempt_queries.excluded_reasons(chosen).get(run, [])
    return {
        "excluded": sum(row["attempts"] for row in reasons),
        "reasons": reasons,
        "bounds": exclusion_bounds(chosen, curve, settings) if reasons else [],
    }


def _missing(chosen: Chosen, run: Row) -> Row:
    short, untried = attempt_queries.missing_tasks(chosen)
    known = run["expected_attempts"] is not None
    return {
        "expected_attempts": run["expected_attempts"],
        "missing_attempts": run["missing_attempts"],
        "tasks_with_missing": short if known else None,
        "tasks_without_attempt": untried if known else None,
        "null_reason": None if known else "the log does not say how many attempts there should be",
    }


def _tasks(chosen: Chosen) -> Row:
    none = task_queries.TaskCounts(dict.fromkeys(TASK_CLASSES, 0))
    ((run,), (suite,)) = (chosen.runs, chosen.suites)
    counts = task_queries.task_counts(chosen).get((run, suite), none)
    first = task_queries.mend_first(chosen, _MENDED_FIRST)
    reason = None
    if not first:
        reason = "no task failed" if task_queries.any_counted(chosen) else "no attempt counts"
    return {
        "classes": counts.classes,
        "tasks_that_failed": counts.failed,
        "mend_first": first,
        "null_reason": reason,
    }


def _comparisons(chosen: Chosen, k: int) -> list[Row]:
    """Read the pairs in which the run is the candidate, with pass@1 in each."""
    moved = moved_tasks(chosen)
    none = {"tested_tasks": 0, "fell_tasks": 0, "rose_tasks": 0}
    pairs: dict[str, Row] = {}
    for row in compared(chosen, k):
        baseline = row["baseline_run_id"]
        pair = pairs.setdefault(
            baseline,
            {
                "baseline_run_id": baseline,
                "pair_source": row["pair_source"],
                **none,
                **moved.get(baseline, {}),
                "metrics": [],
            },
        )
        pair["metrics"].append(row)
    return list(pairs.values())


def _gates(
    chosen: Chosen, curve: dict[int, Row], slices: dict[tuple[str, str], dict[int, Row]]
) -> list[Row]:
    """Read what the gates say of the run, each with pass@1 of the slice that it judges."""
    gates = with_looks(chosen.tables, chosen.rows("passk_gates"))
    for gate in gates:
        judged = slices.get((gate["slice_name"], gate["slice_value"]), curve)
        gate["pass_at_1"] = judged[1]["pass_at_k"]
    return gates


def _diagnostics(chosen: Chosen) -> list[Row]:
    """Read the diagnostics: warnings first, then what is fine, then what can't be known."""
    places = {name: place for place, name in enumerate(WORDS)}
    return sorted(
        chosen.rows("passk_diagnostics"),
        key=lambda row: (
            VERDICTS.index(row["verdict"]),
            places.get(row["diagnostic"], len(places)),
        ),
    )
