"""Judges that agree or not, in a sentence."""

from __future__ import annotations

from typing import Any, Final

import pytest

from passk_py.reports.grader_words import judge_sentences

PAIR: Final[dict[str, Any]] = {
    "judge": "gpt",
    "other_judge": "log",
    "agreement": 0.91,
    "agreement_lower": 0.88,
    "agreement_upper": 0.94,
    "judges_share": 0.34,
    "judges_share_lower": 0.2,
    "judges_share_upper": 0.5,
    "null_reason": None,
}
SHARE: Final = "; 34.0% (20.0 to 50.0) of the disagreement between tries is "


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("log", f"The judge gpt agrees with the log on 91.0% (88.0 to 94.0) of attempts{SHARE}the judge's or the log's."),
        ("gpt", f"The judge gpt agrees with itself on 91.0% (88.0 to 94.0) of attempts{SHARE}the judge's."),
        ("o1", f"The judges gpt and o1 agree on 91.0% (88.0 to 94.0) of attempts{SHARE}the judges'."),
    ],
)  # fmt: skip
def test_a_pair_is_said(other: str, said: str) -> None:
    assert judge_sentences([{**PAIR, "other_judge": other}]) == [said]


def test_of_several_pairs_the_one_that_agrees_least_is_said() -> None:
    (said,) = judge_sentences([PAIR, {**PAIR, "judge": "o1", "agreement": 0.9}])
    assert said.startswith("The judge o1 agrees with the log on 90.0% (88.0 to 94.0) of attempts, ")
    assert "the least of 2 pairs in passk_judges; 34.0% (" in said


def test_a_share_that_is_not_known_has_its_reason() -> None:
    ends = dict.fromkeys(("judges_share", "judges_share_lower", "judges_share_upper"))
    reason = "no two tries of a task were judged differently"
    (said,) = judge_sentences([{**PAIR, **ends, "null_reason": reason}])
    assert said.endswith(
        f"; how much of the disagreement between tries is the judge's or the log's is not known: {reason}."
    )


def test_nothing_is_said_without_verdicts() -> None:
    assert judge_sentences([]) == []
