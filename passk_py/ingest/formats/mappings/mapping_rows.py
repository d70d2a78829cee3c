"""Where the rows of a file are: the paths of ``rows``, and the levels above each row.

``$.tasks[*].samples[*]`` has two stars, and each is a level: a task, and in it a sample, which is
the row. Above them is the document, or the line or element of a file with several. A name may hold
a star or several names, as ``$.run_*`` and ``$.passed|failed`` do, and is a level then too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH, Names, fits, is_level
from passk_py.ingest.formats.harness import Unfit
from passk_py.ingest.formats.mappings.mapping_expression import STEP, Level, no_expression, unquoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.mappings.mapping_expression import Expression

Path = tuple[str, ...]
"""The names that lead to the rows, with :data:`EACH` and :class:`Names` for the levels."""

_STARRED: Final = re.compile(r"\.(?=[\w-]*[*|])([A-Za-z_*][\w*|-]*)|\[(\*)\]")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


def rows_at(said: Any) -> Path:  # noqa: ANN401 - YAML
    """Read where the rows are: ``$.results`` and ``$.results[*]`` are the elements of that list."""
    text = str(said).strip()
    path: list[str] = []
    place = len("$")
    while text.startswith("$"):
        if step := _STARRED.match(text, place):
            name = step[1] or EACH
            path.append(EACH if name == EACH else Names(name, name.split("|")))
        elif step := STEP.match(text, place):
            plain, index, quoted = step.groups()
            if index:
                raise no_expression(text, "rows can't be led to by a place in a list", place)
            name = plain if plain is not None else unquoted(quoted)
            path.append(Names(name, [name]) if EACH in name and name != EACH else name)
        else:
            break
        place = step.end()
    if not path or text[place:].strip():
        wrong = place if path else 0
        raise no_expression(text, "rows is a path such as $.results or $.eval[*][*]", wrong)
    return tuple(path) if is_level(path[-1]) else (*path, EACH)


def path_of(*names: str) -> str:
    """Write the path that leads to a value under these names."""
    return "$" + "".join(map(_step, names))


def _step(name: str) -> str:
    """Write a name of a path so that it is read back as the same."""
    if name == EACH:
        return f"[{EACH}]"
    starred = isinstance(name, Names) and _STARRED.fullmatch(f".{name}")
    if starred or _PLAIN_NAME.fullmatch(name):
        return f".{name}"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{quoted}"]'


def rows_as_said(path: Path) -> str:
    """Write where rows are: those of one list without the star."""
    plain = len(path) > 1 and path[-1] == EACH and not is_level(path[-2])
    return path_of(*(path[:-1] if plain else path))


@dataclass(frozen=True, slots=True)
class RowList:
    """A list of rows, and how it is read: as far as it is walked, and what is expanded then."""

    path: Path
    """The whole path in the document."""
    walked: Path
    """Its start, up to the elements that are decoded one at a time."""
    document: frozenset[Path]
    """The values of the document itself that are wanted with each row."""

    @classmethod
    def of(cls, path: Path, expressions: Iterable[Expression]) -> RowList:
        """Find the lowest level from which on everything is there that is asked for."""
        stars = [place for place, step in enumerate(path) if is_level(step)]
        ups = [one for one in expressions if one.up and not one.is_key]
        highest = max((one.up for one in ups if one.up < len(stars)), default=0)
        end = stars[-1 - highest] + 1 if stars else 0
        wanted = (_names_of(one) for one in ups if one.up == len(stars))
        return cls(path, path[:end], frozenset(names for names in wanted if names))

    @property
    def expanded(self) -> Path:
        """The rest of the path, within an element that was walked to."""
        return self.path[len(self.walked) :]

    @property
    def levels(self) -> int:
        """How many levels the path has."""
        return sum(map(is_level, self.path))

    def above(self, keys: tuple[str | int, ...], document: Json) -> tuple[Level, ...]:
        """Give the levels above an element that was walked to, and last its own key."""
        found = [key for key, step in zip(keys, self.walked, strict=True) if is_level(step)]
        return ((None, document), *((key, None) for key in found))


def expanded(levels: tuple[Level, ...], path: Path) -> Iterator[tuple[Level, ...] | Unfit]:
    """Give the levels of each row that the path leads to within the last level."""
    value = levels[-1][1]
    for place, step in enumerate(path):
        if not is_level(step):
            value = value.get(step) if isinstance(value, dict) else None
            continue
        if value is not None and not _has_members(value, step):
            kind = "a list" if isinstance(value, list) else "neither an object nor a list"
            where = path_of(*path[:place]) if place else "The element"
            yield Unfit("malformed_line", f"{where} is {kind}, in which no rows can be found.")
            return
        for member in _members(value, step):
            yield from expanded((*levels, member), path[place + 1 :])
        return
    yield levels


def is_there(value: Json, path: Path) -> bool:
    """Tell whether the first level of a path is in a value, be there rows in it or not."""
    for step in path:
        if is_level(step):
            return value is not None
        value = value.get(step) if isinstance(value, dict) else None
    return True


def _has_members(value: Json, step: str) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and step == EACH)


def _members(value: Json, step: str) -> Iterable[Level]:
    if isinstance(value, dict):
        return ((name, inner) for name, inner in value.items() if fits(step, name))
    return enumerate(value or ())


def _names_of(one: Expression) -> Path:
    """Give the names at the start of a path, up to a place in a list."""
    names: list[str] = []
    for step in one.path or ():
        if isinstance(step, int):
            break
        names.append(step)
    return tuple(names)
