"""A Superset of the tests' own, and its dashboards in a browser.

Superset runs in an environment of its own: ``PASSK_SUPERSET`` is its command.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import passk_py as pk

from ..ports import free_port
from .serving import wait_for

if TYPE_CHECKING:
    from .demo import Row

SUPERSET: Final = os.environ.get("PASSK_SUPERSET")
PASSWORD: Final = "only of this test"  # noqa: S105 - of a server that lives for minutes
needs_superset: Final = [
    pytest.mark.skipif(SUPERSET is None, reason="no Superset: see scripts/test_boards"),
    pytest.mark.timeout(900),
]

ROOT: Final = Path(__file__).resolve().parents[3]
PORTAL: Final = free_port()
"""Where a page of somebody else shows a dashboard."""

CONFIG: Final = """
SECRET_KEY = "a key of this test and of nothing else"
SQLALCHEMY_DATABASE_URI = "sqlite:///{home}/superset.db"
WTF_CSRF_ENABLED = False
RATELIMIT_ENABLED = False
# Otherwise a thread that waits five seconds for another's writes answers with an error.
SQLALCHEMY_ENGINE_OPTIONS = {{"connect_args": {{"timeout": 60}}}}
"""


def embedding() -> str:
    """Take the settings for embedding from the docs, for the portal of the tests."""
    text = (ROOT / "docs" / "superset.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(from superset.config import.*?)```", text, re.DOTALL)
    return str(block).replace("https://portal.example.org", f"http://127.0.0.1:{PORTAL}")


class Superset:
    """A Superset with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.address = ""
        home.mkdir()
        config = home / "superset_config.py"
        config.write_text(CONFIG.format(home=home) + embedding(), encoding="utf-8")
        self.env = {
            **os.environ,
            "SUPERSET_CONFIG_PATH": str(config),
            "SUPERSET_HOME": str(home),
            "FLASK_APP": "superset",
            "SUPERSET_GUEST_SECRET": "another key of this test and of nothing else",
        }
        self.todo = [
            ["db", "upgrade"],
            [
                "fab", "create-admin", "--username", "admin", "--password", PASSWORD,
                "--firstname", "a", "--lastname", "b", "--email", "a@example.org",
            ],
            ["init"],
        ]  # fmt: skip

    def take(self, name: str, uri: str, schema: str | None = None) -> None:
        """Import a bundle as the docs say."""
        folder = self.home / f"bundle of {name}"
        pk.superset_bundle(folder, uri=uri, schema=schema, name=name)
        self.todo.append(["import-directory", "--overwrite", str(folder)])

    def run(self) -> None:
        """Run all commands in one process, because each of its own takes half a minute."""
        python = Path(str(SUPERSET)).with_name("python")
        done = subprocess.run(
            [str(python), "-c", COMMANDS, json.dumps(self.todo)],
            env=self.env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-4000:]
        self.todo = []

    def serve(self) -> subprocess.Popen[bytes]:
        port = free_port()
        log = self.home / "log.txt"
        with log.open("wb") as output:
            server = subprocess.Popen(
                [str(SUPERSET), "run", "--port", str(port), "--with-threads"],
                env=self.env, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self.address = f"http://127.0.0.1:{port}"
        wait_for(f"{self.address}/health", server, log)
        return server


COMMANDS: Final = """
import json, sys
from flask.cli import ScriptInfo
from superset.app import create_app
from superset.cli.main import superset

app = create_app()
for words in json.loads(sys.argv[1]):
    made = ScriptInfo(create_app=lambda: app)
    superset.main(words, "superset", standalone_mode=False, obj=made)
"""


class Page:
    """A dashboard in a browser, and what it was told."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.told: list[tuple[str, list[Row]]] = []
        """The answers to each chart, of all its queries together."""
        self.answers: list[tuple[str, list[Row]]] = []
        """The same, query by query: each is of one copy of the tables."""
        self.refused: list[tuple[int, str]] = []
        self.pending: set[Any] = set()
        page.set_default_timeout(120_000)
        page.on("request", self._asked)
        page.on("requestfinished", self._answered)
        page.on("requestfailed", self._answered)
        page.on("response", self._note)

    def _asked(self, request: Any) -> None:
        self.pending.add(request)

    def _answered(self, request: Any) -> None:
        self.pending.discard(request)

    def _note(self, response: Any) -> None:
        if response.status >= 400:
            self.refused.append((response.status, response.url))
        elif "/api/v1/chart/data" in response.url:
            asked = json.loads(response.request.post_data)["form_data"]
            if "slice_id" in asked and asked.get("viz_type") != "filter_select":
                name = self.names.get(asked["slice_id"], "?")
                # A chart of two queries has two answers.
                answers = [result["data"] for result in response.json()["result"]]
                self.told.append((name, [row for rows in answers for row in rows]))
                self.answers += [(name, rows) for rows in answers]

    def log_in(self, user: str = "admin") -> None:
        self.page.goto(f"{self.address}/login/")
        self.page.get_by_label("Username").fill(user)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").last.click()
        self.page.wait_for_url(re.compile("^[^?]*(welcome|superset)"))

    def open(self, slug: str) -> Page:
        answer = self.page.request.get(f"{self.address}/api/v1/dashboard/{slug}/charts")
        assert answer.ok, (slug, answer.status, answer.text())
        self.names = {chart["id"]: chart["slice_name"] for chart in answer.json()["result"]}
        self.told.clear()
        self.answers.clear()
        self.pending.clear()
        self.page.goto(f"{self.address}/superset/dashboard/{slug}/")
        self.settle()
        return self

    def settle(self) -> None:
        """Wait until nothing has been asked or loading for two seconds: each chart has its answer."""
        end = time.monotonic() + 120
        quiet = 0
        while quiet < 8:
            assert time.monotonic() < end, [request.url for request in self.pending]
            self.page.wait_for_timeout(250)
            is_loading = self.page.locator("[data-test='loading-indicator']").count() > 0
            quiet = 0 if self.pending or is_loading else quiet + 1

    def choose(self, choice: str, value: str) -> None:
        control = self.page.locator("form").filter(
            has=self.page.get_by_role("heading", name=choice, exact=True)
        )
        control.locator(".ant-select-selector").click()
        field = control.get_by_role("combobox")
        field.fill(value)
        self.page.locator(".ant-select-item-option:visible").get_by_text(
            value, exact=True
        ).first.click()
        self.page.get_by_role("button", name="Apply").click()
        self.settle()

    def rows(self, name: str) -> list[Row]:
        """The last answer to a chart."""
        return [rows for chart, rows in self.told if chart == name][-1]

    @property
    def text(self) -> str:
        return " ".join(self.page.inner_text("body").split())

    def table(self, name: str) -> list[list[str]]:
        """The cells of a table as they are shown, a minus sign as a hyphen."""
        chart = self.page.locator(f"[data-test-chart-name='{name}']")
        return [
            [
                " ".join(cell.split()).replace("\u2212", "-")
                for cell in row.locator("td").all_inner_texts()
            ]
            for row in chart.locator("tbody tr").all()
        ]


def passk(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("passk")), *words],
        cwd=folder, capture_output=True, text=True, check=False,
        env={key: value for key, value in os.environ.items() if not key.startswith("PASSK_")},
    )  # fmt: skip
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
