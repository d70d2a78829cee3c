"""Progress bars on stderr, for a person who waits."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from passk_py.common.words import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import TaskID

    from passk_py.ingest.landing import Progress as LoadProgress

__all__ = ["counting", "reading"]

_NAME = 32


@contextmanager
def counting(title: str, noun: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar; the yielded function takes the number done and the total."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[said]}", markup=False),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(title, total=None, said="")

        def tell(done: int, total: int) -> None:
            said = f"{done:,} of {total:,} {noun}"
            bar.update(task, completed=done, total=max(total, 1), said=said)

        yield tell


@contextmanager
def reading() -> Iterator[LoadProgress]:
    """Show the bytes and rows of each file that :func:`passk_py.ingest.landing.load` reads."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        DownloadColumn(),
        TextColumn("{task.fields[said]}", markup=False),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
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
