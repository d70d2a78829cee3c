"""The table of tasks in Chromium: from a number to the attempt behind it, by clicks, keys and links."""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime, timedelta
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

import passk_py as pk
from passk_py.common.errors import PasskError
from passk_py.common.words import DASH
from passk_py.reports.report import Report, task_facts
from passk_py.reports.report.explorer_data import explorer_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Project

STRANGE: Final = "</script><img src=x onerror=alert(1)> & 'a' _b_ *c* ?d=1#e%20"
TEMPLATE: Final = "https://logs.example/{run_id}/{task_id}/{attempt}"
LETTERS: Final = {"old": {"sure": "PPPP", "shaky": "PFPX", STRANGE: "FFFF"}, "new": {"sure": "PPFP", "shaky": "PFFF", STRANGE: "PPPP"}}  # fmt: skip


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Callable[..., list[Any]]) -> Project:
    """Two runs of one agent over three tasks, with reasons, scores, costs, seeds and tags."""
    rows: list[Any] = []
    for place, (run, tasks) in enumerate(LETTERS.items()):
        for number, (task, letters) in enumerate(tasks.items()):
            made = attempts(
                run, task, letters, suite="desk", agent="bot", agent_version=f"v{place}",
                started_at=datetime(2026, 1, 1 + place) + timedelta(minutes=number),
            )  # fmt: skip
            for row in made:
                row["tags"] = {"level": "easy" if task == "sure" else "hard", "try": str(number)}
                row["cost_usd"] = 0.25
                row["seed"] = 2**60 + row["attempt"]
                if task == "sure":
                    row["transcript"] = {
                        "old": f"https://traces.example/?a={row['attempt']}#top",
                        "new": f"/home/someone/logs/a.eval#samples/{row['attempt']}",
                    }[run]
                if row["outcome"] == "failed":
                    row["outcome_reason"] = f"<b>timeout</b> of {task} in {run}"
            rows += made
    found = make_project()
    found.land(rows)
    found.run({"passk_ks": [1, 2, 3], "passk_deployment_k": 2, "passk_min_eligible_share": 0})
    return found


@pytest.fixture(scope="module")
def facts(built: Project) -> dict[str, Any]:
    return pk.report(built.database, transcript_url=TEMPLATE).facts


@pytest.fixture(scope="module")
def page_file(facts: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(Report(facts).html(), encoding="utf-8")
    return path


@pytest.fixture
def visit(browser: Any, page_file: Path) -> Iterator[Callable[..., Any]]:
    contexts = []
    wrong: list[str] = []

    def go(fragment: str = "", width: int = 1280) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.goto(page_file.as_uri() + fragment)
        return page

    yield go
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def expect() -> Any:
    """Playwright's own assertions wait: what a click sets off comes a moment later."""
    return pytest.importorskip("playwright.sync_api").expect


def tasks_shown(page: Any) -> list[str]:
    return [text.strip() for text in page.locator("#explorer-1 .holder tbody th").all_inner_texts()]


def test_three_clicks_lead_from_the_leaderboard_to_a_transcript(visit: Callable[..., Any]) -> None:
    page = visit()
    page.locator("table.board a", has_text="bot v1").click()
    page.wait_for_function("document.querySelector('select[name=run]').value === 'new'")
    page.locator("#explorer-1 .holder a", has_text="shaky").click()
    panel = page.locator("#explorer-1 .panel")
    panel.wait_for()
    first = panel.locator("table.attempts tbody tr").first
    assert "failed" in first.inner_text()
    assert "<b>timeout</b> of shaky in new" in first.inner_text()
    link = first.get_by_role("link", name="open")
    assert link.get_attribute("href") == "https://logs.example/new/shaky/2"
    assert panel.locator(".outcomes").all_inner_texts() == ["●○○○"]


@pytest.mark.long
def test_the_same_by_keyboard_alone(visit: Callable[..., Any]) -> None:
    page = visit()

    def tab_to(selector: str) -> None:
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(selector)

    tab_to("table.board a")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.includes('run=')")
    tab_to("#explorer-1 .holder tbody a")
    page.keyboard.press("Enter")
    page.locator("#explorer-1 .panel").wait_for()
    # The panel is where the keyboard goes on.
    assert page.evaluate("document.activeElement.closest('.panel') !== null")
    tab_to(".panel table.attempts a")


def test_every_attempt_is_there_as_in_the_table(built: Project, visit: Callable[..., Any]) -> None:
    for task in LETTERS["old"]:
        expected = built.query(
            "select run_id, attempt, outcome, outcome_reason, cost_usd, seed"
            " from passk_attempts where task_id = ? order by outcome = 'passed', run_id, attempt",
            task,
        )
        page = visit()
        page.locator("#explorer-1 .holder").get_by_role("link", name=task, exact=True).click()
        page.locator(".panel table.attempts").wait_for()
        shown = [
            [cell.strip() for cell in row.split("\t")]
            for row in page.locator(".panel table.attempts tbody tr").all_inner_texts()
        ]
        assert len(shown) == len(expected) == 8
        heads = page.locator(".panel table.attempts thead th").all_inner_texts()
        at = {name.split("\n")[0].strip(): place for place, name in enumerate(heads)}
        found = {
            (
                row[at["run"]], int(row[at["attempt"]]), row[at["outcome"]],
                None if row[at["reason"]] == DASH else row[at["reason"]],
                float(row[at["cost, $"]]), int(row[at["seed"]]),
            )
            for row in shown
        }  # fmt: skip
        assert found == set(expected)
        assert [row[at["outcome"]] == "passed" for row in shown] == [
            row[2] == "passed" for row in expected
        ]


@pytest.mark.long
def test_the_address_holds_the_view(visit: Callable[..., Any], expect: Any) -> None:
    page = visit()
    page.locator("select[name=run]").select_option("old")
    page.locator("select[name=kind]").select_option("flaky")
    assert tasks_shown(page) == ["shaky"]
    page.locator("#explorer-1 .holder a", has_text="shaky").click()
    expect(page.locator(".panel")).to_be_visible()
    fragment = page.evaluate("location.hash")
    again = visit(fragment)
    assert again.locator(".panel h4").inner_text() == "shaky"
    assert again.locator("select[name=kind]").input_value() == "flaky"
    assert tasks_shown(again) == ["shaky"]
    again.get_by_role("link", name="Close").click()
    expect(again.locator(".panel")).to_be_hidden()
    assert tasks_shown(again) == ["shaky"]


@pytest.mark.long
def test_an_address_of_what_is_gone_says_so(visit: Callable[..., Any]) -> None:
    page = visit("#tasks-1?run=gone&against=old&task=shaky")
    assert "The report has no such run" in page.locator("#explorer-1 .count").inner_text()
    assert page.locator(".panel h4").inner_text() == "shaky"
    assert len(tasks_shown(page)) == 3
    page = visit("#tasks-1?kind=best&tag=x%3Dy&task=none")
    assert "no such class and no such tag and no such task" in page.locator(".count").inner_text()


@pytest.mark.long
def test_the_way_back_leads_to_the_view_before(visit: Callable[..., Any], expect: Any) -> None:
    page = visit()
    panel = page.locator(".panel")
    page.locator("#explorer-1 .holder a", has_text="shaky").click()
    expect(panel).to_be_visible()
    page.go_back()
    expect(panel).to_be_hidden()
    page.locator("table.board a", has_text="bot v1").click()
    expect(page.locator("select[name=run]")).to_have_value("new")
    page.go_back()
    expect(page.locator("select[name=run]")).to_have_value("")
    link = page.locator("#explorer-1 .holder a", has_text="shaky")
    link.click()
    expect(panel).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(link).to_be_focused()


@pytest.mark.long
def test_the_gain_is_that_of_the_run(built: Project, visit: Callable[..., Any]) -> None:
    for run in LETTERS:
        page = visit(f"#tasks-1?run={run}")
        shown = {
            row.split("\t")[0].strip(): row.split("\t")[-1].strip()
            for row in page.locator("#explorer-1 .holder tbody tr").all_inner_texts()
        }
        gains = built.query(
            "select task_id, 100 * expected_gain from passk_tasks where run_id = ?", run
        )
        for task, gain in gains:
            expected = "0" if gain == 0 else "<0.1" if gain < 0.05 else f"{gain:.1f}"
            assert shown[task] == expected


@pytest.mark.long
def test_tasks_are_found_by_name_and_tag(visit: Callable[..., Any]) -> None:
    page = visit()
    assert len(tasks_shown(page)) == 3
    page.locator("select[name=tag]").select_option("level=hard")
    assert set(tasks_shown(page)) == {"shaky", STRANGE}
    page.get_by_label("Search").fill("onerror")
    assert tasks_shown(page) == [STRANGE]
    assert page.locator("#explorer-1 .count").inner_text() == "1 of 3 tasks"
    page.get_by_label("Search").fill("nowhere")
    assert page.get_by_text("No task is like that.").is_visible()


@pytest.fixture(scope="module")
def pages_file(
    make_project: Callable[[], Project],
    attempts: Callable[..., list[Any]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """45 tasks of two runs, of which the first two are in one run only."""
    rows: list[Any] = []
    for run, first in (("old", 2), ("new", 0)):
        for number in range(first, 45):
            letters = "P" * (1 + number % 3) + "F" * (3 - number % 3)
            task = f"Fix issue {number:02d}" if number < 44 else "Café issue 44"
            rows += attempts(run, task, letters, suite="desk", agent=run)
    found = make_project()
    found.land(rows)
    found.run({"passk_ks": [1, 2], "passk_deployment_k": 2})
    path = tmp_path_factory.mktemp("pages") / "report.html"
    path.write_text(Report(pk.report(found.database).facts).html(), encoding="utf-8")
    return path


@pytest.mark.long
def test_a_page_of_many_tasks_is_shown(browser: Any, pages_file: Path, expect: Any) -> None:
    page = browser.new_page()
    page.goto(pages_file.as_uri())
    count, names = page.locator("#explorer-1 .count"), page.locator("#explorer-1 .holder tbody th")
    expect(count).to_have_text("45 of 45 tasks")
    expect(names).to_have_count(10)
    current = page.locator("#explorer-1 .dt-paging .current")
    head = page.locator("#explorer-1 .holder thead th", has_text="old")
    # Where the run did not try the task, its cell is empty, and last either way.
    for way in ("ascending", "descending"):
        head.click()
        expect(head).to_have_attribute("aria-sort", way)
        page.locator("#explorer-1 .dt-paging button.last").click()
        expect(current).to_have_text("5")
        assert set(tasks_shown(page)[-2:]) == {"Fix issue 00", "Fix issue 01"}
    # A task that opens leaves the page as it is.
    names.first.get_by_role("link").click()
    expect(page.locator("#explorer-1 .panel")).to_be_visible()
    expect(current).to_have_text("5")
    for words, found in (("ISSUE 4 fix", 8), ('"issue 4"', 5), ("cafe", 1), ("4 3", 2)):
        page.get_by_label("Search").fill(words)
        expect(count).to_have_text(f"{found} of 45 tasks")
    page.get_by_label("Search").fill("")
    # By what new passed, the least first, and then by name, which decides among equals.
    page.locator("#explorer-1 .holder thead th", has_text="new").click()
    page.locator("#explorer-1 .holder thead th", has_text="task").click(modifiers=["Shift"])
    expect(names.first).to_have_text("Fix issue 00")
    expect(names.nth(1)).to_have_text("Fix issue 03")
    page.locator("#explorer-1 .holder thead th", has_text="task").click(modifiers=["Shift"])
    expect(names.first).to_have_text("Fix issue 42")
    expect(names.nth(1)).to_have_text("Fix issue 39")
    page.close()


@pytest.mark.long
def test_two_runs_stand_side_by_side(visit: Callable[..., Any]) -> None:
    page = visit("#tasks-1?run=new&against=old")
    rows = {
        row.split("\t")[0].strip(): [cell.strip() for cell in row.split("\t")[1:]]
        for row in page.locator("#explorer-1 .holder tbody tr").all_inner_texts()
    }
    # Of shaky, new passed 1 of 4 and old 2 of the 3 that count.
    assert rows["shaky"] == ["1/4", "2/3", "−41.7", "flaky", "flaky"]  # noqa: RUF001 - a minus is meant
    assert rows["sure"] == ["3/4", "4/4", "−25.0", "flaky", "consistent"]  # noqa: RUF001
    assert rows[STRANGE] == ["4/4", "0/4", "+100.0", "consistent", "incapable"]
    assert list(rows) == ["shaky", "sure", STRANGE]
    # A run is not compared with itself, whatever the address says.
    disabled = page.locator("#explorer-1 select[name=against] option:disabled")
    assert disabled.evaluate_all("all => all.map((one) => one.value)") == ["new"]
    itself = visit("#tasks-1?run=new&against=new")
    assert itself.locator("#explorer-1 select[name=against]").input_value() == ""


@pytest.mark.long
def test_columns_can_be_sorted_either_way(visit: Callable[..., Any], expect: Any) -> None:
    page = visit("#tasks-1?run=old")
    names = page.locator("#explorer-1 .holder tbody th")
    head = page.locator("#explorer-1 .holder thead th", has_text="task")
    head.click()
    expect(names).to_have_text([STRANGE, "shaky", "sure"])
    head.click()
    expect(names).to_have_text(["sure", "shaky", STRANGE])
    # pass^2 of both runs, by hand: of old (1 + 1/3 + 0) / 3, of new (1/2 + 0 + 1) / 3.
    board = page.locator("table.board thead th", has_text="pass^2")
    values = page.locator("table.board td.strong .value")
    expect(values).to_have_text(["50.0", "44.4"])
    board.click()
    expect(board).to_have_attribute("aria-sort", "descending")
    expect(values).to_have_text(["50.0", "44.4"])
    board.click()
    expect(values).to_have_text(["44.4", "50.0"])


@pytest.mark.long
def test_a_list_sorts_the_runs_where_the_columns_have_no_heads(
    visit: Callable[..., Any], expect: Any
) -> None:
    page = visit(width=390)
    values = page.locator("table.board td.strong .value")
    sort = page.get_by_label("Sort the runs")
    sort.select_option("pass^2, %: lowest first")
    expect(values).to_have_text(["44.4", "50.0"])
    sort.select_option("pass^2, %: highest first")
    expect(values).to_have_text(["50.0", "44.4"])
    expect(visit(width=1280).get_by_label("Sort the runs")).to_be_hidden()


@pytest.mark.long
def test_an_open_task_is_printed_with_its_attempts(visit: Callable[..., Any], expect: Any) -> None:
    page = visit("#tasks-1?run=new&task=shaky")
    page.emulate_media(media="print")
    expect(page.locator("table.attempts")).to_be_visible()
    expect(page.locator("#explorer-1 .filters")).to_be_hidden()
    expect(page.get_by_role("link", name="Close")).to_be_hidden()


@pytest.mark.parametrize("width", [1280, pytest.param(1920, marks=pytest.mark.long)])
def test_no_table_is_cut_on_a_desk(visit: Callable[..., Any], width: int) -> None:
    page = visit("#tasks-1?task=shaky", width)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    cut = page.evaluate(
        "[...document.querySelectorAll('.scroll, .pan, .cards')]"
        ".filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.ariaLabel)"
    )
    assert cut == []


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.long), 390])
def test_axe_finds_nothing_serious_in_an_open_task(visit: Callable[..., Any], width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit("#tasks-1?run=new&against=old&task=shaky", width)
    violations = axe.run(page).response["violations"]
    assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.long
def test_a_link_leads_to_the_web_or_a_file_only(built: Project) -> None:
    for template, said in {
        "javascript:alert({attempt})": "must begin with http",
        "https://x/{nope}": "names 'nope'",
        "https://x/{run_id": "has a brace that stands alone",
        "https://x/{run_id.__class__}": "names 'run_id.__class__'",
    }.items():
        with pytest.raises(PasskError, match=said):
            pk.report(built.database, transcript_url=template)
    as_logged = {
        (row["run_id"], row["transcript"])
        for row in pk.report(built.database).facts["suites"][0]["attempts"]
        if row["attempt"] == 1 or row["transcript"] is None
    }
    # A report is passed on: a path loses its folder, an address of the web stays.
    assert as_logged == {
        ("old", "https://traces.example/?a=1#top"), ("new", "a.eval#samples/1"),
        ("old", None), ("new", None),
    }  # fmt: skip
    facts = pk.report(built.database, transcript_url="https://x/?t={task_id}").facts
    (strange,) = {
        row["transcript"] for row in facts["suites"][0]["attempts"] if row["task_id"] == STRANGE
    }
    assert re.fullmatch(r"https://x/\?t=[A-Za-z0-9%._~-]+", strange)


@pytest.mark.long
def test_the_file_holds_attempts_as_far_as_there_is_room(
    built: Project, monkeypatch: pytest.MonkeyPatch, browser: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(task_facts, "_MOST_ATTEMPTS", 8)
    facts = pk.report(built.database).facts
    first, second, _ = facts["suites"][0]["tasks"]
    data = json.loads(explorer_data(facts))["suites"][0]
    assert {row[0] for row in data["attempts"]} == {0}
    assert len(data["attempts"]) == first["attempts"] == 8
    path = tmp_path / "report.html"
    path.write_text(Report(facts).html(), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.locator("#explorer-1 .holder").get_by_role("link", name=second["task_id"]).click()
    query = page.locator(".panel code").inner_text()
    assert len(built.query(query)) == 8
    page.close()


@pytest.mark.long
def test_a_task_of_very_many_attempts_says_what_is_left_out(
    built: Project, monkeypatch: pytest.MonkeyPatch, browser: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(task_facts, "_MOST_ATTEMPTS_OF_A_TASK", 3)
    path = tmp_path / "report.html"
    path.write_text(Report(pk.report(built.database).facts).html(), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri() + "#tasks-1?run=old&task=sure")
    text = page.locator(".panel").inner_text()
    assert "The file has the first 3 of the 4 attempts of old." in text
    assert page.locator(".panel .outcomes").inner_text() == "●●● …"
    page.close()


def test_tables_of_a_version_without_transcripts_are_reported(
    built: Project, tmp_path: Path
) -> None:
    older = shutil.copy(built.database, tmp_path / "older.duckdb")
    with duckdb.connect(str(older)) as connection:
        (kind,) = connection.execute(
            "select table_type from information_schema.tables where table_name = 'passk_attempts'"
        ).fetchone() or ("",)
        connection.execute(
            "create table kept as select * exclude (transcript) from passk_attempts;"
            f"drop {'view' if kind == 'VIEW' else 'table'} passk_attempts;"
            "alter table kept rename to passk_attempts"
        )
    found = pk.report(older).facts["suites"][0]["attempts"]
    assert {row["transcript"] for row in found} == {None}
    assert len(found) == 24


def test_the_library_is_the_one_that_its_licence_stands_beside() -> None:
    folder = resources.files("passk_py.reports.report") / "vendor"
    listed = dict(
        line.split()[::-1] for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines()
    )
    files = {file.name for file in folder.iterdir()} - {"SHA256SUMS"}
    assert files == listed.keys() == {"dataTables.min.js", "dataTables.LICENSE.txt"}
    for name, digest in listed.items():
        assert sha256((folder / name).read_bytes()).hexdigest() == digest
