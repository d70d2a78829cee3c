"""Rows of files of anyone's own, as a mapping finds them, one by one in Python.

Of JSON, only the values that the mapping names are decoded. If it asks for values above a row, an
element is decoded at the highest level that it asks for, and its rows are found inside it. Values
of the document itself are read in a pass of their own, so that its rows are never held.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final

import duckdb

from passk_py.common.contract import KEY
from passk_py.common.errors import PasskError
from passk_py.common.names import did_you_mean
from passk_py.common.sql_text import identifier, quote
from passk_py.common.words import plural
from passk_py.ingest.containers.json_buffer import Element
from passk_py.ingest.containers.json_start import partly_loaded, start_of
from passk_py.ingest.containers.json_walk import EACH, JsonWalk, Names, fits, is_level
from passk_py.ingest.containers.lines import read_lines
from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.containers.shape import ANY, loaded, loaded_or_none
from passk_py.ingest.containers.table import read_table
from passk_py.ingest.formats.harness import Record, Unfit
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.kinds import listed
from passk_py.ingest.formats.mappings.mapping_rows import RowList, expanded, is_there, rows_as_said
from passk_py.ingest.formats.parquet_schema import glob_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.kinds import Container
    from passk_py.ingest.formats.mappings.mapping import Mapping
    from passk_py.ingest.formats.mappings.mapping_expression import Expression, Level
    from passk_py.ingest.formats.mappings.mapping_rows import Path as RowPath
    from passk_py.ingest.formats.sample import Sample

VERDICTS: Final = ("outcome", "passed", "score")
"""The columns that are null where a mapping says that there is no verdict."""

_NO_VERDICT: Final = dict.fromkeys(VERDICTS)
_NOWHERE: Final = Names("nowhere", ())
_ROWS: Final = 1000
_MOST_NAMES: Final = 200
_DEEPEST: Final = 3
_SHOWN: Final = 8


@dataclass(slots=True)
class _Reading:
    """How far the reading of a log is."""

    unfound: dict[str, Expression]
    """The expressions of which no row has had anything yet."""
    rows: RowList
    document: Json = None
    count: int = 0
    """How many rows were read."""


def attributes_of(mapping: Mapping, sample: Sample, container: Container) -> dict[str, Any]:
    """Give the attributes of the class that reads files like this one."""
    paths = mapping.rows or ((),)
    if container == "json_list":
        # The rows are looked for in each element, whether or not a star stands for it.
        paths = tuple((EACH, *(path[1:] if path[:1] == (EACH,) else path)) for path in paths)
    expressions = mapping.every
    by_line = container not in ("json_list", "json_object")
    lists = tuple(
        RowList(path, (), frozenset()) if by_line else RowList.of(path, expressions)
        for path in paths
    )
    if container == "json_object":
        levels = max(one.levels for one in lists)
        for one in expressions:
            if one.is_key and one.up >= levels:
                raise PasskError(
                    f"The {mapping.called} says {one.source}, but {sample.path} is one "
                    "document, which stands under no name.",
                    hint="Each star of rows is a level, the last one the rows: $key is their name "
                    "or place.",
                )
    firsts = [one.path for one in expressions if not one.up and not one.is_key]
    return {
        "labels": {column: one.source for column, one in mapping.expressions.items()},
        "lists": lists,
        "rows_at": lists[0].walked,
        "shape": _shape_of(lists, expressions),
        "by_line": by_line,
        "is_plain": not any(one.up or one.is_key for one in expressions)
        and all(one.path == one.walked for one in lists),
        "rows_are_objects": bool(firsts)
        and all(path and isinstance(path[0], str) for path in firsts),
        "table": (sample.fields, sample.delimiter, sample.newline),
        "columns_at": tuple(_columns_at(mapping)),
    }


def _shape_of(lists: tuple[RowList, ...], expressions: Iterable[Expression]) -> Any:  # noqa: ANN401
    """Ask for what the mapping reads in the elements that are walked to; of a list, for all."""
    wanted: list[tuple[str | int, ...]] = []
    for rows in lists:
        inside = sum(map(is_level, rows.expanded))
        paths = [one.path or () for one in expressions if one.up == inside and not one.is_key]
        if rows.expanded:
            paths.append(_up_to_level(rows.expanded))
        wanted += paths
    shape: dict[str, Any] = {}
    for path in sorted(wanted, key=len, reverse=True):
        names = []
        for step in path:
            if isinstance(step, int):
                break
            names.append(step)
        if not names:
            return ANY
        node = shape
        for name in names[:-1]:
            below = node.setdefault(name, {})
            if below is ANY:
                break
            node = below
        else:
            # A shorter path asks for the whole of what a longer one takes a part of.
            node[names[-1]] = ANY
    return shape


def _up_to_level(path: RowPath) -> RowPath:
    return path[: next(place for place, step in enumerate(path) if is_level(step))]


def _columns_at(mapping: Mapping) -> Iterator[tuple[str, bool]]:
    """Give the columns of a table that are read, and whether something in their cells is."""
    inside = any(one.path for one in mapping.every if not one.up)
    for path in mapping.rows:
        yield path[0], len(path) > 1 or inside
    for one in mapping.every:
        if one.up == max(sum(map(is_level, path)) for path in mapping.rows or ((),)) and one.path:
            yield str(one.path[0]), len(one.path) > 1 or bool(one.among)


class MappedRows(JsonHarness):
    """Reads rows of JSON, and of tables whose cells are rows."""

    lists: ClassVar[tuple[RowList, ...]]
    by_line: ClassVar[bool]
    """Whether all rows of a line are found within it."""
    is_plain: ClassVar[bool]
    """Whether each element is a row, and nothing is asked for but its values."""
    table: ClassVar[tuple[tuple[str, ...], str, bytes]]
    columns_at: ClassVar[tuple[tuple[str, bool], ...]]
    _mapping: Mapping

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after the file, unless the mapping says where its name is."""
        return None if "run_id" in self._mapping.expressions else super().default_run_id(path)

    def can_read(self, sample: Sample) -> bool:
        """Tell that the file is of the container that the class was made for."""
        return True

    def read(self, log: Log) -> Iterator[Record]:
        """Read the rows of each list; an error if there are none where the mapping says so."""
        unfound = {one.source: one for one in self._mapping.every}
        log.state = _Reading(unfound, self.lists[0])
        none = True
        for record in self._records(log):
            none = False
            yield record
        if none and self._mapping.rows:
            raise self._no_rows(log)

    def _records(self, log: Log) -> Iterator[Record]:
        if self.container == "parquet":
            yield from self._cells_of_parquet(log)
            return
        for rows in self.lists[:1] if self.by_line else self.lists:
            log.state.rows = rows
            if rows.document:
                log.state.document = _values_of(log, rows.document)
            with log.opened(log.path) as file:
                if self.container == "csv":
                    yield from self._cells_of_csv(file, log)
                else:
                    yield from self.read_file(file, log, rows.walked)

    def attempts(
        self, row: Json, element: Element, log: Log
    ) -> Iterable[dict[str, Any] | Unfit | Record]:
        """Give the attempts of an element: itself, or the rows within it."""
        state: _Reading = log.state
        if self.is_plain:
            state.count += 1
            values = {name: one.value_of(row) for name, one in self._mapping.expressions.items()}
            if self._mapping.tags:
                values["tags"] = {tag: one.value_of(row) for tag, one in self._mapping.tags.items()}
            none = self._mapping.no_verdict
            if none is not None and none.value_of(row):
                values |= _NO_VERDICT
            if state.unfound:
                self._note(((None, row),), state)
            yield values
            return
        found = False
        for rows in self.lists if self.by_line else (state.rows,):
            for levels in expanded(self._start(row, element, rows, state), rows.expanded):
                found = True
                if isinstance(levels, Unfit):
                    yield levels
                    continue
                yield self._attempt(levels, state)
            found = found or is_there(row, rows.expanded)
        if not found:
            places = " or ".join(rows_as_said(rows.path) for rows in self.lists)
            yield Unfit("missing_field", f"There are no rows at {places}.")

    def _start(
        self, row: Json, element: Element, rows: RowList, state: _Reading
    ) -> tuple[Level, ...]:
        """Give the levels down to an element that was decoded."""
        if self.by_line:
            return ((element.place - 1, row),)
        if not rows.walked:
            return ((None, row),)
        *above, (key, _) = rows.above(
            element.keys or (*rows.walked[:-1], element.place), state.document
        )
        return (*above, (key, row))

    def _attempt(self, levels: tuple[Level, ...], state: _Reading) -> Unfit | Record:
        """Make an attempt of the levels down to a row."""
        row = levels[-1][1]
        if self.rows_are_objects and not isinstance(row, dict):
            kind = "a list" if isinstance(row, list) else "no object"
            fault = ("malformed_line", f"The row is {kind}, but should be a JSON object.")
            return Record(None, row, fault)
        state.count += 1
        mapping = self._mapping
        values = {name: one.value_in(levels) for name, one in mapping.expressions.items()}
        if mapping.tags:
            values["tags"] = {tag: one.value_in(levels) for tag, one in mapping.tags.items()}
        if mapping.in_order:
            # Rows of one line have its number, so their order is told by this.
            values["attempt"] = state.count
        if state.unfound:
            self._note(levels, state)
        if mapping.no_verdict is not None and mapping.no_verdict.value_in(levels):
            values |= _NO_VERDICT
        return Record(values, row)

    def _note(self, levels: tuple[Level, ...], state: _Reading) -> None:
        """Note which expressions have found something."""
        for source in [name for name, one in state.unfound.items() if one.is_in(levels)]:
            del state.unfound[source]

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which expressions found nothing in any row, if that decides or is near a name."""
        return (said for said, is_doubtful in self._unfound(log) if is_doubtful)

    def notes(self, log: Log) -> Iterable[str]:
        """Say which others found nothing: a log without failures may have no field for errors."""
        return (said for said, is_doubtful in self._unfound(log) if not is_doubtful)

    def _unfound(self, log: Log) -> Iterator[tuple[str, bool]]:
        """Say which expressions found nothing, what there is, and whether that is doubtful."""
        state: _Reading = log.state
        if not state.count:
            return
        first = self._first_levels(log, state) if state.unfound else ()
        said = self._mapping.expressions
        decisive = {said[name].source for name in (*KEY, *VERDICTS) if name in said}
        for source, one in state.unfound.items():
            value = first[-1 - one.up][1] if one.up < len(first) else None
            if value is None and one.up:
                value = partly_loaded(start_of(log.path))
            names = list(_names_in(value))
            there = f" There are {listed(names, _SHOWN)}." if names else ""
            near = did_you_mean([".".join(map(str, one.path or ()))], names)
            nothing = f"{source} found nothing in {plural(state.count, 'row')}.{there}{near}"
            yield nothing, bool(near) or source in decisive

    def _first_levels(self, log: Log, state: _Reading) -> tuple[Level, ...]:
        """Read the first row once more, with everything that is in it."""
        rows = state.rows
        if self.container in ("csv", "parquet"):
            first = Element(b"", place=1, value=dict.fromkeys(self.table[0]))
        else:
            with open_log(log.path) as file:
                if self.container == "json_lines":
                    lines = (line[1] for batch in read_lines(file) for line in batch.rows())
                    values = map(loaded_or_none, (line.encode(errors="replace") for line in lines))
                    found = next((one for one in values if isinstance(one, dict)), None)
                    first = Element(b"", place=1, value=found)
                else:
                    first = next(JsonWalk(file, rows.walked, loaded).rows(), Element(b""))
                    if not first.keys and rows.walked:
                        return ()
        start = self._start(first.value, first, rows, state)
        levels = next(expanded(start, rows.expanded), start)
        return start if isinstance(levels, Unfit) else levels

    def _no_rows(self, log: Log) -> PasskError:
        """Give the error for a file in which the mapping finds no rows."""
        places = [rows_as_said(path) for path in self._mapping.rows]
        hint = "Check whether the run that wrote it has finished."
        value = partly_loaded(start_of(log.path))
        for step in self._mapping.rows[0]:
            if not isinstance(value, dict) or not value or any(fits(step, name) for name in value):
                value = value.get(step) if isinstance(value, dict) else None
                continue
            hint = f"There are {listed(list(value))}.{did_you_mean([step], value)}"
            break
        return PasskError(f"{log.path} holds no rows at {' or '.join(places)}.", hint=hint)

    def _cells_of_csv(self, file: IO[bytes], log: Log) -> Iterator[Record]:
        names, delimiter, newline = self.table
        kept = {place: name for place, name in enumerate(names) if self._is_read(name)}
        entered = {
            name for at, inside in self.columns_at for name in names if inside and fits(at, name)
        }
        batches = read_table(
            file, width=len(names), kept=kept, delimiter=delimiter, newline=newline
        )
        count = 0
        for batch in batches:
            for place, (number, text, code, reason, ends) in enumerate(batch.rows()):
                if code is not None and reason is not None:
                    yield Record(None, text, (code, reason), ends, number)
                    continue
                row: dict[str, Any] = {}
                for at, name in kept.items():
                    cell = batch.columns[at][place] or None
                    if cell and name in entered and cell[0] in "{[":
                        cell = loaded_or_none(cell.encode()) or cell
                    row[name] = cell
                count += 1
                yield from self._of_cells(row, count, number, log)

    def _cells_of_parquet(self, log: Log) -> Iterator[Record]:
        kept = ", ".join(
            f"{identifier(name)} := {identifier(name)}"
            for name in self.table[0]
            if self._is_read(name)
        )
        path = quote(glob_literal(log.path))
        count = 0
        with duckdb.connect() as connection:
            rows = connection.execute(
                f"select cast(to_json(struct_pack({kept})) as varchar) "
                f"from read_parquet({path}, hive_partitioning = false)"
            )
            while some := rows.fetchmany(_ROWS):
                for (text,) in some:
                    count += 1
                    yield from self._of_cells(loaded(text), count, count, log)

    def _is_read(self, name: str) -> bool:
        return any(fits(at, name) for at, _ in self.columns_at)

    def _of_cells(self, row: Json, count: int, number: int, log: Log) -> Iterator[Record]:
        """Give the attempts of a row of a table."""
        for record in self.records(Element(b"", place=count, value=row), log):
            record.line = number
            yield record


def _values_of(log: Log, wanted: frozenset[RowPath]) -> Json:
    """Read values of a document, in a pass of its own over it."""
    document: dict[str, Any] = {}
    with log.opened(log.path) as file:
        walk = JsonWalk(file, (_NOWHERE,), loaded, wanted)
        # The rows are read after that, and tell of what is broken.
        for _ in walk.rows():
            pass
    for names, data in walk.heads.items():
        node = document
        for name in names[:-1]:
            node = node.setdefault(name, {})
        node[names[-1]] = loaded_or_none(data)
    return document


def _names_in(value: Json, above: str = "", depth: int = 0) -> Iterator[str]:
    """List the names in a value, those of inner objects with dots."""
    if not isinstance(value, dict):
        return
    for name, inner in itertools.islice(value.items(), _MOST_NAMES):
        if isinstance(inner, dict) and inner and depth < _DEEPEST:
            yield from _names_in(inner, f"{above}{name}.", depth + 1)
        else:
            yield f"{above}{name}"
