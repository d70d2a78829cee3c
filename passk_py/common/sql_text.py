"""Values as text of SQL, where they can't be bound."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from passk_py.common.files import is_disk_full

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def quote(text: str) -> str:
    """Write a text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Write a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def io_reason(error: Exception) -> str:
    """Take from what DuckDB says of a file what a person needs of it."""
    if is_disk_full(error):
        return os.strerror(errno.ENOSPC)
    return str(error).splitlines()[0].removeprefix("IO Error: ").rstrip(".")


def without_formula(value: str) -> str:
    """Write an apostrophe before a text that a spreadsheet would run, and before one with one."""
    return rf"regexp_replace({value}, '^[=+\-@\t\r'']', '''\0')"


def slice_sql(name: str, expression: str | None) -> str:
    """Write the value of a slice over ``passk_attempts``."""
    # The engine computes it, because an expression is SQL. Validation compares the slices' numbers.
    value = f"tags[{quote(name)}]" if expression is None else f"({expression})"
    return f"cast({value} as varchar)"


def slices_of_quarantine(
    entries: Sequence[Mapping[str, str | None]], slices: Mapping[str, str | None]
) -> dict[str, str]:
    """Write what tasks in quarantine add to the slices: themselves, and each slice without them."""
    if not entries:
        return {}
    conditions = []
    for entry in entries:
        task, suite = str(entry["task"]), entry.get("suite")
        is_prefix = task.endswith("*")
        parts = [
            f"starts_with(task_id, {quote(task[:-1])})" if is_prefix else f"task_id = {quote(task)}"
        ]
        parts += [f"suite = {quote(suite)}"] if suite is not None else []
        parts.append(f"coalesce(started_at, loaded_at)::date <= {quote(str(entry['until']))}::date")
        conditions.append(f"({' and '.join(parts)})")
    left_out = f"case when {' or '.join(conditions)} then 'in quarantine' else"
    return {"quarantine": f"{left_out} 'not in quarantine' end"} | {
        f"{name}, not in quarantine": f"{left_out} {slice_sql(name, of)} end"
        for name, of in slices.items()
    }
