"""The package beside another that has taken all of its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

from .consumer import assert_exact, log, project, tasks_of
from .worlds import BESIDE, ROOT, query, write_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .worlds import World

MACRO: Final = re.compile(r"\{%-?\s*macro\s+(\w+)\(")
TEST: Final = re.compile(r"\{%-?\s*test\s+(\w+)\(")
DISPATCHED: Final = re.compile(r"(default|duckdb|postgres|spark)__\w+")


def words() -> tuple[list[str], list[str]]:
    """Give the names of all macros, and of all generic tests, of the package."""
    files = [*ROOT.glob("macros/**/*.sql"), *ROOT.glob("tests/generic/*.sql")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return sorted(set(MACRO.findall(text))), sorted(set(TEST.findall(text)))


def traps(names: list[str], whose: str) -> str:
    """Write macros of these names that stop a build which calls them."""
    return "\n".join(
        f"{{% macro {name}() %}}{{{{ exceptions.raise_compiler_error('{name} of {whose}') }}}}{{% endmacro %}}"
        for name in names
    )


@pytest.mark.parametrize(("dbt", "engine"), BESIDE)
def test_every_word_is_taken_by_others(
    tmp_path: Path, find_world: Callable[[str, str], World], sources: dict[str, list[dict[str, str]]],
    dbt: str, engine: str,
) -> None:  # fmt: skip
    """Macros, generic tests and models of the same names, in another package and in the project: each keeps its own.

    What a project may say in the package's place is what `adapter.dispatch` looks for, so it has none of those names.
    """
    world = find_world(dbt, engine)
    macros, generic = words()
    assert {"pass_at_k", "_setting", "type_double", "default__type_double"} <= set(macros)
    assert "passk_rows_hold" in generic
    rows = log(seed=10)
    files = project(rows, [*sources["local"], {"local": "tools"}])
    files["dbt_project.yml"]["models"]["tools"] = {"+schema": "tools"}
    undispatched = [name for name in macros if not DISPATCHED.fullmatch(name)]
    other = {
        "dbt_project.yml": {"name": "tools", "version": "1.0.0", "config-version": 2},
        "macros/words.sql": traps([*macros, *(f"test_{name}" for name in generic)], "tools"),
        "models/passk_runs.sql": "select 'theirs' as run_id\n",
        "models/int_passk__estimates_by_count.sql": "select 'theirs' as run_id\n",
        "models/attempts.sql": "select run_id from {{ ref('passk_runs') }}\n",
        "models/models.yml": {
            "models": [{"name": "passk_runs", "columns": [{"name": "run_id", "data_tests": ["unique"]}]}]
        },
    }  # fmt: skip
    files |= {f"tools/{name}": content for name, content in other.items()}
    files["macros/words.sql"] = traps(undispatched, "lab")
    files["models/mine.sql"] = (
        "select run_id, {{ passk.pass_hat_k(8, 6, 2) }} as pass_hat_2 from {{ ref('passk', 'passk_runs') }}\n"
    )
    write_project(tmp_path, files)
    world.run(tmp_path, "deps")
    assert "WARN=0 ERROR=0" in world.run(tmp_path, "build")
    database = tmp_path / "evals.duckdb"
    assert_exact(database, "analytics", tasks_of(rows))
    assert query(database, "from analytics_tools.attempts") == [("theirs",)]
    assert query(database, "from analytics_experiments.mine order by all") == [
        (run, pytest.approx(15 / 28, rel=1e-15)) for run in ("2026.1", "2026.2", "it's new")
    ]
