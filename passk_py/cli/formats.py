"""``passk formats``: list the log formats that can be loaded."""

from __future__ import annotations

from pathlib import Path

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, examples


@click.command(
    "formats",
    short_help="List the log formats that can be loaded.",
    epilog=examples(
        "passk formats",
        "passk formats tau-bench",
        "passk formats --policy",
        "passk formats --propose results.json",
    ),
)
@click.argument("name", required=False)
@click.option("--policy", is_flag=True, help="List how errors count, by their reason.")
@click.option(
    "--propose",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Print the `passk load` line that may read a file of no known format, and its first rows.",
)
@common_options
@pass_session
def command(session: Session, *, name: str | None, policy: bool, propose: Path | None) -> int:
    """List the log formats or, with NAME, explain how one is read."""
    from passk_py.ingest.formats import FORMATS, format_named

    if propose is not None:
        if name is not None or policy:
            raise click.UsageError("--propose takes a file, and nothing else.")
        from passk_py.cli.proposal import say_proposal

        return say_proposal(session, propose)
    if policy:
        return _say_policy(session, name)
    chosen = FORMATS if name is None else (format_named(name),)
    session.result(
        {
            "formats": [
                {
                    "name": one.name,
                    "title": one.title,
                    "recognised_by": one.recognised_by,
                    "fields": dict(one.fields),
                    "verdict_rule": one.verdict_rule,
                    "attempt_rule": one.attempt_rule,
                    "error_rule": one.error_rule,
                    "reasons": dict(one.reasons),
                    "documentation": one.documentation,
                    "example": one.example,
                }
                for one in chosen
            ]
        }
    )
    if name is None:
        width = max(len(one.name) for one in chosen)
        for one in chosen:
            session.say(f"{one.name:<{width}}  {one.title}")
        session.say()
        session.say("`passk formats NAME` explains how one of them is read.")
        return 0
    for one in chosen:
        session.say(f"{one.name}: {one.title}")
        for label, text in (
            ("recognised by", one.recognised_by),
            ("verdict", one.verdict_rule),
            ("attempts", one.attempt_rule),
            ("errors", one.error_rule),
            ("described at", one.documentation),
        ):
            session.say(f"  {label:<14}{text}")
        session.say("  fields")
        width = max((len(column) for column, _ in one.fields), default=0)
        for column, source in one.fields:
            session.say(f"    {column:<{width}}  {source}")
        if one.reasons:
            session.say("  its own reasons")
            width = max(len(reason) for reason in one.reasons)
            for reason, outcome in one.reasons.items():
                session.say(f"    {reason:<{width}}  {outcome}")
        session.say("  example")
        for line in one.example.splitlines():
            session.say(f"    {line}")
    return 0


def _say_policy(session: Session, name: str | None) -> int:
    """Print the rules of reasons, in the order in which they apply."""
    from passk_py.ingest.formats import format_named
    from passk_py.ingest.formats.policy import general_policy

    rules = [*(format_named(name).reasons.items() if name else ()), *general_policy()]
    session.result({"policy": [{"reason": r, "counts_as": o} for r, o in rules]})
    width = max(len(reason) for reason, _ in rules)
    for reason, outcome in rules:
        session.say(f"{reason:<{width}}  {outcome}")
    session.say()
    session.say(
        "For an attempt without a verdict, the first rule that matches decides; without a match, "
        "the attempt is excluded. The rules of `passk load --policy` come first."
    )
    return 0
