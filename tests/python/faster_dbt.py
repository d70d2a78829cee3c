"""dbt in one process of many commands: nothing that follows from a text alone is made of it twice.

dbt takes a process for one command. What it makes of each text of Jinja and SQL is most of what a
parse, or a build of few rows, costs, and the same each time. Vars come in when the code of a template
runs, so nothing that is kept here depends on them.
"""

from __future__ import annotations

import gc
import os
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
    _say_nothing_to_nobody()
    _find_secrets_cheaply()
    _know_dates_once()
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

    new = object.__new__

    def generator(macro: Macro, shared: Mapping[str, Any]) -> MacroGenerator:
        # What its two __init__ set, of which there are a thousand in each context.
        made = new(MacroGenerator)
        made.__dict__ = {**shared, "macro": macro}
        return made

    def build(
        builder: MacroNamespaceBuilder,
        macros_by_package: Mapping[str, Mapping[str, Macro]],
        context: dict[str, Any],
    ) -> MacroNamespace:
        shared = {"context": context, "node": builder.node, "stack": builder.thread_ctx}
        made = {
            package: {macro.name: generator(macro, shared) for macro in macros.values()}
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


def _say_nothing_to_nobody() -> None:
    """Put no message together that no log and no caller asks for, where it can't be an error."""
    from dbt_common.events.event_manager import EventManager

    fire_anew = EventManager.fire_event

    def fire(
        manager: EventManager,
        e: Any,
        level: Any = None,
        node: Any = None,
        force_warn_or_error_handling: bool = False,
    ) -> None:
        is_heard = manager.loggers or manager.callbacks or force_warn_or_error_handling
        if is_heard or (level or e.level_tag()) not in ("test", "debug", "info"):
            fire_anew(manager, e, level, node, force_warn_or_error_handling)

    EventManager.fire_event = fire


def _find_secrets_cheaply() -> None:
    """Look through the names of the environment alone for secrets, which dbt does for each line of its log."""
    from dbt_common.constants import SECRET_ENV_PREFIX
    from dbt_common.events import functions

    find_anew = functions.env_secrets
    prefix = os.fsencode(SECRET_ENV_PREFIX)

    def find() -> list[str]:
        # os.environ decodes each name and value that it gives.
        names = os.environ._data  # type: ignore[attr-defined]
        return find_anew() if any(name.startswith(prefix) for name in names) else []

    functions.env_secrets = find


def _know_dates_once() -> None:
    """Keep the names of months and the like, which dbt's tables of results want for each of them."""
    import parsedatetime

    parsedatetime.Constants = cache(parsedatetime.Constants)


def _know_adapters_once() -> None:
    """Keep which adapters an adapter rests on, which dbt finds out for each call of a dispatched macro."""
    from dbt.adapters.factory import FACTORY

    find_anew = FACTORY.get_adapter_type_names
    known: dict[tuple[str | None, int], list[str]] = {}

    def find(name: str | None) -> list[str]:
        key = (name, len(FACTORY.plugins))
        if key not in known:
            known[key] = find_anew(name)
        return known[key]

    FACTORY.get_adapter_type_names = find


def _tell_flags_once() -> None:
    """Keep what templates see of the options of a command, which dbt puts together for each template."""
    from dbt import flags

    tell_anew = flags.get_flag_obj
    kept: tuple[Any, Any] = (None, None)

    def tell() -> Any:
        nonlocal kept
        if kept[0] is not flags.GLOBAL_FLAGS:
            kept = (flags.GLOBAL_FLAGS, tell_anew())
        return kept[1]

    flags.get_flag_obj = tell
