"""Reading a log of attempts that is a frame: its key, the verdicts, and the values of slices.

:mod:`passk_py.metrics.frames` describes the columns of such a log and the order of precedence of
its verdicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl

from passk_py.common.contract import OUTCOMES, score_limit
from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)

_UNTAGGED: Final = "(untagged)"
"""The slice value of attempts that lack the tag, or have null in the column."""

_NEEDS: Final = (
    "A log needs run_id, task_id, attempt, and an outcome, a Boolean passed or a numeric score."
)


def _outcome(frame: pl.DataFrame | pl.LazyFrame) -> pl.Expr:
    outcome = pl.col("outcome").cast(pl.String)
    if isinstance(frame, pl.DataFrame):
        unknown = frame.select(outcome.unique().alias("outcome")).filter(
            ~pl.col("outcome").is_in(OUTCOMES)
        )
        if unknown.height:
            raise PasskError(
                f"an outcome is {unknown.item(0, 0)!r}", hint=f"Outcomes are {', '.join(OUTCOMES)}."
            )
    # A strict cast, so that a lazy frame fails too rather than count an unknown word.
    return outcome.cast(pl.Enum(OUTCOMES))


def _verdict(frame: pl.DataFrame | pl.LazyFrame, schema: pl.Schema, threshold: float) -> pl.Expr:
    """Give true for passed, false for failed, null for excluded."""
    if not {"outcome", "passed", "score"} & set(schema):
        raise PasskError("the attempts have no verdict", hint=_NEEDS)
    verdict = pl.lit(None, pl.Boolean)
    if "score" in schema:
        if not schema["score"].is_numeric():
            raise PasskError(f"the column score is of type {schema['score']}", hint=_NEEDS)
        score = pl.col("score").cast(pl.Float64).fill_nan(None)
        verdict = score >= score_limit(threshold)
    if "passed" in schema:
        passed = pl.col("passed")
        if schema["passed"].is_integer():
            passed = passed.replace_strict([0, 1], [False, True], return_dtype=pl.Boolean)
        elif schema["passed"] not in (pl.Boolean, pl.Null):
            raise PasskError(f"the column passed is of type {schema['passed']}", hint=_NEEDS)
        verdict = pl.coalesce(passed, verdict)
    if "outcome" in schema:
        outcome = _outcome(frame)
        verdict = (
            pl.when(outcome.is_null())
            .then(verdict)
            .when(outcome != "excluded")
            .then(outcome == "passed")
            .otherwise(None)
        )
    return verdict


def value_of(what: str, name: str, schema: pl.Schema) -> pl.Expr:
    """Give the value of a column, or of a tag, as text."""
    if name in schema and name != "tags":
        value = pl.col(name).cast(pl.String)
    elif "tags" not in schema:
        raise PasskError(
            f"the {what} {name!r} is neither a column nor a tag: there is no column tags",
            hint=f"The columns are {', '.join(schema.names())}.",
        )
    elif (tag := tag_of(name, schema)) is not None:
        value = tag
    elif isinstance(tags := schema["tags"], pl.Struct):
        known = ", ".join(field.name for field in tags.fields)
        raise PasskError(
            f"the {what} {name!r} is neither a column nor a tag", hint=f"The tags are {known}."
        )
    else:
        raise PasskError(
            f"the column tags is of type {tags}",
            hint="It must be a map (a list of structs of key and value) or a struct.",
        )
    return value


def suite_of(columns: Collection[str]) -> pl.Expr:
    """Give the suite of each attempt, ``default`` where the log has none."""
    if "suite" in columns:
        return pl.col("suite").fill_null("default")
    return pl.lit("default").alias("suite")


def said_of_runs(log: pl.LazyFrame, columns: Collection[str]) -> pl.LazyFrame:
    """Give what the attempts say of each run in those of the columns that the log has.

    One row per run_id and suite: the least value of a column, and the last time of loading.
    """
    schema = log.collect_schema()
    said = {
        name: pl.col(name).max() if name == "loaded_at" else pl.col(name).drop_nulls().min()
        for name in columns
        if name in schema
    }
    return log.group_by("run_id", suite_of(schema).alias("suite")).agg(**said)


def tag_of(name: str, schema: pl.Schema) -> pl.Expr | None:
    """Give the value of a tag as text; None if the log can't have it."""
    tags = schema.get("tags")
    # Polars before 2 has no maps of its own.
    if isinstance(tags, getattr(pl, "Map", ())):
        return pl.col("tags").map.get(name).cast(pl.String)
    if isinstance(tags, pl.Struct) and name in [field.name for field in tags.fields]:
        return pl.col("tags").struct.field(name).cast(pl.String)
    if (
        isinstance(tags, pl.List)
        and isinstance(tags.inner, pl.Struct)
        and {field.name for field in tags.inner.fields} == {"key", "value"}
    ):
        entry = pl.element()
        hit = entry.filter(entry.struct.field("key") == name).struct.field("value")
        return pl.col("tags").list.eval(hit).list.first().cast(pl.String)
    return None


def read_log(
    frame: pl.DataFrame | pl.LazyFrame,
    threshold: float,
    slice_name: str | None = None,
    more: Mapping[str, pl.Expr] | None = None,
    *,
    cluster: str | None = None,
) -> pl.LazyFrame:
    """Reduce a log to key, verdict (null where excluded), the values of a slice, and more."""
    schema = frame.lazy().collect_schema()
    missing = [name for name in ("run_id", "task_id", "attempt") if name not in schema]
    if missing:
        raise PasskError(f"the attempts have no column {' and no '.join(missing)}", hint=_NEEDS)
    if not schema["attempt"].is_integer():
        raise PasskError(
            f"the column attempt is of type {schema['attempt']}",
            hint="It must be an integer: the place of the try in the order of execution, from 1.",
        )
    columns = {
        "run_id": pl.col("run_id"),
        "suite": suite_of(schema),
        "task_id": pl.col("task_id"),
        "attempt": pl.col("attempt").cast(pl.Int64),
        "passed": _verdict(frame, schema, threshold),
    }
    if slice_name is not None:
        columns["slice_value"] = value_of("slice", slice_name, schema).fill_null(_UNTAGGED)
    if cluster is not None:
        family = value_of("cluster", cluster, schema)
        columns["family"] = pl.when(family != "").then(family)
    return frame.lazy().select(**columns, **(more or {}))


def as_given(frame: FrameT, result: pl.LazyFrame) -> FrameT:
    """Collect the result if the input was eager."""
    if isinstance(frame, pl.DataFrame):
        return result.collect(engine="streaming")
    return result
