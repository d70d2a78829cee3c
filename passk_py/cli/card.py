"""``passk card``: what was measured of a run, for a model card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples, outputs_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["command"]

_KINDS: Final = {".md": "Markdown", ".json": "JSON"}


@click.command(
    "card",
    short_help="A model card of a run.",
    epilog=examples(
        "passk card nightly-2026-11-20",
        "passk card nightly-2026-11-20 -o card.md -o card.json",
        "passk card nightly-2026-11-20 --suite airline --k-reason 'four tickets between reviews'",
    ),
)
@click.argument("run")
@database_option
@click.option("--suite", help="The suite, if the run has several.")
@click.option(
    "--k-reason",
    metavar="TEXT",
    help="Why the deployment k is what it is. The tables can't know it.",
)
@outputs_option(_KINDS, "A file that ends in .md or .json; give both for both.")
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
    """Write what was measured of RUN, how sure it is and what is not known, as Markdown or JSON.

    pass^k stands beside pass@1 everywhere, k beside why it is this k, and what the log does not
    record is said not to be recorded. All numbers are those of the public tables.
    """
    from passk_py.cli.next_steps import note_stale
    from passk_py.common.files import write_report
    from passk_py.reports.model_card import card
    from passk_py.warehouse.tables import open_tables

    # Before the run is looked for: it may be among what has landed since.
    with open_tables(database) as tables:
        note_stale(session, tables)
    made = card(run, suite=suite, database=database, k_reason=k_reason)
    session.result(made.facts)
    for path in outputs:
        write_report(path, made.json() if path.suffix.lower() == ".json" else made.markdown())
        session.say(f"{path}: {_KINDS[path.suffix.lower()]}")
    if not outputs and not session.as_json:
        click.echo(made.markdown(), nl=False)
    return 0
