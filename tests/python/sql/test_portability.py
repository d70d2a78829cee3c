"""SQL that only one engine understands stays in macros/engine.

dbt compiles for DuckDB here, so a macro of macros/engine shows its DuckDB form; the public models
use none of those, and must read as plain SQL to the parsers of the engines that come next.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.tokens import TokenType

from ..public import PUBLIC_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

ROOT: Final = Path(__file__).resolve().parents[3]
DIALECTS: Final = ("postgres", "spark", "snowflake", "bigquery")
BACKTICKS: Final = ("spark", "bigquery")

ONE_ENGINE_ONLY: Final[dict[str, type[exp.Expression] | tuple[type[exp.Expression], ...]]] = {
    "a lambda": exp.Lambda,
    "a list comprehension": exp.Comprehension,
    "a list": (exp.Array, exp.List),
    "a struct": (exp.Struct, exp.PropertyEQ),
    "a subscript or slice": (exp.Bracket, exp.Slice),
    "a map": (exp.Map, exp.VarMap, exp.ToMap),
    "qualify": exp.Qualify,
    "unnest": (exp.Unnest, exp.Explode),
    "integer division": exp.IntDiv,
    "a pivot": exp.Pivot,
    "bits": (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift,
             exp.BitwiseRightShift, exp.BitwiseNot, exp.BitwiseCount),
    "an ordinary aggregate's filter": exp.Filter,
    "a regular expression": (exp.RegexpLike, exp.RegexpExtract, exp.RegexpReplace),
}  # fmt: skip

PORTABLE_TYPES: Final = {
    exp.DataType.Type.BIGINT,
    exp.DataType.Type.INT,
    exp.DataType.Type.BOOLEAN,
    exp.DataType.Type.DECIMAL,
    exp.DataType.Type.DOUBLE,
    exp.DataType.Type.FLOAT,
    exp.DataType.Type.TEXT,
    exp.DataType.Type.VARCHAR,
    exp.DataType.Type.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPTZ,
    exp.DataType.Type.TIMESTAMPNTZ,
    exp.DataType.Type.DATETIME,
}


@pytest.fixture(scope="module")
def compiled(make_project: Callable[[], Project]) -> dict[str, str]:
    """The SQL of the public models, as dbt compiles it from nothing but the landing tables."""
    made = make_project()
    done = made.run(command="compile")
    found = {result.node.name: result.node.compiled_code for result in done.results}
    return {name: found[name] for name in PUBLIC_TABLES}


def as_dialect(sql: str, dialect: str) -> str:
    """Quote names as the dialect does, which is what dbt would have done for it."""
    return sql.replace('"', "`") if dialect in BACKTICKS else sql


def statement(sql: str, dialect: str) -> exp.Expression:
    parsed = sqlglot.parse(as_dialect(sql, dialect), read=dialect)
    assert len(parsed) == 1
    assert parsed[0] is not None
    return parsed[0]


@pytest.mark.parametrize("model", PUBLIC_TABLES)
def test_double_quotes_are_only_round_the_names_of_tables(
    compiled: dict[str, str], model: str
) -> None:
    rest = re.sub(r'"\w+"\."\w+"\."\w+"', "", compiled[model])
    assert '"' not in rest
    assert "`" not in compiled[model]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("model", PUBLIC_TABLES)
def test_public_models_parse_in_every_dialect(
    compiled: dict[str, str], model: str, dialect: str
) -> None:
    tree = statement(compiled[model], dialect)
    assert isinstance(tree, exp.Query)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("model", PUBLIC_TABLES)
def test_every_function_is_known_to_every_dialect(
    compiled: dict[str, str], model: str, dialect: str
) -> None:
    tree = statement(compiled[model], dialect)
    unknown = {node.name.upper() for node in tree.find_all(exp.Anonymous, exp.AnonymousAggFunc)}
    assert unknown == set()


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("model", PUBLIC_TABLES)
def test_nothing_that_one_engine_only_has(
    compiled: dict[str, str], model: str, dialect: str
) -> None:
    tree = statement(compiled[model], dialect)
    found = {
        what: node.sql(dialect=dialect)
        for what, kinds in ONE_ENGINE_ONLY.items()
        for node in tree.find_all(*(kinds if isinstance(kinds, tuple) else (kinds,)))
    }
    found |= {
        "a star with except, exclude or replace": node.sql()
        for node in tree.find_all(exp.Star)
        if any(node.args.values())
    }
    found |= {
        "group by all": node.sql()
        for node in tree.find_all(exp.Group)
        if node.args.get("all") or any(e.name.lower() == "all" for e in node.expressions)
    }
    found |= {
        f"the type {node.this}": node.sql()
        for node in tree.find_all(exp.DataType)
        if node.this not in PORTABLE_TYPES
    }
    assert found == {}


@pytest.mark.parametrize("model", PUBLIC_TABLES)
def test_casts_are_spelled_out(compiled: dict[str, str], model: str) -> None:
    """Parsers read `::` and try_cast as casts too, so the words are looked at instead."""
    tokens = sqlglot.tokenize(compiled[model], read="duckdb")
    assert [token.text for token in tokens if token.token_type == TokenType.DCOLON] == []
    assert [token.text for token in tokens if token.text.lower() in ("try_cast", "safe_cast")] == []


@pytest.mark.parametrize("model", PUBLIC_TABLES)
def test_every_derived_table_has_a_name(compiled: dict[str, str], model: str) -> None:
    """Postgres before 16, and others, refuse a subquery in FROM without one."""
    tree = statement(compiled[model], "postgres")
    nameless = [
        node.sql()[:80]
        for node in tree.find_all(exp.Subquery)
        if isinstance(node.parent, exp.From | exp.Join) and not node.alias
    ]
    assert nameless == []


# ---------------------------------------------------------------------------------------------
# the sources

DUCKDB_ONLY: Final = re.compile(
    r"""
    \b(
        any_value | arg_max | arg_min | bit_and | bit_count | bit_or | bit_xor | columns\s*\( |
        count_if | date_diff | duckdb_\w+ | epoch\w* | exclude\s*\( | from_json | generate_series |
        glob\s*\( | greatest\s*\(\s*\[ | group\s+by\s+all | hugeint | ifnull | json_\w+ | lambda |
        lgamma | list_\w+ | list\s*\( | (?<!\|\ )map\s*\( | map_\w+ | median | quantile\w* | qualify |
        range\s*\( (?=[^)]*\)\s*(as\s+)?\w+\() | read_(blob|csv|csv_auto|json|ndjson|parquet|text) |
        regexp_\w+ | sinh | str_split | strftime | strptime | string_agg | string_split |
        string_to_array | struct\w* | try_cast | ubigint | uhugeint | uinteger | union\s+by\s+name |
        unnest | union_by_name
    )\b
    | ::
    | ->
    | \[\s*\w+\s*\]\s+(as|,)
    """,
    re.VERBOSE | re.IGNORECASE,
)
JINJA_COMMENT: Final = re.compile(r"\{#.*?#\}", re.DOTALL)
SQL_COMMENT: Final = re.compile(r"--[^\n]*")


def sources(root: Path) -> list[Path]:
    """Give every SQL file that engines other than DuckDB will compile."""
    files = [*root.glob("macros/**/*.sql"), *root.glob("models/**/*.sql")]
    files += root.glob("tests/generic/**/*.sql")
    return sorted(path for path in files if root / "macros" / "engine" not in path.parents)


def test_only_the_adapters_name_what_only_duckdb_has(request: pytest.FixtureRequest) -> None:
    root = request.config.rootpath
    files = sources(root)
    assert len(files) > 20
    found = {}
    for path in files:
        text = SQL_COMMENT.sub("", JINJA_COMMENT.sub("", path.read_text(encoding="utf-8")))
        # Jinja's code is Python's business; only its output is SQL.
        text = re.sub(r"\{%.*?%\}", "", text, flags=re.DOTALL)
        words = sorted({match.group().strip() for match in DUCKDB_ONLY.finditer(text)})
        if words:
            found[str(path.relative_to(root))] = words
    assert found == {}


def test_only_the_adapters_dispatch_to_an_engine(request: pytest.FixtureRequest) -> None:
    root = request.config.rootpath
    engine = re.compile(r"macro (duckdb|postgres|spark|snowflake|bigquery)__|target\.type")
    found = [
        str(path.relative_to(root))
        for path in sources(root)
        if engine.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_every_macro_of_an_engine_has_a_default(request: pytest.FixtureRequest) -> None:
    root = request.config.rootpath
    text = "\n".join(
        path.read_text(encoding="utf-8") for path in root.glob("macros/engine/**/*.sql")
    )
    special = set(re.findall(r"macro (?:duckdb|spark|postgres)__(\w+)\(", text))
    default = set(re.findall(r"macro default__(\w+)\(", text))
    # Of a macro of dbt's, dbt has the default.
    (dbts,) = importlib.import_module("dbt.include.global_project").__path__
    for path in Path(dbts).glob("macros/**/*.sql"):
        default |= set(re.findall(r"macro default__(\w+)\(", path.read_text(encoding="utf-8")))
    assert {"create_csv_table", "load_csv_rows"} <= default
    assert special - default == set()


def test_no_jinja_chains_comparisons() -> None:
    """dbt v2 reads `1 <= k <= n` as `(1 <= k) <= n`, which is true of any k."""
    chained = re.compile(r"[<>]=? (?:(?! and | or | if | else |[<>,]).)+ [<>]=? ")
    assert chained.search("not 1 <= k <= n")
    assert chained.search("(low <= (value | float) <= high)")
    assert not chained.search("k >= 1 and k <= n")
    found = [
        f"{path.name}: {block}"
        for folder in ("macros", "models", "tests")
        for path in sorted((ROOT / folder).rglob("*.sql"))
        for block in re.findall(r"\{[%{](.*?)[%}]\}", path.read_text("utf-8"), re.DOTALL)
        # Text in quotes is SQL, which has no chains.
        if chained.search(re.sub(r"'[^']*'", "''", block))
    ]
    assert found == []
