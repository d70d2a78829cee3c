"""Vars on the command line, filters, and what dbt's messages and descriptions become."""

from __future__ import annotations

import pytest

from passk_py.warehouse.building.build_report import sentence
from passk_py.warehouse.building.variables import as_yaml
from passk_py.warehouse.catalog import Filters, filters_of, shared_columns
from passk_py.warehouse.descriptions import described_tables
from passk_py.warehouse.freshness import half_built
from passk_py.warehouse.settings import parse_variables


def test_vars_are_read_from_yaml_and_written_so_that_dbt_reads_them_as_they_are() -> None:
    read = parse_variables("{passk_ks: [1, 2], passk_deployment_k: 2}")
    assert read == {"passk_ks": [1, 2], "passk_deployment_k": 2}
    written = as_yaml({"passk_minimum_change": 0.00001, "passk_baseline": "1e-5"})
    assert written == "{passk_minimum_change: 1.0e-05, passk_baseline: 1e-5}"


def test_a_filter_takes_one_value_or_several() -> None:
    assert filters_of("nightly", k=[1, 4]) == Filters(("nightly",), (), (1, 4))


@pytest.mark.parametrize(("with_raw", "raw"), [(False, "null::varchar"), (True, "raw")])
def test_rows_as_they_were_read_are_shared_only_if_asked_for(with_raw: bool, raw: str) -> None:
    columns = ["reason", "raw", "source_file"]
    assert shared_columns(columns, with_raw=with_raw)["raw"] == raw


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Compilation Error in model m (m.sql)\n  no such column\n  > in macro x (x.sql)", "no such column"),
        ("[error] [JinjaError (dbt1501)]: no such column\n(in m.sql:1:6)\n   0: <unknown>", "no such column"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_frame_of_a_message_of_dbt_is_taken_away(message: str, said: str) -> None:
    assert sentence(message) == said


def test_half_built_tables_are_named() -> None:
    assert half_built(["passk_runs", "passk_suite_metrics"]) == (
        "The tables are half built: the last build did not reach passk_runs, passk_suite_metrics."
    )


def test_columns_are_described_in_the_words_of_the_project() -> None:
    text = "Counted attempts of the task with the fewest. All tasks are eligible up to this k."
    assert described_tables()["passk_runs"].columns["min_n"] == text
