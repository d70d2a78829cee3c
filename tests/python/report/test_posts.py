"""``passk report --post``: to a CI step, a pull request and a chat, against servers of this machine."""

from __future__ import annotations

import json
import threading
from copy import deepcopy
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any, Final

import pytest
from click.testing import CliRunner

import passk_py as pk
from passk_py.cli import cli
from passk_py.reports.posts.changes import verdict_changes
from passk_py.reports.posts.github_annotations import flaky_tasks
from passk_py.reports.posts.short_markdown import short_markdown
from passk_py.reports.report import report_facts
from passk_py.warehouse.project import state_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Project

STRANGE: Final = "<!channel> *bot* _x_ <https://evil.example|click>"
SECRET: Final = "a-token-that-nobody-may-see"  # noqa: S105


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Callable[..., list[Any]]) -> Project:
    """A reliable run of an agent, and a later one that fails every second time."""
    rows: list[Any] = []
    for day, (run, letters) in enumerate({"before": "PPPPPPPP", "after": "PFPFPFPF"}.items(), 1):
        for task in range(12):
            rows += attempts(
                run, f"t{task}", letters, suite="desk", agent=STRANGE, agent_version=f"v{day}",
                started_at=datetime(2026, 1, day), cost_usd=0.5,
            )  # fmt: skip
    made = make_project()
    made.land(rows)
    made.run({"passk_ks": [1, 2], "passk_deployment_k": 2})
    return made


@pytest.fixture(scope="module")
def facts_of() -> Callable[..., Any]:
    """Gathers the facts of tables that no test changes, once for each filter."""
    kept: dict[str, Any] = {}
    gather_anew = report_facts.gather

    def gather(tables: Any, filters: Any = None, **more: Any) -> Any:
        key = repr((filters, more))
        if key not in kept:
            kept[key] = gather_anew(tables, filters, **more)
        return deepcopy(kept[key])

    return gather


class Server:
    """A server that keeps what it was asked, and answers what it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any, dict[str, str]]] = []
        self.comments: list[dict[str, Any]] = []
        self.status = 200
        self.of_others: set[str] = set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(size)) if size else None
                outer.asked.append((self.command, self.path, body, dict(self.headers)))
                is_refused = self.path.rpartition("/")[2] in outer.of_others
                self.send_response(403 if is_refused else outer.status)
                if outer.status == 302:
                    self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.end_headers()
                page = int(self.path.rpartition("page=")[2] or 1) if "page=" in self.path else 1
                found = outer.comments[(page - 1) * 100 : page * 100]
                self.wfile.write(json.dumps(found if self.command == "GET" else {}).encode())

            do_GET = do_POST = do_PATCH = answer  # noqa: N815 - the library calls them so

            def log_message(self, *_: Any) -> None: ...

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, facts_of: Callable[..., Any]) -> Iterator[Server]:
    # The test looks at the message alone, because gathering the facts takes most of a report.
    monkeypatch.setattr(report_facts, "gather", facts_of)
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


def post(built: Project, target: str) -> Any:
    return CliRunner().invoke(cli, ["report", "--database", str(built.database), "--post", target])


@pytest.fixture
def pull_request(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}), encoding="utf-8")
    for name, value in {
        "GITHUB_TOKEN": SECRET, "GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": server.url,
        "GITHUB_EVENT_PATH": str(event),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    return server


@pytest.mark.long
def test_the_short_form_has_the_numbers_of_the_tables_and_no_attempt(built: Project) -> None:
    facts = pk.report(built.database).facts
    text = short_markdown(facts, verdict_changes(facts))
    (row,) = built.query(
        "select 100 * pass_at_k, 100 * pass_hat_k from passk_suite_metrics"
        " where run_id = 'after' and k = 2 and slice_name = 'all'"
    )
    for share in row:
        assert f"| {share:.1f}% (" in text
    # Eight attempts of twelve tasks in each run, half a dollar each; half of the last ones pass.
    assert "2 runs of 1 agent, 12 tasks, 192 attempts" in text
    assert "They cost \\$96.00." in text
    assert "| 1.00 " in text
    assert "t11" not in text
    assert "https:\u200b//" in text
    assert "https://" not in text
    assert "u200b" not in text
    assert "&#124;click" in text
    assert "<!channel>" not in text.replace("\\<", "")


def test_a_change_is_a_reading_or_a_pass_hat_k_that_moved(built: Project) -> None:
    facts = pk.report(built.database).facts
    said = [change.said for change in verdict_changes(facts)]
    assert len(said) == 2
    assert (
        "v2 (run after) is not capable" in said[0]
        or "v2 (run after) is capable but flaky" in said[0]
    )
    assert "v1 (run before) was capable and consistent" in said[0]
    assert "fell from 100% to" in said[1]
    alone = pk.report(built.database, run_id="before").facts
    assert verdict_changes(alone) == []


def test_the_summary_of_a_ci_step(
    built: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = tmp_path / "summary.md"
    place.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    done = post(built, "github-summary")
    assert done.exit_code == 0, done.output
    assert place.read_text(encoding="utf-8").startswith("before\n## Capability and reliability\n")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    done = post(built, "github-summary")
    assert done.exit_code == 2
    assert "There is no CI step to summarize" in done.stderr


def test_one_comment_on_a_pull_request(built: Project, pull_request: Server) -> None:
    done = post(built, "github-comment")
    assert done.exit_code == 0, done.output
    (asked, wrote) = pull_request.asked
    assert asked[:2] == ("GET", "/repos/o/r/issues/7/comments?per_page=100&page=1")
    assert wrote[:2] == ("POST", "/repos/o/r/issues/7/comments")
    assert wrote[3]["Authorization"] == f"Bearer {SECRET}"
    body = wrote[2]["body"]
    # Later, among more comments than a page holds, the same one is found and replaced.
    others = [{"id": place, "body": "by others"} for place in range(130)]
    pull_request.comments = [*others, {"id": 900, "body": body}]
    pull_request.asked.clear()
    assert post(built, "github-comment").exit_code == 0
    assert [one[:2] for one in pull_request.asked][-1] == (
        "PATCH", "/repos/o/r/issues/comments/900",
    )  # fmt: skip
    assert len(pull_request.asked) == 3


def test_a_comment_of_somebody_else_with_the_marker_is_passed_over(
    built: Project, pull_request: Server
) -> None:
    assert post(built, "github-comment").exit_code == 0
    body = pull_request.asked[-1][2]["body"]
    pull_request.comments = [{"id": 1, "body": body}, {"id": 2, "body": body}]
    pull_request.of_others = {"1"}
    pull_request.asked.clear()
    assert "was replaced" in post(built, "github-comment").stdout
    assert [one[:2] for one in pull_request.asked][1:] == [
        ("PATCH", "/repos/o/r/issues/comments/1"), ("PATCH", "/repos/o/r/issues/comments/2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", f"{SECRET}\nmore"), ("GITHUB_TOKEN", f"{SECRET}€"),
        ("GITHUB_API_URL", f"http://[{SECRET}"), ("GITHUB_API_URL", f"ftp://{SECRET}"),
        ("GITHUB_API_URL", f"http://127.0.0.1:9/{SECRET} x"),
    ],
)  # fmt: skip
def test_what_can_not_be_sent_is_said_without_it(
    built: Project, pull_request: Server, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    done = post(built, "github-comment")
    assert done.exit_code == 2
    assert SECRET not in done.output
    assert "bug" not in done.stderr


@pytest.mark.parametrize("status", [302, 401, 403, 404, 500])
def test_a_refusal_is_said_and_names_no_token(
    built: Project, pull_request: Server, status: int
) -> None:
    pull_request.status = status
    done = post(built, "github-comment")
    assert done.exit_code == 2
    assert f"GitHub refused the request: {status}" in done.stderr
    assert SECRET not in done.output
    assert len(pull_request.asked) == 1


def test_a_job_without_a_pull_request(
    built: Project, pull_request: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_EVENT_PATH", "nowhere")
    monkeypatch.setenv("GITHUB_REF", "refs/heads/main")
    done = post(built, "github-comment")
    assert "This job is not about a pull request" in done.stderr
    monkeypatch.setenv("GITHUB_REF", "refs/pull/12/merge")
    assert post(built, "github-comment").exit_code == 0
    assert pull_request.asked[0][1].startswith("/repos/o/r/issues/12/")
    monkeypatch.delenv("GITHUB_TOKEN")
    assert "needs the variable GITHUB_TOKEN" in post(built, "github-comment").stderr


def test_a_message_where_a_verdict_changed_and_only_once(
    built: Project, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "PASSK_SLACK_WEBHOOK, which is not set" in post(built, "slack").stderr
    monkeypatch.setenv("PASSK_SLACK_WEBHOOK", f"{server.url}/{SECRET}")
    server.status = 500
    done = post(built, "slack")
    assert "The webhook refused the request: 500" in done.stderr
    assert SECRET not in done.output
    server.status = 200
    server.asked.clear()
    assert post(built, "slack").exit_code == 0
    (sent,) = server.asked
    message = sent[2]
    assert "<" not in message["text"]
    assert {block["text"]["type"] for block in message["blocks"]} == {"plain_text"}
    text = message["blocks"][1]["text"]["text"]
    assert STRANGE.replace("://", ":\u200b//") in text
    assert len(text.split("\n")) == 2
    assert "none was sent" in post(built, "slack").stdout
    # New changes are sent without the old ones, and no suite forgets another one.
    runner = CliRunner()
    words = ["report", "--database", str(built.database), "--post", "slack"]
    assert "none was sent" in runner.invoke(cli, [*words, "--suite", "desk"]).stdout
    assert len(server.asked) == 1
    monkeypatch.setenv("PASSK_SLACK_WEBHOOK", f"{server.url}/{SECRET} x")
    (state_dir(built.database) / "posted.txt").unlink()
    done = post(built, "slack")
    assert done.exit_code == 2
    assert SECRET not in done.output


def test_flaky_tasks_become_annotations_that_no_name_breaks_out_of(built: Project) -> None:
    facts = pk.report(built.database).facts
    facts["suites"][0]["tasks"][0]["task_id"] = "50%: a,b\n::error::x"
    said = flaky_tasks(facts)
    # Twelve tasks of the later run are flaky, of which GitHub shows ten; the earlier run is none of the latest.
    assert len(said) == 10
    assert said[0].startswith("::warning title=50%25%3A a%2Cb\\n%3A%3Aerror%3A%3Ax is flaky::")
    assert said[0].endswith(" on desk: 4 of 8 attempts passed. pass^2 is 21.4%25.")
    assert not any("\n" in line for line in said)
