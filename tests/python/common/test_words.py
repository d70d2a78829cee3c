"""Numbers and names as a person reads them."""

from __future__ import annotations

from passk_py.common import words
from passk_py.common.words import DASH


def test_a_metric_is_written_as_it_is_spoken_of() -> None:
    assert words.symbol("pass_hat_k", 4) == "pass^4"


def test_only_a_whole_is_100_percent_and_only_nothing_is_0() -> None:
    shares = (0.42, 1.0, 0.99996, 0.0001, 0.0)
    assert [words.percent(share) for share in shares] == ["42.0", "100", ">99.9", "<0.1", "0"]
    assert words.percents(0.909, 1.0) == "90.9 to 100"


def test_a_range_of_one_value_is_that_value() -> None:
    assert (words.from_to(14, 24), words.from_to(8, 8)) == ("14 to 24", "8")


def test_decimals_are_rounded_half_up_and_zero_has_no_sign() -> None:
    numbers = (0.0625, -0.25, -0.0004, 1.0)
    assert [words.decimals(number) for number in numbers] == ["0.063", "-0.250", "0.000", "1.000"]


def test_a_limit_has_no_more_digits_than_it_was_given() -> None:
    assert (words.limit(0.8), words.limit(0.955)) == ("80", "95.5")


def test_a_share_below_a_threshold_has_the_digits_that_show_it() -> None:
    shares = (0.62, 0.94996, 0.0)
    assert [words.below(share, 0.95) for share in shares] == ["62.0", "94.996", "0"]


def test_a_difference_is_written_in_points() -> None:
    gaps = (0.0473, 0.01, 0.0001)
    said = ["4.7 points", "1.0 point", "less than 0.1 points"]
    assert [words.points(gap) for gap in gaps] == said


def test_a_limit_that_rounds_to_zero_is_on_one_side_of_it() -> None:
    limits = ((-1e-9, "-0.0"), (1e-9, "0.000"), (-0.02, "-2.0"))
    assert [words.side_of_zero(*limit) for limit in limits] == ["below 0", "above 0", "-2.0"]


def test_a_p_value_has_four_decimals() -> None:
    assert [words.chance(p) for p in (0.0312, 0.00001, None)] == ["0.0312", "<0.0001", DASH]


def test_a_sentence_becomes_a_part_of_another_one() -> None:
    assert words.as_part("About 690 tasks.") == "about 690 tasks"


def test_a_count_has_its_noun() -> None:
    assert (words.plural(1, "task"), words.plural(1234, "task")) == ("1 task", "1,234 tasks")


def test_a_list_is_written_as_in_a_sentence() -> None:
    assert words.and_list(["a", "b", "c"]) == "a, b and c"
    assert words.and_list("abcdef", most=2, word="or") == "a, b or 4 more"


def test_shares_are_drawn_on_the_scale_from_0_to_1() -> None:
    assert words.sparkline([0.0, 0.5, 1.0, None]) == "▁▅█ "


def test_an_interval_is_drawn_with_a_mark_where_nothing_changes() -> None:
    lines = {
        (-0.1, 0.0, 0.3): "      ├─●─────┤",
        (-0.3, -0.1, 0.2): "  ├───●─┼───┤",
        (0.2, 0.3, 0.4): "        ┊   ├─●─┤",
    }
    drawn = {at: words.interval_line(*at, bounds=(-0.4, 0.4), width=17) for at in lines}
    assert drawn == lines


def test_what_would_move_the_cursor_is_shown_as_its_escape() -> None:
    assert words.plain("a\nb\x1b[2J") == "a\\nb\\x1b[2J"


def test_a_long_text_is_cut_in_its_middle() -> None:
    assert words.shortened("checkout-agent-2026-03-01", 13) == "checko…-03-01"


def test_a_sentence_of_shares_is_said_in_points() -> None:
    assert words.in_points("pass^4 fell by 0.107 (0.059 to 0.155): it rose by 0.057.") == (
        "pass^4 fell by 10.7 points (5.9 to 15.5): it rose by 5.7 points."
    )
    assert words.in_points(
        "pass@1 rose by 0.010 (above 0 to 0.021), less than the 0.050 that matter."
    ) == ("pass@1 rose by 1.0 point (above 0 to 2.1), less than the 5.0 points that matter.")
    none = "No verdict on pass^16: n < 16 in 13 of 48 tasks of both runs."
    assert words.in_points(none) == none
