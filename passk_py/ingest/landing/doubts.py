"""What other logs of the database make doubtful of one that has just landed.

A doubt stops nothing: it is said beside the log's rows, with what to do about it. The same attempts
under two names would count twice, and attempts that are numbered by their place among those of one
log have the same numbers as those of another.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from passk_py.ingest.formats.first_look import take_sample
from passk_py.ingest.formats.harness import Harness

if TYPE_CHECKING:
    import duckdb

    from passk_py.ingest.formats import Format
    from passk_py.ingest.formats.sample import Sample
    from passk_py.ingest.landing.storage import Storage

__all__ = ["doubts"]


def doubts(
    connection: duckdb.DuckDBPyConnection,
    sample: Sample,
    reader: Format,
    storage: Storage,
    *,
    run_id: str | None,
) -> str:
    """Say what another log of the database makes doubtful of this one.

    Parameters
    ----------
    connection
        A connection to the database.
    sample
        The log, which has landed.
    reader
        Its format.
    storage
        Where the attempts are.
    run_id
        What its run was called by who loads it, if it was.

    Returns
    -------
    str
        The first doubt, with what to do about it; empty if there is none.
    """
    path = str(sample.path)
    if isinstance(reader, Harness):
        if said := _in_twice(connection, sample):
            return said
        by_place = reader.numbers_attempts or reader.numbered_with_others
        counted_apart = by_place and run_id is None and sample.part_of
        if counted_apart and (found := _same_numbers(connection, path, storage, reader)):
            run, other = found
            return (
                f"Its attempts of {run} have the same numbers as those of {other}, because each "
                "log was counted by itself. Load one folder that holds both, and take out what "
                f"landed by itself: {_forget(other)}, {_forget(path)}; or, if they are two runs, "
                "name each with --run-id."
            )
    if run_id is not None and (
        found := _same_numbers(connection, path, storage, differ=reader.attempts_stay)
    ):
        _, other = found
        same = f"Its attempts of {run_id} have the same numbers as those of {other}"
        if reader.attempts_stay:
            return (
                f"{same}, and other verdicts, so that neither counts. A log in which attempts have "
                "their numbers keeps them: number them on in the file, or give each log a run of "
                f"its own; {_forget(path)} takes it out."
            )
        return (
            f"{same}, because each log was loaded by itself. Load them together, and they are "
            f"numbered on: {_load(other, path, run_id)}. If they are two runs, name each with a "
            "--run-id of its own."
        )
    twin = connection.execute(
        "select twin.source_file from landing.files as file join landing.files as twin "
        "on file.sha256 = twin.sha256 and file.source_file <> twin.source_file "
        "where file.source_file = ? order by 1",
        [path],
    ).fetchone()
    if twin:
        return (
            f"The same bytes landed before as {twin[0]}. Each attempt counts once while both agree;"
            f" if the file was moved, take the old name out: {_forget(twin[0])}."
        )
    if isinstance(reader, Harness) and (said := _shares_no_task(connection, sample, reader)):
        return said
    name = reader.default_run_id(sample.path)
    if name is None or run_id is not None:
        return ""
    namesake = connection.execute(
        f"select source_file from ({storage.runs_of_files}) "
        "where run_id = ? and source_file <> ? order by 1 limit 1",
        [name, path],
    ).fetchone()
    if not namesake:
        return ""
    return (
        f"Its run is called {name} after its file or folder, and so is a run in {namesake[0]}. If "
        "they are two runs, name each with --run-id: attempts that contradict each other are "
        "refused."
    )


def _in_twice(connection: duckdb.DuckDBPyConnection, sample: Sample) -> str | None:
    """Find a log that landed before and has a file of this one."""
    path = str(sample.path)
    files = [str(file) for file in sample.files or (sample.path,)]
    found = connection.execute(
        "with parts as (select source_file, part from landing.parts "
        "union all select source_file, source_file from landing.files), "
        "shared as (select source_file, min(part) as part from parts "
        "where part in (select unnest(?)) and source_file <> ? group by all) "
        "select source_file, part, "
        "(select count(*) from landing.parts where source_file = shared.source_file) "
        "from shared order by 1 limit 1",
        [files, path],
    ).fetchone()
    if not found:
        return None
    other, part, parts = found
    if part == other:
        held = f"{other}, which is a part of it, landed before by itself"
    elif part == path:
        held = f"It is a part of {other}, which landed before as one log"
    else:
        held = f"{part} is a part of {other} too, which landed before"
    # What holds less is the one to take out.
    less = path if parts > len(files) else other
    return f"{held}: what both hold is in the database twice. Take one out: {_forget(less)}."


def _shares_no_task(
    connection: duckdb.DuckDBPyConnection, sample: Sample, reader: Harness
) -> str | None:
    """Say that the format's other logs of the suite have no task of this one."""
    # Of a format that has no other names for its tasks, nothing has to be asked.
    if type(reader).other_tasks is Harness.other_tasks:
        return None
    path = str(sample.path)
    suite, other = connection.execute(
        "with mine as (select distinct suite, task_id from landing.attempts "
        "where source_file = ?), "
        "others as (select distinct suite, task_id, source_file from landing.attempts "
        "where source_file <> ? and source_format = ?) "
        "select any_value(suite), min(source_file) from others "
        "where suite in (select suite from mine) and not exists ("
        "from others semi join mine using (suite, task_id))",
        [path, path, reader.name],
    ).fetchall()[0]
    if other is None:
        return None
    # A log that waited for others of its run has not kept its start.
    options = reader.other_tasks(sample if sample.start else take_sample(sample.path, connection))
    return (
        f"It has no task of the suite {suite} in common with {other}, nor with any other log of "
        "it, so that they can't be compared. If the tests are the same, what they are called by "
        "is new in each run: give each a description, or load both logs with "
        f"{options}. If they are others, give each log a suite with --suite."
    )


def _same_numbers(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    storage: Storage,
    reader: Format | None = None,
    *,
    differ: bool = False,
) -> tuple[str, str] | None:
    """Find a log, of this format or any, that has an attempt of this one, and the attempt's run.

    Copies count once while they agree, so that ``differ`` asks for other verdicts only.
    """
    runs = connection.execute(
        f"with runs as (select distinct run_id, source_file from ({storage.runs_of_files})) "
        "select distinct run_id from runs as mine join runs as others using (run_id) "
        "join landing.files as files on files.source_file = others.source_file "
        "where mine.source_file = ? and others.source_file <> ? "
        "and source_format = coalesce(?, source_format) order by 1",
        [path, path, reader and reader.name],
    ).fetchall()
    for (run,) in runs:
        attempts = storage.attempts_of(connection, ("run_id", run))
        clash = connection.execute(
            f"select others.source_file from {attempts} as mine join {attempts} as others "
            "using (suite, task_id, attempt) where mine.source_file = ? "
            "and others.source_file <> ? and (? or mine.outcome <> others.outcome) "
            "order by 1 limit 1",
            [path, path, not differ],
        ).fetchone()
        if clash:
            return run, clash[0]
    return None


def _load(first: str, second: str, run_id: str) -> str:
    return f"passk load {shlex.quote(first)} {shlex.quote(second)} --run-id {shlex.quote(run_id)}"


def _forget(path: str) -> str:
    return f"passk forget --source-file {shlex.quote(path)}"
