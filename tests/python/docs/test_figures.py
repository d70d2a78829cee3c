"""The figures of the concepts show what the formulas give, and what the tables give."""

from __future__ import annotations

import html
import importlib.util
import json
import re
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

import pytest

from .blocks import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FIGURES = ROOT / "docs" / "figures"


@pytest.fixture(scope="module")
def script() -> Any:
    pytest.importorskip("vl_convert", reason="the extra `report` draws")
    spec = importlib.util.spec_from_file_location(
        "make_figures", ROOT / "scripts" / "make_figures.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def numbers() -> Any:
    return json.loads((FIGURES / "shapes.json").read_text("utf-8"))


def test_committed_numbers_are_exact(script: Any, numbers: Any) -> None:
    """Against whole numbers: the share of all ways to draw k of the attempts."""
    assert numbers["ks"] == list(script.KS)
    assert set(numbers["runs"]) == set(script.SHAPES)
    n = script.ATTEMPTS
    for shape, chances in script.SHAPES.items():
        passes = [Fraction(str(chance)) * n for chance in chances]
        assert all(c.denominator == 1 for c in passes)
        drawn = numbers["runs"][shape]
        mean = sum(passes) / len(passes) / n
        assert mean == Fraction(1, 2)
        for place, k in enumerate(script.KS):
            hat = sum(Fraction(comb(int(c), k), comb(n, k)) for c in passes) / len(passes)
            at = 1 - sum(Fraction(comb(n - int(c), k), comb(n, k)) for c in passes) / len(passes)
            assert drawn["pass_hat_k"][place] == pytest.approx(float(hat), abs=1e-8)
            assert drawn["pass_at_k"][place] == pytest.approx(float(at), abs=1e-8)
            # The square of an estimated mean is too high by its variance, and so on for other powers.
            tasks = script.TASKS
            spread = sum((c / n - mean) ** 2 for c in passes) / len(passes) * tasks / (tasks - 1)
            bias = Fraction(k * (k - 1), 2) * mean ** (k - 2) * spread / tasks if k > 1 else 0
            delta = hat - mean**k + bias
            assert drawn["delta_k"][place] == pytest.approx(float(delta), abs=1e-8)
            assert (
                drawn["pass_hat_k_lower"][place] <= float(hat) <= drawn["pass_hat_k_upper"][place]
            )


@pytest.mark.long
def test_committed_numbers_are_those_of_the_tables(
    script: Any, numbers: Any, tmp_path: Path
) -> None:
    found = script.numbers(script.built(tmp_path))
    assert found["ks"] == numbers["ks"]
    for run, metrics in numbers["runs"].items():
        for metric, values in metrics.items():
            assert found["runs"][run][metric] == pytest.approx(values, abs=1e-8), (run, metric)


def test_drawings_say_these_numbers(numbers: Any) -> None:
    """Each mark says its number in words."""
    said = html.unescape((FIGURES / "over-k.svg").read_text("utf-8"))
    for run, metrics in numbers["runs"].items():
        for sign, metric in (("@", "pass_at_k"), ("^", "pass_hat_k")):
            for k, value in zip(numbers["ks"], metrics[metric], strict=True):
                label = re.search(rf'aria-label="{run}: pass{re.escape(sign)}{k} ([0-9.]+)% ', said)
                assert label is not None, (run, metric, k)
                assert float(label[1]) == pytest.approx(100 * value, abs=0.0501)


def test_the_page_says_what_the_figures_show(numbers: Any) -> None:
    page = " ".join((ROOT / "docs" / "concepts.md").read_text("utf-8").split())
    runs = numbers["runs"]
    for words, value in {
        "finds an answer to 88 % of the tasks": runs["homogeneous"]["pass_at_k"][2],
        "three times in a row on 12 %": runs["homogeneous"]["pass_hat_k"][2],
        "finds an answer to 76 %": runs["positive skew"]["pass_at_k"][2],
        "three times in a row on 28 %": runs["positive skew"]["pass_hat_k"][2],
        "keeps 19 %": runs["positive skew"]["pass_hat_k"][7],
        "peaks at k = 5 with 0.20": runs["positive skew"]["delta_k"][4],
        "at k = 3 with 0.12": runs["negative skew"]["delta_k"][2],
    }.items():
        assert words in page
        share = re.search(r"(\d+) %", words)
        shown = int(share[1]) / 100 if share else float(words.split()[-1])
        assert value == pytest.approx(shown, abs=0.005)
    for run, k in (("positive skew", 5), ("negative skew", 3)):
        assert max(numbers["ks"], key=lambda one: runs[run]["delta_k"][one - 1]) == k
