"""Fails where the places that name the version differ."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = {
    "pyproject.toml": r'^version = "([^"]+)"',
    "dbt_project.yml": r"^version: (\S+)",
    "macros/input/version.sql": r"return\('([^']+)'\)",
    "CITATION.cff": r"^version: (\S+)",
    "CHANGELOG.md": r"^## (\d\S*)",
}


def main() -> int:
    """Compare the places and say which one is off."""
    found = {}
    for place, pattern in PLACES.items():
        match = re.search(pattern, (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE)
        found[place] = match.group(1) if match else None
    if len(set(found.values())) == 1:
        return 0
    for place, version in found.items():
        print(f"{place}: {version}", file=sys.stderr)
    print("The versions differ: make them equal.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
