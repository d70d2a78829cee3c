"""Attempts to label next: drawn at random among graded passes and graded failures."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl

from passk_py.common.contract import KEY
from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.graders.matched_labels import read_labels
from passk_py.metrics.logs import read_log
from passk_py.stats.estimators.arguments import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence


@any_frame
def attempts_to_label(
    attempts: pl.DataFrame | pl.LazyFrame,
    labels: Any = None,  # noqa: ANN401 - any frame
    *,
    passes: int = 50,
    failures: int = 50,
    seed: int = 0,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Draw attempts to label, so many that the grader passed and so many that it failed.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    labels
        Those that there are; their attempts are not drawn again.
    passes, failures
        How many of each to draw from a suite; all that there are, if they are fewer.
    seed
        The same seed draws the same attempts.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        The keys of the attempts, ``transcript`` if the log has it, and an empty ``verdict`` to
        fill in. They are in random order and without their grades, so that people judge for
        themselves. One row per attempt.

    Raises
    ------
    ArgumentError
        If ``passes`` or ``failures`` is below 0.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {"run_id": "r", "task_id": str(t), "attempt": a, "passed": (t + a) % 4 > 0}
    ...         for t in range(20) for a in range(1, 5)
    ...     ]
    ... )
    >>> drawn = attempts_to_label(log, passes=3, failures=2)
    >>> drawn.height, drawn.columns
    (5, ['run_id', 'suite', 'task_id', 'attempt', 'verdict'])
    """
    for name, wanted in (("passes", passes), ("failures", failures)):
        if wanted < 0:
            raise ArgumentError(
                f"attempts_to_label: {name} must be a whole number from 0; got {wanted!r}"
            )
    columns = attempts.lazy().collect_schema()
    more = {"transcript": pl.col("transcript")} if "transcript" in columns else {}
    log = read_log(attempts, threshold, more=more).filter(pl.col("passed").is_not_null())
    if labels is not None:
        known = read_labels(labels).filter(pl.col("reason_code").is_null()).select(KEY)
        log = log.join(known.lazy(), on=list(KEY), how="anti")
    chance = random.Random(seed)  # noqa: S311 - no secret
    drawn = [
        part[_drawn(chance, part.height, passes if passed else failures)]
        for (_, passed), part in sorted(
            log.sort(KEY).collect().partition_by("suite", "passed", as_dict=True).items()
        )
    ]
    found = pl.concat([log.limit(0).collect(), *drawn])
    shuffled = found[_drawn(chance, found.height, found.height)]
    return shuffled.drop("passed").with_columns(verdict=pl.lit(None, pl.String))


def _drawn(chance: random.Random, size: int, wanted: int) -> Sequence[int]:
    return chance.sample(range(size), min(size, wanted))
