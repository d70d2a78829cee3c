"""Progress on stderr: drawn on a terminal, as lines in a log as JSON, and nowhere else."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import plain, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, ProgressColumn, TaskID

    from passk_py.cli.session import Session
    from passk_py.ingest.landing import Progress as LoadProgress

_NAME = 32
_EVERY: Final = 5.0
"""Seconds between two lines of a log about the same file or count."""


@contextmanager
def building(session: Session) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show the model at work; the yielded function takes its name, its number and the total."""
    if session.log_as_json:
        yield lambda name, number, total: session.log(
            "building", node=name, number=number, total=total or None
        )
        return
    if not session.on_terminal:
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True, markup=False, highlight=False)
    with console.status("Starting dbt") as status:

        def tell(name: str, number: int, total: int) -> None:
            of = f" of {total}" if total else ""
            status.update(f"Building {number}{of}: {name}")

        yield tell


@contextmanager
def counting(
    session: Session, title: str, noun: str
) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar; the yielded function takes the number done and the total."""
    if session.log_as_json:
        paced = _Paced(session)
        yield lambda done, total: paced.log(title, done=done, total=total, unit=noun)
        return
    if not session.on_terminal:
        yield None
        return
    from rich.progress import BarColumn, TextColumn

    with _bar(BarColumn(), TextColumn("{task.fields[said]}", markup=False)) as bar:
        task = bar.add_task(title, total=None, said="")

        def tell(done: int, total: int) -> None:
            said = f"{done:,} of {total:,} {noun}"
            bar.update(task, completed=done, total=max(total, 1), said=said)

        yield tell


@contextmanager
def reading(session: Session) -> Iterator[LoadProgress | None]:
    """Show the bytes and rows of each file that :func:`passk_py.ingest.landing.load` reads."""
    if session.log_as_json:
        paced = _Paced(session)
        yield lambda file, done, total, rows: paced.log(
            plain(file), file=plain(file), bytes=done, bytes_total=total, rows=rows
        )
        return
    if not session.on_terminal:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

    said = TextColumn("{task.fields[said]}", markup=False)
    with _bar(BarColumn(bar_width=20), DownloadColumn(), said, TransferSpeedColumn()) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(file: str, bytes_done: int, bytes_total: int, rows: int) -> None:
            if file not in tasks:
                # One line at a time: a folder of thousands of files must not fill the screen.
                for done in tasks.values():
                    bar.update(done, visible=False)
                tasks[file] = bar.add_task(shortened(file, _NAME), said="")
            bar.update(
                tasks[file],
                completed=bytes_done,
                total=max(bytes_total, 1),
                said=f"{rows:,} rows" if rows else "",
            )

        yield tell


class _Paced:
    """Logs the first progress of each subject, then one line every few seconds."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.begun: dict[str, float] = {}
        self.logged: dict[str, float] = {}

    def log(self, subject: str, **fields: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        now = time.monotonic()
        if now - self.logged.get(subject, -_EVERY) < _EVERY:
            return
        self.logged[subject] = now
        seconds = round(now - self.begun.setdefault(subject, now), 3)
        self.session.log("progress", **fields, seconds=seconds)


def _bar(*columns: ProgressColumn) -> Progress:
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeRemainingColumn

    title = TextColumn("{task.description}", markup=False)
    console = Console(stderr=True)
    return Progress(title, *columns, TimeRemainingColumn(), console=console, transient=True)
