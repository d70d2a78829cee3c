"""The folder of a published copy: who may publish to it, drafts, and giving them their names."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import InUseError, PasskError
from passk_py.common.files import to_disk
from passk_py.common.sql_text import quote
from passk_py.warehouse.settings import COPY as ABOUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DATABASE: Final = "passk.duckdb"
PARQUET: Final = "parquet"
VERSIONS: Final = "parquet-versions"
DRAFTS: Final = ".passk-publish-"
_HEAD: Final = ".passk.duckdb.head"
"""The head of the published DuckDB file, which distinguishes a damaged copy from other files."""
_HEAD_BYTES: Final = 3 * 4096
"""The headers of a DuckDB file, whose checksums are those of this one."""
_FORGOTTEN_S: Final = 24 * 60 * 60


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder, and take it away again if an error leaves it empty."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Keep other publishes out of a folder until the process ends; tell whether that is sure."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has no such locks
        yield False
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        is_sure = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InUseError(
                f"Another process is publishing to {folder}.",
                hint="Wait until it is done, or give --wait SECONDS.",
            ) from error
        except OSError:
            is_sure = False  # some network file systems have none
        yield is_sure
    finally:
        os.close(handle)


def check_targets(folder: Path, source: Path, kinds: Sequence[str], draft: Path) -> None:
    """Raise an error rather than replace files that `publish` did not write."""
    if "duckdb" in kinds:
        _check_database(folder / DATABASE, source, draft)
    parquet = folder / PARQUET
    if "parquet" not in kinds or not os.path.lexists(parquet):
        return
    if parquet.is_symlink():
        is_ours = parquet.readlink().parts[:1] == (VERSIONS,)
    else:
        is_ours = (parquet / f"{ABOUT}.parquet").is_file()
    if not is_ours:
        raise _not_ours(parquet)


def _not_ours(path: Path) -> PasskError:
    return PasskError(
        f"{path} already exists, and passk did not publish it.",
        hint="Publish to another folder, or remove it.",
    )


def _check_database(target: Path, source: Path, draft: Path) -> None:
    if not os.path.lexists(target):
        return
    if source.exists() and target.exists() and target.samefile(source):
        raise PasskError(
            f"{target} is the database itself: a copy can't take its place.",
            hint="Publish to a folder of its own with -o.",
        )
    is_copy = _is_copy(target, draft)
    if is_copy is None and not _begins_as_published(target):
        raise PasskError(
            f"{target} can't be read, and nothing shows that passk published it.",
            hint="Publish to another folder, or remove it.",
        )
    if is_copy is False:
        raise _not_ours(target)


def _begins_as_published(path: Path) -> bool:
    """Tell whether a damaged file is what is left of the copy that was published last."""
    try:
        published = path.with_name(_HEAD).read_bytes()
        with path.open("rb") as file:
            return published.startswith(file.read(_HEAD_BYTES))
    except OSError:
        return False


def _is_copy(path: Path, draft: Path) -> bool | None:
    """Tell whether a file is a published copy; None for one that can't be read."""
    import duckdb

    # A tool that opens its copy for writing locks it, and must not stop the next one from coming.
    # The lock keeps DuckDB out, not who reads bytes.
    seen = draft / "seen.duckdb"
    for place in (path, seen):
        try:
            if place == seen:
                shutil.copyfile(path, seen)
            with duckdb.connect(str(place), read_only=True) as connection:
                names = connection.execute(
                    "select 1 from duckdb_tables() "
                    f"where schema_name = 'main' and table_name = {quote(ABOUT)}"
                ).fetchall()
        except (OSError, duckdb.Error):
            continue
        return bool(names)
    return None


def remove_drafts(folder: Path, *, all_of_them: bool) -> None:
    """Remove drafts that killed processes left; all of them only if no other process publishes."""
    for path in folder.glob(f"{DRAFTS}*"):
        with suppress(OSError):
            if all_of_them or time.time() - path.stat().st_mtime > _FORGOTTEN_S:
                shutil.rmtree(path)


@contextmanager
def draft_in(folder: Path) -> Iterator[Path]:
    """Make a folder for drafts, on the file system on which they get their names."""
    draft = folder / f"{DRAFTS}{secrets.token_hex(8)}"
    draft.mkdir()
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def replace_parquet(draft: Path, folder: Path, copy_id: str) -> None:
    """Give a draft of Parquet files its name, and remove what no reader can be at any more."""
    link, versions = folder / PARQUET, folder / VERSIONS
    versions.mkdir(exist_ok=True)
    previous = link.readlink().name if link.is_symlink() else f"before-{copy_id}"
    # One rename of a link changes all files at once; a folder in its place can't be renamed over.
    ready = draft / "link"
    try:
        ready.symlink_to(Path(VERSIONS) / copy_id, target_is_directory=True)
    except (OSError, NotImplementedError):
        _replace_folder(draft / PARQUET, link, versions / previous)
    else:
        (draft / PARQUET).rename(versions / copy_id)
        to_disk(versions)
        if link.is_dir() and not link.is_symlink():
            link.rename(versions / previous)
        ready.replace(link)
    to_disk(folder)
    for path in versions.iterdir():
        if path.name not in {copy_id, previous}:
            shutil.rmtree(path, ignore_errors=True)


def _replace_folder(new: Path, target: Path, old: Path) -> None:
    """Rename twice, where links can't be made: for an instant there is no folder of the name."""
    if target.is_symlink():
        target.unlink()
    elif target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except OSError:
        with suppress(OSError):
            old.rename(target)
        raise


def replace_database(draft: Path, folder: Path) -> None:
    """Give a draft of the DuckDB file its name."""
    new, target = draft / DATABASE, folder / DATABASE
    to_disk(new)
    head = draft / _HEAD
    with new.open("rb") as file:
        head.write_bytes(file.read(_HEAD_BYTES))
    head.replace(folder / _HEAD)
    if os.name == "posix":
        # A tool that forgets to open it read-only is told so, instead of locking others out.
        new.chmod(new.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    # A tool's writes to the old copy: DuckDB would take them for the new one's.
    (folder / f"{DATABASE}.wal").unlink(missing_ok=True)
    new.replace(target)
    to_disk(folder)
