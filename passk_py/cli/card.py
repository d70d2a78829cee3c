"""``passk card``: write a model card of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples, outputs_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_KINDS: Final = {".md": "Markdown", ".json": "JSON"}


@click.command(
    "card",
    short_help="Write a model card of a run.",
    epilog=examples(
        "passk card nightly-2026-11-20",
        "passk card nightly-2026-11-20 -o card.md -o card.json",
        "passk card nightly-2026-11-20 --suite airline --k-reason 'four tickets between reviews'",
    ),
)
@click.argument("run")
@database_option
@click.option("--suite", help="Choose the suite. Required if the run has several.")
@click.option(
    "--k-reason",
    metavar="TEXT",
    help="Say why the var passk_deployment_k has its value. The tables can't know it.",
)
@outputs_option(
    _KINDS, "Write this .md or .json file; may be repeated. By default Markdown is printed."
)
@common_options
@pass_session
def command(
    session: Session,
    *,
    run: str,
    database: Path,
    suite: str | None,
    k_reason: str | None,
    outputs: Sequence[Path],
) -> int:
    """Write a model card of RUN, as Markdown or JSON: results, uncertainty and limits.

    Every pass^k has pass@1 beside it, and k has the reason for its choice. If the log does not
    record a fact, the card says so. All numbers come from the public tables.
    """
    from passk_py.cli.next_steps import note_stale
    from passk_py.common.files import write_report
    from passk_py.reports.model_card import Card
    from passk_py.reports.model_card.card_facts import gather
    from passk_py.warehouse.tables import open_tables

    with open_tables(database) as tables:
        # Before the run is looked up: it may have landed after the build.
        note_stale(session, tables)
        made = Card(gather(tables, run, suite, k_reason))
    for path in outputs:
        write_report(path, made.json() if path.suffix.lower() == ".json" else made.markdown())
        session.say(f"{path}: {_KINDS[path.suffix.lower()]}")
    if not outputs and not session.as_json:
        click.echo(made.markdown(), nl=False)
    # Last: an error, which is an object on stdout too, must not follow it.
    session.result(made.facts)
    return 0
