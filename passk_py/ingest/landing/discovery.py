"""The first step: from the paths that the user names to files; paths are files, globs, folders."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.common.files import absolute, not_a_file
from passk_py.ingest.formats import FORMATS
from passk_py.ingest.formats.run_names import natural
from passk_py.ingest.landing.load_report import FileReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from passk_py.ingest.landing.report_building import ReportBuilder

_COMPRESSED: Final = ("", ".gz", ".zst")
# JSON that is never a log.
_NO_LOGS: Final = (".ipynb", ".map", ".har", ".geojson")
_SUFFIXES: Final = tuple(
    suffix + ending
    for suffix in sorted({suffix for known in FORMATS for suffix in known.suffixes})
    for ending in _COMPRESSED
)


def is_named_like_a_log(name: str) -> bool:
    """Tell whether a file is called as logs are."""
    return name.lower().endswith(_SUFFIXES)


@dataclass(frozen=True, slots=True)
class File:
    """A file to look into, known by its absolute path."""

    path: Path
    folder: str | None = None
    """The folder that was named instead of the file, which is then left alone if it is no log."""
    is_passed_over: bool = False
    """Whether its name ends like no log's, so that it is reported and not read."""


def discover(paths: Iterable[str | Path | FileReport], report: ReportBuilder) -> Iterator[File]:
    """Give the files that paths lead to, each once, a folder's before those of its folders."""
    seen: set[str] = set()
    for path in paths:
        if isinstance(path, FileReport):
            report.fail(path.path, path.message, path.hint)
        elif not str(path):
            # It would be the whole working directory.
            report.fail("''", "A path is empty.", "Check the variable that it comes from.")
        else:
            for file in _expand(str(path), report):
                if str(file.path) not in seen:
                    seen.add(str(file.path))
                    yield file


def _expand(given: str, report: ReportBuilder) -> Iterator[File]:
    path = absolute(given)
    # A name may have brackets and stars of its own, so what exists is taken by its name.
    if os.path.lexists(path) or not glob.has_magic(given):
        yield from _file_or_folder(path, given, report)
        return
    pattern = str(Path(given).expanduser())
    matches = glob.glob(pattern, recursive=True)  # noqa: PTH207 - it may be absolute
    if not matches:
        report.fail(
            given, f"Nothing matches {given}.", "Check the pattern and the working directory."
        )
    # The run that lands last is the latest where the log has no times: run-10 comes after run-9.
    for match in sorted(matches, key=_in_order):
        yield from _file_or_folder(absolute(match), match, report)


def _file_or_folder(path: Path, given: str, report: ReportBuilder) -> Iterator[File]:
    # Unlike Path.is_dir, this is false, and no error, where a name is too long or out of reach.
    if os.path.isdir(path):  # noqa: PTH112
        yield from _walk(path, given, report)
    elif mistake := _mistake(path, given):
        report.fail(*mistake)
    else:
        yield File(path)


def _misnamed(path: Path) -> tuple[str, str, str] | None:
    """Reject a name that no database can hold."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        name = os.fsencode(path).decode("utf-8", "backslashreplace")
        return name, f"{name} has a name that is not UTF-8.", "Rename the file."
    return None


def _mistake(path: Path, given: str) -> tuple[str, str, str] | None:
    """Say why a path is not that of a file that can be read: its name, the message, a hint."""
    if mistake := _misnamed(path):
        return mistake
    try:
        path.stat()
    except FileNotFoundError:
        return given, f"{given} does not exist.", "Check the path and the directory."
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return given, f"{given} can't be read: {why}.", "Check the path and your rights."
    if what := not_a_file(path, given):
        return given, what, "Write what it gives to a file and load that."
    if not os.access(path, os.R_OK):
        return given, f"{given} can't be read: no permission.", "Check your rights."
    return None


def _in_order(name: str) -> tuple[list[str | int], str]:
    return natural(name), name


def _walk(folder: Path, given: str, report: ReportBuilder) -> Iterator[File]:
    found: list[tuple[Path, str]] = []
    # os.walk does not follow links to folders; links to files are left out below. The target
    # of a link is found by its own name if it is within the folder, and the user did not name it
    # if it is outside.
    closed: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = sorted((name for name in folders if name[0] != "."), key=_in_order)
        for name in sorted(names, key=_in_order):
            path = Path(parent, name)
            if name.startswith("."):
                continue
            if not is_named_like_a_log(name):
                if path.is_file() and not path.is_symlink() and path.suffix not in _NO_LOGS:
                    yield File(path, given, is_passed_over=True)
            elif path.is_symlink():
                found.append((path, "a link, which is not followed"))
            else:
                found.append((path, "" if path.is_file() else "not a regular file"))
    # If two files are the same, the deeper one is the duplicate.
    for path, reason in sorted(found, key=lambda one: len(one[0].parts)):
        if reason:
            report.skip(str(path), reason)
        elif mistake := _misnamed(path):
            report.fail(*mistake)
        else:
            yield File(path, given)
    for error in closed:
        report.fail(
            str(error.filename),
            f"The folder {error.filename} can't be read: {error.strerror}.",
            "Check your rights.",
        )
    if not closed and all(reason for _, reason in found):
        endings = ", ".join(sorted({suffix for known in FORMATS for suffix in known.suffixes}))
        report.fail(
            given,
            f"There is no log in the folder {given}: no file in it ends with {endings}.",
            "Name the file itself if its name ends otherwise.",
        )
