"""``passk build``: what it says, where it writes, and how it fails."""

from __future__ import annotations

import math
import re
from datetime import date
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import yaml  # type: ignore[import-untyped]

from passk_py.common.errors import PasskError
from passk_py.warehouse.building import BuildReport, NodeReport, as_yaml, build
from passk_py.warehouse.project import project_dir, state_dir

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Said

    Passk = Callable[..., Said]

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.long
def test_build_says_what_it_built_and_names_the_next_command(passk: Passk, letters: Path) -> None:
    folder = letters.parent / "a folder, with a comma"
    folder.mkdir()
    odd = letters.rename(folder / "my-db.v2 (copy).duckdb")
    said = passk("build", "--full-refresh", "--database", odd)
    assert (said.code, said.err) == (0, "")
    first, second = said.out.splitlines()
    words = first.split()
    assert words[1:4] == ["models", "built", "and"]
    assert words[5:7] == ["tests", "passed,"]
    assert second == f"  next  passk show --database '{odd}'"
    assert sorted(path.name for path in folder.iterdir()) == [".passk", odd.name]
    assert state_dir(odd) == folder / ".passk" / odd.name
    assert (folder / ".passk" / ".gitignore").read_text(encoding="utf-8") == "*\n"


@pytest.mark.long
def test_rows_that_the_build_rejects_are_said_with_their_reasons(
    passk: Passk, models_only: tuple[str, str], make_log: Callable[..., Path]
) -> None:
    # Each file is fine by itself; together they say two things of the same attempts.
    files = [
        make_log(name, [("one", "task", letters), (name, "other", "PP")])
        for name, letters in (("a.jsonl", "PPP"), ("b.jsonl", "FFF"))
    ]
    assert passk("load", *files).code == 0
    said = passk("build", *models_only)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[1:] == [
        "6 rows are rejected and in no metric: 6 conflicting_duplicate.",
        "  next                         passk show",
        "  then, why rows are rejected  passk show passk_rejected_attempts",
    ]
    said = passk("build", *models_only, "--json")
    assert said.json["rejected"] == {"conflicting_duplicate": 6}


def test_two_databases_in_a_folder_have_a_state_each() -> None:
    assert state_dir("a.duckdb") != state_dir("b.duckdb")


@pytest.mark.long
def test_vars_reach_the_models(passk: Passk, letters: Path, models_only: tuple[str, str]) -> None:
    said = passk("build", *models_only, "--vars", "{passk_ks: [1, 3], passk_deployment_k: 3}")
    assert said.code == 0, said.err
    values = passk("show", "--json").json
    assert values["deployment_k"] == 3
    (suite,) = values["suites"]
    assert {m["k"] for m in suite["runs"][0]["metrics"]} == {1, 3}
    found = {
        row["k"]: row
        for row in passk("show", "passk_comparisons", "--json").json["rows"]
        if row["metric"] == "pass_hat_k"
    }
    assert set(found) == {1, 3}
    assert {(row["baseline_run_id"], row["candidate_run_id"]) for row in found.values()} == {
        ("old", "new")
    }
    # By hand: pass@1 is (1 + 0 + 1/4) / 3, then (3/4 + 2/4 + 2/3) / 3; pass^3 is 1/3, then 1/4 / 3.
    rates = {k: [row["baseline"], row["candidate"]] for k, row in found.items()}
    assert rates[1] == pytest.approx([1.25 / 3, (0.75 + 0.5 + 2 / 3) / 3], rel=1e-14)
    assert rates[3] == pytest.approx([1 / 3, 0.25 / 3], rel=1e-14)


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        (
            "{passk_ks: [1",
            "--vars is not valid YAML: expected ',' or ']', but got '<stream end>', in '{passk_ks: [1'.",
            "Write it as in --vars '{passk_ks: [1, 2, 4]}'.",
        ),
        (
            "[1, 2]",
            "--vars is '[1, 2]', which is not a mapping of vars.",
            "Write it as in --vars '{passk_ks: [1, 2, 4]}'.",
        ),
        (
            "{passk_kz: [1]}",
            "--vars names passk_kz, and there is no such var. Did you mean passk_ks?",
            None,
        ),
    ],
)
def test_vars_that_can_not_be_read(
    text: str, error: str, hint: str | None, passk: Passk, letters: Path
) -> None:
    said = passk("build", "--vars", text)
    assert (said.code, said.out) == (2, "")
    first, second = said.err.splitlines()
    assert first == f"Error: {error}"
    if hint is not None:
        assert second == hint
    else:
        assert "passk_ks" in second


def test_wrong_vars_are_named_all_at_once(
    passk: Passk, letters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSK_VARS", "{passk_min_eligible_share: x, passk_ordered_metrics: 2}")
    said = passk("build")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: 2 vars are wrong.\n")
    assert 'passk_min_eligible_share is "x", but must be a number from 0 to 1.' in said.err
    assert "passk_ordered_metrics is 2, but must be true or false." in said.err
    assert said.err.endswith("Correct --vars and build again.\n")


@pytest.mark.long
def test_vars_reach_dbt_as_yaml_has_them(passk: Passk, letters: Path) -> None:
    said = passk(
        "build",
        "--vars",
        "{passk_gates: [{name: a, type: threshold, metric: pass_hat_k, k: 4, min: 1.0e-5, run: 2026-03-01},"
        " {name: it's, type: threshold, metric: pass_hat_k, k: 4, min: 1e-5}]}",
    )
    assert (said.code, said.out) == (2, "")
    # A number stays one, a text that looks like one stays a text, and a date is named.
    assert said.err.splitlines()[:3] == [
        "Error: 2 vars are wrong.",
        '- passk_gates, "a": run is 2026-03-01, but must be a text; write it in quotes.',
        '- passk_gates, "it\'s": min is "1e-5", but must be a number between 0 and 1; no number of '
        "attempts shows that a chance is 1.",
    ]


def test_vars_come_back_from_yaml_the_same() -> None:
    values: dict[str, Any] = {
        "numbers": [0.00001, 1e300, -1e-7, 0.1, 0, -3, 10**20, math.inf],
        "texts": ["1e-5", "1.0e-5", "yes", "on", "null", "~", "", "=", "12:30", "0o7", "1_000", "a: b"],
        "lines": [" lead", "a\nb\r\t\x85\u2028", "é 😀", "{{ x }}", "# no", "word " * 100, "it's", '"'],
        "rest": [None, True, False, {}, [], {"a": {"b": [1]}}, date(2026, 3, 1), "2026-03-01"],
    }  # fmt: skip
    written = as_yaml(values)
    assert "\n" not in written
    assert yaml.safe_load(written) == values


def test_vars_of_kinds_of_texts_and_numbers_are_texts_and_numbers() -> None:
    class Short(StrEnum):
        NULL = "null_suite"

    class Ks(IntEnum):
        FOUR = 4

    class Share(float):
        """As the floats of other libraries are."""

    values = {"a": Short.NULL, "b": (Ks.FOUR, Share(0.5))}
    assert yaml.safe_load(as_yaml(values)) == {"a": "null_suite", "b": [4, 0.5]}


def test_vars_that_yaml_has_no_word_for_are_refused(passk: Passk, letters: Path) -> None:
    said = passk("build", "--vars", "{passk_gates: [{name: !!binary aGk=}]}")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: passk_gates holds b'hi', which is of the type bytes.\n")


def test_unknown_target(passk: Passk, letters: Path) -> None:
    said = passk("build", "--target", "oracle")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: There is no target 'oracle' in the profile of passk.\n"
        "Give one of these with --target: demo, duckdb, ducklake, demo_ducklake, postgres, "
        "demo_postgres, spark, demo_spark.\n"
    )


def test_selector_that_selects_nothing(passk: Passk, letters: Path) -> None:
    said = passk("build", "--select", "nothing_like_this")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: Nothing was built: no model or test is selected.\n")


def test_files_that_are_not_there_are_said_before_any_model_runs(passk: Passk) -> None:
    said = passk("build", "--vars", "{passk_attempts_files: nowhere/*.csv}")
    assert (said.code, said.out) == (2, "")
    assert 'IO Error: No files found that match the pattern "nowhere/*.csv"' in said.err


@pytest.mark.long
def test_model_that_can_not_be_built_is_named_with_exit_code_two(
    passk: Passk, tmp_path: Path, models_only: tuple[str, str]
) -> None:
    (tmp_path / "log.csv").write_text("run_id,task_id,attempt,passed\nr,t,1,maybe\n", "utf-8")
    said = passk(
        "build", *models_only, "--vars",
        f"{{passk_attempts_files: {tmp_path}/log.csv, passk_attempts_columns: "
        "{started_at: \"error('no time at all')\"}}",
    )  # fmt: skip
    assert (said.code, said.out) == (2, "")
    assert "Failed: model int_passk__log_runs: Invalid Input Error: no time at all" in said.err
    # Some models come before the first one that reads an attempt.
    last = re.fullmatch(
        r"(\d+) models built; 1 failed; (\d+) after them were skipped\.", said.err.splitlines()[-1]
    )
    assert last is not None
    assert 1 <= int(last[1]) < 10 < int(last[2])


@pytest.mark.long
def test_attempts_of_files_are_found_from_the_working_directory(
    passk: Passk, models_only: tuple[str, str]
) -> None:
    Path("log.csv").write_text(
        "run_id,task_id,attempt,passed\nr,t,1,true\nr,t,2,false\n", encoding="utf-8"
    )
    said = passk("build", *models_only, "--vars", "{passk_attempts_files: log.csv}", "--json")
    assert said.code == 0, said.err
    assert said.json["failed"] == []
    assert said.json["models"] > 10
    rows = passk("show", "passk_runs", "--json").json["rows"]
    assert [(row["run_id"], row["n"], row["c"]) for row in rows] == [("r", 2, 1)]


def test_test_that_the_data_fail_is_exit_code_one(
    passk: Passk, letters: Path, change: Callable[..., None]
) -> None:
    with duckdb.connect(str(letters), read_only=True) as connection:
        ((schema,),) = connection.execute(
            "select table_schema from information_schema.tables"
            " where table_name = 'int_passk__task_scans'"
        ).fetchall()
    change(f"update {schema}.int_passk__task_scans set c = attempts + 1 where task_id = 'steady'")
    said = passk("build", "--select", "resource_type:test", "--json")
    assert said.code == 1
    assert {node["status"] for node in said.json["failed"]} == {"fail"}
    assert "Failed: test " in said.err


def test_report_tells_failed_tests_from_what_could_not_run() -> None:
    test = NodeReport("t", "test", "fail", "Got 2 results, configured to fail if != 0")
    model = NodeReport("m", "model", "error", "no")
    assert BuildReport(1, 1, 0, (), (test,), 1.0).exit_code == 0
    assert BuildReport(1, 0, 0, (test,), (), 1.0).exit_code == 1
    assert BuildReport(1, 0, 3, (test, model), (), 1.0).exit_code == 2


def test_python_api_builds_and_leaves_the_database_free(
    letters: Path, models_only: tuple[str, str]
) -> None:
    seen: list[tuple[str, int, int]] = []
    # DuckDB names a database by its file's name up to the first dot.
    dotted = letters.rename(letters.with_name("passk.v2.duckdb"))
    report = build(
        dotted,
        select=["passk_runs", "passk_tasks"],
        progress=lambda *step: seen.append(step),
    )
    assert report.exit_code == 0
    assert {name for name, *_ in seen} == {"passk_runs", "passk_tasks"}
    assert len(seen) == seen[0][2]
    with duckdb.connect(str(dotted)) as connection:
        connection.execute("create table free (x integer)")


def test_project_is_that_of_the_checkout() -> None:
    assert project_dir() == ROOT


def test_damaged_installation_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("passk_py.warehouse.project._PACKAGE", tmp_path / "passk_py")
    with pytest.raises(PasskError) as raised:
        project_dir()
    assert raised.value.hint == "The installation is damaged: install passk-py again."


def test_project_of_the_wheel_goes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside = tmp_path / "passk_py" / "_dbt"
    inside.mkdir(parents=True)
    (inside / "dbt_project.yml").write_text("name: passk\nversion: 9.9\n", encoding="utf-8")
    monkeypatch.setattr("passk_py.warehouse.project._PACKAGE", tmp_path / "passk_py")
    assert project_dir() == inside
