"""The tables that decisions are read from: of some runs at a time, and of the whole log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.metrics.contamination import SuiteRun
from passk_py.metrics.gates import COLUMNS
from passk_py.metrics.states import families_of, lone_tasks
from passk_py.metrics.suite_differences import DIFFERENCES
from passk_py.validation.recompute import decisions as recompute
from passk_py.validation.recompute.runs import IDENTITY, RUN, described
from passk_py.warehouse.gates_of_tables import judge_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.metrics.states import Families, States
    from passk_py.validation.check_tables import Compared
    from passk_py.validation.set_aside import Counts
    from passk_py.warehouse.settings import Settings

_BOOTSTRAP: Final = "passk_suite_bootstrap"
_MOST_JUDGED: Final = 5_000_000
"""Attempts that gates are judged by: a rule may be about any of the runs."""


def decided(settings: Settings) -> list[str]:
    """Name the tables that have rows of each run."""
    bootstrap = [_BOOTSTRAP] if settings.bootstrap else []
    return ["passk_plans", "passk_m_of_k", "passk_extrapolations", *bootstrap]


def compare_runs(
    compared: Compared,
    counts: Counts,
    runs: Sequence[tuple[str, str]],
    slices: Sequence[pl.LazyFrame],
    who: pl.DataFrame,
    where: str,
) -> None:
    """Compare what follows from the counts and the metrics of some runs."""
    settings = compared.settings
    every = {run: counts.states(*run) for run in runs}
    states = {run: tasks for run, tasks in every.items() if tasks}
    families = {run: counts.families(*run) for run in states}
    plans = recompute.plans(states, families, settings)
    compared.compare("passk_plans", described(plans, who), where)
    whole = f"slice_name = 'all' and {where}"
    measured = compared.once("passk_suite_metrics", [*RUN, "k"], recompute.MEASURED, whole)
    model = recompute.extrapolations(measured, settings)
    compared.compare("passk_extrapolations", described(model, who), where)
    places: dict[tuple[str, ...], tuple[States, Families | None]] = {}
    if settings.bootstrap or settings.m_of_k:
        for run, tasks in states.items():
            places[*run, "all", "all"] = tasks, families[run]
        for name, sliced in zip(settings.slices, slices, strict=True):
            places |= _counts_of_slice(sliced, name)
    chances = recompute.m_of_k(places, settings)
    compared.compare("passk_m_of_k", described(chances, who), where)
    if settings.bootstrap:
        drawn = {
            place: lone_tasks(tasks) if of_place is None else of_place
            for place, (tasks, of_place) in places.items()
        }
        compared.compare(_BOOTSTRAP, recompute.bootstrap(drawn, settings), where)


def _counts_of_slice(
    tasks: pl.LazyFrame, name: str
) -> dict[tuple[str, ...], tuple[States, Families | None]]:
    """Count the tasks of each value of a slice by their counts, and the families, if named."""
    place = (*RUN, "slice_value")
    named = ["family"] if "family" in tasks.collect_schema() else []
    parts = tasks.select(*place, *named, "n", "c").collect().partition_by(*place, as_dict=True)
    return {
        (str(run), str(suite), name, str(value)): (
            Counter(part.select("n", "c").iter_rows()),
            families_of(part) if named else None,
        )
        for (run, suite, value), part in parts.items()
    }


def compare_suites(compared: Compared, counts: Counts, runs: pl.DataFrame) -> None:
    """Compare the public suites beside the private ones."""
    suites = {suite for pair in recompute.suite_pairs(compared.settings) for suite in pair}
    found = [
        SuiteRun(told, counts.states(*run), counts.families(*run))
        for told in runs.sort(RUN).iter_rows(named=True)
        if told["suite"] in suites
        for run in ((told["run_id"], told["suite"]),)
    ]
    name = "passk_contamination"
    columns = [*recompute.SUITES, *DIFFERENCES]
    stored = compared.rows(name, columns).iter_rows(named=True)
    compared.compare(name, recompute.contamination(found, compared.settings, stored))


def compare_gates(
    compared: Compared, runs: pl.DataFrame, pairs: Sequence[tuple[str, str, str]], *, attempts: int
) -> None:
    """Compare the gates, of which a rule may be about any of the runs."""
    name = "passk_gates"
    stored = compared.rows(name, [*recompute.GATE, "to_settle"])
    rules = recompute.declared_rules(compared.settings, set(stored["gate"]))
    if rules and attempts > _MOST_JUDGED:
        compared.left_out.append(
            f"The gates were not recomputed: the log has more than {_MOST_JUDGED:,} attempts."
        )
        return
    judged = pl.DataFrame(schema=COLUMNS)
    if rules:
        asked = [(baseline, candidate, suite) for suite, baseline, candidate in pairs]
        judged = judge_tables(compared.tables, compared.settings, rules, pairs=asked)
    who = runs.select(*RUN, *IDENTITY)
    lost = compared.tables.find("int_passk__unusable_runs")
    if lost is not None:
        unusable = compared.frame(f"select {', '.join((*RUN, *IDENTITY))} from {lost}")
        who = pl.concat([who, unusable.join(who, on=list(RUN), how="anti")])
    compared.compare(name, recompute.gates(judged, who, stored))
