"""One file's rows into the database, in one transaction."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.errors import PasskError
from passk_py.ingest.containers.collector import COLLECTOR
from passk_py.ingest.formats.harness import Harness
from passk_py.ingest.landing.careful import DONE, Staged, staged
from passk_py.ingest.landing.expectations import EXPECTED, expectations
from passk_py.ingest.landing.fast import DONE as READ
from passk_py.ingest.landing.fast import NOT_THE_FILE, clean_rows
from passk_py.ingest.landing.fingerprint import FingerprintThread
from passk_py.ingest.landing.given import as_given, placed
from passk_py.ingest.landing.readers import csv_is_odd, parquet_queries
from passk_py.ingest.landing.schema import TABLES, next_batch_time
from passk_py.ingest.landing.source import ticking
from passk_py.ingest.landing.values import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from threading import Lock

    from passk_py.ingest.formats.sample import Sample
    from passk_py.ingest.landing.source import Source
    from passk_py.ingest.landing.storage import Part, Storage

__all__ = ["Before", "Written", "after_of", "recorded", "write"]

_TASK: Final = "run_id, suite, task_id"


@dataclass(frozen=True, slots=True)
class Before:
    """What the database knows of a file.

    Parameters
    ----------
    size, sha256, options
        Of the file when its rows landed; the digest is None after some of them were removed.
    rows_read, rows_landed, rows_rejected
        Its rows.
    """

    size: int
    sha256: str | None
    options: str
    rows_read: int
    rows_landed: int
    rows_rejected: int


@dataclass(frozen=True, slots=True)
class Written:
    """What a transaction wrote.

    Parameters
    ----------
    rows, landed, rejected
        How many rows the file has, and what became of them.
    reasons
        How many rows were rejected for which reason.
    first_reason
        The first rejected row's line and reason, as a sentence; empty if there is none.
    excluded
        How many attempts of a harness are excluded for which reason.
    missing
        How many attempts the harness was to make that the log does not hold.
    notes, warnings
        Sentences on what the options changed, and on how the log was read.
    """

    rows: int
    landed: int
    rejected: int
    reasons: dict[str, int]
    first_reason: str
    excluded: dict[str, int] = field(default_factory=dict)
    missing: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def after_of(connection: duckdb.DuckDBPyConnection, before: Sequence[str]) -> dict[str, str] | None:
    """Give the log after which attempts are numbered on, with a digest of all up to it.

    Parameters
    ----------
    connection
        The database.
    before
        The logs of the run that come before, in their order. What is not in the database does not
        count.
    """
    for path in reversed(before):
        if known := recorded(connection, path):
            # Its options have the digest of those before it.
            said = f"{known.sha256}\0{known.options}"
            return {"log": path, "digest": sha256(said.encode()).hexdigest()}
    return None


def recorded(connection: duckdb.DuckDBPyConnection, path: str) -> Before | None:
    """Look up a file among those that landed."""
    rows = connection.execute(
        "select size_bytes, sha256, options, rows_read, rows_landed, rows_rejected "
        "from landing.files where source_file = ?",
        [path],
    ).fetchall()
    return Before(*rows[0]) if rows else None


def write(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    *,
    storage: Storage,
    replaces: bool,
    strict: bool,
    writing: Lock,
) -> Written:
    """Write a file's rows in place of those that it had.

    Parameters
    ----------
    connection
        The database.
    source
        The file.
    storage
        Where its attempts go.
    replaces
        Whether rows of the file landed before.
    strict
        Write nothing if a row is rejected.
    writing
        Held while the transaction is open.

    Returns
    -------
    Written
        What was written; or, if strictness forbade it, what would have been.
    """
    table = source.reader.container == "csv"
    harness = isinstance(source.reader, Harness)
    fingerprint = FingerprintThread(
        source.sample, csv_is_odd if table else None, only_digest=harness
    )
    fingerprint.start()
    file = _File(
        connection,
        source,
        fingerprint,
        storage=storage,
        replaces=replaces,
        strict=strict,
        writing=writing,
    )
    try:
        if harness:
            # What DuckDB is told of the rows is made of many small objects too.
            with COLLECTOR.paused():
                return file.carefully()
        return (None if source.careful else file.fast()) or file.carefully()
    finally:
        fingerprint.cancel()


class _File:
    """The transaction of one file, tried the fast way and then the careful way."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        source: Source,
        fingerprint: FingerprintThread,
        *,
        storage: Storage,
        replaces: bool,
        strict: bool,
        writing: Lock,
    ) -> None:
        self._storage = storage
        self._writing = writing
        self._connection = connection
        self._source = source
        self._fingerprint = fingerprint
        self._replaces = replaces
        self._strict = strict
        self._path = str(source.sample.path)
        self._stamp = _stamp(source.sample)

    def fast(self) -> Written | None:
        """Write the rows if all are good; else write nothing and give None."""
        parquet = self._source.reader.container == "parquet"
        with clean_rows(self._connection, self._source, self._fingerprint) as clean:
            if clean is None:
                return None
            query, every, notes = clean
            with self._transaction() as at:
                try:
                    with ticking(self._connection, self._source, 0.0 if parquet else READ, 1.0):
                        rows = self._insert_good(query, at)
                except NOT_THE_FILE:
                    raise
                except duckdb.Error as error:
                    # Only Parquet is judged while it is written.
                    if parquet:
                        raise _Undo from error
                    raise
                if not rows:
                    raise _Undo
                said = self._say_expected(f"(select *, null as reject_code from ({every}))", at)
                found = Written(rows, rows, 0, {}, "", notes=_sentences(*notes, said))
                return self._end(found, at)
        return None

    def carefully(self) -> Written:
        """Write the good rows, and the others with their reasons."""
        if self._source.reader.container == "parquet":
            good, others, rows, every = parquet_queries(self._connection, self._source)
            notes = placed(self._connection, self._source, good)
            good, others, every = (as_given(self._source, one) for one in (good, others, every))
            stage = Staged(good, others, rows, notes=notes, rows_of_file=every)
            return self._both(stage, done=0.0)
        with staged(self._connection, self._source) as stage:
            return self._both(stage, done=DONE)

    def _both(self, stage: Staged, *, done: float) -> Written:
        if not stage.rows:
            raise PasskError(
                f"{self._path} holds no rows.", hint="Check whether the run that wrote it ended."
            )
        written = Written(stage.rows, 0, 0, {}, "")
        with self._transaction() as at:
            with ticking(self._connection, self._source, done, 1.0):
                written = self._insert(stage, at)
            if self._strict and written.rejected:
                raise _Undo
            self._end(written, at)
        return written

    @contextmanager
    def _transaction(self) -> Iterator[datetime]:
        """Remove what the file had, and let the context write what it has, or undo both."""
        with self._writing:
            self._connection.execute("begin transaction")
            try:
                at = next_batch_time(self._connection, self._storage)
                if self._replaces:
                    self._remove()
                yield at
                self._storage.settle(self._connection)
                self._connection.execute("commit")
            except BaseException as error:
                # A failed statement may have ended the transaction; its error is the one to tell.
                with suppress(Exception):
                    self._connection.execute("rollback")
                self._storage.undone(self._connection)
                if not isinstance(error, _Undo):
                    raise
            else:
                self._storage.committed()

    def _remove(self) -> None:
        """Remove what the file had, and keep which tasks lose rows by it."""
        part: Part = ("source_file", self._path)
        self._connection.execute(
            f"create or replace temp table passk_before as select distinct {_TASK} "
            f"from {self._storage.attempts_of(self._connection, part)}"
        )
        self._storage.delete(self._connection, part)
        for table in ("rejected", "files", "parts", "expected_attempts"):
            self._connection.execute(
                f"delete from landing.{table} where source_file = ?", [self._path]
            )

    def _insert_good(self, query: str, at: datetime) -> int:
        batch = (self._path, self._source.reader.name, at)
        return self._storage.insert(self._connection, self._numbered_on(query), batch)

    def _numbered_on(self, query: str) -> str:
        """Write SQL that numbers attempts on from those of the logs that come before this one."""
        if not self._source.after:
            return query
        attempts = self._storage.attempts_of(
            self._connection, ("run_id", self._source.options.given["run_id"])
        )
        before = ", ".join(map(quote, self._source.after))
        # A table of few rows beside a stage: the rows keep their order.
        return (
            "select rows.* replace (rows.attempt + coalesce(before.attempts, 0) as attempt) "
            f"from ({query}) as rows left join (select suite, task_id, max(attempt) as attempts "
            f"from {attempts} where source_file in ({before}) group by all) as before "
            "using (suite, task_id)"
        )

    def _insert(self, stage: Staged, at: datetime) -> Written:
        path, name, rows = self._path, self._source.reader.name, stage.rows
        landed = self._insert_good(stage.good, at)
        expected = stage.expected
        if expected:
            self._insert_expected(at)
        missing = expected.missing if expected else 0
        contradiction = expected.contradiction if expected else ""
        if stage.rows_of_file:
            contradiction = self._say_expected(f"({stage.rows_of_file})", at)
        notes = _sentences(*stage.notes, contradiction)
        said = (stage.excluded, missing, notes, stage.warnings)
        if stage.others is None:
            if landed != rows:
                raise _does_not_add_up(path, rows, landed, 0)
            return Written(rows, landed, 0, {}, "", *said)
        rejected = self._connection.execute(
            f"insert into landing.rejected select {_TASK}, attempt, outcome, reject_code, "
            f"reject_reason, raw_text, ?, source_line, ?, ?::timestamp "
            f"from ({self._numbered_on(stage.others)})",
            [path, name, at],
        ).fetchall()[0][0]
        if landed + rejected != rows:
            raise _does_not_add_up(path, rows, landed, rejected)
        reasons = self._connection.execute(
            "select reason_code, count(*), arg_min(reason, source_line), min(source_line) "
            "from landing.rejected where source_file = ? group by all order by 4",
            [path],
        ).fetchall()
        counts = Counter({code: count for code, count, _, _ in reasons})
        first = f"{self._source.reader.unit} {reasons[0][3]}: {reasons[0][2]}" if reasons else ""
        return Written(
            rows,
            landed,
            rejected,
            dict(counts.most_common()),
            first,
            *said,
        )

    def _say_expected(self, rows: str, at: datetime) -> str:
        """Write how many attempts rows say that there should be, and give what does not agree."""
        options = self._source.options
        if options.expected_attempts is None and not self._source.may_expect:
            return ""
        found = expectations(self._connection, rows, options)
        if found is None:
            return ""
        self._insert_expected(at)
        self._connection.execute(f"drop table {EXPECTED}")
        return found.contradiction

    def _insert_expected(self, at: datetime) -> None:
        before = "0"
        if self._source.after:
            # Of logs that are numbered on, each says how many there are with those before it.
            before = (
                "coalesce((select max(said.expected_attempts) "
                "from landing.expected_attempts as said "
                f"where source_file in ({', '.join(map(quote, self._source.after))}) "
                "and said.run_id = expected.run_id and said.suite = expected.suite "
                "and said.task_id = expected.task_id), 0)"
            )
        self._connection.execute(
            "insert into landing.expected_attempts select run_id, suite, task_id, "
            f"expected_attempts + case when is_of_log then {before} else 0 end, "
            f"?, ?::timestamp from {EXPECTED} as expected",
            [self._path, at],
        )

    def _end(self, written: Written, at: datetime) -> Written:
        """Write down what landed, as the last step of the transaction."""
        digest = self._fingerprint.result().sha256
        if _stamp(self._source.sample) != self._stamp:
            raise PasskError(
                f"{self._path} was written to while it was read.",
                hint="Load it again when the run that writes it has ended.",
            )
        if self._replaces:
            _note_removed_tasks(self._connection, at)
        self._connection.execute(
            f"insert into landing.files values ({', '.join('?' * len(TABLES['files']))})",
            [
                self._path,
                self._source.reader.name,
                self._source.sample.size,
                digest,
                self._source.options.as_json(
                    self._source.reader, after_of(self._connection, self._source.after)
                ),
                written.rows,
                written.landed,
                written.rejected,
                at,
            ],
        )
        if self._source.sample.files:
            self._connection.execute(
                "insert into landing.parts select ?, unnest(?)",
                [self._path, [str(part) for part in self._source.sample.files]],
            )
        return written


def _does_not_add_up(path: str, rows: int, landed: int, rejected: int) -> PasskError:
    return PasskError(
        f"{path} has {rows} rows, of which {landed} are good and {rejected} are not, which does "
        "not add up.",
        hint="Nothing of the file landed. This is a mistake of passk: please report it.",
    )


class _Undo(Exception):  # noqa: N818 - no error, but the way out of a transaction
    """Ends a transaction without writing anything."""


def _sentences(*notes: str) -> tuple[str, ...]:
    """Leave out notes that say nothing."""
    return tuple(filter(None, notes))


def _stamp(sample: Sample) -> tuple[tuple[int, int], ...]:
    statuses = [path.stat() for path in sample.all_files]
    return tuple((status.st_size, status.st_mtime_ns) for status in statuses)


def _note_removed_tasks(connection: duckdb.DuckDBPyConnection, at: datetime) -> None:
    """Note every task that lost rows, whatever came in their place: builds only add what landed."""
    connection.execute(
        f"insert into landing.removed_tasks select {_TASK}, ?::timestamp from temp.passk_before",
        [at],
    )
    connection.execute("drop table temp.passk_before")
