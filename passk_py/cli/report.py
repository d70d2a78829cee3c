"""``passk report``: write a report of the tables as a page, as Markdown and as figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import (
    NameChoice,
    common_options,
    database_option,
    examples,
    outputs_option,
)
from passk_py.common.errors import PasskError
from passk_py.common.words import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

_TARGETS: Final = ("github-summary", "github-comment", "github-annotations", "slack")
_KINDS: Final = {".html": "one page", ".md": "Markdown", ".json": "JSON"}


@click.command(
    "report",
    short_help="Write an HTML report: charts, tasks, comparisons, gates.",
    epilog=examples(
        "passk report",
        "passk report -o nightly.html -o nightly.md --suite airline",
        "passk report --run nightly-2026-11-20 --run nightly-2026-11-19 --figures figures",
        "passk report -o report.html --post github-summary --post github-comment",
    ),
)
@database_option
@click.option(
    "--run",
    "runs",
    multiple=True,
    help="Include only this run; may be repeated. [default: the 40 latest of each suite]",
)
@click.option(
    "--suite",
    "suites",
    multiple=True,
    help="Include only this suite; may be repeated. [default: all]",
)
@outputs_option(
    _KINDS,
    "Write this .html, .md or .json file; may be repeated.  [default: report.html]",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the charts as SVG and PNG to this folder too.",
)
@click.option(
    "--transcript-url",
    metavar="TEMPLATE",
    help="Link each attempt to its transcript, e.g. 'https://logs.example/{run_id}/{task_id}'.",
)
@click.option(
    "--post",
    "targets",
    multiple=True,
    type=NameChoice(_TARGETS),
    help="Post a summary without attempts, instead of writing a file; may be repeated. It goes to "
    "a CI step on GitHub, to its pull request (one comment, which later reports replace), to its "
    "annotations (the flaky tasks), or, if a verdict changed, to the webhook in "
    "PASSK_SLACK_WEBHOOK.",
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
    targets: tuple[str, ...],
) -> int:
    """Write a report as one HTML file that needs no network and no other file.

    It begins with a leaderboard and the answer. A table of tasks, to search and filter, leads to
    each attempt. Below are pass@k and pass^k over k, comparisons, gates and diagnostics of the 40
    latest runs of each suite. The page works on phones, in dark mode and in print.
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
    if not (outputs or figures or targets or session.as_json):
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
    for target in targets:
        session.say(_post(target, made.facts, database))
    # Last: an error, which is an object on stdout too, must not follow it.
    session.result(made.facts)
    return 0


def _post(target: str, facts: dict[str, Any], database: Path) -> str:
    """Post the short form, and say what was done."""
    from passk_py.metrics.gates.gate_reports import append_step_summary
    from passk_py.reports.posts.changes import verdict_changes
    from passk_py.reports.posts.github_annotations import flaky_tasks
    from passk_py.reports.posts.github_comment import post_comment
    from passk_py.reports.posts.short_markdown import short_markdown
    from passk_py.reports.posts.slack import post_changes
    from passk_py.warehouse.project import state_dir

    if target == "github-annotations":
        return "\n".join(flaky_tasks(facts)) or "No task is flaky."
    changes = verdict_changes(facts)
    if target == "slack":
        return post_changes(changes, state_dir(database) / "posted.txt")
    text = short_markdown(facts, changes)
    if target == "github-comment":
        return post_comment(text, [suite["suite"] for suite in facts["suites"]])
    append_step_summary(text)
    return "The summary of the CI step has the report."
