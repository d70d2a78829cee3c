"""The attempt contract: which columns an attempt has, their types, and what a row must say.

Every reader, the landing tables, the polars helpers and the validator take the columns from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the contract."""

    name: str
    duckdb_type: str
    required: bool
    meaning: str


KEY: Final = ("run_id", "suite", "task_id", "attempt")

OUTCOMES: Final = ("passed", "failed", "excluded")

VERDICTS: Final = {
    **dict.fromkeys(("passed", "pass", "true", "t", "1"), "passed"),
    **dict.fromkeys(("failed", "fail", "false", "f", "0"), "failed"),
}
"""How the verdict of a label may be written, in any case, and which outcome it is."""

LOG_JUDGE: Final = "log"
"""The judge that the outcomes of the log itself count as."""

TRANSCRIPT: Final = Column(
    "transcript",
    "VARCHAR",
    False,
    "where the transcript lies: a URL or a path, with the place in a file after #",
)
"""Where the log says more of an attempt. Copies of an attempt that differ only in it are equal."""

CONTRACT_COLUMNS: Final = (
    Column("run_id", "VARCHAR", True, "one evaluation of one version of an agent over one suite"),
    Column("suite", "VARCHAR", True, "benchmark or test suite; 'default' where the log has none"),
    Column("task_id", "VARCHAR", True, "the task within the suite"),
    Column("attempt", "BIGINT", True, "place of the try in the order of execution, from 1"),
    Column("outcome", "VARCHAR", True, "passed, failed or excluded"),
    Column("outcome_reason", "VARCHAR", False, "timeout, crash, ... as the log says it"),
    Column("score", "DOUBLE", False, "graded score or reward, before the pass threshold"),
    Column("agent", "VARCHAR", False, "who made the attempt"),
    Column("agent_version", "VARCHAR", False, "which version of it"),
    Column("model", "VARCHAR", False, "the model behind the agent"),
    Column("seed", "BIGINT", False, "sampling seed"),
    Column("started_at", "TIMESTAMP", False, "when the attempt started, UTC"),
    Column("duration_s", "DOUBLE", False, "how long it took, in seconds"),
    Column("cost_usd", "DOUBLE", False, "what it cost, in US dollars"),
    Column("input_tokens", "BIGINT", False, "tokens read by the model"),
    Column("output_tokens", "BIGINT", False, "tokens written by the model"),
    Column("output_hash", "VARCHAR", False, "digest of what the agent produced"),
    Column("tags", "MAP(VARCHAR, VARCHAR)", False, "slices: domain, difficulty, split, ..."),
    TRANSCRIPT,
)

_SLACK: Final = 1e-6
"""tau-bench's slack for a reward that is a sum of floats."""


def score_limit(threshold: float) -> float:
    """Give the least score that passes: at a threshold of 1 a rounded 1 too, else the threshold."""
    return threshold - _SLACK if threshold == 1 else float(threshold)


MOST_EXPECTED: Final = 1_000_000
"""More attempts of one task than anyone makes; sums of it still fit an integer."""

EXPECTED_ATTEMPTS: Final = Column(
    "expected_attempts",
    "BIGINT",
    False,
    "how many attempts of the task were to be made; the same in each of its rows",
)
"""Rows may say it of their task; it is kept in ``landing.expected_attempts``."""

_PROVENANCE_COLUMNS: Final = (
    Column("source_file", "VARCHAR", False, "absolute path of the file that the row came from"),
    Column("source_line", "BIGINT", False, "line, or record for binary files, within it, from 1"),
    Column("source_format", "VARCHAR", False, "the format that the file was read as"),
    Column("loaded_at", "TIMESTAMP", False, "when its batch landed, UTC; later for each batch"),
)
"""Where a row came from. Not part of what makes two rows equal."""

LANDING_COLUMNS: Final = CONTRACT_COLUMNS + _PROVENANCE_COLUMNS
"""The columns of ``landing.attempts`` and of ``passk_attempts``, in order."""
