"""Values as text of SQL, where they can't be bound."""

from __future__ import annotations

import errno
import os

from passk_py.common.files import is_disk_full


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
