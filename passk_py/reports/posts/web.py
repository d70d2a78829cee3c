"""Requests to the web, with errors that name no secret."""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from passk_py.common.errors import PasskError

_SECONDS: Final = 30


class RefusedError(PasskError):
    """The receiver has rejected the request."""

    def __init__(self, status: int, named: str) -> None:
        super().__init__(f"{named} refused the request: {status}.", hint=_HINTS.get(status))
        self.status = status


class _NoRedirects(HTTPRedirectHandler):
    """Follow no redirect: the headers, and the token in them, would go along."""

    def redirect_request(self, *_: Any) -> None:  # noqa: ANN401 - what the library hands over
        """Have the reply taken for an error."""


def send(
    method: str, url: str, body: object = None, *, headers: dict[str, str] | None = None, to: str
) -> Any:  # noqa: ANN401 - what JSON holds
    """Send JSON and give the JSON of the reply, or its text; `to` names the receiver in errors."""
    named = f"{to[:1].upper()}{to[1:]}"
    try:
        if urlsplit(url).scheme not in {"http", "https"}:
            raise PasskError(f"The address of {to} must begin with https://.")
        request = Request(  # noqa: S310 - the scheme is checked above
            url,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "passk", **(headers or {})},
            method=method,
        )
        with build_opener(_NoRedirects).open(request, timeout=_SECONDS) as reply:
            said = reply.read().decode("utf-8", "replace")
    except HTTPError as error:
        raise RefusedError(error.code, named) from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise PasskError(f"{named} can't be reached: {reason}.") from None
    except (ValueError, HTTPException):
        # Their messages have the address or the token in them.
        raise PasskError(
            f"{named} can't be asked: its address or its token has a character that can't be sent.",
            hint="Check the variables that hold them.",
        ) from None
    try:
        return json.loads(said)
    except ValueError:
        return said


_HINTS: Final = {
    301: "The address has moved, as that of a renamed repository does: use the new one.",
    302: "The address has moved: use the new one.",
    307: "The address has moved, as that of a renamed repository does: use the new one.",
    401: "Check that the token or the address is right and has not expired.",
    403: "Check that the token may write: a workflow needs `pull-requests: write` in permissions.",
    404: "Check the address; a token without access gets this reply too.",
    410: "The receiver no longer exists: make a new one.",
}
