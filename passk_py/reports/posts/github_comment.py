"""One comment on the pull request of a CI job, which later reports replace."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.reports.posts.web import RefusedError, send

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONGEST: Final = 65_000
"""Letters of a comment, of which GitHub takes 65,536."""
_PAGE: Final = 100
_OF_OTHERS: Final = (403, 404)


def post_comment(text: str, suites: Sequence[str]) -> str:
    """Post or replace the comment about some suites, and say what was done."""
    token, repository = _variable("GITHUB_TOKEN"), _variable("GITHUB_REPOSITORY")
    number = _pull_request()
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    comments = f"{api}/repos/{repository}/issues/{number}/comments"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    # Jobs about other suites have comments of their own.
    marker = f"<!-- passk report {sha256(json.dumps(list(suites)).encode()).hexdigest()[:12]} -->"
    body = {"body": _cut(f"{marker}\n{text}")}
    for comment in _comments(comments, headers):
        if not str(comment.get("body") or "").startswith(marker):
            continue
        place = f"{api}/repos/{repository}/issues/comments/{comment['id']}"
        try:
            send("PATCH", place, body, headers=headers, to="GitHub")
        except RefusedError as error:
            # A comment of somebody else, who copied the marker.
            if error.status in _OF_OTHERS:
                continue
            raise
        return f"The comment on pull request {number} was replaced."
    send("POST", comments, body, headers=headers, to="GitHub")
    return f"A comment was written on pull request {number}."


def _comments(address: str, headers: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Read the comments, page by page."""
    page = 1
    while True:
        found = send("GET", f"{address}?per_page={_PAGE}&page={page}", headers=headers, to="GitHub")
        if not isinstance(found, list):
            raise PasskError(
                "GitHub's reply is not that of its API.", hint="Check the variable GITHUB_API_URL."
            )
        yield from found
        if len(found) < _PAGE:
            return
        page += 1


def _cut(text: str) -> str:
    """Leave whole lines only, as many as a comment holds."""
    if len(text) <= _LONGEST:
        return text
    return text[:_LONGEST].rpartition("\n")[0] + "\n\nThe rest does not fit into a comment.\n"


def _variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise PasskError(
            f"The comment on a pull request needs the variable {name}, which is not set.",
            hint="In a workflow, set env: GITHUB_TOKEN: ${{ github.token }}; "
            "GitHub sets the others.",
        )
    return value


def _pull_request() -> int:
    """Find the number of the pull request that the job is about."""
    event = _event(os.environ.get("GITHUB_EVENT_PATH"))
    request, issue = event.get("pull_request"), event.get("issue")
    # A comment on a pull request is an event of an issue, which says that it is one.
    about = request or (issue if issue and "pull_request" in issue else None)
    if about and "number" in about:
        return int(about["number"])
    found = re.fullmatch(r"refs/pull/(\d+)/(?:merge|head)", os.environ.get("GITHUB_REF", ""))
    if found is None:
        raise PasskError(
            "This job is not about a pull request, so there is none to comment on.",
            hint="Run it on the event pull_request, or use --post github-summary.",
        )
    return int(found[1])


def _event(path: str | None) -> dict[str, Any]:
    """Read what started the job; empty if nothing says so."""
    if not path or not Path(path).is_file():
        return {}
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError:
        raise PasskError(f"{path}, of the variable GITHUB_EVENT_PATH, is no JSON.") from None
    return event if isinstance(event, dict) else {}
