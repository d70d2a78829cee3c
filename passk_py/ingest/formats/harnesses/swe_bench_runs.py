"""The evaluation run of SWE-bench that a report or a summary is of, and the place of each run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.ingest.containers.json_start import keys_at_start_of
from passk_py.ingest.formats.json_values import at, text
from passk_py.ingest.formats.run_names import natural, without_endings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from passk_py.ingest.formats.harness import Log

REPORT: Final = "report.json"
PATCH: Final = "patch.diff"
METADATA: Final = "run.json"
_LOGS: Final = ("logs", "run_evaluation")
# Folders of instances, of which the folder above is all that is said of the run.
_INSTANCES: Final = ("logs", "eval_outputs")
# How far above its folder of reports the working directory is looked for.
_LEVELS: Final = 3


@dataclass(frozen=True, slots=True)
class Run:
    """An evaluation run of one model."""

    model: str
    name: str
    folder: Path | None


def group_of_report(path: Path) -> Path:
    """Find the folder that holds all runs of a working directory, from a report in it."""
    above = [*path.parents, *[path.parents[-1]] * 6]
    if above[1].name in _INSTANCES:
        return above[2]
    return above[5] if (above[4].name, above[3].name) == _LOGS else above[3]


def directory_of(summary: Path) -> Path:
    """Find the working directory of a summary: it may be in a folder for reports."""
    for folder in [*summary.parents][:_LEVELS]:
        if folder.joinpath(*_LOGS).is_dir():
            return folder
    return summary.parent


def metadata_in(folder: Path) -> tuple[Path, ...]:
    """List the files that say of the runs of a working directory how they were set up."""
    return tuple(sorted(folder.joinpath(*_LOGS).glob(f"*/{METADATA}")))


def runs_of(files: Iterable[Path]) -> tuple[dict[Path, Run], dict[Path, Run]]:
    """Tell of which run each report and each summary is."""
    reports: dict[Path, Run] = {}
    others: list[Path] = []
    for path in files:
        if not path.name.startswith(REPORT) or "total_instances" in keys_at_start_of(path):
            others.append(path)
            continue
        model = path.parent.parent
        above = model.parent
        # The leaderboard has one folder for a submission.
        single = model.name in _INSTANCES
        reports[path] = Run(
            above.name if single else model.name, "" if single else above.name, above
        )
    known = {f"{run.model}.{run.name}": run for run in reports.values()}
    return reports, {path: _named(path, known) for path in others}


def _named(summary: Path, known: Mapping[str, Run]) -> Run:
    """Take a summary's name apart. Both the model and the run may have dots."""
    if summary.name.startswith((REPORT, f"output.{REPORT}")):
        return Run(summary.parent.name, "", summary.parent)
    stem = without_endings(summary.name, (".json",)) or ""
    if stem in known:
        return known[stem]
    logs = directory_of(summary).joinpath(*_LOGS)
    places = [place for place, character in enumerate(stem) if character == "."]
    for place in places:
        model, name = stem[:place], stem[place + 1 :]
        if model and name and (logs / name / model).is_dir():
            return Run(model, name, logs / name)
    between = [place for place in places if stem[place - 1 : place + 2 : 2].isdigit()]
    place = max(set(places).difference(between), default=max(places, default=len(stem)))
    model, name = stem[:place], stem[place + 1 :]
    folder = logs / name
    return Run(model or stem, name, folder if name and folder.is_dir() else None)


def numbered(
    runs: Iterable[Run], log: Log
) -> tuple[dict[tuple[str, str], int], dict[Run, str | None]]:
    """Give each run its place among those of its model and dataset, and tell the dataset."""
    suites: dict[Run, str | None] = {}
    groups: dict[tuple[str, str | None], list[tuple[str | None, Run]]] = {}
    for run in runs:
        metadata = log.beside(run.folder / METADATA) if run.folder else None
        suites[run] = text(at(metadata, "dataset"))
        made = text(at(metadata, "created_at"))
        groups.setdefault((run.model, suites[run]), []).append((made, run))
    numbers: dict[tuple[str, str], int] = {}
    for group in groups.values():
        dated = all(made for made, _ in group)
        group.sort(key=lambda one: (one[0] or "" if dated else "", natural(one[1].name)))
        for number, (_, run) in enumerate(group, 1):
            numbers[run.model, run.name] = number
    return numbers, suites


def has_no_report(folder: Path) -> bool:
    """Tell whether a folder is that of an instance whose evaluation failed."""
    report = folder / REPORT
    try:
        written = report.stat().st_size > 0
    except OSError:
        written = False
    return not written and (folder / PATCH).is_file() and not folder.is_symlink()
