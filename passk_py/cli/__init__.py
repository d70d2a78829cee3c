"""The command line: ``passk`` and its commands, one file each."""

from __future__ import annotations

from passk_py.cli.group import cli, main

__all__ = ["cli", "main"]
