"""The report in Chromium: on a desk, on a phone, in the dark, on paper, and for who can't see it."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import pytest

import passk_py as pk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Project

LONG: Final = "a_name*of<b>many</b>&_letters*on_" * 6
SERIOUS: Final = ("serious", "critical")
CAUSES: Final = ("timeout", "user_error", "tool_*<b>&_failed", None)
SECTIONS: Final = (
    "where reliability is lost", "over k", "over the length of tasks", "by the score that passes",
    "against the baseline", "gates", "cost", "over releases", "can the log be trusted?",
)  # fmt: skip


@pytest.fixture(scope="module")
def make_report(
    make_project: Callable[[], Project],
    attempts: Callable[..., list[Any]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[int, int], Path]:
    """Write the report of so many runs and tasks, with every section and names of 200 letters."""

    @cache
    def make(runs: int, tasks: int) -> Path:
        rows: list[Any] = []
        for run, task in product(range(runs), range(tasks)):
            letters = "".join(
                "X"
                if (run + task + one) % 17 == 0
                else "P"
                if (task * 7 + one * (run + 3)) % 12 < task % 12
                else "F"
                for one in range(6)
            )
            made = attempts(
                f"{LONG}{run}", f"{LONG}-{task}", letters, suite=f"desk_{LONG}",
                agent=f"agent_{run % 2}_{LONG}", agent_version=f"v{run}",
                started_at=datetime(2026, 1, 1) + timedelta(days=run),
                tags={"minutes": str(2 ** (task % 7)), "kind_*<b>&": f"{LONG}{task % 2}"},
            )  # fmt: skip
            for row in made:
                row["cost_usd"] = 0.01 * (1 + (task + run * row["attempt"]) % 5)
                row["score"] = 1.0 if row["outcome"] == "passed" else 0.25 * (task % 3)
                if row["outcome"] == "failed":
                    row["outcome_reason"] = CAUSES[(task + row["attempt"]) % 4]
            rows += made
        found = make_project()
        found.land(rows)
        found.run(
            {
                "passk_ks": [1, 2, 3, 4],
                "passk_min_eligible_share": 0,
                "passk_causes": {"tool_*": "tool_*<b>&_of_my_own"},
                "passk_difficulty": "minutes",
                "passk_score_thresholds": [0.25, 0.5, 1],
                "passk_gates": [
                    {
                        "name": f"works_*<b>&{LONG}",
                        "type": "threshold",
                        "metric": "pass_hat_k",
                        "k": 3,
                        "min": 0.5,
                    }
                ],
            }
        )
        path = tmp_path_factory.mktemp("page") / "report.html"
        path.write_text(pk.report(found.database).html(), encoding="utf-8")
        return path

    return make


@pytest.fixture(scope="module")
def report(make_report: Callable[[int, int], Path]) -> Path:
    """Nine runs of two agents."""
    return make_report(9, 12)


@pytest.fixture
def visit(browser: Any, report: Path) -> Iterator[Callable[..., Any]]:
    contexts = []

    def go(width: int = 1280, **more: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **more)
        contexts.append(context)
        page = context.new_page()
        asked: list[str] = []
        wrong: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(report.as_uri())
        assert asked == [report.as_uri()]
        assert wrong == []
        return page

    yield go
    for context in contexts:
        context.close()


@pytest.mark.long
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_serious_violation(visit: Callable[..., Any], mode: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(width, color_scheme=mode)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    violations = axe.run(page).response["violations"]
    found = {
        one["id"]: [node["html"][:120] for node in one["nodes"][:3]]
        for one in violations
        if one["impact"] in SERIOUS
    }
    assert found == {}


COLUMN_FOR_EACH_RUN: Final = frozenset(
    {"Heat map of the tasks by run", "Tasks to choose from", "Tasks by run"}
)
WIDER: Final = """() => [...document.querySelectorAll('body *')].filter(one => {
    if (one.getBoundingClientRect().right <= innerWidth + 1) return false;
    for (let above = one.parentElement; above !== document.body; above = above.parentElement)
        if (getComputedStyle(above).overflowX !== 'visible') return false;
    return true;
}).map(one => one.tagName + ' ' + one.className)"""
SCROLLED: Final = """() => [...document.querySelectorAll('.scroll, .pan, .cards')]
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.ariaLabel)"""
OF_CARDS: Final = """() => [...document.querySelectorAll('.board td, .board tbody th')]
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent.trim())"""
OUTSIDE: Final = """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(text => text.textContent).filter(text => {
        const one = text.getBoundingClientRect();
        return one.left < box.left - 1 || one.right > box.right + 1
            || one.top < box.top - 1 || one.bottom > box.bottom + 1;
    }).map(text => text.textContent);
})"""
OVERLAPPING: Final = """() => [...document.querySelectorAll('figure svg .role-axis-label')].flatMap(axis => {
    const texts = [...axis.querySelectorAll('text')].filter(
        text => text.textContent && getComputedStyle(text).opacity !== '0'
            && text.getAttribute('opacity') !== '0' && !text.getAttribute('transform').includes('rotate'));
    const boxes = texts.map(text => text.getBoundingClientRect());
    return boxes.flatMap((one, i) => boxes.slice(i + 1).filter(two =>
        one.left < two.right - 1 && two.left < one.right - 1
        && one.top < two.bottom - 2 && two.top < one.bottom - 2).map(() => texts[i].textContent));
})"""


def check_layout(
    page: Any, width: int, may_scroll: frozenset[str] = frozenset(), lacks: tuple[str, ...] = ()
) -> None:
    """Measure every element that does not scroll by itself, and every drawing.

    On a phone, tables scroll sideways; on a desk, only those that ``may_scroll``.
    """
    headings = [text.lower() for text in page.locator("h3").all_inner_texts()]
    assert [section for section in SECTIONS if section not in headings] == [*lacks]
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDER) == []
    if width >= 1280:
        assert set(page.evaluate(SCROLLED)) <= may_scroll
    else:
        assert page.evaluate(OF_CARDS) == []
        # It would scroll away with its table.
        assert page.locator(".scroll caption").count() == 0
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(OVERLAPPING) == []


@pytest.mark.parametrize(
    "width", [1280, 390, *(pytest.param(one, marks=pytest.mark.long) for one in (1920, 800, 360))]
)
def test_nothing_is_cut_or_overlaps(visit: Callable[..., Any], width: int) -> None:
    check_layout(visit(width), width)


@pytest.mark.long
@pytest.mark.parametrize(("runs", "tasks"), [(2, 5), (40, 105)])
def test_few_and_many_runs_fit(
    browser: Any, make_report: Callable[[int, int], Path], runs: int, tasks: int
) -> None:
    for width in (390, 800, 1280, 1920):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(make_report(runs, tasks).as_uri())
        may_scroll = COLUMN_FOR_EACH_RUN if runs == 40 else frozenset[str]()
        # Of two runs, each is of another agent, which has no releases yet.
        check_layout(page, width, may_scroll, ("over releases",) if runs == 2 else ())
        page.close()


def test_names_stay_as_they_are(visit: Callable[..., Any]) -> None:
    """A name is text, never Markdown or HTML: shortened in a cell, whole where it has a line."""
    page = visit()
    assert page.locator("h1").inner_text() == f"Capability and reliability: desk_{LONG}"
    assert page.locator("b").count() == 0
    causes = page.locator("[aria-label='Where reliability is lost'] tbody td.name")
    assert set(causes.all_inner_texts()) == {
        "agent", "limit", "user simulator", "tool_*<b>&_of_my_own",
    }  # fmt: skip


def test_earlier_runs_are_equally_pale_everywhere(visit: Callable[..., Any]) -> None:
    """Legends, leaderboard and small panels; the plots of all runs have a test of their own."""
    page = visit()
    strength = "found => found.map(one => getComputedStyle(one).opacity)"
    for pale, full in (
        ("i.swatch.earlier", "i.swatch:not(.earlier):not(.earlier *)"),
        (".board .earlier i.swatch", ".board tr:not(.earlier) i.swatch"),
        (".board .earlier .role-mark", ".board tr:not(.earlier) .role-mark"),
        (".grid .earlier i.swatch", ".grid figure:not(.earlier) i.swatch"),
        (".grid .earlier .role-mark", ".grid figure:not(.earlier) .role-mark"),
    ):
        assert set(page.locator(pale).evaluate_all(strength)) == {"0.6"}, pale
        assert set(page.locator(full).evaluate_all(strength)) == {"1"}, full


def test_a_mark_says_its_number_to_who_points_at_it(visit: Callable[..., Any]) -> None:
    page = visit()
    mark = page.locator("figure svg path[aria-label*='pass^3']").first
    mark.scroll_into_view_if_needed()
    mark.hover()
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert tip.inner_text() == mark.get_attribute("aria-label")
    page.mouse.move(1, 1)
    assert not tip.is_visible()


def test_without_scripts_all_is_there(visit: Callable[..., Any]) -> None:
    page = visit(java_script_enabled=False)
    assert page.locator("figure svg").count() >= 20
    assert page.locator("table").count() >= 6
    assert not page.locator(".explorer").is_visible()
    targets = page.locator("table.board a").evaluate_all("links => links.map(one => one.hash)")
    assert targets
    assert all(page.locator(target).is_visible() for target in set(targets))
    page.get_by_text("Each attempt of 12 tasks, in order").click()
    assert not page.locator("#task-1-2").is_visible()
    page.locator("#first-1 table.heat tbody a").nth(1).click()
    page.locator("#task-1-2").wait_for(state="visible")
    page.locator("summary", has_text="The numbers").click()
    assert page.locator("td", has_text="of 12").first.is_visible()


def test_it_can_be_printed(visit: Callable[..., Any]) -> None:
    page = visit(color_scheme="dark")
    page.emulate_media(media="print")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")
