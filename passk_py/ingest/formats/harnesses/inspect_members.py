"""The members of a log of Inspect that hold its samples, and the samples that it has twice."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.json_whole import MAX_WHOLE_BYTES, whole_decoder
from passk_py.ingest.containers.open_bytes import read_chunk
from passk_py.ingest.containers.shape import ANY, decoder
from passk_py.ingest.formats.harness import Unfit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from passk_py.ingest.containers.zip_members import ZipMembers

_HEADER: Final = "header.json"
_START: Final = "_journal/start.json"
HEADS: Final = (_HEADER, _START)
"""The members that say what was run: of a log that ended, and of one that did not."""
SAMPLE: Final = re.compile(r"samples/.+_epoch_\d+(?:\.json|/sample\.json)", re.DOTALL)
MOST_KEYS: Final = 1_000_000
"""The most epochs of samples of a log that is searched for those that were run again."""

_SUMMARIES: Final = "summaries.json"
_JOURNAL: Final = re.compile(r"_journal/summaries/(\d{1,18})\.json")
_KEY: Final = decoder({"id": ANY, "epoch": ANY})
_KEYS: Final = whole_decoder((EACH,), {"id": ANY, "epoch": ANY}, {})


def is_log(members: Iterable[str]) -> bool:
    """Tell a log from another zip by the names of the members."""
    names = set(members)
    return _START in names or (
        _HEADER in names and (_SUMMARIES in names or any(map(SAMPLE.fullmatch, names)))
    )


def rows_of(names: Iterable[str]) -> list[str]:
    """Name the members that hold the rows: the summaries, else the journal, else the samples."""
    names = set(names)
    if _SUMMARIES in names:
        return [_SUMMARIES]
    journal = {int(found[1]): name for name in names if (found := _JOURNAL.fullmatch(name))}
    if journal:
        return [journal[place] for place in sorted(journal)]
    return sorted(name for name in names if SAMPLE.fullmatch(name))


def sample_in(row: dict[str, Any], members: Collection[str] | None) -> str | None:
    """Name the whole sample of a row: a member of a zip, if it has it, or its id and epoch."""
    id_, epoch = row.get("id"), row.get("epoch")
    if id_ is None or epoch is None:
        return None
    name = f"samples/{id_}_epoch_{epoch}"
    if members is None:
        return name
    return next((m for m in (f"{name}.json", f"{name}/sample.json") if m in members), None)


def repeats_of(rows: Iterable[Any]) -> Counter[str]:
    """Count the rows of the samples' epochs of which a log has several."""
    seen: Counter[str] = Counter()
    for key in (key_of(row) for row in rows if isinstance(row, dict)):
        if key in seen or len(seen) < MOST_KEYS:
            seen[key] += 1
    return Counter({key: times for key, times in seen.items() if times > 1})


def rows_in(members: ZipMembers, names: Iterable[str]) -> Iterator[Any]:
    """Give the rows of members as far as it needs to know the samples' epochs."""
    for name in names:
        with members.opened(name) as file:
            begun = read_chunk(file, MAX_WHOLE_BYTES) or b""
            whole = _KEYS(begun) if _KEYS and len(begun) < MAX_WHOLE_BYTES else None
            if whole:
                yield from whole[0]
            else:
                walk = JsonWalk(file, (EACH,), _KEY, begun=begun)
                yield from (element.value for element in walk.rows())


def key_of(row: dict[str, Any]) -> str:
    """Tell one epoch of a sample from the others."""
    return f"{row.get('id')}\0{row.get('epoch')}"


def refuse_if_repeated(row: dict[str, Any], repeats: Counter[str]) -> None:
    """Raise Unfit for a row of which a later one of the same epoch is still to come."""
    key = key_of(row)
    if repeats.get(key, 0) > 1:
        repeats[key] -= 1
        raise Unfit(
            "superseded",
            f"The sample {row.get('id')} was run again in epoch {row.get('epoch')}; a later row "
            "counts.",
        )
