"""The catalogue of the public tables, which is read from the YAML of their models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from passk_py.warehouse.catalog import KNOWN_TABLES, OPTIONAL_TABLES, PUBLIC_TABLES, public_table
from passk_py.warehouse.descriptions import described_table

MARTS = Path(__file__).resolve().parents[3] / "models" / "marts"


def test_every_model_is_in_the_catalogue() -> None:
    assert {table.name for table in KNOWN_TABLES} == {path.stem for path in MARTS.glob("*/*.yml")}


@pytest.mark.parametrize("name", [table.name for table in KNOWN_TABLES])
def test_key_and_headline_are_columns(name: str) -> None:
    table = public_table(name)
    assert {*table.key, *table.headline} <= set(described_table(name).columns)


@pytest.mark.parametrize("name", [table.name for table in KNOWN_TABLES])
def test_the_key_of_a_description_is_what_a_data_test_holds(name: str) -> None:
    [path] = MARTS.glob(f"*/{name}.yml")
    [model] = yaml.safe_load(path.read_text())["models"]
    tested = [
        {re.sub(r"coalesce\((\w+), ''\)", r"\1", column) for column in columns}
        for test in model["data_tests"]
        for columns in [test.get("passk_rows_hold", {}).get("arguments", {}).get("key")]
        if columns
    ]
    # Attempts have a test of their own, and rows that were refused may come twice.
    if name not in {"passk_attempts", "passk_rejected_attempts", "passk_rejected_labels"}:
        assert set(public_table(name).key) in tested


@pytest.mark.parametrize(
    ("name", "key", "grain"),
    [
        ("passk_attempts", ("run_id", "suite", "task_id", "attempt"), "attempt"),
        ("passk_rejected_attempts", ("source_file", "source_line"), "rejected row"),
        ("passk_runs", ("suite", "run_id"), "run"),
        ("passk_task_metrics", ("suite", "run_id", "task_id", "k"), "run, task and k"),
    ],
)
def test_key_and_grain_are_the_end_of_the_description(
    name: str, key: tuple[str, ...], grain: str
) -> None:
    assert (public_table(name).key, public_table(name).grain) == (key, grain)


def test_only_tables_of_several_k_can_be_filtered_by_it() -> None:
    assert {table.name for table in KNOWN_TABLES if "k" in table.filters} == {
        "passk_comparisons",
        "passk_contamination",
        "passk_corrected_metrics",
        "passk_cost_curves",
        "passk_difficulty_curve",
        "passk_extrapolations",
        "passk_frontier",
        "passk_gates",
        "passk_horizons",
        "passk_lost_reliability",
        "passk_m_of_k",
        "passk_plans",
        "passk_rankings",
        "passk_suite_bootstrap",
        "passk_suite_metrics",
        "passk_task_costs",
        "passk_task_metrics",
        "passk_threshold_metrics",
        "passk_trends",
    }


def test_pairs_are_those_of_both_runs() -> None:
    runs = {table.name: table.columns_of("run_id") for table in KNOWN_TABLES}
    both = ("baseline_run_id", "candidate_run_id")
    assert {name: columns for name, columns in runs.items() if columns != ("run_id",)} == {
        "passk_comparisons": both,
        "passk_cost_comparisons": both,
        "passk_task_comparisons": both,
        "passk_graders": (),
        "passk_judges": (),
        "passk_trends": ("first_run_id", "last_run_id"),
        "passk_contamination": ("public_run_id", "private_run_id"),
    }
    suites = {table.name: table.columns_of("suite") for table in KNOWN_TABLES}
    assert {name: columns for name, columns in suites.items() if columns != ("suite",)} == {
        "passk_contamination": ("public_suite", "private_suite")
    }


def test_only_optional_tables_are_asked_for_by_a_var() -> None:
    assert not [table.name for table in PUBLIC_TABLES if table.var]
    assert [table.var for table in OPTIONAL_TABLES] == ["passk_bootstrap"]
