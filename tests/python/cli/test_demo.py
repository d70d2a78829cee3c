"""The main job, from nothing to the answer."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from ..conftest import project_files, written_since

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Said

    Passk = Callable[..., Said]


@dataclass(frozen=True)
class Demo:
    """The demo, run once."""

    database: Path
    answer: dict[str, Any]
    written: list[Path]

    @property
    def folder(self) -> Path:
        """Its folder."""
        return self.database.parent


@pytest.fixture(scope="module", params=["shared", pytest.param("by dbt 1", marks=pytest.mark.long)])
def demo(
    request: pytest.FixtureRequest,
    passk: Passk,
    published_demo: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Demo:
    """The demo that all tests share, or ``passk demo --json`` in a folder of this module's own."""
    if request.param == "shared":
        written = (published_demo / "written.txt").read_text("utf-8").splitlines()
        answer = json.loads((published_demo / "answer.json").read_text("utf-8"))
        return Demo(published_demo / "passk.duckdb", answer, [Path(path) for path in written])
    folder = tmp_path_factory.mktemp("demo")
    before = project_files()
    with contextlib.chdir(folder):
        said = passk("demo", "--json")
    assert said.code == 0
    return Demo(folder / "passk_demo.duckdb", said.json, written_since(before, folder))


def test_demo_answers_for_every_run(demo: Demo) -> None:
    (suite,) = demo.answer["suites"]
    assert [run["run_id"] for run in suite["runs"]] == [
        "scout-2026-02",
        "scout-2026-03",
        "tracer-2026-03",
        "walker-2026-03",
    ]
    for run in suite["runs"]:
        known = {m["k"]: m for m in run["metrics"] if m["pass_at_k"] is not None}
        assert {1, 2, 4, 8} <= set(known)
        assert run["tasks"] == sum(run["classes"].values()) == 48
        assert run["excluded"] > 0


def test_demo_says_which_agent_for_what(demo: Demo) -> None:
    (suite,) = demo.answer["suites"]
    (verdict,) = suite["verdicts"]
    assert verdict["reviewed"]["runs"] == ["walker-2026-03"]
    assert verdict["unattended"]["runs"] == ["tracer-2026-03"]
    (regression,) = verdict["regressions"]
    assert (regression["before"], regression["after"]) == ("scout-2026-02", "scout-2026-03")
    assert regression["is_hidden"] is True
    assert regression["pass_at_1"][0] < regression["pass_at_1"][1]
    assert regression["pass_hat_k"][0] > regression["pass_hat_k"][1]


@pytest.mark.long
def test_demo_says_what_to_look_at_next(passk: Passk, demo: Demo) -> None:
    out = passk("show", "--database", demo.database).out
    commands = [line.split() for line in out.splitlines() if line.startswith("    passk ")]
    assert [words[1] for words in commands] == [
        "compare",
        "report",
        "gate",
        "diagnose",
        "show",
        "show",
        "validate",
        "export",
    ]
    for words in commands[:5]:
        # One gate of the demo fails.
        assert passk(*words[1:]).code == (1 if words[1] == "gate" else 0)
    assert commands[0][2:4] == ["scout-2026-02", "scout-2026-03"]


def test_demo_writes_only_beside_its_database(demo: Demo) -> None:
    names = [".passk", demo.database.name, "passk_demo.jsonl"]
    assert demo.written == [demo.folder / name for name in names]


def test_answer_in_a_terminal_of_eighty_columns(
    passk: Passk, demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = passk("show", "--database", demo.database).out
    answer, _, steps = out.partition("Database ")
    assert all(len(line) <= 80 for line in answer.splitlines())
    assert "Use walker 2026-03 where a person picks the right try." in out
    assert (
        "No run is reliable enough to work unattended on the whole suite; tracer 2026-03 comes "
        "closest."
    ) in " ".join(out.split())
    assert "scout 2026-03 hides a regression behind a better pass@1." in out
    assert "95% interval" in out
    assert f"passk validate --database {demo.database}" in steps
    assert not [line for line in out.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("demo", [pytest.param("by dbt 1", marks=pytest.mark.long)], indirect=True)
def test_demo_again_changes_nothing_nor_the_database_of_the_environment(
    passk: Passk, demo: Demo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PASSK_DATABASE", str(tmp_path / "mine.duckdb"))
    monkeypatch.chdir(demo.folder)
    again = passk("demo", "--json")
    assert again.code == 0
    assert again.json == demo.answer
    assert not (tmp_path / "mine.duckdb").exists()


def test_demo_never_mixes_with_other_runs(passk: Passk, letters: Path) -> None:
    before = letters.read_bytes()
    said = passk("demo", "--database", letters)
    assert (said.code, said.out) == (2, "")
    first, second = said.err.splitlines()
    assert first.startswith(f"Error: {letters} holds attempts of ")
    assert first.endswith("letters.jsonl.")
    assert second == "Give a new file with --database: the demo never mixes with other data."
    assert letters.read_bytes() == before
    assert not (letters.parent / "passk_demo.jsonl").exists()


def test_demo_never_mixes_with_other_tables(passk: Passk, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("create table orders (id integer)")
    said = passk("demo", "--database", "shop.duckdb")
    assert said.code == 2
    assert said.err == (
        "Error: shop.duckdb holds the table main.orders.\n"
        "Give a new file with --database: the demo never mixes with other data.\n"
    )


@pytest.mark.parametrize("content", ["mine\n", '{"suite": "mine"}\n', "[]\n"])
def test_demo_keeps_a_file_that_is_not_its_log(passk: Passk, content: str, tmp_path: Path) -> None:
    log = tmp_path / "passk_demo.jsonl"
    log.write_text(content, encoding="utf-8")
    said = passk("demo")
    assert said.code == 2
    assert said.err == (
        "Error: passk_demo.jsonl already exists and is not the demo's log.\n"
        "Name a database in another folder with --database, or move the file away.\n"
    )
    assert log.read_text(encoding="utf-8") == content


def test_demo_in_a_folder_that_is_not_there(passk: Passk, tmp_path: Path) -> None:
    said = passk("demo", "--database", tmp_path / "no" / "demo.duckdb")
    assert said.code == 2
    assert "passk_demo.jsonl can't be written: No such file or directory." in said.err


def test_demo_of_another_log_of_the_demo_says_so(passk: Passk, demo: Demo, tmp_path: Path) -> None:
    shutil.copyfile(demo.database, tmp_path / "passk_demo.duckdb")
    said = passk("demo")
    assert said.code == 2
    assert f"holds attempts of {demo.folder / 'passk_demo.jsonl'}" in said.err
