"""The bundle as a folder, or as a zip file."""

from __future__ import annotations

import io
import shutil
import zipfile
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import draft_beside, write_report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_MARK: Final = "metadata.yaml"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest that a zip file knows: the same bundle is the same file."""


def write_zip(path: Path, files: Mapping[str, str], *, is_private: bool) -> None:
    """Write a zip file with one folder in it, as Superset wants it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            member = zipfile.ZipInfo(f"passk/{name}", _EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, text)
    write_report(path, packed.getvalue(), is_private=is_private)


def write_folder(path: Path, files: Mapping[str, str], *, is_private: bool) -> None:
    """Write a folder, whole or not at all."""
    if path.exists() and not _is_bundle(path):
        raise PasskError(
            f"{path} already exists and is not a Superset bundle.",
            hint="Name a folder that does not exist yet.",
        )
    draft = draft_beside(path)
    # No draft: it may be all that is left of the bundle.
    old = draft.with_suffix(".old")
    try:
        for name, text in files.items():
            file = draft / name
            file.parent.mkdir(parents=True, exist_ok=True)
            write_report(file, text, is_private=is_private)
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
