"""Command lines to copy, and the next steps."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from passk_py.cli.session import PIPED_WIDTH
from passk_py.cli.shared_options import DEFAULT_DATABASE
from passk_py.common.words import plain

if TYPE_CHECKING:
    from passk_py.cli.session import Session
    from passk_py.warehouse.tables import Tables


def command_line(*words: str, database: Path | None = None) -> str:
    """Write a command to copy; the database is named unless it is the default."""
    taken = Path(os.environ.get("PASSK_DATABASE") or DEFAULT_DATABASE)
    named = [] if database in (None, taken) else ["--database", str(database)]
    return shlex.join([_program(), *map(plain, words), *map(plain, named)])


def _program() -> str:
    """Give the name or path that calls this program from the current folder."""
    called, found = Path(sys.argv[0]), shutil.which("passk")
    if called.name != "passk" or (found and Path(found).resolve() == called.resolve()):
        return "passk"
    # Called by its path, as from an environment that is not active.
    path = called.absolute()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def note_stale(session: Session, tables: Tables) -> str | None:
    """Note on stderr why the tables are stale, and return that sentence; None if they are not."""
    from passk_py.warehouse.freshness import stale

    sentence = stale(tables)
    if sentence is not None:
        session.note(f"{sentence} {build_again(tables)}", level="warning", event="stale")
    return sentence


def build_again(tables: Tables) -> str:
    """Say how to bring stale tables up to date."""
    from passk_py.warehouse.settings import COPY

    if tables.find(COPY):
        return "Build, and publish again."
    return f"`{command_line('build', database=tables.database)}` brings them up to date."


def say_next(session: Session, *steps: tuple[str, str]) -> None:
    """Print the next steps, each a pair of purpose and command."""
    width = max(len(purpose) for purpose, _ in steps)
    longest = max(len(command) for _, command in steps)
    room = shutil.get_terminal_size((PIPED_WIDTH, 0)).columns
    for purpose, command in steps:
        if len(steps) == 1 or width + longest + 4 <= room:
            session.say(f"  {purpose:<{width}}  {command}")
        else:
            session.say(f"  {purpose}")
            session.say(f"    {command}")
