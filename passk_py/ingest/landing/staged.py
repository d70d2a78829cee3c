"""The typed rows of a log, until they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from passk_py.ingest.formats import Format
    from passk_py.ingest.landing.expectations import Expectations

STAGE: Final = "temp.passk_stage"


@dataclass(frozen=True, slots=True)
class Staged:
    """Queries of the rows, and what is known of them."""

    good: str
    """The good rows: the contract's columns and ``source_line``."""
    rejected: str | None
    """The others, with ``reject_code``, ``reject_reason`` and ``raw_text``, if any."""
    rows: int | None
    """How many there are of both; None where writing judges them, and fails at a fault."""
    done: float
    all_rows: str = ""
    """All rows with ``reject_code``, where it is not known yet how many attempts they expect."""
    expected: Expectations | None = None
    """How many attempts there should be; None where neither the log nor the options say it."""
    excluded: dict[str, int] = field(default_factory=dict)
    """How many good rows are excluded for which reason; of a harness only."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def numbered(format_: Format, relation: str) -> str:
    """Write SQL that numbers the attempts of each task, if the log leaves that to their order."""
    # Rejected rows that tell their task are counted too, so that the number of a good one does
    # not depend on whether another is.
    if not format_.numbers_attempts:
        return relation
    order = "partition by run_id, suite, task_id order by "
    order += "started_at nulls last, attempt nulls last, source_line"
    # Only what gives the order is sorted, and the numbers are laid beside the rows: a window over
    # whole rows would move every column, the tags above all.
    placed = f"select *, row_number() over () as place from ({relation})"
    numbers = f"select row_number() over ({order}) as number from ({placed}) order by place"
    return (
        f"select rows.* replace (number as attempt) from ({relation}) as rows "
        f"positional join ({numbers})"
    )
