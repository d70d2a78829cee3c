"""``passk report``: write a report of the tables as a page, as Markdown and as figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples, outputs_option
from passk_py.common.errors import PasskError
from passk_py.common.words import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

_KINDS: Final = {".html": "one page", ".md": "Markdown", ".json": "JSON"}


@click.command(
    "report",
    short_help="Write an HTML report: charts, tasks, comparisons, gates.",
    epilog=examples(
        "passk report",
        "passk report -o nightly.html -o nightly.md --suite airline",
        "passk report --run nightly-2026-11-20 --run nightly-2026-11-19 --figures figures",
    ),
)
@database_option
@click.option("--run", "runs", multiple=True, help="Report on this run; may be repeated.")
@click.option("--suite", "suites", multiple=True, help="Report on this suite; may be repeated.")
@outputs_option(
    _KINDS,
    "Write this .html, .md or .json file; may be repeated.  [default: report.html]",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the charts as SVG and PNG to this folder.",
)
@click.option(
    "--transcript-url",
    metavar="TEMPLATE",
    help="Link each attempt to its transcript, e.g. 'https://logs.example/{run_id}/{task_id}'.",
)
@common_options
@pass_session
def command(
    session: Session,
    *,
    database: Path,
    runs: tuple[str, ...],
    suites: tuple[str, ...],
    outputs: Sequence[Path],
    figures: Path | None,
    transcript_url: str | None,
) -> int:
    """Write a report as one HTML file that needs no network and no other file.

    The report has a leaderboard, verdicts, a table of tasks to search and filter that leads to each
    attempt, pass@k and pass^k over k with intervals, comparisons, gates, releases, exclusions and
    diagnostics. It shows the 40 latest runs of each suite. It works on phones, in dark mode, with
    screen readers, in print and without scripts.
    """
    from passk_py.cli.next_steps import note_stale
    from passk_py.common.files import size_in_words, write_report
    from passk_py.reports.report import missing_package, report
    from passk_py.warehouse.tables import open_tables

    missing = missing_package()
    if missing is not None:
        raise PasskError(
            f"A report needs the package {missing}, which is not installed.",
            hint="Install the packages that draw: pip install altair jinja2 vl-convert-python",
        )
    # Before the run is looked up: it may have landed after the build.
    with open_tables(database) as tables:
        note_stale(session, tables)
    made = report(database, run_id=runs, suite=suites, transcript_url=transcript_url)
    if not outputs and figures is None and not session.as_json:
        outputs = [Path("report.html")]
    writers = {".html": made.html, ".md": made.markdown, ".json": made.json}
    for path in outputs:
        ending = path.suffix.lower()
        content = writers[ending]()
        write_report(path, content)
        session.say(f"{path}: {_KINDS[ending]}, {size_in_words(len(content.encode()))}")
    if figures is not None:
        from passk_py.reports.report.figures import write_figures

        written = write_figures(made.facts, figures)
        session.say(f"{figures}: {plural(len(written) // 2, 'chart')}, each as SVG and as PNG")
    # Last: an error, which is an object on stdout too, must not follow it.
    session.result(made.facts)
    return 0
