"""Options that commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from passk_py.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

F = TypeVar("F", bound="Callable[..., Any]")

DEFAULT_DATABASE = Path("passk.duckdb")


class NameChoice(click.Choice):  # type: ignore[type-arg]  # none before click 8.2
    """A choice of names that suggests the nearest one for a misspelled name."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - click's signature
        """Give the name, or raise an error with a suggestion."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            from passk_py.common.names import did_you_mean

            meant = did_you_mean([str(value)], map(str, self.choices))
            raise click.BadParameter(f"{error.message}{meant}", ctx=ctx, param=param) from error


def _set_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    context.ensure_object(Session).as_json |= value


def _set_debug(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    context.ensure_object(Session).debug |= value


def _set_database(context: click.Context, parameter: click.Parameter, value: Path) -> Path:
    if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE:
        taken = Path(os.environ.get("PASSK_DATABASE") or DEFAULT_DATABASE)
        context.ensure_object(Session).database = "" if value == taken else str(value)
    return value


def add_options(command: F, options: Sequence[Callable[[Any], Any]]) -> F:
    """Add options to a command, in the order in which its help lists them."""
    for option in reversed(options):
        command = option(command)
    return command


def raw_option(command: F) -> F:
    """Add ``--with-raw``."""
    return click.option(
        "--with-raw",
        is_flag=True,
        help="Include rejected rows as they were read, which may hold prompts and keys, and the "
        "paths of log files. By default raw is null and source_file has no folder.",
    )(command)


def common_options(command: F) -> F:
    """Add ``--json`` and ``--debug``, which the session takes."""

    def flag(name: str, callback: Callable[..., None], text: str) -> Callable[[F], F]:
        return click.option(
            name, is_flag=True, is_eager=True, expose_value=False, callback=callback, help=text
        )

    debug = flag("--debug", _set_debug, "Print the traceback of an error.")
    return flag("--json", _set_json, "Print one JSON object and nothing else.")(debug(command))


def database_option(command: F) -> F:
    """Add ``--database``."""
    return click.option(
        "--database",
        type=click.Path(path_type=Path),
        default=DEFAULT_DATABASE,
        callback=_set_database,
        envvar="PASSK_DATABASE",
        show_envvar=True,
        show_default=True,
        metavar="PATH",
        help="Use this DuckDB file.",
    )(command)


def outputs_option(kinds: Mapping[str, str], text: str) -> Callable[[F], F]:
    """Make ``-o``, which may be repeated, for files with the endings of `kinds`."""

    def check(
        _context: click.Context, _parameter: click.Parameter, outputs: Sequence[Path]
    ) -> Sequence[Path]:
        for path in outputs:
            if path.suffix.lower() not in kinds:
                raise click.BadParameter(f"{path} must end in {' or '.join(kinds)}.")
        return outputs

    return click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        type=click.Path(path_type=Path),
        callback=check,
        help=text,
    )


def vars_option(command: F) -> F:
    """Add ``--vars``."""
    return click.option(
        "--vars",
        "variables",
        envvar="PASSK_VARS",
        show_envvar=True,
        metavar="YAML",
        help="Set vars of the dbt project, e.g. '{passk_deployment_k: 8}'.",
    )(command)


def filter_options(command: F) -> F:
    """Add ``--run``, ``--suite`` and ``--k``."""
    k = click.IntRange(1)
    for option in (
        click.option(
            "--k",
            "ks",
            type=k,
            multiple=True,
            help="Select this k; may be repeated. [default: all]",
        ),
        click.option(
            "--suite",
            "suites",
            multiple=True,
            help="Select this suite; may be repeated. [default: all]",
        ),
        click.option(
            "--run",
            "runs",
            multiple=True,
            metavar="RUN_ID",
            help="Select this run; may be repeated. [default: all]",
        ),
    ):
        command = option(command)
    return command


def examples(*lines: str) -> str:
    """Write the end of a help page: command lines to copy, which click must not wrap."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
