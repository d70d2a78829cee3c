"""``load_labels``: people's verdicts on attempts, beside which the grader's can be held."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.contract import KEY, VERDICTS
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
LABEL_TABLES: Final = {
    "labels": f"{_KEY_COLUMNS}, verdict VARCHAR not null, labeller VARCHAR, "
    f"labelled_at TIMESTAMP, note VARCHAR, {_PLACE_COLUMNS}",
    "rejected_labels": f"{_KEY_COLUMNS}, verdict VARCHAR, labeller VARCHAR, "
    f"reason_code VARCHAR not null, reason VARCHAR not null, {_PLACE_COLUMNS}",
    "label_files": "source_file VARCHAR not null, sha256 VARCHAR, rows_read BIGINT not null, "
    "rows_landed BIGINT not null, rows_rejected BIGINT not null, loaded_at TIMESTAMP not null",
}
"""The tables of labels in the schema ``landing``, made with the first label that lands."""

_TEXTS: Final = (*KEY, "verdict", "labeller", "labelled_at", "note")
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
    """The outcome of loading a file of labels."""

    path: str
    status: str
    """``landed``, ``replaced`` or ``unchanged``."""
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
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise PasskError("There are no labels to load.", hint="Name files.")
    files = [_checked(Path(path)) for path in given]
    with open_database(database) as connection:
        ensure_landing(connection, at_once=True)
        for table, columns in LABEL_TABLES.items():
            connection.execute(f"create table if not exists landing.{table} ({columns})")
        return [_land(connection, path) for path in files]


def _checked(path: Path) -> Path:
    if not path.is_file():
        raise PasskError(
            f"There is no file {path}.", hint="Labels are read from files, one by one."
        )
    if path.suffix.lower() not in _READERS:
        raise PasskError(
            f"{path} is not read as labels.",
            hint=f"Its name must end with one of {', '.join(_READERS)}.",
        )
    return path


def _land(connection: duckdb.DuckDBPyConnection, path: Path) -> LabelFile:
    place = str(absolute(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    before = connection.execute(
        "select sha256, rows_read, rows_landed, rows_rejected from landing.label_files "
        "where source_file = ?",
        [place],
    ).fetchall()
    if before and before[0][0] == digest:
        return LabelFile(str(path), "unchanged", *before[0][1:])
    at = next_batch_time(connection, storage_of(connection))
    connection.execute("begin transaction")
    try:
        for table in LABEL_TABLES:
            connection.execute(f"delete from landing.{table} where source_file = ?", [place])
        file = _insert(connection, path, place, at)
        connection.execute(
            "insert into landing.label_files values (?, ?, ?, ?, ?, ?)",
            [place, digest, file.rows, file.rows_landed, file.rows_rejected, at],
        )
        connection.execute("commit")
    except BaseException:
        connection.execute("rollback")
        raise
    return replace(file, status="replaced") if before else file


def _insert(
    connection: duckdb.DuckDBPyConnection, path: Path, place: str, at: datetime
) -> LabelFile:
    texts = ", ".join(f"{name}: 'VARCHAR'" for name in _TEXTS)
    reader = _READERS[path.suffix.lower()].format(path=quote(str(path)), columns="{" + texts + "}")
    try:
        found = {row[0] for row in connection.execute(f"describe from {reader}").fetchall()}
        told = ", ".join(
            f"nullif(trim({name}::varchar), '') as {name}" if name in found else f"null as {name}"
            for name in _TEXTS
        )
        connection.execute(
            "create or replace temp table passk_told_labels as "
            f"select {told}, row_number() over () as source_line from {reader}"
        )
    except duckdb.Error as error:
        raise PasskError(
            f"{path} can't be read as labels: {str(error).splitlines()[0]}",
            hint="A file of labels has the columns run_id, task_id, attempt and verdict.",
        ) from error
    connection.execute(f"create or replace temp table passk_judged_labels as {_JUDGED}")
    provenance = [place, at]
    landed = connection.execute(
        "insert into landing.labels select run_id, suite, task_id, number, kept, labeller, "
        "try_cast(labelled_at as timestamp), note, ?, source_line, ?::timestamp "
        "from passk_judged_labels where reason is null order by source_line",
        provenance,
    ).fetchall()[0][0]
    rejected = connection.execute(
        "insert into landing.rejected_labels select run_id, suite, task_id, number, verdict, "
        "labeller, split_part(reason, ':', 1), reason, ?, source_line, ?::timestamp "
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
    """Remove the labels of a file, in the transaction of the caller; give how many it had."""
    known = connection.execute(
        "select table_name from duckdb_tables() where schema_name = 'landing' and "
        "database_name = current_database()"
    ).fetchall()
    found = 0
    for table in LABEL_TABLES:
        if (table,) in known:
            sql = f"delete from landing.{table} where source_file = ?"
            rows = connection.execute(sql, [source_file]).fetchall()[0][0]
            found += rows if table != "label_files" else 0
    return found


# The rules of the macro _label_reject_reason, which judges labels from a model.
_JUDGED: Final = f"""
select
  * exclude (suite),
  coalesce(suite, 'default') as suite,
  case lower(verdict)
    {" ".join(f"when '{told}' then '{kept}'" for told, kept in VERDICTS.items())}
  end as kept,
  try_cast(try_cast(attempt as double) as bigint) as number,
  case
    when run_id is null then 'missing_field: run_id is missing. Every label needs one.'
    when task_id is null then 'missing_field: task_id is missing. Every label needs one.'
    when attempt is null then 'missing_field: attempt is missing. Every label needs one.'
    when number is null or number < 1 or number <> try_cast(attempt as double)
      then 'wrong_type: attempt is ' || attempt || ', but must be an integer of at least 1.'
    when verdict is null then 'missing_field: verdict is missing. Every label needs one.'
    when kept is null
      then 'unknown_verdict: verdict is ' || verdict || ', but must be passed or failed.'
    when labelled_at is not null and try_cast(labelled_at as timestamp) is null
      then 'wrong_type: labelled_at is ' || labelled_at || ', which is not a time.'
  end as reason
from passk_told_labels
"""
