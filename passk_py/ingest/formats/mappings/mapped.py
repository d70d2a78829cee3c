"""Files of anyone's own, read by a mapping: JSON in any shape, CSV and Parquet tables.

A mapping is never guessed: it is given with ``passk load --map`` or ``--mapping``. SQL takes the
values from a table of which each row is an attempt, so that it lands as fast as a canonical one.
Everything else goes through :mod:`passk_py.ingest.formats.mappings.mapped_rows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from passk_py.common.errors import PasskError
from passk_py.common.names import did_you_mean
from passk_py.common.sql_text import quote
from passk_py.ingest.containers.json_walk import fits
from passk_py.ingest.formats.base import Field, Format
from passk_py.ingest.formats.kinds import Refusal, listed
from passk_py.ingest.formats.mappings.mapped_rows import VERDICTS, MappedRows, attributes_of
from passk_py.ingest.formats.mappings.mapped_sql import field_of, without_verdict
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from passk_py.ingest.formats.kinds import Kind
    from passk_py.ingest.formats.mappings.mapping import Mapping as MappingOfColumns
    from passk_py.ingest.formats.sample import Sample

_SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_TABLES: Final = ("csv", "parquet")


def mapped(mapping: MappingOfColumns, sample: Sample) -> Format:
    """Make the format that reads files like this one by a mapping."""
    container = sample.container
    if container is None and sample.start.startswith(b"["):
        # A list of lists, or of plain values.
        container = "json_list"
    if mapping.rows and sample.one_object:
        container = "json_object"
    if container not in ("json_lines", "json_list", "json_object", *_TABLES):
        raise PasskError(
            f"{sample.path} can't be read by a mapping: it is {sample.description or 'no table'}.",
            hint="Mappings read JSON, CSV and Parquet.",
        )
    said: dict[str, Any] = {
        "name": mapping.name,
        "container": container,
        "numbers_attempts": mapping.in_order,
        "attempts_stay": not mapping.in_order,
        "fields": _described(mapping),
        "settings": mapping.description,
    }
    # A format describes itself in its class, so a mapping makes a class of its own.
    if container not in _TABLES:
        said |= attributes_of(mapping, sample, container)
        return cast("Format", type("MappedJson", (_MappedJson,), said)(mapping))
    if mapping.rows or any(one.is_key for one in mapping.every):
        said |= attributes_of(mapping, sample, container)
        return cast("Format", type("MappedCells", (_MappedCells,), said)(mapping))
    for one in mapping.every:
        if not one.path or not isinstance(one.path[0], str):
            raise PasskError(
                f"{one.source} names no column of {sample.path}, which is a table.",
                hint="Write $.name for a column, or say rows if columns hold attempts, such as "
                "rows=$.run_*.",
            )
    said["columns"] = tuple(dict.fromkeys(str(one.path[0]) for one in mapping.every if one.path))
    return cast("Format", type("MappedTable", (_MappedTable,), said)(mapping))


class _Described:
    """The facts that both kinds give of themselves."""

    title = "any JSON, CSV or Parquet file, by a mapping"
    reader_version = 3
    suffixes: ClassVar[tuple[str, ...]] = _SUFFIXES
    recognised_by = "never: --map or --mapping asks for it"
    verdict_rule = "as the mapping says: outcome, passed, or score and its threshold"
    attempt_rule = (
        "as the mapping says; in_order numbers by started_at, then by the order of the rows"
    )
    error_rule = "no verdict, or no_verdict is true: outcome_reason and the policy decide"
    documentation = "docs/formats.md#any-other-file"
    example = "task_id: $.case.id"
    differs_by_run = False
    is_harness = True
    uses_threshold = True

    def __init__(self, mapping: MappingOfColumns) -> None:
        self._mapping = mapping

    def without_attempt(self, sample: Sample) -> Refusal:
        """Say that the attempt's number is nowhere where the mapping looks for it."""
        source = self._mapping.expressions["attempt"].source
        return Refusal(
            f"no row that says which try of its task it is: {source} is null in all of them",
            "Correct it, or number the tries of a task in their order: --map attempt=in_order.",
        )

    def recognises(self, sample: Sample) -> bool:
        """Tell of no file that it is to be read by a mapping."""
        return False

    def without_threshold(self, sample: Sample) -> str | None:
        """Say that the mapping names no score."""
        named = "score" in self._mapping.expressions
        return None if named else "the mapping does not say where a score is"

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Tell whether the mapping says where a score is, and no verdict."""
        return "score" in self._mapping.expressions and not (
            {"outcome", "passed"} & self._mapping.expressions.keys()
        )


def _described(mapping: MappingOfColumns) -> tuple[tuple[str, str], ...]:
    tags = ((f"tags.{tag}", one.source) for tag, one in mapping.tags.items())
    return (*((column, one.source) for column, one in mapping.expressions.items()), *tags)


class _MappedJson(_Described, MappedRows):
    """JSON, row by row."""


class _MappedCells(_Described, MappedRows):
    """A table in which several cells of a row are attempts."""

    def refuse(self, sample: Sample) -> Refusal | None:
        # Only now the columns of this very file are known.
        starts = [at for at, _ in self.columns_at]
        missing = [one for one in starts if not any(fits(one, name) for name in sample.fields)]
        if missing:
            return _no_column(missing[0], sample, self._mapping.name)
        used = [name for name in sample.fields if any(fits(one, name) for one in starts)]
        twice = next((name for name in used if used.count(name) > 1), None)
        if twice is not None:
            what = f"more than one column {twice}"
            return Refusal(what, "Leave the one that counts and load it again.")
        return None


def _no_column(name: str, sample: Sample, mapping: str) -> Refusal:
    return Refusal(
        f"no column {name} among its columns ({listed(sample.fields)}), which the mapping "
        f"{mapping} reads",
        f"Correct the mapping, or load the file without it.{did_you_mean([name], sample.fields)}",
    )


class _MappedTable(_Described, Format):
    """A CSV or Parquet table, in SQL."""

    def refuse(self, sample: Sample) -> Refusal | None:
        missing = [name for name in self.columns if name not in sample.fields]
        if missing:
            return _no_column(missing[0], sample, self._mapping.name)
        return super().refuse(sample)

    def default_run_id(self, path: Path) -> str | None:
        said = "run_id" in self._mapping.expressions
        return None if said else run_named_after(path, self.suffixes)

    def contract(self, columns: Mapping[str, Kind]) -> dict[str, Field]:
        said, none = self._mapping.expressions, self._mapping.no_verdict
        fields = {column: field_of(one, columns) for column, one in said.items()}
        if none is not None:
            unless = field_of(none, columns)
            fields |= {
                column: without_verdict(fields[column], unless)
                for column in VERDICTS
                if column in fields
            }
        if self._mapping.in_order:
            fields["attempt"] = Field("1", "integer", "attempt")
        if self._mapping.tags:
            pairs = ", ".join(
                f"{{'k': {quote(tag)}, 'v': cast({field_of(one, columns).sql} as varchar)}}"
                for tag, one in sorted(self._mapping.tags.items())
            )
            entries = f"[e for e in [{pairs}] if e.v is not null]"
            some = f"case when len({entries}) > 0 then map_from_entries({entries}) end"
            fields["tags"] = Field(some, "map", "tags", in_order=True)
        return fields
