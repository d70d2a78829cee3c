"""Landing: attempt logs into DuckDB, and out again."""

from __future__ import annotations

from passk_py.landing.forgetting import forget
from passk_py.landing.loading import load
from passk_py.landing.report import (
    FileReport,
    ForgetReport,
    LoadReport,
    Progress,
    SkippedFile,
    Status,
)
from passk_py.landing.schema import ensure_landing

__all__ = [
    "FileReport",
    "ForgetReport",
    "LoadReport",
    "Progress",
    "SkippedFile",
    "Status",
    "ensure_landing",
    "forget",
    "load",
]
