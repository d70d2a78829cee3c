"""Values taken out of JSON, in which nothing is sure to have the type that it should have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from passk_py.ingest.containers.shape import Json

_LONGEST_TAG: Final = 100
_LONGEST_LINE: Final = 200
# Of what every tag is asked: a tuple, which is looked through faster than a union of types.
_NUMBER: Final = (int, float)


def at(value: Json, *names: str | int) -> Json:
    """Take what is found under names within dicts and lists; None where there is no such thing."""
    for name in names:
        if isinstance(name, str):
            value = value.get(name) if isinstance(value, dict) else None
        elif isinstance(value, list) and -len(value) <= name < len(value):
            value = value[name]
        else:
            value = None
    return value


def list_at(value: Json, *names: str | int) -> list[Any]:
    """Take the list that is found under names, as :func:`at` does; empty if there is none."""
    found = at(value, *names)
    return found if isinstance(found, list) else []


def dict_at(value: Json, *names: str | int) -> dict[str, Any]:
    """Take the object that is found under names, as :func:`at` does; empty if there is none."""
    found = at(value, *names) if names else value
    return found if isinstance(found, dict) else {}


def text(value: Json) -> str | None:
    """Take a text that is not empty, or a whole number as text; None for everything else."""
    if isinstance(value, str):
        return value or None
    return str(value) if type(value) is int else None


def first_line(value: Json) -> str:
    """Take the first line of a text; empty where there is none."""
    return next(iter(value.strip().splitlines()), "") if isinstance(value, str) else ""


def short_line(value: Json) -> str:
    """Take the first line of a text, cut short, as a reason; empty where there is none."""
    return first_line(value)[:_LONGEST_LINE]


def number(value: Json) -> float | None:
    """Take a number, written as one or as a text; None for everything else."""
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def flag(value: Json) -> bool | None:
    """Take true or false; None for everything else."""
    return value if isinstance(value, bool) else None


def small_tags(metadata: Json) -> dict[str, Any]:
    """Take what is short enough to be a slice: flags, numbers and short texts."""
    return {
        name: value
        for name, value in dict_at(metadata).items()
        if isinstance(value, _NUMBER) or (isinstance(value, str) and 0 < len(value) <= _LONGEST_TAG)
    }


def seconds_between(start: Json, end: Json) -> float | None:
    """Take the seconds between two times as ISO 8601 writes them; None if there are none."""
    times = [_time(value) for value in (start, end)]
    if times[0] is None or times[1] is None:
        return None
    seconds = (times[1] - times[0]).total_seconds()
    return seconds if seconds >= 0 else None


def time_of(milliseconds: Json) -> str | None:
    """Write milliseconds since 1970 as ISO 8601 does, in UTC; None for everything else."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        return None


def _time(value: Json) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
