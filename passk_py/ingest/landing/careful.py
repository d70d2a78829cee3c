"""The careful way: row by row, with a reason for each row that is refused."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import duckdb

from passk_py.common.contract import CONTRACT_COLUMNS
from passk_py.common.errors import PasskError
from passk_py.ingest.containers.collector import COLLECTOR
from passk_py.ingest.containers.open_bytes import open_bytes, position_of
from passk_py.ingest.formats.harness import Expected, Harness, Log
from passk_py.ingest.landing.expectations import EXPECTED, Expectations, expectations, is_name
from passk_py.ingest.landing.given import as_given, placed
from passk_py.ingest.landing.harness_rows import HarnessBatch, read_harness
from passk_py.ingest.landing.readers import as_arrow, careful_batches, frame_of, relation_of_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.ingest.containers.lines import Batch
    from passk_py.ingest.formats import Format
    from passk_py.ingest.landing.contract_sql import ContractSql
    from passk_py.ingest.landing.source import Source

__all__ = ["DONE", "Staged", "numbered", "staged"]

DONE: Final = 0.9
"""Which share of the time goes into reading; the rest is for writing the rows."""

_STAGE: Final = "temp.passk_stage"
_BATCH: Final = "passk_batch"
_COLUMNS: Final = ", ".join(column.name for column in CONTRACT_COLUMNS)
_NO_REASON: Final = ", ".join(
    f"null::varchar as {name}"
    for name in ("reject_field", "reject_code", "reject_reason", "raw_text")
)
# Of fewer rows, texts are typed, and typed rows counted, sooner than a query is optimized.
_FEW: Final = 1000
_FEW_TYPED: Final = 5000


@dataclass(frozen=True, slots=True)
class Staged:
    """The typed rows of a file, until they are written.

    Parameters
    ----------
    good
        A query of the good rows: the contract's columns and ``source_line``.
    others
        A query of the others, with ``reject_code``, ``reject_reason`` and ``raw_text`` too; None
        if there are none.
    rows
        How many rows there are of both.
    excluded
        How many good rows are excluded for which reason; of a harness only.
    rows_of_file
        A query of all rows, where ``expected`` is not found out yet because there is no stage.
    expected
        How many attempts there should be; None where neither the log nor the options
        say it.
    notes
        Sentences on what the options changed.
    warnings
        Sentences on how the log was read that who loads it should know.
    """

    good: str
    others: str | None
    rows: int
    expected: Expectations | None = None
    excluded: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    rows_of_file: str = ""


def numbered(reader: Format, relation: str) -> str:
    """Write SQL that numbers the attempts of each task, if the log leaves that to their order.

    Parameters
    ----------
    reader
        The format.
    relation
        A query of the contract's columns and ``source_line``.

    Returns
    -------
    str
        The query with ``attempt`` counted from 1 in the order of ``started_at`` or, where there is
        none, of the numbers that the rows have, and then of the rows. Rejected rows that tell their
        task are counted too, so that the number of a good one does not depend on whether another
        is.
    """
    if not reader.numbers_attempts:
        return relation
    order = "partition by run_id, suite, task_id order by "
    order += "started_at nulls last, attempt nulls last, source_line"
    return f"select * replace (row_number() over ({order}) as attempt) from ({relation})"


@contextmanager
def staged(connection: duckdb.DuckDBPyConnection, source: Source) -> Iterator[Staged]:
    """Read a file and hold its typed rows until they are written.

    Parameters
    ----------
    connection
        Where the rows will go. Nothing of the database itself is written.
    source
        The file.

    Yields
    ------
    Staged
        Queries of the rows.

    Raises
    ------
    PasskError
        If the file has no rows, or none that says which attempt it is.
    """
    try:
        files = source.sample.files or (source.sample.path,)
        log = Log(source.sample.path, files, source.options.run_id)
        contract = source.contract(fast=False)
        fills = _Fills(source, contract, log)
        rows, rejected = _stage(connection, source, contract, log, fills)
        filled, wanted, excluded = _STAGE, list[Expected](), {}
        warnings: tuple[str, ...] = ()
        with _planned_plainly(connection, few=rows < _FEW_TYPED):
            if isinstance(source.reader, Harness):
                filled = fills.sql
                expected_of_log = source.reader.expected(log)
                wanted = list(_of_given_run(connection, source, expected_of_log, filled))
                excluded = _excluded(connection)
                warnings = tuple(source.reader.warnings(log))
            notes = placed(connection, source, f"from {filled} where reject_code is null")
            given = as_given(source, f"from {filled}")
            expected = expectations(connection, f"({given})", source.options, wanted)
        stage = numbered(source.reader, given)
        yield Staged(
            f"select {_COLUMNS}, source_line from ({stage}) where reject_code is null",
            f"select * from ({stage}) where reject_code is not null" if rejected else None,
            rows,
            expected,
            excluded,
            notes,
            warnings,
        )
    finally:
        connection.execute(f"drop table if exists {_STAGE}")
        connection.execute(f"drop table if exists {EXPECTED}")


class _Fills:
    """What a log says of all its attempts.

    Parameters
    ----------
    source
        The log's file.
    contract
        The contract as SQL.
    log
        The log. What it says is asked for once, when its last row has been read.
    """

    def __init__(self, source: Source, contract: ContractSql, log: Log) -> None:
        self._source = source
        self._contract = contract
        self._log = log
        self.tags_are_in = False
        """Whether the rows of the stage have got their tags already."""

    @cached_property
    def _fills(self) -> Mapping[str, Any]:
        return (
            self._source.reader.fills(self._log) if isinstance(self._source.reader, Harness) else {}
        )

    @cached_property
    def tags(self) -> dict[str, str]:
        """The tags that each attempt gets which has none of the name."""
        said = (self._fills.get("tags") or {}).items()
        return {name: value for name, tag in said if (value := _fill(tag)) is not None}

    @property
    def sql(self) -> str:
        """SQL for the stage with all that the log says of its attempts."""
        heads = {name: _fill(value) for name, value in self._fills.items() if name != "tags"}
        filled = self._contract.filled(heads, None if self.tags_are_in else self.tags)
        columns = ", ".join(f"{sql} as {name}" for name, sql in filled.items())
        return f"(select * replace ({columns}) from {_STAGE})" if columns else _STAGE


def _stage(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    contract: ContractSql,
    log: Log,
    fills: _Fills,
) -> tuple[int, int]:
    """Read the file; how many rows it has, and how many of them are refused."""
    into, rows, good = "create or replace temp table passk_stage as", 0, True
    for batch, position in _batches(source, log):
        if not len(batch):
            continue
        if isinstance(batch, HarnessBatch):
            good &= _judge_harness(connection, source, contract, into, batch, fills)
            if not batch.whole:
                COLLECTOR.collect_young()
        else:
            good &= _judge(connection, source, contract, into, batch)
        into = f"insert into {_STAGE}"
        rows += len(batch)
        source.tell(int(position * DONE), rows)
    if not rows:
        raise PasskError(
            f"{source.sample.path} holds no rows.",
            hint="Check whether the run that wrote it ended.",
        )
    if good:
        return rows, 0
    rejected = connection.execute(
        f"select count(*) from {_STAGE} where reject_code is not null"
    ).fetchall()[0][0]
    if rejected:
        _refuse_without_attempts(connection, source)
    return rows, rejected


def _judge(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    contract: ContractSql,
    into: str,
    batch: Batch,
) -> bool:
    """Add a batch to the stage, and say what is wrong with its rows; false if anything is."""
    relation = relation_of_batch(_BATCH, batch, source.sample, source.reader)
    with _planned_plainly(connection, few=len(batch) < _FEW):
        if any(batch.codes) or not _is_good(
            connection, f"{into} {_unrefused(contract, relation)}", {_BATCH: frame_of(batch)}
        ):
            explained = f"{into} {contract.explained(relation)}"
            _execute(connection, explained, {_BATCH: frame_of(batch)})
            return False
    return True


def _judge_harness(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    contract: ContractSql,
    into: str,
    batch: HarnessBatch,
    fills: _Fills,
) -> bool:
    """Do the same with rows of a harness; they get the log's tags if they are all its rows."""
    tags = (fills.tags, source.options.tags) if batch.whole else ()
    rows = batch.typed(*tags)
    if rows is not None:
        typed = source.contract(fast=False, kinds=rows.kinds)
        sql = f"{into} {_unrefused(typed, rows.relation(_BATCH))}"
        tables = {name: as_arrow(table) for name, table in rows.tables.items()}
        # There is next to nothing to optimize in it.
        with _planned_plainly(connection, few=True):
            if _is_good(connection, sql, {_BATCH: as_arrow(rows.frame), **tables}):
                fills.tags_are_in = batch.whole
                return True
    batch.write_texts()
    relation = relation_of_batch(_BATCH, batch, source.sample, source.reader)
    with _planned_plainly(connection, few=len(batch) < _FEW):
        explained = f"{into} {contract.explained(relation)}"
        _execute(connection, explained, {_BATCH: frame_of(batch)})
    return False


def _unrefused(contract: ContractSql, relation: str) -> str:
    return f"select *, {_NO_REASON} from ({contract.all_good(relation)})"


def _is_good(connection: duckdb.DuckDBPyConnection, sql: str, frames: dict[str, object]) -> bool:
    """Add rows to the stage; false if some row breaks a rule, and the longer query says which."""
    try:
        _execute(connection, sql, frames)
    except duckdb.InvalidInputException:
        return False
    return True


def _execute(connection: duckdb.DuckDBPyConnection, sql: str, frames: Mapping[str, object]) -> None:
    for name, frame in frames.items():
        connection.register(name, frame)
    try:
        connection.execute(sql)
    finally:
        for name in frames:
            connection.unregister(name)


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
    sample, reader = source.sample, source.reader
    if isinstance(reader, Harness):
        yield from ((batch, log.position) for batch in read_harness(reader, log))
        return
    with open_bytes(sample.path, sample.compression) as file:
        for batch in careful_batches(sample, reader, file):
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
        f"select coalesce(outcome_reason, ''), count(*) from {_STAGE} "
        "where reject_code is null and outcome = 'excluded' group by 1 order by 2 desc, 1"
    ).fetchall()
    return dict(found)


def _refuse_without_attempts(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Say once for the file, not for each of its rows, that it does not number its attempts."""
    readable, without = connection.execute(
        "select count(*), count(*) filter (reject_field = 'attempt' and reject_code = "
        f"'missing_field') from {_STAGE} where reject_code is null or reject_field is not null"
    ).fetchall()[0]
    if readable and readable == without:
        refusal = source.reader.without_attempt(source.sample)
        raise PasskError(f"{source.sample.path} has {refusal.message}.", hint=refusal.hint)
