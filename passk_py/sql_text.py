"""Values as text of SQL, where they can't be bound."""

from __future__ import annotations

__all__ = ["quote"]


def quote(text: str) -> str:
    """Write a text as a literal.

    Examples
    --------
    >>> quote("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
