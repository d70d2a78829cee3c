"""Canonical attempts, in files of four kinds: the fields have the names of the contract.

Lines of JSON, JSON lists and CSV tables may be compressed with gzip or zstd.

- In JSON, numbers may be texts; ``true`` and ``false`` count as 1 and 0 for the score and the
  measures (duration, cost, tokens), not for ``attempt`` and ``seed``. ``tags`` is an object.
- In CSV, the first line names the columns; ``tags`` holds a JSON object. The separator is a comma,
  semicolon, tab or bar, whichever gives a header with ``task_id``. An empty field is null.
- In Parquet, columns may have any type that holds such values: ``attempt`` an integer or a whole
  number in a double or a text, ``tags`` a map, a struct or a JSON text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.common.contract import CONTRACT_COLUMNS, EXPECTED_ATTEMPTS, TRANSCRIPT
from passk_py.ingest.formats.base import Field, Format, Key
from passk_py.ingest.formats.kinds import Kind, Refusal, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passk_py.ingest.formats.sample import Sample

_VERDICTS: Final = ("outcome", "passed", "score")
"""The fields that may say how an attempt ended; the first that is given wins."""

CANONICAL_FIELDS: Final = (
    *(column.name for column in CONTRACT_COLUMNS),
    "passed",
    EXPECTED_ATTEMPTS.name,
)

_KEYS: Final = tuple(
    Key(
        (name,),
        # An object instead of an identifier is a mistake in the log. outcome needs no such check,
        # because it must be one of three words anyway, and a transcript instead of its address is
        # skipped.
        scalar=name not in ("outcome", TRANSCRIPT.name)
        and any(c.name == name and c.duckdb_type == "VARCHAR" for c in CONTRACT_COLUMNS),
        table=name == "tags",
        measure=name in ("score", "duration_s", "cost_usd", "input_tokens", "output_tokens"),
    )
    for name in CANONICAL_FIELDS
)
_FIRST_KEYS: Final = ("run_id", "task_id", "attempt")


def is_canonical(fields: tuple[str, ...]) -> bool:
    """Tell whether a row with these fields is an attempt in the contract's names."""
    return "task_id" in fields and any(name in fields for name in ("attempt", *_VERDICTS))


class _Canonical(Format):
    """A file whose fields have the contract's names."""

    reader_version = 1
    recognised_by = "a field task_id and at least one of attempt, outcome, passed, score"
    fields = (
        *((column.name, column.name) for column in CONTRACT_COLUMNS),
        ("outcome", "or passed: true, false, 1, 0; or score with --score-threshold"),
    )
    verdict_rule = (
        "outcome as given; else passed; else score >= threshold (1.0, within 1e-6, by default)"
    )
    attempt_rule = (
        "attempt as given, from 1; never made up; expected_attempts, if given, is how many of the "
        "task there should be, the same in each of its rows"
    )
    error_rule = (
        "outcome excluded as given; no verdict at all is excluded with the reason no_verdict"
    )
    columns = CANONICAL_FIELDS
    attempts_stay = True
    documentation = "docs/architecture.md#the-attempt-contract"

    def recognises(self, sample: Sample) -> bool:
        """Tell from the names of the fields."""
        if sample.container != self.container:
            return False
        if not sample.complete:
            # The first row is longer than the sample, so the others may be after its end.
            return any(name in sample.fields for name in _FIRST_KEYS)
        return is_canonical(sample.fields)

    def contract(self, columns: Mapping[str, Kind]) -> dict[str, Field]:
        """Map each field to the column of the same name."""
        return {
            name: Field(f'"{name}"', columns[name], name)
            for name in CANONICAL_FIELDS
            if name in columns
        }

    def refuse(self, sample: Sample) -> Refusal | None:
        """Reject a file that has no task, no verdict or, if it is a table, no attempt."""
        if not sample.complete:
            # A field that seems to be missing may come later in the row.
            return None
        if refusal := super().refuse(sample):
            return refusal
        has = listed(sample.fields)
        if "task_id" not in sample.fields:
            return Refusal(
                f"no field task_id among its fields ({has})",
                "Name the task of each attempt in a field task_id.",
            )
        if not any(name in sample.fields for name in _VERDICTS):
            return Refusal(
                f"no verdict among its fields ({has})",
                "Say how each attempt ended in a field outcome (passed, failed, excluded), "
                "passed (true, false) or score.",
            )
        if self.container in ("csv", "parquet") and "attempt" not in sample.fields:
            return self.without_attempt(sample)
        return None

    def without_threshold(self, sample: Sample) -> str | None:
        """Say that there is no score, as far as the start of the file shows it."""
        if "score" in sample.fields or not sample.complete:
            return None
        return f"there is no field score among the fields ({listed(sample.fields)})"

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Tell whether there is a score and no verdict beside it."""
        return [name for name in _VERDICTS if name in sample.fields] == ["score"]

    def without_attempt(self, sample: Sample) -> Refusal:
        """Reject a file in which nothing says which try of its task a row is."""
        # The order of the rows does not count as one: a log that was sorted, merged or written by
        # parallel workers would get numbers that mean nothing, and metrics of the order would be
        # wrong without a sign.
        has = listed(sample.fields)
        return Refusal(
            f"no field attempt among its fields ({has})",
            "Number the tries of each task of a run from 1, in the order in which they ran, in a "
            "field attempt. If the rows stand in that order, `passk formats --propose` writes a "
            "line that numbers them.",
        )

    def unknown_fields(self, sample: Sample) -> tuple[str, ...]:
        """List the fields that the contract does not know; they are not read."""
        return tuple(name for name in sample.fields if name and name not in CANONICAL_FIELDS)


class CanonicalJsonl(_Canonical):
    """Canonical attempts as lines of JSON."""

    name = "jsonl"
    title = "canonical attempts, one JSON object a line"
    container = "json_lines"
    suffixes = (".jsonl", ".ndjson", ".json")
    keys = _KEYS
    example = (
        '{"run_id": "2026-01-31-a", "suite": "airline", "task_id": "7", "attempt": 1, '
        '"outcome": "passed"}'
    )


class CanonicalJson(_Canonical):
    """Canonical attempts as one JSON list."""

    name = "json"
    title = "canonical attempts, one JSON list of objects"
    container = "json_list"
    suffixes = (".json",)
    keys = _KEYS
    example = '[{"run_id": "2026-01-31-a", "task_id": "7", "attempt": 1, "passed": true}]'


class CanonicalCsv(_Canonical):
    """Canonical attempts as a CSV table."""

    name = "csv"
    title = "canonical attempts, a CSV table with a header"
    container = "csv"
    suffixes = (".csv", ".tsv")
    example = "run_id,task_id,attempt,passed\n2026-01-31-a,7,1,true"


class CanonicalParquet(_Canonical):
    """Canonical attempts as a Parquet table."""

    name = "parquet"
    title = "canonical attempts, a Parquet table"
    container = "parquet"
    suffixes = (".parquet", ".pq")
    example = "run_id, suite, task_id, attempt, outcome, ... as columns"
