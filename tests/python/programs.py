"""Where passk runs as a program of its own in the tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


def environment() -> dict[str, str]:
    """Give the variables of a program that imports the passk under test, with no setting of passk from outside."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PASSK_")}
    # In a process of its own dbt v2 is several times faster.
    if "PASSK_DBT_2" in os.environ:
        own["PASSK_DBT"] = os.environ["PASSK_DBT_2"]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return own | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "100"}
