"""Views of runs, comparisons and gates: what a notebook shows of the rows, and nothing else."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.common.words import DASH

if TYPE_CHECKING:
    from collections.abc import Callable

STRANGE: Final = "_a_ *b* <i>c</i> &amp; | `d`"


def log(**runs: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"run_id": run, "task_id": f"t{task}", "attempt": number, "passed": letter == "P"}
        for run, words in runs.items()
        for task, word in enumerate(words)
        for number, letter in enumerate(word, 1)
    )


@pytest.fixture(scope="module")
def attempts() -> pl.DataFrame:
    return log(old=["PPPP"] * 10, new=["PPFF"] * 10)


def cells(shown: str) -> list[list[str]]:
    """Read the cells of the tables of a page, as a browser would show them."""
    rows = re.findall(r"<tr>(.*?)</tr>", shown)
    return [
        [html.unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in rows
    ]


def test_a_run_has_its_values_and_limits(attempts: pl.DataFrame) -> None:
    view = pk.view(pk.suite_metrics(attempts, ks=[2, 8]).filter(run_id="new"))
    heads, at_2, at_8 = cells(view._repr_html_())
    assert heads[:2] + heads[-2:] == ["run", "k", "reading", "why not known"]
    # C(2, 2) / C(4, 2) = 1/6 and 1 - 1/6.
    assert [at_2[0], at_2[1], at_2[2], at_2[4]] == ["new", "2", "83.3%", "16.7%"]
    assert at_2[6:] == ["capable but flaky", ""]
    assert at_8 == ["new", "8", *[DASH] * 5, "n < 8 in 10 of 10 tasks"]
    (sentence,) = view.sentences
    assert sentence.startswith("new: capable but flaky at k = 2: pass@2 83.3% (")


def test_a_column_of_reasons_is_there_only_if_something_is_not_known(
    attempts: pl.DataFrame,
) -> None:
    assert "why not known" not in pk.view(pk.suite_metrics(attempts, ks=[2])).heads


def test_a_comparison_has_its_difference_in_points(attempts: pl.DataFrame) -> None:
    found = pk.compare(attempts, "old", "new", ks=[1, 8]).filter(metric="pass_hat_k")
    view = pk.view(found)
    at_1, at_8 = view.rows
    assert at_1[:5] == ("new", "old", "pass^1", "100%", "50.0%")
    assert at_1[5].startswith("-50.0 (")
    assert at_1[7] == "regression"
    assert at_8[3:7] == (DASH,) * 4
    assert at_8[8] == "n < 8 in 10 of 10 tasks of both runs"
    assert "fell by 50.0 points" in view.sentences[0]


def test_a_gate_has_its_result_and_reason(attempts: pl.DataFrame) -> None:
    rules = [
        {
            "name": name,
            "type": "threshold",
            "metric": "pass_hat_k",
            "k": 1,
            "min": least,
            "run": run,
        }
        for name, least, run in (("low", 0.1, "old"), ("high", 0.9, "new"))
    ]
    judged = pk.judge_gates(attempts, rules)
    view = pk.view(judged)
    assert [row[:3] for row in view.rows] == [("low", "pass", "old"), ("high", "fail", "new")]
    for sentence, reason in zip(view.sentences, judged["reason"], strict=True):
        assert sentence.endswith(reason)


@pytest.mark.parametrize(
    "other", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy]
)
def test_any_frame_is_read(attempts: pl.DataFrame, other: Callable[[pl.DataFrame], Any]) -> None:
    metrics = pk.suite_metrics(attempts, ks=[2, 8])
    assert pk.view(other(metrics)) == pk.view(metrics)


def test_names_are_shown_letter_for_letter() -> None:
    attempts = log(old=["PPPP"] * 3).with_columns(run_id=pl.lit(STRANGE))
    view = pk.view(pk.suite_metrics(attempts, ks=[1]))
    assert cells(view.html())[1][0] == STRANGE
    assert "<i>" not in view.html()
    row = view.markdown().splitlines()[-1]
    assert row.count("|") == len(view.heads) + 1
    assert "*b*" not in row.replace(r"\*", "")


def test_many_rows_are_cut_and_counted(attempts: pl.DataFrame) -> None:
    view = pk.view(pk.suite_metrics(attempts, ks=range(1, 41)))
    assert len(cells(view.html())) == 1 + 50
    assert "30 more rows not shown." in view.html()
    assert str(view).endswith("30 more rows not shown.\n")


def test_a_slice_is_named(attempts: pl.DataFrame) -> None:
    tagged = attempts.with_columns(domain=pl.lit("maths"))
    view = pk.view(pk.suite_metrics(tagged, ks=[1], slices=["domain"]).filter(run_id="new"))
    assert [row[0] for row in view.rows] == ["new", "new · domain = maths"]


def test_runs_of_one_name_in_two_suites_are_told_apart(attempts: pl.DataFrame) -> None:
    both = pl.concat([attempts.with_columns(suite=pl.lit(name)) for name in ("A", "B")])
    view = pk.view(
        pk.suite_metrics(both, ks=[1, 2]).filter(run_id="new").sort("k", descending=True)
    )
    assert {row[0] for row in view.rows} == {"A · new", "B · new"}
    assert [said.split(":")[0] for said in view.sentences] == ["A · new", "B · new"]
    assert all("at k = 2" in said or "pass^2" in said for said in view.sentences)


def test_a_column_that_is_lacking_is_named(attempts: pl.DataFrame) -> None:
    rows = pk.compare(attempts, "old", "new", ks=[1]).drop("metric")
    with pytest.raises(pk.PasskError, match="view: the frame has no column metric"):
        pk.view(rows)


@pytest.mark.parametrize("wrong", [pl.DataFrame({"run_id": ["a"]}), 3, None])
def test_what_is_no_run_comparison_or_gate_is_refused(wrong: object) -> None:
    with pytest.raises(pk.PasskError, match="view: ") as raised:
        pk.view(wrong)
    assert raised.value.hint
