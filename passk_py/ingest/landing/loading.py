"""``load``: attempt logs into ``landing``, each on its own."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from passk_py.common.errors import PasskError
from passk_py.common.files import is_remote
from passk_py.ingest.formats import listed
from passk_py.ingest.landing.database import check_free
from passk_py.ingest.landing.discovery import discover
from passk_py.ingest.landing.doubts import doubts
from passk_py.ingest.landing.fingerprint import FingerprintThread
from passk_py.ingest.landing.grouping import group
from passk_py.ingest.landing.identification import identify
from passk_py.ingest.landing.jobs import Jobs
from passk_py.ingest.landing.landed_before import landed_before, report_without_reading
from passk_py.ingest.landing.load_report import FileReport, LoadReport, Progress
from passk_py.ingest.landing.options import Options
from passk_py.ingest.landing.reading import read
from passk_py.ingest.landing.remote import fetched, names_of_fetched
from passk_py.ingest.landing.report_building import ReportBuilder, explained
from passk_py.ingest.landing.target import opened
from passk_py.ingest.landing.writing import write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from passk_py.ingest.formats.mappings.mapping import Mapping as FileMapping
    from passk_py.ingest.landing.source import Source
    from passk_py.ingest.landing.target import Target
    from passk_py.ingest.landing.writing import Written


def load(
    paths: str | Path | Iterable[str | Path],
    *,
    database: str | Path | DuckDBPyConnection,
    format: str | None = None,  # noqa: A002 - as the command line calls it
    run_id: str | None = None,
    suite: str | None = None,
    agent: str | None = None,
    model: str | None = None,
    tags: Mapping[str, str] | None = None,
    strict: bool = False,
    score_threshold: float = 1.0,
    policy: Mapping[str, str] | None = None,
    expected_attempts: int | None = None,
    mapping: FileMapping | None = None,
    jobs: int = 1,
    parquet: str | Path | None = None,
    known_as: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> LoadReport:
    r"""Bring attempt logs into the tables ``landing.attempts`` and ``landing.rejected``.

    Each file is a transaction of its own: its rows in, the rows that it had before out. A file
    whose bytes, options and reader are those of the last time is left as it is. A file that can't
    be read does not keep the others from landing.

    Parameters
    ----------
    paths
        Files, globs, folders, and addresses (``https://``, ``s3://``, ``gs://``, ``az://``,
        ``hf://``), which are fetched. In a folder, every file that looks like a log is read, in its
        folders too; hidden files and links are not.
    database
        Path of the DuckDB file; it is made if it is missing. Or a connection to a database in
        memory; messages then say what to leave out of the call instead of what to remove.
    format
        Name of the format; by default each file's content tells it.
    run_id, suite, agent, model
        Names for all attempts, instead of the log's own. A log that has several of them is an
        error. Logs that are given together under one ``run_id`` are attempts of one run: those of a
        task are numbered on from log to log, in the order in which the logs are given, those of a
        folder or glob by name (``run-2`` before ``run-10``). Only the numbers of canonical logs,
        and of mappings that say them, stay.
    tags
        Tags for all attempts; they replace an attempt's own tags of the same name.
    strict
        Reject a file as a whole if one of its rows is rejected.
    score_threshold
        A score of at least this passes, where a row has neither outcome nor passed. The default
        allows for 1e-6 of rounding.
    policy
        The class of attempts that were not graded, by reason: patterns with ``*``, and ``failed``
        or ``excluded``. The first pattern that fits decides, before passk's own.
    expected_attempts
        How many attempts of each task were to be made, where the log does not say it.
    mapping
        How the rows of files of anyone's own become attempts; no other format is tried then.
    jobs
        How many logs to read at a time.
    parquet
        A folder in which the attempts lie as Parquet, by suite and run, instead of in the
        database, which keeps the rest and remembers the folder. Say it with the first load.
    known_as
        The names under which files land instead of their paths, if they were fetched: the start of
        paths, and the text in its place.
    progress
        Is told how far the load is.

    Returns
    -------
    LoadReport
        The result of each file. A file that could not be loaded raises no error.

    Raises
    ------
    PasskError
        If the database can't be opened, an option makes no sense, or the attempts of the database
        lie elsewhere than in ``parquet``.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> log = folder / "log.jsonl"
    >>> row = {"run_id": "a", "task_id": "1", "attempt": 1, "outcome": "passed"}
    >>> _ = log.write_text(json.dumps(row) + "\n" + json.dumps(row | {"attempt": 0}) + "\n")
    >>> report = load(log, database=folder / "passk.duckdb")
    >>> report.rows_landed, report.reasons
    (1, {'out_of_range': 1})
    >>> load(log, database=folder / "passk.duckdb").statuses
    {'unchanged': 1}
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise PasskError("There is nothing to load.", hint="Name files, globs or folders.")
    options = Options(
        format=format,
        run_id=run_id,
        suite=suite,
        agent=agent,
        model=model,
        tags=dict(tags or {}),
        strict=strict,
        score_threshold=float(score_threshold),
        policy=dict(policy or {}),
        expected_attempts=expected_attempts,
        mapping=mapping,
        jobs=jobs,
        parquet=parquet,
        known_as=dict(known_as or {}),
        progress=progress,
        keep=isinstance(database, str | Path),
    )
    found: Sequence[str | Path | FileReport] = given
    with ExitStack() as opened_here:
        if any(map(is_remote, given)):
            made = tempfile.TemporaryDirectory(prefix="passk-fetched-")
            folder = Path(opened_here.enter_context(made))
            names = {**options.known_as, **names_of_fetched(folder)}
            options = replace(options, known_as=names)
            if isinstance(database, str | Path):
                check_free(Path(database))
            # Before the database is opened for good, so that a slow server does not keep it locked.
            found = list(fetched(given, folder, progress))
        return land(found, opened_here.enter_context(opened(database, options)), options)


def land(paths: Sequence[str | Path | FileReport], target: Target, options: Options) -> LoadReport:
    """Take paths through the five steps, each of which pulls from the one before."""
    report = ReportBuilder()
    alone = len(paths) == 1 and isinstance(paths[0], str | Path) and Path(paths[0]).is_file()
    target = replace(target, alone=alone)
    with Jobs[FileReport](options.jobs, target.connections) as jobs:
        files = discover(paths, report)
        sources = identify(files, target, options, report)
        for source in group(sources, report):
            # Logs that are numbered on from one another land one after the other.
            in_turn = source.after is not None
            report.add(jobs.run(partial(_read_and_write, source, target), at_once=in_turn))
        return report.build(target.storage.folder, options)


def _read_and_write(source: Source, target: Target) -> FileReport:
    """Read a log and write it, if it is not in the database as it is."""
    try:
        before = landed_before(target.connection, source.path)
        if before and (report := report_without_reading(target.connection, source, before)):
            return report
        with (
            FingerprintThread(source) as fingerprint,
            closing(read(source, target, fingerprint)) as readings,
        ):
            # The careful way is not asked for where the fast one did.
            written = next(
                done
                for staged in readings
                if (done := write(staged, source, target, fingerprint, replaces=bool(before)))
            )
        source.tell(source.sample.size, written.rows)
        return _report(source, target, written, replaced=bool(before))
    except Exception as error:  # noqa: BLE001 - whatever it is, the other files are to land
        message, hint = explained(source.path, error)
        return FileReport(source.path, "failed", message=message, hint=hint)


def _report(source: Source, target: Target, written: Written, *, replaced: bool) -> FileReport:
    path, name, rows = source.path, source.format.name, written.rows
    ignored = source.format.unknown_fields(source.sample)
    if source.options.strict and written.rejected:
        return FileReport(
            path,
            "failed",
            name,
            rows,
            rows_rejected=written.rejected,
            reasons=written.reasons,
            message=f"{path} did not land: {written.rejected} of its {rows} rows are rejected, the "
            f"first in {written.first_reason}",
            hint="Correct the rows, or load without --strict to land the others.",
            ignored=ignored,
            refused=True,
        )
    doubt = doubts(source, target)
    return FileReport(
        path,
        "replaced" if replaced else "landed",
        name,
        rows,
        written.landed,
        written.rejected,
        written.reasons,
        " ".join(filter(None, [doubt, *written.warnings, *_notes(written, ignored)])),
        ignored=ignored,
        excluded=written.excluded,
        missing=written.missing,
        is_doubtful=bool(doubt or written.warnings),
    )


def _notes(written: Written, ignored: tuple[str, ...]) -> list[str]:
    notes = list(written.notes)
    if written.rejected:
        notes.append(f"The first rejected row is {written.first_reason}")
    if ignored:
        names = listed(ignored)
        fields = "field is" if len(ignored) == 1 else "fields are"
        notes.append(f"{len(ignored)} {fields} not in the contract and not read: {names}.")
    return notes
