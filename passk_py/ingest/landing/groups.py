"""Files that are one log together: the trials of a job, each in a file of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from passk_py.ingest.formats.harness import Harness
from passk_py.ingest.landing.load_report import SkippedFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from passk_py.ingest.formats import Format
    from passk_py.ingest.formats.sample import Sample
    from passk_py.ingest.landing.paths import Candidate

__all__ = ["Groups"]


class Groups:
    """Collects the files that have to be read together before any of them can be numbered."""

    def __init__(self) -> None:
        self._logs: dict[tuple[str, Path], list[Sample]] = {}
        self._readers: dict[str, Harness] = {}
        self._named: dict[tuple[str, Path], set[Path]] = {}
        self._owned: dict[Path, Path] = {}
        self.companions: set[str] = set()
        """Files that say more of a log, and so are not left alone."""

    def takes(self, sample: Sample, reader: Format) -> bool:
        """Take a file that is part of a log; false if it is a log of its own.

        Parameters
        ----------
        sample
            What its start shows.
        reader
            Its format.
        """
        if not isinstance(reader, Harness):
            return False
        if owned := reader.owns(sample):
            self._owned[owned] = sample.path
        folder = reader.group(sample)
        if folder is None and not reader.companions(sample.path):
            return False
        self._readers[reader.name] = reader
        key = (reader.name, folder or sample.path)
        # Thousands of files may wait here, so none keeps the start of its text.
        self._logs.setdefault(key, []).append(replace(sample, start=b""))
        named = sample.path if sample.found_in is None or folder is None else sample.found_in
        self._named.setdefault(key, set()).add(named)
        return True

    def inside(self, file: Candidate) -> SkippedFile | None:
        """Leave a file alone that lies below a folder of which another file says all there is.

        Parameters
        ----------
        file
            A file that was found after those of the folders above it.
        """
        if file.folder is None or not self._owned:
            return None
        for folder in file.path.parent.parents:
            if owner := self._owned.get(folder):
                return SkippedFile(str(file.path), f"part of what {owner} tells of")
        return None

    def logs(self) -> Iterator[tuple[Sample, Harness]]:
        """Give the logs, each as one sample that stands for all of its files."""
        for (name, folder), samples in self._logs.items():
            reader = self._readers[name]
            first = samples[0]
            # What was named stands for itself, not for all that lies beside it: one run of a folder
            # of runs must not take the place of the others that landed before.
            named = self._named[name, folder]
            path = next(iter(named)) if len(named) == 1 else folder
            # Of a log that is some of the folders of a folder, no folder is the whole.
            homes = {sample.path.parent for sample in samples}
            if path != first.path and folder not in path.parents and path not in homes:
                path = folder
            alone = len(samples) == 1 and (path == first.path or path != folder)
            path = first.path if alone else path
            files = tuple(sorted(sample.path for sample in samples))
            beside = tuple(
                other
                for other in reader.companions(path)
                if other.is_file() and not other.is_symlink() and other not in files
            )
            self.companions |= {str(other) for other in beside}
            whole = any(one == folder or one in folder.parents for one in named)
            size = sum(sample.size for sample in samples)
            yield (
                replace(
                    first,
                    path=path,
                    size=size + sum(other.stat().st_size for other in beside),
                    files=() if alone else files,
                    companions=beside,
                    part_of=folder if path != folder else None,
                    some_of=path == folder and not alone and not whole,
                ),
                reader,
            )
