"""The last step: the rows of a log into the database, in one transaction."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.contract import EXPECTED_ATTEMPTS
from passk_py.common.errors import PasskError
from passk_py.common.sql_text import quote
from passk_py.ingest.landing.contract_sql import fields_of
from passk_py.ingest.landing.database import writing_at_once
from passk_py.ingest.landing.expectations import EXPECTED, expectations
from passk_py.ingest.landing.fast import NOT_THE_FILE
from passk_py.ingest.landing.landed_before import deciding_options
from passk_py.ingest.landing.schema import TABLES, next_batch_time
from passk_py.ingest.landing.source import ticking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from passk_py.ingest.landing.expectations import Expectations
    from passk_py.ingest.landing.fingerprint import FingerprintThread
    from passk_py.ingest.landing.source import Source
    from passk_py.ingest.landing.staged import Staged
    from passk_py.ingest.landing.storage import Part
    from passk_py.ingest.landing.target import Target

_TASK: Final = "run_id, suite, task_id"


@dataclass(frozen=True, slots=True)
class Written:
    """The rows that a transaction wrote, or would have written without strictness."""

    rows: int
    landed: int
    rejected: int
    reasons: dict[str, int]
    """How many rows were rejected for which reason, the most frequent first."""
    first_reason: str
    """The first rejected row's line and reason, as a sentence; empty if there is none."""
    excluded: dict[str, int] = field(default_factory=dict)
    missing: int = 0
    notes: tuple[str, ...] = ()
    """Sentences on what the options changed, and on what the rows say that does not agree."""
    warnings: tuple[str, ...] = ()


def write(
    staged: Staged,
    source: Source,
    target: Target,
    fingerprint: FingerprintThread,
    *,
    replaces: bool,
) -> Written | None:
    """Write rows in place of the log's old ones; None if one, judged on the way, is wrong."""
    written = None
    with _transaction(source, target, replaces=replaces) as at:
        with ticking(target.connection, source, staged.done, 1.0):
            written = _insert(staged, source, target, at)
        if source.options.strict and written.rejected:
            raise _Undo
        digest = fingerprint.digest()
        if replaces:
            _note_removed_tasks(target.connection, at)
        _note_log(written, source, target.connection, digest, at)
    return written


class _Undo(Exception):  # noqa: N818 - no error, but the way out of a transaction
    """Ends a transaction without writing anything."""


@contextmanager
def _transaction(source: Source, target: Target, *, replaces: bool) -> Iterator[datetime]:
    """Remove what the log had, and let the context write what it has, or undo both."""
    connection, storage = target.connection, target.storage
    with target.connections.writing:
        connection.execute("begin transaction")
        try:
            at = next_batch_time(connection, storage)
            if replaces:
                _remove(source, target)
            yield at
            storage.settle(connection)
            with writing_at_once(connection, wanted=target.alone):
                connection.execute("commit")
        except BaseException as error:
            # A failed statement may have ended the transaction; its error is the one to tell.
            with suppress(Exception):
                connection.execute("rollback")
            storage.undone(connection)
            if not isinstance(error, _Undo):
                raise
        else:
            storage.committed()


def _remove(source: Source, target: Target) -> None:
    """Remove what the log had, and keep which tasks lose rows by it."""
    connection = target.connection
    part: Part = ("source_file", source.path)
    connection.execute(
        f"create or replace temp table passk_before as select distinct {_TASK} "
        f"from {target.storage.attempts_of(connection, part)}"
    )
    target.storage.delete(connection, part)
    for table in ("rejected", "files", "parts", "expected_attempts"):
        connection.execute(f"delete from landing.{table} where source_file = ?", [source.path])


def _insert(staged: Staged, source: Source, target: Target, at: datetime) -> Written:
    landed = _insert_good(staged, source, target, at)
    rejected = _insert_rejected(staged.rejected, source, target, at) if staged.rejected else 0
    rows = landed if staged.rows is None else staged.rows
    if landed + rejected != rows:
        raise PasskError(
            f"{source.path} has {rows} rows, but {landed} valid and {rejected} rejected "
            "rows were counted.",
            hint="Nothing of the file landed. This is a bug in passk: please report it.",
        )
    expected = staged.expected
    if staged.all_rows:
        expected = _expected_of(staged.all_rows, source, target.connection)
    if expected:
        _insert_expected(source, target.connection, at)
    reasons, first_reason = _reasons(source, target.connection) if rejected else ({}, "")
    contradiction = expected.contradiction if expected else ""
    return Written(
        rows,
        landed,
        rejected,
        reasons,
        first_reason,
        staged.excluded,
        expected.missing if expected else 0,
        (*staged.notes, *([contradiction] if contradiction else [])),
        staged.warnings,
    )


def _insert_good(staged: Staged, source: Source, target: Target, at: datetime) -> int:
    batch = (source.path, source.format.name, at)
    query = _numbered_on(staged.good, source, target)
    if source.format.holds_transcripts:
        place = f"{quote(f'{source.path}#/')} || (source_line - 1) as transcript"
        query = f"select * replace ({place}) from ({query})"
    for start, name in source.options.known_as.items():
        place = f"replace(transcript, {quote(start)}, {quote(name)}) as transcript"
        query = f"select * replace ({place}) from ({query})"
    try:
        landed = target.storage.insert(target.connection, query, batch)
    except NOT_THE_FILE:
        raise
    except duckdb.Error as error:
        if staged.rows is None:
            raise _Undo from error
        raise
    if not landed and staged.rows is None:
        raise _Undo
    return landed


def _insert_rejected(query: str, source: Source, target: Target, at: datetime) -> int:
    done = target.connection.execute(
        f"insert into landing.rejected select {_TASK}, attempt, outcome, reject_code, "
        f"reject_reason, raw_text, ?, source_line, ?, ?::timestamp "
        f"from ({_numbered_on(query, source, target)})",
        [source.path, source.format.name, at],
    )
    return int(done.fetchall()[0][0])


def _numbered_on(query: str, source: Source, target: Target) -> str:
    """Write SQL that numbers attempts on from those of the logs that come before this one."""
    if not source.after:
        return query
    attempts = target.storage.attempts_of(
        target.connection, ("run_id", source.options.given["run_id"])
    )
    # A table of few rows beside a stage: the rows keep their order.
    return (
        "select rows.* replace (rows.attempt + coalesce(before.attempts, 0) as attempt) "
        f"from ({query}) as rows left join (select suite, task_id, max(attempt) as attempts "
        f"from {attempts} where source_file in ({_quoted(source.after)}) group by all) as before "
        "using (suite, task_id)"
    )


def _quoted(paths: tuple[str, ...]) -> str:
    return ", ".join(map(quote, paths))


def _reasons(source: Source, connection: duckdb.DuckDBPyConnection) -> tuple[dict[str, int], str]:
    """Count the reasons of the rejected rows, the most frequent first, and say the first one."""
    found = connection.execute(
        "select reason_code, count(*), arg_min(reason, source_line), min(source_line) "
        "from landing.rejected where source_file = ? group by all order by 4",
        [source.path],
    ).fetchall()
    _, _, reason, line = found[0]
    counts = Counter({code: count for code, count, _, _ in found})
    return dict(counts.most_common()), f"{source.format.unit} {line}: {reason}"


def _expected_of(
    rows: str, source: Source, connection: duckdb.DuckDBPyConnection
) -> Expectations | None:
    """Find out how many attempts rows say that there should be, if their format may say it."""
    may_expect = source.options.expected_attempts or EXPECTED_ATTEMPTS.name in fields_of(
        source, fast=True
    )
    if not may_expect:
        return None
    return expectations(connection, f"({rows})", source.options)


def _insert_expected(source: Source, connection: duckdb.DuckDBPyConnection, at: datetime) -> None:
    before = "0"
    if source.after:
        # If logs are numbered on, each says how many attempts there are with those before it.
        before = (
            "coalesce((select max(said.expected_attempts) "
            "from landing.expected_attempts as said "
            f"where source_file in ({_quoted(source.after)}) "
            "and said.run_id = expected.run_id and said.suite = expected.suite "
            "and said.task_id = expected.task_id), 0)"
        )
    connection.execute(
        "insert into landing.expected_attempts select run_id, suite, task_id, "
        f"expected_attempts + case when is_of_log then {before} else 0 end, "
        f"?, ?::timestamp from {EXPECTED} as expected",
        [source.path, at],
    )
    connection.execute(f"drop table {EXPECTED}")


def _note_removed_tasks(connection: duckdb.DuckDBPyConnection, at: datetime) -> None:
    """Note every task that lost rows, whatever came in their place: builds only add what landed."""
    connection.execute(
        f"insert into landing.removed_tasks select {_TASK}, ?::timestamp from temp.passk_before",
        [at],
    )
    connection.execute("drop table temp.passk_before")


def _note_log(
    written: Written,
    source: Source,
    connection: duckdb.DuckDBPyConnection,
    digest: str,
    at: datetime,
) -> None:
    """Note what landed, as the last step of the transaction."""
    connection.execute(
        f"insert into landing.files values ({', '.join('?' * len(TABLES['files']))})",
        [
            source.path,
            source.format.name,
            source.sample.size,
            digest,
            deciding_options(connection, source),
            written.rows,
            written.landed,
            written.rejected,
            at,
        ],
    )
    if source.sample.files:
        connection.execute(
            "insert into landing.parts select ?, unnest(?)",
            [source.path, source.parts],
        )
