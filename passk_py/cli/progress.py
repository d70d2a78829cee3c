"""Progress on stderr, for a person who waits: each tells nothing where there is no terminal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from passk_py.common.words import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, ProgressColumn, TaskID

    from passk_py.cli.session import Session
    from passk_py.ingest.landing import Progress as LoadProgress

_NAME = 32


@contextmanager
def building(session: Session) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show the model at work; the yielded function takes its name, its number and the total."""
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


def _bar(*columns: ProgressColumn) -> Progress:
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeRemainingColumn

    title = TextColumn("{task.description}", markup=False)
    console = Console(stderr=True)
    return Progress(title, *columns, TimeRemainingColumn(), console=console, transient=True)
