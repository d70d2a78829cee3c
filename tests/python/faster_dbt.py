"""dbt in one process of many commands: nothing that follows from a text alone is made of it twice.

dbt takes a process for one command. What it makes of each text of Jinja and SQL is most of what a
parse, or a build of few rows, costs, and the same each time. Vars come in when the code of a template
runs, so nothing that is kept here depends on them.
"""

from __future__ import annotations

import atexit
import gc
import os
from functools import cache
from types import MappingProxyType
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
    _make_macros_callable_late()
    _call_macros_cheaply()
    _validate_once()
    _say_nothing_to_nobody()
    _find_secrets_cheaply()
    _know_dates_once()
    _know_adapters_once()
    _tell_flags_once()
    # The parsed projects that are kept are millions of objects: a look through them all costs a second.
    gc.set_threshold(1_000_000, 10, 10)
    # Else what is frozen (`Dbt.manifest`) would not be taken down when Python ends.
    atexit.register(gc.unfreeze)


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


def _make_macros_callable_late() -> None:
    """Make a callable of a macro when a template asks for it; dbt makes one of each macro for each template."""
    from dbt.cli.main import dbtRunner
    from dbt.clients.jinja import MacroGenerator
    from dbt.context.base import BaseContext
    from dbt.context.macros import MacroNamespace, MacroNamespaceBuilder
    from dbt.context.manifest import ManifestContext
    from dbt.include.global_project import PROJECT_NAME
    from dbt_common.clients.jinja import MacroFuzzTemplate, NativeSandboxTemplate

    class Names(dict[str, Any]):
        """The names that a template finds: values, and macros that become callables as they are found."""

        macros: Mapping[str, Macro] = MappingProxyType({})
        arguments: tuple[Any, ...] = ()

        def __missing__(self, name: str) -> MacroGenerator:
            self[name] = made = MacroGenerator(self.macros[name], *self.arguments)
            return made

        def __contains__(self, name: object) -> bool:
            return dict.__contains__(self, name) or name in self.macros

        def get(self, name: str, default: Any = None) -> Any:
            try:
                return self[name]
            except KeyError:
                return default

    class Namespace(Names, MacroNamespace):
        """The same, where dbt asks for the macros of one package too."""

    contexts: list[Names] = []

    def start(context: BaseContext, *args: Any, **kwargs: Any) -> None:
        start_anew(context, *args, **kwargs)
        context._ctx = Names()
        contexts.append(context._ctx)

    def invoke(runner: dbtRunner, *args: Any, **kwargs: Any) -> Any:
        try:
            return invoke_anew(runner, *args, **kwargs)
        finally:
            # Each holds itself by its macros: Python would have to search for it.
            for context in contexts:
                context.clear()
                context.__dict__.clear()
            contexts.clear()

    def build(
        builder: MacroNamespaceBuilder,
        macros_by_package: Mapping[str, Mapping[str, Macro]],
        context: Names,
    ) -> MacroNamespace:
        def names(macros: Mapping[str, Macro]) -> Names:
            made = Names()
            made.macros, made.arguments = macros, arguments
            return made

        arguments = (context, builder.node, builder.thread_ctx)
        internal: dict[str, Macro] = {}
        for package in reversed(builder.internal_package_names_order):
            internal |= macros_by_package.get(package, {})
        packages = {
            package: names(macros)
            for package, macros in macros_by_package.items()
            if package not in builder.internal_package_names
        }
        root, own = (
            packages.get(package, names({}))
            for package in (builder.root_package, builder.search_package)
        )
        found = Namespace({PROJECT_NAME: names(internal), **packages})
        found.macros = context.macros = {**internal, **root.macros, **own.macros}
        found.arguments = context.arguments = arguments
        MacroNamespace.__init__(found, root, own, found[PROJECT_NAME], packages)
        return found

    def tell(context: ManifestContext) -> dict[str, Any]:
        if not isinstance(context.namespace, Namespace):
            return tell_anew(context)
        told: Names = super(ManifestContext, context).to_dict()
        # A macro goes before what dbt itself has by this name.
        for name in told.macros.keys() & told.keys():
            del told[name]
        told.update(context.namespace)
        return told

    start_anew, tell_anew = BaseContext.__init__, ManifestContext.to_dict
    invoke_anew = dbtRunner.invoke
    BaseContext.__init__ = start
    dbtRunner.invoke = invoke
    MacroNamespaceBuilder.build_namespace = build
    ManifestContext.to_dict = tell
    # Jinja's own copies the names that are there.
    NativeSandboxTemplate.new_context = MacroFuzzTemplate.new_context


def _call_macros_cheaply() -> None:
    """Run the template that defines a macro once for its calls in a context, and call it without context managers."""
    from dbt.clients.jinja import MacroGenerator
    from dbt_common.clients.jinja import MacroReturn

    get_anew = MacroGenerator.get_macro

    def call_macro(generator: MacroGenerator, *args: Any, **kwargs: Any) -> Any:
        if "made" not in generator.__dict__:
            generator.made = get_anew(generator)
        try:
            return generator.made(*args, **kwargs)
        except MacroReturn as returned:
            return returned.value
        except Exception:
            with generator.exception_handler():
                raise

    def call(generator: MacroGenerator, *args: Any, **kwargs: Any) -> Any:
        stack, name = generator.stack, generator.macro.unique_id
        if stack is None:
            return generator.call_macro(*args, **kwargs)
        if stack.depth == 0 and generator.node:
            generator.node.depends_on.add_macro(name)
        stack.push(name)
        try:
            return generator.call_macro(*args, **kwargs)
        finally:
            stack.pop(name)

    MacroGenerator.call_macro = call_macro
    MacroGenerator.__call__ = call


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
    from dbt.events.logging import track_behavior_change_warn
    from dbt_common.events.event_manager import EventManager

    fire_anew = EventManager.fire_event

    def fire(
        manager: EventManager,
        e: Any,
        level: Any = None,
        node: Any = None,
        force_warn_or_error_handling: bool = False,
    ) -> None:
        # dbt itself listens to count warnings, which it does for nobody here.
        listeners = [one for one in manager.callbacks if one is not track_behavior_change_warn]
        is_heard = manager.loggers or listeners or force_warn_or_error_handling
        if is_heard or (level or e.level_tag()) not in ("test", "debug", "info"):
            fire_anew(manager, e, level, node, force_warn_or_error_handling)

    EventManager.fire_event = fire


def _find_secrets_cheaply() -> None:
    """Look through the names of the environment alone for secrets, which dbt does for each line of its log."""
    from dbt_common.constants import SECRET_ENV_PREFIX
    from dbt_common.events import functions
    from dbt_common.exceptions import base

    find_anew = functions.env_secrets
    prefix = os.fsencode(SECRET_ENV_PREFIX)

    def find() -> list[str]:
        # os.environ decodes each name and value that it gives.
        names = os.environ._data  # type: ignore[attr-defined]
        return find_anew() if any(name.startswith(prefix) for name in names) else []

    # Errors look for them too, and dbt raises one for each package that lacks a macro which it dispatches.
    functions.env_secrets = base.env_secrets = find


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
