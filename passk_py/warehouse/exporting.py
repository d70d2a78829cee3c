"""Writing public tables to files."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import drafted
from passk_py.common.sql_text import io_reason, quote, without_formula
from passk_py.warehouse.catalog import (
    PublicTable,
    filters_of,
    public_table,
    shared_columns,
)
from passk_py.warehouse.tables import open_tables, require_filtered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from passk_py.warehouse.tables import Tables

FORMATS: Final = {"parquet": ".parquet", "csv": ".csv", "json": ".json", "arrow": ".arrow"}
"""The formats, and how their files end. ``arrow`` is the IPC file format, also known as Feather."""

_COPY: Final = {
    "parquet": "format parquet, compression zstd",
    "csv": "format csv, header true",
    "json": "format json, array true",
    "arrow": "format parquet",
}

_ENDINGS: Final = ".parquet, .csv, .json or .arrow"


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file that was written."""

    table: str
    path: Path
    rows: int


def export_tables(
    names: str | Iterable[str],
    output: str | Path,
    *,
    database: str | Path = "passk.duckdb",
    format: str | None = None,  # noqa: A002 - as the command line calls it
    run_id: str | Iterable[str] = (),
    suite: str | Iterable[str] = (),
    k: int | Iterable[int] = (),
    with_raw: bool = False,
    keep_formulas: bool = False,
) -> list[ExportedFile]:
    """Write public tables to files, whole or filtered.

    The files are of one state of the database. Each appears under its name when all are written,
    or not at all; a file that was there is replaced.

    Parameters
    ----------
    names
        The tables.
    output
        A folder, which is made if it is missing; or, for one table, a file that ends in
        ``.parquet``, ``.csv``, ``.json`` or ``.arrow``.
    database
        Path of the DuckDB file.
    format
        ``parquet``, ``csv``, ``json`` or ``arrow``, for files in a folder; by default Parquet. A
        file's name says its format, and another one can't be given. CSV holds maps as JSON text;
        JSON is an array of objects, empty if there is no row; the others hold the columns and their
        types even then.
    run_id, suite, k
        Only rows with this value, or one of these, in the tables that have the column. A run, suite
        or k that is in none of the tables is an error.
    with_raw
        Write rejected rows as they were read (``raw`` of ``passk_rejected_attempts``) and the paths
        of log files. Without it ``raw`` is null, and ``source_file`` a name without its folder.

    Returns
    -------
    list of ExportedFile
        The files that were written.

    Raises
    ------
    PasskError
        If there is no such table, format, run, suite or k, or a file can't be written.
    """
    chosen = [public_table(name) for name in ([names] if isinstance(names, str) else names)]
    filters = filters_of(run_id, suite, k)
    drafts: dict[Path, Path] = {}
    with _said_of_targets(output, drafts):
        kind, paths = _paths(chosen, Path(output), format)
        for path in paths:
            # Or it would be found out only when other files have been replaced.
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    with open_tables(database) as tables:
        require_filtered(tables, filters, chosen)
        with _said_of_targets(output, drafts), ExitStack() as stack:
            for path in paths:
                path.parent.mkdir(parents=True, exist_ok=True)
                drafts[path] = stack.enter_context(drafted(path))
            counts = []
            for table, path in zip(chosen, paths, strict=True):
                columns = _columns(tables, table, kind, with_raw, keep_formulas)
                sql = tables.select(table, filters, columns=columns)
                counts.append(_write(tables, sql, kind, drafts[path]))
    return [
        ExportedFile(table.name, path, rows)
        for table, path, rows in zip(chosen, paths, counts, strict=True)
    ]


@contextmanager
def _said_of_targets(output: str | Path, drafts: Mapping[Path, Path]) -> Iterator[None]:
    """Say of the file that was asked for what the system says of its draft."""
    import duckdb

    hint = "Give a folder or file where you may write with -o."
    try:
        yield
    except OSError as error:
        targets = {str(draft): target for target, draft in drafts.items()}
        where = targets.get(str(error.filename), error.filename or output)
        raise PasskError(
            f"{where} can't be written: {error.strerror or error}.", hint=hint
        ) from error
    except duckdb.IOException as error:
        text = io_reason(error)
        where = output
        for target, draft in drafts.items():
            if str(draft) in text:
                where, text = target, text.replace(str(draft), str(target))
        raise PasskError(f"{where} can't be written: {text}.", hint=hint) from error


def _paths(
    tables: Sequence[PublicTable], output: Path, given: str | None
) -> tuple[str, list[Path]]:
    """Tell the format, and the file of each table."""
    if given is not None and given not in FORMATS:
        raise PasskError(
            f"There is no format '{given}'.", hint=f"The formats are {', '.join(FORMATS)}."
        )
    if str(output) == "-":
        raise PasskError(
            "Tables are exported to files, not to stdout.",
            hint="Give a file or a folder with -o; `passk show TABLE --csv` prints a table.",
        )
    suffixes = {suffix: name for name, suffix in FORMATS.items()}
    of_name = suffixes.get(output.suffix.lower())
    one_file = bool(output.suffix) and not output.is_dir()
    if one_file and of_name is None and len(tables) == 1:
        raise PasskError(
            f"{output} ends in {output.suffix}, which is not a format that passk writes.",
            hint=f"End the file in {_ENDINGS}; make a folder of that name before, if it is one.",
        )
    if of_name is None or not one_file:
        kind = given or "parquet"
        return kind, [output / f"{table.name}{FORMATS[kind]}" for table in tables]
    if len(tables) > 1:
        raise PasskError(
            f"{output} is one file, for {len(tables)} tables.", hint="Give a folder with -o."
        )
    if given is not None and given != of_name:
        raise PasskError(
            f"{output} and the format {given} contradict each other.",
            hint=f"Leave out the format, or end the file in {FORMATS[given]}.",
        )
    return of_name, [output]


def _columns(
    tables: Tables, table: PublicTable, kind: str, with_raw: bool, keep_formulas: bool
) -> list[str]:
    """Write the SQL of the columns of a file."""
    columns = tables.columns(table.name)
    values = shared_columns(columns, with_raw=with_raw)
    for name, of_type in columns.items() if kind == "csv" else ():
        if of_type.startswith("MAP"):
            values[name] = f"to_json({name})"
        elif of_type == "VARCHAR" and not keep_formulas:
            values[name] = without_formula(values[name])
    return [f"{value} as {name}" for name, value in values.items()]


def _write(tables: Tables, sql: str, kind: str, draft: Path) -> int:
    """Write the rows of a query to a draft; give how many."""
    # DuckDB writes no Arrow without an extension, so polars turns Parquet into it, in batches.
    target = draft.with_name(f"{draft.name}.parquet") if kind == "arrow" else draft
    try:
        rows = tables.rows(f"copy ({sql}) to {quote(str(target))} ({_COPY[kind]})")
        if kind == "arrow":
            import polars as pl

            pl.scan_parquet(target).sink_ipc(draft)
    finally:
        if target != draft:
            target.unlink(missing_ok=True)
    with draft.open("rb") as file:
        # On the disk before it gets its name, or a power cut could leave the name without content.
        os.fsync(file.fileno())
    return int(rows[0][0])
