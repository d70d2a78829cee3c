"""An object store for tests: what speaks the protocol of S3 on this machine."""

from __future__ import annotations

import uuid
from http import HTTPStatus
from urllib.request import Request, urlopen

from ..ports import HOST, free_port
from .processes import Processes


class ObjectStore(Processes):
    """Moto on a free port; whoever has a name and a password is let in."""

    def __init__(self, program: str) -> None:
        super().__init__()
        port = free_port()
        self.address = f"{HOST}:{port}"
        self.start("moto", [program, "-H", HOST, "-p", str(port)], {})
        self.wait_for("moto", port)

    def new_bucket(self) -> str:
        """Make an empty bucket, and give its name."""
        name = f"evals-{uuid.uuid4().hex[:12]}"
        # Ours, on this machine.
        with urlopen(Request(f"http://{self.address}/{name}", method="PUT")) as answer:
            assert answer.status == HTTPStatus.OK
        return name

    @property
    def secret(self) -> str:
        """The statement that lets every later DuckDB of this user in."""
        return (
            "create persistent secret store (type s3, key_id 'evals', secret 'evals', region 'us-east-1', "
            f"endpoint '{self.address}', url_style 'path', use_ssl false)"
        )
