"""Lists the licences of all that is installed here, and fails if one is unknown or not allowed."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from typing import Final

ALLOWED: Final = frozenset(
    {"0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "PSF-2.0"}
)
"""Permissive licences by their SPDX names; BSD where the metadata do not say how many clauses."""

EXCEPTIONS: Final = {
    # A file under it stays under it; passk installs these files and changes none of them.
    "certifi": "MPL-2.0",
    "pathspec": "MPL-2.0",
    # Of python-slugify, which dbt needs. Its authors leave the choice between this and the GPL.
    "text-unidecode": "Artistic AND GPL AND GPL-2.0-or-later",
}
"""Licences that are allowed for one distribution only."""

_NAMES: Final = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Artistic License": "Artistic",
    "BSD License": "BSD",
    "GNU General Public License (GPL)": "GPL",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""SPDX names of what older metadata say."""

_LONGEST: Final = 40
"""A longer text is the licence itself and not its name."""


def normalised(name: str) -> str:
    """Write the name of a distribution as indexes do."""
    return re.sub(r"[-_.]+", "-", name).lower()


def field(distribution: metadata.Distribution, name: str) -> str | None:
    """Give a field of the metadata, if they have it."""
    return next(iter(distribution.metadata.get_all(name, [])), None)


def licence_of(distribution: metadata.Distribution) -> str | None:
    """Give the licence by the expression in the metadata, or by classifiers, or by a short text."""
    if expression := field(distribution, "License-Expression"):
        return expression
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in distribution.metadata.get_all("Classifier", [])
        if line.startswith("License :: ") and line.count(" :: ") > 1
    ]
    text = (field(distribution, "License") or "").strip()
    names = classifiers or ([text] if 0 < len(text) <= _LONGEST else [])
    return " AND ".join(_NAMES.get(name, name) for name in names) or None


def problem_with(name: str, licence: str | None) -> str | None:
    """Say why a licence is not accepted; None if it is."""
    if licence is None:
        return "its metadata name no licence"
    if licence == EXCEPTIONS.get(normalised(name)):
        return None
    # Of alternatives all must be allowed: nobody has to choose.
    others = {word for word in re.split(r"\s+(?:AND|OR)\s+|[()]", licence) if word} - ALLOWED
    return f"{', '.join(sorted(others))} is not allowed" if others else None


def main() -> int:
    """Print the list as Markdown and, to stderr, the problems."""
    found = {normalised(one.name): one for one in metadata.distributions()}
    print("| distribution | version | licence |\n|---|---|---|")
    problems = []
    for name, distribution in sorted(found.items()):
        licence = licence_of(distribution)
        print(f"| {name} | {distribution.version} | {licence or 'not known'} |")
        if problem := problem_with(name, licence):
            problems.append(f"{name} {distribution.version}: {problem}.")
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
