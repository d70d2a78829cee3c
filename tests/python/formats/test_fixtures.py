"""Every log of every harness: the attempts that the harness itself names, with its verdicts.

``fixtures/`` has a folder for each format: logs of the real harness, the script that made them, and
``expected.json``, which holds what the harness itself says of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures"


def expectations(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / name / "expected.json").read_text("utf-8"))
    return found


CASES = [
    (folder.name, file)
    for folder in sorted(FIXTURES.iterdir())
    if (folder / "expected.json").exists()
    for file in expectations(folder.name)["files"]
]


def _place_said(one: dict[str, Any]) -> tuple[Any, ...]:
    rank = {True: 0, False: 1, None: 2}[one["passed"]]
    return str(one["task_id"]), one["attempt"], rank, one["score"] or 0


def _place_landed(row: dict[str, Any]) -> tuple[Any, ...]:
    rank = ("passed", "failed", "excluded").index(row["outcome"])
    # Of those that failed, those with a reason come last: they may be ungraded.
    return row["task_id"], row["attempt"], rank, bool(row["outcome_reason"]), row["score"] or 0


# These grade documents and not responses: their own tests compare the numbers of passes.
BY_ATTEMPT = [case for case in CASES if case[0] not in ("lm_eval", "lighteval")]


@pytest.mark.long
@pytest.mark.parametrize(("name", "file"), BY_ATTEMPT, ids=["/".join(case) for case in BY_ATTEMPT])
def test_lands_what_the_harness_says(name: str, file: str, harness_log: Callable[..., Any]) -> None:
    said = expectations(name)["files"][file]
    loaded = harness_log(FIXTURES / name / file)
    assert [one.status for one in loaded.report.files if one.status != "landed"] == []
    assert loaded.report.rows_read == loaded.report.rows_landed + loaded.report.rows_rejected
    assert len(loaded.attempts) == len(said["attempts"])
    # A log may hold several runs: the attempts of one task and number are then told by verdict.
    wanted = sorted(said["attempts"], key=_place_said)
    landed = sorted(loaded.attempts, key=_place_landed)
    for row, one in zip(landed, wanted, strict=True):
        assert (row["task_id"], row["attempt"]) == (str(one["task_id"]), one["attempt"])
        if one["passed"] is None:
            # Not graded: the reason decides, and there has to be one.
            assert row["outcome"] in ("failed", "excluded")
            assert row["outcome_reason"]
        else:
            assert row["outcome"] == ("passed" if one["passed"] else "failed")
        if one["score"] is not None and row["score"] is not None:
            assert row["score"] == pytest.approx(one["score"], rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(("name", "file"), CASES, ids=["/".join(case) for case in CASES])
def test_a_second_load_changes_nothing(
    name: str, file: str, harness_log: Callable[..., Any], tmp_path: Any
) -> None:
    from passk_py.ingest.landing import load

    database = tmp_path / "again.duckdb"
    first = load([FIXTURES / name / file], database=database)
    second = load([FIXTURES / name / file], database=database)
    assert {one.status for one in second.files} == {"unchanged"}
    assert [one.rows_landed for one in second.files] == [one.rows_landed for one in first.files]
