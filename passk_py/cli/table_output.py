"""Rows of a public table on stdout: laid out for a terminal, as CSV, or as JSON."""

from __future__ import annotations

import csv
import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from passk_py.answer.words import DASH, plain, plural, shortened
from passk_py.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from passk_py.cli.session import Session
    from passk_py.tables import Filters, PublicTable, Tables

__all__ = ["print_csv", "print_json", "print_table"]

_CHUNK: Final = 5_000
_LEAST: Final = 8
"""Cells that a column of texts keeps when a terminal is narrow."""
_MOST: Final = 60
"""Cells that a column of texts takes at most, however wide the terminal is."""


def print_table(
    session: Session,
    tables: Tables,
    table: PublicTable,
    filters: Filters,
    columns: Sequence[str],
    limit: int | None,
) -> None:
    """Print rows as a table that fits the terminal.

    Parameters
    ----------
    session
        The call.
    tables
        The open database.
    table
        The table.
    filters
        Which rows.
    columns
        Which columns; by default the most telling ones that fit.
    limit
        At most so many rows.
    """
    there = tables.columns(table.name)
    _check(table, columns, there)
    total = tables.count(table, filters)
    order = [*columns] or [
        *(name for name in table.headline if name in there),
        *(name for name in there if name not in table.headline),
    ]
    rows = tables.rows(tables.select(table, filters, columns=order, limit=limit))
    console = session.console(whole=True)
    cells = [[_cell(value) for value in row] for row in rows]
    # On a terminal, what stands in every row alike stands once above.
    alike = [] if columns or len(cells) < 2 else _alike(order, cells)
    shown = [place for place, name in enumerate(order) if name not in dict(alike)]
    widths = {
        place: max(len(order[place]), *(len(row[place]) for row in cells), 1) for place in shown
    }
    fitting = (
        shown if columns or not console.is_terminal else _fitting(widths, shown, console.width)
    )
    if not columns and not console.is_terminal:
        fitting = [place for place in shown if order[place] in table.headline]
    if alike and console.is_terminal:
        head = [
            f"{name} = {value}"
            for name, value in alike
            if name in table.headline or name in table.key
        ]
        if head:
            session.say(shortened(" · ".join(head), console.width))
            session.say()
    if cells:
        session.show(_laid_out(order, fitting, cells, there, widths, console.width), console)
    _say_size(session, table, total, len(cells), len(there) - len(fitting) - len(alike))
    if not total:
        _say_known(session, tables, filters)


def _alike(order: Sequence[str], cells: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    return [
        (name, plain(cells[0][place]))
        for place, name in enumerate(order)
        if all(row[place] == cells[0][place] for row in cells)
    ]


def _fitting(widths: dict[int, int], shown: Sequence[int], room: int) -> list[int]:
    """Take columns, the most telling first, while they fit in their least widths."""
    fitting: list[int] = []
    used = 0
    for place in shown:
        used += min(widths[place], 2 * _LEAST) + 2
        if fitting and used > room:
            break
        fitting.append(place)
    return fitting


def _laid_out(
    order: Sequence[str],
    fitting: Sequence[int],
    cells: Sequence[Sequence[str]],
    types: dict[str, str],
    widths: dict[int, int],
    room: int,
) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    text = {place for place in fitting if types[order[place]] == "VARCHAR"}
    taken = sum(widths[place] + 2 for place in fitting if place not in text)
    given = _shares({place: min(widths[place], _MOST) for place in text}, room - taken)
    laid = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    for place in fitting:
        right = place not in text and not types[order[place]].startswith(("MAP", "BOOL", "TIME"))
        laid.add_column(
            order[place],
            justify="right" if right else "left",
            no_wrap=True,
            overflow="ellipsis",
            header_style="bold",
        )
    for row in cells:
        laid.add_row(*(Text(shortened(row[place], given.get(place, _MOST))) for place in fitting))
    return laid


def _shares(wanted: dict[int, int], room: int) -> dict[int, int]:
    """Share the room between columns of texts: the widest give way first."""
    given = dict(wanted)
    while given and sum(width + 2 for width in given.values()) > room:
        widest = max(given, key=lambda place: given[place])
        if given[widest] <= _LEAST:
            break
        given[widest] -= 1
    return given


def _say_size(session: Session, table: PublicTable, total: int, rows: int, hidden: int) -> None:
    parts = [plural(total, "row") if rows == total else f"{rows:,} of {plural(total, 'row')}"]
    parts[0] += f" of {table.name}"
    if rows < total:
        parts.append("--limit 0 shows all")
    if hidden > 0:
        parts.append(f"{plural(hidden, 'more column')}: --columns, --csv or --json")
    session.note(f"{'; '.join(parts)}.")


def _say_known(session: Session, tables: Tables, filters: Filters) -> None:
    """After nothing was found: which runs and suites there are."""
    known = tables.rows(
        f"select run_id, suite from {tables.require('passk_runs')} order by suite, run_id"
    )
    for name, given, place in (("run", filters.runs, 0), ("suite", filters.suites, 1)):
        there = list(dict.fromkeys(row[place] for row in known))
        if given and not set(given) & set(there):
            some = ", ".join(plain(one) for one in there[:5]) + (", ..." if there[5:] else "")
            session.note(f"There is no {name} {', '.join(map(plain, given))}; there is {some}.")


def print_csv(
    tables: Tables,
    table: PublicTable,
    filters: Filters,
    columns: Sequence[str],
    limit: int | None,
) -> None:
    """Print rows as CSV, maps as JSON text, null as nothing.

    Parameters
    ----------
    tables, table, filters, columns, limit
        As in :func:`print_table`.
    """
    names, rows = _stream(tables, table, filters, columns, limit)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(
            [
                json.dumps(value, ensure_ascii=False)
                if isinstance(value, dict)
                else _plainly(value)
                for value in row
            ]
        )


def print_json(
    tables: Tables,
    table: PublicTable,
    filters: Filters,
    columns: Sequence[str],
    limit: int | None,
) -> None:
    """Print one JSON object: the table's name and its rows.

    Parameters
    ----------
    tables, table, filters, columns, limit
        As in :func:`print_table`.
    """
    names, rows = _stream(tables, table, filters, columns, limit)
    # Row by row, because a table may be larger than memory.
    click.echo(f'{{"table": {json.dumps(table.name)}, "rows": [', nl=False)
    for number, row in enumerate(rows):
        values = dict(zip(names, map(_plainly, row), strict=True))
        lead = ", " if number else ""
        click.echo(f"{lead}{json.dumps(values, ensure_ascii=False, allow_nan=False)}", nl=False)
    click.echo("]}")


def _stream(
    tables: Tables,
    table: PublicTable,
    filters: Filters,
    columns: Sequence[str],
    limit: int | None,
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    there = tables.columns(table.name)
    _check(table, columns, there)
    names = list(columns or there)

    def rows() -> Iterator[tuple[Any, ...]]:
        result = tables.connection.execute(
            tables.select(table, filters, columns=names, limit=limit)
        )
        while chunk := result.fetchmany(_CHUNK):
            yield from chunk

    return names, rows()


def _check(table: PublicTable, columns: Sequence[str], there: dict[str, str]) -> None:
    unknown = [name for name in columns if name not in there]
    if unknown:
        raise PasskError(
            f"{table.name} has no column {' and no '.join(map(plain, unknown))}.",
            hint=f"Its columns are {', '.join(there)}.",
        )


def _plainly(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    return value.isoformat() if isinstance(value, datetime) else value


def _cell(value: Any) -> str:  # noqa: ANN401 - whatever a column holds
    if value is None:
        return DASH
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4f}" if 1e-4 <= abs(value) < 1e6 or value == 0 else f"{value:.4g}"
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds")
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    return str(value)
