"""The second step: whether a file is a log, or part of one, and of which format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from passk_py.common.errors import PasskError
from passk_py.common.files import absolute
from passk_py.ingest.formats import FORMATS, Refusal, format_named, recognise
from passk_py.ingest.formats.canonical import is_canonical
from passk_py.ingest.formats.first_look import may_be_a_log, take_sample
from passk_py.ingest.formats.harness import Harness
from passk_py.ingest.formats.mappings.mapped import mapped
from passk_py.ingest.formats.mappings.unknown import looks_like, mapping_to_try
from passk_py.ingest.formats.sample import holds_objects
from passk_py.ingest.landing.report_building import explained
from passk_py.ingest.landing.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.ingest.formats import Format
    from passk_py.ingest.formats.sample import Sample
    from passk_py.ingest.landing.discovery import File
    from passk_py.ingest.landing.options import Options
    from passk_py.ingest.landing.report_building import ReportBuilder
    from passk_py.ingest.landing.target import Target

_FORMATS_READ: Final = (
    "`passk formats` lists what passk reads; a canonical log has run_id, task_id, attempt and "
    "outcome, passed or score."
)


class _Skip(Exception):  # noqa: N818 - no error, but the reason to leave a file of a folder alone
    """Leaves a file alone."""


def identify(
    files: Iterable[File], target: Target, options: Options, report: ReportBuilder
) -> Iterator[Source]:
    """Give the files that are logs or parts of logs; the others go to the report."""
    formats = _Formats(options)
    # By folder, the file that stands for all files below the folder.
    owners: dict[Path, Path] = {}
    passed_over: list[File] = []
    for file in files:
        if file.is_passed_over:
            passed_over.append(file)
            continue
        path = str(file.path)
        report.look_into(file.folder)
        try:
            _check_place(file, target, options, owners)
            source = Source(*_look(file, formats, target), options)
        except _Skip as reason:
            report.skip(path, str(reason))
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, the other files are to land
            report.found_log_in(file.folder)
            report.fail(path, *explained(path, error))
            continue
        report.found_log_in(file.folder)
        if original := report.duplicates.original(source):
            report.skip(path, f"a copy of {original}")
            continue
        if source.harness and (owned := source.harness.owns(source.sample)):
            owners[owned] = file.path
        yield source
    # Only now every log has said which files are parts of it.
    for file in passed_over:
        if not _owner(file, owners) and _may_be_a_log(file.path, target):
            report.pass_over(file.path)


class _Formats:
    """Tells the format of a file: the one that was named, that of the mapping, or recognised."""

    def __init__(self, options: Options) -> None:
        self._named = format_named(options.format) if options.format else None
        self._mapping = options.mapping
        self._mapped: dict[Any, Format] = {}

    def of(self, sample: Sample, *, is_named: bool) -> Format | None:
        """Give the format; None if there is none that reads the file."""
        if self._named:
            return self._named
        if not self._mapping:
            return recognise(sample)
        if sample.problem or not (sample.container or is_named):
            return None
        kind: tuple[Any, ...] = (sample.container, sample.one_object, sample.start[:1] == b"[")
        if sample.container in ("csv", "parquet"):
            kind += (sample.fields, sample.delimiter, sample.newline)
        if kind not in self._mapped:
            self._mapped[kind] = mapped(self._mapping, sample)
        return self._mapped[kind]


def _check_place(file: File, target: Target, options: Options, owners: Mapping[Path, Path]) -> None:
    """Keep out the attempts of this very database, and parts of a log that was read before."""
    if target.storage.holds(Path(options.named(str(file.path)))):
        if file.folder is not None:
            raise _Skip("among the attempts of this database")
        raise PasskError(
            f"{file.path} is a Parquet file of this database's own attempts.",
            hint="Load the original log.",
        )
    if owner := _owner(file, owners):
        raise _Skip(f"part of what {owner} tells of")


def _owner(file: File, owners: Mapping[Path, Path]) -> Path | None:
    if file.folder is None or not owners:
        return None
    return next((owners[above] for above in file.path.parent.parents if above in owners), None)


def _may_be_a_log(path: Path, target: Target) -> bool:
    """Tell whether a file whose name ends like no log's may be one all the same."""
    try:
        if not may_be_a_log(path):
            return False
        sample = take_sample(path, target.connection)
    except (OSError, duckdb.Error):
        return False
    return not sample.problem and (recognise(sample) is not None or holds_objects(sample))


def _look(file: File, formats: _Formats, target: Target) -> tuple[Sample, Format]:
    """Take a sample of a file and find its format; raise why it is no log."""
    path, is_named = file.path, file.folder is None
    sample = take_sample(path, target.connection)
    if file.folder is not None:
        sample = replace(sample, found_in=absolute(file.folder))
    found = formats.of(sample, is_named=is_named)
    if found is None or sample.problem:
        part = _part_of_a_log(sample)
        what = part or _unknown(sample, is_named=is_named)
        # Files of other kinds are no business of passk's; a damaged file may be a log.
        if not is_named and (part or not sample.problem or sample.foreign):
            raise _Skip(what.message)
        raise PasskError(f"{path} is {what.message}.", hint=what.hint)
    if not found.can_read(sample):
        what_it_is = sample.description or f"of the kind {sample.container}"
        raise PasskError(
            f"{path} can't be read as {found.name}: it is {what_it_is}.",
            hint="Leave out --format to let passk recognise the file.",
        )
    if refusal := found.refuse(sample):
        raise PasskError(f"{path} has {refusal.message}.", hint=refusal.hint)
    if not is_named and isinstance(found, Harness) and (double := found.doubled(sample)):
        raise _Skip(double.message)
    return sample, found


def _part_of_a_log(sample: Sample) -> Refusal | None:
    """Say that a file repeats what another file of its harness holds."""
    for known in FORMATS:
        if isinstance(known, Harness) and (refusal := known.repeated(sample)):
            return refusal
    return None


def _unknown(sample: Sample, *, is_named: bool) -> Refusal:
    """Say what a file of no format seems to be, and what may be done about it."""
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
    hint = _FORMATS_READ
    if looks := looks_like(sample):
        what = f"a log of no format that passk knows: {looks}"
        if is_canonical(tuple(name.lower() for name in sample.fields)):
            hint = "The names of a canonical log are in lower case: rename its fields."
        elif is_named:
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
