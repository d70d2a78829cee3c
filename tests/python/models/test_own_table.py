"""Attempts in anyone's own table, model, source or files, as dbt reads them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.validation.check_all import validate_tables
from passk_py.warehouse.freshness import stale, unfinished_tables
from passk_py.warehouse.tables import open_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conftest import Dbt, Project


@pytest.fixture(scope="module")
def consumer_dbt(
    tmp_path_factory: pytest.TempPathFactory, dbt: Dbt, request: pytest.FixtureRequest
) -> Dbt:
    """A project that installs this one: a source `evals.log`, and a model that selects from it."""
    folder = tmp_path_factory.mktemp("consumer")
    root = request.config.rootpath
    files: dict[str, Any] = {
        "dbt_project.yml": {
            "name": "consumer", "version": "1.0.0", "config-version": 2, "profile": "consumer",
            "model-paths": ["models"],
            "flags": {"require_generic_test_arguments_property": True},
        },
        "packages.yml": {"packages": [{"local": str(root)}]},
        "models/sources.yml": {
            "sources": [{"name": "evals", "schema": "evals", "tables": [{"name": "log"}]}]
        },
    }  # fmt: skip
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    model = "select * from {{ source('evals', 'log') }}\n"
    (folder / "models" / "my_attempts.sql").write_text(model, encoding="utf-8")
    packages = folder / "dbt_packages"
    packages.mkdir()
    (packages / "passk").symlink_to(root)
    return type(dbt)(folder / "dbt", project_dir=folder, profile="consumer")


@pytest.fixture
def consumer(tmp_path: Path, consumer_dbt: Dbt, project: Project) -> Project:
    made = type(project)(tmp_path, consumer_dbt)
    made.execute("create schema evals")
    return made


MODEL: Final = {"passk_attempts_model": "my_attempts", "passk_ks": [1, 2, 4]}


ATTEMPTS: Final = ("+passk_attempts", "+passk_rejected_attempts")
"""The selection of a build that only reads attempts: all tables take twice as long."""


def build(
    consumer: Project,
    log: str,
    variables: dict[str, Any] | None = None,
    *,
    select: Sequence[str] = (),
) -> None:
    """Make the table evals.log, and build over it."""
    consumer.execute(f"create or replace table evals.log as {log}")
    consumer.run({**MODEL, **(variables or {})}, select=select)


KEPT: Final = "select run_id, suite, task_id, attempt, outcome, outcome_reason from passk_attempts"


@pytest.mark.long
def test_three_columns_and_a_verdict_are_enough(consumer: Project) -> None:
    build(
        consumer,
        "select 'r' as run_id, 't' as task_id, i as attempt, i % 2 = 0 as passed from range(1, 4) x(i)",
    )
    assert consumer.query(f"{KEPT} order by attempt") == [
        ("r", "default", "t", 1, "failed", None),
        ("r", "default", "t", 2, "passed", None),
        ("r", "default", "t", 3, "failed", None),
    ]
    assert consumer.query("select n, c, min_n, rejected from passk_runs") == [(3, 1, 3, 0)]


@pytest.mark.long
def test_a_finished_build_is_seen_as_finished(consumer: Project) -> None:
    """Rows without times, a run that counts nothing, a declared run that is not there."""
    build(
        consumer,
        "select run_id, 't' as task_id, i as attempt, run_id <> 'b' and i % 2 = 0 as passed, "
        "if(run_id = 'none', 'excluded', null) as outcome "
        "from range(1, 4) x(i), unnest(['a', 'b', 'none']) y(run_id)",
        {
            "passk_pairs": [
                {"baseline": "a", "candidate": "b"},
                {"baseline": "a", "candidate": "x"},
            ],
            "passk_baseline": "none",
        },
    )
    with open_tables(consumer.database) as tables:
        assert unfinished_tables(tables) == []
        assert stale(tables) is None
        assert tables.rows("select run_id, n from passk_runs order by 1") == [
            ("a", 3),
            ("b", 3),
            ("none", 0),
        ]


@pytest.mark.long
def test_what_has_landed_is_no_news_to_tables_of_another_input(consumer: Project) -> None:
    consumer.make_landing()
    consumer.land([{"run_id": "z", "task_id": "t", "attempt": 1, "outcome": "passed"}])
    build(
        consumer,
        "select 'r' as run_id, 't' as task_id, i as attempt, true as passed from range(1, 4) x(i)",
    )
    with open_tables(consumer.database) as tables:
        assert stale(tables) is None


@pytest.mark.long
@pytest.mark.parametrize(
    "variables",
    [
        {"passk_attempts_model": "my_attempts"},
        {"passk_attempts_model": ["consumer", "my_attempts"]},
        {"passk_attempts_source": ["evals", "log"]},
    ],
)
def test_a_model_or_a_source(consumer: Project, variables: dict[str, Any]) -> None:
    consumer.execute(
        'create table evals.log as select \'r\' as "Run_ID", 1 as "TASK_ID", 2 as "Attempt",'
        ' 1 as "Passed"'
    )
    consumer.run(variables)
    assert consumer.query(KEPT) == [("r", "default", "1", 2, "passed", None)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("ending", "how"),
    [
        ("csv", "(header)"),
        ("tsv", "(header, delimiter '\t')"),
        ("parquet", "(format parquet)"),
        ("jsonl", "(format json)"),
        ("json", "(format json, array true)"),
    ],
)
def test_files_by_a_glob(consumer: Project, ending: str, how: str) -> None:
    folder = consumer.folder / "it's a folder"
    folder.mkdir()
    quoted = str(folder).replace("'", "''")
    select = "select '{}' as run_id, 't' as task_id, i as attempt, i > 1 as passed{} from range(1, 4) x(i)"
    consumer.execute(
        f"copy ({select.format('one', '')}) to '{quoted}/a.{ending}' {how}",
        f"""copy ({select.format("two", ", 'x' as agent")}) to '{quoted}/b.{ending}' {how}""",
    )
    consumer.run(
        {"passk_attempts_files": f"{folder}/*.{ending}"}, select=[*ATTEMPTS, "+passk_runs"]
    )
    rows = consumer.query("select run_id, agent, n, c from passk_runs order by 1")
    assert rows == [("one", None, 3, 2), ("two", "x", 3, 2)]
    files = consumer.query("select distinct run_id, source_file from passk_attempts order by 1")
    assert files == [("one", f"{folder}/a.{ending}"), ("two", f"{folder}/b.{ending}")]


@pytest.mark.long
@pytest.mark.parametrize(
    ("ending", "how"),
    [("parquet", "parquet"), ("csv", "csv, header"), ("json", "json, array true")],
)
def test_names_of_folders_are_texts(consumer: Project, ending: str, how: str) -> None:
    folder = consumer.folder / "lake"
    rows = (
        "select suite, run_id, 't' as task_id, 1 as attempt, true as passed from (values "
        "('007', '2026-1-2'), ('1e3', 'true'), ('a/b', 'it''s')) x(suite, run_id)"
    )
    consumer.execute(
        f"copy ({rows}) to '{folder}' (format {how}, partition_by (suite, run_id), file_extension '{ending}')"
    )
    consumer.run({"passk_attempts_files": f"{folder}/*/*/*.{ending}"}, select=["+passk_runs"])
    found = consumer.query("select suite, run_id, n, c from passk_runs order by 1")
    assert found == [("007", "2026-1-2", 1, 1), ("1e3", "true", 1, 1), ("a/b", "it's", 1, 1)]


@pytest.mark.long
def test_a_file_may_say_where_a_row_is_from(consumer: Project) -> None:
    rows = "select 'r' as run_id, 't' as task_id, i as attempt, true as passed, 'log ' || i as source_file"
    consumer.execute(
        f"copy ({rows} from range(1, 3) x(i)) to '{consumer.folder}/a.parquet' (format parquet)"
    )
    consumer.run({"passk_attempts_files": f"{consumer.folder}/*.parquet"}, select=ATTEMPTS)
    found = consumer.query("select attempt, source_file from passk_attempts order by 1")
    assert found == [(1, "log 1"), (2, "log 2")]


def test_files_of_an_unknown_kind(consumer: Project) -> None:
    assert consumer.refused({"passk_attempts_files": "logs/*.xlsx"}) == (
        'passk_attempts_files is "logs/*.xlsx", but must name files that end in .parquet, .csv,'
        " .tsv, .json, .jsonl or .ndjson."
    )


@pytest.mark.long
def test_columns_of_other_names_and_expressions(consumer: Project) -> None:
    build(
        consumer,
        "select 'v1' as release, 'case ''a''' as case_id, i as trial, 'solved' as status, 7 as ms"
        " from range(3) x(i)",
        {
            "passk_attempts_columns": {
                "run_id": "release || '-x'",
                "task_id": "case_id",
                "attempt": "trial + 1",
                "outcome": "case status when 'solved' then 'passed' else 'failed' end",
                "duration_s": "ms / 1000.0",
                "suite": "'own'",
            }
        },
    )
    sql = "select run_id, suite, task_id, n, c, duration_s from passk_tasks"
    assert consumer.query(sql) == [("v1-x", "own", "case 'a'", 3, 3, pytest.approx(0.021))]


def lacking(*mistakes: str, columns: str) -> str:
    """Give what is said of an input that lacks something."""
    are = "1 var is" if len(mistakes) == 1 else f"{len(mistakes)} vars are"
    lines = "".join(f"\n  - {mistake}" for mistake in mistakes)
    return (
        f"passk: {are} wrong.{lines}\n"
        f'    The input is "passk"."main"."my_attempts", and its columns are {columns}. Name those to use,'
        " e.g. passk_attempts_columns: {run_id: my_column, passed: is_resolved}.\n"
        "See docs/vars.md for what each var takes."
    )


def lacks(name: str) -> str:
    return f"passk_attempts_columns has no {name}, nor has the input, and every attempt needs one."


NO_VERDICT: Final = (
    "passk_attempts_columns has no verdict, nor has the input: one of outcome, passed and score."
)


@pytest.mark.long
@pytest.mark.parametrize("name", ["expected_attempts", "planned"])
def test_a_table_may_say_how_many_attempts_there_should_be(consumer: Project, name: str) -> None:
    log = (
        f"select 'r' as run_id, task as task_id, attempt, true as passed, planned as {name} "
        "from (values ('whole', 1, '2'), ('whole', 2, '2'), ('short', 1, '4'), ('short', 3, '4'), "
        "('unsaid', 1, null), ('wrong', 1, '2.5'), ('none', 1, '0')) x(task, attempt, planned)"
    )
    columns = {} if name == "expected_attempts" else {"expected_attempts": name}
    variables = {"passk_attempts_columns": columns}
    build(consumer, log, variables)
    missing = "select task_id, expected_attempts, missing_attempts from passk_missing_attempts"
    assert consumer.query(missing) == [("short", 4, 2)]
    runs = "select expected_attempts, missing_attempts from passk_runs"
    assert consumer.query(runs) == [(6, 2)]
    assert consumer.query("select task_id, reason from passk_rejected_attempts order by 1") == [
        ("none", "out_of_range: expected_attempts is 0, but must be a number from 1 to 1,000,000."),
        ("wrong", "wrong_type: expected_attempts is 2.5, which is not a whole number."),
    ]
    # The table follows.
    build(
        consumer,
        log.replace("('short', 3, '4')", "('short', 3, '3'), ('short', 2, '4')"),
        variables,
    )
    assert consumer.query(missing) == [("short", 4, 1)]


@pytest.mark.parametrize("missing", ["run_id", "task_id", "attempt"])
def test_a_required_column_that_is_missing(consumer: Project, missing: str) -> None:
    names = [name for name in ("run_id", "task_id", "attempt", "passed") if name != missing]
    consumer.execute(
        f"create table evals.log as select {', '.join(f'1 as {name}' for name in names)}"
    )
    assert consumer.refused(MODEL) == lacking(lacks(missing), columns=", ".join(names))


def test_a_table_without_a_verdict(consumer: Project) -> None:
    consumer.execute("create table evals.log as select 1 as run_id, 1 as task_id, 1 as attempt")
    assert consumer.refused(MODEL) == lacking(NO_VERDICT, columns="run_id, task_id, attempt")


MISMAPPED: Final = {
    "passk_incremental_by_loaded_at": True,
    "passk_attempts_columns": {
        "attempt": "trial + 1",
        "suite": 'lower(Bnech) || "bench"',
        "agent": "log.whom",
        # Names that are no columns of the input: of a lambda, of a select within, and of the engine.
        "outcome_reason": "list_transform([bench], lambda one: one)[1]",
        "model": "(select max(name) from (values ('m')) as models(name))",
        "started_at": "current_timestamp",
    },
}
MISTAKES: Final = (
    lacks("run_id"),
    lacks("task_id"),
    (
        "passk_incremental_by_loaded_at is true, but neither passk_attempts_columns nor the input has a"
        " loaded_at, which tells new rows from old ones."
    ),
    NO_VERDICT,
    "passk_attempts_columns.agent reads log.whom, but the input has no such column.",
    "passk_attempts_columns.suite reads Bnech, but the input has no such column.",
)


@pytest.mark.long
def test_all_mistakes_of_a_mapping_are_said_at_once(consumer: Project) -> None:
    """By the first model of the package that runs, where the same run makes the input."""
    consumer.execute("create table evals.log as select 1 as trial, 'b' as bench")
    assert consumer.refused({**MODEL, **MISMAPPED}) == lacking(*MISTAKES, columns="trial, bench")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["source", "model", "files"])
def test_mistakes_of_a_mapping_are_said_before_a_model_runs(consumer: Project, kind: str) -> None:
    """Where the input is there before the run, nothing of the run is made."""
    consumer.execute(
        "create table evals.log as select 1 as trial, 'b' as bench",
        "create view my_attempts as from evals.log",
    )
    path = consumer.folder / "log.parquet"
    consumer.execute(f"copy evals.log to '{path}'")
    variables = {
        "source": {"passk_attempts_source": ["evals", "log"]},
        "model": MODEL,
        "files": {"passk_attempts_files": str(path)},
    }[kind]
    wrong = {**variables, **MISMAPPED, "passk_kz": [1]}
    with pytest.raises(Exception, match="vars are wrong") as caught:
        consumer.run(wrong, select=["passk"])
    said = str(caught.value)
    assert "There is no var passk_kz. Did you mean passk_ks?" in said
    for mistake in MISTAKES:
        assert mistake in said
    made = "select count(*) from duckdb_views() where view_name like '%passk%'"
    assert consumer.query(made) == [(0,)]


def test_a_mapping_is_held_against_the_input_that_the_run_makes(consumer: Project) -> None:
    """Not against the one that is there, which may be what the run is to mend."""
    consumer.execute("create table evals.log as select 1 as trial, 'b' as bench")
    consumer.run(MODEL, select=["my_attempts"])
    consumer.execute(f"create or replace table evals.log as {LOG}")
    consumer.run(MODEL, select=["my_attempts", "+passk_attempts"])
    assert consumer.query("select count(*) > 0 from passk_attempts") == [(True,)]


DIFFICULTY: Final = "select *, if(task_id = 't', 'hard', 'easy') as difficulty from ({log})"


@pytest.mark.long
def test_a_slice_by_a_column_of_ones_own_is_refused_with_the_way(consumer: Project) -> None:
    consumer.execute(f"create table evals.log as {DIFFICULTY.format(log=LOG)}")
    slices = [
        {"name": "difficulty", "expression": "difficulty"},
        {"name": "both", "expression": "suite || lower(difficulty)"},
        {"name": "month", "expression": "strftime(started_at, '%Y-%m')"},
    ]
    way = (
        "the contract has no column difficulty. A column of yours is read as a tag:"
        " passk_attempts_columns: {tags: \"map {'difficulty': difficulty}\"}, and the expression"
        " tags['difficulty']."
    )
    assert consumer.refused({**MODEL, "passk_slices": slices}) == (
        f'passk: 2 vars are wrong.\n  - passk_slices, "difficulty": {way}\n'
        f'  - passk_slices, "both": {way}\nSee docs/vars.md for what each var takes.'
    )
    assert consumer.query("select count(*) from duckdb_views() where not internal") == [(0,)]


@pytest.mark.long
def test_a_column_of_ones_own_becomes_a_tag_and_a_slice(consumer: Project) -> None:
    """The way that the error and docs/dbt-package.md name."""
    tags = {"passk_attempts_columns": {"tags": "map {'difficulty': difficulty}"}}
    slices = {"passk_slices": ["difficulty", {"name": "d", "expression": "tags['difficulty']"}]}
    build(consumer, DIFFICULTY.format(log=LOG), {**tags, **slices}, select=["+passk_suite_metrics"])
    found = consumer.query(
        "select distinct slice_name, slice_value from passk_suite_metrics where slice_name <> 'all' order by all"
    )
    values = [
        v for (v,) in consumer.query("select distinct difficulty from my_attempts order by 1")
    ]
    assert found == [(name, value) for name in ("d", "difficulty") for value in values]


@pytest.mark.long
def test_an_expression_that_the_engine_refuses_stops_the_run_before_a_model(
    consumer: Project,
) -> None:
    consumer.execute(f"create table evals.log as {LOG}")
    slices = [{"name": "odd", "expression": "no_such_function(suite)"}]
    assert "no_such_function" in consumer.refused({**MODEL, "passk_slices": slices})
    assert consumer.query("select count(*) from duckdb_views() where not internal") == [(0,)]


def words(column: str, values: str) -> str:
    """Give a log of one task whose attempts have these values."""
    return (
        "select 'r' as run_id, 't' as task_id, place as attempt, word as"
        f" {column} from (values {values}) x(place, word)"
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("column", "values", "outcomes"),
    [
        ("passed", "(1, true), (2, false), (3, null)", ["passed", "failed", "excluded"]),
        ("passed", "(1, 1), (2, 0), (3, null)", ["passed", "failed", "excluded"]),
        ("passed", "(1, 1.0::double), (2, 0.0::double)", ["passed", "failed"]),
        ("passed", "(1, 'True'), (2, ' no '), (3, 'F')", ["passed", "failed", "failed"]),
        ("outcome", "(1, 'Passed'), (2, ' FAILED '), (3, 'excluded')",
         ["passed", "failed", "excluded"]),
        ("score", "(1, 1.0), (2, 0.999999), (3, 0.99), (4, 0), (5, null)",
         ["passed", "passed", "failed", "failed", "excluded"]),
    ],
)  # fmt: skip
def test_verdicts_of_every_form(
    consumer: Project, column: str, values: str, outcomes: list[str]
) -> None:
    build(consumer, words(column, values), select=ATTEMPTS)
    rows = consumer.query("select outcome, outcome_reason from passk_attempts order by attempt")
    assert [outcome for outcome, _ in rows] == outcomes
    assert {reason for outcome, reason in rows if outcome == "excluded"} <= {None, "no_verdict"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("threshold", "passing"),
    [(0.5, [0.5, 1.0]), (0, [0.0, 1e-8, 1e-7, 0.5, 1.0]), (1e-7, [1e-7, 0.5, 1.0]),
     (-1.5, [-1.0, 0.0, 1e-8, 1e-7, 0.5, 1.0]), (1e16, [])],
)  # fmt: skip
def test_score_thresholds(consumer: Project, threshold: float, passing: list[float]) -> None:
    values = "(1, 1.0::double), (2, 0.5), (3, 1e-7), (4, 1e-8), (5, 0.0), (6, -1.0), (7, -2.0)"
    build(consumer, words("score", values), {"passk_score_threshold": threshold}, select=ATTEMPTS)
    rows = consumer.query("select score from passk_attempts where outcome = 'passed' order by 1")
    assert [score for (score,) in rows] == passing


COUNT: Final = "but must be an integer of at least 1."
MISSING: Final = "is missing. Every attempt needs one."

BROKEN: Final[dict[str, tuple[dict[str, str], str]]] = {
    # what the row has, as SQL, and the reason that it is refused for
    "half": ({"attempt": "'1.5'"}, f"wrong_type: attempt is 1.5, {COUNT}"),
    "word": ({"attempt": "'one'"}, f"wrong_type: attempt is one, {COUNT}"),
    "zero": ({"attempt": "'0'"}, f"out_of_range: attempt is 0, {COUNT}"),
    "negative": ({"attempt": "'-1'"}, f"out_of_range: attempt is -1, {COUNT}"),
    "too large": ({"attempt": "'9223372036854775808'"},
                  f"wrong_type: attempt is 9223372036854775808, {COUNT}"),
    "no number": ({"attempt": "null"},
                  "missing_field: attempt is missing. Number the tries of a task from 1."),
    "empty run": ({"run_id": "''"}, f"missing_field: run_id {MISSING}"),
    "no run": ({"run_id": "null"}, f"missing_field: run_id {MISSING}"),
    "maybe": ({"outcome": "'maybe'"},
              "unknown_outcome: outcome is maybe, but must be passed, failed or excluded."),
    "yes and no": ({"passed": "false"},
                   "contradictory_verdict: outcome is passed, but passed is false."),
    "no and yes": ({"outcome": "'failed'", "passed": "true"},
                   "contradictory_verdict: outcome is failed, but passed is true."),
    "score in words": ({"score": "'high'"}, "wrong_type: score is high, which is not a number."),
    "score nan": ({"score": "'nan'"}, "not_finite: score is nan, but must be a finite number."),
    "score inf": ({"score": "'-inf'"}, "not_finite: score is -inf, but must be a finite number."),
    "back in time": ({"duration_s": "'-1.5'"},
                     "out_of_range: duration_s is -1.5, but can not be negative."),
    "free": ({"cost_usd": "'free'"}, "wrong_type: cost_usd is free, which is not a number."),
    "tokens": ({"input_tokens": "'-1'"},
               "out_of_range: input_tokens is -1, but can not be negative."),
    "half a token": ({"output_tokens": "'2.5'"},
                     "wrong_type: output_tokens is 2.5, which is not a whole number."),
    "half a seed": ({"seed": "'0.5'"}, "wrong_type: seed is 0.5, which is not a whole number."),
    "yesterday": ({"started_at": "'yesterday'"},
                  "wrong_type: started_at is yesterday, which is not a time."),
}  # fmt: skip
NOTHING_WRONG: Final = {
    "run_id": "'r'", "attempt": "'7'", "outcome": "'passed'", "passed": "null",
    "score": "null", "duration_s": "null", "cost_usd": "null", "input_tokens": "null",
    "output_tokens": "null", "seed": "null", "started_at": "null",
}  # fmt: skip


@pytest.fixture(scope="module")
def broken(
    make_project: Callable[[], Project], consumer_dbt: Dbt, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    made = type(make_project())(tmp_path_factory.mktemp("broken"), consumer_dbt)
    cases = {**{name: row for name, (row, _) in BROKEN.items()}, "good": {}}
    rows = [
        f"select '{name}' as task_id, "
        + ", ".join(f"{value} as {column}" for column, value in {**NOTHING_WRONG, **row}.items())
        for name, row in cases.items()
    ]
    made.execute("create schema evals")
    build(made, " union all ".join(rows))
    return made


@pytest.mark.parametrize("task", BROKEN)
def test_a_row_that_breaks_the_contract_is_refused(broken: Project, task: str) -> None:
    rows = broken.query("select reason, reason_code from passk_rejected_attempts where task_id = ?", task)  # fmt: skip
    reason = BROKEN[task][1]
    assert rows == [(reason, reason.split(":")[0])]


def test_the_other_rows_are_kept(broken: Project) -> None:
    assert broken.query("select task_id, attempt from passk_attempts") == [("good", 7)]
    assert broken.query("select sum(n) from passk_runs") == [(1,)]


def test_a_row_without_a_task_is_refused(consumer: Project) -> None:
    row = "select 'r' as run_id, {} as task_id, 1 as attempt, true as passed"
    build(
        consumer,
        " union all ".join(row.format(task) for task in ("''", "null", "'t'")),
        select=ATTEMPTS,
    )
    rows = consumer.query("select reason from passk_rejected_attempts")
    assert rows == [(f"missing_field: task_id {MISSING}",)] * 2


def test_doubles_that_are_no_numbers_of_attempts(consumer: Project) -> None:
    build(
        consumer,
        "select 'r' as run_id, 't' as task_id, i as attempt, true as passed from (values"
        " (1.0::double), (2.5), ('nan'), ('inf'), (1e300)) x(i)",
        select=ATTEMPTS,
    )
    rows = consumer.query("select reason from passk_rejected_attempts order by 1")
    assert [reason for (reason,) in rows] == [
        f"wrong_type: attempt is {shown}, {COUNT}" for shown in ("1e+300", "2.5", "inf", "nan")
    ]
    assert consumer.query("select attempt from passk_attempts") == [(1,)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("values", "tags"),
    [
        ("""(1, '{"a": "x"}'), (2, null), (3, '{}')""", [{"a": "x"}, None, {}]),
        ("(1, map {'a': 1}), (2, null)", [{"a": "1"}, None]),
        ("(1, {'a': 'x', 'b': 2})", [{"a": "x", "b": "2"}]),
        ("""(1, '{"a": "x"}'::json)""", [{"a": "x"}]),
    ],
)
def test_tags_of_every_form(
    consumer: Project, values: str, tags: list[dict[str, str] | None]
) -> None:
    log = words("tags", values).replace("as tags", "as tags, true as passed")
    build(consumer, log, {"passk_slices": ["a"]}, select=[*ATTEMPTS, "+passk_suite_metrics"])
    rows = consumer.query("select tags from passk_attempts order by attempt")
    assert [found for (found,) in rows] == tags
    slices = consumer.query("select distinct slice_value from passk_suite_metrics where slice_name = 'a'")  # fmt: skip
    assert {one["a"] for one in tags if one and "a" in one} <= {value for (value,) in slices}


def test_tags_that_are_not_json_spoil_their_row_only(consumer: Project) -> None:
    values = """(1, '{"a": "x"}'), (2, 'hard, easy')"""
    log = words("tags", values).replace("as tags", "as tags, true as passed")
    build(consumer, log, select=ATTEMPTS)
    assert consumer.query("select attempt from passk_attempts") == [(1,)]
    assert consumer.query("select attempt, reason_code from passk_rejected_attempts") == [
        (2, "wrong_type")
    ]


@pytest.mark.long
def test_copies_in_anyones_table(consumer: Project) -> None:
    build(
        consumer,
        "select 'r' as run_id, t as task_id, i as attempt, p as passed from (values ('same', 1, true),"
        " ('same', 1, true), ('differ', 1, true), ('differ', 1, false), ('differ', 2, true)) x(t, i, p)",
    )
    assert consumer.query("select task_id, n, c from passk_tasks order by 1") == [
        ("differ", 1, 1),
        ("same", 1, 1),
    ]
    rejected = "select task_id, reason_code, count(*) from passk_rejected_attempts group by all"
    assert sorted(consumer.query(rejected)) == [
        ("differ", "conflicting_duplicate", 2),
        ("same", "duplicate", 1),
    ]


@pytest.mark.parametrize("name", ["transcript", pytest.param("trace", marks=pytest.mark.long)])
def test_a_table_may_say_where_transcripts_lie(consumer: Project, name: str) -> None:
    log = (
        f"select 'r' as run_id, t as task_id, 1 as attempt, true as passed, place as {name} from (values "
        "('url', 'https://traces.example/1'), ('path', 'traces/1.json#L7'), ('unsaid', null), ('empty', ''), "
        "('itself', '[{\"role\": \"user\"}]'), ('long', repeat('x', 4097)), "
        "('same', 'b.json'), ('same', 'a.json'), ('same', null)) x(t, place)"
    )
    # Without the var, it is the project that other tests have parsed.
    renamed = {} if name == "transcript" else {"passk_attempts_columns": {"transcript": name}}
    build(consumer, log, renamed, select=ATTEMPTS)
    assert consumer.query("select task_id, transcript from passk_attempts order by 1") == [
        ("empty", None),
        ("itself", None),
        ("long", None),
        ("path", "traces/1.json#L7"),
        # It makes no conflict, and the same copy is kept by every build.
        ("same", "a.json"),
        ("unsaid", None),
        ("url", "https://traces.example/1"),
    ]
    rejected = "select task_id, reason_code from passk_rejected_attempts"
    assert consumer.query(rejected) == [("same", "duplicate")] * 2


def test_a_list_in_the_place_of_a_transcript_is_null(consumer: Project) -> None:
    build(
        consumer,
        "select 'r' as run_id, 't' as task_id, 1 as attempt, true as passed, [{'role': 'user'}] as transcript",
        select=ATTEMPTS,
    )
    assert consumer.query("select task_id, transcript from passk_attempts") == [("t", None)]


@pytest.mark.long
def test_columns_that_have_the_names_of_the_models_own(consumer: Project) -> None:
    build(
        consumer,
        "select 'r' as run_id, 't' as task_id, 1 as attempt, true as passed, 1 as told, 2 as raw,"
        " 3 as reject_reason, 4 as slice_1, 5 as score_told, 6 as attempt_told, 7 as slice_name",
        {"passk_slices": ["a"]},
    )
    assert consumer.query("select n, c from passk_runs") == [(1, 1)]


BY_TIME: Final = {"passk_incremental_by_loaded_at": True}
LOG: Final = (
    "select 'r' as run_id, 't' as task_id, 1 as attempt, true as passed,"
    " timestamp '2026-01-01' as loaded_at"
)


@pytest.mark.long
@pytest.mark.parametrize("variables", [{}, BY_TIME])
def test_new_rows_of_anyones_table_are_seen(consumer: Project, variables: dict[str, Any]) -> None:
    build(consumer, LOG, variables)
    consumer.execute(
        "insert into evals.log values ('r', 't', 2, false, '2026-01-01'),"
        " ('other', 't', 1, true, '2026-01-02')"
    )
    consumer.run({**MODEL, **variables})
    rows = consumer.query("select run_id, n, c from passk_runs order by 1")
    assert rows == [("other", 1, 1), ("r", 2, 1)]


@pytest.mark.long
def test_rows_gone_from_anyones_table_are_gone(consumer: Project) -> None:
    build(consumer, f"{LOG} union all select 'other', 't', 1, true, timestamp '2026-01-01'")
    consumer.execute("delete from evals.log where run_id = 'r'")
    consumer.run(MODEL)
    assert consumer.query("select run_id from passk_runs") == [("other",)]
    assert consumer.query("select distinct run_id from passk_suite_metrics") == [("other",)]


def test_by_loaded_at_a_table_must_have_it(consumer: Project) -> None:
    """Else nothing would ever be new."""
    consumer.execute(f"create table evals.log as select * exclude (loaded_at) from ({LOG})")
    said = consumer.refused({**MODEL, **BY_TIME})
    assert said.splitlines()[1] == f"  - {MISTAKES[2]}"


@pytest.mark.long
def test_by_loaded_at_a_row_without_it_is_seen(consumer: Project) -> None:
    build(consumer, LOG, BY_TIME)
    consumer.execute("insert into evals.log values ('other', 't', 1, true, null)")
    consumer.run({**MODEL, **BY_TIME})
    assert consumer.query("select run_id from passk_runs order by 1") == [("other",), ("r",)]


@pytest.mark.long
def test_runs_of_unknown_time_come_before_all_others(consumer: Project) -> None:
    """Under any names, and wherever an engine would sort a null."""
    build(
        consumer,
        "select run_id, suite, 'bot' as agent, 't' || t as task_id, 1 as attempt,"
        " hash(run_id, suite, t) % 2 = 0 as passed, loaded_at"
        " from unnest(['open', 'held out']) s(suite), range(12) x(t), (values"
        " ('b old', timestamp '2026-01-01'), ('a new', timestamp '2026-02-01'),"
        " ('y undated', null), ('z undated', null)) r(run_id, loaded_at)"
        " where suite = 'held out' or run_id = 'z undated' or t < 10"
        " union all select 'of the agent', 'open', 'bot', 't' || t, 1, true, null from range(12) x(t)",
        {"passk_private_suites": [{"public": "open", "private": "held out"}]},
    )
    order = ["y undated", "z undated", "b old", "a new"]
    assert consumer.query(
        "select distinct baseline_run_id, candidate_run_id from passk_comparisons"
        " where suite = 'held out' and k = 1 order by 1 desc"
    ) == sorted(pairwise(order), reverse=True)
    assert consumer.query(
        "select private_run_id from passk_contamination where public_run_id = 'of the agent' and k = 1"
    ) == [("a new",)]
    assert validate_tables(consumer.database).examples == []


@pytest.mark.long
def test_from_a_demo_to_a_landed_log_nothing_of_the_demo_is_left(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    """Both targets may be pointed at one database."""
    project.run(command="seed", target="demo", select=["passk_demo_attempts"])
    project.run(target="demo")
    demo = project.query("select count(*) from passk_runs")[0][0]
    assert demo >= 3
    project.land(attempts("mine", "task", "PFP"))
    project.run()
    assert project.query("select run_id from passk_runs") == [("mine",)]
    assert project.query("select distinct run_id from passk_suite_metrics") == [("mine",)]
    assert project.query("select distinct run_id from passk_tasks") == [("mine",)]
