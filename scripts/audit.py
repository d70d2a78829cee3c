"""Audits locked requirements without a network, and says what it could not know.

Exit codes: 0 no problem, 1 a problem, 2 it could not run. The environment that runs it should hold
the requirements: their licences are in their metadata.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from licences import field, licence_of, normalised
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT: Final = Path(__file__).resolve().parents[1]
_UNKNOWN: Final = "not known"
_INACTIVE: Final = "Development Status :: 7 - Inactive"

Advisories = dict[str, list[dict[str, Any]]]
"""OSV records by the name of the distribution."""


@dataclass(frozen=True)
class Locked:
    """One line of a lock."""

    name: str
    version: str | None
    hashes: int


def read_lock(path: Path) -> list[Locked]:
    """Read the requirements of a lock; a line without `==` has no version."""
    lines = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    locked = []
    for line in lines:
        text, *hashes = re.split(r"\s--hash=", line.partition(" #")[0])
        if not text.strip() or text.startswith("#"):
            continue
        requirement = Requirement(text.strip())
        pins = [one.version for one in requirement.specifier if one.operator == "=="]
        pinned = pins[0] if len(pins) == len(requirement.specifier) == 1 else None
        locked.append(Locked(normalised(requirement.name), pinned, len(hashes)))
    return locked


def read_advisories(path: Path) -> tuple[Advisories, str]:
    """Read OSV records from a JSON file or a zip file of them, and the date of the newest."""
    by_name: Advisories = {}
    newest = ""
    for record in _records(path):
        newest = max(newest, str(record["modified"]))
        if "withdrawn" in record:
            continue
        for affected in record.get("affected", ()):
            package = affected.get("package", {})
            if package.get("ecosystem") == "PyPI":
                one = {"id": record["id"], **affected}
                by_name.setdefault(normalised(package["name"]), []).append(one)
    if not newest:
        raise ValueError("it holds no OSV record")
    return by_name, newest[:10]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield json.loads(archive.read(name))
        return
    content = json.loads(path.read_text(encoding="utf-8"))
    yield from content if isinstance(content, list) else [content]


def vulnerabilities(version: str, affected: Iterable[dict[str, Any]]) -> list[str]:
    """Name the records that a version is affected by, as https://ossf.github.io/osv-schema says."""
    return sorted({one["id"] for one in affected if _is_affected(Version(version), one)})


def _is_affected(version: Version, affected: dict[str, Any]) -> bool:
    ranges = [one for one in affected.get("ranges", ()) if one["type"] == "ECOSYSTEM"]
    listed = affected.get("versions", ())
    # Where versions are told by commits only, being affected can't be excluded.
    if not ranges and not listed:
        return True
    return any(_equal(version, one) for one in listed) or any(
        _is_within(version, one["events"]) for one in ranges
    )


def _equal(version: Version, other: str) -> bool:
    try:
        return version == Version(other)
    except InvalidVersion:
        # A version from before PEP 440, which no lock can hold.
        return False


def _is_within(version: Version, events: list[dict[str, str]]) -> bool:
    inside = False
    for (kind, text), *_ in sorted(
        (list(event.items()) for event in events), key=lambda event: Version(event[0][1])
    ):
        bound = Version(text)
        if kind == "introduced" and (text == "0" or version >= bound):
            inside = True
        elif (kind == "fixed" and version >= bound) or (
            kind == "last_affected" and version > bound
        ):
            inside = False
    return inside


def audit(locked: list[Locked], advisories: Advisories | None) -> tuple[list[str], list[str]]:
    """List what is known of each requirement, and the problems."""
    lines, problems = [], []
    for one in locked:
        about = _installed(one)
        licence = python = status = _UNKNOWN
        if about is not None:
            licence = licence_of(about) or _UNKNOWN
            python = field(about, "Requires-Python") or "any"
            classifiers = about.metadata.get_all("Classifier", [])
            status = "inactive" if _INACTIVE in classifiers else "not called inactive"
        found = None
        if advisories is not None and one.version is not None:
            found = vulnerabilities(one.version, advisories.get(one.name, ()))
        told = _UNKNOWN if found is None else ", ".join(found) or "none"
        cells = (
            one.name,
            one.version or "not pinned",
            f"{one.hashes}",
            licence,
            python,
            status,
            told,
        )
        lines.append(f"| {' | '.join(cells)} |")
        for problem, is_one in (
            ("has no version", one.version is None),
            ("has no hash", not one.hashes),
            ("is no longer maintained, by its metadata", status == "inactive"),
            (f"has known vulnerabilities: {told}", bool(found)),
        ):
            if is_one:
                problems.append(f"{_written(one)} {problem}.")
    return lines, problems


def _written(one: Locked) -> str:
    return one.name if one.version is None else f"{one.name} {one.version}"


def _installed(one: Locked) -> metadata.Distribution | None:
    """Find the distribution in this environment, if it is of that version."""
    try:
        about = metadata.distribution(one.name)
    except metadata.PackageNotFoundError:
        return None
    return about if about.version == one.version else None


def main() -> int:
    """Print the facts as Markdown, what is not known, and the problems."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("lock", nargs="?", type=Path, default=ROOT / "requirements" / "run.txt")
    parser.add_argument(
        "--advisories", type=Path, help="read this file: OSV records, as JSON or zip"
    )
    given = parser.parse_args()
    advisories = newest = None
    try:
        locked = read_lock(given.lock)
        if given.advisories is not None:
            advisories, newest = read_advisories(given.advisories)
        lines, problems = audit(locked, advisories)
    except (OSError, ValueError, LookupError, TypeError, InvalidRequirement) as error:
        print(f"The audit could not run: {error}", file=sys.stderr)
        return 2
    print("| distribution | version | hashes | licence | Python | status | vulnerabilities |")
    print("|---|---|---|---|---|---|---|", *lines, sep="\n")
    print()
    if newest is None:
        print("vulnerabilities: not known: no advisories were given")
    else:
        print(f"vulnerabilities: known until {newest}, the date of the newest advisory given")
    if absent := [_written(one) for one in locked if _installed(one) is None]:
        print(f"licence, Python and status: not known of {', '.join(absent)}: not installed here")
    print("yanked: not known: only an index says so")
    print("age: not known: metadata have no date")
    print(f"{len(locked)} requirements, {len(problems)} problems")
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
