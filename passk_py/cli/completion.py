"""``passk completion``: print the completion script of a shell."""

from __future__ import annotations

import os
from pathlib import Path

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options

_SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    short_help="Print the script that completes commands in a shell.",
    epilog="\b\nTo switch it on:\n"
    "  bash  passk completion bash > ~/.local/share/bash-completion/completions/passk\n"
    "  zsh   passk completion zsh > ~/.zfunc/_passk      (with ~/.zfunc in fpath)\n"
    "  fish  passk completion fish > ~/.config/fish/completions/passk.fish\n"
    "Then open a new shell.",
)
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
@common_options
@pass_session
def command(session: Session, *, shell: str | None) -> int:
    """Print the script that completes commands, options and tables in a shell.

    Without an argument, the environment variable SHELL decides.
    """
    from click.shell_completion import get_completion_class

    from passk_py.cli.group import cli

    name = shell or Path(os.environ.get("SHELL", "")).name
    found = get_completion_class(name)
    if found is None:
        raise click.UsageError(f"Name the shell: {', '.join(_SHELLS)}.")
    script = found(cli, {}, "passk", "_PASSK_COMPLETE").source()
    session.result({"shell": name, "script": script})
    session.say(script)
    return 0
