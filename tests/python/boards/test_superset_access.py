"""Access to rows in Superset: rules of rows by agent, and dashboards in the page of somebody else."""

from __future__ import annotations

import http.server
import json
import re
import threading
from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.reports.superset.dashboards import DASHBOARDS
from passk_py.reports.superset.datasets import DATASETS

from ..ports import HOST
from .superset_site import PASSWORD, PORTAL, Page, needs_superset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .superset_site import Superset

pytestmark = needs_superset

AGENT: Final = "tracer"
ABOUT_OTHERS: Final = re.compile("scout|walker")


class Api:
    """Superset's API, as its administrator."""

    def __init__(self, page: Any, address: str) -> None:
        self._page = page
        self._address = address
        told = self.post(
            "security/login", username="admin", password=PASSWORD, provider="db", refresh=False
        )
        self._headers = {"Authorization": f"Bearer {told['access_token']}"}

    _headers: dict[str, str] = {}  # noqa: RUF012 - before the login there are none

    def post(self, path: str, **body: object) -> dict[str, Any]:
        url = f"{self._address}/api/v1/{path}"
        answer = self._page.request.post(url, data=json.dumps(body), headers={
            "Content-Type": "application/json", "Referer": self._address, **self._headers
        })  # fmt: skip
        assert answer.ok, (path, answer.text())
        return dict(answer.json())

    def all(self, path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for page in range(100):
            answer = self._page.request.get(
                f"{self._address}/api/v1/{path}/?q=(page_size:100,page:{page})",
                headers=self._headers,
            )
            assert answer.ok, answer.text()
            rows = answer.json()["result"]
            found += rows
            if len(rows) < 100:
                break
        return found


@pytest.fixture
def api(browser: Any, superset: Superset) -> Iterator[Api]:
    tab = browser.new_page()
    yield Api(tab, superset.address)
    tab.close()


def datasets(api: Api) -> dict[str, int]:
    return {
        row["table_name"].removeprefix("duckdb: "): row["id"]
        for row in api.all("dataset")
        if row["table_name"].startswith("duckdb: ")
    }


def check_rows(page: Page, dashboard: str) -> None:
    """Compare the agents of everything that a dashboard was told with the only one allowed."""
    for name, rows in page.told:
        for row in rows:
            assert not ABOUT_OTHERS.search(json.dumps(row)), (dashboard, name, row)
    assert not ABOUT_OTHERS.search(page.text), dashboard


def test_a_rule_leaves_the_rows_of_one_agent(browser: Any, superset: Superset, api: Api) -> None:
    of = datasets(api)
    assert set(of) == {dataset.name for dataset in DATASETS}
    # As docs/superset.md says it: a role that reads the database, and rules for this role.
    role = api.post("security/roles/", name=f"only {AGENT}")["id"]
    (reads,) = (
        row["id"]
        for row in api.all("security/permissions-resources")
        if row["permission"]["name"] == "database_access"
        and row["view_menu"]["name"].startswith("[duckdb]")
    )
    api.post(f"security/roles/{role}/permissions", permission_view_menu_ids=[reads])
    (gamma,) = (row["id"] for row in api.all("security/roles") if row["name"] == "Gamma")
    api.post(
        "security/users/", username=AGENT, first_name="a", last_name="b", active=True,
        email="tracer@example.org", password=PASSWORD, roles=[role, gamma],
    )  # fmt: skip
    for name, clause, tables in (
        ("agent", f"agent = '{AGENT}'", list(of.values())),
        (
            "baseline",
            f"coalesce(baseline_agent, '{AGENT}') = '{AGENT}'",
            [of["gates"], of["pairs"]],
        ),
    ):
        api.post(
            "rowlevelsecurity/", name=f"{name} of {AGENT}", filter_type="Regular", tables=tables,
            roles=[role], clause=clause, group_key="",
        )  # fmt: skip
    tab = browser.new_page(viewport={"width": 1600, "height": 3200})
    try:
        page = Page(tab, superset.address)
        page.log_in(AGENT)
        for dashboard in DASHBOARDS:
            page.open(f"duckdb-{dashboard.name}")
            check_rows(page, dashboard.name)
            seen = dict(page.told)
            if dashboard.name in {"overview", "run", "tasks", "gates"}:
                assert f"{AGENT}-2026-03" in json.dumps(page.told), seen
        # Superset refuses this user some of its own lists, such as that of themes, but no data.
        assert not [url for _, url in page.refused if "/chart/data" in url]
    finally:
        tab.close()


PAGE: Final = """<!doctype html><iframe src="{address}/embedded/{uuid}" width="1400" height="2400">
</iframe><script>
const frame = document.querySelector("iframe");
frame.onload = () => {{
  // What Superset's embedding library does.
  const channel = new MessageChannel();
  frame.contentWindow.postMessage(
    {{type: "__embedded_comms__", handshake: "port transfer"}}, "{address}", [channel.port2]);
  channel.port1.postMessage(
    {{switchboardAction: "emit", method: "guestToken", args: {{guestToken: "{token}"}}}});
}};
</script>"""


def serve(text: str, port: int) -> http.server.ThreadingHTTPServer:
    """Serve one page, as the portal of somebody else does it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer((HOST, port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def test_a_dashboard_opens_in_another_page(browser: Any, superset: Superset, api: Api) -> None:
    portal = f"http://{HOST}:{PORTAL}"
    (dashboard,) = (row["id"] for row in api.all("dashboard") if row["slug"] == "duckdb-overview")
    uuid = api.post(f"dashboard/{dashboard}/embedded", allowed_domains=[portal])["result"]["uuid"]
    token = api.post(
        "security/guest_token/",
        user={"username": "visitor", "first_name": "a", "last_name": "b"},
        resources=[{"type": "dashboard", "id": uuid}],
        rls=[{"clause": f"agent = '{AGENT}'"}],
    )["token"]
    server = serve(PAGE.format(address=superset.address, uuid=uuid, token=token), PORTAL)
    tab = browser.new_page(viewport={"width": 1600, "height": 2600})
    try:
        # A page that is not on the list gets nothing.
        assert tab.request.get(f"{superset.address}/embedded/{uuid}").status == 403
        tab.goto(portal)
        frame = tab.frame_locator("iframe")
        table = frame.locator("[data-test-chart-name='The latest run of each agent'] tbody tr")
        table.first.wait_for(timeout=120_000)
        assert [row.split()[0] for row in table.all_inner_texts()] == [f"{AGENT}-2026-03"]
        assert not ABOUT_OTHERS.search(frame.locator("body").inner_text())
        assert frame.locator(".ant-alert-error").count() == 0
    finally:
        tab.close()
        server.shutdown()
        server.server_close()
