"""The report in Chromium: on a desk, on a phone, in the dark, on paper, and for who can't see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

import passk_py as pk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Project

LONG: Final = "a-name-that-goes-on-and-on-" * 8
SERIOUS: Final = ("serious", "critical")


@pytest.fixture(scope="module")
def report(
    make_project: Callable[[], Project],
    attempts: Callable[..., list[Any]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Nine runs of two agents with long names, warnings, gates and exclusions."""
    rows: list[Any] = []
    for run in range(9):
        for task in range(12):
            letters = "".join(
                "X"
                if (run + task + one) % 17 == 0
                else "P"
                if (task * 7 + one * (run + 3)) % 12 < task
                else "F"
                for one in range(6)
            )
            rows += attempts(
                f"{LONG}{run}", f"{LONG}-{task}", letters, suite="desk",
                agent=f"agent {run % 2}", agent_version=f"v{run}",
            )  # fmt: skip
    made = make_project()
    made.land(rows)
    made.run(
        {
            "passk_ks": [1, 2, 3, 4],
            "passk_min_eligible_share": 0,
            "passk_gates": [
                {"name": "works", "type": "threshold", "metric": "pass_hat_k", "k": 3, "min": 0.5}
            ],
        }
    )
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(pk.report(made.database).html(), encoding="utf-8")
    return path


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


@pytest.mark.parametrize(
    "width", [1280, 390, *(pytest.param(one, marks=pytest.mark.long) for one in (1920, 800, 360))]
)
def test_nothing_is_wider_than_the_screen(visit: Callable[..., Any], width: int) -> None:
    """Of every element that does not scroll by itself, such as a table of forty runs."""
    page = visit(width)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wider = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(one => {
            if (one.getBoundingClientRect().right <= innerWidth + 1) return false;
            for (let above = one.parentElement; above !== document.body; above = above.parentElement)
                if (getComputedStyle(above).overflowX !== 'visible') return false;
            return true;
        }).map(one => one.tagName + ' ' + one.className)"""
    )
    assert wider == []


def test_no_label_of_a_drawing_is_cut(visit: Callable[..., Any]) -> None:
    """Each text lies within its drawing, and those of an axis do not overlap."""
    page = visit(1280)
    outside = page.evaluate(
        """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
            const box = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].filter(text => text.textContent).filter(text => {
                const one = text.getBoundingClientRect();
                return one.left < box.left - 1 || one.right > box.right + 1
                    || one.top < box.top - 1 || one.bottom > box.bottom + 1;
            }).map(text => text.textContent);
        })"""
    )
    assert outside == []
    overlapping = page.evaluate(
        """() => [...document.querySelectorAll('figure svg .role-axis-label')].flatMap(axis => {
            const texts = [...axis.querySelectorAll('text')].filter(
                text => text.textContent && getComputedStyle(text).opacity !== '0'
                    && text.getAttribute('opacity') !== '0' && !text.getAttribute('transform').includes('rotate'));
            const boxes = texts.map(text => text.getBoundingClientRect());
            return boxes.flatMap((one, i) => boxes.slice(i + 1).filter(two =>
                one.left < two.right - 1 && two.left < one.right - 1
                && one.top < two.bottom - 2 && two.top < one.bottom - 2).map(() => texts[i].textContent));
        })"""
    )
    assert overlapping == []


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
