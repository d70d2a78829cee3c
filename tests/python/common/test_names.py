"""Names that users give, and names in SQL, YAML and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from passk_py.common import strict_yaml
from passk_py.common.errors import PasskError
from passk_py.common.files import drafted, size_in_words
from passk_py.common.names import did_you_mean, no_such, require_known
from passk_py.common.sql_text import identifier, io_reason, quote, slice_sql

if TYPE_CHECKING:
    from pathlib import Path


def test_a_near_name_is_asked_for() -> None:
    assert did_you_mean(["run-1o"], ["run-9", "run-10"]) == " Did you mean run-10?"
    assert did_you_mean(["NEW"], ["new", "old"]) == " Did you mean new?"
    assert did_you_mean(["nope"], ["new", "old"]) == ""


def test_an_unknown_name_comes_with_the_known_ones() -> None:
    said = "There is no run nope; the runs are new, old."
    assert no_such("run", ["nope"], ["new", "old"]) == said
    said = "There is no run run-1o; the runs are run-9, run-10. Did you mean run-10?"
    assert no_such("run", ["run-1o"], ["run-9", "run-10"]) == said
    assert no_such("suite", ["a", "b"], []) == "There is no suite a or b; there are no suites."


def test_an_unknown_name_is_refused() -> None:
    require_known("run", ["new"], ["new", "old"])
    with pytest.raises(PasskError) as error:
        require_known("run", ["nope", "new"], ["new", "old"])
    assert str(error.value) == ("There is no run nope; the runs are new, old.")


def test_quotes_are_doubled_in_sql() -> None:
    assert quote("it's") == "'it''s'"
    assert identifier('an "id" column') == '"an ""id"" column"'
    assert slice_sql("domain", None) == "cast(tags['domain'] as varchar)"


def test_of_an_error_of_a_file_the_reason_is_kept() -> None:
    error = OSError("IO Error: No space left on device.\nSee the manual")
    assert io_reason(error) == "No space left on device"


def test_yaml_is_loaded() -> None:
    assert strict_yaml.load("{min: 0.9, k: 4}") == {"min": 0.9, "k": 4}


def test_a_draft_takes_the_place_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    with drafted(path) as draft:
        draft.write_text("all of it")
    assert [file.name for file in tmp_path.iterdir()] == ["report.txt"]


def test_a_size_is_written_in_the_unit_in_which_it_is_not_nothing() -> None:
    sizes = (0, 1, 999, 9_400, 999_949, 999_950, 4_700_000)
    said = ["0 bytes", "1 byte", "999 bytes", "9.4 kB", "999.9 kB", "1.0 MB", "4.7 MB"]
    assert [size_in_words(size) for size in sizes] == said
