"""Say how many of the macros the tests called, and which they did not.

``macro_coverage.py FOLDER`` reads what ``tests/python/macro_calls.py`` wrote into the folder: the
macros that dbt called in the processes of the tests.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MACRO = re.compile(r"^\{%-?\s*(?:macro|test)\s+(\w+)", re.MULTILINE)


def main(folder: str) -> None:
    """Compare the macros of the project with those that were called."""
    written = {
        name: path.relative_to(ROOT)
        for part in ("macros", "tests/generic")
        for path in (ROOT / part).rglob("*.sql")
        for name in MACRO.findall(path.read_text("utf-8"))
    }
    called = {
        name.removeprefix("test_")
        for path in Path(folder).glob("macros-*.txt")
        for name in path.read_text("utf-8").split()
    }
    missed = sorted(written.keys() - called)
    share = 100 * (1 - len(missed) / len(written))
    print(f"macros: {len(written) - len(missed)} of {len(written)} called, {share:.0f} %")
    for name in missed:
        print(f"  not called: {name} ({written[name]})")


if __name__ == "__main__":
    main(sys.argv[1])
