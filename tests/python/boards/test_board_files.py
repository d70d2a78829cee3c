"""The rules for the files of the boards. Needs neither dbt charts nor a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from passk_py.warehouse.catalog import PUBLIC_TABLES

CHARTS = Path(__file__).resolve().parents[3] / "charts"
BOARDS = ("compare", "details", "gates", "grader", "overview", "run", "task")
PHONE = tuple(f"phone/{name}" for name in BOARDS)
METRIC = r"\b(?:pass_at_|pass_hat_|delta_k|difference|estimate|heterogeneity|lost_reliability|expected_gain)\w*"
AGGREGATE = re.compile(
    rf"\b(?:sum|avg|mean|median|min|max|any_value|quantile\w*)\s*\([^()]*{METRIC}", re.IGNORECASE
)


def queries_of(name: str) -> dict[str, str]:
    board: dict[str, Any] = yaml.safe_load((CHARTS / f"{name}.yml").read_text(encoding="utf-8"))
    return {
        key: said["sql"] if isinstance(said, dict) else said
        for key, said in board["queries"].items()
    }


ALL = [(name, key) for name in ("meta", *BOARDS, *PHONE) for key in queries_of(name)]


def test_there_are_no_other_boards() -> None:
    named = {*BOARDS, "meta", "_dark", "_links", "_one_run"}
    assert {path.stem for path in CHARTS.glob("*.yml")} == named
    assert {path.stem for path in (CHARTS / "phone").glob("*.yml")} == {*BOARDS, "meta"}


def colours(text: str) -> set[str]:
    return set(re.findall(r"#[0-9a-f]{6}", text))


@pytest.mark.parametrize("name", [*BOARDS, *PHONE])
def test_a_board_names_its_colours_by_their_place(name: str) -> None:
    # The dark boards change the list. The ramp of the heat map is the same on both grounds.
    text = (CHARTS / f"{name}.yml").read_text(encoding="utf-8")
    ramp = re.search(r"gradient: \{palette: \[(.*?)\]", text)
    assert colours(text) == (colours(ramp[1]) if ramp else set())


def luminance(colour: str) -> float:
    def linear(part: str) -> float:
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(colour[at : at + 2]) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def mixed(colour: str, ground: str, opacity: float) -> str:
    parts = [
        round(opacity * int(colour[at : at + 2], 16) + (1 - opacity) * int(ground[at : at + 2], 16))
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert mixed("#ff0000", "#ffffff", 0.5) == "#ff8080"


@pytest.mark.parametrize(
    ("name", "grounds"),
    # Colours that the themes clarity and neon of dbt charts lay under the cells of tables.
    [("meta", ("#ffffff", "#f7f8fa")), ("_dark", ("#161616", "#222222"))],
)
def test_every_colour_can_be_told_from_its_ground(name: str, grounds: tuple[str, ...]) -> None:
    text = (CHARTS / f"{name}.yml").read_text(encoding="utf-8")
    palettes = yaml.safe_load(text)["style"]["charts"]["color"]["categorical"]
    opacities = {
        float(found)
        for path in CHARTS.glob("*.yml")
        for found in re.findall(r"opacity: ([\d.]+)", path.read_text(encoding="utf-8"))
    }
    assert opacities
    for ground in grounds:
        for colour in palettes["single_series_palette"]:
            assert contrast(colour, ground) >= 4.5, (colour, ground)
        for colour in palettes["palette"]:
            assert contrast(colour, ground) >= 3, (colour, ground)
    # Limits of pass@k and pass^k, which are bars that one can see through.
    for colour in palettes["single_series_palette"][:2]:
        for opacity in opacities:
            assert contrast(mixed(colour, grounds[0], opacity), grounds[0]) >= 3, (colour, opacity)


@pytest.mark.parametrize(("name", "key"), ALL)
def test_a_query_reads_public_tables_only(name: str, key: str) -> None:
    # A sentence names a var.
    tables = set(re.findall(r"\b(?:from|join)\s+((?:int_|stg_)?passk_+\w+)", queries_of(name)[key]))
    assert tables <= {table.name for table in PUBLIC_TABLES}


@pytest.mark.parametrize(("name", "key"), ALL)
def test_a_query_never_takes_a_metric_over_rows(name: str, key: str) -> None:
    assert not AGGREGATE.search(queries_of(name)[key])


@pytest.mark.parametrize(
    "wrong", ["avg(pass_at_k)", "sum( points.pass_hat_k )", "MAX(x.delta_k_lower)"]
)
def test_the_pattern_finds_what_it_must_not(wrong: str) -> None:
    assert AGGREGATE.search(f"select {wrong} from points")


def test_the_notebook_takes_no_metric_over_rows() -> None:
    code = (CHARTS.parent / "docs" / "notebooks" / "reliability.py").read_text(encoding="utf-8")
    assert not re.findall(r"group_by|\b(?:sum|avg|mean|median|min|max|quantile)\s*\(", code)


@pytest.mark.parametrize(("name", "key"), ALL)
def test_only_two_queries_read_the_suite_metrics(name: str, key: str) -> None:
    sql = queries_of(name)[key]
    if (name, key) == ("meta", "points"):
        assert "where slice_name = 'all'" in sql
    elif (name, key) == ("details", "slices"):
        assert "where slice_name <> 'all'" in sql
    # Which k there are is the same in every slice.
    else:
        assert "passk_suite_metrics" not in sql


@pytest.mark.parametrize("name", ["overview", "run", "details", "grader", "compare", "task"])
def test_a_share_is_written_in_one_way(name: str) -> None:
    macro = re.compile(r"case\s+when \{\{ share \}\}.*?\s+end", re.DOTALL)
    shared = macro.search(queries_of("meta")["points"])
    assert shared is not None
    for found in macro.findall("\n".join(queries_of(name).values())):
        assert re.sub(r"\s+", " ", found) == re.sub(r"\s+", " ", shared[0])
