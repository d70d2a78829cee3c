"""The fourth step: the rows of a log, typed and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.ingest.containers.collector import COLLECTOR
from passk_py.ingest.landing.careful import careful_rows, no_rows
from passk_py.ingest.landing.contract_sql import ContractSql
from passk_py.ingest.landing.fast import fast_rows
from passk_py.ingest.landing.given import as_given, placed
from passk_py.ingest.landing.raw_rows import fast_relation
from passk_py.ingest.landing.staged import Staged

if TYPE_CHECKING:
    from collections.abc import Generator

    import duckdb

    from passk_py.ingest.landing.fingerprint import FingerprintThread
    from passk_py.ingest.landing.source import Source
    from passk_py.ingest.landing.target import Target


def read(
    source: Source, target: Target, fingerprint: FingerprintThread
) -> Generator[Staged, None, None]:
    """Give the rows of a log, in the fast way and, where that was of no use, in the careful way."""
    # The stage goes when the iterator moves on.
    connection = target.connection
    if source.harness:
        # The parameters for DuckDB are many small objects too.
        with COLLECTOR.paused(), careful_rows(connection, source) as staged:
            yield staged
        return
    if not source.options.careful:
        with fast_rows(connection, source, fingerprint) as clean:
            if clean:
                yield clean
    if source.format.container == "parquet":
        yield _parquet_rows(connection, source)
        return
    with careful_rows(connection, source) as staged:
        yield staged


def _parquet_rows(connection: duckdb.DuckDBPyConnection, source: Source) -> Staged:
    """Judge each row of a Parquet file. That needs no stage: the file is read once more."""
    relation = fast_relation(source)
    rows = int(connection.execute(f"select count(*) from ({relation})").fetchall()[0][0])
    if not rows:
        raise no_rows(source)
    explained = ContractSql(source, fast=True).explained(relation)
    good = f"select * from ({explained}) where reject_code is null"
    return Staged(
        good=as_given(source, good),
        rejected=as_given(source, f"select * from ({explained}) where reject_code is not null"),
        rows=rows,
        done=0.0,
        all_rows=as_given(source, explained),
        notes=placed(connection, source, good),
    )
