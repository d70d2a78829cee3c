"""Doubts about a log that has just landed, most of it because of others in the database.

A doubt stops nothing: it is said beside the log's rows, with what to do about it. The same attempts
under two names would count twice, and attempts that are numbered by their place among those of one
log have the same numbers as those of another.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from passk_py.ingest.formats.first_look import take_sample
from passk_py.ingest.formats.harness import Harness
from passk_py.ingest.landing.landed_before import unload_command

if TYPE_CHECKING:
    import duckdb

    from passk_py.ingest.landing.source import Source
    from passk_py.ingest.landing.target import Target


def doubts(source: Source, target: Target) -> str:
    """Say what makes a log doubtful that has landed, and what to do; empty if nothing does."""
    return " ".join(filter(None, [_beside_others(source, target), _threshold(source, target)]))


def _beside_others(source: Source, target: Target) -> str:
    """Say the first doubt that another log of the database raises."""
    path, run_id, connection = source.path, source.options.run_id, target.connection
    removes = f" {unload_command(path)} removes this log." if source.options.keep else ""
    if source.harness:
        if said := _in_twice(connection, source):
            return said
        by_place = source.format.numbers_attempts or source.harness.numbered_with_others
        counted_apart = by_place and run_id is None and source.sample.part_of
        if counted_apart and (found := _same_numbers(target, path, source.format.name)):
            run, other = found
            same = (
                f"Its attempts of {run} have the same numbers as those of {other}, because each "
                "log was counted by itself."
            )
            if not source.options.keep:
                return f"{same} Name one folder that holds both or, for two runs, one log a call."
            return (
                f"{same} Load one folder that holds both, and remove what "
                f"landed by itself: {unload_command(other)}, {unload_command(path)}; or, if they "
                "are two runs, name each with --run-id."
            )
    attempts_stay = source.format.attempts_stay
    if run_id is not None and (found := _same_numbers(target, path, differ=attempts_stay)):
        _, other = found
        same = f"Its attempts of {run_id} have the same numbers as those of {other}"
        if attempts_stay:
            return (
                f"{same}, and other verdicts, so that neither counts. A log in which attempts have "
                "their numbers keeps them: number them on in the file, or give each log a run of "
                f"its own.{removes}"
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
        said = f"The same bytes landed before as {twin[0]}. Each attempt counts once"
        if not source.options.keep:
            return f"{said}. Leave out one of the two."
        return (
            f"{said} while both agree; if the file was moved, remove the old name: "
            f"{unload_command(twin[0])}."
        )
    if source.harness and (said := _shares_no_task(connection, source, source.harness)):
        return said
    name = source.format.default_run_id(source.sample.path)
    if source.harness and source.harness.runs_have_ids and run_id is None:
        run, said = _exported_again(source, target)
        if said and run != name:
            return f"{said}{removes}"
    if name is None or run_id is not None:
        return ""
    namesake = connection.execute(
        f"select source_file from ({target.storage.runs_of_files}) "
        "where run_id = ? and source_file <> ? order by 1 limit 1",
        [name, path],
    ).fetchone()
    if not namesake:
        return ""
    return (
        f"Its run is called {name} after its file or folder, and so is a run in {namesake[0]}. If "
        "they are two runs, name each with --run-id: attempts that contradict each other are "
        "rejected."
    )


def _exported_again(source: Source, target: Target) -> tuple[str, str]:
    """Give a run of which another export landed before, and say so; empty if there is none."""
    path = source.path
    if found := _same_numbers(target, path, differ=True):
        run, other = found
        return run, (
            f"Its attempts of {run} have the same numbers as those of {other}, and other verdicts, "
            "so that neither counts: each export was numbered by itself. If they are parts of one "
            "run, put them into one file."
        )
    if found := _same_numbers(target, path):
        run, other = found
        return run, (
            f"It has attempts of {run} that {other} has too, so both are exports of one run. Each "
            "attempt counts once while they agree; leave out one of the two."
        )
    return "", ""


def _in_twice(connection: duckdb.DuckDBPyConnection, source: Source) -> str | None:
    """Find a log that landed before and has a file of this one."""
    path = source.path
    files = source.parts
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
    # The one that holds less is to be taken out.
    less = path if parts > len(files) else other
    if not source.options.keep:
        return f"{held}: the rows in both count twice. Leave out {less}."
    return (
        f"{held}: the rows in both are in the database twice. Remove one: {unload_command(less)}."
    )


def _shares_no_task(
    connection: duckdb.DuckDBPyConnection, source: Source, harness: Harness
) -> str | None:
    """Say that the format's other logs of the suite have no task of this one."""
    # A format without other names for its tasks has nothing to look up.
    if type(harness).other_tasks is Harness.other_tasks:
        return None
    path, sample = source.path, source.sample
    suite, other = connection.execute(
        "with mine as (select distinct suite, task_id from landing.attempts "
        "where source_file = ?), "
        "others as (select distinct suite, task_id, source_file from landing.attempts "
        "where source_file <> ? and source_format = ?) "
        "select any_value(suite), min(source_file) from others "
        "where suite in (select suite from mine) and not exists ("
        "from others semi join mine using (suite, task_id))",
        [path, path, harness.name],
    ).fetchall()[0]
    if other is None:
        return None
    # A log that waited for others of its run has not kept its start.
    options = harness.other_tasks(sample if sample.start else take_sample(sample.path, connection))
    return (
        f"It has no task of the suite {suite} in common with {other}, nor with any other log of "
        "it, so that they can't be compared. If the tests are the same, what they are called by "
        "is new in each run: give each a description, or load both logs with "
        f"{options}. If they are others, give each log a suite with --suite."
    )


def _same_numbers(
    target: Target, path: str, format_name: str | None = None, *, differ: bool = False
) -> tuple[str, str] | None:
    """Find a log with an attempt of this one, or with another verdict on it, and its run."""
    connection, storage = target.connection, target.storage
    runs = connection.execute(
        f"with runs as (select distinct run_id, source_file from ({storage.runs_of_files})) "
        "select distinct run_id from runs as mine join runs as others using (run_id) "
        "join landing.files as files on files.source_file = others.source_file "
        "where mine.source_file = ? and others.source_file <> ? "
        "and source_format = coalesce(?, source_format) order by 1",
        [path, path, format_name],
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


def _threshold(source: Source, target: Target) -> str:
    """Say that the threshold of scores decided nothing, or that none of them reaches it."""
    sample, options = source.sample, source.options
    if options.sets_threshold and (why := source.format.without_threshold(sample)):
        return f"--score-threshold decides nothing here: {why}."
    if not source.format.is_judged_by_score(sample):
        return ""
    attempts = target.storage.attempts_of(target.connection, ("source_file", source.path))
    highest, passed = target.connection.execute(
        "select max(score) filter (outcome = 'failed'), count(*) filter (outcome = 'passed') "
        f"from {attempts}"
    ).fetchall()[0]
    # Nothing but zeros is what a failure of everything looks like.
    if passed or not highest or highest <= 0:
        return ""
    return (
        f"No score reaches the threshold, {options.score_threshold:g}: the highest is "
        f"{highest:g}, so nothing passed. Say from where on a score passes with "
        "--score-threshold."
    )


def _load(first: str, second: str, run_id: str) -> str:
    return f"passk load {shlex.quote(first)} {shlex.quote(second)} --run-id {shlex.quote(run_id)}"
