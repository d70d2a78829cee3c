"""Results in the formats of other tools: ``passk convert``."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import drafted
from passk_py.reports.conversions.eval_results import eval_results
from passk_py.reports.conversions.every_eval_ever import every_eval_ever
from passk_py.reports.conversions.inspect_log import inspect_log
from passk_py.reports.conversions.otel_metrics import otel_metrics
from passk_py.reports.queries.chosen import Chosen
from passk_py.warehouse.catalog import filters_of, public_table
from passk_py.warehouse.tables import require_filtered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from passk_py.reports.conversions.asked import Asked
    from passk_py.warehouse.tables import Tables

__all__ = ["CONVERSIONS", "Conversion", "convert"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """A format of another tool."""

    title: str
    write: Callable[[Chosen, Asked], Iterator[tuple[str, Iterable[str]]]]
    """Gives the name and the text of each file, in parts."""
    options: frozenset[str] = frozenset()
    """The options that describe what the log does not know."""
    ending: str | None = None
    """How the one file ends; None for a folder of files."""


CONVERSIONS: Final = {
    "eval-results": Conversion(
        "Hugging Face's .eval_results: one number of a run, for the page of a model",
        eval_results,
        frozenset(("metric", "dataset", "task", "source_url", "percent", "k")),
        ".yaml",
    ),
    "every-eval-ever": Conversion(
        "Every Eval Ever: a file for each run, with pass@k and pass^k of every k",
        every_eval_ever,
        frozenset(("organization", "relationship", "developer", "dataset", "k")),
    ),
    "inspect": Conversion("Inspect's logs: a file for each run, with its attempts", inspect_log),
    "otel-metrics": Conversion(
        "OpenTelemetry metrics as OTLP JSON: pass@k and pass^k of every run and k",
        otel_metrics,
        frozenset(("k",)),
        ".json",
    ),
}
"""By the name that ``passk convert`` knows a format by."""


def convert(
    format: str,  # noqa: A002 - as the command line calls it
    output: str | Path,
    asked: Asked,
    tables: Tables,
) -> list[Path]:
    """Write results in the format of another tool, and give the files.

    The files are of one state of the database. Each appears under its name when all are written,
    or not at all; a file that was there is replaced.

    Parameters
    ----------
    format
        A name of :data:`CONVERSIONS`.
    output
        A file of the format's ending, or a folder, which is made if it is missing.
    asked
        The runs, suites and k, and the facts that the log does not know.
    tables
        The public tables of a database.

    Raises
    ------
    PasskError
        If a fact that the format requires is not known, a value is null, there is no such run, or
        a file can't be written.
    """
    conversion, output = CONVERSIONS[format], Path(output)
    if conversion.ending and output.suffix.lower() != conversion.ending:
        raise PasskError(
            f"{output} does not end in {conversion.ending}.",
            hint=f"{format} is one file: give its name with -o.",
        )
    tables_read = [public_table("passk_runs"), public_table("passk_suite_metrics")]
    require_filtered(tables, filters_of(asked.runs, asked.suites, asked.ks), tables_read)
    chosen = Chosen(tables, asked.runs, asked.suites)
    written = []
    with ExitStack() as stack:
        for name, parts in conversion.write(chosen, asked):
            path = output if conversion.ending else output / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                draft = stack.enter_context(drafted(path))
                with draft.open("w", encoding="utf-8") as file:
                    file.writelines(parts)
            except OSError as error:
                raise PasskError(
                    f"{path} can't be written: {error.strerror}.",
                    hint="Give a file or a folder where you may write with -o.",
                ) from error
            written.append(path)
    return written
