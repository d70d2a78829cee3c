"""The table ``passk_diagnostics``, from attempts in polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.diagnostic_words import WORDS
from passk_py.metrics.diagnostics import details, families, losses, order
from passk_py.metrics.diagnostics.correction import correct
from passk_py.metrics.diagnostics.read_runs import Run, runs_of
from passk_py.metrics.diagnostics.results import Result, rounded
from passk_py.stats.estimators import ArgumentError
from passk_py.stats.estimators.arguments import checked_confidence

if TYPE_CHECKING:
    from collections.abc import Callable

_SCHEMA: Final[dict[str, pl.DataType]] = {
    **dict.fromkeys(("run_id", "suite", "diagnostic"), pl.String()),
    **dict.fromkeys(("statistic", "p", "p_adjusted"), pl.Float64()),
    "tasks": pl.Int64(),
    **dict.fromkeys(("verdict", "finding", "meaning", "advice"), pl.String()),
    "loaded_at": pl.Datetime("us"),
}
_OF_ORDER: Final[dict[str, Callable[[Run], Result]]] = {
    "serial_dependence": order.serial_dependence,
    "drift": order.drift,
    "shared_run_effect": order.shared_run_effect,
    "retry_until_pass": order.retry_until_pass,
    "window_gap": order.window_gap,
    "first_k_gap": order.first_k_gap,
}
"""The questions about the order of the attempts."""
_DIAGNOSTICS: Final = _OF_ORDER | {
    "batch_effect": details.batch_effect,
    "duplicate_seeds": details.duplicate_seeds,
    "duplicate_outputs": details.duplicate_outputs,
    "noisy_grader": details.noisy_grader,
    "temperature_zero": details.temperature_zero,
    "dominant_tasks": losses.dominant_tasks,
    "related_tasks": families.related_tasks,
    "jensen_bounds": losses.jensen_bounds,
}
_NO_ORDER: Final = Result(
    None,
    None,
    0,
    "not_applicable",
    "The order of the attempts was not computed: the var passk_ordered_metrics is false.",
)


@any_frame
def diagnose(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    k: int = 4,
    ordered: bool = True,
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Say whether a log can be trusted: the table ``passk_diagnostics``, from attempts.

    Parameters
    ----------
    attempts
        A frame whose rows are attempts; the columns ``seed``, ``output_hash`` and ``started_at``,
        and the tag ``reruns`` of the column ``tags``, are used where they are there.
    k
        How many times in a row the agent must succeed once deployed.
    ordered
        Whether to ask what depends on the order of the attempts. If not, it is ``not_applicable``.
    cluster
        Name of a column, or of a tag, that names the family of related tasks that a task is one of;
        by default families are looked for in the names of the tasks.
    confidence
        A test warns where its corrected p is below 1 less this.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite and diagnostic: ``statistic``, ``p`` (null where there is no
        test), ``p_adjusted`` (corrected over the tests of the run, and over the runs of the suite
        that were loaded by then), ``tasks`` that informed it, ``verdict`` (``ok``, ``warning``,
        ``insufficient`` or ``not_applicable``), ``finding``, ``meaning``, ``advice`` and the
        latest ``loaded_at``.
        Tasks with an attempt number twice, or without one, are left out.

    Raises
    ------
    ArgumentError
        If k is no whole number from 1, or confidence is not between 0 and 1.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Notes
    -----
    Given that c of the n attempts of a task passed, the number of switches of its verdict has the
    mean u / n and the variance u (u - n) / (n^2 (n - 1)) with u = 2 c (n - c), and the sum of the
    places of its passes c (n + 1) / 2 and c (n - c) (n + 1) / 12. An influence that all attempts
    of a task share looks like another chance of passing, and no diagnostic finds it.

    Examples
    --------
    >>> import polars as pl
    >>> tasks = [f"t{i}" for i in range(12) for _ in range(8)]
    >>> sticky = [False] * 4 + [True] * 4
    >>> log = pl.DataFrame(
    ...     {
    ...         "run_id": "r",
    ...         "task_id": tasks,
    ...         "attempt": [1, 2, 3, 4, 5, 6, 7, 8] * 12,
    ...         "passed": sticky * 12,
    ...     }
    ... )
    >>> diagnose(log).filter(pl.col("verdict") == "warning")["diagnostic"].to_list()[:3]
    ['serial_dependence', 'drift', 'shared_run_effect']
    """
    level = checked_confidence("diagnose", confidence)
    rows = measure(attempts, k=k, ordered=ordered, cluster=cluster, threshold=threshold)
    judge(rows, level)
    return pl.DataFrame(rows, schema=_SCHEMA)


def measure(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    k: int,
    ordered: bool,
    cluster: str | None = None,
    threshold: float = 1.0,
) -> list[dict[str, Any]]:
    """Measure what each run says by itself: ``verdict`` is None where a test decides."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ArgumentError(f"diagnose: k must be a whole number from 1; got {k!r}")
    rows: list[dict[str, Any]] = []
    for run_id, suite, tasks, loaded_at in runs_of(attempts, k, threshold, cluster):
        run = Run(tasks, k)
        for diagnostic in WORDS:
            said = _NO_ORDER
            if diagnostic == "retry_until_pass" and (told := order.tried_again(run)):
                said = told
            elif ordered or diagnostic not in _OF_ORDER:
                said = _DIAGNOSTICS[diagnostic](run)
            place = {"run_id": run_id, "suite": suite, "diagnostic": diagnostic}
            rows.append({**place, **said._asdict(), "loaded_at": loaded_at})
    return rows


def judge(rows: list[dict[str, Any]], confidence: float) -> None:
    """Correct the p of all runs, and say what follows: ``verdict``, ``meaning`` and ``advice``."""
    correct(rows)
    alpha = round(1 - confidence, 6)
    for row in rows:
        p, words = row["p_adjusted"], WORDS[row["diagnostic"]]
        verdict = row["verdict"] or ("warning" if p < alpha else "ok")
        row["verdict"], row["meaning"] = verdict, words.meaning(verdict)
        row["advice"] = {"warning": words.advice, "ok": None}.get(verdict, words.need)
        if p is not None:
            said = "< 0.001" if p < 0.0005 else f"= {rounded(p)}"
            row["finding"] += f" After correction, p {said}."
