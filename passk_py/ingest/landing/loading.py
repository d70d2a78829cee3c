"""``load``: attempt logs into ``landing``, each file on its own."""

from __future__ import annotations

import json
import shlex
import zlib
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from passk_py.common.errors import PasskError
from passk_py.ingest.formats import FORMATS, Format, Refusal, format_named, listed, recognise
from passk_py.ingest.formats.canonical import is_canonical
from passk_py.ingest.formats.first_look import may_be_a_log, take_sample
from passk_py.ingest.formats.harness import Harness
from passk_py.ingest.formats.json_values import at, text
from passk_py.ingest.formats.mapped import mapped
from passk_py.ingest.formats.sample import Sample, holds_objects
from passk_py.ingest.formats.unknown import looks_like, mapping_to_try
from passk_py.ingest.landing.copies import Copies
from passk_py.ingest.landing.database import open_database, writing_at_once
from passk_py.ingest.landing.doubts import doubts
from passk_py.ingest.landing.fingerprint import digest_of
from passk_py.ingest.landing.groups import Groups
from passk_py.ingest.landing.jobs import Connections, Jobs
from passk_py.ingest.landing.load_report import FileReport, LoadReport, Progress, SkippedFile
from passk_py.ingest.landing.options import Options
from passk_py.ingest.landing.parquet_storage import InParquet, keep_in_parquet, storage_of
from passk_py.ingest.landing.paths import Candidate, Mistake, absolute, find_files
from passk_py.ingest.landing.schema import ensure_landing
from passk_py.ingest.landing.source import Source
from passk_py.ingest.landing.writing import Before, Written, after_of, recorded, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from passk_py.ingest.formats.mapping import Mapping as FileMapping
    from passk_py.ingest.landing.storage import Storage

__all__ = ["load"]

_T = TypeVar("_T")


def load(
    paths: str | Path | Iterable[str | Path],
    *,
    database: str | Path,
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
    progress: Progress | None = None,
) -> LoadReport:
    r"""Bring attempt logs into the tables ``landing.attempts`` and ``landing.rejected``.

    Each file is a transaction of its own: its rows in, the rows that it had before out. A file
    whose bytes, options and reader are those of the last time is left as it is. A file that can't
    be read does not keep the others from landing.

    Parameters
    ----------
    paths
        Files, globs and folders. In a folder, every file that looks like a log is read, in its
        folders too; hidden files and links are not.
    database
        Path of the DuckDB file; it is made if it is missing.
    format
        Name of the format; by default each file's content tells it.
    run_id, suite, agent, model
        Of all attempts, in the place of what a log says. A log that tells several of them apart is
        refused. Logs that are given together under one ``run_id`` are attempts of one run: those of
        a task are numbered on from log to log, in the order in which the logs are given, those of
        a folder or glob by name (``run-2`` before ``run-10``). Only the numbers of canonical logs,
        and of mappings that say them, stay.
    tags
        Of all attempts, before those that they have of the same name.
    strict
        Refuse a file as a whole if one of its rows is rejected.
    score_threshold
        A score of at least this passes, where a row has neither outcome nor passed. The default
        allows for 1e-6 of rounding.
    policy
        What an attempt that was not graded counts as, by its reason: patterns with ``*``, and
        ``failed`` or ``excluded``. The first that fits decides, before what passk itself says.
    expected_attempts
        How many attempts of each task were to be made, where the log does not say it.
    mapping
        How the rows of files of anyone's own become attempts; no other format is tried then.
    jobs
        How many logs to read at a time.
    parquet
        A folder in which the attempts lie as Parquet, by suite and run, instead of in the
        database, which keeps the rest and remembers the folder. Say it with the first load.
    progress
        Is told how far the load is.

    Returns
    -------
    LoadReport
        What became of each file. Nothing that went wrong with a file is raised.

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
    options = Options(
        run_id,
        suite,
        agent,
        model,
        dict(tags or {}),
        float(score_threshold),
        dict(policy or {}),
        expected_attempts,
    )
    if mapping and format:
        raise PasskError(
            "A file is read by a mapping or as a format, not both.",
            hint="Leave out --format, or the mapping.",
        )
    reader = format_named(format) if format else None
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise PasskError("There is nothing to load.", hint="Name files, globs or folders.")
    if jobs < 1:
        raise PasskError(f"--jobs is {jobs}.", hint="Give how many logs to read at a time, from 1.")
    files: list[FileReport] = []
    loaded: list[FileReport | Callable[[], FileReport]] = []
    skipped: list[SkippedFile] = []
    others: list[Candidate] = []
    logs_in: dict[str, int] = {}
    with _new_only_with_rows(Path(database), files), open_database(database) as connection:
        storage = storage_of(connection)
        ensure_landing(connection, at_once=True)
        if parquet is not None:
            storage = keep_in_parquet(connection, parquet, storage)
        if isinstance(storage, InParquet):
            storage.sweep(connection)
        connections = Connections(connection)
        load_log = _Loader(
            connections,
            reader,
            options,
            storage=storage,
            mapping=mapping,
            strict=strict,
            progress=progress,
        )
        groups = Groups()
        copies = Copies()
        # Of logs that are one run, each is numbered on from those before it.
        run = _OneRun()
        with (
            writing_at_once(connection, wanted=len(given) == 1 and Path(given[0]).is_file()),
            Jobs[FileReport](jobs, connections) as threads,
        ):
            for found in find_files(given):
                if isinstance(found, Mistake) and not found.hint:
                    skipped.append(SkippedFile(found.path, found.message))
                elif isinstance(found, Mistake):
                    loaded.append(_failed(found.path, found.message, found.hint))
                elif found.is_passed_over:
                    others.append(found)
                else:
                    if found.folder is not None:
                        logs_in.setdefault(found.folder, 0)
                    outcome = (
                        _landed_already(found, storage)
                        or groups.inside(found)
                        or load_log.look(found)
                    )
                    if isinstance(outcome, SkippedFile):
                        skipped.append(outcome)
                        continue
                    if found.folder is not None:
                        logs_in[found.folder] += 1
                    if isinstance(outcome, FileReport):
                        loaded.append(outcome)
                    elif original := copies.original(*outcome):
                        skipped.append(SkippedFile(str(found.path), f"a copy of {original}"))
                    elif groups.takes(*outcome):
                        run.found(found.path)
                    elif run_id is None or outcome[1].attempts_stay:
                        loaded.append(threads.run(partial(load_log, *outcome)))
                    else:
                        run.found(found.path)
                        run.add(*outcome)
            # Only now every log has said which files are parts of it.
            passed_over = [
                str(other.path)
                for other in others
                if not groups.inside(other) and load_log.is_a_log(other)
            ]
            for sample, reader in groups.logs():
                copies.belong(sample.all_files, sample.path)
                if run_id is None or reader.attempts_stay:
                    loaded.append(threads.run(partial(load_log, sample, reader)))
                else:
                    run.add(sample, reader)
            loaded += [load_log(*log) for log in run.logs()]
            files += [copies.told(one if isinstance(one, FileReport) else one()) for one in loaded]
        skipped = [file for file in skipped if file.path not in groups.companions]
    files += [_without_logs(folder, skipped) for folder, logs in logs_in.items() if not logs]
    return LoadReport(tuple(files), tuple(skipped), storage.folder, tuple(passed_over))


class _OneRun:
    """The logs that are one run by ``--run-id``, in the order in which their files were found."""

    def __init__(self) -> None:
        self._places: dict[Path, int] = {}
        self._logs: list[tuple[Sample, Format]] = []

    def found(self, path: Path) -> None:
        """Note the place of a file."""
        self._places.setdefault(path, len(self._places))

    def add(self, sample: Sample, reader: Format) -> None:
        """Add a log. Its start is not kept, since many logs may wait here."""
        self._logs.append((replace(sample, start=b""), reader))

    def logs(self) -> Iterator[tuple[Sample, Format, tuple[str, ...]]]:
        """Give each log with the paths of those that come before it."""
        in_order = sorted(
            self._logs,
            key=lambda log: min(self._places[file] for file in log[0].files or (log[0].path,)),
        )
        paths = [str(sample.path) for sample, _ in in_order]
        for place, (sample, reader) in enumerate(in_order):
            yield sample, reader, tuple(paths[:place])


@contextmanager
def _new_only_with_rows(database: Path, files: list[FileReport]) -> Iterator[None]:
    """Take a database away again that this load has made and nothing landed in."""
    new = not database.exists()
    try:
        yield
    finally:
        landed = any(file.status == "landed" for file in files)
        if new and not landed and database.exists() and _is_empty(database):
            for path in (database, database.with_name(f"{database.name}.wal")):
                path.unlink(missing_ok=True)


def _is_empty(database: Path) -> bool:
    try:
        with duckdb.connect(str(database), read_only=True) as connection:
            tables = connection.execute("select table_name from duckdb_tables()").fetchall()
            return not tables or not connection.execute("from landing.files limit 1").fetchall()
    except duckdb.Error:
        return False


def _landed_already(file: Candidate, storage: Storage) -> FileReport | SkippedFile | None:
    """Say that a file holds attempts of this very database, which would land once more."""
    if not storage.holds(file.path):
        return None
    path = str(file.path)
    if file.folder is not None:
        return SkippedFile(path, "among the attempts of this database")
    return _failed(
        path, f"{path} is among the attempts of this database.", "Load the log that it came from."
    )


def _failed(path: str, message: str, hint: str = "", **rest: Any) -> FileReport:  # noqa: ANN401
    return FileReport(path, "failed", message=message, hint=hint, **rest)


def _without_logs(folder: str, skipped: list[SkippedFile]) -> FileReport:
    inside = str(absolute(folder))
    one = next((file for file in skipped if file.path.startswith(inside)), None)
    example = f": {one.path}, for one, is {one.reason}" if one else ""
    return _failed(
        folder,
        f"There is no log in the folder {folder}{example}.",
        "`passk formats` lists what passk reads.",
    )


class _Loader:
    """Looks at files and loads them."""

    def __init__(
        self,
        connections: Connections,
        reader: Format | None,
        options: Options,
        *,
        storage: Storage,
        strict: bool,
        progress: Progress | None,
        mapping: FileMapping | None = None,
    ) -> None:
        self._mapping = mapping
        self._mapped: dict[tuple[str | None, bool], Format] = {}
        self._connections = connections
        self._storage = storage
        self._reader = reader
        self._options = options
        self._strict = strict
        self._progress = progress

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        return self._connections.mine

    def look(self, file: Candidate) -> tuple[Sample, Format] | FileReport | SkippedFile:
        """Find out what a file is, or why it is no log."""
        return self._guarded(str(file.path), lambda: self._look(file))

    def __call__(self, sample: Sample, reader: Format, after: tuple[str, ...] = ()) -> FileReport:
        """Load a log, numbered on from those of its run that come before it."""
        return self._guarded(str(sample.path), lambda: self._load(sample, reader, after))

    def is_a_log(self, file: Candidate) -> bool:
        """Tell whether a file whose name ends like no log's may be one all the same."""
        try:
            if not may_be_a_log(file.path):
                return False
            sample = take_sample(file.path, self._connection)
        except (OSError, duckdb.Error):
            return False
        return not sample.problem and (recognise(sample) is not None or holds_objects(sample))

    def _look(self, file: Candidate) -> tuple[Sample, Format] | FileReport | SkippedFile:
        path = str(file.path)
        sample = take_sample(file.path, self._connection)
        if file.folder is not None:
            sample = replace(sample, found_in=absolute(file.folder))
        reader = self._reader or (None if self._mapping else recognise(sample))
        if self._mapping and not sample.problem and (sample.container or file.folder is None):
            kind = (sample.container, sample.one_object)
            reader = self._mapped.get(kind) or mapped(self._mapping, sample)
            self._mapped[kind] = reader
        if reader is None or sample.problem:
            part = _part_of_a_log(sample)
            what = part or _unknown(sample)
            # What is something else is no business of passk's; what is damaged may be a log.
            if file.folder is not None and (part or not sample.problem or sample.foreign):
                return SkippedFile(path, what.message)
            return _failed(path, f"{path} is {what.message}.", what.hint)
        if not reader.can_read(sample):
            what_it_is = sample.description or f"of the kind {sample.container}"
            raise PasskError(
                f"{path} can't be read as {reader.name}: it is {what_it_is}.",
                hint="Leave out --format to let passk recognise the file.",
            )
        if refusal := reader.refuse(sample):
            raise PasskError(f"{path} has {refusal.message}.", hint=refusal.hint)
        if file.folder is not None and isinstance(reader, Harness):
            double = reader.doubled(sample)
            if double is not None:
                return SkippedFile(path, double.message)
        return sample, reader

    def _guarded(self, path: str, work: Callable[[], _T]) -> _T | FileReport:
        """Work on a file, and turn whatever goes wrong into a report on it."""
        try:
            return work()
        except PasskError as error:
            return _failed(path, error.message, error.hint or "")
        except duckdb.OutOfMemoryException:
            return _failed(
                path,
                f"{path} needs more memory than DuckDB may use.",
                "Close other programs, or split the file.",
            )
        except duckdb.IOException as error:
            return _failed(path, f"{path} did not land: {_first_line(error)}", _DISK)
        except (OSError, EOFError, zlib.error, duckdb.Error, RuntimeError) as error:
            # DuckDB tells an interrupt in two ways, and in neither of them is it the file's fault.
            if isinstance(error, duckdb.InterruptException) or "interrupted" in str(error):
                raise KeyboardInterrupt from error
            return _failed(
                path, f"{path} can't be read: {_first_line(error)}", "Write or copy it again."
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, the other files are to land
            said = f"{type(error).__name__}: {_first_line(error)}"
            return _failed(
                path,
                f"{path} did not land, because passk failed: {said}",
                "This is a mistake of passk: please report it.",
            )

    def _load(self, sample: Sample, reader: Format, after: tuple[str, ...]) -> FileReport:
        path = str(sample.path)
        before = recorded(self._connection, path)
        options = self._options.as_json(reader, after_of(self._connection, after))
        if (
            before is not None
            and (before.size, before.options) == (sample.size, options)
            and before.sha256 == digest_of(sample)
        ):
            if self._strict and before.rows_rejected:
                return _failed(
                    path,
                    f"{path} landed before without {before.rows_rejected} of its "
                    f"{before.rows_read} rows, which are rejected.",
                    "Correct the rows, or load without --strict to leave it as it is.",
                    format=reader.name,
                    rows_read=before.rows_read,
                    rows_rejected=before.rows_rejected,
                    reasons=self._reasons(path),
                    refused=True,
                )
            return FileReport(
                path,
                "unchanged",
                reader.name,
                before.rows_read,
                before.rows_landed,
                before.rows_rejected,
                self._reasons(path),
            )
        if before is not None and sample.some_of and (other := self._not_named(sample)):
            return _failed(
                path,
                f"{path} landed before as one log with {other}, which was not named.",
                "Load the folder, or name all files that landed: some of them would take the place "
                f"of all. Or take out what landed: passk forget --source-file {shlex.quote(path)}.",
                format=reader.name,
            )
        if before is not None and (other := self._numbered_before(before, after)):
            return _failed(
                path,
                f"{path} landed before as one run with {other}, which was not named.",
                "Name all logs of the run: attempts are numbered on from one to the next. Or take "
                f"out what landed: passk forget --source-file {shlex.quote(other)}.",
                format=reader.name,
            )
        source = Source(sample, reader, self._options, self._progress, after=after)
        replaces = before is not None
        written = write(
            self._connection,
            source,
            storage=self._storage,
            replaces=replaces,
            strict=self._strict,
            writing=self._connections.writing,
        )
        source.tell(sample.size, written.rows)
        return self._report(source, written, replaced=replaces)

    def _not_named(self, sample: Sample) -> str | None:
        """Find a file that landed as part of a log of which only some files are named now."""
        found = self._connection.execute(
            "select part from landing.parts where source_file = ? "
            "and part not in (select unnest(?)) order by 1 limit 1",
            [str(sample.path), [str(file) for file in sample.files]],
        ).fetchone()
        return found[0] if found else None

    def _numbered_before(self, before: Before, after: tuple[str, ...]) -> str | None:
        """Find the log of the same run before this one when it landed that is not named now."""
        said = json.loads(before.options)
        if at(said, "given", "run_id") != self._options.run_id:
            return None
        other = text(at(said, "after", "log"))
        gone = other is None or other in after or recorded(self._connection, other) is None
        return None if gone else other

    def _report(self, source: Source, written: Written, *, replaced: bool) -> FileReport:
        path, name, read = str(source.sample.path), source.reader.name, written.rows
        ignored = source.reader.unknown_fields(source.sample)
        if self._strict and written.rejected:
            return _failed(
                path,
                f"{path} did not land: {written.rejected} of its {read} rows are rejected, the "
                f"first in {written.first_reason}",
                "Correct the rows, or load without --strict to land the others.",
                format=name,
                rows_read=read,
                rows_rejected=written.rejected,
                reasons=written.reasons,
                ignored=ignored,
                refused=True,
            )
        doubt = " ".join(filter(None, [self._doubt(source), self._threshold(source)]))
        return FileReport(
            path,
            "replaced" if replaced else "landed",
            name,
            read,
            written.landed,
            written.rejected,
            written.reasons,
            " ".join(filter(None, [doubt, *written.warnings, *_notes(written, ignored)])),
            ignored=ignored,
            excluded=written.excluded,
            missing=written.missing,
            is_doubtful=bool(doubt or written.warnings),
        )

    def _doubt(self, source: Source) -> str:
        run_id = self._options.run_id
        return doubts(self._connection, source.sample, source.reader, self._storage, run_id=run_id)

    def _threshold(self, source: Source) -> str:
        """Say that the threshold of scores decided nothing, or that none of them reaches it."""
        sample, reader = source.sample, source.reader
        if self._options.sets_threshold and (why := reader.without_threshold(sample)):
            return f"--score-threshold decides nothing here: {why}."
        if not reader.is_judged_by_score(sample):
            return ""
        attempts = self._storage.attempts_of(self._connection, ("source_file", str(sample.path)))
        highest, passed = self._connection.execute(
            "select max(score) filter (outcome = 'failed'), count(*) filter (outcome = 'passed') "
            f"from {attempts}"
        ).fetchall()[0]
        # Nothing but zeros is what a failure of everything looks like.
        if passed or not highest or highest <= 0:
            return ""
        return (
            f"No score reaches the threshold, {self._options.score_threshold:g}: the highest is "
            f"{highest:g}, so nothing passed. Say from where on a score passes with "
            "--score-threshold."
        )

    def _reasons(self, path: str) -> dict[str, int]:
        found = self._connection.execute(
            "select reason_code, count(*) from landing.rejected where source_file = ? "
            "group by all order by 2 desc, 1",
            [path],
        ).fetchall()
        return dict(found)


_DISK = "Check the room on the disk and your rights in its folder."


def _notes(written: Written, ignored: tuple[str, ...]) -> list[str]:
    notes = list(written.notes)
    if written.rejected:
        notes.append(f"The first rejected row is {written.first_reason}")
    if ignored:
        names = listed(ignored)
        fields = "field is" if len(ignored) == 1 else "fields are"
        notes.append(f"{len(ignored)} {fields} not in the contract and not read: {names}.")
    return notes


def _part_of_a_log(sample: Sample) -> Refusal | None:
    """Say that a file repeats what another file of its harness holds."""
    for known in FORMATS:
        if isinstance(known, Harness) and (refusal := known.repeated(sample)):
            return refusal
    return None


def _unknown(sample: Sample) -> Refusal:
    if sample.problem:
        return sample.problem
    what = sample.description
    attempt = sample.container == "json_object" and is_canonical(sample.fields)
    first_line = sample.start.split(sample.newline, 1)[0].strip()
    # An object that goes on in the next line.
    opened = first_line.startswith(b"{") and first_line.endswith((b"{", b"[", b","))
    if attempt or (sample.container == "json_lines" and opened):
        return Refusal(
            f"{'an attempt' if attempt else 'JSON objects'} on several lines",
            "Write each attempt on a line of its own, as `jq -c .` does.",
        )
    if sample.container == "zip":
        return Refusal(what, "Unpack it, and load what was in it, if that is a log.")
    hint = (
        "`passk formats` lists what passk reads; a canonical log has run_id, task_id, attempt and "
        "outcome, passed or score."
    )
    if looks := looks_like(sample):
        what = f"a log of no format that passk knows: {looks}"
        if is_canonical(tuple(name.lower() for name in sample.fields)):
            hint = "The names of a canonical log are in lower case: rename its fields."
        else:
            hint += f" Any other is read by --map, for example: {mapping_to_try(sample)}"
    elif sample.container == "json_list":
        what = "an empty JSON list" if sample.complete else "a JSON list that can't be read"
    elif sample.container and not what:
        what = "a log without fields"
    if sample.container in (None, "csv") and what.startswith("text") and _is_called_json(sample):
        what += ", and no JSON"
    return Refusal(what or "of no format that passk knows", hint)


def _is_called_json(sample: Sample) -> bool:
    return any(ending.startswith((".json", ".ndjson")) for ending in sample.path.suffixes)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
