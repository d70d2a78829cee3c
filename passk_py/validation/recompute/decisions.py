"""The tables that decisions are read from, computed in polars with the column names of SQL.

They follow from counts of tasks and from the metrics: plans, extrapolations, the bootstrap, suites
beside suites, and gates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.averaged_m_of_k import M_OF_K_TYPES, averaged_scores, scores_of
from passk_py.metrics.bootstrap import LIMIT_TYPES, limits_of_families
from passk_py.metrics.contamination import compared_suites
from passk_py.metrics.extrapolation import extrapolated
from passk_py.metrics.gates.rule_schema import DEMO_GATES
from passk_py.metrics.gates.rules import rules_of
from passk_py.metrics.planning.plans_table import PLAN_TYPES, plan_counts
from passk_py.metrics.planning.wish import Wish
from passk_py.metrics.suite_differences import DIFFERENCES, judged_suites
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.approximations import CLOSE, SIZE, STUDENT, as_seen
from passk_py.validation.recompute.metrics import QUANTILE
from passk_py.validation.recompute.runs import IDENTITY, RUN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from passk_py.metrics.contamination import SuiteRun
    from passk_py.metrics.gates.rules import Rule
    from passk_py.metrics.states import Families, States
    from passk_py.warehouse.settings import Settings

GATE: Final = ("gate", "suite", "run_id", "baseline_run_id", "slice_name", "slice_value")
"""The key of ``passk_gates``; a baseline may be null."""
SUITES: Final = ("public_suite", "private_suite", "public_run_id", "k")
"""The key of ``passk_contamination``."""
MEASURED: Final = (
    "pass_at_k",
    "pass_hat_k",
    "pass_at_k_lower",
    "pass_hat_k_upper",
    "heterogeneity",
)
"""The metrics of a suite that are extrapolated."""

_PLACE: Final = (*RUN, "slice_name", "slice_value")
_LOGARITHMS: Final = pl.lit(1000.0)
"""The error of SQL's sums of logarithms, where whole numbers are divided here."""


def plans(
    states: Mapping[tuple[str, str], States],
    families: Mapping[tuple[str, str], Families | None],
    settings: Settings,
) -> Recomputed:
    """Compute ``passk_plans``."""
    wish = Wish(
        tuple(settings.ks),
        tuple(settings.plan_attempts),
        settings.plan_width,
        settings.plan_difference,
        settings.plan_power,
        settings.confidence,
    )
    rows = [
        {"run_id": run, "suite": suite, **row}
        for (run, suite), tasks in states.items()
        for row in plan_counts(
            tasks, wish, families[run, suite], min_eligible_share=settings.min_eligible_share
        )
    ]
    frame = pl.DataFrame(rows, schema=PLAN_TYPES, orient="row")
    variance = pl.col("variance_between") + pl.col("variance_within")
    return Recomputed(
        frame,
        (*RUN, "metric", "k", "attempts"),
        (
            *("tasks", "basis", "families_for_width", "tasks_for_width", "attempts_for_width"),
            *("tasks_for_difference", "attempts_for_difference", "null_reason"),
        ),
        {
            **dict.fromkeys(("estimate", "deciding_share"), _LOGARITHMS),
            **dict.fromkeys(("variance_between", "variance_within"), SIZE * 10),
            "within_share": 10 / variance,
            "expected_width": STUDENT,
            "detectable_difference": _LOGARITHMS,
        },
    )


def extrapolations(measured: pl.DataFrame, settings: Settings) -> Recomputed:
    """Compute ``passk_extrapolations`` from SQL's estimates, so that rounding can't tip the fit."""
    frame = extrapolated(measured, sorted(settings.extrapolated_ks))
    return Recomputed(
        frame,
        (*RUN, "k"),
        ("measured_k", "basis", "null_reason"),
        {
            **dict.fromkeys(("pass_at_k", "pass_hat_k"), _LOGARITHMS),
            **dict.fromkeys(("pass_at_k_at_least", "pass_hat_k_at_most")),
        },
    )


def m_of_k(
    places: Mapping[tuple[str, ...], tuple[States, Families | None]], settings: Settings
) -> Recomputed:
    """Compute ``passk_m_of_k``, of the whole and of the slices."""
    scores = scores_of(settings.m_of_k)
    rows = [
        {**dict(zip(_PLACE, place, strict=True)), **row}
        for place, (states, families) in places.items()
        for row in averaged_scores(
            states,
            families,
            scores,
            min_eligible_share=settings.min_eligible_share,
            confidence=settings.confidence,
        )
    ]
    types: dict[str, type[pl.DataType]] = {**dict.fromkeys(_PLACE, pl.String), **M_OF_K_TYPES}
    return Recomputed(
        pl.DataFrame(rows, schema=types, orient="row"),
        (*_PLACE, "metric", "k", "m"),
        ("eligible_tasks", "total_tasks", "least_n", "families", "null_reason", "caveat"),
        {
            **dict.fromkeys(("effective_families", "estimate", "suite_lower", "suite_upper")),
            **dict.fromkeys(("lower", "upper"), QUANTILE),
        },
    )


def bootstrap(families: Mapping[tuple[str, ...], Families], settings: Settings) -> Recomputed:
    """Compute ``passk_suite_bootstrap``."""
    rows = [
        {**dict(zip(_PLACE, place, strict=True)), **row}
        for place, of_place in families.items()
        for row in limits_of_families(
            of_place,
            settings.ks,
            resamples=settings.bootstrap,
            seed=settings.bootstrap_seed,
            place=place,
            confidence=settings.confidence,
            min_eligible_share=settings.min_eligible_share,
        )
    ]
    types: dict[str, type[pl.DataType]] = {**dict.fromkeys(_PLACE, pl.String), **LIMIT_TYPES}
    return Recomputed(
        pl.DataFrame(rows, schema=types, orient="row"),
        (*_PLACE, "metric", "k"),
        ("eligible_tasks", "total_tasks", "resamples", "seed", "null_reason"),
        dict.fromkeys(("estimate", "lower", "upper")),
    )


def suite_pairs(settings: Settings) -> list[tuple[str, str]]:
    """Give the pairs of a public and a private suite, each once."""
    pairs = ((pair["public"], pair["private"]) for pair in settings.private_suites)
    return list(dict.fromkeys(pairs))


def contamination(
    runs: Iterable[SuiteRun], settings: Settings, stored: Iterable[Mapping[str, Any]]
) -> Recomputed:
    """Compute ``passk_contamination``; verdicts follow SQL's figures where they are near enough."""
    as_stored = {tuple(row[name] for name in SUITES): row for row in stored}
    frame = compared_suites(
        runs,
        suite_pairs(settings),
        settings.ks,
        confidence=settings.confidence,
        min_eligible_share=settings.min_eligible_share,
    )
    metrics = ("pass_at_1", "pass_hat_k")
    rows = frame.to_dicts()
    for row in rows:
        if row["null_reason"] is None:
            sql = as_stored.get(tuple(row[name] for name in SUITES), {})
            seen = as_seen(row, sql, DIFFERENCES)
            figures = [seen[name] for name in DIFFERENCES]
            row["verdict"], row["meaning"] = judged_suites(
                tuple(figures[:3]), tuple(figures[3:]), row["k"]
            )
    sides = ("public", "private")
    return Recomputed(
        pl.DataFrame(rows, schema=frame.schema, orient="row"),
        SUITES,
        (
            "private_run_id",
            "private_source",
            *IDENTITY,
            *(f"{side}_tasks" for side in sides),
            "verdict",
            "null_reason",
        ),
        {
            **dict.fromkeys(f"{side}_{metric}" for side in sides for metric in metrics),
            **dict.fromkeys((f"{side}_gap" for side in sides), SIZE),
            **dict.fromkeys((f"{metric}_difference" for metric in metrics), SIZE),
            **dict.fromkeys((*DIFFERENCES[1:3], *DIFFERENCES[4:]), STUDENT),
        },
        words=("meaning",),
    )


def declared_rules(settings: Settings, stored: Collection[str]) -> list[Rule]:
    """Give the rules of a build; those of the demo log where its build declared them by itself."""
    names = {gate["name"] for gate in DEMO_GATES}
    is_demo = settings.names_demo_gates or (not settings.gates and not names.isdisjoint(stored))
    return rules_of(
        DEMO_GATES if is_demo else settings.gates,
        deployment_k=settings.deployment_k,
        slices=list(settings.declared_slices),
        diagnostics=settings.diagnostics,
    )


def gates(judged: pl.DataFrame, who: pl.DataFrame, stored: pl.DataFrame) -> Recomputed:
    """Compute ``passk_gates``; ``stored`` is SQL's, for rules whose estimate is the threshold."""
    # The threshold of a drop is below 0; only rules with an interval have a scope.
    is_drop = pl.col("rule_type").is_in(["drop", "rolling_drop"])
    bar = pl.when(is_drop).then(-pl.col("threshold")).otherwise("threshold")
    is_tie = pl.col("scope").is_not_null() & ((pl.col("estimate") - bar).abs() <= CLOSE)
    said = stored.select(*GATE, sql_to_settle="to_settle").unique(GATE, keep="first")
    frame = (
        judged.drop(IDENTITY[1:])
        .join(said, on=list(GATE), how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            to_settle=pl.when(
                is_tie & pl.col("to_settle").is_not_null() & pl.col("sql_to_settle").is_not_null()
            )
            .then("sql_to_settle")
            .otherwise("to_settle")
        )
        .join(who.select(*RUN, *IDENTITY[1:]), on=list(RUN), how="left", maintain_order="left")
    )
    return Recomputed(
        frame,
        GATE,
        (
            *IDENTITY,
            "rule_type",
            "rule",
            "metric",
            "k",
            "scope",
            "tasks",
            "result",
            "severity",
            "is_advisory",
        ),
        {
            "threshold": None,
            "estimate": pl.max_horizontal(1.0, 10 * pl.col("estimate").abs()),
            **{
                # Costs may be of any size.
                name: STUDENT * pl.max_horizontal(1.0, 10 * pl.col(name).abs())
                for name in ("estimate_lower", "estimate_upper")
            },
        },
        words=("reason", "to_settle"),
    )
