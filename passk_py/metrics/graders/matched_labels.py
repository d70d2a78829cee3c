"""Labels beside the grades of their attempts, in frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.common.contract import KEY, VERDICTS
from passk_py.common.errors import PasskError
from passk_py.metrics.graders.grader import Stratum
from passk_py.metrics.logs import suite_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_NEEDS: Final = "They need run_id, task_id, attempt and verdict, and suite where the log has it."


def read_labels(labels: Any, what: str = "labels") -> pl.DataFrame:  # noqa: ANN401 - any frame
    """Read labels from any frame; those that are none have a ``reason_code``."""
    frame = as_polars(labels, what)
    needed = ("run_id", "task_id", "attempt", "verdict")
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise PasskError(f"the {what} have no column {' and no '.join(missing)}", hint=_NEEDS)
    number = pl.col("attempt").cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    told = pl.col("verdict").cast(pl.String).str.strip_chars().str.to_lowercase()
    empty = pl.any_horizontal(pl.col(*KEY, "told").is_null(), pl.col("run_id", "task_id") == "")
    return (
        frame.select(
            pl.col("run_id", "task_id").cast(pl.String),
            suite_of(frame.columns).cast(pl.String),
            attempt=pl.when((number >= 1) & (number == number.floor())).then(number.cast(pl.Int64)),
            told=told,
            is_missing=pl.col("attempt").is_null(),
            verdict=told.replace_strict(VERDICTS, default=None, return_dtype=pl.String),
        )
        .with_columns(
            reason_code=pl.when(empty & (pl.col("is_missing") | pl.col("attempt").is_not_null()))
            .then(pl.lit("missing_field"))
            .when(pl.col("attempt").is_null())
            .then(pl.lit("wrong_type"))
            .when(pl.col("verdict").is_null())
            .then(pl.lit("unknown_verdict"))
        )
        .select(*KEY, "verdict", "reason_code")
    )


def as_polars(labels: Any, what: str) -> pl.DataFrame:  # noqa: ANN401 - any frame
    """Read any eager frame, and any frame of polars."""
    if isinstance(labels, pl.LazyFrame):
        return labels.collect()
    if isinstance(labels, pl.DataFrame):
        return labels
    import narwhals as nw

    try:
        frame: pl.DataFrame = nw.from_native(labels, eager_only=True).to_polars()
    except TypeError:
        raise PasskError(
            f"{what} must be a frame, not {type(labels).__name__}", hint=_NEEDS
        ) from None
    return frame


def matched_labels(labels: pl.DataFrame, grades: pl.LazyFrame) -> pl.DataFrame:
    """Put the grade beside each label; those that can't be used have a ``reason_code``.

    ``grades`` has the key of each attempt and ``passed``, null where it is excluded.
    """
    sound = labels.filter(pl.col("reason_code").is_null()).drop("reason_code")
    keys = sound.select(KEY).unique()
    graded = (
        grades.select(*KEY, "passed", is_there=True)
        .join(keys.lazy(), on=list(KEY), how="semi")
        .collect(engine="streaming")
    )
    matched = sound.join(graded, on=list(KEY), how="left").with_columns(
        reason_code=pl.when(pl.col("is_there").is_null())
        .then(pl.lit("no_such_attempt"))
        .when(pl.col("passed").is_null())
        .then(pl.lit("not_graded"))
        .when(pl.col("verdict").n_unique().over(KEY) > 1)
        .then(pl.lit("contradictory"))
        .when(pl.int_range(pl.len()).over(KEY) > 0)
        .then(pl.lit("duplicate"))
    )
    broken = labels.filter(pl.col("reason_code").is_not_null())
    return pl.concat([matched.drop("is_there"), broken], how="diagonal")


def strata_of(
    matched: pl.DataFrame, graded: Mapping[tuple[str, str], tuple[float, int]]
) -> dict[str, list[Stratum]]:
    """Count the labels of each suite that are used by run; ``graded`` has rates and n."""
    passed, truly = pl.col("passed"), pl.col("verdict") == "passed"
    used = (
        matched.filter(pl.col("reason_code").is_null())
        .group_by("run_id", "suite")
        .agg(
            passes=passed.sum(),
            true_passes=(passed & truly).sum(),
            failures=(~passed).sum(),
            false_failures=(~passed & truly).sum(),
        )
        .sort("suite", "run_id")
    )
    strata: dict[str, list[Stratum]] = {suite: [] for suite in matched["suite"].unique().sort()}
    for run_id, suite, passes, true_passes, failures, false_failures in used.iter_rows():
        labels = (passes, true_passes, failures, false_failures)
        strata[suite].append(Stratum(*labels, *graded[run_id, suite]))
    return strata
