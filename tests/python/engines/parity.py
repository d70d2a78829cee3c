"""The same attempts on two engines: copying what landed, building, and comparing the public tables."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from passk_py.warehouse.catalog import PUBLIC_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from passk_py.warehouse.catalog import PublicTable

    from ..postgres_server import Postgres

    Read = Callable[[duckdb.DuckDBPyConnection, str, Mapping[str, str]], None]
    """Makes the table `there` of a public table of the other engine, given its name and DuckDB's types of its columns."""

ROOT: Final = Path(__file__).resolve().parents[3]
TOLERANCE: Final = 1e-12
"""The largest relative difference of two doubles that is rounding."""

ROUNDING: Final = 1e-15
"""Below it a double is what rounding left of a difference of numbers near 1, with no digit to compare."""

SCALES: Final = {
    ("passk_plans", "variance_between"): "10",
    ("passk_plans", "variance_within"): "10",
    ("passk_plans", "within_share"): "10 / (ours.variance_between + ours.variance_within)",
    ("passk_plans", "detectable_difference"): "1",
}
"""The minuend of a column that is a difference, or follows from one: as passk validate compares it."""

POSTGRES_TYPES: Final = {
    "VARCHAR": "text",
    "DOUBLE": "double precision",
    "HUGEINT": "numeric",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
}


@dataclass(slots=True)
class Compared:
    """How a public table of one engine compares with that of another.

    Parameters
    ----------
    table
        Its name.
    rows, other_rows
        How many rows it has on DuckDB and there.
    largest
        The largest relative difference of two doubles.
    differing
        How many rows differ by more than rounding, or are on one side only.
    examples
        What differs in the first of them.
    """

    table: str
    rows: int
    other_rows: int
    largest: float = 0.0
    differing: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def passes(self) -> bool:
        """Whether both have the same rows."""
        return self.differing == 0 and self.rows == self.other_rows


def build(
    dbt: str | Sequence[str],
    command: Sequence[str],
    *,
    target: str,
    folder: Path,
    environment: Mapping[str, str],
    variables: Mapping[str, Any] | None = None,
) -> None:
    """Run dbt on the project of this checkout; its files go to a folder. Raise what it says where it fails."""
    done = subprocess.run(
        [
            *([dbt] if isinstance(dbt, str) else dbt), "--no-use-colors", *command, "--target", target,
            "--project-dir", str(ROOT), "--profiles-dir", str(ROOT),
            "--target-path", str(folder / f"target_{target}"), "--log-path", str(folder / f"logs_{target}"),
            "--vars", json.dumps(dict(variables or {})),
        ],
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **environment},
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr)[-6000:])


def take_steps(
    python: str,
    script: Path,
    steps: Sequence[Sequence[str]],
    folder: Path,
    environment: Mapping[str, str],
) -> str:
    """Run a script of another environment with steps as JSON, and give what it prints. Raise what it says where it fails."""
    done = subprocess.run(
        [python, str(script)], input=json.dumps(steps), cwd=folder, env={**os.environ, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-6000:])
    return done.stdout


def tables_of(connection: duckdb.DuckDBPyConnection, schema: str) -> list[str]:
    """Name the tables of a schema; views are none."""
    rows = connection.execute(
        "select table_name from duckdb_tables() where schema_name = ? order by all", [schema]
    ).fetchall()
    return [table for (table,) in rows]


def copy_schema(database: Path, schema: str, postgres: Postgres, work: Path) -> None:
    """Fill the tables of a schema from those of DuckDB's of the same name, by way of CSV; views over them stay."""
    postgres.ask(f"create schema if not exists {schema}")
    with duckdb.connect(str(database), read_only=True) as connection:
        for table in tables_of(connection, schema):
            copy_table(connection, f"{schema}.{table}", postgres, f"{schema}.{table}", work)


def save_schema(database: Path, schema: str, work: Path) -> dict[str, Path]:
    """Write the tables of a schema of DuckDB's as Parquet, and give the file of each."""
    files: dict[str, Path] = {}
    with duckdb.connect(str(database), read_only=True) as connection:
        for table in tables_of(connection, schema):
            files[table] = work / f"{uuid.uuid4().hex}.parquet"
            described = connection.execute(f"describe {schema}.{table}").fetchall()
            # Parquet has no number so wide.
            listed = ", ".join(
                f'cast("{row[0]}" as decimal(38, 0)) as "{row[0]}"'
                if row[1] == "HUGEINT"
                else f'"{row[0]}"'
                for row in described
            )
            connection.execute(
                f"copy (select {listed} from {schema}.{table}) to '{files[table]}' (format parquet)"
            )
    return files


def copy_table(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    postgres: Postgres,
    to: str,
    work: Path,
    *,
    maps: str = "jsonb",
) -> None:
    """Fill a table of Postgres, made where it is missing, from one of DuckDB's."""
    columns = {row[0]: str(row[1]) for row in connection.execute(f"describe {table}").fetchall()}
    types = ", ".join(
        f'"{name}" {maps if kind.startswith("MAP") else POSTGRES_TYPES.get(kind, kind)}'
        for name, kind in columns.items()
    )
    selected = ", ".join(
        f'to_json("{name}")' if kind.startswith("MAP") else f'"{name}"'
        for name, kind in columns.items()
    )
    path = work / "rows.csv"
    connection.execute(
        f"copy (select {selected} from {table}) to '{path}' (header false, nullstr '\\N', force_quote *)"
    )
    postgres.ask(f"create table if not exists {to} ({types})", f"truncate {to}")
    with path.open("rb") as rows:
        postgres.ask(f"copy {to} from stdin (format csv, null '\\N')", rows=rows)


def read_from_postgres(postgres: Postgres, schema: str, work: Path) -> Read:
    """Read tables of Postgres, by way of CSV."""

    def read(connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, str]) -> None:
        path = work / f"{table}.csv"
        listed = ", ".join(f'"{name}"' for name in columns)
        postgres.ask(
            f"copy (select {listed} from {schema}.{table}) to stdout (format csv, null '\\N', force_quote *)",
            output=path,
        )
        kinds = {
            name: kind if kind in {"BIGINT", "DOUBLE", "TIMESTAMP"} else "VARCHAR"
            for name, kind in columns.items()
        }
        connection.execute(
            f"create table there as select * from read_csv('{path}', columns = {kinds}, header = false, auto_detect = false, "
            "nullstr = '\\N', allow_quoted_nulls = false, quote = '\"', escape = '\"', delim = ',', "
            "max_line_size = 10000000, new_line = '\\n')"
        )

    return read


def compare_tables(database: Path, read: Read, tables: Sequence[str] = ()) -> list[Compared]:
    """Compare every public table of a DuckDB file with that of another engine, row by row and value by value."""
    wanted = [one for one in PUBLIC_TABLES if not one.var and (not tables or one.name in tables)]
    return [compare_table(database, read, one) for one in wanted]


def compare_table(database: Path, read: Read, table: PublicTable) -> Compared:
    """Compare one public table."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{database}' as built (read_only)")
        described = connection.execute(f"describe built.main.{table.name}").fetchall()
        columns = {row[0]: str(row[1]) for row in described}
        read(connection, table.name, columns)
        there = {row[0]: str(row[1]) for row in connection.execute("describe there").fetchall()}
        assert set(there) == set(columns), (table.name, sorted(set(there) ^ set(columns)))
        for name, source, kinds in (
            ("ours", f"built.main.{table.name}", columns),
            ("theirs", "there", there),
        ):
            made = ", ".join(
                f'{_same_text(column, columns[column], kinds[column], table.name)} as "{column}"'
                for column in columns
            )
            exact = ", ".join(f'"{column}"' for column, kind in columns.items() if kind != "DOUBLE")
            keys = ", ".join(table.key)
            connection.execute(
                f"create table {name} as select *, "
                f"row_number() over (partition by {keys} order by {exact}) as nth from (select {made} from {source})"
            )
        return _compare(connection, table, columns)


def _compare(
    connection: duckdb.DuckDBPyConnection, table: PublicTable, columns: Mapping[str, str]
) -> Compared:
    def count(relation: str) -> int:
        found = connection.execute(f"select count(*) from {relation}").fetchone()
        return int(found[0]) if found else 0

    keys = [*table.key, "nth"]
    on = " and ".join(f"ours.{key} is not distinct from theirs.{key}" for key in keys)
    doubles = [name for name, kind in columns.items() if kind == "DOUBLE"]
    apart = {
        name: f'case when ours."{name}" = theirs."{name}" then 0 '
        f'else abs(ours."{name}" - theirs."{name}") / greatest(abs(ours."{name}"), abs(theirs."{name}"), '
        f"{SCALES.get((table.name, name), '0')}) end"
        for name in doubles
    }
    near = {
        name: f'greatest(abs(ours."{name}"), abs(theirs."{name}")) < {ROUNDING}' for name in doubles
    }
    unlike = {
        name: f'(ours."{name}" is null) <> (theirs."{name}" is null) or coalesce({apart[name]} > {TOLERANCE} '
        f"and not {near[name]}, false)"
        if name in apart
        else f'ours."{name}" is distinct from theirs."{name}"'
        for name in columns
    }
    largest = ", ".join(
        f"coalesce(max(case when {near[name]} then 0 else {apart[name]} end), 0)"
        for name in doubles
    )
    sides = [f"ours.{key} as k{i}, theirs.{key} as t{i}" for i, key in enumerate(keys)]
    sides += [f'ours."{name}" as "{name}", theirs."{name}" as "other_{name}"' for name in columns]
    named = ", ".join(f"case when {test} then '{name}' end" for name, test in unlike.items())
    connection.execute(
        "create table both_ as select ours.nth is null or theirs.nth is null as is_alone, "
        f"list_filter([{named}], lambda one: one is not null) as unlike, {', '.join(sides)} "
        f"from ours full join theirs on {on}"
    )
    found = Compared(table.name, count("ours"), count("theirs"))
    if doubles:
        row = connection.execute(
            f"select greatest(0.0, {largest}) from ours join theirs on {on}"
        ).fetchone()
        found.largest = float(row[0] or 0) if row else 0.0
    found.differing = count("both_ where is_alone or len(unlike) > 0")
    result = connection.execute(
        "select * from both_ where is_alone or len(unlike) > 0 order by all limit 5"
    )
    names = [one[0] for one in result.description]
    for values in result.fetchall():
        row_ = dict(zip(names, values, strict=True))
        key = [
            row_[f"k{i}"] if row_[f"k{i}"] is not None else row_[f"t{i}"] for i in range(len(keys))
        ]
        told = (
            "on one side only"
            if row_["is_alone"]
            else "; ".join(
                f"{name}: {row_[name]!r} / {row_['other_' + name]!r}" for name in row_["unlike"]
            )
        )
        found.examples.append(f"{key}: {told}")
    return found


def told(log: str, engine: str, found: list[Compared]) -> list[Compared]:
    """Print how all public tables of a log compare."""
    print(f"\n{log}\n| table | rows | largest difference | {engine} |\n|---|---|---|---|")
    for one in found:
        verdict = "PASS" if one.passes else f"{one.differing} rows differ"
        print(f"| `{one.table}` | {one.rows:,} | {one.largest:.1e} | {verdict} |")
    return found


def agree(found: list[Compared]) -> bool:
    """Whether all tables agree; a test that fails shows which do not, and how."""
    assert [(one.table, one.examples) for one in found if not one.passes] == []
    return True


def _same_text(name: str, kind: str, has: str, table: str) -> str:
    """Give a column of a type of DuckDB's, as an engine has it, in a form that all engines have."""
    quoted = f'"{name}"'
    if kind.startswith("MAP"):
        made = quoted if has.startswith("MAP") else f"cast(cast({quoted} as json) as {kind})"
        entries = f"list_sort([entry for entry in map_entries({made})])"
        return f"case when {quoted} is not null then cast(to_json({entries}) as varchar) end"
    if kind == "BOOLEAN" and has != kind:
        return f"{quoted} = 't'"
    if table == "passk_rejected_attempts" and name == "raw":
        # Tags are written there as the engine writes its own type of a map.
        return f"regexp_replace({quoted}, ', tags=.*$', '', 's')"
    return quoted
