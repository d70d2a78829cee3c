"""The bundle as a folder, or as a zip file."""

from __future__ import annotations

import io
import secrets
import shutil
import zipfile
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import write_report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["write_folder", "write_zip"]

_MARK: Final = "metadata.yaml"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest that a zip file knows: the same bundle is the same file."""


def write_zip(path: Path, files: Mapping[str, str]) -> None:
    """Write a zip file with one folder in it, as Superset wants it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            member = zipfile.ZipInfo(f"passk/{name}", _EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, text)
    write_report(path, packed.getvalue())


def write_folder(path: Path, files: Mapping[str, str]) -> None:
    """Write a folder, whole or not at all."""
    if path.exists() and not _is_bundle(path):
        raise PasskError(
            f"{path} already exists and is not a Superset bundle.",
            hint="Name a folder that does not exist yet.",
        )
    token = secrets.token_hex(8)
    draft = path.with_name(f".passk-{token}.tmp")
    old = path.with_name(f".passk-{token}.old")
    try:
        for name, text in files.items():
            file = draft / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        if path.exists():
            path.replace(old)
        draft.replace(path)
    except OSError as error:
        raise PasskError(f"{path} can't be written: {error.strerror}.") from error
    finally:
        if old.exists() and not path.exists():
            old.replace(path)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(draft, ignore_errors=True)


def _is_bundle(path: Path) -> bool:
    if not path.is_dir():
        return False
    there = {entry.name for entry in path.iterdir()}
    return not there or (
        _MARK in there and there <= {_MARK, "databases", "datasets", "charts", "dashboards"}
    )
