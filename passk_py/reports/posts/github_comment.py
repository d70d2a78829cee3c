"""One comment on the pull request of a CI job, which later reports replace."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Final

from passk_py.common.errors import PasskError
from passk_py.reports.posts.web import send

_MARKER: Final = "<!-- passk report -->"
_LONGEST: Final = 65_000
"""Letters of a comment, of which GitHub takes 65,536."""
_PAGE: Final = 100


def post_comment(text: str) -> str:
    """Write the comment anew, and say what was done."""
    token, repository = _variable("GITHUB_TOKEN"), _variable("GITHUB_REPOSITORY")
    number = _pull_request()
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    comments = f"{api}/repos/{repository}/issues/{number}/comments"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    body = {"body": _cut(f"{_MARKER}\n{text}")}
    page = 1
    while True:
        found = send(
            "GET", f"{comments}?per_page={_PAGE}&page={page}", headers=headers, to="GitHub"
        )
        for comment in found:
            if str(comment.get("body") or "").startswith(_MARKER):
                place = f"{api}/repos/{repository}/issues/comments/{comment['id']}"
                send("PATCH", place, body, headers=headers, to="GitHub")
                return f"The comment on pull request {number} was replaced."
        if len(found) < _PAGE:
            break
        page += 1
    send("POST", comments, body, headers=headers, to="GitHub")
    return f"A comment was written on pull request {number}."


def _cut(text: str) -> str:
    """Leave whole lines only, as many as a comment holds."""
    if len(text) <= _LONGEST:
        return text
    return text[:_LONGEST].rpartition("\n")[0] + "\n\nThe rest does not fit into a comment.\n"


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise PasskError(
            f"The comment on a pull request needs the variable {name}, which is not set.",
            hint="In a workflow, set env: GITHUB_TOKEN: ${{ github.token }}; "
            "GitHub sets the others.",
        )
    return value


def _pull_request() -> int:
    """Find the number of the pull request that the job is about."""
    path = os.environ.get("GITHUB_EVENT_PATH")
    if path and Path(path).is_file():
        event = json.loads(Path(path).read_text(encoding="utf-8"))
        for kind in ("pull_request", "issue"):
            if isinstance(event, dict) and "number" in (event.get(kind) or {}):
                return int(event[kind]["number"])
    found = re.fullmatch(r"refs/pull/(\d+)/(?:merge|head)", os.environ.get("GITHUB_REF", ""))
    if found is None:
        raise PasskError(
            "This job is not about a pull request, so there is none to comment on.",
            hint="Run it on the event pull_request, or use --post github-summary.",
        )
    return int(found[1])
