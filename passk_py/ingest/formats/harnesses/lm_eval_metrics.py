"""The metrics in a file of lm-evaluation-harness, and the one that is a verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.lines import read_lines
from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.containers.shape import ANY, Json, decoded_or_none, decoder, loaded
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.json_values import at, dict_at, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWN: Final = ("pass@1", "pass_at_1")
"""The metric that is the share of the passes, as the harness calls it."""
PASS_AT: Final = re.compile(r"pass(?:@|_at_)(\d+)")
NONE: Final = "none"
"""The harness's name of the filter that does nothing."""
FIXED: Final = frozenset(
    (
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash"),
    )
)
"""The fields that the harness itself writes into a line; every other field is a metric."""

_MOST_NAMES: Final = 200
_LONGEST_NAME: Final = 100
_START: Final = 100


def holds_list(path: Path) -> bool:
    """Tell whether a file is one list, as those of the first versions are."""
    with open_log(path) as file:
        return file.read(_START).lstrip().startswith(b"[")


def _texts(path: Path) -> Iterator[str]:
    """Give the documents of a file as they are written."""
    is_list = holds_list(path)
    with open_log(path) as file:
        if is_list:
            for element in JsonWalk(file, (EACH,), decoder({})).rows():
                yield element.data.decode("utf-8", "replace")
        else:
            for batch in read_lines(file):
                yield from batch.texts


def metrics_of(path: Path) -> dict[str, dict[str, bool]]:
    """Tell of each filter and metric in a file whether its values are all 0 or 1."""
    found: dict[str, dict[str, bool]] = {}
    names: dict[str, None] = {}
    decode = decoder({"filter": ANY, "metrics": ANY})
    for line in _texts(path):
        row = _decoded(decode, line)
        listed = row.get("metrics")
        if not names or (isinstance(listed, list) and not _known(listed, names)):
            row = _decoded(loaded, line)
            names |= dict.fromkeys(_names_in(row))
            names = dict.fromkeys(list(names)[:_MOST_NAMES])
            decode = decoder(dict.fromkeys(("filter", "metrics", *names), ANY))
            row = _decoded(decode, line)
        seen = found.setdefault(text(row.get("filter")) or NONE, {})
        for name in names:
            value = row.get(name)
            # A value that is no figure says nothing of the others.
            if value is not None and not isinstance(value, str):
                seen[name] = seen.get(name, True) and _is_flag(value)
            elif name in OWN and name in row:
                seen.setdefault(name, True)
        if len(found) >= _MOST_NAMES:
            return found
    return found


def _decoded(decode: Any, line: str) -> dict[str, Any]:  # noqa: ANN401 - either of two functions
    return dict_at(decoded_or_none(decode, line.encode("utf-8", "surrogatepass")))


def _known(listed: list[Any], names: dict[str, None]) -> bool:
    return len(names) >= _MOST_NAMES or all(
        not isinstance(name, str) or name in names or not _is_name(name) for name in listed
    )


def _names_in(row: dict[str, Any]) -> list[str]:
    """List the metrics of a line; those of old versions are what else it has."""
    listed = row.get("metrics")
    names = listed if isinstance(listed, list) else [name for name in row if name not in FIXED]
    return [name for name in names if isinstance(name, str) and _is_name(name)]


def _is_name(name: str) -> bool:
    return 0 < len(name) <= _LONGEST_NAME and name.isprintable() and name not in FIXED


def _is_flag(value: Json) -> bool:
    return isinstance(value, int | float) and value in (0, 1)


def verdict_among(metrics: dict[str, bool], higher: Json) -> str | None:
    """Choose the metric that is the verdict; None if none is."""
    for name in OWN:
        if name in metrics:
            return name
    for name, flags in metrics.items():
        if flags and not PASS_AT.fullmatch(name) and at(higher, name) is not False:
            return name
    return None


def laid(task: Json, passes: int, graded: int) -> set[int]:
    """Choose the attempts that the passes are laid on: always the same ones, and no first ones."""
    if passes in (0, graded):
        return set(range(1, passes + 1))
    places = range(1, graded + 1)
    return set(sorted(places, key=lambda place: digest_of(f"{task}\0{place}") or "")[:passes])
