"""Ports for the servers that the tests start."""

from __future__ import annotations

import socket
from typing import Final

HOST: Final = "127.0.0.1"


def free_port() -> int:
    """Give a port of this machine that nothing listens on."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
    return port
