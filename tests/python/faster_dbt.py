"""dbt in one process of many commands: nothing that follows from a text alone is made of it twice.

dbt takes a process for one command. What it makes of each text of Jinja and SQL is most of what a
parse, or a build of few rows, costs, and the same each time. Vars come in when the code of a template
runs, so nothing that is kept here depends on them.
"""

from __future__ import annotations

import gc
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import CodeType

    from dbt.contracts.graph.nodes import Macro
    from jinja2 import Environment


def make_dbt_faster() -> None:
    """Let dbt keep what it makes of a text, and Python look for cycles of dead objects seldom."""
    _read_templates_once()
    _add_ephemeral_models_once()
    _list_macros_cheaply()
    _validate_once()
    # The parsed projects that are kept are millions of objects: a look through them all costs a second.
    gc.set_threshold(1_000_000, 10, 10)


def close_database() -> None:
    """Close the database that dbt keeps open, under one name, for a next command in this process."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    if DuckDBConnectionManager._ENV is not None:
        DuckDBConnectionManager._ENV.close()
        DuckDBConnectionManager.close_all_connections()


def _read_templates_once() -> None:
    """Keep the tree of each template, for which dbt has a switch, and the code that it compiles to."""
    from dbt_common.clients.jinja import MacroFuzzEnvironment
    from dbt_common.tests import enable_test_caching

    enable_test_caching()
    codes: dict[tuple[type[Environment], str], CodeType] = {}
    compile_anew = MacroFuzzEnvironment.compile

    def compile_once(environment: Environment, source: str) -> CodeType:
        key = (type(environment), source)
        if key not in codes:
            codes[key] = compile_anew(environment, source)
        return codes[key]

    MacroFuzzEnvironment.compile = compile_once


def _add_ephemeral_models_once() -> None:
    """Keep each query with the ephemeral models that it reads: dbt parses it to find their place."""
    from dbt import compilation
    from dbt.artifacts.resources import InjectedCTE

    add_anew = compilation.inject_ctes_into_sql

    @cache
    def add_once(sql: str, models: tuple[tuple[str, str], ...]) -> str:
        return str(add_anew(sql, [InjectedCTE(*model) for model in models]))

    def add(sql: str, models: Sequence[InjectedCTE]) -> str:
        return add_once(sql, tuple((model.id, model.sql) for model in models))

    compilation.inject_ctes_into_sql = add


def _list_macros_cheaply() -> None:
    """Make one dictionary of all macros for each template, which dbt puts together key by key."""
    from dbt.clients.jinja import MacroGenerator
    from dbt.context.macros import MacroNamespace, MacroNamespaceBuilder
    from dbt.include.global_project import PROJECT_NAME

    # dict before MacroNamespace: one look-up instead of five, and `update` copies it whole.
    class Macros(dict[str, Any], MacroNamespace):  # type: ignore[misc]
        """Macros by name, and those of other packages by package."""

    def build(
        builder: MacroNamespaceBuilder,
        macros_by_package: Mapping[str, Mapping[str, Macro]],
        context: dict[str, Any],
    ) -> MacroNamespace:
        made = {
            package: {
                macro.name: MacroGenerator(macro, context, builder.node, builder.thread_ctx)
                for macro in macros.values()
            }
            for package, macros in macros_by_package.items()
        }
        internal: dict[str, Any] = {}
        for package in reversed(builder.internal_package_names_order):
            internal |= made.pop(package, {})
        own = made.get(builder.search_package, {})
        root = made.get(builder.root_package, {})
        names = Macros({**internal, PROJECT_NAME: internal, **made, **root, **own})
        MacroNamespace.__init__(names, root, own, internal, made)
        return names

    MacroNamespaceBuilder.build_namespace = build


def _validate_once() -> None:
    """Keep which parts of the project follow dbt's schemas, and the modules that templates may use."""
    from dbt.context import base
    from dbt_common.dataclass_schema import dbtClassMixin

    validate_anew = dbtClassMixin.validate.__func__
    valid: set[tuple[type, str]] = set()

    def validate(cls: type, data: Any) -> None:
        key = (cls, repr(data))
        if key not in valid:
            validate_anew(cls, data)
            valid.add(key)

    dbtClassMixin.validate = classmethod(validate)
    base.get_context_modules = cache(base.get_context_modules)
