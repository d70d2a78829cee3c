"""Every link of every page leads somewhere, on a code host as on the site, and every page is in the navigation."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from passk_py.cli import cli
from passk_py.cli.group import COMMANDS
from passk_py.metrics.diagnostic_words import WORDS

from .blocks import PAGES, ROOT, anchors, blocks, links, name_of


@pytest.fixture(scope="module")
def conf() -> Any:
    spec = importlib.util.spec_from_file_location("docs_conf", ROOT / "docs" / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for link in links(page):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert not wrong


def test_a_broken_link_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One & two\n\n[a](#one--two) [b](gone.md) `[c](code.md)`\n\n```text\n[d](x)\n```\n"
    )
    assert links(page) == ["#one--two", "gone.md"]
    assert anchors(page) == {"one--two"}


def test_the_front_page_can_link_to_dbt_docs(conf: Any) -> None:
    text = (ROOT / "docs" / "index.md").read_text("utf-8")
    before, _, after = conf.linked_to_dbt_docs(text).partition('<a href="dbt/index.html">')
    assert before.rpartition("## ")[2].startswith("Look up")
    assert after
    with pytest.raises(ValueError, match="Look up"):
        conf.linked_to_dbt_docs("# A page without it")


def test_every_page_is_in_the_navigation_once(conf: Any) -> None:
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).with_suffix("").as_posix() for path in docs.rglob("*.md")}
    listed = [
        (Path(page).parent / line).as_posix()
        for page in pages
        for block in conf.prepared(page, (docs / f"{page}.md").read_text("utf-8")).split(
            "```{toctree}"
        )[1:]
        for line in block.split("```")[0].splitlines()
        if line and not line.startswith(":")
    ]
    assert sorted(listed) == sorted(pages - {"index"})


def test_links_to_files_beside_the_docs_become_addresses(conf: Any) -> None:
    for link, address in {
        "[a](../README.md)": f"[a]({conf.ELSEWHERE}README.md)",
        "[a](../README.md#engines)": f"[a]({conf.ELSEWHERE}README.md#engines)",
        "[a](vars.md)": "[a](vars.md)",
    }.items():
        assert conf.prepared("faq", link) == address
    assert conf.prepared("reference/tables", "[a](../vars.md)") == "[a](../vars.md)"
    with pytest.raises(ValueError, match="not there"):
        conf.prepared("faq", "[a](../no-such-file.md)")


@pytest.mark.parametrize(
    "block",
    [block for block in blocks("sql") if block.page.startswith("docs/")],
    ids=lambda block: block.name,
)
def test_rows_of_an_example_come_in_the_same_order_on_every_engine(block: Any) -> None:
    """Postgres has nulls first where an order falls, DuckDB last; and it knows no `qualify`."""
    assert not re.search(r"\bdesc\b(?! nulls last)", block.text, re.IGNORECASE)
    assert not re.search(r"\bqualify\b", block.text, re.IGNORECASE)


# ---------------------------------------------------------------------------------------------
# exit codes


def exit_codes() -> dict[str, dict[int, str]]:
    """Give the exit codes of each command, and their meaning, as the page has them."""
    text = (ROOT / "docs" / "exit-codes.md").read_text("utf-8")
    found: dict[str, dict[int, str]] = {}
    for line in text.splitlines():
        if line.startswith("| `passk "):
            commands, *meanings = (cell.strip() for cell in line.strip("|").split("|"))
            codes = {code: meaning for code, meaning in enumerate(meanings) if meaning}
            for command in re.findall(r"`passk (\w+)`", commands):
                assert command not in found
                found[command] = codes
    return found


def test_every_command_has_its_exit_codes_on_the_page() -> None:
    assert set(exit_codes()) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_has_the_exit_codes_of_the_help(command: str) -> None:
    help_text = CliRunner().invoke(cli, [command, "--help"]).stdout
    _, _, said = " ".join(help_text.split()).partition("Exit codes: ")
    codes = {int(code) for code in re.findall(r"(?:^|, )(\d) ", said)}
    assert set(exit_codes()[command]) == (codes or {0, 2})


@pytest.mark.parametrize("command", COMMANDS)
def test_what_the_page_calls_could_not_run_is_what_a_wrong_option_ends_with(command: str) -> None:
    done = CliRunner().invoke(cli, [command, "--no-such-option"])
    assert done.exit_code == max(exit_codes()[command])


def test_ctrl_c_ends_with_the_code_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def stop_in_duckdb(*_: object, **__: object) -> None:
        raise RuntimeError("Query interrupted")

    assert "| 130 | Ctrl-C" in (ROOT / "docs" / "exit-codes.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    for stopped in (stop, stop_in_duckdb):
        monkeypatch.setattr("passk_py.warehouse.publishing.publish", stopped)
        done = CliRunner().invoke(cli, ["publish", "-o", "bi"])
        assert (done.exit_code, done.stderr.splitlines()[-2]) == (130, "Error: Interrupted.")


def test_ctrl_c_in_a_model_is_no_error_of_dbt(monkeypatch: pytest.MonkeyPatch) -> None:
    from dbt.cli.main import dbtRunner, dbtRunnerResult

    from passk_py.warehouse.building import in_process

    stopped = dbtRunnerResult(success=False, exception=KeyboardInterrupt())
    monkeypatch.setattr(dbtRunner, "invoke", lambda *_: stopped)
    with pytest.raises(KeyboardInterrupt):
        in_process.run([], None, database=Path("passk.duckdb"), folder=Path(), parsed=None)


# ---------------------------------------------------------------------------------------------
# installs

TEXTS_WITH_INSTALLS = (
    *PAGES,
    ROOT / "CHANGELOG.md",
    *(ROOT / "charts").rglob("*.yml"),
    *(ROOT / "passk_py").rglob("*.py"),
    *(path for path in (ROOT / "scripts").glob("*") if path.is_file()),
)
INSTALL = re.compile(
    r"(?:pip3? install|pipx (?:install|run)|uv (?:add|pip install|tool (?:install|run))|uvx) ([^`\n]*)"
)
NAME_ALONE = re.compile(
    r"(?<![^ ])[\"']?passk(-py)?(\[[\w,]+\])?([=<>~!][^\"' ]*)?[\"']?(?![^ ])(?! @)"
)
TAG = re.compile(r"revision: *[\"']?v?\d+\.\d|passk\.git@v?\d+\.\d")


def unreleased(text: str) -> list[str]:
    """Find installs by a name, which no index has or another project owns, and by a tag."""
    found = [line for line in INSTALL.findall(text) if NAME_ALONE.search(line)]
    return found + TAG.findall(text)


@pytest.mark.parametrize("path", TEXTS_WITH_INSTALLS, ids=name_of)
def test_no_page_installs_what_is_not_released(path: Path) -> None:
    assert unreleased(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("pip install passk", True),
        ("pip install 'passk-py[report]'", True),
        ("pip install -U passk-py==0.1.0", True),
        ("pip install dbt-duckdb passk-py", True),
        ("uvx passk demo", True),
        ("pipx run passk", True),
        ("uv tool install passk-py", True),
        ("    revision: 0.1.0", True),
        ("pip install 'passk-py @ git+https://github.com/passk/passk.git@v0.1.0'", True),
        ("pip install .", False),
        ("pip install '.[report]'", False),
        ("pip install ./passk", False),
        ("pip install 'passk-py[report] @ git+https://github.com/passk/passk.git@main'", False),
        ("    revision: main", False),
        ("pip install altair", False),
    ],
)
def test_an_install_of_what_is_not_released_would_be_seen(text: str, is_wrong: bool) -> None:
    assert bool(unreleased(text)) == is_wrong


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_the_pages_that_install_warn_of_the_other_passk(page: str) -> None:
    text = " ".join((ROOT / page).read_text("utf-8").split())
    assert "There is no release yet" in text
    assert "The package named `passk` on PyPI is another project: do not install it." in text


def test_the_pages_count_the_diagnostics_right() -> None:
    page = (ROOT / "docs" / "diagnostics.md").read_text("utf-8")
    assert {name for name in WORDS if f"\n| `{name}` | " in page} == set(WORDS)
    assert f"in {len(WORDS)} ways" in page
    assert f"| {len(WORDS)} [diagnostics](docs/diagnostics.md) |" in (ROOT / "README.md").read_text(
        "utf-8"
    )
