"""The careful way: row by row, with a reason for each row that is refused."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import duckdb

from passk_py.containers.source import open_bytes, position_of
from passk_py.contract import CONTRACT_COLUMNS
from passk_py.errors import PasskError
from passk_py.formats.harness import Expected, Harness, Log
from passk_py.landing.harness_rows import HarnessBatch, read_harness
from passk_py.landing.options import can_be_stored
from passk_py.landing.readers import as_arrow, careful_batches, frame_of, relation_of_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.containers.lines import Batch
    from passk_py.formats import Format
    from passk_py.landing.contract_sql import ContractSql
    from passk_py.landing.source import Source

__all__ = ["DONE", "Staged", "numbered", "staged"]

DONE: Final = 0.9
"""Which share of the time goes into reading; the rest is for writing the rows."""

_STAGE: Final = "temp.passk_stage"
_SAID: Final = "temp.passk_said"
_EXPECTED: Final = "temp.passk_expected"
_BATCH: Final = "passk_batch"
# More attempts of one task than anyone makes; sums of it still fit an integer.
_MOST_ATTEMPTS: Final = 1_000_000
_LONGEST_FILL: Final = 10_000
_COLUMNS: Final = ", ".join(column.name for column in CONTRACT_COLUMNS)
_NO_REASON: Final = ", ".join(
    f"null::varchar as {name}"
    for name in ("reject_field", "reject_code", "reject_reason", "raw_text")
)
_FEW: Final = 1000


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
    missing
        How many attempts should be in the log and are not.
    expected
        A query of ``run_id``, ``suite``, ``task_id`` and how many attempts there should be; None
        where the log does not say it.
    """

    good: str
    others: str | None
    rows: int
    expected: str | None = None
    excluded: dict[str, int] = field(default_factory=dict)
    missing: int = 0


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
        log = Log(source.sample.path, source.sample.files or (source.sample.path,))
        contract = source.contract(fast=False)
        rows, rejected = _stage(connection, source, contract, log)
        filled, expected, excluded, missing = _STAGE, None, {}, 0
        if isinstance(source.reader, Harness):
            filled = _filled(contract, source.reader.fills(log))
            expected = _expected(connection, source.reader.expected(log), filled)
            excluded = _excluded(connection)
            missing = _missing(connection, expected, filled) if expected else 0
        stage = numbered(source.reader, f"from {filled}")
        yield Staged(
            f"select {_COLUMNS}, source_line from ({stage}) where reject_code is null",
            f"select * from ({stage}) where reject_code is not null" if rejected else None,
            rows,
            expected,
            excluded,
            missing,
        )
    finally:
        connection.execute(f"drop table if exists {_STAGE}")
        for table in (_SAID, _EXPECTED):
            connection.execute(f"drop table if exists {table}")


def _stage(
    connection: duckdb.DuckDBPyConnection, source: Source, contract: ContractSql, log: Log
) -> tuple[int, int]:
    """Read the file; how many rows it has, and how many of them are refused."""
    into, rows = "create or replace temp table passk_stage as", 0
    for batch, position in _batches(source, log):
        if not len(batch):
            continue
        relation = relation_of_batch(_BATCH, batch, source.sample, source.reader)
        with _planned_plainly(connection, few=len(batch) < _FEW):
            _judge(connection, contract, relation, into, batch)
        into = f"insert into {_STAGE}"
        rows += len(batch)
        source.tell(int(position * DONE), rows)
    if not rows:
        raise PasskError(
            f"{source.sample.path} holds no rows.",
            hint="Check whether the run that wrote it ended.",
        )
    rejected = connection.execute(
        f"select count(*) from {_STAGE} where reject_code is not null"
    ).fetchall()[0][0]
    if rejected:
        _refuse_without_attempts(connection, source)
    return rows, rejected


def _judge(
    connection: duckdb.DuckDBPyConnection,
    contract: ContractSql,
    relation: str,
    into: str,
    batch: Batch,
) -> None:
    """Add a batch to the stage, and say what is wrong with its rows if anything is."""
    if not any(batch.codes):
        unrefused = f"select *, {_NO_REASON} from ({contract.all_good(relation)})"
        try:
            _execute(connection, f"{into} {unrefused}", batch)
        except duckdb.InvalidInputException:
            # Some row does break one, and the longer query says which.
            pass
        else:
            return
    if isinstance(batch, HarnessBatch):
        batch.write_texts()
    _execute(connection, f"{into} {contract.explained(relation)}", batch)


def _execute(connection: duckdb.DuckDBPyConnection, sql: str, batch: Batch) -> None:
    connection.register(_BATCH, frame_of(batch))
    try:
        connection.execute(sql)
    finally:
        connection.unregister(_BATCH)


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


def _filled(contract: ContractSql, fills: Mapping[str, Any]) -> str:
    """Write SQL for the stage with what the log says of all its attempts."""
    tags = fills.get("tags") or {}
    heads = {name: _fill(value) for name, value in fills.items() if name != "tags"}
    filled = contract.filled(
        heads, {name: value for name, tag in tags.items() if (value := _fill(tag)) is not None}
    )
    columns = ", ".join(f"{sql} as {name}" for name, sql in filled.items())
    return f"(select * replace ({columns}) from {_STAGE})"


def _fill(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Write a value of a log's head as text; what could not be stored as a name says nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    return text if 0 < len(text) <= _LONGEST_FILL and can_be_stored(text) else None


def _expected(
    connection: duckdb.DuckDBPyConnection, expected: Iterable[Expected], filled: str
) -> str | None:
    """Write SQL for how many attempts each task of the log should have."""
    import polars as pl

    rows: list[tuple[str | None, str | None, int, bool]] = []
    for one in expected:
        # What can't be stored as text names nothing that has landed.
        named = one.run_id is None or _fill(one.run_id) == one.run_id
        if not (named and 1 <= one.attempts <= _MOST_ATTEMPTS):
            continue
        if not one.only:
            rows.append((one.run_id, None, one.attempts, False))
        rows += [
            (one.run_id, task, one.attempts, one.only)
            for task in dict.fromkeys(one.tasks)
            if _fill(task) == task
        ]
    if not rows:
        return None
    kinds = {"run_id": pl.String, "task_id": pl.String, "n": pl.Int64, "alone": pl.Boolean}
    connection.register(_BATCH, as_arrow(pl.DataFrame(rows, schema=kinds, orient="row")))
    try:
        connection.execute(f"create or replace temp table {_SAID} as from {_BATCH}")
    finally:
        connection.unregister(_BATCH)
    # A task of which the log holds no attempt was to be tried in each run that it is said of. What
    # is said of a task alone comes before what is said of all.
    connection.execute(f"""
        create or replace temp table passk_expected as
        with seen as (select distinct run_id, suite, task_id from {filled}),
        runs as (select distinct run_id, suite from {filled}),
        said as (
            select seen.*, n, alone from seen, {_SAID} as said
            where said.run_id is null and said.task_id is null
            union all
            select seen.*, n, alone from seen join {_SAID} as said on seen.run_id = said.run_id
            where said.task_id is null
            union all
            select runs.run_id, suite, task_id, n, alone from runs, {_SAID} as said
            where said.run_id is null and task_id is not null
            union all
            select runs.run_id, suite, task_id, n, alone
            from runs join {_SAID} as said on runs.run_id = said.run_id
            where task_id is not null
        )
        select run_id, suite, task_id, coalesce(max(n) filter (alone), max(n)) as expected_attempts
        from said
        where run_id is not null and suite is not null and task_id is not null
        group by all
    """)
    return f"from {_EXPECTED}"


def _excluded(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Count what is excluded, the most frequent reason first."""
    found = connection.execute(
        f"select coalesce(outcome_reason, ''), count(*) from {_STAGE} "
        "where reject_code is null and outcome = 'excluded' group by 1 order by 2 desc, 1"
    ).fetchall()
    return dict(found)


def _missing(connection: duckdb.DuckDBPyConnection, expected: str, filled: str) -> int:
    """Count the attempts that the harness was to make and the log has no good row of."""
    return int(
        connection.execute(
            "select coalesce(sum(greatest(expected_attempts - coalesce(n, 0), 0)), 0) "
            f"from ({expected}) left join (select run_id, suite, task_id, count(*) as n "
            f"from {filled} where reject_code is null group by all) using (run_id, suite, task_id)"
        ).fetchall()[0][0]
    )


def _refuse_without_attempts(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Say once for the file, not for each of its rows, that it does not number its attempts."""
    readable, without = connection.execute(
        "select count(*), count(*) filter (reject_field = 'attempt' and reject_code = "
        f"'missing_field') from {_STAGE} where reject_code is null or reject_field is not null"
    ).fetchall()[0]
    if readable and readable == without:
        refusal = source.reader.without_attempt(source.sample)
        raise PasskError(f"{source.sample.path} has {refusal.message}.", hint=refusal.hint)
