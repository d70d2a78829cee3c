"""Markdown that holds any name."""

from __future__ import annotations

from passk_py.common import markdown


def test_a_sentence_is_shown_letter_for_letter() -> None:
    assert markdown.text("a|b *c* pass_hat_k <b> n < 4") == r"a&#124;b \*c\* pass_hat_k \<b> n < 4"


def test_a_name_is_code_where_code_can_hold_it() -> None:
    names = ["`scout_2026*`", "a&#124;b", "(empty)"]
    assert [markdown.name(name) for name in ("scout_2026*", "a|b", "")] == names


def test_only_a_whole_is_1_and_only_nothing_is_0() -> None:
    shares = (0.40403, 1.0, 0.99996, 0.0001, 0.0, None)
    said = ["0.404", "1", ">0.999", "<0.001", "0", "not known"]
    assert [markdown.share(share) for share in shares] == said


def test_a_difference_has_a_sign_unless_it_rounds_to_0() -> None:
    said = ["+0.063", "-0.250", "0.000", "not known"]
    assert [markdown.signed(number) for number in (0.0625, -0.25, -0.0004, None)] == said


def test_the_limits_of_a_share() -> None:
    limits = {"pass_at_k_lower": 0.281, "pass_at_k_upper": 0.534}
    assert markdown.share_interval(limits, "pass_at_k") == "0.281 to 0.534"
    assert markdown.share_interval(dict.fromkeys(limits), "pass_at_k") == "not known"


def test_the_limits_of_a_difference_are_on_one_side_of_0_or_the_other() -> None:
    intervals = {
        (-1e-9, 0.0625): "below 0 to +0.063",
        (1e-9, None): "not known",
        (1e-9, 0.5): "above 0 to +0.500",
    }
    for (lower, upper), said in intervals.items():
        row = {"difference_lower": lower, "difference_upper": upper}
        assert markdown.signed_interval(row, "difference") == said


def test_the_columns_of_a_table_are_aligned_as_plain_text() -> None:
    lines = ["|  k | pass^k |", "| -: | ------ |", "| 10 | 0.5    |"]
    assert markdown.table(["k", "pass^k"], [["10", "0.5"]], numbers=[0]) == lines
