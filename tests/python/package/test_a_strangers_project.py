"""A shop's project as dbt's own examples lay it out, which knows nothing of this package, adds what the docs' page shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml  # type: ignore[import-untyped]

from passk_py.validation.check_all import validate_tables
from passk_py.warehouse.catalog import PUBLIC_TABLES

from .worlds import BESIDE, ROOT, profile, query, write_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .worlds import World

SCHEMAS: Final = """
{# Seeds have schemas of their own; all else is told apart in production only. #}
{% macro generate_schema_name(custom_schema_name, node) %}
  {%- if node.resource_type == 'seed' -%}
    {{ custom_schema_name | trim }}
  {%- elif custom_schema_name is none or target.name != 'prod' -%}
    {{ target.schema }}
  {%- else -%}
    {{ target.schema }}_{{ custom_schema_name | trim }}
  {%- endif -%}
{% endmacro %}
"""

SHOP: Final[dict[str, Any]] = {
    "dbt_project.yml": """\
name: jaffle_shop
version: 3.0.0
config-version: 2

profile: default

model-paths: [models]
analysis-paths: [analyses]
test-paths: [data-tests]
seed-paths: [seeds]
macro-paths: [macros]
snapshot-paths: [snapshots]
clean-targets: [target, dbt_packages]

flags:
  require_generic_test_arguments_property: true

vars:
  first_day: "2026-01-01"

seeds:
  jaffle_shop:
    +schema: raw

models:
  jaffle_shop:
    staging:
      +materialized: view
    marts:
      +materialized: table
""",
    "packages.yml": "packages: []\n",
    "profiles.yml": profile("default", "jaffle_shop.duckdb", "dev"),
    "macros/cents_to_dollars.sql": (
        "{% macro cents_to_dollars(column_name) -%}\n"
        "  cast({{ column_name }} / 100.0 as numeric(16, 2))\n"
        "{%- endmacro %}\n"
    ),
    "macros/generate_schema_name.sql": SCHEMAS,
    "seeds/jaffle-data/raw_customers.csv": "id,name\n1,Ada\n2,Grace\n",
    "seeds/jaffle-data/raw_orders.csv": (
        "id,customer,ordered_at,order_total\n1,1,2026-02-01,650\n2,1,2026-02-03,1200\n3,2,2026-02-03,700\n"
    ),
    "seeds/jaffle-data/raw_ticket_replays.csv": (
        "assistant,ticket,try,resolved\n"
        + "".join(
            f"{assistant},{ticket},{number},{str(letter == 'P').lower()}\n"
            for assistant, tickets in {
                "helper-1": {"cold coffee": "PPPP", "late order": "PPFP", "no receipt": "FFFF"},
                "helper-2": {"cold coffee": "PPPF", "late order": "PPPF", "no receipt": "PFPF"},
            }.items()
            for ticket, letters in tickets.items()
            for number, letter in enumerate(letters, 1)
        )
    ),
    "models/staging/__sources.yml": """\
sources:
  - name: ecom
    description: The shop's till and its help desk.
    schema: raw
    tables:
      - name: raw_customers
      - name: raw_orders
      - name: raw_ticket_replays
""",
    "models/staging/stg_customers.sql": """\
with

source as (
  select * from {{ source('ecom', 'raw_customers') }}
),

renamed as (
  select id as customer_id, name as customer_name from source
)

select * from renamed
""",
    "models/staging/stg_orders.sql": """\
with

source as (
  select * from {{ source('ecom', 'raw_orders') }}
),

renamed as (
  select
    id as order_id,
    customer as customer_id,
    {{ cents_to_dollars('order_total') }} as order_total,
    cast(ordered_at as date) as ordered_at
  from source
)

select * from renamed
""",
    "models/staging/stg_ticket_replays.sql": """\
with

source as (
  select * from {{ source('ecom', 'raw_ticket_replays') }}
),

renamed as (
  select assistant as run_id, ticket as task_id, try as attempt, resolved as passed from source
)

select * from renamed
""",
    "models/marts/customers.sql": """\
select
  customers.customer_id,
  customers.customer_name,
  count(orders.order_id) as count_lifetime_orders,
  sum(orders.order_total) as lifetime_spend
from {{ ref('stg_customers') }} as customers
left join {{ ref('stg_orders') }} as orders
  on customers.customer_id = orders.customer_id
group by customers.customer_id, customers.customer_name
""",
    "models/marts/customers.yml": """\
models:
  - name: customers
    description: What each customer bought. One row per customer.
    columns:
      - name: customer_id
        data_tests: [not_null, unique]
""",
    "data-tests/spend_is_positive.sql": "select * from {{ ref('customers') }} where lifetime_spend < 0\n",
}

BLOCK: Final = re.compile(r"## Install\n.*?```yaml\n(.*?)```", re.DOTALL)


def five_lines() -> tuple[str, str]:
    """Give what the docs' page adds to packages.yml and to dbt_project.yml."""
    found = BLOCK.search((ROOT / "docs" / "dbt-package.md").read_text(encoding="utf-8"))
    assert found
    packages, _, project = found[1].partition("# dbt_project.yml\n")
    packages = packages.replace("# packages.yml\n", "").strip("\n")
    project = project.strip("\n")
    assert len(packages.splitlines()) + len(project.splitlines()) == 5
    return packages + "\n", project + "\n"


@pytest.mark.parametrize(("dbt", "engine"), BESIDE)
def test_five_lines_and_the_tables_are_there(
    tmp_path: Path, find_world: Callable[[str, str], World], sources: dict[str, list[dict[str, str]]],
    dbt: str, engine: str,
) -> None:  # fmt: skip
    """The page's lines, with the address of a repository of this checkout in place of the public one."""
    world = find_world(dbt, engine)
    write_project(tmp_path, SHOP)
    world.run(tmp_path, "deps")
    # As the layout's own instructions say: its staging models read the seeds as sources, which dbt does not wait for.
    world.run(tmp_path, "seed")
    world.run(tmp_path, "build")
    before = query(tmp_path / "jaffle_shop.duckdb", "from dev.customers order by all")

    packages, project = five_lines()
    told = yaml.safe_load(packages)["packages"]
    assert [set(package) for package in told] == [{"git", "revision"}]
    packages = packages.replace(told[0]["git"], sources["git"][0]["git"])
    # The shop has vars already: the line goes below them.
    head, line = project.splitlines()
    assert SHOP["dbt_project.yml"].count(f"\n{head}\n") == 1
    line = line.replace("my_attempts", "stg_ticket_replays")
    write_project(
        tmp_path,
        {
            "packages.yml": packages,
            "dbt_project.yml": SHOP["dbt_project.yml"].replace(
                f"\n{head}\n", f"\n{head}\n{line}\n"
            ),
        },
    )
    # The page says that dbt warns of a branch.
    assert 'is pinned to the "main" branch' in world.run(tmp_path, "deps", strict=False)
    assert "WARN=0 ERROR=0" in world.run(tmp_path, "build")

    database = tmp_path / "jaffle_shop.duckdb"
    assert query(database, "from dev.customers order by all") == before
    made = {name for (name,) in query(database, "select table_name from information_schema.tables")}
    assert {table.name for table in PUBLIC_TABLES if not table.var} <= made
    # 4 of 4, 3 of 4, none; 3 of 4, 3 of 4, 2 of 4: 1, 1, 0 and 1, 1, 5/6; 1, 1/2, 0 and 1/2, 1/2, 1/6.
    assert query(
        database,
        "select run_id, pass_at_k, pass_hat_k from dev.passk_suite_metrics where slice_name = 'all' and k = 2 order by all",
    ) == [
        ("helper-1", pytest.approx(2 / 3, rel=1e-12), pytest.approx(1 / 2, rel=1e-12)),
        ("helper-2", pytest.approx(17 / 18, rel=1e-12), pytest.approx(7 / 18, rel=1e-12)),
    ]
    assert validate_tables(database).different == 0
