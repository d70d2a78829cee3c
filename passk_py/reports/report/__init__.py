"""Reports: what the tables say, as a page, as figures and as Markdown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Report", "missing_package", "report"]


def missing_package() -> str | None:
    """Name a package that drawing needs and that is not installed; None if all are there."""
    return next((name for name in ("altair", "vl_convert") if find_spec(name) is None), None)


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A report on the runs of a database; a notebook shows its runs, comparisons and gates.

    Parameters
    ----------
    facts
        Rows of the public tables, suite by suite, as JSON can hold them. ``docs/report.md``
        describes the keys; ``passk_report`` is the version of that schema.
    """

    facts: dict[str, Any]

    def html(self) -> str:
        """Write one HTML file that needs no other."""
        from passk_py.reports.report.page import as_html

        return as_html(self.facts)

    def markdown(self) -> str:
        """Write the same as Markdown."""
        from passk_py.reports.report.write_report import as_markdown

        return as_markdown(self.facts)

    def json(self) -> str:
        """Write the facts as a JSON document."""
        return json.dumps(self.facts, ensure_ascii=False, allow_nan=False, indent=2) + "\n"

    def _repr_html_(self) -> str:
        from passk_py.reports.report.views import view_of_report

        return view_of_report(self.facts)

    def __repr__(self) -> str:
        said = (f"{len(suite['runs'])} of {suite['suite']!r}" for suite in self.facts["suites"])
        return f"<Report of runs: {', '.join(said)}>"

    def figures(self) -> dict[str, Any]:
        """Make the charts by name, each a Vega-Lite specification with its numbers inside."""
        from passk_py.reports.report.figures import figures

        return figures(self.facts)


def report(
    database: str | Path = "passk.duckdb",
    *,
    run_id: str | Iterable[str] = (),
    suite: str | Iterable[str] = (),
    transcript_url: str | None = None,
) -> Report:
    """Make a report from the public tables.

    Parameters
    ----------
    database
        Path of the DuckDB file.
    run_id, suite
        Runs and suites to show; by default all suites, and of each the 40 latest runs.
    transcript_url
        A template for links from attempts to their transcripts, with fields in braces such as
        ``https://logs.example/{run_id}/{task_id}/{attempt}``; by default the addresses in the log.

    Returns
    -------
    Report
        Its facts, and the same as HTML, as Markdown, as JSON and as figures.

    Raises
    ------
    PasskError
        If there is no such database, run or suite, nothing has been built, or the template can't be
        filled in.
    """
    from passk_py.reports.report.report_facts import gather
    from passk_py.reports.report.task_facts import check_template
    from passk_py.warehouse.catalog import filters_of
    from passk_py.warehouse.tables import open_tables

    if transcript_url is not None:
        check_template(transcript_url)
    with open_tables(database) as tables:
        filters = filters_of(run_id, suite)
        return Report(gather(tables, filters, transcript_url=transcript_url))
