"""Rows of a public table on stdout: laid out for a person, as CSV, or as JSON."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from passk_py.common.errors import PasskError
from passk_py.common.names import did_you_mean
from passk_py.common.words import DASH, plain, plural, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from passk_py.cli.session import Session
    from passk_py.warehouse.catalog import Filters, PublicTable
    from passk_py.warehouse.tables import Tables

_CHUNK: Final = 5_000
_LEAST: Final = 8
"""Cells that a column of texts keeps when a terminal is narrow."""
_MOST: Final = 60
"""Cells that a column of texts takes at most, however wide the terminal is."""
_GAP: Final = 2
_SMALL, _LARGE = 1e-4, 1e6


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows and columns of a table to print; no columns means all, no limit all rows."""

    tables: Tables
    table: PublicTable
    filters: Filters
    columns: tuple[str, ...]
    limit: int | None

    def types(self) -> dict[str, str]:
        """Give the table's columns and types; raise an error for unknown columns."""
        there = self.tables.columns(self.table.name)
        unknown = [name for name in self.columns if name not in there]
        if unknown:
            named = " and no ".join(map(plain, unknown))
            raise PasskError(
                f"{self.table.name} has no column {named}.{did_you_mean(unknown, there)}",
                hint=f"Its columns are {', '.join(there)}.",
            )
        return there

    def names(self) -> list[str]:
        """Give the names of the columns to print."""
        there = self.types()
        return list(self.columns or there)

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Fetch the rows in chunks, because a table may be larger than memory."""
        sql = self.tables.select(self.table, self.filters, columns=columns, limit=self.limit)
        result = self.tables.connection.execute(sql)
        while chunk := result.fetchmany(_CHUNK):
            yield from chunk


def _new_table() -> Table:
    """Make an empty table in the layout of all commands."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def fitted_table(
    names: Sequence[str],
    lines: Sequence[Sequence[str | Text]],
    room: int,
    spared: Iterable[tuple[int, ...]],
    *,
    numbers: range,
    least: int | None = None,
) -> tuple[Table, list[int]]:
    """Lay out the columns that fit, `numbers` to the right, and give the places of those columns.

    The arguments are those of `fitting`; names in the first column are folded only with `least`.
    """
    columns = list(zip(names, *lines, strict=True))
    shown = fitting(columns, room, spared, least=least)
    table = _new_table()
    for place in shown:
        folds = place == 0 and least is not None
        table.add_column(
            names[place],
            justify="right" if place in numbers else "left",
            no_wrap=not folds,
            overflow="fold" if folds else "ellipsis",
        )
    for line in lines:
        table.add_row(*(line[place] for place in shown))
    return table, shown


def fitting(
    columns: Sequence[Sequence[str | Text]],
    room: int,
    spared: Iterable[tuple[int, ...]],
    *,
    least: int | None = None,
) -> list[int]:
    """Choose the columns that fit into `room` cells without being cut; the first always stays.

    Groups in `spared` are left out first, the least important first. `least` cells are enough for
    the first column, whose names can be folded.
    """
    from rich.cells import cell_len

    widths = [
        max((cell_len(line) for text in texts for line in str(text).splitlines()), default=0)
        for texts in columns
    ]
    if least is not None:
        widths[0] = min(widths[0], least)
    left = list(range(len(columns)))
    for group in spared:
        if sum(widths[one] + _GAP for one in left) <= room + _GAP:
            break
        left = [place for place in left if place not in group]
    return left


def print_table(session: Session, selection: Selection) -> None:
    """Print rows as a table that fits the terminal; by default the headline columns come first."""
    types = selection.types()
    headline = [name for name in selection.table.headline if name in types]
    order = list(selection.columns) or [*headline, *(n for n in types if n not in headline)]
    cells = [[_cell(value) for value in row] for row in selection.rows(order)]
    console = session.console(whole=True)
    once: list[str] = []
    if not selection.columns and len(cells) > 1:
        # Parts of the key that are the same in every row are said once, above.
        once = [
            name
            for name in selection.table.key
            if len({row[order.index(name)] for row in cells}) == 1
        ]
        said = " · ".join(f"{name} = {plain(cells[0][order.index(name)])}" for name in once)
        if said:
            session.say(shortened(said, console.width) if console.is_terminal else said)
            session.say()
    shown = [place for place, name in enumerate(order) if name not in once]
    laid = _Layout(order, types, cells)
    if not selection.columns:
        if console.is_terminal:
            shown = laid.fitting(shown, console.width)
        else:
            shown = [place for place in shown if order[place] in headline]
    if cells:
        session.show(laid.table(shown, console), console)
    _say_size(session, selection, len(cells), len(order) - len(shown) - len(once))


class _Layout:
    """The widths of the columns of a table."""

    def __init__(
        self, names: Sequence[str], types: dict[str, str], cells: Sequence[Sequence[str]]
    ) -> None:
        self._names = names
        self._types = [types[name] for name in names]
        self._cells = cells
        self._widths = [
            max(len(name), *(len(row[place]) for row in cells), 1)
            for place, name in enumerate(names)
        ]

    def fitting(self, places: Sequence[int], room: int) -> list[int]:
        """Take columns while their smallest widths fit."""
        taken: list[int] = []
        used = 0
        for place in places:
            used += self._least(place) + _GAP
            if taken and used > room + _GAP:
                break
            taken.append(place)
        return taken

    def _least(self, place: int) -> int:
        wide = self._widths[place]
        return min(wide, max(2 * _LEAST, len(self._names[place]))) if self._cut(place) else wide

    def _cut(self, place: int) -> bool:
        return self._types[place].startswith(("VARCHAR", "MAP"))

    def table(self, places: Sequence[int], console: Console) -> Table:
        """Lay out the columns, with texts cut in their middle where there is no room."""
        from rich.text import Text

        texts = [place for place in places if self._cut(place)]
        fixed = sum(self._widths[place] + _GAP for place in places if place not in texts)
        given = self._shares(texts, console.width + _GAP - fixed)
        laid = _new_table()
        for place in places:
            number = self._types[place] in ("BIGINT", "DOUBLE")
            laid.add_column(
                self._names[place],
                justify="right" if number else "left",
                no_wrap=True,
                header_style="bold",
            )
        for row in self._cells:
            laid.add_row(
                *(
                    Text(shortened(row[place], given.get(place, self._widths[place])))
                    for place in places
                )
            )
        return laid

    def _shares(self, texts: Sequence[int], room: int) -> dict[int, int]:
        """Share the room between columns of texts: the widest give way first."""
        given = {place: min(self._widths[place], _MOST) for place in texts}
        while given and sum(given.values()) + _GAP * len(given) > room:
            widest = max(given, key=lambda place: given[place])
            if given[widest] <= _LEAST:
                break
            given[widest] -= 1
        return given


def _say_size(session: Session, selection: Selection, rows: int, hidden: int) -> None:
    total = selection.tables.count(selection.table, selection.filters)
    said = plural(total, "row") if rows == total else f"{rows:,} of {plural(total, 'row')}"
    said += f" of {selection.table.name}."
    if rows < total:
        said += " --limit 0 shows all."
    if rows and hidden > 0:
        said += f" {plural(hidden, 'more column')}: --columns, --csv and --json show them."
    session.note(said)


def print_csv(selection: Selection) -> None:
    """Print rows as CSV, maps as JSON text, null as nothing."""
    names = selection.names()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    for row in selection.rows(names):
        writer.writerow([_field(value) for value in row])


def print_json(selection: Selection, *, stale: str | None) -> None:
    """Print one JSON object: the table's name, why it is stale, and its rows."""
    names = selection.names()
    about = json.dumps({"table": selection.table.name, "stale": stale}, ensure_ascii=False)
    click.echo(f'{about[:-1]}, "rows": [', nl=False)
    for number, row in enumerate(selection.rows(names)):
        values = dict(zip(names, map(_plainly, row), strict=True))
        lead = ", " if number else ""
        click.echo(f"{lead}{json.dumps(values, ensure_ascii=False, allow_nan=False)}", nl=False)
    click.echo("]}")


def _plainly(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    return value.isoformat() if isinstance(value, datetime) else value


def _field(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else _plainly(value)


def _cell(value: Any) -> str:  # noqa: ANN401 - whatever a column holds
    if value is None:
        return DASH
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        plainly = value == 0 or _SMALL <= abs(value) < _LARGE
        return f"{value:.4f}" if plainly else f"{value:.4g}"
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds")
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    return str(value)
