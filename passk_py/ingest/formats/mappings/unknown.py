"""The message on a file of no format: what it looks like, and the mapping that may read it.

A mapping is never guessed for a load. Here it is only written down, for a person to look at: names
such as ``task`` and ``ok`` say well enough what they are.
"""

from __future__ import annotations

import csv
import itertools
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.contract import OUTCOMES
from passk_py.ingest.containers.json_start import partly_loaded
from passk_py.ingest.containers.json_walk import EACH, is_level
from passk_py.ingest.containers.shape import loaded_or_none
from passk_py.ingest.formats.canonical import CANONICAL_FIELDS, is_canonical
from passk_py.ingest.formats.harness import Unfit
from passk_py.ingest.formats.json_values import at, dict_at
from passk_py.ingest.formats.kinds import listed
from passk_py.ingest.formats.mappings.mapping import map_options
from passk_py.ingest.formats.mappings.mapping_rows import expanded, path_of, rows_as_said
from passk_py.ingest.formats.mappings.row_lists import row_lists
from passk_py.ingest.formats.mappings.row_names import (
    NO_TASK,
    NO_VERDICT,
    OF_TASKS,
    TRIES,
    Rows,
    columns_of,
)
from passk_py.ingest.formats.mappings.row_values import (
    are_counts,
    good_word,
    verdict_of_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.mappings.mapping_expression import Level
    from passk_py.ingest.formats.mappings.mapping_rows import Path
    from passk_py.ingest.formats.sample import Sample

_NO_ROWS: Final = "$.KEY"
BLANKS: Final = (_NO_ROWS, NO_TASK, NO_VERDICT)
"""The paths in capitals, for which a person has to write names."""

_LOOKED_AT: Final = 1000
"""So many elements of a file are looked at, and so many rows in them."""
_FEW: Final = 3


def looks_like(sample: Sample) -> str | None:
    """Say of a file with rows what it looks like; None if it seems to have none."""
    fields = listed(sample.fields)
    if sample.container == "json_object" or (sample.one_object and sample.fields):
        return f"one JSON object with the keys {fields}"
    if not sample.fields:
        return None
    if sample.container == "csv":
        return f"a table with the columns {fields}" if _rows_of_table(sample) else None
    words = {
        "json_lines": f"JSON lines of objects with the fields {fields}",
        "json_list": f"a JSON array of objects with the fields {fields}",
        "parquet": f"a Parquet table with the columns {fields}",
    }
    return words.get(sample.container or "")


def mapping_to_try(sample: Sample) -> str:
    """Write ``--map`` options that may read a file; capitals stand for what no field names."""
    return map_options(proposal(sample))


def proposal(sample: Sample) -> dict[str, str]:
    """Give the lines of a mapping that may read a file, the rows' place first."""
    elements = _elements(sample)
    paths = [(), *dict.fromkeys(path for one in elements[:_FEW] for path in row_lists(one))]
    ranked = [_ranked(path, elements, sample) for path in paths]
    lines = max(ranked, key=lambda one: one[0])[1]
    own = sample.fields
    if is_canonical(own) and not ("rows" in lines or "attempt" in own or sample.one_object):
        return {**_by_their_names(sample, elements), "attempt": lines["attempt"]}
    if sample.one_object and "rows" not in lines and lines["task_id"] == NO_TASK:
        lines = {"rows": _NO_ROWS, **lines}
    return lines


def _by_their_names(sample: Sample, elements: list[Json]) -> dict[str, str]:
    """Give the lines for rows whose fields have the contract's names, such as costs."""
    names = [name for name in CANONICAL_FIELDS if name in sample.fields and name != "tags"]
    # The tags of a table are a text or a map, into which no path leads.
    every = elements if (sample.container or "").startswith("json") else []
    tags = dict.fromkeys(tag for one in every for tag in dict_at(one, "tags") if "=" not in tag)
    paths = {name: (name,) for name in names} | {f"tags.{tag}": ("tags", tag) for tag in tags}
    lines = {column: path_of(*path) for column, path in paths.items()}
    words = [str(word) for one in elements if (word := at(one, "outcome"))]
    if good_word(words) and not {word.lower() for word in words} <= set(OUTCOMES):
        # The words of another tool, under our name.
        lines |= verdict_of_words(lines.pop("outcome"), words)
    return lines


def _ranked(
    path: Path, elements: list[Json], sample: Sample
) -> tuple[tuple[Any, ...], dict[str, str]]:
    """Give the lines of a mapping whose rows are at a path, after how much they say."""
    called = next((name for name in reversed(path) if name != EACH), "")
    are_tries = bool(TRIES.fullmatch(called))
    rows = Rows(tuple(_rows_at(path, elements, sample)), sample.one_object, path, are_tries)
    lines = columns_of(rows)
    says = (lines.get("passed") != NO_VERDICT, not rows.scalars, lines["task_id"] != NO_TASK)
    of_tasks = bool(OF_TASKS.fullmatch(called))
    rank = (bool(rows.levels), *says, are_tries, of_tasks, -sum(map(is_level, path)))
    return rank, {"rows": rows_as_said(path), **lines} if path else lines


def _rows_at(path: Path, elements: list[Json], sample: Sample) -> Iterator[tuple[Level, ...]]:
    """Give the levels of some rows, as a mapping would see them."""
    starts = ((None if sample.one_object else place, one) for place, one in enumerate(elements))
    every = itertools.chain.from_iterable(expanded((start,), path) for start in starts)
    return itertools.islice((one for one in every if not isinstance(one, Unfit)), _LOOKED_AT)


def _elements(sample: Sample) -> list[Json]:
    """Give the first lines, elements or rows of a file, or the document that it is."""
    if sample.container == "csv":
        texts = _rows_of_table(sample) or []
        return [dict(zip(sample.fields, map(_cell, row), strict=False)) for row in texts]
    if sample.container == "parquet":
        rows = _head_of_parquet(sample)
        return [{name: _cell(value) for name, value in row.items()} for row in rows]
    if sample.container == "json_lines" and not sample.one_object:
        lines = sample.start.split(sample.newline, _LOOKED_AT)[:_LOOKED_AT]
        return [row for line in lines if isinstance(row := loaded_or_none(line), dict)]
    document = partly_loaded(sample.start)
    if sample.one_object:
        return [document] if isinstance(document, dict) else []
    return document[:_LOOKED_AT] if isinstance(document, list) else []


def holds_columns(sample: Sample) -> bool:
    """Tell whether a document has a list or an object of values for each column, as of a table."""
    document = next(iter(_elements(sample)), None) if sample.one_object else None
    columns = list(document.values()) if isinstance(document, dict) else []
    if len(columns) < 2 or not all(isinstance(one, list | dict) and one for one in columns):
        return False
    if all(isinstance(one, dict) for one in columns):
        keys = list(columns[0])
        return are_counts(keys) and all(list(one) == keys for one in columns)
    rows = [one for one in columns if isinstance(one, list)]
    kinds = [{type(value) for value in one if value is not None} for one in rows]
    is_table = len(rows) == len(columns) and len({len(one) for one in rows}) == 1
    # Lists of verdicts of several tasks are of one kind.
    return is_table and {str} in kinds and any(kind <= {bool, int, float} for kind in kinds)


def _cell(value: Json) -> Json:
    """Give what a cell of a table holds; a mapping leads into JSON objects too."""
    is_object = isinstance(value, str) and value.startswith("{")
    document = loaded_or_none(value.encode("utf-8", "surrogatepass")) if is_object else None
    return document if isinstance(document, dict) else None if value == "" else value


def _head_of_parquet(sample: Sample) -> list[dict[str, Json]]:
    import polars as pl

    try:
        return pl.scan_parquet(sample.path, glob=False).head(_LOOKED_AT).collect().to_dicts()
    except (OSError, pl.exceptions.PolarsError):
        return [dict.fromkeys(sample.fields)]


def _rows_of_table(sample: Sample) -> list[list[str]] | None:
    """Give the first rows of a table; None if the second line shows that it is none."""
    lines = sample.start.split(sample.newline, _LOOKED_AT + 1)[: _LOOKED_AT + 1]
    try:
        texts = [line.decode() for line in lines if line.strip()]
        rows = list(csv.reader(texts, delimiter=sample.delimiter))
    except (UnicodeDecodeError, csv.Error):
        return None
    named = [name for name in sample.fields if name]
    if len(named) < 2 or len(rows) < 2 or len(rows[0]) != len(rows[1]):
        return None
    return rows[1:]
