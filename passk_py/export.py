"""Writing public tables to files."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.errors import PasskError
from passk_py.public_tables import Filters, PublicTable, filters_of, public_table
from passk_py.sql_text import quote
from passk_py.tables import open_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.tables import Tables

__all__ = ["FORMATS", "ExportedFile", "export_tables"]

FORMATS: Final = {"parquet": ".parquet", "csv": ".csv", "json": ".json", "arrow": ".arrow"}
"""The formats, and how their files end. ``arrow`` is the IPC file format, also known as Feather."""

_COPY: Final = {
    "parquet": "format parquet, compression zstd",
    "csv": "format csv, header true",
    "json": "format json, array true",
    "arrow": "format parquet",
}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file that was written.

    Parameters
    ----------
    table
        The public table.
    path
        The file.
    rows
        How many rows it holds.
    """

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
        ``parquet``, ``csv``, ``json`` or ``arrow``; by default what the file's name ends in, else
        Parquet. CSV holds maps as JSON text; JSON is an array of objects, empty if there is no
        row; the others hold the columns and their types even then.
    run_id, suite, k
        Only rows with this value, or one of these, in the tables that have the column.

    Returns
    -------
    list of ExportedFile
        What was written.

    Raises
    ------
    PasskError
        If there is no such table or format, or a file can't be written.
    """
    chosen = [public_table(name) for name in ([names] if isinstance(names, str) else names)]
    filters = filters_of(run_id, suite, k)
    kind, paths = _paths(chosen, Path(output), format)
    drafts = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in paths}
    with open_tables(database) as tables:
        try:
            for path in paths:
                path.parent.mkdir(parents=True, exist_ok=True)
            counts = [
                _write(tables, table, filters, kind, drafts[path])
                for table, path in zip(chosen, paths, strict=True)
            ]
            for path, draft in drafts.items():
                draft.replace(path)
        except OSError as error:
            where = error.filename or output
            raise PasskError(
                f"{where} can't be written: {error.strerror}.",
                hint="Give a folder or file where you may write with -o.",
            ) from error
        finally:
            for draft in drafts.values():
                with suppress(OSError):
                    draft.unlink(missing_ok=True)
    return [
        ExportedFile(table.name, path, rows)
        for table, path, rows in zip(chosen, paths, counts, strict=True)
    ]


def _paths(
    tables: Sequence[PublicTable], output: Path, given: str | None
) -> tuple[str, list[Path]]:
    """Tell the format, and the file of each table."""
    if given is not None and given not in FORMATS:
        raise PasskError(
            f"There is no format '{given}'.", hint=f"The formats are {', '.join(FORMATS)}."
        )
    suffixes = {suffix: name for name, suffix in FORMATS.items()}
    of_name = suffixes.get(output.suffix.lower())
    if of_name is None or output.is_dir():
        kind = given or "parquet"
        return kind, [output / f"{table.name}{FORMATS[kind]}" for table in tables]
    if len(tables) > 1:
        raise PasskError(
            f"{output} is one file, for {len(tables)} tables.", hint="Give a folder with -o."
        )
    return given or of_name, [output]


def _write(tables: Tables, table: PublicTable, filters: Filters, kind: str, draft: Path) -> int:
    columns = tables.columns(table.name)
    as_text = kind == "csv"
    wanted = [
        f"to_json({name}) as {name}" if as_text and of_type.startswith("MAP") else name
        for name, of_type in columns.items()
    ]
    # DuckDB writes no Arrow without an extension, so polars turns Parquet into it, in batches.
    target = draft.with_name(f"{draft.name}.parquet") if kind == "arrow" else draft
    try:
        sql = tables.select(table, filters, columns=wanted)
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
