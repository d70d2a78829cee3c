"""The shared part of formats of experiments: rows in a list, in lines, an object or a table."""

from __future__ import annotations

import csv
import json
from abc import abstractmethod
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_buffer import Element
from passk_py.ingest.containers.json_start import start_of, top_level_keys
from passk_py.ingest.containers.json_walk import EACH, JsonWalk, Names
from passk_py.ingest.containers.lines import raw_lines
from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.containers.shape import ANY, Shape, decoded_or_none, decoder
from passk_py.ingest.containers.table import read_table
from passk_py.ingest.formats.harness import Record
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import short_line, text
from passk_py.ingest.formats.platforms.named_scores import EVALUATOR_ERROR, RULE, Scores
from passk_py.ingest.formats.task_names import LONGEST_TASK, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample


_DELIMITERS: Final = ",;\t"
_DECODE: Final = decoder(ANY)
_TRACEBACK: Final = "Traceback (most recent call last)"


class Experiment(JsonHarness):
    """A log of rows with scores that have names; it is read for the scores, then for the rows."""

    container = "json_list"
    uses_threshold = True
    verdict_rule = RULE
    reasons: ClassVar = {EVALUATOR_ERROR: "excluded"}
    inside: ClassVar[tuple[str, ...]] = ()
    """The members of an object that may hold the rows."""
    score_shape: ClassVar[Shape]
    """The fields of a row that :meth:`scores` takes."""
    wide: ClassVar[bytes] = b""
    """The start of the names of columns that rows may have, which no shape can list."""
    has_tables: ClassVar[bool] = False
    """Whether rows may come as a table too, by :meth:`from_cells`."""

    @abstractmethod
    def scores(self, row: dict[str, Any]) -> Iterable[Mapping[str, Json]]:
        """Give the scores of each attempt of a row, by their names."""

    def from_cells(self, cells: dict[str, str]) -> dict[str, Any]:
        """Make a row of JSON of the cells of a table."""
        raise NotImplementedError

    def note(self, row: dict[str, Any], log: Log) -> None:
        """Note the scores of a row in the first reading."""
        for scores in self.scores(row):
            log.heads["scores"].note(scores)

    def end_survey(self, log: Log) -> None:
        """Do what is left to do after the first reading."""

    def judge(self, scores: Mapping[str, Json], log: Log) -> dict[str, Any]:
        """Give the columns that the scores of an attempt decide."""
        survey: Scores = log.heads["scores"]
        return survey.judge(scores, has_threshold=log.has_threshold)

    def can_read(self, sample: Sample) -> bool:
        """Tell whether it is JSON, or a table if there are any."""
        known = ("json_list", "json_lines", *(("csv",) if self.has_tables else ()))
        return sample.container in known or sample.can_be("json_object")

    def row_keys(self, sample: Sample) -> frozenset[str]:
        """List the keys of the first row, wherever the rows are, or the columns."""
        if sample.container == "csv":
            return frozenset(sample.fields) if self.has_tables else frozenset()
        if sample.container == "json_list":
            return sample.keys_of_first_row((EACH,))
        if sample.can_be("json_object"):
            for name in self.inside:
                if keys := sample.keys_of_first_row((name, EACH)):
                    return keys
        return frozenset(sample.fields) if sample.container == "json_lines" else frozenset()

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Leave it to the rows, which may have verdicts."""
        return False

    def place_of(self, element: Element, log: Log) -> str:
        """Say where a row is: its line, or a JSON pointer after #."""
        return f"{log.current}{log.heads['place']}{element.place}"

    def read(self, log: Log) -> Iterator[Record]:
        """Find out which scores are verdicts, then read the rows."""
        for path in log.files:
            start = start_of(path)
            rows_at = self._rows_at(start, log)
            is_wide = bool(self.wide) and b'"' + self.wide in start
            log.heads["scores"] = Scores()
            with open_log(path) as file:
                decode = _DECODE if is_wide else self._decode_scores
                for row in self._survey(file, path, rows_at, decode):
                    if isinstance(row, dict):
                        self.note(row, log)
            self.end_survey(log)
            with log.opened(path) as file:
                if rows_at is None:
                    yield from self._table(file, path, log)
                elif rows_at and is_wide:
                    for element in JsonWalk(file, rows_at, _DECODE).rows():
                        yield from self.records(element, log)
                elif rows_at:
                    yield from self.go_on(file, log, rows_at, *self.begin(file, rows_at))
                else:
                    yield from self._read_lines(file, log, _DECODE if is_wide else None)

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which scores decided."""
        yield from log.heads["scores"].warning()

    @cached_property
    def _decode_scores(self) -> Callable[[bytes], Any]:
        return decoder(self.score_shape)

    def _rows_at(self, start: bytes, log: Log) -> tuple[str, ...] | None:
        """Find out where the rows are: nowhere in a document for lines, None for a table."""
        if start.startswith(b"["):
            log.heads["place"] = "#/"
            return (EACH,)
        if not start.startswith(b"{"):
            log.heads["place"] = "#L"
            return None
        keys = top_level_keys(start)
        found = next((name for name in self.inside if name in keys), None)
        log.heads["place"] = f"#/{found}/" if found else "#L"
        if found is None and self.inside and b"\n{" not in start and len(start) >= 1 << 16:
            # The rows come after something that is long.
            return (Names("|".join(self.inside), self.inside), EACH)
        return (found, EACH) if found else ()

    def _survey(
        self,
        file: IO[bytes],
        path: Path,
        rows_at: tuple[str, ...] | None,
        decode: Callable[[bytes], Any],
    ) -> Iterator[Json]:
        if rows_at is None:
            for _, cells, fault, _, _ in _cells(file, path):
                if fault is None:
                    yield self.from_cells(cells)
        elif rows_at:
            for element in JsonWalk(file, rows_at, decode).rows():
                value = element.value
                missed = value is None and element.fault is None
                yield decoded_or_none(decode, element.data) if missed else value
        else:
            for line in raw_lines(file):
                if line.strip():
                    yield decoded_or_none(decode, line)

    def _table(self, file: IO[bytes], path: Path, log: Log) -> Iterator[Record]:
        for number, cells, fault, raw, ends in _cells(file, path):
            if fault:
                yield Record(None, raw, fault, ends=ends, line=number)
                continue
            element = Element(b"", place=number, value=self.from_cells(cells))
            for record in self.records(element, log):
                record.line, record.raw = number, raw
                yield record


def _cells(
    file: IO[bytes], path: Path
) -> Iterator[tuple[int, dict[str, str], tuple[str, str] | None, str, bool]]:
    """Give the rows of a table: line, cells, fault, text, whether the file ends in it."""
    head = start_of(path).decode("utf-8", "replace").splitlines(keepends=True)
    delimiter = max(_DELIMITERS, key=head[0].count if head else str)
    names = [name.strip() for name in next(csv.reader(head, delimiter=delimiter), [])]
    places = range(len(names))
    for batch in read_table(file, width=len(names), kept=places, delimiter=delimiter):
        columns = [batch.columns[place] for place in places]
        for row, (number, line, code, reason, ends) in enumerate(batch.rows()):
            fault = (code, reason or "") if code else None
            values = ((name, columns[place][row]) for place, name in enumerate(names))
            yield number, {name: value or "" for name, value in values}, fault, line, ends


def input_task(value: Json) -> str | None:
    """Name a task after its input; None if it has none."""
    if value is None or value == "":
        return None
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shortened(written, LONGEST_TASK)


def error_in(value: Json) -> str | None:
    """Say an error in a line, without its traceback; None if there is no error."""
    if value in (None, "", False):
        return None
    if isinstance(value, dict):
        said = (text(value.get(name)) for name in ("name", "message", "error"))
        value = ": ".join(filter(None, said))
    if not isinstance(value, str):
        return "error"
    before, traceback, _ = value.partition(_TRACEBACK)
    if traceback and not before.strip():
        # The last line of a traceback is the error.
        before = value.strip().splitlines()[-1]
    return short_line(before) or "error"
