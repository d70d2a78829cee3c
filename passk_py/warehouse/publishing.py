"""A copy of the public tables that dashboards read, beside the database that builds write."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from passk_py.common.errors import InUseError, PasskError
from passk_py.common.files import to_disk
from passk_py.common.sql_text import identifier, io_reason, quote
from passk_py.warehouse.catalog import PUBLIC_TABLES, PublicTable, public_table, shared_columns
from passk_py.warehouse.freshness import COPY as ABOUT
from passk_py.warehouse.freshness import changed_since, pending_changes, why_unfinished
from passk_py.warehouse.tables import open_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from passk_py.warehouse.tables import Tables

__all__ = ["FORMATS", "PublishedCopy", "publish"]

FORMATS: Final = {"duckdb": ("duckdb",), "parquet": ("parquet",), "both": ("duckdb", "parquet")}
"""What can be asked for, and what is written for it."""

DATABASE: Final = "passk.duckdb"
PARQUET: Final = "parquet"
VERSIONS: Final = "parquet-versions"
COPY_ID: Final = "passk_copy_id"

# The oldest that DuckDB writes, which is what it wrote by default until 2.0: whatever DuckDB a tool
# has inside reads it. Versions of the format can be raised later, never lowered.
_STORAGE: Final = "v1.0.0"

_ABOUT_COLUMNS: Final = {
    "copy_id": ("varchar", "Names this copy; each of its Parquet files has it in its metadata."),
    "published_at": ("timestamp", "When the tables were read for the copy, UTC."),
    "passk_version": ("varchar", "The version of passk that published."),
    "source_database": ("varchar", "The name of the database's file, without its folder."),
    "newest_loaded_at": (
        "timestamp",
        "When the newest attempts of any run in the copy were loaded, UTC. Null where no run says.",
    ),
    "runs": ("bigint", "Rows of passk_runs."),
    "landed_since_build": (
        "bigint",
        "Attempts loaded after the last build: passk_attempts may hold them, no other number does.",
    ),
}
_ABOUT_TEXT: Final = "How fresh this copy is, and where it comes from. One row."

_SHORTENED: Final = {
    "raw": "Null: this copy was published without the rows as they were read.",
    "source_file": "The name of the file that the row came from, without its folder. Null where "
    "the attempts come from a table.",
}
"""What is said of columns that a copy shortens."""

_DRAFTS: Final = ".passk-publish-"
_FORGOTTEN_S: Final = 24 * 60 * 60
_PAUSE_S: Final = 0.2
_HINT: Final = "Give a folder where you may write with -o."

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PublishedCopy:
    """A copy that was published.

    Parameters
    ----------
    copy_id
        Its name, in ``passk_published`` and in each Parquet file.
    published_at
        When the tables were read, UTC.
    database
        The DuckDB file; None if none was asked for.
    parquet
        The folder of the Parquet files; None if none were asked for.
    rows
        How many rows each table holds, by its name.
    runs
        How many runs there are.
    newest_loaded_at
        When the newest attempts were loaded, UTC; None if no run says.
    landed_since_build
        Attempts that were loaded after the last build.
    stale
        What has changed in the landing tables since, in a sentence; None if nothing has.
    """

    copy_id: str
    published_at: datetime
    database: Path | None
    parquet: Path | None
    rows: Mapping[str, int]
    runs: int
    newest_loaded_at: datetime | None
    landed_since_build: int
    stale: str | None = None


def publish(
    output: str | Path,
    *,
    database: str | Path = "passk.duckdb",
    without: str | Iterable[str] = (),
    with_raw: bool = False,
    format: str = "both",  # noqa: A002 - as the command line calls it
    wait: float = 0,
    on_wait: Callable[[str], None] | None = None,
) -> PublishedCopy:
    """Write a read-only copy of the public tables for dashboards.

    A DuckDB file that is open anywhere can't be built, so dashboards read a copy. Its tables are of
    one state of the database. They are written beside the copy that is there, and take its place
    when all are complete; who reads the old ones goes on reading them.

    Parameters
    ----------
    output
        A folder, which is made if it is missing. It gets ``passk.duckdb``, in a format that every
        DuckDB from 1.0 on reads, and ``parquet/<table>.parquet``.
    database
        Path of the DuckDB file.
    without
        Public tables to leave out.
    with_raw
        Copy refused rows as they were read (``raw`` of ``passk_rejected_attempts``) and the paths
        of log files. Without it ``raw`` is null, and ``source_file`` a name without its folder.
    format
        ``duckdb``, ``parquet`` or ``both``. What is not asked for stays as it is in the folder.
    wait
        For how many seconds to try again while another process has the database, or publishes to
        the folder.
    on_wait
        Is told once what is waited for.

    Returns
    -------
    PublishedCopy
        What was published.

    Raises
    ------
    PasskError
        If the database is missing, in use, not built or half built, or the folder can't be
        written, or holds something else under one of the names.
    """
    kinds = FORMATS.get(format)
    if kinds is None:
        raise PasskError(
            f"There is no format '{format}'.", hint=f"The formats are {', '.join(FORMATS)}."
        )
    left_out = {
        public_table(name).name for name in ([without] if isinstance(without, str) else without)
    }
    folder, source = Path(output), Path(database)
    waiting = _Waiting(wait, on_wait)
    with _said_of(folder, source), ExitStack() as stack:
        stack.enter_context(_made(folder))
        is_alone = waiting.enter(stack, lambda: _alone(folder))
        _remove_drafts(folder, all_of_them=is_alone)
        draft = stack.enter_context(_draft(folder))
        _check_targets(folder, source, kinds, draft)
        with ExitStack() as reading:
            # Builds can't run while it is open, so it is open for reading the tables only.
            tables = waiting.enter(reading, lambda: open_tables(source))
            chosen = _chosen(tables, left_out)
            copy = _copy(tables, chosen, draft / DATABASE, with_raw=with_raw)
        if "parquet" in kinds:
            _write_parquet(draft, [ABOUT, *(table.name for table in chosen)], copy.copy_id)
            _replace_parquet(draft, folder, copy.copy_id)
        if "duckdb" in kinds:
            _replace_database(draft, folder)
    return replace(
        copy,
        database=folder / DATABASE if "duckdb" in kinds else None,
        parquet=folder / PARQUET if "parquet" in kinds else None,
    )


class _Waiting:
    """Tries again while what is wanted is in use."""

    def __init__(self, seconds: float, tell: Callable[[str], None] | None) -> None:
        self._until = time.monotonic() + seconds
        self._tell = tell

    def enter(self, stack: ExitStack, make: Callable[[], AbstractContextManager[T]]) -> T:
        while True:
            try:
                return stack.enter_context(make())
            except InUseError as error:
                left = self._until - time.monotonic()
                if left <= 0:
                    raise
                if self._tell is not None:
                    self._tell(f"{error.message} Trying again for {left:.0f} s.")
                    self._tell = None
                time.sleep(min(_PAUSE_S, left))


@contextmanager
def _said_of(folder: Path, source: Path) -> Iterator[None]:
    """Say of the folder what the system says of something in it."""
    import duckdb

    try:
        yield
    except OSError as error:
        if error.filename is not None and str(error.filename) == str(source):
            raise
        reason = error.strerror or str(error)
        raise PasskError(f"{folder} can't be written: {reason}.", hint=_HINT) from error
    except duckdb.IOException as error:
        text = io_reason(error)
        if _DRAFTS not in text:
            raise
        text = re.sub(rf"{re.escape(_DRAFTS)}[0-9a-f]+[/\\]", "", text)
        raise PasskError(f"{folder} can't be written: {text}.", hint=_HINT) from error


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder, and take it away again if an error leaves it empty."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Keep other publishes out of a folder, and tell whether that is sure.

    The system opens the lock when the process ends, however it ends.
    """
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has no such locks
        yield False
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        is_sure = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InUseError(
                f"Another process is publishing to {folder}.",
                hint="Wait until it is done, or give --wait SECONDS.",
            ) from error
        except OSError:
            is_sure = False  # some network file systems have none
        yield is_sure
    finally:
        os.close(handle)


def _check_targets(folder: Path, source: Path, kinds: Sequence[str], draft: Path) -> None:
    """Refuse to replace what `publish` did not write."""
    if "duckdb" in kinds:
        _check_database(folder / DATABASE, source, draft)
    parquet = folder / PARQUET
    if "parquet" not in kinds or not os.path.lexists(parquet):
        return
    if parquet.is_symlink():
        is_ours = parquet.readlink().parts[:1] == (VERSIONS,)
    else:
        is_ours = (parquet / f"{ABOUT}.parquet").is_file()
    if not is_ours:
        raise PasskError(
            f"{parquet} is in the way: passk did not publish it.",
            hint="Publish to another folder, or take it away.",
        )


def _check_database(target: Path, source: Path, draft: Path) -> None:
    if not os.path.lexists(target):
        return
    if source.exists() and target.exists() and target.samefile(source):
        raise PasskError(
            f"{target} is the database itself: a copy can't take its place.",
            hint="Publish to a folder of its own with -o.",
        )
    if not _is_copy(target, draft):
        raise PasskError(
            f"{target} is in the way: passk did not publish it.",
            hint="Publish to another folder, or take it away.",
        )


def _is_copy(path: Path, draft: Path) -> bool:
    """Tell whether a file is a published copy; False for what can't be read."""
    import duckdb

    # A tool that opens its copy for writing locks it, and must not stop the next one from coming.
    # The lock keeps DuckDB out, not who reads bytes.
    seen = draft / "seen.duckdb"
    for place in (path, seen):
        try:
            if place == seen:
                shutil.copyfile(path, seen)
            with duckdb.connect(str(place), read_only=True) as connection:
                names = connection.execute(
                    "select 1 from duckdb_tables() "
                    f"where schema_name = 'main' and table_name = {quote(ABOUT)}"
                ).fetchall()
        except (OSError, duckdb.Error):
            continue
        return bool(names)
    return False


def _remove_drafts(folder: Path, *, all_of_them: bool) -> None:
    """Remove what killed processes left: whose drafts they are, nobody says, but we are alone."""
    for path in folder.glob(f"{_DRAFTS}*"):
        with suppress(OSError):
            if all_of_them or time.time() - path.stat().st_mtime > _FORGOTTEN_S:
                shutil.rmtree(path)


@contextmanager
def _draft(folder: Path) -> Iterator[Path]:
    """Make a folder for drafts, on the file system on which they get their names."""
    draft = folder / f"{_DRAFTS}{secrets.token_hex(8)}"
    draft.mkdir()
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _chosen(tables: Tables, left_out: set[str]) -> list[PublicTable]:
    """Give the tables to copy, of a database whose tables are of one build."""
    for table in PUBLIC_TABLES:
        tables.require(table.name)
    if reason := why_unfinished(tables):
        raise PasskError(
            f"{tables.database} can't be published. {reason}",
            hint="Run `passk build`, then publish.",
        )
    return [table for table in tables.public() if table.name not in left_out]


def _copy(
    tables: Tables, chosen: Sequence[PublicTable], draft: Path, *, with_raw: bool
) -> PublishedCopy:
    """Write the tables to a new DuckDB file, and what there is to say of them but where it is."""
    from passk_py.warehouse.project import version

    now = datetime.now(UTC).replace(tzinfo=None)
    token = secrets.token_hex(4)
    copy_id = f"{now:%Y%m%dT%H%M%SZ}-{token}"
    with _attached(tables, draft, f"passk_copy_{token}") as schema:
        rows = {}
        for table in chosen:
            values = shared_columns(tables.columns(table.name), with_raw=with_raw)
            wanted = [f"{value} as {name}" for name, value in values.items()]
            query = tables.select(table, columns=wanted)
            made = tables.rows(f"create table {schema}.{table.name} as {query}")
            rows[table.name] = int(made[0][0])
        runs, newest = tables.rows(
            f"select count(*), max(loaded_at) from {tables.require('passk_runs')}"
        )[0]
        pending = pending_changes(tables)
        landed, newer = pending.attempts, changed_since(tables, pending)
        columns = ", ".join(f"{column} {kind}" for column, (kind, _) in _ABOUT_COLUMNS.items())
        tables.rows(f"create table {schema}.{ABOUT} ({columns})")
        tables.connection.execute(
            f"insert into {schema}.{ABOUT} values (?, ?, ?, ?, ?, ?, ?)",
            [copy_id, now, version(), tables.database.name, newest, runs, landed],
        )
        for statement in _comments(tables, chosen, schema, with_raw=with_raw):
            tables.rows(statement)
    return PublishedCopy(copy_id, now, None, None, rows, int(runs), newest, landed, newer)


@contextmanager
def _attached(tables: Tables, draft: Path, name: str) -> Iterator[str]:
    """Give a new DuckDB file a name that no database has, as views name theirs; give its schema."""
    tables.rows(
        f"attach {quote(str(draft))} as {name} (read_write, storage_version {quote(_STORAGE)})"
    )
    try:
        yield f"{name}.main"
        tables.rows("commit")
        # All into the one file: a log beside it would not be published.
        tables.rows(f"checkpoint {name}")
    except BaseException:
        with suppress(Exception):
            tables.rows("rollback")
        raise
    finally:
        # Who has the database open in this process shares it with this connection.
        with suppress(Exception):
            tables.rows(f"detach {name}")


def _comments(
    tables: Tables, chosen: Sequence[PublicTable], schema: str, *, with_raw: bool
) -> Iterator[str]:
    """Write the comments: those of the database, and where it has none, the project's words."""
    from passk_py.warehouse.descriptions import described_tables

    described = described_tables()
    said = _comments_of(tables)
    for table in chosen:
        place = tables.require(table.name)
        words = described.get(table.name)
        of_project = {"": words.text, **words.columns} if words else {}
        for column in ("", *tables.columns(table.name)):
            text = said.get((place, column)) or of_project.get(column)
            if not with_raw:
                text = _SHORTENED.get(column, text)
            if text:
                yield _comment(f"{schema}.{table.name}", column, text)
    yield _comment(f"{schema}.{ABOUT}", "", _ABOUT_TEXT)
    for column, (_, text) in _ABOUT_COLUMNS.items():
        yield _comment(f"{schema}.{ABOUT}", column, text)


def _comments_of(tables: Tables) -> dict[tuple[str, str], str]:
    """Give the comments that a database has, by table and column, '' for the table itself."""
    found = tables.rows(
        """
        select schema_name, table_name, '', comment from duckdb_tables()
        where database_name = current_database() and comment is not null
        union all
        select schema_name, view_name, '', comment from duckdb_views()
        where database_name = current_database() and comment is not null
        union all
        select schema_name, table_name, column_name, comment from duckdb_columns()
        where database_name = current_database() and comment is not null
        """
    )
    return {(f'"{schema}"."{table}"', column): comment for schema, table, column, comment in found}


def _comment(table: str, column: str, text: str) -> str:
    what = f"column {table}.{identifier(column)}" if column else f"table {table}"
    return f"comment on {what} is {quote(text)}"


def _write_parquet(draft: Path, names: Iterable[str], copy_id: str) -> None:
    """Write the tables of a copy to files, as they are sorted there."""
    import duckdb

    folder = draft / PARQUET
    folder.mkdir()
    options = f"format parquet, compression zstd, kv_metadata {{{COPY_ID}: {quote(copy_id)}}}"
    with duckdb.connect(str(draft / DATABASE), read_only=True) as connection:
        connection.execute("set enable_progress_bar = false")
        for name in names:
            path = folder / f"{name}.parquet"
            connection.execute(f"copy main.{name} to {quote(str(path))} ({options})")
            to_disk(path)
    to_disk(folder)


def _replace_parquet(draft: Path, folder: Path, copy_id: str) -> None:
    """Give a draft of Parquet files its name, and remove what no reader can be at any more."""
    link, versions = folder / PARQUET, folder / VERSIONS
    versions.mkdir(exist_ok=True)
    previous = link.readlink().name if link.is_symlink() else f"before-{copy_id}"
    # One rename of a link changes all files at once; a folder in its place can't be renamed over.
    ready = draft / "link"
    try:
        ready.symlink_to(Path(VERSIONS) / copy_id, target_is_directory=True)
    except (OSError, NotImplementedError):
        _replace_folder(draft / PARQUET, link, versions / previous)
    else:
        (draft / PARQUET).rename(versions / copy_id)
        to_disk(versions)
        if link.is_dir() and not link.is_symlink():
            link.rename(versions / previous)
        ready.replace(link)
    to_disk(folder)
    for path in versions.iterdir():
        if path.name not in {copy_id, previous}:
            shutil.rmtree(path, ignore_errors=True)


def _replace_folder(new: Path, target: Path, old: Path) -> None:
    """Rename twice, where links can't be made: for an instant there is no folder of the name."""
    if target.is_symlink():
        target.unlink()
    elif target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except OSError:
        with suppress(OSError):
            old.rename(target)
        raise


def _replace_database(draft: Path, folder: Path) -> None:
    """Give a draft of the DuckDB file its name."""
    new, target = draft / DATABASE, folder / DATABASE
    to_disk(new)
    if os.name == "posix":
        # A tool that forgets to open it read-only is told so, instead of locking others out.
        new.chmod(new.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    # What a tool wrote to the old copy all the same: DuckDB would want it to belong to the new one.
    (folder / f"{DATABASE}.wal").unlink(missing_ok=True)
    new.replace(target)
    to_disk(folder)
