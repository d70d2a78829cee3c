"""The check of the prose finds each habit, and lets its mended form through."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from passk_py.cli import cli
from passk_py.cli.group import COMMANDS

from .blocks import ROOT

if TYPE_CHECKING:
    from pathlib import Path

spec = importlib.util.spec_from_file_location("prose", ROOT / "scripts" / "prose.py")
assert spec is not None
assert spec.loader is not None
prose: Any = importlib.util.module_from_spec(spec)
sys.modules["prose"] = prose
spec.loader.exec_module(prose)

PLANTED = {
    "What breaks the contract is in the table of rejected rows.": "Invalid rows are in the table of rejected rows.",
    "Who gates on that has to say so.": "If you gate on that, say so.",
    "Independence is taken for granted.": "The test assumes independence.",
    "Each refused row has a reason.": "Each rejected row has a reason.",
    "Long tasks take the slow road.": "Long tasks are sorted.",
}


def found(path: Path, text: str) -> list[str]:
    path.write_text(text, "utf-8")
    return list(prose.findings([path]))


def test_the_prose_has_none_of_the_habits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["prose.py"])
    assert prose.main() == 0, capsys.readouterr().out


@pytest.mark.parametrize(("wrong", "right"), PLANTED.items())
def test_a_sentence_of_the_old_kind_is_found(wrong: str, right: str, tmp_path: Path) -> None:
    """As a paragraph, within one, as an item, and as a description of a model."""
    for before, after in (
        ("", ""), ("A sentence. ", " Another."), ("- ", "\n- an item"), ("{% docs x %}\n", "\n{% enddocs %}"),
    ):  # fmt: skip
        assert found(tmp_path / "page.md", f"# Page\n\n{before}{wrong}{after}\n")
        assert not found(tmp_path / "page.md", f"# Page\n\n{before}{right}{after}\n")
    model = "models:\n  - name: passk_x\n    description: >\n      {}\n"
    assert found(tmp_path / "x.yml", model.format(wrong))
    assert not found(tmp_path / "x.yml", model.format(right))


PYTHON = """\
def told():
    \"\"\"Give rows.

    {docstring}

    >>> print("It is made anew.")
    It is made anew.
    \"\"\"
    # A sentence.
    # {comment}
    return \"\"\"
    {code}
    \"\"\"
"""
SQL = """\
{{# A sentence.
   {jinja} #}}
select '{code}' as a, '-- {code}' as b, '{{# {code} #}}' as c  -- {comment}
"""


@pytest.mark.parametrize("wrong", PLANTED)
@pytest.mark.parametrize(
    ("name", "content", "places"),
    [("x.py", PYTHON, {"docstring": 4, "comment": 10, "code": None}), ("x.sql", SQL, {"jinja": 2, "comment": 3, "code": None})],
)  # fmt: skip
def test_comments_and_docstrings_are_read_and_code_is_not(
    name: str, content: str, places: dict[str, int | None], wrong: str, tmp_path: Path
) -> None:
    for planted, line in places.items():
        said = found(
            tmp_path / name, content.format_map(dict.fromkeys(places, "Fine.") | {planted: wrong})
        )
        assert [one.split(":")[1] for one in said] == ([str(line)] if line else [])


@pytest.mark.parametrize("rule", prose.rules(), ids=lambda rule: rule.name)
def test_each_rule_finds_its_example(rule: Any) -> None:
    assert list(rule.places(rule.wrong))
    assert not [one.name for one in prose.rules() if list(one.places(rule.right))]


@pytest.mark.parametrize(
    "text",
    ["What is k?\n", "`What stands here` is code.\n", "```text\nWhat is refused\n```\n"],
)
def test_questions_and_code_are_let_through(text: str, tmp_path: Path) -> None:
    assert not found(tmp_path / "page.md", text)


def test_a_finding_names_its_line_though_the_sentence_goes_on(tmp_path: Path) -> None:
    (line,) = found(tmp_path / "page.md", "# Page\n\n```text\na\n```\n\nRows are made\nanew.\n")
    assert line.startswith(f"{tmp_path / 'page.md'}:8: anew: ")


VERBS = {
    "Build", "Check", "Compare", "Export", "Judge", "List", "Load", "Make", "Plan", "Print", "Publish", "Recompute", "Remove", "Say", "Serve", "Show", "Write",
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_begins_with_a_verb(command: str) -> None:
    text = CliRunner().invoke(cli, [command, "--help"]).stdout
    _, _, body = text.partition("\n\n")
    assert body.split()[0] in VERBS
