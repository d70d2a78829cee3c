"""JUnit XML: reports that are cut off, broken, hostile, or of something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .junit_cases import case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_file_that_is_cut_off_lands_up_to_there(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    path = report(case("a") + case("b", "<failure/>") + case("größe 長い", "<failure>why"))
    text = path.read_text("utf-8")
    path.write_text(text[: text.index("why") + 2], "utf-8")
    loaded = harness_log(path)
    assert loaded.verdicts() == {("c::a", 1): "passed", ("c::b", 1): "failed"}
    assert [(row["reason_code"], row["raw"]) for row in loaded.rejected] == [
        ("truncated", "größe 長い")
    ]


def test_tries_of_pytest_that_are_cut_off_are_still_one_attempt(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    path = report(case("a") + case("a", "<failure/>") + "<oops", suite='name="pytest"')
    loaded = harness_log(path)
    assert loaded.verdicts() == {("c::a", 1): "failed"}
    assert [row["reason_code"] for row in loaded.rejected] == ["malformed_line"]


def test_xml_that_is_broken_within_is_rejected_from_there(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(report(case("a") + "</oops>" + case("b")))
    assert loaded.verdicts() == {("c::a", 1): "passed"}
    (row,) = loaded.rejected
    assert row["reason_code"] == "malformed_line"
    assert "mismatched tag" in row["reason"]


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE testsuites [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE testsuites SYSTEM "file:///etc/hostname">',
        '<!DOCTYPE testsuites [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
    ],
)
def test_dtds_and_entities_are_refused(
    doctype: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.xml"
    inside = "<testsuites><testsuite><testcase name='a' classname='b'/></testsuite></testsuites>"
    path.write_text(f"<?xml version='1.0'?>{doctype}{inside}")
    loaded = harness_log(path)
    assert loaded.attempts == []
    assert [row["reason"] for row in loaded.rejected] == [
        "The document has a DTD or entities, which are not read."
    ]


def test_depth_and_tags_are_bounded(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    deep = harness_log(report(case("a") + "<x>" * 200 + "</x>" * 200, "deep.xml"))
    assert "nested deeper" in deep.rejected[0]["reason"]
    long = harness_log(report(case("a") + case("b", more="y" * (12 << 20)), "long.xml"))
    assert [row["reason_code"] for row in long.rejected] == ["field_too_large"]
    assert long.verdicts() == {("c::a", 1): "passed"}


def test_the_output_of_tests_is_not_held(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    out = "<system-out>" + "x" * (20 << 20) + "</system-out>"
    why = "<failure>" + "y\n" * (2 << 20) + "</failure>"
    loaded = harness_log(report(case("a", out) + case("b", why + out)))
    assert loaded.verdicts() == {("c::a", 1): "passed", ("c::b", 1): "failed"}


@pytest.mark.parametrize(
    ("cases", "reasons"),
    [
        (case("", time="1"), ["missing_field"]),
        ('<testcase classname="c"/>', ["missing_field"]),
        (case("a", time="NaN"), ["not_finite"]),
        (case("a", time="-1"), ["out_of_range"]),
        (case("a", time="soon"), ["wrong_type"]),
        (case("a", time=""), []),
        (case("a", time="1,204.5"), []),
    ],
)
def test_a_test_with_a_wrong_value_is_rejected_with_a_reason(
    cases: str, reasons: list[str], report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(report(case("good") + cases))
    assert [row["reason_code"] for row in loaded.rejected] == reasons
    assert loaded.report.rows_read == 2


def test_a_time_that_is_not_iso_is_as_good_as_none(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    (row,) = harness_log(report(case("a"), suite='timestamp="21.11.2026 9 Uhr"')).attempts
    assert row["started_at"] is None


def test_of_an_attribute_that_is_there_twice_nothing_is_guessed(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    twice = '<testcase name="b" name="c" classname="c"/>'
    loaded = harness_log(report(case("a") + twice))
    assert loaded.verdicts() == {("c::a", 1): "passed"}
    assert "duplicate attribute" in loaded.rejected[0]["reason"]


def test_reports_in_a_namespace_or_without_a_frame_are_read(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.xml"
    path.write_text(
        '<testsuite xmlns="urn:x" name="s"><testcase classname="c" name="a"/></testsuite>'
    )
    assert harness_log(path).verdicts() == {("c::a", 1): "passed"}


@pytest.mark.parametrize("text", ["<testsuites/>", "<testsuite name='s'></testsuite>"])
def test_a_report_without_tests_is_refused(
    text: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.xml"
    path.write_text(text)
    (file,) = harness_log(path).report.files
    assert (file.status, file.rows_read) == ("failed", 0)
    assert "holds no rows" in file.message


@pytest.mark.parametrize("root", ["html", "testng-results", "failsafe-summary"])
def test_other_xml_is_left_alone(
    root: str, report: Callable[..., Path], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    report(case("a"))
    (tmp_path / "other.xml").write_text(f"<{root}><testcase/></{root}>")
    loaded = harness_log(tmp_path)
    assert len(loaded.attempts) == 1
    assert [file.reason for file in loaded.report.skipped] == [f"XML with the root <{root}>"]
