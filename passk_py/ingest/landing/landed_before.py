"""The database's rows of a log that landed before, and of the logs of its run."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from passk_py.ingest.formats.json_values import at, text
from passk_py.ingest.formats.policy import digest_of_rules
from passk_py.ingest.landing.fingerprint import digest_of
from passk_py.ingest.landing.load_report import FileReport

if TYPE_CHECKING:
    import duckdb

    from passk_py.ingest.landing.source import Source


@dataclass(frozen=True, slots=True)
class Before:
    """A log as it landed; its digest is None after some of its rows were removed."""

    size: int
    sha256: str | None
    options: str
    rows_read: int
    rows_landed: int
    rows_rejected: int


def landed_before(connection: duckdb.DuckDBPyConnection, path: str) -> Before | None:
    """Look up a log among those that landed."""
    rows = connection.execute(
        "select size_bytes, sha256, options, rows_read, rows_landed, rows_rejected "
        "from landing.files where source_file = ?",
        [path],
    ).fetchall()
    return Before(*rows[0]) if rows else None


def deciding_options(connection: duckdb.DuckDBPyConnection, source: Source) -> str:
    """Write down, as JSON, what decides beside the bytes of a log which rows come out."""
    options, format_ = source.options, source.format
    said = {
        "given": options.given or None,
        "given_tags": dict(options.tags) or None,
        "score_threshold": options.score_threshold if format_.uses_threshold else None,
        "expected_attempts": options.expected_attempts,
        "mapping": format_.settings or None,
        # In its order, because the first pattern that fits decides.
        "policy": [list(rule) for rule in options.policy.items()] or None,
        "rules": digest_of_rules(format_),
        "after": _after(connection, source),
    }
    given = {name: value for name, value in said.items() if value is not None}
    return json.dumps(
        {"reader": f"{format_.name}/{format_.reader_version}", **given},
        sort_keys=True,
        ensure_ascii=False,
    )


def _after(connection: duckdb.DuckDBPyConnection, source: Source) -> dict[str, str] | None:
    """Give the log after which attempts are numbered on, with a digest of all up to it."""
    for path in reversed(source.after or ()):
        # Files that are not in the database do not count.
        if known := landed_before(connection, path):
            # Its options have the digest of those before it.
            said = f"{known.sha256}\0{known.options}"
            return {"log": path, "digest": sha256(said.encode()).hexdigest()}
    return None


def report_without_reading(
    connection: duckdb.DuckDBPyConnection, source: Source, before: Before
) -> FileReport | None:
    """Tell of a log that is in the database as it is, or must not take the place of what is."""
    path = source.path
    same = (source.sample.size, deciding_options(connection, source))
    if (before.size, before.options) == same and before.sha256 == digest_of(source.sample):
        return _unchanged(connection, source, before)
    if source.sample.some_of and (other := _part_not_named(connection, source)):
        message = (
            f"{path} landed before as one log with {other}, which is missing from the command."
        )
        hint = "Name the folder, or all files that landed: a part can't replace the whole."
        remove = path
    elif other := _run_not_named(connection, source, before):
        message = (
            f"{path} landed before as one run with {other}, which is missing from the command."
        )
        hint = "Name all logs of the run: attempts are numbered on from one to the next."
        remove = other
    else:
        return None
    if source.options.keep:
        hint += f" Or remove the landed rows: {unload_command(remove)}."
    return FileReport(path, "failed", source.format.name, message=message, hint=hint)


def _unchanged(connection: duckdb.DuckDBPyConnection, source: Source, before: Before) -> FileReport:
    reasons = connection.execute(
        "select reason_code, count(*) from landing.rejected where source_file = ? "
        "group by all order by 2 desc, 1",
        [source.path],
    ).fetchall()
    name, rejected = source.format.name, before.rows_rejected
    if source.options.strict and rejected:
        return FileReport(
            source.path,
            "failed",
            name,
            before.rows_read,
            rows_rejected=rejected,
            reasons=dict(reasons),
            message=f"{source.path} landed before without {rejected} of its {before.rows_read} "
            "rows, which are rejected.",
            hint="Correct the rows, or load without --strict to leave it as it is.",
            refused=True,
        )
    landed = before.rows_landed
    return FileReport(
        source.path, "unchanged", name, before.rows_read, landed, rejected, dict(reasons)
    )


def _part_not_named(connection: duckdb.DuckDBPyConnection, source: Source) -> str | None:
    """Find a file that landed as part of a log of which only some files are named now."""
    found = connection.execute(
        "select part from landing.parts where source_file = ? "
        "and part not in (select unnest(?)) order by 1 limit 1",
        [source.path, source.parts],
    ).fetchone()
    return found[0] if found else None


def _run_not_named(
    connection: duckdb.DuckDBPyConnection, source: Source, before: Before
) -> str | None:
    """Find the log of the same run before this one when it landed that is not named now."""
    said = json.loads(before.options)
    if at(said, "given", "run_id") != source.options.run_id:
        return None
    other = text(at(said, "after", "log"))
    if other is None or other in (source.after or ()) or not landed_before(connection, other):
        return None
    return other


def unload_command(path: str) -> str:
    """Write the command that takes a log out of the database."""
    return f"passk unload --source-file {shlex.quote(path)}"
