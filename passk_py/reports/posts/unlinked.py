"""Names of others in a message: they call for nobody and lead nowhere."""

from __future__ import annotations

import re
from typing import Final

_BREAK: Final = "\u200b"
"""A space without a width: people read the same, programs find no mention and no address."""
_ACTIVE: Final = re.compile(r"(?<![0-9A-Za-z_&])[@#](?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)")


def unlinked(text: str) -> str:
    r"""Break mentions, numbers of issues and addresses, which chats and code hosts make links of.

    >>> unlinked("pass@4 of @octocat, see https://x.example and #12").count("\u200b")
    3
    """
    return _ACTIVE.sub(lambda found: f"{found[0]}{_BREAK}", text)
