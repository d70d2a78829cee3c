"""Recompute every public number from the attempts in polars, and compare it with SQL."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passk_py.common.errors import PasskError
from passk_py.warehouse.freshness import Pending, pending_changes
from passk_py.warehouse.settings import Settings, read_settings
from passk_py.warehouse.tables import open_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from passk_py.validation.parity import Difference, Parity


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """The findings of a validation."""

    tables: tuple[Parity, ...]
    runs: int
    attempts: int
    pending: Pending
    settings: Settings
    """The vars of the build, as the database records them or the caller gives them."""
    left_out: tuple[str, ...] = ()
    """The parts that were too large to be recomputed, in sentences."""

    @property
    def largest(self) -> float:
        """The largest relative difference of all numbers."""
        return max((table.largest for table in self.tables), default=0.0)

    @property
    def different(self) -> int:
        """How many values and rows differ."""
        return sum(table.different for table in self.tables)

    @property
    def examples(self) -> list[Difference]:
        """The first differences of each table."""
        return [example for table in self.tables for example in table.examples]

    @property
    def exit_code(self) -> int:
        """0 if the tables agree, else 1."""
        return 1 if self.different else 0


def validate_tables(
    database: str | Path = "passk.duckdb",
    *,
    variables: Mapping[str, Any] | None = None,
    examples: int = 20,
    progress: Callable[[int, int], None] | None = None,
) -> ValidationReport:
    """Recompute the public tables of a database in polars, and compare.

    Parameters
    ----------
    database
        Path of the DuckDB file.
    variables
        Vars of the build, where the database does not record them.
    examples
        How many differences of each table to keep.
    progress
        Called with the number of attempts that are compared so far, and of all attempts.

    Returns
    -------
    ValidationReport
        The values that agree and those that do not. Counts, times, classes and names must be equal,
        nulls in the same places, numbers equal to a relative difference of 1e-12, and no row there
        twice. Approximations in SQL may differ more: limits that are made of quantiles by 1e-9,
        those by Student's t of a difference by 3e-9, values from sums of logarithms by 1e-9, and p
        of a test by 1e-9 of itself. A verdict follows from SQL's figures where they are near
        enough, and sentences are compared by their words and whole numbers, so that no rounding is
        an error.

    Raises
    ------
    PasskError
        If there is no such database, nothing has been built in it, or its tables are empty.
    """
    from passk_py.validation.check_runs import Validation

    with ExitStack() as stack:
        tables = stack.enter_context(open_tables(database))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="passk-validate-")))
        settings = read_settings(tables, variables)
        check = Validation(tables, settings, folder, examples)
        if not check.runs and not check.stored_pairs:
            # Tables that lost all their rows must not pass for tables that agree.
            raise PasskError(
                f"There is nothing to validate in {tables.database}: "
                "passk_attempts and the tables that are made from it are empty.",
                hint="Load a log with `passk load FILE`, then run `passk build`.",
            )
        total = sum(run.attempts for run in check.runs)
        done = 0
        for batch in check.batches():
            check.batch(batch)
            done += sum(run.attempts for run in batch)
            if progress is not None:
                progress(done, total)
        check.whole()
        return ValidationReport(
            tuple(check.compared.found.values()),
            len(check.runs),
            total,
            pending_changes(tables),
            settings,
            tuple(check.compared.left_out),
        )
