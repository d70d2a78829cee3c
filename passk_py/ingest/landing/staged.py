"""The typed rows of a log, until they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from passk_py.ingest.landing.given import as_given

if TYPE_CHECKING:
    import duckdb

    from passk_py.ingest.landing.expectations import Expectations
    from passk_py.ingest.landing.source import Source

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


def rows_with(replaced: str) -> str:
    """Write SQL for the rows of the stage with their ``place`` in it, some columns replaced."""
    replace = f" replace ({replaced})" if replaced else ""
    return f"(select *{replace}, rowid as place from {STAGE})"


def number_attempts(connection: duckdb.DuckDBPyConnection, source: Source, filled: str) -> None:
    """Write into the stage the numbers of a task's attempts, if the log leaves them to their order.

    ``filled`` is SQL for the rows of the stage as they will land, with their ``place`` in it.
    """
    # Rejected rows that tell their task are counted too, so that the number of a good one does
    # not depend on whether another is.
    if not source.format.numbers_attempts:
        return
    numbers = (
        "select place, row_number() over (partition by run_id, suite, task_id order by "
        "started_at nulls last, attempt nulls last, source_line, place) as number "
        f"from ({as_given(source, f'from {filled}')})"
    )
    # Only this column is moved: a window over whole rows would move every other, the tags above
    # all, and on one thread.
    connection.execute(f"update {STAGE} set attempt = number from ({numbers}) where rowid = place")
