"""The command group ``passk``, and its error messages."""

from __future__ import annotations

import gc
import importlib
import os
import re
import shlex
import signal
import sys
import time
import traceback
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import click

from passk_py.cli.session import GATE_COULD_NOT_RUN, STOPPED, Session
from passk_py.common.errors import PasskError
from passk_py.common.files import is_disk_full
from passk_py.common.words import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: Final = (
    "demo",
    "peek",
    "load",
    "watch",
    "build",
    "show",
    "compare",
    "plan",
    "diagnose",
    "gate",
    "next",
    "report",
    "card",
    "validate",
    "export",
    "convert",
    "publish",
    "boards",
    "superset",
    "mcp",
    "unload",
    "formats",
    "doctor",
    "completion",
)
"""In the order of their use; each is the attribute ``command`` of its module."""

_ALIASES: Final = {"forget": "unload"}
"""Names that still work and that the help does not list."""

_LOG_FORMAT: Final = "--log-format"
_LOG_FORMAT_VARIABLE: Final = "PASSK_LOG_FORMAT"

_SAFE: Final = {
    "load": "Each log has landed whole or not at all. The same `passk load` lands the others.",
    "watch": "Each log has landed whole or not at all. The same `passk watch` goes on from there.",
    "build": "Each table is whole, old or new. The next `passk build` updates the old ones.",
    "publish": "The last copy is still there, or the new one. Publish again.",
    "demo": "Nothing of yours has changed. `passk demo` starts anew.",
    "unload": "All of the rows are removed, or none. `passk doctor` counts those that are left.",
}
"""By command: the data that is safe after Ctrl-C or on a full disk, and the next step."""
_OF_A_DATABASE: Final = re.compile(
    r"(`passk (?:build|diagnose|gate|load|publish|show|validate|watch)\b"
    r"(?![^`]*--(?:database|help))[^`]*)`"
)
"""Commands of hints that would take the default database."""
_NOTHING_LOST: Final = "Nothing is lost, and no file is half written."


class PasskGroup(click.Group):
    """Loads a command when it is called, and prints an error in two lines."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order of their use."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"passk_py.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or ask whether one of nearly the same name was meant."""
        args = [_ALIASES.get(args[0], args[0]), *args[1:]]
        if args[0] not in COMMANDS:
            from passk_py.common.names import did_you_mean

            meant = did_you_mean(args[:1], COMMANDS)
            raise click.UsageError(f"No such command '{plain(args[0])}'.{meant}", ctx=ctx)
        session = ctx.ensure_object(Session)
        session.command = args[0]
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT002 - click's signature
        **extra: Any,  # noqa: ANN401 - click's signature
    ) -> Any:  # noqa: ANN401 - click's signature
        """Run a command and exit with its code; the arguments are those of click."""
        words = list(sys.argv[1:] if args is None else args)
        if not os.environ.get("COLUMNS", "1").strip("0 "):
            # No width is what some programs set that have no terminal.
            del os.environ["COLUMNS"]
        session = Session()
        call = {"prog_name": prog_name or "passk", "complete_var": complete_var, **extra}
        call.setdefault("obj", session)
        if not standalone_mode:
            return super().main(words, standalone_mode=False, **call)
        # Before the options are read, because reading them may be what fails.
        session.as_json = "--json" in words
        session.debug = "--debug" in words
        session.log_as_json = _wants_json_log(words)
        command = next((word for word in words if word in COMMANDS), None)
        options = {word.partition("=")[0] for word in words}
        if command == "gate" or (command in ("peek", "watch") and "--gate" in options):
            session.could_not_run = GATE_COULD_NOT_RUN
        try:
            code = super().main(words, standalone_mode=False, **call)
            sys.stdout.flush()
        except (BrokenPipeError, SystemExit):
            # The reader closed the pipe. click would exit with 1, which means something else here.
            code = session.code
        except Exception as error:  # noqa: BLE001 - the end of every error
            code = _fail(session, error)
        code = code if isinstance(code, int) else 0
        if session.command:
            with suppress(OSError):
                seconds = round(time.monotonic() - session.started, 3)
                session.log("finished", exit_code=code, seconds=seconds)
        _drop_unwritten()
        sys.exit(code)


def _wants_json_log(words: Sequence[str]) -> bool:
    """Find --log-format in the words of a call, or what stands for it in the environment."""
    given = [after for word, after in pairwise(words) if word == _LOG_FORMAT]
    given += [word.partition("=")[2] for word in words if word.startswith(f"{_LOG_FORMAT}=")]
    return (given or [os.environ.get(_LOG_FORMAT_VARIABLE, "")])[-1] == "json"


def _drop_unwritten() -> None:
    """Discard output that can't be written, else Python tries again at exit and exits with 120."""
    # A stream that was closed before the start is None.
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(session: Session, error: Exception) -> int:
    """Print the error, and give the exit code."""
    # Set before any output, which may fail because nobody reads it.
    session.code = STOPPED if _is_stop(error) else session.could_not_run
    message, hint = _explained(error)
    if hint and session.database:
        named = f" --database {plain(shlex.quote(session.database))}`"
        hint = _OF_A_DATABASE.sub(lambda command: f"{command[1]}{named}", hint)
    safe = _SAFE.get(session.command, _NOTHING_LOST)
    if _is_stop(error):
        message, hint = "Interrupted.", safe
    elif is_disk_full(error):
        if not isinstance(error, PasskError):
            message = "The disk is full."
        hint = f"Free some room. {safe}"
    # A full disk behind stderr must not become an exit with 1.
    trace = "".join(traceback.format_exception(error)) if session.debug else None
    with suppress(OSError):
        session.result({"error": message, "hint": hint})
    if session.log_as_json:
        about = {"message": message, "hint": hint, "exit_code": session.code, "traceback": trace}
        with suppress(OSError):
            session.log("error", level="error", **about)
        return session.code
    with suppress(OSError):
        if trace:
            click.echo(trace, err=True, nl=False)
        lead = click.style("Error:", fg="red", bold=True)
        # None lets click decide.
        colour = False if os.environ.get("NO_COLOR") else None
        click.echo(f"{lead} {message}", err=True, color=colour)
        if hint:
            click.echo(hint, err=True)
    return session.code


def _is_stop(error: Exception) -> bool:
    """Tell whether the error is Ctrl-C, for which DuckDB has its own error."""
    return isinstance(error, click.exceptions.Abort) or str(error).endswith("Query interrupted")


def _explained(error: Exception) -> tuple[str, str | None]:
    """Give the message and the hint of an error."""
    if isinstance(error, PasskError):
        return error.message, error.hint
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx is not None else "passk"
        return error.format_message(), f"`{path} --help` shows the usage."
    if isinstance(error, click.ClickException):
        return error.format_message(), None
    first = next(iter(str(error).splitlines()), "")
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or first}", None
    hint = "Run the command again with --debug and report the output."
    if type(error).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
        return f"DuckDB failed: {first}", hint
    return f"passk failed because of a bug: {type(error).__name__}: {first}", hint


def _print_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if not value or context.resilient_parsing:
        return
    from passk_py.warehouse.project import version

    click.echo(f"passk {version()}")
    context.exit()


@click.group(
    "passk",
    cls=PasskGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    epilog=(
        "\b\n"
        "Start here:\n"
        "  passk demo                      try it on a demo log\n"
        "  passk peek results.jsonl        do the same with your own log\n"
        "  passk load results/*.jsonl      load your own logs\n"
        "  passk build && passk show       build the tables, print the answer\n"
        "\n"
        "\b\n"
        "Exit codes: 0 success, 1 a check of the data fails, 2 could not run, 130 Ctrl-C.\n"
        "`passk gate`, --gate of peek and watch: 1 a gate fails, 2 inconclusive, 3 could not run.\n"
        "`passk completion --help` explains how to complete commands and options with Tab."
    ),
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version.",
)
@click.option(
    _LOG_FORMAT,
    type=click.Choice(["text", "json"]),
    default="text",
    envvar=_LOG_FORMAT_VARIABLE,
    show_envvar=True,
    show_default=True,
    expose_value=False,
    help="Write messages and progress to stderr as text, or as JSON with one object a line.",
)
@click.pass_context
def cli(context: click.Context) -> None:
    """Compute pass@k and pass^k from logs of repeated agent attempts.

    pass@k: at least one of k tries succeeds. pass^k: all k tries succeed.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        return
    context.ensure_object(Session).log("started")


def main() -> None:
    """Run a command and exit with its code; the arguments are those of click."""
    # By default Python looks for cycles of objects after each 700 new ones. A command makes many
    # that live to its end, imports above all: an eighth of the time of a short command.
    gc.set_threshold(50_000)
    # A request to end is Ctrl-C: it ends what a command has started, and says what is safe.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A name that the terminal's encoding lacks must not end the output.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    cli.main()
