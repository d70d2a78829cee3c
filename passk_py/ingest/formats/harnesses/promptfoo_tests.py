"""The tests and the columns of a log of promptfoo, and what to call them.

A column is a prompt with a provider. The log is read once to find out which names stand for more
than one test, and which columns there are.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.shape import ANY, Json, decoder, loaded_or_none
from passk_py.ingest.formats.digests import packed, short_digest
from passk_py.ingest.formats.harness import Unfit
from passk_py.ingest.formats.json_values import dict_at, text
from passk_py.ingest.formats.task_names import LONGEST_TASK, Names, shortened, without_ids

if TYPE_CHECKING:
    from collections.abc import Hashable

# Names that are sentences are cut, and told apart by a digest.
_LONGEST_NAME: Final = 60
# More columns than any eval has.
_MOST_COLUMNS: Final = 10_000

SURVEYED: Final = decoder(
    {
        "provider": ANY,
        "prompt": {"label": ANY, "display": ANY},
        "promptId": ANY,
        "promptIdx": ANY,
        "testCase": {"description": ANY, "vars": ANY, "assert": ANY},
        "vars": ANY,
    }
)
"""Reads of a row what tells its test and its column."""


@dataclass(slots=True)
class Plan:
    """The names of tests that are not enough, and the columns that there are."""

    runs: dict[Hashable, str] = field(default_factory=dict)
    """The run of each column; empty where there is one column, which the eval names."""
    repeats: dict[tuple[str, str | None], int] = field(default_factory=dict)
    """How often a task of a run was to be tried, where the test says it itself."""
    _columns: dict[Hashable, tuple[str | None, str | None]] = field(default_factory=dict)
    _tests: Names = field(default_factory=Names)
    _lasting: Names = field(default_factory=Names)

    def note(self, row: Json) -> None:
        """Note the test and the column of a row. Raises RecursionError if it is nested too deep."""
        if not isinstance(row, dict):
            return
        column = _column(row)
        if len(self._columns) < _MOST_COLUMNS and column not in self._columns:
            self._columns[column] = _provider(row), prompt_of(row)
        description, variables, assertions = _test(row)
        self._tests.note((description, variables), assertions)
        lasting = _lasting_test(row)
        self._lasting.note(lasting, (description, variables))
        if description is not None:
            self._tests.note(description, (variables, assertions))
            self._lasting.note(lasting[0], description)

    def name_runs(self, eval_id: str) -> None:
        """Name the runs of several columns by what tells them apart."""
        if len(self._columns) <= 1:
            return
        # Whether the providers differ, and whether the prompts do.
        differ = [len(set(names)) > 1 for names in zip(*self._columns.values(), strict=True)]
        names: dict[Hashable, str] = {}
        for key, column in self._columns.items():
            said = [name for name, telling in zip(column, differ, strict=True) if telling and name]
            names[key] = ".".join([eval_id, *said])
        taken = Counter(names.values())
        self.runs = {
            # Two of the same names have nothing but their number.
            key: f"{name}.{key + 1}" if taken[name] > 1 and isinstance(key, int) else name
            for key, name in names.items()
        }

    def run_of(self, row: dict[str, Any]) -> str | None:
        """Give the run of a row; None where the eval names it."""
        return self.runs.get(_column(row))

    def task_of(self, row: dict[str, Any]) -> str | None:
        """Name the test of a row; None if nothing is said of it."""
        try:
            description, variables, assertions = _test(row)
            lasting = _lasting_test(row)
        except RecursionError as error:
            reason = "The variables of the row are nested too deep."
            raise Unfit("malformed_line", reason) from error
        if description is not None and self._tests.are_clear(description):
            return lasting[0] if self._lasting.are_clear(lasting[0]) else description
        if description is None and variables == b"null":
            return None
        # Two tests that only their ids tell apart keep them.
        said, shown = lasting if self._lasting.are_clear(lasting) else (description, variables)
        written = json.dumps(loaded_or_none(shown), ensure_ascii=False, sort_keys=True)
        if len(written) > LONGEST_TASK:
            written = f"{written[:LONGEST_TASK]}~{short_digest(shown)}"
        name = written if said is None else f"{said} {written}"
        if self._tests.are_clear((description, variables)):
            return name
        return f"{name} #{short_digest(assertions)}"


def _column(row: dict[str, Any]) -> Hashable:
    """Tell the column of a row: by its number or, in its absence, by its names."""
    index = row.get("promptIdx")
    return index if type(index) is int else (_provider(row), prompt_of(row))


def _provider(row: dict[str, Any]) -> str | None:
    provider = row.get("provider")
    if isinstance(provider, dict):
        provider = text(provider.get("label")) or provider.get("id")
    said = text(provider)
    return shortened(said, _LONGEST_NAME) if said else None


def prompt_of(row: dict[str, Any]) -> str | None:
    """Name the prompt. One without a label is called after its text, which may be long."""
    prompt = dict_at(row, "prompt")
    label = text(prompt.get("label")) or text(prompt.get("display"))
    return shortened(label, _LONGEST_NAME) if label else None


def _test(row: dict[str, Any]) -> tuple[str | None, bytes, bytes]:
    """Tell what makes the test of a row: its description, variables and assertions."""
    test = dict_at(row, "testCase")
    return text(test.get("description")), packed(variables_of(row)), packed(test.get("assert"))


def variables_of(row: dict[str, Any]) -> Json:
    """Give the variables of a test, wherever this version has them."""
    variables = dict_at(row, "testCase").get("vars")
    return row.get("vars") if variables is None else variables


def _lasting_test(row: dict[str, Any]) -> tuple[str | None, bytes]:
    """Tell of a test's description and variables what is the same in each eval."""
    description = text(dict_at(row, "testCase").get("description"))
    return description and str(without_ids(description)), packed(without_ids(variables_of(row)))
