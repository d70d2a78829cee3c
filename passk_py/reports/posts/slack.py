"""A message to a webhook that takes Slack's format, where a verdict changed."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import write_report
from passk_py.reports.posts.unlinked import unlinked
from passk_py.reports.posts.web import send

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from passk_py.reports.posts.changes import Change

WEBHOOK: Final = "PASSK_SLACK_WEBHOOK"
_REMEMBERED: Final = 1_000
"""Changes whose digests are kept."""
_LONGEST: Final = 2_800
"""Letters of a block, of which Slack takes 3,000."""


def post_changes(changes: Sequence[Change], memory: Path) -> str:
    """Send the changes that were not sent before, and say what was done."""
    url = os.environ.get(WEBHOOK, "").strip()
    if not url:
        raise PasskError(
            f"A message needs the address of a webhook in the variable {WEBHOOK}, which is not set."
        )
    sent = memory.read_text(encoding="utf-8").split() if memory.is_file() else []
    said = {_digest(change): f"{change.suite}: {change.said}" for change in changes}
    new = {digest: text for digest, text in said.items() if digest not in sent}
    if not new:
        return "No verdict changed since the last message, so none was sent."
    send("POST", url, _message(list(new.values())), to="the webhook")
    memory.parent.mkdir(parents=True, exist_ok=True)
    write_report(memory, "".join(f"{digest}\n" for digest in [*sent, *new][-_REMEMBERED:]))
    return "A message was sent: " + " ".join(new.values())


def _digest(change: Change) -> str:
    return sha256(f"{change.suite}\n{change.said}".encode()).hexdigest()


def _message(said: Sequence[str]) -> dict[str, object]:
    """Write the message: text in which no name calls for anyone or makes a link."""
    head = "Capability and reliability: a verdict changed"
    lines: list[str] = []
    for place, line in enumerate(map(unlinked, said)):
        if sum(map(len, lines)) + len(line) > _LONGEST:
            lines.append(f"and {len(said) - place} more")
            break
        lines.append(line)
    text = "\n".join(lines)
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {
        "text": f"{head}\n{escaped}",
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": head, "emoji": False}},
            {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}},
        ],
    }
