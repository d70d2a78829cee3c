"""A message to a webhook that takes Slack's format, where a verdict changed."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import write_report
from passk_py.common.words import shortened
from passk_py.reports.posts.web import send

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from passk_py.reports.posts.changes import Change

WEBHOOK: Final = "PASSK_SLACK_WEBHOOK"
_LONGEST: Final = 2_900
"""Letters of a block, of which Slack takes 3,000."""


def post_changes(changes: Sequence[Change], memory: Path) -> str:
    """Send the changes, unless they are those that were sent last, and say what was done."""
    url = os.environ.get(WEBHOOK)
    if not url:
        raise PasskError(
            f"A message needs the address of a webhook in the variable {WEBHOOK}, which is not set."
        )
    if not changes:
        return "No verdict changed, so no message was sent."
    said = [f"{change.suite}: {change.said}" for change in changes]
    digest = sha256(json.dumps(said).encode()).hexdigest()
    if memory.is_file() and memory.read_text(encoding="utf-8").strip() == digest:
        return "No verdict changed since the last message, so none was sent."
    send("POST", url, _message(said), to="The webhook")
    memory.parent.mkdir(parents=True, exist_ok=True)
    write_report(memory, f"{digest}\n")
    return "A message was sent: " + " ".join(said)


def _message(said: Sequence[str]) -> dict[str, object]:
    """Write the message: plain text, in which no name can call for anyone or make a link."""
    head = "Capability and reliability: a verdict changed"
    lines = shortened("\n".join(said), _LONGEST)
    escaped = lines.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {
        "text": f"{head}\n{escaped}",
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": head, "emoji": False}},
            {"type": "section", "text": {"type": "plain_text", "text": lines, "emoji": False}},
        ],
    }
