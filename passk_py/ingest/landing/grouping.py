"""The third step: files that are one log together, and logs that are one run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.formats.harness import Harness
    from passk_py.ingest.landing.report_building import ReportBuilder
    from passk_py.ingest.landing.source import Source


def group(sources: Iterable[Source], report: ReportBuilder) -> Iterator[Source]:
    """Give each log once all of it is known, those of one run last, in the order of their files."""
    groups = _Groups()
    places: dict[Path, int] = {}
    run: list[Source] = []
    for source in sources:
        places.setdefault(source.sample.path, len(places))
        if groups.takes(source):
            continue
        if source.keeps_numbers:
            yield source
        else:
            run.append(source.without_start())
    for source in groups.sources():
        report.put_together(source)
        if source.keeps_numbers:
            yield source
        else:
            run.append(source)
    run.sort(key=lambda source: min(places[file] for file in source.files))
    paths = [source.path for source in run]
    for place, source in enumerate(run):
        yield replace(source, after=tuple(paths[:place]))


class _Groups:
    """Collects the files that have to be read together before any of them can be numbered."""

    def __init__(self) -> None:
        self._sources: dict[tuple[Harness, Path], list[Source]] = {}
        self._named: dict[tuple[Harness, Path], set[Path]] = {}

    def takes(self, source: Source) -> bool:
        """Take a file that is part of a log; false if it is a log of its own."""
        sample, harness = source.sample, source.harness
        if harness is None:
            return False
        folder = harness.group(sample)
        if folder is None and not harness.companions(sample.path):
            return False
        key = (harness, folder or sample.path)
        self._sources.setdefault(key, []).append(source.without_start())
        named = sample.path if sample.found_in is None or folder is None else sample.found_in
        self._named.setdefault(key, set()).add(named)
        return True

    def sources(self) -> Iterator[Source]:
        """Give the logs, each as one source that stands for all of its files."""
        for (harness, folder), sources in self._sources.items():
            yield _together(sources, harness, folder, self._named[harness, folder])


def _together(sources: list[Source], harness: Harness, folder: Path, named: set[Path]) -> Source:
    first = sources[0].sample
    # A named file stands for itself, not for its whole folder: one run of a folder of runs must
    # not replace the others that landed before.
    path = next(iter(named)) if len(named) == 1 else folder
    # If a log is some of the folders of a folder, no folder is the whole.
    homes = {source.sample.path.parent for source in sources}
    if path != first.path and folder not in path.parents and path not in homes:
        path = folder
    alone = len(sources) == 1 and (path == first.path or path != folder)
    path = first.path if alone else path
    files = tuple(sorted(source.sample.path for source in sources))
    beside = tuple(
        other
        for other in harness.companions(path)
        if other.is_file() and not other.is_symlink() and other not in files
    )
    whole = any(one == folder or one in folder.parents for one in named)
    size = sum(source.sample.size for source in sources)
    sample = replace(
        first,
        path=path,
        size=size + sum(other.stat().st_size for other in beside),
        files=() if alone else files,
        companions=beside,
        part_of=folder if path != folder else None,
        some_of=path == folder and not alone and not whole,
    )
    return replace(sources[0], sample=sample)
