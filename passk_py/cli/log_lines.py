"""The lines of ``--log-format json``: one JSON object each, without secrets."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import PASSWORD

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEYS: Final = re.compile(
    r"""((?:token|password|passwd|secret|api_?key)["']?\s*[=:]\s*["']?)[^\s"'&;,)}]+""",
    re.IGNORECASE,
)
"""The value of an option, var or parameter whose name says that it is secret."""


def log_line(level: str, event: str, command: str, fields: Mapping[str, Any]) -> str:
    """Write one event as a line."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    about = {"time": now, "level": level, "event": event, "command": command or None}
    shown = {name: _without_secrets(value) for name, value in fields.items() if value is not None}
    # In ASCII: the encoding of a terminal must not break the JSON.
    return json.dumps({**about, **shown}, default=str, allow_nan=False)


def _without_secrets(value: object) -> object:
    if not isinstance(value, str):
        return value
    return _KEYS.sub(r"\1***", PASSWORD.sub(r"\1***", value))
