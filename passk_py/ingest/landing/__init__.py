"""Landing: attempt logs into DuckDB, and out again.

Nothing is imported before it is used: who only opens a database needs no format.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from passk_py.ingest.landing.labels import LabelFile, load_labels, load_verdicts
    from passk_py.ingest.landing.load_report import (
        FileReport,
        ForgetReport,
        LoadReport,
        Progress,
        SkippedFile,
        Status,
    )
    from passk_py.ingest.landing.loading import load
    from passk_py.ingest.landing.schema import ensure_landing
    from passk_py.ingest.landing.unloading import forget

__all__ = [
    "FileReport",
    "ForgetReport",
    "LabelFile",
    "LoadReport",
    "Progress",
    "SkippedFile",
    "Status",
    "ensure_landing",
    "forget",
    "load",
    "load_labels",
    "load_verdicts",
]

_MODULES: Final = {
    "LabelFile": "labels",
    "ensure_landing": "schema",
    "forget": "unloading",
    "load": "loading",
    "load_labels": "labels",
    "load_verdicts": "labels",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is asked for
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULES.get(name, 'load_report')}")
    return getattr(module, name)
