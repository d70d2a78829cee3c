"""A published copy is whole at every moment, whoever reads it and whatever ends the publishing.

The database is no build but tables that hold a version, so that two versions side by side show.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from passk_py.common.errors import InUseError, PasskError
from passk_py.warehouse.catalog import PUBLIC_TABLES
from passk_py.warehouse.publishing import PublishedCopy, publish

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
NAMES = [table.name for table in PUBLIC_TABLES]

LOOK = """
import duckdb, pathlib

def look(folder):
    '''Give the versions that the copy's DuckDB file and Parquet files hold, and their ids.'''
    folder = pathlib.Path(folder)
    with duckdb.connect(str(folder / "passk.duckdb"), read_only=True) as connection:
        names = [name for name, in connection.execute(
            "select table_name from duckdb_tables() where table_name <> 'passk_published'"
        ).fetchall()]
        of_tables = {row for name in names for row in connection.execute(
            f"select distinct (select copy_id from passk_published), version from {name}"
        ).fetchall()}
    here = (folder / "parquet").resolve(strict=True)
    of_files = set()
    with duckdb.connect() as connection:
        for name in names:
            file = here / f"{name}.parquet"
            of_files |= set(connection.execute(
                f"select distinct (select copy_id from '{here}/passk_published.parquet'), version, "
                f"(select decode(value) from parquet_kv_metadata('{file}') "
                f"where decode(key) = 'passk_copy_id') from '{file}'"
            ).fetchall())
    return len(names), of_tables, of_files
"""
# In a process of its own, as dashboards are: DuckDB gives one process one view of a path.
LOOK_ONCE = LOOK + "import sys; print(repr(look(sys.argv[1])))"
LOOK_ON = (
    LOOK
    + """
import sys, time
rounds, copies = 0, {}
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    tables, of_tables, of_files = look(sys.argv[1])
    assert tables == int(sys.argv[3]), tables
    assert len(of_tables) == len(of_files) == 1, (of_tables, of_files)
    [(copy, version)], [(file_copy, file_version, in_file)] = of_tables, of_files
    assert file_copy == in_file, of_files
    # A copy holds one version, in the DuckDB file and in the Parquet files.
    assert copies.setdefault(copy, version) == version
    assert copies.setdefault(file_copy, file_version) == file_version
    rounds += 1
    if rounds == 1:
        print("started", flush=True)
print(rounds, len(set(copies.values())))
"""
)
DIES = """
import itertools, os, pathlib, shutil, signal, sys
from passk_py.warehouse.publishing import copied_tables, publish

point, steps = int(sys.argv[1]), itertools.count()

def counted(function):
    def call(*arguments, **more):
        if next(steps) == point:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **more)
    return call

for name in ("mkdir", "rename", "replace", "symlink_to", "unlink", "chmod"):
    setattr(pathlib.Path, name, counted(getattr(pathlib.Path, name)))
shutil.rmtree = counted(shutil.rmtree)
copied_tables._comments = counted(copied_tables._comments)
publish(sys.argv[3], database=sys.argv[2])
"""
PUBLISH = (
    "import sys; from passk_py.warehouse.publishing import publish; print('loaded', flush=True); "
    "publish(sys.argv[2], database=sys.argv[1])"
)


def python(script: str, *words: object) -> list[str]:
    return [sys.executable, "-c", script, *map(str, words)]


def looked(folder: Path) -> tuple[int, int]:
    """Give the versions of the DuckDB file and of the Parquet files, which must be whole."""
    done = subprocess.run(
        python(LOOK_ONCE, folder), capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    tables, of_tables, of_files = eval(done.stdout)  # noqa: S307 - what LOOK_ONCE printed
    assert tables == len(NAMES)
    ((_, in_tables),) = of_tables
    ((copy_id, in_files, of_file),) = of_files
    assert copy_id == of_file
    return in_tables, in_files


class Source:
    """A database with all public tables, each row of which holds one version."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "source.duckdb"
        with duckdb.connect(str(self.path)) as connection:
            for table in PUBLIC_TABLES:
                keys = ", ".join(f"'{key}' || (997 * i % 500) as {key}" for key in table.key)
                connection.execute(
                    f"create table {table.name} as select {keys}, 0 as version, "
                    "timestamp '2026-01-01' as loaded_at from range(500) as numbers (i)"
                )

    def set_version(self, version: int) -> None:
        with duckdb.connect(str(self.path)) as connection:
            connection.execute("begin")
            for name in NAMES:
                connection.execute(f"update {name} set version = {version}")
            connection.execute("commit")


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "bi"


@pytest.fixture
def published(source: Source, folder: Path) -> PublishedCopy:
    return publish(folder, database=source.path)


def drafts(folder: Path) -> list[Path]:
    return list(folder.glob(".passk-*"))


def versions(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "parquet-versions").iterdir())


@pytest.mark.long
def test_a_copy_is_one_version_and_the_version_before_is_kept(
    source: Source, folder: Path, published: PublishedCopy
) -> None:
    assert looked(folder) == (0, 0)
    copies = [published.copy_id]
    for version in (1, 2, 3):
        source.set_version(version)
        copies.append(publish(folder, database=source.path).copy_id)
        assert looked(folder) == (version, version)
        assert versions(folder) == sorted(copies[-2:])
    assert not drafts(folder)


def test_old_copies_are_read_on(source: Source, folder: Path, published: PublishedCopy) -> None:
    before = (folder / "parquet").resolve()
    with duckdb.connect(str(folder / "passk.duckdb"), read_only=True) as reader:
        source.set_version(1)
        publish(folder, database=source.path)
        assert reader.execute("select distinct version from passk_runs").fetchall() == [(0,)]
    assert duckdb.sql(
        f"select distinct version from read_parquet('{before}/passk_runs.parquet')"
    ).fetchall() == [(0,)]
    assert looked(folder) == (1, 1)


@pytest.mark.long
def test_readers_never_see_two_versions(
    source: Source, folder: Path, published: PublishedCopy
) -> None:
    seconds = 6
    reader = subprocess.Popen(
        python(LOOK_ON, folder, seconds, len(NAMES)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert reader.stdout is not None
    started = reader.stdout.readline()
    version = 0
    while started and reader.poll() is None:
        version += 1
        source.set_version(version)
        publish(folder, database=source.path)
    out, err = reader.communicate()
    assert reader.returncode == 0, err
    rounds, seen = map(int, out.split())
    # It has seen copies come, or it has shown nothing.
    assert rounds >= 3
    assert 2 <= seen <= version + 1


@pytest.fixture
def kill_points() -> Iterator[int]:
    return iter(range(100))


@pytest.mark.long
def test_killed_at_every_step(
    source: Source, folder: Path, published: PublishedCopy, kill_points: Iterator[int]
) -> None:
    current, states = (0, 0), set()
    for point in kill_points:
        version = point + 1
        source.set_version(version)
        done = subprocess.run(python(DIES, point, source.path, folder), check=False, cwd=ROOT)
        state = looked(folder)
        new = (version, version)
        assert state in {current, new, (current[0], version)}, point
        current = state
        states.add((done.returncode, state == new))
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
    assert done.returncode == 0
    assert current == new
    # The renames are near the end, and what comes after them is tidying.
    assert states == {(-signal.SIGKILL, False), (-signal.SIGKILL, True), (0, True)}
    assert not drafts(folder)
    assert len(versions(folder)) == 2


@pytest.mark.long
def test_killed_at_any_moment(source: Source, folder: Path, published: PublishedCopy) -> None:
    seed = 20261122
    dice = random.Random(seed)
    command = python(PUBLISH, source.path, folder)
    started = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    whole = time.monotonic() - started
    tables, files = 0, 0
    for version in range(1, 6):
        source.set_version(version)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert process.stdout is not None
        assert process.stdout.readline() == "loaded\n"
        time.sleep(dice.uniform(0, whole * 0.8))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        now = looked(folder)
        assert now[0] in {tables, version}, f"round {version}, seed {seed}"
        assert now[1] in {files, version}, f"round {version}, seed {seed}"
        tables, files = now
    publish(folder, database=source.path)
    assert looked(folder) == (5, 5)
    assert not drafts(folder)
    assert len(versions(folder)) == 2


def test_one_publish_at_a_time(source: Source, folder: Path, published: PublishedCopy) -> None:
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    draft = folder / ".passk-publish-of-the-other"
    draft.mkdir()
    with pytest.raises(InUseError, match=f"^Another process is publishing to {folder}"):
        publish(folder, database=source.path)
    assert drafts(folder) == [draft]
    os.close(handle)
    publish(folder, database=source.path)
    assert not drafts(folder)


def test_without_locks_only_forgotten_drafts_are_removed(
    source: Source, folder: Path, published: PublishedCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def refuse(handle: int, how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    new, old = folder / ".passk-publish-new", folder / ".passk-publish-old"
    for draft in (new, old):
        draft.mkdir()
    os.utime(old, (0, 0))
    publish(folder, database=source.path)
    assert drafts(folder) == [new]


@pytest.mark.long
def test_without_links_a_folder_is_replaced(
    source: Source, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path, *, target_is_directory: bool = False) -> None:
        raise PermissionError(1, "Operation not permitted", str(target), None, str(self))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "symlink_to", refuse)
        for version in range(4):
            source.set_version(version)
            publish(folder, database=source.path)
            assert looked(folder) == (version, version)
            assert not (folder / "parquet").is_symlink()
            assert len(versions(folder)) == min(version, 1)
    # And back, where links can be made after all.
    publish(folder, database=source.path)
    assert (folder / "parquet").is_symlink()
    assert looked(folder) == (3, 3)
    assert len(versions(folder)) == 2
    with monkeypatch.context() as patched:
        patched.setattr(Path, "symlink_to", refuse)
        publish(folder, database=source.path)
    assert looked(folder) == (3, 3)


def test_folder_that_can_not_be_renamed_stays(
    source: Source, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, *rest: object, **more: object) -> None:
        raise PermissionError(1, "Operation not permitted", str(self))

    real = Path.rename

    def refuse_new(self: Path, target: Path) -> Path:
        if ".passk-publish-" in str(self):
            refuse(self)
        return real(self, target)

    monkeypatch.setattr(Path, "symlink_to", refuse)
    publish(folder, database=source.path)
    source.set_version(1)
    monkeypatch.setattr(Path, "rename", refuse_new)
    with pytest.raises(PasskError, match=f"^{folder} can't be written: Operation not permitted"):
        publish(folder, database=source.path)
    assert looked(folder) == (0, 0)
    assert not drafts(folder)


def test_what_a_tool_wrote_to_the_copy_is_no_part_of_the_next(
    source: Source, folder: Path, published: PublishedCopy
) -> None:
    (folder / "passk.duckdb").chmod(0o644)
    writes = (
        "import duckdb, os, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "connection.execute('set checkpoint_threshold = \"1GB\"')\n"
        "connection.execute('create table notes as select 1 as note')\n"
        "os._exit(0)\n"
    )
    subprocess.run(python(writes, folder / "passk.duckdb"), check=True)
    assert (folder / "passk.duckdb.wal").exists()
    publish(folder, database=source.path)
    assert not (folder / "passk.duckdb.wal").exists()
    assert looked(folder) == (0, 0)


def test_every_duckdb_1_reads_the_file(folder: Path, published: PublishedCopy) -> None:
    """The version stands in the header of each: 64 is what all of them from 1.0 to 1.5 write."""
    with (folder / "passk.duckdb").open("rb") as file:
        magic, storage = struct.unpack_from("<4sQ", file.read(20), 8)
    assert (magic, storage) == (b"DUCK", 64)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_duckdb_1_4_reads_the_file(folder: Path, published: PublishedCopy, tmp_path: Path) -> None:
    library = tmp_path / "duckdb_1_4"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "--no-deps", "--target", str(library), "duckdb==1.4.*"],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("there is no package index to install DuckDB 1.4 from")
    script = (
        "import duckdb, sys\n"
        "assert duckdb.__version__.startswith('1.4.'), duckdb.__version__\n"
        "connection = duckdb.connect(sys.argv[1], read_only=True)\n"
        "tables = connection.execute('select table_name from duckdb_tables()').fetchall()\n"
        "rows = [len(connection.execute(f'from {name}').fetchall()) for name, in tables]\n"
        "comments = connection.execute('select count(comment) from duckdb_columns() '\n"
        "    \"where table_name = 'passk_published'\").fetchall()\n"
        "files = connection.execute(f\"from '{sys.argv[2]}/*.parquet'\").fetchall()\n"
        "print(sorted(rows), comments[0][0])\n"
    ).replace("from '{sys.argv[2]}/*.parquet'", "from '{sys.argv[2]}/passk_runs.parquet'")
    done = subprocess.run(
        python(script, folder / "passk.duckdb", folder / "parquet"),
        env={**os.environ, "PYTHONPATH": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{[1] + [500] * len(NAMES)} 8\n"


def test_full_disk_is_said_of_the_folder(
    source: Source, folder: Path, published: PublishedCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    import passk_py.warehouse.publishing as module

    def fail(tables: object, chosen: object, draft: Path, *, with_raw: bool) -> None:
        raise duckdb.IOException(f'IO Error: Could not write file "{draft}": No space left.')

    monkeypatch.setattr(module, "write_copy", fail)
    with pytest.raises(PasskError) as caught:
        publish(folder, database=source.path)
    assert caught.value.message == (
        f'{folder} can\'t be written: Could not write file "{folder}/passk.duckdb": No space left.'
    )
    assert looked(folder) == (0, 0)
    assert not drafts(folder)


def test_error_of_the_database_is_not_said_of_the_folder(
    source: Source, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import passk_py.warehouse.publishing as module

    def fail(tables: object, chosen: object, draft: Path, *, with_raw: bool) -> None:
        raise duckdb.IOException('IO Error: No files found that match "logs/*.jsonl"')

    monkeypatch.setattr(module, "write_copy", fail)
    with pytest.raises(duckdb.IOException, match="No files found"):
        publish(folder, database=source.path)
    # Nor is anything left of a folder that was made for nothing.
    assert not folder.exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_folder_that_may_not_be_written(source: Source, folder: Path) -> None:
    folder.mkdir(mode=0o500)
    with pytest.raises(PasskError, match=f"^{folder} can't be written: Permission denied"):
        publish(folder, database=source.path)


def test_copy_can_be_moved(source: Source, folder: Path, published: PublishedCopy) -> None:
    moved = folder.with_name("elsewhere")
    shutil.move(folder, moved)
    assert looked(moved) == (0, 0)
