"""What a model card says of a run: rows of the public tables, and why what is null is null."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.common.names import require_known
from passk_py.common.sql_text import quote
from passk_py.common.words import TASK_CLASSES, as_part, plain
from passk_py.metrics.diagnostic_words import UNKNOWN, VERDICTS, WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

__all__ = ["SCHEMA_VERSION", "SHAPING_VARS", "gather"]

Row = dict[str, Any]

SCHEMA_VERSION: Final = 1
"""Rises when a key of the card goes, or comes to mean something else."""

SHAPING_VARS: Final = (
    "passk_attempts_model",
    "passk_attempts_source",
    "passk_attempts_files",
    "passk_attempts_columns",
    "passk_score_threshold",
    "passk_outcome_policy",
    "passk_ks",
    "passk_deployment_k",
    "passk_min_eligible_share",
    "passk_slices",
    "passk_confidence",
    "passk_ordered_metrics",
    "passk_diagnostics",
    "passk_pairs",
    "passk_baseline",
    "passk_minimum_change",
    "passk_gates",
    "passk_capable_threshold",
    "passk_consistent_threshold",
    "passk_consistent_rate",
    "passk_incapable_rate",
    "passk_private_suites",
)
"""The vars without which the numbers of a card can't be made again."""

TAGS: Final = {
    "temperature": ("temperature",),
    "suite_version": ("suite_version", "benchmark_version", "dataset_version"),
}
"""What the contract has no column for, and the tags in which a log may say it."""

_METRIC_COLUMNS: Final = (
    "k",
    "eligible_tasks",
    "total_tasks",
    "informative_tasks",
    "attempts",
    "n",
    "c",
    "excluded",
    *(
        f"{metric}{suffix}"
        for metric in ("pass_at_k", "pass_hat_k")
        for suffix in ("", "_lower", "_upper", "_suite_lower", "_suite_upper", "_within_share")
    ),
    "delta_k",
    "delta_k_lower",
    "delta_k_upper",
    "delta_k_max",
    "heterogeneity",
    "heterogeneity_lower",
    "heterogeneity_upper",
    "curve_shape",
    "reading",
    "null_reason",
)

_MENDED_FIRST: Final = 10
_LEAST_INFORMATIVE: Final = 10
"""Below it ``passk_suite_metrics`` has no limits of delta_k, heterogeneity and the shape."""

_SHARED: Final = (
    "it looks like another chance of passing, and only attempts spread over sessions or days "
    "reveal it"
)
_DEPLOYED: Final = (
    "the log holds attempts, not what the agent will be asked; limits for tasks like these take "
    "the tasks for a sample of it"
)


def gather(tables: Tables, run_id: str, suite: str | None, k_reason: str | None) -> Row:
    """Collect what the public tables say of a run.

    Parameters
    ----------
    tables
        The open database.
    run_id, suite
        The run; the suite may be left out where the run has one.
    k_reason
        Why the deployment k is what it is, in the words of who knows.

    Returns
    -------
    dict
        What JSON can hold, with the keys that ``docs/model-card.md`` describes.

    Raises
    ------
    PasskError
        If there is no such run, it has several suites, or k = 1 is not built.
    """
    from passk_py.warehouse.freshness import stale
    from passk_py.warehouse.project import default_variables, version
    from passk_py.warehouse.settings import read_settings

    suite = _find(tables, run_id, suite)
    settings = read_settings(tables)
    where = f"run_id = {quote(run_id)} and suite = {quote(suite)}"
    (run,) = _records(tables, "passk_runs", where)
    k = settings.deployment_k
    rows = _metrics(tables, where, settings)
    curve = rows.pop(("all", "all"), {})
    card = {
        "passk_card": SCHEMA_VERSION,
        "stale": stale(tables),
        "run": run,
        "recorded": _recorded(tables, where, run),
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
        "exclusions": _exclusions(tables, where, curve, settings),
        "missing": _missing(tables, where, run),
        "rejections": _counted(
            tables, "passk_rejected_attempts", where, "reason_code", "rows_rejected"
        ),
        "slices": [
            {"slice_name": name, "slice_value": value, **by_k[k]}
            for (name, value), by_k in sorted(rows.items())
        ],
        "tasks": _tasks(tables, where),
        "comparisons": _comparisons(tables, run_id, suite, k),
        "gates": _gates(tables, where, curve, rows),
        "diagnostics": _diagnostics(tables, where),
        "contamination": _records(
            tables,
            "passk_contamination",
            f"public_run_id = {quote(run_id)} and public_suite = {quote(suite)} and k = {k}",
        ),
        "provenance": {
            "passk_version": version(),
            "vars": {name: settings.values[name] for name in SHAPING_VARS},
            "vars_are_recorded": settings.recorded,
            "sources": _sources(tables, where),
        },
    }
    card["not_known"] = _not_known(card)
    return card


# ---------------------------------------------------------------------------------------------
# the run


def _find(tables: Tables, run_id: str, suite: str | None) -> str:
    """Give the suite of a run, or say which runs and suites there are."""
    known = tables.rows(
        f"select run_id, suite from {tables.require('passk_runs')} order by suite, run_id"
    )
    suites = [of for run, of in known if run == run_id]
    if not suites:
        rejected = tables.require("passk_rejected_attempts")
        if tables.rows(f"select 1 from {rejected} where run_id = {quote(run_id)} limit 1"):
            raise PasskError(
                f"Every row of the run {plain(run_id)} was rejected.",
                hint="`passk show passk_rejected_attempts` says why.",
            )
        require_known("run", [run_id], list(dict.fromkeys(run for run, _ in known)))
    if suite is None and len(suites) > 1:
        raise PasskError(
            f"The run {plain(run_id)} has the suites {', '.join(map(plain, suites))}; a card is "
            "about one.",
            hint="Say which with --suite.",
        )
    if suite is not None and suite not in suites:
        raise PasskError(
            f"The run {plain(run_id)} has no attempts in {plain(suite)}.",
            hint=f"It has {', '.join(map(plain, suites))}.",
        )
    return suites[0] if suite is None else suite


def _recorded(tables: Tables, where: str, run: Row) -> Row:
    """Say what the log holds of how the attempts were sampled."""
    attempts = tables.require("passk_attempts")
    seeded, seeds, hashed, started = tables.rows(
        "select count(seed), count(distinct seed), count(output_hash), count(started_at) "
        f"from {attempts} where {where}"
    )[0]
    found: Row = {
        "seed": {
            "attempts_with": seeded,
            "attempts_without": run["attempts"] - seeded,
            "distinct_values": seeds,
        },
        "output_hash": {
            "attempts_with": hashed,
            "attempts_without": run["attempts"] - hashed,
        },
        "started_at": {
            "attempts_with": started,
            "attempts_without": run["attempts"] - started,
        },
    }
    for what, names in TAGS.items():
        among = ", ".join(quote(name) for name in names)
        said = (
            "select task_id, attempt, tag.key as tag, tag.value as value from "
            f"(select task_id, attempt, unnest(map_entries(tags)) as tag from {attempts} "
            f"where {where}) where lower(tag.key) in ({among}) and tag.value is not null"
        )
        values = _plain(
            tables.records(
                f"select tag, value, count(*) as attempts from ({said}) "
                "group by tag, value order by attempts desc, tag, value"
            )
        )
        with_it = tables.rows(f"select count(distinct (task_id, attempt)) from ({said})")[0][0]
        found[what] = {
            "values": values,
            "attempts_with": with_it,
            "attempts_without": run["attempts"] - with_it,
        }
    return found


# ---------------------------------------------------------------------------------------------
# the metrics


def _metrics(
    tables: Tables, where: str, settings: Settings
) -> dict[tuple[str, str], dict[int, Row]]:
    """Read the rows of every slice by k, each with pass@1 and the reasons of what is null."""
    found: dict[tuple[str, str], dict[int, Row]] = {}
    for row in tables.records(
        f"select slice_name, slice_value, {', '.join(_METRIC_COLUMNS)} "
        f"from {tables.require('passk_suite_metrics')} where {where} "
        "order by slice_name, slice_value, k"
    ):
        key = (row.pop("slice_name"), row.pop("slice_value"))
        found.setdefault(key, {})[row["k"]] = row
    if 1 not in settings.ks:
        raise PasskError(
            "The tables have no k = 1, and a card shows pass^k beside pass@1 only.",
            hint="Build them with a var passk_ks that has 1.",
        )
    for by_k in found.values():
        for k, row in by_k.items():
            row["pass_at_1"] = by_k[1]["pass_at_k"]
            row["null_reasons"] = _null_reasons(row, k, by_k)
    return found


def _null_reasons(row: Row, k: int, by_k: dict[int, Row]) -> dict[str, str]:
    """Say of each column that is null why it is."""
    return {
        column: _why_null(column, row, k, by_k)
        for column, value in row.items()
        if value is None and column != "null_reason"
    }


def _why_null(column: str, row: Row, k: int, by_k: dict[int, Row]) -> str:
    """Give the rule of ``passk_suite_metrics`` by which a column is null."""
    if column == "pass_at_1":
        return str(by_k[1]["null_reason"])
    if column == "curve_shape":
        return _why_no_shape(by_k)
    if row["null_reason"] is not None:
        return str(row["null_reason"])
    if column.endswith(("_suite_lower", "_suite_upper", "_within_share")):
        return _why_no_share(row, k)
    if row["delta_k"] is None:
        return "it takes two eligible tasks"
    if column.startswith("heterogeneity") and k == 1:
        return "at k = 1 unequal tasks change nothing"
    if column.startswith("heterogeneity") and row["heterogeneity"] is None:
        return "at this pass@1 unequal tasks could change nothing"
    return _too_few(row)


def _too_few(row: Row) -> str:
    there = row["informative_tasks"]
    return f"it takes {_LEAST_INFORMATIVE} tasks that both pass and fail, and there are {there}"


def _why_no_share(row: Row, k: int) -> str:
    if row["pass_hat_k_suite_lower"] is None:
        return f"a task has n < {2 * k}, which is 2k"
    if row["eligible_tasks"] < 2:
        return "it takes two eligible tasks"
    return "all tasks have the same estimate"


def _why_no_shape(by_k: dict[int, Row]) -> str:
    if 2 not in by_k:
        return "it is read off at k = 2, which is not among passk_ks"
    second = by_k[2]
    if second["null_reason"] is not None:
        return f"it is read off at k = 2: {second['null_reason']}"
    if second["informative_tasks"] < _LEAST_INFORMATIVE:
        return _too_few(second)
    return "at this pass@1 unequal tasks could change nothing"


# ---------------------------------------------------------------------------------------------
# what is left out


def _exclusions(tables: Tables, where: str, curve: dict[int, Row], settings: Settings) -> Row:
    """Count the excluded attempts by reason, and bound what they could change."""
    reasons = _counted(
        tables,
        "passk_attempts",
        f"{where} and outcome = 'excluded'",
        "outcome_reason",
        "attempts",
    )
    return {
        "excluded": sum(row["attempts"] for row in reasons),
        "reasons": reasons,
        "bounds": _bounds(tables, where, curve, settings) if reasons else [],
    }


def _bounds(tables: Tables, where: str, curve: dict[int, Row], settings: Settings) -> list[Row]:
    """Give the metrics had every excluded attempt failed, and had every one passed.

    The same estimates over counts of which n has the excluded attempts too, and c none or all of
    them. A metric rises with c and a share of passes lies between the two, so they are bounds.
    """
    import polars as pl

    from passk_py.metrics.states import short_reason
    from passk_py.stats import estimators as est
    from passk_py.warehouse.tables import fetch_frame

    tasks = fetch_frame(
        tables.connection,
        f"select n + excluded as n, c, c + excluded as c_most, count(*) as tasks "
        f"from {tables.require('passk_tasks')} where {where} group by all order by all",
    )
    total = int(tasks["tasks"].sum())
    estimators = {"pass_at_k": est.pass_at_k, "pass_hat_k": est.pass_hat_k}
    bounds = []
    for metric, k in _headline_metrics(settings.deployment_k):
        whole = tasks.filter(pl.col("n") >= k)
        eligible = int(whole["tasks"].sum())
        reason = short_reason(k, eligible, total, min_eligible_share=settings.min_eligible_share)
        weight = pl.col("tasks") / pl.col("tasks").sum()
        estimate = estimators[metric]
        failed, passed = (
            (None, None)
            if reason
            else whole.select(
                failed=(weight * estimate("n", "c", k)).sum() * eligible / total,
                # A task that is short even so may have any value.
                passed=((weight * estimate("n", "c_most", k)).sum() * eligible + total - eligible)
                / total,
            ).row(0)
        )
        bounds.append(
            {
                "metric": metric,
                "k": k,
                "estimate": curve[k][metric],
                "if_all_failed": failed,
                "if_all_passed": passed,
                "eligible_tasks": eligible,
                "null_reason": reason,
            }
        )
    return bounds


def _headline_metrics(k: int) -> list[tuple[str, int]]:
    """Name what is shown wherever one number is asked for: pass@1, and pass@k and pass^k."""
    first = [("pass_at_k", 1)]
    return first if k == 1 else [*first, ("pass_at_k", k), ("pass_hat_k", k)]


def _missing(tables: Tables, where: str, run: Row) -> Row:
    missing = tables.require("passk_missing_attempts")
    short, untried = tables.rows(
        f"select count(*), count(*) filter (where attempts = 0) from {missing} where {where}"
    )[0]
    known = run["expected_attempts"] is not None
    return {
        "expected_attempts": run["expected_attempts"],
        "missing_attempts": run["missing_attempts"],
        "tasks_with_missing": short if known else None,
        "tasks_without_attempt": untried if known else None,
        "null_reason": None if known else "the log does not say how many attempts there should be",
    }


def _counted(tables: Tables, table: str, where: str, column: str, called: str) -> list[Row]:
    return _plain(
        tables.records(
            f"select {column}, count(*) as {called} from {tables.require(table)} where {where} "
            f"group by {column} order by {called} desc, {column} nulls last"
        )
    )


# ---------------------------------------------------------------------------------------------
# what stands beside the numbers


def _tasks(tables: Tables, where: str) -> Row:
    table = tables.require("passk_tasks")
    counts = ", ".join(f"count(*) filter (where task_class = '{kind}')" for kind in TASK_CLASSES)
    found = tables.rows(
        f"select {counts}, count(*) filter (where c < n) from {table} where {where}"
    )[0]
    first = tables.records(
        "select task_id, n, c, excluded, pass_rate as pass_at_1, k, pass_at_k, pass_hat_k, "
        "task_class, confirmed, lost_reliability, lost_reliability_share, expected_gain, mend_rank "
        f"from {table} where {where} and c < n order by mend_rank limit {_MENDED_FIRST}"
    )
    reason = None
    if not first:
        known = tables.rows(f"select 1 from {table} where {where} and n > 0 limit 1")
        reason = "no task failed" if known else "no attempt counts"
    return {
        "classes": dict(zip(TASK_CLASSES, found, strict=False)),
        "tasks_that_failed": found[-1],
        "mend_first": _plain(first),
        "null_reason": reason,
    }


def _comparisons(tables: Tables, run_id: str, suite: str, k: int) -> list[Row]:
    """Read the pairs in which the run is the candidate, with pass@1 in each."""
    among = " or ".join(
        f"(metric = '{metric}' and k = {one})" for metric, one in _headline_metrics(k)
    )
    where = f"candidate_run_id = {quote(run_id)} and suite = {quote(suite)}"
    moved: dict[str, Row] = {
        row["baseline_run_id"]: row
        for row in tables.records(
            "select baseline_run_id, count(p) as tested_tasks, "
            "count(*) filter (where moved and direction = 'fell') as fell_tasks, "
            "count(*) filter (where moved and direction = 'rose') as rose_tasks "
            f"from {tables.require('passk_task_comparisons')} where {where} group by all"
        )
    }
    none = {"tested_tasks": 0, "fell_tasks": 0, "rose_tasks": 0}
    pairs: dict[str, Row] = {}
    for row in _records(
        tables,
        "passk_comparisons",
        f"{where} and ({among})",
        order="baseline_run_id, metric, k",
    ):
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
    tables: Tables,
    where: str,
    curve: dict[int, Row],
    slices: dict[tuple[str, str], dict[int, Row]],
) -> list[Row]:
    """Read what the gates say of the run, each with pass@1 of the slice that it judges."""
    gates = _records(
        tables, "passk_gates", where, order="gate, baseline_run_id, slice_name, slice_value"
    )
    for gate in gates:
        judged = slices.get((gate["slice_name"], gate["slice_value"]), curve)
        gate["pass_at_1"] = judged[1]["pass_at_k"]
    return gates


def _diagnostics(tables: Tables, where: str) -> list[Row]:
    """Read the diagnostics: warnings first, then what is fine, then what can't be known."""
    places = {name: place for place, name in enumerate(WORDS)}
    return sorted(
        _records(tables, "passk_diagnostics", where),
        key=lambda row: (
            VERDICTS.index(row["verdict"]),
            places.get(row["diagnostic"], len(places)),
        ),
    )


def _sources(tables: Tables, where: str) -> list[Row]:
    return _plain(
        tables.records(
            "select source_file, source_format, count(*) as attempts, "
            "min(loaded_at) as first_loaded_at, max(loaded_at) as last_loaded_at "
            f"from {tables.require('passk_attempts')} where {where} "
            "group by source_file, source_format order by source_file, source_format"
        )
    )


def _not_known(card: Row) -> list[Row]:
    """List what the log can't tell, with the reason."""
    run, recorded = card["run"], card["recorded"]
    said: list[tuple[str, str]] = []
    for column, what in (
        ("agent", "agent"),
        ("agent_version", "agent version"),
        ("model", "model"),
    ):
        if run[column] is None:
            said.append((what, "the log does not record it"))
    for column, what in (
        ("temperature", "temperature"),
        ("suite_version", "suite version"),
        ("seed", "seeds"),
    ):
        without = recorded[column]["attempts_without"]
        if without == run["attempts"]:
            said.append((what, "the log does not record it"))
        elif without:
            said.append((what, f"{without} of {run['attempts']} attempts do not record it"))
    if card["missing"]["null_reason"]:
        said.append(("missing attempts", card["missing"]["null_reason"]))
    if not card["contamination"]:
        said.append(
            (
                "whether the suite has leaked into the model",
                "no private suite of the same skill stands beside it: the var passk_private_suites",
            )
        )
    if not card["diagnostics"]:
        said.append(
            (
                "whether the log can be trusted",
                "the tables were built without diagnostics: the var passk_diagnostics",
            )
        )
    said += [
        (row["diagnostic"], _why_no_verdict(row))
        for row in card["diagnostics"]
        if row["verdict"] in UNKNOWN
    ]
    said += [
        ("what all attempts of a task share", _SHARED),
        ("whether the tasks are like those of the deployment", _DEPLOYED),
    ]
    return [{"what": what, "reason": reason} for what, reason in said]


def _why_no_verdict(row: Row) -> str:
    finding = as_part(row["finding"])
    return finding if row["verdict"] == "not_applicable" else f"too few tasks: {finding}"


# ---------------------------------------------------------------------------------------------
# reading


def _records(tables: Tables, name: str, where: str, *, order: str = "all") -> list[Row]:
    """Read rows of a public table; ``loaded_at`` is said of the run alone."""
    rows = tables.records(f"select * from {tables.require(name)} where {where} order by {order}")
    if name != "passk_runs":
        for row in rows:
            row.pop("loaded_at", None)
    return _plain(rows)


def _plain(rows: Sequence[Row]) -> list[Row]:
    """Write times as ISO 8601 in UTC, which JSON has no type for."""
    return [
        {
            name: f"{value.isoformat()}Z" if isinstance(value, datetime) else value
            for name, value in row.items()
        }
        for row in rows
    ]
