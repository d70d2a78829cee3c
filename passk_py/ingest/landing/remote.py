"""Logs at an address: fetched into a folder before they are read."""

from __future__ import annotations

import http.client
import netrc
import os
import posixpath
import re
import shutil
import socket
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlsplit

from passk_py.common.errors import PasskError
from passk_py.common.files import SCHEMES, is_remote
from passk_py.ingest.landing.discovery import is_named_like_a_log
from passk_py.ingest.landing.load_report import FileReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from passk_py.ingest.landing.load_report import Progress

_WEB: Final = ("http", "https")
_CREDENTIALS: Final = {
    "s3": "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for a public bucket "
    """set FSSPEC_S3='{"anon": true}'.""",
    "gs": "Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS.",
    "az": "Set AZURE_STORAGE_ACCOUNT_NAME, and AZURE_STORAGE_ACCOUNT_KEY or "
    "AZURE_STORAGE_SAS_TOKEN.",
    "hf": "Set HF_TOKEN, or run `hf auth login`.",
    "memory": "",
}
"""The schemes that fsspec reads, and where each takes credentials from."""

_TIMEOUT_S: Final = 60
_MAGIC: Final = "*?["
_AGAIN: Final = "Load it again."


def names_of_fetched(folder: str | Path) -> dict[str, str]:
    """Give the start of the paths in a folder of fetched files, and of their addresses."""
    return {f"{folder}{os.sep}{scheme}{os.sep}": f"{scheme}://" for scheme in SCHEMES}


def fetched(
    paths: Sequence[str | Path], folder: Path, progress: Progress | None
) -> Iterator[str | Path | FileReport]:
    """Give each path; of an address, those of the files that were fetched, or the failure."""
    for path in paths:
        if not is_remote(path):
            yield path
            continue
        address = str(path)
        try:
            if address.partition("://")[0].lower() in _WEB:
                yield _from_web(address, folder, progress)
            else:
                yield from _from_store(address, folder)
        except PasskError as error:
            yield _failure(address, error)
        except (ValueError, http.client.InvalidURL):
            # It has a host, a port or a name that nothing can have.
            wrong = PasskError(f"{_shown(address)} is no address.", hint="Check its spelling.")
            yield _failure(address, wrong)


def _failure(address: str, error: PasskError) -> FileReport:
    return FileReport(_shown(address), "failed", message=error.message, hint=error.hint or "")


def _shown(address: str) -> str:
    """Write an address without what may be secret: a password, a query."""
    scheme, _, rest = address.partition("://")
    host, slash, path = re.split("[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme.lower()}://{host.rpartition('@')[2]}{slash}{path}"


def _place(folder: Path, scheme: str, path: str) -> Path:
    """Give the place of a file below the folder; its path there is that of the address."""
    steps = path.strip("/").split("/")
    if not all(steps) or {".", ".."} & {*steps}:
        raise PasskError(
            f"{scheme}://{path} names no file.", hint="Give the whole address of a file."
        )
    return folder.joinpath(scheme, *steps)


def _from_web(address: str, folder: Path, progress: Progress | None) -> Path:
    """Fetch a file by HTTP, and check that all of it came."""
    name, parts = _shown(address), urlsplit(address)
    if parts.password is not None:
        raise PasskError(
            f"The address of {name} holds a password, which histories of shells keep.",
            hint="Write it into ~/.netrc, and leave it out of the address.",
        )
    if not parts.path.strip("/"):
        raise PasskError(f"{name} names no file.", hint="Give the whole address of a file.")
    place = _place(folder, parts.scheme.lower(), f"{parts.netloc}/{unquote(parts.path).strip('/')}")
    if place.is_dir() or any(one.is_file() for one in place.parents):
        raise PasskError(
            f"{name} was not fetched: it and another address name a file and a folder by one name.",
            hint="Load the two one by one.",
        )
    if place.exists():
        raise PasskError(
            f"Two addresses are {name}, apart from the query, which may be secret and is not kept.",
            hint="Load them one by one, each with a name of its own, after downloading them.",
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    clean = parts._replace(path=quote(parts.path, safe="/%:@!$&'()*+,;=~-._"), fragment="").geturl()
    request = urllib.request.Request(clean, headers={"Accept-Encoding": "identity"})  # noqa: S310 - a web address
    if login := _login(parts.hostname or ""):
        request.add_unredirected_header("Authorization", login)
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - as above
            _receive(answer, place, name, progress)
    except (PasskError, http.client.InvalidURL):
        place.unlink(missing_ok=True)
        raise
    except (OSError, http.client.HTTPException) as error:
        place.unlink(missing_ok=True)
        raise _explained_web(name, parts.hostname or "", error) from None
    return place


def _login(host: str) -> str | None:
    """Find the login for a host in the user's netrc file."""
    with suppress(OSError, netrc.NetrcParseError):
        found = netrc.netrc(os.environ.get("NETRC")).hosts.get(host)
        if found:
            return "Basic " + b64encode(f"{found[0]}:{found[2]}".encode()).decode()
    return None


def _receive(answer: Any, place: Path, name: str, progress: Progress | None) -> None:  # noqa: ANN401 - of urllib
    """Write the answer of a server to a file, by pieces."""
    length = answer.headers.get("Content-Length")
    total = int(length) if length and length.isdigit() else None
    with place.open("wb") as file:
        while piece := answer.read(1 << 20):
            if not file.tell() and _is_web_page(answer, piece):
                host = urlsplit(answer.geturl()).hostname
                raise PasskError(
                    f"{name} is a web page of {host}, not a log: the server may ask for a login.",
                    hint="Use an address that needs no login, such as a signed one, or ~/.netrc.",
                )
            file.write(piece)
            if progress:
                progress(name, file.tell(), total or file.tell(), 0)
        size = file.tell()
    if total is not None and size != total:
        raise _cut_off(name, size, total)


def _is_web_page(answer: Any, start: bytes) -> bool:  # noqa: ANN401 - of urllib
    head = start.lstrip()[:15].lower()
    is_html = answer.headers.get_content_type() == "text/html"
    return head.startswith((b"<!doctype html", b"<html")) or (is_html and head.startswith(b"<"))


def _cut_off(name: str, size: int, total: int) -> PasskError:
    return PasskError(
        f"{name} is not whole: {size:,} of {total:,} bytes came before the connection ended.",
        hint=_AGAIN,
    )


def _explained_web(name: str, host: str, error: Exception) -> PasskError:
    """Say what went wrong on the way to a server."""
    if isinstance(error, urllib.error.HTTPError):
        if error.code in (404, 410):
            return PasskError(f"{name} does not exist.", hint="Check the address.")
        if error.code in (401, 403):
            return PasskError(
                f"{name} needs credentials: the server answered {error.code}.",
                hint="Use a signed address, or write the login into ~/.netrc.",
            )
        return PasskError(f"{name} was not fetched: the server answered {error.code}.", hint=_AGAIN)
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, socket.gaierror):
        return PasskError(
            f"{name} was not fetched: no server is called {host}.",
            hint="Check the address and the network.",
        )
    if isinstance(reason, ssl.SSLError):
        return PasskError(
            f"{name} was not fetched: the certificate of {host} can't be verified.",
            hint="Set SSL_CERT_FILE to the certificates of your network.",
        )
    if isinstance(reason, http.client.HTTPException):
        return PasskError(f"{name} is not whole: the connection ended too early.", hint=_AGAIN)
    said = reason.strerror if isinstance(reason, OSError) and reason.strerror else reason
    return PasskError(f"{name} was not fetched: {said}.", hint=_AGAIN)


def _from_store(address: str, folder: Path) -> list[Path]:
    """Fetch a file, or those of a pattern or folder, from a store that fsspec reads."""
    scheme = urlsplit(address).scheme.lower()
    name = f"{scheme}://{address.partition('://')[2].partition('?')[0]}"
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise _without_extra(name) from None
    try:
        store, path = url_to_fs(name if scheme == "memory" else address)
        return _files_of(store, path, name, folder)
    except PasskError:
        raise
    except ImportError:
        raise _without_extra(name) from None
    except FileNotFoundError:
        raise PasskError(f"{name} does not exist.", hint="Check the address.") from None
    except Exception as error:  # noqa: BLE001 - each store has errors of its own
        raise _explained_store(name, scheme, error) from None


def _files_of(store: Any, path: str, name: str, folder: Path) -> list[Path]:  # noqa: ANN401 - of fsspec
    """Fetch the files that a path of a store leads to; give what to load."""
    scheme = name.partition("://")[0]
    if any(sign in path for sign in _MAGIC):
        found = [one for one in sorted(store.glob(path)) if not store.isdir(one)]
        if not found:
            raise PasskError(f"Nothing matches {name}.", hint="Check the pattern.")
        return [_get(store, one, scheme, folder) for one in found]
    if not store.isdir(path):
        return [_get(store, path, scheme, folder)]
    inside = [one for one in store.find(path) if is_named_like_a_log(posixpath.basename(one))]
    if not inside:
        raise PasskError(f"There is no log in {name}.", hint="Name the file itself.")
    for one in inside:
        _get(store, one, scheme, folder)
    return [_place(folder, scheme, path)]


def _get(store: Any, path: str, scheme: str, folder: Path) -> Path:  # noqa: ANN401 - of fsspec
    """Fetch a file by pieces, and check its size."""
    place = _place(folder, scheme, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    total = store.info(path).get("size")
    with store.open(path, "rb") as file, place.open("wb") as copy:
        shutil.copyfileobj(file, copy, 1 << 20)
    size = place.stat().st_size
    if total is not None and size != total:
        raise _cut_off(f"{scheme}://{path.lstrip('/')}", size, total)
    return place


def _without_extra(name: str) -> PasskError:
    return PasskError(
        f"{name} can't be fetched: the libraries for its kind are not installed.",
        hint="Install the extra `remote`: passk-py[remote].",
    )


def _explained_store(name: str, scheme: str, error: Exception) -> PasskError:
    """Say what went wrong in a store; the words of the error may hold secrets and are left out."""
    kind = type(error).__name__
    if isinstance(error, PermissionError) or "Credential" in kind or "Auth" in kind:
        return PasskError(
            f"{name} needs credentials, or other ones.", hint=_CREDENTIALS[scheme] or None
        )
    return PasskError(
        f"{name} was not fetched: {kind}.",
        hint=f"Check the address and the network. {_CREDENTIALS[scheme]}".strip(),
    )
