"""``load_labels`` and ``load_verdicts``: what people and judges say of attempts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.contract import KEY, LOG_JUDGE, VERDICTS
from passk_py.common.errors import PasskError
from passk_py.common.files import absolute
from passk_py.common.sql_text import quote
from passk_py.ingest.landing.database import open_database
from passk_py.ingest.landing.parquet_storage import storage_of
from passk_py.ingest.landing.schema import ensure_landing, next_batch_time

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

_KEY_COLUMNS: Final = "run_id VARCHAR, suite VARCHAR, task_id VARCHAR, attempt BIGINT"
_PLACE_COLUMNS: Final = (
    "source_file VARCHAR not null, source_line BIGINT, loaded_at TIMESTAMP not null"
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of rows: its columns, and the tables in which they land."""

    word: str
    who: str
    when: str
    need: str
    default_who: str | None = None
    """The name of those who are not named."""
    lands_once: bool = False
    """Whether a copy of a file is left out here: its rows could be further verdicts."""

    @property
    def tables(self) -> dict[str, str]:
        """The tables of the schema ``landing`` and their columns: rows, rejected rows, files."""
        return {
            f"{self.word}s": f"{_KEY_COLUMNS}, verdict VARCHAR not null, {self.who} VARCHAR, "
            f"{self.when} TIMESTAMP, note VARCHAR, {_PLACE_COLUMNS}",
            f"rejected_{self.word}s": f"{_KEY_COLUMNS}, verdict VARCHAR, {self.who} VARCHAR, "
            f"reason_code VARCHAR not null, reason VARCHAR not null, {_PLACE_COLUMNS}",
            f"{self.word}_files": "source_file VARCHAR not null, sha256 VARCHAR, "
            "rows_read BIGINT not null, rows_landed BIGINT not null, "
            "rows_rejected BIGINT not null, loaded_at TIMESTAMP not null",
        }

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (*KEY, "verdict", self.who, self.when, "note")


_LABEL: Final = _Kind("label", "labeller", "labelled_at", "Every label needs one.")
_VERDICT: Final = _Kind(
    "verdict", "judge", "judged_at", "Every row needs one.", default_who="judge", lands_once=True
)
LABEL_TABLES: Final = _LABEL.tables | _VERDICT.tables
"""The tables of labels and verdicts in the schema ``landing``, made with the first that lands."""

_READERS: Final = {
    ".csv": "read_csv({path}, all_varchar = true, header = true)",
    ".tsv": "read_csv({path}, all_varchar = true, header = true, delim = '\t')",
    ".jsonl": "read_ndjson({path}, columns = {columns})",
    ".ndjson": "read_ndjson({path}, columns = {columns})",
    ".json": "read_json({path}, columns = {columns})",
    ".parquet": "read_parquet({path})",
}


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The outcome of loading a file of labels or verdicts."""

    path: str
    status: str
    """``landed``, ``replaced`` or ``unchanged``; of verdicts also ``copy``, of another file."""
    rows: int
    rows_landed: int
    rows_rejected: int
    reasons: dict[str, int] = field(default_factory=dict)
    """How many rows were rejected, by the code of the reason."""
    first_reason: str | None = None


def load_labels(
    paths: str | Path | Iterable[str | Path], *, database: str | Path
) -> list[LabelFile]:
    r"""Bring labels into the tables ``landing.labels`` and ``landing.rejected_labels``.

    Each file is a transaction of its own: its labels in, those that it had before out. A file whose
    bytes are those of the last time is left as it is.

    Parameters
    ----------
    paths
        CSV, TSV, JSON lines, JSON or Parquet files with the columns ``run_id``, ``task_id``,
        ``attempt`` and ``verdict`` (passed or failed), and maybe ``suite`` (``default`` where it is
        not said), ``labeller``, ``labelled_at`` and ``note``. Other columns are not read.
    database
        Path of the DuckDB file that has the attempts.

    Returns
    -------
    list of LabelFile
        The outcome of each file. Rows that can't be read as labels are counted by their reason;
        whether there is such an attempt is only seen by the build.

    Raises
    ------
    PasskError
        If a file is missing or can't be read, or the database can't be opened.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> file = folder / "labels.csv"
    >>> _ = file.write_text("run_id,task_id,attempt,verdict\na,1,1,pass\na,1,2,maybe\n")
    >>> load_labels(file, database=folder / "passk.duckdb")[0].reasons
    {'unknown_verdict': 1}
    >>> load_labels(file, database=folder / "passk.duckdb")[0].status
    'unchanged'
    """
    return _load(_LABEL, paths, database)


def load_verdicts(
    paths: str | Path | Iterable[str | Path], *, database: str | Path
) -> list[LabelFile]:
    r"""Bring verdicts of judges into ``landing.verdicts`` and ``landing.rejected_verdicts``.

    Each row is a verdict of its own, also where a judge says the same of an attempt again. Each
    file is a transaction of its own, as in :func:`load_labels`; a file with the bytes of another
    one that has landed is left out.

    Parameters
    ----------
    paths
        CSV, TSV, JSON lines, JSON or Parquet files with the columns ``run_id``, ``task_id``,
        ``attempt`` and ``verdict`` (passed or failed), and maybe ``suite`` (``default`` where it is
        not said), ``judge`` (``judge`` where it is not said; not ``log``, which names the outcomes
        of the log itself), ``judged_at`` and ``note``. Other columns are not read.
    database
        Path of the DuckDB file that has the attempts.

    Returns
    -------
    list of LabelFile
        The outcome of each file. Rows that can't be read as verdicts are counted by their reason;
        whether there is such an attempt is only seen by the build.

    Raises
    ------
    PasskError
        If a file is missing or can't be read, or the database can't be opened.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> file = folder / "verdicts.csv"
    >>> head = "run_id,task_id,attempt,judge,verdict"
    >>> _ = file.write_text(head + "\na,1,1,gpt,pass\na,1,1,log,pass\n")
    >>> load_verdicts(file, database=folder / "passk.duckdb")[0].reasons
    {'reserved_judge': 1}
    """
    return _load(_VERDICT, paths, database)


def _load(
    kind: _Kind, paths: str | Path | Iterable[str | Path], database: str | Path
) -> list[LabelFile]:
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise PasskError(f"There are no {kind.word}s to load.", hint="Name files.")
    files = [_checked(kind, Path(path)) for path in given]
    with open_database(database) as connection:
        ensure_landing(connection, at_once=True)
        for table, columns in kind.tables.items():
            connection.execute(f"create table if not exists landing.{table} ({columns})")
        return [_land(kind, connection, path) for path in files]


def _checked(kind: _Kind, path: Path) -> Path:
    if not path.is_file():
        raise PasskError(
            f"There is no file {path}.",
            hint=f"{kind.word.capitalize()}s are read from files, one by one.",
        )
    if path.suffix.lower() not in _READERS:
        raise PasskError(
            f"{path} is not read as {kind.word}s.",
            hint=f"Its name must end with one of {', '.join(_READERS)}.",
        )
    return path


def _land(kind: _Kind, connection: duckdb.DuckDBPyConnection, path: Path) -> LabelFile:
    place = str(absolute(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    known = connection.execute(
        "select source_file = ?, sha256, rows_read, rows_landed, rows_rejected "
        f"from landing.{kind.word}_files where source_file = ? or sha256 = ?",
        [place, place, digest],
    ).fetchall()
    before = [row for is_same_place, *row in known if is_same_place]
    if before and before[0][0] == digest:
        return LabelFile(str(path), "unchanged", *before[0][1:])
    at = next_batch_time(connection, storage_of(connection))
    connection.execute("begin transaction")
    try:
        for table in kind.tables:
            connection.execute(f"delete from landing.{table} where source_file = ?", [place])
        if kind.lands_once and len(known) > len(before):
            connection.execute("commit")
            return LabelFile(str(path), "copy", known[0][2], 0, 0)
        file = _insert(kind, connection, path, place, at)
        connection.execute(
            f"insert into landing.{kind.word}_files values (?, ?, ?, ?, ?, ?)",
            [place, digest, file.rows, file.rows_landed, file.rows_rejected, at],
        )
        connection.execute("commit")
    except BaseException:
        connection.execute("rollback")
        raise
    return replace(file, status="replaced") if before else file


def _insert(
    kind: _Kind, connection: duckdb.DuckDBPyConnection, path: Path, place: str, at: datetime
) -> LabelFile:
    texts = ", ".join(f"{name}: 'VARCHAR'" for name in kind.texts)
    reader = _READERS[path.suffix.lower()].format(path=quote(str(path)), columns="{" + texts + "}")
    try:
        found = {row[0] for row in connection.execute(f"describe from {reader}").fetchall()}
        told = ", ".join(
            f"nullif(trim({name}::varchar), '') as {name}" if name in found else f"null as {name}"
            for name in kind.texts
        )
        connection.execute(
            "create or replace temp table passk_told_labels as "
            f"select {told}, row_number() over () as source_line from {reader}"
        )
    except duckdb.Error as error:
        raise PasskError(
            f"{path} can't be read as {kind.word}s: {str(error).splitlines()[0]}",
            hint=f"A file of {kind.word}s has the columns run_id, task_id, attempt and verdict.",
        ) from error
    connection.execute(f"create or replace temp table passk_judged_labels as {_judged(kind)}")
    provenance = [place, at]
    landed = connection.execute(
        f"insert into landing.{kind.word}s select run_id, suite, task_id, number, kept, "
        f"{kind.who}, try_cast({kind.when} as timestamp), note, ?, source_line, ?::timestamp "
        "from passk_judged_labels where reason is null order by source_line",
        provenance,
    ).fetchall()[0][0]
    rejected = connection.execute(
        f"insert into landing.rejected_{kind.word}s select run_id, suite, task_id, number, "
        f"verdict, {kind.who}, split_part(reason, ':', 1), reason, ?, source_line, ?::timestamp "
        "from passk_judged_labels where reason is not null order by source_line",
        provenance,
    ).fetchall()[0][0]
    reasons = connection.execute(
        "select split_part(reason, ':', 1), count(*) from passk_judged_labels "
        "where reason is not null group by 1 order by 2 desc, 1"
    ).fetchall()
    first = connection.execute(
        "select 'row ' || source_line || ', ' || reason from passk_judged_labels "
        "where reason is not null order by source_line limit 1"
    ).fetchall()
    return LabelFile(
        str(path),
        "landed",
        landed + rejected,
        landed,
        rejected,
        dict(reasons),
        first[0][0] if first else None,
    )


def forget_labels(connection: duckdb.DuckDBPyConnection, source_file: str) -> int:
    """Remove the labels or verdicts of a file, in the transaction of the caller; count them."""
    known = connection.execute(
        "select table_name from duckdb_tables() where schema_name = 'landing' and "
        "database_name = current_database()"
    ).fetchall()
    found = 0
    for table in LABEL_TABLES:
        if (table,) in known:
            sql = f"delete from landing.{table} where source_file = ?"
            rows = connection.execute(sql, [source_file]).fetchall()[0][0]
            found += 0 if table.endswith("_files") else rows
    return found


def _judged(kind: _Kind) -> str:
    """Write the query of rows with their mistakes, by the rules of _label_reject_reason in SQL."""
    verdicts = " ".join(f"when '{told}' then '{kept}'" for told, kept in VERDICTS.items())
    reserved = named = ""
    if kind.default_who is not None:
        named = f"coalesce({kind.who}, '{kind.default_who}') as {kind.who},"
        reserved = f"""
    when lower({kind.who}) = '{LOG_JUDGE}'
      then 'reserved_judge: judge is ' || {kind.who} || ', which names the outcomes of the log.'"""
    return f"""
select
  * exclude (suite{f", {kind.who}" if named else ""}),
  coalesce(suite, 'default') as suite,
  {named}
  case lower(verdict) {verdicts} end as kept,
  try_cast(try_cast(attempt as double) as bigint) as number,
  case
    when run_id is null then 'missing_field: run_id is missing. {kind.need}'
    when task_id is null then 'missing_field: task_id is missing. {kind.need}'
    when attempt is null then 'missing_field: attempt is missing. {kind.need}'
    when number is null or number < 1 or number <> try_cast(attempt as double)
      then 'wrong_type: attempt is ' || attempt || ', but must be an integer of at least 1.'
    when verdict is null then 'missing_field: verdict is missing. {kind.need}'
    when kept is null
      then 'unknown_verdict: verdict is ' || verdict || ', but must be passed or failed.'
    when {kind.when} is not null and try_cast({kind.when} as timestamp) is null
      then 'wrong_type: {kind.when} is ' || {kind.when} || ', which is not a time.'{reserved}
  end as reason
from passk_told_labels
"""
