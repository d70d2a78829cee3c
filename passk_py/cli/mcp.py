"""``passk mcp``: answer a language model's questions about runs, without writing anything."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples
from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    "mcp",
    short_help="Answer a language model's questions about runs (MCP), read-only.",
    epilog=examples("passk mcp", "passk mcp --database bi/passk.duckdb"),
)
@database_option
@common_options
@pass_session
def command(session: Session, *, database: Path) -> int:
    """Serve questions about runs by the Model Context Protocol, over stdin and stdout.

    A program that talks to a language model starts this command and calls its tools: runs, answer,
    metrics, tasks, comparison, gates, diagnostics, tables, rows. They only read, and give a bounded
    number of rows. The database is opened for each question. If builds run meanwhile, serve a copy
    by `passk publish`.
    """
    del session
    if find_spec("mcp") is None:
        raise PasskError(
            "The SDK of the Model Context Protocol is not installed.",
            hint="Install it with `pip install 'mcp>=2'`, or passk-py with the extra mcp.",
        )
    from passk_py.cli.mcp_server import make_server

    make_server(database).run("stdio")
    return 0
