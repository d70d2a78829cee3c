"""Odd files, terminals and names end in a clear error or in the right result, never in a bug report."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

import duckdb
import pytest
import yaml  # type: ignore[import-untyped]

from passk_py.warehouse.project import state_dir

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

PASSWORD_URI = "postgresql://reader:secret@db/evals"  # noqa: S105 - nobody's


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe that nobody writes to: who opens it waits for ever."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "words",
    [
        ("show", "--database", "{pipe}"),
        ("build", "--database", "{pipe}"),
        ("load", "log.jsonl", "--database", "{pipe}"),
        ("gate", "--rules", "{pipe}"),
        ("peek", "log.jsonl", "--gate", "{pipe}"),
        ("peek", "{pipe}"),
    ],
    ids=" ".join,
)
def test_a_pipe_is_refused_at_once(
    passk: Passk, letters: Path, make_log: Callable[..., Path], pipe: Path, words: tuple[str, ...]
) -> None:
    assert letters.exists()
    make_log("log.jsonl", [("r", "t", "PF")])
    said = passk(*(word.format(pipe=pipe) for word in words))
    assert said.code in {2, 3}
    assert f"Error: {pipe} is neither a file nor a folder but a pipe.\n" in said.err


@pytest.mark.parametrize("opened", ["[", "{a: ", "- "])
def test_endless_nesting_is_an_error_in_words(passk: Passk, letters: Path, opened: str) -> None:
    text = opened * 20_000
    rules = letters.parent / "gates.yml"
    rules.write_text(text, encoding="utf-8")
    said = passk("gate", "--rules", rules)
    assert (said.code, said.out) == (3, "")
    assert re.search(r"gates.yml.*: this is not valid YAML, ", said.err)
    said = passk("build", "--vars", text)
    assert said.code == 2
    assert said.err.startswith("Error: --vars is not valid YAML: ")
    assert len(said.err) < 1_000


@pytest.mark.parametrize(
    "columns", ["0", *(pytest.param(none, marks=pytest.mark.long) for none in ("00", ""))]
)
def test_a_terminal_without_width_is_one_of_the_usual_width(
    passk: Passk, letters: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rule = ("--metric", "pass_at_k", "--k", 1, "--min", 0.1, "--run", "new", "--scope", "suite")
    for words in (("diagnose", "new"), ("gate", *rule), ("compare", "old", "new"), ("show",)):
        said = passk(*words, "--database", letters)
        assert "bug" not in said.err
        assert said.out


def test_a_name_that_is_not_utf_8_does_not_keep_the_others_from_landing(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log = make_log("log.jsonl", [("r", "t", "PF")])
    (folder / "good.jsonl").write_bytes(log.read_bytes())
    with open(os.fsencode(folder) + b"/\xff.jsonl", "wb") as file:  # noqa: PTH123 - bytes
        file.write(log.read_bytes())
    said = passk("load", folder)
    assert said.code == 2
    assert (
        f"Error: {folder}/\\xff.jsonl has a name that is not UTF-8.\nRename the file.\n" in said.err
    )
    assert re.search(r"good.jsonl +jsonl +landed +2 +2", said.out)


def test_an_empty_path_is_not_the_working_directory(
    passk: Passk, make_log: Callable[..., Path]
) -> None:
    make_log("log.jsonl", [("r", "t", "PF")])
    for command in ("load", "peek"):
        said = passk(command, "")
        assert said.code == 2
        assert said.err == "Error: A path is empty.\nCheck the variable that it comes from.\n"


@pytest.mark.parametrize("command", ["load", "peek"])
def test_blanks_without_end_are_not_an_empty_file(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path, command: str
) -> None:
    row = make_log("log.jsonl", [("r", "t", "P")]).read_bytes()
    log = tmp_path / "log.jsonl.gz"
    log.write_bytes(gzip.compress(b" " * 5_000_000 + row, 1))
    said = passk(command, log)
    assert said.code == 2
    assert said.err.startswith(
        f"Error: {log} is blank for its first 1.0 MB.\nRemove the blanks before the first attempt.\n"
    )


def test_a_part_of_a_new_database_is_built(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    passk("load", make_log("log.jsonl", [("r", "t", "PF")]))
    said = passk("build", "--select", "+passk_runs")
    assert (said.code, said.err) == (0, "")
    assert passk("show", "passk_runs", "--csv").out.splitlines()[1].startswith("r,")


@pytest.mark.long
def test_names_reach_neither_the_terminal_nor_yaml_raw(
    passk: Passk, make_log: Callable[..., Path]
) -> None:
    names = ("a, b: [\x1b[2J", "'c\"")
    passk(
        "load",
        make_log("log.jsonl", [(name, f"t{task}", "PPFP") for name in names for task in range(3)]),
    )
    passk("build", "--no-tests", "--vars", "{passk_baseline: none}")
    said = passk("compare", *names)
    assert "\x1b[2J" not in said.out + said.err
    (command,) = re.findall(r"To add it to the tables: (.+)", said.err)
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {command.removeprefix('passk ')}"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    (pair,) = yaml.safe_load(words[words.index("--vars") + 1])["passk_pairs"]
    assert pair["candidate"] == names[1]


def test_databases_of_one_stem_have_a_folder_each(tmp_path: Path) -> None:
    names = ("a", "a.duckdb", "a.db", "a.b.duckdb")
    assert len({state_dir(tmp_path / name) for name in names}) == len(names)


def test_drafts_of_killed_processes_are_swept(passk: Passk, letters: Path) -> None:
    done = subprocess.run(
        [
            sys.executable, "-c",
            "import os, pathlib; from passk_py.common.files import draft_beside\n"
            "for name in ('a', 'b'): draft_beside(pathlib.Path(name)).write_text('half')\n"
            "os._exit(9)",
        ],
        cwd=letters.parent, check=False,
    )  # fmt: skip
    assert done.returncode == 9
    left = list(letters.parent.glob(".passk-*.tmp"))
    assert len(left) == 2
    # A young one may be another container's.
    os.utime(left[0], (0, 0))
    mine = letters.parent / f".passk-00000000-{os.getpid()}-0.tmp"
    mine.touch()
    os.utime(mine, (0, 0))
    assert passk("export", "passk_runs", "-o", "runs.csv").code == 0
    # That of another machine stays.
    assert set(letters.parent.glob(".passk-*.tmp")) == {mine, left[1]}


def test_secrets_are_for_their_owner(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    for output in ("bundle", "bundle.zip"):
        assert passk("superset", "-o", output, "--uri", PASSWORD_URI).code == 0
    assert passk("superset", "-o", "open", "--uri", "postgresql://reader@db/evals").code == 0
    database = tmp_path / "bundle" / "databases" / "passk.yaml"
    assert "secret" in database.read_text("utf-8")
    with zipfile.ZipFile(tmp_path / "bundle.zip") as packed:
        assert any(b"secret" in packed.read(name) for name in packed.namelist())
    for path in (database, tmp_path / "bundle.zip"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "open" / "metadata.yaml").stat().st_mode) == 0o644
    # dbt's log has the vars.
    assert passk("load", make_log("log.jsonl", [("r", "t", "PF")])).code == 0
    assert passk("build", "--no-tests", "--select", "+passk_runs").code == 0
    assert stat.S_IMODE(state_dir("passk.duckdb").stat().st_mode) & 0o007 == 0


@pytest.fixture(scope="module")
def published(passk: Passk, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the built database."""
    folder = tmp_path_factory.mktemp("published") / "bi"
    said = passk("publish", "--database", built, "-o", folder, "--format", "duckdb")
    assert said.code == 0, said.err
    return folder


@pytest.mark.parametrize(
    "left", [0, *(pytest.param(few, marks=pytest.mark.long) for few in (1, 5_000, 100_000)), -1]
)
def test_a_damaged_copy_is_replaced(
    passk: Passk, letters: Path, published: Path, tmp_path: Path, left: int
) -> None:
    assert letters.exists()
    shutil.copytree(published, tmp_path / "bi")
    copy = tmp_path / "bi" / "passk.duckdb"
    copy.chmod(0o644)
    whole = copy.read_bytes()
    # Cut off, or with zeros where the tables are.
    copy.write_bytes(whole[:left] if left >= 0 else whole[:12_288].ljust(len(whole), b"\0"))
    with pytest.raises(duckdb.Error), duckdb.connect(str(copy), read_only=True) as connection:
        connection.execute("from passk_published")
    assert passk("publish", "-o", "bi", "--format", "duckdb").code == 0
    with duckdb.connect(str(copy), read_only=True) as connection:
        assert connection.execute("select runs from passk_published").fetchall() == [(2,)]


@pytest.mark.parametrize("is_marked", [True, False])
def test_no_file_is_replaced_that_can_not_be_read(
    passk: Passk, letters: Path, tmp_path: Path, is_marked: bool
) -> None:
    """It may be a copy that was damaged, and as well a file that somebody put there."""
    copy = tmp_path / "bi" / "passk.duckdb"
    if is_marked:
        assert passk("publish", "-o", "bi").code == 0
        copy.chmod(0o644)
    copy.parent.mkdir(exist_ok=True)
    database = letters.read_bytes()
    for mine in (b"mine", database[:100_000]):
        copy.write_bytes(mine)
        said = passk("publish", "-o", "bi")
        assert said.code == 2
        assert said.err == (
            f"Error: bi{os.sep}passk.duckdb can't be read, and nothing shows that passk published "
            "it.\nPublish to another folder, or remove it.\n"
        )
        assert copy.read_bytes() == mine


def test_the_report_allows_what_is_in_it_and_nothing_else(
    passk: Passk, letters: Path, tmp_path: Path
) -> None:
    pytest.importorskip("altair")
    assert passk("report", "-o", "report.html").code == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert len(digests) == 3
    assert policy.split("; ") == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "script-src " + " ".join(f"'sha256-{digest}'" for digest in digests),
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_doubts_name_no_command_of_a_database(passk: Passk, make_log: Callable[..., Path]) -> None:
    log = make_log("log.jsonl", [("r", "t", "PF")])
    twin = log.with_name("twin.jsonl")
    twin.write_bytes(log.read_bytes())
    other = make_log("other.jsonl", [("x", "t", "FP")])
    for logs, said in (
        ((log, twin), "Each attempt counts once. Leave out one of the two.\n"),
        ((log, other, "--run-id", "x"), "or give each log a run of its own.\n"),
    ):
        found = passk("peek", *logs)
        assert said in found.err
        assert "passk unload" not in found.err
        assert "passk unload" in passk("load", *logs, "--database", f"{len(logs)}.duckdb").err
