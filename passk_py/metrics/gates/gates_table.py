"""``passk_py.judge_gates``: the table ``passk_gates``, from attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames.columns import IDENTITY
from passk_py.metrics.gates.evidence import Evidence
from passk_py.metrics.gates.findings import UNKNOWN
from passk_py.metrics.gates.judging import judge
from passk_py.metrics.gates.quarantine import entries_of, quarantine_of
from passk_py.metrics.gates.rules import rules_of
from passk_py.stats.estimators.arguments import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from passk_py.metrics.gates.rules import Rule

COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("gate", "suite", "run_id", "baseline_run_id"), pl.String),
    **dict.fromkeys(("slice_name", "slice_value", *IDENTITY), pl.String),
    **dict.fromkeys(("rule_type", "rule", "metric"), pl.String),
    "k": pl.Int64,
    "scope": pl.String,
    "threshold": pl.Float64,
    "tasks": pl.Int64,
    **dict.fromkeys(("estimate", "estimate_lower", "estimate_upper"), pl.Float64),
    "quarantined_tasks": pl.Int64,
    **dict.fromkeys(("result", "reason", "to_settle", "severity"), pl.String),
    "is_advisory": pl.Boolean,
}
"""The columns of ``passk_gates`` that attempts are enough for."""


@any_frame
def judge_gates(
    attempts: pl.DataFrame | pl.LazyFrame,
    rules: Iterable[Mapping[str, Any] | Rule],
    *,
    runs: pl.DataFrame | None = None,
    unusable: pl.DataFrame | None = None,
    pairs: Sequence[tuple[str, str, str | None]] | None = None,
    quarantine: Iterable[Mapping[str, Any]] = (),
    k: int = 4,
    ordered: bool = True,
    confidence: float = 0.95,
    min_eligible_share: float = 0.95,
    cluster: str | None = None,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Judge whether rules hold: the table ``passk_gates``, from attempts.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`. Runs are ordered
        by ``started_at``, and runs without times by ``run_id``.
    rules
        Rules as the var ``passk_gates`` has them, or read already; the rows are in their order.
    runs
        Rows of ``passk_runs``, which know of rejected and missing attempts. Without them a run is
        of the agent that its attempts name, and coverage is that of the log.
    unusable
        Runs of which every row was rejected, by ``run_id``, ``suite``, ``agent`` and ``loaded_at``:
        a gate on the latest run must not pass on an older one.
    pairs
        (baseline, candidate, suite) for the rules that name no baseline, with None for any suite.
        By default each run with the one before it of its suite and agent.
    quarantine
        Entries as the var ``passk_quarantine`` has them: tasks that rules on results leave out.
        An attempt is left out up to the day ``until``, by its ``started_at`` in UTC, or else its
        ``loaded_at``; one without a time is not.
    k
        The k of a rule that names none.
    ordered
        Whether the diagnostics that depend on the order of the attempts are computed.
    confidence
        Level of every interval, between 0 and 1.
    min_eligible_share
        As in :func:`passk_py.suite_metrics`.
    cluster
        As in :func:`passk_py.suite_metrics`: gates on tasks like these then know of families.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per gate, run, pair and slice that it judges, with the columns of the table
        ``passk_gates`` except ``loaded_at``: whose run it is, ``rule`` in words, ``estimate`` with
        its limits, ``result`` (``pass``, ``fail`` or ``inconclusive``), ``reason``, ``to_settle``
        (what would settle an inconclusive one) and ``severity`` (null where it
        passes), ``is_advisory`` (whether a fail stops nothing).

    Raises
    ------
    PasskError
        If a rule or an entry of the quarantine can't be right, two have the same name, a column is
        missing or of the wrong type.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "r", "task_id": task, "attempt": number, "passed": True}
    ...         for task in range(30)
    ...         for number in range(1, 5)
    ...     ]
    ... )
    >>> rules = [
    ...     {"name": name, "type": "threshold", "metric": "pass_hat_k", "k": 4, "min": least}
    ...     for name, least in (("good", 0.9), ("splendid", 0.99))
    ... ]
    >>> judge_gates(log, rules).select("gate", "result", "to_settle").rows()
    [('good', 'pass', None), ('splendid', 'inconclusive', 'At least 295 tasks.')]
    """
    read = rules_of(rules, deployment_k=k)
    if cluster is not None and any(rule.type == "sequential" for rule in read):
        raise ArgumentError(
            "A sequential rule takes each task for a draw of its own, "
            "but the cluster says that tasks are related.",
            hint="Leave out sequential, or judge without families.",
        )
    log = Evidence(
        attempts.lazy().collect(),
        runs,
        unusable,
        pairs,
        confidence,
        min_eligible_share,
        cluster,
        threshold,
        deployment_k=k,
        ordered=ordered,
    )
    left_out = quarantine_of(log, entries_of(quarantine))
    rows = []
    for rule in read:
        for run, found in judge(rule, log, left_out):
            named = rule.run if rule.run not in ("latest", "all") else UNKNOWN
            severity = {"fail": rule.severity, "inconclusive": rule.inconclusive_severity}
            rows.append(
                {
                    "gate": rule.gate,
                    "suite": run.suite if run else rule.suite or UNKNOWN,
                    "run_id": run.run_id if run else named,
                    **found._asdict(),
                    **{name: run.told.get(name) if run else None for name in IDENTITY},
                    "agent": (run.agent if run else None) or rule.agent,
                    "rule_type": rule.type,
                    "rule": rule.text,
                    "metric": rule.metric,
                    "k": rule.k or None,
                    "scope": rule.scope,
                    "threshold": None if rule.type == "diagnostics" else float(rule.threshold),
                    "severity": severity.get(found.result),
                    "is_advisory": rule.severity != "error"
                    and (found.result != "inconclusive" or rule.inconclusive_severity != "error"),
                }
            )
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")
