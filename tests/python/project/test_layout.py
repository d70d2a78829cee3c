"""The layout of the package: short files, each with a name of its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]
FILES: Final = sorted((ROOT / "passk_py").rglob("*.py"))
LONGEST: Final = 400


def test_no_file_is_too_long_to_be_about_one_thing() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert len(lines) > 200
    assert {path.name: count for path, count in lines.items() if count > LONGEST} == {}


def test_no_two_files_have_one_name() -> None:
    names = Counter(path.name for path in FILES if path.stem != "__init__")
    assert [name for name, count in names.items() if count > 1] == []
