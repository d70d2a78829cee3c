"""Rules judged by the attempts of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.common.sql_text import identifier, slice_sql
from passk_py.metrics.diagnostics.read_runs import TAGS_SQL
from passk_py.metrics.gates.cost_evidence import COST_COLUMNS
from passk_py.metrics.gates.gates_table import judge_gates
from passk_py.warehouse.tables import fetch_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from passk_py.metrics.gates.rules import Rule
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables


def judge_tables(
    tables: Tables,
    settings: Settings,
    rules: Sequence[Rule],
    *,
    pairs: Sequence[tuple[str, str, str | None]] | None = None,
) -> pl.DataFrame:
    """Judge rules by ``passk_attempts``, over the compared pairs where none are given."""
    slices = "".join(
        f", {slice_sql(name, settings.slices[name])} as {identifier(name)}"
        for name in dict.fromkeys(rule.slice_name for rule in rules)
        if name != "all"
    )
    there = tables.columns("passk_attempts")
    told = {name: name for name in ("seed", "output_hash", "started_at")} | {"tags": TAGS_SQL}
    more = [
        sql
        for name, sql in told.items()
        if name in there and any(rule.type == "diagnostics" for rule in rules)
    ]
    if settings.quarantine:
        more += [name for name in ("started_at", "loaded_at") if name in there and name not in more]
    if any(rule.type.startswith("cost") for rule in rules):
        more += [name for name in COST_COLUMNS if name in there]
    attempts = fetch_frame(
        tables.connection,
        f"select {', '.join(['run_id, suite, task_id, attempt, outcome', *more])}{slices}"
        f"{settings.family_sql} from {tables.require('passk_attempts')}",
    )
    runs = fetch_frame(tables.connection, f"select * from {tables.require('passk_runs')}")
    lost = tables.find("int_passk__unusable_runs")
    unusable = fetch_frame(tables.connection, f"select * from {lost}") if lost else None
    if pairs is None:
        found = tables.rows(
            "select distinct baseline_run_id, candidate_run_id, suite "
            f"from {tables.require('passk_comparisons')} where pair_source <> 'gate'"
        )
        pairs = [(baseline, candidate, suite) for baseline, candidate, suite in found]
    return judge_gates(
        attempts,
        rules,
        runs=runs,
        unusable=unusable,
        pairs=pairs,
        quarantine=settings.quarantine,
        k=settings.deployment_k,
        ordered=settings.ordered,
        confidence=settings.confidence,
        min_eligible_share=settings.min_eligible_share,
        cluster=settings.cluster,
    )
