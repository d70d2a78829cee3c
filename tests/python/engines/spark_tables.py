"""Tables of a Spark Connect server from Parquet and into it, in the environment that has pyspark: JSON steps on standard input.

A step is ``["make", table, file]``, ``["save", table, file]`` or ``["ask", statement]``. The server reads files where it runs.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def make(session: SparkSession, table: str, path: str) -> None:
    """Make a table of a file; times without a zone become the session's own."""
    frame = session.read.parquet(path)
    columns = ", ".join(
        f"cast(`{name}` as timestamp) as `{name}`" if kind.startswith("timestamp") else f"`{name}`"
        for name, kind in frame.dtypes
    )
    session.sql(f"drop table if exists {table}")
    session.sql(f"create table {table} using parquet as select {columns} from parquet.`{path}`")


def save(session: SparkSession, table: str, path: str) -> None:
    """Write a table to a file; its times become microseconds, so that no zone of this machine is added."""
    import pyarrow.parquet

    frame = session.sql(f"select * from {table}")
    columns = ", ".join(
        f"unix_micros(`{name}`) as `{name}`" if kind.startswith("timestamp") else f"`{name}`"
        for name, kind in frame.dtypes
    )
    pyarrow.parquet.write_table(session.sql(f"select {columns} from {table}").toArrow(), path)


def main() -> None:
    """Take the steps, one after the other, and print what was asked for."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    answers = []
    for kind, *words in json.load(sys.stdin):
        if kind == "ask":
            answers.append([list(row) for row in session.sql(words[0]).collect()])
        else:
            {"make": make, "save": save}[kind](session, *words)
    print(json.dumps(answers, default=str))


if __name__ == "__main__":
    main()
