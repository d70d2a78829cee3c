"""From what the user names to the files that are read: files, globs, folders."""

from __future__ import annotations

import glob
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.ingest.formats import FORMATS
from passk_py.ingest.formats.run_names import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Candidate", "Mistake", "absolute", "find_files", "not_a_file"]

_COMPRESSED: Final = ("", ".gz", ".zst")
# JSON that is never a log.
_NO_LOGS: Final = (".ipynb", ".map", ".har", ".geojson")
_SUFFIXES: Final = tuple(
    suffix + ending
    for suffix in sorted({suffix for known in FORMATS for suffix in known.suffixes})
    for ending in _COMPRESSED
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to look into.

    Parameters
    ----------
    path
        Its absolute path.
    folder
        The folder that the user named, if they did not name the file itself. A file of a folder
        that is no log is left alone; one that was named is an error.
    is_passed_over
        Whether its name ends like no log's, so that it is told of and not read.
    """

    path: Path
    folder: str | None = None
    is_passed_over: bool = False


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something named by the user that leads to no file.

    Parameters
    ----------
    path
        What the user gave, or the file within a folder.
    message
        What is wrong.
    hint
        What to do; empty for a file of a folder.
    """

    path: str
    message: str
    hint: str = ""


def find_files(paths: Iterable[str | Path]) -> Iterator[Candidate | Mistake]:
    """Find the files that paths, globs and folders lead to.

    Parameters
    ----------
    paths
        What the user gave.

    Yields
    ------
    Candidate or Mistake
        Files in the order given, each once; those of a folder by name, and before those of the
        folders in it. Within folders, hidden files, links and what is not a regular file are left
        out. Files whose names end like nothing that passk reads are marked as passed over.
    """
    seen: set[str] = set()
    for given in paths:
        for found in _expand(str(given)):
            if isinstance(found, Candidate):
                if str(found.path) in seen:
                    continue
                seen.add(str(found.path))
            yield found


def absolute(path: str | Path) -> Path:
    """Give the path that a file is known by: absolute, without dots, links left as they are.

    A link that a user names stays the name that they know the file by, wherever it leads today.
    """
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - resolve follows links


def _expand(given: str) -> Iterator[Candidate | Mistake]:
    path = absolute(given)
    # A name may have brackets and stars of its own, so what exists is taken by its name.
    if not os.path.lexists(path) and glob.has_magic(given):
        pattern = str(Path(given).expanduser())
        matches = glob.glob(pattern, recursive=True)  # noqa: PTH207 - it may be absolute
        if not matches:
            yield Mistake(
                given, f"Nothing matches {given}.", "Check the pattern and the working directory."
            )
        # What lands last is the latest run where the log has no times: run-10 comes after run-9.
        for match in sorted(matches, key=_in_order):
            yield from _file_or_folder(absolute(match), match)
        return
    yield from _file_or_folder(path, given)


def _file_or_folder(path: Path, given: str) -> Iterator[Candidate | Mistake]:
    # Unlike Path.is_dir, this is false, and no error, where a name is too long or out of reach.
    if os.path.isdir(path):  # noqa: PTH112
        yield from _walk(path, given)
    elif mistake := not_a_file(path, given):
        yield mistake
    else:
        yield Candidate(path)


def not_a_file(path: Path, given: str) -> Mistake | None:
    """Say why a path is not that of a file that can be read; None if it is."""
    try:
        str(path).encode()
        mode = path.stat().st_mode
    except UnicodeEncodeError:
        name = os.fsencode(path).decode("utf-8", "backslashreplace")
        return Mistake(name, f"{name} has a name that is not UTF-8.", "Rename the file.")
    except FileNotFoundError:
        return Mistake(given, f"{given} does not exist.", "Check the path and the directory.")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return Mistake(given, f"{given} can't be read: {why}.", "Check the path and your rights.")
    if not stat.S_ISREG(mode):
        return Mistake(
            given,
            f"{given} is neither a file nor a folder but {_what(mode)}.",
            "Write what it gives to a file and load that.",
        )
    if not os.access(path, os.R_OK):
        return Mistake(given, f"{given} can't be read: no permission.", "Check your rights.")
    return None


def _what(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"


def _in_order(name: str) -> tuple[list[str | int], str]:
    return natural(name), name


def _walk(folder: Path, given: str) -> Iterator[Candidate | Mistake]:
    found: list[tuple[int, Candidate | Mistake]] = []
    # os.walk does not follow links to folders; links to files are left out below. What a link
    # within the folder leads to is found by its own name, and what it leads to outside of the
    # folder is not what the user named.
    closed: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = sorted((name for name in folders if name[0] != "."), key=_in_order)
        for name in sorted(names, key=_in_order):
            path = Path(parent, name)
            if name.startswith("."):
                continue
            if not name.lower().endswith(_SUFFIXES):
                if path.is_file() and not path.is_symlink() and path.suffix not in _NO_LOGS:
                    yield Candidate(path, given, is_passed_over=True)
                continue
            if path.is_symlink():
                one: Candidate | Mistake = Mistake(str(path), "a link, which is not followed")
            elif not path.is_file():
                one = Mistake(str(path), "not a regular file")
            else:
                one = Candidate(path, given)
            found.append((len(path.parts), one))
    # Of a file and its copy, the one that lies deeper is the copy.
    for _, one in sorted(found, key=lambda file: file[0]):
        yield one
    for error in closed:
        yield Mistake(
            str(error.filename),
            f"The folder {error.filename} can't be read: {error.strerror}.",
            "Check your rights.",
        )
    if not closed and not any(isinstance(one, Candidate) for _, one in found):
        endings = ", ".join(sorted({suffix for known in FORMATS for suffix in known.suffixes}))
        yield Mistake(
            given,
            f"There is no log in the folder {given}: no file in it ends with {endings}.",
            "Name the file itself if its name ends otherwise.",
        )
