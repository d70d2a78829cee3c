"""The output of a command: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console, RenderableType

_COULD_NOT_RUN: Final = 2
"""The exit code of a command that could not run."""

GATE_COULD_NOT_RUN: Final = 3
"""The same for `passk gate`, whose exit code 2 means inconclusive."""

STOPPED: Final = 130
"""The exit code after Ctrl-C, as shells have it."""

PIPED_WIDTH: Final = 100
"""Cells of a line where no terminal sets a width, and of a line of a text at most."""

_UNLIMITED_WIDTH: Final = 100_000

_LEVELS: Final = {"Error": "error", "Failed": "error", "Warning": "warning", "": "info"}
"""The level of a note by its first word."""


@dataclass
class Session:
    """One call of a command: where its output goes, and its exit code."""

    # Stdout takes one JSON object and nothing else.
    as_json: bool = False
    # Stderr takes one JSON object a line and nothing else.
    log_as_json: bool = False
    debug: bool = False
    # The exit code, once it is known: it holds even if nobody reads the result to its end.
    code: int = 0
    could_not_run: int = _COULD_NOT_RUN
    command: str = ""
    started: float = field(default_factory=time.monotonic)
    # The value of --database, where it is not the default: commands to copy have to name it.
    database: str = ""

    @property
    def on_terminal(self) -> bool:
        """Whether stderr is a terminal, where progress is shown."""
        if self.as_json or self.log_as_json:
            return False
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def say(self, text: str = "") -> None:
        """Print a line of the result for a person."""
        if not self.as_json:
            click.echo(text)

    def say_wrapped(self, text: str, *, indent: str = "", hang: str = "") -> None:
        """Print a text in lines that fit: `hang` begins all of them but the first."""
        if self.as_json:
            return
        for line in textwrap.wrap(
            text,
            min(self.console().width, PIPED_WIDTH),
            initial_indent=indent,
            subsequent_indent=indent + hang,
            break_long_words=False,
        ):
            click.echo(line)

    def note(
        self,
        text: str,
        *,
        lead: str = "",
        hint: str | None = None,
        level: str = "",
        event: str = "note",
        **fields: Any,  # noqa: ANN401 - whatever JSON holds
    ) -> None:
        """Print a line to stderr, `hint` as a second one; the rest is for the log as JSON."""
        if self.log_as_json:
            if text:
                level = level or _LEVELS[lead]
                self.log(event, level=level, message=text, hint=hint or None, **fields)
            return
        click.echo(f"{lead}: {text}" if lead else text, err=True)
        if hint:
            click.echo(hint, err=True)

    def log(self, event: str, *, level: str = "info", **fields: Any) -> None:  # noqa: ANN401 - as above
        """Print a line of the log to stderr, if ``--log-format json`` is given."""
        if self.log_as_json:
            from passk_py.cli.log_lines import log_line

            click.echo(log_line(level, event, self.command, fields), err=True)

    def result(self, values: Mapping[str, Any]) -> None:
        """Print the result as JSON, if ``--json`` is given."""
        if self.as_json:
            click.echo(json.dumps(values, default=str, ensure_ascii=False, allow_nan=False))

    def console(self, *, whole: bool = False) -> Console:
        """Make a console for stdout; `whole` lines are not cut where no terminal sets a width."""
        from rich.console import Console

        width = None
        if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
            width = _UNLIMITED_WIDTH if whole else PIPED_WIDTH
        # No markup, no emoji codes: names come from files that others wrote.
        return Console(markup=False, emoji=False, highlight=False, width=width, soft_wrap=False)

    def show(self, renderable: RenderableType, console: Console) -> None:
        """Print a layout, without trailing blanks where there is no terminal."""
        if self.as_json:
            return
        if console.is_terminal:
            console.print(renderable)
            return
        with console.capture() as captured:
            console.print(renderable)
        for line in captured.get().splitlines():
            click.echo(line.rstrip())


pass_session = click.make_pass_decorator(Session, ensure=True)
