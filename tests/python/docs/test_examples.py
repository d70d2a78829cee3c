"""The examples of the docs run: SQL on the demo's tables, Python, and every command."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import duckdb
import polars as pl
import pytest
import yaml

import passk_py as pk
from passk_py.cli import cli

from .blocks import ROOT, Block, blocks

if TYPE_CHECKING:
    from collections.abc import Callable

SKIPPED_PYTHON: Final = {
    "CONTRIBUTING.md python 1": "a sketch of a format, with names that stand for others",
    "docs/pipelines.md python 1": "needs dlt; tests/python/docs/test_pipelines.py runs it",
    "docs/pipelines.md python 3": "needs apache-airflow; tests/python/docs/test_pipelines.py runs it",
    "docs/superset.md python 1": "tests/python/boards/superset_site.py starts a Superset with it",
}
NOT_RUN: Final = {
    "bash scripts/demo": "installs; its command, passk demo, makes the database of these tests",
    "passk demo": "makes the database of these tests",
    "git clone": "installs",
    "cd passk": "installs",
    "source .venv": "installs",
    "bash scripts/test_engines": "makes environments with other adapters; its tests are tests/python/engines",
    'eval "$(bash scripts/install_dbt_v2)"': "installs; bash scripts/test does the same before these tests",
    '"$PASSK_DBT" build': "tests/python/engines/test_parity.py runs it",
    "bash scripts/parity": "makes environments with other adapters; its tests are tests/python/engines",
    "bash scripts/test": "runs these tests",
    **dict.fromkeys(
        (
            "mkdir -p backup",
            "passk doctor && cp -p",
            "passk doctor --database backup",
            "rm -f passk.duckdb.wal",
            "rm -f backup/passk.duckdb.wal",
            "cp -p backup",
        ),
        "tests/python/docs/test_backup.py runs them in their order",
    ),
    "pip install": "installs",
    "pytest --passk-repeat": "tests/python/pytest_plugin/test_page.py runs it, and compares what it prints",
    "python3 -m venv": "installs",
    "export ": "sets variables of the next commands",
    "superset import-directory": "tests/python/boards/test_superset.py imports the bundles",
    "superset import-dashboards": "tests/python/boards/test_superset_import.py imports a bundle",
    "bin/superset": "tests/python/boards/test_superset.py starts a Superset in this way",
    "marimo run": "tests/python/boards/test_notebook.py serves the notebook",
    "bash scripts/notebook": "installs, and serves the notebook as tests/python/boards/test_notebook.py does",
    "passk boards": "serves until it is stopped; tests/python/boards/test_boards_command.py starts it",
    "mf query": "tests/python/boards/test_semantic_layer.py asks for these metrics",
    "dbt deps": "tests/python/project/test_integration_project.py runs it",
    "dbt build": "tests/python/project/test_integration_project.py runs it",
    "cd integration_tests": "tests/python/project/test_integration_project.py builds it",
    "dbt run-operation conformance": "tests/python/engines/test_conformance.py runs it",
    "dbt docs generate": "tests/python/project/test_documented.py runs it",
    "dbt docs serve": "waits for a browser",
    "passk peek hf": "fetches from a server; tests/python/landing/test_remote.py starts servers",
    "inspect view": "needs inspect_ai; tests/python/cli/test_convert.py reads the log with it",
    "curl -X POST": "sends to a collector that is not here",
    "passk formats --propose": "reads a file that is not here; tests/python/cli/test_propose.py writes one",
    "zstd -dc": "reads a log that is not here; tests/python/cli/test_load.py loads standard input",
    "passk watch": "waits for a harness; tests/python/cli/test_watch.py writes as one does",
    "passk build": "takes long: run in the quickstart and the workflow",
    "passk load": "logs that are not here: run in the quickstart, the workflow and the formats' tests",
}
"""Beginnings of commands that are not run here, and why. Options are checked all the same."""

INSTALLS: Final = (
    "git clone",
    "cd passk",
    "python3 -m venv",
    "source .venv",
    "pip install",
    "passk demo",
)
"""How the quickstart begins."""

OTHER_NAMES: Final = {
    "nightly-2026-11-20": "scout-2026-03",
    "nightly-2026-11-19": "scout-2026-02",
    "nightly-11-20": "scout-2026-03",
    "nightly-11-19": "scout-2026-02",
    "--run nightly": "--run scout-2026-03",
    "--run new": "--run scout-2026-03",
    "--baseline old": "--baseline scout-2026-02",
    "helpdesk-1.5": "scout-2026-03",
    "helpdesk-1.4": "scout-2026-02",
    "--suite airline": "--suite puzzles",
    "--k 8 --width": "--k 4 --width",
    "/srv/bi/": "bi/",
    ".venv/bin/passk": "passk",
}
"""The pages' names of runs, suites, folders and the program, and the demo's."""

AS_IN_A_STORY: Final = ("docs/quickstart.md", "docs/gates-in-ci.md")
"""Pages that have a test of their own, in which one block goes on where the last one ended."""


def of_demo(text: str) -> str:
    for name, other in OTHER_NAMES.items():
        text = text.replace(name, other)
    return text


def commands(block: Block) -> list[str]:
    """Give a block's commands: lines without comments, and those that go on joined."""
    joined = block.text.replace("\\\n", " ")
    found = []
    for line in joined.splitlines():
        words = shlex.split(line, comments=True)
        if words:
            # Shell comments end a line; what stands before them is kept as it was written.
            found.append(re.sub(r"\s+#.*$", "", line).strip())
    return found


def calls(command: str) -> list[list[str]]:
    """Give the arguments of each call of passk in a command."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="&|;")
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set("&|;"):
            parts.append([])
        else:
            parts[-1].append(word)
    return [words[1:] for words in parts if words and Path(words[0]).name == "passk"]


def check_call(arguments: list[str]) -> None:
    """Raise where a call names a command or an option that there is not, or a value it does not take."""
    if not arguments or arguments[0].startswith("-"):
        return
    with click.Context(cli, info_name="passk") as context:
        command = cli.get_command(context, arguments[0])
        assert command is not None, f"there is no command {arguments[0]}"
        with click.Context(command, parent=context, info_name=arguments[0]) as inner:
            command.make_parser(inner).parse_args(list(arguments[1:]))


ALL: Final = [(block, line) for block in blocks("shell") for line in commands(block)]
BY_THEMSELVES: Final = [(block, line) for block, line in ALL if block.page not in AS_IN_A_STORY]


def names(found: list[tuple[Block, str]]) -> list[str]:
    return [f"{block.name}: {line[:60]}" for block, line in found]


@pytest.mark.parametrize(("block", "line"), ALL, ids=names(ALL))
def test_commands_and_options_are_there(block: Block, line: str) -> None:
    for arguments in calls(line):
        check_call(arguments)


@pytest.mark.long
@pytest.mark.parametrize(("block", "line"), BY_THEMSELVES, ids=names(BY_THEMSELVES))
def test_commands_run(block: Block, line: str, demo: Path, run: Callable[..., Any]) -> None:
    for start, reason in NOT_RUN.items():
        if start in line:
            pytest.skip(f"{start}: {reason}")
    rules = blocks("yaml", "docs/quickstart.md")[0].text
    (demo / "gates.yml").write_text(of_demo(rules), "utf-8")
    done = run(demo, of_demo(line))
    # A rule that does not hold is an answer; a command that could not run says what went wrong.
    answers = {0, 1, 2} if "passk gate" in line else {0}
    assert done.returncode in answers, done.stdout + done.stderr
    assert not re.search(r"^(Usage|Error)", done.stderr, re.MULTILINE), done.stderr


@pytest.mark.parametrize(("block", "line"), BY_THEMSELVES, ids=names(BY_THEMSELVES))
def test_a_command_runs_or_says_why_not(block: Block, line: str) -> None:
    assert calls(line) or any(start in line for start in NOT_RUN)


@pytest.mark.parametrize(
    "wrong", ["passk gate --minimum 3", "passk shwo", "passk report --out x", "passk show --k"]
)
def test_a_wrong_command_would_be_seen(wrong: str) -> None:
    (arguments,) = calls(f"true && {wrong}")
    with pytest.raises((click.UsageError, AssertionError)):
        check_call(arguments)


SQL: Final = blocks("sql")


@pytest.mark.parametrize("block", SQL, ids=[block.name for block in SQL])
def test_queries_run(block: Block, demo: Path) -> None:
    if "ducklake:" in block.text:
        pytest.skip("needs a DuckDB with DuckLake: tests/python/engines/test_lake.py runs it")
    if "passk_suite_bootstrap" in block.text:
        pytest.skip("the demo is built without the var passk_bootstrap")
    path = demo / ("bi/passk.duckdb" if "passk_published" in block.text else "passk.duckdb")
    with duckdb.connect(str(path), read_only=True) as connection:
        statements = duckdb.extract_statements(of_demo(block.text))
        assert statements
        for statement in statements:
            connection.execute(statement)


def test_ten_questions_have_a_query_of_at_most_six_lines() -> None:
    page = (ROOT / "docs" / "queries.md").read_text(encoding="utf-8")
    asked = re.findall(r"^\| \[(.+?)\]\(#.+?\) \|", page, re.MULTILINE)
    assert len(asked) == 10
    for question in asked:
        (query,) = re.findall(
            rf"^## {re.escape(question)}\n\n```sql\n(.*?)```", page, re.MULTILINE | re.DOTALL
        )
        assert len(query.splitlines()) <= 6, question


PYTHON: Final = blocks("python")
WHOLE: Final = [
    block
    for block in PYTHON
    # Sessions, the quickstart and what builds have tests of their own.
    if ">>>" not in block.text and "pk.build(" not in block.text and block.page not in AS_IN_A_STORY
]


@pytest.mark.parametrize("block", WHOLE, ids=[block.name for block in WHOLE])
def test_python_runs(
    block: Block, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if block.name in SKIPPED_PYTHON:
        pytest.skip(SKIPPED_PYTHON[block.name])
    shutil.copy(demo / "results.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    if importlib.util.find_spec("pandas") is None:
        # passk does not bring it, and its read_parquet is all that a page asks of it.
        monkeypatch.setitem(sys.modules, "pandas", pl)
    attempts = pk.read_table("passk_attempts", database=demo / "passk.duckdb")
    text = block.text.replace("/srv/bi", str(demo / "bi"))
    exec(compile(text, block.name, "exec"), {"pk": pk, "pl": pl, "attempts": attempts})  # noqa: S102


PAGES_OF_DOCTESTS: Final = sorted({block.page for block in PYTHON if ">>>" in block.text})


@pytest.mark.parametrize("page", PAGES_OF_DOCTESTS)
def test_sessions_give_what_they_say(page: str) -> None:
    text = "\n".join(block.text for block in blocks("python", page) if ">>>" in block.text)
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    assert test.examples
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    with contextlib.redirect_stdout(said):
        found = runner.run(test, out=said.write)
    assert found.failed == 0, said.getvalue()


def test_nothing_is_skipped_that_is_not_there() -> None:
    assert set(SKIPPED_PYTHON) <= {block.name for block in WHOLE}
    lines = [line for _, line in ALL]
    assert [start for start in NOT_RUN if not any(start in line for line in lines)] == []


@pytest.mark.parametrize("block", blocks("yaml"), ids=lambda block: block.name)
def test_yaml_is_read(block: Block) -> None:
    assert yaml.safe_load(block.text) is not None


@pytest.mark.parametrize("block", blocks("json"), ids=lambda block: block.name)
def test_json_is_read(block: Block) -> None:
    for line in block.text.splitlines():
        json.loads(line)


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory, run: Callable[..., Any]) -> Path:
    """The quickstart, from its log to its gate, without what installs."""
    folder = tmp_path_factory.mktemp("quickstart")
    page = "docs/quickstart.md"
    (log,) = (block for block in blocks("python", page))
    here = Path.cwd()
    os.chdir(folder)
    try:
        exec(compile(log.text, page, "exec"), {})  # noqa: S102
    finally:
        os.chdir(here)
    (rules,) = blocks("yaml", page)
    (folder / "gates.yml").write_text(rules.text, "utf-8")
    codes = {}
    for block in blocks("shell", page):
        for line in commands(block):
            if line.startswith(INSTALLS):
                continue
            done = run(folder, line)
            codes[line] = done.returncode
            assert done.returncode == 0 or line.startswith("passk gate"), done.stdout + done.stderr
            assert not re.search(r"^(Usage|Error)", done.stderr, re.MULTILINE), done.stderr
    (folder / "codes.json").write_text(json.dumps(codes), "utf-8")
    return folder


@pytest.mark.long
def test_the_quickstart_goes_from_a_log_to_a_gate(quickstart: Path) -> None:
    codes = json.loads((quickstart / "codes.json").read_text("utf-8"))
    assert {"passk build", "passk show", "passk gate --rules gates.yml"} <= set(codes)
    # 0.6 + t / 40 less 0.15: the second agent is worse, and neither works four times in a row.
    assert codes["passk gate --rules gates.yml"] == 1
    assert (quickstart / "report.html").stat().st_size > 10_000


@pytest.mark.long
def test_functions_of_the_database_run(
    quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = (block for block in PYTHON if "pk.build(" in block.text and "dg." not in block.text)
    (tmp_path / "results").mkdir()
    shutil.copy(quickstart / "attempts.jsonl", tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {"pk": pk}
    exec(compile(block.text, block.name, "exec"), found)  # noqa: S102
    assert found["worst"].height == 10
    assert pl.read_parquet("metrics.parquet").height > 0
