"""The careful way: row by row, with a reason for each row that is rejected."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import duckdb

from passk_py.common.errors import PasskError
from passk_py.ingest.containers.collector import COLLECTOR
from passk_py.ingest.containers.open_bytes import open_bytes, position_of
from passk_py.ingest.formats.harness import Expected, Log
from passk_py.ingest.landing.contract_sql import ContractSql
from passk_py.ingest.landing.expectations import EXPECTED, expectations, is_name
from passk_py.ingest.landing.given import as_given, placed
from passk_py.ingest.landing.harness_rows import HarnessBatch, read_harness
from passk_py.ingest.landing.raw_rows import AsArrow, careful_batches, frame_of, relation_of_batch
from passk_py.ingest.landing.staged import STAGE, Staged, number_attempts, rows_with
from passk_py.ingest.landing.storage import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.ingest.containers.lines import Batch
    from passk_py.ingest.landing.source import Source

# The share of the time that goes into reading; the rest is for writing the rows.
_DONE: Final = 0.9
_BATCH: Final = "passk_batch"
_NO_REASON: Final = ", ".join(
    f"null::varchar as {name}"
    for name in ("reject_field", "reject_code", "reject_reason", "raw_text")
)
# With fewer rows, typing texts, and counting typed rows, is faster than optimizing a query.
_FEW: Final = 1000
_FEW_TYPED: Final = 5000


@contextmanager
def careful_rows(connection: duckdb.DuckDBPyConnection, source: Source) -> Iterator[Staged]:
    """Read a log and hold its typed rows; an error if it has none, or none with its number."""
    try:
        options = source.options
        log = Log(source.sample.path, source.files, options.run_id, options.sets_threshold)
        read = _Stage(connection, source, log)
        rows, rejected = read.fill()
        filled, wanted, excluded = rows_with(""), list[Expected](), {}
        warnings, notes = tuple[str, ...](), tuple[str, ...]()
        with _planned_plainly(connection, few=rows < _FEW_TYPED):
            if source.harness:
                filled = read.filled
                expected_of_log = source.harness.expected(log)
                wanted = list(_of_given_run(connection, source, expected_of_log, filled))
                excluded = _excluded(connection)
                warnings = tuple(source.harness.warnings(log))
                notes = tuple(source.harness.notes(log))
            notes += placed(connection, source, f"from {filled} where reject_code is null")
            number_attempts(connection, source, filled)
            given = as_given(source, f"from {filled}")
            expected = expectations(connection, f"({given})", source.options, wanted)
        yield Staged(
            f"select {COLUMNS}, source_line from ({given}) where reject_code is null",
            f"select * from ({given}) where reject_code is not null" if rejected else None,
            rows,
            _DONE,
            expected=expected,
            excluded=excluded,
            notes=notes,
            warnings=warnings,
        )
    finally:
        connection.execute(f"drop table if exists {STAGE}")
        connection.execute(f"drop table if exists {EXPECTED}")


def no_rows(source: Source) -> PasskError:
    """Give the error for a log without rows."""
    return PasskError(
        f"{source.path} holds no rows.", hint="Check whether the run that wrote it has finished."
    )


class _Stage:
    """The stage of a log, to which its rows are added, and what the log says of all of them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, source: Source, log: Log) -> None:
        self._connection = connection
        self._source = source
        self._log = log
        self._contract = ContractSql(source, fast=False)
        self._into = "create or replace temp table passk_stage as"
        self._has_tags = False

    def fill(self) -> tuple[int, int]:
        """Read the file; how many rows it has, and how many of them are rejected."""
        rows, good = 0, True
        for batch, position in _batches(self._source, self._log):
            if not len(batch):
                continue
            if isinstance(batch, HarnessBatch):
                good &= self._judge_harness(batch)
                if not batch.whole:
                    COLLECTOR.collect_young()
            else:
                good &= self._judge(batch)
            self._into = f"insert into {STAGE}"
            rows += len(batch)
            self._source.tell(int(position * _DONE), rows)
        if not rows:
            raise no_rows(self._source)
        if good:
            return rows, 0
        rejected = self._connection.execute(
            f"select count(*) from {STAGE} where reject_code is not null"
        ).fetchall()[0][0]
        if rejected:
            _check_numbers(self._connection, self._source)
        return rows, rejected

    @property
    def filled(self) -> str:
        """SQL for the rows with all that the log says of its attempts, once they are read."""
        heads = {name: _fill(value) for name, value in self._fills.items() if name != "tags"}
        filled = self._contract.filled(heads, None if self._has_tags else self._tags)
        columns = ", ".join(f"{sql} as {name}" for name, sql in filled.items())
        return rows_with(columns)

    @cached_property
    def _fills(self) -> Mapping[str, Any]:
        return self._source.harness.fills(self._log) if self._source.harness else {}

    @cached_property
    def _tags(self) -> dict[str, str]:
        """The tags that each attempt gets which has none of the name."""
        said = (self._fills.get("tags") or {}).items()
        return {name: value for name, tag in said if (value := _fill(tag)) is not None}

    def _judge(self, batch: Batch) -> bool:
        """Add a batch, and say what is wrong with its rows; false if anything is."""
        relation = relation_of_batch(_BATCH, batch, self._source)
        frames = {_BATCH: frame_of(batch)}
        few = len(batch) < _FEW
        if not any(batch.codes) and self._takes(self._contract, relation, frames, few=few):
            return True
        self._add(self._contract.explained(relation), frames, few=few)
        return False

    def _judge_harness(self, batch: HarnessBatch) -> bool:
        """Do the same with rows of a harness; they get the log's tags if they are all its rows."""
        tags = (self._tags, self._source.options.tags) if batch.whole else ()
        rows = batch.typed(*tags)
        if rows is not None:
            typed = ContractSql(
                self._source, fast=False, kinds=rows.kinds, all_judged=rows.all_judged
            )
            frames = {_BATCH: AsArrow(rows.frame)}
            frames |= {name: AsArrow(table) for name, table in rows.tables.items()}
            # There is next to nothing to optimize in it.
            if self._takes(typed, rows.relation(_BATCH), frames, few=True):
                self._has_tags = batch.whole
                return True
        batch.write_texts()
        relation = relation_of_batch(_BATCH, batch, self._source)
        explained = self._contract.explained(relation)
        self._add(explained, {_BATCH: frame_of(batch)}, few=len(batch) < _FEW)
        return False

    def _takes(
        self, contract: ContractSql, relation: str, frames: dict[str, AsArrow], *, few: bool
    ) -> bool:
        """Add rows; false if some row breaks a rule, and the longer query says which."""
        try:
            self._add(
                f"select *, {_NO_REASON} from ({contract.all_good(relation)})", frames, few=few
            )
        except duckdb.InvalidInputException:
            return False
        return True

    def _add(self, query: str, frames: dict[str, AsArrow], *, few: bool) -> None:
        for name, frame in frames.items():
            self._connection.register(name, frame)
        try:
            with _planned_plainly(self._connection, few=few):
                self._connection.execute(f"{self._into} {query}")
        finally:
            for name in frames:
                self._connection.unregister(name)


@contextmanager
def _planned_plainly(connection: duckdb.DuckDBPyConnection, *, few: bool) -> Iterator[None]:
    """Leave out the optimizer for a few rows: it takes longer than they do."""
    if not few:
        yield
        return
    connection.execute("pragma disable_optimizer")
    try:
        yield
    finally:
        connection.execute("pragma enable_optimizer")


def _batches(source: Source, log: Log) -> Iterator[tuple[Batch, int]]:
    """Give the rows of the file in batches, and how many bytes are read after each."""
    if source.harness:
        yield from ((batch, log.position) for batch in read_harness(source.harness, log))
        return
    with open_bytes(source.sample.path, source.sample.compression) as file:
        for batch in careful_batches(source, file):
            yield batch, position_of(file)


def _fill(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Write a value of a log's head as text; what could not be stored as a name says nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    return text if is_name(text) else None


def _of_given_run(
    connection: duckdb.DuckDBPyConnection, source: Source, expected: Iterable[Expected], said: str
) -> Iterable[Expected]:
    """Say what is expected of the run that the log names of the one that the options name."""
    if source.options.run_id is None:
        return expected
    runs = connection.execute(f"select distinct run_id from {said}").fetchall()
    return [replace(one, run_id=None) for one in expected if (one.run_id,) in [*runs, (None,)]]


def _excluded(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Count what is excluded, the most frequent reason first."""
    found = connection.execute(
        f"select coalesce(outcome_reason, ''), count(*) from {STAGE} "
        "where reject_code is null and outcome = 'excluded' group by 1 order by 2 desc, 1"
    ).fetchall()
    return dict(found)


def _check_numbers(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Say once for the file, not for each of its rows, that it does not number its attempts."""
    readable, without = connection.execute(
        "select count(*), count(*) filter (reject_field = 'attempt' and reject_code = "
        f"'missing_field') from {STAGE} where reject_code is null or reject_field is not null"
    ).fetchall()[0]
    if readable and readable == without:
        refusal = source.format.without_attempt(source.sample)
        raise PasskError(f"{source.path} has {refusal.message}.", hint=refusal.hint)
