"""Everything that a user meets in dbt is described, every described thing exists, the examples are true."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from passk_py.ingest.landing.labels import LABEL_TABLES
from passk_py.ingest.landing.schema import TABLES
from passk_py.warehouse.descriptions import described_tables

from ..public import PUBLIC_TABLES

if TYPE_CHECKING:
    from conftest import Project

ROOT: Final = Path(__file__).resolve().parents[3]
EXAMPLE: Final = re.compile(r"Example:\s+`(?P<call>.+?)`\s+gives\s+`(?P<result>.+?)`")
GRAIN: Final = re.compile(r"\bOne row per [^.]+(\.|; none for tasks without order\.)$")

Node = dict[str, Any]


@pytest.fixture(scope="module")
def artifacts(dbt_demo: Path) -> tuple[Node, Node]:
    """The manifest and the catalog that `dbt docs generate` writes for the demo."""
    # The pages that `scripts/docs --with-dbt-docs` puts beside the site.
    assert "passk_suite_metrics" in (dbt_demo / "target" / "static_index.html").read_text("utf-8")
    manifest, catalog = (
        json.loads((dbt_demo / "target" / f"{name}.json").read_text())
        for name in ("manifest", "catalog")
    )
    return manifest, catalog


@pytest.fixture(scope="module")
def manifest(artifacts: tuple[Node, Node]) -> Node:
    return artifacts[0]


@pytest.fixture(scope="module")
def tables(manifest: Node) -> dict[str, Node]:
    """Models, seeds and sources, by id."""
    nodes = {**manifest["nodes"], **manifest["sources"]}
    return {
        name: node
        for name, node in nodes.items()
        if node["resource_type"] in ("model", "seed", "source")
    }


@pytest.fixture(scope="module")
def public_macros(manifest: Node) -> dict[str, Node]:
    """The macros that are neither private nor an engine's part of one, by name."""
    private = re.compile(r"_|[a-z]+__")
    return {
        macro["name"]: macro
        for macro in manifest["macros"].values()
        if macro["package_name"] == "passk" and not private.match(macro["name"])
    }


def test_every_table_says_what_it_is_and_ends_with_its_grain(tables: dict[str, Node]) -> None:
    without = [
        name for name, node in tables.items() if not GRAIN.search(node["description"].strip())
    ]
    assert not without


def test_every_column_is_described(tables: dict[str, Node]) -> None:
    without = [
        f"{name}.{column['name']}"
        for name, node in tables.items()
        for column in node["columns"].values()
        if not column["description"].strip()
    ]
    assert not without


def test_described_columns_are_those_of_the_built_tables(
    artifacts: tuple[Node, Node], tables: dict[str, Node]
) -> None:
    built = artifacts[1]["nodes"]
    # An ephemeral model has no table.
    models_and_seeds = {
        name: node
        for name, node in tables.items()
        if node["resource_type"] != "source" and node["config"]["materialized"] != "ephemeral"
    }
    assert built.keys() == models_and_seeds.keys()
    for name, node in models_and_seeds.items():
        assert set(node["columns"]) == set(built[name]["columns"]), name


def test_described_columns_of_the_landing_are_those_that_the_loader_makes(
    tables: dict[str, Node],
) -> None:
    sources = {
        node["name"]: list(node["columns"])
        for node in tables.values()
        if node["resource_type"] == "source"
    }
    landed = {table: [name for name, _ in columns] for table, columns in TABLES.items()}
    labels = {
        table: [column.split(" ")[0] for column in columns.split(", ")]
        for table, columns in LABEL_TABLES.items()
    }
    assert sources == landed | labels


def test_public_tables_have_enforced_contracts_in_the_order_of_their_columns(
    artifacts: tuple[Node, Node], tables: dict[str, Node]
) -> None:
    enforced = {
        name: node
        for name, node in tables.items()
        if node["resource_type"] == "model" and node["contract"]["enforced"]
    }
    assert {node["name"] for node in enforced.values()} == set(PUBLIC_TABLES)
    for name, node in enforced.items():
        built = artifacts[1]["nodes"][name]["columns"]
        assert list(node["columns"]) == sorted(built, key=lambda column: built[column]["index"])
        assert all(column["data_type"] for column in node["columns"].values()), name


def test_comments_of_published_copies_are_the_descriptions(tables: dict[str, Node]) -> None:
    described = described_tables()
    models = {node["name"]: node for node in tables.values() if node["resource_type"] == "model"}
    assert described.keys() >= set(PUBLIC_TABLES)
    for name in PUBLIC_TABLES:
        node, words = models[name], described[name]
        assert words.text == " ".join(node["description"].split())
        assert words.columns == {
            column["name"]: " ".join(column["description"].split())
            for column in node["columns"].values()
        }


def test_a_type_is_spelled_the_same_in_every_file() -> None:
    spelled: dict[str, set[str]] = {}
    for path in (ROOT / "models" / "marts").glob("*/*.yml"):
        for name, kind in re.findall(r"^  - &(double|tags) (.+)$", path.read_text(), re.MULTILINE):
            spelled.setdefault(name, set()).add(kind)
    assert {name: len(kinds) for name, kinds in spelled.items()} == {"double": 1, "tags": 1}


def test_every_public_macro_and_argument_is_described(public_macros: dict[str, Node]) -> None:
    without = [name for name, macro in public_macros.items() if not macro["description"].strip()]
    without += [
        f"{name}({argument['name']})"
        for name, macro in public_macros.items()
        for argument in macro["arguments"]
        if not (argument["description"].strip() and argument["type"])
    ]
    assert not without


def test_every_formula_and_reading_has_an_example(public_macros: dict[str, Node]) -> None:
    without = [
        name
        for name, macro in public_macros.items()
        if re.match("macros/(estimators|classification)/", macro["original_file_path"])
        and not EXAMPLE.search(macro["description"])
    ]
    assert not without


@pytest.mark.long
def test_examples_of_macros_give_what_they_say(
    public_macros: dict[str, Node], project: Project
) -> None:
    examples = {
        name: match.groupdict()
        for name, macro in public_macros.items()
        if (match := EXAMPLE.search(macro["description"]))
    }
    rendered = project.render(
        "\n;;\n".join(f"{{{{ passk.{example['call']} }}}}" for example in examples.values())
    )
    for example, sql in zip(examples.values(), rendered.split(";;"), strict=True):
        expected = ast.literal_eval(example["result"])
        is_statement = isinstance(expected, list)
        rows = project.query(sql if is_statement else f"select {sql}")
        if is_statement:
            assert len(rows) == len(expected), example
            for row, expected_row in zip(sorted(rows), sorted(expected), strict=True):
                assert row == tuple(
                    pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
                    for value in expected_row
                ), example
        else:
            value = rows[0][0]
            assert value == (
                expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-12)
            ), example


# ---------------------------------------------------------------------------------------------
# vars


@pytest.fixture(scope="module")
def project_vars() -> dict[str, Any]:
    project = yaml.safe_load((ROOT / "dbt_project.yml").read_text())
    return dict(project["vars"]["passk"])


@pytest.fixture(scope="module")
def described_vars() -> dict[str, dict[str, str]]:
    """The text of docs/vars.md on each var, by the words that its list items begin with."""
    sections = re.split(r"^### ", (ROOT / "docs" / "vars.md").read_text(), flags=re.MULTILINE)[1:]
    return {
        section.splitlines()[0]: dict(re.findall(r"^- (\w+): (.+)$", section, re.MULTILINE))
        for section in sections
    }


def test_every_var_is_described_in_the_order_of_the_project(
    project_vars: dict[str, Any], described_vars: dict[str, dict[str, str]]
) -> None:
    assert list(described_vars) == list(project_vars)
    for name, items in described_vars.items():
        assert list(items) == ["Type", "Default", "Example", "Changes"], name


def test_described_defaults_are_the_defaults(
    project_vars: dict[str, Any], described_vars: dict[str, dict[str, str]]
) -> None:
    described = {
        name: None if items["Default"] == "none" else yaml.safe_load(items["Default"].strip("`"))
        for name, items in described_vars.items()
    }
    assert described == project_vars


def test_macros_that_other_projects_call_know_the_defaults(
    project_vars: dict[str, Any], project: Project
) -> None:
    known = json.loads(project.render("{{ passk._vars() | tojson }}"))
    assert {name: var["default"] for name, var in known.items()} == project_vars
    assert list(json.loads(project.render("{{ passk._setting_names() | tojson }}"))) == list(
        project_vars
    )


def test_every_var_is_checked_when_a_run_starts(project: Project) -> None:
    known = json.loads(project.render("{{ passk._vars() | tojson }}"))
    # Rules and entries are languages of their own, checked beside the rest of them.
    files = {"passk_gates": "check_gates.sql", "passk_quarantine": "quarantine.sql"}
    assert [name for name, var in known.items() if "must_be" not in var["takes"]] == list(files)
    for name, file in files.items():
        assert f"var('{name}'" in (ROOT / "macros" / "gates" / file).read_text()
    wrong: dict[str, Any] = {name: [{"no": "such"}] for name in known}
    wrong["passk_landing_schema"] = ""  # or dbt refuses the sources
    mistakes = json.loads(project.render("{{ passk._var_mistakes() | tojson }}", wrong))
    assert [name for name in known if not any(one.startswith(f"{name} ") for one in mistakes)] == []


@pytest.mark.long
def test_examples_of_vars_are_accepted(
    described_vars: dict[str, dict[str, str]], project: Project
) -> None:
    examples: dict[str, Any] = {}
    for name, items in described_vars.items():
        example = yaml.safe_load(items["Example"].strip("`"))
        assert list(example) == [name]
        examples |= example
    # Only one input can be set, and models and sources are those of the reader's project.
    for name in (
        "passk_attempts_model",
        "passk_attempts_source",
        "passk_labels_model",
        "passk_verdicts_model",
    ):
        del examples[name]
    assert project.render("{{ passk._var_mistakes() | tojson }}", examples) == "[]"


def test_which_vars_rebuild_is_what_the_models_compare(
    described_vars: dict[str, dict[str, str]], project: Project
) -> None:
    known = json.loads(project.render("{{ passk._vars() | tojson }}"))
    compared = {name for name, var in known.items() if var.get("rebuilds")}
    rebuilding = {
        name for name, items in described_vars.items() if items["Changes"].endswith("Rebuilds.")
    }
    assert rebuilding == compared


def test_names_of_unit_tests_fit_into_postgres() -> None:
    """Each becomes the name of a relation, which may have 63 characters there."""
    names = [
        unit["name"]
        for path in (ROOT / "models").rglob("*.yml")
        for unit in yaml.safe_load(path.read_text("utf-8")).get("unit_tests", [])
    ]
    assert len(names) > 30
    assert [name for name in names if len(name) > 63] == []
