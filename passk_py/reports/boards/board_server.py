"""The server in front of dct: it shows each browser the boards that fit its screen.

dct draws a board at a fixed width in fixed colours. So the project holds each board four times, and
a script in the page goes to the one that fits.
"""

from __future__ import annotations

import http.client
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from passk_py.common.errors import PasskError
from passk_py.common.words import shortened

if TYPE_CHECKING:
    from passk_py.reports.boards.dct_program import Dct

_BOARD: Final = re.compile(
    r"/(?:dark/)?(?:phone/)?(?:overview|run|details|grader|compare|task|gates)/?(?:\?|$)"
)
_NOT_SHOWN: Final = re.compile(r"/(?:docs|redoc|openapi\.json|inspect)(?:[/?]|$)")
"""Pages of dct about itself and the tables, which load scripts from elsewhere."""

_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_NUMBERS: Final = ("k",)
"""Filters of the boards that are numbers: of another text dct fails with a page of its own."""

_LONGEST_SHOWN: Final = 40
_HERE: Final = frozenset({"127.0.0.1", "::1"})
_PASSED_ON: Final = ("Content-Type", "Content-Disposition", "Location", "Cache-Control")
_FOLLOW: Final = b"""<script>
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 700px)");
  const follow = () => {
    const board = location.pathname.replace(/^\\/(dark\\/)?(phone\\/)?/, "") || "overview";
    const fitting = "/" + (dark.matches ? "dark/" : "") + (narrow.matches ? "phone/" : "") + board;
    if (fitting !== location.pathname) location.replace(fitting + location.search + location.hash);
  };
  for (const query of [dark, narrow]) query.addEventListener("change", follow);
  follow();
})();
</script>"""


class BoardServer(ThreadingHTTPServer):
    """Answers as dct does, and adds the script that chooses the fitting board."""

    daemon_threads = True
    dct: Dct | None = None

    def __init__(self, host: str, port: int) -> None:
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise PasskError(
                f"Nothing can be served at {host}, port {port}: {error}.",
                hint="If something else has that port, give another one with --port.",
            ) from error

    def service_actions(self) -> None:
        """Stop where dct has."""
        if self.dct is not None:
            self.dct.require_running()


class _Handler(BaseHTTPRequestHandler):
    server: BoardServer

    def do_GET(self) -> None:
        if not self._is_asked_for_by_name() or _NOT_SHOWN.match(self.path):
            self._answer(404, {"Content-Type": "text/plain"}, b"There is no such page.")
        elif self.path == "/":
            # Only the way on: a board that does not fit is not drawn first.
            self._answer(200, {"Content-Type": "text/html"}, b"<!doctype html>" + _FOLLOW)
        elif self.path.startswith("/__livereload"):
            # A page asks for changes of its board until it is told that there are none.
            self._answer(204, {}, b"")
        elif mistake := _mistake_in(self.path):
            self._answer(400, {"Content-Type": "text/plain; charset=utf-8"}, mistake.encode())
        else:
            self._pass_on()

    def _is_asked_for_by_name(self) -> bool:
        """Whether a browser means this machine: a name of elsewhere may be made to lead here."""
        if self.server.server_address[0] not in _HERE:
            return True
        host = self.headers.get("Host", "localhost")
        return urlsplit(f"//{host}").hostname in {"localhost", *_HERE}

    def _pass_on(self) -> None:
        assert self.server.dct is not None  # noqa: S101 - set before the first request
        connection = http.client.HTTPConnection("127.0.0.1", self.server.dct.port)
        try:
            connection.request("GET", self.path)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._answer(502, {"Content-Type": "text/plain"}, f"dct: {error}".encode())
            return
        finally:
            connection.close()
        headers = {name: value for name in _PASSED_ON if (value := answer.getheader(name))}
        if _BOARD.match(self.path) and headers.get("Content-Type", "").startswith("text/html"):
            body = body.replace(b"<head>", b"<head>" + _FOLLOW, 1)
        self._answer(answer.status, headers, body)

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:
            # The browser has gone to another page.
            self.close_connection = True

    def log_message(self, *_words: object) -> None:
        """Say nothing of each request."""


def _mistake_in(path: str) -> str | None:
    """Say which filter in the address of a board is no number; None if all that have to be are."""
    if not _BOARD.match(path):
        return None
    asked = parse_qs(urlsplit(path).query)
    for name in _NUMBERS:
        for value in asked.get(name, []):
            if not _NUMBER.fullmatch(value):
                shown = repr(shortened(value, _LONGEST_SHOWN))
                must_be = f"must be a whole number, as in {name}=4"
                return f"{name} is {shown} in this address, but {must_be}."
    return None
